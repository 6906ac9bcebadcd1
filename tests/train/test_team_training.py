"""Teams in training runs."""

import shutil

import numpy as np
import pytest
import runs
import torch

from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands import cli
from midrange_puffer.errors import UserError
from midrange_puffer.evaluate import evaluate
from midrange_puffer.train import run_folder

TEAM = ("--env.red-size=2", "--env.blue-size=2", "--env.start-spacing-min=500",
        "--env.start-spacing-max=900")  # fmt: skip
SHOOTERS = (*TEAM, "--env.opponent=shooter", "--env.time-limit=60")


def weights(run) -> dict[str, torch.Tensor]:
    """Of a run's last checkpoint."""
    state = run_folder.load_state(run)
    return torch.load(run / state["model"], weights_only=True)["weights"]


@pytest.mark.parametrize("options", [[], ["--env.action-mode=continuous"]])
def test_a_run_of_teams_goes_on_with_the_other_engine(tmp_path, options):
    """Where some are dead, too, the next update is the same by either engine."""
    words = [*SHOOTERS, *options, "--train.anneal-lr=False", "--train.bptt-horizon=64"]
    words += ["--train.minibatch-size=2048"]
    start = [*words, "--train.total-timesteps=60000", "--train.engine=torch"]
    assert runs.train(tmp_path, *start) == 0
    steps = run_folder.load_state(tmp_path / "run")["global_step"]
    decisions = runs.rows(tmp_path / "run")[-1]["epoch"] * 128 * 64
    assert steps < decisions  # those of the dead do not count
    for engine in ("torch", "native"):
        shutil.copytree(tmp_path / "run", tmp_path / engine)
        words = [f"--train.total-timesteps={steps + 1}", f"--train.engine={engine}"]
        assert runs.resume(tmp_path / engine, *words) == 0
    before, *after = (weights(tmp_path / name) for name in ("run", "torch", "native"))
    moved = max(float((after[0][name] - before[name]).abs().max()) for name in before)
    assert moved > 1e-3
    for name in before:
        torch.testing.assert_close(after[0][name], after[1][name], rtol=0, atol=1e-3 * moved)


@pytest.mark.parametrize(
    "options",
    [
        ["--env.opponent=self"],
        ["--env.opponent=self:1,ace:1", "--env.blue-size=3"],
        ["--base.rnn-name=Recurrent"],
        ["--experience-buffer.capacity=256", "--train.kl-coef=0.1"],
        ["--env.seat=blue", "--vec.backend=PufferEnv", "--env.reward-team=0.5"],
    ],
)
def test_teams_train_in_every_way(tmp_path, options):
    assert runs.train(tmp_path, *TEAM, "--train.total-timesteps=8192", *options) == 0
    row = runs.rows(tmp_path / "run")[-1]
    assert np.isfinite(row["losses/policy_loss"])
    assert np.isfinite(row["losses/value_loss"])
    assert row["agent_steps"] >= 8192


def test_a_curriculum_goes_from_twos_to_fours(tmp_path):
    """And what was learnt flies in any size."""
    path = runs.small_config(tmp_path)
    path.write_text(
        path.read_text()
        + "[curriculum]\nstages = twos, fours\n"
        + "[curriculum.twos]\nmax_steps = 4096\nenv.red_size = 2\nenv.blue_size = 2\n"
        + "[curriculum.fours]\nenv.red_size = 4\nenv.blue_size = 4\n"
    )
    words = ["--config", str(path), "--train.data-dir", str(tmp_path), "--train.run-name=run"]
    assert cli.run("train", [*words, *TEAM]) == 0
    state = run_folder.load_state(tmp_path / "run")
    assert state["curriculum"]["stage"] == "fours"
    policy, _ = load_policy(tmp_path / "run" / state["model"])
    for size in (2, 3, 4):
        sizes = {"red_size": size, "blue_size": size, "start_spacing_max": 900.0}
        assert evaluate(policy, "straight", 8, start_spacing_min=500.0, **sizes)["length"] > 0


def test_a_run_begins_with_a_policy_of_other_teams_but_not_of_one_against_one(tmp_path):
    path = tmp_path / "run" / "model_000000.pt"
    words = ["--train.total-timesteps=4096", "--base.load-model-path"]
    assert runs.train(tmp_path, *TEAM, "--train.total-timesteps=4096") == 0
    for folder in ("threes", "one"):
        (tmp_path / folder).mkdir()
    threes = [*TEAM, "--env.red-size=3"]
    assert runs.train(tmp_path / "threes", *threes, *words, str(path)) == 0
    with pytest.raises(UserError, match="its game is of teams, not one against one"):
        runs.train(tmp_path / "one", *words, str(path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env.opponent=trained"], "teams"),
        (["--env.opponent=pool"], "teams"),
        (["--env.sensing=radar"], "must be 1 with sensing = radar"),
        (["--env.observation=stg"], "must be default for teams"),
        (["--train.engine=native", "--policy.entity-size=20"], "policy.entity_size = 20 is no mul"),
    ],
)
def test_what_teams_do_not_train_with_is_named(tmp_path, words, message):
    with pytest.raises(UserError, match=message):
        runs.train(tmp_path, *TEAM, *words)
    assert not (tmp_path / "run").exists()

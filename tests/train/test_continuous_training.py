"""Training with continuous actions, and their entries in model files and configurations."""

import shutil
from pathlib import Path

import frozen
import numpy as np
import pytest
import runs
import torch
from continuous import CONTINUOUS, fresh_policy, save

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import PLANE
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.train.exploiters import KINDS, Job, plan
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.vector import VecEnv

pytestmark = pytest.mark.slow

MIX = ("--env.opponent=self:2,pool:1,straight:1", "--train.checkpoint-interval=2")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a small run against itself, its past and a pilot."""
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, CONTINUOUS, *MIX, "--base.rnn-name=Recurrent") == 0
    return folder / "run"


def check_losses(rows: list[dict[str, float]]) -> None:
    """Checks that losses are finite and change with every update."""
    for name in ("losses/policy_loss", "losses/entropy"):
        losses = [row[name] for row in rows]
        assert np.isfinite(losses).all()
        assert len(set(losses)) == len(losses) > 1


def test_a_run_repeats_itself_and_logs_numbers(finished, tmp_path):
    assert runs.train(tmp_path, CONTINUOUS, *MIX, "--base.rnn-name=Recurrent") == 0
    rows = runs.timeless(tmp_path / "run")
    assert rows == runs.timeless(finished)
    check_losses(rows)


def test_drawn_actions_are_learnt_from_and_clipped_ones_are_flown(tmp_path, monkeypatch):
    """The stored density is that of the stored action."""
    sent, kept = [], []
    send, gather = VecEnv.send, StageTrainer.evaluate

    def look(self: VecEnv, actions: np.ndarray) -> None:
        sent.append(actions.copy())
        send(self, actions)

    def keep(self: StageTrainer) -> object:
        stats = gather(self)
        kept.append((self.actions.clone(), self.observations.clone(), self.logprobs.clone()))
        with torch.no_grad():
            normal, _ = self.policy(kept[-1][1].flatten(0, 1))
        density = normal.log_prob(kept[-1][0].flatten(0, 1)).sum(1)
        np.testing.assert_allclose(density, kept[-1][2].flatten(), rtol=1e-4, atol=1e-5)
        return stats

    monkeypatch.setattr(VecEnv, "send", look)
    monkeypatch.setattr(StageTrainer, "evaluate", keep)
    assert runs.train(tmp_path, CONTINUOUS, "--train.total-timesteps=2048") == 0
    drawn = torch.cat([actions for actions, _, _ in kept], dim=1).numpy()
    flown = np.stack(sent, axis=1)
    assert flown.dtype == np.float32
    assert (flown != drawn).any(axis=(0, 1)).all()
    np.testing.assert_array_equal(flown, np.clip(drawn, PLANE.lowest, PLANE.highest))


@pytest.mark.parametrize("rnn", ["None", "Recurrent"])
def test_workers_fly_continuous_actions(tmp_path, rnn):
    """Two workers, asynchronously."""
    options = ["--vec.backend=Multiprocessing", "--vec.num-workers=2", "--vec.batch-size=1"]
    options += [f"--base.rnn-name={rnn}", "--train.total-timesteps=3072"]
    assert runs.train(tmp_path, CONTINUOUS, *options) == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["agent_steps"] for row in rows] == [1024, 2048, 3072]
    check_losses(rows)


def test_a_resumed_run_repeats_itself(tmp_path):
    """Optimizer and random numbers are restored, so two resumed runs are equal."""
    assert runs.train(tmp_path, CONTINUOUS, "--train.total-timesteps=3072") == 0
    once, twice = (shutil.copytree(tmp_path / "run", tmp_path / name) for name in "ab")
    for run in (once, twice):
        assert runs.resume(run, "--train.total-timesteps=6144") == 0
    rows = runs.timeless(once)
    assert rows == runs.timeless(twice)
    assert [row["agent_steps"] for row in rows] == [1024 * n for n in range(1, 7)]
    check_losses(rows)


# Model files and refusals


def test_a_model_file_tells_its_kind_of_actions(finished):
    policy, model = load_policy(finished / "model_000002.pt")
    assert (model["env"]["action_mode"], model["action_nvec"]) == ("continuous", None)
    assert policy.is_continuous
    state = torch.load(finished / "model_000002.pt")["weights"]
    assert {name: value.tolist() for name, value in policy.state_dict().items()} == {
        name: value.tolist() for name, value in state.items()
    }


def test_a_model_file_from_before_is_discrete(tmp_path):
    path = frozen.save(tmp_path / "a.pt", frozen.constant(1))
    model = torch.load(path)
    del model["env"]["action_mode"]
    torch.save(model, path)
    policy, model = load_policy(path)
    assert (policy.is_continuous, model["env"]["action_mode"]) == (False, "discrete")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("analog", "its env.action_mode = 'analog': must be discrete or continuous"),
        ("continuous", r"its action_nvec is \[5, 3, 2\], expected None"),
    ],
)
def test_a_model_file_at_odds_with_itself_is_refused(tmp_path, mode, message):
    path = frozen.save(tmp_path / "a.pt", frozen.constant(1))
    model = torch.load(path)
    model["env"]["action_mode"] = mode
    torch.save(model, path)
    with pytest.raises(CheckpointError, match=message):
        load_policy(path)


def test_a_run_cannot_change_its_kind_of_actions(finished, tmp_path):
    run = shutil.copytree(finished, tmp_path / "run")
    with pytest.raises(ConfigError, match=r"env.action_mode: is continuous in .* become discrete"):
        runs.resume(run, "--train.total-timesteps=16384", "--env.action-mode=discrete")
    model = f"--load-model-path={run / 'model_000002.pt'}"
    with pytest.raises(UsageError, match=r"its env.action_mode is continuous, not discrete"):
        runs.train(tmp_path, model, "--base.rnn-name=Recurrent")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[curriculum]\nstages = a\n[curriculum.a]\nenv.action_mode = continuous\n",
         r"env.action_mode.*holds for the whole run, in \[env\]"),
        ("[env]\naction_mode = continous\n", "must be one of discrete, continuous"),
    ],
)  # fmt: skip
def test_it_holds_for_a_whole_run(tmp_path, text, message):
    path = tmp_path / "a.ini"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(path)


def test_an_exploiter_has_the_kind_of_its_model(tmp_path):
    path = save(tmp_path / "a.pt", fresh_policy())

    def planned(*overrides: str) -> list[Job]:
        settings = {"kinds": KINDS[-1:], "seeds": 1, "budget": 10**6, "workers": 1}
        return plan(path, resolve({}), "exploit.ini", overrides, tmp_path, **settings)

    [job] = planned()
    assert load_config(job.ini, job.words)["env"]["action_mode"] == "continuous"
    with pytest.raises(
        UsageError, match="action-mode=discrete: is always continuous for an exploiter"
    ):
        planned("--env.action-mode=discrete")

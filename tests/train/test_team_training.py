"""Teams in training runs."""

import json
import shutil

import frozen_team
import numpy as np
import pytest
import runs
import torch
from needs import nightly
from places import EXAMPLES
from torch import nn

from midrange_puffer import Decision, Midrange
from midrange_puffer.checkpoint import LevelActor, load_policy
from midrange_puffer.commands import cli
from midrange_puffer.errors import UserError
from midrange_puffer.evaluate import evaluate
from midrange_puffer.game.observation import rows_of
from midrange_puffer.policies.encoders import entities
from midrange_puffer.train import run_folder

STAGES = ("--curriculum.stages=small,large", "--curriculum.small.max-steps=4096",
          "--curriculum.large.env.red-size=3")  # fmt: skip
SHOOTERS = (*runs.TEAM, "--env.opponent=shooter", "--env.time-limit=60")


def weights(run) -> dict[str, torch.Tensor]:
    """Returns the weights of a run's last checkpoint."""
    state = run_folder.load_state(run)
    return torch.load(run / state["model"], weights_only=True)["weights"]


@pytest.mark.parametrize("options", [[], nightly(["--env.action-mode=continuous"])])
def test_a_run_of_teams_goes_on_with_the_other_engine(tmp_path, options):
    """With dead fighters, too, both engines compute the same next update."""
    words = [*SHOOTERS, *options, "--train.anneal-lr=False", "--train.bptt-horizon=64"]
    words += ["--train.minibatch-size=2048"]
    start = [*words, "--train.total-timesteps=30000", "--train.engine=torch"]
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
        ["--env.opponent=self:1,pool:1,straight:2", "--base.rnn-name=Recurrent"],
        ["--base.rnn-name=Recurrent"],
        ["--experience-buffer.capacity=256", "--train.kl-coef=0.1"],
        ["--env.seat=blue", "--vec.backend=PufferEnv", "--env.reward-team=0.5"],
    ],
)
def test_teams_train_in_every_way(tmp_path, options):
    assert runs.train(tmp_path, *runs.TEAM, "--train.total-timesteps=8192", *options) == 0
    row = runs.rows(tmp_path / "run")[-1]
    assert np.isfinite(row["losses/policy_loss"])
    assert np.isfinite(row["losses/value_loss"])
    assert row["agent_steps"] >= 8192


def test_a_run_meets_all_kinds_of_opponents_and_is_rated(tmp_path):
    """Its own past, a model of two fighters, a function; then it is resumed."""
    path = frozen_team.save(tmp_path / "left.pt", frozen_team.constant(4))
    own = f"{EXAMPLES / 'side_by_side.py'}:fly"
    words = [*runs.TEAM, f"--env.opponent=self:1,pool:1,straight:1,file:{path}:1,{own}:1"]
    words += ["--env.num-envs=60", "--env.blue-size=3", "--train.checkpoint-interval=1"]
    words += ["--train.minibatch-size=16", "--league.interval=2", "--league.games=4"]
    assert runs.train(tmp_path, *words, "--train.total-timesteps=5000") == 0
    before = runs.rows(tmp_path / "run")
    assert runs.resume(tmp_path / "run", "--train.total-timesteps=10000") == 0
    rows = runs.rows(tmp_path / "run")
    assert rows[: len(before)] == before
    assert rows[-1]["agent_steps"] >= 10000
    assert rows[-1]["pool/size"] > 1
    told = {name for row in rows for name in row}
    scores = {"straight", "pool", "left", "fly"}
    assert {f"environment/score_vs_{name}" for name in scores} <= told
    assert "league/score_vs_checkpoints" in rows[-1]
    league = json.loads((tmp_path / "run" / "league.json").read_text())
    assert league["parameters"]["blue_size"] == 3
    assert np.isfinite([one["rating"] for one in league["ratings"]]).all()


class Rows(nn.Module):
    """A user's policy of the mean over the enemies' rows and the own row."""

    def __init__(self, env: object, hidden_size: int = 16) -> None:
        super().__init__()
        rows = rows_of(env.single_observation_space.shape[0])
        self.own, self.enemies = rows[0], next(one for one in rows if one.kind == "enemy")
        self.first = nn.Linear(self.own.features, hidden_size)
        self.each = nn.Linear(self.enemies.features, hidden_size)
        self.actor = LevelActor(hidden_size, env.single_action_space.nvec.tolist())
        self.critic = nn.Linear(hidden_size, 1)

    def forward(self, observations: torch.Tensor, state: dict | None = None) -> tuple:
        found = entities(observations, self.enemies)
        own = entities(observations, self.own)[:, 0]
        hidden = torch.relu(self.first(own) + self.each(found).mean(dim=1))
        return self.actor(hidden), self.critic(hidden)

    forward_eval = forward


class Near(Midrange):
    """A user's reward for being near to the nearest enemy."""

    def own_reward(self, decision: Decision, gain: float = 0.01) -> dict[str, np.ndarray]:
        moment = decision.after
        return {"near": gain * moment.own.alive * (moment.range < 4000)}


def test_a_policy_and_a_reward_of_ones_own_train_teams(tmp_path):
    own = [f"--base.policy-name={__file__}:Rows", f"--base.env-class={__file__}:Near"]
    words = [*runs.TEAM, *own, "--env.opponent=self:1,pool:1,shooter:2", "--env.gain=0.02"]
    assert runs.train(tmp_path, *words, "--train.total-timesteps=16384") == 0
    rows = runs.rows(tmp_path / "run")
    assert max(row.get("environment/reward_near", 0) for row in rows) > 0
    assert "environment/score_vs_pool" in rows[-1]


def test_a_curriculum_goes_from_twos_to_fours(tmp_path):
    """The trained policy flies in teams of any size."""
    path = runs.small_config(tmp_path)
    path.write_text(
        path.read_text()
        + "[curriculum]\nstages = twos, fours\n"
        + "[curriculum.twos]\nmax_steps = 4096\nenv.red_size = 2\nenv.blue_size = 2\n"
        + "[curriculum.fours]\nenv.red_size = 4\nenv.blue_size = 4\n"
    )
    words = ["--config", str(path), "--train.data-dir", str(tmp_path), "--train.run-name=run"]
    # The members of the pool began in twos.
    words += ["--env.opponent=self:1,pool:1,straight:2", "--train.total-timesteps=30000"]
    assert cli.run("train", [*words, *runs.TEAM]) == 0
    assert "environment/score_vs_pool" in runs.rows(tmp_path / "run")[-1]
    state = run_folder.load_state(tmp_path / "run")
    assert state["curriculum"]["stage"] == "fours"
    policy, _ = load_policy(tmp_path / "run" / state["model"])
    for size in (2, 3, 4):
        sizes = {"red_size": size, "blue_size": size, "start_spacing_max": 900.0}
        assert evaluate(policy, "straight", 8, start_spacing_min=500.0, **sizes)["length"] > 0


def test_a_run_begins_with_a_policy_of_other_teams_but_not_of_one_against_one(tmp_path):
    path = tmp_path / "run" / "model_000000.pt"
    words = ["--train.total-timesteps=4096", "--base.load-model-path"]
    assert runs.train(tmp_path, *runs.TEAM, "--train.total-timesteps=4096") == 0
    for folder in ("threes", "one"):
        (tmp_path / folder).mkdir()
    threes = [*runs.TEAM, "--env.red-size=3"]
    assert runs.train(tmp_path / "threes", *threes, *words, str(path)) == 0
    with pytest.raises(UserError, match="its game is of teams, not one against one"):
        runs.train(tmp_path / "one", *words, str(path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env.opponent=trained"], "trained is of one against one: it cannot fly in a team"),
        (["--env.opponent=pool", "--pool.include=trained"], "trained: is of one against one"),
        ([*STAGES, "--env.red-size=1", "--env.blue-size=1"], "no policy flies both one against"),
        ([*STAGES, f"--base.policy-name={__file__}:Rows"], "Rows is made for what is observed in"),
        ([f"--base.policy-name={EXAMPLES / 'missile_attention.py'}:MissileAttention"], "not for"),
        (["--env.observation=stg"], "must be default for teams"),
        (["--train.engine=native", "--policy.entity-size=20"], "policy.entity_size = 20 is no mul"),
    ],
)
def test_settings_that_teams_do_not_train_with_are_named(tmp_path, words, message):
    with pytest.raises(UserError, match=message):
        runs.train(tmp_path, *runs.TEAM, *words)
    assert not (tmp_path / "run").exists()

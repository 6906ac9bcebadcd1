"""The trainer: its rows of metrics, raters, memories, and policies that diverge."""

import math
import threading
from itertools import pairwise

import learners
import numpy as np
import pytest
import runs
import torch

from midrange_puffer.game.actions import ACTION_MODES
from midrange_puffer.policies import model_file
from midrange_puffer.train.rollout import pufferl
from midrange_puffer.train.run import new_run, train
from midrange_puffer.train.stop_signals import StopSignals
from midrange_puffer.train.trainer import DivergedError, StageTrainer, _Row
from midrange_puffer.train.utilization import Utilization

pytestmark = pytest.mark.slow


def weights(path) -> dict[str, torch.Tensor]:
    return torch.load(path)["weights"]


class Busy:
    """A rater that draws numbers, changes its copy of the policy, and stops at `last` steps."""

    def __init__(self, last: float = float("inf")) -> None:
        self.last, self.asked, self.stop_reason = last, [], None
        self.rated = {}

    def is_due(self, epoch, agent_steps, done):
        self.asked.append((epoch, agent_steps, done))
        return epoch % 2 == 0

    def rate(self, policy, name, agent_steps):
        assert not policy.training
        self.rated[name] = {key: value.clone() for key, value in policy.state_dict().items()}
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.copy_(torch.rand_like(parameter))
        if agent_steps >= self.last:
            self.stop_reason = "enough is enough"
        return {"busy/steps": agent_steps}


def train_with(folder, *raters) -> None:
    """Trains a small run with a checkpoint at every update."""
    words = ["--train.data-dir", str(folder), "--train.run-name=run"]
    words += ["--train.checkpoint-interval=1", "--train.total-timesteps=4096"]
    with new_run(str(runs.small_config(folder)), words) as run, StopSignals() as signals:
        train(run, signals, raters)


def test_raters_see_the_checkpoints_and_leave_training_as_it_is(tmp_path):
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    first, second = Busy(), Busy()
    train_with(tmp_path / "with", first, second)
    train_with(tmp_path / "without")
    run, plain = (tmp_path / name / "run" for name in ("with", "without"))
    assert first.asked == [(n, 1024 * n, n == 4) for n in (1, 2, 3, 4)]
    assert [*first.rated] == ["model_000002", "model_000004"]
    for path in sorted(plain.glob(model_file.MODELS)):
        ours, theirs = weights(run / path.name), weights(path)
        assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
        for rated in (first.rated, second.rated):
            if path.stem in rated:
                assert all(torch.equal(rated[path.stem][key], theirs[key]) for key in theirs)
    rows = runs.timeless(run)
    assert [row.pop("busy/steps", None) for row in rows] == [None, 2048, None, 4096]
    assert rows == runs.timeless(plain)


def test_a_rater_may_end_the_run(tmp_path, capsys):
    train_with(tmp_path, Busy(last=2048))
    assert capsys.readouterr().out.splitlines()[-1] == "enough is enough"
    rows = runs.rows(tmp_path / "run")
    assert [row["agent_steps"] for row in rows] == [1024, 2048]
    assert "busy/steps" in rows[-1]
    assert runs.resume(tmp_path / "run") == 0
    assert runs.rows(tmp_path / "run")[-1]["agent_steps"] == 4096


def test_pufferl_is_left_as_it_is_and_starts_no_thread(tmp_path):
    threads = threading.active_count()
    with learners.small_trainer(tmp_path) as trainer:
        assert threading.active_count() == threads
        assert isinstance(trainer.utilization, Utilization)
    for name in ("Utilization", "Profile", "dist_sum"):
        assert getattr(pufferl, name).__module__ == "pufferlib.pufferl"


@pytest.mark.parametrize(
    "options",
    [
        ["--vec.backend=PufferEnv"],
        ["--vec.backend=Serial", "--vec.num-envs=2"],
        *(
            ["--vec.backend=Multiprocessing", "--vec.num-workers=2", f"--vec.batch-size={size}"]
            for size in (1, 2)
        ),
    ],
    ids=" ".join,
)
def test_a_memory_ends_with_the_engagement(tmp_path, options):
    """What acts after an end is the policy with an empty memory, whatever steps the environments.

    The memory is made to matter: its last values weigh more than what is seen.
    """
    with learners.small_trainer(tmp_path, "--base.rnn-name=Recurrent", *options) as trainer:
        with torch.no_grad():
            trainer.policy.lstm.weight_hh_l0.mul_(3)
            trainer.policy.policy.actor.weight.mul_(100)
        for _ in range(3):
            trainer.evaluate()
            learners.check_gathered(trainer.policy, learners.gathered(trainer))
        assert trainer.terminals[:, 1:].any()


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e8])
def test_a_diverged_policy_is_neither_saved_nor_rated(tmp_path, monkeypatch, value):
    evaluate = StageTrainer.evaluate

    def spoil(trainer):
        if trainer.epoch == 2:
            with torch.no_grad():
                trainer.policy.critic.weight[0, 0] = value
        return evaluate(trainer)

    monkeypatch.setattr(StageTrainer, "evaluate", spoil)
    rater = Busy()
    rater.is_due = lambda *_: True
    with pytest.raises(DivergedError, match="after 3072 steps weights exceed 1e"):
        train_with(tmp_path, rater)
    models = sorted((tmp_path / "run").glob(model_file.MODELS))
    assert [path.stem for path in models] == ["model_000000", "model_000001", "model_000002"]
    assert all(float(one.abs().max()) < 100 for path in models for one in weights(path).values())
    assert [*rater.rated] == ["model_000001", "model_000002"]
    assert [row["agent_steps"] for row in runs.rows(tmp_path / "run")] == [1024, 2048]


@pytest.mark.parametrize("mode", ACTION_MODES)
def test_steps_without_bound_diverge_and_the_run_may_go_on_with_others(tmp_path, capsys, mode):
    words = ["--train.optimizer=adam", "--train.learning-rate=1", "--train.adam-beta2=0"]
    words.append(f"--env.action-mode={mode}")
    words += ["--train.adam-eps=1e-20", "--train.max-grad-norm=1e6"]
    with pytest.raises(DivergedError, match=r"try a train.learning_rate below 1 or"):
        runs.train(tmp_path, *words)
    run = tmp_path / "run"
    assert f"the last checkpoint still stands: --resume {run}" in capsys.readouterr().err
    words = ["--train.learning-rate=1e-4", "--train.adam-beta2=0.999", "--train.adam-eps=1e-8"]
    assert runs.resume(run, *words) == 0


UPDATES = 11
STEPS = 1024  # of an update


def test_a_row_tells_of_every_update_since_the_last_one(tmp_path, monkeypatch):
    """Each update's figures are recorded as they are added to the row."""
    results, losses, add = [], [], _Row.add

    def noting(self, its_results, its_losses) -> None:
        results.append({name: list(values) for name, values in its_results.items()})
        losses.append(dict(its_losses))
        add(self, its_results, its_losses)

    monkeypatch.setattr(_Row, "add", noting)
    words = [f"--train.total-timesteps={UPDATES * STEPS}", "--train.checkpoint-interval=5"]
    assert runs.train(tmp_path, *words, "--train.log-interval=4") == 0
    rows = runs.rows(tmp_path / "run")
    ends = [4, 5, 8, 10, 11]  # 5, 10 and 11 have checkpoints
    assert [row["epoch"] for row in rows] == ends
    assert [row["agent_steps"] for row in rows] == [STEPS * end for end in ends]
    for row, (begin, end) in zip(rows, pairwise([0, *ends]), strict=True):
        told = [score for one in results[begin:end] for score in one.get("score", ())]
        assert row.get("environment/score") == (pytest.approx(np.mean(told)) if told else None)
        told = [paid for one in results[begin:end] for paid in one.get("episode_return", ())]
        if told:
            assert row["environment/episode_return_max"] == max(told)
            assert row["environment/episode_return_min"] == min(told)
        for name in ("entropy", "value_loss"):
            mean = np.mean([one[name] for one in losses[begin:end]])
            assert row[f"losses/{name}"] == pytest.approx(mean)
    assert "environment/score" in rows[-1]


def test_a_stopped_run_and_its_resume_leave_no_update_untold(tmp_path, monkeypatch):
    counts, add = [], _Row.add

    def counting(self, *args) -> None:
        add(self, *args)
        counts.append(1)

    monkeypatch.setattr(_Row, "add", counting)
    words = ["--train.log-interval=100", "--train.checkpoint-interval=100"]
    assert runs.train(tmp_path, f"--train.total-timesteps={3 * STEPS}", *words) == 0
    assert runs.resume(tmp_path / "run", f"--train.total-timesteps={5 * STEPS}") == 0
    assert len(counts) == 5
    assert [row["epoch"] for row in runs.rows(tmp_path / "run")] == [3, 5]


def test_a_row_comes_at_the_end_of_a_stage_and_with_a_rating(tmp_path):
    stages = tmp_path / "stages.ini"
    stages.write_text(
        f"{runs.SMALL}log_interval = 100\ncheckpoint_interval = 100\n"
        "[curriculum]\nstages = a, b\n"
        f"[curriculum.a]\nmax_steps = {3 * STEPS}\n[curriculum.b]\n"
        "[league]\ninterval = 5\ngames = 2\n"
    )
    assert runs.train(tmp_path, "--config", str(stages)) == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["epoch"] for row in rows] == [3, 5, 8]
    assert [row["curriculum/stage"] for row in rows] == [1, 2, 2]
    assert ["league/rating" in row for row in rows] == [False, True, True]

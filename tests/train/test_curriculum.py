"""The curriculum: when stages change, what they change and keep, and resuming."""

import math
import signal
import time

import learners
import numpy as np
import pytest
import runs
import torch
from hypothesis import given
from hypothesis import strategies as st

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.train import run_folder
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.update import Learner

pytestmark = pytest.mark.slow

EPISODES = 100
GOAL = 0.5
FIRST = ["--curriculum.first.env.opponent=straight", f"--curriculum.first.score={GOAL}"]
SECOND = [
    "--curriculum.second.env.opponent=weave,shooter",
    "--curriculum.second.env.start-range-min=5000",
    "--curriculum.second.env.reward-pressure=0.05",
    "--curriculum.second.train.learning-rate=0.03",
    "--curriculum.second.train.gamma=0.9",
    "--curriculum.second.max-steps=3000",
]
THIRD = [
    "--curriculum.third.env.opponent=self",
    "--curriculum.third.train.ent-coef=0.2",
    "--curriculum.third.score=0",
    "--curriculum.third.max-steps=1",
]
STAGES = [
    "--curriculum.stages=first,second,third",
    f"--curriculum.episodes={EPISODES}",
    *FIRST,
    *SECOND,
    *THIRD,
]


def curriculum(*options: str, state: dict[str, object] | None = None) -> Curriculum:
    return Curriculum(load_config(None, [*STAGES, *options]), state)


def test_moving_on_needs_the_score_over_enough_engagements():
    at = curriculum()
    at.observe([1.0] * (EPISODES - 1))
    assert not at.is_passed(10**6)
    at.observe([1.0])
    assert at.is_passed(10**6)


def test_only_the_last_engagements_count_and_a_draw_is_half_a_win():
    at = curriculum("--curriculum.first.score=0.75")
    at.observe([0.0] * 10 * EPISODES)
    at.observe([1.0] * (EPISODES // 2) + [0.5] * (EPISODES // 2 - 1))
    assert not at.is_passed(0)
    at.observe([0.5])
    assert at.is_passed(0)
    assert at.metrics == {"curriculum/stage": 1, "curriculum/score": 0.75}


def test_a_new_stage_begins_without_results():
    at = curriculum("--curriculum.second.score=0")
    at.observe([1.0] * EPISODES)
    at.advance(0)
    assert at.metrics == {"curriculum/stage": 2}
    assert not at.is_passed(2999)
    at.observe([1.0] * EPISODES)
    assert at.is_passed(0)


def test_the_most_steps_are_counted_from_the_beginning_of_the_stage():
    at = curriculum()
    assert not at.is_passed(10**9)  # the first stage has no limit
    at.advance(70_000)
    assert not at.is_passed(72_999)
    assert at.is_passed(73_000)


def test_the_last_stage_is_never_left():
    at = curriculum()
    at.advance(0)
    at.advance(0)
    at.observe([1.0] * EPISODES)
    assert not at.is_passed(10**9)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=2 * EPISODES), st.integers(0, 10**6))
def test_a_saved_curriculum_goes_on_as_it_was(scores, start):
    at = curriculum()
    at.advance(start)
    at.observe(scores)
    again = curriculum(state={"global_step": start + 5, "curriculum": at.state})
    assert str(again) == "stage 2/3 second"
    assert again.metrics == at.metrics
    assert again.start == start
    # The window, too: what comes next moves both on at the same moment.
    for one in (at, again):
        one.observe([0.5] * 50)
    assert again.metrics == at.metrics


class Watch:
    """Records the trainer before and after every update, and its settings."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.updates: list[dict[str, object]] = []
        evaluate, train, update = StageTrainer.evaluate, StageTrainer.train, Learner.update

        def watched_evaluate(trainer):
            self.updates.append({"before": self._look(trainer)})
            stats = evaluate(trainer)
            env = trainer.vecenv.driver_env
            self.updates[-1].update(
                scores=list(stats.get("score", [])),
                agents=trainer.vecenv.num_agents,
                parameters=env.parameters,
                gamma=trainer.config["gamma"],
            )
            return stats

        def watched_train(trainer):
            train(trainer)
            self.updates[-1]["after"] = self._look(trainer)

        def watched_update(learner, is_off_policy, schedule):
            self.updates[-1]["ent_coef"] = schedule.ent_coef
            return update(learner, is_off_policy, schedule)

        monkeypatch.setattr(Learner, "update", watched_update)
        monkeypatch.setattr(StageTrainer, "evaluate", watched_evaluate)
        monkeypatch.setattr(StageTrainer, "train", watched_train)

    @staticmethod
    def _look(trainer: StageTrainer) -> dict[str, object]:
        state = trainer.optimizer.state_dict()["state"]
        momentum = [tensor for tensor in learners.tensors(state) if tensor.numel() > 1]
        return {
            "weights": [value.clone() for value in trainer.policy.state_dict().values()],
            "momentum": [tensor.clone() for tensor in momentum],
            "counters": (trainer.epoch, trainer.global_step),
            "rate": trainer.optimizer.param_groups[0]["lr"],
        }


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """A run through three stages, its rows, and the records of `Watch`."""
    folder = tmp_path_factory.mktemp("climbed")
    with pytest.MonkeyPatch.context() as patch:
        watch = Watch(patch)
        options = ["--train.total-timesteps=20000", "--train.ent-coef-final=0.05"]
        assert runs.train(folder, *STAGES, *options) == 0
    return folder / "run", runs.rows(folder / "run"), watch.updates


def moves(rows: list[dict[str, float]]) -> list[int]:
    """Returns the indices of the rows in which a new stage begins."""
    stages = [row["curriculum/stage"] for row in rows]
    return [n for n in range(1, len(rows)) if stages[n] != stages[n - 1]]


def test_a_run_moves_on_when_it_should(climbed):
    """The test counts the engagements again."""
    _, rows, updates = climbed
    assert len(rows) == len(updates)
    stage, results, begun, expected = 1, [], 0, []
    for row, update in zip(rows, updates, strict=True):
        expected.append(stage)
        results += update["scores"]
        last = results[-EPISODES:]
        by_score = len(last) == EPISODES and np.mean(last) >= GOAL
        by_steps = row["agent_steps"] - begun >= 3000
        if (stage == 1 and by_score) or (stage == 2 and by_steps):
            stage, results, begun = stage + 1, [], row["agent_steps"]
    assert [row["curriculum/stage"] for row in rows] == expected
    assert expected.count(1) > 2
    assert expected.count(2) == 3
    assert expected.count(3) > 2


def test_metrics_and_models_tell_the_stage(climbed):
    run, rows, _ = climbed
    opponents = {1: {"straight"}, 2: {"weave", "shooter"}, 3: set()}
    versus = "environment/score_vs_"
    for number, names in opponents.items():
        met = {
            name.removeprefix(versus)
            for row in rows
            for name in row
            if row["curriculum/stage"] == number and name.startswith(versus)
        }
        assert met == names
    base = load_config(run / run_folder.CONFIG)["env"]
    assert base["opponent"] == "straight"
    models = sorted(run.glob("model_*.pt"))
    steps = [0]
    for model in models:
        _, meta = load_policy(model)
        assert meta["env"] == base
        steps.append(meta["agent_steps"])
    changes = [rows[n - 1]["agent_steps"] for n in moves(rows)]
    assert sorted({0, *changes, rows[-1]["agent_steps"]}) == sorted(set(steps))


def test_a_stage_keeps_weights_momentum_and_counters(climbed):
    _, rows, updates = climbed
    changes = moves(rows)
    assert len(changes) == 2
    for n in changes:
        old, new = updates[n - 1]["after"], updates[n]["before"]
        assert old["counters"] == new["counters"]
        for name in ("weights", "momentum"):
            assert len(old[name]) > 3
            torch.testing.assert_close(old[name], new[name], rtol=0, atol=0)
    assert updates[changes[1]]["agents"] == 2 * updates[0]["agents"] == 128


def test_a_stage_sets_what_it_names_and_nothing_else(climbed):
    run, rows, updates = climbed
    base = load_config(run / run_folder.CONFIG)
    names = updates[0]["parameters"]
    game = resolve({name: base["env"][name] for name in names})
    for row, update in zip(rows, updates, strict=True):
        second = row["curriculum/stage"] == 2
        changed = {"start_range_min": 5000.0, "reward_pressure": 0.05} if second else {}
        assert update["parameters"] == {name: changed.get(name, game[name]) for name in names}
        assert update["gamma"] == (0.9 if second else base["train"]["gamma"])


def test_schedules_run_over_the_whole_run_by_its_steps(climbed):
    """Rates fall from the stage's rate to zero at the end, although the size of updates changes."""
    run, rows, updates = climbed
    base = load_config(run / run_folder.CONFIG)["train"]
    third = [row["curriculum/stage"] for row in rows].index(3)
    batches = np.diff([0, *(row["agent_steps"] for row in rows)])
    assert set(batches[:third]) == {1024}
    assert set(batches[third:]) == {2048}
    end = rows[-1]["agent_steps"]
    assert 20_000 <= end < 20_000 + 2048
    for number, (row, update) in enumerate(zip(rows, updates, strict=True)):
        # As the end is planned: 20,000 is no whole number of updates.
        planned = end if number >= third else 20_480
        left = 1 - row["agent_steps"] / planned
        top = 0.03 if row["curriculum/stage"] == 2 else base["learning_rate"]
        rate = top * (1 + math.cos(math.pi * (1 - left))) / 2
        assert row["learning_rate"] == pytest.approx(rate, abs=1e-12)
        first = 0.2 if row["curriculum/stage"] == 3 else base["ent_coef"]
        assert update["ent_coef"] == pytest.approx(0.05 + (first - 0.05) * left, abs=1e-12)


def test_a_new_stage_begins_with_its_learning_rate(climbed):
    _, rows, updates = climbed
    second = [row["curriculum/stage"] for row in rows].index(2)
    share = (1 + math.cos(math.pi * rows[second - 1]["agent_steps"] / 20_480)) / 2
    assert updates[second]["before"]["rate"] == pytest.approx(0.03 * share, abs=1e-12)


def test_config_ini_of_a_curriculum_makes_the_same_run(climbed, tmp_path):
    run, _, _ = climbed
    options = ["--config", str(run / run_folder.CONFIG), "--train.data-dir", str(tmp_path)]
    assert runs.cli.run("train", options) == 0
    assert runs.timeless(tmp_path / "run") == runs.timeless(run)


TWO_STAGES = [
    "--curriculum.stages=first,second",
    "--curriculum.first.max-steps=5120",
    "--curriculum.episodes=100000",
    *SECOND,
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of a run of two stages that was not stopped."""
    folder = tmp_path_factory.mktemp("whole")
    assert runs.train(folder, *TWO_STAGES) == 0
    return runs.timeless(folder / "run")


@pytest.mark.parametrize("update", [2, 5])
def test_a_stopped_and_resumed_run_moves_on_as_if_it_had_not_been(
    tmp_path, monkeypatch, whole, update
):
    """It is stopped in mid-stage, or in the update that ends a stage; then all rows are equal."""
    train = StageTrainer.train

    def train_and_interrupt(self):
        if self.epoch + 1 == update:
            signal.raise_signal(signal.SIGINT)
        train(self)

    with monkeypatch.context() as patch:
        patch.setattr(StageTrainer, "train", train_and_interrupt)
        assert runs.train(tmp_path, *TWO_STAGES) == 130
    run = tmp_path / "run"
    saved = run_folder.load_state(run)["curriculum"]
    assert saved["stage"] == ("first" if update < 5 else "second")
    assert saved["start"] == (0 if update < 5 else 5120)
    assert runs.resume(run) == 0
    parts = runs.timeless(run)
    assert [row["curriculum/stage"] for row in parts] == [1] * 5 + [2] * 3
    assert [row["agent_steps"] for row in parts] == [row["agent_steps"] for row in whole]
    if update == 5:
        assert parts == whole


def test_a_killed_run_goes_on_in_its_stage(tmp_path):
    options = ["--curriculum.stages=first,second,third", "--curriculum.first.max-steps=1024"]
    options += ["--curriculum.second.env.opponent=self", "--curriculum.third.env.opponent=weave"]
    options += ["--curriculum.second.max-steps=100_000_000", "--curriculum.episodes=100_000"]
    process = runs.start(tmp_path, "--train.checkpoint-interval=1", *options)
    run = tmp_path / "run"
    # The first stage is too short for a score, and the first of the second may not be saved yet.
    while (run / run_folder.METRICS).read_text().count('"curriculum/score"') < 2:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    state = run_folder.load_state(run)
    _, meta = load_policy(run / state["model"])
    assert meta["agent_steps"] == state["global_step"]
    before = state["curriculum"]
    assert (before["stage"], before["start"]) == ("second", 1024)
    assert len(before["scores"]) > 0
    goal = f"--train.total-timesteps={state['global_step'] + 8192}"
    assert runs.resume(run, goal) == 0
    after = run_folder.load_state(run)["curriculum"]
    assert (after["stage"], after["start"]) == ("second", 1024)
    kept = len(before["scores"])
    assert len(after["scores"]) > kept
    np.testing.assert_array_equal(after["scores"][:kept], before["scores"])
    rows = runs.rows(run)
    assert [row["curriculum/stage"] for row in rows] == [1] + [2] * (len(rows) - 1)
    steps = [row["agent_steps"] for row in rows]
    assert steps == [1024, *range(3072, steps[-1] + 1, 2048)]
    # Moving on is possible at once where the limit is lowered.
    goal = f"--train.total-timesteps={state['global_step'] + 12288}"
    assert runs.resume(run, goal, "--curriculum.second.max-steps=1") == 0
    assert {row["curriculum/stage"] for row in runs.rows(run)[len(rows) :]} == {3}


def test_a_run_in_a_stage_that_is_no_more_is_refused_and_left_alone(climbed):
    run, _, _ = climbed
    before = (run / run_folder.CONFIG).read_bytes()
    with pytest.raises(ConfigError, match=r"first, second: the run is in the stage third"):
        runs.resume(run, "--curriculum.stages=first,second", "--train.total-timesteps=30000")
    assert (run / run_folder.CONFIG).read_bytes() == before


def test_a_run_without_a_curriculum_may_get_one_when_it_is_resumed(tmp_path):
    assert runs.train(tmp_path) == 0
    run = tmp_path / "run"
    assert all("curriculum/stage" not in row for row in runs.rows(run))
    options = ["--curriculum.stages=first,second", "--curriculum.first.max-steps=2048"]
    options += ["--curriculum.second.env.opponent=weave", "--train.total-timesteps=12288"]
    assert runs.resume(run, *options) == 0
    assert [row["curriculum/stage"] for row in runs.rows(run)[8:]] == [1, 1, 2, 2]


def test_a_run_that_ends_with_a_stage_goes_on_in_the_next(tmp_path):
    options = ["--curriculum.stages=first,second", "--curriculum.first.max-steps=5120"]
    options += ["--curriculum.second.env.opponent=weave", "--train.total-timesteps=5120"]
    assert runs.train(tmp_path, *options) == 0
    run = tmp_path / "run"
    assert run_folder.load_state(run)["curriculum"]["stage"] == "first"
    assert runs.resume(run, "--train.total-timesteps=7168") == 0
    assert [row["curriculum/stage"] for row in runs.rows(run)] == [1] * 5 + [2] * 2

"""Training runs: their files, their repetition, their trackers, and failures."""

import itertools
import json
import signal
import sys
import time
import types
from collections.abc import Iterator
from unittest.mock import MagicMock

import numpy as np
import psutil
import pytest
import runs
from needs import nightly

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.files import WriteError
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train import run_folder
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.update import Learner

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The run folder of a small run."""
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, "--train.checkpoint-interval", "3", "--tensorboard") == 0
    return folder / "run"


def test_a_run_logs_every_update(finished):
    rows = runs.rows(finished)
    assert [row["agent_steps"] for row in rows] == [1024 * n for n in range(1, 9)]
    assert [row["epoch"] for row in rows] == list(range(1, 9))
    uptimes = [row["uptime"] for row in rows]
    assert uptimes == sorted(uptimes)
    rates = [row["learning_rate"] for row in rows]
    top = load_config()["train"]["learning_rate"]
    expected = [top * (1 + np.cos(np.pi * n / 8)) / 2 for n in range(1, 9)]
    np.testing.assert_allclose(rates, expected, atol=1e-9)
    with_results = [row for row in rows if "environment/score" in row]
    assert len(with_results) > 2
    for row in with_results:
        score = row["environment/win"] + row["environment/draw"] / 2
        assert row["environment/score"] == pytest.approx(score)
    for row in rows:
        for name in ("SPS", "losses/entropy", "performance/env", "performance/train"):
            assert row[name] > 0
        assert row["env_SPS"] > row["SPS"]  # which also waits for the learner
        assert 0 <= row["machine/cpu"] <= 100
        assert 0 < row["machine/memory"] < 100
        assert row["machine/process_cpu"] >= 0
        assert row["machine/process_memory"] > 50  # Python with torch


def test_a_run_keeps_a_model_at_every_interval_and_at_the_end(finished):
    models = sorted(path.name for path in finished.glob("model_*.pt"))
    assert models == [f"model_{n:06d}.pt" for n in (0, 3, 6, 8)]
    assert run_folder.load_state(finished)["model"] == "model_000008.pt"
    assert run_folder.latest(finished.parent).name == "model_000008.pt"
    assert not list(finished.glob("*.tmp"))


def test_config_ini_is_complete_and_makes_the_same_run(finished, tmp_path):
    config = load_config(finished / "config.ini")
    words = [str(value) for items in config.values() for value in items.values()]
    assert config["vec"]["backend"] == "Serial"
    assert config["train"]["batch_size"] == 1024
    assert config["rnn"]["input_size"] == 16
    # Workers and collectors, of whom there are none, and the spacing, which follows from the sizes.
    assert words.count("auto") == 5
    options = ["--config", str(finished / "config.ini"), "--train.data-dir", str(tmp_path)]
    assert runs.cli.run("train", options) == 0
    assert runs.timeless(tmp_path / "run") == runs.timeless(finished)


def test_a_config_given_back_makes_a_run_of_its_own(tmp_path):
    """In the same data folder, if the first run had no given name; also after a resume."""
    words = ["--train.data-dir", str(tmp_path), "--train.run-name", "None"]
    assert runs.train(tmp_path, *words) == 0
    (first,) = tmp_path.glob("*/config.ini")
    assert runs.resume(first.parent, "--train.total-timesteps", "9216") == 0
    assert runs.cli.run("train", ["--config", str(first)]) == 0
    assert len(list(tmp_path.glob("*/config.ini"))) == 2


def test_other_seeds_differ(finished, tmp_path):
    """The test above shows that equal seeds repeat a run."""
    assert runs.train(tmp_path, "--train.seed=43", "--train.total-timesteps=1024") == 0
    [row], first = runs.timeless(tmp_path / "run"), runs.timeless(finished)[0]
    assert row["losses/entropy"] != first["losses/entropy"]


def test_a_clock_that_is_set_back_takes_no_time_away(tmp_path, monkeypatch):
    now = itertools.count(1e9, -1000)
    monkeypatch.setattr(time, "time", lambda: next(now))
    assert runs.train(tmp_path, "--train.total-timesteps=3072") == 0
    rows = runs.rows(tmp_path / "run")
    uptimes = [0.0, *(row["uptime"] for row in rows)]
    assert uptimes == sorted(set(uptimes))
    assert all(row["SPS"] > 0 for row in rows)
    parts = [value for name, value in rows[-1].items() if name.startswith("performance/")]
    assert len(parts) > 5
    assert min(parts) >= 0


def test_tensorboard_has_the_metrics(finished):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(finished / "tensorboard"))
    events.Reload()
    for name in ("environment/score", "losses/policy_loss"):
        written = [(event.step, event.value) for event in events.Scalars(name)]
        expected = [(row["agent_steps"], row[name]) for row in runs.rows(finished) if name in row]
        np.testing.assert_allclose(written, expected, rtol=1e-6)


@pytest.fixture
def offline_wandb(monkeypatch) -> Iterator[None]:
    """Weights & Biases without an account; its background process is ended."""
    import wandb  # takes a second

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.delenv("WANDB_DIR", raising=False)
    monkeypatch.delenv("WANDB_NAME", raising=False)
    yield
    wandb.teardown()


def test_wandb_offline_keeps_the_run(tmp_path, offline_wandb):
    assert runs.train(tmp_path, "--wandb", "--tag", "test") == 0
    run_id = json.loads((tmp_path / "run" / "trackers.json").read_text())["wandb"]
    (record,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    assert record.name == f"run-{run_id}.wandb"
    # A process of wandb's own writes it, on a busy machine a while after the end of the run.
    until = time.monotonic() + 60
    while b"environment/score" not in record.read_bytes():
        assert time.monotonic() < until, "nothing of the run in wandb's record"
        time.sleep(0.1)


def test_a_run_that_was_offline_is_resumed_offline(tmp_path, offline_wandb, monkeypatch):
    assert runs.train(tmp_path, "--wandb") == 0
    monkeypatch.delenv("WANDB_MODE")
    assert runs.resume(tmp_path / "run", "--train.total-timesteps=16384") == 0
    assert len([*(tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")]) == 2


@pytest.mark.parametrize("name", ["wandb", "neptune", "tensorboard"])
def test_a_missing_tracker_is_named_before_anything_starts(tmp_path, monkeypatch, name):
    module = {"tensorboard": "torch.utils.tensorboard"}.get(name, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=f"{name} is not installed: pip install {name}"):
        runs.train(tmp_path, f"--{name}")
    assert not (tmp_path / "run").exists()


class FakeNeptune(types.ModuleType):
    """A fake of neptune with the functions that PufferLib calls."""

    def __init__(self, refuses: bool = False) -> None:
        super().__init__("neptune")
        self.refuses, self.options = refuses, {}

    def init_run(self, **options: object) -> MagicMock:
        self.options = options
        if self.refuses:
            raise RuntimeError("you have no account")
        run = MagicMock()
        run._sys_id = "MID-1"
        return run


@pytest.mark.parametrize("mode", [None, "offline"])
def test_neptune_is_told_the_mode_of_its_variable(tmp_path, monkeypatch, mode):
    neptune = FakeNeptune()
    monkeypatch.setitem(sys.modules, "neptune", neptune)
    monkeypatch.delenv("NEPTUNE_MODE", raising=False)
    if mode:
        monkeypatch.setenv("NEPTUNE_MODE", mode)
    assert runs.train(tmp_path, "--neptune", "--train.total-timesteps=1024") == 0
    assert neptune.options["mode"] == (mode or "async")
    assert json.loads((tmp_path / "run" / "trackers.json").read_text()) == {"neptune": "MID-1"}


def test_a_tracker_that_refuses_leaves_nothing_that_blocks_the_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "neptune", FakeNeptune(refuses=True))
    with pytest.raises(UsageError, match=r"base.neptune: RuntimeError: you have no account"):
        runs.train(tmp_path, "--neptune")
    assert not (tmp_path / "run").exists()
    assert runs.train(tmp_path, "--train.total-timesteps=1024") == 0


def test_a_tracker_that_refuses_takes_nothing_from_a_run_that_is_resumed(tmp_path, monkeypatch):
    assert runs.train(tmp_path, "--train.total-timesteps=1024") == 0
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    monkeypatch.setitem(sys.modules, "neptune", FakeNeptune(refuses=True))
    with pytest.raises(UsageError, match="you have no account"):
        runs.resume(tmp_path / "run", "--neptune", "--train.total-timesteps=2048")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before


def test_console_prints_one_line_a_log_and_how_to_go_on(tmp_path, capfd):
    runs.train(tmp_path)
    out = capfd.readouterr().out
    assert "device cpu (as configured)" in out
    assert "backend Serial (as configured): 1 x 64 engagements" in out
    rows = runs.rows(tmp_path / "run")
    scores = [row["environment/score"] for row in rows if "environment/score" in row]
    lines = out.splitlines()
    last_log = max(n for n, line in enumerate(lines) if line.startswith("    0.01 M steps"))
    assert "0s left" in lines[last_log]
    end = "\n".join(lines[last_log + 1 :])
    assert "straight" in end
    assert f"last score {np.mean(scores):.3f}" in end
    run = tmp_path / "run"
    assert f"model    {run / 'model_000008.pt'}" in end
    assert f"puffer eval midrange --load-model-path {run}" in end
    assert f"puffer train midrange --resume {run} --train.total-timesteps 16384" in end
    assert "\033" not in out


def test_lstm_trains_and_loads(tmp_path):
    words = ("--rnn-name=Recurrent", "--vec.backend=PufferEnv", "--train.total-timesteps=2048")
    assert runs.train(tmp_path, *words) == 0
    policy, meta = load_policy(tmp_path / "run" / "model_000002.pt")
    assert meta["rnn_name"] == "Recurrent"
    assert policy.hidden_size == 16


def test_equal_returns_everywhere_do_not_stop_the_trainer(tmp_path, monkeypatch):
    """With a constant value and no reward there is no explained variance."""
    make_policy, evaluate = model_file.make_policy, StageTrainer.evaluate

    def make_valueless_policy(*arguments):
        policy = make_policy(*arguments)
        forward = policy.forward

        def forward_without_value(*inputs):
            logits, value = forward(*inputs)
            return logits, 0 * value

        policy.forward = forward_without_value
        return policy

    def evaluate_without_reward(self):
        evaluate(self)
        self.values.zero_()
        self.rewards.zero_()

    monkeypatch.setattr(model_file, "make_policy", make_valueless_policy)
    monkeypatch.setattr(StageTrainer, "evaluate", evaluate_without_reward)
    assert runs.train(tmp_path, "--train.engine=torch", "--train.total-timesteps=2048") == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["losses/explained_variance"] for row in rows] == [None, None]


def test_an_error_while_training_ends_the_process(tmp_path):
    """PuffeRL's monitor thread and the workers would keep a failed process waiting."""
    process = runs.start(tmp_path, "--vec.backend=Multiprocessing")
    workers = psutil.Process(process.pid).children()
    assert len(workers) == 2
    workers[0].kill()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"(process {workers[0].pid}) ended with exit code -9" in out
    assert "--resume" in out
    assert psutil.wait_procs(workers, timeout=30)[1] == []


@pytest.mark.parametrize("number", [nightly(signal.SIGHUP), signal.SIGKILL])
def test_workers_end_with_the_trainer(tmp_path, number):
    """The trainer saves when its terminal is gone. SIGHUP and SIGINT also reach the workers."""
    process = runs.start(tmp_path, "--vec.backend=Multiprocessing")
    workers = psutil.Process(process.pid).children()
    for worker in workers:
        worker.send_signal(signal.SIGINT)
        worker.send_signal(signal.SIGHUP)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert "Traceback" not in out
    assert psutil.wait_procs(workers, timeout=30)[1] == []
    if number == signal.SIGHUP:
        assert process.returncode == 128 + number
        run = tmp_path / "run"
        assert run_folder.load_state(run)["global_step"] == runs.rows(run)[-1]["agent_steps"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"cannot make the folder .*file/run: Not a directory"):
        runs.train(tmp_path, "--train.data-dir", str(tmp_path / "file"))


def test_a_run_of_the_same_name_is_not_overwritten(finished):
    with pytest.raises(WriteError, match=r"cannot make the folder .*run: File exists"):
        runs.train(finished.parent)


def test_the_entropy_bonus_falls_linearly_to_its_final_weight(tmp_path, monkeypatch):
    """At the first update 1,024 of 4,096 steps are done."""
    seen = []
    update = Learner.update

    def watched(self, is_off_policy, schedule):
        seen.append(schedule.ent_coef)
        return update(self, is_off_policy, schedule)

    monkeypatch.setattr(Learner, "update", watched)
    words = ("--train.ent-coef=0.4", "--train.ent-coef-final=0", "--train.total-timesteps=4096")
    assert runs.train(tmp_path, *words) == 0
    np.testing.assert_allclose(seen, [0.3, 0.2, 0.1, 0], atol=1e-12)


def test_a_new_run_may_begin_with_the_weights_of_a_model(finished, tmp_path, monkeypatch):
    model = finished / "model_000008.pt"
    seen = {}
    evaluate = StageTrainer.evaluate

    def look(self):
        if not seen:
            seen.update({name: value.clone() for name, value in self.policy.state_dict().items()})
            assert (self.epoch, self.global_step) == (0, 0)
        return evaluate(self)

    monkeypatch.setattr(StageTrainer, "evaluate", look)
    words = ("--load-model-path", str(model), "--env.opponent=weave")
    assert runs.train(tmp_path, *words, "--train.total-timesteps=1024") == 0
    policy, _ = load_policy(model)
    weights = policy.state_dict()
    assert seen.keys() == weights.keys()
    assert all(np.array_equal(seen[name], weights[name]) for name in weights)
    first, _ = load_policy(tmp_path / "run" / "model_000000.pt")
    assert np.array_equal(first.critic.weight.detach(), weights["critic.weight"])
    assert runs.rows(tmp_path / "run")[0]["agent_steps"] == 1024


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy.hidden-size=32"], r"its policy.hidden_size is 16, not 32"),
        (["--rnn-name=Recurrent"], r"its base.rnn_name is None, not Recurrent"),
        (["--env.observation=stg"], r"its env.observation is default, not stg"),
        (["--load-model-path=nowhere.pt"], r"nowhere.pt: no such file"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_there_is_a_folder(
    finished, tmp_path, options, message
):
    model = f"--load-model-path={finished / 'model_000008.pt'}"
    with pytest.raises(UsageError, match=message):
        runs.train(tmp_path, model, *options)
    assert not (tmp_path / "run").exists()


def test_a_model_that_does_not_tell_its_shape_is_refused(tmp_path):
    """Evaluation can load it if it has the default shape."""
    config = {**load_config(), "policy": {}}
    path = tmp_path / "model.pt"
    model_file.save_model(path, config, make_policy(spaces_of("default"), {}).state_dict(), 0)
    with pytest.raises(UsageError, match=r"its policy.hidden_size is None, not 16"):
        runs.train(tmp_path, f"--load-model-path={path}")


def test_a_league_rates_on_a_schedule_and_at_the_end(finished, tmp_path):
    options = ["--league.interval=3", "--league.games=4", "--train.checkpoint-interval=3"]
    assert runs.train(tmp_path, *options) == 0
    rows = runs.rows(tmp_path / "run")
    assert [row["epoch"] for row in rows if "league/rating" in row] == [3, 6, 8]
    for row in rows:
        if "league/rating" in row:
            assert row["league/rating_low"] < row["league/rating"] < row["league/rating_high"]
    # It disturbs nothing.
    without_ratings = [
        {name: row[name] for name in row if not name.startswith("league/")}
        for row in runs.timeless(tmp_path / "run")
    ]
    assert without_ratings == runs.timeless(finished)

"""Whatever becomes of a trial's process is told from every other end, and the sweep goes on."""

import json
from pathlib import Path

import fake_trial
import psutil
import pytest
from sweeps import ENDS, Gammas, ends, new_record, wait_for

from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep import runner
from midrange_puffer.sweep.record import (
    FAILED,
    FINISHED,
    RUNNING,
    Reading,
    Record,
    Trial,
    save_readings,
)
from midrange_puffer.sweep.runner import Runner, judge, trial_seed
from midrange_puffer.sweep.workers import LocalWorker, last_words, local_workers
from midrange_puffer.train.cluster.connect import LostError


def run(record: Record, acts: str, tell=lambda trial: None) -> Gammas:
    search = Gammas()
    workers = local_workers(record.config["sweep"]["workers"], (fake_trial.__file__, acts))
    Runner(record, search, tell, workers).run()
    return search


class Watched(Trial):
    """One that another thread may take for over at any moment: all else is known by then."""

    def __setattr__(self, name: str, value: object) -> None:
        assert name != "status" or value == RUNNING or self.seconds is not None
        super().__setattr__(name, value)


def test_every_end_is_told_from_the_others_and_the_sweep_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "Trial", Watched)
    record = new_record(tmp_path, f"--sweep.trials={len(ENDS) + 1}")
    calls = []
    search = run(record, ",".join([*ENDS, "finish"]), lambda t: calls.append((t.number, t.status)))
    for trials in (record.trials, Record(record.folder).trials):
        ends = [(trial.status, len(trial.readings), trial.reason) for trial in trials]
        assert ends == [*ENDS.values(), ENDS["finish"]]
        assert all(trial.seconds > 0 for trial in trials)
    assert isinstance(record.trials[0], Watched)
    statuses = [trial.status for trial in record.trials]
    # The search knew how each had ended before it suggested the next.
    assert search.told == [list(enumerate(statuses[:n])) for n in range(len(statuses))]
    assert calls == [call for n, end in enumerate(statuses) for call in ((n, RUNNING), (n, end))]


@pytest.mark.parametrize(
    ("code", "printed", "reason"),
    [
        (143, "go on with: …", "ended by SIGTERM; see trial.log in its folder"),
        (-35, "", "ended by signal 35; see trial.log in its folder"),
        (7, "", "ended with exit status 7"),
        (1, "at first\n\033[1;31mKeyError\033[0m: 'x'\n\n", "KeyError: 'x'"),
        (1, "puffer: error: no {folder}/run/x\nwandb: \033[33mbye\033[0m\n", "no run/x"),
        (1, "puffer: error: first\npuffer: error: last\nbye", "last"),
        (1, "puffer: error: " + 100 * "words " + "\nbye", 49 * "words " + "[...]"),
    ],
)
def test_the_reason_is_the_error_and_no_goodbye(tmp_path, code, printed, reason):
    log = tmp_path / "trial.log"
    log.write_text(printed.replace("{folder}", str(tmp_path)))
    assert judge(code, last_words(log)) == (FAILED, reason)


def test_damaged_readings_are_one_trials_failure(tmp_path):
    record = new_record(tmp_path, "--sweep.trials=2")
    run(record, "muddle,finish")
    assert [trial.status for trial in record.trials] == [FAILED, FINISHED]
    path = record.trial_folder(record.trials[0]) / "readings.json"
    told = f"{path}: damaged: readings[0].score = {-7e15}: must be a number from {-1e15} to {1e15}"
    assert record.trials[0].reason == told
    assert Record(record.folder).trials == record.trials


def test_a_trial_that_was_trained_has_finished_whatever_came_after(tmp_path):
    """As a tracker that does not end, or an end without memory."""
    script = f"""
import os, sys, time
from pathlib import Path
sys.path.insert(0, {str(Path(fake_trial.__file__).parent)!r})
import fake_trial
folder = Path(sys.argv[1])
fake_trial.finish(folder)
after = {{"0000": lambda: time.sleep(600), "0001": lambda: os.kill(os.getpid(), 9)}}
after.get(folder.name, lambda: sys.exit("no network"))()
"""
    record = new_record(tmp_path, "--sweep.trials=3", "--sweep.max-cost=1")
    Runner(record, Gammas(), lambda trial: None, local_workers(1, ("-c", script))).run()
    ends = [(trial.status, trial.reason, trial.score) for trial in record.trials]
    assert ends == [(FINISHED, None, 0.5)] * 3
    assert record.trials[0].seconds >= 1


class Unreliable(LocalWorker):
    """Loses its trial, once it has been seen to have `readings` readings."""

    def __init__(self, command: tuple[str, ...], readings: int) -> None:
        super().__init__([], command)
        self._readings, self._seen = readings, 0

    def begin(self, folder):
        super().begin(folder)
        self._seen = 0

    def look(self):
        if self._seen == self._readings:
            self.end()
            raise LostError("gone")
        look = super().look()
        self._seen = len(look.readings)
        return look


@pytest.mark.parametrize(
    ("act", "readings", "end"),
    [("hang", 0, (FAILED, "lost 3 times, last gone")), ("finish", 2, (FINISHED, None))],
)
def test_a_trial_that_is_lost_has_failed_the_third_time_unless_it_was_trained(
    tmp_path, act, readings, end
):
    record = new_record(tmp_path, "--sweep.trials=1")
    worker = Unreliable((fake_trial.__file__, act), readings)
    calls = []
    Runner(record, Gammas(), lambda t: calls.append((t.status, t.reason)), [worker]).run()
    again = [(RUNNING, None), (RUNNING, "gone")] * 2 if act == "hang" else []
    assert calls == [*again, (RUNNING, None), end]
    assert record.trials[0].seconds > 0


def test_a_trial_that_takes_too_long_is_ended_with_its_workers(tmp_path):
    record = new_record(tmp_path, "--sweep.trials=2", "--sweep.max-cost=3")
    run(record, "hang,finish")
    assert [trial.status for trial in record.trials] == [FAILED, FINISHED]
    assert record.trials[0].reason == "took longer than sweep.max_cost = 3 s"
    assert record.trials[0].seconds >= 3
    assert ends(wait_for(record.trial_folder(record.trials[0]) / "workers"))


def test_workers_run_side_by_side_on_cores_of_their_own(tmp_path):
    """Each of two trials waits for the other."""
    record = new_record(tmp_path, "--sweep.trials=4", "--sweep.workers=2")
    cores = psutil.Process().cpu_affinity()
    run(record, "meet,meet,finish,finish")
    assert [trial.status for trial in record.trials] == [FINISHED] * 4
    shares = [json.loads(path.read_text()) for path in sorted(record.folder.glob("trials/*/here"))]
    assert sorted({*shares[0], *shares[1]}) == cores
    assert len(cores) == 1 or not {*shares[0]} & {*shares[1]}
    assert psutil.Process().cpu_affinity() == cores


def test_a_trial_trains_in_its_folder_with_its_params_and_a_seed_of_its_own(tmp_path):
    record = new_record(tmp_path, "--sweep.trials=3", "--sweep.seed=7", "--train.seed=5")
    run(record, "finish,finish,finish")
    configs = [load_config(record.trial_folder(t) / "trial.ini") for t in record.trials]
    assert [config["train"]["gamma"] for config in configs] == [0.9, 0.91, 0.92]
    assert [config["train"]["seed"] for config in configs] == [t.seed for t in record.trials]
    for trial, config in zip(record.trials, configs, strict=True):
        assert config["train"]["data_dir"] == str(record.trial_folder(trial))
        assert config["train"]["run_name"] == "run"
        assert config["sweep"] == record.config["sweep"]
        assert not [name for name in config if name.startswith("sweep.")]
    others = {trial_seed(seed, number) for seed in range(10) for number in range(100)}
    assert len(others) == 1000
    assert 0 <= min(others) <= max(others) < 2**31


@pytest.mark.parametrize(
    ("options", "group", "tag"),
    [((), "sweep", "sweep"), (("--wandb-group=mine", "--tag=first"), "mine", "first")],
)
def test_trackers_are_told_of_a_group_unless_it_is_given(tmp_path, options, group, tag):
    record = new_record(tmp_path, "--sweep.trials=1", *options)
    run(record, "finish")
    base = load_config(record.folder / "trials/0000/trial.ini")["base"]
    assert (base["wandb_group"], base["tag"]) == (group, tag)


def test_half_done_trials_are_run_again_first_and_as_they_were(tmp_path):
    record = new_record(tmp_path, "--sweep.trials=4")
    half_done = [Trial(number, {"train.gamma": 0.95}, 100 + number, 1000) for number in range(3)]
    for trial in half_done:
        record.begin(trial)
        (record.trial_folder(trial) / "run").mkdir()
        save_readings(record.trial_folder(trial), [Reading(500, 1.0, 0.9, {"weave": 0.9})])
    half_done[1].status, half_done[1].reason, half_done[1].seconds = FAILED, "bad luck", 1.0
    record.save(half_done[1])
    begun = []
    again = Record(record.folder)
    search = run(again, "finish,fault,fault,finish", lambda t: begun.append(t.number))
    assert begun == [0, 0, 2, 2, 3, 3]
    assert search.told == [[(0, FINISHED), (1, FAILED), (2, FAILED)]]
    for trial, before in zip(again.trials, half_done, strict=False):
        assert (trial.params, trial.seed) == (before.params, before.seed)
    assert [trial.reason for trial in again.trials[1:3]] == ["bad luck", ENDS["fault"][2]]
    # Nothing of what they had read or written before counts.
    assert [reading.score for reading in again.trials[0].readings] == [0.25, 0.5]
    assert again.trials[2].readings == []
    assert [(record.trial_folder(trial) / "run").exists() for trial in half_done] == [0, 1, 0]


def test_the_end_of_a_sweep_ends_its_trials(tmp_path):
    record = new_record(tmp_path, "--sweep.trials=2", "--sweep.workers=2")
    workers = []

    def interrupt(trial):
        workers.append(wait_for(record.trial_folder(trial) / "workers"))
        if trial.number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(record, "hang,hang", interrupt)
    assert len(workers) == 2
    assert all(ends(worker) for worker in workers)
    assert [trial.status for trial in Record(record.folder).trials] == [RUNNING, RUNNING]

"""`puffer profile`: its counts and times against the configuration and the trace."""

import gzip
import json
import math
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import runs
import torch

from midrange_puffer.commands import cli
from midrange_puffer.commands.profile import MIB, divide, format_memory, make_report, weigh
from midrange_puffer.config.configuration import Config
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.train import profiling
from midrange_puffer.train.profiling import Measurement, Memory, Profile, TracedProfile

pytestmark = pytest.mark.slow

DECISIONS = 16  # of an agent in an update of runs.SMALL
MINIBATCHES = 2
LAYERS = 4  # of the policy: two hidden ones, actor, critic


def profile(folder: Path, *options: str) -> int:
    """Profiles a small run in this process; returns the exit status."""
    words = ["--config", str(runs.small_config(folder)), "--train.data-dir", str(folder)]
    words += ["--train.replay-interval=0", "--updates=3", "--out", str(folder / "out")]
    return cli.run("profile", [*words, *options])


def report(folder: Path) -> dict:
    return json.loads((folder / "out" / "profile.json").read_text())


def events(folder: Path) -> list[dict]:
    """Returns the trace's events that have a duration."""
    with gzip.open(folder / "out" / "trace.json.gz") as file:
        trace = json.load(file)
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def count(found: list[dict]) -> Counter:
    """Counts the events of each name, except those nested in another of the name."""
    outermost, end = [], Counter()
    for event in sorted(found, key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= end[event["name"]]:
            outermost.append(event["name"])
            end[event["name"]] = event["ts"] + event["dur"]
    return Counter(outermost)


def within(inner: dict, outer: dict) -> bool:
    """True if an event is nested in another of the same thread."""
    return (
        inner["tid"] == outer["tid"]
        and outer["ts"] <= inner["ts"]
        and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.001  # us
    )


@pytest.fixture(scope="module")
def profiled(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("profile")
    assert profile(folder, "--train.engine=torch") == 0
    return folder


def test_nothing_but_the_report_and_the_trace_is_left(profiled):
    assert sorted(path.name for path in profiled.iterdir()) == ["out", "small.ini"]
    names = sorted(path.name for path in (profiled / "out").iterdir())
    assert names == ["profile.json", "trace.json.gz"]


def test_the_parts_of_an_update_add_up_to_it(profiled):
    found = report(profiled)
    assert (found["updates"], found["decisions"]) == (3, 64 * DECISIONS)
    assert found["sps"] == pytest.approx(found["decisions"] / found["seconds"])
    parts = {part["part"]: part for part in found["parts"]}
    for whole in (None, "collecting", "learning"):
        seconds = sum(part["seconds"] for part in found["parts"] if part["of"] == whole)
        expected = parts[whole]["seconds"] if whole else found["seconds"]
        assert seconds == pytest.approx(expected)
    for part in parts.values():
        assert part["share"] * found["seconds"] == pytest.approx(part["seconds"])
        assert part["seconds_per_million"] * 64 * DECISIONS == pytest.approx(1e6 * part["seconds"])
    for name in ("environment", "inference", "forward", "gradient", "optimizer"):
        assert 0 < parts[name]["share"] < 1
    assert found["config"]["env"]["num_envs"] == 64
    assert found["machine"]["machine/process_cpu"] > 0


def test_the_trace_shows_one_update_part_by_part(profiled):
    """The numbers of passes and operators follow from the configuration."""
    found = events(profiled)
    names = count(found)
    assert names["collecting"] == names["learning"] == 1
    assert names["inference"] == DECISIONS
    assert names["forward"] == names["gradient"] == names["optimizer"] == MINIBATCHES
    assert names["aten::linear"] == LAYERS * (DECISIONS + MINIBATCHES)
    for name, parent, operators in (
        ("inference", "collecting", LAYERS * DECISIONS),
        ("forward", "learning", LAYERS * MINIBATCHES),
    ):
        [outer] = [event for event in found if event["name"] == parent]
        ranges = [event for event in found if event["name"] == name]
        assert all(within(one, outer) for one in ranges)
        layers = [event for event in found if event["name"] == "aten::linear"]
        assert sum(within(layer, one) for layer in layers for one in ranges) == operators


def test_the_costliest_operators_are_those_of_the_trace(profiled):
    """If an operator calls itself (aten::abs), torch counts both."""
    found, names = report(profiled)["operators"], count(events(profiled))
    every = Counter(event["name"] for event in events(profiled))
    assert len(found) == 10
    assert [row["seconds"] for row in found] == sorted(row["seconds"] for row in found)[::-1]
    for row in found:
        assert row["calls"] in (names[row["operator"]], every[row["operator"]])
        assert not row["operator"].startswith(("collecting", "learning", "inference"))


def test_the_native_parts_are_told_of(tmp_path):
    assert profile(tmp_path, "--train.engine=native") == 0
    names = count(events(tmp_path))
    assert names["inference"] == DECISIONS
    assert names["gradient"] == names["optimizer"] == MINIBATCHES
    assert "forward" not in names
    assert "aten::linear" not in names
    parts = {part["part"]: part["of"] for part in report(tmp_path)["parts"]}
    assert parts["gradient"] == parts["optimizer"] == "learning"


def test_workers_and_a_memory(tmp_path, capsys):
    words = ["--rnn-name=Recurrent", "--vec.backend=Multiprocessing", "--vec.num-workers=2"]
    assert profile(tmp_path, *words) == 0
    names = count(events(tmp_path))
    assert names["inference"] == 2 * DECISIONS  # each worker's agents in turn
    _, _, shown = capsys.readouterr().out.partition("An update of 1,024 decisions takes ")
    *table, _ = shown.splitlines()
    assert len(table) > 20
    assert all(len(line) <= 80 for line in table)


@pytest.mark.nightly
def test_ranks_are_measured_together(tmp_path):
    words = ["profile", "midrange", "--config", str(runs.small_config(tmp_path)), "--updates=2"]
    command = [sys.executable, "-m", "midrange_puffer", *words, "--ranks=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "profile" / "profile.json").read_text())
    assert found["decisions"] == 2 * 64 * DECISIONS
    assert done.stdout.count("An update of") == 1


def test_an_interrupted_part_reports_nothing(tmp_path, monkeypatch, capfd):
    def interrupt(*_) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return False

    monkeypatch.setattr(Measurement, "is_due", interrupt)
    assert profile(tmp_path) == 128 + signal.SIGINT
    assert list((tmp_path / "out").iterdir()) == []
    assert "stopping after this update" in capfd.readouterr().err


def test_wrong_options_are_told_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot make the folder .*file"):
        profile(tmp_path, "--out", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="--updates: 0: must be an integer from 1"):
        profile(tmp_path, "--updates=0")
    with pytest.raises(UsageError, match=r"--train.gama: no such key.*--train.gamma"):
        profile(tmp_path, "--train.gama=1")


class Gpu:
    """A fake of a GPU that works on a queue while the processor goes on."""

    def __init__(self, monkeypatch) -> None:
        self.now = self.idle_from = 0.0
        monkeypatch.setattr(profiling, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(torch.cuda, "synchronize", self.synchronize)

    def queue(self, seconds: float) -> None:
        self.idle_from = max(self.idle_from, self.now) + seconds

    def synchronize(self, device: str) -> None:
        assert device == "cuda:1"
        self.now = max(self.now, self.idle_from)


@pytest.mark.parametrize("make", [lambda: TracedProfile("cuda:1"), Profile])
def test_the_work_of_a_gpu_counts_where_it_is_asked_for(monkeypatch, make):
    gpu = Gpu(monkeypatch)
    phases = make()
    for _ in range(2):
        phases("train", 0)
        phases("forward", 0, nest=True)
        gpu.queue(3)
        phases("learn", 0)
        gpu.queue(5)
        gpu.now += 1  # of the processor
        phases("misc", 0)
        gpu.now += 0.5
        gpu.synchronize("cuda:1")
        phases.end()
    told = {name: part["elapsed"] for name, part in phases}
    if isinstance(phases, TracedProfile):
        assert told == {"train": 17, "forward": 6, "learn": 10, "misc": 1}
        assert phases.parents == {
            "train": None, "forward": "train", "learn": "train", "misc": "train",
        }  # fmt: skip
    else:  # as it is where nobody waits for the GPU
        assert told == {"train": 16, "forward": 0, "learn": 2, "misc": 14}


def test_a_report_is_json_where_a_driver_tells_nothing():
    machine = {"machine/cpu": 50.0, "gpu/utilization": math.nan}
    measurement = SimpleNamespace(
        updates=1, seconds=2.0, decisions=100, parts={}, parents={}, machine=machine,
        traced_seconds=3.0, operators=[], grown={}, ended=Memory(3, 0),
    )  # fmt: skip
    found = make_report(measurement, SimpleNamespace(config=Config({})))
    assert found["machine"] == {"machine/cpu": 50.0}
    json.dumps(found, allow_nan=False)


def test_time_in_no_part_is_reported_too():
    parts = {"eval": 3.0, "env": 0.5, "eval_forward": 1.5, "train": 4.0, "odd": 1.0}
    parents = {"eval": None, "env": "eval", "eval_forward": "eval", "train": None, "odd": "train"}
    rows = divide(parts, parents, seconds=8.0, decisions=2e6)
    assert [(row["part"], row["of"], row["seconds"]) for row in rows] == [
        ("collecting", None, 3.0),
        ("inference", "collecting", 1.5),
        ("environment", "collecting", 0.5),
        ("rest", "collecting", 1.0),
        ("learning", None, 4.0),
        ("odd", "learning", 1.0),
        ("rest", "learning", 3.0),
        ("bookkeeping", None, 1.0),
    ]
    assert [row["share"] for row in rows[:2]] == [0.375, 0.1875]
    assert [row["seconds_per_million"] for row in rows[:2]] == [1.5, 0.75]


def test_memory_is_divided_by_the_part_that_took_it(monkeypatch):
    """The parts' own memory and that before and between them add up to the total."""
    held = Memory(100 * MIB, 0)
    monkeypatch.setattr(Memory, "now", lambda device: held)
    phases = TracedProfile("cpu")
    for process, gpu in ((7, 1), (2, 0)):  # an update takes less than the one before
        phases("train", 0)
        held += Memory(process * MIB, 0)
        phases("learn", 0, nest=True)
        held += Memory(process * MIB, gpu * 5 * MIB)
        phases.end()
    phases.weighs = False
    phases("train", 0)
    held += Memory(50 * MIB, 0)  # later growth is in no part
    phases.end()
    sizes = weigh(phases.grown, phases.parents, held)
    assert {name: size / MIB for name, size in sizes["process"].items()} == {
        "before": 150, "learning": 9, "gradient": 9, "total": 168
    }  # fmt: skip
    assert {name: size / MIB for name, size in sizes["gpu"].items()} == {
        "before": 0, "learning": 0, "gradient": 5, "total": 5
    }  # fmt: skip
    assert format_memory("gpu", sizes["gpu"]).endswith("taken in its parts: gradient 5")


def test_the_parts_of_memory_add_up_to_it(profiled):
    memory = report(profiled)["memory"]["process"]
    parts = [size for name, size in memory.items() if name not in ("before", "total")]
    assert memory["before"] + sum(parts) == memory["total"]
    assert memory["total"] > 50 * MIB  # torch alone takes more
    assert report(profiled)["memory"]["gpu"]["total"] == 0

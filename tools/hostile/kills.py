"""Kills: whatever moment it is, files are whole, a run goes on, and little is lost.

A case is a command that is killed once or several times, each time at some moment or inside a save,
and then left to end by itself.
"""

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hostile import victim
from hostile.formats import check_type
from hostile.outcome import PASSED, TRACEBACK, FoundError, Outcome, require
from hostile.samples import SWEPT
from hostile.victim import Kill
from midrange_puffer.checkpoint import load_policy, load_state
from midrange_puffer.config.reading import load_config
from midrange_puffer.policies.pool_file import Member, read_members
from midrange_puffer.sweep.record import Record, Trial

INTERVAL = 2  # updates between checkpoints
STEPS = 512  # agents' decisions of an update: 32 agents x 16
SAVES, SECONDS = 40, 1.5  # calls and seconds within which runs are killed
NOT_BEGUN = 2  # the exit status where there is nothing to resume

CONFIG = f"""
[vec]
backend = Serial
[env]
num_envs = 32
opponent = straight:1,pool:1
time_limit = 10
start_range_min = 3000
start_range_max = 6000
[policy]
hidden_size = 16
[train]
device = cpu
total_timesteps = 1_000_000_000
bptt_horizon = 16
minibatch_size = 256
checkpoint_interval = {INTERVAL}
"""


class Victims:
    """One kind of command to kill.

    Args:
        name: one of KILLS.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def try_one(self, seed: int) -> Outcome:
        """Kills it as the seed says, and checks the files that are left."""
        rng = random.Random(f"kills {self._name} {seed}")
        folder = Path(tempfile.mkdtemp(prefix="killed-"))
        kind, told = f"kills:{self._name}", []
        try:
            KILLS[self._name](rng, folder, told)
        except FoundError as error:
            return Outcome(kind, seed, error.result, f"{', '.join(told)} -> {error}"[:600])
        except Exception as error:
            return Outcome(kind, seed, TRACEBACK, f"{', '.join(told)} -> {error!r}"[:600])
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Outcome(kind, seed, PASSED, ", ".join(told))


# Training


def _train(rng: random.Random, folder: Path, told: list[str]) -> None:
    """Kills a new run; resumes and kills it up to three times; then resumes it to its end."""
    config, run, log = folder / "config.ini", folder / "run", folder / "log"
    config.write_text(CONFIG)
    words = ["--config", str(config), "--train.data-dir", str(folder), "--train.run-name", "run"]
    _kill("train", words, log, Kill.draw(rng, SAVES, SECONDS), told)
    steps = _check_run(run)
    for _ in range(rng.randint(0, 3)):
        _kill("train", ["--resume", str(run)], log, Kill.draw(rng, SAVES, SECONDS), told)
        after = _check_run(run)
        require(after >= steps, f"the run is back at {after} steps, it was at {steps}")
        steps = after
    _resume_to_end(run, log, steps)


def _kill(mode: str, words: list[str], log: Path, kill: Kill, told: list[str]) -> None:
    told.append(f"{mode} {words[0]} {kill}")
    end = victim.run(mode, words, log, kill)
    known = (-9, NOT_BEGUN) if "--resume" in words else (-9,)
    require(end.status in known, f"{mode} ended with {end.status}: {end.told[-300:]}")


def _check_run(run: Path) -> int:
    """Checks that all files of a run folder are whole; returns the step of its last checkpoint."""
    for path in run.glob("model_*.pt"):
        load_policy(path)
    if (run / "pool.json").exists():
        check_type(read_members(run / "pool.json"), list[Member], "members")
    if not (run / "trainer_state.pt").exists():
        return -1
    load_config(run / "config.ini", complete=True)
    state = load_state(run)
    last = max((row["agent_steps"] for row in _rows(run)), default=0)
    lost = last - state["global_step"]
    require(lost <= INTERVAL * STEPS, f"{lost} steps are lost, {INTERVAL * STEPS} at most")
    return state["global_step"]


def _rows(run: Path) -> list[dict[str, float]]:
    """Returns the rows of the metrics; only the last one may be cut off."""
    path = run / "metrics.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    if lines and not lines[-1].endswith("\n"):
        del lines[-1]
    return [json.loads(line) for line in lines]


def _resume_to_end(run: Path, log: Path, steps: int) -> None:
    """Resumes a run for three updates; checks that it trains, and that no row is there twice."""
    goal = max(steps, 0) + 3 * STEPS
    end = victim.run("train", ["--resume", str(run), f"--train.total-timesteps={goal}"], log)
    if steps < 0:
        require(end.status == NOT_BEGUN, f"resumed what had not begun: {end.told[-300:]}")
        return
    require(end.status == 0, f"--resume ended with {end.status}: {end.told[-300:]}")
    left = [path.name for path in run.rglob("*.tmp")]
    require(not left, f"resumed, the run still has {left}")
    reached = _check_run(run)
    require(reached >= goal, f"resumed, the run ended at {reached} of {goal} steps")
    made = [row["agent_steps"] for row in _rows(run)]
    expected = list(range(STEPS, reached + 1, STEPS))
    require(made == expected, f"metrics have the steps {made}, not {expected}")


# League


def _league(rng: random.Random, folder: Path, told: list[str]) -> None:
    """Kills a league that replaces the result of an earlier one."""
    out, log = folder / "league.json", folder / "log"
    words = ["--pilots", "straight,weave", "--games", "2", "--json", str(out)]
    whole = victim.run("league", words, log)
    require(whole.status == 0, f"league ended with {whole.status}: {whole.told[-300:]}")
    before = out.read_bytes()
    kill = Kill.draw(rng, 3, 0.3)
    told.append(f"league {kill}")
    end = victim.run("league", words, log, kill)
    require(end.status in (-9, 0), f"league ended with {end.status}: {end.told[-300:]}")
    require(out.read_bytes() == before, "league.json is neither the old nor the new one")


# Sweeps


def _sweep(rng: random.Random, folder: Path, told: list[str]) -> None:
    """Kills the process of a sweep, with or without a trial; then resumes it to its end."""
    config, swept, log = folder / "config.ini", folder / "sweeps" / "swept", folder / "log"
    config.write_text(CONFIG.replace("1_000_000_000", str(4 * STEPS)) + SWEPT)
    words = ["--config", str(config), "--train.data-dir", str(folder), "--sweep.workers", "1"]
    kill = Kill.draw(rng, 12, 15.0)
    told.append(f"sweep {kill}")
    end = victim.run("sweep", words, log, kill)
    require(end.status in (-9, 0), f"sweep ended with {end.status}: {end.told[-300:]}")
    _no_process_in(folder)
    if not (swept / Record.CONFIG).exists():
        return
    check_type(Record(swept).trials, list[Trial], "trials")
    end = victim.run("sweep", ["--resume", str(swept)], log)
    require(end.status == 0, f"--resume ended with {end.status}: {end.told[-300:]}")
    left = [path.name for path in swept.rglob("*.tmp")]
    require(not left, f"resumed, the sweep still has {left}")
    record = Record(swept)
    numbers = [(trial.number, trial.status) for trial in record.trials]
    require(numbers == [(0, "finished"), (1, "finished")], f"trials at the end: {numbers}")


def _no_process_in(folder: Path, seconds: float = 30) -> None:
    """Waits until no process has this folder in its command line."""
    end = time.monotonic() + seconds
    while left := [pid for pid in _processes() if str(folder) in pid[1]]:
        require(time.monotonic() < end, f"left behind: {left}")
        time.sleep(0.1)


def _processes() -> list[tuple[int, str]]:
    """Returns the number and command line of every process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append((int(path.parent.name), path.read_bytes().decode(errors="replace")))
        except OSError:  # it has just ended
            continue
    return found


KILLS: dict[str, Callable[[random.Random, Path, list[str]], None]] = {
    "train": _train,
    "league": _league,
    "sweep": _sweep,
}

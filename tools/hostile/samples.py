"""Undamaged files of every kind that the package reads, made as it makes them itself."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

from midrange_puffer.commands import cli, exploit
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import write_json
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.mix import NashMember, write_nash
from midrange_puffer.replays.session import Session
from midrange_puffer.sweep.record import FINISHED, Reading, Record, Trial, save_readings
from midrange_puffer.train.run_files import Turn, shared_buffer_name, write_turns

RUN, SWEEP, MAP, EXPORTED = "run", "swept", "envelope.npz", "exported.onnx"
TEAM = "team.replay"

# Two updates of 16 engagements, with everything on that writes a file.
CONFIG = """
[vec]
backend = Serial
[env]
num_envs = 16
opponent = self:1,pool:1
time_limit = 20
start_range_min = 3000
start_range_max = 6000
[policy]
hidden_size = 8
[train]
device = cpu
total_timesteps = 768
bptt_horizon = 16
minibatch_size = 128
replay_interval = 2
[league]
interval = 2
games = 2
"""
SWEPT = """
[sweep]
name = swept
method = Random
trials = 2
panel = straight
panel_episodes = 2
[sweep.train.learning_rate]
distribution = log_normal
min = 0.001
mean = 0.005
max = 0.02
"""


def make(folder: Path, exported: bool = True) -> None:
    """Fills an empty folder: a run, a sweep, a map of the missile envelope, an exported policy.

    There is also the replay of a fight of teams.

    Args:
        exported: whether there is to be one, for which the extra `onnx` must be installed.
    """
    config = folder / "sample.ini"
    config.write_text(CONFIG)
    words = ["--config", str(config), "--train.data-dir", str(folder), "--train.run-name", RUN]
    command("train", words)
    _make_sweep(folder, config)
    game_envelope(resolve({})).save(folder / MAP)
    _make_fight(folder / TEAM)
    _make_tables(folder)
    if exported:
        model = max((folder / RUN).glob("model_*.pt"))
        command("export", ["--load-model-path", str(model), "--onnx", str(folder / EXPORTED)])


def _make_tables(folder: Path) -> None:
    """Writes a Nash mixture, a run's exploiters and shared buffer, a set of others, its report."""
    model = max((folder / RUN).glob("model_*.pt"))
    shared_buffer_name(folder / RUN)
    write_nash(folder / "nash.json", [NashMember(f"{RUN}/{model.name}", 1.0)])
    write_turns(folder / RUN, [Turn("anew", 2, 768, model.name, 512, 0.5, 0.25, 0.25, model.name)])
    write_json(folder / exploit.SET, {"words": [f"--load-model-path={model}", "--quick"]})
    curve = {"agent_steps": [384, 768], "score": [0.25, 0.5]}
    curve |= {"win": [0.25, 0.5], "draw": [0.0, 0.0], "loss": [0.75, 0.5]}
    run = {"run": "x", "start": "anew", "seed": 1, "decisions_until": {"0.7": None}}
    write_json(folder / "report.json", {"runs": [{**run, "curve": curve}]})


def _make_fight(path: Path) -> None:
    session = Session(("shooter", ["evader", "ace", "ace"]), red_size=2, blue_size=3, time_limit=20)
    while not session.over:
        session.step()
    session.replay().write(path)


def command(mode: str, words: list[str]) -> None:
    """Runs a mode of the command line in this process, without its output."""
    with quiet():
        if status := cli.run(mode, words):
            raise RuntimeError(f"{mode} ended with {status}")


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Collects the output of the package; hides warnings."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield printed


def _make_sweep(folder: Path, config: Path) -> None:
    config.write_text(CONFIG + SWEPT)
    record = Record.create(folder / SWEEP, load_config(config))
    for number in range(2):
        readings = [Reading(steps, steps / 100, 0.5, {"straight": 0.5}) for steps in (384, 768)]
        params = {"train.learning_rate": 0.002 * (number + 1)}
        trial = Trial(number, params, number, 768, FINISHED, readings, 9.5)
        record.begin(trial)
        save_readings(record.trial_folder(trial), readings)

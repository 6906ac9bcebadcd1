"""Every file that the package reads: where it is, who reads it, and what must hold of it then."""

import contextlib
import dataclasses
import math
import random
import shutil
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from hostile import archives, damage, samples
from hostile.outcome import require
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.commands import cli, exploit
from midrange_puffer.commands.plot import _read_curves
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.errors import UserError
from midrange_puffer.files import lock
from midrange_puffer.game.envelope import Envelope
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.own_policy import empty_memory
from midrange_puffer.policies.pool_file import Member, read_members
from midrange_puffer.replays.replay import Replay, ReplayError
from midrange_puffer.sweep.record import (
    Reading,
    Record,
    Trial,
    best_trial,
    load_readings,
    pareto_front,
)
from midrange_puffer.train.raters import TrainingLeague
from midrange_puffer.train.run import resumed_run
from midrange_puffer.train.run_files import (
    SHARED_BUFFER,
    MetricsFile,
    Turn,
    read_turns,
    shared_buffer_name,
)
from midrange_puffer.train.run_folder import read_run
from midrange_puffer.train.trainer import DivergedError

LONG = "--train.total-timesteps=1_000_000"
ALONE = ("--league.interval=0", "--train.replay-interval=0")  # an update, and nothing beside it


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes:
        pattern: where it is in the folder of samples.
        read: given that file, gives what it says, as plain data, arrays, tensors and dataclasses.
        forge: writes a file that is whole on the outside and wrong inside; None: there is no more
            to it than bytes.
        is_sealed: whether damage of any byte that counts must be noticed, as by a checksum; other
            files are text that users may change.
        errors: what may be raised.
    """

    pattern: str
    read: Callable[[Path], object]
    forge: Callable[[random.Random, bytes], tuple[str, bytes]] | None = None
    is_sealed: bool = False
    errors: tuple[type[Exception], ...] = (UserError,)


def check_type(value: object, kind: object, what: str) -> None:
    """Raises FoundError if a value is not of a type as in an annotation."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        require(any(_is_of(value, choice) for choice in arguments), f"{what} = {value!r:.60}")
        return
    if origin is typing.Literal:
        require(value in arguments, f"{what} = {value!r:.60}")
        return
    require(_is_of(value, origin or kind), f"{what} = {value!r:.60}")
    if isinstance(value, float):
        require(math.isfinite(value), f"{what} = {value}")
    if dataclasses.is_dataclass(kind):
        for field, hint in typing.get_type_hints(kind).items():
            check_type(getattr(value, field), hint, f"{what}.{field}")
    for key, entry in value.items() if origin is dict else ():
        check_type(key, arguments[0], f"a key of {what}")
        check_type(entry, arguments[1], f"{what}[{key!r:.30}]")
    for index, entry in enumerate(value) if origin is list else ():
        check_type(entry, arguments[0], f"{what}[{index}]")


def _is_of(value: object, kind: type) -> bool:
    kind = typing.get_origin(kind) or kind
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return isinstance(value, kind)


def _read_model(path: Path) -> object:
    policy, entries = load_policy(path)
    weights = policy.state_dict()
    for name, tensor in weights.items():
        require(bool(torch.isfinite(tensor).all()), f"{name} is not finite")
    return entries, weights


def _read_exported(path: Path) -> object:
    """Reads an exported policy, and calls it once."""
    policy, entries = load_policy(path)
    memory = empty_memory(policy, 1)
    with torch.no_grad():
        outputs, value = policy.forward_eval(torch.full((1, policy.features), 0.3), memory)
    require(bool(torch.isfinite(value).all()), "the value of an observation is not finite")
    return entries, outputs, value


def _read_state(path: Path) -> object:
    """Reads a trainer state, and trains on with it for one update, in a copy of its run."""
    with resumed_run(str(path.parent), [LONG]) as run:
        state = run.state
    if state["global_step"] < 10**9:
        copy = path.parent.with_name("resumed")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path.parent, copy)
        # A damaged state may say that it has made no step, and a run has one batch at least.
        goal = f"--train.total-timesteps={state['global_step'] + run.config.train.batch_size}"
        with contextlib.suppress(DivergedError):
            cli.run("train", ["--resume", str(copy), goal, *ALONE])
    return state


def _read_config(path: Path) -> object:
    return load_config(path, complete=True).as_dict()


def _read_metrics(path: Path) -> object:
    MetricsFile(path, resume_at=10**9)
    if not path.exists():  # a link to itself, which no row can be written to
        return []
    rows = path.read_bytes().split(b"\n")[:-1]  # a carriage return is a blank to JSON
    for row in rows:
        is_row = row.strip().startswith(b"{") and row.strip().endswith(b"}")
        require(is_row, f"the row {row[:40]!r} was kept")
    return rows


def _read_members(path: Path) -> object:
    members = read_members(path)
    check_type(members, list[Member], "members")
    for member in members:
        _require_inside(path.parent, member.path)
    return members


def _read_league(path: Path) -> object:
    config = load_config(path.parent / "config.ini", complete=True)
    parameters = game_parameters(config["env"])
    league = TrainingLeague(path.parent, config["league"], parameters, 10**6)
    if league._results:
        league._fit()  # as with the next rating, but without its games
    return {name: getattr(league, name) for name in ("_anchors", "_ratings", "_results")}


def _read_trial(path: Path) -> object:
    trials = Record(path.parents[2]).trials
    check_type(trials, list[Trial], "trials")
    return trials, best_trial(trials), pareto_front(trials)


def _read_sweep(path: Path) -> object:
    return Record(path.parent).config.as_dict()


def _read_readings(path: Path) -> object:
    readings = load_readings(path.parent)
    check_type(readings, list[Reading], "readings")
    return readings


def _read_replay(path: Path) -> object:
    replay = Replay.read(path)
    try:
        replay.verify()
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None
    return replay


def _read_map(path: Path) -> object:
    envelope = Envelope.load(path)
    for name in ("aero", "nez", "cold", "minimum"):
        ranges = getattr(envelope, name)
        require(ranges.shape == envelope.grid.shape, f"{name} is of shape {ranges.shape}")
        require(bool(np.isfinite(ranges).all()), f"{name} is not finite")
    return envelope


def _read_nash(path: Path) -> object:
    shares = parse_mix(f"nash:{path}")
    for name in shares:
        _require_inside(path.parent, name.removeprefix("file:"))
    return shares


def _read_population(path: Path) -> object:
    turns = read_turns(path.parent)
    check_type(turns, list[Turn], "turns")
    for turn in turns:
        _require_inside(path.parent, turn.path)
    return turns


def _read_buffer(path: Path) -> object:
    return shared_buffer_name(path.parent)


def _read_set(path: Path) -> object:
    """Reads the command of a set of exploiters, as `puffer exploit --resume` does."""
    options = exploit.read(["--resume", str(path.parent)])
    check_type(options, exploit.Options, "options")
    return options


def _require_inside(folder: Path, name: str) -> None:
    inside = folder.joinpath(name).resolve().is_relative_to(folder.resolve())
    require(inside, f"a path leads out of the folder: {name!r:.40}")


def _read_lock(path: Path) -> object:
    """Lists the run, and locks it as a run that goes on does."""
    info = read_run(path.parent)
    with lock(path.parent, "tests this"):
        return info and info.config.as_dict()


def _forge_json(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    told, tree = damage.of_tree(rng, damage.json.loads(data))
    return told, damage.to_json(tree)


def _forge_rows(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    rows = data.splitlines(keepends=True)
    index = rng.randrange(len(rows))
    told, rows[index] = _forge_json(rng, rows[index])
    return f"row {index}: {told}", b"".join([*rows[: index + 1], b"\n", *rows[index + 1 :]])


def _forge_ini(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    lines = data.splitlines(keepends=True)
    index = rng.randrange(len(lines))
    key = lines[index].partition(b" = ")[0]
    told, lines[index] = rng.choice(
        [(odd[:20], key + b" = " + odd + b"\n") for odd in damage.ODD_TEXTS]
        + [(b"left out", b""), (b"twice", 2 * lines[index]), (b"key alone", key + b"\n")]
    )
    return f"line {index}, {key.decode()}: {told!r}", b"".join(lines)


RUN, SWEEP = samples.RUN, samples.SWEEP
FORMATS = {
    "model": Format(f"{RUN}/model_*.pt", _read_model, archives.of_torch, is_sealed=True),
    "state": Format(f"{RUN}/trainer_state.pt", _read_state, archives.of_torch, is_sealed=True),
    "config": Format(f"{RUN}/config.ini", _read_config, _forge_ini),
    "metrics": Format(f"{RUN}/metrics.jsonl", _read_metrics, _forge_rows),
    "pool": Format(f"{RUN}/pool.json", _read_members, _forge_json),
    "league": Format(f"{RUN}/league.json", _read_league, _forge_json),
    "replay": Format(f"{RUN}/replays/*.replay", _read_replay, archives.of_replay, is_sealed=True),
    "nash": Format("nash.json", _read_nash, _forge_json),
    "population": Format(f"{RUN}/population.json", _read_population, _forge_json),
    "set": Format("set.json", _read_set, _forge_json),
    "buffer": Format(f"{RUN}/{SHARED_BUFFER}", _read_buffer, _forge_json),
    "report": Format("report.json", _read_curves, _forge_json),
    "lock": Format(f"{RUN}/lock", _read_lock),
    "team": Format(samples.TEAM, _read_replay, archives.of_replay, is_sealed=True),
    "sweep": Format(f"{SWEEP}/sweep.ini", _read_sweep, _forge_ini),
    "trial": Format(f"{SWEEP}/trials/0001/trial.json", _read_trial, _forge_json),
    "readings": Format(f"{SWEEP}/trials/0001/readings.json", _read_readings, _forge_json),
    "map": Format(
        samples.MAP, _read_map, archives.of_map, is_sealed=True, errors=(ValueError, OSError)
    ),
    "exported": Format(samples.EXPORTED, _read_exported, archives.of_onnx, is_sealed=True),
}

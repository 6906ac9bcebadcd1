"""Missile envelopes: the ranges from which a shot hits, for every geometry of a grid.

The search flies missiles out with the core's own step: against a target that flies on, and against
a target that evades in each of the ways in the core's table. envelope_lookup.py interpolates
between the nodes of the grid. SI units.
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer.archives import read_arrays
from midrange_puffer.files import WriteError, open_regular, write_whole
from midrange_puffer.game import envelope_search
from midrange_puffer.game.envelope_search import (
    Edges,
    Grid,
    direction,
    farthest,
    farthest_with_height,
    search,
)
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.parameters import (
    PARAMETERS,
    SEATS,
    has_height,
    observed,
    require_plane,
    resolve,
    seat_weights,
)
from midrange_puffer.game.types import FIELDS, MISSILE
from midrange_puffer.json_files import parse
from midrange_puffer.names import suggest

# The ways in which a target may fly, with their meanings: the core's table.
EVASIONS: dict[str, str] = dict(_core.evasion_rows())
PLAIN = "fly_on"
COLD = ("cold_left", "cold_right")

# Parameters that an envelope depends on.
RELEVANT: tuple[str, ...] = (
    "physics_dt",
    *(name for name, row in PARAMETERS.items() if row.group in ("flight", "missile")),
)

# The same with height, where the target is blue's and the missile red's.
RELEVANT_WITH_HEIGHT: tuple[str, ...] = (
    "dimensions", "physics_dt", "gravity", "fighter_rudder_rate", "fighter_climb_rate",
    "fighter_throttle_rate", "missile_hit_radius", "missile_launch_offset", "pilot_dive",
    "blue_aircraft", "red_missile", "types",
)  # fmt: skip

# The shortest physics step of a fly-out [s], also for games with a shorter one. A step of 0.001 s
# would take fifty times as long. A step of 0.01 s changes half of all edges by less than 15 m, and
# 95 % of them by less than 80 m.
LEAST_STEP = 0.05

CACHE_VARIABLE = "MIDRANGE_CACHE"
SHOWN = ("aero", "nez")  # edges of the launch zone that is drawn around a fighter
_FORMAT = "midrange-envelope-1"
_LARGEST = 64 << 20  # bytes of a file; the full grid takes less than one
_CHUNK = 64  # shots between two reports of progress


_SPEEDS = tuple(np.linspace(200, 500, 7).tolist())
FULL = Grid(17, 48, _SPEEDS, _SPEEDS)
# The grid of the core's look-up: it is compiled for this shape, and clamps speeds to its ends.
GAME = Grid(9, 16, (200.0, 350.0, 500.0), (200.0, 350.0, 500.0))


@dataclass(frozen=True)
class Envelope(Edges):
    """The edges of hits, each [off, aspect, launch speed, target speed], and their game.

    The arrays are read-only, because all games of a process share an envelope.

    Attributes:
        grid: The geometries.
        parameters: The `relevant` parameters of the game, and with height the fighters' heights.
        evasions: The ways in which the target may fly.
        code: Digest of the code that built it.
    """

    grid: Grid
    parameters: dict[str, Any]
    evasions: tuple[str, ...]
    code: str

    def __post_init__(self) -> None:
        for name in _EDGES:
            getattr(self, name).flags.writeable = False

    @property
    def launch_speeds(self) -> tuple[float, ...]:
        """The grid's launch speeds [m/s]."""
        return self.grid.launch_speeds

    @property
    def target_speeds(self) -> tuple[float, ...]:
        """The grid's target speeds [m/s]."""
        return self.grid.target_speeds

    @property
    def identity(self) -> dict[str, object]:
        """The description of the envelope that its file carries."""
        return _identity(self.parameters, self.grid, self.evasions, self.code)

    def save(self, path: str | Path) -> None:
        """Writes an .npz file in one go: the edges, and `identity` as JSON.

        Raises:
            WriteError: The file cannot be written.
        """
        file = io.BytesIO()
        edges = {name: getattr(self, name) for name in _EDGES}
        np.savez(file, identity=np.array(json.dumps(self.identity)), **edges)
        write_whole(Path(path), file.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "Envelope":
        """Reads a file that `save` wrote.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is no envelope of this version, or is damaged.
        """
        try:
            with open_regular(path, _LARGEST) as file:
                edges = read_arrays(file)
            identity: Any = parse(edges.pop("identity").item().encode())
            version = identity["format"]
            if version == _FORMAT:
                return cls._of(edges, identity)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: not an envelope, or damaged: {error}") from error
        raise ValueError(f"{path}: an envelope of format {version}; this is {_FORMAT}")

    @classmethod
    def _of(cls, edges: dict[str, np.ndarray], identity: dict[str, Any]) -> "Envelope":
        """Returns the envelope with these edges and this `identity`."""
        nodes = identity["grid"]
        speeds = (tuple(nodes[name]) for name in ("launch_speeds", "target_speeds"))
        grid = Grid(nodes["off"], nodes["aspect"], *speeds)
        for name, values in edges.items():
            if (values.shape, values.dtype) != (grid.shape, _EDGES[name]):
                raise ValueError(f"{name} of shape {values.shape} and type {values.dtype}")
            if not np.isfinite(values).all():
                raise ValueError(f"{name} has a value that is not finite")
        return cls(
            **edges,
            grid=grid,
            parameters=identity["parameters"],
            evasions=tuple(identity["evasions"]),
            code=identity["code"],
        )


_COUNTS = ("stretches", "gaps")
_EDGES = {
    field.name: np.dtype(np.int32 if field.name in _COUNTS else np.float32)
    for field in fields(Edges)
}


def build(
    parameters: Mapping[str, float],
    grid: Grid = FULL,
    evasions: Sequence[str] = tuple(EVASIONS),
    progress: Callable[[int], None] = lambda count: None,
    heights: tuple[float, float] | None = None,
) -> Envelope:
    """Builds the envelope of a game by flying every shot out.

    Args:
        parameters: a value for every row of csrc/params.h, as `parameters.resolve` returns them.
        grid: the geometries.
        evasions: names in `EVASIONS`: `PLAIN`, both of `COLD`, and any others.
        progress: called after each part of the work with its number of cells.
        heights: with height, where launcher and target are [m]; both fly level. Not in the plane.

    Raises:
        ValueError: An evasion is unknown, or a required one is missing; heights are missing, or
            without sense; or types of aircraft or missiles are drawn.
    """
    parameters, shots = relevant(parameters), grid.shots()
    if ("dimensions" in parameters) != (heights is not None):
        raise ValueError(f"heights = {heights}: needed with height, and only there")
    if heights is not None:
        shots["height"], shots["target_height"] = heights
        parameters |= {"height": heights[0], "target_height": heights[1]}
    aspects = direction(grid.aspect_angles)
    limits = np.broadcast_to(
        limits_of(parameters, aspects, grid.launch_speeds, grid.target_speeds), grid.shape
    )
    edges = find_edges(parameters, shots, limits.ravel(), evasions, progress)
    shaped = {name: values.reshape(grid.shape) for name, values in vars(edges).items()}
    return Envelope(
        **shaped, grid=grid, parameters=parameters, evasions=tuple(evasions), code=_code()
    )


def limits_of(
    parameters: Mapping[str, Any],
    aspects: np.ndarray,
    launch_speeds: Sequence[float],
    target_speeds: Sequence[float],
) -> np.ndarray:
    """Returns ranges beyond which no shot hits, as `farthest` has them, also with height.

    Args:
        parameters: the `relevant` parameters.
        aspects, launch_speeds, target_speeds: as of `farthest`.
    """
    types = flown_types(_game_of(parameters))
    if types is None:
        return farthest(parameters, aspects, launch_speeds, target_speeds)
    number = types.names[MISSILE].index(parameters["red_missile"])
    missile = dict(zip(FIELDS[MISSILE], types.fields[MISSILE][number], strict=True))
    return farthest_with_height(missile, aspects, launch_speeds, target_speeds)


def _game_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a game with the parameters of an envelope, without its heights."""
    return resolve({name: value for name, value in parameters.items() if name in PARAMETERS})


def find_edges(
    parameters: Mapping[str, float],
    shots: np.ndarray,
    limits: np.ndarray,
    evasions: Sequence[str] = tuple(EVASIONS),
    progress: Callable[[int], None] = lambda count: None,
    is_coarse: bool = False,
) -> Edges:
    """Finds the edges of hits for shots of any geometries.

    Args:
        parameters: the `relevant` parameters.
        shots: array [shots] of `_core.SHOT`; its ranges and evasions are ignored.
        limits: float [shots], ranges beyond which the shots cannot hit [m], see `farthest`.
        evasions, progress: as in `build`.
        is_coarse: as of `envelope_search.search`.

    Raises:
        ValueError: As in `build`.
    """
    plain, cold, others = _numbers(evasions)
    core = shots_core(parameters)
    parts = []
    for start in range(0, len(shots), _CHUNK):
        some = slice(start, start + _CHUNK)
        fly = functools.partial(_fly, core, shots[some])
        parts.append(search(fly, limits[some], plain, cold, others, is_coarse))
        progress(len(limits[some]))
    return Edges(*(np.concatenate([getattr(part, name) for part in parts]) for name in _EDGES))


def shots_core(parameters: Mapping[str, Any]) -> _core.Core:
    """Returns a core for fly-outs of shots, `Core.fly_shots`.

    Args:
        parameters: the `relevant` parameters.
    """
    seats = [seat_weights({"agent": 1.0})] * len(SEATS)
    game = _game_of(parameters)
    observation = observed("default", game)
    return _core.Core(
        game, 1, 0, seats, False, "auto", observation=observation, types=flown_types(game)
    )


def game_envelope(parameters: Mapping[str, float]) -> Envelope:
    """Returns the envelope that a game's core looks up: grid `GAME`, all evasions.

    It is built once for all games with the same `relevant` parameters. It is kept in this process
    and in a file: in the folder $MIDRANGE_CACHE or, without that variable, in the user's cache
    folder. If there is no such folder, or it cannot be written to, the envelope is built by every
    process.

    Args:
        parameters: a value for every row of csrc/params.h, as `parameters.resolve` returns them.

    Raises:
        UsageError: The game has height.
    """
    require_plane(parameters, "the missile envelope")
    return _game_envelope(tuple(relevant(parameters).items()))


def core_map(parameters: Mapping[str, float]) -> Envelope | None:
    """Returns the envelope for a game's core; None with height, where there is none."""
    return None if has_height(parameters) else game_envelope(parameters)


@functools.lru_cache(maxsize=16)
def _game_envelope(parameters: tuple[tuple[str, float], ...]) -> Envelope:
    wanted = _identity(dict(parameters), GAME, tuple(EVASIONS), _code())
    text = json.dumps(wanted)
    folder = cache_folder()
    if folder is None:
        print(
            f"warning: this user has no home folder, so that every process looks for the missile "
            f"envelope anew; set {CACHE_VARIABLE} to a folder where it can be kept",
            file=sys.stderr,
        )
        return build(dict(parameters), GAME)
    path = folder / f"envelope-{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
    with contextlib.suppress(OSError, ValueError):
        envelope = Envelope.load(path)
        if json.dumps(envelope.identity) == text:
            return envelope
    envelope = build(dict(parameters), GAME)
    with contextlib.suppress(OSError, WriteError):
        path.parent.mkdir(parents=True, exist_ok=True)
        envelope.save(path)
    return envelope


def cache_folder() -> Path | None:
    """Returns the folder of `game_envelope`'s files; None without $MIDRANGE_CACHE and a home."""
    if folder := os.environ.get(CACHE_VARIABLE):
        return Path(folder)
    try:
        folder = _user_cache()
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # older platformdirs leave a "~" in the path


def _user_cache() -> Path:
    """Returns the package's folder in the user's cache; RuntimeError without a home."""
    try:
        import platformdirs
    except ModuleNotFoundError:  # the package without extras
        return Path.home() / ".cache" / "midrange_puffer"
    return Path(platformdirs.user_cache_dir("midrange_puffer"))


def relevant(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters that fly-outs depend on, with `physics_dt` at least `LEAST_STEP`."""
    if parameters.get("dimensions", 2) == 2:
        values = {name: parameters[name] for name in RELEVANT}
    else:
        values = {name: parameters[name] for name in RELEVANT_WITH_HEIGHT}
        for name in ("blue_aircraft", "red_missile"):
            if ":" in values[name]:
                raise ValueError(f"{name} = {values[name]}: an envelope is of one type, no mix")
        if loadout := parameters.get("red_missiles"):
            raise ValueError(
                f"red_missiles = {loadout}: an envelope is of one type of missile, red_missile"
            )
    return values | {"physics_dt": max(values["physics_dt"], LEAST_STEP)}


def _fly(
    core: _core.Core,
    shots: np.ndarray,
    cells: np.ndarray,
    ranges: np.ndarray,
    evasions: Sequence[int],
) -> np.ndarray:
    """Returns True for each shot, from a cell and a range, that hits in every one of `evasions`."""
    hits = np.ones(len(cells), bool)
    for evasion in evasions:
        left = np.flatnonzero(hits)
        flown = shots[cells[left]]
        flown["range"], flown["evasion"] = ranges[left], evasion
        hits[left] = core.fly_shots(flown)
    return hits


def _numbers(evasions: Sequence[str]) -> tuple[int, list[int], list[int]]:
    """Returns the core's numbers of `PLAIN`, of the `COLD` evasions, and of all others."""
    names = list(EVASIONS)
    for name in evasions:
        if name not in names:
            raise ValueError(
                f"evasion {name!r}: must be of {', '.join(names)}{suggest(name, names)}"
            )
    for name in (PLAIN, *COLD):
        if name not in evasions:
            raise ValueError(f"evasions {', '.join(evasions)}: {name} must be among them")
    others = [names.index(name) for name in evasions if name not in (PLAIN, *COLD)]
    return names.index(PLAIN), [names.index(name) for name in COLD], others


def _identity(
    parameters: dict[str, float], grid: Grid, evasions: tuple[str, ...], code: str
) -> dict[str, object]:
    """Returns the description of an envelope, for JSON."""
    text = json.dumps(parameters, sort_keys=True)
    return {
        "format": _FORMAT,
        "code": code,
        "parameters": parameters,
        "parameters_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "grid": asdict(grid),
        "evasions": evasions,
    }


@functools.cache
def _code() -> str:
    """Returns a digest of the compiled core and of the search's source."""
    files = (_core.__file__, __file__, envelope_search.__file__)
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()

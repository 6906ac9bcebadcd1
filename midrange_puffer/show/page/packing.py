"""Arrays, paths and space-time graphs as JSON: numbers in base64."""

import base64
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from midrange_puffer.game.atmosphere import air
from midrange_puffer.game.contacts import Course
from midrange_puffer.game.spacetime import SpaceTime

MISSING = -32768  # not-a-number, in int16
GREATEST = 32767
HEIGHTS = range(0, 21_000, 1000)  # m, for which a page with height has the speed of sound

# Fields of a missile's prediction besides its points.
_PREDICTION = ("slot", "owner", "target", "hits", "miss", "ended", "harmless")

Packed = dict[str, object]


def sound_table() -> dict[str, list[float]]:
    """Returns heights [m] and the speeds of sound there [m/s]."""
    return {"heights": [*HEIGHTS], "speeds": [air(z)[1] for z in HEIGHTS]}


def pack_path(path: Course) -> Packed:
    """Packs a path: single values unchanged, lists as columns; empty lists are left out."""
    values = {field.name: getattr(path, field.name) for field in fields(path)}
    single = {name: value for name, value in values.items() if not isinstance(value, list)}
    lists = {name: value for name, value in values.items() if name not in single and value}
    return {**single, "columns": list(lists), "entries": pack(list(lists.values()))}


def pack_graphs(graphs: Sequence[SpaceTime]) -> Packed:
    """Packs the graphs of one fighter; points are relative to the fighter's place."""
    origins = np.array([graph.own[0] for graph in graphs])
    missiles = [missile for graph in graphs for missile in graph.missiles]
    counts = [len(graph.missiles) for graph in graphs]
    missile_origins = np.repeat(origins, counts, axis=0)
    escapes = [graph.escapes for graph in graphs]
    shots = _filled([graph.shots for graph in graphs], escapes[0].shape)
    fronts = _filled([graph.fronts for graph in graphs], (len(graphs[0].times), 1, len(origins.T)))
    return {
        "times": graphs[0].times.tolist(),
        "origins": pack(origins),
        "own": _pack_points([graph.own for graph in graphs], origins),
        "escapes": _pack_points(escapes, origins),
        "escapeMiss": pack(_filled([graph.escape_miss for graph in graphs], (2,))),
        "shots": _pack_points(shots, origins),
        "fronts": _pack_points(fronts, origins),
        "missiles": {
            "counts": counts,
            "points": _pack_points([missile.points for missile in missiles], missile_origins),
            "escapeMiss": pack([missile.escape_miss for missile in missiles]),
            "columns": _PREDICTION,
            "entries": pack([[getattr(part, name) for part in missiles] for name in _PREDICTION]),
        },
    }


def _filled(arrays: Sequence[np.ndarray | None], default: tuple[int, ...]) -> list[np.ndarray]:
    """Replaces None by not-a-number, in the others' shape, or `default` if all are None."""
    shape = next((array.shape for array in arrays if array is not None), default)
    return [np.full(shape, np.nan) if array is None else array for array in arrays]


def _pack_points(points: Sequence[np.ndarray], origins: np.ndarray) -> Packed:
    """Packs arrays of points [..., D], each relative to its origin [m]."""
    return pack_coarsely([part - origin for part, origin in zip(points, origins, strict=True)])


def pack(values: npt.ArrayLike) -> Packed:
    """Packs an array as float32 for JSON: little-endian numbers in base64."""
    return _pack(np.asarray(values, "<f4"), 1.0)


def pack_coarsely(values: npt.ArrayLike) -> Packed:
    """Packs an array as int16; the step is its greatest absolute value / 32767."""
    values = np.asarray(values, np.float64)
    scale = float(np.nanmax(np.abs(values), initial=0)) / GREATEST or 1.0
    numbers = np.where(np.isnan(values), MISSING, np.round(values / scale))
    return _pack(numbers.astype("<i2"), scale)


def _pack(values: np.ndarray, scale: float) -> Packed:
    data = base64.b64encode(values.tobytes()).decode()
    return {"type": values.dtype.name, "shape": values.shape, "scale": scale, "data": data}

"""The rows of the panel: scripted pilots, wide families of them, and frozen networks.

A wide family flies as its pilot does, by thresholds of other values. Whoever changes a row, a range
or a network raises `VERSION`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from midrange_puffer.config.key import check_even
from midrange_puffer.game.parameters import EXPORTED, PARAMETERS, PILOTS
from midrange_puffer.policies.models import FOLDER

VERSION = 1
EPISODES, SEED = 512, 0  # of the public panel, for each row
GROUPS = ("pilots", "wide", "frozen")
FROZEN = FOLDER / "panel"  # the networks' files
MEMBERS = FROZEN / "members.json"  # what made each, and its digest
SETS = 32  # parameter sets of each wide family
SMALLEST = 2 * SETS  # engagements of a row: every set in both seats

# Where each threshold of a pilot is drawn from, a bit beyond what is plausible. Both ends of what
# the pilot draws for each engagement are the value drawn here; so is a single value, as a salvo.
R_MAX = (0.3, 1.3)  # fires inside this fraction of it
R_NEZ = (0.4, 2.0)
TIME_TO_GO = (3.0, 30.0)  # s, evades a missile with less
SALVO = (1, 4)  # missiles in the air
WIDE: dict[str, dict[str, tuple[float, float]]] = {
    "shooter": {"shooter_fire": R_MAX},
    "evader": {"shooter_fire": R_MAX, "evader_cold_time": TIME_TO_GO, "evader_salvo": SALVO},
    "crank": {
        "crank_fire": R_MAX,
        "crank_cold_time": TIME_TO_GO,
        "crank_angle_deg": (20.0, 110.0),
        "crank_salvo": SALVO,
    },
    "bracket_shooter": {
        "bracket_fire": R_NEZ,
        "bracket_cold_time": TIME_TO_GO,
        "bracket_salvo": SALVO,
    },
    "turn_back": {
        "turn_back_fire": R_MAX,
        "turn_back_delay": (0.0, 20.0),
        "turn_back_salvo": SALVO,
    },
    "snake": {
        "snake_fire": R_MAX,
        "snake_time": TIME_TO_GO,
        "snake_angle_deg": (30.0, 120.0),
        "snake_period": (4.0, 30.0),  # s
        "snake_salvo": SALVO,
    },
    "ace": {
        "ace_probe": R_MAX,
        "ace_reserve": (0, 4),  # missiles
        "ace_fire": R_NEZ,
        "ace_salvo": SALVO,
        "ace_crank_angle_deg": (20.0, 130.0),
        "ace_cold_time": (4.0, 16.0),  # s; it evades late
        "ace_guard": (0.0, 25_000.0),  # m
    },
}
OF_ALL = {"pilot_fire_off_boresight_deg": (5.0, 45.0)}  # fires with the enemy so near its nose


@dataclass(frozen=True)
class Row:
    """Somebody whom every policy meets.

    Attributes:
        name: unique; those of wide and frozen rows begin with their group.
        group: one of `GROUPS`.
        opponent: a pilot's name, or the file of a network.
        parts: parameters of equal parts of the engagements.
    """

    name: str
    group: str
    opponent: str | Path
    parts: tuple[Mapping[str, float], ...] = ({},)


def rows_of(seed: int) -> list[Row]:
    """The rows, in the order of `GROUPS`; the wide families are drawn from the seed."""
    pilots = [Row(pilot, "pilots", pilot) for pilot in PILOTS]
    wide = [Row(f"wide:{pilot}", "wide", pilot, draw_sets(pilot, seed)) for pilot in WIDE]
    files = sorted(FROZEN.glob(f"*{EXPORTED}"))
    return pilots + wide + [Row(f"frozen:{path.stem}", "frozen", path) for path in files]


def check_episodes(count: int) -> None:
    """Raise ValueError where so many engagements cannot be divided between seats and sets."""
    check_even(count)
    if count % SMALLEST:
        raise ValueError(
            f"must be a multiple of {SMALLEST}: each of the {SETS} parameter sets of a wide row "
            "fights as often, in both seats"
        )


def draw_sets(pilot: str, seed: int) -> tuple[dict[str, float], ...]:
    """The `SETS` parameter sets of a pilot's family, as keywords of a game.

    The values of a threshold are spread evenly over its range, and paired with those of the others
    at random (a Latin hypercube, McKay 1979). A seed gives the same sets everywhere.
    """
    sets: list[dict[str, float]] = [{} for _ in range(SETS)]
    for threshold, ends in {**WIDE[pilot], **OF_ALL}.items():
        for one, share in zip(sets, _spread(seed, f"{pilot} {threshold}"), strict=True):
            one |= _setting(threshold, ends, share)
    return tuple(sets)


def _setting(threshold: str, ends: tuple[float, float], share: float) -> dict[str, float]:
    """A threshold's value at a share of the way from one end to the other, by parameter."""
    names = [name for name in (f"{threshold}_min", f"{threshold}_max") if name in PARAMETERS]
    low, high = ends
    if PARAMETERS[threshold if not names else names[0]].kind is int:
        value = int(low + share * (high - low + 1))
    else:
        value = float(f"{low + share * (high - low):.3g}")  # which can be read and quoted
    return dict.fromkeys(names or [threshold], value)


def _spread(seed: int, key: str) -> np.ndarray:
    """[SETS] numbers from 0 to 1, one in each of as many equal parts, in random order.

    They are of a seed sequence, whose numbers NumPy promises never to change.
    """
    words = np.random.SeedSequence([seed, *key.encode()]).generate_state(2 * SETS, np.uint64)
    order, within = np.argsort(words[:SETS], kind="stable"), words[SETS:] / 2**64
    return (order + within) / SETS

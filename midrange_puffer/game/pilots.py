"""The names of those who fly fighters: pilots, agents, humans, and what opponents may be called."""

from collections.abc import Iterable, Mapping, Sequence

from midrange_puffer import _core
from midrange_puffer.names import suggest

# Controllers of a fighter, in the core's order: "agent" (outside control), then scripted pilots.
CONTROLLERS: dict[str, str] = dict(_core.pilot_rows())
# Pilots that need sensors. They are not in PILOTS, which has the others.
SENSOR_PILOTS: tuple[str, ...] = _core.sensor_pilots()
WING_PILOTS: tuple[str, ...] = _core.wing_pilots()  # those SENSOR_PILOTS that need a team
MISSION_PILOTS: tuple[str, ...] = _core.mission_pilots()  # which the core alone puts into seats
PILOTS: tuple[str, ...] = tuple(
    name for name in CONTROLLERS if name not in (*SENSOR_PILOTS, *MISSION_PILOTS)
)[1:]
# The pilots from the weakest opponent to the strongest, for `puffer play`.
LADDER: tuple[str, ...] = (
    "straight", "weave", "shooter", "crank", "bracket_shooter", "snake", "turn_back", "evader",
    "ace", "patient",
)  # fmt: skip
EASY = "shooter"  # the pilot of the ladder that a new player meets: it never evades
SELF = "self"
POOL = "pool"
HUMAN = "human"
WINGMEN = "evader"  # the default wingmen: the strongest scripted team
ALL = "all"  # stands for all pilots
SCRIPTED = "pilots"  # names the group of engagements against pilots
EXPORTED = ".onnx"  # suffix of exported policies (exported.py)
MODEL_SUFFIXES = (".pt", EXPORTED)
MAP_PILOTS: tuple[str, ...] = _core.map_pilots()  # pilots that use the missile envelope


def pilot_names(text: str) -> tuple[str, ...]:
    """Returns the pilots that a text names: "all", or names separated by commas.

    Raises:
        ValueError: A pilot is unknown, or named twice.
    """
    if text == ALL:
        return PILOTS
    names, known = tuple(name.strip() for name in text.split(",")), (*PILOTS, *SENSOR_PILOTS)
    for name in names:
        if name not in known:
            raise ValueError(
                f"{name}: must be of {', '.join(known)}, or {ALL}{suggest(name, known)}"
            )
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return names


def seat_weights(shares: Mapping[str, float]) -> list[float]:
    """Returns the core's row of weights for one seat, in the order of `CONTROLLERS`."""
    return [float(shares.get(name, 0.0)) for name in CONTROLLERS]


def needs_map(pilots: Iterable[str], observation: str) -> bool:
    """True if a pilot or the observation uses the map of the missile envelope, which takes time."""
    return _core.parts_of(observation)[0] == "stg" or not set(MAP_PILOTS).isdisjoint(pilots)


def checked_side(side: str, names: str | Sequence[str], size: int) -> list[str]:
    """Returns the controllers of a side's fighters, one each.

    Args:
        side: "red" or "blue".
        names: one name for all fighters, or one for each.
        size: their number.

    Raises:
        ValueError: A name is unknown, or there are more or fewer than fighters.
    """
    controllers = [names] * size if isinstance(names, str) else list(names)
    if len(controllers) != size:
        raise ValueError(f"{side} = {names!r}: {side}_size is {size}")
    for name in controllers:
        if name not in CONTROLLERS:
            raise ValueError(
                f"{side} = {name!r}: must be one of {', '.join(CONTROLLERS)}"
                f"{suggest(str(name), CONTROLLERS)}"
            )
    return controllers

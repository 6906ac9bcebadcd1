"""Values of parameters that go together, in the plane and with height."""

from flights import with_room
from hypothesis import strategies as st

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import LOADOUTS, PAIRS, PARAMETERS, Parameter, resolve

A_TEXT = ("", "light thrust=9, mine=medium life=90")  # values of `types`
A_LOADOUT = ("", "long:1,short:4,medium:1")  # values of `red_missiles`
HEIGHT = {"dimensions": 3, "start_height_difference_max": 900}
# Noise, jammers and chaff, with which all rows of sensors have an effect.
DISTURBED = {"sensing": "radar", "radar_noise_range": 100, "red_jammer": 20_000, "chaff": 6}


def with_pairs(overrides: dict[str, float | str]) -> dict[str, float | str]:
    """Moves the other end of a pair along where one end passes it."""
    values = {name: row.default for name, row in PARAMETERS.items()} | overrides
    for low, high in PAIRS:
        if values[low] > values[high]:
            values[high if low in overrides else low] = values[low if low in overrides else high]
    return values


def a_word(row: Parameter) -> st.SearchStrategy[str]:
    """Returns any choice of a row, and any mix of several where the row has mixes; or a text."""
    if row.kind is str:
        return st.sampled_from(_texts(row))
    plain = st.sampled_from(row.choices)
    several = st.lists(plain, min_size=2, unique=True).map(",".join)
    return plain | several if row.is_mixed else plain


def _texts(row: Parameter) -> tuple[str, str]:
    return A_LOADOUT if row in LOADOUTS else A_TEXT


def end_of(row: Parameter, end: str) -> float | str:
    """Returns the value at an end, "minimum" or "maximum"; of a choice its first or last."""
    if row.kind is str:
        return _texts(row)[end == "maximum"]
    value = getattr(row, end)
    return row.choices[value] if row.choices else value


def _is_of(game: dict[str, float], name: str) -> bool:
    row = PARAMETERS[name]
    ends = end_of(row, "minimum"), end_of(row, "maximum")
    try:
        values = with_pairs({name: ends[ends[0] == row.default], **game})
        resolve(with_room(values), teams=True)
    except UsageError:
        return False
    return True


# The rows that games in the plane have, and those that games with height have besides HEIGHT.
OF_PLANE = [name for name in PARAMETERS if _is_of({}, name)]
OF_HEIGHT = [name for name in PARAMETERS if name not in HEIGHT and _is_of(HEIGHT, name)]

# The rows of sensors that only games with sensors have.
OF_SENSORS = [
    name
    for name, row in PARAMETERS.items()
    if row.group == "sensor" and name not in OF_PLANE and _is_of(DISTURBED, name)
]


def of_one_game(values: dict[str, float | str]) -> dict[str, float | str]:
    """Returns the values with defaults for what their game does not have."""
    own = OF_PLANE if values["dimensions"] == 2 else OF_HEIGHT
    others = {name: row.default for name, row in PARAMETERS.items() if name not in own}
    if values["dimensions"] == 2:
        return values | others
    if max(values["red_size"], values["blue_size"]) > 1:  # a team carries one type
        values |= {row.name: values[row.name].partition(",")[0] for row in LOADOUTS}
    # A load stands in place of a type.
    loaded = [row.name.removesuffix("s") for row in LOADOUTS if values[row.name]]
    if len(loaded) == len(LOADOUTS):
        loaded.append("ammunition")
    others |= {name: PARAMETERS[name].default for name in loaded}
    difference = min(values["start_height_difference_max"], 2 * values["start_height_min"])
    return values | others | {"dimensions": 3, "start_height_difference_max": difference}

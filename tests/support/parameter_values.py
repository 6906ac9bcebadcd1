"""Values of parameters that go together, in the plane and with height."""

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PAIRS, PARAMETERS, resolve

HEIGHT = {"dimensions": 3, "start_height_difference_max": 900}


def with_pairs(overrides: dict[str, float | str]) -> dict[str, float | str]:
    """Moves the other end of a pair along where one end passes it."""
    values = {name: row.default for name, row in PARAMETERS.items()} | overrides
    for low, high in PAIRS:
        if values[low] > values[high]:
            values[high if low in overrides else low] = values[low if low in overrides else high]
    return values


def _is_of_height(name: str) -> bool:
    row = PARAMETERS[name]
    if row.group == "sensor":  # allowed with full information, but without a meaning
        return False
    ends = (row.choices[0], row.choices[-1]) if row.choices else (row.minimum, row.maximum)
    try:
        resolve(with_pairs({name: ends[ends[0] == row.default], **HEIGHT}), teams=True)
    except UsageError:
        return False
    return True


# The rows that games with height have, besides those of HEIGHT.
OF_HEIGHT = [name for name in PARAMETERS if name not in HEIGHT and _is_of_height(name)]


def of_one_game(values: dict[str, float | str]) -> dict[str, float | str]:
    """Returns the values with defaults for what their game does not have."""
    if values["dimensions"] == 2:
        return values
    others = {name: row.default for name, row in PARAMETERS.items() if name not in OF_HEIGHT}
    difference = min(values["start_height_difference_max"], 2 * values["start_height_min"])
    return values | others | {"dimensions": 3, "start_height_difference_max": difference}

"""The keys of [env]: the core's parameters, and the options of environments.

The parameters come from the one table in csrc/params.h; `types` and the loadouts alone are texts
that types.py reads. `parameters.check` and `parameters.resolve` check their values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from midrange_puffer import _core
from midrange_puffer.game.actions import ACTION_MODES
from midrange_puffer.game.pilots import PILOTS

# Values by the names of the table's rows. A row's type is int, float, or str for a choice.
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """One row of csrc/params.h: a number with limits, or a choice; or the text `types`."""

    group: str  # rules, flight, missile, sensor, start (the game); reward, pilot (training)
    name: str
    kind: type  # int, float, or str for a text
    default: int | float | str
    minimum: int | float
    maximum: int | float
    unit: str
    meaning: str
    choices: tuple[str, ...] = ()  # the allowed values of a choice
    is_mixed: bool = False  # a choice that may also be a mix, such as "light:2,heavy:1"
    # True of a number that may also be AUTOMATIC, which then is the default: `resolve` chooses the
    # value, `default` or another one that the sides need.
    is_automatic: bool = False


@dataclass(frozen=True)
class Option:
    """Another key of [env]: a number within limits, one of `choices`, or a text that is parsed."""

    name: str
    kind: type
    default: Any  # a value of this kind
    meaning: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


TYPES = Parameter(
    "rules", "types", str, "", 0, 0, "",
    "with height: changes to types of aircraft and missiles, and new ones: agile=light thrust=15, "
    "medium burn_time=10",
)  # fmt: skip
LOADOUTS: tuple[Parameter, Parameter] = (
    Parameter(
        "rules", "red_missiles", str, "", 0, 0, "",
        "with height: the loadout of red's fighters, medium:4,long:2, in place of ammunition and "
        "red_missile; fire level 1 fires the first type, and so on",
    ),
    Parameter(
        "rules", "blue_missiles", str, "", 0, 0, "", "with height: the loadout of blue's fighters",
    ),
)  # fmt: skip
AUTOMATIC = "auto"
SPACINGS: tuple[str, str] = ("start_spacing_min", "start_spacing_max")  # the automatic rows
PARAMETERS: dict[str, Parameter] = {
    **{
        row["name"]: Parameter(**row, is_automatic=row["name"] in SPACINGS)
        for row in _core.parameter_rows()
    },
    **{row.name: row for row in (TYPES, *LOADOUTS)},
}
RULES_VERSION: int = _core.RULES_VERSION  # written into replays and models
SAME_BITS_SINCE: int = _core.SAME_BITS_SINCE  # oldest version whose results are the same to the bit
FIRST_RULES = 1  # the version of files that state none
# Rows added after version 1: (name, version that added it, value that changes nothing).
ADDITIONS: list[tuple[str, int, float | str]] = [
    *_core.parameter_additions(),
    (TYPES.name, 11, TYPES.default),
    *((row.name, 12, row.default) for row in LOADOUTS),
]
PAIRS: tuple[tuple[str, str], ...] = tuple(_core.parameter_pairs())
SEATS: tuple[str, str] = ("red", "blue")
OBSERVATIONS: tuple[str, ...] = tuple(_core.OBSERVATIONS)
# The parameters that determine the agents' observations and actions.
OBSERVED: tuple[str, ...] = (
    *("sensing", "red_size", "blue_size", "dimensions", "mission", "emission_control", "chaff"),
    *(row.name for row in LOADOUTS),
)
FIGHTER, SIDE, SUBORDINATE = AGENTS = ("fighter", "side", "subordinate")  # values of `agents`
FULL, RADAR = "full", "radar"  # values of `sensing`; RADAR is also an observation
FIGHT, LINE, ESCORT = PARAMETERS["mission"].choices
OFF, ON = PARAMETERS["emission_control"].choices
# Rows of sensors that are 0 without noise and without jammers.
NOISE: tuple[str, ...] = ("radar_noise_bearing_deg", "radar_noise_range", "radar_noise_speed")
JAMMERS: tuple[str, ...] = ("red_jammer", "blue_jammer")
# Rows that have an effect only while one of others is above 0.
EFFECT_NEEDS: dict[str, tuple[str, ...]] = {
    "track_acceleration": NOISE,
    "track_speed": NOISE,
    "home_on_jam_range": JAMMERS,
    **dict.fromkeys(("chaff_time", "chaff_chance", "chaff_speed", "chaff_time_to_go"), ("chaff",)),
}
OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("num_envs", int, 1024, "engagements side by side", 1, _core.MAX_ENVS),
        Option(
            "opponent",
            str,
            "shooter",
            f"one of {', '.join(PILOTS)}, self (both seats are agents), pool (frozen policies), a "
            "model (champion, trained, a file, a run's folder, RUN/best, latest or best; "
            "nash:FILE is several), a function (module:name or file.py:name), or a mix like "
            "self:4,pool:2,shooter:1,fighter.onnx:1: shares of the engagements",
        ),
        Option("seat", str, "red", "the agent's seat", choices=SEATS),
        Option(
            "observation",
            str,
            "default",
            "the agents' features; stg adds how both stand in each other's missile envelope, and "
            "by how much the inbound missiles would miss; radar has their sensors' data, the only "
            "one with sensing = radar",
            choices=OBSERVATIONS,
        ),
        Option(
            "action_mode",
            str,
            "discrete",
            "how the agents act: by levels of rudder, throttle and fire, by any numbers within "
            "their ranges, or by orders, which are flown as scripted pilots fly",
            choices=ACTION_MODES,
        ),
        Option(
            "order_decisions",
            int,
            4,
            "with action_mode = orders: an order is flown for so many decisions, together one step "
            "of the agent",
            1,
            100,
        ),
        Option(
            "agents",
            str,
            FIGHTER,
            "an agent is a fighter; with action_mode = orders in teams a side: a commander that "
            "gives orders to all of its fighters; or a subordinate: a fighter that is given "
            "orders, drawn at random, observes them and chooses its own controls",
            choices=AGENTS,
        ),
        Option(
            "order_cost",
            float,
            0.1,
            "with agents = subordinate: what a decision costs whose controls are the opposite of "
            "those by which a scripted pilot would follow the order",
            0,
            1,
        ),
        Option(
            "subordinates",
            str,
            "",
            "with action_mode = orders: the model file of a policy of agents = subordinate, which "
            "flies the fighters by the agents' orders; empty: the scripted courses fly them",
        ),
    )
}


def neutral_values(rules_version: int) -> dict[str, int | float | str]:
    """Returns the rows added after a version of the rules, at values that change nothing."""
    return {
        name: row.choices[int(neutral)] if (row := PARAMETERS[name]).choices else row.kind(neutral)
        for name, version, neutral in ADDITIONS
        if version > rules_version
    }

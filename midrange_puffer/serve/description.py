"""The description of the served game: resources, controls, fields of a state, parameters."""

from typing import Any

from midrange_puffer import __version__
from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.orders import ORDER
from midrange_puffer.game.parameters import PARAMETERS, RULES_VERSION, SEATS
from midrange_puffer.serve.commands import DECISION, FIRE
from midrange_puffer.serve.fields import LIST_MEANINGS, LISTS, MISSION, OWN
from midrange_puffer.serve.fights import SEATS_GIVEN, Fights

MOST_WAIT = 30  # s, of a request for a later state
GROUPS = ("rules", "flight", "missile", "sensor", "start")  # of parameters that are the game's
RESOURCES = {
    "GET /": "this description",
    "GET /fights": "the fight: its number, decision, outcome, the seats that time waits for, and "
    "the results so far",
    "POST /fights": 'begin the next fight: {"fight": its number}; nothing happens if it has begun',
    "GET /seats/SEAT": "the state of a seat; with ?after=DECISION it waits until the fight is at "
    f"another decision or over, for at most {MOST_WAIT} s or &wait=SECONDS",
    "POST /seats/SEAT/controls": f'set controls for a decision: {{"{DECISION}": that of the last '
    "state, and any of the controls, or an order}; returns the state then",
    "GET /sides/SIDE": "the states of all seats of a side, as GET /seats/SEAT",
    "POST /sides/SIDE/controls": f'the same for several seats: {{"{DECISION}": …, "{SEATS_GIVEN}": '
    "{SEAT: {controls, or an order}, …}}; returns their states then",
}
CONTROLS = {
    "rudder": "turn, 1 full left to -1 full right",
    "climb": "1 steepest climb, 0 level flight, -1 steepest dive",
    "throttle": "0 idle to 1 full",
    SYSTEMS: "with emission_control or chaff: 0 the radar emits, 1 it is silent, 2 drop chaff, "
    "3 both",
    FIRE: "for one decision: 0 or false no shot; 1 or true a shot; in teams k is a shot at the "
    "k-th of `enemies`; with a loadout k is a missile of its k-th type",
}
ORDER_MEANING = (
    'in place of controls: words such as "crank free", of each head at most one; flown by the '
    "course of a scripted pilot until there are controls or another order"
)
STATE = {
    "fight": "number of the fight, from 0",
    DECISION: "number of the decisions flown; controls are for this decision",
    "seat": "name of the fighter",
    "words": "the state in plain English",
    "time_s": "time since the start",
    "time_left_s": "time until the time limit",
    "outcome": "outcome of the fight",
    "result": "win, draw or loss of the own side; null while the fight is open",
    ORDER: "the order that the fighter follows, or null",
    "controls": "the controls set last; they stay until changed",
    "waiting_for": "the seats whose controls time waits for",
}


def describe_game(fights: Fights, side: int) -> dict[str, Any]:
    """Returns the description for a client of a side, ready for JSON."""
    game = fights.parameters
    return {
        "program": f"midrange_puffer {__version__}",
        "rules_version": RULES_VERSION,
        "resources": RESOURCES,
        "seats": [seat for seat in fights.seats if fights.side(seat) == side],
        "sides": dict(zip(SEATS, fights.names, strict=True)),
        "seconds_per_decision": game["physics_dt"] * game["substeps"],
        "clock": "stands" if fights.clock is None else fights.clock,
        "controls": {
            name: {"least": low, "greatest": high, "meaning": CONTROLS[name]}
            for name, (low, high) in fights.commands.limits.items()
        },
        ORDER: {"meaning": ORDER_MEANING, "heads": {**fights.commands.heads}},
        "state": STATE
        | {"own": OWN}
        | {
            name: {
                "meaning": LIST_MEANINGS[name],
                "entries": {field.name: field.meaning for field in fields},
            }
            for name, (_, fields) in LISTS.items()
        }
        | {
            "mission": {
                "meaning": "in missions: the line, and the transport if it is known; null of the "
                "dead and of the transport, which flies itself",
                "entries": {field.name: field.meaning for field in MISSION},
            }
        },
        "parameters": {
            row.name: {"value": game[row.name], "unit": row.unit, "meaning": row.meaning}
            for row in PARAMETERS.values()
            if row.group in GROUPS
        },
    }

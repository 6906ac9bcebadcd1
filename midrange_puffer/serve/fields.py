"""The fields of a seat's state: their names with units, meanings, and values by the features.

A field's value is computed from the observation of the seat's fighter, so it shows only what the
fighter's side knows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Constants of the observation (csrc/feature_table.h).
NEARNESS = 10_000.0  # m, of fighters
MISSILE_NEARNESS = 5_000.0  # m
URGENCY = 10.0  # s
MOST_TIME_TO_GO = 99.9  # s; the core has 100 s for a missile that does not close
LOADED = ("first", "second", "third")  # names of the types in a loadout


@dataclass(frozen=True)
class Body:
    """An observed fighter, missile or radar.

    Attributes:
        features: By their names without the prefix of the body, within [-1, 1].
        scales: Of the features.
        own: Place and direction of the own fighter: x, y [m], heading [rad]; with height z [m].
    """

    features: Mapping[str, float]
    scales: Mapping[str, float]
    own: Mapping[str, float]

    def clipped(self, name: str) -> float:
        """Returns a feature in its unit, at most its scale."""
        return self.features[name] * self.scales[name]

    def value(self, name: str) -> float | None:
        """Returns a feature in its unit; None at the end of its scale."""
        return None if abs(self.features[name]) >= 1 else self.clipped(name)

    def count(self, name: str) -> int:
        """Returns a feature that is a whole number."""
        return round(self.clipped(name))

    def is_set(self, name: str) -> bool:
        """Returns a feature that is 0 or 1."""
        return bool(self.features[name])

    def angle(self, name: str = "") -> float | None:
        """Returns the angle [degrees] of two features "…ahead" and "…left", positive left."""
        ahead, left = self.features[f"{name}ahead"], self.features[f"{name}left"]
        return math.degrees(math.atan2(left, ahead)) if ahead or left else None

    def rise(self, name: str) -> float:
        """Returns the angle above the horizon [degrees] of which a feature is the sine."""
        return math.degrees(math.asin(max(-1.0, min(self.features[name], 1.0))))

    def heading(self) -> float | None:
        """Returns the direction of its velocity [degrees], counter-clockwise from +x."""
        turn = self.angle("heading_")
        if turn is None:
            return None
        return math.remainder(math.degrees(self.own["heading"]) + turn, 360)

    def range(self, half: float = NEARNESS) -> float | None:
        """Returns the range [m] by the nearness, which is 1/2 at the range `half`."""
        nearness = self.features["nearness"]
        return half / nearness - half if nearness else None

    def place(self, axis: str) -> float | None:
        """Returns a coordinate of a fighter's place [m]: "x", "y" or "z"."""
        up = self.features["up"] if axis == "z" else 0.0
        distance = self.range()
        if distance is None:
            return None
        ahead, left = self.features["ahead"], self.features["left"]
        c, s = math.cos(self.own["heading"]), math.sin(self.own["heading"])
        share = {"x": c * ahead - s * left, "y": s * ahead + c * left, "z": up}[axis]
        return self.own[axis] + distance * share

    def line_distance(self, name: str = "") -> float | None:
        """Returns the distance to a mission's line [m], below 0 beyond it."""
        return self.value(f"{name}line_range")

    def of_transport(self, value: float | None) -> float | None:
        """Returns a value of a mission's transport; None if it is not known."""
        return value if self.is_set("transport_present") else None

    def time_to_go(self) -> float | None:
        """Returns the time to go [s]; None if it is MOST_TIME_TO_GO or more."""
        urgency = self.features["urgency"]
        seconds = URGENCY / urgency - URGENCY if urgency else math.inf
        return seconds if seconds < MOST_TIME_TO_GO else None

    def reach(self, name: str) -> float | None:
        """Returns R_max [m] by a feature that is R_max less the range."""
        margin, distance = self.value(name), self.range()
        return None if margin is None or distance is None else max(distance + margin, 0.0)

    def edge(self, name: str) -> float | None:
        """Returns an edge R of the missile envelope [m] by a feature that is R / (R + range)."""
        share, distance = self.features[name], self.range()
        return None if distance is None or share >= 1 else distance * share / (1 - share)

    def track(self) -> str:
        """Returns the source of a track."""
        if self.is_set("live"):
            return "radar"
        return "link" if self.features.get("linked") else "memory"

    def loads(self) -> list[dict[str, float]]:
        """Returns the own missiles left of each type, with R_max less the range [m]."""
        types = [name for name in LOADED if f"own_{name}_reach" in self.features]
        if not types:
            raise KeyError("no loadout")
        return [
            {
                "missiles": self.count(f"own_{name}_ammunition"),
                "r_max_margin_m": self.clipped(f"own_{name}_reach"),
            }
            for name in types
        ]


@dataclass(frozen=True)
class Field:
    """A field of a body.

    Attributes:
        name: With its unit.
        meaning: In words.
        value: Computes it. It raises KeyError if the game's observation lacks the features.
    """

    name: str
    meaning: str
    value: Callable[[Body], Any]


BEARING = Field("bearing_deg", "direction from the own nose, positive to the left", Body.angle)
ELEVATION = Field("elevation_deg", "its angle above the horizon", lambda b: b.rise("up"))
SPEED = Field("speed_m_s", "speed", lambda b: b.value("speed"))
HEADING = Field("heading_deg", "direction of its velocity, counter-clockwise from +x", Body.heading)
CLIMB = Field("climb_deg", "angle of its climb", lambda b: b.rise("heading_up"))
COURSE = (SPEED, HEADING, CLIMB)
PLACE = (
    Field("x_m", "place", lambda b: b.place("x")),
    Field("y_m", "place", lambda b: b.place("y")),
    Field("z_m", "height", lambda b: b.place("z")),
    Field("range_m", "range", Body.range),
    BEARING,
    ELEVATION,
    *COURSE,
    Field("closing_m_s", "closing speed", lambda b: b.value("closing")),
    Field(
        "aspect_deg",
        "direction of the own fighter from its nose, positive to its left; 0: it points at you",
        lambda b: b.angle("aspect_"),
    ),
)
STORES = (
    Field("missiles", "missiles that it has left", lambda b: b.count("ammunition")),
    Field("next_launch_s", "time until its next launch is allowed", lambda b: b.value("reload")),
)
ENEMIES = (
    *PLACE,
    Field("track", "source of the track: radar, link (an ally's radar) or memory", Body.track),
    Field("track_age_s", "time since a radar saw it", lambda b: b.value("age")),
    *STORES,
    Field("missiles_in_air", "its missiles in the air", lambda b: b.count("in_air")),
    Field("missiles_at_it", "missiles in the air that fly at it", lambda b: b.count("inbound")),
    Field("r_max_m", "own R_max on it, the pilots' estimate", lambda b: b.reach("own_reach")),
    Field(
        "r_max_margin_m",
        "own R_max on it less the range, from -40000 to 40000: positive inside R_max",
        lambda b: b.clipped("own_reach"),
    ),
    Field("r_aero_m", "own R_aero on it", lambda b: b.edge("own_aero")),
    Field("r_nez_m", "own R_NEZ on it", lambda b: b.edge("own_nez")),
    Field("its_r_max_m", "its R_max on you", lambda b: b.reach("reach")),
    Field("its_r_aero_m", "its R_aero on you", lambda b: b.edge("aero")),
    Field("its_r_nez_m", "its R_NEZ on you", lambda b: b.edge("nez")),
    Field("loads", "of each type of your loadout: missiles left, R_max less the range", Body.loads),
)
ALLIES = (
    *PLACE,
    *STORES,
    Field("missiles_at_it", "missiles in the air that fly at it", lambda b: b.count("inbound")),
    Field("radars_on_it", "enemy radars that track it", lambda b: b.count("tracked")),
    Field("locks_on_it", "missiles whose seekers have a lock on it", lambda b: b.count("locked")),
)
MISSILES = (
    BEARING,
    ELEVATION,
    Field("range_m", "range of the missile to its target", lambda b: b.range(MISSILE_NEARNESS)),
    Field(
        "time_to_go_s",
        "range / closing speed; null if it does not close or needs 99.9 s or more",
        Body.time_to_go,
    ),
    *COURSE,
    Field(
        "chase_margin_m",
        "distance that the missile could gain on its target, if that now ran straight away, less "
        "the range; from -20000 to 20000",
        lambda b: b.clipped("reach"),
    ),
)
OWN_MISSILES = (
    *MISSILES,
    Field("supported", "your side has a track for it to fly at", lambda b: b.is_set("supported")),
    Field("active", "its own seeker has a lock", lambda b: b.is_set("active")),
)
RADARS = (
    BEARING,
    Field("tracks", "true: it tracks you; false: it searches", lambda b: b.is_set("tracked")),
)
# Of a mission, one entry.
MISSION = (
    Field(
        "attacks",
        "true: the own side attacks; false: it defends",
        lambda b: b.features["attacks"] > 0,  # -1: it defends
    ),
    Field(
        "bearing_deg",
        "direction of the attack, straight across the line, from the nose; positive to the left",
        lambda b: b.angle("line_"),
    ),
    Field("line_m", "distance to the line, below 0 beyond it", Body.line_distance),
    Field(
        "transport_bearing_deg",
        "direction of the transport from the own nose, positive to the left",
        lambda b: b.of_transport(b.angle("transport_")),
    ),
    Field(
        "transport_range_m",
        "range to the transport",
        lambda b: b.of_transport(b.value("transport_range")),
    ),
    Field(
        "transport_line_m",
        "distance of the transport to the line",
        lambda b: b.of_transport(b.line_distance("transport_")),
    ),
)
# Parts of the state that are lists: the rows of the observation, and the fields of each entry.
LISTS: dict[str, tuple[str, tuple[Field, ...]]] = {
    "enemies": ("enemy", ENEMIES),
    "allies": ("ally", ALLIES),
    "inbound": ("inbound", MISSILES),
    "seekers": ("seeker", (BEARING,)),
    "radars": ("radar", RADARS),
    "own_missiles": ("own_missile", OWN_MISSILES),
}
LIST_MEANINGS = {
    "enemies": "the living enemies that the fighter knows, the nearest first",
    "allies": "the living fighters of the own side, the nearest first",
    "inbound": "the missiles that fly at the fighter, the least time to go first",
    "seekers": "the missiles with a lock on the fighter, the one nearest the nose first",
    "radars": "the enemy radars that the warning receiver hears",
    "own_missiles": "the own missiles in the air, the least time to go first",
}
# Fields of the own fighter, which are read from the simulation.
OWN = {
    "alive": "true until it is killed",
    "x_m": "place",
    "y_m": "place",
    "z_m": "height",
    "speed_m_s": "speed",
    "heading_deg": "direction of the nose, counter-clockwise from +x",
    "climb_deg": "angle of the climb",
    "rudder": "position of the rudder",
    "climb": "position of the climb",
    "throttle": "position of the throttle",
    "missiles": "missiles left",
    "missiles_by_type": "the same by the types of the loadout",
    "next_launch_s": "time until the next launch is allowed",
    "radar_silent": "with emission control or chaff: true while the radar is silent",
    "chaff": "with emission control or chaff: cartridges left",
    "cloud_s": "with emission control or chaff: time until the last cloud is gone",
}

"""The state of a seat: what its fighter knows, as numbers with units that are ready for JSON.

Everything about other fighters and missiles is computed from the fighter's own observation. The
observation is the core's information firewall: in a game with sensors it has only what the picture
of the fighter's side shows. Only the own fighter is read from the simulation.

A field whose features the game's observation lacks is left out. None is a value that is not known:
there is none, or the observation shows only the end of its scale.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from midrange_puffer.game.missions import without_mission
from midrange_puffer.game.observation import FEATURES, STG_FEATURES, features_of
from midrange_puffer.game.parameters import (
    FULL,
    fighter_names,
    has_height,
    has_systems,
    is_team,
    loadouts_of,
    observed,
    sizes_of,
)
from midrange_puffer.game.records import DRAW, RED_WINS, outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.crews import copy_bodies
from midrange_puffer.serve.fields import LISTS, LOADED, MISSION, Body, Field

DIGITS = 3  # after the point
_NUMBERED = re.compile(rf"({'|'.join(row for row, _ in LISTS.values())})_(\d+)_(\w+)")
# The body and the name within it of the features that are named otherwise.
_ENEMY, _RADAR, _OWN = ("enemy", 1), ("radar", 1), ("own", 1)
_MISSION = ("mission", 1)
_RENAMED = {
    "own_aspect_ahead": (_ENEMY, "aspect_ahead"),
    "own_aspect_left": (_ENEMY, "aspect_left"),
    **{f"own_{name}": (_ENEMY, f"own_{name}") for name in ("reach", "aero", "nez")},
    **{
        f"own_{which}_{name}": (_ENEMY, f"own_{which}_{name}")
        for which in LOADED
        for name in ("reach", "ammunition")
    },
    **{f"track_{name}": (_ENEMY, name) for name in ("live", "memory", "age")},
    **{f"receiver_{name}": (_RADAR, name) for name in ("searched", "tracked", "ahead", "left")},
}
# A body is there if one of these features of it is set.
_PRESENT = ("present", "alive", "live", "memory", "searched", "tracked", "line_nearness")


class Reader:
    """Reads the states of the seats of a fight.

    Args:
        sim: The fight, of one engagement. Its bodies may change; its parameters may not.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._names = fighter_names(sizes_of(sim.parameters))
        name = observed("default", sim.parameters)
        self._features = features_of(name, *sizes_of(sim.parameters))
        plane = not (is_team(sim.parameters) or has_height(sim.parameters))
        # The core has the launch zones of this game in another observation.
        self._zones: Simulation | None = None
        if plane and sim.parameters["sensing"] == FULL:
            self._zones = Simulation(1, observation="stg", **without_mission(sim.parameters))
            self._features = features_of(observed("stg", sim.parameters))
        self._places = [_place(feature.name) for feature in self._features]
        rows = {kind for (kind, _), _ in self._places}
        self._has_mission = _MISSION[0] in rows
        self._lists = {part: entry for part, entry in LISTS.items() if entry[0] in rows}

    def state(self, fighter: int) -> dict[str, Any]:
        """Returns what a fighter knows; `fields` has the meaning of each entry."""
        sim = self._sim
        own = {name: values[0, fighter].item() for name, values in sim.fighters.items()}
        bodies = self._bodies(fighter, own)
        lists: dict[str, Any] = {
            part: [_entry(fields, body) for body in bodies[row]]
            for part, (row, fields) in self._lists.items()
        }
        if self._has_mission:
            missions = [_entry(MISSION, body) for body in bodies[_MISSION[0]]]
            lists["mission"] = missions[0] if missions else None
        seconds = sim.time[0].item() * sim.parameters["physics_dt"]
        return {
            "seat": self._names[fighter],
            "time_s": round(seconds, DIGITS),
            "time_left_s": round(max(sim.parameters["time_limit"] - seconds, 0), DIGITS),
            "outcome": outcome_words(sim),
            "result": self.result(fighter),
            "own": self._own(fighter, own),
            **lists,
        }

    def result(self, fighter: int) -> str | None:
        """Returns "win", "draw" or "loss" of a fighter's side; None while the fight is open."""
        outcome, side = self._sim.outcome[0], int(fighter >= sizes_of(self._sim.parameters)[0])
        if not outcome:
            return None
        return "draw" if outcome == DRAW else "win" if outcome == RED_WINS + side else "loss"

    def _bodies(self, fighter: int, own: Mapping[str, float]) -> dict[str, list[Body]]:
        """Returns the bodies that a fighter observes, by the kinds of their rows."""
        seen = self._sim.observe()[0, fighter]
        if self._zones is not None:
            copy_bodies(self._sim, self._zones)
            zones = self._zones.observe()[0, fighter, len(FEATURES) :]
            mission = seen[len(seen) - (len(self._features) - len(STG_FEATURES)) :]
            seen = [*seen[: len(FEATURES)], *zones, *mission]
        values: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        scales: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        for (place, name), feature, number in zip(self._places, self._features, seen, strict=True):
            values[place][name] = float(number)
            scales[place][name] = feature.scale
        bodies = defaultdict(list)
        for (kind, number), features in values.items():
            if any(features.get(name) for name in _PRESENT):
                bodies[kind].append(Body(features, scales[kind, number], own))
        return bodies

    def _own(self, fighter: int, own: Mapping[str, float]) -> dict[str, Any]:
        """Returns the fields of the own fighter, `OWN`."""
        sim = self._sim
        out: dict[str, Any] = {"alive": bool(own["alive"])}
        out |= {f"{axis}_m": own[axis] for axis in "xyz" if axis in own}
        out["speed_m_s"] = own["speed"]
        out["heading_deg"] = math.degrees(own["heading"])
        if has_height(sim.parameters):
            rise = own["vz"] / own["speed"] if own["speed"] else 0.0
            out["climb_deg"] = math.degrees(math.asin(max(-1.0, min(rise, 1.0))))
        out |= {name: own[name] for name in ("rudder", "climb", "throttle") if name in own}
        out["missiles"] = own["ammo"]
        types = len(loadouts_of(sim.parameters)[int(fighter >= sizes_of(sim.parameters)[0])])
        if types > 1:
            out["missiles_by_type"] = sim.ammo_by_type[0, fighter, :types].tolist()
        out["next_launch_s"] = own["wait"] * sim.parameters["physics_dt"]
        if has_systems(sim.parameters):
            systems = {name: values[0, fighter].item() for name, values in sim.systems.items()}
            out["radar_silent"] = bool(systems["silent"])
            out["chaff"] = systems["chaff"]
            out["cloud_s"] = systems["cloud"] * sim.parameters["physics_dt"]
        return {name: _rounded(value) for name, value in out.items()}


def _place(feature: str) -> tuple[tuple[str, int], str]:
    """Returns the body of a feature, by kind and number, and its name within the body."""
    if match := _NUMBERED.fullmatch(feature):
        kind, number, name = match.groups()
        return (kind, int(number)), name
    if feature in _RENAMED:
        return _RENAMED[feature]
    if feature.startswith("mission_"):
        return _MISSION, feature.removeprefix("mission_")
    if feature.startswith("enemy_"):
        return _ENEMY, feature.removeprefix("enemy_")
    return _OWN, feature


def _entry(fields: tuple[Field, ...], body: Body) -> dict[str, Any]:
    """Returns those fields of a body whose features the observation has."""
    out = {}
    for field in fields:
        try:
            out[field.name] = _rounded(field.value(body))
        except KeyError:
            continue
    return out


def _rounded(value: Any) -> Any:
    """Returns a value for JSON, numbers with DIGITS digits."""
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0  # no negative zero
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    return value

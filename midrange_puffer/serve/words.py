"""The state of a seat in a few sentences of plain English."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from midrange_puffer.game.paths import clock

ENDS = {"win": "Your side has won", "draw": "It is a draw", "loss": "Your side has lost"}


def describe(state: Mapping[str, Any]) -> str:
    """Returns a result of `Reader.state` in words."""
    if state["result"] is not None:
        return f"The fight is over after {state['time_s']:.0f} s. {ENDS[state['result']]}."
    if not state["own"]["alive"]:
        return "You are dead. The fight goes on."
    if state.get("mission", {}) is None:
        return "You are the transport, which flies itself."
    sentences = [_own(state["own"], state["time_left_s"]), _enemies(state)]
    if "chaff" in state["own"]:
        sentences.append(_systems(state["own"]))
    if inbound := state.get("inbound"):
        verb = "flies" if len(inbound) == 1 else "fly"
        sentences.append(f"{_count(inbound, 'missile')} {verb} at you, {_nearest(inbound)}.")
    if seekers := state.get("seekers"):
        verb = "has" if len(seekers) == 1 else "have"
        places = " and ".join(dict.fromkeys(map(_clock, seekers)))
        sentences.append(f"{_count(seekers, 'missile')} {verb} a lock on you, at {places}.")
    for radar in state.get("radars", ()):
        verb = "tracks you" if radar["tracks"] else "searches"
        sentences.append(f"An enemy radar at {_clock(radar)} {verb}.")
    if missiles := state["own_missiles"]:
        verb = "is" if len(missiles) == 1 else "are"
        subject = f"{len(missiles)} of your missiles {verb} in the air"
        sentences.append(f"{subject}, {_nearest(missiles)}.")
    if mission := state.get("mission"):
        sentences.append(_mission(mission))
    return " ".join(sentences)


def _own(own: Mapping[str, Any], left: float) -> str:
    height = f" at a height of {_km(own['z_m'])}" if "z_m" in own else ""
    wait = own["next_launch_s"]
    ready = f", the next one ready in {wait:.0f} s" if own["missiles"] and wait else ""
    return (
        f"You fly at {own['speed_m_s']:.0f} m/s{height} with {own['missiles']} "
        f"missile{'' if own['missiles'] == 1 else 's'} left{ready}; {left:.0f} s remain."
    )


def _systems(own: Mapping[str, Any]) -> str:
    """Returns a sentence about the radar and the chaff."""
    cloud = f", and your last cloud lasts for {own['cloud_s']:.0f} s" if own["cloud_s"] else ""
    radar = "is silent" if own["radar_silent"] else "emits"
    plural = "" if own["chaff"] == 1 else "s"
    return f"Your radar {radar}; {own['chaff']} cartridge{plural} of chaff left{cloud}."


def _mission(mission: Mapping[str, Any]) -> str:
    """Returns a sentence about the line of a mission."""
    part, away = "attacks" if mission["attacks"] else "defends", mission["line_m"]
    if away is None:
        return f"Your side {part} the line."
    place = "beyond it" if away < 0 else "before it"
    return f"Your side {part} the line; you are {_km(abs(away))} {place}."


def _enemies(state: Mapping[str, Any]) -> str:
    """Returns a sentence about the nearest enemy, and one about the others."""
    enemies = state["enemies"]
    if not enemies:
        has_sensors = "radars" in state
        return "You have no track of an enemy." if has_sensors else "No enemy is alive."
    enemy, others = enemies[0], len(enemies) - 1
    which = "nearest enemy" if others else "enemy"
    if enemy.get("track") == "memory":
        which += f" (out of sight for {enemy['track_age_s'] or 10:.0f} s)"
    parts = [f"{_km(enemy['range_m'])} away at {_clock(enemy)}"]
    if (closing := enemy["closing_m_s"]) is not None:
        parts.append(f"{'closing' if closing > 0 else 'opening'} at {abs(closing):.0f} m/s")
    parts.append(_zone(enemy))
    more = f" You know {others} more." if others else ""
    return f"The {which} is {', '.join(parts)}.{more}"


def _zone(enemy: Mapping[str, Any]) -> str:
    """Returns the place of an enemy in the own launch zone."""
    nez, margin = enemy.get("r_nez_m"), enemy["r_max_margin_m"]
    if nez is not None and enemy["range_m"] < nez:
        return "inside your R_NEZ"
    least = "at least " if enemy["r_max_m"] is None else ""
    return f"{least}{_km(abs(margin))} {'inside' if margin > 0 else 'outside'} your R_max"


def _nearest(missiles: Sequence[Mapping[str, Any]]) -> str:
    """Returns words about the first of some missiles."""
    missile = missiles[0]
    parts = [f"{'the first ' if len(missiles) > 1 else ''}at {_clock(missile)}"]
    if missile["range_m"] is not None:
        parts.append(f"{_km(missile['range_m'])} from its target")
    seconds = missile["time_to_go_s"]
    parts.append("not closing" if seconds is None else f"{seconds:.0f} s to go")
    return ", ".join(parts)


def _count(bodies: Sequence[Any], noun: str) -> str:
    return f"{len(bodies)} {noun}{'s' if len(bodies) > 1 else ''}"


def _clock(body: Mapping[str, Any]) -> str:
    above = body.get("elevation_deg", 0.0)
    return clock(math.radians(body["bearing_deg"] or 0.0), math.radians(above))


def _km(metres: float) -> str:
    return f"{metres / 1000:.1f} km"

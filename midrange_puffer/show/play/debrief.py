"""Why a fight went as it did, told to one of its pilots from what was flown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.envelope import Envelope, game_envelope
from midrange_puffer.game.launch_zone import look_up
from midrange_puffer.game.parameters import callsigns, is_team
from midrange_puffer.game.paths import ACTIVE, HIT, MissilePath, Paths
from midrange_puffer.game.simulation import Simulation

INSIDE, BETWEEN, BEYOND, TOO_NEAR = (
    "inside R_NEZ",
    "between R_NEZ and R_aero",
    "beyond R_aero",
    "nearer than R_min",
)


@dataclass(frozen=True)
class Look:
    """What the space-time graph said at a time [s]: whether an escape was still open."""

    time: float
    open: bool


def debrief(sim: Simulation, paths: Paths, fighter: int, looks: Sequence[Look]) -> list[str]:
    """Some sentences for the pilot of a fighter, of a fight that is over.

    Args:
        sim, paths: of the fight.
        fighter: whom it is told to.
        looks: at the graph of this fighter while missiles were after it, in order of time.
    """
    envelope = game_envelope(sim.parameters)
    in_team = is_team(sim.parameters)
    killers = [one for one in paths.missiles if one.fate == HIT and one.target == fighter]
    kills = [one for one in paths.missiles if one.fate == HIT and one.owner == fighter]
    if paths.contacts:
        lines = [line for one in (*kills, *killers[:1]) for line in _of_lock(one, fighter)]
    else:
        lines = [_of_kill(envelope, paths, one) for one in kills]
        lines += [line for one in killers[:1] for line in _of_death(envelope, paths, one, looks)]
    if not kills and not killers:
        lines.append("You hit nobody, and were not hit." if in_team else "Nobody was hit.")
    lines.append(_of_shots(envelope, paths, fighter))
    return [f"You flew {callsigns(paths.sizes)[fighter]}.", *lines] if in_team else lines


def zone_of(envelope: Envelope, paths: Paths, missile: MissilePath) -> tuple[float, str]:
    """The range of a launch [m], and in which zone of the launcher the target was."""
    owner, target = (paths.fighters[one] for one in (missile.owner, missile.targets[0]))
    at = [path.at(missile.launched + 1e-6) for path in (owner, target)]
    places = [np.array([path.x[i], path.y[i]]) for path, i in zip((owner, target), at, strict=True)]
    dx, dy = places[1] - places[0]
    bearing, distance = float(np.arctan2(dy, dx)), float(np.hypot(dx, dy))
    angles = owner.heading[at[0]] - bearing, target.heading[at[1]] - bearing - np.pi
    speeds = owner.speed[at[0]], target.speed[at[1]]
    edges = {
        name: float(look_up(envelope, name, *map(np.float64, (*angles, *speeds))))
        for name in ("minimum", "nez", "aero")
    }
    if distance > edges["aero"]:
        return distance, BEYOND
    if distance < edges["minimum"]:
        return distance, TOO_NEAR
    return distance, INSIDE if distance <= edges["nez"] else BETWEEN


def _of_kill(envelope: Envelope, paths: Paths, missile: MissilePath) -> str:
    distance, zone = zone_of(envelope, paths, missile)
    hit = "hit" if len(paths.fighters) == 2 else f"hit {callsigns(paths.sizes)[missile.target]}"
    fired = f"Your missile of {clock(missile.launched)} {hit}. It was fired from {_km(distance)}, "
    if zone == INSIDE:
        return f"{fired}{zone}: no turn could have saved the enemy."
    if zone == BETWEEN:
        return f"{fired}{zone}: the enemy could have got away, and turned too late."
    return f"{fired}{zone}: the enemy flew into it."


def _of_lock(missile: MissilePath, fighter: int) -> list[str]:
    """Of a hit in a game with sensors: there a turn may also break a lock, so zones decide less."""
    fired = clock(missile.launched)
    told = f"Your missile of {fired} hit."
    if missile.target == fighter:
        told = f"You were hit by a missile fired at {fired}."
    guided = zip(missile.times, missile.guided, strict=True)
    locks = [time for time, guide in guided if guide == ACTIVE]
    if not locks:
        return [told, "Its fighter guided it to the end: its own seeker never had a lock."]
    return [told, f"Its own seeker had a lock from {clock(locks[0])} on."]


def _of_death(
    envelope: Envelope, paths: Paths, missile: MissilePath, looks: Sequence[Look]
) -> list[str]:
    distance, zone = zone_of(envelope, paths, missile)
    fired = f"You were hit by a missile fired at {clock(missile.launched)} from {_km(distance)}, "
    chances = [one.time for one in looks if one.open and one.time >= missile.launched]
    if chances:
        until = clock(chances[-1])
        why = f"Until {until} full rudder and running away would have saved you."
    elif zone == INSIDE:
        why = "No turn could save you then. Turn before the enemy's R_NEZ reaches you: E shows it."
    else:
        why = "From the launch on neither escape was open: you had too far to turn."
    return [f"{fired}{zone}.", why]


def _of_shots(envelope: Envelope, paths: Paths, fighter: int) -> str:
    zones = [zone_of(envelope, paths, one)[1] for one in paths.missiles if one.owner == fighter]
    if not zones:
        return "You fired no missile."
    counts = {zone: zones.count(zone) for zone in (INSIDE, BETWEEN, BEYOND, TOO_NEAR)}
    told = ", ".join(f"{count} {zone}" for zone, count in counts.items() if count)
    return f"Your shots: {told}."


def clock(time: float) -> str:
    """A time of the fight [s] as minutes and seconds."""
    return f"{int(time) // 60}:{int(time) % 60:02}"


def _km(distance: float) -> str:
    return f"{distance / 1000:.1f} km"

"""The debriefing: the reasons for the result of a fight, for one of its pilots."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.envelope import Envelope, game_envelope, look_up
from midrange_puffer.game.parameters import callsigns, is_team
from midrange_puffer.game.paths import ACTIVE, HIT, MissilePath, Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.show.view.moment import minutes

INSIDE, BETWEEN, BEYOND, TOO_NEAR = (
    "inside R_NEZ",
    "between R_NEZ and R_aero",
    "beyond R_aero",
    "nearer than R_min",
)


@dataclass(frozen=True)
class EscapeCheck:
    """A check of the space-time graph at a time [s]; `open` is True if an escape was possible."""

    time: float
    open: bool


def debrief(
    sim: Simulation, paths: Paths, fighter: int, checks: Sequence[EscapeCheck]
) -> list[str]:
    """Returns some sentences about a finished fight, for the pilot of a fighter.

    Args:
        sim, paths: The fight.
        fighter: The pilot's fighter.
        checks: Checks of the fighter's graph while missiles flew at it, in order of time.
    """
    envelope = game_envelope(sim.parameters)
    in_team = is_team(sim.parameters)
    hits = [missile for missile in paths.missiles if missile.fate == HIT]
    deaths = [missile for missile in hits if missile.target == fighter][:1]
    kills = [missile for missile in hits if missile.owner == fighter]
    if paths.contacts:
        lines = [line for missile in kills + deaths for line in _of_lock(missile, fighter)]
    else:
        lines = [_of_kill(envelope, paths, missile) for missile in kills]
        lines += [line for m in deaths for line in _of_death(envelope, paths, m, checks)]
    if not kills and not deaths:
        lines.append("You hit no enemy and were not hit." if in_team else "No fighter was hit.")
    lines.append(_of_shots(envelope, paths, fighter))
    return [f"You flew {callsigns(paths.sizes)[fighter]}.", *lines] if in_team else lines


def zone_of(envelope: Envelope, paths: Paths, missile: MissilePath) -> tuple[float, str]:
    """Returns the range of a launch [m], and the launcher's zone in which the target was."""
    owner, target = paths.fighters[missile.owner], paths.fighters[missile.targets[0]]
    own, other = (path.at(missile.launched + 1e-6) or 0 for path in (owner, target))
    dx, dy = target.x[other] - owner.x[own], target.y[other] - owner.y[own]
    bearing, distance = float(np.arctan2(dy, dx)), float(np.hypot(dx, dy))
    angles = owner.heading[own] - bearing, target.heading[other] - bearing - np.pi
    speeds = owner.speed[own], target.speed[other]
    edges = {
        name: float(look_up(envelope, name, *map(np.asarray, (*angles, *speeds))))
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
    fired = f"Your missile of {minutes(missile.launched)} {hit}. It was fired from {_km(distance)}"
    if zone == INSIDE:
        return f"{fired}, {zone}: no turn could have saved the enemy."
    if zone == BETWEEN:
        return f"{fired}, {zone}: the enemy could have got away, and turned too late."
    return f"{fired}, {zone}: the enemy flew into it."


def _of_lock(missile: MissilePath, fighter: int) -> list[str]:
    """Describes a hit in a game with sensors, where a turn may also break a lock."""
    fired = minutes(missile.launched)
    hit = f"Your missile of {fired} hit."
    if missile.target == fighter:
        hit = f"You were hit by a missile fired at {fired}."
    guided = zip(missile.times, missile.guided, strict=True)
    lock = next((time for time, source in guided if source == ACTIVE), None)
    if lock is None:
        return [hit, "Its fighter guided it to the end: its own seeker never had a lock."]
    return [hit, f"Its own seeker had a lock from {minutes(lock)} on."]


def _of_death(
    envelope: Envelope, paths: Paths, missile: MissilePath, checks: Sequence[EscapeCheck]
) -> list[str]:
    distance, zone = zone_of(envelope, paths, missile)
    fired = f"You were hit by a missile fired at {minutes(missile.launched)} from {_km(distance)}"
    chances = [check.time for check in checks if check.open and check.time >= missile.launched]
    if chances:
        until = minutes(chances[-1])
        why = f"Until {until} full rudder and running away would have saved you."
    elif zone == INSIDE:
        why = "No turn could save you then. Turn before the enemy's R_NEZ reaches you: E shows it."
    else:
        why = "From the launch on neither escape was open: you had too far to turn."
    return [f"{fired}, {zone}.", why]


def _of_shots(envelope: Envelope, paths: Paths, fighter: int) -> str:
    zones = [zone_of(envelope, paths, m)[1] for m in paths.missiles if m.owner == fighter]
    if not zones:
        return "You fired no missile."
    counts = {zone: zones.count(zone) for zone in (INSIDE, BETWEEN, BEYOND, TOO_NEAR)}
    shots = ", ".join(f"{count} {zone}" for zone, count in counts.items() if count)
    return f"Your shots: {shots}."


def _km(distance: float) -> str:
    return f"{distance / 1000:.1f} km"

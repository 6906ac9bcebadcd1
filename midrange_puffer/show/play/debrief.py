"""The debriefing: the reasons for the result of a fight, for one of its pilots."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from midrange_puffer.game.envelope import Envelope, game_envelope
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.manoeuvres import in_words, manoeuvres
from midrange_puffer.game.parameters import callsigns, is_team
from midrange_puffer.game.paths import ACTIVE, HIT, MissilePath, Paths
from midrange_puffer.game.shots import FlyOuts, flight_at, if_it_flies_on, surely
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.show.play.words import BETWEEN, BEYOND, DEBRIEF, INSIDE, LAST, TOO_NEAR
from midrange_puffer.show.view.states import minutes

AWAY = math.radians(60)  # least angle off the launcher at which a target has turned away
TURN = math.radians(30)  # and least change of that angle


# A function that returns the range of a launch [m], and the zone in which the target was then.
Zones = Callable[[MissilePath], tuple[float, str]]


@dataclass(frozen=True)
class EscapeCheck:
    """A check of the future at a time [s]; `open` is True if an escape was possible."""

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
    zones = _zones(sim, paths)
    in_team = is_team(sim.parameters)
    hits = [missile for missile in paths.missiles if missile.fate == HIT]
    deaths = [missile for missile in hits if missile.target == fighter][:1]
    kills = [missile for missile in hits if missile.owner == fighter]
    if paths.contacts:
        lines = [line for missile in kills + deaths for line in _of_lock(missile, fighter)]
    else:
        lines = [_of_kill(zones, paths, missile) for missile in kills]
        lines += [line for m in deaths for line in _of_death(zones, m, checks, paths.has_height)]
    crashed = _crashed(paths)
    for number in crashed:
        enemy = callsigns(paths.sizes)[number] if in_team else "The enemy"
        lines.append(f"{'You' if number == fighter else enemy} flew into the ground.")
    lines += _of_line(sim, paths, fighter)
    if not kills and not deaths and not crashed:
        lines.append(DEBRIEF["no_hit_team" if in_team else "no_hit"])
    lines.append(_of_shots(zones, paths, fighter))
    lines += _of_doings(paths, fighter, deaths)
    flown = DEBRIEF["flown"].format(name=callsigns(paths.sizes)[fighter])
    return [flown, *lines] if in_team else lines


def _crashed(paths: Paths) -> list[int]:
    """Returns the fighters that flew into the ground; there is none in the plane."""
    hit = [missile.target for missile in paths.missiles if missile.fate == HIT]
    dead = [path.number for path in paths.fighters if path.died is not None]
    return [number for number in dead if number not in hit] if paths.has_height else []


def _of_line(sim: Simulation, paths: Paths, fighter: int) -> list[str]:
    """Describes the end of a mission at its line; empty in a fight."""
    line = paths.line
    if line is None:
        return []
    attackers = [path for path in paths.fighters if path.side == line.attacker]
    counted = attackers if line.transport is None else [paths.fighters[line.transport]]
    left = {
        path.number: line.distance(path.x[-1], path.y[-1]) for path in counted if path.died is None
    }
    if not left:
        lost = "no attacker is left" if line.transport is None else "the transport is lost"
        return [f"The line holds: {lost}."]
    first = min(left, key=left.__getitem__)
    name = callsigns(paths.sizes)[first] if is_team(sim.parameters) else "the enemy"
    if first == line.transport:
        name = "the transport"
    elif first == fighter:
        name = "you"
    if left[first] <= 0:
        return [f"{name.replace('the', 'The').replace('you', 'You')} crossed the line."]
    if sim.outcome[0] - 1 == line.attacker:
        return ["Nobody is left to defend the line."]
    return [f"The line holds: {name} had {_km(left[first])} left when the time was up."]


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


def flown_zone_of(fly_outs: FlyOuts, paths: Paths, missile: MissilePath) -> tuple[float, str]:
    """Returns the same as `zone_of` in a fight with height, by fly-outs of the shot."""
    owner, target = paths.fighters[missile.owner], paths.fighters[missile.targets[0]]
    own, other = flight_at(owner, missile.launched), flight_at(target, missile.launched)
    hits = fly_outs.hits(owner.side, own, other, missile.kind, target.number)
    zone = INSIDE if surely(hits) else BETWEEN if if_it_flies_on(hits) else BEYOND
    return math.hypot(other.x - own.x, other.y - own.y), zone


def _zones(sim: Simulation, paths: Paths) -> Zones:
    """Returns the function that gives the zones of a fight's launches."""
    if paths.has_height:
        return partial(flown_zone_of, FlyOuts(sim.parameters, paths.types, paths.factors), paths)
    return partial(zone_of, game_envelope(sim.parameters), paths)


def _of_kill(zones: Zones, paths: Paths, missile: MissilePath) -> str:
    distance, zone = zones(missile)
    kind = "kill_inside" if zone == INSIDE else "kill_other"
    if zone == BETWEEN:
        kind = "kill_late" if _turned(paths, missile) else "kill_straight"
    hit = "hit" if len(paths.fighters) == 2 else f"hit {callsigns(paths.sizes)[missile.target]}"
    fired = {"time": minutes(missile.launched), "range": _km(distance), "zone": zone}
    return DEBRIEF[kind].format(hit=hit, **fired)


def _turned(paths: Paths, missile: MissilePath) -> bool:
    """Returns true if a missile's target turned away from the place of the launch."""
    owner, target = paths.fighters[missile.owner], paths.fighters[missile.target]
    own = owner.at(missile.launched + 1e-6) or 0
    x, y, heading = (
        np.asarray(values)[np.asarray(target.times) >= missile.launched]
        for values in (target.x, target.y, target.heading)
    )
    off = heading - np.arctan2(owner.y[own] - y, owner.x[own] - x)
    off = np.abs(np.remainder(off + np.pi, 2 * np.pi) - np.pi)
    return bool(off.max(initial=0.0) > max(AWAY, off[0] + TURN))


def _of_lock(missile: MissilePath, fighter: int) -> list[str]:
    """Describes a hit in a game with sensors, where a turn may also break a lock."""
    kind = "death_lock" if missile.target == fighter else "kill_lock"
    hit = DEBRIEF[kind].format(time=minutes(missile.launched))
    guided = zip(missile.times, missile.guided, strict=True)
    lock = next((time for time, source in guided if source == ACTIVE), None)
    if lock is None:
        return [hit, DEBRIEF["no_lock"]]
    return [hit, DEBRIEF["lock"].format(time=minutes(lock))]


def _of_death(
    zones: Zones, missile: MissilePath, checks: Sequence[EscapeCheck], has_height: bool
) -> list[str]:
    distance, zone = zones(missile)
    fired = DEBRIEF["death"].format(time=minutes(missile.launched), range=_km(distance), zone=zone)
    chances = [check.time for check in checks if check.open and check.time >= missile.launched]
    if chances:
        how = "a dive, full rudder" if has_height else "full rudder"
        return [fired, DEBRIEF["chance"].format(time=minutes(chances[-1]), how=how)]
    if zone == INSIDE:
        return [fired, DEBRIEF["inside"].format(shown=": E shows it")]
    return [fired, DEBRIEF["closed"]]


def _of_shots(zones: Zones, paths: Paths, fighter: int) -> str:
    fired = [zones(missile)[1] for missile in paths.missiles if missile.owner == fighter]
    if not fired:
        return DEBRIEF["no_shots"]
    counts = {zone: fired.count(zone) for zone in (INSIDE, BETWEEN, BEYOND, TOO_NEAR)}
    shots = ", ".join(f"{count} {zone}" for zone, count in counts.items() if count)
    return DEBRIEF["shots"].format(shots=shots)


def _of_doings(paths: Paths, fighter: int, deaths: Sequence[MissilePath]) -> list[str]:
    """Tells in the words of orders what the pilot did at last, and the enemy that hit it."""
    names = callsigns(paths.sizes) if len(paths.fighters) > 2 else ["The enemy"] * 2
    whose = {missile.owner: names[missile.owner] for missile in deaths} | {fighter: "You"}
    lines = []
    for number, name in whose.items():
        end = paths.fighters[number].died or paths.time
        done = [held for held in manoeuvres(paths) if held.fighter == number and held.start <= end]
        words = dict.fromkeys(in_words(held, paths.sizes) for held in done[-LAST:])
        if words:
            lines.append(DEBRIEF["at_last"].format(name=name, done=", then ".join(words)))
    return lines


def _km(distance: float) -> str:
    return f"{distance / 1000:.1f} km"

"""A human's status lines: the next shot, with height whether it would hit, and the systems."""

from collections.abc import Mapping

from midrange_puffer.game.contacts import TRACKS, contact_places
from midrange_puffer.game.parameters import RADAR, callsigns
from midrange_puffer.game.shots import FlyOuts, flight_of, if_it_flies_on, surely
from midrange_puffer.game.types import MISSILE
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.systems import systems_words


def judge_shot(session: Session, fly_outs: FlyOuts, fighter: int) -> dict[str, bool]:
    """Returns whether a missile fired now hits, by the target's evasion, in a game with height.

    With sensors the target flies as the fighter believes. Without a target or a track there is
    nothing.

    Args:
        session: The fights.
        fly_outs: Of the present fight.
        fighter: The fighter's number.
    """
    sim, target = session.sim, session.target(fighter)
    if target is None:
        return {}
    bodies, place = sim.fighters, (0, target)
    if sim.parameters["sensing"] == RADAR:
        bodies, place = sim.contacts, (0, *contact_places(sim)[fighter, target])
        if bodies["source"][place] not in TRACKS:
            return {}
    own, enemy = flight_of(sim.fighters, (0, fighter)), flight_of(bodies, place)
    side = int(fighter >= session.paths.sizes[0])
    return fly_outs.hits(side, own, enemy, session.kind(fighter), target)


def status_lines(
    session: Session, fighter: int, hits: Mapping[str, bool] | None = None
) -> list[str]:
    """Returns the lines about a fighter's next shot and its systems; see `launch_words`."""
    lines = launch_words(session, fighter, hits), systems_words(session, fighter)
    return [line for line in lines if line]


def launch_words(session: Session, fighter: int, hits: Mapping[str, bool] | None = None) -> str:
    """Returns in words when a fighter may launch, and in teams its target.

    Args:
        session: The fights.
        fighter: The fighter's number.
        hits: With height, whether a missile fired now hits, as of `Lookout.shots`.
    """
    state = {name: values[0, fighter] for name, values in session.sim.fighters.items()}
    sizes = session.paths.sizes
    if not state["alive"]:
        missiles = session.sim.missiles
        flying = int((missiles["active"][0] & (missiles["owner"][0] == fighter)).sum())
        if session.sim.fighters["alive"][0, session.side_of(fighter)].any() and not session.over:
            return "shot down: fly another fighter"
        if not flying or session.over:
            return "shot down"
        return f"shot down; {flying} of your missiles still fly: the fight goes on until they end"
    if not state["ammo"]:
        return "no missile left"
    contacts = [contact for contact in session.paths.contacts if contact.fighter == fighter]
    if contacts and not any(contact.source[-1] in TRACKS for contact in contacts):
        return "no track: nothing to launch at"
    wait = state["wait"] * session.sim.parameters["physics_dt"]
    words = f"next missile in {wait:.1f} s" if wait else "missile ready"
    if len(left := session.missiles_left(fighter)) > 1:
        kind = session.kind(fighter)
        name, _ = session.paths.types[MISSILE][int(fighter >= sizes[0])][kind]
        words = f"{name}, {left[kind]} left, {f'in {wait:.1f} s' if wait else 'ready'}"
    target = session.target(fighter)
    if max(sizes) > 1 and target is not None:
        words = f"{words}, at {callsigns(sizes)[target]}"
    return f"{words}: {_outlook(hits)}" if hits and not session.over else words


def _outlook(hits: Mapping[str, bool]) -> str:
    """Returns in words whether a missile fired now hits."""
    if surely(hits):
        return "no turn saves the enemy"
    return "hits if the enemy flies on" if if_it_flies_on(hits) else "misses from here"

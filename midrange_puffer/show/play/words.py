"""What a human reads of the own fighter below the picture."""

from midrange_puffer.game.contact_path import TRACKS
from midrange_puffer.game.parameters import callsigns
from midrange_puffer.replays.session import Session


def launch_words(session: Session, fighter: int) -> str:
    """Whether a fighter may launch, and from when on; in teams also at whom."""
    state = {name: values[0, fighter] for name, values in session.sim.fighters.items()}
    sizes = session.paths.sizes
    if not state["alive"]:
        return "shot down"
    if not state["ammo"]:
        return "no missile left"
    contacts = [one for one in session.paths.contacts if one.fighter == fighter]
    if contacts and not any(one.source[-1] in TRACKS for one in contacts):
        return "no track: nothing to launch at"
    wait = state["wait"] * session.sim.parameters["physics_dt"]
    words = f"next missile in {wait:.1f} s" if wait else "missile ready"
    target = session.target(fighter)
    if max(sizes) == 1 or target is None:
        return words
    return f"{words}, at {callsigns(sizes)[target]}"

"""An engagement as one fighter believes it: what its space-time graph and launch zones go by."""

from midrange_puffer.game.contact_path import TRACKS, contact_places
from midrange_puffer.game.parameters import FULL, is_team, sizes_of
from midrange_puffer.game.simulation import Simulation


def believed(sim: Simulation, env: int, fighter: int, enemy: int | None = None) -> Simulation:
    """A game of one against one, with full information, that a fighter would take for the present.

    Red's is fighter 0, blue's is fighter 1. The own fighter and missiles are as they are. The enemy
    is where it is believed to be, with its rudder in the middle and all missiles aboard. Without a
    track it is dead: nothing can be said of what it could fire. The enemy's missiles are not
    there, as nobody knows how far they are. The clock is not carried over, and own missiles fly at
    the contact, also those that fly at something else; in teams only those whose target this is.

    Args:
        sim: with sensors; it is not changed.
        env, fighter: whose belief.
        enemy: of whom; None: of the first of the other side, as in one against one the only one.
    """
    places = contact_places(sim)
    if enemy is None:
        enemy = next(other for own, other in places if own == fighter)
    contact = {name: values[env][places[fighter, enemy]] for name, values in sim.contacts.items()}
    side = int(fighter >= sizes_of(sim.parameters)[0])
    sizes = {"red_size": 1, "blue_size": 1}
    out = Simulation(1, **sim.parameters | sizes | {"sensing": FULL})
    out.core.set_fighter(0, side, sim.core.get_fighter(env, fighter))
    state = out.core.get_fighter(0, 1 - side)
    for name in ("x", "y", "speed"):
        state[name] = float(contact[name])
    if contact["source"] in TRACKS:
        state["direction_x"] = float(contact["vx"] / max(contact["speed"], 1e-3))
        state["direction_y"] = float(contact["vy"] / max(contact["speed"], 1e-3))
    else:
        state["alive"] = 0
    out.core.set_fighter(0, 1 - side, state)
    missiles = {name: values[env] for name, values in sim.missiles.items()}
    mine = (missiles["owner"] == fighter) & (missiles["target"] == enemy)
    slots = (mine & (missiles["active"] == 1)).nonzero()[0].tolist()
    for number, slot in enumerate(slots):
        seats = {"owner": side, "target": 1 - side}
        place = number if is_team(sim.parameters) else slot  # teams have more slots
        out.core.set_missile(0, place, sim.core.get_missile(env, slot) | seats)
    return out

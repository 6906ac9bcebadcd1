"""An engagement as one side believes it: what its space-time graph and launch zones go by."""

from midrange_puffer.game.contact_path import TRACKS
from midrange_puffer.game.parameters import FULL
from midrange_puffer.game.simulation import Simulation


def believed(sim: Simulation, env: int, seat: int) -> Simulation:
    """A game with full information that a side would take for the present one.

    The own fighter and missiles are as they are. The enemy is where it is believed to be, with its
    rudder in the middle and all missiles aboard. Where there is no track it is dead: nothing can be
    said of what it could fire. The enemy's missiles are not there, as nobody knows how far they
    are. The clock is not carried over, and all own missiles fly at the contact, also those that fly
    at something else.

    Args:
        sim: with sensors; it is not changed.
        env, seat: whose belief.
    """
    contact = {name: values[env, seat] for name, values in sim.contacts.items()}
    out = Simulation(1, **sim.parameters | {"sensing": FULL})
    out.core.set_fighter(0, seat, sim.core.get_fighter(env, seat))
    enemy = out.core.get_fighter(0, 1 - seat)
    for name in ("x", "y", "speed"):
        enemy[name] = float(contact[name])
    if contact["source"] in TRACKS:
        enemy["direction_x"] = float(contact["vx"] / max(contact["speed"], 1e-3))
        enemy["direction_y"] = float(contact["vy"] / max(contact["speed"], 1e-3))
    else:
        enemy["alive"] = 0
    out.core.set_fighter(0, 1 - seat, enemy)
    missiles = sim.missiles
    for slot in range(missiles["active"].shape[1]):
        if missiles["active"][env, slot] and missiles["owner"][env, slot] == seat:
            out.core.set_missile(0, slot, sim.core.get_missile(env, slot))
    return out

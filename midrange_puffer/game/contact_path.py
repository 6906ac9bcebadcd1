"""What fighters knew over time, in a game with sensors: contacts, and what receivers heard."""

from dataclasses import dataclass, field

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.course import Course
from midrange_puffer.game.parameters import RADAR
from midrange_puffer.game.simulation import SOURCES, Simulation

# Of a contact: its place among SOURCES.
UNSEEN, LIVE, MEMORY, LOST, LINKED = range(len(SOURCES))
TRACKS = (LIVE, MEMORY, LINKED)
# What the warning receiver says of the enemy's radar.
SILENT, SEARCHED, TRACKED = range(3)
_PLACE = {name: place for place, (name, *_) in enumerate(_core.feature_rows(RADAR))}


@dataclass
class ContactPath(Course):
    """What a fighter knew of an enemy: its course, as it was believed, and what the receiver heard.

    Attributes:
        fighter, enemy: Whose contact it is, and of whom.
        source: An index into `SOURCES`.
        age: Since the enemy was last seen [s].
        heard: Of the enemy's radar: SILENT, SEARCHED or TRACKED.
        bearing: Where that came from, counter-clockwise from +x [rad].
    """

    fighter: int = 0
    enemy: int = 1
    source: list[int] = field(default_factory=list)
    age: list[float] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)
    bearing: list[float] = field(default_factory=list)


def note_contacts(contacts: list[ContactPath], sim: Simulation, env: int, time: float) -> None:
    """Add what all know now."""
    known = {name: values[env] for name, values in sim.contacts.items()}
    views, headings = sim.observe()[env], sim.fighters["heading"][env]
    for path in contacts:
        own, view = path.fighter, views[path.fighter]
        path.times.append(time)
        for name in ("x", "y", "heading", "speed"):
            getattr(path, name).append(float(known[name][own]))
        path.source.append(int(known["source"][own]))
        path.age.append(float(known["age"][own] * sim.parameters["physics_dt"]))
        path.heard.append(
            SEARCHED * bool(view[_PLACE["receiver_searched"]])
            + TRACKED * bool(view[_PLACE["receiver_tracked"]])
        )
        off_nose = np.arctan2(view[_PLACE["receiver_left"]], view[_PLACE["receiver_ahead"]])
        path.bearing.append(float(headings[own] + off_nose))

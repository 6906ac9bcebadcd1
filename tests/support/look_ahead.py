"""A look ahead in fights with height as the page in the browser has it, by copies of the fight.

In one copy both fighters hold their controls. In two others a fighter escapes: it dives and turns
to one side at full throttle until its tail points at the enemy, then runs.
"""

import math
from dataclasses import dataclass

import numpy as np

from midrange_puffer.game.actions import HEIGHT
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.session import Session

HORIZON = 20.0  # s
DECISION = 0.5  # s, about the time between two commands of an escape
HELD, LEFT, RIGHT = COPIES = range(3)
SOFT = 0.3  # rad; with a smaller angle to go the rudder is not full


@dataclass(frozen=True)
class Inbound:
    """A missile in the air that flies at a fighter, and its future while both hold their controls.

    Attributes:
        slot: Its slot.
        hit: The time until it hits, to a decision [s]; None if it does not within HORIZON.
        harmless: True if it is spent or the distance grows, at the latest at HORIZON.
    """

    slot: int
    hit: float | None
    harmless: bool


class Ahead:
    """The look ahead of one human.

    Args:
        session: The fights.
        fighter: The human's fighter.
    """

    def __init__(self, session: Session, fighter: int) -> None:
        self._session, self._fighter, self._enemy = session, fighter, 1 - fighter
        dt = session.sim.parameters["physics_dt"]
        substeps = max(round(DECISION / dt), 1)
        self._decision = substeps * dt
        self._dive = session.sim.parameters["pilot_dive"]
        game = dict(session.sim.parameters, substeps=substeps)
        self._copies = Simulation(len(COPIES), session.sim.core.seed, **game)

    def look(self) -> tuple[list[Inbound], bool]:
        """Returns the missiles that fly at the fighter, and True if it survives an escape."""
        sim, copies = self._session.sim, self._copies
        missiles = {name: values[0] for name, values in sim.missiles.items()}
        slots = np.flatnonzero(missiles["active"] & (missiles["target"] == self._fighter))
        if not len(slots) or not sim.fighters["alive"][0, self._fighter]:
            return [], True
        for env in COPIES:
            copies.start(env, self._session.engagement)  # the last look may have ended it
            for number in range(len(SEATS)):
                copies.core.set_fighter(env, number, sim.core.get_fighter(0, number))
            for slot in np.flatnonzero(missiles["active"]):
                copies.core.set_missile(env, slot, sim.core.get_missile(0, slot))
        given = sim.core.read("fighter")
        held = [given[f"{name}_command"][0] for name in HEIGHT.names[:-1]]
        commands = np.tile(np.column_stack([*held, np.zeros(len(SEATS))]), (len(COPIES), 1, 1))
        turning = {LEFT: True, RIGHT: True}
        distances, alive = [self._distances(slots)], []
        for _ in range(round(HORIZON / self._decision)):
            self._escape(commands, turning)
            copies.step(commands)
            distances.append(self._distances(slots))
            alive.append(copies.core.read("fighter")["alive"][:, self._fighter] > 0)
        survives = np.array(alive)
        return self._inbound(slots, np.array(distances), survives[:, HELD]), bool(
            survives[-1, [LEFT, RIGHT]].any()
        )

    def _distances(self, slots: np.ndarray) -> np.ndarray:
        """Returns the distances of missiles to the fighter while controls are held [m].

        Those that have ended are at infinity.
        """
        missiles, fighters = (self._copies.core.read(kind) for kind in ("missile", "fighter"))
        away = [missiles[axis][HELD, slots] - fighters[axis][HELD, self._fighter] for axis in "xyz"]
        return np.where(missiles["active"][HELD, slots], np.linalg.norm(away, axis=0), np.inf)

    def _escape(self, commands: np.ndarray, turning: dict[int, bool]) -> None:
        """Sets the fighter's commands in both escapes. `turning`: the first turn is not over."""
        fighters = self._copies.core.read("fighter")
        for env, way in ((LEFT, 1.0), (RIGHT, -1.0)):
            x, y, c, s = (fighters[name][env].astype(float) for name in ("x", "y", "c", "s"))
            own, enemy = self._fighter, self._enemy
            away = math.atan2(y[own] - y[enemy], x[own] - x[enemy])
            to_go = math.remainder(away - math.atan2(s[own], c[own]), math.tau)
            turning[env] = turning[env] and abs(to_go) > SOFT
            rudder = way if turning[env] else min(max(to_go / SOFT, -1.0), 1.0)
            commands[env, own] = rudder, -self._dive, 1.0, 0.0

    def _inbound(
        self, slots: np.ndarray, distances: np.ndarray, alive: np.ndarray
    ) -> list[Inbound]:
        """Returns the missiles by their distances [times, missiles], and `alive` [times - 1]."""
        end = len(alive) if alive.all() else int(alive.argmin())
        before, last = distances[max(end - 1, 0)], distances[end]
        harmless = np.isinf(last) | (last > before)
        hits = np.zeros(len(slots), bool)
        if not alive.all():
            hits[last.argmin()] = True
        time = (end + 1) * self._decision
        return [
            Inbound(int(slot), time if hit else None, bool(safe and not hit))
            for slot, hit, safe in zip(slots, hits, harmless, strict=True)
        ]

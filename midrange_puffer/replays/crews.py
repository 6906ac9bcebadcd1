"""Crews: the pilots and policies that fly the fighters of a session which no human flies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.parameters import Parameters, game_controls
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import shot_at

if TYPE_CHECKING:
    from midrange_puffer.policies.own_pilot import FunctionPlayer
    from midrange_puffer.policies.player import Player

FIRE = -1  # the last of a fighter's controls


def copy_bodies(fight: Simulation, copy: Simulation) -> None:
    """Copies all bodies of a simulation's first engagement to that of another one."""
    own, other = fight.core, copy.core
    for number in range(own.fighters):
        other.set_fighter(0, number, own.get_fighter(0, number))
    active = own.read("missile")["active"][0] | other.read("missile")["active"][0]
    for slot in np.flatnonzero(active):
        other.set_missile(0, slot, own.get_missile(0, slot))


class PlayerCrew:
    """A policy or a function that flies fighters of a side.

    Attributes:
        fighters: int [n], the fighters' numbers.
        player: The policy or function with its state.
        decides_always: True if it decides anew in every physics step.
    """

    decides_always = False

    def __init__(self, fighters: Sequence[int], player: "Player | FunctionPlayer") -> None:
        self.fighters, self.player = np.array(fighters), player

    def commands(self, sim: Simulation) -> np.ndarray:
        """Returns the fighters' next controls in a fight, or orders, float32 [n, controls]."""
        observations = sim.observe()[0, self.fighters]
        return self.player.act(observations, np.arange(len(self.fighters)))

    def snapshot(self) -> Any:
        """Returns everything besides the fight that the next commands depend on."""
        return self.player.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Returns to the state of a snapshot of this crew."""
        self.player.restore(snapshot)


class PilotCrew:
    """A scripted pilot that flies fighters which are agents for the core.

    So their controls are recorded, and a human may take over any of them at any time. The pilots
    fly in a second simulation, which copies all bodies of the fight before each decision. With full
    information they give there bit for bit the commands that they would give in the fight.

    With sensors their commands may differ. The second simulation has contacts of its own, which it
    updates before the bodies are copied. Its missiles have no locks: a copied missile begins
    without one. So the pilots support missiles for longer than they would in the fight.

    Args:
        fighters: int [n], the fighters' numbers.
        pilot: Name of the pilot.
        seed, engagement, parameters: As of the fight.

    Attributes:
        fighters, decides_always: As in `PlayerCrew`.
    """

    decides_always = True

    def __init__(
        self,
        fighters: Sequence[int],
        pilot: str,
        seed: int,
        engagement: int,
        parameters: Parameters,
    ) -> None:
        self.fighters = np.array(fighters)
        self._copy = Simulation(1, seed, pilot, pilot, **parameters)
        self._copy.start(0, engagement)

    def commands(self, sim: Simulation) -> np.ndarray:
        """Returns the fighters' next controls, as `PlayerCrew.commands`."""
        copy_bodies(sim, self._copy)
        self._copy.step()
        given = {name: values[0] for name, values in self._copy.core.read("fighter").items()}
        names = game_controls(sim.parameters).names
        if SYSTEMS in names:
            given[f"{SYSTEMS}_command"] = self._copy.core.read(SYSTEMS)["command"][0]
        commands = np.zeros((len(self.fighters), len(names)), np.float32)
        for column, name in enumerate(names[:FIRE]):
            commands[:, column] = given[f"{name}_command"][self.fighters]
        for row, fighter in zip(commands, self.fighters, strict=True):
            if given["fire"][fighter]:
                row[FIRE] = shot_at(sim, fighter, int(given["target"][fighter]))
        return commands

    def snapshot(self) -> bytes:
        """Returns the state, as `PlayerCrew.snapshot`."""
        return self._copy.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Restores a state, as `PlayerCrew.restore`."""
        self._copy.restore(snapshot)

"""Who commands fighters from outside the core: a policy or a function, or pilots as wingmen."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import shot_at

if TYPE_CHECKING:
    from midrange_puffer.policies.player import Player

State = dict[str, int | float]


class PlayerCrew:
    """A policy or a function that flies fighters of a side.

    Attributes:
        fighters: int [n], their numbers.
        player: What commands them.
        decides_always: Whether it decides anew in every physics step.
    """

    decides_always = False

    def __init__(self, fighters: Sequence[int], player: "Player") -> None:
        self.fighters, self.player = np.array(fighters), player

    def commands(self, sim: Simulation) -> np.ndarray:
        """Their next controls in the fight of a simulation, float32 [n, 3]."""
        seen = sim.observe()[0, self.fighters]
        return self.player.act(seen, np.arange(len(self.fighters)))

    def snapshot(self) -> object:
        """All that its next commands depend on besides the fight, for `restore`."""
        return self.player.snapshot()

    def restore(self, snapshot: object) -> None:
        """Go on from a snapshot of this crew."""
        self.player.restore(snapshot)


class PilotCrew:
    """A scripted pilot that flies fighters which the core takes for agents.

    So their controls are recorded, and a human may take any of them over at any time. The pilots
    fly another game beside the fight, in which everything is put where it is before each decision.
    What they command there is to the bit what they would command in the fight.

    Args:
        fighters: int [n], their numbers.
        pilot: Its name.
        seed, engagement, parameters: As of the fight.

    Attributes:
        fighters, decides_always: As of `PlayerCrew`.
    """

    decides_always = True

    def __init__(
        self,
        fighters: Sequence[int],
        pilot: str,
        seed: int,
        engagement: int,
        parameters: Mapping[str, float],
    ) -> None:
        self.fighters = np.array(fighters)
        self._beside = Simulation(1, seed, pilot, pilot, **parameters)
        self._beside.start(0, engagement)

    def commands(self, sim: Simulation) -> np.ndarray:
        """As of `PlayerCrew`."""
        beside = self._beside
        _put_where_it_is(sim, beside)
        beside.step()
        given = {name: values[0] for name, values in beside.core.read("fighter").items()}
        commands = np.zeros((len(self.fighters), 3), np.float32)
        commands[:, 0] = given["rudder_command"][self.fighters]
        commands[:, 1] = given["throttle_command"][self.fighters]
        for row, fighter in zip(commands, self.fighters, strict=True):
            if given["fire"][fighter]:
                row[2] = shot_at(sim, fighter, int(given["target"][fighter]))
        return commands

    def snapshot(self) -> bytes:
        """As of `PlayerCrew`."""
        return self._beside.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """As of `PlayerCrew`."""
        self._beside.restore(snapshot)


def _put_where_it_is(sim: Simulation, beside: Simulation) -> None:
    """Put all fighters and missiles of a simulation into another one."""
    for number in range(sim.core.fighters):
        beside.core.set_fighter(0, number, sim.core.get_fighter(0, number))
    flies = sim.core.read("missile")["active"][0] | beside.core.read("missile")["active"][0]
    for slot in np.flatnonzero(flies):
        beside.core.set_missile(0, slot, sim.core.get_missile(0, slot))

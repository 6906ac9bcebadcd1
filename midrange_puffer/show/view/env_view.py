"""The picture of an environment's first engagement, for `Midrange.render`."""

import numpy as np
import pygame

from midrange_puffer.envs.groups import Group
from midrange_puffer.game.parameters import CONTROLLERS
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.viewer import Window

FRAMES = 30  # most frames a second in a window
LAST = 2.0  # time for which a window shows the end of an engagement [s]


class EnvView:
    """A view of engagement 0 of a group, in a window (`human`) or as arrays.

    The group starts the next episode as soon as one has ended, so its end could not be shown. This
    view therefore flies the engagement a second time, alone and with the same controls. The result
    is the same bit for bit.

    Args:
        group: The group of an environment.
        seed: Seed of its core.
        human: True to open a window.
    """

    def __init__(self, group: Group, seed: int, human: bool) -> None:
        self._group, self._core = group, group.core
        self._window = Window() if human else None
        self._renderer = Renderer()
        self.reset(seed)

    def reset(self, seed: int, engagement: int = 0) -> None:
        """Starts again after a reset of the group, whose first engagement has this number."""
        self._seed = seed
        self._engagement = engagement
        self._next_start = self._start()
        self._begin()

    def follow(self, controls: np.ndarray) -> None:
        """Repeats a decision that the group has flown, with its controls [fighters, controls]."""
        if self.sim.outcome[0]:
            self._begin()
        self.sim.step(controls[None])
        self._paths.note()
        if self.sim.outcome[0]:
            self._next_start = self._start()

    def rgb(self) -> np.ndarray:
        """Returns the present picture, uint8 [height, width, 3]."""
        self._draw(None)
        return self._renderer.rgb()

    def show(self) -> None:
        """Shows in the window, in real time, everything since the last call.

        Raises:
            KeyboardInterrupt: The user has closed the window.
        """
        now = self._paths.time
        count = max(round((now - self._shown) * FRAMES), 1)
        for time in np.linspace(self._shown, now, count + 1)[1:]:
            self._show(time)
        self._shown = now
        if self.sim.outcome[0]:
            for _ in range(round(LAST * FRAMES)):
                self._show(now)

    def close(self) -> None:
        """Closes the window."""
        if self._window:
            self._window.close()

    def _start(self) -> tuple[int, list[dict], tuple[str, str]]:
        """Returns the episode that has just started, its fighters and the contestants' names."""
        fighters = [self._core.get_fighter(0, number) for number in range(self._core.fighters)]
        return int(self._core.status()[3][0]), fighters, self._group.first_names()

    def _begin(self) -> None:
        episode, fighters, self._names = self._next_start
        pilots = [tuple(CONTROLLERS)[fighter["pilot"]] for fighter in fighters]
        sides = pilots[: self._core.red_size], pilots[self._core.red_size :]
        self.sim = Simulation(1, self._seed, *sides, **self._core.parameters)
        self.sim.start(0, self._engagement, episode)
        for number, fighter in enumerate(fighters):  # options of a reset may have placed them
            self.sim.core.set_fighter(0, number, fighter)
        self._paths = Paths(self.sim)
        self._shown = 0.0  # time of the engagement that was shown last [s]
        self._clock = pygame.time.Clock()

    def _show(self, time: float) -> None:
        self._draw(time)
        if self._window:
            self._window.show(self._renderer.surface)
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            raise KeyboardInterrupt("the window was closed")
        self._clock.tick(FRAMES)

    def _draw(self, time: float | None) -> None:
        self._renderer.draw(self.sim, self._paths, time=time, names=self._names)

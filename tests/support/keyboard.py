"""A player at a keyboard or a gamepad, with a screen in memory."""

import numpy as np
import pygame
import pytest

from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.show.play.loop import Game
from midrange_puffer.show.view.canvas import Colour
from midrange_puffer.show.view.renderer import Renderer

FRAME = 0.1  # s
SIZE = (960, 540)  # where pixels are looked at
SMALL = (240, 135)
NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}


class Gamepad:
    """A stand-in for pygame.joystick.Joystick."""

    def __init__(self, number: int = 7) -> None:
        self.number = number
        self.axes = [0.0] * 6

    def get_instance_id(self) -> int:
        return self.number

    def get_name(self) -> str:
        return "pad"

    def get_numaxes(self) -> int:
        return len(self.axes)

    def get_axis(self, axis: int) -> float:
        return self.axes[axis]


class Player:
    """A player: presses keys and reads the screen."""

    def __init__(self, red=HUMAN, blue="straight", size=SMALL, folder=None, **parameters) -> None:
        self.session = Session((red, blue), seed=1, **parameters)
        self.screen = pygame.Surface(size)
        self.game = Game(self.session, Renderer(size, in_background=True), self.see, folder)
        if self.session.humans:
            self.down(pygame.K_h)  # ends the help that a human begins with
            self.game.frame(0.0)

    def see(self, surface: pygame.Surface) -> None:
        self.screen.blit(surface, (0, 0))

    def post(self, kind: int, **values: object) -> None:
        pygame.event.post(pygame.event.Event(kind, **values))

    def down(self, *keys: int) -> None:
        for key in keys:
            self.post(pygame.KEYDOWN, key=key)

    def up(self, *keys: int) -> None:
        for key in keys:
            self.post(pygame.KEYUP, key=key)

    def press(self, *keys: int) -> None:
        for key in keys:
            self.down(key)
            self.up(key)
        assert self.wait(FRAME)

    def wait(self, seconds: float) -> bool:
        """Lets frames pass, of which the last is drawn; returns False once the game has ended."""
        frames = round(seconds / FRAME)
        if not frames:
            return True
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.game, "_draw", lambda: None)
            runs_on = all(self.game.frame(FRAME) for _ in range(frames - 1))
        return runs_on and self.game.frame(FRAME)

    def fighter(self, seat: int = 0) -> dict[str, float]:
        return {name: float(values[0, seat]) for name, values in self.session.sim.fighters.items()}

    @property
    def pixels(self) -> np.ndarray:
        """The screen, [height, width, 3]."""
        return pygame.surfarray.array3d(self.screen).swapaxes(0, 1)


def count(pixels: np.ndarray, colour: Colour) -> int:
    return int((np.abs(pixels.astype(int) - colour) <= 3).all(axis=-1).sum())

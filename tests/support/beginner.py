"""A beginner at the keyboard, who follows only the texts on the screen."""

import math

import numpy as np
import pygame
from keyboard import FRAME, Player

from midrange_puffer.game.envelope import game_envelope, look_up
from midrange_puffer.show.play.threats import advice

LEFT, RIGHT, FIRE = pygame.K_a, pygame.K_d, pygame.K_SPACE
TIME_SCALE = 4  # so that a test takes less long: it looks every 0.4 s of the fight


class Beginner:
    """A player of red: nose at the enemy, a shot inside R_NEZ, and away when warned.

    After a shot it waits until that missile has ended.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self._held: set[int] = set()
        self._seen: list[tuple[float, str, bool]] = []
        player.session.time_scale = TIME_SCALE

    def fight(self) -> int:
        """Flies to the end; returns the outcome: 1 won, 2 lost, 3 a draw."""
        session = self.player.session
        while not session.over:
            self._seen.append(self._look())
            bearing, warning, shoots = self._seen[-2:][0]  # the hands are one look late
            if "left" in warning or "right" in warning:
                turn = 1.0 if "left" in warning else -1.0
            else:
                turn = 0.0 if warning or abs(bearing) < 0.05 else bearing
            self._hold({LEFT} if turn > 0 else {RIGHT} if turn < 0 else set())
            if shoots and not warning:
                self.player.down(FIRE)
                self.player.up(FIRE)
            assert self.player.wait(FRAME)
        return int(session.sim.outcome[0])

    def _look(self) -> tuple[float, str, bool]:
        """Returns the enemy's bearing, the advice, and True if the enemy is inside R_NEZ."""
        session = self.player.session
        own, enemy = (self.player.fighter(seat) for seat in (0, 1))
        dx, dy = enemy["x"] - own["x"], enemy["y"] - own["y"]
        line = math.atan2(dy, dx)
        bearing = math.remainder(line - own["heading"], math.tau)
        angles = own["heading"] - line, enemy["heading"] - line - math.pi
        values = map(np.float64, (*angles, own["speed"], enemy["speed"]))
        nez = look_up(game_envelope(session.sim.parameters), "nez", *values)
        flying = session.sim.missiles["active"][0] * (session.sim.missiles["owner"][0] == 0)
        shoots = math.hypot(dx, dy) < nez and not flying.any()
        return bearing, advice(self.player.game.threats(0)), shoots

    def _hold(self, keys: set[int]) -> None:
        self.player.down(*(keys - self._held))
        self.player.up(*(self._held - keys))
        self._held = keys

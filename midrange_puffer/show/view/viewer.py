"""What all windows in which a fight is flown have in common: frames, and keys for time and view."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import pygame

from midrange_puffer.game.parameters import RADAR, SEATS, is_team
from midrange_puffer.replays.session import Session
from midrange_puffer.show.view import PLANE, SPACETIME
from midrange_puffer.show.view.renderer import Renderer, Spot
from midrange_puffer.show.view.window import on_surface

FRAMES = 60  # a second, at most
TURN = 0.006  # rad/px, of the space-time graph under the mouse
DIGITS = tuple(getattr(pygame, f"K_{digit}") for digit in range(1, 10))


class Viewer(ABC):
    """A session in a window; those who derive say how time passes in it, and what is drawn.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Brings the renderer's surface onto the screen.

    Attributes:
        session: That is shown.
    """

    def __init__(
        self, session: Session, renderer: Renderer, show: Callable[[pygame.Surface], None]
    ) -> None:
        self.session = session
        self._renderer, self._show = renderer, show
        self._running, self._mode = True, PLANE
        self._side: int | None = None  # as which side knows it; None: the truth
        self._chosen: int | None = None  # of teams, the fighter that is followed; None: all
        self._spots: list[Spot] = []  # where fighters may be clicked

    def run(self) -> None:
        """Show one frame after another until somebody quits."""
        clock = pygame.time.Clock()
        while self.frame(clock.tick(FRAMES) / 1000):
            pass

    def frame(self, seconds: float) -> bool:
        """Handle what has happened, let so much time pass, draw; return whether to go on."""
        for event in pygame.event.get():
            self._handle(event)
        self._pass(seconds)
        self._draw()
        return self._running

    def _handle(self, event: pygame.event.Event) -> None:
        match event.type:
            case pygame.QUIT:
                self._running = False
            case pygame.KEYDOWN:
                self._press(event.key)
            case pygame.MOUSEMOTION if event.buttons[0]:
                self._turn_graph(*event.rel)
            case pygame.MOUSEBUTTONDOWN if event.button == pygame.BUTTON_LEFT:
                self._click(on_surface(event.pos, self._renderer.surface))

    def _press(self, key: int) -> None:
        session = self.session
        match key:
            case pygame.K_ESCAPE:
                self._running = False
            case pygame.K_p:
                session.paused = not session.paused
            case pygame.K_SPACE if not session.humans:  # who would launch with it
                session.paused = not session.paused
            case pygame.K_MINUS | pygame.K_KP_MINUS:
                session.scale_time(faster=False)
            case pygame.K_EQUALS | pygame.K_PLUS | pygame.K_KP_PLUS:
                session.scale_time(faster=True)
            case pygame.K_v:
                self._mode = SPACETIME if self._mode == PLANE else PLANE
            case pygame.K_f if self._has_sensors:
                self._next_side()
            case pygame.K_TAB if self._is_team:
                self._choose_next()
            case _ if self._is_team and key in DIGITS:
                self._choose_by_digit(DIGITS.index(key))

    @property
    def _has_sensors(self) -> bool:
        return self.session.sim.parameters["sensing"] == RADAR

    @property
    def _is_team(self) -> bool:
        return is_team(self.session.sim.parameters)

    @property
    def _followed(self) -> int:
        """The fighter that is followed, or where all are red's first."""
        return self._chosen or 0

    def _choose(self, fighter: int | None) -> None:
        """Follow a fighter; None: all."""
        self._chosen = fighter

    def _click(self, place: tuple[int, int]) -> None:
        """Choose the fighter that is shown at a pixel, or nearest to it."""
        hit = [(spot, number) for spot, number in self._spots if spot.collidepoint(place)]
        if hit:
            self._choose(min(hit, key=lambda one: math.dist(one[0].center, place))[1])

    def _choose_next(self) -> None:
        """Follow the next living fighter; after the last one all."""
        living = self.session.sim.fighters["alive"][0].nonzero()[0].tolist()
        after = -1 if self._chosen is None else self._chosen
        self._choose(next((number for number in living if number > after), None))

    def _choose_by_digit(self, place: int) -> None:
        """Choose a fighter of the side that is looked at."""
        numbers = self.session.side_of(self._followed)
        if place < len(numbers):
            self._choose(numbers[place])

    def _next_side(self) -> None:
        """The truth, then what red knows, then what blue knows."""
        order = (None, *range(len(SEATS)))
        self._side = order[(order.index(self._side) + 1) % len(order)]

    def _side_words(self, side: int | None) -> str:
        """Whose picture is shown, with sensors; else nothing."""
        if not self._has_sensors:
            return ""
        return "the truth" if side is None else f"what {SEATS[side]} knows"

    def _turn_graph(self, right: int, down: int) -> None:
        """Turn the space-time graph with the mouse, by pixels."""
        renderer = self._renderer
        renderer.yaw += TURN * right
        renderer.pitch = min(max(renderer.pitch + TURN * down, 0.0), math.pi / 2)

    @abstractmethod
    def _pass(self, seconds: float) -> None:
        """Let so much real time pass [s]."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw a frame and show it."""

"""The window; and the base class of windows with a session: frames, keys for time and view."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable

import pygame

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import RADAR, SEATS, has_height, is_team
from midrange_puffer.names import shown
from midrange_puffer.replays.session import Session
from midrange_puffer.show.view import PLANE, SPACETIME
from midrange_puffer.show.view.canvas import BACKGROUND
from midrange_puffer.show.view.marks import Spot
from midrange_puffer.show.view.renderer import SIZE, Renderer

DRIVER = "SDL_VIDEODRIVER"  # the environment variable that chooses SDL's driver
UNSEEN = ("dummy", "offscreen")  # drivers without a display; SDL's choice if there is none
FRAMES = 60  # most frames a second
TURN = 0.006  # rotation of the space-time graph for each pixel of the mouse [rad]
DIGITS = tuple(getattr(pygame, f"K_{digit}") for digit in range(1, 10))


class Window:
    """A window that shows surfaces, scaled to its size.

    Args:
        size: Initial width and height [px].
        title: Title of the window.

    Raises:
        UsageError: There is no display, and SDL_VIDEODRIVER does not request a hidden window.
    """

    def __init__(self, size: tuple[int, int] = SIZE, title: str = "midrange") -> None:
        self.size = size
        try:
            pygame.display.init()
            if pygame.display.get_driver() in UNSEEN and not os.environ.get(DRIVER):
                pygame.display.quit()
                raise pygame.error("there is no display")
            pygame.display.set_mode(size, pygame.RESIZABLE)
        except pygame.error as error:
            raise UsageError(
                f"no window can be opened: {error}; a display is needed, or {DRIVER}=dummy for a "
                "hidden window"
            ) from None
        pygame.display.set_caption(shown(title))

    def show(self, surface: pygame.Surface) -> None:
        """Shows a surface, as large as the window has room for.

        Raises:
            UsageError: The window was closed; there is one window in a process.
        """
        screen = pygame.display.get_surface()
        if screen is None:
            raise UsageError("the window was closed: there is nothing left to show on")
        room = surface.get_rect().fit(screen.get_rect())
        if room.size != surface.get_size():
            surface = pygame.transform.smoothscale(surface, room.size)
        screen.fill(BACKGROUND)
        screen.blit(surface, room)
        pygame.display.flip()

    def close(self) -> None:
        """Closes the window."""
        pygame.display.quit()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _on_surface(place: tuple[int, int], surface: pygame.Surface) -> tuple[int, int]:
    """Converts a place in the window to a pixel of the surface that it shows."""
    screen = pygame.display.get_surface()
    if screen is None:
        return place
    room = surface.get_rect().fit(screen.get_rect())
    scale = surface.get_width() / room.width
    return round((place[0] - room.x) * scale), round((place[1] - room.y) * scale)


class Viewer(ABC):
    """A session in a window. Subclasses define how time passes and what is drawn.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Shows the renderer's surface on the screen.

    Attributes:
        session: The session that is shown.
    """

    def __init__(
        self, session: Session, renderer: Renderer, show: Callable[[pygame.Surface], None]
    ) -> None:
        self.session = session
        self._renderer, self._show = renderer, show
        self._running, self._mode = True, PLANE
        self._side: int | None = None  # the side whose knowledge is shown; None: the truth
        self._chosen: int | None = None  # the fighter that a spectator follows; None: all
        self._spots: list[Spot] = []

    def run(self) -> None:
        """Shows frames until the user quits."""
        clock = pygame.time.Clock()
        while self.frame(clock.tick(FRAMES) / 1000):
            pass

    def frame(self, seconds: float) -> bool:
        """Handles events, lets time pass and draws; returns False once the user has quit."""
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
                right, down = event.rel
                self._renderer.yaw += TURN * right
                pitch = self._renderer.pitch + TURN * down
                self._renderer.pitch = min(max(pitch, 0.0), math.pi / 2)
            case pygame.MOUSEBUTTONDOWN if event.button == pygame.BUTTON_LEFT:
                place = _on_surface(event.pos, self._renderer.surface)
                hit = [(spot, number) for spot, number in self._spots if spot.collidepoint(place)]
                if hit:
                    _, number = min(hit, key=lambda item: math.dist(item[0].center, place))
                    self._choose(number)

    def _press(self, key: int) -> None:
        session = self.session
        match key:
            case pygame.K_ESCAPE:
                self._running = False
            case pygame.K_p:
                session.paused = not session.paused
            case pygame.K_SPACE if not session.humans:  # a human launches with it
                session.paused = not session.paused
            case pygame.K_MINUS | pygame.K_KP_MINUS:
                session.scale_time(faster=False)
            case pygame.K_EQUALS | pygame.K_PLUS | pygame.K_KP_PLUS:
                session.scale_time(faster=True)
            case pygame.K_v:
                self._mode = SPACETIME if self._mode == PLANE else PLANE
            case pygame.K_f if self._has_sensors:
                self._next_side()
            case pygame.K_TAB:
                self._choose_next()
            case _ if self._is_team and key in DIGITS:
                numbers = session.side_of(self._followed)
                if (place := DIGITS.index(key)) < len(numbers):
                    self._choose(numbers[place])

    @property
    def _has_sensors(self) -> bool:
        """True if the game has sensors."""
        return self.session.sim.parameters["sensing"] == RADAR

    @property
    def _has_height(self) -> bool:
        """True if the game is in three dimensions."""
        return has_height(self.session.sim.parameters)

    @property
    def _is_team(self) -> bool:
        """True if a side has several fighters."""
        return is_team(self.session.sim.parameters)

    @property
    def _followed(self) -> int:
        """The fighter that is followed; red's first one if all are followed."""
        return self._chosen or 0

    @property
    def _focus(self) -> int | None:
        """The fighter that the picture follows for a spectator; None: all.

        In one against one the picture of a side's knowledge follows that side's fighter.
        """
        return self._chosen if self._is_team or self._side is None else None

    def _choose(self, fighter: int | None) -> None:
        """Follows a fighter; None: all."""
        self._chosen = fighter

    def _choose_next(self) -> None:
        """Follows the next living fighter; after the last one, all fighters."""
        living = self.session.sim.fighters["alive"][0].nonzero()[0].tolist()
        after = -1 if self._chosen is None else self._chosen
        self._choose(next((number for number in living if number > after), None))

    def _next_side(self) -> None:
        """Shows the next of: the truth, red's knowledge, blue's knowledge."""
        order = (None, *range(len(SEATS)))
        self._side = order[(order.index(self._side) + 1) % len(order)]

    def _side_words(self, side: int | None) -> str:
        """Returns the name of the shown picture; "" in a game without sensors."""
        if not self._has_sensors:
            return ""
        return "the truth" if side is None else f"what {SEATS[side]} knows"

    @abstractmethod
    def _pass(self, seconds: float) -> None:
        """Lets real time pass [s]."""

    @abstractmethod
    def _draw(self) -> None:
        """Draws a frame and shows it."""

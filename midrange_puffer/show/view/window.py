"""A window on the screen."""

import os

import pygame

from midrange_puffer.errors import UsageError
from midrange_puffer.names import shown
from midrange_puffer.show.view.renderer import SIZE
from midrange_puffer.show.view.theme import BACKGROUND

DRIVER = "SDL_VIDEODRIVER"  # variable of the environment, by which SDL's driver is chosen
UNSEEN = ("dummy", "offscreen")  # drivers that show nothing: what SDL takes without a display


def on_surface(place: tuple[int, int], surface: pygame.Surface) -> tuple[int, int]:
    """Which pixel of a surface is shown at a place in the window."""
    screen = pygame.display.get_surface()
    if screen is None:
        return place
    room = surface.get_rect().fit(screen.get_rect())
    scale = surface.get_width() / room.width
    return round((place[0] - room.x) * scale), round((place[1] - room.y) * scale)


class Window:
    """Shows surfaces, as large as the window is made; closed by `close`.

    Args:
        size: Width and height at first [px].
        title: Of the window.

    Raises:
        UsageError: There is no display, and none that nobody sees was asked for by SDL_VIDEODRIVER.
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
                f"window that nobody sees"
            ) from None
        pygame.display.set_caption(shown(title))

    def show(self, surface: pygame.Surface) -> None:
        """Bring a surface onto the screen, as large as there is room.

        Raises:
            UsageError: It was closed; there is one window in a process.
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
        """Close it."""
        pygame.display.quit()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

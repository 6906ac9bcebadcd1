"""The surface that the viewer draws on, its colours, and the camera over the plane.

Nothing here needs a display.
"""

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pygame

from midrange_puffer.names import shown

if TYPE_CHECKING:
    from midrange_puffer.show.view.states import Body

Colour = tuple[int, int, int]
Points = np.ndarray | Sequence[np.ndarray] | Sequence[tuple[float, float]]  # [n, 2]

BACKGROUND: Colour = (14, 19, 26)
BOX: Colour = (22, 29, 39)  # background of bars and boxes
GRID: Colour = (29, 38, 50)
FAINT: Colour = (92, 106, 122)
TEXT: Colour = (172, 184, 197)
BRIGHT: Colour = (235, 240, 245)
SIDE_COLOURS: tuple[Colour, Colour] = ((255, 99, 88), (86, 160, 255))  # red and blue
STAR: Colour = (255, 197, 46)
FLAME: Colour = (255, 224, 150)
SAFE: Colour = (94, 214, 140)
LOCK: Colour = (190, 120, 255)  # a missile's seeker has a lock

SMALL, MIDDLE, LARGE, HUGE = 14, 17, 24, 38  # sizes of texts [px]
OVERSAMPLING = 2  # all is drawn this much larger, then scaled down

TIME_CONSTANT = 1.5  # time constant of the camera's movements [s of the engagement]
JUMP = 10.0  # with so much time [s] between pictures the camera jumps


def mix(colour: Colour, share: float, other: Colour = BACKGROUND) -> Colour:
    """Returns a mixture: `share` of `colour`, the rest of `other`."""
    pairs = zip(colour, other, strict=True)
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in pairs)
    return red, green, blue


class Canvas:
    """An area of `size` pixels for shapes and texts; (0, 0) is top left."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self._ink = pygame.Surface((size[0] * OVERSAMPLING, size[1] * OVERSAMPLING))

    def clear(self, colour: Colour) -> None:
        """Fills everything with a colour and removes the clip."""
        self.clip(None)
        self._ink.fill(colour)

    def clip(self, area: pygame.Rect | None) -> None:
        """Restricts drawing to an area; None: everywhere."""
        self._ink.set_clip(area and _enlarged_box(area))

    def line(self, points: Points, colour: Colour, width: float = 1) -> None:
        """Draws a line through the points; draws nothing for fewer than two."""
        if len(points) > 1:
            thickness = round(width * OVERSAMPLING)
            pygame.draw.lines(self._ink, colour, False, _enlarged(points), thickness)

    def dashes(self, points: Points, colour: Colour, width: float = 1) -> None:
        """Draws a dashed line: every second segment between two points."""
        for start in range(0, len(points) - 1, 2):
            self.line(points[start : start + 2], colour, width)

    def polygon(self, points: Points, colour: Colour, width: float = 0) -> None:
        """Draws a filled polygon, or its outline if a width is given."""
        pygame.draw.polygon(self._ink, colour, _enlarged(points), round(width * OVERSAMPLING))

    def wash(self, polygons: np.ndarray, colour: Colour, opacity: float) -> None:
        """Draws translucent polygons [n, points, 2]; opacity 0 to 1."""
        polygons = polygons * OVERSAMPLING
        low = np.floor(polygons.min(axis=1)).astype(int)
        sizes = np.ceil(polygons.max(axis=1)).astype(int) + 1 - low
        corners, shade = (polygons - low[:, None]).tolist(), (*colour, round(255 * opacity))
        clip = self._ink.get_clip()
        for points, place, size in zip(corners, low.tolist(), sizes.tolist(), strict=True):
            if clip.colliderect(place, size):
                layer = pygame.Surface(size, pygame.SRCALPHA)
                pygame.draw.polygon(layer, shade, points)
                self._ink.blit(layer, place)

    def box(self, area: pygame.Rect, colour: Colour, radius: float = 0) -> None:
        """Draws a filled rectangle with round corners."""
        corner = round(radius * OVERSAMPLING)
        pygame.draw.rect(self._ink, colour, _enlarged_box(area), border_radius=corner)

    def circle(
        self, centre: tuple[float, float], radius: float, colour: Colour, width: float = 0
    ) -> None:
        """Draws a filled circle, or its outline if a width is given."""
        [point] = _enlarged([centre])
        thickness = round(width * OVERSAMPLING)
        pygame.draw.circle(self._ink, colour, point, radius * OVERSAMPLING, thickness)

    def text(
        self,
        words: str,
        place: tuple[float, float],
        colour: Colour = TEXT,
        size: int = MIDDLE,
        anchor: str = "topleft",
    ) -> pygame.Rect:
        """Writes words with their `anchor` (as in pygame.Rect) at `place`.

        Names may hold characters that cannot be drawn; `shown` replaces them.

        Returns:
            The area that the words take.
        """
        words = shown(words)
        room = pygame.Rect((0, 0), text_size(words, size))
        setattr(room, anchor, (round(place[0]), round(place[1])))
        self._ink.blit(_render(words, size, colour), _enlarged_box(room))
        return room

    def show(self, target: pygame.Surface) -> None:
        """Copies everything onto a surface of equal size."""
        pygame.transform.smoothscale(self._ink, self.size, target)


def text_size(words: str, size: int = MIDDLE) -> tuple[int, int]:
    """Returns the width and height of words [px]."""
    width, height = _font(size).size(words)
    return math.ceil(width / OVERSAMPLING), math.ceil(height / OVERSAMPLING)


def _enlarged(points: Points) -> list[list[float]]:
    return (np.asarray(points, float) * OVERSAMPLING).tolist()


def _enlarged_box(area: pygame.Rect) -> pygame.Rect:
    return pygame.Rect([OVERSAMPLING * edge for edge in area])


@functools.cache
def _font(size: int) -> pygame.font.Font:
    """Returns the font that comes with pygame, so that pictures are equal on all machines."""
    pygame.font.init()
    return pygame.font.Font(None, OVERSAMPLING * size)


@functools.lru_cache(maxsize=1024)
def _render(words: str, size: int, colour: Colour) -> pygame.Surface:
    return _font(size).render(words, True, colour)


class Camera:
    """A view of the plane from above, x to the right and y up. It follows its target smoothly.

    Attributes:
        area: Part of the screen [px].
        centre: Place in the plane in the middle of the area [m].
        scale: [px/m]
    """

    def __init__(self, area: pygame.Rect) -> None:
        self.area = area
        self.centre = np.zeros(2)
        self.scale = 1e-2
        self._time: float | None = None

    def aim(
        self,
        centre: np.ndarray,
        half_size: tuple[float, float],
        time: float,
        at_once: bool = False,
    ) -> None:
        """Moves towards a view of a place and its surroundings.

        Args:
            centre: [2], in the plane [m].
            half_size: Visible distances to either side, and up and down [m].
            time: Time of the engagement [s]. The camera's movement depends on this time only, so
                equal engagements give equal pictures. After a jump in time the camera jumps.
            at_once: Jump in any case.
        """
        scale = min(self.area.width / half_size[0], self.area.height / half_size[1]) / 2
        share = 1.0
        if not at_once and self._time is not None and abs(time - self._time) < JUMP:
            share = 1 - math.exp(-abs(time - self._time) / TIME_CONSTANT)
        self.centre = self.centre + share * (np.asarray(centre) - self.centre)
        self.scale *= (scale / self.scale) ** share
        self._time = time

    def to_screen(self, points: Points) -> np.ndarray:
        """Converts places [n, 2] in the plane [m], or [n, 3] with height, to pixels."""
        offset = (np.asarray(points, float)[:, :2] - self.centre) * self.scale
        return np.array(self.area.center) + offset * (1, -1)

    def angle(self, body: "Body") -> float:
        """Returns the angle of a body's flight on the screen, counter-clockwise from right."""
        return body.heading

    def to_plane(self, pixels: np.ndarray) -> np.ndarray:
        """Converts pixels [n, 2] to places in the plane [m]."""
        offset = (np.asarray(pixels, float) - self.area.center) * (1, -1)
        return self.centre + offset / self.scale


def grid_spacing(least: float) -> float:
    """Returns the next 1, 2 or 5 times a power of ten that is not below `least`."""
    decade = 10 ** math.floor(math.log10(least))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= least)

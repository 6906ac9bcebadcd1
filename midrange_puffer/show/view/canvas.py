"""A surface to draw on with smooth edges, which needs no display."""

import functools
import math
from collections.abc import Sequence

import numpy as np
import pygame

from midrange_puffer.names import shown
from midrange_puffer.show.view.theme import MIDDLE, TEXT, Colour

OVERSAMPLING = 2  # everything is drawn so much larger, and scaled down smoothly

Points = np.ndarray | Sequence[tuple[float, float]]


class Canvas:
    """Shapes and texts in an area of `size` pixels; (0, 0) is top left."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self._ink = pygame.Surface((size[0] * OVERSAMPLING, size[1] * OVERSAMPLING))

    def clear(self, colour: Colour) -> None:
        """Begin anew."""
        self.clip(None)
        self._ink.fill(colour)

    def clip(self, area: pygame.Rect | None) -> None:
        """Draw within an area only; None: everywhere."""
        self._ink.set_clip(area and _enlarged_box(area))

    def line(self, points: Points, colour: Colour, width: float = 1) -> None:
        """A line through all points, if there are two at least."""
        if len(points) > 1:
            thickness = round(width * OVERSAMPLING)
            pygame.draw.lines(self._ink, colour, False, _enlarged(points), thickness)

    def dashes(self, points: Points, colour: Colour, width: float = 1) -> None:
        """As `line`, every other stretch between two points left out."""
        for start in range(0, len(points) - 1, 2):
            self.line(points[start : start + 2], colour, width)

    def polygon(self, points: Points, colour: Colour, width: float = 0) -> None:
        """Filled, or its outline of a width."""
        pygame.draw.polygon(self._ink, colour, _enlarged(points), round(width * OVERSAMPLING))

    def wash(self, polygons: np.ndarray, colour: Colour, opacity: float) -> None:
        """Filled polygons [n, points, 2] that what is below shines through; opacity 0 to 1."""
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
        """A filled rectangle with round corners."""
        corner = round(radius * OVERSAMPLING)
        pygame.draw.rect(self._ink, colour, _enlarged_box(area), border_radius=corner)

    def circle(
        self, centre: tuple[float, float], radius: float, colour: Colour, width: float = 0
    ) -> None:
        """Filled, or its outline of a width."""
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
        """Words whose `anchor` (as of pygame.Rect) is at `place`; returns the room they take.

        They may hold names: what is no text, such as a null character, is as of `shown`.
        """
        words = shown(words)
        room = pygame.Rect((0, 0), text_size(words, size))
        setattr(room, anchor, (round(place[0]), round(place[1])))
        self._ink.blit(_render(words, size, colour), _enlarged_box(room))
        return room

    def show(self, target: pygame.Surface) -> None:
        """Copy everything onto a surface of equal size."""
        pygame.transform.smoothscale(self._ink, self.size, target)


def text_size(words: str, size: int = MIDDLE) -> tuple[int, int]:
    """Width and height of words [px]."""
    width, height = _font(size).size(words)
    return math.ceil(width / OVERSAMPLING), math.ceil(height / OVERSAMPLING)


def _enlarged(points: Points) -> list[list[float]]:
    return (np.asarray(points, float) * OVERSAMPLING).tolist()


def _enlarged_box(area: pygame.Rect) -> pygame.Rect:
    return pygame.Rect([OVERSAMPLING * edge for edge in area])


@functools.cache
def _font(size: int) -> pygame.font.Font:
    """The font that comes with pygame, so that pictures are alike everywhere."""
    pygame.font.init()
    return pygame.font.Font(None, OVERSAMPLING * size)


@functools.lru_cache(maxsize=1024)
def _render(words: str, size: int, colour: Colour) -> pygame.Surface:
    return _font(size).render(words, True, colour)

"""Where on the screen a place in the plane is."""

import math

import numpy as np
import pygame

TIME_CONSTANT = 1.5  # s of the engagement in which the view follows most of the way
JUMP = 10.0  # s: after more than this between two pictures it follows at once


class Camera:
    """Looks down on the plane; x to the right, y up. It follows smoothly what it is aimed at.

    Attributes:
        area: Of the screen [px].
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
        """Move towards a view of a place and of so much around it.

        Args:
            centre: [2], in the plane [m].
            half_size: Distances to be seen to either side and up and down [m].
            time: Of the engagement [s]. Only the passing of time moves the camera, so that
                equal engagements make equal pictures; after a jump it is there at once.
            at_once: Be there whatever time has passed.
        """
        scale = min(self.area.width / half_size[0], self.area.height / half_size[1]) / 2
        share = 1.0
        if not at_once and self._time is not None and abs(time - self._time) < JUMP:
            share = 1 - math.exp(-abs(time - self._time) / TIME_CONSTANT)
        self.centre = self.centre + share * (np.asarray(centre) - self.centre)
        self.scale *= (scale / self.scale) ** share
        self._time = time

    def to_screen(self, points: np.ndarray) -> np.ndarray:
        """Places [n, 2] in the plane [m] as pixels."""
        offset = (np.asarray(points, float) - self.centre) * self.scale
        return np.array(self.area.center) + offset * (1, -1)

    def to_plane(self, pixels: np.ndarray) -> np.ndarray:
        """Pixels [n, 2] as places in the plane [m]."""
        offset = (np.asarray(pixels, float) - self.area.center) * (1, -1)
        return self.centre + offset / self.scale


def grid_spacing(least: float) -> float:
    """The next 1, 2 or 5 times a power of ten that is not below `least`."""
    decade = 10 ** math.floor(math.log10(least))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= least)

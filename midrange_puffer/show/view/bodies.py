"""Trails and symbols of fighters and missiles, in any projection onto the screen."""

import math
from typing import Protocol

import numpy as np

from midrange_puffer.game.paths import HIT
from midrange_puffer.show.heights import shade
from midrange_puffer.show.view.canvas import (
    BACKGROUND,
    BRIGHT,
    FLAME,
    SIDE_COLOURS,
    STAR,
    Canvas,
    Colour,
    Points,
    mix,
)
from midrange_puffer.show.view.states import STEPS, Body, Fighter, Missile

TICK = 20.0  # s between the marks on a fighter's trail

FIGHTER = np.array([(1.0, 0.0), (-0.75, 0.62), (-0.4, 0.0), (-0.75, -0.62)]) * 13
MISSILE = np.array([(1.0, 0.0), (-0.8, 0.4), (-0.8, -0.4)]) * 8
FLAME_SHAPE = np.array([(-0.8, 0.35), (-2.4, 0.0), (-0.8, -0.35)]) * 8
CROSS = np.array([(1, 1), (1, -1)]) * 3.5
STAR_POINTS = np.array(
    [
        (radius * math.sin(k * math.pi / 5), -radius * math.cos(k * math.pi / 5))
        for k, radius in enumerate([13, 5.5] * 5)
    ]
)


class View(Protocol):
    """A projection of a fight onto the screen."""

    def to_screen(self, points: Points) -> np.ndarray:
        """Converts places [n, 3] [m] to pixels [n, 2]."""
        ...

    def angle(self, body: Body) -> float:
        """Returns the angle of a body's flight on the screen, counter-clockwise from right."""
        ...


def draw_trail(
    canvas: Canvas, view: View, fighter: Fighter, since: float, by_height: bool = False
) -> None:
    """Draws a fighter's trail from a time on [s], with a mark every TICK seconds.

    With `by_height` it has the colours of its heights.
    """
    colour = mix(SIDE_COLOURS[fighter.side], 0.75)
    first = fighter.path.at(since) or 0
    trail = fighter.course(first)
    if by_height:
        draw_by_height(canvas, view.to_screen(trail), trail[:, 2], 2)
    else:
        canvas.line(view.to_screen(trail), colour, 1.5)
    times = fighter.path.times[first : fighter.index + 1]
    ticks = np.arange(TICK, times[-1], TICK)
    marks = np.searchsorted(times, ticks[ticks >= times[0]])
    for place in view.to_screen(trail[STEPS * marks]):
        canvas.circle(place, 3, colour)
        canvas.circle(place, 1.5, BACKGROUND)


def draw_missile_trail(
    canvas: Canvas, view: View, missile: Missile, side: Colour, by_height: bool = False
) -> None:
    """Draws a trail: thick while the motor burns, thin after that, faint once it has ended.

    With `by_height` it has the colours of its heights while it flies.
    """
    colour = mix(side, 0.65 if missile.flying else 0.3)
    course = missile.course()
    trail = view.to_screen(course)
    burnt = np.searchsorted(missile.path.times[: missile.index + 1], missile.path.burnt_out)
    canvas.line(trail if missile.burning else trail[: STEPS * burnt + 1], colour, 3)
    if by_height and missile.flying:
        draw_by_height(canvas, trail, course[:, 2], 1)
    else:
        canvas.line(trail, colour, 1)


def draw_by_height(canvas: Canvas, places: np.ndarray, heights: np.ndarray, width: float) -> None:
    """Draws a line in the colours of heights [n], without its not-a-numbers."""
    middles = (heights[:-1] + heights[1:]) / 2
    for start in np.flatnonzero(np.isfinite(middles)):
        canvas.line(places[start : start + 2], shade(middles[start]), width)


def draw_missile(canvas: Canvas, view: View, missile: Missile, colour: Colour) -> None:
    """Draws a missile's symbol, or a cross where it was spent."""
    [place] = view.to_screen([missile.point])
    if missile.flying:
        angle = view.angle(missile)
        if missile.burning:
            canvas.polygon(place + turned(FLAME_SHAPE, angle), FLAME)
        canvas.polygon(place + turned(MISSILE, angle), mix(colour, 0.8, BRIGHT))
    elif missile.path.fate != HIT:
        for corner in CROSS:
            canvas.line([place - corner, place + corner], mix(colour, 0.6), 1.5)


def draw_fighter(canvas: Canvas, view: View, fighter: Fighter) -> None:
    """Draws a fighter's symbol, or a star where it was killed."""
    [place] = view.to_screen([fighter.point])
    colour = SIDE_COLOURS[fighter.side]
    shape = turned(FIGHTER, view.angle(fighter)) if fighter.alive else STAR_POINTS
    canvas.polygon(place + 1.25 * shape, BACKGROUND)
    canvas.polygon(place + shape, colour if fighter.alive else STAR)
    if not fighter.alive:
        canvas.polygon(place + shape, colour, 1.5)


def turned(shape: np.ndarray, angle: float) -> np.ndarray:
    """Returns the points of a symbol, drawn towards the right, turned counter-clockwise [rad]."""
    ahead = np.array([math.cos(angle), -math.sin(angle)])
    left = np.array([-math.sin(angle), -math.cos(angle)])
    return shape[:, :1] * ahead + shape[:, 1:] * left

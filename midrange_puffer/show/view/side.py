"""The view from the side in fights with height.

The view from the side shows heights over the way along the present line from one fighter to the
other. Heights are stretched.
"""

import math
from collections.abc import Mapping

import numpy as np
import pygame

from midrange_puffer.show.view.bodies import (
    draw_fighter,
    draw_missile,
    draw_missile_trail,
    draw_trail,
)
from midrange_puffer.show.view.canvas import (
    FAINT,
    GRID,
    SIDE_COLOURS,
    SMALL,
    Canvas,
    Points,
    grid_spacing,
    mix,
)
from midrange_puffer.show.view.marks import Label, Labels, height_labels
from midrange_puffer.show.view.moment import Focus, Moment
from midrange_puffer.show.view.sensors import draw_chaff, draw_contact
from midrange_puffer.show.view.states import Body, Contact, Fighter

SHARE, LEAST = 0.32, 200  # share of a view that the side takes, and the least height of that view
MARGIN = (36, 14, 12, 20)  # room at the left, right, top and below for labels [px]
SPACING = (80, 22)  # least distance of marks of the way, and of lines of equal height [px]
FREE = 0.1  # share of the way that is free at both ends
LEAST_WAY = 6_000.0  # least length of the way shown [m]
LEAST_TOP, TOP_STEP = 12_000.0, 2_000.0  # the top of the view: at least, and in steps of [m]
FAN = np.linspace(-1, 1, 61)  # rays of a radar's cone, in half widths of its cut


class Side:
    """The projection onto the vertical plane through both fighters.

    Args:
        area: Part of the screen [px].
        moment: The fight.
        left: Number of the fighter that is at the left.
        whole: Show all paths so far; otherwise all living fighters, flying missiles, and the pair
            even if dead.
    """

    def __init__(self, area: pygame.Rect, moment: Moment, left: int, whole: bool = False) -> None:
        west, east, above, below = MARGIN
        size = area.width - west - east, area.height - above - below
        self.area = pygame.Rect((area.x + west, area.y + above), size)
        own, other = moment.fighters[left], moment.fighters[moment.foe(left)]
        self._origin = own.place
        self._ahead = _direction(own, other)
        bodies = [body for body in (*moment.fighters, *moment.missiles) if isinstance(body, Body)]
        if whole:
            contacts = [body for body in moment.known if isinstance(body, Contact)]
            tracks = [track[:, :2] for body in contacts for track in body.tracks]
            known = np.array([own.place, *(body.place for body in contacts)])
            places = np.vstack([known, *(body.trail() for body in bodies), *tracks])
        else:
            pair = own.number, other.number
            known = [body.place for body in moment.known if body.alive or body.number in pair]
            flying = [missile.place for missile in moment.missiles if missile.flying]
            places = np.array([own.place, *known, *flying])
        ways = self.ways(places)
        free = max((LEAST_WAY - np.ptp(ways)) / 2, FREE * np.ptp(ways))
        self.low, self.high = float(ways.min() - free), float(ways.max() + free)
        highest = max(max(body.path.z[: body.index + 1]) for body in (*moment.known, *bodies))
        self.top = max(LEAST_TOP, TOP_STEP * math.ceil(highest / TOP_STEP + 0.2))
        self.scales = self.area.width / (self.high - self.low), self.area.height / self.top

    def ways(self, places: np.ndarray) -> np.ndarray:
        """Returns the ways from the left fighter to places [n, 2] along the line, [n] [m]."""
        return (places - self._origin) @ self._ahead

    def to_screen(self, points: Points) -> np.ndarray:
        """Converts places [n, 3] [m] to pixels [n, 2]."""
        points = np.asarray(points, float)
        x = self.area.left + (self.ways(points[:, :2]) - self.low) * self.scales[0]
        return np.column_stack([x, self.area.bottom - points[:, 2] * self.scales[1]])

    def angle(self, body: Body) -> float:
        """Returns the angle of a body's flight on the screen, counter-clockwise from right."""
        course = np.array([math.cos(body.heading), math.sin(body.heading)]) @ self._ahead
        along = body.speed * math.cos(body.climb) * float(course)
        return math.atan2(body.rise * self.scales[1], along * self.scales[0])

    def radar_cut(self, fighter: Fighter, half_angle: float, reach: float) -> np.ndarray:
        """Returns the cut of a radar's cone with the plane of the view, between ground and top.

        Args:
            fighter: Its fighter, whose place is in the plane.
            half_angle: Of the cone [rad].
            reach: The length of its rays [m].

        Returns:
            float [points, 3], its outline [m]; empty if the nose points too far to the side.
        """
        level = math.cos(fighter.climb)
        course = np.array([math.cos(fighter.heading), math.sin(fighter.heading)])
        along, up = level * float(course @ self._ahead), math.sin(fighter.climb)
        # The cosine to the nose of a ray at the angle a: share * cos(a - middle).
        share, middle = math.hypot(along, up), math.atan2(up, along)
        if share <= math.cos(half_angle):
            return np.empty((0, 3))
        width = math.acos(max(math.cos(half_angle) / share, -1.0))
        angles = middle + width * FAN
        sines = np.sin(angles)
        # A level ray may lie on the ground and never meets it, so it counts as a rising one.
        room = np.where(sines >= 0, self.top - fighter.z, fighter.z)
        with np.errstate(divide="ignore"):
            lengths = np.clip(room / np.abs(sines), 0, reach)
        far = fighter.place + (lengths * np.cos(angles))[:, None] * self._ahead
        rays = np.column_stack([far, fighter.z + lengths * sines])
        return np.vstack([fighter.point, rays, fighter.point])


def _direction(own: Fighter | Contact, other: Fighter | Contact) -> np.ndarray:
    """Returns the unit vector on the ground, [2], from a fighter to another one.

    It is the fighter's course if the other's place is not known, or if both are at one place.
    """
    away = other.place - own.place
    length = float(np.hypot(*away))
    if length > 1 and not (isinstance(other, Contact) and not other.is_known):
        return away / length
    return np.array([math.cos(own.heading), math.sin(own.heading)])


def divide(area: pygame.Rect) -> tuple[pygame.Rect, pygame.Rect | None]:
    """Returns the parts of a view that are seen from above and from the side; None: no room."""
    if area.height < LEAST:
        return area, None
    height = round(SHARE * area.height)
    above = pygame.Rect(area.x, area.y, area.width, area.height - height)
    return above, pygame.Rect(area.x, above.bottom, area.width, height)


def draw_side(
    canvas: Canvas,
    area: pygame.Rect,
    moment: Moment,
    focus: Focus,
    whole: bool,
    labels: Labels,
    sensors: Mapping[str, float] | None = None,
) -> None:
    """Draws a fight from the side into an area of the canvas.

    In teams only the focus, its foe, its target and their missiles have labels.

    Args:
        canvas, area: Where to draw.
        moment, whole: As of `Side`.
        focus: Its fighter is at the left.
        labels: The labels of this part of the surface.
        sensors: Parameters of a game with sensors: draw chaff, and the radar cones of the focus and
            its foe.
    """
    side = Side(area, moment, focus.fighter, whole)
    canvas.line([area.topleft, area.topright], FAINT)
    _draw_grid(canvas, side)
    canvas.clip(pygame.Rect(side.area.left, area.top + 1, area.right - side.area.left, area.height))
    fighters = [body for body in moment.fighters if isinstance(body, Fighter)]
    if sensors is not None:
        for fighter in fighters:
            if fighter.number in (focus.fighter, focus.foe):
                _draw_radar(canvas, side, fighter, sensors)
            draw_chaff(canvas, side, fighter)
    for body in moment.known:
        foot = np.append(body.place, 0.0)
        canvas.line(side.to_screen([foot, body.point]), mix(SIDE_COLOURS[body.side], 0.4))
    for missile in moment.missiles:
        colour = SIDE_COLOURS[moment.fighters[missile.path.owner].side]
        draw_missile_trail(canvas, side, missile, colour)
    for fighter in fighters:
        draw_trail(canvas, side, fighter, 0.0)
    for missile in moment.missiles:
        draw_missile(canvas, side, missile, SIDE_COLOURS[moment.fighters[missile.path.owner].side])
    for body in moment.known:
        if isinstance(body, Fighter):
            draw_fighter(canvas, side, body)
        else:
            draw_contact(canvas, side, body, has_words=False)
    labels.draw(canvas, area, _labels(side, moment, focus))
    canvas.clip(None)


def _labels(side: Side, moment: Moment, focus: Focus) -> list[Label]:
    """Returns the labels of the bodies; in teams of those that concern the focus."""
    if not moment.is_team:
        return height_labels(side, moment, moment.known)
    named = focus.fighter, focus.foe, focus.target
    bodies = [body for body in moment.known if body.number in named]
    return height_labels(side, moment, bodies, fighter=focus.fighter)


def _draw_radar(
    canvas: Canvas, side: Side, fighter: Fighter, parameters: Mapping[str, float]
) -> None:
    """Draws the cut of a living fighter's radar cone, as `draw_radar` from above."""
    if not fighter.alive or fighter.silent:
        return
    half_angle = math.radians(parameters["radar_half_angle_deg"])
    cut = side.radar_cut(fighter, half_angle, parameters["radar_range_nose"])
    if len(cut):
        outline, colour = side.to_screen(cut), SIDE_COLOURS[fighter.side]
        canvas.wash(outline[None], colour, 0.04)
        canvas.line(outline, mix(colour, 0.25), 1)


def _draw_grid(canvas: Canvas, side: Side) -> None:
    """Draws the ground, lines of equal height, and marks of the way from the left fighter."""
    view = side.area
    right = view.right + MARGIN[1]
    for height in np.arange(0, side.top, grid_spacing(SPACING[1] / side.scales[1])):
        row = view.bottom - height * side.scales[1]
        canvas.line([(view.left, row), (right, row)], GRID if height else FAINT, 1 if height else 2)
        canvas.text(f"{height / 1000:.0f}", (view.left - 5, row), FAINT, SMALL, "midright")
    spacing = grid_spacing(SPACING[0] / side.scales[0])
    decimals = 0 if spacing >= 1000 else 1
    for way in np.arange(math.ceil(side.low / spacing), side.high / spacing) * spacing + 0.0:
        column = view.left + (way - side.low) * side.scales[0]
        canvas.line([(column, view.bottom), (column, view.bottom + 4)], FAINT)
        words = f"{way / 1000:.{decimals}f}"
        canvas.text(words, (column, view.bottom + 5), FAINT, SMALL, "midtop")
    canvas.text("km high", (view.left + 4, view.top - 10), FAINT, SMALL)

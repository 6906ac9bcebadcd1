"""The space-time graph seen from the side: the plane is level, and time runs downward."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import pygame

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime
from midrange_puffer.show.heights import HIGHEST, STEPS, shade
from midrange_puffer.show.view.bodies import draw_by_height
from midrange_puffer.show.view.canvas import (
    BACKGROUND,
    BRIGHT,
    FAINT,
    GRID,
    MIDDLE,
    SAFE,
    SIDE_COLOURS,
    SMALL,
    STAR,
    TEXT,
    Canvas,
    Colour,
    grid_spacing,
    mix,
)

DEPTH = 0.6  # drawn length of the horizon, as a share of the box's longer side
MARGIN = 0.06  # room between the box and its content, as a share of the longer side
STEP = 5.0  # s between the levels of the box
LABELS = 34  # room for labels around the box [px]
LEAST = 500.0  # least size of the box without the margin [m]
SMALLEST = 380  # least height of an area with a legend [px]
LEGEND = 320  # width of the legend [px]
ROW = 20  # height of one of its lines [px]
SCALE = (150, 8)  # size of the scale of heights [px]


@dataclass(frozen=True)
class Enemy:
    """The enemy in the graph; `place` is [2] in the plane [m], or None if unknown."""

    place: np.ndarray | None
    is_tracked: bool = True


@dataclass(frozen=True)
class Projection:
    """A view from the side of a box that fills an area: the plane is level, and time runs downward.

    Attributes:
        area: Part of the screen [px].
        origin: [2], place of the own fighter in the plane [m].
        bearing: Bearing of the enemy, counter-clockwise from +x [rad].
        low, high: [2], sides of the box relative to `origin` [m]: first towards the enemy, second
            to the left of that.
        horizon: Depth of the box [s].
        yaw: Rotation of the box, counter-clockwise from above; at 0 the enemy is on the right
            [rad].
        pitch: 0 = seen from the side, pi/2 = seen from above [rad].
    """

    area: pygame.Rect
    origin: np.ndarray
    bearing: float
    low: np.ndarray
    high: np.ndarray
    horizon: float
    yaw: float
    pitch: float

    def to_screen(self, points: np.ndarray, times: np.ndarray | float) -> np.ndarray:
        """Converts places [n, 2] or [n, 3] [m] at times, [n] or a number [s], to pixels."""
        return self.box_to_screen(_turned(points[:, :2] - self.origin, -self.bearing), times)

    def box_to_screen(self, points: np.ndarray, times: np.ndarray | float) -> np.ndarray:
        """Converts places in the box (towards the enemy, to the left of that) [m] to pixels."""
        scale, middle = self._view
        return self.area.center + scale * (self._flat(points, times) - middle)

    @functools.cached_property
    def corners(self) -> np.ndarray:
        """The corners of the box at any time, [4, 2]."""
        (x0, y0), (x1, y1) = self.low, self.high
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    @functools.cached_property
    def _view(self) -> tuple[float, np.ndarray]:
        """The scale [px/m] and the point in the middle of the area."""
        flat = np.vstack([self._flat(self.corners, time) for time in (0.0, self.horizon)])
        size = np.ptp(flat, axis=0)
        return (self.area.size / size).min(), flat.min(axis=0) + size / 2

    def _flat(self, points: np.ndarray, times: np.ndarray | float) -> np.ndarray:
        """Returns distances to the right and down [m], [n, 2]."""
        right, away = _turned(np.asarray(points, float), self.yaw).T
        depth = DEPTH * (self.high - self.low).max() * np.asarray(times) / self.horizon
        down = depth * math.cos(self.pitch) - away * math.sin(self.pitch)
        return np.column_stack([right, down])


def draw_graph(
    canvas: Canvas,
    area: pygame.Rect,
    graph: SpaceTime,
    enemy: Enemy,
    yaw: float,
    pitch: float,
    is_believed: bool = False,
    callsigns: tuple[str, str] | None = None,
) -> None:
    """Draws a space-time graph into an area of the canvas, with its legend.

    Args:
        canvas, area: Where to draw.
        graph: The graph.
        enemy: Place of the enemy.
        yaw, pitch: As in `Projection`.
        is_believed: True if the graph is of a believed game, see `contacts.believed`.
        callsigns: Names of the fighter and of the enemy; by default of their sides.
    """
    sides = SEATS[graph.seat], SEATS[1 - graph.seat]
    legend = _legend(graph, *(callsigns or sides))
    if is_believed:
        legend.append((FAINT, f"missiles of {sides[1]}: their range is not known"))
    room = area.copy()
    if area.height < SMALLEST:
        legend = []
    elif area.width > 1.3 * area.height:
        room.width, room.right = area.width - LEGEND, area.right
    else:
        room.height = area.height - ROW * (len(legend) + 2 * graph.has_height)
        room.bottom = area.bottom
    projection = fit(room.inflate(-2 * LABELS, -2 * LABELS), graph, enemy.place, yaw, pitch)
    canvas.clip(area)
    _draw_box(canvas, projection)
    if graph.fronts is not None:
        _draw_cone(canvas, projection, graph, graph.fronts)
    for missile in graph.missiles:
        _draw_missile(canvas, projection, graph, missile)
    _draw_paths(canvas, projection, graph)
    places = [(SIDE_COLOURS[graph.seat], projection.origin, True)]
    if enemy.place is not None:  # without a track: a ring at the last place
        places.append((SIDE_COLOURS[1 - graph.seat], enemy.place, enemy.is_tracked))
    for colour, place, is_tracked in places:
        [point] = projection.to_screen(place[None], 0)
        if is_tracked:
            canvas.circle(point, 6, colour)
        canvas.circle(point, 10, mix(colour, 0.6), 1.5)
    for index, (colour, words) in enumerate(legend):
        row = area.top + 14 + ROW * index
        canvas.box(pygame.Rect(area.left + 14, row + 5, 16, 4), colour, 2)
        canvas.text(words, (area.left + 38, row), TEXT, MIDDLE)
    if graph.has_height and legend:
        _draw_scale(canvas, (area.left + 14, area.top + 24 + ROW * len(legend)))
    canvas.clip(None)


def fit(
    area: pygame.Rect, graph: SpaceTime, enemy: np.ndarray | None, yaw: float, pitch: float
) -> Projection:
    """Returns a projection whose box holds the whole graph.

    The box points towards the enemy; without a known enemy along the own course.
    """
    origin = graph.own[0, :2].astype(float)
    dx, dy = (graph.own[1, :2] if enemy is None else enemy) - origin
    bearing = math.atan2(dy, dx)
    paths = [graph.own, *graph.escapes, *(missile.points for missile in graph.missiles)]
    if enemy is not None:
        paths.append(enemy[None])
    if graph.fronts is not None:
        paths.extend(graph.fronts)
    points = _turned(np.vstack([path[:, :2] for path in paths]) - origin, -bearing)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    room = MARGIN * (high - low).max() + LEAST
    return Projection(area, origin, bearing, low - room, high + room, graph.times[-1], yaw, pitch)


def _escape_colour(graph: SpaceTime, side: int) -> Colour:
    """Returns the colour of an escape path: SAFE if it avoids all missiles."""
    safe, _ = graph.verdict(side)
    return SAFE if safe else STAR


def _draw_box(canvas: Canvas, projection: Projection) -> None:
    """Draws a frame every STEP seconds, the grid below, and times at the leftmost edge."""
    horizon, corners = projection.horizon, projection.corners
    levels = np.arange(0, horizon + STEP / 2, STEP)
    for time in levels:
        canvas.polygon(projection.box_to_screen(corners, time), GRID, 1)
    low, high = projection.low, projection.high
    spacing = grid_spacing((high - low).max() / 6)
    for axis in (0, 1):
        for value in np.arange(math.ceil(low[axis] / spacing), high[axis] / spacing) * spacing:
            ends = np.stack([low, high])
            ends[:, axis] = value
            canvas.line(projection.box_to_screen(ends, horizon), GRID)
    top, bottom = (projection.box_to_screen(corners, time) for time in (0, horizon))
    for ends in zip(top, bottom, strict=True):
        canvas.line(ends, GRID)
    edge = top[:, 0].argmin()
    for time in levels:
        [place] = projection.box_to_screen(corners[[edge]], time)
        canvas.text(f"{time:.0f} s", place - (6, 0), FAINT, SMALL, "midright")
    words = f"grid {spacing / 1000:g} km"
    canvas.text(words, bottom[bottom[:, 1].argmax()] + (8, 8), FAINT, SMALL, "topleft")


def _draw_cone(canvas: Canvas, projection: Projection, graph: SpaceTime, cone: np.ndarray) -> None:
    """Draws the threat cone of a missile fired now: a front every second, and its surface."""
    colour = SIDE_COLOURS[1 - graph.seat]
    count = cone.shape[1]
    times = np.repeat(graph.times, count)
    fronts = projection.to_screen(cone.reshape(-1, cone.shape[2]), times).reshape(-1, count, 2)
    upper, lower = fronts[:-1], fronts[1:]
    patches = np.stack([upper[:, :-1], upper[:, 1:], lower[:, 1:], lower[:, :-1]], axis=2)
    patches = patches.reshape(-1, 4, 2)
    canvas.wash(patches[np.isfinite(patches).all(axis=(1, 2))], colour, 0.13)
    for front, points, time in zip(fronts, cone, graph.times, strict=True):
        is_marked = time % STEP < 1e-6
        if is_marked and time and points.shape[1] == 3:
            draw_by_height(canvas, front, points[:, 2], 2)
            continue
        for part in _parts(front):
            canvas.line(part, mix(colour, 0.8 if is_marked else 0.35), 1.5 if is_marked else 1)


def _draw_paths(canvas: Canvas, projection: Projection, graph: SpaceTime) -> None:
    """Draws the own path and the escapes, with their shadows on the ground of the box."""
    paths = [(path, _escape_colour(graph, side)) for side, path in enumerate(graph.escapes)]
    paths.append((graph.own, SIDE_COLOURS[graph.seat]))
    for path, _ in paths:
        canvas.line(projection.to_screen(path, projection.horizon), mix(BRIGHT, 0.18), 1)
    if graph.shots is not None:
        for side, shot in enumerate(graph.shots):
            for part in _parts(projection.to_screen(shot, graph.times)):
                canvas.dashes(part, mix(_escape_colour(graph, side), 0.6), 1.5)
    for path, colour in paths:
        flown = 1 + np.count_nonzero((np.diff(path, axis=0) != 0).any(axis=1))
        times = graph.times[:flown].copy()
        if path is graph.own and flown < len(path):  # ends where a missile in the air hits
            hits = (m.ended or 0.0 for m in graph.missiles if m.hits and m.target == graph.seat)
            times[-1] = min(hits, default=0.0)
        points = projection.to_screen(path[:flown], times)
        canvas.line(points, colour, 2.5)
        is_marked = times % STEP < 1e-6
        for point in points[is_marked]:
            canvas.circle(point, 3.5, colour)
        _draw_dots(canvas, points[is_marked], path[:flown][is_marked])
        if flown < len(path):
            canvas.circle(points[-1], 6, STAR)
    for side, label in enumerate(("left", "right")):
        [end] = projection.to_screen(graph.escapes[side][-1:], projection.horizon)
        if graph.has_height:
            label += f" {graph.escapes[side, -1, 2] / 1000:.1f} km"
        canvas.text(label, (end[0], end[1] + 6), _escape_colour(graph, side), SMALL, "midtop")


def _draw_missile(
    canvas: Canvas, projection: Projection, graph: SpaceTime, missile: MissilePrediction
) -> None:
    """Draws a missile's path: bright while it can hit, thin after a ring; a dot where it hits."""
    colour = mix(SIDE_COLOURS[missile.owner], 0.75, BRIGHT)
    flying = np.isfinite(missile.points).all(axis=1)
    points, times = missile.points[flying], graph.times[flying]
    if missile.hits and missile.target == graph.seat:
        points, times = np.vstack([points, graph.own[-1]]), np.append(times, missile.ended or 0.0)
    path = projection.to_screen(points, times)
    is_marked = times % STEP < 1e-6
    harmless = np.inf if missile.harmless is None else missile.harmless
    turn = np.searchsorted(times, harmless)
    canvas.line(path[max(turn - 1, 0) :], mix(colour, 0.45), 1)
    canvas.line(path[:turn], colour, 2.5)
    _draw_dots(canvas, path[is_marked], points[is_marked])
    if missile.hits:
        canvas.circle(path[-1], 6, STAR)
    elif turn < len(path):
        canvas.circle(path[max(turn - 1, 0)], 5, colour, 1.5)


def _draw_dots(canvas: Canvas, places: np.ndarray, points: np.ndarray) -> None:
    """Draws dots in the colours of the heights of points [n, 3]; none in the plane."""
    if points.shape[1] == 3:
        for place, height in zip(places, points[:, 2], strict=True):
            canvas.circle(place, 4.5, BACKGROUND)
            canvas.circle(place, 3.5, shade(height))


def _draw_scale(canvas: Canvas, place: tuple[int, int]) -> None:
    """Draws the colours of heights, and writes heights below them [km]."""
    bar = pygame.Rect(place, SCALE)
    for column in range(bar.width):
        colour = shade(HIGHEST * column / bar.width)
        canvas.box(pygame.Rect(bar.left + column, bar.top, 1, bar.height), colour)
    for height in np.arange(0, HIGHEST + 1, STEPS):
        column = bar.left + bar.width * height / HIGHEST
        canvas.text(f"{height / 1000:.0f}", (column, bar.bottom + 4), FAINT, SMALL, "midtop")
    canvas.text("km high", (bar.right + 14, bar.centery), TEXT, SMALL, "midleft")


def _legend(graph: SpaceTime, own: str, enemy: str) -> list[tuple[Colour, str]]:
    """Returns the colours of the lines and their meanings."""
    rows = [(SIDE_COLOURS[graph.seat], f"{own} at its present controls")]
    for side, label in enumerate(("left", "right")):
        rows.append((_escape_colour(graph, side), f"escape {label}: {graph.verdict(side)[1]}"))
    if graph.fronts is not None:
        colour = SIDE_COLOURS[1 - graph.seat]
        rows.append((colour, f"where a missile fired now by {enemy} can be"))
        rows.append((FAINT, "dashed: that missile, guided at the escapes"))
    for missile in graph.missiles:
        if missile.hits:
            fate = f"hits in {missile.ended:.0f} s"
        else:
            fate = f"comes within {missile.miss / 1000:.1f} km"
            if missile.harmless is not None:
                fate += f", harmless in {missile.harmless:.0f} s"
        colour = mix(SIDE_COLOURS[missile.owner], 0.75, BRIGHT)
        rows.append((colour, f"missile of {SEATS[missile.owner]}: {fate}"))
    return rows


def _parts(points: np.ndarray) -> list[np.ndarray]:
    """Splits a line [n, 2] at its not-a-numbers."""
    known = np.isfinite(points).all(axis=1)
    breaks = np.flatnonzero(np.diff(known)) + 1
    return [part for part in np.split(points, breaks) if len(part) and np.isfinite(part[0, 0])]


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Returns points [n, 2] turned counter-clockwise around the origin [rad]."""
    x, y = points.T
    c, s = math.cos(angle), math.sin(angle)
    return np.column_stack([c * x - s * y, s * x + c * y])

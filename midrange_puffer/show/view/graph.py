"""The space-time graph looked at from the side: the plane level, time downward."""

import functools
import math
from dataclasses import dataclass

import numpy as np
import pygame

from midrange_puffer.game.parameters import SEATS as SEAT_NAMES
from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime
from midrange_puffer.show.view.camera import grid_spacing
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.theme import (
    BRIGHT,
    FAINT,
    GRID,
    MIDDLE,
    SAFE,
    SEATS,
    SMALL,
    STAR,
    TEXT,
    Colour,
    mix,
)

DEPTH = 0.6  # of the box: the horizon is drawn as long as so much of the box's longer side
MARGIN = 0.06  # between what is in the box and its sides, as a share of the longer one
STEP = 5.0  # s between its levels
LABELS = 34  # room around the box for them [px]
LEAST = 500.0  # [m] besides
SMALLEST = 380  # height of an area that has room for a legend [px]
LEGEND = 320  # its width [px]
ROW = 20  # from one of its lines to the next [px]


@dataclass(frozen=True)
class Enemy:
    """Of whom the graph is about: its `place` [2] in the plane [m], None where nobody knows it."""

    place: np.ndarray | None
    is_tracked: bool = True


@dataclass(frozen=True)
class Projection:
    """Looks from the side at a box, which fills an area: the plane level, time downward.

    Attributes:
        area: Of the screen [px].
        origin: [2], the own place in the plane [m].
        bearing: Of the enemy, counter-clockwise from +x [rad].
        low, high: [2], sides of the box: towards the enemy and to the left of that [m].
        horizon: Its depth [s].
        yaw: Turns the box counter-clockwise, seen from above; at 0 the enemy is on the right [rad].
        pitch: From 0, looked at from the side, to pi/2, from above [rad].
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
        """Places [n, 2] in the plane [m] at times [n] or a number [s] as pixels [n, 2]."""
        return self.box_to_screen(_turned(points - self.origin, -self.bearing), times)

    def box_to_screen(self, points: np.ndarray, times: np.ndarray | float) -> np.ndarray:
        """The same, of places towards the enemy and to the left of that."""
        scale, middle = self._view
        return self.area.center + scale * (self._flat(points, times) - middle)

    @functools.cached_property
    def corners(self) -> np.ndarray:
        """Of the box at any time, [4, 2]."""
        (x0, y0), (x1, y1) = self.low, self.high
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    @functools.cached_property
    def _view(self) -> tuple[float, np.ndarray]:
        """Scale [px/m] and what comes to the middle of the area."""
        flat = np.vstack([self._flat(self.corners, time) for time in (0.0, self.horizon)])
        size = np.ptp(flat, axis=0)
        return (self.area.size / size).min(), flat.min(axis=0) + size / 2

    def _flat(self, points: np.ndarray, times: np.ndarray | float) -> np.ndarray:
        """What is to the right and what is down [m], [n, 2]."""
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
    """Draw a space-time graph into an area of the canvas, with its legend.

    Args:
        enemy: Where it is.
        yaw, pitch: As of `Projection`.
        is_believed: It is of the game as the seat believes it, see game/belief.py.
        callsigns: Of the fighter and the enemy; by default their sides' names.
    """
    sides = SEAT_NAMES[graph.seat], SEAT_NAMES[1 - graph.seat]
    legend = _legend(graph, *(callsigns or sides))
    if is_believed:
        words = f"missiles of {SEAT_NAMES[1 - graph.seat]}: their range is not known"
        legend.append((FAINT, words))
    room = area.copy()
    if area.height < SMALLEST:
        legend = []
    elif area.width > 1.3 * area.height:
        room.width, room.right = area.width - LEGEND, area.right
    else:
        room.height, room.bottom = area.height - ROW * len(legend), area.bottom
    projection = fit(room.inflate(-2 * LABELS, -2 * LABELS), graph, enemy.place, yaw, pitch)
    canvas.clip(area)
    _draw_box(canvas, projection)
    if graph.fronts is not None:
        _draw_cone(canvas, projection, graph)
    for missile in graph.missiles:
        _draw_missile(canvas, projection, graph, missile)
    _draw_paths(canvas, projection, graph)
    _draw_sides(canvas, projection, graph.seat, enemy)
    _draw_legend(canvas, area, legend)
    canvas.clip(None)


def fit(
    area: pygame.Rect, graph: SpaceTime, enemy: np.ndarray | None, yaw: float, pitch: float
) -> Projection:
    """A projection whose box holds all that is in a graph; towards the own course without enemy."""
    origin = graph.own[0].astype(float)
    dx, dy = (graph.own[1] if enemy is None else enemy) - origin
    bearing = math.atan2(dy, dx)
    paths = [
        *([] if enemy is None else [enemy[None]]),
        graph.own,
        *graph.escapes,
        *(m.points for m in graph.missiles),
    ]
    if graph.fronts is not None:
        paths.append(graph.fronts.reshape(-1, 2))
    points = _turned(np.vstack(paths) - origin, -bearing)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    room = MARGIN * (high - low).max() + LEAST
    return Projection(area, origin, bearing, low - room, high + room, graph.times[-1], yaw, pitch)


def escape_colour(graph: SpaceTime, side: int) -> Colour:
    """Of an escape path: whether it gets away from the missiles."""
    safe, _ = graph.verdict(side)
    return SAFE if safe else STAR


def _draw_box(canvas: Canvas, projection: Projection) -> None:
    """A frame every STEP seconds, the grid below, and times at the edge most to the left."""
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


def _draw_cone(canvas: Canvas, projection: Projection, graph: SpaceTime) -> None:
    """Where a missile fired now could be: a front every second, and the surface between."""
    colour = SEATS[1 - graph.seat]
    count = graph.fronts.shape[1]
    times = np.repeat(graph.times, count)
    fronts = projection.to_screen(graph.fronts.reshape(-1, 2), times).reshape(-1, count, 2)
    upper, lower = fronts[:-1], fronts[1:]
    patches = np.stack([upper[:, :-1], upper[:, 1:], lower[:, 1:], lower[:, :-1]], axis=2)
    patches = patches.reshape(-1, 4, 2)
    canvas.wash(patches[np.isfinite(patches).all(axis=(1, 2))], colour, 0.13)
    for front, time in zip(fronts, graph.times, strict=True):
        share = 0.8 if time % STEP < 1e-6 else 0.35
        for part in _parts(front):
            canvas.line(part, mix(colour, share), 1.5 if share > 0.5 else 1)


def _draw_paths(canvas: Canvas, projection: Projection, graph: SpaceTime) -> None:
    """The own path and the escapes with their shadows on the ground of the box."""
    paths = [(path, escape_colour(graph, side)) for side, path in enumerate(graph.escapes)]
    paths.append((graph.own, SEATS[graph.seat]))
    for path, _ in paths:
        canvas.line(projection.to_screen(path, projection.horizon), mix(BRIGHT, 0.18), 1)
    if graph.shots is not None:
        for side, shot in enumerate(graph.shots):
            for part in _parts(projection.to_screen(shot, graph.times)):
                canvas.dashes(part, mix(escape_colour(graph, side), 0.6), 1.5)
    for path, colour in paths:
        flown = 1 + np.count_nonzero((np.diff(path, axis=0) != 0).any(axis=1))
        times = graph.times[:flown].copy()
        if path is graph.own and flown < len(path):
            times[-1] = _own_end(graph)
        points = projection.to_screen(path[:flown], times)
        canvas.line(points, colour, 2.5)
        for point in points[times % STEP < 1e-6]:
            canvas.circle(point, 3.5, colour)
        if flown < len(path):
            canvas.circle(points[-1], 6, STAR)
    for side, label in enumerate(("left", "right")):
        [end] = projection.to_screen(graph.escapes[side][-1:], projection.horizon)
        canvas.text(label, (end[0], end[1] + 6), escape_colour(graph, side), SMALL, "midtop")


def _draw_sides(canvas: Canvas, projection: Projection, seat: int, enemy: Enemy) -> None:
    """Where both fighters are now; a ring alone where the enemy was lost."""
    places = [(SEATS[seat], projection.origin, True)]
    if enemy.place is not None:
        places.append((SEATS[1 - seat], enemy.place, enemy.is_tracked))
    for colour, place, is_tracked in places:
        [point] = projection.to_screen(place[None], 0)
        if is_tracked:
            canvas.circle(point, 6, colour)
        canvas.circle(point, 10, mix(colour, 0.6), 1.5)


def _own_end(graph: SpaceTime) -> float:
    """When a missile in the air hits the own fighter at its present controls [s]; 0 if one has."""
    hits = (m.ended for m in graph.missiles if m.hits and m.target == graph.seat)
    return min(hits, default=0.0)


def _draw_missile(
    canvas: Canvas, projection: Projection, graph: SpaceTime, missile: MissilePrediction
) -> None:
    """A missile in the air: bright while it can hit, thin from a ring on; a dot where it hits."""
    colour = mix(SEATS[missile.owner], 0.75, BRIGHT)
    flying = np.isfinite(missile.points).all(axis=1)
    points, times = missile.points[flying], graph.times[flying]
    if missile.hits and missile.target == graph.seat:
        points, times = np.vstack([points, graph.own[-1]]), np.append(times, missile.ended)
    path = projection.to_screen(points, times)
    harmless = np.inf if missile.harmless is None else missile.harmless
    turn = np.searchsorted(times, harmless)
    canvas.line(path[max(turn - 1, 0) :], mix(colour, 0.45), 1)
    canvas.line(path[:turn], colour, 2.5)
    if missile.hits:
        canvas.circle(path[-1], 6, STAR)
    elif turn < len(path):
        canvas.circle(path[max(turn - 1, 0)], 5, colour, 1.5)


def _legend(graph: SpaceTime, own: str, enemy: str) -> list[tuple[Colour, str]]:
    """What the lines are, with their colours."""
    rows = [(SEATS[graph.seat], f"{own} at its present controls")]
    for side, label in enumerate(("left", "right")):
        rows.append((escape_colour(graph, side), f"escape {label}: {graph.verdict(side)[1]}"))
    if graph.fronts is not None:
        rows.append((SEATS[1 - graph.seat], f"where a missile fired now by {enemy} can be"))
        rows.append((FAINT, "dashed: that missile, guided at the escapes"))
    for missile in graph.missiles:
        colour = mix(SEATS[missile.owner], 0.75, BRIGHT)
        rows.append((colour, f"missile of {SEAT_NAMES[missile.owner]}: {_fate(missile)}"))
    return rows


def _draw_legend(canvas: Canvas, area: pygame.Rect, legend: list[tuple[Colour, str]]) -> None:
    """At the upper left."""
    for index, (colour, words) in enumerate(legend):
        row = area.top + 14 + ROW * index
        canvas.box(pygame.Rect(area.left + 14, row + 5, 16, 4), colour, 2)
        canvas.text(words, (area.left + 38, row), TEXT, MIDDLE)


def _fate(missile: MissilePrediction) -> str:
    if missile.hits:
        return f"hits in {missile.ended:.0f} s"
    miss = f"comes within {missile.miss / 1000:.1f} km"
    return miss if missile.harmless is None else f"{miss}, harmless in {missile.harmless:.0f} s"


def _parts(points: np.ndarray) -> list[np.ndarray]:
    """The stretches of a line [n, 2] without not-a-number."""
    known = np.isfinite(points).all(axis=1)
    breaks = np.flatnonzero(np.diff(known)) + 1
    return [part for part in np.split(points, breaks) if len(part) and np.isfinite(part[0, 0])]


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points [n, 2] turned counter-clockwise around the origin [rad]."""
    x, y = points.T
    c, s = math.cos(angle), math.sin(angle)
    return np.column_stack([c * x - s * y, s * x + c * y])

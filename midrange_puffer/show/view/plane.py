"""The plane from above: grid, trails, fighters, missiles, and arrows to what is not in view."""

import math
from collections.abc import Mapping

import numpy as np
import pygame

from midrange_puffer.game.envelope import Envelope
from midrange_puffer.game.paths import HIT
from midrange_puffer.show.view.camera import Camera, grid_spacing
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.marks import draw_threats
from midrange_puffer.show.view.moment import STEPS, Body, Contact, Fighter, Focus, Missile, Moment
from midrange_puffer.show.view.sensors import (
    draw_contact,
    draw_guidance,
    draw_radar,
    draw_warnings,
)
from midrange_puffer.show.view.theme import (
    BACKGROUND,
    BRIGHT,
    FAINT,
    FLAME,
    GRID,
    SEATS,
    SMALL,
    STAR,
    Colour,
    mix,
)
from midrange_puffer.show.view.zones import draw_zones

GUTTER = (36, 18)  # at the left and below, for the grid's labels [px]
GRID_SPACING = 80  # least distance between its lines [px]
TICK = 20.0  # s between the marks on a fighter's trail
# In teams there is no room for all that was flown: what is older is left out [s].
TRAIL, WRECK = 60.0, 10.0  # trails, missiles that have ended
NEAREST = 4_000.0  # least distance from the middle of the view to its border [m]
UNKNOWN = 30_000.0  # the same, for a side that does not know where the enemy is [m]
MARGIN = 1.4  # of the view around what it shows
# Around a whole fight; above it, for its outcome; below it, where a pilot is told why [px].
BORDER, HEADROOM, FOOTROOM = 24, 96, 190

FIGHTER = np.array([(1.0, 0.0), (-0.75, 0.62), (-0.4, 0.0), (-0.75, -0.62)]) * 13
MISSILE = np.array([(1.0, 0.0), (-0.8, 0.4), (-0.8, -0.4)]) * 8
FLAME_SHAPE = np.array([(-0.8, 0.35), (-2.4, 0.0), (-0.8, -0.35)]) * 8
ARROW = np.array([(1.0, 0.0), (-0.6, 0.8), (-0.2, 0.0), (-0.6, -0.8)]) * 9
CROSS = np.array([(1, 1), (1, -1)]) * 3.5
STAR_POINTS = np.array(
    [
        (radius * math.sin(k * math.pi / 5), -radius * math.cos(k * math.pi / 5))
        for k, radius in enumerate([13, 5.5] * 5)
    ]
)


def draw_plane(
    canvas: Canvas,
    area: pygame.Rect,
    camera: Camera,
    moment: Moment,
    focus: Focus | None,
    envelope: Envelope | None,
    whole: bool = False,
    enemy_zones: bool = False,
    sensors: Mapping[str, float] | None = None,
) -> None:
    """Draw into an area of the canvas.

    Args:
        moment: The truth, or as a side knows it.
        focus: Whom it is drawn for; None: everything that flies is in view.
        envelope: For the launch zones of the focus's fighter, and with `enemy_zones` of its foe.
        whole: The camera shows all that has happened, whoever it follows.
        sensors: Parameters of a game with sensors: the radars' cones, and what missiles fly at.
    """
    left, below = GUTTER
    camera.area = pygame.Rect(area.x + left, area.y, area.width - left, area.height - below)
    if whole:
        aim_at_trails(camera, moment, BORDER if focus is None else FOOTROOM)
    else:
        aim(camera, moment, focus)
    _draw_grid(canvas, area, camera)
    canvas.clip(camera.area)
    if focus is not None and envelope is not None:
        own, fighters = moment.fighters[focus.fighter], moment.fighters
        draw_zones(canvas, camera, envelope, own, fighters[focus.target])
        if enemy_zones:
            draw_zones(canvas, camera, envelope, fighters[focus.foe], own, row=1)
    seen = [one for one in moment.fighters if isinstance(one, Fighter)]
    contacts = [one for one in moment.fighters if isinstance(one, Contact)]
    since, missiles = 0.0, moment.missiles
    if moment.is_team and not whole:
        since = moment.time - TRAIL
        missiles = [one for one in missiles if one.flying or moment.since(one) < WRECK]
    if sensors:
        for fighter in seen:
            draw_radar(canvas, camera, fighter, sensors)
    for missile in missiles:
        _draw_missile_trail(canvas, camera, missile, _side_colour(moment, missile))
    for fighter in seen:
        _draw_trail(canvas, camera, fighter, since)
    if moment.is_team and focus is not None:
        draw_threats(canvas, camera, moment, focus.fighter)
    for missile in missiles:
        _draw_missile(canvas, camera, missile, _side_colour(moment, missile))
        if sensors:
            draw_guidance(canvas, camera, missile)
    for contact in contacts:
        draw_contact(canvas, camera, contact, has_words=not moment.is_team)
    for fighter in seen:
        _draw_fighter(canvas, camera, fighter)
    draw_warnings(canvas, camera, moment)
    if focus is not None:
        _draw_arrows(canvas, camera, moment, focus.fighter)
    canvas.clip(None)


def aim(camera: Camera, moment: Moment, focus: Focus | None) -> None:
    """Show all fighters that are known and the missiles in the air; of one fighter only near ones.

    In teams these are the living fighters, or those that the focus names. A missile that has
    passed, or follows its target from far behind, is of no more use to see.
    """
    fighters = [fighter.place for fighter in _looked_at(moment, focus)]
    flying = [missile.place for missile in moment.missiles if missile.flying]
    low, high = np.min(fighters, axis=0), np.max(fighters, axis=0)
    reach = np.inf if focus is None else max(NEAREST, float(np.max(high - low)) / 2)
    near = [place for place in flying if _distance(place, low, high) <= reach]
    places = np.array([*fighters, *near])
    low, high = places.min(axis=0), places.max(axis=0)
    least = NEAREST if len(fighters) > 1 else UNKNOWN
    half = np.maximum(MARGIN * (high - low) / 2, least)
    camera.aim((low + high) / 2, tuple(half), moment.time)


def _looked_at(moment: Moment, focus: Focus | None) -> list[Fighter | Contact]:
    """The fighters that are to be in view."""
    known = moment.known
    if not moment.is_team:
        return known
    if focus is None:
        return [one for one in known if one.alive] or known
    return [one for one in known if one.number in (focus.fighter, focus.foe, focus.target)]


def _side_colour(moment: Moment, missile: Missile) -> Colour:
    return SEATS[moment.side_of(missile.path.owner)]


def _distance(place: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """How far a place is from a box [m]."""
    return float(np.linalg.norm(place - np.clip(place, low, high)))


def aim_at_trails(camera: Camera, moment: Moment, footroom: float) -> None:
    """Show all that has been flown until now, at once; `footroom` is what is left below it [px]."""
    trails = [body.trail for body in (*moment.fighters, *moment.missiles) if isinstance(body, Body)]
    tracks = [part for one in moment.fighters if isinstance(one, Contact) for part in one.tracks]
    places = np.vstack([*trails, *tracks])
    low, high = places.min(axis=0), places.max(axis=0)
    size = np.array(camera.area.size)
    headroom, footroom = (min(each, size[1] / 4) for each in (HEADROOM, footroom))
    room = size - (2 * BORDER, footroom + headroom)
    scale = (room / np.maximum(high - low, 2 * NEAREST)).min()
    centre = (low + high) / 2 + (0, (headroom - footroom) / 2 / scale)
    camera.aim(centre, tuple(size / 2 / scale), moment.time, at_once=True)


def grid_lines(camera: Camera) -> tuple[float, np.ndarray, np.ndarray]:
    """The grid's spacing, and where its lines are in x and in y [m]."""
    spacing = grid_spacing(GRID_SPACING / camera.scale)
    corners = camera.to_plane(np.array([camera.area.bottomleft, camera.area.topright]))
    low, high = np.ceil(corners[0] / spacing), np.floor(corners[1] / spacing)
    # The sum, as minus zero would be written with its sign.
    x, y = (np.arange(a, b + 1) * spacing + 0.0 for a, b in zip(low, high, strict=True))
    return spacing, x, y


def _draw_grid(canvas: Canvas, area: pygame.Rect, camera: Camera) -> None:
    """Lines, and their labels in the gutters, where nothing else is."""
    spacing, along, up = grid_lines(camera)
    view = camera.area
    decimals = 0 if spacing >= 1000 else 1
    for x in along:
        [(column, _)] = camera.to_screen(np.array([(x, 0)]))
        canvas.line([(column, view.top), (column, view.bottom)], GRID)
        words = f"{x / 1000:.{decimals}f}"
        if view.left + 12 < column < view.right - 40:
            canvas.text(words, (column, view.bottom + 4), FAINT, SMALL, "midtop")
    for y in up:
        [(_, row)] = camera.to_screen(np.array([(0, y)]))
        canvas.line([(view.left, row), (view.right, row)], GRID)
        if view.top + 8 < row < view.bottom - 8:
            canvas.text(f"{y / 1000:.{decimals}f}", (view.left - 5, row), FAINT, SMALL, "midright")
    canvas.text("km", (area.right - 6, view.bottom + 4), FAINT, SMALL, "topright")


def _draw_trail(canvas: Canvas, camera: Camera, fighter: Fighter, since: float) -> None:
    """A fighter's from a time on [s], with a mark every TICK seconds."""
    colour = mix(SEATS[fighter.side], 0.75)
    first = fighter.path.at(since) or 0
    trail = fighter.tail(first)
    canvas.line(camera.to_screen(trail), colour, 1.5)
    times = fighter.path.times[first : fighter.index + 1]
    ticks = np.arange(TICK, times[-1], TICK)
    marks = np.searchsorted(times, ticks[ticks >= times[0]])
    for place in camera.to_screen(trail[STEPS * marks]):
        canvas.circle(place, 3, colour)
        canvas.circle(place, 1.5, BACKGROUND)


def _draw_missile_trail(canvas: Canvas, camera: Camera, missile: Missile, side: Colour) -> None:
    """Thick while its motor burns, thin while it coasts; faint once it has ended."""
    colour = mix(side, 0.65 if missile.flying else 0.3)
    trail = camera.to_screen(missile.trail)
    burnt = np.searchsorted(missile.path.times[: missile.index + 1], missile.path.burnt_out)
    canvas.line(trail, colour, 1)
    canvas.line(trail if missile.burning else trail[: STEPS * burnt + 1], colour, 3)


def _draw_missile(canvas: Canvas, camera: Camera, missile: Missile, colour: Colour) -> None:
    """Its symbol; a cross where it came to nothing."""
    [place] = camera.to_screen([missile.place])
    if missile.flying:
        body = _turned(MISSILE, missile.heading)
        if missile.burning:
            canvas.polygon(place + _turned(FLAME_SHAPE, missile.heading), FLAME)
        canvas.polygon(place + body, mix(colour, 0.8, BRIGHT))
    elif missile.path.fate != HIT:
        faint = mix(colour, 0.6)
        for corner in CROSS:
            canvas.line([place - corner, place + corner], faint, 1.5)


def _draw_fighter(canvas: Canvas, camera: Camera, fighter: Fighter) -> None:
    """Its symbol; a star where it was killed."""
    [place] = camera.to_screen([fighter.place])
    colour = SEATS[fighter.side]
    shape = _turned(FIGHTER, fighter.heading) if fighter.alive else STAR_POINTS
    canvas.polygon(place + 1.25 * shape, BACKGROUND)
    canvas.polygon(place + shape, colour if fighter.alive else STAR)
    if not fighter.alive:
        canvas.polygon(place + shape, colour, 1.5)


def _draw_arrows(canvas: Canvas, camera: Camera, moment: Moment, fighter: int) -> None:
    """At the border, towards the missiles after a fighter where they are not in view."""
    colour = SEATS[1 - moment.side_of(fighter)]
    for missile in moment.inbound(fighter):
        [place] = camera.to_screen([missile.place])
        if not camera.area.collidepoint(place):
            tip, direction = border_point(camera, place)
            angle = math.atan2(-direction[1], direction[0])
            canvas.polygon(tip + _turned(ARROW, angle), colour)


def border_point(camera: Camera, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where an arrow to a pixel out of view stands: on the way there, and its direction [2]."""
    middle = np.array(camera.area.center, float)
    offset = place - middle
    direction = offset / np.linalg.norm(offset)
    room = np.array(camera.area.size) / 2 - 14
    with np.errstate(divide="ignore"):
        return middle + direction * (room / np.abs(direction)).min(), direction


def _turned(shape: np.ndarray, heading: float) -> np.ndarray:
    """Points of a symbol that looks to the right, on the screen, turned to a heading [rad]."""
    ahead = np.array([math.cos(heading), -math.sin(heading)])
    left = np.array([-math.sin(heading), -math.cos(heading)])
    return shape[:, :1] * ahead + shape[:, 1:] * left

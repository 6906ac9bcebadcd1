"""The plane from above: grid, launch zones, trails, fighters, missiles and arrows out of view."""

import math
from collections.abc import Mapping

import numpy as np
import pygame

from midrange_puffer.game.envelope import SHOWN
from midrange_puffer.show.view.bodies import (
    draw_fighter,
    draw_missile,
    draw_missile_trail,
    draw_trail,
    turned,
)
from midrange_puffer.show.view.canvas import (
    FAINT,
    GRID,
    SIDE_COLOURS,
    SMALL,
    Camera,
    Canvas,
    grid_spacing,
    mix,
)
from midrange_puffer.show.view.marks import draw_line, draw_threats
from midrange_puffer.show.view.moment import Focus, Moment
from midrange_puffer.show.view.sensors import (
    draw_chaff,
    draw_contact,
    draw_guidance,
    draw_radar,
    draw_warnings,
)
from midrange_puffer.show.view.states import Body, Contact, Fighter
from midrange_puffer.show.view.zones import Zones

GUTTER = (36, 18)  # room at the left and below for the grid's labels [px]
GRID_SPACING = 80  # least distance between grid lines [px]
# In teams older parts of trails, and missiles that ended longer ago, are not drawn [s].
TRAIL, WRECK = 60.0, 10.0
NEAREST = 4_000.0  # least distance from the middle of the view to its border [m]
UNKNOWN = 30_000.0  # the same for a side without a track [m]
MARGIN = 1.4  # size of the view relative to its content
# Room around a whole fight; above it, for its outcome; below it, for the debriefing [px].
BORDER, HEADROOM, FOOTROOM = 24, 96, 190
ROW = 18  # px between two rows of the zones' names
ZONES = {"aero": ("R_aero", 0.3), "nez": ("R_NEZ", 0.5)}  # edge: name, share of the side's colour

ARROW = np.array([(1.0, 0.0), (-0.6, 0.8), (-0.2, 0.0), (-0.6, -0.8)]) * 9


def draw_plane(
    canvas: Canvas,
    area: pygame.Rect,
    camera: Camera,
    moment: Moment,
    focus: Focus | None,
    zones: Zones | None,
    whole: bool = False,
    enemy_zones: bool = False,
    sensors: Mapping[str, float] | None = None,
    by_height: bool = False,
) -> None:
    """Draws the plane into an area of the canvas.

    Args:
        canvas, area: Where to draw.
        camera: The view of the plane.
        moment: The truth, or a side's knowledge.
        focus: The fighter that the view follows; None: show everything that flies.
        zones: Gives the launch zones of the focus's fighter, with `enemy_zones` of its foe, too.
        whole: Show everything that has happened, whatever the focus.
        enemy_zones: Draw the foe's launch zones, too.
        sensors: Parameters of a game with sensors: draw radar cones and missile guidance.
        by_height: Draw trails in the colours of heights.
    """
    left, below = GUTTER
    camera.area = pygame.Rect(area.x + left, area.y, area.width - left, area.height - below)
    if whole:
        _aim_at_trails(camera, moment, BORDER if focus is None else FOOTROOM)
    else:
        _aim(camera, moment, focus)
    _draw_grid(canvas, area, camera)
    canvas.clip(camera.area)
    if moment.line is not None:
        draw_line(canvas, camera, moment)
    if focus is not None and zones is not None:
        own, bodies = moment.fighters[focus.fighter], moment.fighters
        _draw_zones(canvas, camera, zones, moment.time, own, bodies[focus.target], focus.kind)
        if enemy_zones:
            foe = bodies[focus.foe]
            kind = foe.first_type if isinstance(foe, Fighter) else 0
            _draw_zones(canvas, camera, zones, moment.time, foe, own, kind, row=1)
    _draw_bodies(canvas, camera, moment, focus, whole, sensors, by_height)
    draw_warnings(canvas, camera, moment, None if focus is None else focus.fighter)
    if focus is not None:
        _draw_arrows(canvas, camera, moment, focus.fighter)
    canvas.clip(None)


def _draw_bodies(
    canvas: Canvas,
    camera: Camera,
    moment: Moment,
    focus: Focus | None,
    whole: bool,
    sensors: Mapping[str, float] | None,
    by_height: bool,
) -> None:
    """Draws radars, trails, missiles, contacts and fighters, in this order; see `draw_plane`."""
    fighters = [body for body in moment.fighters if isinstance(body, Fighter)]
    first, missiles = 0.0, moment.missiles
    if moment.is_team and not whole:
        first = moment.time - TRAIL
        missiles = [m for m in missiles if m.flying or moment.time - m.path.times[-1] < WRECK]
    coloured = [(m, SIDE_COLOURS[moment.fighters[m.path.owner].side]) for m in missiles]
    if sensors:
        for fighter in fighters:
            draw_radar(canvas, camera, fighter, sensors)
            draw_chaff(canvas, camera, fighter)
    for missile, colour in coloured:
        draw_missile_trail(canvas, camera, missile, colour, by_height)
    for fighter in fighters:
        draw_trail(canvas, camera, fighter, first, by_height)
    if moment.is_team and focus is not None:
        draw_threats(canvas, camera, moment, focus.fighter)
    for missile, colour in coloured:
        draw_missile(canvas, camera, missile, colour)
        if sensors:
            # With height the labels of heights have the words.
            draw_guidance(canvas, camera, missile, has_words=not moment.has_height)
    for body in moment.fighters:
        if isinstance(body, Contact):
            draw_contact(canvas, camera, body, has_words=not (moment.is_team or moment.has_height))
    for fighter in fighters:
        draw_fighter(canvas, camera, fighter)


def _aim(camera: Camera, moment: Moment, focus: Focus | None) -> None:
    """Aims the camera at all known fighters and the missiles in the air.

    In teams the fighters are the living ones, or those of the focus. With a focus only near
    missiles count: those that have passed, or are far behind their target, need not be visible.
    """
    bodies = moment.known
    if moment.is_team and focus is None:
        bodies = [body for body in bodies if body.alive] or bodies
    elif moment.is_team and focus is not None:
        numbers = (focus.fighter, focus.foe, focus.target)
        bodies = [body for body in bodies if body.number in numbers]
    fighters = np.array([body.place for body in bodies])
    low, high = fighters.min(axis=0), fighters.max(axis=0)
    reach = np.inf if focus is None else max(NEAREST, float(np.max(high - low)) / 2)
    near = [
        missile.place
        for missile in moment.missiles
        if missile.flying
        and np.linalg.norm(missile.place - np.clip(missile.place, low, high)) <= reach
    ]
    places = np.array([*fighters, *near])
    if moment.line is not None and focus is None:
        places = np.vstack([places, moment.line.foot(*fighters.mean(axis=0))])
    low, high = places.min(axis=0), places.max(axis=0)
    least = NEAREST if len(fighters) > 1 else UNKNOWN
    half = np.maximum(MARGIN * (high - low) / 2, least)
    camera.aim((low + high) / 2, tuple(half), moment.time)


def _aim_at_trails(camera: Camera, moment: Moment, footroom: float) -> None:
    """Aims the camera at once at all paths so far, with `footroom` pixels free below them."""
    trails = [
        body.trail() for body in (*moment.fighters, *moment.missiles) if isinstance(body, Body)
    ]
    tracks = [
        track[:, :2]
        for body in moment.fighters
        if isinstance(body, Contact)
        for track in body.tracks
    ]
    places = np.vstack([*trails, *tracks])
    if moment.line is not None:
        places = np.vstack([places, moment.line.foot(*places.mean(axis=0))])
    low, high = places.min(axis=0), places.max(axis=0)
    size = np.array(camera.area.size)
    headroom, footroom = (min(room, size[1] / 4) for room in (HEADROOM, footroom))
    room = size - (2 * BORDER, footroom + headroom)
    scale = (room / np.maximum(high - low, 2 * NEAREST)).min()
    centre = (low + high) / 2 + (0, (headroom - footroom) / 2 / scale)
    camera.aim(centre, tuple(size / 2 / scale), moment.time, at_once=True)


def grid_lines(camera: Camera) -> tuple[float, np.ndarray, np.ndarray]:
    """Returns the grid's spacing, and the x and the y of its lines [m]."""
    spacing = grid_spacing(GRID_SPACING / camera.scale)
    corners = camera.to_plane(np.array([camera.area.bottomleft, camera.area.topright]))
    low, high = np.ceil(corners[0] / spacing), np.floor(corners[1] / spacing)
    # + 0.0 turns -0.0 into 0.0: its label would have a sign.
    x, y = (np.arange(a, b + 1) * spacing + 0.0 for a, b in zip(low, high, strict=True))
    return spacing, x, y


def _draw_grid(canvas: Canvas, area: pygame.Rect, camera: Camera) -> None:
    """Draws grid lines, and their labels in the gutters."""
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


def _draw_zones(
    canvas: Canvas,
    camera: Camera,
    zones: Zones,
    time: float,
    shooter: Fighter | Contact,
    enemy: Fighter | Contact,
    kind: int,
    row: int = 0,
) -> None:
    """Draws the launch zones of a fighter with missiles; their names are at the lower right.

    A contact's missiles are unknown: it is assumed to have some. `row` counts rows of names from
    below. Otherwise as `Zones.around`.
    """
    is_out = isinstance(shooter, Fighter) and not shooter.ammo
    if is_out or not (shooter.alive and enemy.alive):
        return
    side_colour = SIDE_COLOURS[shooter.side]
    right = camera.area.right - 10
    places = zones.around(shooter, enemy, kind, time)
    for edge in SHOWN if places else ():
        name, share = ZONES[edge]
        colour = mix(side_colour, share)
        corners = camera.to_screen(places[edge])
        canvas.wash(corners[None], side_colour, 0.06)
        canvas.polygon(corners, colour, 1)
        bottom = camera.area.bottom - 8 - ROW * row
        text_colour = mix(side_colour, share + 0.3)
        room = canvas.text(name, (right, bottom), text_colour, SMALL, "bottomright")
        canvas.box(pygame.Rect(room.left - 22, room.centery, 16, 2), colour)
        right = room.left - 36


def _draw_arrows(canvas: Canvas, camera: Camera, moment: Moment, fighter: int) -> None:
    """Draws arrows at the border that point at inbound missiles out of view."""
    colour = SIDE_COLOURS[1 - moment.fighters[fighter].side]
    middle = np.array(camera.area.center, float)
    room = np.array(camera.area.size) / 2 - 14
    for missile in moment.inbound(fighter):
        [place] = camera.to_screen([missile.place])
        if not camera.area.collidepoint(place):
            direction = (place - middle) / np.linalg.norm(place - middle)
            with np.errstate(divide="ignore"):
                tip = middle + direction * (room / np.abs(direction)).min()
            angle = math.atan2(-direction[1], direction[0])
            canvas.polygon(tip + turned(ARROW, angle), colour)

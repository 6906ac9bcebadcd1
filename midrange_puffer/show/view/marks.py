"""Names and heights that cover nothing; marks on the focus of a team, its target and threats.

Also the line of a mission, and its transport.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pygame

from midrange_puffer.game.parameters import callsigns
from midrange_puffer.show.view.bodies import View
from midrange_puffer.show.view.canvas import (
    BACKGROUND,
    BRIGHT,
    FAINT,
    SIDE_COLOURS,
    SMALL,
    STAR,
    Camera,
    Canvas,
    Colour,
    mix,
    text_size,
)
from midrange_puffer.show.view.moment import Focus, Moment
from midrange_puffer.show.view.sensors import UNUSUAL, contact_words
from midrange_puffer.show.view.states import Contact, Fighter, Missile, signed

RING = 19  # radius of the ring around the focus's fighter [px]
CORNER = np.array([(20, 12), (20, 20), (12, 20)])  # corner of the frame around its target [px]
DASHES = 41  # points of a dashed line
LINE_REACH, DASH = 3_000, 9  # half the length of a mission's line, and that of its dashes [px]
TRANSPORT_RING = 15  # radius of the ring around a transport [px]
SYMBOL = 14  # half the side of the square around a symbol that labels leave free [px]
LEADER = 26  # least distance of a label from its symbol that gets a connecting line [px]
# Places of a label relative to its symbol, the preferred ones first: (right, down).
WAYS = np.array([(1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1)], float)
DISTANCES = (14, 26, 42, 60)  # px from the middle of the symbol to the label's nearest edge
OFFSETS = [distance * way / np.linalg.norm(way) for distance in DISTANCES for way in WAYS]

Spot = tuple[pygame.Rect, int]  # part of the surface where a click chooses a fighter


@dataclass(frozen=True)
class Label:
    """A name to be placed.

    Attributes:
        number: The fighter's number; `Labels` remembers the place of its label by it.
        words, colour: The text.
        place: [2], middle of the symbol [px].
        is_needed: True if it is written even where it covers something.
    """

    number: int
    words: str
    colour: Colour
    place: np.ndarray
    is_needed: bool = True


class Labels:
    """The labels of one view. A label keeps its place for as long as that is free."""

    def __init__(self) -> None:
        self._ways: dict[int, int] = {}  # index into OFFSETS of each fighter's label

    def draw(self, canvas: Canvas, area: pygame.Rect, labels: Sequence[Label]) -> None:
        """Writes labels within an area; the first ones have the choice of places."""
        taken = [_square(label.place, SYMBOL) for label in labels]
        for label in labels:
            size = text_size(label.words, SMALL)
            room = _room(label, size, self._ways.get(label.number, 0))
            cost = _covered(room, area, taken)
            if cost:
                rooms = [_room(label, size, way) for way in range(len(OFFSETS))]
                costs = [_covered(room, area, taken) for room in rooms]
                cost = min(costs)
                self._ways[label.number] = way = costs.index(cost)
                room = rooms[way]
            if not cost or label.is_needed:
                taken.append(room)
                nearest = np.clip(label.place, room.topleft, (room.right, room.bottom))
                if np.linalg.norm(nearest - label.place) > LEADER:
                    canvas.line([label.place, nearest], mix(label.colour, 0.4))
                canvas.box(room.inflate(2, 0), BACKGROUND, 3)  # hides trails behind the label
                canvas.text(label.words, room.topleft, label.colour, SMALL)


def _room(label: Label, size: tuple[int, int], way: int) -> pygame.Rect:
    """Returns the area of a label in one of its possible places."""
    middle = label.place + OFFSETS[way] + WAYS[way % len(WAYS)] * size / 2
    room = pygame.Rect((0, 0), size)
    room.center = round(middle[0]), round(middle[1])
    return room


def _covered(room: pygame.Rect, area: pygame.Rect, taken: Sequence[pygame.Rect]) -> int:
    """Returns how much of `taken` and of the outside of `area` a label would cover [px²]."""
    inside = room.clip(area)
    cost = room.width * room.height - inside.width * inside.height
    for other in taken:
        shared = room.clip(other)
        cost += shared.width * shared.height
    return cost


def _square(place: np.ndarray, reach: float) -> pygame.Rect:
    square = pygame.Rect(0, 0, 2 * reach, 2 * reach)
    square.center = round(place[0]), round(place[1])
    return square


def height_labels(
    view: View,
    moment: Moment,
    fighters: Sequence[Fighter | Contact],
    has_climbs: bool = False,
    has_guidance: bool = False,
    fighter: int | None = None,
) -> list[Label]:
    """Returns labels with the heights of some fighters and of missiles in the air.

    In teams a fighter's name comes first.

    Args:
        view: The projection.
        moment: The fight.
        fighters: Those of its fighters that get labels.
        has_climbs: Write climbs and the sources of contacts, too.
        has_guidance: Name guidance of missiles other than by their own fighters.
        fighter: Number of the fighter whose missiles get labels, and those that fly at it; None:
            all.
    """
    labels = []
    reds = sum(body.side == 0 for body in moment.fighters)
    names = callsigns((reds, len(moment.fighters) - reds))
    for body in fighters:
        words = _height_words(body) if has_climbs else f"{body.z / 1000:.1f} km"
        if moment.is_team:
            words = f"{names[body.number]}  {words}"
        if has_climbs and isinstance(body, Contact):
            words = f"{contact_words(body)}  {words}"
        [place] = view.to_screen([body.point])
        labels.append(Label(body.number, words, SIDE_COLOURS[body.side], place))
    for number, missile in enumerate(moment.missiles, len(moment.fighters)):
        if missile.flying and fighter in (None, missile.path.owner, missile.target):
            words = _height_words(missile) if has_climbs else f"{missile.z / 1000:.1f}"
            if has_guidance and missile.guided in UNUSUAL:
                words = f"{words}  {UNUSUAL[missile.guided]}"
            colour = SIDE_COLOURS[moment.fighters[missile.path.owner].side]
            [place] = view.to_screen([missile.point])
            labels.append(Label(number, words, colour, place, is_needed=False))
    return labels


def _height_words(body: Fighter | Contact | Missile) -> str:
    """Returns a body's height and, unless it is dead, the angle of its climb."""
    words = f"{body.z / 1000:.1f} km"
    is_dead = not isinstance(body, Missile) and not body.alive
    return words if is_dead else f"{words} {signed(math.degrees(body.climb))}°"


def draw_threats(canvas: Canvas, camera: Camera, moment: Moment, fighter: int) -> None:
    """Draws a dashed line to a fighter from each missile that flies at it."""
    own = moment.fighters[fighter]
    for missile in moment.inbound(fighter):
        start, end = camera.to_screen([missile.place, own.place])
        canvas.dashes(np.linspace(start, end, DASHES), mix(STAR, 0.6), 1)


def draw_line(canvas: Canvas, camera: Camera, moment: Moment) -> None:
    """Draws the line of a mission across the view, and a ring around the transport."""
    line = moment.line
    if line is None:
        return
    colour, middle = SIDE_COLOURS[line.attacker], np.array(camera.area.center, float)
    [centre] = camera.to_plane(middle[None])
    x, y = centre.tolist()
    start, end = camera.to_screen(np.array(line.ends(x, y, LINE_REACH / camera.scale)))
    dashes = round(float(np.linalg.norm(end - start)) / DASH)
    canvas.dashes(np.linspace(start, end, dashes + 1), mix(colour, 0.8), 2)
    [foot] = camera.to_screen(np.array([line.foot(x, y)]))
    if camera.area.collidepoint(foot):
        across = np.array([line.way[0], -line.way[1]])
        canvas.line([foot - 16 * across, foot + 16 * across], mix(colour, 0.8), 2)
        canvas.text("line", (foot[0] + 8, foot[1] + 8), mix(colour, 0.9), SMALL)
    transport = None if line.transport is None else moment.fighters[line.transport]
    if isinstance(transport, Fighter | Contact) and transport in moment.known and transport.alive:
        [place] = camera.to_screen(np.array([transport.place]))
        canvas.circle(tuple(place), TRANSPORT_RING, mix(colour, 0.9), 1.5)
        below = (place[0], place[1] + TRANSPORT_RING + 2)
        canvas.text("transport", below, mix(colour, 0.9), SMALL, "midtop")


def draw_marks(
    canvas: Canvas,
    camera: Camera,
    labels: Labels,
    moment: Moment,
    focus: Focus | None,
    names: Sequence[str],
    has_guidance: bool = False,
) -> list[Spot]:
    """Draws a ring around the focus's fighter, corners around its target, and all names.

    With height the names have heights and climbs, and missiles theirs, with `has_guidance` as in
    `height_labels`.

    Returns:
        The areas of the living fighters in view, with their numbers.
    """
    canvas.clip(camera.area)
    places = {body.number: camera.to_screen([body.place])[0] for body in moment.known}
    if focus is not None and focus.fighter in places:
        canvas.circle(places[focus.fighter], RING, BRIGHT, 1.5)
    if focus is not None and focus.target in places and moment.fighters[focus.target].alive:
        for flip in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            canvas.line(places[focus.target] + CORNER * flip, STAR, 1.5)
    named = () if focus is None else (focus.fighter, focus.target)
    shown = [body for body in moment.known if camera.area.collidepoint(places[body.number])]
    # The focus is labelled first, the dead last.
    ordered = sorted(shown, key=lambda b: (not b.alive, b.number not in named, b.number))
    words = [_label(body, names[body.number], places[body.number], focus) for body in ordered]
    if moment.has_height:
        words = [
            replace(label, words=f"{label.words}  {_height_words(body)}")
            for label, body in zip(words, ordered, strict=True)
        ]
        words += height_labels(camera, moment, (), has_climbs=True, has_guidance=has_guidance)
    labels.draw(canvas, camera.area, words)
    canvas.clip(None)
    return [(_square(places[body.number], RING), body.number) for body in shown if body.alive]


def _label(body: Fighter | Contact, name: str, place: np.ndarray, focus: Focus | None) -> Label:
    is_own = focus is not None and body.number == focus.fighter
    colour = BRIGHT if is_own else mix(SIDE_COLOURS[body.side], 0.85, BRIGHT)
    return Label(body.number, name, colour if body.alive else FAINT, place, is_needed=body.alive)

"""Names beside what they name, each where it covers no other one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pygame

from midrange_puffer.show.view.canvas import Canvas, text_size
from midrange_puffer.show.view.theme import BACKGROUND, SMALL, Colour, mix

SYMBOL = 14  # px around the middle of a symbol, that no label covers
LEADER = 26  # px from a symbol to its label, from where on there is a line between them
# Where a label may stand, the best places first: directions (right, down), nearer ones first.
WAYS = np.array([(1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1)], float)
DISTANCES = (14, 26, 42, 60)  # px from the middle of the symbol to the label's nearest edge
OFFSETS = [distance * way / np.linalg.norm(way) for distance in DISTANCES for way in WAYS]


@dataclass(frozen=True)
class Label:
    """A name to be placed.

    Attributes:
        number: Of whom; labels remember by it where they stood.
        words, colour: What is written.
        place: [2], the middle of the symbol [px].
        is_needed: Whether it is written even where it covers something.
    """

    number: int
    words: str
    colour: Colour
    place: np.ndarray
    is_needed: bool = True


class Labels:
    """Places labels in one view. They stay where they are for as long as there is room."""

    def __init__(self) -> None:
        self._ways: dict[int, int] = {}  # of whom -> the place it had, an index

    def draw(self, canvas: Canvas, area: pygame.Rect, labels: Sequence[Label]) -> None:
        """Write labels within an area, the first ones first."""
        taken = [_around(label.place, SYMBOL) for label in labels]
        for label in labels:
            size = text_size(label.words, SMALL)
            room = _room(label, size, self._ways.get(label.number, 0))
            cost = _covered(room, area, taken)
            if cost:
                rooms = [_room(label, size, way) for way in range(len(OFFSETS))]
                costs = [_covered(one, area, taken) for one in rooms]
                cost = min(costs)
                self._ways[label.number] = way = costs.index(cost)
                room = rooms[way]
            if not cost or label.is_needed:
                taken.append(room)
                _write(canvas, label, room)


def _room(label: Label, size: tuple[int, int], way: int) -> pygame.Rect:
    """Where a label of a size is in one of the places it may have."""
    middle = label.place + OFFSETS[way] + WAYS[way % len(WAYS)] * size / 2
    room = pygame.Rect((0, 0), size)
    room.center = round(middle[0]), round(middle[1])
    return room


def _covered(room: pygame.Rect, area: pygame.Rect, taken: Sequence[pygame.Rect]) -> int:
    """How much of what is taken, and of what is out of the area, a label would cover [px²]."""
    inside = room.clip(area)
    cost = room.width * room.height - inside.width * inside.height
    for other in taken:
        shared = room.clip(other)
        cost += shared.width * shared.height
    return cost


def _write(canvas: Canvas, label: Label, room: pygame.Rect) -> None:
    nearest = np.clip(label.place, room.topleft, (room.right, room.bottom))
    if np.linalg.norm(nearest - label.place) > LEADER:
        canvas.line([label.place, nearest], mix(label.colour, 0.4))
    canvas.box(room.inflate(2, 0), BACKGROUND, 3)  # so that trails do not run through it
    canvas.text(label.words, room.topleft, label.colour, SMALL)


def _around(place: np.ndarray, reach: float) -> pygame.Rect:
    room = pygame.Rect(0, 0, 2 * reach, 2 * reach)
    room.center = round(place[0]), round(place[1])
    return room

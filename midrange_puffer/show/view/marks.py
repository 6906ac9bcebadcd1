"""What tells the fighters of teams apart: names, whom one looks at, its target, its threats."""

from collections.abc import Sequence

import numpy as np
import pygame

from midrange_puffer.show.view.camera import Camera
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.labels import Label, Labels
from midrange_puffer.show.view.moment import Contact, Fighter, Focus, Moment
from midrange_puffer.show.view.theme import BRIGHT, FAINT, SEATS, STAR, mix

RING = 19  # px, around the fighter that is looked at
CORNER = np.array([(20, 12), (20, 20), (12, 20)])  # px, of the marks around its target
DASHES = 41  # points of a dashed line


def draw_threats(canvas: Canvas, camera: Camera, moment: Moment, fighter: int) -> None:
    """A dashed line to a fighter from each missile that flies at it."""
    own = moment.fighters[fighter]
    for missile in moment.inbound(fighter):
        ends = camera.to_screen([missile.place, own.place])
        canvas.dashes(np.linspace(*ends, DASHES), mix(STAR, 0.6), 1)


def draw_marks(
    canvas: Canvas,
    camera: Camera,
    labels: Labels,
    moment: Moment,
    focus: Focus | None,
    callsigns: Sequence[str],
) -> list[tuple[pygame.Rect, int]]:
    """A ring around the fighter of the focus, corners around its target, and all names.

    Returns:
        Where the living fighters are in view, and their numbers.
    """
    canvas.clip(camera.area)
    places = {one.number: camera.to_screen([one.place])[0] for one in moment.known}
    if focus is not None and focus.fighter in places:
        canvas.circle(places[focus.fighter], RING, BRIGHT, 1.5)
    if focus is not None and focus.target in places and moment.fighters[focus.target].alive:
        for flip in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            canvas.line(places[focus.target] + CORNER * flip, STAR, 1.5)
    shown = [one for one in moment.known if camera.area.collidepoint(places[one.number])]
    labels.draw(
        canvas,
        camera.area,
        [
            _label(one, callsigns[one.number], places[one.number], focus)
            for one in sorted(shown, key=lambda one: _order(one, focus))
        ],
    )
    canvas.clip(None)
    spots = [(pygame.Rect(0, 0, 2 * RING, 2 * RING), one.number) for one in shown if one.alive]
    for spot, number in spots:
        spot.center = places[number].round()
    return spots


def _order(one: Fighter | Contact, focus: Focus | None) -> tuple[bool, bool, int]:
    """Who is looked at comes first, the dead come last."""
    is_named = focus is not None and one.number in (focus.fighter, focus.target)
    return not one.alive, not is_named, one.number


def _label(one: Fighter | Contact, name: str, place: np.ndarray, focus: Focus | None) -> Label:
    is_own = focus is not None and one.number == focus.fighter
    colour = BRIGHT if is_own else mix(SEATS[one.side], 0.85, BRIGHT)
    if not one.alive:
        colour = FAINT
    return Label(one.number, name, colour, place, is_needed=one.alive)

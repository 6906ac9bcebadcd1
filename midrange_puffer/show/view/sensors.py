"""What sensors show, seen from above: radar cone, contact, warnings, and what missiles fly at."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from midrange_puffer.game.contact_path import LINKED, LIVE, LOST, MEMORY
from midrange_puffer.game.parameters import SEATS as SEAT_NAMES
from midrange_puffer.game.paths import ACTIVE, ALONE, RELAYED
from midrange_puffer.show.view.camera import Camera
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.moment import Contact, Fighter, Missile, Moment, ReceiverWarning
from midrange_puffer.show.view.theme import BRIGHT, FAINT, LOCK, SEATS, SMALL, STAR, mix

DIAMOND = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]) * 9
CROSS = np.array([(1, 1), (1, -1)]) * 6
BESIDE = np.array([14, -8])  # px, from a symbol to its word
COURSE = 20.0  # s of flight, which the stroke before a contact is long
STROKE = (26, 74)  # px from the own fighter, between which a warning's stroke is
UNUSUAL = {ALONE: "no support", RELAYED: "by a wingman"}  # what guides a missile
WORD = 0.25  # rad, between strokes that have a word each
ARC = np.linspace(-1, 1, 25)  # points of the cone's far end, in half angles


def draw_radar(
    canvas: Canvas, camera: Camera, fighter: Fighter, parameters: Mapping[str, float]
) -> None:
    """The cone that a fighter's radar sees in, as far as it sees an enemy that flies toward it."""
    if not fighter.alive:
        return
    angles = fighter.heading + ARC * math.radians(parameters["radar_half_angle_deg"])
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    far = fighter.place + parameters["radar_range_nose"] * rays
    outline = camera.to_screen(np.vstack([fighter.place, far, fighter.place]))
    colour = SEATS[fighter.side]
    canvas.wash(outline[None], colour, 0.04)
    canvas.line(outline, mix(colour, 0.25), 1)


def draw_contact(canvas: Canvas, camera: Camera, contact: Contact, has_words: bool) -> None:
    """Where the enemy is believed to be: full on radar, hollow from memory, a cross where lost.

    Args:
        has_words: whether to say beside it what it rests on.
    """
    if not contact.is_known:
        return
    colour = SEATS[contact.side]
    for track in contact.tracks:
        canvas.dashes(camera.to_screen(track), mix(colour, 0.6), 1.5)
    [place] = camera.to_screen([contact.place])
    if contact.alive:
        course = np.array([math.cos(contact.heading), math.sin(contact.heading)])
        ahead = contact.place + COURSE * contact.speed * course
        canvas.line(camera.to_screen([contact.place, ahead]), mix(colour, 0.8), 1.5)
        canvas.polygon(place + DIAMOND, colour, 0 if contact.source == LIVE else 2)
    else:
        for corner in CROSS:
            canvas.line([place - corner, place + corner], colour, 2)
    if has_words:
        canvas.text(contact_words(contact), place + BESIDE, mix(colour, 0.85), SMALL)


def contact_words(contact: Contact) -> str:
    """What a contact rests on, and how old it is."""
    if not contact.is_known:
        return "not seen"
    if contact.source == LIVE:
        return "on radar"
    how = {MEMORY: "memory", LINKED: "linked", LOST: "lost"}[contact.source]
    return f"{how} {contact.age:.0f} s"


def draw_warnings(canvas: Canvas, camera: Camera, moment: Moment) -> None:
    """What the receivers of the side tell that is looked at, around each of its fighters."""
    for fighter in moment.fighters:
        warnings = [one for one in moment.warnings if one.fighter == fighter.number]
        _draw_warnings(canvas, camera, fighter, warnings)


def _draw_warnings(
    canvas: Canvas, camera: Camera, own: Fighter, warnings: Sequence[ReceiverWarning]
) -> None:
    """A stroke toward each, from a ring around the own fighter on: they have no range."""
    [place] = camera.to_screen([own.place])
    named: list[float] = []  # bearings at which there is a word
    for warning in sorted(warnings, key=lambda one: not one.is_seeker):
        words, colour = warning_style(warning, 1 - own.side)
        way = np.array([math.cos(warning.bearing), -math.sin(warning.bearing)])
        ends = [place + length * way for length in STROKE]
        canvas.line(ends, colour, 3 if warning.is_tracking else 1.5)
        if all(abs(math.remainder(warning.bearing - at, math.tau)) > WORD for at in named):
            canvas.text(words, ends[1] + 16 * way, colour, SMALL, "center")
            named.append(warning.bearing)


def warning_style(warning: ReceiverWarning, enemy: int) -> tuple[str, tuple[int, int, int]]:
    """A word for a warning, and its colour; `enemy` is the seat it comes from."""
    if warning.is_seeker:
        return "missile", LOCK
    if warning.is_tracking:
        return f"{SEAT_NAMES[enemy]} tracks", STAR
    return f"{SEAT_NAMES[enemy]} searches", FAINT


def draw_guidance(canvas: Canvas, camera: Camera, missile: Missile) -> None:
    """A ring around a missile whose seeker has a lock; a word where its fighter guides it not."""
    if not missile.flying:
        return
    [place] = camera.to_screen([missile.place])
    if missile.guided == ACTIVE:
        canvas.circle(place, 11, LOCK, 2)
        canvas.text("active", place + BESIDE, LOCK, SMALL)
    elif missile.guided in UNUSUAL:
        canvas.text(UNUSUAL[missile.guided], place + BESIDE, mix(BRIGHT, 0.7), SMALL)

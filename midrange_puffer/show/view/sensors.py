"""Drawings of sensors in the plane view: radar cones, contacts, warnings and missile guidance."""

import math
from collections.abc import Mapping

import numpy as np

from midrange_puffer.game.contacts import LINKED, LIVE, LOST, MEMORY
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.game.paths import ACTIVE, ALONE, RELAYED
from midrange_puffer.show.view.bodies import View
from midrange_puffer.show.view.canvas import (
    BRIGHT,
    FAINT,
    LOCK,
    SIDE_COLOURS,
    SMALL,
    STAR,
    Camera,
    Canvas,
    Colour,
    mix,
)
from midrange_puffer.show.view.moment import Moment
from midrange_puffer.show.view.states import Contact, Fighter, Missile, ReceiverWarning

DIAMOND = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]) * 9
CROSS = np.array([(1, 1), (1, -1)]) * 6
BESIDE = np.array([14, -8])  # px from a symbol to its word
LEFT = np.array([-14, -8])  # px from a missile to its word
COURSE = 20.0  # flight time that the stroke ahead of a contact represents [s]
STROKE = (26, 74)  # px from the own fighter to the two ends of a warning's stroke
# Guidance whose name is written.
UNUSUAL = {ALONE: "no support", ACTIVE: "active", RELAYED: "by a wingman"}
WORD = 0.25  # least angle between strokes with a word [rad]
CIRCLE = np.array([(math.cos(turn), math.sin(turn)) for turn in np.linspace(0, math.tau, 33)])
CLOUD = 5  # px, radius of a cloud of chaff
ARC = np.linspace(-1, 1, 25)  # points of the cone's far end, in half angles


def draw_radar(
    canvas: Canvas, camera: Camera, fighter: Fighter, parameters: Mapping[str, float]
) -> None:
    """Draws a living fighter's radar cone, to its range against an enemy that flies toward it.

    A silent radar has none.
    """
    if not fighter.alive or fighter.silent:
        return
    angles = fighter.heading + ARC * math.radians(parameters["radar_half_angle_deg"])
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    far = fighter.place + parameters["radar_range_nose"] * rays
    outline = camera.to_screen(np.vstack([fighter.place, far, fighter.place]))
    colour = SIDE_COLOURS[fighter.side]
    canvas.wash(outline[None], colour, 0.04)
    canvas.line(outline, mix(colour, 0.25), 1)


def draw_chaff(canvas: Canvas, view: View, fighter: Fighter) -> None:
    """Draws a fighter's cloud of chaff: a small ring of dots."""
    if fighter.cloud is None:
        return
    [place] = view.to_screen([fighter.cloud])
    for way in CIRCLE[:-1:4]:
        canvas.circle(place + CLOUD * way, 1.5, SIDE_COLOURS[fighter.side])


def draw_contact(canvas: Canvas, view: View, contact: Contact, has_words: bool) -> None:
    """Draws the believed enemy: filled on radar, hollow from memory, a cross where lost.

    With noise a circle around it has the radius of its standard deviation.

    Args:
        canvas, view: Where to draw.
        contact: The belief.
        has_words: Write its source and age beside it.
    """
    if not contact.is_known:
        return
    colour = SIDE_COLOURS[contact.side]
    for track in contact.tracks:
        canvas.dashes(view.to_screen(track), mix(colour, 0.6), 1.5)
    [place] = view.to_screen([contact.point])
    if contact.alive:
        level = contact.speed * math.cos(contact.climb)
        course = math.cos(contact.heading) * level, math.sin(contact.heading) * level, contact.rise
        ahead = contact.point + COURSE * np.array(course)
        canvas.line(view.to_screen([contact.point, ahead]), mix(colour, 0.8), 1.5)
        canvas.polygon(place + DIAMOND, colour, 0 if contact.source == LIVE else 2)
        if contact.deviation > 0:
            ring = contact.point + contact.deviation * np.pad(CIRCLE, ((0, 0), (0, 1)))
            canvas.line(view.to_screen(ring), mix(colour, 0.5), 1)
    else:
        for corner in CROSS:
            canvas.line([place - corner, place + corner], colour, 2)
    if has_words:
        canvas.text(contact_words(contact), place + BESIDE, mix(colour, 0.85), SMALL)


def contact_words(contact: Contact) -> str:
    """Returns a contact's source and age in words."""
    if not contact.is_known:
        return "not seen"
    if contact.source == LIVE:
        return "on radar"
    source = {MEMORY: "memory", LINKED: "linked", LOST: "lost"}[contact.source]
    return f"{source} {contact.age:.0f} s"


def draw_warnings(
    canvas: Canvas, camera: Camera, moment: Moment, fighter: int | None = None
) -> None:
    """Draws a stroke toward the source of each warning, around the warned fighter.

    A warning has a bearing but no range. In teams only the warnings of `fighter` have words.
    """
    for own in moment.fighters:
        [place] = camera.to_screen([own.place])
        named: list[float] = []  # bearings that have a word
        warnings = [warning for warning in moment.warnings if warning.fighter == own.number]
        for warning in sorted(warnings, key=lambda warning: not warning.is_seeker):
            words, colour = warning_style(warning, 1 - own.side)
            way = np.array([math.cos(warning.bearing), -math.sin(warning.bearing)])
            ends = [place + length * way for length in STROKE]
            canvas.line(ends, colour, 3 if warning.is_tracking else 1.5)
            if moment.is_team and own.number != fighter:
                continue
            if all(abs(math.remainder(warning.bearing - at, math.tau)) > WORD for at in named):
                canvas.text(words, ends[1] + 16 * way, colour, SMALL, "center")
                named.append(warning.bearing)


def warning_style(warning: ReceiverWarning, enemy: int) -> tuple[str, Colour]:
    """Returns the word and the colour of a warning that comes from the side `enemy`."""
    if warning.is_seeker:
        return "missile", LOCK
    if warning.is_tracking:
        return f"{SEATS[enemy]} tracks", STAR
    return f"{SEATS[enemy]} searches", FAINT


def draw_guidance(canvas: Canvas, camera: Camera, missile: Missile, has_words: bool) -> None:
    """Draws a ring around a missile with a lock; may name guidance other than by its fighter."""
    if not missile.flying:
        return
    [place] = camera.to_screen([missile.place])
    if missile.guided == ACTIVE:
        canvas.circle(place, 11, LOCK, 2)
    if has_words and missile.guided in UNUSUAL:
        colour = LOCK if missile.guided == ACTIVE else mix(BRIGHT, 0.7)
        canvas.text(UNUSUAL[missile.guided], place + LEFT, colour, SMALL, "topright")

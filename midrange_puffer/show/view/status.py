"""What a pilot reads off the instruments: speed, Mach, g, rudder, throttle, missiles."""

import pygame

from midrange_puffer.game.parameters import SEATS as SEAT_NAMES
from midrange_puffer.game.paths import SPEED_OF_SOUND
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.moment import Contact, Fighter, Moment
from midrange_puffer.show.view.sensors import contact_words
from midrange_puffer.show.view.theme import (
    BRIGHT,
    FAINT,
    FLAME,
    LARGE,
    MIDDLE,
    PANEL,
    SEATS,
    SMALL,
    TEXT,
    mix,
)

HEIGHT = 64  # [px]
LEAST_WIDTH = 46  # of an instrument [px]
NARROW = 220  # a panel up to this width has no room for words [px]
CLOCK_WIDTH = 110  # [px]
WIDE = 700  # from this width on there is room for both seats [px]


def draw_status(
    canvas: Canvas, bar: pygame.Rect, moment: Moment, focus: int | None, names: tuple[str, str]
) -> None:
    """Both seats with the clock between them, or in a narrow bar that of `focus` alone."""
    canvas.box(bar, PANEL)
    if focus is not None and bar.width < WIDE:
        clock = pygame.Rect(bar.right - CLOCK_WIDTH, bar.y, CLOCK_WIDTH, bar.height)
        panels = {focus: pygame.Rect(bar.x, bar.y, bar.width - CLOCK_WIDTH, bar.height)}
    else:
        clock = pygame.Rect(0, bar.y, CLOCK_WIDTH, bar.height)
        clock.centerx = bar.centerx
        panels = {
            0: pygame.Rect(bar.x, bar.y, clock.left - bar.x, bar.height),
            1: pygame.Rect(clock.right, bar.y, bar.right - clock.right, bar.height),
        }
    for seat, panel in panels.items():
        words = SEAT_NAMES[seat]
        if panel.width > NARROW and names[seat] != words:  # there is room for who flies it
            words = f"{words}: {names[seat]}"
        draw_panel(canvas, panel, moment, moment.fighters[seat], words)
    minutes, seconds = divmod(int(moment.time), 60)
    canvas.text(f"{minutes}:{seconds:02}", (clock.centerx, bar.y + 9), BRIGHT, LARGE, "midtop")
    distance = moment.range(0, 1)
    words = "– km" if distance is None else f"{distance / 1000:.1f} km"
    canvas.text(words, (clock.centerx, bar.bottom - 10), TEXT, MIDDLE, "midbottom")


def draw_panel(
    canvas: Canvas, panel: pygame.Rect, moment: Moment, one: Fighter | Contact, title: str
) -> None:
    """What is known of a fighter, below its title."""
    if isinstance(one, Contact):
        _draw_contact(canvas, panel, one, title)
    else:
        _draw_fighter(canvas, panel, moment, one, title)


def _draw_fighter(
    canvas: Canvas, panel: pygame.Rect, moment: Moment, fighter: Fighter, title: str
) -> None:
    """Its missiles, and below them its instruments, as many as there is room for."""
    colour = SEATS[fighter.side] if fighter.alive else FAINT
    _draw_title(canvas, panel, title if fighter.alive else f"{title} †", colour)
    _draw_missiles(canvas, panel, moment, fighter, colour)
    instruments = (
        ("m/s", f"{fighter.speed:.0f}"),
        ("Mach", f"{fighter.speed / SPEED_OF_SOUND:.2f}"),
        ("g", f"{abs(fighter.load):.1f}"),
        ("rudder", (-1, -fighter.rudder)),
        ("throttle", (0, fighter.throttle)),
    )
    count = min(len(instruments), (panel.width - 14) // LEAST_WIDTH)
    for index, (label, reading) in enumerate(instruments[:count]):
        place = _draw_label(canvas, panel, label, index, count)
        if isinstance(reading, str):
            shade = BRIGHT if fighter.alive else FAINT
            canvas.text(reading, (place[0], place[1] + 13), shade)
        elif fighter.alive:
            width = (panel.width - 24) // count - 14
            _draw_gauge(canvas, pygame.Rect(place[0], place[1] + 17, width, 6), *reading, colour)


def _draw_contact(canvas: Canvas, panel: pygame.Rect, contact: Contact, title: str) -> None:
    """What the other side knows of this fighter: speed, while there is a track."""
    colour = SEATS[contact.side] if contact.alive else FAINT
    _draw_title(canvas, panel, title, colour)
    words = contact_words(contact)
    canvas.text(words, (panel.right - 14, panel.y + 10), TEXT, SMALL, "topright")
    if not contact.alive:
        return
    readings = {
        "m/s": f"{contact.speed:.0f}",
        "Mach": f"{contact.speed / SPEED_OF_SOUND:.2f}",
    }
    for index, (label, reading) in enumerate(readings.items()):
        x, y = _draw_label(canvas, panel, label, index, 5)
        canvas.text(reading, (x, y + 13), BRIGHT)


def _draw_title(canvas: Canvas, panel: pygame.Rect, words: str, colour: tuple) -> None:
    canvas.box(pygame.Rect(panel.x, panel.y, 4, panel.height), colour)
    canvas.text(words, (panel.x + 14, panel.y + 9), colour)


def _draw_label(
    canvas: Canvas, panel: pygame.Rect, label: str, index: int, count: int
) -> tuple[int, int]:
    """Of an instrument, one of `count`; returns where it stands."""
    place = panel.move(14 + index * (panel.width - 24) // count, 32).topleft
    canvas.text(label, place, FAINT, SMALL)
    return place


def _draw_missiles(
    canvas: Canvas, panel: pygame.Rect, moment: Moment, fighter: Fighter, colour: tuple
) -> None:
    """From the right: a bar for each that is left, brighter ones for those in the air."""
    own = [missile for missile in moment.missiles if missile.path.owner == fighter.path.number]
    flying = sum(missile.flying for missile in own)
    bars = [FLAME] * flying + [colour] * fighter.ammo
    bars += [mix(colour, 0.2, PANEL)] * (len(own) - flying)
    for index, shade in enumerate(reversed(bars)):
        bar = pygame.Rect(panel.right - 22 - 9 * index, panel.y + 9, 5, 13)
        canvas.box(bar, shade, 2)
    if flying and panel.width > NARROW:
        right = panel.right - 26 - 9 * (len(bars) - 1)
        canvas.text(f"{flying} in the air", (right, panel.y + 10), FAINT, SMALL, "topright")


def _draw_gauge(
    canvas: Canvas, gauge: pygame.Rect, low: float, value: float, colour: tuple
) -> None:
    """A bar from zero to a value, of a scale from `low` to 1."""
    canvas.box(gauge, mix(FAINT, 0.35, PANEL), 2)
    zero, end = (gauge.x + (x - low) / (1 - low) * gauge.width for x in (0, value))
    filled = pygame.Rect(round(min(zero, end)), gauge.y, round(abs(end - zero)), gauge.height)
    canvas.box(filled, colour)
    if low < 0:
        canvas.box(pygame.Rect(round(zero), gauge.y - 2, 1, gauge.height + 4), TEXT)

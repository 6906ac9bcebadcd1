"""Boxes over the picture of a fight: the help, warnings, the debriefing and notices."""

from collections.abc import Sequence

import pygame

from midrange_puffer.game.mission_line import Line
from midrange_puffer.game.parameters import SEATS
from midrange_puffer.show.view.canvas import (
    BACKGROUND,
    BOX,
    BRIGHT,
    FAINT,
    HUGE,
    LARGE,
    MIDDLE,
    SAFE,
    SIDE_COLOURS,
    STAR,
    TEXT,
    Canvas,
    Colour,
    text_size,
)

# Red's keys, blue's keys and their meaning.
FLYING = (
    ("A  D", "Left  Right", "rudder"),
    ("W  S", "Up  Down", "throttle: a lever, stays where it is put"),
    ("Space", "Right Ctrl", "launch a missile (also Left Shift; Enter)"),
)
# The same for keys that exist in teams only.
CHOOSING = (
    ("Tab", "Page Down", "fly another fighter (also 1-9, or click it)"),
    ("Q", "Right Shift", "fire at another enemy (also click it)"),
)
KEYS = (
    ("P", "pause"),
    ("R", "again, from the same start"),
    ("N", "from the next start"),
    ("Backspace", "hold: back in time"),
    ("-  =", "slower, faster"),
    ("V", "from above, or space-time graph (drag to turn it)"),
    ("Z", "your view with launch zones, or all that flies"),
    ("E", "the enemy's launch zones, too"),
    ("F", "afterwards: the truth, or what you knew"),  # with sensors
    ("O", "the next harder opponent; after the hardest the easiest"),
    ("F5", "save a replay"),
    ("H  F1", "this help; time stands still"),
    ("Esc", "quit"),
)
FIGHT_AIM = ("Hit the enemy with a missile, and do not be hit.",)
AIM = (
    "Turn your nose to the enemy. Fire when it is inside the line R_NEZ around you: then",
    "no turn saves it. Between R_NEZ and R_aero a missile hits it only if it flies on.",
    "When a missile comes: turn until it is behind you, and run until you outrun it.",
)
TEAM_NOTE = "In teams wingmen fly the others. Gamepad: second button target, third fighter."
NOTES = (
    "Alone, either side of the keyboard will do. Circles on a trail: 20 s apart.",
    "Gamepad: left stick for rudder and throttle, first button to launch.",
)
# The same in fights with height.
HEIGHT_FLYING = (
    *FLYING[:2],
    ("T  G", "Page Up  Down", "climb, dive; hands off is level flight"),
    *FLYING[2:],
    ("X", "End", "another type of missile, of a loadout of several"),
)
HEIGHT_AIM = (
    *AIM[:2],
    "From higher up, and faster, your missiles fly farther. When a missile comes: dive, turn",
    "until it is behind you, and run. It slows in thick air.",
)
HEIGHT_NOTES = (
    NOTES[0],
    "Gamepad: left stick rudder, throttle; right stick climb; first button launch, fourth type.",
)
BEGIN = "Space begins"
BORDER, ROW = 28, 22  # px inside a box, and from one line to the next
COLUMNS = (BORDER, BORDER + 80, BORDER + 190)
WIDTH = 620
FOOT = 60  # px below the debriefing, where the keys are
BELOW_WARNING = 70  # px from the top of a warning to a notice
NOTICE = 44  # px from a view's bar to a warning, and to the outcome


def draw_help(
    surface: pygame.Surface,
    in_team: bool = False,
    has_height: bool = False,
    has_sensors: bool = False,
    systems: Sequence[tuple[str, str, str]] = (),
    line: Line | None = None,
) -> None:
    """Draws the aim and all keys of a game, in the middle of a surface.

    `systems` are the keys of the radar's switch and the chaff: red's, blue's and their meaning.
    `line` is the line of a mission.
    """
    advice, flying, notes = (
        (HEIGHT_AIM, HEIGHT_FLYING, HEIGHT_NOTES) if has_height else (AIM, FLYING, NOTES)
    )
    aim = (*(FIGHT_AIM if line is None else _aim_at_line(line)), *advice)
    if in_team:
        flying, notes = (*flying, *CHOOSING), (*notes, TEAM_NOTE)
    flying = (*flying, *systems)
    keys = [row for row in KEYS if row[0] != "F" or has_sensors]
    rows = len(aim) + len(flying) + len(keys) + len(notes) + 4
    edges = 2 * BORDER + MIDDLE
    step = min(ROW, (surface.get_height() - edges) // rows)
    canvas = _box((WIDTH, edges + step * rows))
    y = BORDER
    for words in aim:
        canvas.text(words, (BORDER, y), BRIGHT)
        y += step
    y += step // 2
    for x, words, colour in zip(COLUMNS, ("red", "blue"), SIDE_COLOURS, strict=False):
        canvas.text(words, (x, y), colour)
    for group in (flying, [(key, "", meaning) for key, meaning in keys]):
        for row in group:
            y += step
            for x, text, colour in zip(COLUMNS, row, (BRIGHT, BRIGHT, TEXT), strict=True):
                canvas.text(text, (x, y), colour)
        y += step // 2
    for note in notes:
        y += step
        canvas.text(note, (BORDER, y), FAINT)
    canvas.text(BEGIN, (WIDTH / 2, canvas.size[1] - BORDER), SAFE, LARGE, "midbottom")
    _lay(canvas, surface, surface.get_rect().center)


def _aim_at_line(line: Line) -> tuple[str, str]:
    """Returns the aims of both sides in a mission."""
    attacker, defender = SEATS[line.attacker], SEATS[1 - line.attacker]
    if line.transport is None:
        crosses, dead = "one of its fighters", "all attackers are shot down"
    else:
        crosses, dead = "its transport, which has a ring,", "the transport is shot down"
    return (
        f"{attacker.capitalize()} attacks: it wins when {crosses} crosses the dashed line.",
        f"{defender.capitalize()} wins when {dead}, or when the time is up.",
    )


def draw_notice(surface: pygame.Surface, words: str, bar: int) -> None:
    """Writes large words at the top, below a bar of height `bar` [px]."""
    width, height = text_size(words, HUGE)
    canvas = _box((width + 36, height + 20))
    canvas.text(words, (canvas.size[0] / 2, canvas.size[1] / 2), BRIGHT, HUGE, "center")
    _lay(canvas, surface, (surface.get_width() // 2, bar + NOTICE + BELOW_WARNING))


def draw_warning(
    surface: pygame.Surface, rect: pygame.Rect, bar: int, words: str, advice: str
) -> None:
    """Draws a missile warning below the bar of a view; in a muted colour if there is no advice."""
    colour = STAR if advice else SAFE
    size = (max(text_size(words, LARGE)[0], text_size(advice, MIDDLE)[0]) + 36, 62)
    canvas = _box((size[0], size[1] if advice else 40), colour)
    canvas.text(words, (size[0] / 2, 20), colour, LARGE, "center")
    if advice:
        canvas.text(advice, (size[0] / 2, 46), BRIGHT, MIDDLE, "center")
    _lay(canvas, surface, (rect.centerx, rect.top + bar + NOTICE))


def draw_debrief(surface: pygame.Surface, rect: pygame.Rect, lines: Sequence[str]) -> None:
    """Draws the lines of a debriefing at the bottom of a view."""
    width = min(max(text_size(line)[0] for line in lines) + 2 * BORDER, rect.width)
    canvas = _box((width, 2 * (BORDER // 2) + ROW * len(lines)))
    for place, line in enumerate(lines):
        canvas.text(line, (BORDER, BORDER // 2 + ROW * place), BRIGHT if place == 0 else TEXT)
    _lay(canvas, surface, (rect.centerx, rect.bottom - FOOT - canvas.size[1] // 2))


def _box(size: tuple[int, int], border: Colour = FAINT) -> Canvas:
    """Returns an empty canvas with a border."""
    canvas = Canvas(size)
    canvas.clear(BACKGROUND)
    canvas.box(pygame.Rect((0, 0), size), border)
    canvas.box(pygame.Rect((0, 0), size).inflate(-2, -2), BOX)
    return canvas


def _lay(canvas: Canvas, surface: pygame.Surface, centre: tuple[int, int]) -> None:
    """Draws a box onto a surface, cut off at the surface's edges."""
    box = pygame.Surface(canvas.size, 0, surface)
    canvas.show(box)
    surface.blit(box, box.get_rect(center=centre))

"""What is laid over the picture of a fight: the help, and notices."""

import pygame

from midrange_puffer.show.view.canvas import Canvas, text_size
from midrange_puffer.show.view.theme import (
    BACKGROUND,
    BRIGHT,
    FAINT,
    HUGE,
    MIDDLE,
    PANEL,
    SEATS,
    TEXT,
)

# Red's keys, blue's, and what they do.
FLYING = (
    ("A  D", "Left  Right", "rudder"),
    ("W  S", "Up  Down", "throttle: a lever, stays where it is put"),
    ("Space", "Right Ctrl", "launch a missile (also Left Shift; Enter)"),
)
KEYS = (
    ("P", "pause"),
    ("R", "again, from the same start"),
    ("N", "from the next start"),
    ("Backspace", "hold: back in time"),
    ("-  =", "slower, faster"),
    ("V", "from above, or space-time graph (drag to turn it)"),
    ("Z", "own view, or everything in view"),
    ("F5", "save a replay"),
    ("H  F1", "this help"),
    ("Esc", "quit"),
)
NOTES = (
    "Alone, either side of the keyboard will do.",
    "Gamepad: left stick for rudder and throttle, first button to launch.",
    "Circles on a trail: 20 s apart.",
    "Launch zones: from where a missile fired now hits, were the enemy there, on",
    "its present course and speed: R_aero, if it flies on; R_NEZ, against every",
    "declared evasion.",
)
BORDER, ROW = 28, 22  # px: inside a panel, and from one line to the next
COLUMNS = (BORDER, BORDER + 80, BORDER + 190)
WIDTH = 520
NOTICE = 108  # px, from above to a notice: where the outcome is shown, too


def draw_help(surface: pygame.Surface) -> None:
    """All keys, in the middle."""
    rows = len(FLYING) + len(KEYS) + len(NOTES) + 1
    canvas = _panel((WIDTH, 2 * BORDER + ROW * rows + MIDDLE))
    y = BORDER
    for x, words, colour in zip(COLUMNS, ("red", "blue"), SEATS, strict=False):
        canvas.text(words, (x, y), colour)
    for words in FLYING:
        y += ROW
        _write_row(canvas, y, words)
    y += ROW // 2
    for keys, meaning in KEYS:
        y += ROW
        _write_row(canvas, y, (keys, "", meaning))
    y += ROW // 2
    for note in NOTES:
        y += ROW
        canvas.text(note, (BORDER, y), FAINT)
    _lay(canvas, surface, surface.get_rect().center)


def draw_notice(surface: pygame.Surface, words: str) -> None:
    """Large words at the top."""
    width, height = text_size(words, HUGE)
    canvas = _panel((width + 36, height + 20))
    canvas.text(words, (canvas.size[0] / 2, canvas.size[1] / 2), BRIGHT, HUGE, "center")
    _lay(canvas, surface, (surface.get_width() // 2, NOTICE))


def _write_row(canvas: Canvas, y: int, words: tuple[str, str, str]) -> None:
    for x, text, colour in zip(COLUMNS, words, (BRIGHT, BRIGHT, TEXT), strict=True):
        canvas.text(text, (x, y), colour)


def _panel(size: tuple[int, int]) -> Canvas:
    """Something to write on, with a border."""
    canvas = Canvas(size)
    canvas.clear(BACKGROUND)
    canvas.box(pygame.Rect((0, 0), size), FAINT)
    canvas.box(pygame.Rect((0, 0), size).inflate(-2, -2), PANEL)
    return canvas


def _lay(canvas: Canvas, surface: pygame.Surface, centre: tuple[int, int]) -> None:
    """Show a panel on a surface, or of it what has room there."""
    panel = pygame.Surface(canvas.size, 0, surface)
    canvas.show(panel)
    surface.blit(panel, panel.get_rect(center=centre))

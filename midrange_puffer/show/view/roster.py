"""What a side has left, in teams: a line for each fighter, and the clock between the sides."""

from collections.abc import Sequence

import pygame

from midrange_puffer.game.parameters import SEATS as SEAT_NAMES
from midrange_puffer.show.view import status
from midrange_puffer.show.view.canvas import Canvas, text_size
from midrange_puffer.show.view.moment import Contact, Fighter, Focus, Moment
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
    STAR,
    TEXT,
    mix,
)

HEAD, ROW, FOOT = 28, 17, 6  # px, above the lines, of each, and below them
MOST = 0.4  # share of a view's height that the lines may take; else there are the sums alone
SIDE = 0.31  # of the width that a side's lines take, where the clock is between them
BARS, BAR_STEP = 64, 6  # px, where in a line the missiles are, and from one to the next


def roster_height(view: pygame.Rect, sizes: Sequence[int], has_focus: bool) -> int:
    """What the bar above a view takes [px]."""
    lines = HEAD + ROW * max(sizes) + FOOT
    if view.width < status.WIDE:
        lines += status.HEIGHT - HEAD if has_focus else 0
    elif has_focus:
        lines = max(lines, HEAD + status.HEIGHT)
    return lines if lines <= MOST * view.height else status.HEIGHT


def draw_roster(
    canvas: Canvas,
    bar: pygame.Rect,
    moment: Moment,
    focus: Focus | None,
    names: Sequence[str],
    callsigns: Sequence[str],
) -> list[tuple[pygame.Rect, int]]:
    """Fill the bar above a view of teams.

    Args:
        bar: As high as of `roster_height`.
        names: Who flies red and blue.
        callsigns: Of the fighters, by number.

    Returns:
        Where the line of each fighter is, and its number; where there are none, nothing.
    """
    canvas.box(bar, PANEL)
    own = None if focus is None else moment.fighters[focus.fighter]
    if bar.height <= status.HEIGHT:
        _draw_sums(canvas, bar, moment, own, names, callsigns)
        return []
    top = bar.copy()
    if bar.width >= status.WIDE:
        width = round(SIDE * bar.width)
        centre = bar.inflate(-2 * width, 0)
        columns = [pygame.Rect(x, bar.y, width, bar.height) for x in (bar.x, centre.right)]
        top.update(centre.x, bar.y, centre.width, HEAD)
        panel = pygame.Rect(centre.x, top.bottom, centre.width, status.HEIGHT)
    else:
        top.height = HEAD if own is None else status.HEIGHT
        below = pygame.Rect(bar.x, top.bottom - HEAD, bar.width, bar.height - top.height + HEAD)
        half = bar.width // 2
        columns = [pygame.Rect(bar.x + x, below.y, half, below.height) for x in (0, half)]
        panel = pygame.Rect(bar.x, bar.y, bar.width - status.CLOCK_WIDTH, status.HEIGHT)
    if own is not None:
        status.draw_panel(canvas, panel, moment, own, callsigns[own.number])
    _draw_clock(canvas, top, moment, focus, in_words=bar.width >= status.WIDE)
    rows = []
    for side, column in enumerate(columns):
        if bar.width >= status.WIDE:
            _draw_head(canvas, column, moment, side, names[side])
        fighters = [one for one in moment.fighters if one.side == side]
        for place, one in enumerate(fighters):
            row = pygame.Rect(column.x, column.y + HEAD + ROW * place, column.width, ROW)
            _draw_row(canvas, row, moment, one, focus, callsigns[one.number])
            rows.append((row, one.number))
    return rows


def _draw_clock(
    canvas: Canvas, top: pygame.Rect, moment: Moment, focus: Focus | None, in_words: bool
) -> None:
    """The time, how many live, and how far the foe is."""
    minutes, seconds = divmod(int(moment.time), 60)
    score = " : ".join(str(_left(moment, side)) for side in (0, 1))
    words = [f"{minutes}:{seconds:02}", score]
    distance = None if focus is None else moment.range(focus.fighter, focus.foe)
    if distance is not None and in_words:
        words.append(f"{distance / 1000:.1f} km")
    if in_words or focus is None:
        canvas.text("     ".join(words), top.center, BRIGHT, LARGE, "center")
        return
    middle = top.right - status.CLOCK_WIDTH // 2
    canvas.text(words[0], (middle, top.y + 9), BRIGHT, LARGE, "midtop")
    canvas.text(score, (middle, top.bottom - 10), TEXT, MIDDLE, "midbottom")


def _draw_head(canvas: Canvas, column: pygame.Rect, moment: Moment, side: int, name: str) -> None:
    """Who flies a side."""
    canvas.box(pygame.Rect(column.x, column.y, 4, column.height), SEATS[side])
    words = SEAT_NAMES[side] if name == SEAT_NAMES[side] else f"{SEAT_NAMES[side]}: {name}"
    while text_size(words)[0] > column.width - 20:
        words = f"{words[:-2]}…"
    canvas.text(words, (column.x + 14, column.y + 8), SEATS[side])


def _draw_row(
    canvas: Canvas,
    row: pygame.Rect,
    moment: Moment,
    one: Fighter | Contact,
    focus: Focus | None,
    callsign: str,
) -> None:
    """Its name, its missiles, and how many fly at it; of the dead when they were shot down."""
    if focus is not None and one.number == focus.fighter:
        canvas.box(row.inflate(-16, 0), mix(BRIGHT, 0.14, PANEL), 3)
    if focus is not None and one.number == focus.target and one.alive:
        canvas.box(pygame.Rect(row.x + 9, row.y + 5, 3, 8), STAR)
    colour = SEATS[one.side] if one.alive else FAINT
    canvas.text(callsign, (row.x + 16, row.centery), colour, SMALL, "midleft")
    after = row.x + BARS + 9 * BAR_STEP, row.centery
    if isinstance(one, Contact):
        canvas.text(contact_words(one), (row.x + BARS, row.centery), TEXT, SMALL, "midleft")
    elif not one.alive:
        minutes, seconds = divmod(int(one.path.died), 60)
        words = f"† {minutes}:{seconds:02}"
        canvas.text(words, (row.x + BARS, row.centery), FAINT, SMALL, "midleft")
    else:
        flying = sum(each.flying and each.path.owner == one.number for each in moment.missiles)
        for index in range(one.ammo + flying):
            shade = colour if index < one.ammo else FLAME
            bar = pygame.Rect(row.x + BARS + BAR_STEP * index, row.y + 3, BAR_STEP - 2, ROW - 6)
            canvas.box(bar, shade, 1)
    if one.alive and (count := len(moment.inbound(one.number))):
        canvas.text(f"{count} inbound", after, STAR, SMALL, "midleft")


def _draw_sums(
    canvas: Canvas,
    bar: pygame.Rect,
    moment: Moment,
    own: Fighter | Contact | None,
    names: Sequence[str],
    callsigns: Sequence[str],
) -> None:
    """Where there is no room for lines: who is left of both sides, or how the own fighter is."""
    clock = pygame.Rect(bar.right - status.CLOCK_WIDTH, bar.y, status.CLOCK_WIDTH, bar.height)
    if own is not None:
        panel = pygame.Rect(bar.x, bar.y, clock.left - bar.x, bar.height)
        status.draw_panel(canvas, panel, moment, own, callsigns[own.number])
    else:
        clock.centerx = bar.centerx
        for side, x in enumerate((bar.x, clock.right)):
            half = pygame.Rect(x, bar.y, clock.left - bar.x, bar.height)
            _draw_head(canvas, half, moment, side, names[side])
            missiles = sum(
                one.ammo
                for one in moment.fighters
                if isinstance(one, Fighter) and one.alive and one.side == side
            )
            words = f"{_left(moment, side)} left, {missiles} missiles"
            canvas.text(words, (half.x + 14, half.bottom - 12), TEXT, SMALL, "bottomleft")
    minutes, seconds = divmod(int(moment.time), 60)
    canvas.text(f"{minutes}:{seconds:02}", (clock.centerx, bar.y + 9), BRIGHT, LARGE, "midtop")
    score = " : ".join(str(_left(moment, side)) for side in (0, 1))
    canvas.text(score, (clock.centerx, bar.bottom - 10), TEXT, MIDDLE, "midbottom")


def _left(moment: Moment, side: int) -> int:
    return sum(one.alive for one in moment.fighters if one.side == side)

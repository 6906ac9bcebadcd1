"""The bar above a view: instruments of the fighters, the time, in teams a line for each fighter."""

from collections.abc import Sequence

import pygame

from midrange_puffer.game.parameters import SEATS
from midrange_puffer.show.view.canvas import (
    BOX,
    BRIGHT,
    FAINT,
    FLAME,
    LARGE,
    MIDDLE,
    SIDE_COLOURS,
    SMALL,
    STAR,
    TEXT,
    Canvas,
    Colour,
    mix,
    text_size,
)
from midrange_puffer.show.view.marks import Spot
from midrange_puffer.show.view.moment import Focus, Moment
from midrange_puffer.show.view.sensors import contact_words
from midrange_puffer.show.view.states import Contact, Fighter, minutes, signed

HEIGHT = 64  # height of the bar in one against one, and of instruments [px]
LEAST_WIDTH = 46  # least width of an instrument [px]
NARROW = 220  # greatest width of an area of instruments without a name [px]
TIME_WIDTH = 110  # width of the time's column [px]
WIDE = 700  # least width of a bar with room for both sides [px]
HEAD, ROW, FOOT = 28, 17, 6  # above the lines of a team, of each line, and below them [px]
MOST = 0.4  # greatest share of a view's height that the lines may take; else sums are shown
SIDE_SHARE = 0.31  # width of a side's lines, as a share of a wide bar's width
BARS, BAR_STEP = 64, 6  # left end of a line's missile bars, and their distance [px]
INBOUND = BARS + 9 * BAR_STEP  # left end of a line's missiles inbound [px]


def bar_height(view: pygame.Rect, sizes: Sequence[int], has_focus: bool) -> int:
    """Returns the height of the bar above a view of two sides of these sizes [px]."""
    if max(sizes) == 1:
        return HEIGHT
    height = HEAD + ROW * max(sizes) + FOOT
    if view.width < WIDE:
        height += HEIGHT - HEAD if has_focus else 0
    elif has_focus:
        height = max(height, HEAD + HEIGHT)
    return height if height <= MOST * view.height else HEIGHT


def draw_pair_bar(
    canvas: Canvas,
    bar: pygame.Rect,
    moment: Moment,
    focus: Focus | None,
    names: Sequence[str],
    doings: Sequence[str],
) -> None:
    """Draws the bar of one against one: both fighters, or only that of `focus` if it is narrow.

    Args:
        canvas, bar: Where to draw.
        moment: The engagement.
        focus: The fighter that the view follows.
        names: Names of the contestants that fly red and blue.
        doings: What each fighter does, in words.
    """
    canvas.box(bar, BOX)
    time = pygame.Rect(bar.right - TIME_WIDTH, bar.y, TIME_WIDTH, bar.height)
    if focus is not None and bar.width < WIDE:
        areas = {focus.fighter: pygame.Rect(bar.x, bar.y, bar.width - TIME_WIDTH, bar.height)}
    else:
        time.centerx = bar.centerx
        areas = {
            0: pygame.Rect(bar.x, bar.y, time.left - bar.x, bar.height),
            1: pygame.Rect(time.right, bar.y, bar.right - time.right, bar.height),
        }
    for seat, area in areas.items():
        words = SEATS[seat]
        if area.width > NARROW and names[seat] != words:
            words = f"{words}: {names[seat]}"
        kind = focus.kind if focus is not None and focus.fighter == seat else None
        _draw_instruments(canvas, area, moment, moment.fighters[seat], words, doings[seat], kind)
    distance = moment.range(0, 1)
    words = "– km" if distance is None else f"{distance / 1000:.1f} km"
    _draw_time(canvas, time.centerx, bar, moment, words)


def draw_team_bar(
    canvas: Canvas,
    bar: pygame.Rect,
    moment: Moment,
    focus: Focus | None,
    names: Sequence[str],
    callsigns: Sequence[str],
    doings: Sequence[str],
) -> list[Spot]:
    """Fills the bar of teams.

    Args:
        canvas, bar: Where to draw; as high as `bar_height` says.
        moment: The engagement.
        focus: The fighter that the view follows.
        names: Names of the contestants that fly red and blue.
        callsigns: Names of the fighters, by number.
        doings: What each fighter does, in words.

    Returns:
        The line of each fighter and its number; nothing where there are no lines.
    """
    canvas.box(bar, BOX)
    own = None if focus is None else moment.fighters[focus.fighter]
    if bar.height <= HEIGHT:
        _draw_sums(canvas, bar, moment, own, names, callsigns, doings)
        return []
    is_wide = bar.width >= WIDE
    top, area, columns = _divide(bar, is_wide, own is not None)
    if own is not None:
        title, words = callsigns[own.number], doings[own.number]
        _draw_instruments(canvas, area, moment, own, title, words)
    if own is not None and not is_wide:
        _draw_time(canvas, top.right - TIME_WIDTH // 2, top, moment, _score(moment))
    else:
        words = [minutes(moment.time), _score(moment)]
        distance = None if focus is None else moment.range(focus.fighter, focus.foe)
        if distance is not None:
            words.append(f"{distance / 1000:.1f} km")
        canvas.text("     ".join(words), top.center, BRIGHT, LARGE, "center")
    spots = []
    for side, column in enumerate(columns):
        if is_wide:
            _draw_side_name(canvas, column, side, names[side])
        fighters = [body for body in moment.fighters if body.side == side]
        for place, body in enumerate(fighters):
            line = pygame.Rect(column.x, column.y + HEAD + ROW * place, column.width, ROW)
            right = _draw_line(canvas, line, moment, body, focus, callsigns[body.number])
            _draw_doing(canvas, right, line.right - 8, line.centery, doings[body.number])
            spots.append((line, body.number))
    return spots


def _divide(
    bar: pygame.Rect, is_wide: bool, has_focus: bool
) -> tuple[pygame.Rect, pygame.Rect, list[pygame.Rect]]:
    """Returns the parts of a team bar: the head, the instruments, and the sides' columns."""
    if is_wide:
        width = round(SIDE_SHARE * bar.width)
        centre = bar.inflate(-2 * width, 0)
        columns = [pygame.Rect(x, bar.y, width, bar.height) for x in (bar.x, centre.right)]
        top = pygame.Rect(centre.x, bar.y, centre.width, HEAD)
        area = pygame.Rect(centre.x, top.bottom, centre.width, HEIGHT)
    else:
        top = pygame.Rect(bar.x, bar.y, bar.width, HEIGHT if has_focus else HEAD)
        below = pygame.Rect(bar.x, top.bottom - HEAD, bar.width, bar.height - top.height + HEAD)
        half = bar.width // 2
        columns = [pygame.Rect(bar.x + x, below.y, half, below.height) for x in (0, half)]
        area = pygame.Rect(bar.x, bar.y, bar.width - TIME_WIDTH, HEIGHT)
    return top, area, columns


def _draw_sums(
    canvas: Canvas,
    bar: pygame.Rect,
    moment: Moment,
    own: Fighter | Contact | None,
    names: Sequence[str],
    callsigns: Sequence[str],
    doings: Sequence[str],
) -> None:
    """Draws the sums of both sides or the own fighter's instruments, if lines have no room."""
    time = pygame.Rect(bar.right - TIME_WIDTH, bar.y, TIME_WIDTH, bar.height)
    if own is not None:
        area = pygame.Rect(bar.x, bar.y, time.left - bar.x, bar.height)
        title, words = callsigns[own.number], doings[own.number]
        _draw_instruments(canvas, area, moment, own, title, words)
    else:
        time.centerx = bar.centerx
        for side, x in enumerate((bar.x, time.right)):
            half = pygame.Rect(x, bar.y, time.left - bar.x, bar.height)
            _draw_side_name(canvas, half, side, names[side])
            missiles = sum(
                body.ammo
                for body in moment.fighters
                if isinstance(body, Fighter) and body.alive and body.side == side
            )
            words = f"{_living(moment, side)} left, {missiles} missiles"
            canvas.text(words, (half.x + 14, half.bottom - 12), TEXT, SMALL, "bottomleft")
    _draw_time(canvas, time.centerx, bar, moment, _score(moment))


def _draw_time(canvas: Canvas, middle: int, bar: pygame.Rect, moment: Moment, words: str) -> None:
    """Writes the time, and other words below it."""
    canvas.text(minutes(moment.time), (middle, bar.y + 9), BRIGHT, LARGE, "midtop")
    canvas.text(words, (middle, bar.bottom - 10), TEXT, MIDDLE, "midbottom")


def _living(moment: Moment, side: int) -> int:
    return sum(body.alive for body in moment.fighters if body.side == side)


def _score(moment: Moment) -> str:
    """Returns the numbers of both sides' living in words; of contacts those with a track."""
    counts = [str(_living(moment, side)) for side in range(2)]
    for side in {body.side for body in moment.fighters if isinstance(body, Contact)}:
        counts[side] += " tracked"
    return " : ".join(counts)


def _draw_side_name(canvas: Canvas, column: pygame.Rect, side: int, name: str) -> None:
    """Writes a side and the name of its contestant, cut to the column's width."""
    words = SEATS[side] if name == SEATS[side] else f"{SEATS[side]}: {name}"
    while text_size(words)[0] > column.width - 20:
        words = f"{words[:-2]}…"
    _draw_title(canvas, column, words, SIDE_COLOURS[side], 8)


def _draw_line(
    canvas: Canvas,
    line: pygame.Rect,
    moment: Moment,
    body: Fighter | Contact,
    focus: Focus | None,
    callsign: str,
) -> int:
    """Draws a fighter's line: its name, its missiles or its death, and the missiles inbound.

    Returns:
        The left end of the room behind them [px], in all lines the same.
    """
    if focus is not None and body.number == focus.fighter:
        canvas.box(line.inflate(-16, 0), mix(BRIGHT, 0.14, BOX), 3)
    if focus is not None and body.number == focus.target and body.alive:
        canvas.box(pygame.Rect(line.x + 9, line.y + 5, 3, 8), STAR)
    colour = SIDE_COLOURS[body.side] if body.alive else FAINT
    canvas.text(callsign, (line.x + 16, line.centery), colour, SMALL, "midleft")
    place, inbound = (line.x + BARS, line.centery), line.x + INBOUND
    if isinstance(body, Contact):
        room = canvas.text(contact_words(body), place, TEXT, SMALL, "midleft")
        inbound = max(inbound, room.right + 8)
    elif not body.alive:
        canvas.text(f"† {minutes(body.path.died or 0.0)}", place, FAINT, SMALL, "midleft")
    else:
        flying = sum(m.flying and m.path.owner == body.number for m in moment.missiles)
        for index in range(body.ammo + flying):
            shade = colour if index < body.ammo else FLAME
            bar = pygame.Rect(line.x + BARS + BAR_STEP * index, line.y + 3, BAR_STEP - 2, ROW - 6)
            canvas.box(bar, shade, 1)
    if body.alive and (count := len(moment.inbound(body.number))):
        canvas.text(f"{count} inbound", (inbound, line.centery), STAR, SMALL, "midleft")
    return line.x + INBOUND + text_size("9 inbound", SMALL)[0]


def _draw_instruments(
    canvas: Canvas,
    area: pygame.Rect,
    moment: Moment,
    body: Fighter | Contact,
    title: str,
    doing: str,
    kind: int | None = None,
) -> None:
    """Draws a fighter's missiles and instruments below its title, as many as fit.

    `doing`, what it does, follows the title.

    A contact has only speed, Mach number, height and climb, and these only while there is a track.
    `kind` is the type of its next shot.
    """
    colour = SIDE_COLOURS[body.side] if body.alive else FAINT
    readings: dict[str, str | tuple[float, float]]
    readings = {"m/s": f"{body.speed:.0f}", "Mach": f"{body.mach:.2f}"}
    if moment.has_height:
        readings |= {"km high": f"{body.z / 1000:.1f}", "m/s up": signed(body.rise)}
    if isinstance(body, Contact):
        _draw_title(canvas, area, title, colour)
        words = contact_words(body)
        canvas.text(words, (area.right - 14, area.y + 10), TEXT, SMALL, "topright")
        count, columns = len(readings) if body.alive else 0, 5
    else:
        right = _draw_title(canvas, area, title if body.alive else f"{title} †", colour)
        left = _draw_missiles(canvas, area, moment, body, colour)
        if body.missile_types and area.width > NARROW:
            left = _draw_types(canvas, (left - 14, area.y + 10), body, kind)
        _draw_doing(canvas, right, left - 14, area.y + 17, doing)
        readings |= {
            "g": f"{abs(body.load):.1f}",
            "rudder": (-1, -body.rudder),
            "throttle": (0, body.throttle),
        }
        count = columns = min(len(readings), (area.width - 14) // LEAST_WIDTH)
    for index, (label, reading) in enumerate([*readings.items()][:count]):
        x, y = area.move(14 + index * (area.width - 24) // columns, 32).topleft
        canvas.text(label, (x, y), FAINT, SMALL)
        if isinstance(reading, str):
            canvas.text(reading, (x, y + 13), BRIGHT if body.alive else FAINT)
        elif body.alive:
            width = (area.width - 24) // columns - 14
            _draw_gauge(canvas, pygame.Rect(x, y + 17, width, 6), *reading, colour)


def _draw_doing(canvas: Canvas, left: int, right: int, middle: int, words: str) -> None:
    """Writes what a fighter does between two places, if need be without whom it supports."""
    if not words:
        return
    for text in (words, words.partition(",")[0]):
        if left + 10 + text_size(text, SMALL)[0] <= right:
            canvas.text(text, (left + 10, middle), TEXT, SMALL, "midleft")
            return


def _draw_title(
    canvas: Canvas, area: pygame.Rect, words: str, colour: Colour, above: int = 9
) -> int:
    """Draws a stroke at the left of an area, and words beside it, `above` pixels below its top.

    Returns:
        The right end of the words [px].
    """
    canvas.box(pygame.Rect(area.x, area.y, 4, area.height), colour)
    return canvas.text(words, (area.x + 14, area.y + above), colour).right


def _draw_missiles(
    canvas: Canvas, area: pygame.Rect, moment: Moment, fighter: Fighter, colour: Colour
) -> int:
    """Draws bars from the right: one per missile left, brighter ones for those in the air.

    Returns:
        The left end of what is drawn [px].
    """
    own = [missile for missile in moment.missiles if missile.path.owner == fighter.number]
    flying = sum(missile.flying for missile in own)
    bars = [FLAME] * flying + [colour] * fighter.ammo
    bars += [mix(colour, 0.2, BOX)] * (len(own) - flying)
    left = area.right - 22 - 9 * (len(bars) - 1)
    for index, shade in enumerate(bars):
        canvas.box(pygame.Rect(left + 9 * index, area.y + 9, 5, 13), shade, 2)
    if flying and area.width > NARROW:
        words = f"{flying} in the air"
        return canvas.text(words, (left - 4, area.y + 10), FAINT, SMALL, "topright").left
    return left


def _draw_types(canvas: Canvas, place: tuple[int, int], fighter: Fighter, kind: int | None) -> int:
    """Writes the names of a fighter's types to the left of a place, the aircraft's first.

    Of a loadout it writes how many are left of each type, brightly that of its next shot.

    Returns:
        The left end of what is drawn [px].
    """
    x, y = place
    pairs = [*zip(fighter.missile_types, fighter.missiles_left, strict=False)]
    words = [f"{left} {name}" if len(pairs) > 1 else name for name, left in pairs]
    for number, text in reversed([*enumerate(words)]):
        colour = BRIGHT if len(pairs) > 1 and number == kind else FAINT
        x = canvas.text(text, (x, y), colour, SMALL, "topright").left - 10
    return canvas.text(f"{fighter.aircraft}:", (x, y), FAINT, SMALL, "topright").left


def _draw_gauge(
    canvas: Canvas, gauge: pygame.Rect, low: float, value: float, colour: Colour
) -> None:
    """Draws a bar from zero to a value, on a scale from `low` to 1."""
    canvas.box(gauge, mix(FAINT, 0.35, BOX), 2)
    zero, end = (gauge.x + (x - low) / (1 - low) * gauge.width for x in (0, value))
    filled = pygame.Rect(round(min(zero, end)), gauge.y, round(abs(end - zero)), gauge.height)
    canvas.box(filled, colour)
    if low < 0:
        canvas.box(pygame.Rect(round(zero), gauge.y - 2, 1, gauge.height + 4), TEXT)

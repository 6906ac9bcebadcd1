"""Names that come from outside: from files, players, runs, or values in error messages.

They may contain anything: escape sequences, line breaks, characters that reverse the direction of
text, markup of the program that shows them, or a path that leads out of its folder.
"""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST = 5000  # most characters that `shown` returns: more than a path has
LONGEST_PART = 255  # most bytes of one part of a path, on usual file systems


def shown(name: object) -> str:
    r"""Returns a name as one line for a terminal, a window or a page.

    Characters that are not printable, such as escape or a line break, are written as in Python:
    \x1b, \n. For rich, which would interpret markup, callers wrap the name in a `Text`; for
    matplotlib they use `label`.
    """
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 :]}"
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def label(name: object) -> str:
    """Returns a name for matplotlib, which would read text between two $ as a formula."""
    return shown(name).replace("$", r"\$")


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Returns the end of an error message with the nearest allowed name; "" if none is similar."""
    near = difflib.get_close_matches(name, list(allowed), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def limits(minimum: float, maximum: float, unit: str) -> str:
    """Returns an allowed range, such as "from 0 to 100 m/s"; the unit "1" is not shown."""
    return f"from {minimum:g} to {maximum:g}{'' if unit == '1' else f' {unit}'}"


def versus(names: Sequence[str], sizes: tuple[int, int] = (1, 1)) -> str:
    """Returns names as "ann (red) against bob (blue)"; in teams as "ann (4 red) against …"."""
    counts = ("", "") if max(sizes) == 1 else tuple(f"{size} " for size in sizes)
    return f"{names[0]} ({counts[0]}red) against {names[1]} ({counts[1]}blue)"


def inside(folder: Path, name: str) -> Path:
    """Returns the path that a file states as `name`, relative to its folder.

    Raises:
        ValueError: The name is absolute, empty or too long; or it leads out of the folder by '..',
            by a link, or by a backslash on systems where that separates folders.
    """
    quoted, parts = shown(repr(name)), name.split("/")
    if "\0" in name or "\\" in name or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{quoted}: must be a path within the folder, without '..'")
    if any(len(part.encode(errors="replace")) > LONGEST_PART for part in parts):
        raise ValueError(f"{quoted}: must have no name of more than {LONGEST_PART} bytes")
    path = folder / name
    try:
        leads_out = not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle
        leads_out = True
    if leads_out:
        raise ValueError(f"{quoted}: must be within the folder, and a link leads out")
    return path

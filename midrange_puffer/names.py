"""Names from outside: what a file, a player, a run or an error's value is called by others.

They may hold anything: escape sequences, line breaks, characters that turn the direction of what
follows, markup of whatever shows them, or a path that leads elsewhere.
"""

from collections.abc import Sequence
from pathlib import Path

LONGEST = 5000  # characters that are shown: more than a path can have
LONGEST_PART = 255  # bytes of one part of a path, on all file systems in use


def shown(name: object) -> str:
    r"""A name as one line for a terminal, a window or a page.

    What is not printable, as the escape character or a line break, is written as in Python: \x1b,
    \n. For rich, whose texts may hold markup, it goes into a `Text`; for matplotlib see `label`.
    """
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 :]}"
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def label(name: object) -> str:
    """A name as matplotlib shows it: what is between two $ would be taken for a formula."""
    return shown(name).replace("$", r"\$")


def versus(names: Sequence[str], sizes: tuple[int, int] = (1, 1)) -> str:
    """Who flies against whom: "ann (red) against bob (blue)"; in teams "ann (4 red) against …"."""
    counts = ("", "") if max(sizes) == 1 else tuple(f"{size} " for size in sizes)
    return f"{names[0]} ({counts[0]}red) against {names[1]} ({counts[1]}blue)"


def inside(folder: Path, name: str) -> Path:
    """The path of what a file calls `name`, relative to its folder.

    Raises:
        ValueError: It is absolute, empty or too long, or it leads out of the folder: by '..', by a
            link, or by a backslash where that divides folders.
    """
    told, parts = shown(repr(name)), name.split("/")
    if "\0" in name or "\\" in name or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{told}: must be a path within the folder, without '..'")
    if any(len(part.encode(errors="replace")) > LONGEST_PART for part in parts):
        raise ValueError(f"{told}: must have no name of more than {LONGEST_PART} bytes")
    path = folder / name
    try:
        leads_out = not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a circle of links
        leads_out = True
    if leads_out:
        raise ValueError(f"{told}: must be within the folder, and a link leads out")
    return path

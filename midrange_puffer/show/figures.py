"""Shared parts of all figures: colours, set-up and saving."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.files import check_writable, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#c8372d", "#2463b0")  # colours of red and blue
FORMATS = (".png", ".svg", ".pdf")


def check_picture(path: str) -> None:
    """Raises ValueError if no picture can be written to `path`: wrong suffix, or no such folder."""
    if Path(path).suffix not in FORMATS:
        raise ValueError(f"must end in {', '.join(FORMATS)}")
    check_writable(path)


def new_figure(width: float, height: float) -> "Figure":
    """Returns an empty figure with a size in inches, whose layout adapts to its content."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def open_frame(axes: "Axes") -> None:
    """Removes the upper and the right border of axes."""
    axes.spines[["top", "right"]].set_visible(False)


def outlined(width: float) -> dict[str, Any]:
    """Returns the keyword argument that gives a text a white outline of this width [points]."""
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=width, foreground="white")]}


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Writes a figure atomically, in the format of the file's suffix.

    Raises:
        WriteError: The file could not be written.
    """
    image = io.BytesIO()
    figure.savefig(image, format=Path(path).suffix[1:], dpi=150)
    write_whole(Path(path), image.getvalue())

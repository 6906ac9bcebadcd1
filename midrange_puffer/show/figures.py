"""What all figures share: the colours of the seats, and how a figure becomes a file."""

import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING

from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#c8372d", "#2463b0")  # of the seats, red and blue
FORMATS = (".png", ".svg", ".pdf")


def require_matplotlib() -> None:
    """Raise UsageError where it is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib: pip install 'midrange_puffer[plots]'")


def check_picture(path: str) -> None:
    """Raise ValueError where a picture cannot be written to `path`, for its name or its folder."""
    if Path(path).suffix not in FORMATS:
        raise ValueError(f"must end in {', '.join(FORMATS)}")
    check_writable(path)


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure whole, in the format that the file's name ends in.

    Raises:
        WriteError: The file could not be written.
    """
    image = io.BytesIO()
    figure.savefig(image, format=Path(path).suffix[1:], dpi=150)
    write_whole(Path(path), image.getvalue())

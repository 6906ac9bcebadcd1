"""Puts the page together: its template, style and scripts, and the data of a fight."""

import json
from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from midrange_puffer.files import write_whole
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.page.content import collect

# In the order in which they stand in the page: they are one ES module.
SCRIPTS = (
    "data.js",
    "canvas.js",
    "labels.js",
    "gestures.js",
    "knowledge.js",
    "sensors.js",
    "plane.js",
    "charts.js",
    "scenes.js",
    "spacetime.js",
    "status.js",
    "roster.js",
    "player.js",
    "main.js",
)


def write_page(
    replay: Replay, path: str | Path, progress: Callable[[int], None] = lambda count: None
) -> None:
    """Write the page of a fight whole.

    Args:
        replay: of the fight.
        path: of the .html file.
        progress: called now and then with the number of decisions flown since.

    Raises:
        ReplayError: It cannot be flown as it was.
        WriteError: The file could not be written.
    """
    write_whole(Path(path), render(collect(replay, progress)).encode())


def render(content: Mapping[str, object]) -> str:
    """The page of a fight, of which `content.collect` tells."""
    names = " against ".join(content["names"])
    return Template(_asset("template.html")).substitute(
        title=escape(f"{names}: {content['outcome']}"),
        style=_asset("page.css"),
        # No name can end the script that holds it.
        data=json.dumps(content, allow_nan=False).replace("<", "\\u003c"),
        script="\n".join(map(_asset, SCRIPTS)),
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")

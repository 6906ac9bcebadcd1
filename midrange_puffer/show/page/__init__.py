"""The web page of a fight: one file for any browser; it needs no network."""

import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from midrange_puffer.files import write_whole
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.page.content import collect

ASSETS = Path(__file__).parent / "assets"
# In the order in which they form one ES module in the page.
SCRIPTS = (
    *("data.js", "canvas.js", "labels.js", "gestures.js", "knowledge.js", "sensors.js"),
    *("bodies.js", "plane.js", "side.js", "charts.js", "scenes.js", "spacetime.js"),
    *("webgl.js", "camera.js", "camera_bodies.js"),
    *("status.js", "roster.js", "told.js", "player.js", "main.js"),
)


def write_page(
    replay: Replay, path: str | Path, progress: Callable[[int], None] = lambda count: None
) -> None:
    """Writes the page of a fight atomically.

    Args:
        replay: The fight.
        path: The .html file.
        progress: Called with the number of decisions flown since the last call.

    Raises:
        ReplayError: The replay gives other states than recorded.
        WriteError: The file could not be written.
    """
    write_whole(Path(path), render(collect(replay, progress)).encode())


def render(content: Mapping[str, Any]) -> str:
    """Returns the page with the data that `content.collect` returned."""
    names = " against ".join(content["names"])
    return Template(_asset("template.html")).substitute(
        title=escape(f"{names}: {content['outcome']}"),
        style=_asset("page.css"),
        # Without "<" no name can end the <script> element.
        data=json.dumps(content, allow_nan=False).replace("<", "\\u003c"),
        script="\n".join(map(_asset, SCRIPTS)),
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text("utf-8")

"""`puffer runs midrange`: the runs in a table; and their curves, for `puffer plot --run`."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option
from midrange_puffer.commands.tables import format_optional
from midrange_puffer.files import write_results, write_whole
from midrange_puffer.names import shown
from midrange_puffer.policies.models import parse_metadata
from midrange_puffer.show.figures import save_figure
from midrange_puffer.show.run_plot import draw_runs
from midrange_puffer.show.web_page import PAGE, svg, web_page
from midrange_puffer.train import run_folder
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.run_files import read_metrics
from midrange_puffer.train.run_folder import RunInfo, find_runs, format_began, read_run

if TYPE_CHECKING:
    from rich.table import Table

FOLDERS = re.compile(r"(?<![^:,])/([^,:]*/)?")  # of whole paths, one or several in a value
NUMBERS = ("M steps", "time", "score", "best")
HEADINGS = ("run", "began", "state", *NUMBERS, "made from")


DESCRIPTION = "List the runs: the start, the progress and the origin of each."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode."""

    data_dir: str = option.data_dir()
    last: int = option.value("number of the latest runs to list", 20, 1, 1_000_000)
    json: str | None = option.json()


def read(argv: Sequence[str]) -> Options:
    """Reads the words after `puffer runs midrange`."""
    return option.Parser("runs", DESCRIPTION, Options).read(argv)


def main(options: Options) -> int:
    """Lists the runs; returns the exit status."""
    from rich.console import Console

    infos = find_runs(options.data_dir)
    if not infos:
        where = shown(options.data_dir)
        print(f"no runs in {where}; make one with: puffer train midrange --config default.ini")
        return 0
    infos = infos[-options.last :]
    Console().print(format_table(infos))
    if options.json:
        write_results(options.json, {"runs": [_entry(info) for info in infos]})
    return 0


def format_table(infos: Sequence[RunInfo]) -> "Table":
    """Returns the runs as a table for rich, the earliest first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for heading in HEADINGS[:-1]:
        justify = "right" if heading in NUMBERS else "left"
        no_wrap = heading != HEADINGS[0]  # its origin may be long
        table.add_column(heading, justify=justify, no_wrap=no_wrap, overflow="fold", min_width=4)
    for info in infos:
        *cells, made_from = _cells(info)
        table.add_row(*map(Text, cells))
        table.add_row(Text(f"  {made_from}", overflow="fold", style="dim"))
    return table


def format_page(infos: Sequence[RunInfo], figure: str) -> str:
    """Returns a web page: the runs in a table, and a figure, an element of HTML."""
    rows = ["<tr>" + "".join(f"<th>{heading}</th>" for heading in HEADINGS) + "</tr>"]
    for info in infos:
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(info)) + "</tr>")
    table = '<div class="scroll"><table>\n' + "\n".join(rows) + "\n</table></div>"
    return web_page("Runs", ["<h1>Runs</h1>", table, f"<figure>{figure}</figure>"])


def _cells(info: RunInfo) -> list[str]:
    """Returns a run's cells, one for each of HEADINGS."""
    metrics, goal = info.metrics, info.config.train.total_timesteps
    steps, seconds = metrics.get("agent_steps"), metrics.get("uptime")
    return [
        shown(info.folder.name),
        format_began(info),
        info.state,
        f"{(steps or 0) / 1e6:.1f}/{goal / 1e6:.1f}",
        format_duration(seconds) if seconds is not None else "–",
        format_optional(metrics.get("environment/score"), ".3f"),
        format_optional(info.best and info.best[1].score, ".3f"),
        _format_origin(info),
    ]


def _format_origin(info: RunInfo) -> str:
    """Returns a run's ini file and overrides, without the folders of absolute paths."""
    given = (f"--{key} {FOLDERS.sub('', value)}" for key, value in info.given.items())
    return shown(" ".join([info.made_from, *given]).strip())


def _entry(info: RunInfo) -> dict[str, Any]:
    """Returns a run's entry in the JSON file."""
    names = ("agent_steps", "uptime", "environment/score", "league/rating")
    return {
        "run": str(info.folder),
        "began": info.began,
        "state": info.state,
        "total_timesteps": info.config.train.total_timesteps,
        **{name: info.metrics.get(name) for name in names},
        "made_from": info.made_from,
        "given": dict(info.given),
        "best": info.best and {"model": info.best[0].name, **asdict(info.best[1])},
        "metadata": parse_metadata(info.config.base.metadata),
    }


def plot_runs(folders: Sequence[Path], out: str) -> None:
    """Draws the learning curves of runs into a picture, or into a page that also has their table.

    If two runs have the same name, all are named by their folders. A run whose configuration cannot
    be read has no row in the table.

    Raises:
        UsageError: The runs have logged nothing yet.
        WriteError: The file could not be written.
    """
    names = [folder.name for folder in folders]
    if len(set(names)) < len(names):
        names = map(str, folders)
    logged = [folder / run_folder.METRICS for folder in folders]
    rows = [read_metrics(path) if path.exists() else [] for path in logged]
    runs = dict(zip(names, rows, strict=True))
    if Path(out).suffix == PAGE:
        infos = [info for info in map(read_run, folders) if info is not None]
        write_whole(Path(out), format_page(infos, svg(draw_runs, runs)).encode())
    else:
        save_figure(draw_runs(runs), out)
    print(shown(out))

"""`puffer plot midrange`: a picture of one engagement, of its space-time graph, or of runs."""

from collections.abc import Sequence
from pathlib import Path

import torch

from midrange_puffer.commands.arguments import Parser, load_model, load_opponent
from midrange_puffer.commands.runs import format_page
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable, write_whole
from midrange_puffer.game.parameters import PILOTS, SEATS
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.names import shown
from midrange_puffer.replays.session import Session
from midrange_puffer.show.engagement_plot import plot_engagement, record_engagement
from midrange_puffer.show.figures import check_picture, require_matplotlib, save_figure
from midrange_puffer.show.run_plot import draw_runs
from midrange_puffer.show.spacetime_plot import draw_spacetime
from midrange_puffer.show.web_page import svg
from midrange_puffer.train import run_folder
from midrange_puffer.train.metrics_file import read_metrics
from midrange_puffer.train.run_list import read_run

PAGE = ".html"


def main(argv: Sequence[str]) -> int:
    """Plot, with the words after `puffer plot midrange`; return the exit status."""
    options = _parser().read(argv)
    require_matplotlib()
    if options.run:
        plot_runs(options.run, options.data_dir, options.out or "curves.png")
        return 0
    options.out = options.out or "engagement.png"
    if Path(options.out).suffix == PAGE:
        raise UsageError(f"command line: --out: {options.out}: only curves of --run become a page")
    torch.set_num_threads(1)  # small batches are slower with more
    path, policy, parameters = load_model(options)
    opponent = load_opponent(options.opponent, policy)
    if isinstance(opponent, str) and opponent not in PILOTS:
        raise UsageError(f"opponent = {opponent!r}: is a mix; must be one of {', '.join(PILOTS)}")
    contestants, out = [policy, opponent], shown(options.out)
    if options.seat == SEATS[1]:
        contestants.reverse()
    if options.spacetime is not None:
        seat = SEATS.index(options.seat)
        session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
        time = plot_moment(session, options.spacetime, seat, options.out)
        print(f"{shown(path)}: space-time graph of {options.seat} at {time:.1f} s; {out}")
        return 0
    engagement = record_engagement(*contestants, options.seed, options.greedy, **parameters)
    plot_engagement(engagement, options.out)
    print(f"{shown(path)}: {engagement.outcome} after {engagement.length:.0f} s; {out}")
    return 0


def plot_runs(names: Sequence[str], data_dir: str, out: str) -> None:
    """Draw the learning curves of runs into a picture, or a page that also has their table.

    Raises:
        CheckpointError: There is no such run.
        WriteError: The file could not be written.
    """
    folders = list(dict.fromkeys(run_folder.find_run(name, data_dir) for name in names))
    runs = {folder.name: read_metrics(folder / run_folder.METRICS) for folder in folders}
    if Path(out).suffix == PAGE:
        infos = [read_run(folder) for folder in folders]
        write_whole(Path(out), format_page(infos, svg(draw_runs, runs)).encode())
    else:
        save_figure(draw_runs(runs), out)
    print(shown(out))


def plot_moment(session: Session, time: float, seat: int, path: str | Path) -> float:
    """Fight on, and draw a seat's space-time graph at a time [s].

    Returns:
        The time [s] of the graph: of the first decision not before.

    Raises:
        UsageError: The engagement is over by then.
        WriteError: The file could not be written.
    """
    while session.paths.time < time - 1e-6 and not session.over:
        session.step()
    now = session.paths.time
    if session.over:
        raise UsageError(f"spacetime = {time:g}: the engagement ends at {now:.1f} s")
    graph = spacetime(session.sim, 0, seat)
    save_figure(draw_spacetime(graph, f"{SEATS[seat]} at {now:.1f} s"), path)
    return now


def _check_out(path: str) -> None:
    """Raise ValueError where neither a picture nor a page can be written to `path`."""
    if Path(path).suffix == PAGE:
        check_writable(path)
    else:
        check_picture(path)


def _parser() -> Parser:
    parser = Parser(
        "plot",
        "Draw one engagement of a trained policy, seen from above, or the space-time graph of one "
        "moment of it.",
    )
    parser.add_model()
    parser.add_key(
        Key("opponent", str, f"one of {', '.join(PILOTS)}, self, or another model's file", "evader")
    )
    parser.add_key(Key("seat", str, "seat of the policy", "red", choices=SEATS))
    parser.add_key(Key("seed", int, "seed of the start and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(
        Key("spacetime", float, "draw the seat's space-time graph at this time instead",
            None, 0, 3600, unit="s")
    )  # fmt: skip
    parser.add_argument(
        "--run", nargs="+", metavar="RUN", default=(),
        help="draw the learning curves of these runs instead: folders, names, or latest",
    )  # fmt: skip
    meaning = f"the file to write; None = engagement.png, or curves.png of --run, where *{PAGE} is "
    parser.add_key(Key("out", str, f"{meaning}a web page", None, check=_check_out))
    parser.add_game()
    return parser

"""`puffer plot midrange`: pictures of engagements, runs, populations and exploiters.

`PLOTS` is the table of all that can be drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from midrange_puffer._core import MAX_SIDE
from midrange_puffer.commands import option
from midrange_puffer.commands.models import (
    find_opponent,
    load_models,
    load_opponent,
    model_path,
    resolve_game,
)
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.commands.replay import EXAMPLE, describe, verified
from midrange_puffer.commands.runs import plot_runs
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_of
from midrange_puffer.errors import UsageError, require
from midrange_puffer.files import check_writable, read_whole
from midrange_puffer.game.parameters import (
    PILOTS,
    RADAR,
    SCRIPTED,
    SEATS,
    callsigns,
    resolve,
)
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.spacetime import nearest_enemy, pair_graph
from midrange_puffer.json_files import LARGEST, Count, JsonError, Share, Within, checked, parse
from midrange_puffer.names import label, shown, versus
from midrange_puffer.policies import models
from midrange_puffer.policies.champions import chosen_in_game
from midrange_puffer.policies.mix import check_is_one
from midrange_puffer.policies.models import MODELS, spread
from midrange_puffer.show.exploit_plot import POINTS, Curve, draw_exploits
from midrange_puffer.show.figures import check_picture, save_figure
from midrange_puffer.show.run_plot import Exploiter, draw_population
from midrange_puffer.show.spacetime_plot import draw_spacetime
from midrange_puffer.show.web_page import PAGE
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_files import Turn, format_turns, read_turns

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant

CHECKPOINTS = 12  # of a run with a population, at even distances
GAMES = 64  # of each checkpoint with each exploiter


def _check_out(path: str) -> None:
    """Raises ValueError if neither a picture nor a page can be written to `path`."""
    if Path(path).suffix == PAGE:
        check_writable(path)
    else:
        check_picture(path)


DESCRIPTION = (
    "Draw one engagement of a trained policy or a pilot, or of a replay, seen from above, or "
    "the space-time graph of one moment of it."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, the file of the `picture`, the `model` and the `folders` of runs."""

    load_model_path: str = option.load_model_path()
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    opponent: str = option.value(
        f"one of {', '.join(PILOTS)}, self, another model, or a "
        "function of your own (module:name or file.py:name)",
        "evader",
    )
    pilot: str | None = option.value("a scripted pilot that flies instead of the policy", None)
    replay: str | None = option.value(
        f"draw the fight of this replay instead; {EXAMPLE} = one that comes with the package", None
    )
    seat: str = option.value("seat of the policy", "red", choices=SEATS)
    seed: int = option.seed("seed of the start and the actions")
    greedy: bool = option.greedy()
    spacetime: float | None = option.value(
        "draw the seat's space-time graph at this time instead", None, 0, 3600, unit="s"
    )
    fighter: int = option.value(
        "in teams: number of the seat's fighter whose graph is drawn", 0, 0, MAX_SIDE - 1
    )
    pictures: bool = option.flag(
        "with sensors: draw the truth, and beside it the knowledge of each side"
    )
    run: tuple[str, ...] = option.several(
        "RUN", "draw the learning curves of these runs instead: folders, names, or latest"
    )
    population: str | None = option.value(
        "draw the exploiters of this run instead: the score of each in training, and against the "
        "run's checkpoints", None
    )  # fmt: skip
    exploit: tuple[str, ...] = option.several(
        "REPORT", "draw the curves of these reports of `exploit` or `panel --exploit` instead"
    )
    out: str | None = option.value(
        "the file to write; None = engagement.png, or curves, population or exploit.png, where "
        f"*{PAGE} of --run is a web page", None, check=_check_out
    )  # fmt: skip
    game: dict[str, int | float] = option.game()
    picture: str = option.settled()
    model: Path = option.settled()
    folders: list[Path] = option.settled()


# Learning curves of runs.


def _find_runs(options: Options) -> Options:
    paths = (run_folder.find_run(name, options.data_dir) for name in options.run)
    return replace(options, folders=list(dict.fromkeys(paths)))


def _draw_runs(options: Options) -> None:
    plot_runs(options.folders, options.picture)


# Curves of exploiters, from reports.


@dataclass
class _Columns:
    """The curve of a run, as `Curve.thinned` gives it."""

    agent_steps: Annotated[list[Count], Within(1, POINTS)]
    score: list[Share]
    win: list[Share]
    draw: list[Share]
    loss: list[Share]


@dataclass
class _Run:
    """A run of a report."""

    run: str
    start: Literal["own", "anew"]
    seed: int
    decisions_until: dict[str, Count | None]
    curve: _Columns
    # Not in reports of versions that trained exploiters of one kind.
    draw: float = 0.0
    entropy: float = 0.0
    score: Share | None = None


def _draw_reports(options: Options) -> None:
    """Draws the curves of reports, each by its file's name.

    Raises:
        JsonError: A file cannot be read or is no report.
        UsageError: Two files have the same name.
        WriteError: The picture could not be written.
    """
    victims: dict[str, list[Curve]] = {}
    for path in map(Path, options.exploit):
        if path.stem in victims:
            raise UsageError(f"--exploit: {path}: another file is called {path.stem}, too")
        victims[path.stem] = _read_curves(path)
    save_figure(draw_exploits(victims), options.picture)
    print(shown(options.picture))


def _read_curves(path: Path) -> list[Curve]:
    """Returns the curves of a report of `puffer exploit --json` or `panel --exploit --json`.

    Raises:
        JsonError: The file cannot be read, or is no report.
    """
    try:
        content = parse(read_whole(path, LARGEST))
        if isinstance(content, dict) and isinstance(content.get("exploit"), dict):  # of a panel
            content = content["exploit"]
        runs = content.get("runs") if isinstance(content, dict) else None
        runs = checked(runs, Annotated[list[_Run], Within(1, 1000)], "runs")
        for place, run in enumerate(runs):
            if len(set(map(len, vars(run.curve).values()))) > 1:
                raise ValueError(f"runs[{place}].curve: its columns are not equally long")
            if (np.diff(run.curve.agent_steps) <= 0).any():
                raise ValueError(f"runs[{place}].curve: its decisions do not rise")
    except OSError as error:
        raise JsonError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise JsonError(f"{path}: no report of puffer exploit: {error}") from None
    return [Curve.of_report(run.start, vars(run.curve)) for run in runs]


# The population of a run: the scores of its checkpoints against its exploiters.


def _find_population(options: Options) -> Options:
    return replace(
        options, folders=[run_folder.find_run(str(options.population), options.data_dir)]
    )


def _draw_population(options: Options) -> None:
    """Lets checkpoints of a run fight its exploiters, draws the scores, prints the exploiters.

    Raises:
        UsageError: The run has no exploiter.
        CheckpointError: A model cannot be used.
        WriteError: The picture could not be written.
    """
    [run] = options.folders
    turns = read_turns(run)
    if not turns:
        raise UsageError(f"{shown(run)}: has no exploiter yet; --population.interval makes them")
    config = load_config(run / run_folder.CONFIG, complete=True, runs_code=False)
    checkpoints = spread(sorted(run.glob(MODELS)), CHECKPOINTS + 1)[1:]
    steps, scores = _scores(checkpoints, run, turns, resolve(game_of(config), teams=True))
    exploiters = [Exploiter(turn.kind, turn.agent_steps / 1e6, turn.score) for turn in turns]
    figure = draw_population(exploiters, steps, scores, config.population.score)
    save_figure(figure, options.picture)
    print(format_turns(turns), end="")
    print(shown(options.picture))


def _scores(
    checkpoints: list[Path], run: Path, turns: list[Turn], parameters: dict[str, float]
) -> tuple[list[int], np.ndarray]:
    """Returns the checkpoints' agent decisions, and their scores [checkpoints, turns]."""
    from midrange_puffer.contest.match import meet
    from midrange_puffer.policies.loading import load_policy

    exploiters = {turn.path: load_policy(run / turn.path)[0] for turn in turns}
    steps, scores = [], []
    with progress_bar("checkpoints", len(checkpoints) * len(turns) * GAMES) as advance:
        for path in checkpoints:
            policy, entries = load_policy(path)
            pairs = [(path.name, name) for name in exploiters]
            players = {path.name: policy, **exploiters}
            results = meet(pairs, players, GAMES, progress=advance, parameters=parameters)
            steps.append(entries["agent_steps"])
            scores.append([result.score for result in results])
    return steps, np.array(scores)


# The fight of a replay.


def _find_replay(options: Options) -> Options:
    for name in ("pilot", "spacetime", "pictures"):
        if _is_given(options, name):
            raise UsageError(f"command line: --{name}: is not drawn of a --replay")
    return replace(options, replay=str(models.EXAMPLE)) if options.replay == EXAMPLE else options


def _draw_replay(options: Options) -> None:
    from midrange_puffer.show.engagement_plot import Engagement, plot_engagement

    path = str(options.replay)
    replay = verified(path)
    plot_engagement(Engagement(replay.names, replay.paths(), replay.outcome), options.picture)
    print(f"{describe(path, replay)}; {shown(options.picture)}")


# A fight of a policy or a pilot: one moment of it, the pictures of both sides, or its paths.


def _find_fighters(options: Options) -> Options:
    if options.pilot:
        pilot = find_opponent(options.pilot, options.data_dir, (SCRIPTED,), "pilot")
        check_is_one(pilot)
        options = replace(options, pilot=pilot)
    else:
        model = model_path(options.load_model_path, options.data_dir, options.game)
        options = replace(options, model=model)
    opponent = find_opponent(options.opponent, options.data_dir)
    check_is_one(opponent)
    return replace(options, opponent=opponent)


def _load_fighters(options: Options) -> tuple[list["Contestant"], dict[str, Any]]:
    """Returns red and blue, and the parameters of the game."""
    import torch

    torch.set_num_threads(1)  # small batches are slower with more
    own: Contestant
    if options.pilot:
        own, parameters = options.pilot, resolve_game(options.game)
    else:
        [(own, _)], parameters = load_models([options.model], options.game, options.policy_name)
    opponent = chosen_in_game(options.opponent, parameters)
    contestants = [own, load_opponent(opponent, own)]
    if options.seat == SEATS[1]:
        contestants.reverse()
    return contestants, parameters


def _draw_moment(options: Options) -> None:
    """Draws a fighter's space-time graph of the first decision at or after a time.

    Raises:
        UsageError: The fighter does not exist, or the engagement ends before that time.
        WriteError: The file could not be written.
    """
    from midrange_puffer.replays.session import Session

    contestants, parameters = _load_fighters(options)
    session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
    fighter, time = _fighter(options, session.paths.sizes), options.spacetime or 0.0
    while session.paths.time < time - 1e-6 and not session.over:
        session.step()
    now = session.paths.time
    if session.over:
        raise UsageError(f"spacetime = {time:g}: the engagement ends at {now:.1f} s")
    names = callsigns(session.paths.sizes)
    title = names[fighter]
    if len(names) > len(SEATS):
        title += f" and {names[nearest_enemy(session.sim, 0, fighter)]}"
    title += f" at {now:.1f} s"
    graph = pair_graph(session.sim, 0, fighter)
    save_figure(draw_spacetime(graph, title), options.picture)
    path = shown(options.pilot or options.model)
    print(f"{path}: space-time graph of {title}; {shown(options.picture)}")


def _fighter(options: Options, sizes: tuple[int, int]) -> int:
    """Returns the number of the fighter that --seat and --fighter name."""
    side = SEATS.index(options.seat)
    if options.fighter >= sizes[side]:
        raise UsageError(
            f"command line: --fighter: {options.fighter}: {options.seat} has {sizes[side]}, "
            "counted from 0"
        )
    return side * sizes[0] + options.fighter


def _draw_pictures(options: Options) -> None:
    """Fights to the end; draws the truth, and the pictures that both sides had.

    Raises:
        UsageError: The game has no sensors.
        WriteError: The file could not be written.
    """
    from midrange_puffer.replays.session import Session
    from midrange_puffer.show.engagement_plot import names_of
    from midrange_puffer.show.picture_plot import draw_pictures

    contestants, parameters = _load_fighters(options)
    session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
    if session.sim.parameters["sensing"] != RADAR:
        raise UsageError("--pictures: both sides know everything here; give --env.sensing radar")
    while not session.over:
        session.step()
    outcome = f"{outcome_words(session.sim)} after {session.paths.time:.0f} s"
    players = versus([label(name) for name in names_of(contestants)], session.paths.sizes)
    save_figure(draw_pictures(session.paths, f"{players}: {outcome}"), options.picture)
    print(f"{shown(options.pilot or options.model)}: {outcome}; {shown(options.picture)}")


def _draw_engagement(options: Options) -> None:
    """Draws the paths of an engagement.

    Raises:
        WriteError: The file could not be written.
    """
    from midrange_puffer.show.engagement_plot import plot_engagement, record_engagement

    contestants, parameters = _load_fighters(options)
    red, blue = contestants
    engagement = record_engagement(red, blue, options.seed, options.greedy, **parameters)
    plot_engagement(engagement, options.picture)
    path, out = shown(options.pilot or options.model), shown(options.picture)
    print(f"{path}: {engagement.outcome} after {engagement.length:.0f} s; {out}")


@dataclass(frozen=True)
class Plot:
    """A kind of plot.

    Attributes:
        option: the option that asks for it; None: it needs none.
        file: the default of --out.
        find: checks the options, and finds the files that they name.
        draw: draws and prints.
    """

    option: str | None
    file: str
    find: Callable[[Options], Options]
    draw: Callable[[Options], None]


# The first row whose option is given is drawn.
PLOTS = (
    Plot("run", "curves.png", _find_runs, _draw_runs),
    Plot("exploit", "exploit.png", lambda options: options, _draw_reports),
    Plot("population", "population.png", _find_population, _draw_population),
    Plot("replay", "engagement.png", _find_replay, _draw_replay),
    Plot("spacetime", "engagement.png", _find_fighters, _draw_moment),
    Plot("pictures", "engagement.png", _find_fighters, _draw_pictures),
    Plot(None, "engagement.png", _find_fighters, _draw_engagement),
)


def _plot_of(options: Options) -> Plot:
    """Returns the plot that the options ask for."""
    return next(plot for plot in PLOTS if not plot.option or _is_given(options, plot.option))


def _is_given(options: Options, name: str) -> bool:
    value = getattr(options, name)
    return value is not None and value is not False and value not in ((), "")


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer plot midrange`."""
    options = option.Parser("plot", DESCRIPTION, Options).read(argv)
    require("plots need", "matplotlib")
    plot = _plot_of(options)
    if Path(options.out or plot.file).suffix == PAGE and plot.option != "run":
        raise UsageError(f"command line: --out: {options.out}: only curves of --run become a page")
    return plot.find(replace(options, picture=options.out or plot.file))


def main(options: Options) -> int:
    """Draws the plot; returns the exit status."""
    _plot_of(options).draw(options)
    return 0

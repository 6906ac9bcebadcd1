"""`puffer panel midrange`: a fixed test of a policy, which anyone can repeat and quote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer import __version__
from midrange_puffer.commands import exploit as exploit_mode
from midrange_puffer.commands import option
from midrange_puffer.commands.models import (
    find_champions,
    find_opponent,
    game_of,
    load_models,
    load_opponent,
    resolve_game,
    threads_of,
)
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.commands.tables import new_table
from midrange_puffer.contest.panel import (
    EPISODES,
    SEED,
    Row,
    check_episodes,
    digest,
    format_report,
    game_values,
    meet_row,
    rows_of,
)
from midrange_puffer.contest.ratings import Pairing
from midrange_puffer.errors import UsageError, memory_advice, require
from midrange_puffer.files import is_stream, open_folder, write_results
from midrange_puffer.game.games import (
    DEFAULT_GAME,
    GAMES,
    changed_settings,
    describe_game,
    describe_named,
    game_name,
)
from midrange_puffer.game.parameters import PARAMETERS
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import MODEL, contestants_of, file_of, kind_of, title

if TYPE_CHECKING:
    from rich.table import Table

    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.replays.recorder import FightRecorder


# Options of the exploiters, which --exploit hands on.
SHARED = ("budget", "start", "seeds", "quick", "workers", "out")
DESCRIPTION = (
    "Test a policy by a fixed panel: the scripted pilots, wide families of them, and frozen "
    "networks. Its figures can be quoted, with the panel's version and the seed. A model's "
    "game is the one that it was trained for, and each of some games has a panel of its own. The "
    "pilots are those of the parameter table."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the policy.

    Attributes:
        candidate: the policy, as `load_contestant` takes it.
        model: its file; None if it is not one model.
        exploiters: options of its exploiters; None without --exploit.
    """

    files: tuple[str, ...] = option.files(
        f"the policy: {option.MODEL_FILES}; a run, as in --load-model-path of eval; a function of "
        "your own: module:name, file.py:name; a pilot; or a mix of these"
    )
    panel_game: str | None = option.value(
        "game of the panel; None = that of the policy, or of a function or a pilot "
        f"{DEFAULT_GAME}. {'; '.join(f'{name} = {game.title}' for name, game in GAMES.items())}",
        None,
        choices=tuple(GAMES),
        option="game",
    )
    episodes: int = option.value(
        "engagements with each row", EPISODES, 2, 1_000_000, check=check_episodes
    )
    seed: int = option.seed(
        "seed of the starts, the actions and the wide families. The public panel has "
        f"{SEED}; another seed may be kept secret", SEED
    )  # fmt: skip
    greedy: bool = option.greedy()
    replay_dir: str | None = option.value(
        "also keep a replay of each row in this folder: an engagement that was lost, or else one "
        "in which a missile passed nearest", None
    )  # fmt: skip
    exploit: bool = option.flag(
        "then train exploiters of the policy, as `puffer exploit` does, and report how well they "
        "beat it; --budget, --start, --seeds, --quick, --workers and --out apply to these"
    )
    budget: int = option.same_as(exploit_mode.Options, "budget")
    start: str = option.same_as(exploit_mode.Options, "start")
    seeds: int | None = option.same_as(exploit_mode.Options, "seeds")
    quick: bool = option.same_as(exploit_mode.Options, "quick")
    workers: int | str = option.same_as(exploit_mode.Options, "workers")
    out: str | None = option.same_as(exploit_mode.Options, "out")
    threads: int | str = option.threads()
    json: str | None = option.json()
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    game: dict[str, int | float] = option.game()
    candidate: str = option.settled()
    model: Path | None = option.settled()
    exploiters: exploit_mode.Options | None = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer panel midrange`."""
    options = option.Parser("panel", DESCRIPTION, Options).read(argv)
    if len(options.files) != 1:
        given = ", ".join(options.files) or "none"
        raise UsageError(f"command line: FILE: {given}: the panel takes one policy at a time")
    require("exported policies need", "onnx", "onnxruntime")
    threads_of(options.threads)
    candidate = find_opponent(options.files[0], options.data_dir, argument="FILE")
    asked = GAMES[options.panel_game].settings if options.panel_game else {}
    [candidate] = find_champions([candidate], {**asked, **options.game}, options.policy_name)
    model = file_of(candidate) if kind_of(candidate) == MODEL else None
    if options.out and not options.exploit:
        raise UsageError("command line: --out: is the picture of --exploit, which is not given")
    exploiters = _exploiters(options, model) if options.exploit else None
    if options.replay_dir:
        open_folder(Path(options.replay_dir))
    return replace(options, candidate=candidate, model=model, exploiters=exploiters)


def _exploiters(options: Options, model: Path | None) -> exploit_mode.Options:
    """Returns the options of the exploiters of a model.

    Raises:
        UserError: The policy is no model, or the exploiters cannot be trained.
    """
    if model is None:
        raise UsageError(
            f"command line: --exploit: {options.files[0]}: is no model; exploiters are trained "
            f"against one model's file, not against a function, a pilot or a mix"
        )
    if options.greedy:
        raise UsageError(
            "command line: --exploit: not with --greedy: exploiters are trained and measured "
            "against actions drawn from the policy"
        )
    words = [f"--load-model-path={model}", f"--train.data-dir={options.data_dir}"]
    words += [
        f"--{name}={getattr(options, name)}"
        for name in (*(name for name in SHARED if name != "quick"), "seed", "policy_name")
        if getattr(options, name) is not None
    ]
    words += ["--quick"] * options.quick
    words += [f"--{option.GAME}{name}={value}" for name, value in options.game.items()]
    return exploit_mode.read(words)


def main(options: Options) -> int:
    """Holds the panel; returns the exit status."""
    import torch

    torch.set_num_threads(1)  # small batches are slower with more
    candidate, parameters, game = _load(options)
    rows = rows_of(options.seed, game)
    with memory_advice(
        f"try a smaller one of --episodes {options.episodes}, --threads "
        f"{threads_of(options.threads)}"
    ):
        results = [_meet(candidate, row, options, parameters) for row in rows]
    differences = _differences(options, parameters, game)
    report = {
        "candidate": options.candidate,
        "sha256": options.model and digest(options.model),
        "package": __version__,
        **{name: getattr(options, name) for name in ("episodes", "seed", "greedy")},
        "is_public": not differences,
        "parameters": parameters,
        "exploit": None,
        **format_report(rows, [result for result, _ in results], parameters, game),
    }
    for row, (_, replay) in zip(report["rows"], results, strict=True):
        row["replay"] = replay and str(replay)
    _print(report, differences)
    # What goes to a stream cannot be replaced later.
    stream = options.json if options.json and is_stream(options.json) else None
    if options.json and not (stream and options.exploiters):
        write_results(options.json, report)
    if options.exploiters is None:
        return 0
    status = 0
    try:
        report["exploit"] = exploited = exploit_mode.exploit(options.exploiters)
        exploit_mode.print_report(exploited, options.out)
    except exploit_mode.StoppedEarlyError as stopped:
        status = stopped.status
    finally:
        if stream:
            write_results(stream, report)
    if options.json and not stream and status == 0:
        write_results(options.json, report)
    return status


def _load(options: Options) -> tuple["Contestant", dict[str, Any], str]:
    """Returns the candidate, the parameters of its game, and the name of its panel's game.

    Raises:
        UsageError: No panel is of the candidate's game, or another one is asked for.
    """
    if options.model:
        models, parameters = load_models([options.model], options.game, options.policy_name)
        candidate = models[0][0]
    else:
        candidate = load_opponent(options.candidate)
        parameters = resolve_game({**_settings(options), **options.game})
    name, game = title(options.candidate), game_name(parameters)
    if options.panel_game not in (None, game):
        raise UsageError(
            f"command line: --game {options.panel_game}: {name} is of the game "
            f"{describe_game(parameters)}, not of {describe_named(str(options.panel_game))}"
        )
    if game is None:
        raise UsageError(
            f"panel: a fixed test of the games {', '.join(GAMES)}; {name} flies with "
            f"{describe_game(parameters)}: use eval and league"
        )
    return candidate, parameters, game


def _settings(options: Options) -> Mapping[str, Any]:
    """Returns what fixes the game of a candidate that is not one model: of a mix, its models."""
    if any(kind_of(name) == MODEL for name in contestants_of(options.candidate)):
        return changed_settings(game_of([options.candidate], {}, options.policy_name))
    return GAMES[options.panel_game or DEFAULT_GAME].settings


def _meet(
    candidate: "Contestant", row: Row, options: Options, parameters: Mapping[str, Any]
) -> tuple[Pairing, Path | None]:
    """Fights a row; returns the result, and the replay's file or None."""
    from midrange_puffer.replays.recorder import save_instructive

    recorders = _recorders(row, options, parameters) if options.replay_dir else (None, None)
    with progress_bar(row.name, options.episodes) as advance:
        result, records = meet_row(
            candidate,
            row,
            options.episodes,
            options.seed,
            options.greedy,
            advance,
            recorders,
            threads=threads_of(options.threads),
            parameters=parameters,
        )
    both = [recorder for recorder in recorders if recorder is not None]
    if not (options.replay_dir and both):
        return result, None
    name, folder = title(options.candidate), Path(options.replay_dir)
    [replay] = save_instructive(both, records, 1, folder, name, most=1)
    return result, replay


def _recorders(
    row: Row, options: Options, parameters: Mapping[str, Any]
) -> tuple["FightRecorder", "FightRecorder"]:
    """Returns the recorders of the fights as red and as blue."""
    from midrange_puffer.replays.recorder import FightRecorder

    own, enemy = shown(title(options.candidate)), row.name
    meta = {"model": shown(options.candidate), "opponent": enemy, "greedy": options.greedy}
    half = options.episodes // 2
    red, blue = (
        FightRecorder(names, half, options.seed, parameters, meta, row.parts)
        for names in ((own, enemy), (enemy, own))
    )
    return red, blue


def _differences(options: Options, parameters: Mapping[str, Any], game: str) -> list[str]:
    """Returns the differences of this test from a game's public panel, in words."""
    differences = []
    if options.seed != SEED:
        differences.append(f"seed {options.seed}")
    if options.episodes != EPISODES:
        differences.append(f"{options.episodes} engagements a row")
    if options.greedy:
        differences.append("likeliest actions")
    public = game_values(game)
    flown = [name for name, row in PARAMETERS.items() if row.group != "reward"]
    if any(parameters[name] != public[name] for name in flown):
        named = "" if game == DEFAULT_GAME else f" {game}"
        differences.append(f"not the game{named} of the parameter table")
    return differences


def _print(report: Mapping[str, Any], differences: Sequence[str]) -> None:
    """Prints the candidate's report."""
    from rich.console import Console

    digits = f", sha256 {report['sha256']}" if report["sha256"] else ""
    print(f"{shown(report['candidate'])}{digits}")
    of_game = f" of the game {describe_named(report['game'])}"
    if report["game"] == DEFAULT_GAME:
        of_game = ""
    print(
        f"panel {report['panel']}{of_game}, {report['episodes']} engagements a row, half of them "
        f"in each seat; package {report['package']}"
    )
    if differences:
        print(f"not the public panel: {', '.join(differences)}")
    Console().print(format_table(report))
    print(f"worst row: {report['worst']['row']}, {report['worst']['score']:.3f}")
    if report["rating"] is None:
        print("no rating: the pilots' fixed ratings are of the game of the parameter table")
    else:
        half_width = report["rating_ci95"][1] - report["rating"]
        print(f"rating by the pilots: {report['rating']:.0f} ± {half_width:.0f}")


def format_table(report: Mapping[str, Any]) -> "Table":
    """Returns the rows and the means of a report, as a table for rich."""
    from rich.text import Text

    table = new_table("row", "win %", "draw %", "loss %", "score", "95 % c.i.")
    for group, mean in report["means"].items():
        rows = [row for row in report["rows"] if row["group"] == group]
        for row in rows:
            table.add_row(*_cells(row, report["episodes"]))
        what = f"mean of {group if rows else 'all rows'}"
        table.add_row(Text(what, "bold"), "", "", "", Text(f"{mean:.3f}", "bold"), "")
        table.add_section()
    return table


def _cells(row: Mapping[str, Any], episodes: int) -> list[str]:
    shares = [f"{100 * row[name] / episodes:.1f}" for name in ("wins", "draws", "losses")]
    low, high = row["score_ci95"]
    return [row["row"], *shares, f"{row['score']:.3f}", f"{low:.3f}–{high:.3f}"]

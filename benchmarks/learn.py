"""Speed and reliability with which a configuration learns, on several seeds.

Trains with the real command, `puffer train midrange`, one seed after the other, and reports

    the learning curves, from metrics.jsonl: the rate of wins against each pilot met in training,
    over the last `WINDOW` engagements; when it reached `LEVEL`, and the lowest it fell to after;

    the mean score over these pilots, when it first reached `SCORE`, from the start of the process
    on (of training, with --runs), and the lowest it fell to after;

    the last policy, not the best moment, evaluated against each pilot as `puffer eval` does it.

Run it on an otherwise idle machine: the curves are over wall-clock time.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import machine, parse_runs, print_machine, print_table, runs_parser
from matplotlib.figure import Figure

from midrange_puffer.config.key import check_even
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.files import write_results
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.show.figures import save_figure
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_files import read_metrics

LEVEL = 0.98
SCORE = 0.99
WINDOW = 500  # engagements against a pilot
COLUMNS = 5  # of the picture
COLOURS = {"win": "#2a8a4a", "draw": "0.55", "loss": "#c8372d"}


@dataclass
class Curve:
    """Rates against one pilot after each update, over about the last WINDOW engagements.

    Attributes:
        seconds, agent_steps: Since the start of the run.
        rates: Of each outcome.
    """

    seconds: np.ndarray
    agent_steps: np.ndarray
    rates: dict[str, np.ndarray]

    @property
    def score(self) -> np.ndarray:
        """A win counts as 1, a draw as a half."""
        return self.rates["win"] + self.rates["draw"] / 2


def main() -> None:
    """Trains or takes runs, evaluates them, and reports."""
    options, overrides = _parse()
    check_even(options.episodes)
    # From the start of each process to the start of training; unknown, and left out, with --runs.
    runs = {Path(run): 0.0 for run in options.runs} or dict(_train(options, overrides))
    import torch  # not before: --help is to come at once

    report = {"machine": machine(), "torch_threads": torch.get_num_threads()}
    torch.set_num_threads(1)  # training is over, and evaluation's batches are small
    config = load_config(next(iter(runs)) / run_folder.CONFIG)
    report |= {"config": config.as_dict(), "level": LEVEL, "score": SCORE, "window": WINDOW}
    report["episodes"] = options.episodes
    curves = [read_curves(run) for run in runs]
    report["runs"] = [
        _result(run, start, of, options.episodes)
        for (run, start), of in zip(runs.items(), curves, strict=True)
    ]
    _print(report)
    write_results(options.json, report)
    save_figure(draw(curves, [*runs.values()]), options.png)
    print(f"{options.json}, {options.png}")


def read_curves(run: Path) -> dict[str, Curve]:
    """Returns the learning curve against each pilot of the training `run`."""
    config = load_config(run / run_folder.CONFIG)
    rows = read_metrics(run / run_folder.METRICS)
    shares = parse_mix(config["env"]["opponent"])
    curves = {pilot: _curve(rows, pilot, share) for pilot, share in shares.items()}
    return {pilot: curve for pilot, curve in curves.items() if len(curve.seconds)}


def reach(curve: Curve) -> dict[str, float | None]:
    """Returns when the rate of wins first was LEVEL, the lowest rate from then on, and the last."""
    win = curve.rates["win"]
    there = np.flatnonzero(win >= LEVEL)
    result = {"seconds": None, "agent_steps": None, "lowest_after": None, "last": float(win[-1])}
    if len(there):
        first = there[0]
        result["seconds"] = float(curve.seconds[first])
        result["agent_steps"] = int(curve.agent_steps[first])
        result["lowest_after"] = float(win[first:].min())
    return result


def mean_score(curves: dict[str, Curve]) -> Curve:
    """Returns the mean score over the pilots at every new score, once each pilot has one.

    Engagements of older policies are among the last WINDOW, so that it is behind a policy that
    improves.
    """
    begin = max(curve.agent_steps[0] for curve in curves.values())
    steps = np.unique(np.concatenate([curve.agent_steps for curve in curves.values()]))
    steps = steps[steps >= begin]
    seconds, score = np.zeros(len(steps)), np.zeros(len(steps))
    for curve in curves.values():
        latest = np.searchsorted(curve.agent_steps, steps, side="right") - 1
        seconds = np.maximum(seconds, curve.seconds[latest])
        score += curve.score[latest] / len(curves)
    return Curve(seconds, steps, {"win": score, "draw": np.zeros(len(steps))})


def reach_score(
    curves: dict[str, Curve], pilots: Collection[str], start: float
) -> dict[str, float | None]:
    """Returns when the mean score first was SCORE, the lowest from then on, and the last.

    Args:
        curves: of a run.
        pilots: whose curves these have to be; nothing is known where one is missing.
        start: what is added to its seconds.
    """
    result = dict.fromkeys(("seconds", "agent_steps", "lowest_after", "last"))
    if not pilots or curves.keys() != set(pilots):
        return result
    of = mean_score(curves)
    result["last"] = float(of.score[-1])
    there = np.flatnonzero(of.score >= SCORE)
    if len(there):
        first = there[0]
        result["seconds"] = start + float(of.seconds[first])
        result["agent_steps"] = int(of.agent_steps[first])
        result["lowest_after"] = float(of.score[first:].min())
    return result


def draw(curves: Sequence[dict[str, Curve]], starts: Sequence[float]) -> Figure:
    """Wins, draws and losses over wall-clock time, a panel a pilot, a line a run; the mean score.

    Args:
        curves: of each run.
        starts: seconds from the start of each process to that of training.
    """
    pilots = [pilot for pilot in PILOTS if any(pilot in run for run in curves)]
    columns = min(len(pilots) + 1, COLUMNS)
    rows = -(-(len(pilots) + 1) // columns)
    figure = Figure(figsize=(3.4 * columns, 3.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in panels.flat[len(pilots) + 1 :]:
        axes.remove()
    for axes, pilot in zip(panels.flat, pilots, strict=False):
        for number, run in enumerate(curves):
            if pilot not in run:
                continue
            for outcome, colour in COLOURS.items():
                seconds, rate = starts[number] + run[pilot].seconds, run[pilot].rates[outcome]
                label = None if number else outcome
                axes.plot(seconds, 100 * rate, color=colour, lw=1.2, alpha=0.8, label=label)
        axes.axhline(100 * LEVEL, color="0.3", lw=0.7, ls=":")
        axes.set(title=pilot)
    axes = panels.flat[len(pilots)]
    for run, start in zip(curves, starts, strict=True):
        if run.keys() != set(pilots):
            continue
        of = mean_score(run)
        axes.plot(start + of.seconds, 100 * of.score, color="0.2", lw=1.2, alpha=0.8)
    axes.axhline(100 * SCORE, color="0.3", lw=0.7, ls=":")
    axes.set(title="mean score")
    for axes in panels.flat[: len(pilots) + 1]:
        axes.set(xlabel="wall-clock time [s]", ylim=(-3, 103))
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("engagements, score [%]")
    panels[0, 0].legend(frameon=False)
    return figure


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = runs_parser(__doc__, "train", "default.ini")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds")
    parser.add_argument("--first-seed", type=int, default=0, help="the others follow it")
    parser.add_argument("--minutes", type=float, help="stop each run after so long")
    parser.add_argument("--episodes", type=int, default=1000, help="of evaluation, a pilot")
    parser.add_argument(
        "--runs", nargs="+", default=[], help="report on these run folders instead of training"
    )
    return parse_runs(parser, "learn")


def _train(options: argparse.Namespace, overrides: Sequence[str]) -> Iterator[tuple[Path, float]]:
    """Trains each seed to its end or for --minutes; yields its folder and the time of its start."""
    load_config(options.config, overrides)  # refuses what is wrong before anything is run
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        name = f"{stamp}-seed-{seed}"
        command = [sys.executable, "-m", "midrange_puffer", "train", "midrange", *overrides]
        command += ["--config", options.config, "--train.seed", str(seed)]
        command += ["--train.data-dir", options.out, "--train.run-name", name]
        print(" ".join(command[1:]), flush=True)
        launched = time.time()
        with subprocess.Popen(command) as process:
            try:
                process.wait(options.minutes and 60 * options.minutes)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)  # it saves and stops
        if process.returncode not in (0, 128 + signal.SIGINT):
            raise SystemExit(f"seed {seed}: training ended with {process.returncode}")
        metrics = Path(options.out, name, run_folder.METRICS)
        # The file was last changed when the last row's uptime was read: so much before that the
        # clock of training began.
        yield (
            metrics.parent,
            metrics.stat().st_mtime - launched - read_metrics(metrics)[-1]["uptime"],
        )


def _curve(rows: Sequence[dict[str, float]], pilot: str, share: float) -> Curve:
    """Returns the curve against a pilot that flies a `share` of the engagements.

    It begins as soon as a window is full.

    A row holds means over the engagements told of in one update; how many there were follows
    from the steps made and the mean length.
    """
    steps = np.diff([0, *(row["agent_steps"] for row in rows)])
    seen = [i for i, row in enumerate(rows) if f"environment/win_vs_{pilot}" in row]
    count = [steps[i] * share / rows[i]["environment/episode_length"] for i in seen]
    win, score = (
        np.array([rows[i][f"environment/{name}_vs_{pilot}"] for i in seen])
        for name in ("win", "score")
    )
    total = np.cumsum([0, *count])
    ends = np.flatnonzero(total >= WINDOW)
    starts = np.searchsorted(total, total[ends] - WINDOW, side="right") - 1

    def over_window(rate: np.ndarray) -> np.ndarray:
        done = np.cumsum([0, *(rate * count)])
        return (done[ends] - done[starts]) / (total[ends] - total[starts])

    last = [rows[seen[end - 1]] for end in ends]
    return Curve(
        np.array([row["uptime"] for row in last]),
        np.array([row["agent_steps"] for row in last]),
        {
            "win": over_window(win),
            "draw": over_window(2 * (score - win)),
            "loss": over_window(1 + win - 2 * score),
        },
    )


def _learning(curves: dict[str, Curve]) -> dict[str, dict[str, float | None]]:
    return {pilot: reach(curve) for pilot, curve in curves.items()}


def _result(run: Path, start: float, curves: dict[str, Curve], episodes: int) -> dict[str, object]:
    """Returns the result of a run."""
    last = read_metrics(run / run_folder.METRICS)[-1]
    opponent = load_config(run / run_folder.CONFIG)["env"]["opponent"]
    met = [name for name in parse_mix(opponent) if name in PILOTS]
    final = _final(run, episodes)
    return {
        "run": run.name,
        "seed": load_config(run / run_folder.CONFIG)["train"]["seed"],
        "start": start,
        "seconds": last["uptime"],
        "agent_steps": last["agent_steps"],
        "learning": _learning(curves),
        "panel": reach_score(curves, met, start),
        "final": final,
        "final_score": float(np.mean([of["score"] for of in final.values()])),
    }


def _final(run: Path, episodes: int) -> dict[str, dict[str, object]]:
    """Returns the results of the last policy of a run against each pilot."""
    # Imported here, because they bring torch along: --help is to come at once.
    from midrange_puffer.contest.evaluation import evaluate
    from midrange_puffer.policies import model_file
    from midrange_puffer.policies.loading import load_policy

    policy, meta = load_policy(max(run.glob(model_file.MODELS)))
    game = game_parameters(meta["env"])
    return {pilot: evaluate(policy, pilot, episodes, **game) for pilot in PILOTS}


def _print(report: dict[str, object]) -> None:
    from midrange_puffer.commands.eval import format_share  # as in _final

    print_machine({**report["machine"], "torch threads": report["torch_threads"]})
    print(f"opponents in training: {report['config']['env']['opponent']}")
    rows = [
        [
            run["seed"],
            pilot,
            *_reached(run["learning"].get(pilot)),
            *(format_share(run["final"][pilot], outcome) for outcome in COLOURS),
        ]
        for run in report["runs"]
        for pilot in PILOTS
    ]
    columns = ("seed", "pilot", "reached", "steps", "lowest", "win %", "draw %", "loss %")
    title = f"{LEVEL:.0%} wins in training, the lowest after that; the last policy, 95 % intervals"
    print_table(title, columns, rows)
    rows = [
        [
            run["seed"],
            *_when(run["panel"]),
            *(_shown(run["panel"][name]) for name in ("lowest_after", "last")),
            f"{run['final_score']:.3f}",
            f"{run['agent_steps'] / 1e6:.1f} M",
            f"{run['start'] + run['seconds']:.0f} s",
        ]
        for run in report["runs"]
    ]
    columns = (
        "seed",
        f"{SCORE} after",
        "steps",
        "lowest",
        "last",
        "policy",
        "all steps",
        "all time",
    )
    title = (
        f"mean score over the pilots: {SCORE} in training, the lowest after, the last; the policy's"
    )
    print_table(title, columns, rows)
    times = [run["panel"]["seconds"] for run in report["runs"]]
    reached = [seconds for seconds in times if seconds is not None]
    print(f"{len(reached)} of {len(times)} runs reached {SCORE}", end="")
    print(f", after {np.median(reached):.1f} s in the median" if reached else "")


def _reached(learning: dict[str, float | None] | None) -> tuple[str, str, str]:
    if learning is None or learning["seconds"] is None:
        return "–", "–", "–"
    return (*_when(learning), f"{100 * learning['lowest_after']:.1f} %")


def _shown(score: float | None) -> str:
    return "–" if score is None else f"{score:.3f}"


def _when(reached: dict[str, float | None]) -> tuple[str, str]:
    if reached["seconds"] is None:
        return "–", "–"
    return f"{reached['seconds']:.1f} s", f"{reached['agent_steps'] / 1e6:.1f} M"


if __name__ == "__main__":
    main()

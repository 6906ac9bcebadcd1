"""Search by Protein and by PufferLib's random search, with as many trials of one length.

Runs the real command, `puffer sweep midrange`, once with each method and seed: a Protein and a
random sweep at the same time, each with one worker on its own half of the cores. Trials are short,
none is ended early, and each meets the panel once, at its end. Reports the best score so far over
trials and over the seconds of training spent, and how long a sweep took, Protein's own time
included.

Random draws from mean ± scale of each range, cut at its ends, and so from half of a range or less;
Protein begins at the means, which may be good already, and may go anywhere from there. The best
without the first trial is therefore reported, too.

A benchmark that was broken off goes on where it was if it is started again with the same options.
"""

import argparse
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import machine, parse_runs, print_machine, print_table, runs_parser
from matplotlib.figure import Figure

from midrange_puffer.config.reading import load_config
from midrange_puffer.files import write_results
from midrange_puffer.show.figures import save_figure
from midrange_puffer.sweep.record import FINISHED, Record, best_trial, sweeps_folder
from midrange_puffer.sweep.workers import pinned, share_of_cores

COLOURS = {"Protein": "#1f6fb4", "Random": "#d07a1f"}
MARKS = (8, 16)  # trials after which the best so far is reported, besides the last


def main() -> None:
    """Runs the sweeps that are missing, and reports on all."""
    options, overrides = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the sweeps, too
    for seed in range(options.seeds):
        _run_side_by_side(options, overrides, seed)
    records = {
        method: [Record(_folder(options, method, seed)) for seed in range(options.seeds)]
        for method in COLOURS
    }
    report = {
        "machine": machine(),
        "config": records["Protein"][0].config.as_dict(),
        "sweeps": {
            method: [describe(record) for record in sweeps] for method, sweeps in records.items()
        },
    }
    _print(report, options.trials)
    write_results(options.json, report)
    save_figure(draw(report["sweeps"]), options.png)
    print(f"{options.json}, {options.png}")


def describe(record: Record) -> dict[str, object]:
    """Returns a sweep's trials in their order, and its best score after each of them."""
    trials = record.trials
    finished = [trial for trial in trials if trial.status == FINISHED]
    so_far = [best_trial(trials[: count + 1]) for count in range(len(trials))]
    best = so_far[-1]
    return {
        "sweep": record.folder.name,
        "seed": record.config["sweep"]["seed"],
        "failed": len(trials) - len(finished),
        "scores": [trial.score for trial in finished],
        "costs": [trial.cost for trial in finished],
        "minutes": sum(trial.seconds for trial in trials) / 60,
        "best_so_far": [trial.score if trial else 0.0 for trial in so_far],
        "cost_so_far": np.cumsum([trial.cost or 0.0 for trial in trials]).tolist(),
        "best_but_first": max(trial.score for trial in finished if trial.number),
        "best": {"score": best.score, "cost": best.cost, "params": best.params},
    }


def draw(sweeps: Mapping[str, Sequence[Mapping[str, object]]]) -> Figure:
    """Draws the best score so far over trials and over seconds, and each trial's score and cost."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    by_trial, by_cost, cloud = figure.subplots(1, 3)
    for method, done in sweeps.items():
        colour = COLOURS[method]
        for place, sweep in enumerate(done):
            best, label = sweep["best_so_far"], None if place else method
            by_trial.step(range(1, len(best) + 1), best, where="post", color=colour, label=label)
            minutes = [cost / 60 for cost in sweep["cost_so_far"]]
            by_cost.step(minutes, best, where="post", color=colour, label=label)
            cloud.scatter(
                sweep["costs"], sweep["scores"], s=14, color=colour, alpha=0.7, lw=0, label=label
            )
    by_trial.set(xlabel="trials", ylabel="best panel score so far")
    by_cost.set(xlabel="training so far [min]", ylabel="best panel score so far")
    cloud.set(xlabel="training of a trial [s]", ylabel="panel score of a trial")
    for axes in (by_trial, by_cost, cloud):
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right")
    return figure


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = runs_parser(__doc__, "sweep", "sweep.ini")
    parser.add_argument("--trials", type=int, default=24, help="of each sweep")
    parser.add_argument("--seeds", type=int, default=2, help="sweeps of each method")
    parser.add_argument("--steps", type=int, default=1_500_000, help="length of a trial")
    return parse_runs(parser, "sweep-benchmark")


def _run_side_by_side(options: argparse.Namespace, overrides: Sequence[str], seed: int) -> None:
    """Runs or resumes the sweeps of one seed, each method on its share of the cores."""
    load_config(options.config, overrides)  # refuses what is wrong before anything is run
    began, processes = time.monotonic(), {}
    try:
        for place, method in enumerate(COLOURS):
            command = [sys.executable, "-m", "midrange_puffer", "sweep", "midrange"]
            command += _options(options, method, seed) + list(overrides)
            print(" ".join(command[1:]), flush=True)
            with pinned(share_of_cores(place, len(COLOURS))):
                processes[method] = subprocess.Popen(command)
        for method, process in processes.items():
            if process.wait():
                raise SystemExit(f"{method}, seed {seed}: ended with {process.returncode}")
        print(f"seed {seed}: both over after {(time.monotonic() - began) / 60:.1f} min", flush=True)
    finally:
        for process in processes.values():
            process.terminate()


def _options(options: argparse.Namespace, method: str, seed: int) -> list[str]:
    """Returns the words that begin or resume a sweep; refuses other options than at its start."""
    folder = _folder(options, method, seed)
    settings = {
        "sweep.name": folder.name, "sweep.method": method, "sweep.seed": seed,
        "sweep.trials": options.trials, "sweep.workers": 1, "sweep.readings": 1,
        "train.total-timesteps": options.steps, "train.data-dir": options.out,
    }  # fmt: skip
    begun = (folder / Record.CONFIG).exists()
    source = ["--resume", str(folder)] if begun else ["--config", options.config]
    return [*source, *(f"--{name}={value}" for name, value in settings.items())]


def _folder(options: argparse.Namespace, method: str, seed: int) -> Path:
    return sweeps_folder(options.out) / f"{method.lower()}-{seed}"


def _print(report: Mapping[str, object], trials: int) -> None:
    print_machine(report["machine"])
    marks = [*(mark for mark in MARKS if mark < trials), trials]
    rows = [
        [
            method,
            sweep["seed"],
            *(f"{sweep['best_so_far'][mark - 1]:.3f}" for mark in marks),
            f"{sweep['best_but_first']:.3f}",
            f"{statistics.mean(sweep['scores']):.3f}",
            f"{sweep['minutes']:.1f}",
            sweep["failed"],
        ]
        for method, sweeps in report["sweeps"].items()
        for sweep in sweeps
    ]
    columns = ["method", "seed", *(f"best of {mark}" for mark in marks), "best but the first"]
    columns += ["mean score", "minutes of trials", "failed"]
    print_table("Panel score by method: the best so far, and the mean of all trials", columns, rows)


if __name__ == "__main__":
    main()

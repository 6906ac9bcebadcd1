"""How well Protein searches, against random search over the same space with the same budget.

Runs the real command, `puffer sweep midrange`, once with each method and seed: a Protein and a
random sweep at the same time, each with one worker on its own half of the cores. Trials are short,
and none is ended early, so that all cost about the same. Reports the best score so far after each
trial and second, and the front of scores and costs.

A broken-off benchmark goes on where it was if it is started again with the same --out. Random is
PufferLib's, which draws evenly from mean ± scale of each range, as Protein's first suggestions are.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import ROOT, machine, print_machine, print_table
from matplotlib.figure import Figure

from midrange_puffer.config import load_config
from midrange_puffer.files import write_json
from midrange_puffer.plot import save_figure
from midrange_puffer.sweep.record import FINISHED, Record, best_trial, sweeps_folder

COLOURS = {"Protein": "#1f6fb4", "Random": "#d07a1f"}
MARKS = (8, 16)  # trials after which the best so far is reported, besides the last


def main() -> None:
    """Run the sweeps that are not yet there, and report on all."""
    options, overrides = _parse()
    for seed in range(options.seeds):
        _run_side_by_side(options, overrides, seed)
    records = {
        method: [Record(_folder(options, method, seed)) for seed in range(options.seeds)]
        for method in COLOURS
    }
    config = records["Protein"][0].config
    report = {
        "machine": machine(),
        "config": config,
        "sweeps": {
            method: [describe(record) for record in sweeps] for method, sweeps in records.items()
        },
    }
    _print(report, options.trials)
    write_json(options.json, report)
    save_figure(draw(report["sweeps"], options.trials), options.png)
    print(f"{options.json}, {options.png}")


def describe(record: Record) -> dict[str, object]:
    """A sweep's trials in their order, and its best score after each of them."""
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
        "best": {"score": best.score, "cost": best.cost, "params": best.params},
    }


def draw(sweeps: Mapping[str, Sequence[Mapping[str, object]]], trials: int) -> Figure:
    """The best score so far over trials, and every trial's score and cost."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    curves, cloud = figure.subplots(1, 2, sharey=False)
    number = np.arange(1, trials + 1)
    for method, done in sweeps.items():
        colour = COLOURS[method]
        best = np.array([sweep["best_so_far"] for sweep in done])
        for row in best:
            curves.plot(number, row, color=colour, lw=0.9, alpha=0.6)
        curves.plot(number, best.mean(axis=0), color=colour, lw=2.4, label=f"{method}, mean")
        costs, scores = (
            np.concatenate([sweep[key] for sweep in done]) for key in ("costs", "scores")
        )
        cloud.scatter(costs, scores, s=14, color=colour, alpha=0.7, lw=0, label=method)
    curves.set(xlabel="trials", ylabel="best panel score so far")
    cloud.set(xlabel="seconds of training", ylabel="panel score of a trial")
    for axes in (curves, cloud):
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right")
    return figure


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Further options, --section.key VALUE, go to `puffer sweep`.",
        allow_abbrev=False,
    )
    parser.add_argument("--config", default=str(ROOT / "configs" / "sweep.ini"))
    parser.add_argument("--trials", type=int, default=24, help="of each sweep")
    parser.add_argument("--seeds", type=int, default=2, help="sweeps of each method")
    parser.add_argument("--steps", type=int, default=3_000_000, help="length of a trial")
    parser.add_argument("--out", default="experiments/sweep-benchmark", help="folder of the sweeps")
    parser.add_argument("--json", default="experiments/sweep-benchmark/sweep.json")
    parser.add_argument("--png", default="experiments/sweep-benchmark/sweep.png")
    return parser.parse_known_args()


def _run_side_by_side(options: argparse.Namespace, overrides: Sequence[str], seed: int) -> None:
    """Run, or go on with, the sweeps of one seed, each method on its share of the cores."""
    load_config(options.config, overrides)  # refuses what is wrong before anything is run
    processes = []
    for place, method in enumerate(COLOURS):
        folder = _folder(options, method, seed)
        command = [sys.executable, "-m", "midrange_puffer", "sweep", "midrange"]
        if (folder / Record.CONFIG).exists():
            command += ["--resume", str(folder)]
        else:
            settings = {
                "sweep.name": folder.name, "sweep.method": method, "sweep.seed": seed,
                "sweep.trials": options.trials, "sweep.workers": 1, "sweep.readings": 1,
                "train.total-timesteps": options.steps, "train.data-dir": options.out,
            }  # fmt: skip
            command += ["--config", options.config, *overrides]
            command += [f"--{name}={value}" for name, value in settings.items()]
        print(" ".join(command[1:]), flush=True)
        process = subprocess.Popen(command)
        _pin(process.pid, place)
        processes.append((method, process))
    for method, process in processes:
        if process.wait():
            raise SystemExit(f"{method}, seed {seed}: ended with {process.returncode}")


def _pin(pid: int, place: int) -> None:
    """Give a sweep its own half of the cores, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(pid, cores[place :: len(COLOURS)] or cores)


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
            f"{statistics.mean(sweep['scores']):.3f}",
            f"{sweep['minutes']:.1f}",
            sweep["failed"],
        ]
        for method, sweeps in report["sweeps"].items()
        for sweep in sweeps
    ]
    columns = ["method", "seed", *(f"best of {mark}" for mark in marks), "mean", "min", "failed"]
    print_table("Panel score by method: the best so far, and the mean of all trials", columns, rows)


if __name__ == "__main__":
    main()

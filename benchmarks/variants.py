"""Effect of a key of the configuration on learning: runs with two or more of its values.

    python benchmarks/variants.py env.action_mode discrete,continuous

Trains with the real command, `puffer train midrange`, the same configuration and seeds with each
value, those of a seed at the same time, each on its own share of the cores. Checkpoints along each
run meet the pilots that are hardest to beat, and their scores (win 1, draw 1/2) are compared after
equal steps, and after equal time: what a value costs is in it.

A benchmark that was broken off takes up the runs that have ended if it is started again with the
same options. Run it on an otherwise idle machine.
"""

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from common import machine, print_machine, print_table, runs_parser
from matplotlib.figure import Figure

from midrange_puffer.config.key import check_even
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.files import open_folder, write_json
from midrange_puffer.show.figures import save_figure
from midrange_puffer.sweep.workers import pinned, share_of_cores
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_files import read_metrics

PILOTS = ("evader", "crank", "ace")
INTERVAL = 50  # updates from one checkpoint to the next
READINGS = 8  # checkpoints of a run that are evaluated, at even distances in steps
MARKS = (1 / 8, 1 / 4, 1 / 2, 1)  # parts of a run after which scores are compared
UNITS = {"agent_steps": (1e-6, "M"), "seconds": (1 / 60, "min")}
WORDS = {"agent_steps": "agent steps", "seconds": "time"}
SEED = 2**32  # of the starts of evaluation


def main() -> None:
    """Trains the missing runs, evaluates the checkpoints, reports."""
    options, overrides = _parse()
    check_even(options.episodes)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the runs, too
    out = Path(options.out, options.key)
    plans = {
        Path(out, f"{seed}-{value}"): (value, seed)
        for seed in range(options.seeds)
        for value in options.values.split(",")
    }
    settings = [f"--train.checkpoint-interval={INTERVAL}", *overrides]
    words = {
        folder: [*settings, *_overrides(folder, options.key, *plan)]
        for folder, plan in plans.items()
    }
    for own in words.values():
        load_config(options.config, own)  # refuses what is wrong before anything is run
    open_folder(out)
    for seed in range(options.seeds):
        rivals = [folder for folder in plans if plans[folder][1] == seed]
        _train_side_by_side(options.config, {folder: words[folder] for folder in rivals})
    import torch  # not before: --help is to come at once

    torch.set_num_threads(1)
    runs = [_read(folder, *plan, options.episodes) for folder, plan in plans.items()]
    report = {"machine": machine(), "key": options.key, "episodes": options.episodes, "runs": runs}
    report["table"] = compare(runs)
    _print(report)
    write_json(out / "variants.json", report)
    save_figure(draw(options.key, runs), out / "variants.png")
    print(f"{out / 'variants.json'}, {out / 'variants.png'}")


def compare(runs: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Returns the scores of the runs after equal steps and, of one seed, after equal time.

    At parts of the shortest run of a seed, and of the time of the quickest one; between two
    readings a score is interpolated.
    """
    table = []
    for seed in dict.fromkeys(run["seed"] for run in runs):
        rivals = [run for run in runs if run["seed"] == seed]
        for axis in UNITS:
            end = min(run[axis][-1] for run in rivals)
            for part in MARKS:
                for run in rivals:
                    scores = {
                        pilot: float(np.interp(part * end, run[axis], scores))
                        for pilot, scores in run["scores"].items()
                    }
                    row = {"axis": axis, "at": part * end, "seed": seed}
                    table.append({**row, "value": run["value"], "scores": scores})
    return table


def draw(key: str, runs: Sequence[Mapping[str, object]]) -> Figure:
    """Scores over steps and over time, a column a pilot, a line a run."""
    colours = {value: f"C{place}" for place, value in enumerate({run["value"]: 0 for run in runs})}
    figure = Figure(figsize=(3.6 * len(PILOTS), 6.2), layout="constrained")
    panels = figure.subplots(len(UNITS), len(PILOTS), sharey=True)
    for row, (axis, (unit, label)) in zip(panels, UNITS.items(), strict=True):
        for axes, pilot in zip(row, PILOTS, strict=True):
            for run in runs:
                line = run["value"] if run["seed"] == 0 else None
                x = unit * np.array(run[axis])
                colour = colours[run["value"]]
                axes.plot(x, run["scores"][pilot], color=colour, lw=1.4, marker=".", label=line)
            axes.set(xlabel=f"{WORDS[axis]} [{label}]", ylim=(-0.03, 1.03))
            axes.grid(color="0.92")
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("score")
    for axes, pilot in zip(panels[0], PILOTS, strict=True):
        axes.set_title(f"against {pilot}")
    panels[0, 0].legend(frameon=False, loc="lower right", title=key)
    return figure


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = runs_parser(__doc__, "train", "default.ini")
    parser.add_argument("key", help="as section.key")
    parser.add_argument("values", help="with commas between")
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, 2, …")
    parser.add_argument("--episodes", type=int, default=1000, help="of a reading, a pilot")
    parser.add_argument(
        "--out", default="experiments/variants",
        help="folder: the runs and the report, variants.json and variants.png, are in its <key>",
    )  # fmt: skip
    return parser.parse_known_args()


def _overrides(folder: Path, key: str, value: str, seed: int) -> list[str]:
    """Returns the words of the command line in which a run differs from the others."""
    place = [f"--train.data-dir={folder.parent}", f"--train.run-name={folder.name}"]
    return [f"--{key}={value}", f"--train.seed={seed}", *place]


def _train_side_by_side(config: str, words: Mapping[Path, Sequence[str]]) -> None:
    """Trains the runs that are not over, each on its share of the cores."""
    processes = {}
    try:
        for place, (folder, own) in enumerate(words.items()):
            if _is_over(folder):
                continue
            command = [sys.executable, "-m", "midrange_puffer", "train", "midrange"]
            command += ["--config", config, *own]
            print(" ".join(command[1:]), flush=True)
            with pinned(share_of_cores(place, len(words))):
                processes[folder] = subprocess.Popen(command)
        for folder, process in processes.items():
            if process.wait():
                raise SystemExit(f"{folder}: training ended with {process.returncode}")
    finally:
        for process in processes.values():
            process.terminate()


def _is_over(folder: Path) -> bool:
    """True if a run has made all its steps."""
    if not (folder / run_folder.METRICS).exists():
        return False
    goal = load_config(folder / run_folder.CONFIG)["train"]["total_timesteps"]
    return _rows(folder)[-1]["agent_steps"] >= goal


def _rows(folder: Path) -> list[dict[str, float]]:
    return read_metrics(folder / run_folder.METRICS)


def _read(folder: Path, value: str, seed: int, episodes: int) -> dict[str, object]:
    """Scores of checkpoints along a run, the first being that before training."""
    # Imported here, because they bring torch along: --help is to come at once.
    from midrange_puffer.contest.evaluation import evaluate
    from midrange_puffer.policies import model_file
    from midrange_puffer.policies.loading import load_policy

    uptime = {0: 0.0, **{row["agent_steps"]: row["uptime"] for row in _rows(folder)}}
    run = {"value": value, "seed": seed, "agent_steps": [], "seconds": []}
    run["scores"] = {pilot: [] for pilot in PILOTS}
    for path in _spread(sorted(folder.glob(model_file.MODELS))):
        policy, meta = load_policy(path)
        run["agent_steps"].append(meta["agent_steps"])
        run["seconds"].append(uptime[meta["agent_steps"]])
        game = game_parameters(meta["env"])
        for pilot, scores in run["scores"].items():
            scores.append(evaluate(policy, pilot, episodes, SEED, **game)["score"])
        last = ", ".join(f"{pilot} {scores[-1]:.3f}" for pilot, scores in run["scores"].items())
        print(f"{folder.name}, {meta['agent_steps'] / 1e6:.1f} M steps: {last}", flush=True)
    return run


def _spread(paths: Sequence[Path]) -> Iterator[Path]:
    """Returns the first and READINGS more at even distances, the last among them."""
    places = np.linspace(0, len(paths) - 1, READINGS + 1).round().astype(int)
    return (paths[place] for place in np.unique(places))


def _print(report: Mapping[str, object]) -> None:
    print_machine(report["machine"])
    for axis, (unit, label) in UNITS.items():
        rows = [
            [
                row["seed"],
                f"{unit * row['at']:.1f} {label}",
                row["value"],
                *(f"{score:.3f}" for score in row["scores"].values()),
                f"{np.mean(list(row['scores'].values())):.3f}",
            ]
            for row in report["table"]
            if row["axis"] == axis
        ]
        columns = ["seed", "after", report["key"], *PILOTS, "mean"]
        print_table(f"Scores after equal {WORDS[axis]}", columns, rows)


if __name__ == "__main__":
    main()

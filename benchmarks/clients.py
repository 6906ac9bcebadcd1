"""Speed and reliability with which clients of the adapters learn: the examples, on several seeds.

Runs examples/sb3_ppo.py and examples/cleanrl_ppo.py, one seed after the other, and draws their
learning curves: the score against `straight` over steps, and over the seconds of learning. Run it
on an otherwise idle machine.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from common import ROOT, machine, print_machine, print_table
from matplotlib.figure import Figure

from midrange_puffer.files import open_folder, write_json
from midrange_puffer.show.figures import save_figure

CLIENTS = {  # name: (example, colour)
    "Stable-Baselines3": ("sb3_ppo.py", "#8a4fa3"),
    "CleanRL-style": ("cleanrl_ppo.py", "#2a8a4a"),
}
LEVEL = 0.95


@dataclass
class Run:
    """The result of one seed of a client.

    Attributes:
        steps, seconds, score: lists, a value for each reading.
    """

    client: str
    seed: int
    steps: list[float]
    seconds: list[float]
    score: list[float]


def main() -> None:
    """Runs the clients, report."""
    options = _parse()
    out = Path(options.out)
    open_folder(out)
    runs = [_run(client, seed, out) for client in CLIENTS for seed in range(options.seeds)]
    report = {"machine": machine(), "runs": [asdict(run) for run in runs]}
    print_machine(report["machine"])
    columns = ("client", "seed", "untrained", f"{LEVEL} after", "and", "steps", "seconds", "score")
    print_table("Score against straight", columns, [_row(run) for run in runs])
    write_json(out / "clients.json", report)
    save_figure(draw(runs), out / "clients.png")
    print(f"{out / 'clients.json'}, {out / 'clients.png'}")


def draw(runs: Sequence[Run]) -> Figure:
    """Scores over steps and over seconds, a line a run."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    over_steps, over_time = figure.subplots(1, 2, sharey=True)
    for run in runs:
        colour = CLIENTS[run.client][1]
        label = None if run.seed else run.client
        style = {"color": colour, "lw": 1.2, "marker": ".", "alpha": 0.8, "label": label}
        over_steps.plot(np.array(run.steps) / 1000, run.score, **style)
        over_time.plot(run.seconds, run.score, **style)
    over_steps.set(xlabel="steps [thousand]", ylabel="score against straight", ylim=(0.48, 1.01))
    over_time.set(xlabel="time of learning [s]")
    for axes in (over_steps, over_time):
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
    over_steps.legend(frameon=False, loc="lower right")
    return figure


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, 2, …")
    parser.add_argument("--out", default="experiments/clients", help="folder of what comes of it")
    return parser.parse_args()


def _run(client: str, seed: int, out: Path) -> Run:
    """Trains with the example itself."""
    script = CLIENTS[client][0]
    csv = out / f"{Path(script).stem}-{seed}.csv"
    command = [sys.executable, str(ROOT / "examples" / script), "--seed", str(seed)]
    command += ["--csv", str(csv)]
    print(" ".join(command[1:]), flush=True)
    subprocess.run(command, check=True)
    rows = np.genfromtxt(csv, delimiter=",", names=True, ndmin=1)
    return Run(client, seed, *(rows[name].tolist() for name in ("steps", "seconds", "score")))


def _row(run: Run) -> list[object]:
    there = [n for n, score in enumerate(run.score) if score >= LEVEL]
    steps, seconds = (
        (f"{run.steps[there[0]]:,.0f}", f"{run.seconds[there[0]]:.1f} s") if there else ("–", "–")
    )
    return [
        run.client,
        run.seed,
        f"{run.score[0]:.3f}",
        steps,
        seconds,
        f"{run.steps[-1]:,.0f}",
        f"{run.seconds[-1]:.1f} s",
        f"{run.score[-1]:.3f}",
    ]


if __name__ == "__main__":
    main()

"""The picture of docs/own-reward.md: python tools/own_reward.py FOLDER [--out docs/own_reward.png].

It trains configs/default.ini with and without the reward of examples/standoff.py, three seeds each,
about half a minute a run, into FOLDER. Runs that are there already are only drawn. The picture
shows how far from the enemy the policies fight, and how they score, over the training.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.commands import cli
from midrange_puffer.envs.own_env import env_class
from midrange_puffer.envs.own_reward import Decision
from midrange_puffer.show.figures import COLOURS, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[1]
Standoff = env_class(f"{ROOT / 'examples' / 'standoff.py'}:Standoff")
BONUS = 0.005  # 1/s, of the runs with the reward
SEEDS = (0, 1, 2)
TINY = 1e-9  # weight of what is only to be logged: too small to teach anything


class RangeTold(Standoff):
    """The example, and the sum of the ranges of an engagement [m], so that it is logged."""

    def own_reward(
        self, decision: Decision, standoff_bonus: float = BONUS, standoff_range: float = 20_000.0
    ) -> dict[str, np.ndarray]:
        """Returns the example's reward, and a tiny one for the range."""
        parts = super().own_reward(decision, standoff_bonus, standoff_range)
        return {**parts, "range": TINY * decision.after.range}


def train(folder: Path, bonus: float, seed: int) -> Path:
    """Trains a run unless it exists; returns its folder."""
    run = folder / f"bonus_{bonus:g}_seed_{seed}"
    if not (run / "metrics.jsonl").exists():
        words = ["--config", str(ROOT / "configs" / "default.ini"), "--train.seed", str(seed)]
        words += ["--env-class", f"{Path(__file__).resolve()}:RangeTold"]
        words += ["--env.standoff-bonus", str(bonus), "--train.data-dir", str(folder)]
        cli.run("train", [*words, "--train.run-name", run.name])
    return run


def curves(run: Path) -> np.ndarray:
    """Steps [M], mean range [km] and score of the updates of a run, [3, updates]."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    told = [row for row in rows if "environment/score" in row]
    ranges = [
        row["environment/reward_range"] / TINY / row["environment/episode_length"] for row in told
    ]
    steps, scores = ([row[name] for row in told] for name in ("agent_steps", "environment/score"))
    return np.array([np.array(steps) / 1e6, np.array(ranges) / 1000, scores])


def draw(axes: "list[Axes]", runs: list[Path], colour: str, label: str) -> None:
    """Draws the mean over the seeds, and each seed thinly; prints the last tenth of the runs."""
    grid = np.linspace(1.5, 23.5, 100)
    found = [
        [np.interp(grid, steps, values) for values in (ranges, scores)]
        for steps, ranges, scores in map(curves, runs)
    ]
    for axis, each in zip(axes, np.swapaxes(found, 0, 1), strict=True):
        axis.plot(grid, each.T, color=colour, alpha=0.25, linewidth=1)
        axis.plot(grid, each.mean(axis=0), color=colour, linewidth=2, label=label)
    last = np.array(found)[:, :, -10:].mean(axis=2)
    print(f"{label}: mean range [km] {last[:, 0].round(1)}, score {last[:, 1].round(3)}, by seed")


def main() -> None:
    """Trains the missing runs, and draws."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", default=str(ROOT / "docs" / "own_reward.png"))
    options = parser.parse_args()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for bonus, colour, label in (
        (0.0, COLOURS[1], "without the bonus"),
        (BONUS, COLOURS[0], f"{BONUS:g} a second beyond 20 km"),
    ):
        draw(axes, [train(options.folder, bonus, seed) for seed in SEEDS], colour, label)
    for axis, what in zip(axes, ("mean range [km]", "score against the pilots"), strict=True):
        axis.set(xlabel="agent decisions [M]", title=what)
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    axes[1].set_ylim(0, 1)
    save_figure(figure, options.out)


if __name__ == "__main__":
    main()

"""What the examples have in common: their options, and the score of a policy while it learns."""

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.files import check_writable, write_whole
from midrange_puffer.gym import MidrangeVectorEnv

Act = Callable[[np.ndarray], np.ndarray]

SEED = 2**32  # of the engagements of evaluation, so that no small seed of training has them


class LearningCurve:
    """The score of a policy against an opponent, read now and then while it learns.

    Attributes:
        rows: (steps, seconds, score); seconds of learning, without those of the readings.
    """

    def __init__(self, opponent: str) -> None:
        self.rows: list[tuple[int, float, float]] = []
        self._opponent = opponent
        self._start = time.perf_counter()

    def read(self, steps: int, act: Act) -> None:
        """Evaluate the policy `act` after so many steps, and print it."""
        before = time.perf_counter()
        row = (steps, before - self._start, evaluate(act, self._opponent))
        print("{:9,} steps {:5.1f} s  score {:.3f}".format(*row), flush=True)
        self.rows.append(row)
        self._start += time.perf_counter() - before

    def write(self, csv: str) -> None:
        """Write the rows into a file."""
        lines = ["steps,seconds,score", *("{},{:.3f},{:.4f}".format(*row) for row in self.rows)]
        write_whole(Path(csv), ("\n".join(lines) + "\n").encode())


def evaluate(act: Act, opponent: str, episodes: int = 256) -> float:
    """The mean score (win 1, draw 1/2, loss 0) of a policy over engagements, always the same.

    Each is fought to its end, so that short ones do not count for more.

    Args:
        act: the policy: observations float32 [episodes, features] -> actions [episodes, 3].
        opponent: as of `MidrangeVectorEnv`.
        episodes: how many engagements.
    """
    envs = MidrangeVectorEnv(episodes, opponent=opponent)
    observations, _ = envs.reset(seed=SEED)
    scores = np.full(episodes, np.nan)
    while np.isnan(scores).any():
        observations, _, _, _, infos = envs.step(act(observations))
        for env in np.flatnonzero(infos.get("_final_info", False)):
            if np.isnan(scores[env]):  # the first to end here; the next one started by itself
                scores[env] = _score(infos["final_info"], env)
    return float(scores.mean())


def _score(final_info: Mapping | np.ndarray, env: int) -> float:
    """One of the scores: Gymnasium 1 gives a dict of arrays, 0.29 an array of dicts."""
    is_dict = isinstance(final_info, Mapping)
    return final_info["score"][env] if is_dict else final_info[env]["score"]


def run(train: Callable[[int, int, str], LearningCurve], doc: str, steps: int) -> None:
    """Train as the command line says, by default for so many steps."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=steps, help="decisions; default %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    parser.add_argument(
        "--opponent", default="straight", help="pilots or a model file; default %(default)s"
    )
    parser.add_argument("--csv", metavar="FILE", help="write the learning curve there")
    options = parser.parse_args()
    if options.csv:
        try:
            check_writable(options.csv)
        except ValueError as error:
            parser.error(f"--csv {options.csv}: {error}")
    torch.set_num_threads(1)  # more do not help networks this small
    curve = train(options.steps, options.seed, options.opponent)
    if options.csv:
        curve.write(options.csv)

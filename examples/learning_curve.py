"""Shared code of the examples: their options, and the score of a policy during training."""

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.files import check_writable, write_whole
from midrange_puffer.gym import MidrangeVectorEnv

Act = Callable[[np.ndarray], np.ndarray]

SEED = 2**32  # for evaluation; trainings use smaller seeds


class LearningCurve:
    """The scores of a policy against an opponent during training.

    Attributes:
        rows: (steps, seconds, score); seconds of training, without those of the evaluations.
    """

    def __init__(self, opponent: str) -> None:
        self.rows: list[tuple[int, float, float]] = []
        self._opponent = opponent
        self._start = time.perf_counter()

    def read(self, steps: int, act: Act) -> None:
        """Evaluates the policy `act` after `steps` decisions, and prints its score."""
        before = time.perf_counter()
        row = (steps, before - self._start, evaluate(act, self._opponent))
        print("{:9,} steps {:5.1f} s  score {:.3f}".format(*row), flush=True)
        self.rows.append(row)
        self._start += time.perf_counter() - before

    def write(self, csv: str) -> None:
        """Writes the rows to a file."""
        lines = ["steps,seconds,score", *("{},{:.3f},{:.4f}".format(*row) for row in self.rows)]
        write_whole(Path(csv), ("\n".join(lines) + "\n").encode())


def evaluate(act: Act, opponent: str, episodes: int = 256) -> float:
    """Returns the mean score (win 1, draw 1/2, loss 0) of a policy.

    The engagements are always the same. Each counts once, at its end, so that short ones do not
    count more than long ones.

    Args:
        act: the policy: observations float32 [episodes, features] -> actions [episodes, 3].
        opponent: as for `MidrangeVectorEnv`.
        episodes: number of engagements.
    """
    envs = MidrangeVectorEnv(episodes, opponent=opponent)
    observations, _ = envs.reset(seed=SEED)
    scores = np.full(episodes, np.nan)
    while np.isnan(scores).any():
        observations, _, _, _, infos = envs.step(act(observations))
        for env in np.flatnonzero(infos.get("_final_info", False)):
            if np.isnan(scores[env]):  # the first of this place; others follow
                scores[env] = _score(infos["final_info"], env)
    return float(scores.mean())


def _score(final_info: Mapping | np.ndarray, env: int) -> float:
    """Returns a score from a dict of arrays (Gymnasium 1) or an array of dicts (0.29)."""
    is_dict = isinstance(final_info, Mapping)
    return final_info["score"][env] if is_dict else final_info[env]["score"]


def run(train: Callable[[int, int, str], LearningCurve], doc: str, steps: int) -> None:
    """Runs `train` with the options of the command line; `steps` is their default."""
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
    torch.set_num_threads(1)  # more threads do not help small networks
    curve = train(options.steps, options.seed, options.opponent)
    if options.csv:
        curve.write(options.csv)

"""A collector: environments, a copy of the policy, and the experience that the two make."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from midrange_puffer import checkpoint
from midrange_puffer.config import Config
from midrange_puffer.learning import GATHERED
from midrange_puffer.policy import make_policy
from midrange_puffer.trainer import pufferl, quiet, seed_everything
from midrange_puffer.vectorize import REWARD_SCALE, VecEnv, make_env


@dataclass(frozen=True)
class Rollout:
    """Whole segments of experience, one of every agent of a collector, from one set of weights.

    Attributes:
        buffers: by name of `GATHERED`, [agents, horizon, ...], as PuffeRL keeps them.
        stats: results of the engagements that finished meanwhile, by name.
        seconds: how long it took.
    """

    buffers: dict[str, np.ndarray]
    stats: dict[str, list[float]]
    seconds: float


class Collector:
    """Gathers experience on the CPU, in PuffeRL's own way, with one instance of the environment.

    Args:
        config: of a stage of the run, without any "auto".
        seed: of the engagements, and of the actions drawn.
        pool: the file of the pool, where env.opponent has one.
    """

    def __init__(self, config: Config, seed: int, pool: Path | None = None) -> None:
        torch.set_num_threads(1)
        vec = {**config["vec"], "backend": "PufferEnv", "num_envs": 1}
        train = {**config["train"], "device": "cpu"}
        config = {**config, "vec": vec, "train": train}
        spaces = checkpoint.policy_spaces(config["env"])
        rnn_name = config["base"]["rnn_name"]
        self._policy = make_policy(spaces, config["policy"], rnn_name, config["rnn"])
        self._puffer = _Puffer(config, VecEnv(make_env, config, pool), self._policy, seed)
        seed_everything(seed)

    def collect(self, weights: dict[str, torch.Tensor]) -> Rollout:
        """Let the policy of these weights act for one segment of every agent.

        The buffers of the rollout are filled anew by the next one.
        """
        start = time.perf_counter()
        self._policy.load_state_dict(weights)
        self._puffer.evaluate()
        stats = dict(self._puffer.stats)
        self._puffer.stats.clear()
        buffers = {name: getattr(self._puffer, name).numpy() for name in GATHERED}
        return Rollout(buffers, stats, time.perf_counter() - start)

    def close(self) -> None:
        """End the environment."""
        self._puffer.vecenv.close()


class _Puffer(pufferl.PuffeRL):
    """PuffeRL for its `evaluate()` and the buffers that it fills; it is never trained."""

    def __init__(self, config: Config, vecenv: VecEnv, policy: torch.nn.Module, seed: int) -> None:
        batch = vecenv.num_agents * config["train"]["bptt_horizon"]
        settings = {
            **config["train"],
            **dict.fromkeys(("batch_size", "minibatch_size", "max_minibatch_size"), batch),
            "total_timesteps": batch,
            "seed": seed,
            "precision": "float32",
            "cpu_offload": False,
            "compile": False,
            "optimizer": "adam",
            "env": "",
            "use_rnn": config["base"]["rnn_name"] is not None,
        }
        with quiet():
            super().__init__(settings, vecenv, policy)
        self.amp_context = contextlib.nullcontext()

    def evaluate(self) -> dict[str, list[float]]:
        """Fill the buffers; return the results of the engagements that finished, by name."""
        stats = super().evaluate()
        self.rewards *= REWARD_SCALE
        return stats

    def print_dashboard(self, clear: bool = False) -> None:
        """Nothing: the learner has one."""

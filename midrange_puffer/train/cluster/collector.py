"""A collector: environments, a copy of the policy, and the experience that the two make."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from midrange_puffer.config.configuration import Config
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import make_policy, policy_class
from midrange_puffer.train.fitted_pufferl import FittedPuffeRL
from midrange_puffer.train.seeding import seed_everything
from midrange_puffer.train.step_clock import Stepped
from midrange_puffer.train.vector import VecEnv, make_env


@dataclass(frozen=True)
class Rollout:
    """Whole segments of experience, one of every agent of a collector, from one set of weights.

    Attributes:
        buffers: as of `FittedPuffeRL.gathered`, [agents, horizon, ...].
        stats: results of the engagements told of meanwhile, by name.
        seconds: how long it took.
        stepped: what the environment has stepped meanwhile, by its own clock.
    """

    buffers: dict[str, np.ndarray]
    stats: dict[str, list[float]]
    seconds: float
    stepped: Stepped


class Collector:
    """Gathers experience on the CPU, in PuffeRL's own way, with one instance of the environment.

    Args:
        config: of a stage of the run, without any "auto".
        seed: of the engagements, and of the actions drawn.
        pool: the file of the pool, where env.opponent has one.
    """

    def __init__(self, config: Config, seed: int, pool: Path | None = None) -> None:
        torch.set_num_threads(1)
        source = "a collector"
        config = config.replaced("vec", source, backend="PufferEnv", num_envs=1)
        config = config.replaced("train", source, device="cpu", threads=1)
        spaces = model_file.policy_spaces(config["env"])
        rnn_name = config["base"]["rnn_name"]
        made_of = policy_class(config["base"]["policy_name"])
        self._policy = make_policy(spaces, config["policy"], rnn_name, config["rnn"], made_of)
        self._gatherer = _Gatherer(config, VecEnv(make_env, config, pool), self._policy, seed)
        seed_everything(seed)

    def collect(self, weights: dict[str, torch.Tensor]) -> Rollout:
        """Let the policy of these weights act for one segment of every agent.

        The buffers of the rollout are filled anew by the next one.
        """
        start, before = time.perf_counter(), self._gatherer.vecenv.stepped
        self._policy.load_state_dict(weights)
        self._gatherer.engine.load()
        self._gatherer.evaluate()
        stats = dict(self._gatherer.stats)
        self._gatherer.stats.clear()
        buffers = {name: one.numpy() for name, one in self._gatherer.gathered.items()}
        stepped = self._gatherer.vecenv.stepped.since(before)
        return Rollout(buffers, stats, time.perf_counter() - start, stepped)

    def close(self) -> None:
        """End the environment."""
        self._gatherer.vecenv.close()


class _Gatherer(FittedPuffeRL):
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
        super().__init__(settings, vecenv, policy)

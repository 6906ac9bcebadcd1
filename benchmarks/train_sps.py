"""Speed of training by engine, threads, minibatch and width, and the environment's share.

Every combination is trained in turns, for some updates each; the tables give medians. Last comes
the configuration as it is beside the same with an idle environment. That has the same spaces,
agents and buffers and writes nothing. The environment's share is the time in which the trainer
waits for it (performance/env), against all of its time.
"""

import itertools
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import torch
from common import compare, finish, machine, parse_training, print_machine, ratio

from midrange_puffer import Midrange
from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.puffer_import import pufferlib
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.loggers import Loggers
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.vector import VecEnv, make_env


class Idle(pufferlib.PufferEnv):
    """A PufferEnv of Midrange's shapes that does nothing."""

    def __init__(self, buf: dict[str, np.ndarray] | None = None, seed: int = 0, **kwargs) -> None:
        pattern = Midrange(**kwargs)
        self.num_agents = pattern.num_agents
        self.single_observation_space = pattern.single_observation_space
        self.single_action_space = pattern.single_action_space
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, list]:
        """Does nothing."""
        return self.observations, []

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """Does nothing."""
        return self.observations, self.rewards, self.terminals, self.truncations, []

    def close(self) -> None:
        """Does nothing."""


ENVIRONMENTS = {"midrange": make_env, "idle": Idle}
MINIBATCHES = (1024, 4096)
WIDTHS = (64, 128)


def run(
    config: Config, make: object, updates: int, folder: Path, pool: Pool | None = None
) -> dict[str, float]:
    """Trains for one update that does not count and then `updates` that do.

    Returns:
        sps, agent decisions a second; share, of the time that went to the environment.
    """
    seed_everything(config["train"]["seed"])
    spaces = spaces_of(config["env"]["observation"])
    policy = make_policy(spaces, config["policy"], config["base"]["rnn_name"], config["rnn"])
    with (
        closing(VecEnv(make, config, pool.path if pool else None)) as vecenv,
        closing(
            StageTrainer(
                Run(folder, config),
                Curriculum(config),
                vecenv,
                policy.to(config["train"]["device"]),
                Loggers(folder.name, []),
                pool,
            )
        ) as trainer,
    ):
        trainer.evaluate()
        trainer.train()
        before, steps = environment_seconds(trainer), trainer.global_step
        start = time.perf_counter()
        for _ in range(updates):
            trainer.evaluate()
            trainer.train()
        spent = time.perf_counter() - start
        return {
            "sps": (trainer.global_step - steps) / spent,
            "share": (environment_seconds(trainer) - before) / spent,
        }


def environment_seconds(trainer: StageTrainer) -> float:
    """Returns the time that the trainer has spent in its environments so far."""
    return trainer.profile.profiles["env"]["elapsed"]


def variants(config: Config) -> dict[str, Config]:
    """Returns the configuration with each engine, threads, minibatch and width, by name."""
    threads = sorted({1, this_machine().cores})
    engines = [("torch", 1), *(("native", count) for count in threads)]
    found = {}
    for (engine, count), size, width in itertools.product(engines, MINIBATCHES, WIDTHS):
        one = config.replaced("policy", "a variant", hidden_size=width)
        one = one.replaced(
            "train", "a variant", engine=engine, threads=count, torch_threads=1, minibatch_size=size
        )
        found[f"{engine}, {count} thread{'s' * (count > 1)}, {size:,}, {width}"] = one
    return found


def main() -> None:
    """Measures, prints, and writes the report if wanted."""
    options, overrides = parse_training(__doc__, "default.ini")
    config = settle(load_config(options.config, overrides), this_machine())
    torch.set_num_threads(config["train"]["torch_threads"])
    report = {"machine": machine(), "rounds": options.rounds, "updates": options.updates}
    print_machine(report["machine"])
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            name: partial(run, one, make_env, options.updates, Path(folder))
            for name, one in variants(config).items()
        }
        report["variants"] = compare(runs, options.rounds, "engine, threads, minibatch, width")
        runs = {
            name: partial(run, config, make, options.updates, Path(folder))
            for name, make in ENVIRONMENTS.items()
        }
        report |= compare(runs, options.rounds, "environment")
        both = (report[name]["rounds"] for name in ENVIRONMENTS)
        report["ratio"] = ratio(*both, "midrange / idle")
    rates = {name: figures["sps"] for name, figures in report["variants"].items()}
    rates |= {name: report[name]["sps"] for name in ENVIRONMENTS}
    finish("train_sps", report, rates, options)


if __name__ == "__main__":
    main()

"""Cost of a reward in numpy: examples/standoff.py against the environment alone, in turns.

First the environment is stepped with random actions, in one thread; then a policy is trained with
the numbers of the configuration.
"""

import statistics
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import torch
from common import ROOT, compare, finish, machine, parse_training, print_machine, print_table, ratio
from train_sps import run

from midrange_puffer import _core
from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.envs.own_env import env_class
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.vector import make_env

EXAMPLE = f"{ROOT / 'examples' / 'standoff.py'}:Standoff"
STEPS = 2000  # timed in a round


def step_rate(config: Config) -> dict[str, float]:
    """Returns the agent decisions a second of an environment alone, flown at random."""
    env = env_class(config["base"]["env_class"])(**{**config["env"], "threads": 1})
    env.reset(0)
    rng = np.random.default_rng(0)
    actions = [
        rng.integers(0, _core.ACTION_LEVELS, (env.num_agents, 3), np.int32) for _ in range(64)
    ]
    for step in actions:  # warm up
        env.step(step)
    start = time.perf_counter()
    for step in range(STEPS):
        env.step(actions[step % len(actions)])
    return {"sps": STEPS * env.num_agents / (time.perf_counter() - start)}


def compare_steps(configs: Mapping[str, Config], rounds: int) -> dict[str, object]:
    """Steps in turns, `rounds` times each; prints and returns the results."""
    rates = {name: [] for name in configs}
    for _ in range(rounds):
        for name, config in configs.items():
            rates[name].append(step_rate(config))
    medians = {name: statistics.median(one["sps"] for one in of) for name, of in rates.items()}
    rows = [(name, f"{median:,.0f}") for name, median in medians.items()]
    columns = ["environment", "agent-steps/s"]
    print_table(f"Stepping in one thread, median of {rounds} rounds", columns, rows)
    return {"sps": medians, "ratio": ratio(*rates.values(), "own reward / without")}


def main() -> None:
    """Measures, prints, and writes the report if wanted."""
    options, overrides = parse_training(__doc__, "default.ini")
    words = {"own reward": [*overrides, "--env-class", EXAMPLE], "without": overrides}
    configs = {
        side: settle(load_config(options.config, words[side]), this_machine()) for side in words
    }
    env, train = configs["without"]["env"], configs["without"]["train"]
    torch.set_num_threads(train["torch_threads"])
    report = {"machine": machine(), "rounds": options.rounds, "updates": options.updates}
    print_machine(report["machine"])
    print(f"{env['num_envs']} engagements, {env['substeps']} substeps, {train['threads']} threads")
    report["stepping"] = compare_steps(configs, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            side: partial(run, config, make_env, options.updates, Path(folder))
            for side, config in configs.items()
        }
        report["training"] = compare(sides, options.rounds, "environment")
    rounds = (report["training"][side]["rounds"] for side in configs)
    report["training"]["ratio"] = ratio(*rounds, "own reward / without")
    rates = {f"stepping, {side}": sps for side, sps in report["stepping"]["sps"].items()}
    rates |= {f"training, {side}": report["training"][side]["sps"] for side in configs}
    finish("own_reward", report, rates, options)


if __name__ == "__main__":
    main()

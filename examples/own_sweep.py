"""A search of your own: Protein suggests, this program trains and evaluates. About a minute.

python examples/own_sweep.py [--trials 6]
"""

import argparse
import time

from midrange_puffer.evaluate import evaluate
from midrange_puffer.training import Sweep, Trainer, load_config

STEPS = 2_000_000  # agent decisions of a trial


def main() -> None:
    """Tries some settings, and prints the best."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("overrides", nargs="*", help="of the configuration: key=value")
    options = parser.parse_args()
    overrides = {"train.total_timesteps": STEPS, "league.interval": 0, "train.replay_interval": 0}
    overrides |= dict(pair.split("=", 1) for pair in options.overrides)
    sweep = Sweep(load_config("configs/sweep.ini", overrides))
    for _ in range(options.trials):
        trial, start = sweep.suggest(), time.perf_counter()
        with Trainer(trial.config) as trainer:
            trainer.run()
            seconds, path = time.perf_counter() - start, trainer.save()
        score = evaluate(path, "evader:1,ace:1", episodes=200)["score"]
        sweep.observe(trial, score, seconds)
        print(f"trial {trial.number}: score {score:.3f} after {seconds:.0f} s", flush=True)
    print(f"best: trial {sweep.best.number}", *sweep.best.params.items(), sep="\n  ")


if __name__ == "__main__":
    main()

"""A training loop of your own: it stops at a score, saves and evaluates. 15 s on two cores.

python examples/own_loop.py [--goal 0.9]
"""

import argparse

from midrange_puffer.checkpoint import load_policy
from midrange_puffer.evaluate import evaluate
from midrange_puffer.training import Trainer, load_config


class Curve(list):
    """A logger: any object with a method `log`."""

    def log(self, metrics: dict[str, float], step: int) -> None:
        """Stores the score of an update."""
        self.append((step, metrics.get("environment/score")))


def main() -> None:
    """Trains until the policy reaches the goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--goal", type=float, default=0.9, help="mean score against the pilots")
    parser.add_argument("overrides", nargs="*", help="of the configuration: key=value")
    options = parser.parse_args()
    overrides = dict(pair.split("=", 1) for pair in options.overrides)
    curve = Curve()
    with Trainer(load_config("configs/default.ini", overrides), logger=curve) as trainer:
        while not (trainer.is_over or (trainer.score or 0) >= options.goal):
            trainer.evaluate()
            trainer.train()
        path = trainer.save(metadata={"goal": options.goal})
    print(f"{path}: {len(curve)} updates, {curve[-1][0]:,} decisions")
    policy, about = load_policy(path)
    result = evaluate(policy, "ace", episodes=200)
    print(f"goal {about['metadata']['goal']}; against ace it scores {result['score']:.3f}")


if __name__ == "__main__":
    main()

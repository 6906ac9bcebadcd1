"""Tunes a training by Ray Tune instead of Protein: python examples/ray_tune.py.

    pip install 'ray[tune]' 'pyarrow<21'

Newer releases of pyarrow need numpy 2, and training needs numpy 1.

Each trial is a `Trainer` in a process of Ray's, and reports its score after each update. ASHA stops
trials that are behind.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping

from midrange_puffer.training import Trainer, load_config


def train(settings: Mapping[str, object], report: Callable[[dict[str, float]], None]) -> None:
    """Trains with settings by key, such as {"train.learning_rate": 0.05}, and reports scores."""
    with tempfile.TemporaryDirectory() as folder:
        config = load_config("configs/default.ini", {**settings, "train.data_dir": folder})
        with Trainer(config) as trainer:
            while not trainer.is_over:
                trainer.evaluate()
                trainer.train()
                if trainer.score is not None:
                    report({"score": trainer.score, "steps": trainer.global_step})


def main() -> None:
    """Searches, and prints the best settings."""
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--steps", type=int, default=2_000_000, help="of each trial")
    options = parser.parse_args()
    space = {
        "train.learning_rate": tune.loguniform(0.005, 0.2),
        "train.ent_coef": tune.loguniform(0.0005, 0.02),
        "train.total_timesteps": options.steps,
        "train.threads": 1,  # the core that Ray gives a trial
    }
    tuner = tune.Tuner(
        lambda settings: train(settings, tune.report),
        param_space=space,
        tune_config=tune.TuneConfig(
            metric="score",
            mode="max",
            num_samples=options.trials,
            scheduler=ASHAScheduler("steps", max_t=options.steps, grace_period=options.steps // 4),
        ),
    )
    best = tuner.fit().get_best_result()
    print(f"score {best.metrics['score']:.3f} with {best.config}")


if __name__ == "__main__":
    main()

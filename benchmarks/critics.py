"""Central critics compared with the agents' own: scores after equal decisions, and processor time.

    python benchmarks/critics.py --game team2 --critics own,side --seeds 3 --steps 4_000_000
    python benchmarks/critics.py --game radar --critics own,side,truth
    python benchmarks/critics.py --game team2 --steps 800_000 --seeds 5 --episodes 0  # speed alone

Trains configs/<game>.ini with each critic by turns, on the same seeds, with one thread. Each last
policy then meets the scripted pilots. The tables have

    mean, lowest   its scores over the pilots (win 1, draw 1/2), and the pilot of the lowest one
    explained      part of the returns' variance that the values explain, mean of the last quarter
    us             processor time of a decision: environment, inference and learning
    ratio          decisions a processor second, against `own` on the same seed

The learning rate's schedule ends with --steps, so a short run is not the start of a long one. Runs
that are in --out already are not trained again, and their time is that of their report.
"""

import argparse
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from common import CONSOLE, ROOT, machine, print_machine, print_table

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.key import check_even
from midrange_puffer.config.schema import game_parameters
from midrange_puffer.files import open_folder, write_json
from midrange_puffer.game.parameters import PILOTS

EXPLAINED = "losses/explained_variance"
RESULT = "critic.json"  # in each run's folder
SEED = 2**32  # of the starts of evaluation


def main() -> None:
    """Trains, evaluates, prints the tables."""
    options, overrides = _parse()
    critics, results = options.critics.split(","), []
    print_machine(machine())
    for seed in range(options.seeds):
        for critic in critics:
            folder = Path(options.out, options.game, f"{seed}-{critic}")
            path = folder / RESULT
            if not path.exists():
                open_folder(folder.parent)
                write_json(path, _train(options, overrides, critic, seed, folder))
            results.append(json.loads(path.read_text(encoding="utf-8")))
            CONSOLE.print(*(f"{name} {value}" for name, value in results[-1].items()))
    print_results(results)


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Further options, --section.key VALUE, go to the configuration.",
        allow_abbrev=False,
    )
    parser.add_argument("--game", default="team2", help="configs/<game>.ini")
    parser.add_argument("--critics", default="own,side", help="values of train.critic")
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, 2, …")
    parser.add_argument("--steps", type=int, default=4_000_000, help="agent decisions of a run")
    parser.add_argument("--episodes", type=int, default=500, help="against each pilot; 0: none")
    parser.add_argument("--out", default="experiments/critics", help="folder of the runs")
    options, overrides = parser.parse_known_args()
    if options.episodes:
        check_even(options.episodes)
    return options, overrides


def _train(
    options: argparse.Namespace, overrides: Sequence[str], critic: str, seed: int, folder: Path
) -> dict[str, object]:
    """Trains one run; returns its figures."""
    from midrange_puffer.training import Trainer, load_config  # bring torch along

    words = [
        f"--train.critic={critic}",
        f"--train.seed={seed}",
        f"--train.total-timesteps={options.steps}",
        f"--train.data-dir={folder.parent}",
        f"--train.run-name={folder.name}",
        "--train.threads=1",
        "--train.replay-interval=0",
        "--league.interval=0",
    ]
    config = load_config(ROOT / "configs" / f"{options.game}.ini", [*words, *overrides])
    explained, spent = [], 0.0
    with Trainer(config) as trainer:
        while not trainer.is_over:
            start = time.process_time()
            trainer.evaluate()
            explained.append(trainer.train()[EXPLAINED])
            if len(explained) > 1:  # the first update brings what the others find in place
                spent += time.process_time() - start
            else:
                first = trainer.global_step
        decisions = trainer.global_step - first
        scores = _scores(trainer.policy, trainer.config, options.episodes)
    lowest = min(scores, key=scores.__getitem__, default="")
    return {
        "critic": critic,
        "seed": seed,
        "steps": trainer.global_step,
        "mean": round(statistics.fmean(scores.values()), 3) if scores else None,
        "lowest": f"{lowest} {scores[lowest]:.3f}" if scores else None,
        "explained": round(statistics.fmean(explained[-(len(explained) // 4 + 1) :]), 3),
        "us": round(1e6 * spent / decisions, 3),
    }


def _scores(policy: object, config: Config, episodes: int) -> dict[str, float]:
    """Returns a policy's scores against the pilots, by name; empty without episodes."""
    from midrange_puffer.contest.evaluation import evaluate

    game = game_parameters(config.env)
    pilots = PILOTS if episodes else ()
    return {pilot: evaluate(policy, pilot, episodes, SEED, **game)["score"] for pilot in pilots}


def print_results(results: Sequence[Mapping[str, object]]) -> None:
    """Prints a row for each run, and the means of each critic."""
    own = {result["seed"]: result["us"] for result in results if result["critic"] == "own"}
    rows = []
    for result in results:
        own_time = own.get(result["seed"])
        ratio = f"{own_time / result['us']:.2f}" if own_time else "-"
        rows.append(["-" if value is None else value for value in result.values()] + [ratio])
    print_table("Runs", [*results[0], "ratio"], rows)
    summary = []
    for critic in dict.fromkeys(result["critic"] for result in results):
        its = [result for result in results if result["critic"] == critic]
        means = [result["mean"] for result in its if result["mean"] is not None]
        ratios = [own[result["seed"]] / result["us"] for result in its if result["seed"] in own]
        summary.append(
            [
                critic,
                f"{statistics.fmean(means):.3f}" if means else "-",
                f"{statistics.fmean(result['explained'] for result in its):.3f}",
                f"{statistics.median(ratios):.2f}" if ratios else "-",
            ]
        )
    columns = ["critic", "mean score", "explained", "ratio (median)"]
    print_table(f"Critics, {len(own) or 1} seeds", columns, summary)


if __name__ == "__main__":
    main()

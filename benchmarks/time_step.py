"""The physics step against speed and accuracy: python benchmarks/time_step.py (40 seconds).

A decision always lasts 0.5 s; it has more or fewer physics steps. Every step is compared with the
shortest, 0.005 s:

* speed: agent decisions a second of Midrange.step, self-play, random actions that fire in every
  second decision, one thread; the steps take turns;
* turn: how far a fighter is from where it should be after 60 s of full rudder at full throttle;
* missile: the same for a missile 30 s after its launch, which follows a turning fighter;
* R_aero, R_NEZ: how far the ranges of the game's envelope map are off, at most 95 % of them;
* same end: engagements between `ace` and `crank` from the same starts with the same outcome;
* ace: the score of `ace` in them;
* policy: the score of `trained`, which learned with 0.1 s, against `ace`.
"""

import argparse
import time
from collections.abc import Mapping

import numpy as np
from common import (
    add_report_options,
    finish,
    machine,
    median_and_spread,
    print_machine,
    print_table,
)
from layers import draw_actions

from midrange_puffer import Midrange, Simulation
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.parameters import resolve

DECISION = 0.5  # s
EXACT = 0.005  # s, of the step that the others are compared with
STEPS = (EXACT, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
ENGAGEMENTS = 2048
SECONDS = 0.5  # of one timing


def main() -> None:
    """Measures, prints a table, and writes it to --json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="timings of each step")
    parser.add_argument("--episodes", type=int, default=2000, help="engagements of each comparison")
    add_report_options(parser)
    options = parser.parse_args()
    import torch  # not before: --help is to come at once

    torch.set_num_threads(1)
    games = {step: resolve(_division(step)) for step in STEPS}
    rates = measure_rates(games, options.rounds)
    flown = {step: fly(game, options.episodes) for step, game in games.items()}
    report = {"machine": machine(), "rounds": options.rounds, "steps": {}}
    for step in STEPS:
        rate, spread = median_and_spread(rates[step])
        found = {"rate": round(rate), "spread": round(spread, 3)}
        report["steps"][step] = found | errors(flown[step], flown[EXACT])
    _print(report)
    rates = {f"{step:g} s": figures["rate"] for step, figures in report["steps"].items()}
    finish("time_step", report, rates, options)


def measure_rates(games: Mapping[float, dict[str, float]], rounds: int) -> dict[float, list[float]]:
    """Returns the agent decisions a second with each step, in turns."""
    envs = {}
    for step, game in games.items():
        envs[step] = Midrange(num_envs=ENGAGEMENTS, opponent="self", **game)
        envs[step].reset()
    actions = draw_actions(2 * ENGAGEMENTS, fire=0.5)
    rates = {step: [] for step in games}
    for place in range(rounds + 1):
        for step, env in envs.items():
            decisions, start = 0, time.perf_counter()
            while (passed := time.perf_counter() - start) < SECONDS:
                env.step(next(actions))
                decisions += env.num_agents
            if place:  # before it, missiles had to get into the air
                rates[step].append(decisions / passed)
    return rates


def fly(game: dict[str, float], episodes: int) -> dict[str, np.ndarray | float]:
    """Returns the figures of flights from which the errors of a step are computed."""
    sim = Simulation(num_envs=1, seed=0, **game)
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=0, speed=300)
    sim.set_fighter(0, 1, x=30_000, y=0, heading_deg=180, speed=300)
    sim.launch(0, 0)
    turning = np.array([[[1.0, 1.0, 0.0], [0.3, 1.0, 0.0]]])
    for _ in range(round(30 / DECISION)):
        sim.step(turning)
    missile = np.array([sim.missiles[axis][0, 0] for axis in "xy"])
    for _ in range(round(30 / DECISION)):
        sim.step(turning)
    fighter = np.array([sim.fighters[axis][0, 0] for axis in "xy"])
    envelope = game_envelope(game)
    # Imported here, because they bring torch along: --help is to come at once.
    from midrange_puffer.contest.evaluation import evaluate, fight, summarize
    from midrange_puffer.policies.loading import load_policy

    policy, _ = load_policy("trained")
    pilots = fight("ace", "crank", episodes, 0, False, lambda count: None, parameters=game)
    return {
        "turn": fighter,
        "missile": missile,
        "aero": envelope.aero,
        "nez": envelope.nez,
        "ends": np.concatenate([records["outcome"] for records in pilots]),
        "ace": summarize(pilots, game)["score"],
        "policy": evaluate(policy, "ace", episodes, **game)["score"],
    }


def errors(
    flown: Mapping[str, np.ndarray | float], exact: Mapping[str, np.ndarray | float]
) -> dict[str, float]:
    """Differences from the shortest step: distances and ranges in metres, shares, a score."""
    found = {name: float(np.linalg.norm(flown[name] - exact[name])) for name in ("turn", "missile")}
    for name in ("aero", "nez"):
        found[name] = float(np.quantile(np.abs(flown[name] - exact[name]), 0.95))
    found["same_end"] = float((flown["ends"] == exact["ends"]).mean())
    return {**found, "ace": flown["ace"], "policy": flown["policy"]}


def _division(step: float) -> dict[str, float]:
    """Returns the parameters that divide a decision into steps of this length."""
    return {"physics_dt": step, "substeps": round(DECISION / step)}


def _print(report: Mapping[str, object]) -> None:
    print_machine(report["machine"])
    rows = [
        (
            f"{step:g}",
            round(DECISION / step),
            f"{found['rate'] / 1e6:.2f}",
            f"{found['turn']:.1f}",
            f"{found['missile']:.1f}",
            f"{found['aero']:.0f}",
            f"{found['nez']:.0f}",
            f"{found['same_end']:.1%}",
            f"{found['ace']:.3f}",
            f"{found['policy']:.3f}",
        )
        for step, found in report["steps"].items()
    ]
    columns = ["physics_dt s", "substeps", "M decisions/s", "turn m", "missile m"]
    columns += ["R_aero m", "R_NEZ m", "same end", "ace", "policy"]
    print_table("A decision of 0.5 s in physics steps of various lengths", columns, rows)


if __name__ == "__main__":
    main()

"""The speed of each game, as a share of one against one with full information in its dimensions.

    python benchmarks/games.py

Agent decisions a second of `Midrange.step`, with resets and observations, one thread. All fighters
are agents and play random actions drawn beforehand, which fire once in 50 decisions of 5 physics
steps. Each game has 4,096 fighters (of 8 against 8, 256 engagements). The games of the same
dimensions are timed in turns, 7 rounds of 0.3 s, after five simulated minutes.
"""

import argparse
import itertools
import operator
import statistics
import time
from collections.abc import Iterator

import numpy as np
from common import add_report_options, finish, machine, print_machine, print_table

from midrange_puffer import Midrange
from midrange_puffer.game.parameters import SELF

ROUNDS, SECONDS = 7, 0.3  # of a round
FIGHTERS, SUBSTEPS = 4096, 5
WARM_UP = 600  # decisions of 0.5 s
FIRE = 0.02  # probability to fire
PLAIN = "1v1"
RADAR = {"sensing": "radar"}
NOISE = {"radar_noise_bearing_deg": 1, "radar_noise_range": 100, "radar_noise_speed": 5}
JAMMING = {"red_jammer": 12_000, "blue_jammer": 12_000}
ESCORT = {"mission": "escort", "time_limit": 480, "start_range_max": 50_000}
SYSTEMS = {"emission_control": "on", "chaff": 6}
GAMES = {
    PLAIN: {},
    "1v1, sensors": RADAR,
    "1v1, sensors, noise": RADAR | NOISE,
    "1v1, sensors, jammers": RADAR | JAMMING,
    "1v1, sensors, emission control and chaff": RADAR | SYSTEMS,
    "1v1, sensors, all of these": RADAR | NOISE | JAMMING | SYSTEMS,
    "1v1, line": {"mission": "line", "time_limit": 480},
} | {
    f"{side}v{side}{words}": {"red_size": side, "blue_size": side} | settings
    for side in (2, 4, 8)
    for words, settings in (("", {}), (", sensors", RADAR), (", escort", ESCORT))
}


class Game:
    """A game that is timed.

    Args:
        settings: of its [env] section
    """

    def __init__(self, settings: dict[str, object]) -> None:
        fighters = settings.get("red_size", 1) + settings.get("blue_size", 1)
        self._env = Midrange(FIGHTERS // fighters, opponent=SELF, substeps=SUBSTEPS, **settings)
        self._env.reset(seed=0)
        self._actions = draw_actions(self._env)
        self.rates: list[float] = []  # agent decisions a second
        for _ in range(WARM_UP):
            self._env.step(next(self._actions))

    def time_round(self) -> None:
        """Adds the rate of one round."""
        decisions, start = 0, time.perf_counter()
        while (seconds := time.perf_counter() - start) < SECONDS:
            self._env.step(next(self._actions))
            decisions += self._env.num_agents
        self.rates.append(decisions / seconds)


def draw_actions(env: Midrange) -> Iterator[np.ndarray]:
    """Yields random actions, int32 [agents, controls], repeatedly from a pool of 64."""
    space = env.single_action_space
    rng = np.random.default_rng(0)
    pool = rng.integers(space.nvec, size=(64, env.num_agents, len(space.nvec)), dtype=np.int32)
    pool[..., -1] *= rng.random(pool.shape[:2]) < FIRE
    return itertools.cycle(pool)


def main() -> None:
    """Times the games of both dimensions, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_report_options(parser)
    options = parser.parse_args()
    report = {"machine": machine(), "rows": []}
    print_machine(report["machine"])
    for dimensions in (2, 3):
        games = {
            name: Game(settings | {"dimensions": dimensions}) for name, settings in GAMES.items()
        }
        for _ in range(ROUNDS):
            for game in games.values():
                game.time_round()
        for name, game in games.items():
            ratio = statistics.median(map(operator.truediv, game.rates, games[PLAIN].rates))
            report["rows"].append({
                "dimensions": dimensions, "game": name,
                "decisions_per_s": round(statistics.median(game.rates)), "ratio": round(ratio, 3),
            })  # fmt: skip
    rows = [
        (
            row["dimensions"],
            row["game"],
            f"{row['decisions_per_s'] / 1e6:.3g}",
            f"{row['ratio']:.2f}",
        )
        for row in report["rows"]
    ]
    print_table(
        f"Million agent decisions a second, and the ratio to {PLAIN} in the same round: medians",
        ["dimensions", "game", "M/s", f"of {PLAIN}"],
        rows,
    )
    rates = {
        f"{row['game']}, {row['dimensions']}": row["decisions_per_s"] for row in report["rows"]
    }
    finish("games", report, rates, options)


if __name__ == "__main__":
    main()

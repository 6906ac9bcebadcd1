"""A policy of one against one that flies in a team, as if alone with the nearest enemy.

    puffer eval midrange --load-model-path RUN --opponent examples/side_by_side.py:fly
    python examples/side_by_side.py RUN/model_000712.pt    # compare both against the pilots

Each fighter of the side observes its own state, the first enemy of its team observation, and the
missiles, as in one against one. It ignores all other fighters, and fires only at that enemy. A
comparison with a team policy shows the effect of team play.
"""

import sys
from functools import cache

import numpy as np

from midrange_puffer import FEATURES, Feature, features_of
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.contest.match import Contestant, Fight, play
from midrange_puffer.game.observation import enemies_of, rows_of
from midrange_puffer.game.parameters import PARAMETERS, PILOTS, sizes_of
from midrange_puffer.game.records import outcomes
from midrange_puffer.policies.player import Player

MODEL = "trained"  # made by configs/default.ini
MAX_FIGHTERS = 1 << 20
ENGAGEMENTS = 500  # in each seat
# Features with another name in a team's observation. A feature that a team's observation lacks, the
# number of the enemy's missiles in the air, is set to 0.
NAMES = {
    "enemy_alive": "enemy_1_present",
    "own_aspect_ahead": "enemy_1_aspect_ahead",
    "own_aspect_left": "enemy_1_aspect_left",
    "own_reach": "enemy_1_own_reach",
}


@cache
def _columns(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns each one-against-one feature's column in a team observation, and if it is missing."""
    table = {row.name: place for place, row in enumerate(features_of("team", size, size))}

    def place(feature: Feature) -> int:
        name = feature.name
        for team_name in (name, NAMES.get(name), name.replace("enemy_", "enemy_1_")):
            if team_name in table:
                return table[team_name]
        return -1

    columns = np.array([place(feature) for feature in FEATURES])
    return columns, columns < 0


@cache
def _player() -> Player:
    policy, _ = load_policy(MODEL)
    return Player(policy, MAX_FIGHTERS, seed=0)


def fly(observations: np.ndarray) -> np.ndarray:
    """Returns controls float32 [n, 3] for a team's observations float32 [n, features]."""
    columns, missing = _columns(enemies_of(rows_of(observations.shape[1])).rows)
    alone = np.ascontiguousarray(observations[:, columns])
    alone[:, missing] = 0
    controls = _player().act(alone, np.arange(len(alone)))
    fires = controls[:, 2] > 0.5
    controls[fires, 2] = 2  # at the first enemy in the observation
    return controls


def measure(contestant: Contestant, pilot: str, parameters: dict[str, float]) -> tuple[float, ...]:
    """Returns the score, and missiles fired and fighters lost for each kill."""
    fights = [Fight(contestant, pilot), Fight(pilot, contestant)]
    points, shots, lost, killed = [], 0, 0, 0
    for seat, records in enumerate(play(fights, ENGAGEMENTS, parameters=parameters)):
        result = outcomes(records, seat)
        points.append((result["win"] + result["draw"] / 2).mean())
        left = sizes_of(parameters) - records["survivors"]
        shots += records["shots"][:, seat].sum()
        lost, killed = lost + left[:, seat].sum(), killed + left[:, 1 - seat].sum()
    return float(np.mean(points)), shots / killed, lost / killed


if __name__ == "__main__":
    policy, about = load_policy(sys.argv[1])
    game = {name: about["env"].get(name, row.default) for name, row in PARAMETERS.items()}
    print("against             who     score   missiles a kill   losses a kill")
    for pilot in PILOTS:
        for name, contestant in (("team", policy), ("side by side", fly)):
            score, missiles, losses = measure(contestant, pilot, game)
            print(f"{pilot:16} {name:12} {score:7.3f} {missiles:12.2f} {losses:15.2f}")

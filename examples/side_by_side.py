"""A policy of one against one flies in a team, as if alone with the nearest enemy.

    puffer eval midrange --load-model-path RUN --opponent examples/side_by_side.py:fly
    python examples/side_by_side.py RUN/model_000712.pt    # what each does against the pilots

Each fighter of its side sees its own state, the first enemy of its observation, and the missiles,
as it would in one against one. It knows nothing of the others, and fires at that enemy alone. This
is what a team is measured against: what does it do that its fighters side by side do not?
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

MODEL = "trained"  # of configs/default.ini
MOST = 1 << 20  # fighters
ENGAGEMENTS = 500  # in each seat
# Features that have another name in a row of a team's observation. What there is none of is 0: how
# many missiles the enemy has in the air.
NAMES = {
    "enemy_alive": "enemy_1_present",
    "own_aspect_ahead": "enemy_1_aspect_ahead",
    "own_aspect_left": "enemy_1_aspect_left",
    "own_reach": "enemy_1_own_reach",
}


@cache
def _columns(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each feature of one against one is in a team's observation, and where that is none."""
    table = {row.name: place for place, row in enumerate(features_of("team", size, size))}

    def place(feature: Feature) -> int:
        name = feature.name
        for known in (name, NAMES.get(name), name.replace("enemy_", "enemy_1_")):
            if known in table:
                return table[known]
        return -1

    columns = np.array([place(feature) for feature in FEATURES])
    return columns, columns < 0


@cache
def _player() -> Player:
    policy, _ = load_policy(MODEL)
    return Player(policy, MOST, seed=0)


def fly(observations: np.ndarray) -> np.ndarray:
    """Controls float32 [n, 3] for a team's observations float32 [n, features]."""
    columns, missing = _columns(enemies_of(rows_of(observations.shape[1])).rows)
    alone = np.ascontiguousarray(observations[:, columns])
    alone[:, missing] = 0
    controls = _player().act(alone, np.arange(len(alone)))
    fires = controls[:, 2] > 0.5
    controls[fires, 2] = 2  # at the first enemy in the observation
    return controls


def measure(who: Contestant, pilot: str, parameters: dict[str, float]) -> tuple[float, ...]:
    """Score, and missiles fired and own losses for each enemy shot down."""
    fights = [Fight(who, pilot), Fight(pilot, who)]
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
        for name, who in (("team", policy), ("side by side", fly)):
            score, missiles, losses = measure(who, pilot, game)
            print(f"{pilot:16} {name:12} {score:7.3f} {missiles:12.2f} {losses:15.2f}")

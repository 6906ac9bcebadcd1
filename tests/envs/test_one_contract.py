"""One contract of a user's own function, in every place that takes an opponent."""

from collections.abc import Callable

import numpy as np
import pytest
from places import EXAMPLES
from quick_fights import SHORT

from midrange_puffer import Midrange
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.evaluate import evaluate
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.game.parameters import resolve
from midrange_puffer.gym import MidrangeEnv, MidrangeVectorEnv
from midrange_puffer.gymnasium_import import gymnasium
from midrange_puffer.policies import own_code
from midrange_puffer.policies.contestants import find_contestant
from midrange_puffer.replays.session import Session
from midrange_puffer.sb3 import MidrangeVecEnv
from midrange_puffer.show.engagement_plot import record_engagement

SNIPER = f"{EXAMPLES / 'own_opponent.py'}:sniper"


def levels(observations: np.ndarray) -> np.ndarray:
    """Turns and fires on one side of the enemy's nose, in levels."""
    left = observations[:, 15] > 0
    return np.stack([4 * left, 2 * np.ones(len(left), int), left], axis=1)


def numbers(observations: np.ndarray) -> np.ndarray:
    """Flies as `levels` does, in controls."""
    return controls(levels(observations), PLANE)


def flown(env, *first) -> list:
    """Returns all observations of an environment under fixed actions."""
    seen = [np.array(first[0])]
    action = np.tile((2, 2, 0), (*seen[0].shape[:-1], 1))
    for _ in range(60):
        results = env.step(action.reshape(*seen[0].shape[:-1], 3))
        seen.append(results[0].copy())
        if results[2] is True or results[3] is True:  # the only engagement's end
            break
    return np.array(seen).tolist()


def by_reset(make: Callable) -> Callable:
    def observations(opponent):
        env = make(opponent=opponent, **SHORT)
        return flown(env, env.reset(seed=3)[0].copy())

    return observations


def in_sb3(opponent):
    env = MidrangeVecEnv(3, opponent, **SHORT)
    env.seed(3)
    return flown(env, env.reset())


def in_session(opponent):
    session = Session(("weave", find_contestant("opponent", opponent)), ("a", "b"), 3)
    for _ in range(40):
        session.step()
    return session.sim.observe().tolist()


def in_play(opponent):
    fight = Fight("weave", find_contestant("opponent", opponent))
    return play([fight], 8, parameters=resolve(SHORT))[0].tobytes()


def in_plot(opponent):
    flyer = find_contestant("opponent", opponent)
    return record_engagement("weave", flyer, **SHORT).paths.fighters


PLACES = {
    "Midrange": by_reset(lambda **given: Midrange(3, **given)),
    "Midrange, continuous": by_reset(
        lambda **given: Midrange(3, action_mode="continuous", **given)
    ),
    "MidrangeEnv": by_reset(MidrangeEnv),
    "gymnasium.make": by_reset(lambda **given: gymnasium.make("Midrange-v0", **given)),
    "MidrangeVectorEnv": by_reset(lambda **given: MidrangeVectorEnv(3, **given)),
    "MidrangeVecEnv": in_sb3,
    "evaluate": lambda opponent: evaluate("weave", opponent, 20, **SHORT),
    "evaluate, as the policy": lambda opponent: evaluate(opponent, "weave", 20, **SHORT),
    "play": in_play,
    "Session": in_session,
    "record_engagement": in_plot,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_function_flies_alike_in_levels_and_controls(place):
    outcome = PLACES[place](levels)
    assert outcome == PLACES[place](numbers)
    assert outcome != PLACES[place]("straight")


@pytest.mark.parametrize("place", PLACES)
def test_the_example_flies_alike_by_name_and_from_python(place):
    by_name = PLACES[place](SNIPER)
    assert PLACES[place](own_code.load(SNIPER)) == by_name

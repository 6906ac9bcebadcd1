"""A central critic's rows: the side's observations, or those with full information."""

import numpy as np
import pytest

from midrange_puffer import Midrange, _core
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import observed, resolve, seat_weights

SPREAD = {"start_spacing_min": 500.0, "start_spacing_max": 900.0}
NEAR = {"start_range_min": 5000.0, "start_range_max": 9000.0, "time_limit": 60.0}


def flown(env: Midrange, decisions: int, seed: int = 1) -> Midrange:
    """Returns the environment after some decisions with drawn actions."""
    rng = np.random.default_rng(seed)
    env.reset(seed)
    for _ in range(decisions):
        env.step(rng.integers(0, env.single_action_space.nvec, env.actions.shape))
    return env


def test_a_side_shares_what_its_living_fighters_observe():
    game = {"red_size": 3, "blue_size": 2, "opponent": "self:1,ace:1", **SPREAD, **NEAR}
    plain, side = (flown(Midrange(10, critic=one, **game), 70) for one in ("own", "side"))
    seen, rows = plain.observations, side.observations
    features = seen.shape[1]
    assert rows.shape == (len(seen), 3 * features)
    assert rows.shape[1:] == side.single_observation_space.shape
    np.testing.assert_array_equal(rows[:, :features], seen)
    np.testing.assert_array_equal(side.alive, plain.alive)
    assert 0 < plain.alive.mean() < 1
    for agent, row in enumerate(rows):
        mates = np.flatnonzero(plain.sides == plain.sides[agent])
        others = [seen[mate] for mate in mates if mate != agent]
        expected = np.zeros((2, features), np.float32)
        expected[: len(others)] = others
        np.testing.assert_array_equal(row[features:], expected.ravel())


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("size", [1, 2])
def test_the_truth_is_what_a_fighter_would_observe_without_sensors(size, dimensions):
    """The state of each fight, set in a game with full information, is observed the same."""
    game = {"red_size": size, "blue_size": size, "dimensions": dimensions, **NEAR}
    game |= SPREAD if size > 1 else {}
    env = flown(Midrange(40, "shooter", sensing="radar", critic="truth", **game), 25)
    core, full = env._groups[0].core, resolve({**game, "sensing": "full"}, teams=True)
    observation = observed("default", full)
    names = [feature.name for feature in features_of(observation, size, size)]
    agents = [seat_weights({"agent": 1.0})] * (2 * size)
    types = flown_types(full)
    other = _core.Core(full, 40, 0, agents, False, "auto", None, observation, types=types)
    for place in range(40):
        for fighter in range(core.fighters):
            other.set_fighter(place, fighter, core.get_fighter(place, fighter))
        for slot in range(core.slots):
            other.set_missile(place, slot, core.get_missile(place, slot))
    expected = np.zeros((40 * 2 * size, other.features), np.float32)
    other.observe_all(expected)
    expected = expected.reshape(40, 2 * size, -1)[:, :size].reshape(40 * size, -1)  # red's
    truth = env.observations[:, -other.features :]
    of_clock = [names.index(name) for name in names if "reload" in name or name == "time_left"]
    rest = np.setdiff1d(np.arange(len(names)), of_clock)
    missile = next(place for place, name in enumerate(names) if name.startswith("inbound"))
    assert truth[:, missile].any()
    np.testing.assert_allclose(truth[:, rest], expected[:, rest], atol=1e-6)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("seat", ["red", "blue"])
def test_the_truth_is_the_agents_where_a_crew_flies_the_enemies(size, seat):
    """A function that flies as `straight` does leaves the agents' truth as it is against that."""

    def fly(observations: np.ndarray) -> np.ndarray:
        return np.tile(np.array([0, 1, 0], np.float32), (len(observations), 1))

    game = {"red_size": size, "blue_size": size, "sensing": "radar", **NEAR}
    game |= SPREAD if size > 1 else {}
    by_pilot, by_crew = (
        flown(Midrange(6, opponent, seat=seat, critic="truth", **game), 10)
        for opponent in ("straight", fly)
    )
    np.testing.assert_array_equal(by_crew.observations, by_pilot.observations)


def test_a_critic_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"critic = 'sides': must be own or side or truth.*side"):
        Midrange(4, critic="sides")
    with pytest.raises(ValueError, match="critic = truth: with sensing = full every fighter"):
        Midrange(4, critic="truth")

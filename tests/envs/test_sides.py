"""Agents that are sides: the same fights as those of fighters, with the side's reward."""

import numpy as np
import pytest

from midrange_puffer import Midrange
from midrange_puffer.envs.own_reward import Decision

FLIES = {"action_mode": "orders", "time_limit": 31.5, "start_range_max": 30_000}
GAMES = {
    "pilots": {"opponent": "shooter", "red_size": 2, "blue_size": 2, "reward_kill": 0.2},
    "blue": {"opponent": "ace,evader", "red_size": 3, "blue_size": 3, "seat": "blue"},
    "self": {"opponent": "self:2,straight:1", "red_size": 2, "blue_size": 2, "reward_kill": 0.2},
    "sensors": {"opponent": "pair", "red_size": 2, "blue_size": 2, "sensing": "radar"},
    "height": {"opponent": "straight", "red_size": 2, "blue_size": 2, "dimensions": 3},
    "sixteen": {
        **{"opponent": "shooter", "red_size": 16, "blue_size": 16},
        **{"start_spacing_min": 300, "start_spacing_max": 900},
    },
}


def drawn(env: Midrange, rng: np.random.Generator) -> np.ndarray:
    levels = env.single_action_space.nvec
    return rng.integers(0, levels, (env.num_agents, len(levels)), np.int32)


@pytest.mark.parametrize("game", GAMES)
def test_a_side_is_its_fighters_one_after_another(game):
    settings, rng = FLIES | GAMES[game], np.random.default_rng(1)
    size, num_envs = settings["red_size"], 12
    sides = Midrange(num_envs, agents="side", seed=5, **settings)
    fighters = Midrange(num_envs, seed=5, **settings)
    features = fighters.single_observation_space.shape[0]
    assert sides.num_agents == fighters.num_agents // size
    assert sides.single_observation_space.shape == (size * features,)
    one = fighters.single_action_space.nvec.tolist()
    assert sides.single_action_space.nvec.tolist() == one * size
    seen, _ = sides.reset()
    fighters.reset()
    ends, dead = 0, 0
    for _ in range(60):
        assert np.array_equal(seen.reshape(-1, features), fighters.observations)
        actions = drawn(sides, rng)
        seen, rewards, terminals, truncations, _ = sides.step(actions)
        fighters.step(actions.reshape(fighters.num_agents, -1))
        of_sides = fighters.rewards.reshape(-1, size)
        assert np.allclose(rewards, of_sides.mean(axis=1), rtol=1e-6, atol=1e-7)
        for side, fighter in zip(
            (terminals, truncations), (fighters.terminals, fighters.truncations), strict=True
        ):
            assert np.array_equal(np.repeat(side, size), fighter)
        living = fighters.alive.reshape(-1, size)
        assert np.array_equal(sides.alive, living.any(axis=1))
        ends += int((terminals | truncations).sum())
        dead += int((~living).sum())
    assert ends > 10
    assert dead > 0 or game == "height"
    assert sides.masks.all()
    assert sides.state_hash() == fighters.state_hash()


class Paid(Midrange):
    """A reward of a user's own."""

    def own_reward(self, decision: Decision) -> dict[str, np.ndarray]:
        return {"own": np.zeros(self.num_agents)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"agents": "sides"}, "agents = 'sides': must be .*did you mean 'side'"),
        ({"action_mode": "discrete"}, "agents = side: a commander gives orders, and this is"),
        ({"blue_size": 3}, "needs two equal sides .* red_size = 2, blue_size = 3"),
        ({"red_size": 1, "blue_size": 1}, "needs two equal sides of at least 2 fighters"),
        ({"critic": "side"}, "sees its side already; must be own"),
    ],
)
def test_no_commander_where_there_is_nothing_to_command(settings, message):
    given = {"action_mode": "orders", "agents": "side", "red_size": 2, "blue_size": 2} | settings
    with pytest.raises(ValueError, match=message):
        Midrange(2, **given)


def test_a_reward_of_fighters_is_refused_and_a_wrong_level_named():
    game = {"action_mode": "orders", "agents": "side", "red_size": 2, "blue_size": 2}
    with pytest.raises(ValueError, match=r"Paid.own_reward pays fighters; must be fighter"):
        Paid(2, **game)
    env = Midrange(2, **game)
    env.reset()
    with pytest.raises(ValueError, match="= 6: order of fighter 1 must be from 0 to 5"):
        env.step(np.array([[0] * 6, [0, 0, 0, 6, 0, 0]]))

"""Environments with action_mode = orders: a step is several decisions, summed up."""

import numpy as np
import pytest
from policies import random_policy

from midrange_puffer import Midrange, Simulation, gym, pettingzoo
from midrange_puffer.game.orders import heads_of

FLIES = {"action_mode": "orders", "time_limit": 31.5, "start_range_max": 30_000}
TEAM = {"red_size": 2, "blue_size": 2, "reward_kill": 0.1}


def orders_for(env: Midrange, seed: int) -> np.ndarray:
    levels = env.single_action_space.nvec
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, (env.num_agents, len(levels)), np.int32)


@pytest.mark.parametrize(
    "settings",
    [
        {"opponent": "shooter"},
        {"opponent": "self", **TEAM},
        {"opponent": "shooter", "seat": "blue"},
    ],
    ids=["pilot", "team", "blue"],
)
def test_a_step_sums_the_decisions_of_an_order_up_to_the_end(settings):
    """The same orders, decision by decision: the rewards of the next engagement are left out."""
    whole = Midrange(24, order_decisions=4, **FLIES, **settings)
    single = Midrange(24, order_decisions=1, **FLIES, **settings)
    whole.reset()
    single.reset()
    ends, cut = 0, 0
    for step in range(40):
        orders = orders_for(whole, step)
        whole.step(orders)
        rewards = np.zeros(whole.num_agents, np.float32)
        ended = np.zeros((2, whole.num_agents), bool)
        for decision in range(4):
            single.step(orders)
            running = ~ended.any(axis=0)
            rewards += np.where(running, single.rewards, 0)
            ended |= running & np.stack([single.terminals, single.truncations])
            cut += decision < 3 and bool((running & ended.any(axis=0)).any())
        assert np.array_equal(whole.observations, single.observations)
        assert np.array_equal(whole.rewards, rewards)
        assert np.array_equal([whole.terminals, whole.truncations], ended)
        ends += int(ended.sum())
    assert ends > 20
    assert cut > 0
    assert whole.state_hash() == single.state_hash()


def test_infos_come_one_time_limit_after_the_start_of_an_engagement():
    env = Midrange(8, opponent="straight", order_decisions=3, **FLIES)
    env.reset()
    seen, steps = 0, 0
    while not seen:
        *_, infos = env.step(orders_for(env, steps))
        steps += 1
        seen = sum(len(info.get("score", ())) for info in infos)
    assert seen == 8
    assert steps == 32  # infos are looked for every 32 steps; an engagement is 63 decisions


def test_an_own_reward_sees_the_end_of_the_engagement_and_the_length_of_the_step():
    class Watched(Midrange):
        reward_features = ("time_left",)

        def own_reward(self, decision):
            assert decision.seconds == 2
            ended = decision.terminals | decision.truncations
            assert np.array_equal(ended, np.isfinite(decision.result))
            over = decision.truncations
            self.seen = getattr(self, "seen", 0) + int(over.sum())
            assert np.allclose(decision.after.features["time_left"][over], 0, atol=1e-6)
            alive = decision.after.own.alive[over] * decision.after.enemy.alive[over]
            assert (alive == 1).all()
            return {"nothing": np.zeros(self.num_agents, np.float32)}

    env = Watched(16, opponent="straight", order_decisions=4, **FLIES)
    env.reset()
    for step in range(36):
        env.step(orders_for(env, step) * [1, 0, 1])  # it fires nothing: draws by the time limit
    assert env.seen == 32


def test_gymnasium_and_pettingzoo_stop_where_the_engagement_ends():
    """63 decisions are 15 steps of 4 and one of 3."""
    env = gym.MidrangeEnv(opponent="straight", order_decisions=4, **FLIES)
    both = pettingzoo.parallel_env(order_decisions=4, **FLIES)
    env.reset(seed=1)
    both.reset(seed=1)
    for step in range(16):
        *_, terminated, truncated, info = env.step(np.array([3, 0, 0]))
        *_, truncations, infos = both.step({name: np.array([3, 0, 0]) for name in both.agents})
        assert (truncated, any(truncations.values())) == (step == 15, step == 15)
    assert not terminated
    assert info["episode_length"] == infos["red_0"]["episode_length"] == 63
    assert not both.agents


def test_the_viewer_follows_every_decision_of_an_order():
    pytest.importorskip("pygame")
    env = gym.MidrangeEnv(opponent="shooter", render_mode="rgb_array", order_decisions=4, **FLIES)
    env.reset(seed=2)
    for _ in range(5):
        env.step(np.array([0, 2, 0]))
    core, view = env._arena.core, env._arena.view.sim.core
    assert view.read("engagement")["decisions"][0] == 20
    for number in range(2):
        assert view.get_fighter(0, number)["x"] == core.get_fighter(0, number)["x"]


def test_orders_meet_levels_and_continuous_actions_and_pilots():
    """A policy that gives orders flies against agents of every mode, and an agent with orders."""
    for mode in ("orders", "discrete", "continuous"):
        for opponent in ("orders", "discrete", "continuous"):
            decisions = {"order_decisions": 2} if mode == "orders" else {}
            policy = random_policy(action_mode=opponent)
            env = Midrange(8, opponent=policy, action_mode=mode, time_limit=20, **decisions)
            env.reset()
            for _ in range(25):
                env.step(np.stack([env.single_action_space.sample() for _ in range(8)]))
            speeds = env._groups[0].core.read("fighter")["v"]
            assert np.isfinite(speeds).all()


def test_a_rudder_beyond_its_range_is_no_order():
    env = Midrange(4, opponent=lambda seen: np.full((len(seen), 3), 17.0), time_limit=20)
    env.reset()
    env.step(np.zeros((4, 3), int))
    assert (env._groups[0].core.read("fighter")["rudder_command"][:, 1] == 1).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order_decisions": 0}, "order_decisions = 0: must be a whole number from 1 to 100"),
        ({"order_decisions": 2.5}, "order_decisions = 2.5: must be a whole number"),
        (
            {"order_decisions": 2, "action_mode": "discrete"},
            "order_decisions = 2: needs action_mode = orders, and this is action_mode = discrete",
        ),
        ({"action_mode": "order"}, "action_mode = 'order': must be .*did you mean 'orders'"),
    ],
)
def test_wrong_settings_are_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        Midrange(2, **{"action_mode": "orders", **settings})


def test_wrong_orders_are_errors_that_name_the_head():
    env = Midrange(2, action_mode="orders")
    env.reset()
    with pytest.raises(ValueError, match=r"actions\[1, 1\] = 3: permission must be from 0 to 2"):
        env.step(np.array([[0, 0, 0], [0, 3, 0]]))
    assert env.single_action_space.nvec.tolist() == [
        len(words) for words in heads_of(Simulation().parameters).values()
    ]

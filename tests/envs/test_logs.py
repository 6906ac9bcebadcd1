"""The infos of `Midrange`: figures of the engagements that ended, and their opponents."""

import itertools

import numpy as np
import pytest
from policies import Constant
from quick_fights import LEVELS, SHORT, UNSHAPED, draw_actions, joined, longest

from midrange_puffer import Midrange
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.game.parameters import CONTROLLERS, PILOTS
from midrange_puffer.policies.player import Player

BLUE = 1


def told(env: Midrange, steps: int, resets: tuple[int, ...] = ()) -> tuple[list[dict], dict]:
    """Plays randomly; returns the infos and, counted outside, the figures due in them (red's view).

    Due are the engagements that began a time limit ago or earlier. A last reset returns those not
    logged until then.
    """
    infos = []
    ends = {"return": [], "length": [], "result": [], "truncated": []}
    rng = np.random.default_rng(11)
    for first, last in itertools.pairwise((0, *resets, steps)):
        infos += env.reset(1 if first == 0 else None)[1]
        totals, begins = np.zeros(env.num_agents), np.zeros(env.num_agents, int)
        for step in range(1, last - first + 1):
            actions = rng.integers(0, LEVELS, (env.num_agents, 3), np.int32)
            _, rewards, terminals, truncations, info = env.step(actions)
            infos += info
            totals += rewards
            for agent in np.flatnonzero(terminals | truncations):
                if begins[agent] + longest(env) <= last - first:
                    ends["return"].append(totals[agent])
                    ends["length"].append(step - begins[agent])
                    ends["result"].append(rewards[agent])
                    ends["truncated"].append(float(truncations[agent]))
                totals[agent], begins[agent] = 0, step
    return infos + env.reset()[1], ends


def arrays(infos: list[dict]) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in joined(infos).items()}


@pytest.mark.parametrize("seat", ["red", "blue"])
@pytest.mark.parametrize("num_envs", [1, 17, 40])
def test_logs_tell_of_every_engagement_that_is_due_once(num_envs, seat):
    """Recomputes them from the rewards and ends that the agent has seen."""
    env = Midrange(num_envs=num_envs, opponent="shooter", seat=seat, **SHORT, **UNSHAPED)
    infos, ends = told(env, 400 if num_envs > 1 else 2000)
    log = arrays(infos)
    result = np.array(ends["result"])
    assert set(result) == {-1, 0, 1}
    assert set(ends["truncated"]) == {0, 1}
    for name in ("score", "win", "draw", "loss", "truncated", "shots", "hits", "mutual_kill"):
        assert len(log[name]) == len(result), name
    for name, expected in {
        "win": result == 1,
        "draw": result == 0,
        "loss": result == -1,
        "score": (result + 1) / 2,
        "truncated": ends["truncated"],
        "episode_length": ends["length"],
        "episode_return": ends["return"],
    }.items():
        assert np.array_equal(np.sort(log[name]), np.sort(expected)), name
    assert np.array_equal(np.sort(log["score_vs_shooter"]), np.sort(log["score"]))
    assert log["shots"].max() <= 6
    assert (log["hits"] <= log["shots"]).all()
    assert ((log["win"] == 0) | (log["hits"] > 0)).all()
    assert ((log["loss"] == 0) | (log["hits_against"] > 0)).all()
    assert np.array_equal(log["mutual_kill"] == 1, (log["hits"] > 0) & (log["hits_against"] > 0))
    assert len(log["hit_rate"]) == len(log["launch_range"]) == (log["shots"] > 0).sum()
    shares = np.array([log[f"{name}_share"] for name in ("in_nez", "between", "wasted")])
    assert shares.shape == (3, len(log["hit_rate"]))
    assert shares.sum(axis=0) == pytest.approx(1)
    assert (shares >= -1e-6).all()
    assert log["launch_range"].max() < 60_000


def test_the_first_scores_are_those_of_whole_engagements():
    """The agent is soon shot down by one pilot, and flies beside another until the time limit."""
    rules = {"start_range_min": 15_000, "start_range_max": 25_000, "time_limit": 150}
    opponent, policy = "shooter:1,straight:1", Constant(fire=0)
    env = Midrange(1000, opponent, seed=3, action_mode="continuous", **rules, **UNSHAPED)
    player, everyone = Player(policy, 1000, seed=4), np.arange(1000)
    ended, infos = [], []
    env.reset()
    while not infos:
        *_, terminals, truncations, infos = env.step(player.act(env.observations, everyone))
        ended += ((env.rewards[terminals | truncations] + 1) / 2).tolist()
    expected = evaluate(policy, opponent, 1000, seed=5, **rules)
    half = np.diff(expected["score_ci95"]).item() / 2  # of an interval of about two sigma
    assert abs(np.mean(infos[0]["score"]) - expected["score"]) < 3 * half
    assert np.mean(ended) < expected["score"] - 5 * half


def test_returns_with_shaping_are_the_sum_of_the_rewards():
    infos, ends = told(Midrange(num_envs=17, opponent="evader", seat="blue", **SHORT), 400)
    logged = np.sort(joined(infos)["episode_return"])
    assert np.allclose(logged, np.sort(ends["return"]), atol=1e-4)


WEIGHTS = {"geometry": 0.3, "ammunition": 0.2, "threat": 0.3, "pressure": 0.05}
RESULTS = {"reward_win": 2.0, "reward_draw": -0.5, "reward_loss": -1.5}


def records_of(weights: dict[str, float], opponent: str) -> np.ndarray:
    """Records of random play, in which only these weights are not 0, and the results pay."""
    rewards = {f"reward_{part}": weights.get(part, 0) for part in WEIGHTS}
    # A shot flies at the start, and one side has more missiles: so every part pays.
    env = Midrange(16, opponent, "blue", **SHORT, **rewards, **RESULTS)
    env.reset(2)
    for group in env._groups:
        for place in range(0, group.core.num_envs, 2):
            group.core.launch(place, 0)
            fighter = group.core.get_fighter(place, 0)
            group.core.set_fighter(place, 0, fighter | {"ammunition": 2})
    rng = np.random.default_rng(2)
    steps = [rng.integers(0, LEVELS, (env.num_agents, 3), np.int32) for _ in range(100)]
    return np.concatenate([env.step_records(step) for step in steps])


@pytest.mark.parametrize("opponent", ["shooter", "self", "self:1,evader:1"])
def test_the_parts_of_the_reward_are_the_returns_of_each_weight_alone(opponent):
    """Rewards move no fighter: the same fights are flown for each weight, and are paid by it."""
    whole = records_of(WEIGHTS, opponent)
    paid = whole["paid_result"].copy()
    outcome = np.array(list(RESULTS.values()))
    for red, results in zip(whole["outcome"], whole["paid_result"], strict=True):
        places = {1: (0, 2), 2: (2, 0), 3: (1, 1)}[red]
        assert results == pytest.approx(outcome[list(places)])
    sizes = []
    for part, weight in WEIGHTS.items():
        alone = records_of({part: weight}, opponent)
        assert np.array_equal(alone["outcome"], whole["outcome"])
        returns = alone["episode_return"] - alone["paid_result"]
        signed = np.stack([whole[f"paid_{part}"], -whole[f"paid_{part}"]], axis=1)
        assert np.allclose(signed, returns, atol=1e-5), part
        paid += signed
        sizes.append(np.abs(signed).max())
    assert np.allclose(paid, whole["episode_return"], atol=1e-5)
    assert min(sizes) > 0.02
    assert {1, 2, 3} <= set(whole["outcome"].tolist())


def test_the_parts_are_logged_from_the_agents_seat():
    env = Midrange(16, "shooter", "blue", **SHORT, **RESULTS, reward_pressure=0.05)
    infos, _ = told(env, 300)
    log = arrays(infos)
    expected = 2.0 * log["win"] - 0.5 * log["draw"] - 1.5 * log["loss"]
    assert np.allclose(log["reward_result"], expected)
    parts = [log[f"reward_{part}"] for part in ("result", *WEIGHTS)]
    assert np.allclose(np.sum(parts, axis=0), log["episode_return"], atol=1e-5)


def test_no_engagement_is_lost_where_all_end_in_every_step():
    """Without missiles an engagement is a draw at once: as many records as there can be."""
    env = Midrange(num_envs=20, opponent="self", ammunition=0, time_limit=20)
    infos, ends = told(env, 96)
    due = 96 - longest(env) + 1
    assert len(joined(infos)["draw"]) == due * 20 == len(ends["result"]) / 2


def test_a_reset_loses_no_engagement_that_is_due():
    infos, ends = told(Midrange(num_envs=17, **SHORT), 320, resets=(45, 101, 150))
    assert len(joined(infos)["score"]) == len(ends["result"])


def test_self_play_is_logged_once_an_engagement_as_red_sees_it():
    env = Midrange(num_envs=17, opponent="self", **SHORT, **UNSHAPED)
    infos, ends = told(env, 400)
    log = arrays(infos)
    assert 2 * len(log["score"]) == len(ends["result"])
    assert 2 * (log["draw"].sum()) == np.sum(np.array(ends["result"]) == 0)
    assert not any(name.startswith("score_vs") for name in log)


# Mixtures of opponents


def pilots(env: Midrange) -> list[str]:
    """Returns blue's pilot in each engagement now."""
    names = list(CONTROLLERS)
    core = env._groups[0].core
    return [names[core.get_fighter(i, BLUE)["pilot"]] for i in range(env.num_envs)]


def test_opponents_are_drawn_in_proportion():
    """Among 4,000 first draws, within four standard errors."""
    shares = {"straight": 0.1, "weave": 0.2, "shooter": 0.3, "evader": 0.4}
    text = ",".join(f"{name}:{share * 5}" for name, share in shares.items())
    seen = pilots(Midrange(num_envs=4000, opponent=text, seed=12))
    for name, share in shares.items():
        assert abs(seen.count(name) / 4000 - share) < 4 * np.sqrt(share * (1 - share) / 4000)


def test_an_opponent_stays_for_its_whole_engagement_and_is_logged_by_name():
    env = Midrange(num_envs=40, opponent="weave:1,evader:1", seed=13, **SHORT)
    env.reset()
    before, begins = pilots(env), np.zeros(40, int)
    met = dict.fromkeys(PILOTS, 0)
    logged = dict.fromkeys(PILOTS, 0)
    for step, actions in enumerate(draw_actions(14, 320, 40), 1):
        _, _, terminals, truncations, infos = env.step(actions)
        now = pilots(env)
        over = terminals | truncations
        for i, (pilot, successor) in enumerate(zip(before, now, strict=True)):
            met[pilot] += over[i] and begins[i] + longest(env) <= 320
            assert over[i] or pilot == successor
        before, begins = now, np.where(over, step, begins)
        for info in infos:
            for name in PILOTS:
                logged[name] += len(info.get(f"score_vs_{name}", []))
    assert logged == met
    assert met["straight"] == met["shooter"] == 0
    draws = met["weave"] + met["evader"]
    assert draws > 200
    # Short engagements come more often, so only that both are met again and again.
    assert min(met["weave"], met["evader"]) > draws / 10

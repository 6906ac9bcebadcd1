"""A user's own rewards in teams: the agents, their allies and enemies."""

import numpy as np
import pytest
from places import EXAMPLES

from midrange_puffer import Decision, Midrange
from midrange_puffer.envs.own_env import env_class

RULES = {
    "start_range_min": 6_000,
    "start_range_max": 9_000,
    "start_spacing_min": 300,
    "start_spacing_max": 600,
    "time_limit": 30,
    "red_size": 2,
    "blue_size": 3,
}
MIX = {"num_envs": 24, "opponent": "self:1,shooter:1", **RULES}
BLUE = {"num_envs": 10, "opponent": "shooter", "seat": "blue", **RULES}
ACE = {"num_envs": 10, "opponent": "ace", **RULES}
FIELDS = ("x", "y", "speed", "alive", "ammunition")


class Watcher(Midrange):
    """Pays each agent by its own flight, and keeps what it was given."""

    reward_features = ("own_speed",)

    def own_reward(self, decision: Decision) -> dict[str, np.ndarray]:
        self.decision = decision
        return {"far": decision.after.own.x * decision.after.own.alive / 1e5}


def fly(env: Midrange, steps: int, seed: int = 1) -> list[np.ndarray]:
    """Flies at random from a reset; yields the rewards of each step."""
    env.reset(seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = rng.integers(0, env.single_action_space.nvec, (env.num_agents, 3), np.int32)
        yield env.step(actions)[1].copy()


def agents_of(env: Midrange) -> list[tuple[object, int, int]]:
    """Returns the core, engagement and fighter of every agent, in the documented order."""
    agents = []
    for group in env._groups:
        both = env._arena.counts.get("self") and group is env._groups[0]
        red = range(2)
        blue = range(2, 5)
        flown = [*red, *blue] if both else blue if group._seat else red
        agents += [(group.core, e, f) for e in range(group.core.num_envs) for f in flown]
    return agents


@pytest.mark.parametrize("options", [MIX, BLUE, ACE])
def test_each_agent_is_given_its_own_side_and_the_other(options):
    """Every field as it is read from the core; enemies that there are not are zeros."""
    env, dead = Watcher(**options), 0
    whose = agents_of(env)
    assert len(whose) == env.num_agents
    for _ in fly(env, 60):
        moment = env.decision.after
        ended = env.terminals | env.truncations
        fighters = {id(group.core): group.core.read("fighter") for group in env._groups}
        for agent in np.flatnonzero(~ended):
            core, engagement, own = whose[agent]
            state = fighters[id(core)]
            sides = (range(2), range(2, 5)) if own < 2 else (range(2, 5), range(2))
            allies = [one for one in sides[0] if one != own]
            for name in FIELDS:
                values = state[{"speed": "v"}.get(name, name)][engagement]
                assert getattr(moment.own, name)[agent] == values[own]
                for others, found in ((allies, moment.allies), (sides[1], moment.enemies)):
                    row = getattr(found, name)[agent]
                    assert row[: len(others)].tolist() == values[others].tolist()
                    assert not row[len(others) :].any()
            dead += state["alive"][engagement, own] == 0
            living = [one for one in sides[1] if state["alive"][engagement, one]] or sides[1][:1]
            x, y = state["x"][engagement], state["y"][engagement]
            ranges = np.hypot(x - x[own], y - y[own])
            assert moment.range[agent] == pytest.approx(min(ranges[living]), rel=1e-5)
    assert dead > 0


@pytest.mark.parametrize("options", [MIX, BLUE])
def test_own_rewards_are_added_and_the_result_is_the_sides(options):
    own, plain, over = Watcher(**options), Midrange(**options), 0
    for paid, bare in zip(fly(own, 70), fly(plain, 70), strict=True):
        far = paid - bare
        moment = own.decision.after
        assert np.allclose(far, moment.own.x * moment.own.alive / 1e5, atol=1e-6)
        ended = own.terminals | own.truncations
        decided = own.decision.result
        assert (np.isnan(decided) == ~ended).all()
        assert set(decided[ended].tolist()) <= {-1, 0, 1}
        for side in np.unique(own.sides[ended]):
            of_side = own.sides == side
            assert len(set(decided[of_side].tolist())) == 1
            over += 1
    assert own.state_hash() == plain.state_hash()
    assert over > 10


def test_the_infos_tell_of_the_mean_of_the_side():
    env, told, sums = Watcher(**ACE), [], np.zeros(20)
    ends = []
    env.reset(0)
    ahead = np.tile(np.int32([2, 2, 0]), (20, 1))
    for _ in range(160):
        infos = env.step(ahead)[-1]
        moment = env.decision.after
        sums += moment.own.x * moment.own.alive / 1e5
        ended = (env.terminals | env.truncations).reshape(10, 2)[:, 0]
        ends += sums.reshape(10, 2).mean(axis=1)[ended].tolist()
        sums.reshape(10, 2)[ended] = 0
        for info in infos:
            told += info["reward_far"]
    assert len(told) > 10
    assert np.isin(np.round(told, 3), np.round(ends, 3)).mean() > 0.95


def test_the_example_pays_teams_by_the_nearest_enemy():
    env = env_class(f"{EXAMPLES / 'standoff.py'}:Standoff")(**MIX, standoff_range=4_000.0)
    paid = list(fly(env, 10))
    assert np.shape(paid) == (10, env.num_agents)

"""Rewards of the user's own: their input, payment and logs, and refusals."""

import sys

import numpy as np
import pytest
import torch
from places import EXAMPLES
from quick_fights import LEVELS, SHORT, draw_actions

from midrange_puffer import FEATURES, Midrange, _core
from midrange_puffer.envs.own_env import env_class
from midrange_puffer.envs.own_reward import Decision, Fighters
from midrange_puffer.policies.own_code import OwnCodeError

# isort: split
import pufferlib.vector

STANDOFF = f"{EXAMPLES / 'standoff.py'}:Standoff"
NEAR_TIME = 10.0  # s, of the feature of a time to go: near / (near + time)


class Watcher(Midrange):
    """Pays two parts, and remembers all that it was given."""

    reward_features = ("time_left", "inbound_1_urgency")

    def own_reward(self, decision: Decision, gain: float = 0.25) -> dict[str, np.ndarray]:
        vars(self).setdefault("seen", []).append(
            {
                "before": np.array([decision.before.own, decision.before.enemy]),
                "after": np.array([decision.after.own, decision.after.enemy]),
                "range": decision.after.range.copy(),
                "features before": {**decision.before.features},
                "features after": {**decision.after.features},
                "ended": decision.terminals | decision.truncations,
                "rewards": decision.rewards.copy(),
                "result": decision.result.copy(),
                "records": decision.records.copy(),
                "seconds": decision.seconds,
            }
        )
        speed = gain * decision.after.own.speed / 1000
        return {"speed": speed, "lead": gain * (decision.after.own.x - decision.before.own.x) / 1e4}


def fly(env: Midrange, steps: int, seed: int = 3) -> list[np.ndarray]:
    """Flies at random from a reset; returns the rewards, [steps, agents]."""
    env.reset(seed)
    actions = draw_actions(seed, steps, env.num_agents)
    return np.array([env.step(step)[1].copy() for step in actions])


MIX = {"num_envs": 40, "opponent": "self:1,shooter:1,straight:1", **SHORT}
OTHERS = {"num_envs": 30, "opponent": "shooter:1,trained:2", **SHORT}
ALONE = {"num_envs": 20, "opponent": "shooter", "seat": "blue", **SHORT}


@pytest.mark.parametrize("options", [MIX, ALONE, OTHERS])
def test_the_rewards_are_the_environments_and_the_parts(options):
    own, plain = Watcher(**options), Midrange(**options)
    paid, bare = fly(own, 150), fly(plain, 150)
    assert np.array_equal([seen["rewards"] for seen in own.seen], bare)
    after, before = (np.array([seen[name][0] for seen in own.seen]) for name in ("after", "before"))
    speed, x = Fighters._fields.index("speed"), Fighters._fields.index("x")
    parts = 0.25 * after[:, speed] / 1000 + 0.25 * (after[:, x] - before[:, x]) / 1e4
    assert np.allclose(paid, bare + parts, atol=1e-6)
    assert own.state_hash() == plain.state_hash()


def test_the_states_are_those_of_the_core():
    """Each field as it is read from outside, while engagements go on, end and begin."""
    env = Watcher(**ALONE)
    fly(env, 1)
    core, missiles_seen, ends = env._groups[0].core, 0, 0
    for _ in range(200):
        env.step(np.tile(np.int32([2, 2, 1]), (env.num_agents, 1)))
        seen, ended = env.seen[-1], env.seen[-1]["ended"]
        ends += ended.sum()
        fighters = [[core.get_fighter(i, seat) for i in range(core.num_envs)] for seat in (1, 0)]
        missiles = core.read("missile")
        for side, seat in ((0, 1), (1, 0)):
            found = Fighters(*seen["after"][side])
            flies_at = (missiles["active"] == 1) & (missiles["target"] == seat)
            missiles_seen += flies_at[~ended].sum()
            assert np.array_equal(found.inbound[~ended], flies_at.sum(1)[~ended])
            for name in ("x", "y", "direction_x", "direction_y", "speed", "alive", "ammunition"):
                now = np.array([fighter[name] for fighter in fighters[side]], np.float32)
                assert np.array_equal(getattr(found, name)[~ended], now[~ended])
    assert missiles_seen > 50
    assert ends > 10


def test_the_time_to_go_is_the_one_that_is_observed():
    env = Watcher(**ALONE)
    fly(env, 300)
    threatened = 0
    for seen in env.seen:
        own = Fighters(*seen["after"][0])
        inbound = own.inbound > 0
        assert (own.time_to_go[~inbound] == 100).all()
        threatened += inbound.sum()
        near = NEAR_TIME / (NEAR_TIME + own.time_to_go[inbound])
        assert np.allclose(seen["features after"]["inbound_1_urgency"][inbound], near, atol=1e-6)
    assert threatened > 50


@pytest.mark.parametrize("options", [MIX, ALONE])
def test_before_is_the_end_of_the_decision_before_or_a_start(options):
    env = Watcher(**options)
    fly(env, 150)
    begun = 0
    for last, seen in zip(env.seen, env.seen[1:], strict=False):
        goes_on = ~last["ended"]
        assert np.array_equal(seen["before"][..., goes_on], last["after"][..., goes_on])
        start = Fighters(*seen["before"][0][:, last["ended"]])
        assert (start.alive == 1).all()
        assert (start.ammunition == env.parameters["ammunition"]).all()
        assert (seen["features before"]["time_left"][last["ended"]] > 0.06).all()
        begun += last["ended"].sum()
    assert begun > 10


def test_after_of_an_engagement_that_ended_is_its_end():
    env = Watcher(**MIX)
    fly(env, 150)
    ended = 0
    for seen in env.seen:
        alive = seen["after"][:, Fighters._fields.index("alive")]
        for record in seen["records"]:
            ended += 1
            red_first = record["env"] < env._arena.counts["self"]
            agent = 2 * record["env"] if red_first else record["env"] + env._arena.counts["self"]
            own_dead, enemy_dead = alive[:, agent] == 0
            assert own_dead == (record["outcome"] == 2 or record["mutual_kill"])
            assert enemy_dead == (record["outcome"] == 1 or record["mutual_kill"])
            assert seen["result"][agent] == {1: 1, 2: -1, 3: 0}[record["outcome"]]
            if red_first:
                assert seen["result"][agent + 1] == -seen["result"][agent]
            if record["truncated"]:
                assert seen["features after"]["time_left"][agent] == 0
        assert np.array_equal(np.isfinite(seen["result"]), seen["ended"])
    assert ended > 20


@pytest.mark.parametrize("options", [MIX | {"opponent": "shooter:1,straight:1"}, ALONE])
def test_logs_have_the_rewards_that_were_paid(options):
    """Sums over engagements, from the rewards alone, against the infos: none missing or twice."""
    env = Watcher(**options)
    env.reset(5)
    rng, sums = np.random.default_rng(5), np.zeros(env.num_agents)
    returns, logged = [], {"episode_return": [], "reward_speed": [], "reward_lead": []}
    for _ in range(400):
        _, rewards, terminals, truncations, infos = env.step(
            rng.integers(0, LEVELS, (env.num_agents, 3), np.int32)
        )
        sums += rewards
        ended = terminals | truncations
        returns += sums[ended].tolist()
        sums[ended] = 0
        for info in infos:
            for name, values in logged.items():
                values += info[name]
    found = np.sort(logged["episode_return"])
    assert len(found) > 100
    assert all(len(values) == len(found) for values in logged.values())
    # Those of the last time limit are not told of yet.
    wanted = np.array(returns)
    assert all(np.isclose(wanted, value, atol=1e-4).any() for value in found)
    parts = np.array(logged["reward_speed"]) + logged["reward_lead"]
    assert parts.std() > 0.1


def test_a_vector_of_environments_pays_it():
    """PufferLib's Serial reads the buffers and not the values that `step` returns."""
    vector = pufferlib.vector.make(
        Watcher, env_kwargs=ALONE, backend=pufferlib.vector.Serial, num_envs=2, seed=0
    )
    vector.reset(seed=0)
    actions = np.tile(np.int32([2, 2, 0]), (vector.num_agents, 1))
    _, rewards, *_ = vector.step(actions)
    speeds = np.concatenate([env.seen[-1]["after"][0, 4] for env in vector.envs])
    bare = np.concatenate([env.seen[-1]["rewards"] for env in vector.envs])
    assert (rewards - bare > 0.2 * speeds / 1000).all()
    vector.close()


@pytest.mark.slow
def test_workers_pay_it():
    vector = pufferlib.vector.make(
        env_class(STANDOFF),
        env_kwargs=ALONE | {"standoff_bonus": 100.0, "standoff_range": 1.0},
        backend=pufferlib.vector.Multiprocessing,
        num_envs=2,
        num_workers=2,
        seed=0,
    )
    vector.reset(seed=0)
    _, rewards, *_ = vector.step(np.zeros((vector.num_agents, 3), np.int32))
    assert (rewards > 40).all()
    vector.close()


@pytest.mark.parametrize("options", [ALONE, OTHERS])
def test_records_and_infos_in_turn_are_each_told_of_their_own(options):
    class Paid(Midrange):
        def own_reward(self, decision):
            return {"decisions": np.ones(self.num_agents)}

    env, infos = Paid(**options), {"paid": [], "length": []}
    env.reset(0)
    actions = np.zeros((env.num_agents, 3), np.int32)
    assert sum(len(env.step_records(actions)) for _ in range(200))
    for _ in range(200):
        for info in env.step(actions)[-1]:
            infos["paid"] += info["reward_decisions"]
            infos["length"] += info["episode_length"]
    assert infos["paid"]
    assert infos["paid"] == infos["length"]


def test_the_example_pays_beyond_its_range():
    standoff = env_class(STANDOFF)
    rewards = {}
    for distance in (5_000, 15_000):
        start = {"start_range_min": 10_000, "start_range_max": 10_000}
        env = standoff(
            num_envs=4, opponent="straight", standoff_range=distance, standoff_bonus=1.0, **start
        )
        plain = Midrange(num_envs=4, opponent="straight", **start)
        rewards[distance] = fly(env, 1) - fly(plain, 1)
    assert np.allclose(rewards[5_000], 0.5)  # seconds of a decision
    assert (rewards[15_000] == 0).all()


# What is refused


class Logger(Midrange):
    """Pays nothing; logs the speed of all, and of what has ended the results."""

    def own_reward(self, decision: Decision) -> dict[str, np.ndarray]:
        self.log("speed", decision.after.own.speed)
        self.log("won", decision.result > 0)
        self.log("result", decision.result)  # nan for engagements that go on
        vars(self).setdefault("seen", []).append(decision.after.own.speed.mean())
        return {}


def test_figures_are_logged_and_not_paid():
    env, plain = Logger(**MIX), Midrange(**MIX)
    np.testing.assert_array_equal(fly(env, 96), fly(plain, 96))
    env.reset(3)
    env.seen.clear()
    infos = [info for row in draw_actions(3, 96, env.num_agents) for info in env.step(row)[4]]
    speeds = [value for info in infos for value in info["own/speed"]]
    np.testing.assert_allclose(speeds, env.seen, rtol=1e-6)
    results = [value for info in infos for value in info["own/result"]]
    assert 0 < len(results) < 96
    assert all(np.isfinite(results))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("a b", 1.0, "log: 'a b': a name must be letters, digits and _"),
        (3, 1.0, "log: 3: a name must be"),
        ("word", "fast", "log: word is of type <U4, expected numbers"),
        ("none", None, "log: none is of type object, expected numbers"),
    ],
)
def test_a_figure_that_is_no_number_is_refused(name, values, message):
    with pytest.raises(OwnCodeError, match=message):
        Logger(**ALONE).log(name, values)


def test_a_step_of_ones_own_is_refused():
    """Tries a subclass and another base."""

    class Bonus:
        def step(self, actions):
            observations, rewards, *rest = super().step(actions)
            return observations, rewards + 1, *rest

    for bases, members in (((Midrange,), {"step": Bonus.step}), ((Bonus, Midrange), {})):
        with pytest.raises(TypeError, match=r"Own.step: PufferLib does not look at the rewards"):
            type("Own", bases, members)


def paying(given: object) -> Midrange:
    """Makes an environment whose reward is `given` of the number of agents."""

    class Paying(Midrange):
        def own_reward(self, decision):
            return given(self.num_agents)

    env = Paying(num_envs=4, opponent="shooter")
    env.reset(0)
    return env


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda n: {"a": np.zeros(n + 1)}, r"part a is of shape \(5,\) and .* of shape \(4,\)"),
        (lambda n: {"a": np.zeros((n, 1))}, r"part a is of shape \(4, 1\) and .* of shape \(4,\)"),
        (lambda n: {"a": 1.0}, "part a is a float, expected an array"),
        (lambda n: {"a": np.zeros(n, complex)}, "part a is of .* type complex128, expected"),
        (lambda n: {"a": np.full(n, None)}, "part a is of .* type object, expected"),
        (lambda n: {"a": torch.zeros(n)}, "part a is a Tensor, expected an array"),
        (lambda n: np.zeros(n), "gives a ndarray, expected a dict"),
        (lambda n: None, "gives a NoneType, expected a dict"),
        (lambda n: {"a": np.array([0, np.nan, 0, 0])}, "part a is nan for agent 1, expected"),
        (lambda n: {"a": np.full(n, 1e39)}, r"part a is 1e\+39 for agent 0, expected finite"),
        (lambda n: {"geometry": np.zeros(n)}, "a part is called 'geometry': must be"),
        (lambda n: {"a b": np.zeros(n)}, "a part is called 'a b': must be"),
        (lambda n: 1 / 0, r"ZeroDivisionError: division by zero \(.*test_own_reward.py, line"),
    ],
)
def test_an_object_that_is_no_reward_is_refused(given, message):
    env = paying(given)
    with np.errstate(over="ignore"), pytest.raises(OwnCodeError, match=message):
        env.step(np.zeros((4, 3), np.int32))


def test_other_parts_than_before_are_refused():
    names = iter("ab")
    env = paying(lambda n: {next(names): np.zeros(n)})
    env.step(np.zeros((4, 3), np.int32))
    with pytest.raises(OwnCodeError, match="its parts are b, and before they were a"):
        env.step(np.zeros((4, 3), np.int32))


def test_arguments_are_checked():
    class Bare(Midrange):
        def own_reward(self, decision, weight):
            return {}

    class Taken(Midrange):
        def own_reward(self, decision, time_limit: float = 1.0):
            return {}

    class Unknown(Midrange):
        reward_features = ("time_lefd",)

        def own_reward(self, decision):
            return {}

    with pytest.raises(OwnCodeError, match=r"its argument weight needs a default"):
        Bare()
    with pytest.raises(OwnCodeError, match=r"its argument time_limit is one of Midrange already"):
        Taken()
    with pytest.raises(OwnCodeError, match=r"time_lefd: no such feature.*did you mean 'time_left'"):
        Unknown()
    with pytest.raises(ValueError, match=r"gain = 'x': must be of type float"):
        Watcher(gain="x")
    with pytest.raises(ValueError, match=r"gane = 1.0: no such parameter"):
        Watcher(gane=1.0)
    assert Watcher(gain=2).num_envs > 0


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("x = 1", "None", "has no None"),
        ("x = 1", "x", "x: is of type int, expected a subclass of midrange_puffer.Midrange"),
        ("from midrange_puffer import Midrange", "Midrange", "has no own_reward"),
        ("def", "A", r"does not import: SyntaxError: .*\(.*own_file.py, line 1\)"),
        ("import nowhere", "A", r"ModuleNotFoundError: No module named 'nowhere' \(.*, line 1\)"),
    ],
)
def test_an_object_that_is_no_environment_is_refused(tmp_path, monkeypatch, text, name, message):
    monkeypatch.delitem(sys.modules, "own_file", raising=False)
    (tmp_path / "own_file.py").write_text(text)
    with pytest.raises(OwnCodeError, match=message):
        env_class(f"{tmp_path / 'own_file.py'}:{name}")
    sys.modules.pop("own_file", None)


def test_the_fields_are_those_of_the_core():
    assert Fighters._fields == tuple(name for name, _ in _core.state_rows())
    assert {"time_left", "inbound_1_urgency"} <= {feature.name for feature in FEATURES}

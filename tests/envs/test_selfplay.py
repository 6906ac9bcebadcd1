"""Mixtures with self and pool: opponents, the learner's results, and logs."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import frozen
import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from quick_fights import LEVELS, SHORT, UNSHAPED, joined, longest

from midrange_puffer import FEATURES, HEIGHT_FEATURES, Midrange, _core
from midrange_puffer.envs.pool_crew import LOOK_INTERVAL, PoolCrew
from midrange_puffer.game.parameters import CONTROLLERS, PILOTS, SEATS
from midrange_puffer.policies.mix import count_agents, divide, parse_mix
from midrange_puffer.policies.player import Player
from midrange_puffer.policies.pool_file import PoolError

RESULTS = {-1: 0.0, 0: 0.5, 1: 1.0}  # reward at the end: score


def spied(env: Midrange) -> frozen.Spy:
    """Watches the last group of `env`, which fights the pool."""
    env._groups[-1].core = spy = frozen.Spy(env._groups[-1].core)
    return spy


def play(
    env: Midrange, decisions: int, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray, list]]:
    """Plays randomly; yields rewards and ends, [agents] each, and infos."""
    rng = np.random.default_rng(seed)
    for _ in range(decisions):
        actions = rng.integers(0, LEVELS, (env.num_agents, 3), np.int32)
        _, rewards, terminals, truncations, infos = env.step(actions)
        yield rewards.copy(), terminals | truncations, infos


def run_through(env: Midrange, decisions: int) -> None:
    """Plays that many random decisions."""
    for _ in play(env, decisions):
        pass


@pytest.fixture
def turners(tmp_path) -> Path:
    """Writes a pool of three members that differ in their rudder: -1, 0 and 1."""
    return frozen.write_pool(
        tmp_path,
        {"right": 0.5, "ahead": 0.25, "left": 0.25},
        right=frozen.constant(0),
        ahead=frozen.constant(2, fire=1),
        left=frozen.constant(4),
    )


RUDDERS = {-1: "right", 0: "ahead", 1: "left"}


# Shares


@pytest.mark.parametrize(
    ("opponent", "num_envs", "expected"),
    [
        ("self", 7, {"self": 7}),
        ("pool", 7, {"pool": 7}),
        ("shooter:1,evader:3", 7, {"pilots": 7}),
        ("self:4,pool:2,shooter:1,evader:1", 1024, {"self": 512, "pilots": 256, "pool": 256}),
        ("evader:1,pool:1,self:2,shooter:4", 80, {"self": 20, "pilots": 50, "pool": 10}),
        ("pool:1,self:2", 100, {"self": 67, "pool": 33}),
        ("self:1000,evader:1", 10, {"self": 9, "pilots": 1}),
        ("self:1000,pool:1000,evader:1", 3, {"self": 1, "pilots": 1, "pool": 1}),
        ("self:1e6,pool:1,evader:1", 4, {"self": 2, "pilots": 1, "pool": 1}),
    ],
)
def test_a_mix_divides_the_engagements(opponent, num_envs, expected, turners):
    assert divide(num_envs, opponent) == expected
    assert list(divide(num_envs, opponent)) == list(expected)
    agents = num_envs + expected.get("self", 0)
    env = {"num_envs": num_envs, "opponent": opponent, "seat": "red"}
    assert count_agents({**env, "red_size": 1, "blue_size": 1}) == agents
    assert Midrange(num_envs, opponent, pool=turners).num_agents == agents


def test_shares_are_kept_as_well_as_whole_engagements_can():
    rng = np.random.default_rng(0)
    for _ in range(300):
        weights = dict(zip(("self", "pool", "evader"), rng.uniform(0.1, 10, 3), strict=True))
        text = ",".join(f"{name}:{weight}" for name, weight in weights.items())
        num_envs = int(rng.integers(100, 3000))
        counts, shares = divide(num_envs, text), parse_mix(text)
        assert sum(counts.values()) == num_envs
        for name, group in (("self", "self"), ("pool", "pool"), ("evader", "pilots")):
            assert abs(counts[group] - shares[name] * num_envs) <= 1


def test_too_few_engagements_for_a_mix_are_refused(turners):
    with pytest.raises(ValueError, match=r"needs at least 3 engagements, .*not num_envs = 2"):
        Midrange(2, "self,pool,evader", pool=turners)


@pytest.mark.parametrize("seat", SEATS)
def test_agents_come_group_by_group(turners, seat):
    """Pairs of one engagement, then those who fight the pilots named, then the pool's."""
    env = Midrange(40, "pool:1,evader:1,self:2", seat, seed=1, pool=turners, **SHORT, **UNSHAPED)
    assert env.num_agents == 60
    pilots, spy = env._groups[1].core, spied(env)
    other = 1 - SEATS.index(seat)
    ends = np.zeros(60, int)
    env.reset()
    for rewards, ended, _ in play(env, 200):
        assert np.array_equal(rewards[0:40:2], -rewards[1:40:2])
        assert np.array_equal(ended[0:40:2], ended[1:40:2])
        flown = {pilots.get_fighter(i, other)["pilot"] for i in range(10)}
        assert flown == {list(CONTROLLERS).index("evader")}
        after = np.zeros((20, len(FEATURES)), np.float32)
        spy.observe(after)
        assert np.array_equal(env.observations[50:], after[1 - other :: 2])
        ends += ended
    assert ends.min() > 0


@pytest.mark.parametrize("seat", SEATS)
def test_a_single_group_is_a_core_with_the_same_seed(seat):
    own = SEATS.index(seat)
    for opponent, agents in (("self", (0, 1)), ("evader", (own,))):
        flown = [[float(name == "agent") for name in CONTROLLERS] for _ in range(2)]
        if opponent != "self":
            flown[1 - own] = [float(name == opponent) for name in CONTROLLERS]
        env = Midrange(17, opponent, seat, seed=5, **SHORT)
        env.reset()
        core = _core.Core(env.parameters, 17, 5, flown, True, "auto")
        rows = 17 * len(agents)
        outputs = np.zeros((rows, len(FEATURES)), np.float32), np.zeros(rows, np.float32)
        ends = np.zeros((2, rows), np.uint8)
        actions = np.random.default_rng(0).integers(0, LEVELS, (60, rows, 3), np.int32)
        for step in actions:
            env.step(step)
            core.step(step, *outputs, *ends)
            core.take_records()
            for expected, got in zip(
                (*outputs, *ends),
                (env.observations, env.rewards, env.terminals, env.truncations),
                strict=True,
            ):
                assert np.array_equal(expected, got)
        assert env.state_hash() == core.state_hash()


# Opponents of the pool


def test_an_opponent_stays_for_its_engagement_and_gets_its_result(turners):
    """The rudder identifies the opponent; results and their names are counted outside."""
    env = Midrange(24, "pool", seed=2, pool=turners, **SHORT, **UNSHAPED)
    spy = spied(env)
    env.reset()
    now: list[float | None] = [None] * 24
    changes, expected, infos = 0, {name: [] for name in RUDDERS.values()}, []
    fresh, begun = [True] * 24, np.zeros(24, int)
    for step, (rewards, ended, info) in enumerate(play(env, 32 * 12), 1):
        infos += info
        rudders = spy.done[-1][:, 1, 0]
        for i in range(24):
            if fresh[i]:
                changes += now[i] is not None and now[i] != rudders[i]
                now[i] = rudders[i]
            assert now[i] == rudders[i]
            if ended[i] and begun[i] + longest(env) <= 32 * 12:
                expected[RUDDERS[now[i]]].append(RESULTS[rewards[i]])
        fresh = list(ended)
        begun[ended] = step
    assert changes > 50
    for name, scores in expected.items():
        logged = [score for info in infos for score in info.get(f"pool/{name}", [])]
        assert sorted(logged) == sorted(scores)
        assert len(scores) > 20
    everything = [score for info in infos for score in info["score_vs_pool"]]
    assert sorted(everything) == sorted(chain(*expected.values()))
    # One shoots and the others do not.
    assert np.mean(expected["ahead"]) < min(np.mean(expected["left"]), np.mean(expected["right"]))


def test_members_are_drawn_by_their_weights(turners):
    """Among 4,000 first draws, within four standard errors."""
    names = PoolCrew(turners, 4000, seed=3).names()
    for name, share in (("right", 0.5), ("ahead", 0.25), ("left", 0.25)):
        assert abs(names.count(name) / 4000 - share) < 4 * np.sqrt(share * (1 - share) / 4000)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("seat", SEATS)
def test_the_frozen_side_does_what_its_policy_does_from_its_seat(tmp_path, seat, recurrent):
    """Each engagement begins with an empty memory; compares with a player that sees the same."""
    policies = {name: frozen.policy(seed, recurrent) for seed, name in enumerate("ab")}
    pool = frozen.write_pool(tmp_path, {"a": 1, "b": 1}, **policies)
    env = Midrange(12, "pool", seat, seed=4, pool=pool, **SHORT)
    spy, other = spied(env), 1 - SEATS.index(seat)
    env.reset()
    opponents = env._groups[0]._enemies.crew
    names, results, remembered = [opponents.names()], [], 0
    for _, ended, _ in play(env, 120):
        names.append(opponents.names())
        results.append(ended)
    for i in range(12):
        ends = np.flatnonzero([ended[i] for ended in results])
        assert len(ends) > 1
        for first, last in zip([0, *ends + 1], ends, strict=False):
            policy = policies[names[first][i]]
            player, lane = Player(policy, 1, seed=0, greedy=True), np.zeros(1, int)
            for at in range(first, last + 1):
                seen, done = spy.seen[at][[i], other], spy.done[at][[i], other]
                assert np.array_equal(player.act(seen, lane), done)
                forgetful = Player(policy, 1, seed=0, greedy=True).act(seen, lane)
                remembered += not np.array_equal(forgetful, done)
    assert (remembered > 100) is recurrent


def test_actions_are_drawn_as_the_policy_says(tmp_path):
    """Frequencies of each level, within four standard errors."""
    policy = frozen.constant(0)
    logits = torch.tensor([0.0, 1.0, -1.0, 0.5, -4.0, 2.0, 0.0, 1.0, 3.0, 0.0])
    with torch.no_grad():
        policy.actor.bias[:] = logits
    pool = frozen.write_pool(tmp_path, {"a": 1}, a=policy)
    opponents = PoolCrew(pool, 500, seed=0)
    drawn = np.concatenate(
        [opponents.act(np.zeros((500, len(FEATURES)), np.float32)) for _ in range(40)]
    )
    values = ((-1, -0.5, 0, 0.5, 1), (0, 0.5, 1), (0, 1))
    for column, part in enumerate(logits.split(LEVELS)):
        for value, share in zip(values[column], part.softmax(0).tolist(), strict=True):
            error = np.sqrt(share * (1 - share) / len(drawn))
            assert abs((drawn[:, column] == value).mean() - share) < 4 * error


def test_threads_make_no_difference_to_a_pool(tmp_path):
    members = {name: frozen.constant(seed) for seed, name in enumerate("ab")}
    pool = frozen.write_pool(tmp_path, {"a": 1, "b": 2}, **members)
    seen = np.random.default_rng(1).uniform(-1, 1, (500, len(FEATURES))).astype(np.float32)
    crews = [PoolCrew(pool, 500, seed=0, threads=threads) for threads in (1, 3)]
    for _ in range(3):
        alone, together = (crew.act(seen) for crew in crews)
        assert np.array_equal(alone, together)


def test_a_member_with_other_controls_is_left_out(turners, capfd):
    with pytest.raises(PoolError, match="none of its members can be used"):
        PoolCrew(turners, 4, seed=0, features=len(HEIGHT_FEATURES))
    assert "is of dimensions = 2: it cannot fly where dimensions = 3" in capfd.readouterr().err


def test_a_changed_pool_is_taken_up_where_engagements_end(turners):
    """A member that left finishes its engagements and gets no new ones; a new member gets some."""
    env = Midrange(24, "pool", seed=2, pool=turners, **SHORT)
    spy = spied(env)
    env.reset()
    run_through(env, 10)
    frozen.write_pool(turners.parent, {"ahead": 1, "up": 3}, up=frozen.constant(1))
    (turners.parent / "left.pt").unlink()
    before = None
    met: dict[int, set[float]] = {}
    for at, (_, ended, _) in enumerate(play(env, 4 * LOOK_INTERVAL)):
        rudders = spy.done[-1][:, 1, 0]
        if before is not None:
            assert np.array_equal(rudders[~before[1]], before[0][~before[1]])
        met.setdefault(at // LOOK_INTERVAL, set()).update(rudders.tolist())
        before = rudders, ended
    assert met[0] == {-1, -0.5, 0, 1}
    assert met[2] == met[3] == {-0.5, 0}
    frozen.write_pool(turners.parent, {"ahead": 1})
    run_through(env, 3 * LOOK_INTERVAL)
    frozen.write_pool(turners.parent, {"ahead": 2})
    run_through(env, LOOK_INTERVAL)
    # Members without engagements are dropped.
    assert len(env._groups[0]._enemies.crew._opponents) == 1


def test_a_member_that_cannot_be_loaded_is_left_out(turners, capfd):
    """One warning comes, also if the pool is read again; the others fly on."""
    (turners.parent / "right.pt").write_bytes(b"nothing")
    env = Midrange(24, "pool", seed=2, pool=turners, **SHORT)
    spy = spied(env)
    env.reset()
    run_through(env, 10)
    frozen.write_pool(turners.parent, {"right": 3, "left": 1, "gone": 5})
    run_through(env, 3 * LOOK_INTERVAL)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "warning: pool: left out right: " in lines[0]
    assert "right.pt: damaged, or not a checkpoint" in lines[0]
    assert "gone.pt: no such file" in lines[1]
    assert set(np.unique(np.array(spy.done)[:, :, 1, 0])) == {0, 1}
    turners.unlink()
    run_through(env, 3 * LOOK_INTERVAL)
    assert set(spy.done[-1][:, 1, 0]) == {1}


def test_a_pool_that_can_no_longer_be_read_is_left_alone(turners, capfd):
    """One warning comes; its members fly on until it can be read again."""
    env = Midrange(24, "pool", seed=2, pool=turners, **SHORT)
    spy = spied(env)
    env.reset()
    run_through(env, 10)
    turners.write_text("{")
    run_through(env, 3 * LOOK_INTERVAL)
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith(f"warning: pool: {turners}: damaged: not JSON")
    assert set(np.unique(np.array(spy.done)[-LOOK_INTERVAL:, :, 1, 0])) == set(RUDDERS)
    frozen.write_pool(turners.parent, {"left": 1})
    run_through(env, 3 * LOOK_INTERVAL)
    assert set(spy.done[-1][:, 1, 0]) == {1}


def test_a_pool_without_a_usable_member_is_refused(turners):
    path = frozen.write_pool(turners.parent, {"none": 1})
    for spoil, reason in (
        (lambda: None, "none of its members can be used"),
        (lambda: path.write_text("{}"), "damaged: format: is missing"),
        (path.unlink, "No such file"),
    ):
        spoil()
        with pytest.raises(PoolError, match=f"pool.json: {reason}"):
            Midrange(2, "pool", pool=path).reset()


# Logs


def test_the_score_is_that_against_others(turners):
    """Fights against itself do not count: their score is always one half."""
    mix = "self:1,pool:1,weave:1,evader:1"
    env = Midrange(40, mix, "blue", seed=1, pool=turners, **SHORT, **UNSHAPED)
    own, others, infos = [], [], []
    env.reset()
    begun = np.zeros(env.num_agents, int)
    for step, (rewards, ended, info) in enumerate(play(env, 320), 1):
        told = ended & (begun + longest(env) <= 320)
        begun[ended] = step
        own += [float(reward == 0) for reward in rewards[0:20:2][told[0:20:2]]]
        others += [RESULTS[reward] for reward in rewards[20:][told[20:]]]
        infos += info
    log = joined(infos)
    assert sorted(log["draw_vs_self"]) == sorted(own)
    assert sorted(log["score"]) == sorted(others)
    parts = [f"score_vs_{name}" for name in (*PILOTS, "pool") if f"score_vs_{name}" in log]
    assert parts == ["score_vs_weave", "score_vs_evader", "score_vs_pool"]
    assert sorted(chain(*(log[part] for part in parts))) == sorted(others)
    assert {len(log[name]) for name in ("win", "draw", "loss", "shots")} == {len(others)}


def test_draws_count_half_against_the_pool(turners):
    """Without missiles everything is a draw at once."""
    env = Midrange(20, "pool", pool=turners, ammunition=0, time_limit=8)
    env.reset()
    infos = [info for _, _, infos in play(env, 32) for info in infos]
    assert sum(len(info["score_vs_pool"]) for info in infos) == (32 - 16) * 20
    for name in RUDDERS.values():
        assert {score for info in infos for score in info[f"pool/{name}"]} == {0.5}


def test_members_are_logged_in_the_order_in_which_they_fought(tmp_path):
    """The order does not depend on the process."""
    names = [f"member_{n}" for n in range(8)]
    policies = dict.fromkeys(names, frozen.constant(2))
    pool = frozen.write_pool(tmp_path, dict.fromkeys(names, 1), **policies)
    env = Midrange(60, "pool", pool=pool, ammunition=0, time_limit=8)
    env.reset()
    first = env._groups[0]._enemies.crew.names()
    assert set(first) == set(names)
    [info] = [info for _, _, infos in play(env, 32) for info in infos]
    logged = [name for name in info if name.startswith("pool/")]
    assert logged == [f"pool/{name}" for name in dict.fromkeys(first)]


def test_records_count_engagements_through_all_groups(turners):
    """One a step from each engagement, where all end at once."""
    env = Midrange(9, "self,pool,evader", pool=turners, ammunition=0)
    env.reset()
    records = env.step_records(np.zeros((env.num_agents, 3), np.int32))
    assert sorted(records["env"]) == list(range(9))
    agent = list(CONTROLLERS).index("agent")
    assert [record["env"] for record in records if record["pilot"][1] != agent] == [3, 4, 5]


# Seeds


def test_equal_seeds_and_pools_give_equal_bits(turners):
    def run(made: int, reset: int | None) -> list[np.ndarray]:
        env = Midrange(30, "self:1,pool:2,evader:1", seed=made, pool=turners, **SHORT)
        env.reset(reset)
        return [env.observations.copy() for _ in play(env, 150)]

    first = run(7, None)
    assert np.array_equal(first, run(7, None))
    assert np.array_equal(first, run(1, 7))
    assert not np.array_equal(first, run(8, None))


def test_a_step_without_a_reset_is_refused(turners):
    env = Midrange(8, "pool", seed=7, pool=turners, **SHORT)
    with pytest.raises(ResetNeeded, match=r"reset\(\) before step\(\)"):
        env.step(np.zeros((8, 3), np.int32))


def test_groups_do_not_start_alike(turners):
    """Each has a stream of random numbers of its own."""
    env = Midrange(30, "self,pool,evader", seed=7, pool=turners)
    starts = env.reset()[0]
    assert len(np.unique(starts, axis=0)) == env.num_agents

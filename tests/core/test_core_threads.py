"""Threads that step the engagements of one core: their number makes no difference."""

import os
import re
import subprocess

import numpy as np
import pytest
from needs import EACH_COMPILER
from places import CSRC, SUPPORT
from policies import random_policy

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.match import Fight, meet, play
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.game.parameters import resolve


@pytest.mark.parametrize("action_mode", ["discrete", "continuous"])
@pytest.mark.parametrize("opponent", ["self", "ace:1,evader:1", "self:1,shooter:2"])
def test_results_are_the_same_bits_for_any_number_of_threads(opponent, action_mode):
    """Observations, rewards, ends, records in their order, and the state."""
    envs = [
        Midrange(333, opponent, action_mode=action_mode, seed=7, threads=threads, time_limit=40)
        for threads in (1, 2, 5)
    ]
    for env in envs:
        env.reset()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        if action_mode == "discrete":
            actions = rng.integers(0, _core.ACTION_LEVELS, (envs[0].num_agents, 3), np.int32)
        else:
            actions = rng.normal(0, 1, (envs[0].num_agents, 3)).astype(np.float32)
        records = [env.step_records(actions) for env in envs]
        ended += len(records[0])
        for env, theirs in zip(envs[1:], records[1:], strict=True):
            assert theirs.tobytes() == records[0].tobytes()
            assert env.observations.tobytes() == envs[0].observations.tobytes()
            assert env.rewards.tobytes() == envs[0].rewards.tobytes()
            assert np.array_equal(env.terminals, envs[0].terminals)
            assert np.array_equal(env.truncations, envs[0].truncations)
    assert ended >= 333
    assert len({env.state_hash() for env in envs}) == 1


# Less than a part of 64 engagements, and more; the last block is not full. Of threads there are
# more than parts, too.
SIZES = [1, 15, 65, 129, 333]
COUNTS = (1, 2, 3, 8)


@pytest.mark.parametrize("num_envs", SIZES)
def test_a_simulation_is_the_same_for_any_number_of_threads(num_envs):
    """All of it that works block by block: starts, decisions, physics, observations."""
    sims = [Simulation(num_envs, 3, blue="ace", observation="stg", threads=n) for n in COUNTS]
    rng = np.random.default_rng(0)
    seen = []
    for decision in range(60):
        controls = rng.normal(0, 1, (num_envs, _core.FIGHTERS, 3))
        for sim in sims:
            if decision == 30:
                sim.reset(4)
            sim.step(controls)
            sim.advance(3)
        if decision % 20 == 9:
            seen.append([sim.observe().tobytes() + sim.rewards.tobytes() for sim in sims])
    assert all(len(set(step)) == 1 for step in seen)
    assert len({step[0] for step in seen}) == len(seen)
    assert len({sim.snapshot() for sim in sims}) == 1


@pytest.mark.parametrize("opponent", ["ace", random_policy()], ids=["pilot", "policy"])
@pytest.mark.parametrize("num_envs", [17, 129])
def test_gymnasiums_environment_is_the_same_for_any_number_of_threads(num_envs, opponent):
    envs = [MidrangeVectorEnv(num_envs, opponent, threads=n, time_limit=20) for n in COUNTS]
    for env in envs:
        env.reset(seed=2)
    ended = 0
    for _ in range(70):
        actions = envs[0].action_space.sample()
        first, *others = ([array.tobytes() for array in env.step(actions)[:4]] for env in envs)
        assert all(other == first for other in others)
        ended += sum(np.frombuffer(ends, bool).sum() for ends in first[2:])
    assert ended > num_envs / 2  # so that episodes have begun anew


def test_evaluation_is_the_same_for_any_number_of_threads():
    policy = random_policy()
    near = resolve({"time_limit": 40, "start_range_min": 15_000, "start_range_max": 25_000})
    fights = [Fight(policy, "ace"), Fight("shooter:1,evader:3", policy), Fight("crank", "snake")]
    first, *others = (play(fights, 133, threads=n, parameters=near) for n in COUNTS)
    assert all(np.array_equal(first, other) for other in others)
    figures = [evaluate(policy, "ace", 140, threads=n, **near) for n in COUNTS]
    assert figures == figures[:1] * len(COUNTS)
    pair, players = [("ace", "policy")], {"ace": "ace", "policy": policy}
    results = [meet(pair, players, 140, threads=n, parameters=near) for n in COUNTS]
    assert results == results[:1] * len(COUNTS)


def _match(threads: object) -> None:
    play([Fight("ace", "snake")], 8, threads=threads, parameters=resolve({}))


@pytest.mark.parametrize("threads", [0, -1, 10**6, 1.5, "two", True, None])
@pytest.mark.parametrize(
    "make",
    [
        lambda threads: Midrange(8, threads=threads),
        lambda threads: Simulation(8, threads=threads),
        lambda threads: MidrangeVectorEnv(8, threads=threads),
        _match,
    ],
    ids=["Midrange", "Simulation", "MidrangeVectorEnv", "play"],
)
def test_a_number_of_threads_that_cannot_be_is_named(make, threads):
    match = f"threads = {threads!r}: must be a whole number from 1 to 1024"
    with pytest.raises(ValueError, match=re.escape(match)):
        make(threads)


@EACH_COMPILER
def test_threads_have_no_data_races(tmp_path, compiler):
    """ThreadSanitizer finds none in threads.c, and any number of threads has the same sums."""
    program = tmp_path / "thread_race"
    sources = [CSRC / "threads.c", SUPPORT / "thread_race.c"]
    options = ["-std=c11", "-O1", "-g", "-fsanitize=thread", f"-I{CSRC}", "-pthread"]
    # Another sanitizer that is preloaded into this process does not go with it.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    build = [compiler, *options, "-o", program]
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }")
    probe = [*build, tmp_path / "empty.c"]
    if subprocess.run(probe, env=environment, capture_output=True, check=False).returncode:
        pytest.skip(f"{compiler} has no ThreadSanitizer here")
    subprocess.run([*build, *sources], env=environment, check=True)
    sums = set()
    for threads in (1, 2, 4, 7):
        run = [program, str(threads), "200"]
        result = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        if "unexpected memory mapping" in result.stderr:
            pytest.skip("this ThreadSanitizer does not run on this kernel")
        assert result.returncode == 0, result.stderr
        sums.add(result.stdout)
    assert len(sums) == 1

"""Actions as levels and as numbers, and observations at the end of an engagement."""

import numpy as np
import pytest
from quick_fights import LEVELS, SHORT, same

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.envs.crews import FlownGroup
from midrange_puffer.envs.groups import Acts, Buffers, Group, SelfGroup
from midrange_puffer.game.actions import PLANE, as_actions, controls
from midrange_puffer.game.parameters import SEATS, resolve, seat_weights

NUM_ENVS = 20
SEED = 3


def random_controls(seed: int, *shape: int) -> np.ndarray:
    """Draws controls within their ranges, with a launch in one of twenty."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(PLANE.lowest, PLANE.highest, (*shape, 3))
    numbers[..., 2] = rng.random(shape) < 0.05
    return numbers.astype(np.float32)


def play(env: Midrange, actions: np.ndarray) -> list[np.ndarray]:
    """Copies of all that comes of the actions [steps, agents, 3]."""
    seen = [env.reset(SEED)[0].copy()]
    for step in actions:
        seen += [buffer.copy() for buffer in env.step(step)[:4]]
    return seen


def test_levels_are_evenly_spaced_controls():
    levels = np.array([(0, 0, 0), (1, 1, 1), (2, 2, 0), (3, 0, 1), (4, 2, 1)])
    expected = [(-1, 0, 0), (-0.5, 0.5, 1), (0, 1, 0), (0.5, 0, 1), (1, 1, 1)]
    assert controls(levels, PLANE).tolist() == [list(row) for row in expected]


@pytest.mark.parametrize("opponent", ["evader,weave", "self", "self:1,ace:1"])
def test_continuous_actions_at_the_levels_are_the_discrete_ones(opponent):
    """To the bit."""
    kwargs = {"num_envs": NUM_ENVS, "opponent": opponent, **SHORT}
    discrete = Midrange(**kwargs)
    continuous = Midrange(action_mode="continuous", **kwargs)
    rng = np.random.default_rng(0)
    levels = rng.integers(0, LEVELS, (150, discrete.num_agents, 3), np.int32)
    levels[..., 2] &= rng.random(levels.shape[:2]) < 0.1
    numbers = np.array([controls(step, PLANE) for step in levels])
    played = play(discrete, levels)
    assert any(end.any() for end in played[3::4])
    assert same(played, play(continuous, numbers))
    assert discrete.state_hash() == continuous.state_hash()


@pytest.mark.parametrize("seat", SEATS)
def test_continuous_actions_are_the_controls_of_a_simulation(seat):
    """A simulation passes its controls to the core by another way."""
    side = SEATS.index(seat)
    env = Midrange(NUM_ENVS, "evader", seat, action_mode="continuous", **SHORT)
    sim = Simulation(NUM_ENVS, SEED, **{SEATS[1 - side]: "evader"}, **SHORT)
    env.reset(SEED)
    over = np.zeros(NUM_ENVS, bool)
    for step in random_controls(1, 150, NUM_ENVS):
        both = np.zeros((NUM_ENVS, 2, 3), np.float32)
        both[:, side] = step
        sim.step(both)
        observations, rewards, terminals, truncations, _ = env.step(step)
        assert np.array_equal(rewards[~over], sim.rewards[~over, side])
        over |= terminals | truncations
        assert np.array_equal(over, sim.outcome != 0)
        assert np.array_equal(observations[~over], sim.observe()[~over, side])
    assert over.sum() > NUM_ENVS / 2


def test_actions_outside_are_clipped_and_not_a_number_is_zero():
    env = Midrange(NUM_ENVS, "self", action_mode="continuous", **SHORT)
    rng = np.random.default_rng(2)
    wild = rng.standard_cauchy((80, env.num_agents, 3))
    wild[..., 2] -= 2
    wild[rng.random(wild.shape) < 0.1] = np.nan
    wild[rng.random(wild.shape) < 0.05] = np.inf
    wild[rng.random(wild.shape) < 0.05] = -np.inf
    tame = np.clip(np.nan_to_num(wild, posinf=1e9, neginf=-1e9), PLANE.lowest, PLANE.highest)
    seen = play(env, wild)
    assert all(np.isfinite(values).all() for values in seen)
    assert same(seen, play(env, tame))
    with np.errstate(over="ignore"):
        assert same(seen, play(env, wild.astype(np.float32)))


@pytest.mark.parametrize("fire", [0.5, np.nextafter(np.float32(0.5), np.float32(1))])
def test_a_launch_is_asked_for_above_one_half(fire):
    env = Midrange(1, "straight", action_mode="continuous")
    env.reset(SEED)
    env.step(np.array([[0, 0, fire]], np.float32))
    assert env._groups[0].core.get_fighter(0, 0)["ammunition"] == (6 if fire == 0.5 else 5)


@pytest.mark.parametrize("isa", _core.isas())
def test_continuous_play_is_the_same_on_every_instruction_set(isa):
    kwargs = {"num_envs": 17, "opponent": "self", "action_mode": "continuous", **SHORT}
    actions = random_controls(4, 100, 34)
    reference, env = Midrange(**kwargs), Midrange(isa=isa, **kwargs)
    assert same(play(reference, actions), play(env, actions))
    assert reference.state_hash() == env.state_hash()


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int64, np.uint8])
def test_any_numbers_may_be_given(kind):
    actions = (np.random.default_rng(5).integers(0, 2, (40, 1, 3))).astype(kind)
    env = Midrange(1, "straight", action_mode="continuous")
    assert same(play(env, actions), play(env, actions.astype(np.float32)))


def test_actions_of_another_shape_or_type_are_refused():
    env = Midrange(2, "straight", action_mode="continuous")
    env.reset()
    with pytest.raises(ValueError, match=r"actions of shape \(3, 3\): must be \(2, 3\)"):
        env.step(np.zeros((3, 3), np.float32))
    with pytest.raises(TypeError, match="actions of type complex128: must be numbers"):
        env.step(np.zeros((2, 3), complex))
    with pytest.raises(TypeError, match="actions of type float32: must be whole numbers"):
        as_actions(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int32))
    with pytest.raises(ValueError, match=r"action_mode = 'continous': .*did you mean 'continuous'"):
        Midrange(action_mode="continous")


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64, ">i4"])
@pytest.mark.parametrize(("place", "value"), [((0, 0), 5), ((3, 1), 3), ((5, 2), 2), ((1, 2), -1)])
def test_a_level_outside_is_named_with_its_place(dtype, place, value):
    """Tries types of whole numbers, in rows that are not next to each other."""
    env = Midrange(6, "straight")
    env.reset()
    actions = np.zeros((12, 3), dtype)[::2]
    actions[place] = np.array(value).astype(dtype)
    with pytest.raises(ValueError, match=rf"actions\[{place[0]}, {place[1]}\] = {actions[place]}:"):
        env.step(actions)
    env.step(0 * actions)


def test_the_levels_of_fire_are_the_enemies():
    env = Midrange(2, "straight", red_size=2, blue_size=3)
    env.reset()
    actions = np.zeros((4, 3), np.int32)
    actions[1, 2] = 3
    env.step(actions)
    actions[1, 2] = 4
    with pytest.raises(ValueError, match=r"actions\[1, 2\] = 4: fire must be from 0 to 3"):
        env.step(actions)


# What is seen at the end


class Straight:
    """A crew that flies straight on."""

    def act(self, observations: np.ndarray) -> np.ndarray:
        return np.tile(np.float32((0, 1, 0)), (len(observations), 1))

    def end(self, envs: np.ndarray) -> list[str]:
        return ["straight"] * len(envs)


def make_group(kind: str, seat: int) -> Group:
    agent = seat_weights({"agent": 1.0})
    weights = [agent, agent]
    if kind == "pilot":
        weights[1 - seat] = seat_weights({"weave": 1.0})
    core = _core.Core(resolve(SHORT), NUM_ENVS, SEED, weights, True, "auto")
    if kind == "pilot":
        return Group(core, seat, Acts("continuous"))
    if kind == "self":
        return SelfGroup(core, Acts("continuous"), alone=True)
    return FlownGroup(core, seat, Acts("continuous"), lambda seed, size: Straight(), SEED)


@pytest.mark.parametrize(("kind", "seat"), [("pilot", 0), ("pilot", 1), ("self", 0), ("flown", 1)])
def test_the_final_observation_is_that_of_an_engagement_that_does_not_start_again(kind, seat):
    """As a Simulation shows it, which goes on where an engagement has ended."""
    group = make_group(kind, seat)
    seats = [0, 1] if kind == "self" else [seat]
    n, features = group.agents, group.core.features
    observations, final = np.zeros((n, features), np.float32), np.zeros((n, features), np.float32)
    ends = np.zeros((2, n), bool)
    group.bind(Buffers(observations, np.zeros(n, np.float32), *ends, final))
    group.reset(SEED)
    pilots = {SEATS[1 - seat]: "weave"} if kind == "pilot" else {}
    sim = Simulation(NUM_ENVS, SEED, **pilots, **SHORT)
    found = 0
    was_open = np.ones(NUM_ENVS, bool)
    for step in random_controls(6, 150, n):
        both = np.tile(np.float32((0, 1, 0)), (NUM_ENVS, 2, 1))
        both[:, seats] = step.reshape(NUM_ENVS, len(seats), 3)
        sim.step(both)
        final[:] = np.nan
        group.step(step)
        group.take_records()
        just_ended = was_open & (sim.outcome != 0)
        was_open &= ~just_ended
        expected = sim.observe()[:, seats].reshape(n, features)
        rows = np.repeat(just_ended, len(seats))
        assert np.array_equal(final[rows], expected[rows])
        assert ends.any(axis=0)[rows].all()
        assert not (observations[rows] == final[rows]).all(axis=1).any()
        found += just_ended.sum()
    assert found > NUM_ENVS / 2

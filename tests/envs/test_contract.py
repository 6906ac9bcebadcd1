"""One contract for Gymnasium (alone and as a vector), PettingZoo and Stable-Baselines3.

`Face` steps each of them by arrays with a row for each agent.
"""

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from gym_vectors import final_infos
from quick_fights import FLAT, SHORT, same

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import ACTION_MODES, PLANE, controls
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.parameters import OBSERVATIONS, SEATS
from midrange_puffer.gym import MidrangeEnv, MidrangeVectorEnv
from midrange_puffer.gymnasium_import import gymnasium
from midrange_puffer.pettingzoo import MidrangeParallelEnv
from midrange_puffer.policies.own_code import OwnCodeError

ResetNeeded = gymnasium.error.ResetNeeded
SEED = 5
ENVS = 2  # engagements of those that have several
RED_WINS, DRAW = 1, 3
AGENTS = ("red_0", "blue_0")
Results = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[int, dict]]


@dataclass(frozen=True)
class Face:
    """An environment's class, by functions that take and return a row for each agent.

    Attributes:
        make: makes one.
        reset: (environment, seed, options) -> observations.
        step: (environment, actions) -> observations, rewards, terminations, truncations, and the
            infos at the end of an episode by row.
        restarts: True if the next episode starts in the step in which one ends.
    """

    make: Callable[..., Any]
    reset: Callable[[Any, int | None, dict | None], np.ndarray]
    step: Callable[[Any, np.ndarray], Results]
    restarts: bool


def step_single(env: MidrangeEnv, actions: np.ndarray) -> Results:
    observation, *results, info = env.step(actions[0])
    assert isinstance(results[0], float)
    return observation[None], *map(np.array, zip(results, strict=True)), {0: info} if info else {}


def step_vector(env: MidrangeVectorEnv, actions: np.ndarray) -> Results:
    *results, infos = env.step(actions)
    return *results, final_infos(infos)


def reset_parallel(env: MidrangeParallelEnv, seed: int | None, options: dict | None) -> np.ndarray:
    observations, infos = env.reset(seed, options)
    assert infos == {agent: {} for agent in AGENTS}
    return np.array([*observations.values()])


def step_parallel(env: MidrangeParallelEnv, actions: np.ndarray) -> Results:
    *results, infos = env.step(dict(zip(AGENTS, actions, strict=True)))
    rows = {row: infos[agent] for row, agent in enumerate(AGENTS) if infos[agent]}
    assert env.agents == ([] if rows else [*AGENTS])
    return *(np.array([*values.values()]) for values in results), rows


def make_stable(*args: object, **kwargs: object) -> Any:
    pytest.importorskip("stable_baselines3")
    from midrange_puffer.sb3 import MidrangeVecEnv

    return MidrangeVecEnv(*args, **kwargs)


def reset_stable(env: Any, seed: int | None, options: dict | None) -> np.ndarray:
    if seed is not None:
        env.seed(seed)
    env.set_options(options)
    return env.reset()


def step_stable(env: Any, actions: np.ndarray) -> Results:
    observations, rewards, ended, infos = env.step(actions)
    truncated = np.array([info["TimeLimit.truncated"] for info in infos])
    ends = {row: infos[row] for row in np.flatnonzero(ended)}
    return observations, rewards, ended & ~truncated, truncated, ends


def reset_gym(env: gymnasium.Env, seed: int | None, options: dict | None) -> np.ndarray:
    observations, infos = env.reset(seed=seed, options=options)
    assert infos == {}
    return np.atleast_2d(observations)


FACES = {
    "gym": Face(MidrangeEnv, reset_gym, step_single, False),
    "vector": Face(partial(MidrangeVectorEnv, num_envs=ENVS), reset_gym, step_vector, True),
    "pettingzoo": Face(MidrangeParallelEnv, reset_parallel, step_parallel, False),
    "sb3": Face(partial(make_stable, num_envs=ENVS), reset_stable, step_stable, True),
}
EACH_FACE = pytest.mark.parametrize("face", FACES.values(), ids=FACES)


def action_space(env: Any) -> gymnasium.Space:
    """Returns the action space of a single agent."""
    if isinstance(env, MidrangeParallelEnv):
        return env.action_space("red_0")
    return getattr(env, "single_action_space", env.action_space)


def draw(env: Any, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draws actions [rows, 3], seldom with a launch."""
    actions = np.array([action_space(env).sample() for _ in range(rows)])
    actions[:, 2] *= rng.random(rows) < 0.1
    return actions


def history(face: Face, env: Any, steps: int = 12, **start: object) -> list[np.ndarray]:
    """Returns the observations and results of a reset and random actions, at most to an end."""
    seen = [face.reset(env, start.get("seed"), start.get("options"))]
    action_space(env).seed(SEED)
    rng = np.random.default_rng(SEED)
    for _ in range(steps):
        *results, ends = face.step(env, draw(env, len(seen[0]), rng))
        seen += results
        if ends and not face.restarts:
            break
    return seen


# Spaces, and the course of an episode


@EACH_FACE
@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("action_mode", ACTION_MODES)
def test_spaces_shapes_and_types(face, observation, action_mode):
    sensing = "radar" if observation == "radar" else "full"
    env = face.make(action_mode=action_mode, observation=observation, sensing=sensing)
    spaces = spaces_of(observation, action_mode)
    assert action_space(env) == spaces.single_action_space
    first = face.reset(env, SEED, None)
    rows = len(first)
    observations, rewards, *ends, _ = face.step(env, draw(env, rows, np.random.default_rng(0)))
    for seen in (first, observations):
        assert (seen.dtype, len(seen)) == (np.float32, rows)
        assert all(spaces.single_observation_space.contains(row) for row in seen)
    assert {rewards.shape, ends[0].shape, ends[1].shape} == {(rows,)}
    assert [end.dtype for end in ends] == [bool, bool]


@EACH_FACE
def test_spaces_of_two_environments_draw_samples_of_their_own(face):
    spaces = [action_space(face.make()) for _ in range(2)]
    for space in spaces:
        space.seed(3)
    one, other = ([space.sample().tolist() for _ in range(10)] for space in spaces)
    assert one == other


@pytest.mark.parametrize("where", [{}, {"engagement": 37, "episode": 3}])
@pytest.mark.parametrize("action_mode", FLAT)
@pytest.mark.parametrize(("name", "seats"), [("gym", [0]), ("gym", [1]), ("pettingzoo", [0, 1])])
def test_an_episode_is_that_of_a_simulation(name, seats, action_mode, where):
    """To the bit, from the start to the observation at the end, of both agents at once."""
    face, pilots = FACES[name], {}
    if name == "gym":
        pilots = {SEATS[1 - seats[0]]: "evader"}
        kwargs = {"opponent": "evader", "seat": SEATS[seats[0]]}
    env = face.make(action_mode=action_mode, **(kwargs if pilots else {}), **SHORT)
    sim = Simulation(1, SEED, **pilots, **SHORT)
    sim.start(0, **where)
    observations, rng, over = face.reset(env, SEED, where), np.random.default_rng(SEED), False
    commands = np.zeros((1, 2, 3), np.float32)
    while not over:
        assert np.array_equal(observations, sim.observe()[0, seats])
        actions = draw(env, len(seats), rng)
        commands[0, seats] = controls(actions, PLANE) if action_mode == "discrete" else actions
        sim.step(commands)
        observations, rewards, terminated, truncated, ends = face.step(env, actions)
        over = sim.outcome[0] != 0
        assert rewards.tolist() == sim.rewards[0, seats].tolist()
        assert (terminated == (over and not sim.truncated[0])).all()
        assert (truncated == bool(sim.truncated[0])).all()
        assert bool(ends) == over
    assert np.array_equal(observations, sim.observe()[0, seats])
    for seat, info in zip(seats, ends.values(), strict=True):
        assert info["win"] == (sim.outcome[0] == RED_WINS + seat)
        assert info["loss"] == (sim.outcome[0] == RED_WINS + 1 - seat)
        assert info["draw"] == (sim.outcome[0] == DRAW)


@EACH_FACE
def test_the_end_tells_what_has_been(face):
    """Lengths and returns are those of the steps; a type that any logger takes."""
    pilots = {} if face is FACES["pettingzoo"] else {"opponent": "straight"}
    env = face.make(**pilots, **SHORT)
    rows, rng = len(face.reset(env, SEED, None)), np.random.default_rng(SEED)
    returns, lengths, ended = np.zeros(rows), np.zeros(rows, int), 0
    while ended < 12:
        _, rewards, *_, ends = face.step(env, draw(env, rows, rng))
        returns, lengths = returns + rewards, lengths + 1
        for row, info in ends.items():
            assert info["episode_length"] == lengths[row]
            assert info["episode_return"] == pytest.approx(returns[row], abs=1e-5)
            assert info["score"] == info["win"] + info["draw"] / 2
            assert ("hit_rate" in info) == (info["shots"] > 0)
            if pilots:
                assert (info["shots_against"], info["hits_against"]) == (0, 0)
            assert info.get("opponent") == pilots.get("opponent")
            returns[row] = lengths[row] = 0
            ended += 1
        if ends and not face.restarts:
            assert {type(value) for value in info.values()} <= {bool, int, float, str}
            face.reset(env, None, None)


@EACH_FACE
@pytest.mark.parametrize(
    ("game", "length", "truncated"),
    [({"time_limit": 3, "start_range_min": 50_000}, 6, True), ({"ammunition": 0}, 1, False)],
    ids=["time limit", "rules"],
)
def test_the_time_limit_truncates_and_the_rules_terminate(face, game, length, truncated):
    env = face.make(**game)
    rows = len(face.reset(env, SEED, None))
    for _ in range(length):
        _, _, *flags, ends = face.step(env, np.tile((2, 2, 0), (rows, 1)))
    assert [flag.tolist() for flag in flags] == [[not truncated] * rows, [truncated] * rows]
    assert len(ends) == rows
    for info in ends.values():
        assert (info["score"], info["truncated"], info["episode_length"]) == (
            0.5,
            truncated,
            length,
        )
    if not face.restarts:
        with pytest.raises(ResetNeeded):
            face.step(env, np.tile((2, 2, 0), (rows, 1)))
        face.reset(env, None, None)
    face.step(env, np.tile((2, 2, 0), (rows, 1)))


@EACH_FACE
def test_returned_arrays_stay_as_they_were(face):
    env = face.make(**SHORT)
    kept = [face.reset(env, SEED, None)]
    before = copy.deepcopy(kept)
    for _ in range(3):
        kept += face.step(env, np.tile((4, 0, 1), (len(kept[0]), 1)))[:4]
        before += copy.deepcopy(kept[-4:])
    face.reset(env, None, None)
    assert same(kept, before)
    assert not np.array_equal(kept[0], kept[1])


# Starts


@EACH_FACE
def test_equal_seeds_are_equal_and_others_are_not(face):
    env = face.make(**SHORT)
    first = history(face, env, seed=SEED)
    assert same(first, history(face, env, seed=SEED))
    assert same(first, history(face, face.make(**SHORT), seed=np.int64(SEED)))
    assert not same(first, history(face, env, seed=SEED + 1))
    assert not same(history(face, face.make()), history(face, face.make()))  # drawn at first


@EACH_FACE
def test_without_a_seed_it_goes_on_with_the_next_episode(face):
    """A fight that is given up counts; an engagement goes on with its own."""
    env = face.make(**SHORT)
    episodes = [history(face, env, 3, seed=SEED if k == 0 else None) for k in range(3)]
    assert not same(episodes[0], episodes[1])
    for index, expected in enumerate(episodes):
        options = {"episode": index}
        assert same(expected, history(face, face.make(**SHORT), 3, seed=SEED, options=options))
    face.reset(env, SEED, {"engagement": 6, "episode": 2})
    follows = face.reset(env, None, None)
    assert np.array_equal(follows, face.reset(env, SEED, {"engagement": 6, "episode": 3}))
    assert not np.array_equal(follows, face.reset(env, SEED, {"episode": 3}))
    assert np.array_equal(
        face.reset(env, None, {"episode": 3}), face.reset(env, SEED, {"episode": 3})
    )


@EACH_FACE
@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True])
def test_a_seed_must_be_one(face, seed):
    if face is FACES["sb3"] and seed is True:
        return  # SB3 itself makes a number of it
    with pytest.raises(ValueError, match=r"seed = .*must be a whole number from 0"):
        face.reset(face.make(), seed, None)


@EACH_FACE
def test_a_reset_is_needed_first_and_after_one_that_fails(face):
    """There is no episode after the last that can be numbered."""
    env = face.make()
    actions = np.tile((2, 2, 0), (2 if face is not FACES["gym"] else 1, 1))
    with pytest.raises(ResetNeeded):
        face.step(env, actions)
    if face is not FACES["sb3"]:
        with pytest.raises(ResetNeeded):
            env.render()
    face.reset(env, SEED, {"episode": 2**30})
    with pytest.raises(ValueError, match="episode = 1073741825"):
        face.reset(env, None, None)
    with pytest.raises(ResetNeeded):
        face.step(env, actions)


# Refusals

ALL, ONE, MANY, BOTH = (*FACES,), ("gym", "vector", "sb3"), ("vector", "sb3"), ("pettingzoo",)


def cases(*rows: tuple) -> list:
    """Returns a case for each of the faces of a row, (faces, case ...)."""
    return [
        pytest.param(FACES[name], *case, id=f"{name}-{case[0]}")
        for names, *case in rows
        for name in names
    ]


@pytest.mark.parametrize(
    ("face", "kwargs", "message"),
    cases(
        (ONE, {"opponent": "shoter"}, "did you mean 'shooter'.*model's file"),
        (ONE, {"opponent": "self"}, "'self' is none of straight, weave"),
        (ONE, {"opponent": None}, "opponent = None"),
        (ONE, {"seat": "green"}, "seat = 'green': must be red or blue"),
        (ALL, {"observation": "stgs"}, "did you mean 'stg'"),
        (ALL, {"action_mode": "discreet"}, "did you mean 'discrete'"),
        (ALL, {"render_mode": "humann"}, "did you mean 'human'"),
        (ALL, {"rendermode": "human"}, "did you mean 'render_mode'"),
        (ALL, {"time_limt": 3}, "time_limt = 3: no such parameter; did you mean 'time_limit'"),
        (("vector",), {"copi": False}, "copi = False: .*did you mean 'copy'"),
        (MANY, {"num_env": 2}, "num_env = 2: no such parameter; did you mean 'num_envs'"),
        (MANY, {"num_envs": 0}, "num_envs = 0: must be a whole number from 1"),
        (MANY, {"num_envs": 1.5}, "num_envs = 1.5: must be a whole number from 1"),
        (MANY, {"num_envs": "x"}, "num_envs = 'x': must be a whole number from 1"),
        (("gym", "pettingzoo"), {"num_envs": 4}, "num_envs = 4: no such parameter$"),
        (("gym", "sb3", "pettingzoo"), {"copy": False}, "copy = False: no such parameter$"),
        (BOTH, {"opponent": "ace"}, "opponent = 'ace': no such parameter$"),
        (BOTH, {"seat": "red"}, "seat = 'red': no such parameter$"),
    ),
)
def test_wrong_arguments_are_named(face, kwargs, message):
    with pytest.raises((ValueError, TypeError), match=message):
        face.make(**kwargs)


@pytest.mark.parametrize(
    ("face", "options", "message"),
    cases(
        (ONE, {"rang": 1e4}, r"options\['rang'\].*did you mean 'range'"),
        (ONE, {"blue_speed": 300}, r"options\['blue_speed'\].*did you mean 'speed'"),
        (BOTH, {"red_sped": 300}, "did you mean 'red_speed'"),
        (BOTH, {"enemy_range": 300}, r"options\['enemy_range'\]: must be of engagement, episode"),
        (ALL, {"range": 99}, "from 100 to 200000 m"),
        (ALL, {"range": float("nan")}, "from 100 to 200000 m"),
        (ALL, {"range": "near"}, "must be a number"),
        (ALL, {"range": None}, "must be a number"),
        (("gym",), {"range": [1e4, 2e4]}, r"\['range'\] of shape \(2,\): must be a number$"),
        (("vector",), {"range": [1e4] * 3}, r"range.* of shape \(3,\): must be .* or 2 of them"),
        (("vector",), {"range": [1e4, -1]}, r"range.* = \[10000.0, -1\]: must be from 100 to"),
        (ONE, {"off_boresight_deg": 181}, "from -180 to 180 deg"),
        (ONE, {"speed": 20}, "from 50 to 1000 m/s"),
        (ONE, {"enemy_ammunition": 7}, "a whole number from 0 to 6 missiles"),
        (ONE, {"ammunition": 1.5}, "a whole number from 0 to 6 missiles"),
        (ALL, {"episode": -1}, "a whole number from 0 to 1073741824$"),
        (ALL, {"engagement": 2**40}, "a whole number from 0 to 1073741824"),
    ),
)
def test_wrong_options_are_named_and_nothing_is_started(face, options, message):
    env = face.make()
    face.reset(env, SEED, None)
    before = env._arena.core.state_hash()
    with pytest.raises(ValueError, match=message):
        face.reset(env, SEED + 1, options)
    assert env._arena.core.state_hash() == before


@pytest.mark.parametrize("name", ["gym", "vector", "pettingzoo"])
def test_options_must_be_a_dict(name):
    with pytest.raises(TypeError, match=r"options = \['range'\]: must be a dict"):
        FACES[name].make().reset(seed=SEED, options=["range"])


@pytest.mark.parametrize(
    ("face", "action", "error", "message"),
    cases(
        (("gym",), (2, 2), ValueError, r"^action of shape \(2,\): must be \(3,\)"),
        (("gym",), [(2, 2, 0)], ValueError, r"^action of shape \(1, 3\): must be \(3,\)"),
        (("gym",), ("left", "full", "no"), TypeError, "action of type <U4: must be"),
        (MANY, (2, 2), ValueError, r"actions of shape \(2, 2\): must be \(2, 3\)"),
        (ONE, (2.0, 2.0, 0.0), TypeError, "float64: must be whole numbers"),
        (ONE, (None, None, None), TypeError, "object"),
    ),
)
def test_wrong_actions_are_named(face, action, error, message):
    env = face.make()
    actions = [action] * len(face.reset(env, SEED, None))
    with pytest.raises(error, match=message):
        face.step(env, np.array(actions) if face.restarts else actions)
    face.step(env, np.tile((2, 2, 0), (len(actions), 1)))


@pytest.mark.parametrize("answer", [np.zeros(2, int), np.zeros((2, 2), int), np.full((3, 3), 9)])
@pytest.mark.parametrize("name", ["gym", "vector", "sb3"])
def test_an_opponents_wrong_answer_is_named_when_the_environment_is_made(name, answer):
    def broken(observations: np.ndarray) -> np.ndarray:
        return answer

    with pytest.raises(OwnCodeError, match=r"opponent broken \(.*\): gives actions"):
        FACES[name].make(opponent=broken)
    with pytest.raises(OwnCodeError, match=r"gives actions"):
        FACES[name].make(opponent="straight", wingmen=broken, red_size=2)


@pytest.mark.parametrize("name", ["gym", "vector", "sb3"])
def test_one_fighter_has_no_wingmen(name):
    with pytest.raises(ValueError, match=r"wingmen = 'ace': .* has one fighter; red_size above 1"):
        FACES[name].make(wingmen="ace")


@EACH_FACE
@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("level", [9, -1])
def test_levels_outside_are_named(face, level, column):
    env = face.make()
    rows = len(face.reset(env, SEED, None))
    action = [2, 2, 0]
    action[column] = level
    title = ("rudder", "throttle", "fire")[column]
    with pytest.raises(ValueError, match=rf"{column}\] = {level}: {title} must be from 0 to"):
        face.step(env, np.tile(action, (rows, 1)))
    face.step(env, np.tile((2, 2, 0), (rows, 1)))


@EACH_FACE
def test_controls_outside_are_clipped(face):
    env = face.make(action_mode="continuous")
    results = []
    for action in ((9, 9, -9), (1.0, 1.0, 0.0)):
        rows = len(face.reset(env, SEED, None))
        results.append(face.step(env, np.tile(action, (rows, 1)))[0])
    assert np.array_equal(*results)


# Pictures, closing, pickling


@EACH_FACE
def test_pictures_are_of_engagement_0(face):
    """They change, and equal those of a single environment that flies the same."""
    game = {"render_mode": "rgb_array", **SHORT}
    env = face.make(**game)
    alone_face = FACES["pettingzoo" if face is FACES["pettingzoo"] else "gym"]
    alone, pictures = alone_face.make(**game), []
    for flown_face, flown in ((face, env), (alone_face, alone)):
        rows = len(flown_face.reset(flown, SEED, None))
        first = np.squeeze(flown.render()).copy()
        for _ in range(5):
            flown_face.step(flown, np.tile((4, 2, 0), (rows, 1)))
        pictures.append(np.squeeze(flown.render()))
        assert (first.dtype, first.shape) == (np.uint8, pictures[-1].shape)
        assert (first != pictures[-1]).any()
    assert np.array_equal(*pictures)
    assert env.metadata["render_fps"] == alone.metadata["render_fps"]
    assert face.make().render_mode is None
    env.close()


@EACH_FACE
def test_human_shows_it_in_a_window_that_is_closed(face, display):
    import pygame

    env = face.make(render_mode="human", substeps=1, **SHORT)
    rows = len(face.reset(env, SEED, None))
    face.step(env, np.tile((2, 2, 0), (rows, 1)))
    assert pygame.display.get_surface() is not None
    assert env.render() is None
    for _ in range(2):
        env.close()
        assert not pygame.display.get_init()
    with pytest.raises(UsageError, match="the window was closed"):
        face.reset(env, SEED, None)


@EACH_FACE
def test_an_environment_cannot_be_copied(face):
    """A core has no copy: processes and copies make environments of their own."""
    env = face.make()
    for function in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="no default __reduce__"):
            function(env)


@EACH_FACE
def test_help_shows_all_arguments_and_shapes(face):
    """The parts that the environments share are in each docstring, and none is left over."""
    env = face.make()
    text = type(env).__doc__
    arguments = {"observation", "action_mode", "render_mode", "isa", "**parameters"}
    if face is not FACES["pettingzoo"]:
        arguments |= {"opponent", "seat", "wingmen"}
    if face.restarts:
        arguments |= {"num_envs", "threads"}
    for entry in (*arguments, "MultiDiscrete([5, 3, 2])", "Box(-1, 1, (features,), float32)"):
        assert entry in text
    assert "\nArgs:\n" in text
    assert "\nRaises:\n" in text
    assert max(map(len, text.splitlines())) <= 100

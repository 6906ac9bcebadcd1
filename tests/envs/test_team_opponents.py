"""Opponents and wingmen of a team: models, functions and a pool."""

import json
from collections import Counter

import frozen
import frozen_team
import numpy as np
import pytest

from midrange_puffer import Midrange, Simulation
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UsageError
from midrange_puffer.evaluate import evaluate
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.game.parameters import resolve
from midrange_puffer.gym import MidrangeEnv
from midrange_puffer.policies.contestants import Mixed, Outsider
from midrange_puffer.sb3 import MidrangeVecEnv

SHORT = {"start_spacing_min": 300, "start_spacing_max": 600, "time_limit": 60}
NEAR = {"start_range_min": 8_000, "start_range_max": 12_000, **SHORT}
QUICK = {"start_range_min": 3_000, "start_range_max": 6_000, **SHORT, "time_limit": 8}
RIGHT, LEFT = 0, 4  # levels of rudder
TWOS = {"red_size": 2, "blue_size": 2}


def sized(sizes: tuple[int, int], **rules: float) -> dict[str, float]:
    return {"red_size": sizes[0], "blue_size": sizes[1], **rules}


def ahead(observations: np.ndarray) -> np.ndarray:
    """Levels of straight flight, without a shot."""
    return np.tile((2, 2, 0), (len(observations), 1))


def test_a_mix_has_groups_of_each_kind():
    """Agents by group; the scores against a function have its name."""
    opponent = {"opponent": f"self:2,shooter:1,{__file__}:ahead:1"}
    env = Midrange(16, seed=0, **opponent, **TWOS, **QUICK)
    assert env.num_agents == 8 * 4 + 4 * 2 + 4 * 2
    assert (np.bincount(env.sides) == 2).all()
    env.reset()
    told, rng = Counter(), np.random.default_rng(0)
    for _ in range(100):
        actions = rng.integers(0, env.single_action_space.nvec, (env.num_agents, 3), np.int32)
        for info in env.step(actions)[-1]:
            told.update({name: len(values) for name, values in info.items()})
    assert told["score"] == told["score_vs_shooter"] + told["score_vs_ahead"]
    assert min(told["score_vs_shooter"], told["score_vs_ahead"], told["draw_vs_self"]) > 10


def rudders(env: Midrange) -> np.ndarray:
    """Returns the rudder commands of the last group's fighters, [num_envs, fighters]."""
    return env._groups[-1].core.read("fighter")["rudder_command"]


def test_a_member_of_a_pool_flies_a_whole_team(tmp_path):
    """It flies until its engagement ends, and is logged by its name."""
    names = {"right": RIGHT, "left": LEFT}
    for name, rudder in names.items():
        frozen_team.save(tmp_path / f"{name}.pt", frozen_team.constant(rudder))
    members = [
        {"name": name, "path": f"{name}.pt", "agent_steps": 0, "own": True, "weight": 0.5}
        for name in names
    ]
    pool = tmp_path / "pool.json"
    pool.write_text(json.dumps({"format": "midrange_puffer pool", "members": members}))
    # A policy flies in teams of any size: these were made for twos.
    env = Midrange(40, "pool", pool=pool, seat="blue", **sized((3, 2), **QUICK))
    env.reset()
    actions, told = np.full((env.num_agents, 3), (2, 2, 0), np.int32), Counter()
    before = np.zeros((40, 3), np.float32)
    for _ in range(60):
        *_, infos = env.step(actions)
        for info in infos:
            told.update({name: len(values) for name, values in info.items()})
        ended = (env.terminals | env.truncations).reshape(40, 2)[:, 0]
        now = rudders(env)[:, :3]
        now[ended] = 0
        assert (now[:, :1] == now).all()
        assert set(now[~ended, 0].tolist()) in (set(), {-1, 1})
        goes_on = ~ended & (before[:, 0] != 0)
        assert (now[goes_on] == before[goes_on]).all()
        before = now
    assert told["pool/right"] + told["pool/left"] == told["score_vs_pool"]
    assert min(told["pool/right"], told["pool/left"]) > 10


def test_in_a_match_a_side_of_a_mix_is_flown_by_one():
    """One contestant flies the whole side, as red and as blue; half of the engagements each."""
    outsiders = tuple(
        Outsider(name, 0.5, frozen_team.constant(rudder))
        for name, rudder in (("right", RIGHT), ("left", LEFT))
    )
    mixed = Mixed({"agent": 1.0}, outsiders)
    parameters = resolve(sized((2, 3), **QUICK), teams=True)
    found = []

    def watch(fight: int, pending: np.ndarray, _: np.ndarray, commands: np.ndarray, *more) -> None:
        side = commands[pending][:, slice(0, 2) if fight == 0 else slice(2, None), 0]
        assert (side == side[:, :1]).all()
        found.append(side[:, 0].mean())

    fights = [Fight(mixed, "straight"), Fight("straight", mixed)]
    play(fights, 200, watch=watch, parameters=parameters)
    assert abs(np.mean(found)) < 0.2


SMALL = "trained is of one against one: it cannot fly in a team"


@pytest.mark.parametrize(
    ("make", "game", "message"),
    [
        (Midrange, {"opponent": "trained", **TWOS}, f"opponent = {SMALL}"),
        (Midrange, {"opponent": "self:1,trained:1", **TWOS}, SMALL),
        (Midrange, {"opponent": frozen.policy(), **TWOS}, "Policy is of one against one"),
        (Midrange, {"opponent": frozen_team.constant(RIGHT)}, "is of a team: it cannot fly one"),
        (Midrange, {"observation": "stg", **TWOS}, "must be default for teams"),
        (Midrange, {"red_size": 0}, "red_size = 0: must be from 1 to 16"),
        (MidrangeEnv, {"opponent": "trained", **TWOS}, f"opponent = {SMALL}"),
        (MidrangeEnv, {"wingmen": "trained", **TWOS}, f"wingmen = {SMALL}"),
        (MidrangeEnv, {"wingmen": "asce", **TWOS}, "wingmen = 'asce'"),
        (Simulation, {"observation": "stg", **TWOS}, "must be default for teams"),
        (evaluate, {"policy": "ace", "opponent": "trained", **TWOS}, "is of one against one"),
        (lambda **game: resolve(game), TWOS, "here one flies against one"),
    ],
)
def test_players_and_observations_of_other_games_are_refused_by_name(make, game, message):
    with pytest.raises((ValueError, UsageError), match=message):
        make(**game)


def test_a_member_of_one_against_one_is_left_out_by_name(tmp_path, capfd):
    pool = frozen.write_pool(tmp_path, {"few": 0.5, "two": 0.5}, few=frozen.constant(2))
    frozen_team.save(tmp_path / "two.pt", frozen_team.constant(RIGHT))
    env = Midrange(8, "pool", pool=pool, **TWOS, **QUICK)
    env.reset()
    env.step(np.zeros((env.num_agents, 3), np.int32))
    assert "left out few" in (told := capfd.readouterr().err)
    assert "is of one against one: it cannot fly in a team" in told
    assert (rudders(env)[:, 2:] == -1).all()


# Wingmen


def test_wingmen_of_each_kind_fly(tmp_path):
    """A model's file mixed with a pilot, and a function."""
    path = frozen_team.save(tmp_path / "left.pt", frozen_team.constant(LEFT))
    env = MidrangeVecEnv(64, "straight", wingmen=f"{path}:1,shooter:1", **TWOS, **QUICK)
    env.seed(0)
    env.reset()
    env.step(np.tile((2, 2, 0), (64, 1)))
    fighters = env._arena.core.read("fighter")
    is_model = fighters["pilot"][:, 1] == 0
    assert 20 < is_model.sum() < 44
    assert (fighters["rudder_command"][is_model, 1] == 1).all()

    def left(seen: np.ndarray) -> np.ndarray:
        return np.tile([3, 2, 0], (len(seen), 1))

    one = MidrangeEnv(left, wingmen=left, **sized((3, 2), **QUICK))
    one.reset(seed=0)
    one.step(np.array([0, 2, 0]))
    commands = one._arena.core.read("fighter")["rudder_command"]
    assert commands[0].tolist() == [-1, 0.5, 0.5, 0.5, 0.5]


def test_teams_start_where_an_engagement_does():
    env = MidrangeEnv("ace", **TWOS)
    env.reset(seed=0, options={"engagement": 3})
    with pytest.raises(ValueError, match=r"options\['range'\]"):
        env.reset(seed=0, options={"range": 5_000})


def test_controls_of_levels_fire_at_the_enemy_that_was_meant():
    """A crew of the agents' side is given controls; the agents' levels of fire stay targets."""
    levels = np.array([[2, 2, 0], [2, 2, 1], [2, 2, 2]])
    assert controls(levels, PLANE, in_team=True)[:, 2].tolist() == [0, 2, 3]
    fired = []
    for opponent in ("straight", ahead):
        env = Midrange(32, opponent, seed=1, **TWOS, **{**NEAR, "start_range_max": 9_000})
        env.reset()
        for _ in range(20):
            env.step(np.tile((2, 2, 2), (env.num_agents, 1)).astype(np.int32))
        missiles = env._groups[0].core.read("missile")
        fired.append({*missiles["target"][missiles["active"] == 1].tolist()})
    assert fired[0] == fired[1] == {2, 3}

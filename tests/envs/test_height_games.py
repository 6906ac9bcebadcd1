"""Teams and sensors with height in the environments, replays and policies."""

import numpy as np
import pytest
from policies import random_policy

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import believed
from midrange_puffer.game.observation import controls_of, features_of, levels_of, rows_of
from midrange_puffer.game.parameters import observed, resolve, sizes_of
from midrange_puffer.game.spacetime import pair_of
from midrange_puffer.game.targets import enemies_of, nearest_nose
from midrange_puffer.replays.replay import Recorder, Replay
from midrange_puffer.replays.session import Session

NEAR = {"dimensions": 3, "start_range_min": 12_000, "start_range_max": 20_000, "time_limit": 40}
NEAR |= {"start_spacing_min": 500, "start_spacing_max": 1_500}
TEAMS = {"red_size": 2, "blue_size": 3, "red_aircraft": "heavy:1,light:1"}
RADAR = {"sensing": "radar"}
EACH_GAME = pytest.mark.parametrize(
    "game", [TEAMS, RADAR, TEAMS | RADAR], ids=["teams", "radar", "both"]
)


def test_no_two_observations_have_as_many_features():
    """Policies know their game by the number."""
    pairs = [*_core.OBSERVATIONS, *_core.HEIGHTS, *_core.RADAR_HEIGHTS]
    counts = [len(features_of(name)) for name in pairs]
    counts += [len(features_of(name, n, n)) for name in _core.TEAMS for n in range(2, 9)]
    assert len(set(counts)) == len(counts)


@EACH_GAME
def test_levels_and_controls_are_the_same_actions(game):
    env, numbers = (
        Midrange(4, opponent="evader", seed=4, action_mode=mode, **NEAR, **game)
        for mode in ("discrete", "continuous")
    )
    parameters = resolve(NEAR | game, teams=True)
    count = len(features_of(observed("default", parameters), *sizes_of(parameters)))
    assert env.single_observation_space.shape == (count,)
    assert controls_of(count).names == ("rudder", "climb", "throttle", "fire")
    enemies = max(sizes_of(parameters))
    assert tuple(env.single_action_space.nvec) == (5, 5, 3, 1 + enemies)
    assert tuple(levels_of(count).values()) == (5, 5, 3, 1 + enemies)
    assert bool(rows_of(count)) is (enemies > 1)
    rng = np.random.default_rng(0)
    env.reset()
    numbers.reset()
    for _ in range(60):  # no shots, which are at other enemies by level and by number
        actions = rng.integers(0, (5, 5, 3, 1), env.actions.shape).astype(np.int32)
        controls = ((actions - (2, 2, 0, 0)) / np.array((2, 2, 2, 1))).astype(np.float32)
        results = env.step(actions), numbers.step(controls)
        for one, other in zip(results[0][:4], results[1][:4], strict=True):
            np.testing.assert_array_equal(one, other)


@EACH_GAME
def test_clients_of_other_libraries(game):
    wingmen = {"wingmen": "evader"} if "red_size" in game else {}
    alone = MidrangeEnv(opponent="ace", **wingmen, **NEAR, **game)
    observation, _ = alone.reset(seed=1)
    assert observation in alone.observation_space
    for _ in range(5):
        alone.step(alone.action_space.sample())
    env = MidrangeParallelEnv(**NEAR, **game)
    env.reset(seed=1)
    while env.agents:
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        assert np.abs(env.state()).max() <= 1


@EACH_GAME
def test_a_fight_is_replayed_and_drawn(game, tmp_path):
    """A replay gives the same fight, a film, a plot, a recording and a page."""
    sim = Simulation(1, 7, red="ace", blue="agent", **NEAR, **game)
    count = sim.rewards.shape[1]
    red = sim.parameters["red_size"]
    recorder = Recorder(sim, seed=7, pilots=["ace"] * red + ["agent"] * (count - red))
    rng = np.random.default_rng(2)
    for _ in range(8):  # every decision of a page with height takes some time
        controls = rng.uniform(-1, 1, (1, count, 4))
        sim.step(controls)
        recorder.add(controls)
    path = tmp_path / "fight.replay"
    recorder.replay().write(path)
    replay = Replay.read(path)
    assert replay.verify() is None
    paths = replay.paths()
    assert len(paths.types["aircraft"]) == count
    assert bool(paths.contacts) is ("sensing" in game)
    film, picture, recording = (tmp_path / f"fight.{kind}" for kind in ("gif", "png", "acmi"))
    words = ["--gif", str(film), "--size", "320x180", "--fps", "1", "--speed", "20"]
    assert cli.run("replay", [str(path), *words, "--acmi", str(recording)]) == 0
    assert cli.run("plot", ["--replay", str(path), "--out", str(picture)]) == 0
    assert min(film.stat().st_size, picture.stat().st_size, recording.stat().st_size) > 1_000
    page = tmp_path / "fight.html"
    assert cli.run("replay", [str(path), "--html", str(page)]) == 0
    assert page.stat().st_size > 100_000


@EACH_GAME
def test_policies_fly_their_own_game_alone(game):
    parameters = resolve(NEAR | game, teams=True)
    sizes = sizes_of(parameters)
    policy = random_policy(observation=observed("default", parameters), sizes=sizes)
    assert 0 <= evaluate(policy, "shooter", 8, **NEAR, **game)["score"] <= 1
    other = {"dimensions": 2} if "sensing" not in game else {"sensing": "full"}
    with pytest.raises(UsageError, match="it cannot fly where"):
        evaluate(policy, "shooter", 8, **{**NEAR, **game, "red_aircraft": "light", **other})


@EACH_GAME
def test_wingmen_and_humans(game):
    """A human flies one fighter of a side, and wingmen the others."""
    session = Session(("human", "ace"), **NEAR, **game)
    session.climb(0, 0.5)
    for _ in range(20):
        session.step()
    fighters = session.sim.core.read("fighter")
    assert fighters["climb_command"][0, 0] == 0.5
    if "red_size" in game:
        assert fighters["throttle_command"][0, 1] == 1


def test_targets_are_ordered_in_space():
    sim = Simulation(dimensions=3, red_size=1, blue_size=2)
    sim.set_fighter(0, 0, x=0, y=0, z=5_000, heading_deg=0, climb_deg=40)
    sim.set_fighter(0, 1, x=6_000, y=0, z=14_000)
    sim.set_fighter(0, 2, x=8_000, y=3_000, z=5_000)
    assert enemies_of(sim, 0).tolist() == [2, 1]
    assert nearest_nose(sim, 0) == 1


@pytest.mark.parametrize("sizes", [{}, {"red_size": 2, "blue_size": 2}])
def test_a_belief_has_the_height_of_the_contact(sizes):
    sim = Simulation(dimensions=3, sensing="radar", red="shooter", **sizes)
    enemy = sim.parameters["red_size"]
    for fighter, x, heading in ((0, 0, 0), (enemy, 30_000, 180)):
        sim.set_fighter(0, fighter, x=x, y=0, z=6_000, heading_deg=heading, climb_deg=15)
    for _ in range(6):
        sim.step()
    pair = believed(sim, 0, 0, enemy)
    true = {name: values[0, enemy] for name, values in sim.fighters.items()}
    for name in ("x", "y", "z", "vz"):
        assert pair.fighters[name][0, 1] == pytest.approx(true[name], rel=1e-5), name


def test_a_duel_of_two_fighters_has_their_types():
    """The pair of a fighter and its enemy, also as believed, flies what these have drawn."""
    mixes = {"red_aircraft": "heavy:1,trainer:1", "blue_missile": "long:1,short:1"}
    sizes = {"red_size": 3, "blue_size": 2}
    sims = [Simulation(6, 1, dimensions=3, **mixes, **sizes, **more) for more in ({}, RADAR)]
    for sim, pair_in in zip(sims, (lambda *of: pair_of(*of)[0], believed), strict=True):
        for env in range(6):
            pair = pair_in(sim, env, 2, 4)
            drawn = [sim.types[kind][env] for kind in ("aircraft", "missile")]
            flown = [pair.types[kind][0] for kind in ("aircraft", "missile")]
            names, own = sim.type_names, pair.type_names
            for kind, ours, theirs in zip(("aircraft", "missile"), drawn, flown, strict=True):
                assert [names[kind][ours[n]] for n in (2, 4)] == [own[kind][n] for n in theirs]

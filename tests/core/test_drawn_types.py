"""Types of aircraft and missiles that each engagement with height draws: mixes and spreads."""

import numpy as np
import pytest
from reference_height_fight import BLUE, RED, draw

from midrange_puffer import HEIGHT_FEATURES, Midrange, Simulation
from midrange_puffer.config.configuration import format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import PARAMETERS, resolve

HEIGHT = {"dimensions": 3}
MIXED = HEIGHT | {
    "red_aircraft": "light:2,heavy:1",
    "blue_aircraft": "trainer:1,light:3",
    "red_missile": "short:1,medium:1",
    "blue_missile": "long",
}
SPREAD = {"aircraft_spread": 0.2, "missile_spread": 0.3}
AIRCRAFT = PARAMETERS["red_aircraft"].choices
MISSILES = PARAMETERS["red_missile"].choices
FACTORS = ("thrust_factor", "drag_factor", "lift_factor", "induced_drag_factor")
MISSILE_FACTORS = (
    "missile_thrust_factor", "missile_drag_factor", "missile_lift_factor",
    "missile_burn_time_factor",
)  # fmt: skip


def names(sim: Simulation, env: int, side: int) -> tuple[str, str]:
    """Returns the types of a side in an engagement."""
    drawn = sim.types
    return AIRCRAFT[drawn["aircraft"][env, side]], MISSILES[drawn["missile"][env, side]]


def test_draws_are_those_of_the_rules():
    game, seed = MIXED | SPREAD, 2**40 + 3
    sim, parameters = Simulation(32, seed, **game), resolve(game)
    for env, episode in ((0, 5), (7, 2**20)):
        sim.start(env, 100_000 + env, episode)
    keys, drawn = sim.core.read("engagement"), sim.types
    for env in range(32):
        engagement, episode = (int(keys[name][env, 0]) for name in ("engagement", "episode"))
        for side in (RED, BLUE):
            expected = draw(parameters, seed, engagement, episode, side)
            assert names(sim, env, side) == (expected.aircraft, *expected.missiles)
            for of, factors in (
                (FACTORS, expected.aircraft_factors),
                (MISSILE_FACTORS, expected.missile_factors),
            ):
                found = [drawn[name][env, side] for name in of]
                assert found == pytest.approx(factors, abs=1e-6)


def test_types_have_their_shares_and_factors_fill_their_range():
    count = 20_000
    drawn = Simulation(count, 1, **MIXED, **SPREAD).types
    for side, kind, name, share in (
        (RED, "aircraft", "light", 2 / 3),
        (RED, "aircraft", "heavy", 1 / 3),
        (BLUE, "aircraft", "trainer", 1 / 4),
        (RED, "missile", "short", 1 / 2),
        (BLUE, "missile", "long", 1),
    ):
        index = (AIRCRAFT if kind == "aircraft" else MISSILES).index(name)
        found = (drawn[kind][:, side] == index).mean()
        assert found == pytest.approx(share, abs=5 * (share * (1 - share) / count) ** 0.5)
    factors = np.stack([drawn[name] for name in (*FACTORS, *MISSILE_FACTORS)])
    factors = factors.transpose(0, 2, 1).reshape(16, count)  # both sides' eight
    spread = np.repeat([SPREAD["aircraft_spread"], SPREAD["missile_spread"]], 8)[:, None]
    share = (factors - 1) / spread  # uniform in [-1, 1]
    assert (np.abs(share) <= 1 + 1e-6).all()
    assert np.abs(share.mean(1)).max() < 5 * (1 / 3 / count) ** 0.5
    assert share.var(1) == pytest.approx(1 / 3, rel=0.03)
    assert np.abs(np.corrcoef(share) - np.eye(16)).max() < 5 / count**0.5


def test_without_a_spread_all_factors_are_1():
    drawn = Simulation(64, **MIXED).types
    assert all((drawn[name] == 1).all() for name in (*FACTORS, *MISSILE_FACTORS))


def test_an_engagement_flies_as_if_all_flew_its_types():
    """Every fight of a mix has the bits of the game with only its types."""
    count, decisions = 24, 120
    mixed = Simulation(count, 8, "crank", "ace", **MIXED)
    drawn = [(names(mixed, env, RED), names(mixed, env, BLUE)) for env in range(count)]
    for _ in range(decisions):
        mixed.step()
    fighters, seen = mixed.core.read("fighter"), mixed.observe()
    for red, blue in set(drawn):
        types = {"red_aircraft": red[0], "red_missile": red[1]}
        types |= {"blue_aircraft": blue[0], "blue_missile": blue[1]}
        plain = Simulation(count, 8, "crank", "ace", **HEIGHT, **types)
        for _ in range(decisions):
            plain.step()
        same = [env for env in range(count) if drawn[env] == (red, blue)]
        for name, values in plain.core.read("fighter").items():
            assert np.array_equal(values[same], fighters[name][same]), name
        assert np.array_equal(plain.observe()[same], seen[same])
    assert len(set(drawn)) > 4


@pytest.mark.parametrize("threads", [1, 2])
def test_an_engagement_does_not_depend_on_the_others(threads):
    """Alone or among many, on any threads, in later episodes too."""
    settings = MIXED | SPREAD | {"time_limit": 20}
    many = Simulation(70, 3, "ace", "crank", threads=threads, **settings)
    one = Simulation(1, 3, "ace", "crank", **settings)
    for env, episode in ((69, 0), (16, 4)):
        many.start(env, env, episode)
        one.start(0, env, episode)
        for _ in range(40):
            many.step()
            one.step()
        for kind in ("fighter", "missile"):
            for name, values in one.core.read(kind).items():
                assert np.array_equal(values[0], many.core.read(kind)[name][env]), name
        assert np.array_equal(one.observe()[0], many.observe()[env])


def test_each_episode_draws_anew():
    """Also when an environment starts the next episode by itself: all else is alike."""
    alike = {"start_height_min": 8000, "start_height_max": 8000, "start_height_difference_max": 0}
    alike |= {"start_speed_min": 300, "start_speed_max": 300, "time_limit": 1}
    env = Midrange(16, opponent="straight", **MIXED, **SPREAD, **alike)
    thrust = [row.name for row in HEIGHT_FEATURES].index("own_thrust")
    observations, _ = env.reset(0)
    seen = [observations[:, thrust].copy()]
    while len(seen) < 20:
        observations, _, _, truncations, _ = env.step(np.zeros((16, 4), np.int64))
        assert truncations.all() or not truncations.any()
        if truncations.all():
            seen.append(observations[:, thrust].copy())
    env.close()
    assert len(set(np.concatenate(seen).tolist())) > 300  # of 320


def test_a_snapshot_brings_its_types_back():
    sim = Simulation(20, 3, "ace", "crank", **MIXED, **SPREAD)
    for env in range(20):
        sim.start(env, env, 3)
    for _ in range(100):
        sim.step()
    snapshot, drawn = sim.snapshot(), sim.types
    for _ in range(30):
        sim.step()
    expected = sim.state_hash()
    other = Simulation(20, 99, "ace", "crank", **MIXED, **SPREAD)
    for copy in (sim, other):
        copy.restore(snapshot)
        assert all(np.array_equal(drawn[name], values) for name, values in copy.types.items())
        for _ in range(30):
            copy.step()
        assert copy.state_hash() == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"red_aircraft": "light:2,heavi:1"}, "did you mean 'heavy'"),
        ({"red_aircraft": "light,light"}, "light is given twice"),
        ({"red_aircraft": "light:0,heavy:1"}, "the share of light is 0: must be a number above 0"),
        ({"red_aircraft": "light:1e6,heavy:1"}, "the share of heavy is 9.99999e-07 of all"),
        ({"blue_missile": "long:nan,short"}, "the share of long is nan: must be a number above"),
        ({"blue_missile": "long:much,short"}, "the share of long, 'much', is no number; must be"),
        ({"blue_missile": ""}, "must be one of medium, long, short, or a mix"),
        ({"blue_missile": 1}, "blue_missile = 1: must be one of medium, long, short, or a mix"),
        ({"aircraft_spread": 0.4}, "aircraft_spread = 0.4: must be from 0 to 0.3"),
        ({"dimensions": 2}, "red_aircraft = light:2,heavy:1: with height only"),
    ],
)
def test_wrong_mixes_are_refused(changes, words):
    with pytest.raises((ValueError, UsageError), match=words):
        Simulation(**(MIXED | changes))


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (" light : 2.0 , heavy ", "light:2,heavy:1"),
        ("heavy:2,light:4", "light:2,heavy:1"),
        ("heavy:7", "heavy"),
        ("trainer,light", "light:1,trainer:1"),
    ],
)
def test_a_mix_has_one_text(text, stored):
    """In Python, on the command line and in an ini file: models of one game agree on it."""
    assert resolve(HEIGHT | {"red_aircraft": text})["red_aircraft"] == stored
    config = load_config(None, ["--env.dimensions=3", f"--env.red-aircraft={text}"])
    assert config.env["red_aircraft"] == stored
    assert f"red_aircraft = {stored}\n" in format_config(config)


def test_the_plane_has_no_types():
    with pytest.raises(UsageError, match="types: with height only, and dimensions = 2"):
        _ = Simulation().types

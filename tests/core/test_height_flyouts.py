"""Fly-outs of shots with height: by the law, in the mirror, and where nothing can hit."""

import functools

import height
import height_flyouts as flyouts
import numpy as np
import pytest
from height import Law
from height_shots import GAME, core, edges, shots

from midrange_puffer import _core
from midrange_puffer.game.envelope import limits_of, relevant
from midrange_puffer.game.parameters import resolve


@pytest.mark.parametrize("missile", ["medium", "short", "long"])
def test_ranges_are_those_of_flights_by_the_law(library, missile):
    """Flights through ctypes, one by one, with another search; a target that turns flies level."""
    law = Law(library, missile=height.fields(library, missile))
    heights = (1500.0, 5000.0, 9000.0)
    for ahead in (1, -1):
        some = np.concatenate([shots(1, (ahead, 0), z) for z in heights])
        found = edges({"red_missile": missile, "pilot_dive": 0}, some)
        for n, z in enumerate(heights):
            flown = functools.partial(flyouts.fly_out, law, height=z, direction=(-ahead, 0, 0))
            assert found["aero"][n] == pytest.approx(flyouts.reach(flown), rel=0.015, abs=100)
            flown = functools.partial(flown, commands=flyouts.cold)
            assert found["cold"][n] == pytest.approx(flyouts.reach(flown), rel=0.06, abs=100)


def test_a_dive_escapes_from_farther_in():
    some = shots(1, z=9000)
    level, diving = (edges({"pilot_dive": dive}, some)["cold"][0] for dive in (0, 0.5))
    assert diving < 0.9 * level


def test_mirrored_shots_hit_alike():
    rng = np.random.default_rng(1)
    some = shots(400)
    angles = rng.uniform(-np.pi, np.pi, (2, 400))
    some["nose"] = np.stack([np.cos(angles[0] / 3), np.sin(angles[0] / 3)], 1)
    some["aspect"] = np.stack([np.cos(angles[1]), np.sin(angles[1])], 1)
    some["range"] = rng.uniform(2000, 60_000, 400)
    some["height"], some["target_height"] = rng.uniform(500, 12_000, (2, 400))
    some["climb_sine"] = rng.uniform(-0.5, 0.5, 400)
    names = [name for name, _ in _core.evasion_rows()]
    some["evasion"] = rng.integers(0, len(names), 400)
    mirrored = some.copy()
    mirrored["nose"][:, 1] *= -1
    mirrored["aspect"][:, 1] *= -1
    swapped = {"left": "right", "right": "left"}
    for shot in mirrored:
        name, _, side = names[shot["evasion"]].rpartition("_")
        if side in swapped:
            shot["evasion"] = names.index(f"{name}_{swapped[side]}")
    hits = core().fly_shots(some)
    assert np.array_equal(hits, core().fly_shots(mirrored))
    assert 40 < hits.sum() < 360


def test_no_range_is_above_the_limit_of_the_search():
    """The search ends where nothing can hit."""
    rng = np.random.default_rng(2)
    bomb = "bomb=medium thrust=0 burn_time=0 terminal_speed=2000 lift_drag=30 spent_speed=1"
    for missile in ("medium", "long", "short", "bomb"):
        game, some = {"red_missile": missile, "types": bomb}, shots(60)
        angles = rng.uniform(-np.pi, np.pi, 60)
        some["aspect"] = np.stack([np.cos(angles), np.sin(angles)], 1)
        some["height"], some["target_height"] = rng.uniform(5000, 14_000, (2, 60))
        values = relevant(resolve(GAME | game))
        some["range"] = limits_of(values, some["aspect"], [300.0], [300.0]).ravel()
        assert not core(**game).fly_shots(some).any()


@pytest.mark.parametrize(
    ("game", "change", "message"),
    [
        ({}, {"height": -1}, "height of a shot: must not be below 0"),
        ({}, {"climb_sine": np.nan}, "shots must be finite"),
        ({"red_aircraft": "light,heavy"}, {}, "types must not be drawn"),
        ({"missile_spread": 0.1}, {}, "missile_spread = 0.1: types must not be drawn"),
    ],
)
def test_impossible_shots_are_named(game, change, message):
    some = shots(3)
    for name, value in change.items():
        some[name][1] = value
    with pytest.raises(ValueError, match=message):
        core(**game).fly_shots(some)

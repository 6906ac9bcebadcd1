"""Missile envelopes with height: fly-outs by the law, and the map with its table of heights."""

import json

import numpy as np
import pytest
from height_shots import GAME, edges, shots

from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.game import envelope_height
from midrange_puffer.game.envelope import build
from midrange_puffer.game.envelope_height import build_for_heights
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.envelope_search import RESOLUTION, Grid
from midrange_puffer.game.parameters import resolve

SHORT = GAME | {"red_missile": "short"}  # whose flights take least time
SPEEDS = (250.0, 400.0)


def test_the_higher_shooter_reaches_farther_and_so_does_one_that_climbs():
    some = shots(6)
    some["height"] = (3000, 7000, 11_000, 7000, 7000, 7000)
    some["target_height"] = (7000, 7000, 7000, 7000, 7000, 3000)
    some["climb_sine"] = (0, 0, 0, 0.4, -0.4, 0)
    low, level, high, up, down, below = edges({}, some)["aero"]
    assert low < level < high
    assert down < level < up
    assert below < level


@pytest.fixture(scope="module")
def small():
    """Builds a small map, and a table of three heights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(envelope_height, "GRID", Grid(3, 8, SPEEDS, SPEEDS))
        patch.setattr(envelope_height, "SAMPLE", Grid(5, 4, SPEEDS, SPEEDS))
        patch.setattr(envelope_height, "HEIGHTS", (4000.0, 7000.0, 10_000.0))
        count = []
        yield build_for_heights(resolve(GAME), count.append)
        assert sum(count) == envelope_height.cells()


def test_at_the_base_it_is_the_map(small):
    rng = np.random.default_rng(3)
    off, aspect = rng.uniform(-1, 1, 200), rng.uniform(-np.pi, np.pi, 200)
    launch, target = rng.uniform(*SPEEDS, (2, 200))
    for edge in envelope_height.SCALED:
        found = small.ranges(edge, off, aspect, launch, target, 7000, 7000)
        expected = look_up(small.base, edge, off, aspect, launch, target)
        np.testing.assert_allclose(found, expected)


def test_between_its_nodes_the_table_is_linear(small):
    nose_on = ("aero", 0, 0, 300, 300)
    heights = envelope_height.HEIGHTS
    corners = [small.ranges(*nose_on, z, t) for z in heights[:2] for t in heights[1:]]
    middle = small.ranges(*nose_on, sum(heights[:2]) / 2, sum(heights[1:]) / 2)
    assert middle == pytest.approx(np.mean(corners))
    assert small.ranges(*nose_on, 0, 20_000) == small.ranges(*nose_on, heights[0], heights[-1])


def test_the_table_is_near_the_ranges_of_shots_flown_out(small):
    """Nose-on, at heights of the table and between them; the benchmark measures more exactly."""
    errors = []
    for z, target in ((4000, 4000), (4000, 10_000), (10_000, 10_000), (8500, 5500), (9500, 8500)):
        some = shots(2)
        some["aspect"] = [(1, 0), (-1, 0)]
        some["height"], some["target_height"] = z, target
        some["launch_speed"] = some["target_speed"] = SPEEDS[0]
        for flown, aspect in zip(edges({}, some)["aero"], (0, np.pi), strict=True):
            found = small.ranges("aero", 0, aspect, SPEEDS[0], SPEEDS[0], z, target)
            errors.append(abs(float(found / flown) - 1))
    assert np.median(errors) < 0.08
    assert max(errors) < 0.3


def test_a_climb_gains_what_the_factor_says(small):
    some = shots(2, z=7000)
    some["launch_speed"] = some["target_speed"] = SPEEDS[0]
    some["climb_sine"] = (0, 0.3)
    level, up = edges({}, some)["aero"]
    gain = small.ranges("aero", 0, 0, SPEEDS[0], SPEEDS[0], 7000, 7000, 0.3) / level
    assert up / level > 1.1
    assert gain == pytest.approx(up / level, abs=0.05)
    assert small.climbs.keys() == set(envelope_height.SCALED)


def test_the_command_writes_maps_pictures_and_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(envelope_height, "GRID", Grid(3, 4, SPEEDS, SPEEDS))
    monkeypatch.setattr(envelope_height, "SAMPLE", Grid(3, 4, SPEEDS, SPEEDS))
    words = ["--env.dimensions=3", "--env.red-missile=short", "--out", str(tmp_path)]
    assert cli.run("envelope", words) == 0
    out = capsys.readouterr().out
    assert "Ranges at other heights, as multiples of those with both at 7000 m" in out
    assert "per sine of the launcher's climb" in out
    names = {"envelope.npz", "aspect.png", "off_boresight.png", "heights.png"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_map_at_given_heights():
    values = resolve(SHORT)
    low, high = (build(values, Grid(3, 4, SPEEDS, SPEEDS), heights=(z, z)) for z in (2000, 9000))
    nose_on = (0, 2, 0, 0)
    assert high.aero[nose_on] > low.aero[nose_on] + RESOLUTION
    down = build(values, Grid(3, 4, SPEEDS, SPEEDS), heights=(9000, 2000))
    assert low.aero[nose_on] < down.aero[nose_on] < high.aero[nose_on]
    assert down.identity["parameters"]["target_height"] == 2000
    assert down.identity != high.identity
    for game, heights in ((values, None), (resolve({}), (7000, 7000))):
        with pytest.raises(ValueError, match=r"heights = .*: needed with height, and only there"):
            build(game, heights=heights)


def test_the_command_draws_a_map_at_given_heights(tmp_path, monkeypatch):
    monkeypatch.setattr(envelope_height, "GRID", Grid(3, 4, SPEEDS, SPEEDS))
    report = tmp_path / "report.json"
    words = ["--env.dimensions=3", "--env.red-missile=short", "--height=9000", f"--json={report}"]
    assert cli.run("envelope", [*words, "--out", str(tmp_path)]) == 0
    told = json.loads(report.read_text())
    assert told["parameters"]["height"] == told["parameters"]["target_height"] == 9000
    assert "ratios" not in told
    assert not (tmp_path / "heights.png").exists()


def test_a_missile_that_reaches_nothing_has_no_table(monkeypatch):
    monkeypatch.setattr(envelope_height, "GRID", Grid(3, 4, SPEEDS, SPEEDS))
    monkeypatch.setattr(envelope_height, "SAMPLE", Grid(3, 4, SPEEDS, SPEEDS))
    game = SHORT | {"types": "short thrust=0 burn_time=0 life=1"}
    with pytest.raises(ValueError, match=r"is nowhere above 2000 m .* no table of heights"):
        build_for_heights(resolve(game))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--height=3000"], "--height 3000: with height only, and this game has dimensions = 2"),
        (["--env.dimensions=3", "--target-height=3000"], "--target-height 3000: needs --height"),
        (["--env.dimensions=3", "--env.red-missile=long,short"], "is of one type, no mix"),
        (["--env.dimensions=3", "--height=30000"], "must be a number from 0"),
    ],
)
def test_impossible_requests_are_named(tmp_path, words, message):
    with pytest.raises((ValueError, UsageError), match=message):
        cli.run("envelope", [*words, "--out", str(tmp_path)])

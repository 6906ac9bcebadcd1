"""The page of a fight with height: heights beside the bodies, and the view from the side."""

import json
import math
import re

import numpy as np
import pytest
from browser import NEEDED
from pages import colour_count, columns, go, is_shown, picture, status, text, unpack
from replays import record

from midrange_puffer.game.shots import FlyOuts, flight_at, if_it_flies_on, surely
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.show.heights import HIGHEST, SHADES
from midrange_puffer.show.page import ASSETS, write_page
from midrange_puffer.show.page.content import collect
from midrange_puffer.show.page.zones import BEARINGS, FLOWN_BEARINGS

# Of the International Standard Atmosphere (ISO 2533): height [m], speed of sound [m/s].
SOUND = ((0, 340.29), (5000, 320.53), (10_000, 299.46), (11_000, 295.07), (20_000, 295.07))
BODY = ("times", "x", "y", "z", "speed", "heading", "climb", "rudder", "load", "lift")


@pytest.fixture(scope="module")
def replay():
    wide = {"start_range_min": 15_000, "start_range_max": 20_000, "time_limit": 60}
    return record(
        ("crank", "shooter"), seed=1, controls=lambda rng: None, dimensions=3,
        start_height_difference_max=3000, start_off_boresight_max_deg=30, **wide,
    )[0]  # fmt: skip


def test_the_data_are_the_paths(replay):
    counts = []
    fight, paths = collect(replay, counts.append), replay.paths()
    assert sum(counts) == replay.decisions
    for kind in ("fighters", "missiles"):
        expected = getattr(paths, kind)
        assert len(fight[kind]) == len(expected) > 1
        for packed, path in zip(fight[kind], expected, strict=True):
            found = columns(packed)
            assert set(found) >= set(BODY)
            for name in BODY:
                np.testing.assert_array_equal(found[name], np.float32(getattr(path, name)))
    graph = spacetime(replay.simulation(), seat=1)
    packed = fight["graphs"][1]
    for name, expected in (
        ("own", graph.own),
        ("escapes", graph.escapes),
        ("fronts", graph.fronts),
    ):
        points = unpack(packed[name])[0] + unpack(packed["origins"])[0]
        np.testing.assert_allclose(points, expected, atol=1)
    for height, speed in SOUND:
        sound = np.interp(height, fight["sound"]["heights"], fight["sound"]["speeds"])
        assert sound == pytest.approx(speed, abs=0.05)


def test_zones_are_where_shots_hit(replay):
    """On bearings that are flown. Some evasions escape at short ranges inside R_NEZ, too."""
    fight, paths = collect(replay, lambda count: None), replay.paths()
    zones = unpack(fight["zones"])
    assert zones.shape[1:] == (2, 2, BEARINGS)
    died = min(path.died for path in paths.fighters if path.died is not None)
    fly_outs, found, sure = FlyOuts(replay.parameters, paths.types), [], []
    for row, ranges in enumerate(zones):
        time = row * fight["zoneInterval"]
        for side, path in enumerate(paths.fighters):
            is_out = time >= died or not path.ammo[path.at(time)]
            assert np.isnan(ranges[side]).all() == np.isnan(ranges[side]).any() == is_out
            if is_out:
                continue
            own, enemy = (flight_at(paths.fighters[seat], time) for seat in (side, 1 - side))
            for turn in range(0, BEARINGS, BEARINGS // FLOWN_BEARINGS):
                aero, nez = ranges[side, :, turn]
                assert nez <= aero
                if nez < 3000:
                    continue
                angle = own.heading + turn * math.tau / BEARINGS
                near, inside, outside, beyond = (
                    fly_outs.hits(side, own, enemy._replace(
                        x=own.x + metres * math.cos(angle), y=own.y + metres * math.sin(angle)))
                    for metres in (aero - 100, nez - 100, nez + 500, aero + 500)
                )  # fmt: skip
                found.append((if_it_flies_on(near), not if_it_flies_on(beyond)))
                sure.append((surely(inside), not surely(outside)))
    assert len(found) > 50
    assert (np.mean(found, axis=0) > 0.97).all()
    assert (np.mean(sure, axis=0) > (0.75, 0.97)).all(), np.mean(sure, axis=0)


@NEEDED
def test_it_tells_height_climb_and_mach(page, replay):
    fighters = replay.paths().fighters
    flown = np.array([(path.x, path.y, path.z) for path in fighters])
    for index in (1, 8, 30):
        go(page, f"t={fighters[0].times[index]}")
        told = status(page)
        for seat, path in enumerate(fighters):
            sound = np.interp(path.z[index], *zip(*SOUND, strict=True))
            assert told["height"][seat] == f"{path.z[index] / 1000:.1f} km"
            assert float(told["Mach"][seat]) == pytest.approx(path.speed[index] / sound, abs=0.015)
            rise = float(told["climb"][seat].removesuffix(" m/s").replace("−", "-"))
            assert rise == pytest.approx(path.speed[index] * np.sin(path.climb[index]), abs=0.51)
        between = np.linalg.norm(flown[0, :, index] - flown[1, :, index]) / 1000
        assert text(page, "range").startswith(f"Range {between:.1f} km, ")


@NEEDED
def test_the_view_from_the_side_has_red_at_the_left_and_heights_to_scale(page, replay):
    """At the start nothing has a trail yet."""
    found = page.evaluate(
        """(() => {
          const canvas = document.getElementById('side');
          const { width, height } = canvas;
          const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
          const style = getComputedStyle(document.documentElement);
          return ['--red', '--blue'].map((name) => {
            const hex = style.getPropertyValue(name).trim();
            const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
            const rows = new Map();
            for (let i = 0; i < data.length; i += 4) {
              if ([r, g, b, 255].some((value, part) => data[i + part] !== value)) continue;
              const [x, y] = [(i / 4) % width, Math.floor(i / 4 / width)];
              rows.set(y, [...(rows.get(y) ?? []), x]);
            }
            const [y, xs] = [...rows].reduce((a, b) => (b[1].length > a[1].length ? b : a));
            return [xs.reduce((a, b) => a + b) / xs.length, height - 26 - y];
          });
        })()"""
    )
    (red_x, red_z), (blue_x, blue_z) = found
    flown = [path.z[0] for path in replay.paths().fighters]
    assert abs(flown[0] - flown[1]) > 500
    assert red_x < blue_x
    assert red_z / blue_z == pytest.approx(flown[0] / flown[1], rel=0.04)


@NEEDED
def test_there_is_no_picture_of_a_side_without_sensors(page):
    for element in ("picture", "graph"):
        assert not is_shown(page, element)
    assert "at its present height, course and speed" in text(page, "caption")
    before = picture(page, "plane")
    page.press("k")
    assert picture(page, "plane") == before
    page.press("z")
    assert picture(page, "plane") != before
    assert "R_NEZ" not in text(page, "caption")


@NEEDED
def test_the_graph_takes_the_place_of_both_views(page):
    go(page, "t=4&view=spacetime&seat=blue")
    assert is_shown(page, "graph")
    for element in ("plane", "side"):
        assert not is_shown(page, element)
    assert "at any height" in text(page, "caption")
    page.press("v")
    for element in ("plane", "side"):
        assert is_shown(page, element)


@NEEDED
def test_the_graph_has_no_front_where_the_enemy_has_no_missile_left(window, tmp_path):
    fight = record(
        ("straight", "shooter"), seed=1, controls=lambda rng: None, dimensions=3,
        red_missiles="medium:6", blue_missiles="medium:1",
        start_range_min=15_000, start_range_max=20_000, start_off_boresight_max_deg=0,
    )[0]  # fmt: skip
    [missile] = fight.paths().missiles
    path = tmp_path / "fight.html"
    write_page(fight, path)
    place = f"#t={missile.launched + 2}&view=spacetime&seat=red"
    window.open(path.as_uri() + place)
    assert is_shown(window, "graph")
    assert colour_count(window, "graph") > 20
    assert window.errors == []


def test_the_page_has_the_colours_of_heights_that_plots_have():
    script = (ASSETS / "canvas.js").read_text()
    [highest], [shades] = (
        re.findall(r"HIGHEST = (\d+);", script),
        re.findall(r"SHADES = (.*);", script),
    )
    assert float(highest) == HIGHEST
    assert tuple(map(tuple, json.loads(shades))) == SHADES


@NEEDED
def test_pages_of_the_plane_have_no_view_from_the_side(window, tmp_path):
    path = tmp_path / "flat.html"
    write_page(record(("ace", "evader"), seed=8)[0], path)
    window.open(path.as_uri())
    assert not is_shown(window, "side")
    assert is_shown(window, "zones")
    assert window.errors == []

"""Fights with height in the viewer and in films: from above with heights, and from the side."""

import math
from collections import Counter

import numpy as np
import pygame
import pytest
from replays import record

from midrange_puffer.game.parameters import callsigns
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import FlyOuts, flight_at
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session
from midrange_puffer.show.heights import shade
from midrange_puffer.show.view import SPACETIME
from midrange_puffer.show.view.canvas import SIDE_COLOURS, Canvas
from midrange_puffer.show.view.film import write_film
from midrange_puffer.show.view.marks import Labels
from midrange_puffer.show.view.moment import Focus, Moment, moment
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.side import Side, divide, draw_side
from midrange_puffer.show.view.status import HEIGHT as BAR
from midrange_puffer.show.view.watch import Watcher
from midrange_puffer.show.view.zones import FLOWN, FlownZones

SOUND = ((0, 340.29), (5000, 320.53), (10_000, 299.46), (11_000, 295.07))  # m, m/s, ISO 2533
AREA = pygame.Rect(40, 300, 900, 180)


@pytest.fixture(scope="module")
def replay() -> Replay:
    return record(
        ("crank", "shooter"), seed=1, controls=lambda rng: None, dimensions=3, time_limit=70
    )[0]


@pytest.fixture(scope="module")
def paths(replay) -> Paths:
    return replay.paths()


def whole_moments(paths: Paths) -> list[Moment]:
    return [moment(paths, time) for time in paths.fighters[0].times[4:-1:9]]


def test_a_moment_is_what_was_flown(paths):
    for now in whole_moments(paths):
        for body in now.fighters:
            path, index = body.path, body.index
            assert body.point == pytest.approx([path.x[index], path.y[index], path.z[index]])
            sound = np.interp(path.z[index], *zip(*SOUND, strict=True))
            assert body.mach == pytest.approx(path.speed[index] / sound, rel=0.002)
            assert body.rise == pytest.approx(path.speed[index] * math.sin(path.climb[index]))
            course = body.course()
            assert course[:, :2] == pytest.approx(body.trail())
            assert course[:: (len(course) - 1) // (index + 1), 2][:-1] == pytest.approx(
                path.z[: index + 1]
            )
        red, blue = (body.point for body in now.fighters)
        assert now.range(0, 1) == pytest.approx(math.dist(red, blue))


def test_heights_between_two_entries_are_interpolated(paths):
    red = paths.fighters[0]
    middle = moment(paths, (red.times[10] + red.times[11]) / 2).fighters[0]
    assert middle.z == pytest.approx((red.z[10] + red.z[11]) / 2)


@pytest.mark.parametrize("left", [0, 1])
def test_the_side_has_the_own_fighter_at_the_left_and_the_ground_below(paths, left):
    for now in whole_moments(paths):
        side = Side(AREA, now, left)
        own, other = (side.to_screen([now.fighters[n].point])[0] for n in (left, 1 - left))
        assert own[0] < other[0]
        ground = side.to_screen([[*now.fighters[left].place, 0.0]])[0]
        assert ground == pytest.approx([own[0], side.area.bottom])
        heights = [side.area.bottom - own[1], side.area.bottom - other[1]]
        flown = [now.fighters[n].z for n in (left, 1 - left)]
        assert heights[0] * flown[1] == pytest.approx(heights[1] * flown[0])
        for missile in now.missiles:
            if missile.flying:
                assert side.area.collidepoint(side.to_screen([missile.point])[0])


def test_symbols_point_where_they_fly(paths):
    """On the screen, from the side, as a body moves in a short time."""
    for now in whole_moments(paths):
        side = Side(AREA, now, 0)
        for body in (*now.fighters, *now.missiles):
            ground = math.cos(body.climb)
            course = ground * math.cos(body.heading), ground * math.sin(body.heading)
            step = body.speed * np.array([*course, math.sin(body.climb)])
            (x, y), (then_x, then_y) = side.to_screen([body.point, body.point + step])
            shift = np.array([then_x - x, y - then_y])
            angle = side.angle(body)
            pointing = np.array([math.cos(angle), math.sin(angle)])
            assert pointing @ shift == pytest.approx(np.linalg.norm(shift), rel=1e-6)


def test_the_whole_fight_fits_at_its_end(paths):
    now = moment(paths)
    side = Side(AREA, now, 0, whole=True)
    for body in (*now.fighters, *now.missiles):
        points = side.to_screen(body.course())
        assert (points[:, 0] >= side.area.left - 1e-6).all()
        assert (points[:, 0] <= side.area.right + 1e-6).all()
        assert (points[:, 1] >= side.area.top).all()


def test_both_fighters_are_drawn_from_the_side(replay, paths):
    sim = replay.simulation()
    renderer = Renderer((1280, 720))
    renderer.draw(sim, paths, time=20.0)
    picture = renderer.rgb()
    now = moment(paths, 20.0)
    _, area = divide(pygame.Rect(0, BAR, 1280, 720 - BAR))
    assert area is not None
    side = Side(area, now, 0)
    for body, colour in zip(now.fighters, SIDE_COLOURS, strict=True):
        x, y = side.to_screen([body.point])[0].astype(int)
        around = picture[y - 3 : y + 4, x - 3 : x + 4]
        assert (np.abs(around.astype(int) - colour).sum(axis=2) < 12).sum() > 10


def test_a_low_view_has_no_room_for_the_side(replay, paths):
    assert divide(pygame.Rect(0, 0, 320, 116))[1] is None
    renderer = Renderer((320, 180))
    renderer.draw(replay.simulation(), paths, time=20.0)
    assert len(np.unique(renderer.rgb().reshape(-1, 3), axis=0)) > 10


def test_films_have_height(replay, tmp_path):
    path = tmp_path / "fight.gif"
    write_film(replay, path, size=(640, 360), fps=2, speed=20)
    assert path.stat().st_size > 10_000
    size = path.stat().st_size
    write_film(replay, path, size=(640, 360), fps=2, speed=20, mode=SPACETIME)
    assert path.stat().st_size != size


def test_policies_and_pilots_are_watched(monkeypatch):
    session = Session(("crank", "shooter"), seed=1, dimensions=3, time_limit=70)
    shown = []
    watcher = Watcher([session], Renderer((854, 480)), lambda surface: shown.append(surface.copy()))
    events = [pygame.event.Event(pygame.KEYDOWN, key=pygame.K_v)]
    monkeypatch.setattr(pygame.event, "get", lambda: [events.pop()] if events else [])
    for _ in range(40):
        assert watcher.frame(0.1)
    first, last = (pygame.surfarray.array3d(surface) for surface in (shown[0], shown[-1]))
    assert (first != last).any()
    expected = Session(("crank", "shooter"), seed=1, dimensions=3, time_limit=70)
    for _ in range(len(session.recorder)):
        expected.step()
    assert session.sim.state_hash() == expected.sim.state_hash()


# Launch zones, names and trails


def test_zones_are_flown_out_for_the_present_type(replay, paths):
    """In steps of time; between them they move and turn with their fighter."""
    loaded = {**replay.parameters, "red_missiles": "short:2,medium:2"}
    session = Session(("crank", "shooter"), seed=1, **loaded)
    session.step()
    zones = FlownZones(session.paths, session.sim.parameters, in_background=False)
    now = moment(session.paths)
    short, medium = (zones.around(*now.fighters, kind, 0.5) for kind in (0, 1))
    fly_outs = FlyOuts(session.sim.parameters, session.paths.types)
    pair = tuple(flight_at(path, 0.0) for path in session.paths.fighters)
    for kind, places in enumerate((short, medium)):
        [expected] = fly_outs.zones(0, [pair], FLOWN, kind=kind)
        for edge, ranges in zip(("aero", "nez"), expected, strict=True):
            away = places[edge] - now.fighters[0].place
            np.testing.assert_allclose(np.hypot(*away.T), ranges, rtol=1e-5, atol=0.1)
            nose = now.fighters[0].heading + np.arange(FLOWN) * math.tau / FLOWN
            far = ranges > 1
            np.testing.assert_allclose(
                away[far], (ranges * [np.cos(nose), np.sin(nose)]).T[far], atol=1
            )
    assert np.ptp(medium["aero"][:, 0]) > 1.5 * np.ptp(short["aero"][:, 0])


def test_zones_in_the_background_come_when_they_are_done(paths, replay):
    zones = FlownZones(paths, replay.parameters, in_background=True)
    own = FlownZones(paths, replay.parameters, in_background=False)
    now = moment(paths, 6.0)
    assert zones.around(*now.fighters, 0, 6.0) == {}
    while not (found := zones.around(*now.fighters, 0, 6.0)):
        pass
    for edge, places in own.around(*now.fighters, 0, 6.0).items():
        np.testing.assert_array_equal(found[edge], places)


def test_zones_are_drawn_of_the_fighter_that_is_followed(replay, paths):
    sim, reds = replay.simulation(), []
    for focus in (0, 1, None):
        renderer = Renderer((640, 480))
        renderer.draw(sim, paths, time=20.0, focus=focus)
        picture = renderer.rgb()[BAR:300].astype(int)
        reds.append((picture[..., 0] - picture[..., 2] > 2).sum())
    assert reds[0] > 5 * max(reds[1:])


def test_trails_have_the_colours_of_heights_where_there_is_no_view_from_the_side(replay, paths):
    sim = replay.simulation()
    for size, has_side in (((400, 240), False), ((400, 400), True)):
        renderer = Renderer(size)
        renderer.draw(sim, paths, time=50.0)
        picture = renderer.rgb()[BAR:150].astype(int)
        heights = [path.z[path.at(40.0)] for path in paths.fighters]
        found = [(np.abs(picture - shade(z)).sum(axis=2) < 30).any() for z in heights]
        assert found == [not has_side] * 2


def test_the_bar_names_types_and_counts_the_missiles_of_a_load(drawn_words, replay):
    game = {"dimensions": 3, "red_missiles": "medium:4,long:2", "blue_aircraft": "heavy"}
    session = Session(("crank", "shooter"), seed=1, **game)
    session.step()
    Renderer((1280, 720)).draw(session.sim, session.paths)
    for name in ("light:", "4 medium", "2 long", "heavy:", "medium"):
        assert name in drawn_words
    drawn_words.clear()
    Renderer((1280, 720)).draw(replay.simulation(), replay.paths())
    assert "light:" in drawn_words
    assert not any("4 medium" in word for word in drawn_words)


def test_tab_follows_blue_then_all_then_red(monkeypatch):
    session = Session(("crank", "shooter"), seed=1, dimensions=3, time_limit=70)
    watcher = Watcher([session], Renderer((640, 400)), lambda surface: None)
    followed = []
    for _ in range(3):
        watcher._press(pygame.K_TAB)
        followed.append(watcher._focus)
    assert followed == [1, None, 0]


def test_the_cut_of_a_radar_has_the_rays_within_its_cone(paths):
    """Compared with the angle between nose and ray in space, of rays in the plane of the view."""
    rays = np.linspace(-math.pi, math.pi, 721)
    for now in whole_moments(paths):
        side = Side(AREA, now, 0)
        own, other = (body.point for body in now.fighters)
        ahead = (other - own) * (1, 1, 0) / np.linalg.norm((other - own)[:2])
        for body, half_angle in zip(now.fighters, (0.4, 2.0), strict=True):
            ground = math.cos(body.climb)
            course = ground * math.cos(body.heading), ground * math.sin(body.heading)
            nose = np.array([*course, math.sin(body.climb)])
            ways = np.cos(rays)[:, None] * ahead + np.sin(rays)[:, None] * np.array([0, 0, 1])
            seen = np.arccos(np.clip(ways @ nose, -1, 1)) < half_angle
            cut = side.radar_cut(body, half_angle, 300.0)
            assert bool(len(cut)) == bool(seen.any())
            if not len(cut):
                continue
            assert ((cut[:, 2] > -1e-6) & (cut[:, 2] < side.top + 1e-6)).all()
            offsets = cut[1:-1] - body.point
            assert np.linalg.norm(offsets, axis=1) == pytest.approx(300.0)
            turned = np.arccos(np.clip(offsets @ nose / 300.0, -1, 1))
            assert turned.max() <= half_angle + 1e-6
            width = np.ptp(np.unwrap(np.arctan2(offsets[:, 2], offsets @ ahead)))
            assert width == pytest.approx(seen.mean() * math.tau, abs=0.02)


def test_a_level_ray_on_the_ground_is_as_long_as_the_radar_reaches():
    """In 60 degrees to both sides of a level nose at 0 m: no ray below the ground has a length."""
    sim = Simulation(1, 4, dimensions=3)
    sim.set_fighter(0, 0, x=0, y=0, z=0, heading_deg=0, climb_deg=0)
    sim.set_fighter(0, 1, x=20_000, y=0, z=7000)
    now = moment(Paths(sim))
    cut = Side(AREA, now, 0).radar_cut(now.fighters[0], math.radians(60), 1000.0)[1:-1]
    rays = np.radians(np.linspace(-60, 60, 61))
    ends = np.column_stack([1000 * np.cos(rays), 0 * rays, 1000 * np.sin(rays)])
    ends[rays < -1e-9] = 0
    assert cut == pytest.approx(ends, abs=1e-6)


def test_in_teams_the_side_names_the_focus_its_foe_and_their_missiles():
    sim = Simulation(1, 4, "ace", "ace", dimensions=3, red_size=4, blue_size=4)
    noted = Paths(sim)
    while not (sum(sim.missiles["active"][0]) > 5 and sim.fighters["alive"].all()):
        sim.step()
        noted.note()
    now = moment(noted)
    focus = Focus(1, now.foe(1), 7)
    canvas, labels = Canvas((1000, 300)), Labels()
    written = []
    canvas.text = lambda words, *_: written.append(words) or pygame.Rect(0, 0, 1, 1)
    draw_side(canvas, AREA, now, focus, False, labels)
    named = {words.split()[0] for words in written if words.endswith(" km")}
    assert named == {callsigns((4, 4))[n] for n in (focus.fighter, focus.foe, focus.target)}
    own = [m for m in now.missiles if m.flying and 1 in (m.path.owner, m.target)]
    heights = [words for words in written if "." in words and " " not in words]
    assert 0 < len(heights) <= len(own) < sum(m.flying for m in now.missiles)
    assert not Counter(heights) - Counter(f"{m.z / 1000:.1f}" for m in own)

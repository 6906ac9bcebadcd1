"""The view from above: bodies are drawn at their places, and no display is needed."""

import math

import numpy as np
import pygame
import pytest
from keyboard import count
from scenes import BLUE, RED, controls, hold, place

from midrange_puffer import Simulation
from midrange_puffer.game.paths import Paths
from midrange_puffer.names import shown
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.canvas import Camera, grid_spacing
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.plane import GUTTER, grid_lines
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.states import curves
from midrange_puffer.show.view.status import HEIGHT as BAR

SIZE = (800, 600)
VIEW = pygame.Rect(GUTTER[0], BAR, SIZE[0] - GUTTER[0], SIZE[1] - BAR - GUTTER[1])


@pytest.fixture(autouse=True)
def no_display(monkeypatch):
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    pygame.display.quit()
    yield
    assert not pygame.display.get_init()


def scene(**positions: dict) -> tuple[Simulation, Paths]:
    """Returns two fighters at these places, with their paths from now on."""
    sim = Simulation()
    place(sim, **positions)
    return sim, Paths(sim)


def picture(sim: Simulation, paths: Paths, size=SIZE, **options: object) -> np.ndarray:
    """Returns a picture, [height, width, 3]."""
    renderer = Renderer(size)
    renderer.draw(sim, paths, **options)
    return renderer.rgb()


def pixels_of(image: np.ndarray, colour: colours.Colour, tolerance: int = 3) -> np.ndarray:
    """Returns the pixels of a colour in the view, [n, 2] columns and rows."""
    view = image[VIEW.top : VIEW.bottom, VIEW.left : VIEW.right]
    rows, columns = np.nonzero((np.abs(view.astype(int) - colour) <= tolerance).all(axis=-1))
    return np.column_stack([columns + VIEW.left, rows + VIEW.top])


# Places


def test_the_camera_looks_down_with_north_up():
    camera = Camera(pygame.Rect(100, 50, 400, 200))
    camera.aim(np.array([1000.0, -500.0]), (4000, 1000), time=0)
    assert camera.scale == pytest.approx(0.05)  # 8 km on 400 px; the height has room to spare
    points = np.array([(1000, -500), (5000, -500), (1000, 500)])
    assert camera.to_screen(points).tolist() == [[300, 150], [500, 150], [300, 100]]
    assert camera.to_plane(camera.to_screen(points)) == pytest.approx(points)


def test_the_camera_follows_with_time_and_jumps_after_a_pause():
    camera = Camera(pygame.Rect(0, 0, 100, 100))
    camera.aim(np.zeros(2), (1000, 1000), time=0)
    places = []
    for step in range(1, 41):
        camera.aim(np.array([1000.0, 0]), (2000, 2000), time=step / 10)
        places.append((camera.centre[0], camera.scale))
    centres, scales = np.array(places).T
    assert (np.diff(centres) > 0).all()
    assert (np.diff(scales) < 0).all()
    assert centres[0] < 100
    assert centres[-1] == pytest.approx(1000 * (1 - math.exp(-4 / 1.5)))
    before = camera.centre.copy()
    camera.aim(np.zeros(2), (2000, 2000), time=4.0)
    assert (camera.centre == before).all()
    camera.aim(np.zeros(2), (2000, 2000), time=100.0)
    assert (camera.centre == 0).all()


@pytest.mark.parametrize(("least", "spacing"), [(1, 1), (1.1, 2), (2001, 5000), (0.06, 0.1)])
def test_the_grid_is_of_round_numbers(least, spacing):
    assert grid_spacing(least) == pytest.approx(spacing)


def test_no_line_of_the_grid_is_at_minus_zero():
    """Its label would have a sign; the view starts slightly to the left and below."""
    camera = Camera(pygame.Rect(0, 0, 400, 300))
    camera.aim(np.array([15_000.0, 15_000.0]), (20_000.0, 15_500.0), 0.0)
    _, x, y = grid_lines(camera)
    for values in (x, y):
        assert 0 in values
        assert f"{values[values == 0][0]:.0f}" == "0"


@pytest.mark.parametrize("heading", [0, 60, 135, 180, -90])
def test_fighters_are_where_they_are_and_look_where_they_fly(heading):
    """The middle between both is that of the picture, and both axes have one scale."""
    sim, paths = scene(heading_deg=heading, blue={"x": 20_000, "y": 10_000, "heading_deg": heading})
    image = picture(sim, paths)
    shapes = [pixels_of(image, colour) for colour in colours.SIDE_COLOURS]
    red, blue = (shape.mean(axis=0) for shape in shapes)
    assert (red + blue) / 2 == pytest.approx(VIEW.center, abs=2)
    right, down = blue - red
    assert right == pytest.approx(-2 * down, abs=4)
    assert right > 300
    for shape in shapes:
        offsets = shape - shape.mean(axis=0)
        nose = offsets[np.linalg.norm(offsets, axis=1).argmax()]
        off = math.degrees(math.atan2(-nose[1], nose[0])) - heading
        assert math.remainder(off, 360) == pytest.approx(0, abs=12)


@pytest.mark.parametrize("bearing", [0, 60, 130, -45])
def test_both_fighters_are_in_view_and_fill_it(bearing):
    angle = math.radians(bearing)
    far = {"x": 5000 + 60_000 * math.cos(angle), "y": -70_000 + 60_000 * math.sin(angle)}
    sim, paths = scene(x=5000, y=-70_000, blue=far)
    image = picture(sim, paths, focus=RED)
    red, blue = (pixels_of(image, colour).mean(axis=0) for colour in colours.SIDE_COLOURS)
    assert all(VIEW.collidepoint(place) for place in (red, blue))
    assert (red + blue) / 2 == pytest.approx(VIEW.center, abs=8)
    assert max(np.abs(red - blue) / VIEW.size) > 0.6


@pytest.mark.parametrize("bearing", [10, 70, 100, 190, -45])
def test_an_arrow_at_the_border_points_to_a_missile_out_of_view(bearing):
    angle = math.radians(bearing)
    sim, paths = scene(blue={"x": 2000, "y": 0})
    far = {"x": 60_000 * math.cos(angle), "y": 60_000 * math.sin(angle)}
    before = pixels_of(picture(sim, paths, focus=RED), colours.SIDE_COLOURS[BLUE])
    sim.set_missile(0, 0, owner=BLUE, target=RED, heading_deg=0, speed=500, **far)
    paths.note()
    seen = pixels_of(picture(sim, paths, focus=RED), colours.SIDE_COLOURS[BLUE])
    arrow = np.array([one for one in seen.tolist() if one not in before.tolist()])
    columns, rows = arrow.T
    at_the_border = (
        (columns < VIEW.left + 70)
        | (columns > VIEW.right - 70)
        | (rows < VIEW.top + 50)
        | (rows > VIEW.bottom - 50)
    )
    assert len(arrow) > 50
    assert at_the_border.all()
    right, down = arrow.mean(axis=0) - VIEW.center
    off = math.degrees(math.atan2(-down, right)) - bearing
    assert math.remainder(off, 360) == pytest.approx(0, abs=6)


def test_labels_stand_where_nothing_is_drawn():
    """The gutters are grey even if a trail crosses them."""
    sim, paths = scene(y=1000, heading_deg=200, speed=400)
    for _ in range(150):
        hold(sim, 1)
        paths.note()
    image = picture(sim, paths, time=5, focus=RED).astype(int)
    trail = pixels_of(image, colours.mix(colours.SIDE_COLOURS[RED], 0.75), 20)
    assert len(trail) > 20
    for gutter in (image[BAR:, : GUTTER[0]], image[SIZE[1] - GUTTER[1] :]):
        assert (gutter[..., 0] < gutter[..., 2] + 3).all()  # grey, none of it reddish
        assert count(gutter, colours.BACKGROUND) < gutter[..., 0].size - 100  # with labels


# Missiles and ends


def test_a_missiles_trail_is_thick_while_it_burns():
    """The missile flies straight along x; its launcher turns away."""
    sim, paths = scene(blue={"x": 90_000})
    sim.step(controls(red=(0, 1, 1)))
    for _ in range(60):
        paths.note()
        hold(sim, 1, red=(1, 1, 0))
    [missile] = paths.missiles
    image = picture(sim, paths).astype(int)
    fighters = [pixels_of(image, colour).mean(axis=0)[0] for colour in colours.SIDE_COLOURS]
    scale = (fighters[1] - fighters[0]) / (paths.fighters[BLUE].x[-1] - paths.fighters[RED].x[-1])
    column, row = np.round(pixels_of(image, colours.SIDE_COLOURS[BLUE]).mean(axis=0)).astype(int)
    redness = (image[row - 5 : row + 6, :, 0] - image[row - 5 : row + 6, :, 2]).clip(0).sum(axis=0)
    red, _, blue = colours.mix(colours.SIDE_COLOURS[RED], 0.65)

    def width(x: float) -> float:
        middle = round(column + scale * (x - paths.fighters[BLUE].x[-1]))
        return redness[middle - 5 : middle + 6].mean() / (red - blue)

    burnt_at = np.interp(missile.burnt_out, missile.times, missile.x)
    assert width(burnt_at - 2000) == pytest.approx(3, abs=0.5)
    assert width(burnt_at + 2000) == pytest.approx(1, abs=0.3)
    assert width(missile.x[-1] + 5000) == 0


def test_a_star_where_a_fighter_was_killed_and_words_how_it_ended(fight):
    paths = fight[1]
    [victim] = [path for path in paths.fighters if path.died is not None]
    dead, alive = colours.SIDE_COLOURS[victim.side], colours.SIDE_COLOURS[1 - victim.side]
    end, before = picture(*fight), picture(*fight, time=victim.died - 1)
    star = pixels_of(end, colours.STAR)
    assert len(star) > 80
    assert len(pixels_of(before, colours.STAR)) == 0
    assert len(pixels_of(before, dead)) > 100
    survivor = paths.fighters[1 - victim.number]
    offset = np.array([survivor.x[-1] - victim.x[-1], survivor.y[-1] - victim.y[-1]]) * (1, -1)
    seen = pixels_of(end, alive).mean(axis=0) - star.mean(axis=0)
    cosine = offset @ seen / np.linalg.norm(offset) / np.linalg.norm(seen)
    assert cosine == pytest.approx(1, abs=1e-3)
    words = np.s_[VIEW.top : VIEW.top + 90, VIEW.centerx - 120 : VIEW.centerx + 120]
    assert count(end[words], colours.BRIGHT) > 200 > 10 > count(before[words], colours.BRIGHT)


def test_the_end_shows_the_whole_fight(fight):
    """Everything flown is in view below the outcome, even if the camera was near before."""
    sim, paths = fight
    for size in (SIZE, (320, 244)):
        renderer = Renderer(size)
        renderer.draw(sim, paths, time=paths.time - 0.6)
        [camera] = renderer._cameras.values()
        ways = [*paths.fighters, *paths.missiles]
        points = np.vstack([np.column_stack([way.x, way.y]) for way in ways])

        def share_in_view(camera=camera, points=points) -> float:
            return np.mean([camera.area.collidepoint(at) for at in camera.to_screen(points)])

        assert share_in_view() < 1
        renderer.draw(sim, paths)
        assert share_in_view() == 1
        if size == SIZE:
            assert camera.to_screen(points)[:, 1].min() > camera.area.top + 85  # below the outcome


def test_a_cross_where_a_missile_came_to_nothing():
    """The missile is spent behind a target that it cannot reach."""
    sim, paths = scene(blue={"x": 60_000, "heading_deg": 0})
    sim.step(controls(red=(0, 1, 1)))
    while not paths.missiles or paths.missiles[0].fate == "flying":
        paths.note()
        hold(sim, 1)
    [missile] = paths.missiles
    image = picture(sim, paths)
    red, blue = (pixels_of(image, colour).mean(axis=0)[0] for colour in colours.SIDE_COLOURS)
    x = [path.x[-1] for path in (*paths.fighters, missile)]
    column = red + (blue - red) * (x[2] - x[0]) / (x[1] - x[0])
    cross = pixels_of(image, colours.mix(colours.SIDE_COLOURS[RED], 0.6), 15)
    near = cross[np.abs(cross[:, 0] - column) < 7]
    assert np.ptp(near, axis=0).min() >= 5
    assert len(cross[np.abs(cross[:, 0] - column) < 2]) < len(near)


# Instruments


@pytest.mark.parametrize("rudder", [1, -1])
def test_gauges_show_rudder_and_throttle(rudder):
    sim, paths = scene(rudder=rudder, throttle=0.25, blue={"throttle": 1, "rudder": 0})
    bar = picture(sim, paths)[BAR - 20 : BAR]
    columns = []
    for part, colour in zip((np.s_[:, 6:340], np.s_[:, 470:]), colours.SIDE_COLOURS, strict=True):
        filled = (np.abs(bar[part].astype(int) - colour) <= 3).all(axis=-1)
        columns.append(np.flatnonzero(filled.any(axis=0)))
    width = np.ptp(columns[BLUE])  # of a full throttle gauge
    split = np.flatnonzero(np.diff(columns[RED]) > 10)
    rudder_gauge, throttle_gauge = np.split(columns[RED], split + 1)
    assert np.ptp(throttle_gauge) == pytest.approx(width / 4, abs=2)
    assert np.ptp(rudder_gauge) == pytest.approx(width / 2, abs=2)
    # The throttle gauge begins a gauge and a gap to the right of where the rudder's does.
    middle = throttle_gauge[0] - 14 - width / 2
    assert np.sign(middle - rudder_gauge.mean()) == rudder


def test_missiles_are_counted(fight):
    """There is a bar for each missile left, and a bright one for each in the air."""
    sim, paths = fight
    time = max(missile.times[0] for missile in paths.missiles if missile.owner == RED) + 2
    bar = picture(sim, paths, time=time)[8:24, 100 : SIZE[0] // 2 - 55]
    now = moment(paths, time)
    flying = sum(missile.flying and missile.path.owner == RED for missile in now.missiles)
    for colour, number in (
        (colours.FLAME, flying),
        (colours.SIDE_COLOURS[RED], now.fighters[RED].ammo),
    ):
        marked = (np.abs(bar.astype(int) - colour) <= 3).all(axis=-1).sum(axis=0) > 8
        assert (np.diff(marked.astype(int)) == 1).sum() == number
    assert flying > 0


def test_no_missile_is_both_aboard_and_in_the_air(fight):
    """At the launch, and before the next decision."""
    paths = fight[1]
    for missile in paths.missiles:
        for time in (missile.launched, missile.launched + 0.2):
            now = moment(paths, time)
            launched = [one for one in now.missiles if one.path.owner == missile.owner]
            fighter = now.fighters[missile.owner]
            assert fighter.ammo + len(launched) == paths.fighters[missile.owner].ammo[0]


# Pictures


def test_names_are_drawn_whatever_they_are(fight):
    sim, paths = fight
    odd = picture(sim, paths, names=("a\0b", "\udcff\n" + "x" * 10**6))
    assert (odd != picture(sim, paths, names=("a", "b"))).any()
    assert (odd == picture(sim, paths, names=(r"a\x00b", shown("\udcff\n" + "x" * 10**6)))).all()


def test_a_picture_is_an_array_of_its_own(fight):
    renderer = Renderer((320, 200))
    renderer.draw(*fight)
    first = renderer.rgb()
    assert first.shape == (200, 320, 3)
    assert first.dtype == np.uint8
    kept = first.copy()
    renderer.draw(*fight, time=3)
    assert (first == kept).all()
    assert (renderer.rgb() != first).any()
    first[:] = 0


def test_equal_fights_make_equal_pictures(fight):
    films = []
    for _ in range(2):
        renderer = Renderer((320, 200))
        for time in np.arange(0, 20, 0.7):
            renderer.draw(*fight, time=time, focus=BLUE)
        films.append(renderer.rgb())
    assert (films[0] == films[1]).all()


def test_a_split_screen_shows_each_view_as_it_is_alone(fight):
    both = Renderer((640, 300))
    for seat in (RED, BLUE):
        both.draw(*fight, time=20, focus=seat, rect=pygame.Rect(320 * seat, 0, 320, 300))
    for seat in (RED, BLUE):
        alone = picture(*fight, size=(320, 300), time=20, focus=seat)
        assert (both.rgb()[:, 320 * seat : 320 * (seat + 1)] == alone).all()


@pytest.mark.parametrize("size", [(1280, 720), (200, 150), (150, 600)])
@pytest.mark.parametrize("mode", ["plane", "spacetime"])
def test_any_size_will_do(size, mode):
    sim, paths = scene(blue={"x": 20_000})
    for _ in range(20):
        hold(sim, 1, red=(0.1, 1, 1))
        paths.note()
    image = picture(
        sim, paths, size=size, mode=mode, focus=RED, lines=["one", "two"], names=("a", "b")
    )
    assert count(image, colours.SIDE_COLOURS[RED]) > 20


# Between two decisions


def test_between_decisions_everything_is_on_its_way():
    sim, paths = scene(heading_deg=179, speed=300, rudder=1, blue={"speed": 350})
    hold(sim, 1, red=(1, 1, 0))
    paths.note()
    hold(sim, 1, red=(1, 1, 0))
    paths.note()
    red, blue = paths.fighters
    end = moment(paths).fighters
    assert [fighter.place.tolist() for fighter in end] == [[t.x[-1], t.y[-1]] for t in (red, blue)]
    start, middle, then = (moment(paths, time).fighters for time in (0.5, 0.75, 1.0))
    assert middle[BLUE].place == pytest.approx((start[BLUE].place + then[BLUE].place) / 2, abs=0.5)
    assert start[RED].heading < 0 < math.pi < 4  # beyond 180 degrees it is negative
    turned = [math.remainder(f[RED].heading - start[RED].heading, math.tau) for f in (middle, then)]
    assert turned[0] == pytest.approx(turned[1] / 2)
    assert len(end[RED].trail()) == 1 + 3 * 3  # three points a leg, the last to where it is
    assert moment(paths, 99).time == 1.0


def test_curves_are_those_of_a_turn():
    """Points on a circle, 10 degrees apart."""
    angles = np.radians(np.arange(0, 100, 10))
    circle = 1000 * np.column_stack([np.cos(angles), np.sin(angles)])
    points = curves(circle, angles + np.pi / 2, np.array([0.25, 0.5, 0.75, 1.0]))
    assert points.shape == (9, 4, 2)
    assert np.hypot(*points.reshape(-1, 2).T) == pytest.approx(1000, abs=0.2)
    assert points[:, -1] == pytest.approx(circle[1:])

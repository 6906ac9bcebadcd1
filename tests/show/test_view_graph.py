"""The drawing of the space-time graph and the launch zones."""

import math
from dataclasses import replace

import numpy as np
import pygame
import pytest
from keyboard import count
from scenes import RED, controls, place

from midrange_puffer import Simulation
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime, spacetime
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.graph import Enemy, Projection, draw_graph, fit
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.zones import EnvelopeZones

AREA = pygame.Rect(0, 0, 800, 500)
TIMES = np.arange(21.0)
ENEMY = np.array([15_000.0, 0])
YAW, PITCH = 0.5, 0.6


def straight(start: tuple[float, float], velocity: tuple[float, float]) -> np.ndarray:
    return np.array(start) + TIMES[:, None] * velocity


def a_graph(**changes: object) -> SpaceTime:
    """Returns the graph of red at the origin, with a cone as wide as it is long."""
    angles = np.radians(np.linspace(-45, 45, 9))
    rays = np.column_stack([-np.cos(angles), np.sin(angles)])
    graph = SpaceTime(
        seat=RED,
        times=TIMES,
        own=straight((0, 0), (300, 0)),
        escapes=np.array([straight((0, 0), (0, 300)), straight((0, 0), (0, -300))]),
        fronts=ENEMY + 500 * TIMES[:, None, None] * rays,
        shots=None,
        escape_miss=np.array([2000.0, 0.0]),
        missiles=(),
    )
    return replace(graph, **changes)


def a_missile(**changes: object) -> MissilePrediction:
    points = straight((10_000, 5000), (-300, 0))
    still = {"hits": False, "ended": None, "harmless": None, "miss": 4000.0}
    return MissilePrediction(
        **(still | {"slot": 0, "owner": 1, "target": RED, "points": points} | changes),
        escape_miss=np.full(2, np.nan),
    )


def drawn(graph: SpaceTime) -> np.ndarray:
    """Returns the picture of a graph, int [height, width, 3]."""
    canvas, surface = Canvas(AREA.size), pygame.Surface(AREA.size)
    canvas.clear(colours.BACKGROUND)
    draw_graph(canvas, AREA, graph, Enemy(ENEMY), YAW, PITCH)
    canvas.show(surface)
    return pygame.surfarray.array3d(surface).swapaxes(0, 1).astype(int)


def drawn_at(
    image: np.ndarray,
    graph: SpaceTime,
    points: np.ndarray,
    times: np.ndarray,
    colour: colours.Colour,
) -> np.ndarray:
    """Returns True where a picture has a colour at, or beside, places in space and time, [n]."""
    room = AREA.copy()
    room.width, room.right = AREA.width - 320, AREA.right  # beside the legend
    projection = fit(room.inflate(-68, -68), graph, ENEMY, YAW, PITCH)
    columns, rows = np.round(projection.to_screen(points, times)).astype(int).T
    like = (np.abs(image - colour) <= 25).all(axis=-1)
    return np.any(
        [like[rows + down, columns + right] for down in (-1, 0, 1) for right in (-1, 0, 1)], axis=0
    )


# The projection


def box(**angles: float) -> Projection:
    """Returns a projection of 10 km by 10 km around the origin, with the enemy to the north."""
    low, high = np.full(2, -5000.0), np.full(2, 5000.0)
    return Projection(AREA, np.array([100.0, 200.0]), math.pi / 2, low, high, 20.0, **angles)


def test_from_above_there_is_no_time_and_the_enemy_is_on_the_right():
    projection = box(yaw=0.0, pitch=math.pi / 2)
    points = np.array([(100, 200), (100, 1200), (-900, 200)])
    own, ahead, left = projection.to_screen(points, 0)
    scale = AREA.height / 10_000
    assert own == pytest.approx(AREA.center)
    assert ahead - own == pytest.approx([1000 * scale, 0])
    assert left - own == pytest.approx([0, -1000 * scale])
    assert projection.to_screen(points, 20) == pytest.approx(projection.to_screen(points, 0))


def test_from_the_side_time_goes_straight_down():
    projection = box(yaw=0.0, pitch=0.0)
    points = np.array([(100, 200), (-900, 200)])
    now, later = projection.to_screen(points, 0), projection.to_screen(points, 10)
    assert now[0] == pytest.approx(now[1])  # what is to the left is behind
    assert later[:, 0] == pytest.approx(now[:, 0])
    assert (later[:, 1] > now[:, 1] + 50).all()
    assert projection.to_screen(points, 20) - now == pytest.approx(2 * (later - now))


def test_yaw_turns_the_plane_counter_clockwise():
    turned = box(yaw=math.pi / 2, pitch=math.pi / 2)
    own, ahead = turned.to_screen(np.array([(100, 200), (100, 1200)]), 0)
    assert ahead - own == pytest.approx([0, -50])


@pytest.mark.parametrize("yaw", [-3, -0.4, 0.5, 1.5])
@pytest.mark.parametrize("pitch", [0.0, 0.6, 1.5])
def test_all_that_is_in_a_graph_is_in_its_area(yaw, pitch):
    graph = a_graph(missiles=(a_missile(points=straight((30_000, -20_000), (0, 500))),))
    projection = fit(AREA, graph, ENEMY, yaw, pitch)
    paths = [graph.own, *graph.escapes, *graph.fronts.swapaxes(0, 1), graph.missiles[0].points]
    seen = np.vstack([projection.to_screen(path, TIMES) for path in paths])
    assert (seen >= 0).all()
    assert (seen <= AREA.size).all()
    corners = np.vstack([projection.box_to_screen(projection.corners, time) for time in (0, 20)])
    assert (np.ptp(corners, axis=0) / AREA.size).max() == pytest.approx(1)


# The picture


def test_paths_have_their_colours():
    """An escape is green if it avoids a shot fired now, and yellow if that hits it."""
    graph = a_graph()
    image = drawn(graph)
    middle = slice(3, 20)
    for path, colour in (
        (graph.own, colours.SIDE_COLOURS[RED]),
        (graph.escapes[0], colours.SAFE),
        (graph.escapes[1], colours.STAR),
    ):
        assert drawn_at(image, graph, path[middle], TIMES[middle], colour).all()
    swapped = drawn(replace(graph, escape_miss=graph.escape_miss[::-1]))
    assert drawn_at(swapped, graph, graph.escapes[0][middle], TIMES[middle], colours.STAR).all()


def test_an_escape_is_judged_by_the_missiles_in_the_air_too():
    """The left escape avoids a shot fired now, but not a missile in the air."""
    inbound = replace(a_missile(), escape_miss=np.array([0.0, 700.0]))
    graph = a_graph(missiles=(inbound,))
    assert graph.verdict(0) == (False, "hit by a missile in the air")
    assert graph.verdict(1) == (False, "hit by a missile fired now")
    calm = replace(graph, fronts=None, escape_miss=None)
    assert calm.verdict(0) == (False, "hit by a missile in the air")
    assert calm.verdict(1) == (True, "missed by 0.7 km")
    own = replace(inbound, owner=RED, target=1)
    assert replace(calm, missiles=(own,)).verdict(0) == (True, "no missile to escape from")
    middle = slice(3, 20)
    image = drawn(calm)
    for path, colour in zip(calm.escapes, (colours.STAR, colours.SAFE), strict=True):
        assert drawn_at(image, calm, path[middle], TIMES[middle], colour).all()


def test_the_dead_and_a_fight_that_is_over_are_seen_from_above(fight):
    """They have no graph."""
    sim, paths = fight
    for seat in range(2):
        renderers = [Renderer((600, 400)) for _ in range(2)]
        for renderer, mode in zip(renderers, ("spacetime", "plane"), strict=True):
            renderer.draw(sim, paths, focus=seat, mode=mode)
        assert (renderers[0].rgb() == renderers[1].rgb()).all()
    [dead] = [path for path in paths.fighters if path.died is not None]
    sim = Simulation()
    place(sim, blue={"x": 10_000})
    sim.core.set_fighter(0, dead.number, {**sim.core.get_fighter(0, dead.number), "alive": 0})
    pictures = []
    for mode in ("spacetime", "plane"):
        renderer = Renderer((600, 400))
        renderer.draw(sim, Paths(sim), focus=dead.number, mode=mode)
        pictures.append(renderer.rgb())
    assert (pictures[0] == pictures[1]).all()


def test_the_cone_is_the_enemys_and_there_only_with_a_threat():
    graph = a_graph()
    image = drawn(graph)
    front = graph.fronts[15]
    shade = colours.mix(colours.SIDE_COLOURS[1], 0.8)
    assert drawn_at(image, graph, front, np.full(len(front), 15.0), shade).all()
    calm = a_graph(fronts=None, escape_miss=None)
    assert count(drawn(calm), shade) < 20 < 200 < count(image, shade)
    assert count(drawn(calm), colours.STAR) == 0


def test_a_missile_turns_thin_where_it_is_harmless():
    bright = colours.mix(colours.SIDE_COLOURS[1], 0.75, colours.BRIGHT)
    missile = a_missile(harmless=10.0)
    graph = a_graph(fronts=None, missiles=(missile,))
    seen = drawn_at(drawn(graph), graph, missile.points, TIMES, bright)
    assert seen[1:9].all()
    assert not seen[12:].any()
    always = a_graph(fronts=None, missiles=(a_missile(),))
    assert drawn_at(drawn(always), always, missile.points, TIMES, bright)[1:].all()


def test_a_missile_ends_where_and_when_it_hits():
    points = straight((9000, 0), (-500, 0))
    points[12:] = np.nan
    own = straight((0, 0), (250, 0))
    own[12:] = (2900, 0)
    missile = a_missile(points=points, hits=True, ended=11.6, miss=0.0)
    graph = a_graph(own=own, fronts=None, missiles=(missile,))
    image = drawn(graph)
    end = np.array([(2900.0, 0)])
    assert drawn_at(image, graph, end, 11.6, colours.STAR).all()
    assert not drawn_at(
        image, graph, end, 17.5, colours.SIDE_COLOURS[RED]
    ).any()  # it flies no more


def test_ended_paths_are_left_out():
    """Fronts, shots and missiles hold not-a-number after their end."""
    graph = a_graph(missiles=(a_missile(points=np.full((21, 2), np.nan)),))
    graph.fronts[10:, :3] = np.nan
    shots = graph.escapes + np.array([5000, 0])
    shots[:, 15:] = np.nan
    image = drawn(replace(graph, shots=shots))
    middle = slice(3, 20)
    own = graph.own[middle]
    assert drawn_at(image, graph, own, TIMES[middle], colours.SIDE_COLOURS[RED]).all()


def test_the_view_shows_the_simulations_graph():
    """A shot from 10 km hits both escapes; from 60 km it hits none."""
    for distance, caught in ((10_000, True), (60_000, False)):
        sim = Simulation()
        place(sim, blue={"x": distance})
        renderer = Renderer((900, 600))
        renderer.draw(sim, Paths(sim), focus=RED, mode="spacetime")
        view = renderer.rgb()[80:]
        assert (count(view, colours.STAR) > 100) == caught
        assert (count(view, colours.SAFE) > 100) != caught
        assert [bool(miss == 0) for miss in spacetime(sim).escape_miss] == [caught, caught]
        before = renderer.rgb()
        renderer.yaw += 1
        renderer.draw(sim, Paths(sim), focus=RED, mode="spacetime")
        assert (renderer.rgb() != before).any(axis=-1).mean() > 0.01


# Launch zones


def fighters(**changes: float) -> tuple:
    sim = Simulation()
    place(sim, blue={"x": 10_000} | changes)
    return moment(Paths(sim)).fighters


def test_the_zone_is_where_the_enemy_would_be_hit():
    """A shot hits an enemy that flies on just inside the edge, but not just outside."""
    red, blue = fighters(heading_deg=180)
    zones = EnvelopeZones(game_envelope(Simulation().parameters))
    corners = zones.around(red, blue, 0, 0.0)["aero"]
    ahead = corners[np.abs(np.arctan2(*corners.T[::-1])).argmin()]
    for share, hit in ((0.97, True), (1.03, False)):
        sim = Simulation()
        place(sim, blue={"x": ahead[0] * share, "y": ahead[1] * share})
        sim.step(controls(red=(0, 1, 1), blue=(0, 0.8, 0)))
        while sim.fighters["alive"][0].all() and sim.missiles["active"][0].any():
            sim.step(controls(blue=(0, holding(sim), 0)))
        assert (sim.fighters["alive"][0, 1] == 0) == hit


def holding(sim: Simulation) -> float:
    """Returns the throttle at which blue keeps its speed: thrust equals drag, both per mass."""
    game, speed = sim.parameters, sim.fighters["speed"][0, 1]
    drag = game["gravity"] * (speed / game["fighter_terminal_speed"]) ** 2
    return drag / game["fighter_thrust"]


def test_zones_are_drawn_for_the_seat_that_looks_and_can_shoot():
    pictures = []
    for ammo, focus in ((6, RED), (0, RED), (6, None)):
        sim = Simulation()
        place(sim, blue={"x": 20_000}, ammo=ammo)
        renderer = Renderer((800, 600))
        renderer.draw(sim, Paths(sim), focus=focus)
        view = renderer.rgb()[80:].astype(int)
        pictures.append((view[..., 0] - view[..., 2] > 2).sum())
    assert pictures[0] > 20 * max(pictures[1:])


def test_zones_lie_ahead_and_are_alike_on_both_sides():
    zones = EnvelopeZones(game_envelope(Simulation().parameters))
    x, y = zones.around(*fighters(heading_deg=180), 0, 0.0)["nez"].T
    assert x.max() > 2 * abs(x.min())
    assert y.max() == pytest.approx(-y.min(), rel=0.02)

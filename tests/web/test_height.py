"""The page's fly-outs, launch zones and warnings of fights with height are those of the package."""

import itertools
import math

import numpy as np
import pygame
import pytest
from web_page import COMPILER, NODE, Core

from midrange_puffer.game.contacts import TRACKS, believed
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import FlyOuts, flight_of, if_it_flies_on, surely
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import SpaceTime, spacetime
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.threats import advice, find_threats
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.side import Side

pytestmark = [COMPILER, NODE]

GAME = {
    "dimensions": 3,
    "start_range_min": 28_000,
    "start_range_max": 28_000,
    "start_off_boresight_max_deg": 20,
    "red_aircraft": "heavy",
    "blue_missiles": "short:2,medium:4",
}
MOMENTS = range(40, 400, 30)  # decisions
TURNS = (0, 5, 12, 20)  # bearings of a zone that are checked


@pytest.fixture(scope="module")
def core(wasm, tmp_path_factory) -> Core:
    return Core(wasm, tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def flown(core) -> list[dict]:
    """The page's numbers for red, a human that flies straight on, as long as it lives."""
    return core.run(
        """
        const session = new Session(core, { ...told.fight, policies });
        const lookout = new Lookout(0, tables.debrief.tooLate);
        const found = [];
        for (const decisions of told.moments) {
          while (session.controls.length < decisions && !session.isOver) session.step();
          if (session.isOver) break;
          const { fight, fight: { flyOuts } } = session;
          const states = fight.states(fight.now);
          const search = flyOuts.zone([1, 0], states[1], states[0]);
          let step = search.next();
          while (!step.done) step = search.next();
          lookout.look(fight, fight);
          found.push({
            hash: session.sim.fightHash.toString(16), graph: fight.graphs[0].at(), zone: step.value,
            hits: [[0, 1], [1, 0]].map((pair) => (
              flyOuts.hits(pair, states[pair[0]], states[pair[1]]))),
            warning: lookout.warning,
          });
        }
        answer(found);
        """,
        {
            "fight": {"players": ("human", "crank"), "seed": 3, "parameters": GAME},
            "moments": list(MOMENTS),
        },
    )


def session_at(decisions: int) -> Session:
    session = Session(("human", "crank"), seed=3, **GAME)
    while len(session.recorder) < decisions:
        session.step()
    return session


def assert_same_graph(told: dict, graph: SpaceTime) -> None:
    """Checks a scene of the page against the package's graph, to rounding."""

    def points(paths: list) -> np.ndarray:
        rows = [[[point[axis] for axis in "xyz"] for point in path] for path in paths]
        return np.array(rows, float)  # JSON has null for not-a-number

    for name in ("fronts", "shots"):
        expected = getattr(graph, name)
        if expected is None:
            assert np.isnan(points(told[name])).all()
        else:
            np.testing.assert_allclose(points(told[name]), expected, atol=1.0)
    for path, expected in zip(
        [told["own"], *told["escapes"]], [graph.own, *graph.escapes], strict=True
    ):
        [found] = points([path])
        np.testing.assert_allclose(found, expected[: len(found)], atol=1.0)


def test_the_graph_and_the_warnings_are_those_of_the_package(flown):
    words = set()
    session = session_at(0)
    for decisions, found in zip(MOMENTS, flown, strict=False):
        while len(session.recorder) < decisions:
            session.step()
        sim = session.sim
        assert f"{sim.fight_hash():x}" == found["hash"]
        graph = spacetime(sim)
        assert_same_graph(found["graph"], graph)
        threats = find_threats(sim, graph)
        if not threats:
            assert found["warning"] is None
            continue
        said = found["warning"]["text"].lower().replace(" at", "").replace(",", "")
        assert said == " ".join(threats[0].words.lower().split())
        height = float(sim.fighters["z"][0, 0])
        missed = [missile.escape_miss for missile in graph.missiles if missile.target == 0]
        is_late = not any(all(misses[way] > 0 for misses in missed) for way in (0, 1))
        expected = advice(threats, height, is_late) or "as long as you run"
        assert found["warning"]["advice"] == expected
        words.add(found["warning"]["advice"])
    assert len(flown) > 4
    assert any(text.startswith("dive, and turn") for text in words)


def test_with_sensors_a_side_has_contacts_graphs_and_shots_as_in_the_package(core):
    game = GAME | {"sensing": "radar", "blue_missiles": "", "aircraft_spread": 0.1}
    flown = core.run(
        """
        const session = new Session(core, { ...told.fight, policies });
        const lookout = new Lookout(0, "late");
        const found = [];
        for (const decisions of told.moments) {
          while (session.controls.length < decisions && !session.isOver) session.step();
          if (session.isOver) break;
          const known = session.fight.knownTo(0);
          lookout.look(session.fight, known);
          const [contact] = session.fight.contactLog.paths;
          found.push({
            hash: session.sim.fightHash.toString(16), hits: lookout.hits,
            graph: known.graphs[0].at(),
            contact: mapValues(contact.entries, (values) => values.at(-1)),
          });
        }
        answer(found);
        """,
        {
            "fight": {"players": ("human", "ace"), "seed": 3, "parameters": game},
            "moments": list(MOMENTS),
        },
    )
    session = Session(("human", "ace"), seed=3, **game)
    sources = set()
    for decisions, found in zip(MOMENTS, flown, strict=False):
        while len(session.recorder) < decisions:
            session.step()
        sim, paths = session.sim, session.paths
        assert f"{sim.fight_hash():x}" == found["hash"]
        assert_same_graph(found["graph"], spacetime(believed(sim, 0, 0)))
        contact = paths.contacts[0]
        for name in ("x", "y", "z", "climb", "speed", "age", "heard", "source"):
            assert found["contact"][name] == pytest.approx(getattr(contact, name)[-1], abs=1e-4)
        if contact.source[-1] in TRACKS:
            bodies = flight_of(sim.fighters, (0, 0)), flight_of(sim.contacts, (0, 0))
            hits = FlyOuts(sim.parameters, paths.types).hits(0, *bodies)
            assert found["hits"] == [*hits.values()]
        else:
            assert found["hits"] == [False]
        sources.add(contact.source[-1])
    assert len(flown) > 4
    assert sources & set(TRACKS)


def test_the_cut_of_a_radar_is_that_of_the_package(core):
    """In views from the side, as the heading and climb of the fighter at the left change."""
    sim = Simulation(1, 4, dimensions=3)
    cuts, asked = [], []
    for heading, climb, z in [
        *itertools.product(np.linspace(-180, 180, 13), (-70, -20, 0, 45), (6000,)),
        (0, 0, 0),  # a level ray on the ground
    ]:
        sim.set_fighter(0, 0, x=1000, y=0, z=z, heading_deg=heading, climb_deg=climb)
        sim.set_fighter(0, 1, x=21_000, y=15_000, z=7000)
        now = moment(Paths(sim))
        side = Side(pygame.Rect(0, 0, 800, 200), now, 0)
        own = now.fighters[0]
        cuts.append(side.radar_cut(own, math.radians(60), 30_000.0))
        state = {"x": 1000, "y": 0, "z": z, "heading": own.heading, "climb": own.climb}
        asked.append({"state": state, "top": side.top})
    found = core.run(
        """
        const radar = { radar_half_angle_deg: 60, radar_range_nose: 30000 };
        const view = { ahead: { x: 0.8, y: 0.6 }, fight: { radar } };
        answer(told.map(({ state, top }) => (
          SideView.prototype._radarCut.call({ ...view, top }, state)
            .map(({ x, y, z }) => [x, y, z]))));
        """,
        asked,
    )
    assert {len(cut) for cut in cuts} == {0, 63}
    for path, cut in zip(found, cuts, strict=True):
        assert len(path) == len(cut)
        if path:
            assert np.array(path) == pytest.approx(cut, abs=1.0)


def cone_ends(core, radar: dict, states: list[dict], has_height: bool) -> list[np.ndarray]:
    """Returns the ends of the rays of the camera's radar cones, [rays, 3] [m] each."""
    script = """
        answer(told.states.map((state) => (
          coneEnds(state, told.radar, told.hasHeight).map(({ x, y, z }) => [x, y, z]))));
    """
    told = {"radar": radar, "states": states, "hasHeight": has_height}
    return [np.array(ends) for ends in core.run(script, told)]


def test_a_cone_of_the_camera_ends_at_its_range_the_ground_and_16_km(core):
    """Compared with the angle to the nose in space; a ray ends at the first of the three."""
    half, reach, ceiling = math.radians(50), 20_000, 16_000
    states = [
        {"x": 3000, "y": -2000, "z": z, "heading": heading, "climb": climb}
        for z in (1, 300, 9000, 15_900)
        for heading in (0.0, 2.0, -3.0)
        for climb in (-1.2, 0.0, 0.4, 1.4)
    ]
    radar = {"radar_half_angle_deg": 50, "radar_range_nose": reach}
    limits = set()
    for state, ends in zip(states, cone_ends(core, radar, states, True), strict=True):
        ground = math.cos(state["climb"])
        nose = np.array([math.cos(state["heading"]), math.sin(state["heading"])])
        nose = np.array([*(ground * nose), math.sin(state["climb"])])
        apex = np.array([state["x"], state["y"], state["z"]])
        lengths = np.linalg.norm(ends - apex, axis=1)
        assert ends[0] == pytest.approx(ends[-1], abs=1e-6)
        assert lengths.max() <= reach + 1e-6
        assert ((ends[:, 2] > -1e-6) & (ends[:, 2] < ceiling + 1e-6)).all()
        stops = {
            "reach": np.isclose(lengths, reach),
            "ground": np.isclose(ends[:, 2], 0, atol=1e-6),
            "ceiling": np.isclose(ends[:, 2], ceiling),
        }
        assert np.any([*stops.values()], axis=0).all()
        limits.update(name for name, rays in stops.items() if rays.any())
        ways = (ends - apex) / lengths[:, None]
        assert np.arccos(ways @ nose) == pytest.approx(half, abs=1e-6)
        # They are all around the nose: their mean is along it.
        assert ways[:-1].mean(axis=0) == pytest.approx(nose * math.cos(half), abs=1e-6)
    assert limits == {"reach", "ground", "ceiling"}


def test_a_cone_of_the_camera_in_the_plane_is_a_sector(core):
    radar = {"radar_half_angle_deg": 70, "radar_range_nose": 30_000}
    [ends] = cone_ends(core, radar, [{"x": 500, "y": 100, "heading": 1.0}], False)
    assert ends[:, 2] == pytest.approx(0)
    away = ends[:, :2] - (500, 100)
    assert np.hypot(*away.T) == pytest.approx(30_000)
    expected = 1.0 + np.radians(np.linspace(-70, 70, len(ends)))
    assert np.unwrap(np.arctan2(away[:, 1], away[:, 0])) == pytest.approx(expected)


def test_cones_are_those_of_the_pair_that_live_and_emit(core):
    """Fighter 2 of 0 to 5 is dead, 3 is silent and 4 is a contact."""
    found = core.run(
        """
        const fight = {
          radar: {}, isTeam: true, isContact: ({ number }) => number === 4,
          fighters: [null, null, 5, null, null, null].map((died, number) => ({ number, died })),
        };
        const states = fight.fighters.map(({ number }) => ({ silent: number === 3 }));
        const view = { fight, states, time: 9, settings: { zones: "on", fighter: 1 } };
        const off = { ...view, settings: { zones: "off", fighter: 1 } };
        const shown = (...given) => radarsShown(...given).map(({ number }) => number);
        answer([shown(view), shown(off, [1, 5]), ...told.map((pair) => shown(view, pair))]);
        """,
        [[1, 5], [5, 0], [1, 2], [1, 3], [1, 4]],
    )
    assert found == [[1], [], [1, 5], [0, 5], [1], [1], [1]]


def test_shots_hit_as_those_of_the_package(flown):
    fly_outs, seen = None, set()
    session = session_at(0)
    for decisions, found in zip(MOMENTS, flown, strict=False):
        while len(session.recorder) < decisions:
            session.step()
        fly_outs = fly_outs or FlyOuts(session.sim.parameters, session.paths.types)
        flights = [flight_of(session.sim.fighters, (0, number)) for number in (0, 1)]
        for side in (0, 1):
            own, enemy = flights[side], flights[1 - side]
            expected = [*fly_outs.hits(side, own, enemy).values()]
            assert found["hits"][side] == expected
            seen.add(tuple(expected))
        for edge, ranges in zip((if_it_flies_on, surely), found["zone"], strict=True):
            for turn in TURNS:
                angle = flights[1].heading + turn * math.tau / len(ranges)
                inside, outside = (
                    edge(
                        fly_outs.hits(1, flights[1], flights[0]._replace(
                            x=flights[1].x + metres * math.cos(angle),
                            y=flights[1].y + metres * math.sin(angle)))
                    )
                    for metres in (ranges[turn] - 10, ranges[turn] + 300)
                )  # fmt: skip
                assert (inside or ranges[turn] < 1000, outside) == (True, False)
    assert len(seen) > 2

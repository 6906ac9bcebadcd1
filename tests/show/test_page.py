"""The page of a fight: one file with the data of the fight."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from pages import columns, unpack
from replays import record

from midrange_puffer import Simulation
from midrange_puffer.files import WriteError
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.envelope_lookup import launch_zone
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.replay import Recorder, ReplayError
from midrange_puffer.show.page import write_page

NAMES = ('</script><b>"A"', "Böb & <i>'s $title")
VOID = {"meta", "input"}  # elements of HTML without an end
FETCHES = (
    r"""\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\b|url\(|@import|https?:"""
)


class Page(HTMLParser):
    """The attributes of a page and the texts of its elements, which must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.texts, self.tags = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data


@pytest.fixture(scope="module")
def replay():
    return record(("ace", "evader"), seed=8, names=NAMES)[0]


@pytest.fixture(scope="module")
def page(replay, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "fight.html"
    write_page(replay, path)
    return Page(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def fight(page):
    return json.loads(page.texts["script", "fight"])


def test_the_page_needs_nothing_else(page):
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "srcset", "action"}
    policies = [value for name, value in page.attributes if name == "content"]
    assert any(value.startswith("default-src 'none'") for value in policies)
    code = page.texts["script", None] + page.texts["style", None]
    assert len(code) > 10_000
    assert not re.findall(FETCHES, code)


def test_names_are_text_whatever_they_are(page, fight):
    assert fight["names"] == list(NAMES)
    assert page.texts["title", None].startswith(" against ".join(NAMES) + ": ")
    assert page.tags.count("script") == 2


def test_names_steer_nothing(tmp_path):
    replay, _ = record(names=("a\u202eb", "\x1b[31m\n\0"))
    write_page(replay, tmp_path / "fight.html")
    fight = json.loads(Page((tmp_path / "fight.html").read_text()).texts["script", "fight"])
    assert fight["names"] == [r"a\u202eb", r"\x1b[31m\n\x00"]


def test_the_paths_are_the_fights(replay, fight):
    paths = replay.paths()
    assert fight["length"] == paths.time
    assert fight["outcome"] == replay.outcome
    for kind in ("fighters", "missiles"):
        expected = getattr(paths, kind)
        assert len(fight[kind]) == len(expected) > 1
        for packed, path in zip(fight[kind], expected, strict=True):
            found = columns(packed)
            assert set(found) >= {"times", "x", "y", "speed", "heading", "rudder", "load"}
            for name in (*found, *(set(packed) - {"columns", "entries"})):
                value = found.get(name, packed.get(name))
                given = getattr(path, name)
                np.testing.assert_array_equal(value, np.array(given, np.asarray(value).dtype))


def sampled(replay, fight):
    """Yields the simulation at the time of each graph."""
    sim = replay.simulation()
    every = round(fight["interval"] / (replay.duration / replay.decisions))
    yield sim
    for count, _ in enumerate(replay.play(sim), 1):
        if count % every == 0:
            yield sim


def test_the_graphs_are_those_of_every_second(replay, fight):
    """To within the rounding to 16 bits, which must not turn a miss into a hit."""
    assert fight["interval"] == pytest.approx(1)
    packed = [
        {name: unpack(value) for name, value in of_seat.items() if "data" in value}
        for of_seat in fight["graphs"]
    ]
    found = 0
    for index, sim in enumerate(sampled(replay, fight)):
        for seat in np.flatnonzero(sim.fighters["alive"][0]):
            graph, page = spacetime(sim, 0, int(seat)), packed[seat]
            assert fight["graphs"][seat]["times"] == graph.times.tolist()
            for name in ("own", "escapes", "shots", "fronts"):
                points, value = page[name][index], getattr(graph, name)
                if value is None:
                    assert np.isnan(points).all()
                    continue
                near = fight["graphs"][seat][name]["scale"] / 2 + 0.01
                np.testing.assert_allclose(points + page["origins"][index], value, atol=near)
            expected = np.full(2, np.nan) if graph.escape_miss is None else graph.escape_miss
            np.testing.assert_array_equal(page["escapeMiss"][index], expected)
            found += graph.fronts is not None
    assert found > 10
    assert max(len(page["own"]) for page in packed) == index + 1


def test_the_missiles_predicted_are_those_in_the_air(replay, fight):
    points = [unpack(of_seat["missiles"]["points"]) for of_seat in fight["graphs"]]
    told = [columns(of_seat["missiles"]) for of_seat in fight["graphs"]]
    rows = [0, 0]
    for index, sim in enumerate(sampled(replay, fight)):
        for seat in np.flatnonzero(sim.fighters["alive"][0]):
            graph = spacetime(sim, 0, int(seat))
            assert fight["graphs"][seat]["missiles"]["counts"][index] == len(graph.missiles)
            for missile in graph.missiles:
                row = rows[seat]
                start = points[seat][row][0] + graph.own[0]
                np.testing.assert_allclose(start, missile.points[0], atol=2)
                for name, values in told[seat].items():
                    expected = getattr(missile, name)
                    np.testing.assert_equal(
                        values[row], np.float32(np.nan if expected is None else expected)
                    )
                rows[seat] += 1
    assert rows == [len(part) for part in points]
    assert sum(rows) > 10


def test_zones_are_drawn_only_of_those_who_may_fire(replay, fight):
    zones = unpack(fight["zones"])
    envelope = game_envelope(replay.parameters)
    fired = False
    for index, sim in enumerate(sampled(replay, fight)):
        fighters = {name: values[0] for name, values in sim.fighters.items()}
        for seat in (0, 1):
            may_fire = fighters["ammo"][seat] > 0 and fighters["alive"].all()
            assert np.isfinite(zones[index, seat]).all() == may_fire
            fired |= not may_fire
            if may_fire:  # straight ahead
                pairs = [fighters[name][[seat, 1 - seat]] for name in ("heading", "speed")]
                ahead = [
                    launch_zone(envelope, edge, pairs[0][0], *pairs) for edge in ("aero", "nez")
                ]
                near = fight["zones"]["scale"]
                np.testing.assert_allclose(zones[index, seat, :, 0], ahead, atol=near)
    assert fired
    assert (zones[:, :, 0] >= zones[:, :, 1])[np.isfinite(zones[:, :, 0])].all()


def test_a_page_is_not_large(tmp_path):
    """The page of a minute of a fight."""
    sim = Simulation(1, 2, "ace", "evader")
    recorder = Recorder(sim, seed=2, pilots=("ace", "evader"))
    for _ in range(120):
        sim.step()
        recorder.add(None)
    path = tmp_path / "fight.html"
    write_page(recorder.replay(), path)
    assert path.stat().st_size < 800_000


def test_a_failed_write_or_flight_leaves_no_page(replay, tmp_path):
    with pytest.raises(WriteError, match="nowhere"):
        write_page(replay, tmp_path / "nowhere" / "fight.html")
    with pytest.raises(ReplayError, match="differs at decision 0"):
        write_page(replace(replay, hashes=replay.hashes + 1), tmp_path / "fight.html")
    assert not list(tmp_path.iterdir())

"""The page of a fight with sensors: the truth, or one side's knowledge alone."""

import copy

import numpy as np
import pytest
from browser import NEEDED
from pages import click, columns, go, is_shown, picture, status, text, unpack
from scenes import BLUE, RED

from midrange_puffer.game.contacts import TRACKS
from midrange_puffer.replays.session import Session
from midrange_puffer.show.page import render
from midrange_puffer.show.page.content import collect
from midrange_puffer.show.page.packing import pack

TIMES = range(0, 70, 7)  # s of the fight that are looked at


@pytest.fixture(scope="module")
def content(notch_fight) -> dict:
    return collect(notch_fight.replay(), lambda count: None)


@pytest.fixture
def page(window, content, tmp_path):
    show(window, content, tmp_path)
    yield window
    assert window.errors == []


def show(window, content, folder):
    path = folder / "fight.html"
    path.write_text(render(content), "utf-8")
    window.open("about:blank")
    window.open(path.as_uri())


def test_the_contacts_are_the_fights(notch_fight, content):
    for known, path in zip(content["known"], notch_fight.paths.contacts, strict=True):
        [packed] = known["contacts"]
        found = columns(packed)
        columns_told = ("times", "x", "y", "heading", "speed", "source", "age", "deviation")
        assert set(found) == set(columns_told)
        for name, values in found.items():
            np.testing.assert_array_equal(values, np.float32(getattr(path, name)))
        levels, bearings = unpack(known["levels"])[0, 0], unpack(known["bearings"])[0, 0]
        np.testing.assert_allclose(levels, path.heard, atol=1e-4)
        heard = np.flatnonzero(path.heard)
        assert len(heard) > 0
        np.testing.assert_array_equal(np.flatnonzero(np.isfinite(bearings)), heard)
        np.testing.assert_allclose(bearings[heard], np.array(path.bearing)[heard], atol=2e-4)


def test_there_are_zones_where_there_is_a_track(notch_fight, content):
    """The zones of both as the side believes them, the own one while it has a missile left."""
    for seat, known in enumerate(content["known"]):
        zones, path = unpack(known["zones"]), notch_fight.paths.contacts[seat]
        interval = content["interval"]
        sources = [path.source[path.at(n * interval + 1e-6)] for n in range(len(zones))]
        died = notch_fight.paths.fighters[seat].died
        alive = [died is None or n * interval < died - 1e-6 for n in range(len(zones))]
        tracked = np.isin(sources, TRACKS) & alive
        assert not tracked.all()
        np.testing.assert_array_equal(np.isfinite(zones[:, 1 - seat]).all(axis=(1, 2)), tracked)
        assert not np.isfinite(zones[~tracked]).any()


def test_a_page_without_sensors_knows_no_sides():
    session = Session(("ace", "evader"), seed=1, time_limit=10)
    while not session.over:
        session.step()
    content = collect(session.replay(), lambda count: None)
    assert (content["known"], content["radar"]) == ([], None)


@NEEDED
def test_hidden_state_changes_nothing_on_a_sides_page(window, content, tmp_path):
    """Another fight: the enemy has another path and has fired missiles without a lock."""
    other = copy.deepcopy(content)
    enemy = columns(other["fighters"][BLUE])
    moved = {name: values + 1 for name, values in enemy.items() if name not in ("times", "ammo")}
    moved = {**enemy, **moved, "x": enemy["x"] + 5_000}
    for name, values in moved.items():  # where it starts, which the graph is first looked at by
        values[0] = enemy[name][0]
    other["fighters"][BLUE]["entries"] = pack(
        [moved[n] for n in other["fighters"][BLUE]["columns"]]
    )
    for missile in other["missiles"]:
        if missile["owner"] == BLUE:
            flown = columns(missile)
            flown["guided"] = np.where(flown["guided"] == 2, 2, 0)
            flown["speed"] = flown["speed"] + 100
            missile["entries"] = pack([flown[name] for name in missile["columns"]])
    seen = []
    for which, told in enumerate((content, other)):
        (tmp_path / str(which)).mkdir()
        show(window, told, tmp_path / str(which))
        views = {}
        for side in ("red", "truth"):
            for view in ("plane", "spacetime"):
                for time in TIMES[::2]:
                    go(window, f"t={time}&picture={side}&view={view}&seat=red")
                    canvas = "plane" if view == "plane" else "graph"
                    views[side, view, time] = (
                        picture(window, canvas), picture(window, "charts"), status(window),
                        text(window, "range"), text(window, "caption"),
                    )  # fmt: skip
        seen.append(views)
    for place, found in seen[0].items():
        assert (found == seen[1][place]) == (place[0] == "red"), place


@NEEDED
def test_numbers_of_the_enemy_are_the_contacts(page, notch_fight):
    contact = notch_fight.paths.contacts[RED]
    kinds = set()
    for time in TIMES:
        go(page, f"t={time}&picture=red")
        index = contact.at(time + 1e-6)
        told, tracked = status(page), contact.source[index] in TRACKS
        speed = f"{contact.speed[index]:.0f} m/s" if tracked else "–"
        assert told["speed"][BLUE] == speed
        assert told["missiles"][BLUE] == told["load"][BLUE] == "–"
        words = ("not seen", "on radar", "memory", "lost")[contact.source[index]]
        assert words in text(page, "range")
        assert text(page, "range").startswith("Range unknown") == (not tracked)
        kinds.add(words)
    assert {"not seen", "on radar"} < kinds


@NEEDED
def test_the_button_and_the_key_go_through_truth_red_and_blue(page):
    for expected in ("red", "blue", "truth"):
        click(page, "picture")
        assert text(page, "picture") == f"Picture: {expected}"
    page.press("k")
    page.frame()
    assert text(page, "picture") == "Picture: red"
    assert is_shown(page, "view-red")
    assert not is_shown(page, "view-blue")  # red does not know blue's graph
    page.press("2")  # so it is its own that is shown
    page.frame()
    pressed = "document.getElementById('view-red').getAttribute('aria-pressed')"
    assert page.evaluate(pressed) == "true"


@NEEDED
@pytest.mark.parametrize("decisions", [0, 1, 40])
def test_a_fight_without_any_track_can_be_shown(window, tmp_path, decisions):
    session = Session(("straight", "straight"), seed=1, sensing="radar", radar_range_nose=2_000,
                      radar_range_beam=2_000, radar_range_tail=2_000)  # fmt: skip
    for _ in range(decisions):
        session.step()
    show(window, collect(session.replay(), lambda count: None), tmp_path)
    for side in ("truth", "red", "blue"):
        go(window, f"picture={side}")
        assert text(window, "picture") == f"Picture: {side}"
        go(window, f"picture={side}&view=spacetime")
    assert window.errors == []

"""The page to play on with height: climbs, the view from the side, the camera, replays."""

import pytest
from browser import NEEDED
from pages import click, colour_count, is_shown, screenshot, status, text
from play_page import Fingers, choose, fast, give, key, press, saved, seconds, until
from web_page import COMPILER, NODE

from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NODE, NEEDED]


@pytest.fixture
def page(newcomer):
    """The page with a new fight with height against `crank`."""
    click(newcomer, "lesson-end")
    choose(newcomer, "blue-player", "crank")
    choose(newcomer, "height", True)
    newcomer.frame()  # which fills the table of the numbers
    return newcomer


def climb(page) -> int:
    """Returns red's climb [m/s]."""
    return int(status(page)["climb"][0].removesuffix(" m/s").replace("−", "-"))


def test_keys_climb_and_dive(page):
    for code, is_there in (
        ("KeyT", lambda: climb(page) > 20),
        ("KeyG", lambda: climb(page) < -20),
        ("PageUp", lambda: climb(page) > 20),
    ):
        key(page, code, "keyDown")
        until(is_there)
        key(page, code, "keyUp")
    assert status(page)["height"][0].endswith(" km")
    assert colour_count(page, "side") > 20
    assert "missile ready, enemy at" in text(page, "launch-line")


def test_a_gamepad_climbs_with_its_right_stick(page):
    page.evaluate(
        "void (navigator.getGamepads = () => "
        "[null, { axes: [0, 0, 0, -1], buttons: [{ pressed: false }] }])"
    )
    until(lambda: climb(page) > 20)


def test_fingers_climb_and_set_the_throttle(phone):
    Fingers(phone).tap("lesson-end")
    choose(phone, "height", True)

    def drag(element: str, down: int) -> None:
        x, y = Fingers(phone).middle(element)
        for kind, *at in (("touchStart", x, y), ("touchMove", x, y + down)):
            points = [{"x": at[0], "y": at[1], "id": 0}]
            phone.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    drag("stick", -60)
    until(lambda: climb(phone) > 20)
    phone.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    drag("lever", 60)
    until(lambda: text(phone, "throttle-words") == "throttle ↕ 0 %")
    phone.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def test_the_graph_shows_fights_of_both_games(page):
    press(page, "KeyV")
    until(lambda: is_shown(page, "graph") and not is_shown(page, "side"))
    assert "at any height" in text(page, "caption")
    assert colour_count(page, "graph") > 20
    choose(page, "height", False)
    until(lambda: "Cone:" in text(page, "caption") and "any height" not in text(page, "caption"))
    choose(page, "height", True)
    until(lambda: "any height" in text(page, "caption"))
    press(page, "KeyV")
    until(lambda: is_shown(page, "side") and not is_shown(page, "graph"))
    assert page.errors == []


def test_sensors_show_what_the_human_knows(page):
    choose(page, "start-range", 30)
    choose(page, "off-nose", 0)
    choose(page, "sensing", True)
    until(lambda: text(page, "range-line").endswith("on radar"))
    assert status(page)["height"][1].endswith(" km")
    assert status(page)["load"][1] == "–"
    press(page, "KeyV")
    until(lambda: is_shown(page, "graph"))
    press(page, "KeyL")
    until(lambda: is_shown(page, "camera"))
    assert page.errors == []


def test_a_policy_of_the_plane_is_replaced_by_a_pilot(page):
    choose(page, "height", False)
    choose(page, "blue-player", "champion")
    choose(page, "height", True)
    chosen = "document.getElementById('blue-player').value"
    assert page.evaluate(chosen) == "ace"
    choose(page, "blue-player", "notcher")
    until(lambda: page.evaluate("document.getElementById('sensing').checked"))
    choose(page, "red-aircraft", "heavy")
    until(lambda: seconds(page) > 0.3)


def test_the_camera_shows_the_fight_and_turns(page):
    press(page, "KeyL")
    until(lambda: is_shown(page, "camera"))
    assert not is_shown(page, "side")
    press(page, "KeyP")
    page.frame()
    before = screenshot(page, "camera")
    page.drag((300, 300), (360, 320))
    assert (screenshot(page, "camera") != before).any()
    press(page, "KeyL")
    until(lambda: is_shown(page, "side"))


def test_the_camera_shows_fights_in_the_plane(page):
    press(page, "KeyL")
    choose(page, "height", False)
    until(lambda: is_shown(page, "camera"))
    assert len(set(map(tuple, screenshot(page, "camera").reshape(-1, 3)))) > 50
    press(page, "KeyV")
    until(lambda: is_shown(page, "graph"))


def test_a_missile_is_warned_of_and_the_end_is_explained(page):
    choose(page, "start-range", 20)
    choose(page, "off-nose", 0)
    fast(page)
    until(lambda: is_shown(page, "warning"))
    assert "o'clock" in text(page, "warning-words")
    assert text(page, "warning-advice").startswith(("dive, and ", "too late "))
    until(lambda: is_shown(page, "outcome"))
    assert text(page, "outcome-words") == "You lose"
    assert "R_NEZ" in text(page, "debrief")


def test_replays_of_both_games_open_and_a_flown_fight_is_a_replay(page, tmp_path):
    """A fight with mixed types and loads opens from the plane, and one of the plane after it."""
    types = {"types": "agile=light thrust=15", "red_aircraft": "agile:1,heavy:1"}
    games = ({"dimensions": 3, "red_missiles": "short:2,long:2", **types}, {})
    choose(page, "height", False)
    for game, has_side in zip(games, (True, False), strict=True):
        session = Session(("shooter", "evader"), seed=5, **game)
        for _ in range(40):
            session.step()
        path = tmp_path / "fight.replay"
        session.replay().write(path)
        give(page, path)
        until(lambda has_side=has_side: is_shown(page, "side") == has_side)
        assert text(page, "message").startswith("A recorded fight")
    choose(page, "red-player", "human")
    choose(page, "height", True)
    key(page, "KeyT", "keyDown")
    press(page, "Space")
    until(lambda: seconds(page) > 2)
    press(page, "KeyP")
    replay = Replay.from_bytes(saved(page))
    replay.verify()
    assert replay.parameters["dimensions"] == 3
    assert replay.controls[:, 0, 1].max() == 1
    assert replay.controls[:, 0, 3].sum() == 1

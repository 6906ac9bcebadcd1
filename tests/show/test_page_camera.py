"""The free camera of the page: places on the screen, and real drags, wheels and keys."""

import math

import numpy as np
import pytest
from browser import NEEDED, Browser
from pages import go, is_shown, screenshot, text
from replays import record
from team_fights import record as record_team
from team_fights import sized

from midrange_puffer.show.page import write_page

pytestmark = NEEDED

LEAST = 20  # by which a pixel of a fighter is more red or blue than of the other colours
NO_WEBGL = """const make = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...others) {
  return kind === "webgl" ? null : make.call(this, kind, ...others);
};"""


@pytest.fixture(scope="module")
def replay():
    return record(
        ("straight", "straight"), seed=4, controls=lambda rng: None, dimensions=3, time_limit=3,
        start_range_min=20_000, start_range_max=20_000,
        start_height_difference_max=3000, start_off_boresight_max_deg=0,
    )[0]  # fmt: skip


def show(page, **place: float | str) -> None:
    """Goes to the camera and leaves nothing but its picture."""
    place = {"view": "camera", "zones": "off", **place}
    go(page, "&".join(f"{name}={value}" for name, value in place.items()))
    page.evaluate("document.getElementById('camera-labels').style.visibility = 'hidden'")
    page.frame()


def pixels_of(page) -> list[np.ndarray]:
    """Returns the places of the red and of the blue pixels, [n, 2] each: to the right and up."""
    red, green, blue = np.moveaxis(screenshot(page, "camera").astype(int), 2, 0)
    found = red - np.maximum(green, blue) > LEAST, blue - np.maximum(red, green) > LEAST
    places = [np.argwhere(pixels)[:, ::-1] * (1, -1) for pixels in found]
    assert min(map(len, places)) > 20
    return places


def fighters_of(page) -> np.ndarray:
    """Returns the middles of the red and of the blue pixels, [2, 2]."""
    return np.array([places.mean(axis=0) for places in pixels_of(page)])


def test_from_above_north_is_up_and_ranges_have_one_scale(page, replay):
    """At the start nothing has a trail yet."""
    show(page, t=0, yaw=90, pitch=89)
    red, blue = fighters_of(page)
    flown = np.array([(path.x[0], path.y[0]) for path in replay.paths().fighters])
    way, shown = flown[1] - flown[0], blue - red
    assert math.atan2(*shown) == pytest.approx(math.atan2(*way), abs=0.03)
    show(page, t=0, yaw=0, pitch=89)
    red, blue = fighters_of(page)
    assert math.hypot(*(blue - red)) == pytest.approx(math.hypot(*shown), rel=0.03)
    assert (blue - red) @ shown == pytest.approx(0, abs=0.03 * math.hypot(*shown) ** 2)


def test_from_the_side_heights_are_doubled(page, replay):
    """Looks across the way from red to blue. Posts hang below the fighters."""
    first, second = replay.paths().fighters
    way = second.x[0] - first.x[0], second.y[0] - first.y[0]
    higher = second.z[0] - first.z[0]
    assert abs(higher) > 500
    show(page, t=0, yaw=math.degrees(math.atan2(way[1], way[0])) + 90, pitch=2)
    red, blue = ((places[:, 0].mean(), places[:, 1].max()) for places in pixels_of(page))
    assert red[0] < blue[0]
    slope = (blue[1] - red[1]) / (blue[0] - red[0])
    assert slope == pytest.approx(2 * higher / math.hypot(*way), abs=0.02)


def test_a_drag_turns_the_wheel_zooms_and_the_right_button_moves(page):
    show(page, t=0)
    start = fighters_of(page)
    page.drag((400, 300), (480, 300))
    turned = fighters_of(page)
    assert np.abs(turned - start).max() > 20
    page.wheel((400, 300), -400)
    nearer = fighters_of(page)
    ratio = math.dist(*nearer) / math.dist(*turned)
    assert ratio == pytest.approx(math.exp(400 * 0.0015), rel=0.25)  # in perspective
    for kind, x in (("mousePressed", 400), ("mouseMoved", 430), ("mouseReleased", 430)):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=300, button="right", buttons=2)
    page.frame()
    moved = fighters_of(page) - nearer
    assert moved[:, 0] == pytest.approx([30, 30], abs=12)
    assert text(page, "follow") == "Follow: off"


def test_two_fingers_pinch(page):
    show(page, t=0)
    start = fighters_of(page)
    for kind, *places in (("touchStart", 360, 440), ("touchMove", 360, 480), ("touchEnd",)):
        points = [{"x": x, "y": 300, "id": number} for number, x in enumerate(places)]
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    page.frame()
    assert math.dist(*fighters_of(page)) > 1.2 * math.dist(*start)


def test_a_key_and_a_button_change_the_view(page):
    assert not is_shown(page, "camera")
    page.press("l")
    assert is_shown(page, "camera")
    assert not is_shown(page, "plane")
    assert "Heights are drawn 2 times as large" in text(page, "caption")
    page.press("l")
    assert is_shown(page, "plane")
    assert is_shown(page, "side")
    page.evaluate("document.getElementById('view-camera').click()")
    page.frame()
    assert is_shown(page, "camera")
    assert not is_shown(page, "side")


def test_in_teams_a_click_chooses_a_fighter(window, tmp_path):
    replay, _ = record_team(sized(4, 4, time_limit=2), ("ace", "ace"), seed=2)
    path = tmp_path / "teams.html"
    write_page(replay, path)
    window.open(path.as_uri())
    show(window, t=0, yaw=90, pitch=89)
    flown = np.array([(fighter.x[0], fighter.y[0]) for fighter in replay.paths().fighters])
    _, blue = pixels_of(window)
    right, up = blue[blue[:, 1].argmax()]
    left, top = window.evaluate(
        "(({ x, y }) => [x, y])(document.getElementById('camera').getBoundingClientRect())"
    )
    at = left + float(right), top - float(up)
    window.drag(at, at)
    northmost = 4 + int(flown[4:, 1].argmax())
    chosen = window.evaluate("document.querySelector('.roster tr.chosen').textContent")
    assert chosen.startswith(f"blue_{northmost - 4}")
    assert window.errors == []


def test_without_webgl_the_view_from_above_says_so(address, tmp_path):
    browser = Browser(tmp_path)
    try:
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=NO_WEBGL)
        browser.open(f"{address}#view=camera")
        assert is_shown(browser, "plane")
        assert text(browser, "caption").startswith("This browser has no WebGL")
        assert not is_shown(browser, "view-camera")
        assert browser.errors == []
    finally:
        browser.close()

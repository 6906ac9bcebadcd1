"""The page to play on, in a browser: flying, firing, the end, rewinds, saving and opening."""

import time

import pytest
from browser import NEEDED
from pages import click, colour_count, is_shown, status, text
from places import ROOT
from play_page import (
    Fingers,
    choose,
    fast,
    fire_to_the_end,
    give,
    key,
    press,
    saved,
    seconds,
    until,
)
from web_page import COMPILER, NODE

from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NODE, NEEDED]


@pytest.fixture
def page(newcomer):
    """The page of a visitor who declines the lessons, with a new fight."""
    click(newcomer, "lesson-end")
    return newcomer


def test_it_begins_against_an_easy_pilot_and_everything_is_drawn(page):
    assert colour_count(page, "plane") > 20
    assert status(page)["missiles"] == ["6 left, 0 in the air"] * 2
    until(lambda: seconds(page) > 1)
    chosen = page.evaluate(
        "['red', 'blue'].map((s) => document.getElementById(s + '-player').value)"
    )
    assert chosen == ["human", "shooter"]
    assert page.evaluate("document.getElementById('ladder').lastChild.textContent") == "champion"


def test_keys_turn_the_fighter_and_launch_a_missile(page):
    key(page, "KeyA", "keyDown")
    until(lambda: status(page)["rudder"][0] == "100 % left")
    key(page, "KeyA", "keyUp")
    until(lambda: status(page)["rudder"][0] == "none")
    key(page, "ArrowDown", "keyDown")
    until(lambda: status(page)["throttle"][0] == "0 %")
    key(page, "ArrowDown", "keyUp")
    press(page, "Space")
    until(lambda: status(page)["missiles"][0] == "5 left, 1 in the air")


def test_two_humans_have_a_side_of_the_keyboard_each(page):
    choose(page, "blue-player", "human")
    key(page, "KeyD", "keyDown")
    key(page, "ArrowLeft", "keyDown")
    until(lambda: status(page)["rudder"] == ["100 % right", "100 % left"])


def test_pause_stops_time_and_backspace_takes_it_back(page):
    until(lambda: seconds(page) > 2)
    press(page, "KeyP")
    stopped = seconds(page)
    time.sleep(0.3)
    assert seconds(page) == stopped
    key(page, "Backspace", "keyDown")
    until(lambda: seconds(page) < stopped - 1)
    key(page, "Backspace", "keyUp")
    press(page, "KeyP")
    back = seconds(page)
    until(lambda: seconds(page) > back)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_player_who_flies_straight_on_loses(page, seat):
    """A fight against `shooter`, which fires; then the same start again."""
    others = ("blue-player", "red-player")
    choose(page, others[seat], "shooter")
    choose(page, ("red-player", "blue-player")[seat], "human")
    choose(page, "start-range", 20)
    fast(page)
    until(lambda: is_shown(page, "outcome"))
    assert text(page, "outcome-words") == "You lose"
    assert text(page, "debrief").startswith("You were hit by a missile fired at 0:")
    assert text(page, "tally") == "won 0, drawn 0, lost 1"
    press(page, "KeyR")
    until(lambda: not is_shown(page, "outcome"))
    assert seconds(page) < 5


def test_a_player_who_fires_at_one_that_flies_straight_on_wins(page):
    choose(page, "start-range", 12)
    choose(page, "blue-player", "straight")
    fast(page)
    fire_to_the_end(page)
    assert text(page, "outcome-words") == "You win"
    assert "did not turn away" in text(page, "debrief") or "no turn could" in text(page, "debrief")
    assert text(page, "tally") == "won 1, drawn 0, lost 0"
    assert text(page, "harder") == "Harder: weave"
    click(page, "harder")
    assert page.evaluate("document.getElementById('blue-player').value") == "weave"
    page.reload()  # the result is kept
    until(lambda: "✓ straight1–0–0" in text(page, "ladder"))


def test_a_missile_is_warned_of(page):
    choose(page, "start-range", 25)
    choose(page, "blue-player", "shooter")
    fast(page)
    until(lambda: is_shown(page, "warning"))
    assert "o'clock" in text(page, "warning-words")


def test_with_sensors_a_human_sees_his_own_picture_until_the_end(page):
    choose(page, "blue-player", "ace")
    choose(page, "start-range", 25)
    choose(page, "sensing", True)
    until(lambda: status(page)["load"][1] == "–")
    assert not is_shown(page, "picture")
    fast(page)
    until(lambda: is_shown(page, "outcome"))
    assert is_shown(page, "picture")
    assert text(page, "picture") == "Picture: red"
    press(page, "KeyK")
    until(lambda: text(page, "picture") != "Picture: red")


def test_the_radar_is_switched_and_chaff_dropped_by_keys_and_buttons(page):
    """A link and a replay carry both; the page says what is left."""
    choose(page, "blue-player", "ace")
    assert not is_shown(page, "systems")
    choose(page, "sensing", True)
    assert not is_shown(page, "orders")
    choose(page, "systems", True)
    until(lambda: text(page, "chaff") == "Chaff: 12 left")
    press(page, "KeyY")
    until(lambda: text(page, "radar") == "Radar silent")
    press(page, "KeyC")
    until(lambda: text(page, "chaff").startswith("Chaff: 11, cloud 3"))
    assert page.evaluate("document.getElementById('chaff').disabled")  # while the cloud lasts
    click(page, "radar")
    until(lambda: text(page, "radar") == "Radar emits")
    until(lambda: text(page, "chaff") == "Chaff: 11 left")
    click(page, "chaff")
    until(lambda: text(page, "chaff").startswith("Chaff: 10"))
    press(page, "KeyP")
    replay = Replay.from_bytes(saved(page))
    replay.verify()
    assert (replay.parameters["emission_control"], replay.parameters["chaff"]) == ("on", 12)
    assert {0, 1, 2} <= {*replay.controls[:, 0, 2].tolist()}
    click(page, "share")
    choose(page, "sensing", False)
    until(lambda: not is_shown(page, "orders"))
    page.reload()
    until(lambda: text(page, "chaff").startswith("Chaff: 10"))
    assert page.evaluate("document.getElementById('systems').checked")


def test_again_keeps_the_systems_of_an_opened_fight_until_they_are_switched_off(page, tmp_path):
    game = {"sensing": "radar", "chaff": 6}  # without emission control
    session = Session(("shooter", "ace"), seed=3, **game)
    session.step()
    path = tmp_path / "fight.replay"
    session.replay().write(path)
    give(page, path)
    until(lambda: text(page, "message").startswith("A recorded fight"))
    choose(page, "red-player", "human")
    for _ in range(2):
        until(lambda: text(page, "chaff") == "Chaff: 6 left")
        assert page.evaluate("document.getElementById('systems').checked")
        assert not is_shown(page, "radar")
        press(page, "KeyC")
        until(lambda: text(page, "chaff").startswith("Chaff: 5"))
        click(page, "again")
    choose(page, "systems", False)
    until(lambda: not is_shown(page, "orders"))
    choose(page, "systems", True)
    until(lambda: text(page, "chaff") == "Chaff: 12 left")
    assert is_shown(page, "radar")


def test_the_champion_does_not_fly_with_sensors(page):
    choose(page, "blue-player", "champion")
    choose(page, "sensing", True)
    assert "champion" in text(page, "message")
    choose(page, "blue-player", "notcher")
    until(lambda: seconds(page) > 0.5)


def test_a_fight_flown_here_is_a_replay_of_the_package(page):
    """A replay saved during a fight; every state hash is compared."""
    choose(page, "blue-player", "champion")
    key(page, "KeyD", "keyDown")
    until(lambda: seconds(page) > 2)
    press(page, "Space")
    until(lambda: seconds(page) > 4)
    press(page, "KeyP")
    replay = Replay.from_bytes(saved(page))
    assert text(page, "message").startswith("Saved midrange-")
    replay.verify()
    assert replay.names == ("human", "champion")
    assert len(replay.controls) > 40
    assert replay.controls[:, 0, 2].sum() == 1


def test_a_replay_of_the_package_flies_here_and_may_be_taken_over(page, tmp_path):
    session = Session(("shooter", "evader"), seed=5)
    while not session.over:
        session.step()
    path = tmp_path / "fight.replay"
    session.replay().write(path)
    give(page, path)
    until(lambda: text(page, "message").startswith("A recorded fight"))
    until(lambda: seconds(page) > 1)
    click(page, "take-red")
    until(lambda: text(page, "message") == "You fly red from here on.")
    press(page, "Space")
    until(lambda: status(page)["missiles"][0].startswith("5 left"))
    path.write_bytes(b"nothing of the kind")
    give(page, path)
    until(lambda: "not a replay" in text(page, "message"))


@pytest.mark.parametrize("size", [(844, 390), (390, 844), (1280, 720)])
def test_it_fits_phones_and_desktops(page, size):
    page.resize(*size)
    page.frame()
    room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert room[0] <= room[1]
    plane = page.evaluate(
        "(({ width, height }) => [width, height])"
        "(document.getElementById('plane').getBoundingClientRect())"
    )
    assert min(plane) > 150


def test_an_exported_policy_of_ones_own_flies(page, tmp_path):
    give(page, ROOT / "midrange_puffer" / "models" / "champion.onnx")
    until(lambda: text(page, "message").startswith("You fly against champion.onnx"))
    until(
        lambda: status(page)["rudder"][1] != "none"
    )  # the enemy is straight ahead: it turns later
    other = tmp_path / "other.onnx"
    other.write_bytes(b"nothing of the kind")
    give(page, other)
    until(lambda: "cannot fly here" in text(page, "message"))


def test_the_space_time_graph_is_shown_and_explained(page):
    press(page, "KeyV")
    until(lambda: is_shown(page, "graph"))
    assert not is_shown(page, "plane")
    assert "Time runs downward" in text(page, "caption")
    assert colour_count(page, "graph") > 50
    press(page, "KeyV")
    until(lambda: is_shown(page, "plane"))


def lesson(page) -> int:
    """Returns the number of the present lesson."""
    return int(text(page, "lesson-words").split()[0])


def test_the_first_flight_shows_each_thing_by_doing_it(newcomer):
    """The clock waits for the first move; a wrong turn and a shot from afar do not count."""
    page = newcomer
    assert text(page, "lesson-words").startswith("New here?")
    assert seconds(page) == 0
    click(page, "lesson-start")
    assert "Hold A" in text(page, "lesson-words")
    time.sleep(0.3)
    assert seconds(page) == 0
    key(page, "KeyD", "keyDown")
    until(lambda: "right" in status(page)["load"][0] and seconds(page) > 3)
    assert lesson(page) == 1
    key(page, "KeyD", "keyUp")
    for number, code in ((1, "KeyA"), (2, "KeyD")):
        key(page, code, "keyDown")
        until(lambda number=number: lesson(page) > number)
        key(page, code, "keyUp")
    press(page, "Space")
    until(lambda: "outside your zone" in text(page, "lesson-words"))
    assert lesson(page) == 3
    click(page, "lesson-end")
    assert not is_shown(page, "lesson")
    assert page.evaluate("document.getElementById('blue-player').value") == "shooter"
    page.reload()
    until(lambda: text(page, "time-words"))
    assert not is_shown(page, "lesson")


def test_sound_is_off_until_asked(page):
    """Counts the voices that start: none for a launch without sound, one for a launch with it."""
    page.evaluate(
        "{ const { start } = AudioScheduledSourceNode.prototype; window.voices = []; "
        "AudioScheduledSourceNode.prototype.start = function (...when) { "
        "voices.push(this.constructor.name); return start.apply(this, when); }; "
        "const node = AudioBufferSourceNode.prototype; const begin = node.start; "
        "node.start = function (...when) { voices.push(this.constructor.name); "
        "return begin.apply(this, when); }; }"
    )
    press(page, "Space")
    until(lambda: status(page)["missiles"][0].startswith("5 left"))
    assert text(page, "sound") == "Sound: off"
    assert page.evaluate("voices") == []
    press(page, "KeyM")  # a key is a gesture, which browsers require
    until(lambda: text(page, "sound") == "Sound: on")
    press(page, "KeyR")
    press(page, "Space")
    until(lambda: "AudioBufferSourceNode" in page.evaluate("voices"))
    press(page, "KeyM")
    until(lambda: text(page, "sound") == "Sound: off")


def test_a_gamepad_flies(page):
    page.evaluate(
        "void (navigator.getGamepads = () => "
        "[null, { axes: [-1, 1], buttons: [{ pressed: performance.now() % 400 < 200 }] }])"
    )
    until(lambda: status(page)["rudder"][0] == "100 % left")
    until(lambda: status(page)["throttle"][0] == "0 %")
    until(lambda: status(page)["missiles"][0].startswith("5 left"))


def test_fingers_fly(phone):
    """One finger drags to the right and to the left, another one is on the button."""
    fingers = Fingers(phone)
    fingers.tap("lesson-end")
    for way, words in ((1, "100 % right"), (-1, "100 % left"), (0, "none")):
        fingers.drag(way)
        until(lambda words=words: status(phone)["rudder"][0] == words)
    fingers.tap("trigger")
    until(lambda: status(phone)["missiles"][0].startswith("5 left"))
    assert text(phone, "trigger-words") == "5 left"


@pytest.mark.parametrize(("given", "taken"), [("-3", "5"), ("1e9", "100"), ("", "5")])
def test_the_sidebar_takes_what_is_possible(page, given, taken):
    choose(page, "start-range", given)
    assert page.evaluate("document.getElementById('start-range').value") == taken
    until(lambda: seconds(page) > 0.3)

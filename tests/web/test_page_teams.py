"""Teams on the page, in a browser: a visitor flies them to their end."""

import re

import pytest
from browser import NEEDED
from pages import click, colour_count, is_shown, text
from play_page import Fingers, choose, fast, fire_to_the_end, give, press, saved, seconds, until
from web_page import COMPILER

from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NEEDED]


@pytest.fixture
def page(newcomer):
    """The page of a visitor who declines the lessons, with a new fight."""
    click(newcomer, "lesson-end")
    return newcomer


def roster(page) -> dict[str, list[str]]:
    """Returns the texts of all fighters' lines, by callsign."""
    rows = page.evaluate(
        "Array.from(document.getElementById('status').tBodies[0].rows, "
        "(row) => Array.from(row.cells, (cell) => cell.textContent))"
    )
    return {name: cells for name, *cells in rows}


def value(page, element: str) -> str:
    return page.evaluate(f"document.getElementById('{element}').value")


def test_a_newcomer_sees_no_teams(page):
    assert value(page, "size") == "1"
    assert not is_shown(page, "orders")
    assert not is_shown(page, "wingmen")


@pytest.mark.parametrize("high", [False, True])
def test_a_visitor_wins_two_against_two(page, high):
    """Fires at whichever enemy is aimed at; the replay is the package's."""
    choose(page, "size", "2")
    choose(page, "height", high)
    choose(page, "start-range", 12)
    choose(page, "wingmen", "straight")  # which leaves the enemies to the visitor
    choose(page, "blue-player", "straight")
    assert list(roster(page)) == ["red_0", "red_1", "blue_0", "blue_1"]
    assert is_shown(page, "wingmen")
    aimed = text(page, "aim")
    press(page, "KeyQ")
    until(lambda: text(page, "aim") != aimed)
    assert re.fullmatch(r"Target: blue_[01]", text(page, "aim"))
    fast(page)
    fire_to_the_end(page)
    assert text(page, "outcome-words") == "You win, 2 of 2 left"
    assert text(page, "debrief").startswith("You flew red_0.")
    assert "hit blue_" in text(page, "debrief")
    assert text(page, "tally") == "won 1, drawn 0, lost 0"
    assert "✓" not in text(page, "ladder")  # that is of one against one
    replay = Replay.from_bytes(saved(page))
    replay.verify()
    assert replay.names == ("human, straight", "straight")


def test_a_player_who_is_shot_down_flies_another_fighter(phone):
    """With a finger, until both are shot down."""
    fingers = Fingers(phone)
    fingers.tap("lesson-end")
    for element, given in (("size", "2"), ("start-range", 15), ("ammunition", 2)):
        choose(phone, element, given)
    choose(phone, "wingmen", "straight")
    choose(phone, "blue-player", "shooter")
    for _ in range(2):  # no faster: the wingman dies a few seconds later
        fingers.tap("faster")

    def can_change() -> bool:
        return text(phone, "launch-line").startswith("shot down: fly another")

    until(lambda: can_change() or is_shown(phone, "outcome"))
    while not can_change():  # the wingman was shot down first: from another start
        fingers.tap("outcome-next")
        until(lambda: not is_shown(phone, "outcome"))
        until(lambda: can_change() or is_shown(phone, "outcome"))
    first = text(phone, "change").removeprefix("Fly ")
    fingers.tap("change")
    until(lambda: text(phone, "change") == f"You fly {first}" or is_shown(phone, "outcome"))
    until(lambda: is_shown(phone, "outcome"))
    assert text(phone, "outcome-words").startswith("You lose, 2 of 2 left")
    assert text(phone, "debrief").startswith(f"You flew {first}.")
    assert not is_shown(phone, "orders")


@pytest.mark.parametrize("size", [(390, 844), (844, 390)])
def test_a_phone_has_room_for_four_against_four_with_height(phone, size):
    """Every control is on the screen and uncovered."""
    fingers = Fingers(phone)
    fingers.tap("lesson-end")
    phone.resize(*size)
    choose(phone, "size", "4")
    choose(phone, "height", True)
    until(lambda: seconds(phone) > 0.3)
    for element in ("aim", "change", "trigger", "stick", "lever"):
        fingers.middle(element)
    fingers.tap("aim")
    until(lambda: text(phone, "aim").startswith("Target: blue_"))
    room = phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert room[0] <= room[1]


def test_a_click_takes_over_a_wingman_or_aims(page):
    choose(page, "size", "4")
    click(page, "pause")
    lines = "document.getElementById('status').tBodies[0].rows"
    page.evaluate(f"{lines}[2].click()")
    until(lambda: text(page, "change") == "Fly red_3")
    page.evaluate(f"{lines}[6].click()")
    until(lambda: text(page, "aim") == "Target: blue_2")
    click(page, "pause")
    press(page, "Space")
    until(lambda: roster(page)["red_2"][1].startswith("5"))
    for view in ("graph", "camera"):
        press(page, {"graph": "KeyV", "camera": "KeyL"}[view])
        until(lambda view=view: is_shown(page, view))
        assert view == "camera" or colour_count(page, view) > 50


def test_with_sensors_only_the_own_side_is_known(page):
    choose(page, "size", "2")
    choose(page, "start-range", 40)
    choose(page, "sensing", True)
    until(lambda: seconds(page) > 0.5)
    lines = roster(page)
    assert lines["red_1"][1] != "–"  # missiles
    assert lines["blue_0"][1] == "–"
    choose(page, "blue-player", "pair")
    until(lambda: seconds(page) > 0.5)


def test_the_wingmen_matter_only_where_a_human_flies(page):
    """A chosen `pair` needs sensors; a fight of pilots on both sides has no wingmen."""
    choose(page, "size", "2")
    choose(page, "wingmen", "pair")
    assert page.evaluate("document.getElementById('sensing').checked")
    choose(page, "red-player", "ace")
    assert not is_shown(page, "wingmen")
    choose(page, "sensing", False)
    assert not page.evaluate("document.getElementById('sensing').checked")
    choose(page, "blue-player", "human")
    assert is_shown(page, "wingmen")
    assert page.evaluate("document.getElementById('sensing').checked")


def test_policies_fly_the_game_that_they_were_trained_for(page):
    choose(page, "blue-player", "champion:team2")
    assert value(page, "size") == "2"
    until(lambda: seconds(page) > 0.5)
    choose(page, "height", True)
    assert value(page, "blue-player") == "ace"
    choose(page, "height", False)
    choose(page, "size", "1")
    choose(page, "blue-player", "champion")
    choose(page, "size", "2")
    assert value(page, "blue-player") == "champion:team2"
    choose(page, "blue-player", "pair")
    assert page.evaluate("document.getElementById('sensing').checked")


def test_a_replay_of_teams_flies_here_and_may_be_taken_over(page, tmp_path):
    session = Session(("shooter", "evader"), seed=5, red_size=2, blue_size=2)
    while not session.over:
        session.step()
    path = tmp_path / "fight.replay"
    session.replay().write(path)
    give(page, path)
    until(lambda: text(page, "message").startswith("A recorded fight"))
    assert value(page, "size") == "2"
    until(lambda: seconds(page) > 1)
    click(page, "take-blue")
    until(lambda: text(page, "message") == "You fly blue_0 from here on.")
    press(page, "Space")
    until(lambda: roster(page)["blue_0"][1].startswith("5"))

"""The radar's switch and chaff in the window to fly in: keys, the status line and the help."""

import pygame
import pytest
from keyboard import SIZE, Player

from midrange_puffer import _core
from midrange_puffer.replays.session import HUMAN
from midrange_puffer.show.play.launch import status_lines
from midrange_puffer.show.play.overlay import draw_help
from midrange_puffer.show.play.systems import systems_keys, systems_words

pytestmark = pytest.mark.usefixtures("display")

SENSED = {"sensing": "radar"}
EMISSION = SENSED | {"emission_control": "on"}
CHAFF = SENSED | {"chaff": 2}
BOTH = EMISSION | CHAFF
TWO_LEFT, ONE_LEFT = "2 cartridges of chaff left", "1 cartridge of chaff left"


@pytest.mark.parametrize(
    ("game", "begins", "after"),
    [
        (
            BOTH,
            "radar emits, 2 cartridges of chaff left",
            "radar silent, 1 cartridge of chaff left",
        ),
        (EMISSION, "radar emits", "radar silent"),
        (CHAFF, "2 cartridges of chaff left", "1 cartridge of chaff left"),
    ],
)
def test_a_line_has_the_state_of_the_systems(game, begins, after):
    player = Player(**game)
    assert begins in player.game._lines(0)
    player.press(pygame.K_y)
    player.press(pygame.K_c)
    player.wait(1)
    [line] = [line for line in player.game._lines(0) if line.startswith(after)]
    cloud = line.removeprefix(after)
    assert cloud.startswith(", cloud for ") == ("chaff" in game)
    player.press(pygame.K_y)
    player.wait(6)  # the cloud is gone, too
    assert after.replace("silent", "emits") in player.game._lines(0)


def test_games_without_systems_have_no_such_line():
    player = Player(**SENSED)
    assert systems_words(player.session, 0) == ""
    assert len(status_lines(player.session, 0)) == 1


def test_keys_of_absent_systems_do_nothing():
    for game, key in ((CHAFF, pygame.K_y), (EMISSION, pygame.K_c)):
        player = Player(**game)
        player.press(key)
        assert not player.session.commands[0, 2]


def test_the_line_is_of_the_wingman_that_was_taken_over():
    player = Player(red_size=2, blue_size=2, **BOTH)
    session = player.session
    assert systems_words(session, 0).startswith("radar emits")
    session.commands[1, 2] = _core.SILENT  # its pilot's last command
    session.take_over(1)
    player.wait(1)
    assert f"radar silent, {TWO_LEFT}" in player.game._lines(0)
    session.sim.set_fighter(0, 1, alive=False)
    assert systems_words(session, 1) == ""


def test_a_common_view_has_the_lines_of_both_humans():
    player = Player(HUMAN, HUMAN, **BOTH)
    player.press(pygame.K_y)
    player.wait(1)
    lines = player.game._lines(None)
    assert f"red: radar silent, {TWO_LEFT}" in lines
    assert f"blue: radar emits, {TWO_LEFT}" in lines


@pytest.mark.parametrize(
    ("game", "keys"), [(SENSED, []), (EMISSION, ["Y"]), (CHAFF, ["C"]), (BOTH, ["Y", "C"])]
)
def test_the_help_lists_the_keys_of_the_systems_in_the_game(game, keys, drawn_words):
    parameters = Player(**game).session.sim.parameters
    drawn_words.clear()
    draw_help(pygame.Surface(SIZE), has_sensors=True, systems=systems_keys(parameters))
    assert [words for words in drawn_words if words in ("Y", "C")] == keys

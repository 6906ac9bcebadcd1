"""The window to fly in: keys and gamepads."""

from dataclasses import replace

import pygame
import pytest
from keyboard import FRAME, NEAR, SIZE, Gamepad, Player, count

from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.session import HUMAN
from midrange_puffer.show.play.inputs import DEADZONE
from midrange_puffer.show.play.threats import find_threats
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.status import HEIGHT as BAR

pytestmark = pytest.mark.usefixtures("display")


@pytest.mark.parametrize(
    ("seat", "left", "right"),
    [(0, pygame.K_a, pygame.K_d), (1, pygame.K_LEFT, pygame.K_RIGHT)],
)
def test_keys_turn_each_its_own_fighter(seat, left, right):
    player = Player(blue=HUMAN)
    for key, way in ((left, 1), (right, -1)):
        player.down(key)
        player.wait(1)
        assert player.fighter(seat)["rudder"] == way
        assert player.fighter(1 - seat)["rudder"] == 0
        player.up(key)
        player.wait(1)
        assert player.fighter(seat)["rudder"] == 0
    player.down(left, right)
    player.wait(1)
    assert player.fighter(seat)["rudder"] == 0


def test_a_single_human_may_use_either_side():
    player = Player("straight", HUMAN)
    for key in (pygame.K_a, pygame.K_LEFT):
        player.down(key)
        player.wait(0.7)
        assert player.fighter(1)["rudder"] == 1
        player.up(key)
        player.wait(0.7)


@pytest.mark.parametrize(
    ("seat", "less", "more"), [(0, pygame.K_s, pygame.K_w), (1, pygame.K_DOWN, pygame.K_UP)]
)
def test_the_throttle_stays_where_it_is_put(seat, less, more):
    player = Player(blue=HUMAN)
    player.down(less)
    player.wait(0.5)
    player.up(less)
    player.wait(2)
    half = player.fighter(seat)["throttle"]
    assert half == pytest.approx(0.5, abs=0.05)
    player.down(more)
    player.wait(2)
    assert player.fighter(seat)["throttle"] == 1
    assert player.fighter(1 - seat)["throttle"] == 1


@pytest.mark.parametrize(
    ("seat", "key"),
    [(0, pygame.K_SPACE), (0, pygame.K_LSHIFT), (1, pygame.K_RCTRL), (1, pygame.K_RETURN)],
)
def test_a_press_is_one_launch(seat, key):
    player = Player(blue=HUMAN, launch_interval=2)
    player.down(key)  # and held
    player.wait(3)
    assert player.fighter(seat)["ammo"] == 5
    assert player.fighter(1 - seat)["ammo"] == 6
    player.up(key)
    player.press(key)
    player.wait(1)
    assert player.fighter(seat)["ammo"] == 4


def test_held_keys_are_released_with_the_focus():
    player = Player()
    player.down(pygame.K_a, pygame.K_BACKSPACE)
    player.post(pygame.WINDOWFOCUSLOST)
    player.wait(2)
    assert player.fighter()["rudder"] == 0
    assert player.session.paths.time > 1.5


def test_keys_scale_time():
    player = Player(blue="evader")
    for key, scale in ((pygame.K_EQUALS, 4), (pygame.K_MINUS, 0.25)):
        while player.session.time_scale != scale:
            player.press(key)
        start = player.session.paths.time
        player.wait(4)
        assert player.session.paths.time - start == pytest.approx(4 * scale, abs=0.3)


@pytest.mark.parametrize(("red", "key"), [("ace", pygame.K_SPACE), (HUMAN, pygame.K_p)])
def test_keys_pause(red, key):
    """Space pauses only if no human launches with it."""
    player = Player(red, "evader")
    player.press(key)
    before = player.session.sim.state_hash()
    player.wait(1)
    assert player.session.sim.state_hash() == before
    player.press(key)
    player.wait(1)
    assert player.session.sim.state_hash() != before


def test_backspace_takes_the_fight_back_and_it_is_the_same_again():
    player = Player(blue="evader", size=SIZE, **NEAR)
    session = player.session
    player.press(pygame.K_SPACE)
    hashes = {len(session.recorder): session.sim.state_hash()}
    for decision in range(len(session.recorder) + 1, 151):
        session.step()
        hashes[decision] = session.sim.state_hash()
    player.press(pygame.K_p)
    assert count(player.pixels[BAR:], colours.FLAME) == 0  # the missile coasts
    player.down(pygame.K_BACKSPACE)
    player.wait(1)
    player.up(pygame.K_BACKSPACE)
    player.wait(FRAME)
    back = len(session.recorder)
    assert 150 - back == pytest.approx(80, abs=1)
    assert session.sim.state_hash() == hashes[back]
    assert count(player.pixels[BAR:], colours.FLAME) > 0  # its motor burns again
    for _ in range(back, 150):
        session.step()
    assert session.sim.state_hash() == hashes[150]


def test_again_and_next():
    player = Player(blue="evader")
    first = player.session.sim.state_hash()
    player.wait(2)
    player.down(pygame.K_p)
    player.down(pygame.K_n)
    player.game.frame(0.0)
    assert player.session.engagement == 1
    assert player.session.sim.state_hash() != first
    assert not player.session.paused
    player.session.start(0)
    player.wait(1)
    player.down(pygame.K_r)
    player.game.frame(0.0)
    assert player.session.sim.state_hash() == first


def test_a_gamepad_flies(monkeypatch):
    pads = [Gamepad(3), Gamepad(7)]
    monkeypatch.setattr(pygame.joystick, "Joystick", pads.__getitem__)
    player = Player(blue=HUMAN)
    for index in range(2):
        player.post(pygame.JOYDEVICEADDED, device_index=index)
    player.wait(0.1)
    pads[0].axes = [-1.0, 0.5]  # left and back
    pads[1].axes = [DEADZONE * 0.9, -DEADZONE]
    player.wait(0.5)
    player.post(pygame.JOYBUTTONDOWN, instance_id=7, button=0)
    player.post(pygame.JOYBUTTONDOWN, instance_id=3, button=5)
    player.wait(0.5)
    red, blue = player.fighter(0), player.fighter(1)
    assert (red["rudder"], blue["rudder"]) == (1, 0)
    assert 0.3 < red["throttle"] < 0.8
    assert blue["throttle"] == 1
    assert (red["ammo"], blue["ammo"]) == (6, 5)
    player.post(pygame.JOYDEVICEREMOVED, instance_id=3)
    player.wait(1)
    assert player.fighter(0)["rudder"] == 0


def test_a_new_fight_begins_without_the_help_at_its_own_pace():
    player = Player()
    player.press(pygame.K_EQUALS, pygame.K_EQUALS, pygame.K_h)
    assert player.session.paused
    assert player.session.time_scale == 4
    before = player.session.engagement
    player.press(pygame.K_n)
    assert player.session.engagement == before + 1
    assert not player.session.paused
    assert player.session.time_scale == 1
    player.press(pygame.K_h)  # shows it again
    assert player.session.paused


def test_nothing_is_launched_while_the_help_is_shown():
    player = Player()
    ammo = player.fighter()["ammo"]
    player.press(pygame.K_h)
    player.press(pygame.K_LSHIFT)
    player.press(pygame.K_h)
    player.wait(1)
    assert player.fighter()["ammo"] == ammo


def test_a_missile_that_arrives_now_is_the_most_pressing(monkeypatch):
    player = Player(blue=HUMAN, **NEAR)
    player.press(pygame.K_SPACE)
    player.wait(1)
    assert player.game.threats(1)
    graph = spacetime(player.session.sim, 0, 1)
    one = next(one for one in graph.missiles if one.target == 1)
    graph = replace(graph, missiles=[replace(one, hits=True, ended=end) for end in (9.0, 0.0)])
    assert [threat.seconds for threat in find_threats(player.session.sim, graph)] == [0, 9]


def test_a_rewound_launch_gives_no_warning():
    player = Player(blue=HUMAN, **NEAR)
    player.press(pygame.K_SPACE)
    player.wait(1)
    assert player.game.threats(1)
    player.down(pygame.K_BACKSPACE)
    player.wait(1)
    assert player.session.paths.time == 0
    assert player.game.threats(1) == []

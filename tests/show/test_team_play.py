"""Teams in the window to fly in: the human's fighter, its target, and the texts."""

import pygame
import pytest
from keyboard import SIZE, Player, count
from team_fights import sized

from midrange_puffer.commands import cli
from midrange_puffer.commands import play as play_options
from midrange_puffer.commands.play import load_contestants
from midrange_puffer.errors import UserError
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import HUMAN
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.view import canvas as colours

pytestmark = pytest.mark.usefixtures("display")

FAR = {"red_size": 3, "blue_size": 3}


def click(player: Player, fighter: int) -> None:
    spots = [spot for spot, number in player.game._spots if number == fighter]
    player.post(pygame.MOUSEBUTTONDOWN, button=1, pos=spots[0].center)
    player.wait(0.1)


def test_keys_and_clicks_take_over_a_fighter():
    player = Player(size=SIZE, **FAR)
    session = player.session
    assert session.humans == [0]
    flown = []
    for key in (pygame.K_TAB, pygame.K_PAGEDOWN, pygame.K_TAB, pygame.K_3, pygame.K_8):
        player.press(key)
        flown.append(session.humans[0])
    assert flown == [1, 2, 0, 2, 2]
    click(player, 1)
    assert session.humans == [1]
    player.down(pygame.K_a)
    player.wait(1)
    assert player.fighter(1)["rudder"] == 1
    session.sim.set_fighter(0, 2, alive=False)
    player.press(pygame.K_3)
    assert session.humans == [1]
    assert "red_2 is shot down" in player.game._lines(0)
    player.press(pygame.K_TAB)
    assert session.humans == [0]


def test_the_transport_flies_itself():
    """Keys pass over it, and a human who wants to fly it is told so."""
    escort = {"mission": "escort", "attacker": "red", "time_limit": 480}
    player = Player(size=SIZE, **escort, **FAR)
    flown = []
    for key in (pygame.K_TAB, pygame.K_TAB, pygame.K_3):
        player.press(key)
        flown.append(player.session.humans[0])
    assert flown == [1, 0, 0]
    assert "red_2 is the transport, which flies itself" in player.game._lines(0)


def test_the_throttle_goes_on_from_where_the_wingman_left_it():
    player = Player(**FAR)
    player.down(pygame.K_s)
    player.wait(1.5)
    player.up(pygame.K_s)
    assert player.fighter(0)["throttle"] == 0
    player.press(pygame.K_TAB)
    before = player.fighter(1)["throttle"]
    player.wait(1)
    assert player.fighter(1)["throttle"] == pytest.approx(before, abs=0.11)
    assert player.fighter(0)["throttle"] > 0.5  # its pilot's again


def test_keys_and_clicks_choose_the_target_and_shots_are_at_it():
    player = Player(size=SIZE, **FAR)
    session = player.session
    first = session.target(0)
    targets = []
    for key in (pygame.K_q, pygame.K_RSHIFT, pygame.K_q):
        player.press(key)
        targets.append(session.target(0))
    assert sorted(targets) == [3, 4, 5]
    assert targets[-1] == first  # once around
    click(player, 5)
    assert session.target(0) == 5
    assert any("at blue_2" in line for line in player.game._lines(0))
    player.press(pygame.K_SPACE)
    player.wait(0.5)
    missiles = session.sim.missiles
    mine = (missiles["active"][0] == 1) & (missiles["owner"][0] == 0)
    assert missiles["target"][0, mine].tolist() == [5]


def test_two_humans_have_fighters_and_keys_of_their_own():
    player = Player(HUMAN, HUMAN, size=SIZE, **FAR)
    session = player.session
    assert session.sides == {0: 0, 1: 3}
    player.press(pygame.K_TAB)
    assert session.sides == {0: 1, 1: 3}
    player.press(pygame.K_PAGEDOWN)
    assert session.sides == {0: 1, 1: 4}
    before = session.target(1), session.target(4)
    player.press(pygame.K_q)
    assert session.target(1) != before[0]
    assert session.target(4) == before[1]
    player.press(pygame.K_RSHIFT)
    assert session.target(4) != before[1]
    player.down(pygame.K_d, pygame.K_LEFT)
    player.wait(1)
    assert player.fighter(1)["rudder"] == -1
    assert player.fighter(4)["rudder"] == 1
    gap = player.pixels[100:, SIZE[0] // 2 - 4 : SIZE[0] // 2 + 4]
    assert count(gap, colours.FAINT) > gap.shape[0]


def test_a_missile_of_any_enemy_is_warned_of():
    player = Player(blue="straight", size=SIZE, **FAR)
    sim = player.session.sim
    x, y = (float(sim.fighters[axis][0, 1]) for axis in ("x", "y"))
    sim.set_missile(0, 0, owner=5, target=1, x=x + 9000, y=y, heading_deg=180, speed=900)
    player.wait(0.5)
    assert player.game.threats(0) == []
    player.press(pygame.K_TAB)
    player.wait(0.5)
    [threat] = player.game.threats(0)
    assert not threat.outrun


def test_a_warning_hides_no_line_of_the_bar():
    """Eight against eight, with a high bar, in the halves of a split screen."""
    player = Player(HUMAN, HUMAN, size=(1280, 720), red_size=8, blue_size=8)
    sim = player.session.sim
    x, y = (float(sim.fighters[axis][0, 0]) for axis in ("x", "y"))
    sim.set_missile(0, 0, owner=8, target=0, x=x + 9000, y=y, heading_deg=180, speed=900)
    player.wait(0.5)
    assert player.game.threats(0)
    bar = max(spot.bottom for spot, _ in player.game._spots if spot.height < 20)
    with_it = player.pixels[:bar].copy()
    player.game._lookout.threats[0] = []
    player.game._draw()
    assert (player.pixels[:bar] == with_it).all()


def test_a_spectator_may_follow_one_fighter():
    player = Player("ace", "evader", size=SIZE, **FAR)
    before = player.pixels.copy()
    player.press(pygame.K_p)
    player.press(pygame.K_TAB)
    assert player.game._chosen == 0
    assert (player.pixels != before).any(axis=-1).mean() > 0.02
    player.press(pygame.K_o)  # against another pilot
    assert player.session.names[0] != "ace"


def test_the_help_tells_the_keys_of_teams(drawn_words):
    for game, is_there in (({}, False), (FAR, True)):
        player = Player(size=(1280, 720), **game)
        drawn_words.clear()
        player.press(pygame.K_h)
        assert ("Page Down" in drawn_words) == is_there
        assert "Space begins" in drawn_words


def test_the_end_is_told_to_the_fighter_that_was_flown_last(tmp_path):
    player = Player("shooter", HUMAN, folder=tmp_path, **sized(2, 2))
    session = player.session
    player.press(pygame.K_TAB)
    assert session.sides == {1: 3}
    session.time_scale = 16.0
    while not session.over:
        player.wait(0.1)
    [told] = player.game._debriefs.values()
    assert told[0] == "You flew blue_1."
    others = debrief(session.sim, session.paths, 0, [])
    assert others[0] == "You flew red_0."
    kills = [m for m in session.paths.missiles if m.fate == "hit" and m.owner == 0]
    assert sum("Your missile" in line for line in others) == len(kills)
    player.wait(0.2)
    [path] = tmp_path.iterdir()
    replay = Replay.read(path)
    replay.verify()
    assert replay.pilots == ("shooter", "shooter", "agent", "agent")


# The command


@pytest.mark.parametrize(
    ("words", "contestants", "names"),
    [
        ([], [[HUMAN, "evader"], "shooter"], ["human, evader", "shooter"]),
        (
            ["--red", "ace", "--blue", "human", "--wingmen", "crank"],
            ["ace", [HUMAN, "crank", "crank"]],
            ["ace", "human, crank"],
        ),
        (["--red", "ace", "--blue", "snake"], ["ace", "snake"], ["ace", "snake"]),
    ],
)
def test_the_command_line_says_who_flies(words, contestants, names):
    sizes = ["--env.red-size", "2", "--env.blue-size", "3"]
    flown, named, game = load_contestants(play_options.read([*words, *sizes]))
    assert flown == contestants
    assert named == names
    assert (game["red_size"], game["blue_size"]) == (2, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--wingmen", "ace"], "--wingmen: ace: one flies against one, there are none"),
        (["--wingmen", "human"], "--wingmen: human: must be a pilot"),
        (["--wingmen", "asce", "--env.red-size", "2"], "did you mean 'ace'"),
        (["--blue", "trained", "--env.red-size", "2"], "cannot fly in a team"),
        (["--blue", "champion", "--env.red-size", "2"], "none of the game red_size = 2; .*default"),
    ],
)
def test_wingmen_that_cannot_be_are_named(words, message):
    with pytest.raises(UserError, match=message):
        cli.run("play", words)

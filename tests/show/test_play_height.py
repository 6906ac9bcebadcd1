"""Flying by hand with height: keys, warnings, and the debriefing."""

import math
import re

import numpy as np
import pygame
import pytest
from keyboard import SIZE, Gamepad, Player
from policies import random_policy

from midrange_puffer.commands import play
from midrange_puffer.game.contacts import TRACKS
from midrange_puffer.game.parameters import EASY, LADDER
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.shots import FlyOuts
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.show.play.debrief import BETWEEN, BEYOND, INSIDE, flown_zone_of
from midrange_puffer.show.play.launch import launch_words
from midrange_puffer.show.play.overlay import draw_help
from midrange_puffer.show.play.threats import Threat, advice, find_threats

pytestmark = pytest.mark.usefixtures("display")

HEIGHT = {"dimensions": 3}


@pytest.mark.parametrize(
    ("seat", "up", "down"),
    [(0, pygame.K_t, pygame.K_g), (1, pygame.K_PAGEUP, pygame.K_PAGEDOWN)],
)
def test_keys_climb_and_dive(seat, up, down):
    player = Player(HUMAN, HUMAN, **HEIGHT)
    level = player.fighter(seat)["z"]
    player.down(up)
    player.wait(6)
    climbed = player.fighter(seat)
    assert climbed["z"] > level + 300
    assert climbed["vz"] > 50
    other = player.fighter(1 - seat)
    assert abs(other["vz"]) < 5
    player.up(up)
    player.down(down)
    player.wait(8)
    assert player.fighter(seat)["vz"] < -50
    player.up(down)
    player.wait(12)
    assert abs(player.fighter(seat)["vz"]) < 10  # hands off is level flight


def test_a_gamepad_climbs_by_its_right_stick():
    for name, axis in (("pad", 3), ("Microsoft X-Box 360 pad", 4)):
        player = Player(**HEIGHT)
        pad = Gamepad()
        pad.get_name = lambda name=name: name
        player.game.hands[0].gamepad = pad
        pad.axes[axis] = -1.0
        player.wait(3)
        assert player.fighter()["vz"] > 20


def test_the_help_has_the_keys_of_height(drawn_words):
    draw_help(pygame.Surface(SIZE), has_height=True)
    assert {"T  G", "Page Up  Down", "X", "V", "E", "O"} <= set(drawn_words)
    assert "F" not in drawn_words
    assert "Tab" not in drawn_words
    draw_help(pygame.Surface(SIZE), in_team=True, has_height=True, has_sensors=True)
    assert {"T  G", "Tab", "Q", "X", "V", "E", "F"} <= set(drawn_words)


LOADED = {"red_missiles": "medium:1,long:2", "blue_missiles": "short:2,medium:1"}


@pytest.mark.parametrize(
    ("seat", "key", "fire", "left"),
    [(0, pygame.K_x, pygame.K_SPACE, (1, 1, 0)), (1, pygame.K_END, pygame.K_RCTRL, (2, 0, 0))],
)
def test_a_key_chooses_the_type_of_missile(seat, key, fire, left):
    player = Player(HUMAN, HUMAN, **HEIGHT, **LOADED)
    session = player.session
    assert session.kind(seat) == 0
    player.press(key)
    assert session.kind(seat) == 1
    assert session.kind(1 - seat) == 0
    player.press(fire)
    player.wait(0.3)
    assert tuple(session.sim.ammo_by_type[0, seat]) == left
    [missile] = session.paths.missiles
    assert (missile.owner, missile.kind) == (seat, 1)
    player.press(key)
    player.press(key)
    assert session.kind(seat) == (1 if left[1] else 0)  # of the other type none is left


def test_a_gamepads_button_chooses_the_type_of_missile():
    player = Player(**HEIGHT, **LOADED)
    pad = Gamepad()
    player.game.hands[0].gamepad = pad
    player.post(pygame.JOYBUTTONDOWN, button=3, instance_id=pad.get_instance_id())
    player.wait(0.1)
    assert player.session.kind(0) == 1


def test_without_missiles_of_the_chosen_type_the_first_that_is_left_is_fired():
    player = Player(**HEIGHT, **LOADED)
    session = player.session
    player.press(pygame.K_SPACE)
    player.wait(7)
    assert tuple(session.sim.ammo_by_type[0, 0]) == (0, 2, 0)
    assert launch_words(session, 0).startswith("long, 2 left")
    player.press(pygame.K_SPACE)
    player.wait(0.3)
    assert tuple(session.sim.ammo_by_type[0, 0]) == (0, 1, 0)
    player.session.rewind(len(session.recorder))
    assert launch_words(session, 0).startswith("medium, 1 left, ready")


def test_the_fight_is_recorded_and_taken_back(tmp_path):
    player = Player(blue="crank", folder=tmp_path, **HEIGHT)
    player.down(pygame.K_t)
    player.wait(4)
    before = player.session.sim.state_hash()
    count = len(player.session.recorder)
    player.wait(3)
    player.session.rewind(len(player.session.recorder) - count)
    assert player.session.sim.state_hash() == before
    player.wait(2)
    player.game._save()
    replay = Replay.read(player.game.saved[0])
    replay.verify()
    assert replay.controls.shape[2] == 4
    assert (replay.controls[:, 0, 1] == 1).any()


def attack(own_height: float, turn: float = 0.0) -> Session:
    """Returns a fight in which a missile of blue flies at the human from ahead, 12 km away."""
    session = Session((HUMAN, "straight"), seed=1, **HEIGHT)
    sim = session.sim
    sim.set_fighter(0, 0, x=0, y=0, z=own_height, heading_deg=math.degrees(turn), climb_deg=0,
                    speed=250, rudder=0, throttle=1)  # fmt: skip
    sim.set_fighter(0, 1, x=30_000, y=0, z=8000, heading_deg=180, climb_deg=0, speed=280)
    sim.set_missile(0, 0, owner=1, target=0, x=12_000, y=0, z=8000, heading_deg=180, climb_deg=0,
                    speed=900, age=100)  # fmt: skip
    session.paths = Paths(sim)
    return session


@pytest.mark.parametrize(("own_height", "level"), [(3000, " high"), (7900, ""), (12_000, " low")])
def test_a_warning_says_high_or_low(own_height, level):
    session = attack(own_height)
    [threat] = find_threats(session.sim, spacetime(session.sim))
    assert re.match(rf"(?i)missile +12 o'clock{level}(  \d+ s|: outrun)?$", threat.words)


def test_a_dive_is_advised_unless_it_is_low_already():
    ahead, behind = Threat(0.1, 9.0, outrun=False), Threat(math.pi, 9.0, outrun=False)
    assert advice([ahead], 7000) == "dive, and turn right until it is behind you"
    assert advice([behind], 7000) == "dive, and keep it behind you"
    assert advice([ahead], 900) == "turn right until it is behind you"
    assert advice([Threat(0.1, None, outrun=True)], 7000) == ""
    assert advice([ahead], 7000, is_late=True) == "too late to get away: fire at the enemy"


def test_the_debriefing_has_zones_by_fly_outs():
    player = Player("crank", "shooter", **HEIGHT)
    session = player.session
    while not session.over:
        session.step()
    paths = session.paths
    fly_outs = FlyOuts(session.sim.parameters, paths.types)
    zones = [flown_zone_of(fly_outs, paths, missile) for missile in paths.missiles]
    assert {zone for _, zone in zones} <= {INSIDE, BETWEEN, BEYOND}
    assert len(zones) > 2


def test_pilots_of_the_ladder_fly_with_height():
    player = Player(blue="straight", **HEIGHT)
    for pilot in LADDER[1:]:
        player.press(pygame.K_o)
        assert player.session.names[1] == pilot
        player.wait(0.5)


def test_the_last_line_says_whether_a_missile_hits():
    player = Player(blue="straight", **HEIGHT)
    sim = player.session.sim
    words = []
    for away in (4_000, 40_000, 150_000):
        sim.set_fighter(0, 0, x=0, y=0, z=7000, heading_deg=0, climb_deg=0, speed=300)
        sim.set_fighter(0, 1, x=away, y=0, z=7000, heading_deg=180, climb_deg=0, speed=300)
        player.game._lookout._looked = -10.0
        player.wait(0.1)
        words.append(launch_words(player.session, 0, player.game._lookout.shots[0]))
    assert words == [
        "missile ready: no turn saves the enemy",
        "missile ready: hits if the enemy flies on",
        "missile ready: misses from here",
    ]


def test_a_player_who_flies_on_is_warned_with_the_reason():
    player = Player(blue="shooter", size=SIZE, **HEIGHT)
    warned = set()
    while not player.session.over:
        player.wait(1)
        for threat in player.game.threats(0):
            warned.add(advice([threat], player.fighter()["z"]))
    assert any(words.startswith("dive, and turn") for words in warned)
    lines = player.game._debriefs[0]
    assert any(re.match(r"You were hit by a missile fired at", line) for line in lines)
    assert "You fired no missile." in lines


@pytest.mark.parametrize(("seat", "words"), [(0, "You"), (1, "The enemy")])
def test_a_crash_is_reported(seat, words):
    player = Player(blue="straight", **HEIGHT)
    player.session.sim.set_fighter(0, seat, z=150, climb_deg=-60, speed=400)
    player.wait(3)
    assert player.session.over
    lines = [f"{words} flew into the ground.", "You fired no missile."]
    assert player.game._debriefs[0] == lines


def test_the_default_opponent_is_easy_for_a_human_and_strong_for_others():
    for words in ([], ["--env.dimensions", "3"]):
        assert play.read(words).blue == EASY
    assert play.read(["--red", "ace", "--env.dimensions", "3"]).blue == play.HIGH_PILOT
    assert play.read(["--red", "ace"]).blue == "champion"


def test_a_policy_flies_against_a_human():
    """It decides as often as in training, and climbs and dives by itself."""
    player = Player(blue=random_policy(observation="height"), **HEIGHT)
    player.wait(4)
    given = player.session.replay().controls[:, 1]
    assert len(given) == 40
    for start in range(0, 40, 5):
        assert (given[start : start + 5, :3] == given[start, :3]).all()
    assert len(np.unique(given[:, 1])) > 1


# Teams and sensors

TEAMS = HEIGHT | {"red_size": 2, "blue_size": 2}
RADAR = HEIGHT | {"sensing": "radar"}


def test_a_wingman_flies_until_the_human_takes_over():
    player = Player(size=SIZE, **TEAMS)
    session = player.session

    def commands() -> list[float]:
        return session.sim.core.read("fighter")["climb_command"][0, :2].tolist()

    player.down(pygame.K_g)
    player.wait(1)
    assert commands()[0] == -1 < commands()[1]
    player.press(pygame.K_TAB)
    assert session.humans == [1]
    player.wait(1)
    assert commands()[1] == -1 < commands()[0]


@pytest.mark.parametrize("game", [TEAMS, RADAR, TEAMS | RADAR], ids=["teams", "radar", "both"])
def test_the_last_line_judges_a_shot_at_the_target_as_known(game):
    """The same as fly-outs of the types at the target, with sensors where it is believed."""
    near = {"start_range_min": 18_000, "start_range_max": 22_000, "start_off_boresight_max_deg": 0}
    player = Player(size=SIZE, **game, **near)
    session, lines = player.session, set()
    for _ in range(12):
        player.wait(1)
        if session.over or not player.fighter(0)["alive"]:
            break
        hits, target = player.game._lookout.shots[0], session.target(0)
        words = launch_words(session, 0, hits)
        contacts = [c for c in session.paths.contacts if (c.fighter, c.enemy) == (0, target)]
        if contacts and contacts[0].source[-1] not in TRACKS:
            assert hits == {}
        elif target is not None:
            assert any(word in words for word in ("saves", "flies on", "misses"))
            assert ("red_size" in game) == (f"at blue_{target - 2}" in words)
            lines.add(words)
    assert lines


def test_with_sensors_the_window_shows_only_what_the_side_knows():
    """A fight in which the enemy is out of sight is drawn alike, wherever the enemy is."""
    pictures = []
    for z in (3_000, 9_000):
        player = Player(size=SIZE, blue="straight", **RADAR)
        player.press(pygame.K_SPACE)
        player.session.sim.set_fighter(0, 0, x=0, y=0, z=6_000, heading_deg=180)
        player.session.sim.set_fighter(0, 1, x=60_000, y=0, z=z, heading_deg=90)
        player.wait(0.5)
        player.game._draw()
        pictures.append(pygame.image.tobytes(player.game._renderer.surface, "RGB"))
    assert pictures[0] == pictures[1]

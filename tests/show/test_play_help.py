"""Texts for a human: the aim and the keys, missile warnings, and the debriefing."""

import math

import numpy as np
import pygame
import pytest
from keyboard import FRAME, NEAR, SIZE, Player, count
from policies import random_policy

from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.parameters import LADDER, PILOTS
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.play.loop import Game
from midrange_puffer.show.play.threats import advice, find_threats
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.status import HEIGHT as BAR

pytestmark = pytest.mark.usefixtures("display")

LEFT, RIGHT, FIRE = pygame.K_a, pygame.K_d, pygame.K_SPACE
TIME_SCALE = 4  # so that a test takes less long: it looks every 0.4 s of the fight


class Beginner:
    """A player of red who follows only the texts on the screen.

    It points its nose at the enemy, fires inside R_NEZ, and turns away when warned.

    After a shot it waits until that missile has ended.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self._held: set[int] = set()
        self._seen: list[tuple[float, str, bool]] = []
        player.session.time_scale = TIME_SCALE

    def fight(self) -> int:
        """Flies to the end; returns the outcome: 1 won, 2 lost, 3 a draw."""
        session = self.player.session
        while not session.over:
            self._seen.append(self._look())
            bearing, warning, shoots = self._seen[-2:][0]  # the hands are one look late
            if "left" in warning or "right" in warning:
                turn = 1.0 if "left" in warning else -1.0
            else:
                turn = 0.0 if warning or abs(bearing) < 0.05 else bearing
            self._hold({LEFT} if turn > 0 else {RIGHT} if turn < 0 else set())
            if shoots and not warning:
                self.player.down(FIRE)
                self.player.up(FIRE)
            assert self.player.wait(FRAME)
        return int(session.sim.outcome[0])

    def _look(self) -> tuple[float, str, bool]:
        """Returns the enemy's bearing, the advice, and True if the enemy is inside R_NEZ."""
        session = self.player.session
        own, enemy = (self.player.fighter(seat) for seat in (0, 1))
        dx, dy = enemy["x"] - own["x"], enemy["y"] - own["y"]
        line = math.atan2(dy, dx)
        bearing = math.remainder(line - own["heading"], math.tau)
        angles = own["heading"] - line, enemy["heading"] - line - math.pi
        values = map(np.float64, (*angles, own["speed"], enemy["speed"]))
        nez = look_up(game_envelope(session.sim.parameters), "nez", *values)
        flying = session.sim.missiles["active"][0] * (session.sim.missiles["owner"][0] == 0)
        shoots = math.hypot(dx, dy) < nez and not flying.any()
        return bearing, advice(self.player.game.threats(0)), shoots

    def _hold(self, keys: set[int]) -> None:
        self.player.down(*(keys - self._held))
        self.player.up(*(self._held - keys))
        self._held = keys


def test_it_begins_with_the_help_and_space_begins_without_a_shot():
    session = Session((HUMAN, "straight"), seed=1)
    screen = pygame.Surface(SIZE)
    game = Game(session, Renderer(SIZE), lambda surface: screen.blit(surface, (0, 0)))
    for _ in range(5):
        game.frame(FRAME)
    assert session.paths.time == 0
    box = pygame.surfarray.array3d(screen).swapaxes(0, 1)[BAR + 50 : -50, 300:-300]
    assert count(box, colours.BOX) > 0.5 * box.shape[0] * box.shape[1]
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_SPACE))
    for _ in range(5):
        game.frame(FRAME)
    assert session.paths.time > 0
    assert session.sim.fighters["ammo"][0, 0] == 6


def test_the_help_stops_time_and_leaves_a_pause_as_it_was():
    player = Player()
    player.press(pygame.K_h)
    stopped = player.session.paths.time
    player.wait(1)
    assert player.session.paths.time == stopped
    player.press(pygame.K_h)
    player.wait(1)
    assert player.session.paths.time > stopped
    player.press(pygame.K_p)
    player.press(pygame.K_h)
    player.press(pygame.K_h)
    assert player.session.paused


@pytest.mark.parametrize(
    ("bearing_deg", "hour", "advised"),
    [
        (0, 12, "left|right"),
        (60, 10, "right"),
        (-60, 2, "left"),
        (90, 9, "right"),
        (175, 6, "behind you"),
    ],
)
def test_a_warning_says_from_where_and_how_soon(bearing_deg, hour, advised):
    """The warning of a missile that flies straight at a fighter."""
    sim = Simulation()
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=30, speed=300)
    sim.set_fighter(0, 1, x=50_000, y=0, heading_deg=180, speed=300)
    angle = math.radians(30 + bearing_deg)
    x, y = 8000 * math.cos(angle), 8000 * math.sin(angle)
    sim.set_missile(
        0, 0, owner=1, target=0, x=x, y=y, heading_deg=30 + bearing_deg + 180, speed=900
    )
    (threat,) = find_threats(sim, spacetime(sim, seat=0))
    closing = 900 + 300 * math.cos(math.radians(bearing_deg))
    assert f"MISSILE  {hour} o'clock " in threat.words
    assert not threat.outrun
    assert threat.seconds == pytest.approx(8000 / closing, rel=0.35)  # its motor burns
    assert any(word in advice([threat]) for word in advised.split("|"))


def test_a_missile_that_comes_to_nothing_is_no_alarm():
    sim = Simulation()
    sim.set_fighter(0, 0, x=0, y=0, heading_deg=0, speed=400)
    sim.set_fighter(0, 1, x=50_000, y=0, heading_deg=180, speed=300)
    sim.set_missile(
        0, 0, owner=1, target=0, x=-9000, y=0, heading_deg=0, speed=300, age=500
    )  # burnt out, behind, and slower
    threats = find_threats(sim, spacetime(sim, seat=0))
    assert [threat.words for threat in threats] == ["missile 6 o'clock: outrun"]
    assert advice(threats) == ""


def test_an_enemys_zones_are_drawn_when_asked_for():
    player = Player(size=SIZE, **NEAR)
    player.press(pygame.K_p)
    before = player.pixels.copy()
    player.press(pygame.K_e)
    assert (player.pixels != before).any(axis=-1).mean() > 0.02
    player.press(pygame.K_e)
    assert (player.pixels == before).all()


def test_the_next_opponent_is_harder_and_has_a_tally_of_its_own():
    assert sorted(LADDER) == sorted(PILOTS)
    player = Player("shooter", HUMAN, **NEAR)
    player.session.time_scale = 16.0
    while not player.session.over:
        player.wait(FRAME)
    assert player.game._tally(1) == "won 0   drawn 0   lost 1"
    player.press(pygame.K_o)
    assert player.game._tally(1) == "won 0   drawn 0   lost 0"
    assert player.session.names == ("crank", "blue")
    assert not player.session.over
    player.wait(1)
    assert player.session.replay().pilots == ("crank", "agent")
    player.session.replay().verify()


def test_a_policy_makes_room_for_the_easiest_pilot():
    player = Player(HUMAN, random_policy(), **NEAR)
    player.press(pygame.K_o)
    assert player.session.names == ("red", LADDER[0])


def test_a_hit_player_is_told_why():
    """The debriefing of a shot from so near that nothing helps; the victim had not fired."""
    player = Player("shooter", HUMAN, start_range_min=9_000, start_range_max=9_000,
                    start_off_boresight_max_deg=0)  # fmt: skip
    while not player.session.over:
        player.wait(FRAME)
    session = player.session
    told = debrief(session.sim, session.paths, 1, [])
    shot = next(one for one in session.paths.missiles if one.fate == "hit")
    assert f"fired at 0:{int(shot.launched):02}" in told[0]
    assert "inside R_NEZ" in told[0]
    assert "No turn could save you" in told[1]
    assert "You fired no missile." in told
    winner = debrief(session.sim, session.paths, 0, [])
    assert winner[0].startswith(f"Your missile of 0:{int(shot.launched):02} hit.")
    assert any(line.startswith("Your shots: ") for line in winner)


def test_a_player_is_told_until_when_running_would_have_helped():
    """A shot from afar hits a fighter that flies on, and misses one that runs away in time."""
    parameters = {"start_range_min": 26_000, "start_range_max": 26_000,
                  "start_off_boresight_max_deg": 0, "shooter_fire_min": 0.9,
                  "shooter_fire_max": 0.9}  # fmt: skip
    player = Player("shooter", HUMAN, **parameters)
    player.session.time_scale = TIME_SCALE
    while not player.session.over:
        player.wait(FRAME)
    checks = player.game._lookout.checks[1]
    told = player.game._debriefs[1]
    last = max(check.time for check in checks if check.open)
    assert f"Until 0:{int(last):02} " in told[1]
    # The same fight again, with the escape flown by hand from then on.
    again = Player("shooter", HUMAN, **parameters)
    while again.session.paths.time < last - 1:
        again.wait(FRAME)
    shots = len(again.session.paths.missiles)
    again.down(pygame.K_LEFT)
    while abs(math.remainder(_to_enemy(again) - math.pi, math.tau)) > 0.1:
        again.wait(FRAME)
    again.up(pygame.K_LEFT)
    again.wait(20)
    fates = {one.fate for one in again.session.paths.missiles[:shots]}
    assert "hit" not in fates


def _to_enemy(player: Player) -> float:
    """Returns the enemy's bearing from the nose of blue [rad]."""
    red, blue = (player.fighter(seat) for seat in (0, 1))
    line = math.atan2(red["y"] - blue["y"], red["x"] - blue["x"])
    return math.remainder(line - blue["heading"], math.tau)


def test_a_beginner_who_does_what_the_screen_says_wins_within_three_tries():
    outcomes = []
    for engagement in range(3):
        player = Player(blue=LADDER[0])
        player.session.start(engagement)
        outcomes.append(Beginner(player).fight())
        if outcomes[-1] == 1:
            return
    raise AssertionError(outcomes)

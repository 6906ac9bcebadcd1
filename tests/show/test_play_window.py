"""The window to fly in: its pictures, its replays, and its end."""

import os
import subprocess
import sys

import frozen
import numpy as np
import pygame
import pytest
from keyboard import FRAME, NEAR, SIZE, Player, count
from needs import nightly

from midrange_puffer import Midrange
from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError, UserError
from midrange_puffer.replays.replay import Recorder, Replay
from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.show.play.launch import launch_words
from midrange_puffer.show.play.loop import Game
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.status import HEIGHT as BAR
from midrange_puffer.show.view.viewer import Window

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("display")]


def test_the_frame_shows_the_fight():
    player = Player(blue="evader", size=SIZE)
    player.wait(1)
    bar, view = player.pixels[:BAR], player.pixels[BAR:]
    assert count(bar, colours.BOX) > bar.shape[0] * bar.shape[1] / 2
    for colour in colours.SIDE_COLOURS:
        assert count(bar, colour) > 100  # names, missiles, throttle
        assert count(view, colour) > 40  # the fighter
    player.down(pygame.K_s)
    player.wait(2)
    assert (
        count(player.pixels[:BAR], colours.SIDE_COLOURS[0])
        < count(bar, colours.SIDE_COLOURS[0]) - 200
    )


def test_it_says_when_the_next_missile_may_go():
    session = Session((HUMAN, HUMAN), launch_interval=5, ammunition=2)
    said = [launch_words(session, 0)]
    for wait in (20, 31):  # of physics steps, after a launch
        session.fire(0)
        for _ in range(wait):
            session.step()
            said.append(launch_words(session, 0))
    assert said[0] == "missile ready"
    assert said[20] == "next missile in 3.0 s"
    assert said[50] == "missile ready"
    session.fire(0)
    session.step()
    assert launch_words(session, 0) == "no missile left"
    session.sim.set_fighter(0, 0, alive=False)
    assert launch_words(session, 0).startswith("shot down; 2 of your missiles still fly")
    session.sim.set_fighter(0, 1, alive=False)
    assert launch_words(session, 1) == "shot down"


def test_a_split_screen_has_two_views():
    """Each has both fighters and the instruments of its own one."""
    player = Player(blue=HUMAN, size=SIZE, start_range_min=60_000, start_range_max=60_000)
    player.wait(0.5)
    half = SIZE[0] // 2
    for seat, view in enumerate((player.pixels[:, :half], player.pixels[:, half:])):
        plane = view[BAR:]
        own, other = colours.SIDE_COLOURS[seat], colours.SIDE_COLOURS[1 - seat]
        assert count(plane, own) > 40
        assert count(plane, other) > 40
        assert count(view[:BAR], own) > 100
        assert count(view[:BAR], other) == 0
    seam = np.s_[:, half - 1 : half + 1]
    assert count(player.pixels[seam], colours.FAINT) == 2 * SIZE[1]
    player.press(pygame.K_z)  # one view of everything, for both
    for colour in colours.SIDE_COLOURS:
        assert count(player.pixels[BAR:], colour) > 40
    assert count(player.pixels[seam], colours.FAINT) < SIZE[1] / 4


def test_keys_change_what_is_shown():
    player = Player(blue="evader", size=SIZE)
    player.press(pygame.K_p)
    seen = [player.pixels.copy()]
    for key in (pygame.K_v, pygame.K_v, pygame.K_h, pygame.K_F1, pygame.K_z):
        player.press(key)
        seen.append(player.pixels.copy())
    above, graph, above_again, help_shown, help_gone, everything = seen
    assert (above == above_again).all()
    assert (above == help_gone).all()
    for other in (graph, help_shown, everything):
        assert (above != other).any(axis=-1).mean() > 0.01
    player.press(pygame.K_v)
    player.post(pygame.MOUSEMOTION, rel=(80, -10), pos=(9, 9), buttons=(0, 0, 1))
    player.wait(FRAME)
    assert count(player.pixels, colours.BRIGHT) == count(graph, colours.BRIGHT)
    player.post(pygame.MOUSEMOTION, rel=(80, -10), pos=(9, 9), buttons=(1, 0, 0))
    player.wait(FRAME)
    assert (player.pixels != graph).any(axis=-1).mean() > 0.01
    box = help_shown[50:-50, 300:-300]
    assert count(box, colours.BOX) > 0.5 * box.shape[0] * box.shape[1]


def test_the_end_is_shown_and_waits(tmp_path):
    player = Player("shooter", HUMAN, size=SIZE, folder=tmp_path, **NEAR)
    player.session.time_scale = 16.0
    while not player.session.over:
        player.wait(FRAME)
    hash_at_end = player.session.sim.state_hash()
    player.wait(2)
    assert player.session.sim.state_hash() == hash_at_end
    assert count(player.pixels[BAR : BAR + 100, 300:-300], colours.BRIGHT) > 50  # the outcome
    [path] = tmp_path.iterdir()
    replay = Replay.read(path)
    replay.verify()
    assert replay.outcome == "red wins"
    player.press(pygame.K_r)
    assert not player.session.over
    assert list(tmp_path.iterdir()) == [path]


def test_replays_are_saved(tmp_path, monkeypatch):
    """With F5, and with a folder every fight that is left."""
    monkeypatch.chdir(tmp_path)
    player = Player(blue="evader")
    player.down(pygame.K_a)
    player.wait(2)
    player.press(pygame.K_F5)
    [path] = tmp_path.glob("*.replay")
    Replay.read(path).verify()
    folder = tmp_path / "all"
    folder.mkdir()
    player = Player(blue="evader", folder=folder)
    player.wait(1)
    player.press(pygame.K_n)
    player.wait(2)
    player.down(pygame.K_BACKSPACE)
    player.wait(0.1)
    player.up(pygame.K_BACKSPACE)
    player.down(pygame.K_ESCAPE)
    player.game.run()
    assert len(player.game.saved) == 2
    for path in player.game.saved:
        Replay.read(path).verify()
    assert [Replay.read(path).engagement for path in player.game.saved] == [0, 1]


def test_a_full_disk_ends_no_fight(tmp_path):
    player = Player(folder=tmp_path / "gone")
    player.wait(0.5)
    player.press(pygame.K_F5)
    assert player.game.saved == []
    before = player.session.paths.time
    player.wait(1)
    assert player.session.paths.time > before


# Blue is the easy pilot.
TEAM = ["--wingmen", "ace", "--env.red-size", "2", "--env.blue-size", "3"]


@pytest.mark.parametrize(
    ("words", "end", "names", "ammo"),
    [
        (["--blue", "ace"], {"kind": pygame.KEYDOWN, "key": pygame.K_ESCAPE}, ("human", "ace"), 6),
        (["--blue", "ace"], {"kind": pygame.QUIT}, ("human", "ace"), 6),
        (TEAM, {"kind": pygame.QUIT}, ("human, ace", "shooter"), 5),
    ],
)
def test_play_from_the_command_line_to_its_end(
    words, end, names, ammo, tmp_path, monkeypatch, capsys
):
    """In teams the human takes over the second fighter and launches from it."""
    frames = []
    keys = {0: pygame.K_RETURN}  # ends the help
    if words is TEAM:
        keys |= {10: pygame.K_TAB, 20: pygame.K_SPACE}

    def frame(game: Game, seconds: float) -> bool:
        event = {"kind": pygame.KEYDOWN, "key": keys.get(len(frames))}
        if len(frames) in keys or len(frames) == 30:
            event = end if len(frames) == 30 else event
            pygame.event.post(pygame.event.Event(event["kind"], key=event.get("key")))
        frames.append(seconds)
        return whole(game, FRAME)

    whole = Game.frame
    monkeypatch.setattr(Game, "frame", frame)
    folder = tmp_path / "replays"
    assert cli.run("play", [*words, "--save", str(folder)]) == 0
    [path] = folder.iterdir()
    assert capsys.readouterr().out == f"{path}\n"
    replay = Replay.read(path)
    *_, sim = replay.play()
    assert replay.names == names
    assert sim.fighters["ammo"][0, len(words) // 5] == ammo
    assert len(frames) == 31
    assert not pygame.display.get_init()


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("frame", KeyboardInterrupt),
        ("decision", RuntimeError),
        nightly("frame", RuntimeError),
        nightly("decision", KeyboardInterrupt),
    ],
)
def test_a_fight_is_kept_however_it_ends(where, error, tmp_path, monkeypatch, capsys):
    """An interrupt may come when a decision is flown but not recorded."""
    left = iter(range(40))

    def frame(game: Game, seconds: float) -> bool:
        number = next(left, None)
        if number == 0:  # it begins with the help
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_RETURN))
        if number is None and where == "frame":
            raise error("enough")
        return whole_frame(game, FRAME)

    def add(recorder: Recorder, controls: np.ndarray, orders: np.ndarray | None = None) -> None:
        if len(recorder) == 33 and where == "decision":
            raise error("enough")
        whole_add(recorder, controls, orders)

    whole_frame, whole_add = Game.frame, Recorder.add
    monkeypatch.setattr(Game, "frame", frame)
    monkeypatch.setattr(Recorder, "add", add)
    with pytest.raises(error, match="enough"):
        cli.run("play", ["--blue", "ace", "--save", str(tmp_path)])
    [path] = tmp_path.iterdir()
    assert capsys.readouterr().out == f"{path}\n"
    replay = Replay.read(path)
    replay.verify()
    assert replay.decisions == (33 if where == "decision" else 40)
    assert not pygame.display.get_init()


def test_a_folder_that_cannot_be_is_named_before_models_are_loaded(monkeypatch):
    with pytest.raises(UserError, match=r"cannot make the folder .*File exists"):
        cli.run("play", ["--blue", "gone.pt", "--save", __file__])


# Environment variables that name a display.
DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SDL_VIDEODRIVER")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="a display is always there")


@on_linux
def test_without_a_display_a_command_ends_and_says_so():
    """As on a machine reached by ssh, where SDL would draw into a hidden window."""
    result = subprocess.run(
        [sys.executable, "-m", "midrange_puffer", "play", "midrange"],
        env={name: value for name, value in os.environ.items() if name not in DISPLAY},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == UsageError.exit_code
    assert "no window can be opened: there is no display" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture
def no_display(monkeypatch):
    pygame.display.quit()
    for name in DISPLAY:
        monkeypatch.delenv(name, raising=False)
    yield
    assert not pygame.display.get_init()


@on_linux
def test_without_a_display_an_evaluation_says_so(tmp_path, no_display):
    words = ["--load-model-path", str(frozen.save(tmp_path / "model.pt", frozen.policy()))]
    with pytest.raises(UsageError, match="no window can be opened: there is no display"):
        cli.run("eval", [*words, "--opponent", "straight", "--render"])


@on_linux
def test_without_a_display_an_environment_for_humans_says_so(no_display):
    with pytest.raises(UsageError, match=r"there is no display.*SDL_VIDEODRIVER=dummy"):
        Midrange(num_envs=1, opponent="straight", render_mode="human").render()


@pytest.mark.parametrize("driver", ["dummy", "offscreen"])
def test_a_driver_that_shows_nothing_can_be_asked_for(monkeypatch, driver):
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    with Window():
        assert pygame.display.get_driver() == driver


def test_a_driver_that_there_is_not_is_named(monkeypatch):
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nosuch")
    with pytest.raises(UsageError, match="nosuch not available"):
        cli.run("play", [])


def test_missing_pygame_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'midrange_puffer\[view\]'"):
        cli.run("play", [])

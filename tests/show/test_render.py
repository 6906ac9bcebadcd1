"""`Midrange.render`, `puffer eval --render` and films."""

import importlib.util
import subprocess

import frozen
import imageio_ffmpeg
import numpy as np
import pygame
import pytest
from keyboard import count
from needs import nightly
from PIL import Image
from quick_fights import SHORT
from replays import record
from team_fights import sized

from midrange_puffer import Midrange, _core
from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view import env_view, film, watch

BANNER = np.s_[70:150, 400:880]


def states(core: _core.Core) -> list[dict]:
    """Returns the states of all bodies of engagement 0."""
    fighters = [core.get_fighter(0, number) for number in range(core.fighters)]
    return fighters + [core.get_missile(0, slot) for slot in range(core.slots)]


# Midrange


OPPONENTS = ("self", "ace:1,evader:1", "self:1,ace:1", "pool:1,snake:1")
TEAM = sized(2, 3, time_limit=30, launch_interval=1)
HIGH = SHORT | {"dimensions": 3, "red_aircraft": "light:1,heavy:1", "missile_spread": 0.2}


@pytest.mark.parametrize(
    ("opponent", "seat", "action_mode", "game"),
    [
        ("self", "blue", "discrete", SHORT),
        *((opponent, "red", "discrete", SHORT) for opponent in OPPONENTS[1:]),
        ("pool:1,snake:1", "blue", "discrete", SHORT),
        ("self", "blue", "continuous", TEAM),
        ("ace", "blue", "discrete", TEAM),
        ("self", "blue", "discrete", HIGH),
        ("ace", "blue", "discrete", HIGH),
        *(nightly(opponent, "blue", "discrete", SHORT) for opponent in OPPONENTS[1:3]),
        nightly("self", "blue", "discrete", TEAM),
        nightly("ace", "blue", "continuous", TEAM),
    ],
)
def test_the_picture_shows_engagement_0(opponent, seat, action_mode, game, tmp_path):
    """Bit for bit, through many episodes, against every kind of opponent, with their ends."""
    pool = (
        frozen.write_pool(tmp_path, {"one": 1.0}, one=frozen.policy(5)) if game is SHORT else None
    )
    env = Midrange(
        4, opponent, seat, seed=3, pool=pool, action_mode=action_mode, render_mode="rgb_array",
        **game,
    )  # fmt: skip
    env.single_action_space.seed(1)
    core, view = env._groups[0].core, env._arena.view
    for seed in (None, 8):
        env.reset(seed)
        assert states(view.sim.core) == states(core)
        ends = shots = 0
        for _ in range(150):
            env.step(np.array([env.single_action_space.sample() for _ in range(env.num_agents)]))
            if view.sim.outcome[0]:
                ends += 1
            else:
                assert states(view.sim.core) == states(core)
                shots += view.sim.missiles["active"].sum()
        assert ends > (3 if game is SHORT else 1)
        assert shots > 20


@pytest.mark.parametrize(
    ("opponent", "names"),
    [
        ("self", ("red", "blue")),
        ("evader", ("agent", "evader")),
        ("pool:1", ("agent", "one")),
    ],
)
def test_both_sides_have_names_of_their_own(opponent, names, tmp_path, monkeypatch):
    told = []
    draw = env_view.Renderer.draw
    monkeypatch.setattr(
        env_view.Renderer, "draw", lambda *a, **k: (told.append(k["names"]), draw(*a, **k))
    )
    pool = frozen.write_pool(tmp_path, {"one": 1.0}, one=frozen.policy(5))
    for seat in ("red", "blue"):
        env = Midrange(1, opponent, seat, pool=pool, render_mode="rgb_array", **SHORT)
        env.reset()
        env.render()
        expected = names if seat == "red" or opponent == "self" else names[::-1]
        assert told.pop() == expected


def test_a_picture_is_an_array():
    env = Midrange(2, "straight", render_mode="rgb_array", **SHORT)
    env.reset()
    pictures = [env.render()]
    for _ in range(3):
        env.step(np.zeros((2, 3), np.int32))
    pictures.append(env.render())
    assert not pygame.display.get_init()
    for picture in pictures:
        assert picture.shape == (720, 1280, 3)
        assert picture.dtype == np.uint8
        for colour in colours.SIDE_COLOURS:
            assert count(picture, colour) > 300
    assert (pictures[0] != pictures[1]).any()
    env.close()


def test_the_end_is_shown_though_the_next_episode_has_begun():
    env = Midrange(1, "straight", render_mode="rgb_array", time_limit=2)
    env.reset()
    banners = []
    for step in range(9):
        banners.append(count(env.render()[BANNER], colours.BRIGHT) > 200)
        env.step(np.zeros((1, 3), np.int32))
        assert env.truncations[0] == (step % 4 == 3)
    assert banners == [False, False, False, False, True, False, False, False, True]


def test_metadata_say_how_fast_it_is():
    assert Midrange.metadata["render_modes"] == ["human", "rgb_array"]
    env = Midrange(1, substeps=2)
    assert env.metadata["render_fps"] == pytest.approx(5)
    assert env.render_mode is None
    assert env.render() is None


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match=r"'rgb_aray': must be None or human, rgb_array; did you"):
        Midrange(1, render_mode="rgb_aray")


def test_without_pygame_everything_but_pictures_works(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "pygame" else find(n))
    Midrange(1).reset()
    with pytest.raises(UsageError, match=r"pip install 'midrange_puffer\[view\]'"):
        Midrange(1, render_mode="rgb_array")


class Clock:
    """A clock whose time passes without waiting."""

    ticks = 0

    def tick(self, frames: int) -> int:
        Clock.ticks += 1
        return round(1000 / frames)


@pytest.fixture
def clock(monkeypatch) -> type[Clock]:
    Clock.ticks = 0
    monkeypatch.setattr(pygame.time, "Clock", Clock)
    return Clock


@pytest.mark.usefixtures("display")
def test_a_window_shows_each_step_as_long_as_it_lasts(clock, monkeypatch):
    monkeypatch.setattr(env_view, "FRAMES", 10)
    env = Midrange(1, "straight", render_mode="human", time_limit=2)
    env.reset()
    env.render()
    assert clock.ticks == 1
    for _ in range(3):
        env.step(np.zeros((1, 3), np.int32))
        env.render()
    assert clock.ticks == 1 + 1.5 * env_view.FRAMES
    screen = pygame.surfarray.array3d(pygame.display.get_surface())
    for colour in colours.SIDE_COLOURS:
        assert count(screen, colour) > 300
    env.step(np.zeros((1, 3), np.int32))
    env.render()
    assert clock.ticks == 1 + (2 + env_view.LAST) * env_view.FRAMES
    env.step(np.zeros((1, 3), np.int32))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    with pytest.raises(KeyboardInterrupt):
        env.render()
    env.close()
    assert not pygame.display.get_init()


# eval --render


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    frozen.save(folder / "model_000001.pt", frozen.constant(2))
    return folder / "model_000001.pt"


class Hands:
    """Presses a key, posts an event or waits before every picture, then closes the window."""

    def __init__(self, monkeypatch, events: list) -> None:
        self.seen = []
        self._events = iter(events)
        self._frame = watch.Watcher.frame
        monkeypatch.setattr(watch.Watcher, "frame", lambda *arguments: self.frame(*arguments))

    def frame(self, watcher: watch.Watcher, _: float) -> bool:
        event = next(self._events, pygame.QUIT)
        if event == pygame.QUIT:
            pygame.event.post(pygame.event.Event(pygame.QUIT))
        elif isinstance(event, pygame.event.Event):
            pygame.event.post(event)
        elif event:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=event))
        go_on = self._frame(watcher, 0.1)
        session = watcher.session
        screen = pygame.surfarray.array3d(pygame.display.get_surface())
        self.seen.append((session.names, session.engagement, session.time, screen))
        return go_on


def watch_eval(model, *options: str) -> int:
    return cli.run("eval", ["--load-model-path", str(model), "--render", *options])


@pytest.mark.usefixtures("display", "clock")
def test_eval_shows_one_fight_after_another(trained, monkeypatch, capsys):
    hands = Hands(monkeypatch, [None] * 20 + [pygame.K_n, None] * 3)
    assert watch_eval(trained, "--opponent", "ace") == 0
    names, starts, times, screens = zip(*hands.seen, strict=True)
    own = trained.stem
    assert names[:20] == ((own, "ace"),) * 20
    assert list(dict.fromkeys(zip(names, starts, strict=True))) == [
        ((own, "ace"), 0),
        (("ace", own), 0),
        ((own, "ace"), 1),
        (("ace", own), 1),
    ]
    assert times[19] == pytest.approx(1.5, abs=0.06)  # the last decision is on its way
    for colour in colours.SIDE_COLOURS:
        assert count(screens[0], colour) > 300
    assert capsys.readouterr().out == ""
    assert not pygame.display.get_init()


@pytest.mark.usefixtures("display", "clock")
def test_eval_can_be_paused_and_hurried_and_turned_into_a_graph(trained, monkeypatch):
    space, plus, p, v = pygame.K_SPACE, pygame.K_PLUS, pygame.K_p, pygame.K_v
    drag = {"rel": (80, -10), "pos": (9, 9), "buttons": (1, 0, 0)}
    turned = pygame.event.Event(pygame.MOUSEMOTION, **drag)
    events = [None] * 10 + [space, None, v, v, space, plus, None, None]
    events += [p, v, turned, p, None, None, pygame.K_ESCAPE]
    hands = Hands(monkeypatch, events)
    assert watch_eval(trained, "--opponent", "ace") == 0
    times = [seen[2] for seen in hands.seen]
    assert len(times) == len(events)
    assert times[10] == times[13] < times[14]
    assert times[17] - times[16] == pytest.approx(2 * (times[9] - times[8]))
    assert times[18] == times[20] < times[23]
    paused, graph, again, before, after = (hands.seen[n][3] for n in (11, 12, 13, 19, 20))
    assert (paused == again).all()
    for one, other in ((paused, graph), (before, after)):
        assert (one != other).any(axis=-1).mean() > 0.01


@pytest.mark.usefixtures("display", "clock")
def test_eval_goes_on_after_the_end(trained, monkeypatch):
    monkeypatch.setattr(watch, "LAST", 1.0)
    hands = Hands(monkeypatch, [None] * 24)
    assert watch_eval(trained, "--opponent", "straight", "--env.time-limit", "1") == 0
    names = [seen[0] for seen in hands.seen]
    assert len(set(names)) == 2
    banners = [count(seen[3].swapaxes(0, 1)[BANNER], colours.BRIGHT) > 200 for seen in hands.seen]
    shown = names.index(names[-1]) - banners.index(True)
    assert shown == pytest.approx(10, abs=1)


def test_eval_shows_no_mix(trained):
    with pytest.raises(UsageError, match="'ace:1,evader:2': is a mix"):
        watch_eval(trained, "--opponent", "ace:1,evader:2")


# Films


@pytest.fixture(scope="module")
def replay():
    return record(("agent", "shooter"), names=("someone", "shooter"), time_limit=5)[0]


FILM = {"size": (320, 180), "fps": 10, "speed": 2.0}


@pytest.mark.parametrize("mode", ["plane", "spacetime"])
@pytest.mark.parametrize("size", [film.SMALLEST, (320, 1000), (1000, 180)])
def test_a_small_or_narrow_film_has_room_for_the_fighters(replay, tmp_path, size, mode):
    film.write_film(replay, tmp_path / "a.gif", size, fps=1, mode=mode)
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.size == size
        view = np.array(gif.convert("RGB"))[64:]
    for colour in colours.SIDE_COLOURS:
        assert count(view, colour) > 10


def pictures(replay) -> int:
    """Returns the number of pictures that a film of a replay must have."""
    return int(np.ceil(replay.duration / 2 * 10)) + 3 * 10


def test_a_gif_is_as_long_as_it_should_be(replay, tmp_path):
    decisions = []
    film.write_film(replay, tmp_path / "a.gif", **FILM, progress=decisions.append)
    assert sum(decisions) == replay.decisions
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.size == (320, 180)
        length, shots = 0, []
        for index in range(gif.n_frames):
            gif.seek(index)
            length += gif.info["duration"]
            shots.append(np.array(gif.convert("RGB")))
    assert length == pytest.approx(1000 * pictures(replay) / 10, abs=10)
    for shot in (shots[0], shots[len(shots) // 2]):
        for colour in colours.SIDE_COLOURS:
            assert count(shot, colour) > 50
    assert count(shots[-1][70:150], colours.BRIGHT) > 50 > count(shots[0][70:150], colours.BRIGHT)


@pytest.mark.parametrize("mode", ["plane", "spacetime"])
def test_an_mp4_has_every_picture(replay, tmp_path, mode):
    path = tmp_path / "a.mp4"
    film.write_film(replay, path, **FILM, mode=mode)
    assert [file.name for file in tmp_path.iterdir()] == ["a.mp4"]
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(path), *raw]
    ffmpeg = subprocess.run(command, capture_output=True, check=True)
    about = ffmpeg.stderr.decode()
    for words in ("Video: h264", "yuv420p", "320x180", "10 fps"):
        assert words in about
    shots = np.frombuffer(ffmpeg.stdout, np.uint8).reshape(-1, 180, 320, 3)
    assert len(shots) == pictures(replay)
    assert (np.abs(shots[0].astype(int) - colours.SIDE_COLOURS[0]).sum(axis=-1) < 90).sum() > 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": (321, 180)}, "321x180: must be even"),
        ({"size": (320, 178)}, "320x178: must be even numbers from 320x180 on"),
        ({"size": (0, 0)}, "0x0: must be even"),
        ({"fps": 60}, "fps = 60: must be from 1 to 50"),
        ({"speed": 0}, r"speed = 0: must be from 0\.01"),
        ({"speed": 0.01, "fps": 50}, r"and fps = 50: a film of 2\d,\d+ pictures, at most 10,000"),
    ],
)
def test_settings_that_no_film_can_have_are_refused(replay, tmp_path, change, message):
    with pytest.raises(UsageError, match=message):
        film.write_film(replay, tmp_path / "a.gif", **(FILM | change))
    assert not list(tmp_path.iterdir())


def test_a_film_without_its_library_names_it(replay, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "PIL" else find(n))
    with pytest.raises(UsageError, match=r"pillow: pip install 'midrange_puffer\[view\]'"):
        film.write_film(replay, tmp_path / "a.gif", **FILM)

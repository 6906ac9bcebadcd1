"""The viewer of teams: names, the bar, the followed fighter, films and environments."""

import itertools

import numpy as np
import pygame
import pytest
from keyboard import count
from PIL import Image
from policies import random_policy
from scenes import followed
from team_fights import record, sized

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.paths import Paths
from midrange_puffer.gym import MidrangeEnv
from midrange_puffer.pettingzoo import MidrangeParallelEnv
from midrange_puffer.replays.session import Session
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view import film
from midrange_puffer.show.view.canvas import Canvas
from midrange_puffer.show.view.marks import Label, Labels
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.watch import Watcher, watch

SIZE = (1280, 800)


@pytest.fixture(scope="module")
def fight():
    """A fight of eight against eight, at its end."""
    return followed("evader", "ace", seed=3, red_size=8, blue_size=8)


@pytest.fixture
def written(monkeypatch):
    """Every text that is drawn: its words and its area."""
    texts = []
    write = Canvas.text

    def note(*arguments, **options):
        room = write(*arguments, **options)
        texts.append((arguments[1], room))
        return room

    monkeypatch.setattr(Canvas, "text", note)
    return texts


def placed(sizes=(3, 2), **parameters) -> Simulation:
    """Returns red's fighters at the origin and north of it, and blue's 20 km east, nose to nose."""
    sim = Simulation(1, 0, red_size=sizes[0], blue_size=sizes[1], **parameters)
    for number in range(sum(sizes)):
        side, place = divmod(number, sizes[0])
        sim.set_fighter(
            0, number, x=20_000 * side, y=4000 * place, heading_deg=180 * side, speed=300
        )
    return sim


def in_the_plane(texts, name):
    """Returns the areas of a name in the picture below the bar."""
    return [room for words, room in texts if words == name and room.top > 180]


# Names


@pytest.mark.parametrize("time", [0, 30, 75, 110])
def test_all_who_live_are_named_and_no_name_covers_another(fight, written, time):
    sim, paths = fight
    renderer = Renderer(SIZE)
    renderer.draw(sim, paths, time=time)
    alive = [one for one in moment(paths, time).fighters if one.alive]
    [camera] = renderer._cameras.values()
    rooms = []
    for one in alive:
        name = f"{('red', 'blue')[one.side]}_{one.number % 8}"
        [room] = in_the_plane(written, name)
        [place] = camera.to_screen([one.place])
        assert np.linalg.norm(np.array(room.center) - place) < 100
        rooms.append(room)
    assert not any(one.colliderect(other) for one, other in itertools.combinations(rooms, 2))


def test_a_name_stays_where_it_is_while_there_is_room(written):
    labels, canvas, area = Labels(), Canvas((400, 300)), pygame.Rect(0, 0, 400, 300)

    def shown(*places) -> list[np.ndarray]:
        written.clear()
        names = [
            Label(number, f"red_{number}", colours.TEXT, np.array(place, float))
            for number, place in enumerate(places)
        ]
        labels.draw(canvas, area, names)
        rooms = [np.array(room.center) for _, room in written]
        return [room - place for room, place in zip(rooms, places, strict=True)]

    alone = shown((100, 100), (300, 100))
    assert alone[0] == pytest.approx(alone[1])
    close = shown((100, 100), (110, 90))  # now the other one is in the way
    assert (close[0] != alone[0]).any()
    assert shown((100, 100), (300, 100))[0] == pytest.approx(close[0])


def test_the_dead_are_marked_where_they_died(fight):
    sim, paths = fight
    renderer = Renderer(SIZE)
    renderer.draw(sim, paths)
    [camera] = renderer._cameras.values()
    picture = renderer.rgb()
    dead = [path for path in paths.fighters if path.died is not None]
    assert len(dead) > 8
    for path in dead:
        [(x, y)] = np.round(camera.to_screen([(path.x[-1], path.y[-1])])).astype(int)
        assert count(picture[y - 9 : y + 10, x - 9 : x + 10], colours.STAR) > 40


# The bar


def test_the_bar_tells_what_each_has_left(written):
    sim = placed()
    sim.set_fighter(0, 1, ammo=2)
    sim.set_fighter(0, 2, alive=False)
    for slot, target in enumerate((0, 0, 1)):
        sim.set_missile(0, slot, owner=3, target=target, x=15_000, y=0, heading_deg=180, speed=900)
    paths = Paths(sim)
    renderer = Renderer(SIZE)
    rows = {number: row for row, number in renderer.draw(sim, paths) if row.top < 100}
    assert sorted(rows) == [0, 1, 2, 3, 4]
    told = {
        number: [words for words, room in written if row.contains(room)]
        for number, row in rows.items()
    }
    assert told[0] == ["red_0", "2 inbound"]
    assert told[1] == ["red_1", "1 inbound"]
    assert told[2] == ["red_2", "† 0:00"]
    assert told[3] == ["blue_0"]
    assert any("2 : 2" in words for words, _ in written)
    picture = renderer.rgb()
    for number, colour, missiles in ((1, colours.SIDE_COLOURS[0], 2), (3, colours.FLAME, 3)):
        row = rows[number]
        line = picture[row.centery, row.left + 60 : row.left + 130]
        marked = (np.abs(line.astype(int) - colour) <= 3).all(axis=-1)
        assert (np.diff(marked.astype(int)) == 1).sum() == missiles


@pytest.mark.parametrize("size", [(1280, 720), (854, 480), (600, 700), (320, 180)])
@pytest.mark.parametrize("focus", [None, 2, 9])
def test_any_size_will_do(fight, size, focus):
    sim, paths = fight
    renderer = Renderer(size)
    renderer.draw(sim, paths, time=60, focus=focus, lines=["one"], names=("a" * 200, "b"))
    for colour in colours.SIDE_COLOURS:
        assert count(renderer.rgb(), colour) > 20


# The focus


def test_the_foe_is_whose_missile_is_nearest_or_else_the_nearest():
    sim = placed((3, 3))
    now = moment(Paths(sim))
    assert [now.foe(fighter) for fighter in range(6)] == [3, 4, 5, 0, 1, 2]
    assert now.enemies(0) == [3, 4, 5]
    sim.set_missile(0, 0, owner=5, target=0, x=9000, y=0, heading_deg=180, speed=900)
    sim.set_missile(0, 1, owner=4, target=0, x=6000, y=0, heading_deg=180, speed=900)
    sim.set_fighter(0, 3, alive=False)
    now = moment(Paths(sim))
    assert now.foe(0) == 4
    assert [missile.path.owner for missile in now.inbound(0)] == [4, 5]
    assert now.foe(1) == 4
    assert now.enemies(0) == [4, 5]


def test_the_view_is_of_the_fighter_its_foe_and_its_target():
    sim = placed((3, 3))
    sim.set_fighter(0, 2, x=-200_000)
    renderer = Renderer(SIZE)
    renderer.draw(sim, Paths(sim), focus=0, target=4)
    [camera] = renderer._cameras.values()

    def in_view(number: int) -> bool:
        place = [(sim.fighters[axis][0, number]) for axis in ("x", "y")]
        return camera.area.collidepoint(camera.to_screen([place])[0])

    assert [in_view(number) for number in range(6)] == [True, True, False, True, True, True]
    places = [
        camera.to_screen([(sim.fighters["x"][0, n], sim.fighters["y"][0, n])])[0] for n in (0, 4)
    ]
    rings = [
        count(renderer.rgb()[y - 24 : y + 25, x - 24 : x + 25], colour)
        for (x, y), colour in zip(
            np.round(places).astype(int), (colours.BRIGHT, colours.STAR), strict=True
        )
    ]
    assert min(rings) > 30


def test_missiles_at_the_fighter_are_joined_to_it():
    sim = placed((2, 2))
    renderer = Renderer(SIZE)
    sim.set_missile(0, 0, owner=2, target=0, x=10_000, y=-3000, heading_deg=180, speed=900)
    pictures = []
    for focus in (0, 1):
        renderer.draw(sim, Paths(sim), focus=focus)
        pictures.append(renderer.rgb()[150:])
    dashes = [count(picture, colours.mix(colours.STAR, 0.6)) for picture in pictures]
    assert dashes[0] > 50 > 5 > dashes[1]


def test_the_graph_is_of_the_fighter_and_its_foe(written):
    sim = placed((2, 3))
    sim.set_missile(0, 0, owner=4, target=1, x=9000, y=4000, heading_deg=180, speed=900)
    renderer = Renderer(SIZE)
    renderer.draw(sim, Paths(sim), focus=1, mode="spacetime")
    words = [words for words, _ in written]
    assert "red_1 at its present controls" in words
    assert "where a missile fired now by blue_2 can be" in words
    assert sum(one.startswith("missile of blue: ") for one in words) == 1


# Choosing


def watcher(**sizes) -> Watcher:
    session = Session(("shooter", "evader"), seed=1, **sizes)
    return Watcher([session], Renderer((640, 400)), lambda surface: None)


@pytest.mark.usefixtures("display")
def test_keys_and_clicks_choose_whom_to_follow(monkeypatch):
    shown = watcher(red_size=2, blue_size=3)
    followed_by = []
    draw = Renderer.draw
    monkeypatch.setattr(
        Renderer, "draw", lambda *a, **k: (followed_by.append(k["focus"]), draw(*a, **k))[1]
    )

    def after(kind: int, **values) -> int | None:
        pygame.event.post(pygame.event.Event(kind, **values))
        shown.frame(0.1)
        return followed_by[-1]

    shown.frame(0.1)
    assert followed_by == [None]
    shown.session.sim.set_fighter(0, 1, alive=False)
    tabs = [after(pygame.KEYDOWN, key=pygame.K_TAB) for _ in range(5)]
    assert tabs == [0, 2, 3, 4, None]
    assert after(pygame.KEYDOWN, key=pygame.K_2) == 1
    assert after(pygame.KEYDOWN, key=pygame.K_3) == 1  # red has two
    spots = {number: spot.center for spot, number in shown._spots}
    assert after(pygame.MOUSEBUTTONDOWN, button=1, pos=spots[3]) == 3
    assert after(pygame.KEYDOWN, key=pygame.K_3) == 4  # blue's third
    assert after(pygame.MOUSEBUTTONDOWN, button=1, pos=(320, 399)) == 4


@pytest.mark.usefixtures("display")
def test_in_one_against_one_digits_choose_nobody():
    shown = watcher()
    for key in (pygame.K_1, pygame.K_2):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
    shown.frame(0.1)
    assert shown._chosen == 0  # as at first
    assert shown._spots == []


@pytest.mark.usefixtures("display")
def test_a_policy_is_watched_in_both_seats(monkeypatch):
    policy = random_policy(observation="team", sizes=(2, 3), seed=1)
    seen, frame = [], Watcher.frame

    def watched(shown: Watcher, _: float) -> bool:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_n))
        frame(shown, 0.1)
        seen.append((shown.session.names, shown.session.engagement))
        return len(seen) < 3

    monkeypatch.setattr(Watcher, "frame", watched)
    watch(policy, "me", {"ace": "ace"}, seed=2, **sized(2, 3))
    assert seen == [(("ace", "me"), 0), (("me", "ace"), 1), (("ace", "me"), 1)]


# Films


@pytest.mark.parametrize("follow", ["all", "red_1,blue_0"])
def test_a_film_follows_whom_it_is_told_to(follow, tmp_path, written):
    replay, _ = record(sized(2, 2))
    path = tmp_path / "a.gif"
    film.write_film(replay, path, (640, 300), fps=2, speed=4.0, follow=follow)
    with Image.open(path) as pictures:
        assert pictures.size == (640, 300)
        assert pictures.n_frames > 3
        first = np.array(pictures.convert("RGB"))
    for colour in colours.SIDE_COLOURS:
        halves = [count(half, colour) for half in np.split(first, 2, axis=1)]
        assert min(halves) > 20 if "," in follow else sum(halves) > 40
    titles = {name for name, room in written if room.top < 20}
    assert {"red_1", "blue_0"} <= titles if "," in follow else not {"red_1", "blue_0"} & titles


@pytest.mark.parametrize(
    ("follow", "words"),
    [
        ("red_2", "follow = red_2: must be all or of red_0, red_1, blue_0, blue_1; did you"),
        ("all,all,all,all,all", "at most 4 views"),
    ],
)
def test_a_film_of_somebody_else_is_refused(follow, words, tmp_path):
    replay, _ = record(sized(2, 2))
    with pytest.raises(UsageError, match=words):
        film.write_film(replay, tmp_path / "a.gif", follow=follow)


# Environments


def test_gymnasium_and_pettingzoo_render_teams(written):
    env = MidrangeEnv("ace", wingmen="crank", render_mode="rgb_array", red_size=3, blue_size=2)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    assert env.render().shape == (720, 1280, 3)
    words = [words for words, _ in written]
    assert {"red: agent, crank", "blue: ace", "red_2", "blue_1"} <= {*words}
    env.close()
    game = MidrangeParallelEnv(render_mode="rgb_array", red_size=2, blue_size=2)
    game.reset(seed=1)
    game.step({name: game.action_space(name).sample() for name in game.agents})
    assert game.render().shape == (720, 1280, 3)
    game.close()


@pytest.mark.parametrize("side", [0, 1])
def test_a_sides_knowledge_is_shown_from_its_own_first_fighter(side):
    """The view without a focus is that of this fighter; fighter 1 would be red's second."""
    sim = placed((2, 2), sensing="radar")
    paths = Paths(sim)
    for _ in range(6):
        sim.step()
        paths.note()
    pictures = []
    for focus in (None, 2 * side):
        renderer = Renderer(SIZE)
        renderer.draw(sim, paths, side=side, focus=focus)
        pictures.append(renderer.rgb())
    assert (pictures[0] == pictures[1]).all()

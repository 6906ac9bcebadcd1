"""One side's knowledge of a fight with sensors: in the view, in the graph, and in play."""

import math

import numpy as np
import pygame
import pytest
from keyboard import Player, count
from PIL import Image
from scenes import BLUE, RED

from midrange_puffer import Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import LIVE, LOST, MEMORY, believed
from midrange_puffer.game.paths import ACTIVE, ALONE, SUPPORTED, Paths
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.session import HUMAN, Session
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.view import PLANE, SPACETIME
from midrange_puffer.show.view import canvas as colours
from midrange_puffer.show.view.film import write_film
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.states import Contact
from midrange_puffer.show.view.status import HEIGHT as BAR

SIZE = (640, 480)


@pytest.fixture(scope="module")
def lost() -> Simulation:
    """Returns a fight in which red has just lost its track, and its receiver is silent."""
    sim = Simulation(1, 1, "shooter", "notcher", sensing="radar")
    paths = Paths(sim)
    while paths.contacts[RED].source[-1] != LOST:
        red, ahead = sim.fighters, 1 if sim.time[0] < 200 else -1
        if ahead < 0:  # out of everything's reach
            x, y = (float(red[axis][0, RED]) for axis in ("x", "y"))
            heading = math.degrees(red["heading"][0, RED])
            back = np.array([math.cos(red["heading"][0, RED]), math.sin(red["heading"][0, RED])])
            place = (x, y) - 90_000 * back
            sim.set_fighter(0, BLUE, x=place[0], y=place[1], heading_deg=heading + 180)
        sim.step()
        paths.note()
    return sim


def picture(sim: Simulation, paths: Paths, **options: object) -> np.ndarray:
    renderer = Renderer(SIZE)
    renderer.draw(sim, paths, **options)
    return renderer.rgb()


@pytest.mark.parametrize("mode", [PLANE, SPACETIME])
def test_hidden_state_changes_no_pixel_of_a_sides_picture(lost, mode):
    other = Simulation(1, 1, "shooter", "notcher", sensing="radar")
    other.restore(lost.snapshot())
    enemy = {name: float(values[0, BLUE]) for name, values in lost.fighters.items()}
    other.set_fighter(0, BLUE, x=enemy["x"] + 9_000, y=enemy["y"] - 4_000, ammo=1, rudder=0.5)
    other.set_missile(0, 11, owner=BLUE, x=enemy["x"], y=enemy["y"], heading_deg=10, speed=700)
    views = [
        [picture(sim, Paths(sim), side=side, mode=mode) for sim in (lost, other)]
        for side in (RED, None)
    ]
    assert np.array_equal(*views[0])
    assert not np.array_equal(*views[1])


def test_the_enemy_is_where_it_is_believed_to_be(notch_fight):
    contact = notch_fight.paths.contacts[RED]
    for source in (LIVE, MEMORY, LOST):
        index = contact.source.index(source)
        time = contact.times[index] + 0.1
        shown = moment(notch_fight.paths, time, RED).fighters[BLUE]
        truth = moment(notch_fight.paths, time).fighters[BLUE]
        off = np.linalg.norm(shown.place - truth.place)
        assert isinstance(shown, Contact)
        assert shown.alive == (source != LOST)
        if source == LIVE:
            assert off < 10
        heading = contact.heading[index]
        flown = shown.place - (contact.x[index], contact.y[index])
        way = 0 if source == LOST else 0.1 * contact.speed[index]
        assert flown == pytest.approx([way * math.cos(heading), way * math.sin(heading)])


def test_between_live_contacts_it_flies_straight_on(notch_fight):
    """From the last sight on, whatever the enemy does."""
    contact = notch_fight.paths.contacts[RED]
    first = contact.source.index(MEMORY)
    seen, heading = first - 1, contact.heading[first - 1]
    since = contact.times[first] - contact.times[seen]
    ahead = since * contact.speed[seen] * np.array([math.cos(heading), math.sin(heading)])
    place = np.array([contact.x[seen], contact.y[seen]]) + ahead
    assert (contact.x[first], contact.y[first]) == pytest.approx(tuple(place), abs=0.5)
    assert contact.age[first] == pytest.approx(since)


def test_targets_of_missiles_are_noted(notch_fight):
    """A missile starts with support, and loses it without a track."""
    guided = {value for missile in notch_fight.paths.missiles for value in missile.guided}
    assert guided == {ALONE, SUPPORTED, ACTIVE}
    for missile in notch_fight.paths.missiles:
        assert len(missile.guided) == len(missile.times)
        assert missile.guided[0] == SUPPORTED
        contact = notch_fight.paths.contacts[missile.owner]
        for time, guided in list(zip(missile.times, missile.guided, strict=True))[1:-1]:
            tracked = contact.source[contact.at(time)] in (LIVE, MEMORY)
            assert guided == ACTIVE or (guided == SUPPORTED) == tracked


def test_without_sensors_every_missile_sees_its_target():
    session = Session(("shooter", "evader"), seed=1)
    while not session.over:
        session.step()
    assert not session.paths.contacts
    assert {*session.paths.missiles[0].guided} == {ACTIVE}


def test_going_back_takes_what_was_known_with_it(notch_fight):
    session = Session(("shooter", "notcher"), seed=1, sensing="radar")
    for _ in range(100):
        session.step()
    session.rewind(40)
    for path, whole in zip(session.paths.contacts, notch_fight.paths.contacts, strict=True):
        assert path.source == whole.source[:61]
        assert path.bearing == whole.bearing[:61]
    for path, whole in zip(session.paths.missiles, notch_fight.paths.missiles, strict=False):
        assert path.guided == whole.guided[: len(path.guided)]


def test_warnings_point_to_where_they_come_from(notch_fight):
    """To the enemy and to each of its missiles with a lock; other missiles give no warning."""
    kinds = set()
    for time in np.arange(0.0, notch_fight.paths.time - 1, 1.0):
        truth, known = moment(notch_fight.paths, time), moment(notch_fight.paths, time, BLUE)
        assert all(missile.path.owner == BLUE for missile in known.missiles)
        locked = [m for m in truth.missiles if m.path.target == BLUE and m.flying and m.guided == 2]
        sources = [m.place for m in locked]
        if any(not warning.is_seeker for warning in known.warnings):
            sources.insert(0, truth.fighters[RED].place)
        assert len(known.warnings) == len(sources)
        for warning, place in zip(known.warnings, sources, strict=True):
            ahead, left = place - truth.fighters[BLUE].place
            off = math.remainder(warning.bearing - math.atan2(left, ahead), math.tau)
            assert abs(off) < 0.05
            kinds.add((warning.is_seeker, warning.is_tracking))
    assert kinds == {(False, False), (False, True), (True, True)}


def test_a_lock_is_drawn_in_its_colour(notch_fight):
    red = [missile for missile in notch_fight.paths.missiles if missile.owner == RED]
    missile = next(one for one in red if ACTIVE in one.guided[:-2])
    time = missile.times[missile.guided.index(ACTIVE)] + 0.1
    for side in (RED, BLUE):  # a ring around the missile, and a stroke toward it
        image = picture(notch_fight.sim, notch_fight.paths, time=time, side=side)
        assert count(image[BAR:], colours.LOCK) > 10
    before = moment(notch_fight.paths, missile.launched, BLUE)
    assert not any(warning.is_seeker for warning in before.warnings)


def test_a_believed_game_is_the_true_one_where_everything_is_known():
    """While the radar sees an enemy that flies straight on and has not fired."""
    sim = Simulation(1, 1, "shooter", "straight", sensing="radar")
    while sim.contacts["source"][0, RED] != LIVE or not sim.missiles["active"][0].any():
        sim.step()
    known, truth = spacetime(believed(sim, 0, RED), 0, RED), spacetime(sim, 0, RED)
    for name in ("own", "escapes", "fronts", "shots"):
        assert getattr(known, name) == pytest.approx(getattr(truth, name), nan_ok=True), name
    for found, expected in zip(known.missiles, truth.missiles, strict=True):
        assert found.slot == expected.slot
        assert found.points == pytest.approx(expected.points, nan_ok=True)


def test_nobody_fires_from_a_lost_contact(lost):
    graph = spacetime(believed(lost, 0, RED), 0, RED)
    assert graph.fronts is None
    assert {missile.owner for missile in graph.missiles} <= {RED}


# Playing


@pytest.mark.usefixtures("display")
def test_a_human_sees_the_truth_only_afterwards(monkeypatch):
    shown = []
    draw = Renderer.draw
    monkeypatch.setattr(
        Renderer, "draw", lambda *args, **told: (shown.append(told["side"]), draw(*args, **told))
    )
    player = Player(HUMAN, "ace", sensing="radar", time_limit=20)
    player.press(pygame.K_f)
    player.press(pygame.K_z)
    assert set(shown) == {RED}
    player.wait(20)
    assert player.session.over
    assert shown[-1] == RED
    player.press(pygame.K_f)
    assert shown[-1] is None
    player.press(pygame.K_f)
    assert shown[-1] == RED
    player.press(pygame.K_f, pygame.K_r)
    assert shown[-1] == RED  # a new fight


@pytest.mark.usefixtures("display")
def test_two_humans_share_no_view_before_the_end():
    player = Player(HUMAN, HUMAN, sensing="radar", time_limit=5)
    player.press(pygame.K_z)
    assert len(player.game._views(pygame.Rect(0, 0, 100, 100))) == 2
    player.wait(6)
    player.press(pygame.K_f)
    assert len(player.game._views(pygame.Rect(0, 0, 100, 100))) == 1


@pytest.mark.usefixtures("display")
def test_a_human_is_warned_of_missiles_with_a_lock_and_of_no_others():
    player = Player(HUMAN, "ace", sensing="radar", start_range_min=25_000, start_range_max=25_000)
    counts = set()
    while not player.session.over:
        player.wait(0.5)
        sim = player.session.sim
        active = sim.missiles["active"][0].astype(bool) & (sim.missiles["owner"][0] == BLUE)
        locked = active & sim.beliefs["locked"][0].astype(bool)
        if not player.session.over:
            player.game._lookout._looked = -1.0  # look now
            player.game._lookout.look()
            assert len(player.game.threats(RED)) == locked.sum()
        counts.add((bool(active.any()), bool(locked.any())))
    assert {(True, False), (True, True)} <= counts


@pytest.mark.usefixtures("display")
def test_a_spectator_may_see_each_side():
    player = Player("ace", "evader", sensing="radar")
    sides = []
    for _ in range(4):
        sides.append(player.game._known_to(None))
        player.press(pygame.K_f)
    assert sides == [None, RED, BLUE, None]


def test_a_film_of_all_is_the_films_of_truth_red_and_blue_side_by_side(tmp_path):
    session = Session(("shooter", "notcher"), seed=1, sensing="radar", time_limit=20)
    while not session.over:
        session.step()
    last = {}
    for picture, width in (("all", 3 * 320 + 4), ("truth", 320), ("red", 320), ("blue", 320)):
        path = tmp_path / f"{picture}.gif"
        write_film(session.replay(), path, (width, 180), fps=1, speed=4, picture=picture)
        with Image.open(path) as film:
            film.seek(film.n_frames - 1)
            last[picture] = np.array(film.convert("RGB"))
    for place, picture in enumerate(("truth", "red", "blue")):
        assert np.array_equal(last["all"][:, 322 * place : 322 * place + 320], last[picture])


def test_a_film_of_one_side_needs_sensors(tmp_path):
    replay = Session(("ace", "evader"), seed=1).replay()
    with pytest.raises(UsageError, match="picture = red: in this fight both sides know everything"):
        write_film(replay, tmp_path / "film.gif", picture="red")
    with pytest.raises(UsageError, match="picture = green: must be one of truth, red, blue, all"):
        write_film(replay, tmp_path / "film.gif", picture="green")


# The ends


def test_before_there_is_a_track_nothing_tells_where_the_enemy_is():
    """Contacts lie in the middle of the plane before there is a track; they are not drawn."""
    sim = Simulation(1, 1, "shooter", "notcher", sensing="radar", radar_acquire_time=5)
    views = []
    for x in (40_000, -70_000):
        sim.set_fighter(0, BLUE, x=x, y=x / 2)
        known = moment(Paths(sim), side=RED).fighters[BLUE]
        assert not known.is_known
        views.append([picture(sim, Paths(sim), side=RED, mode=m) for m in (PLANE, SPACETIME)])
    assert np.array_equal(*[one[0] for one in views])
    assert np.array_equal(*[one[1] for one in views])
    assert count(views[0][1][BAR:], colours.SIDE_COLOURS[BLUE]) == 0


def test_a_side_does_not_learn_the_fate_of_its_missile():
    """A missile that has hit is gone like a spent one, and not at the place of the hit."""
    session = Session(("shooter", "evader"), seed=4, sensing="radar")
    while not session.over:
        session.step()
    hits = [missile for missile in session.paths.missiles if missile.fate == "hit"]
    assert hits
    for missile in hits:
        end = missile.times[-1]
        [known] = [m for m in moment(session.paths, end, missile.owner).missiles
                   if m.path.launched == missile.launched]  # fmt: skip
        assert known.path.fate == "gone"
        assert tuple(known.place) == (missile.x[-2], missile.y[-2])


@pytest.mark.usefixtures("display")
def test_with_sensors_the_debriefing_tells_of_locks():
    player = Player(HUMAN, "ace", sensing="radar", start_range_min=25_000, start_range_max=25_000)
    while not player.session.over:
        player.wait(0.5)
    lines = debrief(player.session.sim, player.session.paths, RED, [])
    assert lines[0].startswith("You were hit by a missile fired at ")
    assert "seeker" in lines[1]
    assert not any("would have saved" in line for line in lines)


@pytest.mark.usefixtures("display")
def test_the_truth_is_hidden_again_who_goes_back():
    player = Player(HUMAN, "ace", sensing="radar", time_limit=5)
    player.wait(6)
    player.press(pygame.K_f)
    assert player.game._known_to(RED) is None
    player.down(pygame.K_BACKSPACE)
    player.wait(0.5)
    player.up(pygame.K_BACKSPACE)
    player.wait(6)
    assert player.session.over
    assert player.game._known_to(RED) == RED


def test_a_circle_shows_how_uncertain_a_track_is():
    """The radius is the standard deviation; there is no circle without noise."""
    noisy = {"radar_noise_bearing_deg": 10, "radar_noise_range": 5_000}
    sim = Simulation(1, 1, "shooter", "shooter", sensing="radar", **noisy)
    paths = Paths(sim)
    for _ in range(10):
        sim.step()
        paths.note()
    contact, deviation = paths.contacts[RED], sim.contacts["deviation"][0, RED]
    assert contact.source[-1] == LIVE
    assert moment(paths, side=RED).fighters[BLUE].deviation == pytest.approx(deviation)
    assert deviation > 500
    shown = picture(sim, paths, side=RED)
    contact.deviation[-1] = 0.0
    assert not np.array_equal(shown, picture(sim, paths, side=RED))

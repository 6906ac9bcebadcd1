"""Pages of fights with height of teams and with sensors: the truth, and what each side knows."""

import numpy as np
import pytest
from browser import NEEDED
from pages import columns, go, is_shown, picture, status, text, unpack

from midrange_puffer.game.atmosphere import SPEED_OF_SOUND, air
from midrange_puffer.game.contacts import TRACKS, best_contact
from midrange_puffer.game.shots import Flight, FlyOuts, if_it_flies_on
from midrange_puffer.replays.session import Session
from midrange_puffer.show.page import render
from midrange_puffer.show.page.content import collect

RED, BLUE = range(2)
TIME_LIMIT = 10  # s; every second of a page with height takes a second
GAMES = {
    "duel": {"sensing": "radar"},
    "teams": {"red_size": 2, "blue_size": 2, "red_aircraft": "heavy:1,light:1"},
    "both": {"red_size": 2, "blue_size": 2, "sensing": "radar"},
}


@pytest.fixture(scope="module", params=GAMES)
def replay(request):
    near = {"start_range_min": 30_000, "start_range_max": 35_000, "time_limit": TIME_LIMIT}
    session = Session(("shooter", "ace"), seed=3, dimensions=3, **near, **GAMES[request.param])
    while not session.over:
        session.step()
    return session.replay()


@pytest.fixture(scope="module")
def content(replay):
    return collect(replay, lambda count: None)


def test_sides_know_their_best_contacts_with_heights(replay, content):
    paths = replay.paths()
    assert len(content["known"]) == (2 if paths.contacts else 0)
    for side, known in enumerate(content["known"]):
        for packed in known["contacts"]:
            enemy = packed["enemy"]
            contacts = [path for path in paths.contacts if path.enemy == enemy]
            best, found = best_contact(contacts), columns(packed)
            assert {"z", "climb"} < set(found)
            for name in ("x", "z", "climb", "source", "age"):
                np.testing.assert_array_equal(found[name], np.float32(getattr(best, name)))
            for index, source in enumerate(best.source):
                assert (source in TRACKS) == any(path.source[index] in TRACKS for path in contacts)
                tracks = [p.age[index] for p in contacts if p.source[index] in TRACKS]
                if tracks:
                    assert best.age[index] == min(tracks)
            assert paths.fighters[enemy].side != side


def test_zones_are_where_shots_hit_the_enemy_that_is_shown(replay, content):
    """The edge R_aero ahead of each launcher, by fly-outs at both sides of it."""
    paths, rows = replay.paths(), unpack(content["zones"])
    fly_outs = FlyOuts(replay.parameters, paths.types)
    is_team, found = len(paths.fighters) > 2, []
    every = round(content["zoneInterval"] / content["interval"], 6)
    for index, zones in enumerate(rows):
        time = index * content["zoneInterval"]
        for number, path in enumerate(paths.fighters):
            threat = content["threats"][min(int(index * every), len(content["threats"]) - 1)]
            enemy = threat[number] if is_team else 1 - number
            row = 2 * number if is_team else number
            other = paths.fighters[enemy]
            if any(body.died is not None and body.died <= time for body in (path, other)):
                assert np.isnan(zones[row]).all()
                continue
            i = path.at(time + 1e-6)
            aero = zones[row, 0, 0]
            own, target = (
                Flight(b.x[i], b.y[i], b.z[i], b.heading[i], b.climb[i], b.speed[i])
                for b in (path, other)
            )
            for metres, hits in ((aero - 200, True), (aero + 600, False)):
                x, y = own.x + metres * np.cos(own.heading), own.y + metres * np.sin(own.heading)
                flown = fly_outs.hits(
                    path.side, own, target._replace(x=x, y=y), path.ammo[i] < 0, enemy
                )
                found.append(if_it_flies_on(flown) == hits)
    assert len(found) > 20
    assert np.mean(found) > 0.95


@NEEDED
def test_pages_show_heights_of_all_fighters_and_of_contacts(window, replay, content, tmp_path):
    path, paths = tmp_path / "fight.html", replay.paths()
    path.write_text(render(content))
    window.open("about:blank")
    window.open(path.as_uri())
    index = 18
    time = paths.fighters[0].times[index]
    has_sensors, is_team = bool(paths.contacts), len(paths.fighters) > 2
    for which in ("truth", *(("red", "blue") if has_sensors else ())):
        go(window, f"t={time}&picture={which}&view=plane")
        lines = status(window)
        assert is_shown(window, "side")
        for body in paths.fighters:
            side = ("red", "blue")[body.side]
            shown = body
            if which not in ("truth", side):
                shown = best_contact([p for p in paths.contacts if p.enemy == body.number])
            is_known = shown is body or shown.source[index] in TRACKS
            z, mach = shown.z[index], shown.speed[index] / air(shown.z[index])[1]
            if is_team:
                place = body.number - body.side * paths.sizes[0]
                told = lines[f"{side}_{place}"][:2]
            else:
                told = [lines[name][body.side] for name in ("Mach", "height")]
            if not is_known:
                assert told == ["–", "–"]
                continue
            assert float(told[0]) == pytest.approx(mach, abs=0.011)
            assert float(told[1].removesuffix(" km")) == pytest.approx(z / 1000, abs=0.051)
            assert abs(mach - shown.speed[index] / SPEED_OF_SOUND) > 0.02
        views = {picture(window, "plane"), picture(window, "side")}
        for view in ("spacetime", "camera"):
            go(window, f"t={time}&picture={which}&view={view}")
            assert is_shown(window, "graph" if view == "spacetime" else "camera")
            assert not is_shown(window, "side")
        assert len(views) == 2
    if has_sensors:
        assert text(window, "picture") == "Picture: blue"
        pressed = (
            "document.querySelector('tr.chosen').cells[0].textContent" if is_team else "'blue'"
        )
        assert window.evaluate(pressed).startswith("blue")
    assert window.errors == []

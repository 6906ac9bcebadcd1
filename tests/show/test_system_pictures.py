"""Silent radars and chaff in pictures: noted in the paths, shown of the own side alone."""

import numpy as np
import pytest
from browser import NEEDED
from pages import go, text

from midrange_puffer.game.paths import Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.session import Session
from midrange_puffer.show.page import write_page
from midrange_puffer.show.page.packing import pack_path
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.states import Contact, Fighter

SYSTEMS = {"sensing": "radar", "emission_control": "on", "chaff": 6, "chaff_time": 2}


def fly(sim: Simulation, noted: Paths, levels: list[int]) -> None:
    """Flies a decision at each of these levels of blue's systems, and notes it."""
    for level in levels:
        sim.step(np.array([[[0, 1, 0, 0], [0, 1, level, 0]]], np.float32))
        noted.note()


@pytest.fixture
def paths() -> Paths:
    """Blue is silent from 1 s to 2 s, and drops chaff at 1 s."""
    sim = Simulation(1, 3, **SYSTEMS)
    noted = Paths(sim)
    fly(sim, noted, [0, 0, 3, 1, *([0] * 8)])
    return noted


def test_a_moment_has_radars_and_clouds(paths):
    assert [moment(paths, time).fighters[1].silent for time in (0.9, 1.2, 1.7, 2.2)] == [
        *(False, True, True, False)
    ]
    assert moment(paths, 0.9).fighters[1].cloud is None
    dropped = moment(paths, 1.0).fighters[1].point
    for time in (1.6, 2.4):
        assert moment(paths, time).fighters[1].cloud == pytest.approx(dropped, abs=1)
    assert moment(paths, 4.0).fighters[1].cloud is None
    assert all(moment(paths, time).fighters[0].cloud is None for time in (1.6, 4.0))


def test_a_side_sees_no_clouds_of_the_enemy(paths):
    """Its enemies are contacts, which have neither radars nor clouds."""
    red, blue = (moment(paths, 1.6, side).fighters[1] for side in (0, 1))
    assert isinstance(red, Contact)
    assert isinstance(blue, Fighter)
    assert blue.cloud is not None


def test_pages_get_the_columns_only_in_such_games(paths):
    own = {"silent", "chaff", "cloud_x", "cloud_y", "cloud_z"}
    assert own <= set(pack_path(paths.fighters[1])["columns"])
    plain = Paths(Simulation(1, 3, sensing="radar"))
    assert not own & set(pack_path(plain.fighters[1])["columns"])


def test_paths_are_cut_back_with_their_systems():
    sim = Simulation(1, 3, **SYSTEMS)
    noted = Paths(sim)
    fly(sim, noted, [0, 3, 1, 0])
    snapshot, before = sim.snapshot(), columns(noted)
    fly(sim, noted, [1, 1, 3, 1, 0, 2])
    assert len(noted.fighters[1].times) == 11
    assert noted.fighters[1].chaff[-1] < noted.fighters[1].chaff[4]
    sim.restore(snapshot)
    noted.cut_back()
    np.testing.assert_equal(columns(noted), before)
    assert len(noted.fighters[1].silent) == 5


def columns(noted: Paths) -> list[dict[str, list[float]]]:
    """Returns copies of the times and the systems' columns of all fighters."""
    names = ("times", "silent", "chaff", "cloud_x", "cloud_y", "cloud_z")
    return [{name: [*getattr(path, name)] for name in names} for path in noted.fighters]


@NEEDED
def test_the_caption_explains_chaff_in_every_picture(window, tmp_path):
    """In blue's picture the first fighter is a contact, whose radar is unknown."""
    for systems in (SYSTEMS, {"sensing": "radar"}):
        session = Session(("shooter", "evader"), seed=2, **systems)
        for _ in range(50):
            session.step()
        path = tmp_path / "fight.html"
        write_page(session.replay(), path)
        window.open("about:blank")
        window.open(path.as_uri())
        for picture in ("truth", "red", "blue"):
            go(window, f"t=3&picture={picture}")
            is_explained = "Ring of dots: chaff." in text(window, "caption")
            assert is_explained == (systems is SYSTEMS), picture
    assert window.errors == []

"""The truth, and beside it what each side knew."""

import numpy as np
import pytest

from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.replays.session import Session
from midrange_puffer.show.picture_plot import LIVE, LOST, MEMORY, draw_pictures, record_pictures


@pytest.fixture(scope="module")
def flown():
    session = Session(("crank", "notcher"), seed=3, sensing="radar")
    return session, record_pictures(session)


def test_the_pictures_are_those_of_the_simulation(flown):
    """A second simulation of the same fight, asked decision by decision."""
    _, pictures = flown
    session = Session(("crank", "notcher"), seed=3, sensing="radar")
    for number, time in enumerate(pictures.sides[0].times):
        contacts = session.sim.contacts
        assert time == pytest.approx(session.paths.time)
        for seat, picture in enumerate(pictures.sides):
            assert picture.source[number] == contacts["source"][0, seat]
            expected = contacts["x"][0, seat], contacts["y"][0, seat]
            assert picture.contact[number] == pytest.approx(expected)
        if not session.over:
            session.step()
    assert session.over


def test_a_side_is_shown_what_it_knew_and_no_more(flown):
    """Of the enemy the points of the contact; of missiles its own, and their locks."""
    session, pictures = flown
    figure = draw_pictures(session, pictures, "a title")
    truth, *sides = figure.axes
    assert len({*pictures.sides[0].source}) > 2
    for seat, axes in enumerate(sides):
        drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
        source = np.array(pictures.sides[seat].source)
        for which, meaning in (
            (LIVE, "enemy, on radar"),
            (MEMORY, "enemy, from memory"),
            (LOST, "where it was lost"),
        ):
            places = np.array(pictures.sides[seat].contact)[source == which] / 1000
            assert np.array_equal(drawn[meaning], places)
        assert len(drawn["missile with a lock"]) == len(pictures.locks[seat])
    assert len(truth.get_lines()) > 5
    assert figure.get_suptitle() == "a title"


def test_the_command_writes_it_and_refuses_a_game_without_sensors(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--load-model-path", "trained", "--opponent", "ace", "--pictures"]
    with pytest.raises(UsageError, match="both sides know everything"):
        cli.run("plot", words)

"""The plot of the truth and each side's knowledge."""

import numpy as np
import pytest
from scenes import followed

from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import LINKED, LIVE, LOST, MEMORY
from midrange_puffer.game.paths import ACTIVE, RELAYED
from midrange_puffer.show.picture_plot import draw_pictures


@pytest.fixture(scope="module")
def paths():
    return followed("crank", "notcher", seed=3, sensing="radar")[1]


def test_a_side_is_shown_what_it_knew_and_no_more(paths):
    """A side sees the points of its contact, and its own missiles with their locks."""
    truth, *sides = draw_pictures(paths, "a title").axes
    assert len({*paths.contacts[0].source}) > 2
    for contact, axes in zip(paths.contacts, sides, strict=True):
        drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
        places = np.array([contact.x, contact.y]).T / 1000
        source = np.array(contact.source)
        for which, meaning in (
            (LIVE, "enemy, on radar"),
            (MEMORY, "enemy, from memory"),
            (LOST, "where it was lost"),
        ):
            assert np.array_equal(drawn[meaning], places[source == which])
        own = [missile for missile in paths.missiles if missile.owner == contact.fighter]
        locked = sum(missile.guided.count(ACTIVE) for missile in own)
        assert len(drawn["missile with a lock"]) == locked
    assert len(truth.get_lines()) > 5
    assert truth.figure.get_suptitle() == "a title"


def test_a_team_shows_whose_radar_guides_a_missile():
    """A `pair` pilot has turned away from its target; its partner's radar guides the missile."""
    fight = followed("pair", "straight", seed=2, sensing="radar", red_size=2, blue_size=2)[1]
    truth, red, _ = draw_pictures(fight, "a title").axes
    own = [missile for missile in fight.missiles if fight.fighters[missile.owner].side == 0]
    relayed = [
        place for missile in own for place in zip(missile.x, missile.y, missile.guided, strict=True)
    ]
    places = np.array([(x, y) for x, y, guided in relayed if guided == RELAYED]) / 1000
    assert len(places) > 10
    for axes in (truth, red):
        drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
        assert np.array_equal(drawn["missile guided by a wingman"], places)
    contacts = [contact for contact in fight.contacts if contact.fighter < 2]
    assert {(c.fighter, c.enemy) for c in contacts} == {(0, 2), (0, 3), (1, 2), (1, 3)}
    assert any(LINKED in contact.source for contact in contacts)


def test_the_command_writes_it_and_refuses_a_game_without_sensors(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--load-model-path", "trained", "--opponent", "ace", "--pictures"]
    with pytest.raises(UsageError, match="both sides know everything"):
        cli.run("plot", words)

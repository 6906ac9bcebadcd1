"""The page tells what fighters do in the words of the package."""

import pytest
from web_page import COMPILER, NODE, Core

from midrange_puffer.game.manoeuvres import in_words, manoeuvres
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NODE]

NEAR = {"start_range_min": 30_000, "start_range_max": 40_000}
GAMES = {
    "plane": (("ace", "evader"), NEAR),
    "sensors": (("notcher", "ace"), NEAR | {"sensing": "radar"}),
    "height": (("ace", "crank"), NEAR | {"dimensions": 3}),
    "teams": (
        ("pair", "ace"),
        NEAR | {"sensing": "radar", "dimensions": 3, "red_size": 2, "blue_size": 2},
    ),
}


@pytest.fixture(scope="module")
def core(wasm, tmp_path_factory) -> Core:
    return Core(wasm, tmp_path_factory.mktemp("core"))


@pytest.mark.parametrize("game", GAMES)
def test_the_manoeuvres_of_a_fight_are_those_of_the_package(core, game):
    players, parameters = GAMES[game]
    told = core.run(
        """
        const session = new Session(core, { ...told, policies });
        while (!session.isOver) session.step();
        const { fight } = session;
        answer([session.sim.fightHash.toString(16), fight.fighters.map(({ number }) => (
          manoeuvresOf(fight, number, tables.manoeuvres).map(({ start, end, manoeuvre }) => (
            [start, end, manoeuvreInWords(fight, number, manoeuvre, tables.manoeuvres.words)]))))]);
        """,
        {"players": players, "seed": 4, "parameters": {"substeps": 1, **parameters}},
    )
    session = Session(players, seed=4, substeps=1, **parameters)
    while not session.over:
        session.step()
    paths = session.paths
    assert told[0] == f"{session.sim.fight_hash():x}"
    words = set()
    for number, found in enumerate(told[1]):
        wanted = [held for held in manoeuvres(paths) if held.fighter == number]
        assert [words for _, _, words in found] == [in_words(held, paths.sizes) for held in wanted]
        for (start, end, _), held in zip(found, wanted, strict=True):
            assert (start, end) == pytest.approx((held.start, held.end), abs=1e-3)
        words |= {text.split()[0] for _, _, text in found}
    assert len(words) >= 3  # several courses are flown

"""The page's fly-outs, launch zones and warnings of fights with height are those of the package."""

import math

import pytest
from look_ahead import Ahead
from web_page import COMPILER, NODE, Core

from midrange_puffer.game.shots import FlyOuts, flight_of, if_it_flies_on, surely
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.threats import advice, threat_of, urgency

pytestmark = [COMPILER, NODE]

GAME = {
    "dimensions": 3,
    "start_range_min": 28_000,
    "start_range_max": 28_000,
    "start_off_boresight_max_deg": 20,
    "red_aircraft": "heavy",
    "blue_missiles": "short:2,medium:4",
}
MOMENTS = range(40, 400, 30)  # decisions
TURNS = (0, 5, 12, 20)  # bearings of a zone that are checked


@pytest.fixture(scope="module")
def core(wasm, tmp_path_factory) -> Core:
    return Core(wasm, tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def flown(core) -> list[dict]:
    """The page's numbers for red, a human that flies straight on, as long as it lives."""
    return core.run(
        """
        const session = new Session(core, { ...told.fight, policies });
        const lookout = new HeightLookout(session, 0);
        const found = [];
        for (const decisions of told.moments) {
          while (session.controls.length < decisions && !session.isOver) session.step();
          if (session.isOver) break;
          const { fight, fight: { flyOuts } } = session;
          const states = fight.states(fight.now);
          const search = flyOuts.zone(1, states[1], states[0]);
          let step = search.next();
          while (!step.done) step = search.next();
          const { inbound, survives } = lookout.ahead.look();
          lookout.look();
          found.push({
            hash: session.sim.fightHash.toString(16), inbound, survives, zone: step.value,
            hits: [0, 1].map((side) => flyOuts.hits(side, states[side], states[1 - side])),
            warning: lookout.warning,
          });
        }
        answer(found);
        """,
        {
            "fight": {"players": ("human", "crank"), "seed": 3, "parameters": GAME},
            "moments": list(MOMENTS),
        },
    )


def session_at(decisions: int) -> Session:
    session = Session(("human", "crank"), seed=3, **GAME)
    while len(session.recorder) < decisions:
        session.step()
    return session


def test_missiles_that_come_and_escapes_are_those_of_the_look_ahead(flown):
    words = set()
    session = session_at(0)
    for decisions, found in zip(MOMENTS, flown, strict=False):
        while len(session.recorder) < decisions:
            session.step()
        assert f"{session.sim.fight_hash():x}" == found["hash"]
        inbound, survives = Ahead(session, 0).look()
        assert found["survives"] == survives
        assert len(found["inbound"]) == len(inbound)
        for told, missile in zip(found["inbound"], inbound, strict=True):
            assert (told["slot"], told["harmless"]) == (missile.slot, missile.harmless)
            assert told["hit"] == pytest.approx(missile.hit)
        threats = sorted(
            (threat_of(session.sim, 0, look.slot, look.hit, look.harmless) for look in inbound),
            key=urgency,
        )
        if not threats:
            assert found["warning"] is None
            continue
        said = found["warning"]["text"].lower().replace(" at", "").replace(",", "")
        assert said == " ".join(threats[0].words.lower().split())
        height = float(session.sim.fighters["z"][0, 0])
        expected = advice(threats, height, is_late=not survives) or "as long as you run"
        assert found["warning"]["advice"] == expected
        words.add(found["warning"]["advice"])
    assert len(flown) > 4
    assert any(found["inbound"] for found in flown)
    assert any(text.startswith("dive, and turn") for text in words)


def test_shots_hit_as_those_of_the_package(flown):
    fly_outs, seen = None, set()
    session = session_at(0)
    for decisions, found in zip(MOMENTS, flown, strict=False):
        while len(session.recorder) < decisions:
            session.step()
        fly_outs = fly_outs or FlyOuts(session.sim.parameters, session.paths.types)
        flights = [flight_of(session.sim, number) for number in (0, 1)]
        for side in (0, 1):
            own, enemy = flights[side], flights[1 - side]
            expected = [*fly_outs.hits(side, own, enemy).values()]
            assert found["hits"][side] == expected
            seen.add(tuple(expected))
        for edge, ranges in zip((if_it_flies_on, surely), found["zone"], strict=True):
            for turn in TURNS:
                angle = flights[1].heading + turn * math.tau / len(ranges)
                inside, outside = (
                    edge(
                        fly_outs.hits(1, flights[1], flights[0]._replace(
                            x=flights[1].x + metres * math.cos(angle),
                            y=flights[1].y + metres * math.sin(angle)))
                    )
                    for metres in (ranges[turn] - 10, ranges[turn] + 300)
                )  # fmt: skip
                assert (inside or ranges[turn] < 1000, outside) == (True, False)
    assert len(seen) > 2

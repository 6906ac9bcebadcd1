"""Teams in the page's core: replays, crews, graphs and a policy are those of the package."""

import base64

import numpy as np
import pytest
import torch
from web_page import COMPILER, NODE, check_paths

from midrange_puffer import Simulation
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.game.contacts import believed
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.spacetime import pair_graph
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NODE]

NEAR = {"start_range_min": 25_000, "start_range_max": 25_000}
FAR = {"start_range_min": 50_000, "start_range_max": 50_000}
TWO = {"red_size": 2, "blue_size": 2, **NEAR}
FOUR = {"red_size": 4, "blue_size": 4, **NEAR}
SYSTEMS = {"sensing": "radar", "emission_control": "on", "chaff": 6}
# A human turns, climbs, fires, aims at others and changes fighters.
FLY = """
  const fly = (session) => {
    const now = session.controls.length;
    session.humans.forEach((number) => {
      session.steer(number, Math.sin(now / 40));
      session.climb(number, Math.sin(now / 70));
      if (now % 90 === 89) session.aimNext(number);
      if (now % 60 === 0) session.fire(number);
      if (now % 250 === 249) session.change(number);
      if (now % 70 === 0) session.switchRadar(number);
      if (now % 90 === 0) session.dropChaff(number);
    });
    session.step();
  };
"""
GAMES = [
    ({"players": ("human", "ace")}, TWO),
    ({"players": ("snake", "human"), "wingmen": ("ace", "evader")}, FOUR),
    ({"players": ("human", "champion:team2"), "wingmen": ("champion:team2", "ace")}, TWO),
    ({"players": ("human", "pair")}, TWO | {"sensing": "radar"}),
    ({"players": ("human", "crank")}, TWO | {"dimensions": 3}),
    ({"players": ("human", "ace")}, FOUR | {"dimensions": 3, "sensing": "radar"}),
    ({"players": ("human", "ace")}, TWO | SYSTEMS),
]


@pytest.mark.parametrize(("sides", "parameters"), GAMES)
def test_a_fight_is_saved_and_flown_bit_for_bit_by_the_package(core, sides, parameters):
    """Every state hash, and the paths and contacts of game/paths.py."""
    found = core.run(
        FLY
        + """
        const session = new Session(core, { ...told, policies });
        while (!session.isOver) fly(session);
        const { fight } = session;
        const columns = ({ entries, ...others }) => ({ ...others, ...entries });
        answer({
          bytes: Buffer.from(await writeReplay(session)).toString("base64"),
          outcome: fight.outcome, time: fight.now, hasChanged: session.hasChanged,
          fighters: fight.fighters.map(columns), missiles: fight.missiles.map(columns),
          contacts: fight.contactLog.paths.map(columns),
        });
        """,
        {**sides, "seed": 3, "engagement": 11, "parameters": parameters},
    )
    replay = Replay.from_bytes(base64.b64decode(found["bytes"]))
    paths = replay.paths()
    assert replay.outcome == found["outcome"]
    assert paths.time == pytest.approx(found["time"])
    human = sides["players"].index("human")
    assert replay.names[human].startswith("human, ")
    assert any(m.owner // parameters["red_size"] == human for m in paths.missiles)
    for kind in ("fighters", "missiles", "contacts"):
        expected = getattr(paths, kind)
        assert len(found[kind]) == len(expected)
        for columns, path in zip(found[kind], expected, strict=True):
            for name, values in columns.items():
                wanted = getattr(path, name)
                if name.startswith("cloud_"):  # JSON has null for not-a-number
                    places = [np.nan if value is None else value for value in values]
                    assert places == pytest.approx(wanted, nan_ok=True)
                elif name == "bearing":  # of radars; angles may differ by a turn
                    off = np.remainder(np.subtract(values, wanted) + np.pi, 2 * np.pi) - np.pi
                    assert np.abs(off).max() < 5e-4
                elif isinstance(values, list | float):
                    # The package has float32 angles, of which loads are differences.
                    assert values == pytest.approx(wanted, abs=2e-3), (kind, name)
                else:
                    assert values == wanted, (kind, name)


@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_a_replay_of_the_package_is_flown_to_the_same_end(core, sensing):
    """The human's wingmen fly it as recorded; the sides have several kinds of pilots."""
    sides = ["human", "ace", "snake"], ["evader", "crank"]
    game = {"red_size": 3, "blue_size": 2, "sensing": sensing, **NEAR}
    session = Session(sides, ("human, ace", "mixed"), seed=5, **game)
    while not session.over:
        session.step()
    found = core.run(
        """
        const bytes = Uint8Array.from(Buffer.from(told, "base64"));
        const session = new Session(core, { ...(await readReplay(bytes, tables)), policies });
        while (!session.isOver) session.step();
        answer([session.sim.fightHash.toString(16), session.fight.outcome, session.players]);
        """,
        base64.b64encode(session.replay().to_bytes()).decode(),
    )
    assert found[0] == f"{session.sim.fight_hash():x}"
    assert found[1] == outcome_words(session.sim)
    assert found[2][0] == "human"


@pytest.mark.parametrize(("sides", "parameters"), GAMES)
def test_back_in_time_and_on_is_the_same_fight(core, sides, parameters):
    """With crews; the human changes fighters before and after the time that is returned to."""
    found = core.run(
        """
        const session = new Session(core, { ...told, policies });
        const look = () => {
          const { fighters, missiles, contactLog: { paths } } = session.fight;
          return JSON.stringify([String(session.sim.fightHash), fighters, missiles, paths]);
        };
        const fly = () => {
          if (session.controls.length % 40 === 0) session.fire(session.humans[0]);
          session.step();
        };
        for (let i = 0; i < 90; i += 1) fly();
        session.change(session.humans[0]);
        for (let i = 90; i < 170; i += 1) fly();
        const then = look();
        while (session.controls.length < 320 && !session.isOver) fly();
        const [end, last] = [session.controls.length, look()];
        session.rewind(end - 170);
        const isBack = look() === then;
        while (session.controls.length < end) fly();
        const isSame = look() === last;
        session.rewind(end);
        answer([isBack, isSame, session.controls.length]);
        """,
        {**sides, "seed": 2, "engagement": 4, "parameters": parameters},
    )
    assert found == [True, True, 0]


TAKE_OVER = """
  const flown = [new Session(core, { ...told, policies })];
  for (let i = 0; i < 200; i += 1) flown[0].step();
  flown.push(flown[0].handOver(1));
  const looks = () => flown.map(({ fight: { now, fighters, missiles } }) => (
    JSON.stringify([now, fighters, missiles])));
"""


@pytest.mark.parametrize("pilot", ["ace", "pair", "champion:team2"])
def test_the_player_who_takes_over_a_side_begins_in_the_same_fight(core, pilot):
    """The side's pilot or policy becomes the wingman."""
    sensing = "radar" if pilot == "pair" else "full"
    found = core.run(
        TAKE_OVER + "answer([looks(), flown[1].humans, flown[1].wingmen[1]]);",
        {"players": ("ace", pilot), "seed": 2, "parameters": TWO | {"sensing": sensing}},
    )
    assert found[0][0] == found[0][1]
    assert found[1:] == [[2], pilot]


@pytest.mark.parametrize(
    ("pilot", "sensing"), [("ace", "full"), ("ace", "radar"), ("crank", "radar"), ("pair", "radar")]
)
def test_wingmen_fly_on_after_a_takeover_as_the_pilot_would_have(core, pilot, sensing):
    """The human repeats the untouched fight's controls; the wingman flies the same by itself.

    With sensors a crew's copy of the fight is exact only while all fighters have its pilot and no
    seeker has a lock: so both sides have the same pilot, and begin far apart.
    """
    found = core.run(
        TAKE_OVER
        + """
        const controls = [];
        for (let i = 0; i < 100; i += 1) {
          flown[0].step();
          const rows = flown[0].controls.at(-1);
          flown[1].step(rows.map((row, number) => (number === 2 ? row : null)));
          controls.push(flown.map((session) => session.controls.at(-1)[3]));
        }
        answer([controls, looks()]);
        """,
        {"players": (pilot, pilot), "seed": 2, "parameters": TWO | FAR | {"sensing": sensing}},
    )
    for decision, (untouched, taken_over) in enumerate(found[0]):
        assert untouched == taken_over, decision
    assert found[1][0] == found[1][1]


def test_wingmen_of_an_unknown_agent_are_the_usual_ones(core):
    """In a replay of `puffer serve` the client's side is named "agent"."""
    found = core.run(
        """
        const record = Array.from({ length: 50 }, () => told.pilots.map(() => [0, 1, 0]));
        const session = new Session(core, { ...told, record, policies });
        while (session.isReplayed) session.step();
        const taken = session.handOver(0);
        for (let i = 0; i < 100; i += 1) taken.step();
        const wingman = taken.controls.slice(50).map((rows) => JSON.stringify(rows[1]));
        answer([taken.wingmen[0], new Set(wingman).size, linkOf(session)[1], linkOf(taken)[1]]);
        """,
        {"players": ("agent", "ace"), "pilots": ["agent"] * 2 + ["ace"] * 2, "parameters": TWO},
    )
    assert found[0] == core.tables["wingmen"]
    assert found[1] > 1  # it steers
    assert found[2:] == [False, False]  # a link would lose the agent's controls


def test_crews_fly_as_the_pilots_themselves(core):
    """Pilots fly all beside the human, who is replaced by a recorded pilot: the fight is theirs."""
    found = core.run(
        """
        answer(told.map(({ pilot, parameters }) => {
          const fight = { policies, seed: 6, parameters };
          const whole = new Session(core, { players: [pilot, "ace"], ...fight });
          for (let i = 0; i < 400 && !whole.isOver; i += 1) whole.step();
          const record = whole.controls.map((rows) => [rows[0], ...rows.slice(1).map(() => null)]);
          const players = [HUMAN, "ace"];
          const beside = new Session(core, { players, wingmen: [pilot, pilot], ...fight, record });
          while (beside.isReplayed) beside.step();
          return [whole, beside].map(({ fight: { fighters, missiles } }) => (
            JSON.stringify([fighters, missiles])));
        }).map(([a, b]) => a === b));
        """,
        [
            {"pilot": pilot, "parameters": game}
            for pilot in ("ace", "evader")
            for game in (TWO, FOUR | {"dimensions": 3})
        ],
    )
    assert found == [True] * 4


def test_the_human_aims_at_any_enemy_and_hits_it(core):
    """Each shot flies at the enemy that was aimed at; without an aim at that nearest the nose."""
    found = core.run(
        """
        const players = [HUMAN, "straight"];
        const session = new Session(core, { players, policies, seed: 1, parameters: told });
        const targets = [];
        for (let i = 0; i < 4; i += 1) {
          session.aimNext(0);
          const target = session.targetOf(0);
          session.fire(0);
          for (let step = 0; step < 60; step += 1) session.step();
          const shots = session.fight.missiles.filter(({ owner }) => owner === 0);
          targets.push([target, shots[i].entries.targets[0]]);
        }
        answer(targets);
        """,
        FOUR | {"start_range_min": 60_000, "start_range_max": 60_000},
    )
    assert [target for target, _ in found] == [shot for _, shot in found]
    assert sorted(target for target, _ in found) == [4, 5, 6, 7]


@pytest.mark.parametrize("parameters", [TWO, FOUR | {"dimensions": 3}, TWO | {"sensing": "radar"}])
def test_a_link_holds_the_fight(core, parameters):
    found = core.run(
        """
        const sides = { players: [HUMAN, "ace"], wingmen: ["snake", "ace"] };
        const fight = { ...sides, policies, seed: 0, engagement: 7, parameters: told };
        const session = new Session(core, fight);
        for (let i = 0; i < 150; i += 1) {
          session.steer(0, i > 40 && i < 90 ? 1 : 0);
          if (i === 50) session.fire(0);
          session.step();
        }
        const [fragment, isWhole] = linkOf(session);
        const again = new Session(core, { ...readLink(fragment, tables), policies });
        while (again.isReplayed) again.step();
        const isSame = again.sim.fightHash === session.sim.fightHash;
        session.change(0);
        answer([fragment.length, isWhole, isSame, linkOf(session)[1], again.wingmen]);
        """,
        parameters,
    )
    assert found[0] <= 120
    assert found[1:] == [True, True, False, ["snake", "ace"]]


@pytest.mark.parametrize("player", ["champion:team2", "ace"])
def test_a_link_holds_only_the_start_of_a_fight_with_a_takeover(core, player):
    """A link has no room for the controls of wingmen that a pilot or a policy flew."""
    found = core.run(
        """
        const session = new Session(core, { ...told, policies });
        for (let i = 0; i < 15; i += 1) session.step();
        const [fragment, isWhole] = linkOf(session.handOver(0));
        answer([isWhole, readLink(fragment, tables).record, linkOf(session)[1]]);
        """,
        {"players": (player, "straight"), "seed": 2, "parameters": TWO},
    )
    assert found == [False, [], True]


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("sensing", ["full", "radar"])
def test_the_space_time_graph_is_that_of_the_package(core, sensing, dimensions):
    """Compares each fighter's graph with its threat; with sensors that of the believed game."""
    game = FOUR | {"sensing": sensing, "dimensions": dimensions}
    found = core.run(
        """
        const players = ["shooter", "snake"];
        const session = new Session(core, { players, policies, seed: 3, parameters: told });
        while (session.controls.length < 200) session.step();
        const { fight } = session;
        answer((fight.radar ? fight.beliefs : fight.graphs).map((graph) => graph.at()));
        """,
        game,
    )
    sim = Simulation(1, 3, "shooter", "snake", **game, substeps=1)
    sim.start(0, 0)
    while sim.time[0] < 200:
        sim.step()
    inbound = 0
    for number, scene in enumerate(found):
        if not sim.fighters["alive"][0, number]:
            continue
        side, enemy = number // 4, scene["enemy"]
        if sensing == "full":
            graph = pair_graph(sim, 0, number)
        else:
            graph = pair_graph(believed(sim, 0, number, enemy), 0, side, 1 - side)
        assert (scene["number"], scene["side"]) == (number, side)
        check_paths(scene, graph)
        assert len(scene["missiles"]) == len(graph.missiles)
        for told, missile in zip(scene["missiles"], graph.missiles, strict=True):
            assert (told["owner"], told["target"]) == (missile.owner, missile.target)
            assert (told["hits"], told["ended"]) == (missile.hits, missile.ended)
            assert told["escapeMiss"] == pytest.approx(missile.escape_miss)
            inbound += missile.target == side
    assert inbound or sensing == "radar"


def test_the_champion_of_teams_does_what_the_native_one_does(core):
    sim = Simulation(16, 3, "ace", "evader", red_size=2, blue_size=2)
    for _ in range(40):
        sim.step()
    observations = sim.observe().reshape(64, -1)
    noise = np.random.default_rng(1).random((64, 3), np.float32)
    found = core.run(
        """
        const { "champion:team2": policy } = policies;
        answer(told.observations.map((row, i) => (
          [told.noise[i], null].map((noise) => policy.act(new Float32Array(row), noise)))));
        """,
        {"observations": observations.tolist(), "noise": noise.tolist()},
    )
    drawn, likeliest = (np.array(part) for part in zip(*found, strict=True))
    native = FrozenNetwork(load_policy("champion:team2")[0])
    assert np.array_equal(native.act(observations, torch.from_numpy(noise)), drawn)
    assert np.array_equal(native.act(observations, None), likeliest)

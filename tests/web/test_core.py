"""The core in WebAssembly gives the same bits as the native one, and its networks as torch."""

import base64
import math
from itertools import product

import numpy as np
import pytest
import team_fights
import torch
from needs import nightly
from web_page import COMPILER, NODE, check_paths

from midrange_puffer import Simulation
from midrange_puffer.checkpoint import load_policy
from midrange_puffer.game.contacts import believed
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.envelope_lookup import look_up
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.parameters import PILOTS, SENSOR_PILOTS, resolve
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.policies.exported import to_onnx
from midrange_puffer.policies.native import FrozenNetwork
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.replays.replay import Replay
from midrange_puffer.replays.session import Session

pytestmark = [COMPILER, NODE]

FAR = "medium burn_time=12, agile=light thrust=15"  # types with height
NEAR = {"start_range_min": 30_000, "start_range_max": 30_000}
SYSTEMS = {"sensing": "radar", "emission_control": "on", "chaff": 6}


def fights(count: int) -> list[dict]:
    """Returns fights of all pairs of pilots in games of all kinds."""
    pairs = list(product(PILOTS, PILOTS))
    rng = np.random.default_rng(7)
    out = []
    for number in range(count):
        red, blue = pairs[number % len(pairs)]
        is_blind = "notcher" in (red, blue) or number % 3 == 0
        low = int(rng.integers(15_000, 60_000))
        parameters = {
            "sensing": "radar" if is_blind else "full",
            "start_range_min": low,
            "start_range_max": low + 10_000,
            "ammunition": int(rng.integers(0, 7)),
        }
        if is_blind and number % 2:
            parameters |= SYSTEMS
        out.append({"pilots": (red, blue), "seed": number, "parameters": parameters})
    return out


def fights_with_height(count: int) -> list[dict]:
    """Returns fights of all pairs of pilots with all kinds of types, mixes and loads."""
    pilots = [name for name in PILOTS if name != "notcher"]
    pairs = list(product(pilots, pilots))
    rng = np.random.default_rng(8)
    mixed = ("light", "heavy", "fast", "trainer", "light:2,heavy:1", "agile", "trainer:1,agile:1")
    out = []
    for number in range(count):
        low = int(rng.integers(10_000, 50_000))
        parameters = {
            "dimensions": 3,
            "start_range_min": low,
            "start_range_max": low + 10_000,
            "start_off_boresight_max_deg": int(rng.integers(0, 181)),
            "types": "agile=light thrust=15 turn_radius=350, medium burn_time=7.3",
            "aircraft_spread": (0, 0.3)[number % 2],
            "missile_spread": (0.2, 0)[number % 2],
        }
        for side in ("red", "blue"):
            parameters[f"{side}_aircraft"] = str(rng.choice(mixed))
            if rng.random() < 0.3:
                load = rng.choice(("medium:4,short:2", "long:1"))
                parameters[f"{side}_missiles"] = str(load)
            else:
                missile = rng.choice(("medium", "long", "long:3,short:1"))
                parameters[f"{side}_missile"] = str(missile)
        fight = {"pilots": pairs[(7 * number) % len(pairs)], "seed": number}
        out.append({**fight, "parameters": parameters})
    return out


def fights_of_teams(count: int) -> list[dict]:
    """Returns fights of teams of up to four and all pilots, in the plane and with height."""
    rng = np.random.default_rng(9)
    sizes = [pair for pair in product(range(1, 5), range(1, 5)) if pair != (1, 1)]
    out = []
    for number in range(count):
        red, blue = sizes[number % len(sizes)]
        is_blind = number % 2 == 1
        names = [*PILOTS, *SENSOR_PILOTS] if is_blind else PILOTS
        pilots = [*[str(rng.choice(names))] * red, *[str(rng.choice(names))] * blue]
        low = int(rng.integers(15_000, 50_000))
        parameters = {
            "red_size": red,
            "blue_size": blue,
            "dimensions": 2 + number // 2 % 2,
            "sensing": "radar" if is_blind else "full",
            "start_range_min": low,
            "start_range_max": low + 10_000,
            "ammunition": int(rng.integers(1, 7)),
        }
        out.append({"pilots": pilots, "seed": number, "parameters": parameters})
    return out


@pytest.mark.parametrize(
    ("fights", "count"),
    [
        (fights_of_teams, 60),
        nightly(fights_of_teams, 600),
        (fights, 200),
        nightly(fights, 1000),
        (fights_with_height, 80),
        nightly(fights_with_height, 1000),
    ],
)
def test_fights_of_pilots_end_as_the_native_ones(core, fights, count):
    """Compares the whole state at the end and the duration."""
    found = core.run(
        """
        answer(told.map(({ pilots, seed, parameters }) => {
          const sim = new Simulation(core, seed, pilots, parameters);
          sim.start(seed % 5, seed % 3);
          let decisions = 0;
          while (!sim.read("engagement").outcome[0]) {
            sim.step(pilots.map(() => sim.controls.map(() => 0)));
            decisions += 1;
          }
          const hash = sim.stateHash.toString(16);
          sim.destroy();
          return [decisions, hash];
        }));
        """,
        given := fights(count),
    )
    for fight, (decisions, found_hash) in zip(given, found, strict=True):
        red = fight["parameters"].get("red_size", 1)
        sides = fight["pilots"][:red], fight["pilots"][red:]
        sim = Simulation(1, fight["seed"], *sides, **fight["parameters"])
        sim.start(0, fight["seed"] % 5, fight["seed"] % 3)
        for _ in range(decisions):
            assert not sim.outcome[0], fight
            sim.step()
        assert sim.outcome[0], fight
        assert f"{sim.state_hash():x}" == found_hash, fight


def seen(count: int) -> np.ndarray:
    """Returns observations of fights, float32 [count, features]."""
    sim = Simulation(16, 3, "ace", "evader")
    rows = []
    while len(rows) * 32 < count:
        sim.step()
        rows.append(sim.observe().reshape(32, -1))
    return np.concatenate(rows)[:count]


def test_the_champion_does_what_the_native_one_does(core):
    """Compares drawn and likeliest actions, probabilities and values."""
    policy, _ = load_policy("champion")
    observations = seen(960)
    noise = np.random.default_rng(1).random((len(observations), 3), np.float32)
    given = {"observations": observations.tolist(), "noise": noise.tolist()}
    found = core.run(
        """
        answer(told.observations.map((row, i) => {
          const seen = new Float32Array(row);
          const drawn = policies.champion.act(seen, told.noise[i]);
          return [drawn, policies.champion.act(seen, null), policies.champion.score(seen, drawn)];
        }));
        """,
        given,
    )
    drawn, likeliest, scores = (np.array(part) for part in zip(*found, strict=True))
    native = FrozenNetwork(policy)
    assert np.array_equal(native.act(observations, torch.from_numpy(noise)), drawn)
    assert np.array_equal(native.act(observations, None), likeliest)
    # Float64 has no rounding errors of its own in the comparison.
    policy.double().encoder.register_forward_pre_hook(lambda _, given: (given[0].double(),))
    with torch.no_grad():
        logits, values = policy(torch.from_numpy(observations))
        chances = [one.log_softmax(1) for one in logits]
        rows = torch.arange(len(observations))
        logprobs = sum(one[rows, drawn[:, head]] for head, one in enumerate(chances))
    assert scores[:, 0] == pytest.approx(logprobs.numpy(), abs=1e-5)
    assert scores[:, 1] == pytest.approx(values[:, 0].numpy(), abs=1e-5)


def test_launch_zones_are_those_of_the_map(core):
    """Compares 2,000 shots with game/envelope_lookup.py, which computes in float64.

    Each is the second of two bearings that are looked up at once.
    """
    rng = np.random.default_rng(5)
    angles, speeds = rng.uniform(-np.pi, np.pi, (2000, 2)), rng.uniform(150, 600, (2000, 2))
    found = core.run(
        """
        const sim = new Simulation(core);
        const zones = new LiveZones(core, sim, null);
        answer(told.map(([nose, aspect, launch, target]) => Array.from(zones.edges(
          { heading: nose, speed: launch }, { heading: aspect + Math.PI, speed: target },
          [1, 0]).slice(4))));
        """,
        np.column_stack([angles, speeds]).tolist(),
    )
    envelope = game_envelope(resolve({}))
    for place, edge in enumerate(("aero", "nez", "cold", "minimum")):
        expected = look_up(envelope, edge, *angles.T, *speeds.T)
        assert np.array(found)[:, place] == pytest.approx(expected, rel=1e-4, abs=1)


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (("champion", "ace"), {}),
        (("human", "champion"), {"ammunition": 3}),
        (("human", "notcher"), {"sensing": "radar", "start_range_max": 35_000}),
        (("human", "ace"), SYSTEMS | NEAR),
        (("evader", "ace"), SYSTEMS | NEAR | {"dimensions": 3}),
        (("shooter", "evader"), {}),
        (("human", "crank"), {"dimensions": 3, "red_missiles": "short:1,long:3", **NEAR}),
        (("ace", "shooter"), {"dimensions": 3, "blue_aircraft": "light:1,heavy:1"}),
    ],
)
def test_a_fight_is_saved_and_puffer_replay_flies_it_bit_for_bit(core, players, parameters):
    """A human turns and fires; the paths are those of game/paths.py."""
    found = core.run(
        """
        const session = new Session(core, { ...told, policies });
        while (!session.isOver) {
          session.humans.forEach((seat) => {
            session.steer(seat, Math.sin(session.controls.length / 40));
            session.climb(seat, Math.sin(session.controls.length / 70));
            if (session.controls.length % 60 === 0) session.fire(seat);
            if (session.controls.length % 70 === 0) session.switchRadar(seat);
            if (session.controls.length % 90 === 0) session.dropChaff(seat);
          });
          session.step();
        }
        const { fight } = session;
        const columns = ({ entries, ...others }) => ({ ...others, ...entries });
        answer({
          bytes: Buffer.from(await writeReplay(session)).toString("base64"),
          outcome: fight.outcome, time: fight.now,
          fighters: fight.fighters.map(columns), missiles: fight.missiles.map(columns),
          contacts: fight.contactLog.paths.map(columns),
        });
        """,
        {"players": players, "seed": 3, "engagement": 11, "parameters": parameters},
    )
    replay = Replay.from_bytes(base64.b64decode(found["bytes"]))
    paths = replay.paths()  # which compares every hash
    assert replay.outcome == found["outcome"]
    assert paths.time == pytest.approx(found["time"])
    for kind in ("fighters", "missiles", "contacts"):
        expected = getattr(paths, kind)
        assert len(found[kind]) == len(expected)
        for columns, path in zip(found[kind], expected, strict=True):
            for name, values in columns.items():
                wanted = getattr(path, name)
                if name.startswith("cloud_"):  # JSON has null for not-a-number
                    values = [math.nan if value is None else value for value in values]
                if isinstance(values, list | float):
                    assert values == pytest.approx(wanted, abs=5e-4, nan_ok=True), (kind, name)
                else:
                    assert values == wanted, (kind, name)


@pytest.mark.parametrize(
    "parameters",
    [{"sensing": "full"}, {"sensing": "radar"}, SYSTEMS, {"dimensions": 3, "types": FAR}],
)
def test_a_replay_of_the_package_is_flown_to_the_same_end(core, parameters):
    session = Session(("shooter", "evader"), seed=5, **parameters)
    while not session.over:
        session.step()
    found = core.run(
        """
        const bytes = Uint8Array.from(Buffer.from(told, "base64"));
        const session = new Session(core, { ...(await readReplay(bytes, tables)), policies });
        while (!session.isOver) session.step();
        const damaged = bytes.slice();
        damaged[bytes.length - 5] ^= 1;
        const refused = await readReplay(damaged, tables).catch((error) => error.message);
        answer([session.sim.fightHash.toString(16), session.fight.outcome, refused]);
        """,
        base64.b64encode(session.replay().to_bytes()).decode(),
    )
    assert found[0] == f"{session.sim.fight_hash():x}"
    assert found[1] == outcome_words(session.sim)
    assert "damaged" in found[2]


def test_a_replay_of_larger_teams_is_refused_by_name(core):
    replay, _ = team_fights.record(team_fights.sized(2, 8, time_limit=10))
    said = core.run(
        """
        const bytes = Uint8Array.from(Buffer.from(told, "base64"));
        const fight = await readReplay(bytes, tables);
        try {
          answer(new Session(core, { ...fight, policies }).players);
        } catch (error) {
          answer(error.message);
        }
        """,
        base64.b64encode(replay.to_bytes()).decode(),
    )
    assert said == "A side has 8 fighters; this page flies 4 at most."


def test_back_in_time_and_on_is_the_same_fight(core):
    """To the bit, with the champion's draws and the drawings' paths."""
    found = core.run(
        """
        const session = new Session(core, { ...told, policies });
        let then;
        const look = () => JSON.stringify([
          session.sim.fightHash.toString(16), session.fight.fighters, session.fight.missiles]);
        for (let i = 0; i < 700 && !session.isOver; i += 1) {
          if (i % 7 === 0) session.fire(0);
          session.step();
          if (i === 99) then = look();
        }
        const [end, last] = [session.controls.length, look()];
        session.rewind(end - 100);
        const isBack = look() === then;
        while (session.controls.length < end) {
          if (session.controls.length % 7 === 0) session.fire(0);
          session.step();
        }
        answer([end, isBack, look() === last]);
        """,
        {"players": ("human", "champion"), "seed": 2, "engagement": 4},
    )
    assert found[0] > 400
    assert found[1:] == [True, True]


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (("champion", "ace"), NEAR),
        (("ace", "champion"), NEAR),
        (("snake", "evader"), NEAR),
        (("crank", "ace"), {"dimensions": 3, "red_missiles": "short:2,medium:2", **NEAR}),
    ],
)
def test_the_player_who_takes_over_begins_in_the_same_fight(core, players, parameters):
    """A seat is taken over from a policy or a pilot."""
    flown = core.run(
        """
        const session = new Session(core, { ...told, policies });
        for (let i = 0; i < 300 && !session.isOver; i += 1) session.step();
        const other = session.handOver(0, HUMAN);
        answer([session, other].map(({ fight }) => [fight.now, fight.fighters, fight.missiles]));
        """,
        {"players": players, "seed": 2, "engagement": 9, "parameters": parameters},
    )
    assert flown[0] == flown[1]
    assert flown[0][2]  # missiles


@pytest.mark.parametrize("parameters", [{"sensing": "full"}, {"sensing": "radar"}, SYSTEMS])
@pytest.mark.parametrize("seat", [0, 1])
def test_the_space_time_graph_is_that_of_the_package(core, parameters, seat):
    """Compares graphs at three times; with sensors those of the believed game."""
    found = core.run(
        """
        const session = new Session(core, { ...told.fight, policies });
        const fight = session.fight;
        answer(told.moments.map((decisions) => {
          while (session.controls.length < decisions) session.step();
          const { graphs, beliefs } = fight;
          return (fight.radar ? beliefs : graphs)[told.seat].at();
        }));
        """,
        {
            "fight": {
                "players": ("shooter", "snake"),
                "seed": 3,
                "parameters": parameters,
            },
            "moments": (100, 400, 450),
            "seat": seat,
        },
    )
    sim = Simulation(1, 3, "shooter", "snake", substeps=1, **parameters)
    sim.start(0, 0)
    for decisions, scene in zip((100, 400, 450), found, strict=True):
        while sim.time[0] < decisions:
            sim.step()
        game = sim if parameters["sensing"] == "full" else believed(sim, 0, seat)
        graph = spacetime(game, 0, seat)
        check_paths(scene, graph)
        assert len(scene["missiles"]) == len(graph.missiles)
        for told, missile in zip(scene["missiles"], graph.missiles, strict=True):
            assert (told["slot"], told["owner"]) == (missile.slot, missile.owner)
            assert (told["hits"], told["ended"]) == (missile.hits, missile.ended)
            assert told["escapeMiss"] == pytest.approx(missile.escape_miss)
    assert found[0]["missiles"] or found[1]["missiles"]


def test_an_exported_policy_flies_and_others_are_refused(core, tmp_path):
    """Returns a network of another width and game, written by the code of `puffer export`."""
    entries = load_policy("champion")[1]
    files = {}
    for name, observation, changes in (
        ("full", "default", {}),
        ("radar", "radar", {}),
        ("height", "height", {}),
        ("stg", "stg", {}),
        ("recurrent", "default", {"rnn_name": "Recurrent"}),
    ):
        torch.manual_seed(3)
        shape = {"hidden_size": 32, "hidden_layers": 3, "fire_bias": -4.0}
        rnn = {"rnn_name": "Recurrent", "rnn_kwargs": {"input_size": 32, "hidden_size": 32}}
        policy = make_policy(spaces_of(observation), shape, **(rnn if changes else {}))
        sensing = "radar" if observation == "radar" else "full"
        env = entries["env"] | {"observation": observation, "sensing": sensing}
        if observation == "height":  # which the game's dimensions say
            env |= {"observation": "default", "dimensions": 3}
        told = entries | {"policy": shape, "env": env} | changes
        files[name] = policy.eval(), to_onnx(policy.eval(), told)
    with torch.no_grad():
        policy = make_policy(spaces_of("default"), shape).eval()
        policy.critic.weight[0, 0] = 1e9
    files["wild"] = policy, to_onnx(policy, entries | {"policy": shape})
    damaged = bytearray(files["full"][1])
    damaged[5_000] ^= 1
    given = {name: base64.b64encode(data).decode() for name, (_, data) in files.items()}
    given |= {
        "damaged": base64.b64encode(damaged).decode(),
        "text": base64.b64encode(b"a").decode(),
    }
    rng = np.random.default_rng(2)
    flying = ("full", "radar", "height")
    seen = {name: rng.uniform(-1, 1, (50, files[name][0].features)) for name in flying}
    found = core.run(
        """
        const out = {};
        for (const [name, text] of Object.entries(told.files)) {
          try {
            const network = new Network(core, await readOnnx(fromBase64(text), tables));
            out[name] = [network.sensing, network.dimensions, told.seen[name].map((row) => {
              const levels = network.act(new Float32Array(row), null);
              return [...levels, ...network.score(new Float32Array(row), levels)];
            })];
          } catch (error) {
            out[name] = error.message;
          }
        }
        answer(out);
        """,
        {"files": given, "seen": {name: rows.tolist() for name, rows in seen.items()}},
    )
    for name, *game in (("full", "full", 2), ("radar", "radar", 2), ("height", "full", 3)):
        assert found[name][:2] == game, found[name]
        rows, policy = np.array(found[name][2]), files[name][0]
        with torch.no_grad():
            logits, values = policy(torch.tensor(seen[name], dtype=torch.float32))
        likeliest = np.stack([one.argmax(1).numpy() for one in logits], axis=1)
        assert np.array_equal(rows[:, :-2], likeliest)
        logprob = sum(one.log_softmax(1).amax(1) for one in logits)
        assert rows[:, -2] == pytest.approx(logprob.numpy(), abs=1e-5)
        assert rows[:, -1] == pytest.approx(values[:, 0].numpy(), abs=1e-5)
    for name, why in (
        ("stg", "it sees “stg”"),
        ("recurrent", "it is a Recurrent"),
        ("damaged", "it is "),
        ("wild", "its weights are no usable numbers"),
        ("text", "it is no ONNX file"),
    ):
        assert found[name].startswith(f"This file cannot fly here: {why}"), found[name]

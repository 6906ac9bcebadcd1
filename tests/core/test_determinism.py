"""The same (parameters, seed, actions) give the same bits: everywhere, and the next time.

After a change that is meant to change results, `python tests/core/test_determinism.py` prints the
new HASHES.
"""

import functools
import shutil
import subprocess

import numpy as np
import pytest
from c_programs import GAMES, ISA, build
from needs import EACH_ISA, KERNELS, nightly, with_compiler
from places import CSRC
from reference_envelope import Crooked

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.parameters import (
    OBSERVATIONS,
    PILOTS,
    SENSOR_PILOTS,
    has_systems,
    kinds_of,
    observed,
    resolve,
    seat_weights,
)

AGENT = {"agent": 1.0}
PATIENT = {"patient": 1.0}  # it came later, so it has fights of its own
ALL_PILOTS = {name: 1.0 for name in PILOTS if name not in PATIENT}
SENSOR_PILOTS_TOO = ALL_PILOTS | dict.fromkeys(SENSOR_PILOTS, 1.0)
# Who flies against the agents, what they observe, and how many fight on each side.
FIGHTS = {
    "self": (AGENT, "default", (1, 1)),
    "pilots": (ALL_PILOTS, "default", (1, 1)),
    "stg": (AGENT, "stg", (1, 1)),
    "radar": (AGENT, "radar", (1, 1)),
    "radar pilots": (ALL_PILOTS, "radar", (1, 1)),
    "2v2": (AGENT, "team", (2, 2)),
    "1v3 pilots": (ALL_PILOTS, "team", (1, 3)),
    "4v4 pilots": (ALL_PILOTS, "team", (4, 4)),
    "5v8 pilots": (ALL_PILOTS, "team", (5, 8)),
    "2v2 radar": (AGENT, "team_radar", (2, 2)),
    "3v1 radar pilots": (SENSOR_PILOTS_TOO, "team_radar", (3, 1)),
    "4v4 radar pilots": (SENSOR_PILOTS_TOO, "team_radar", (4, 4)),
    "5v8 radar pilots": (SENSOR_PILOTS_TOO, "team_radar", (5, 8)),
    "patient": (PATIENT, "default", (1, 1)),
    "1v2 radar patient": (PATIENT, "team_radar", (1, 2)),
    "height": (AGENT, "height", (1, 1)),
    "height pilots": (ALL_PILOTS, "height", (1, 1)),
    "height drawn": (ALL_PILOTS, "height", (1, 1)),
    "height loaded": (ALL_PILOTS, "height_3", (1, 1)),
    "2v2 height drawn": (ALL_PILOTS, "team_height", (2, 2)),
    "5v8 height pilots": (ALL_PILOTS, "team_height", (5, 8)),
    "height radar": (AGENT, "radar_height", (1, 1)),
    "height radar drawn": (ALL_PILOTS | {"notcher": 1.0}, "radar_height", (1, 1)),
    "height radar loaded": (ALL_PILOTS, "radar_height_3", (1, 1)),
    "2v2 height radar drawn": (SENSOR_PILOTS_TOO, "team_radar_height", (2, 2)),
    "5v8 height radar pilots": (SENSOR_PILOTS_TOO, "team_radar_height", (5, 8)),
    "systems": (AGENT, "radar", (1, 1)),
    "systems pilots": (ALL_PILOTS | PATIENT | {"notcher": 1.0}, "radar", (1, 1)),
    "2v2 systems pilots": (SENSOR_PILOTS_TOO, "team_radar", (2, 2)),
    "height systems": (AGENT, "radar_height", (1, 1)),
    "height systems pilots": (ALL_PILOTS, "radar_height", (1, 1)),
    "2v2 height systems pilots": (SENSOR_PILOTS_TOO, "team_radar_height", (2, 2)),
    "5v8 systems pilots": (SENSOR_PILOTS_TOO, "team_radar", (5, 8)),
    "16v16 pilots": (ALL_PILOTS, "team", (16, 16)),
    "3v10 radar pilots": (SENSOR_PILOTS_TOO, "team_radar", (3, 10)),
    "9v16 height radar pilots": (SENSOR_PILOTS_TOO, "team_radar_height", (9, 16)),
}
# After DECISIONS random decisions of ENGAGEMENTS engagements, by fight: hash of the state, and
# checksum of all observations and rewards until then. By a map of their own, so that no way to
# find a missile's envelope changes them.
HASHES = {
    "self": (0x7D2E8600F7BA172C, 0x161262722BE92558),
    "pilots": (0xD6947D6A5BDA4FD8, 0x013994E84D6F3F71),
    "stg": (0x7D2E8600F7BA172C, 0x3155C733DB9BA098),
    "radar": (0x6F56E9F879CD9396, 0x79DD939FF8990AD7),
    "radar pilots": (0xA7F6DA92C53A669D, 0xEB6609C2E189BD6B),
    "2v2": (0x9A4B0BC276BF202D, 0xB2886962A0314ED7),
    "1v3 pilots": (0x3F53A04D60565377, 0x3ABB08EFC3BD977A),
    "4v4 pilots": (0x704EEA8E2C6B8396, 0xDFDD7CA0C5C92807),
    "5v8 pilots": (0x3D875ABCABE9E241, 0x7AAFF3E52541E08E),
    "2v2 radar": (0x7AE0AF468C88F37F, 0x2BC42524D4D049BB),
    "3v1 radar pilots": (0x3514D2494DC816DF, 0x9B841C7E60A9542D),
    "4v4 radar pilots": (0x1942F8F8EE6585F9, 0xDCF81641A820338A),
    "5v8 radar pilots": (0xEBBD90A2184CAE20, 0xBA342782A9E705BC),
    "patient": (0x701599D7110BB0F3, 0x463CDABAEE8CEB45),
    "1v2 radar patient": (0xD8B511905351E9DD, 0x957F878BA4018159),
    "height": (0x83DB2BDC4DBFE9A5, 0x0AA89E7C2BF05DEA),
    "height pilots": (0x1582C593936760C1, 0xEF34ED9BA8691964),
    "height drawn": (0xC64F8475F3196EBD, 0xB7CBFE22D61BF889),
    "height loaded": (0xC91BB58E66E2BAA7, 0x60E3B7DBF322CA7A),
    "2v2 height drawn": (0x005F3C480E3E1610, 0x6F7B8730EC8F9F71),
    "5v8 height pilots": (0x6E6DA4578CB2733E, 0xA88320986DDF3FCC),
    "height radar": (0x5ED524C5AE255B1D, 0x711D58F6449E458C),
    "height radar drawn": (0xBEE7CD8D5774BA53, 0x0918B0C672199E90),
    "height radar loaded": (0xA604F2DABAD2B744, 0xF6E747E5CAA6E508),
    "2v2 height radar drawn": (0x14997E00DB14D62E, 0xDB8274C14DCB4F15),
    "5v8 height radar pilots": (0x149560F6CEEAA0BF, 0xC2F8C5466AF234BE),
    "systems": (0xCBEB780E50AE8FE2, 0xE3D07D4C9A115A44),
    "systems pilots": (0x4349A33C3B7582AA, 0xBF5B8E713F017470),
    "2v2 systems pilots": (0xC5FE53E7CBF3101B, 0x845D0FC4BD84AF96),
    "height systems": (0xC5FA163E9D3A33D8, 0x903939F891078CF6),
    "height systems pilots": (0x12F41ADFCDC92F7C, 0xCA0077E88DB3F6ED),
    "2v2 height systems pilots": (0x6CA72640378395D2, 0xA3A96716CE4D8018),
    "5v8 systems pilots": (0x7ACC127F18FBAA9F, 0x6D02D4DD8CA45A62),
    "16v16 pilots": (0xA82EB111FF45E8EA, 0xE2A8E23702DB2CF1),
    "3v10 radar pilots": (0x95DC8237D88772AB, 0xEBB79F71154F76BD),
    "9v16 height radar pilots": (0xEB312D6D1B0C546C, 0xF8570B30E7DA9EEA),
}
# Hash of the fights alone then, without seed and numbers: what replays are compared by.
FIGHT_HASHES = {"self": 0x21CB3A088D9E0521, "pilots": 0x72E9638DEA567B6D}
ENGAGEMENTS, DECISIONS, SEED = 33, 500, 2**40 + 5
# Types that each engagement draws.
DRAWN = {"red_aircraft": "light,heavy", "blue_missile": "medium,long,short"}
DRAWN |= {"aircraft_spread": 0.3, "missile_spread": 0.3}
# Loads, whose missiles are varied.
LOADED = {"red_missiles": "long:2,medium:3,short:1", "blue_missiles": "medium:2,short:2"}
LOADED |= {"missile_spread": 0.3}
SYSTEMS = {"emission_control": "on", "chaff": 8}
# Noise, and jammers and chaff that differ by type of aircraft.
DISTURBED = {"radar_noise_range": 200, "radar_noise_bearing_deg": 1, "red_jammer": 20_000}
DISTURBED |= {"types": "light jammer=0.5 chaff=0.25, heavy jammer=0 chaff=0.5"}
TYPES = {
    "height drawn": DRAWN,
    "height loaded": LOADED,
    "2v2 height drawn": DRAWN,
    "height radar drawn": DRAWN,
    "height radar loaded": LOADED,
    "2v2 height radar drawn": DRAWN,
    **{fight: SYSTEMS for fight in FIGHTS if "systems" in fight},
}
TYPE_NUMBERS = {id(DRAWN): 1, id(LOADED): 2, id(SYSTEMS): 3}  # of the program; 0 is none
CLOSE = {"start_spacing_min": 1000, "start_spacing_max": 1500}  # of large sides
SHORT = {"start_range_min": 3000, "start_range_max": 20_000, "time_limit": 60}
ISAS = _core.isas()
SENSING = ("full", "radar")
EACH_GAME = pytest.mark.parametrize(
    "game",
    [
        *({}, {"sensing": "radar"}, {"dimensions": 3}),
        *({"dimensions": 3, **types} for types in (DRAWN, LOADED)),
        {"dimensions": 3, "sensing": "radar", **DRAWN},
        {"sensing": "radar", **SYSTEMS},
        {"dimensions": 3, "sensing": "radar", **DRAWN, **SYSTEMS, **DISTURBED},
    ],
    ids=["full", "radar", "height", "drawn", "loaded", "height radar", "systems", "disturbed"],
)


@functools.cache
def random_actions(
    agents: int,
    decisions: int,
    key: int = 0,
    shots: int = 1,
    dimensions: int = 2,
    systems: bool = False,
) -> np.ndarray:
    """Actions int32 [decisions, agents, controls] as tests/support/state_hash.c draws them.

    Every tenth is a shot, of one of so many levels: enemies or kinds of missiles.
    """
    bits = np.array(
        [
            [_core.philox4x32((agent, decision, 0, 0), (key, 0)) for agent in range(agents)]
            for decision in range(decisions)
        ]
    )
    fire = np.where(bits[..., 2] % 10 == 0, 1 + bits[..., 3] % shots, 0)
    climb = [bits[..., 1] // 3 % 5] if dimensions == 3 else []
    level = [bits[..., 2] // 10 % 4] if systems else []
    actions = [bits[..., 0] % 5, *climb, bits[..., 1] % 3, *level, fire]
    return np.stack(actions, axis=-1).astype(np.int32)


def add_bits(checksum: int, values: np.ndarray) -> int:
    """Adds values to a checksum as tests/support/state_hash.c does."""
    bits = values.ravel().view(np.uint32).astype(np.uint64)
    weights = 2 * np.arange(len(bits), dtype=np.uint64) + 1
    return (31 * checksum + int((bits * weights).sum())) % 2**64


def flown_with_random_actions(fight: str, isa: str) -> tuple[_core.Core, int]:
    """The core after DECISIONS, and the checksum of what came out until then."""
    shares, observation, (red, blue) = FIGHTS[fight]
    weights = [seat_weights(AGENT)] * red + [seat_weights(shares)] * blue
    sensing = "radar" if "radar" in observation else "full"
    dimensions = 3 if "height" in observation else 2
    game = {"sensing": sensing, "red_size": red, "blue_size": blue, "dimensions": dimensions}
    game |= CLOSE if max(red, blue) > 8 else {}
    parameters = resolve(game | TYPES.get(fight, {}), teams=True)
    core = _core.Core(
        parameters,
        ENGAGEMENTS,
        SEED,
        weights,
        True,
        isa,
        Crooked(),
        observation=observed("default" if observation != "stg" else "stg", parameters),
        types=flown_types(parameters),
    )
    observations = np.zeros((core.agents, core.features), np.float32)
    rewards, ends = np.zeros(core.agents, np.float32), np.zeros((2, core.agents), np.uint8)
    checksum = 0
    shots = max(red, blue, kinds_of(parameters))
    systems = has_systems(parameters)
    for actions in random_actions(
        core.agents, DECISIONS, shots=shots, dimensions=dimensions, systems=systems
    ):
        core.step(actions, observations, rewards, *ends)
        core.take_records()
        checksum = add_bits(add_bits(checksum, observations), rewards)
    return core, checksum


def hashes_after_random_actions(fight: str, isa: str) -> tuple[int, int]:
    core, checksum = flown_with_random_actions(fight, isa)
    return core.state_hash(), checksum


def program_arguments(fight: str) -> list[str]:
    """Returns the arguments of tests/support/state_hash.c."""
    shares, observation, sizes = FIGHTS[fight]
    names = [*OBSERVATIONS, _core.TEAM, _core.TEAM_RADAR, *_core.HEIGHTS, _core.TEAM_HEIGHT]
    names += [*_core.RADAR_HEIGHTS, _core.TEAM_RADAR_HEIGHT]
    number, types = names.index(observation), TYPE_NUMBERS.get(id(TYPES.get(fight)), 0)
    words = [ENGAGEMENTS, DECISIONS, SEED, number, *sizes, types, *seat_weights(shares)]
    return [str(word) for word in words]


def line(hashes: tuple[int, int]) -> str:
    return " ".join(f"{value:016x}" for value in hashes)


@EACH_ISA
@pytest.mark.parametrize("fight", HASHES)
def test_hashes_are_the_constants_on_every_instruction_set(fight, isa):
    assert line(hashes_after_random_actions(fight, isa)) == line(HASHES[fight])


@pytest.mark.parametrize("fight", FIGHT_HASHES)
def test_replays_are_compared_by_the_hash_of_the_fight_alone(fight):
    core, _ = flown_with_random_actions(fight, "auto")
    assert f"{core.fight_hash():016x}" == f"{FIGHT_HASHES[fight]:016x}"


def test_there_is_a_compiler():
    assert shutil.which("gcc") or shutil.which("clang")


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["-O1", nightly("-O0"), nightly("-O3 -march=native")])
@pytest.mark.parametrize(
    "compiler", [with_compiler("gcc"), with_compiler("clang", pytest.mark.nightly)]
)
def test_hashes_are_the_constants_with_every_compiler(tmp_path, compiler, flags):
    """Compares code that is not vectorised with code for this machine, with FMA.

    tests/web/test_core.py compares what clang compiles, for WebAssembly.
    """
    program = build(tmp_path, "state_hash", compiler, *flags.split())
    for fight, expected in HASHES.items():
        if sum(FIGHTS[fight][2]) > 2 * max(side for side, _ in GAMES):
            continue
        words = [program, *program_arguments(fight)]
        result = subprocess.run(words, check=True, capture_output=True, text=True)
        lines = result.stdout.splitlines()
        assert lines == [f"{ISA} {line(expected)}"]


@pytest.mark.skipif(KERNELS == ("portable",) or not shutil.which("gcc"), reason="for gcc on x86-64")
def test_arithmetic_with_more_bits_is_refused():
    """The x87 unit computes with 80 bits."""
    command = [
        "gcc",
        "-std=c11",
        "-fsyntax-only",
        "-DMR_SIDE=1",
        "-DMR_DIMENSIONS=2",
        str(CSRC / "state.c"),
    ]
    results = [
        subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
        for flags in ([], ["-mfpmath=387"])
    ]
    assert [result.returncode for result in results] == [0, 1]
    assert "floats need float arithmetic" in results[1].stderr


# Lanes and batches


@EACH_ISA
@EACH_GAME
@pytest.mark.parametrize("opponent", ["self", "shooter,snake,ace"])
def test_an_engagement_does_not_depend_on_the_others(opponent, game, isa):
    """An engagement is the same in any batch size, whatever flies in the other lanes."""
    seats = 2 if opponent == "self" else 1
    has_them = "chaff" in game
    actions = random_actions(
        33 * seats, 300, dimensions=game.get("dimensions", 2), systems=has_them
    )
    seen = {}
    for num_envs in (33, 16, 7, 1):
        env = Midrange(num_envs=num_envs, opponent=opponent, seed=1, isa=isa, **game, **SHORT)
        history = [[env.reset()[0].copy()]]
        for step in actions[:, : num_envs * seats]:
            history.append([buffer.copy() for buffer in env.step(step)[:4]])
        seen[num_envs] = history
    assert sum(step[2].sum() + step[3].sum() for step in seen[33][1:]) > 33
    for num_envs in (16, 7, 1):
        for all_of_them, some in zip(seen[33], seen[num_envs], strict=True):
            for expected, got in zip(all_of_them, some, strict=True):
                assert np.array_equal(expected[: num_envs * seats], got)


def far_duel(distance: int, neighbour: bool, isa: str) -> Simulation:
    """A missile flies at its target where float32 tells only whole metres; steps are half of one.

    With a `neighbour`, a missile of the other engagement is about to hit.
    """
    sim = Simulation(2, isa=isa, physics_dt=0.001, missile_hit_radius=1.2)
    sim.set_fighter(0, 1, x=1e7, y=0, heading_deg=180, speed=520)
    sim.set_missile(0, 0, owner=0, x=1e7 - distance, y=0, heading_deg=0, speed=520)
    if neighbour:
        sim.set_fighter(1, 1, x=0, y=0, heading_deg=180, speed=300)
        sim.set_missile(1, 0, owner=0, x=-3, y=0, heading_deg=0, speed=300)
    return sim


@EACH_ISA
@pytest.mark.parametrize("distance", [3, 7, 13, 17])
def test_far_from_the_origin_a_hit_does_not_depend_on_neighbours_or_calls(distance, isa):
    """Far away, rounding brings bodies nearer in a step than they fly."""
    alone, beside, by_steps = (far_duel(distance, n, isa) for n in (False, True, False))
    alone.advance(10)
    beside.advance(10)
    for _ in range(10):
        by_steps.advance(1)
    assert not alone.fighters["alive"][0, 1]
    for other in (beside, by_steps):
        for name, values in alone.fighters.items():
            assert np.array_equal(values[0], other.fighters[name][0]), name


@pytest.mark.parametrize(
    ("sizes", "game"),
    [
        *((sizes, {"sensing": sensing}) for sizes in ((1, 1), (2, 3)) for sensing in SENSING),
        *(
            (sizes, {"dimensions": 3, "sensing": sensing})
            for sizes in ((1, 1), (2, 3))
            for sensing in SENSING
        ),
    ],
    ids=str,
)
def test_it_does_not_matter_how_many_calls_an_advance_is_in(sizes, game):
    """Beliefs and missiles whose target dies in between do not depend on it either."""
    red, blue = sizes
    near = {"start_range_min": 6_000, "start_range_max": 9_000, "start_spacing_max": 900}
    near |= {"start_spacing_min": 300, "launch_interval": 1, **game}
    sim = Simulation(16, 3, "shooter", "snake", red_size=red, blue_size=blue, **near)
    differing = kills = 0
    for _ in range(60):
        sim.step()
        snapshot, hashes = sim.snapshot(), set()
        for calls in ((10,), (4, 6), (1, 1, 3, 5)):
            sim.restore(snapshot)
            alive = sim.fighters["alive"].sum()
            for steps in calls:
                sim.advance(steps)
            kills += alive - sim.fighters["alive"].sum()
            hashes.add(sim.state_hash())
        differing += len(hashes) > 1
        sim.restore(snapshot)
    assert kills > 30
    assert differing == 0


def starts(key: int) -> dict[tuple[int, int], np.ndarray]:
    """First observations by (engagement, episode) in a random play."""
    env = Midrange(num_envs=20, seed=3, opponent="weave,ace", **SHORT)
    first = {(i, 0): row.copy() for i, row in enumerate(env.reset()[0])}
    episode = np.zeros(20, int)
    for step in random_actions(20, 400, key):
        observations, _, terminals, truncations, _ = env.step(step)
        for i in np.flatnonzero(terminals | truncations):
            episode[i] += 1
            first[i, episode[i]] = observations[i].copy()
    return first


def test_an_episode_does_not_depend_on_what_was_before():
    """Episode k of engagement i starts alike after different plays of different length."""
    one, other = starts(key=0), starts(key=1)
    common = one.keys() & other.keys()
    assert len(common) < len(one.keys() | other.keys())
    assert max(episode for _, episode in common) > 3
    for at in common:
        assert np.array_equal(one[at], other[at])


# Snapshots


def flown(sim: Simulation, controls: np.ndarray) -> list[np.ndarray]:
    """Returns all that is seen while playing `controls` [steps, envs, 2, 3], and the last hash."""
    seen = []
    for control in controls:
        sim.step(control)
        seen += [sim.observe(), sim.rewards.copy(), sim.outcome]
    return [*seen, np.array(sim.state_hash(), np.uint64)]


@EACH_GAME
def test_a_snapshot_rewinds_exactly(game):
    """It also restores another object and instruction set; equal hashes mean equal states."""
    rng = np.random.default_rng(5)
    count = 1 + game.get("dimensions", 2) + ("chaff" in game)
    controls = rng.uniform(-1, 1, (120, 18, 2, count))
    kwargs = {"num_envs": 18, "blue": "ace", **game, **SHORT}
    sims = [Simulation(seed=seed, isa=isa, **kwargs) for seed, isa in enumerate(ISAS)]
    sim = Simulation(seed=9, **kwargs)
    flown(sim, controls[:20])
    assert sim.missiles["active"].any()
    snapshot, before = sim.snapshot(), sim.state_hash()
    first = flown(sim, controls[20:80])
    assert (sim.outcome != 0).any()
    assert sim.state_hash() != before
    for other in (sim, *sims):
        other.restore(snapshot)
        assert other.state_hash() == before
        assert other.snapshot() == snapshot
        for expected, got in zip(first, flown(other, controls[20:80]), strict=True):
            assert np.array_equal(expected, got)
    sim.restore(snapshot)
    assert not np.array_equal(flown(sim, controls[60:])[-1], first[-1])


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_hash_tells_states_apart(dimensions):
    """Every settable quantity of a fighter, a missile, and the place where they are, counts."""
    hashes = set()
    changes = [{}, {"x": 1}, {"y": 1}, {"heading_deg": 1}, {"speed": 301}, {"rudder": 0.5}]
    fighter = {"x": 0, "y": 0, "heading_deg": 0, "speed": 300, "rudder": 0}
    more = [{"throttle": 0.5}, {"ammo": 3}, {"alive": False}]
    if dimensions == 3:
        changes += [{"z": 1000}, {"climb_deg": 10}]
        more.append({"climb": 0.5})
    for env, seat in ((0, 0), (0, 1), (16, 0)):
        for change in (changes + more) if env == seat == 0 else [*changes[1:], *more]:
            sim = Simulation(num_envs=17, dimensions=dimensions)
            for i, f in ((0, 0), (0, 1), (16, 0)):
                sim.set_fighter(i, f, **fighter)
            sim.set_fighter(env, seat, **change)
            hashes.add(sim.state_hash())
    count = 3 * len(changes + more) - 2
    assert len(hashes) == count
    for change in (*changes, {"age": 1}, {"owner": 1}):
        sim = Simulation(num_envs=17, dimensions=dimensions)
        sim.set_missile(0, 0, **({"owner": 0, **fighter} | change))
        hashes.add(sim.state_hash())
    assert len(hashes) == count + len(changes) + 2


if __name__ == "__main__":
    for fight in FIGHTS:
        state, checksum = hashes_after_random_actions(fight, "auto")
        print(f'    "{fight}": (0x{state:016X}, 0x{checksum:016X}),')

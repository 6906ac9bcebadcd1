"""Hostile input is refused at the border by name, value and range, or does no harm behind it."""

import hashlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from c_programs import build

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.game.parameters import resolve, seat_weights

INT64 = np.iinfo(np.int64)
UINT64 = np.iinfo(np.uint64)
LEVELS = (5, 3, 2)
INFINITE = [float("nan"), float("inf"), -float("inf"), 10**400]
NOT_A_NUMBER = [*INFINITE, "5", b"5", True, np.True_, None, 1j, [5]]


# Actions


def step_after(actions: object) -> list[np.ndarray]:
    """The buffers after the same hundred decisions and one of `actions`, by four agents."""
    env = Midrange(num_envs=2, opponent="self", seed=1)
    env.checks_levels = False
    env.reset()
    for warm_up in np.random.default_rng(1).integers(0, LEVELS, (100, 4, 3), np.int32):
        env.step(warm_up)
    return [np.array(buffer) for buffer in env.step(actions)[:4]]


WILD = np.array([[0, 0, 0], [4, 2, 1], [9, 9, 9], [-9, -9, -9]])
TAME = np.array([[0, 0, 0], [4, 2, 1], [4, 2, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    "actions",
    [
        WILD.astype(np.int8),
        WILD.astype(np.int32),
        WILD.astype(">i4"),
        WILD.astype(np.int64),
        WILD.tolist(),
        np.asfortranarray(WILD.astype(np.int32)),
        np.repeat(WILD.astype(np.int32), 2, axis=1)[:, ::2],
        np.where(WILD == 9, INT64.max, np.where(WILD == -9, INT64.min, WILD)),
        np.where(WILD == 9, 2**32, np.where(WILD == -9, -(2**32) - 1, WILD)),  # 0 and -1 if cut
        np.where(WILD == 9, UINT64.max, TAME.astype(np.uint64)),
    ],
    ids=lambda actions: f"{getattr(actions, 'dtype', 'list')}",
)
def test_whole_numbers_of_any_size_and_layout_are_clipped(actions):
    if isinstance(actions, np.ndarray):
        actions.flags.writeable = False
    for expected, got in zip(step_after(TAME.astype(np.int32)), step_after(actions), strict=True):
        assert np.array_equal(expected, got)


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros((4, 3)),
        np.full((4, 3), np.nan, np.float32),
        np.full((4, 3), np.inf),
        np.zeros((4, 3), bool),
        np.zeros((4, 3), object),
        np.zeros((4, 3), complex),
        [["0"] * 3] * 4,
    ],
    ids=lambda actions: str(np.asarray(actions).dtype),
)
def test_actions_that_are_no_whole_numbers_are_refused(actions):
    with pytest.raises(TypeError, match=r"actions of type .*: must be whole numbers"):
        step_after(actions)


@pytest.mark.parametrize(
    "shape", [(0, 3), (3, 3), (5, 3), (4, 2), (4, 4), (4,), (12,), (2, 2, 3), (1, 4, 3), ()]
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_actions_of_another_shape_are_refused(shape, dtype):
    with pytest.raises(ValueError, match=re.escape(f"actions of shape {shape}")):
        step_after(np.zeros(shape, dtype))


def test_refused_actions_change_nothing():
    env = Midrange(num_envs=4)
    env.reset()
    before = env.state_hash()
    for actions in (np.zeros((4, 3)), np.zeros((3, 3), np.int32), np.full((4, 3), 9)):
        with pytest.raises((TypeError, ValueError)):
            env.step(actions)
    assert env.state_hash() == before


@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 3), (2, 2, 2), (2, 3, 3), (12,), ()])
def test_controls_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=re.escape(f"controls of shape {shape}")):
        Simulation(num_envs=2).step(np.zeros(shape))


def at_odd_address(array: np.ndarray) -> np.ndarray:
    """A copy whose numbers begin one byte after a multiple of four."""
    copy = np.zeros(array.nbytes + 8, np.uint8)
    first = 1 - copy.ctypes.data % 4 + 4
    view = copy[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    assert not view.flags.aligned
    return view


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_actions_at_an_odd_address_are_those_that_they_are(dtype):
    expected = step_after(TAME.astype(np.int32))
    for wanted, got in zip(expected, step_after(at_odd_address(TAME.astype(dtype))), strict=True):
        assert np.array_equal(wanted, got)


def test_controls_at_an_odd_address_are_those_that_they_are():
    sims = [Simulation(num_envs=2, seed=3) for _ in range(2)]
    controls = np.random.default_rng(0).random((2, 2, 3), np.float32)
    sims[0].step(controls)
    sims[1].step(at_odd_address(controls))
    assert sims[0].state_hash() == sims[1].state_hash()


@pytest.mark.parametrize(
    "name", ["actions", "observations", "rewards", "final_observations", "continuous", "controls"]
)
def test_the_core_refuses_numbers_at_an_odd_address(name):
    """Compiled code may read them as if they were aligned."""
    env = Midrange(num_envs=2, opponent="self")
    core, ends = env._groups[0].core, np.zeros((2, 4), np.uint8)
    before = core.state_hash()
    zeros = np.zeros((2, 2, 3), np.float32)
    buffers = {"actions": env.actions, "observations": env.observations, "rewards": env.rewards}
    buffers["final_observations"] = env.observations.copy()
    if name in buffers:
        buffers[name] = at_odd_address(buffers[name])
    given = [*list(buffers.values())[:3], *ends, buffers["final_observations"]]
    call = {
        "controls": lambda: core.step_controls(at_odd_address(zeros), zeros[..., 0].copy()),
        "continuous": lambda: core.step_continuous(at_odd_address(zeros.reshape(4, 3)), *given[1:]),
    }.get(name, lambda: core.step(*given))
    with pytest.raises(ValueError, match=r"must be aligned"):
        call()
    assert core.state_hash() == before


# Setting the state


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "x": [1e8, -1e8],
        "y": [1e8, -1e8],
        "heading_deg": [1e9],
        "speed": [-1, 1e5],
        "rudder": [-1.1, 1.1],
        "throttle": [-0.1, 1.1],
        "ammo": [-1, 7, 2.5],
        "alive": [-1, 2, 0.5],
    }.items(),
)
def test_a_wrong_value_of_a_fighter_is_refused_and_changes_nothing(name, values):
    sim = Simulation(num_envs=2)
    before = sim.state_hash()
    hostile = [float("nan"), float("inf"), -float("inf"), "5", 1j]
    for value in hostile + values:
        with pytest.raises(ValueError, match=re.escape(f"{name} = {value!r}: must be ")):
            sim.set_fighter(0, 0, **{name: value})
    assert sim.state_hash() == before


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "x": [1e8],
        "y": [-1e8],
        "heading_deg": [-1e9],
        "speed": [-1, 1e5],
        "rudder": [-1.1, 1.1],
        "age": [-1, 2**31, 0.5],
    }.items(),
)
def test_a_wrong_value_of_a_missile_is_refused_and_changes_nothing(name, values):
    sim = Simulation(num_envs=2)
    before = sim.state_hash()
    good = {"owner": 0, "x": 0, "y": 0, "heading_deg": 0, "speed": 500}
    for value in [float("nan"), float("inf"), "5", *values]:
        with pytest.raises(ValueError, match=re.escape(f"{name} = {value!r}: must be ")):
            sim.set_missile(0, 0, **(good | {name: value}))
    assert sim.state_hash() == before


@pytest.mark.parametrize("sensing", ["full", "radar"])
@pytest.mark.parametrize(
    ("sizes", "owner", "target", "enemies"),
    [
        ((1, 1), 0, 0, "1 ... 1"),
        ((2, 2), 0, 1, "2 ... 3"),
        ((2, 2), 3, 3, "0 ... 1"),
        ((1, 3), 1, 3, "0 ... 0"),
    ],
)
def test_a_target_on_the_owners_side_is_refused(sizes, owner, target, enemies, sensing):
    """There is no contact with an ally: with sensors the core would read outside its memory."""
    sim = Simulation(red_size=sizes[0], blue_size=sizes[1], sensing=sensing)
    before = sim.state_hash()
    place = {"x": 0, "y": 0, "heading_deg": 0, "speed": 500}
    wrong = re.escape(f"target = {target}: must be an enemy of owner {owner}, {enemies}")
    with pytest.raises(ValueError, match=wrong):
        sim.set_missile(0, 0, owner=owner, target=target, **place)
    assert sim.state_hash() == before


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("fighter", "launch_wait", -1),
        ("fighter", "launch_wait", 2**31 - 1),
        ("fighter", "alive", 2),
        ("fighter", "ammunition", 7),
        ("fighter", "direction_x", 0.5),
        ("fighter", "x", float("nan")),
        ("missile", "active", 2),
        ("missile", "age", -1),
        ("missile", "direction_y", 2.0),
        ("missile", "speed", 1e30),
    ],
)
def test_the_core_itself_refuses_what_cannot_be_set(kind, name, value):
    """Its callers are the simulations of games, pages and copies, which give it a whole state."""
    sim = Simulation(red_size=2, blue_size=2)
    sim.step()
    sim.set_missile(0, 0, owner=0, x=0, y=0, heading_deg=0, speed=500)
    before = sim.state_hash()
    state = getattr(sim.core, f"get_{kind}")(0, 0) | {name: value}
    word = name.replace("_x", "").replace("_y", "").replace("speed", "v")
    with pytest.raises(ValueError, match=f"{kind} whose {word} is out of range"):
        getattr(sim.core, f"set_{kind}")(0, 0, state)
    assert sim.state_hash() == before


@pytest.mark.parametrize(("env", "entity"), [(-1, 0), (2, 0), (0, -1), (0, 12), (2**30, 0)])
def test_indices_out_of_range_are_refused(env, entity):
    sim = Simulation(num_envs=2)
    before = sim.state_hash()
    place = {"x": 0, "y": 0, "heading_deg": 0, "speed": 500}
    with pytest.raises(IndexError, match=r"(env|fighter) = -?\d+: 0 \.\.\. "):
        sim.set_fighter(env, entity, x=0)
    with pytest.raises(IndexError, match=r"(env|fighter) = -?\d+: 0 \.\.\. "):
        sim.launch(env, entity)
    with pytest.raises(IndexError, match=r"(env|missile) = -?\d+: 0 \.\.\. "):
        sim.set_missile(env, entity, owner=0, **place)
    for owner, target in ((2, 0), (-1, 0), (0, 2), (0, -1)):
        with pytest.raises(IndexError, match=r"(owner|target) = -?\d+: 0 \.\.\. 1"):
            sim.set_missile(0, 0, owner=owner, target=target, **place)
    assert sim.state_hash() == before


@pytest.mark.parametrize("number", [0.5, 1.0, -0.0, float("nan"), "0", None])
def test_numbers_that_are_not_whole_are_no_indices(number):
    sim = Simulation(num_envs=2)
    before = sim.state_hash()
    for call in (
        lambda: sim.start(number),
        lambda: sim.start(0, number),
        lambda: sim.start(0, 0, number),
        lambda: sim.launch(number, 0),
        lambda: sim.set_missile(0, 0, owner=number, x=0, y=0, heading_deg=0, speed=500),
        lambda: sim.set_fighter(0, number, x=1),
        lambda: sim.advance(number),
        lambda: sim.core.look_ahead(0, 0, number, 1),
        lambda: sim.core.threat_cone(300, 1, number),
        lambda: Simulation(dimensions=3).core.high_threat_cone(0, 0, 1, number),
    ):
        with pytest.raises(TypeError, match="integer"):
            call()
    assert sim.state_hash() == before


def test_a_subclass_of_the_core_cannot_leave_out_its_checks():
    class Trusting(_core.Core):
        def _check_index(self, *_: object) -> None:
            pass

        def _check_observations(self, *_: object) -> None:
            pass

    core = Trusting(resolve({}), 1, 0, [seat_weights({"agent": 1.0})] * 2, True, "auto")
    with pytest.raises(IndexError, match="env = 1000000: 0"):
        core.get_fighter(10**6, 0)
    with pytest.raises(ValueError, match="observations of shape"):
        core.observe(np.zeros((1, 1), np.float32))


def test_negative_substeps_are_refused():
    with pytest.raises(ValueError, match="substeps = -1: at least 0"):
        Simulation().advance(-1)


# Snapshots


@pytest.fixture(scope="module")
def fight() -> Simulation:
    """Two engagements with missiles in the air."""
    sim = Simulation(num_envs=2, seed=4, blue="shooter", start_range_max=30_000)
    for _ in range(60):
        sim.step(np.ones((2, 2, 3)))
    assert sim.missiles["active"].any()
    return sim


def refuses(sim: Simulation, snapshot: bytes, reason: str = "snapshot") -> None:
    before = sim.state_hash()
    with pytest.raises(ValueError, match=reason):
        sim.restore(snapshot)
    assert sim.state_hash() == before


RESTORE_IN_A_THREAD = """
import threading
from midrange_puffer import Simulation
close = {"start_spacing_min": 1000, "start_spacing_max": 1000}
sim = Simulation(2, 0, red_size=16, blue_size=16, sensing="radar", dimensions=3, **close)
state = sim.snapshot()
sim.step()
threading.stack_size(160 * 1024)
thread = threading.Thread(target=sim.restore, args=[state])
thread.start()
thread.join()
assert sim.snapshot() == state
"""


def test_a_thread_with_a_small_stack_restores_the_largest_game():
    subprocess.run([sys.executable, "-c", RESTORE_IN_A_THREAD], check=True)


def test_a_snapshot_cut_short_or_too_long_is_refused(fight):
    snapshot = fight.snapshot()
    for length in [*range(0, 140, 7), len(snapshot) // 2, len(snapshot) - 1]:
        refuses(fight, snapshot[:length])
    refuses(fight, snapshot + b"\0")


def test_a_snapshot_with_any_bit_changed_is_refused(fight):
    snapshot = fight.snapshot()
    rng = np.random.default_rng(0)
    for at in [*range(120), *rng.integers(0, len(snapshot), 200)]:
        changed = bytearray(snapshot)
        changed[at] ^= 1 << rng.integers(8)
        refuses(fight, bytes(changed))


def test_a_snapshot_with_impossible_contents_is_refused(fight):
    """Its checksum fits: every byte set to 255 puts fields out of range."""
    snapshot = fight.snapshot()
    body = len(snapshot) - len(fight._core.snapshot()) - fight.rewards.nbytes - 32
    forged = snapshot[body : body + 32] + b"\xff" * (len(snapshot) - body - 32)
    refuses(fight, snapshot[: body - 32] + hashlib.sha256(forged).digest() + forged, "out of range")


def sealed(snapshot: bytes, place: int, word: int | float) -> bytes:
    """Returns the snapshot with another number of 32 bits at a place, and a checksum that fits."""
    magic, body = snapshot[:20], bytearray(snapshot[52:])
    place += len(body) if place < 0 else 32
    body[place : place + 4] = np.array(word, np.int32 if isinstance(word, int) else "f4").tobytes()
    return magic + hashlib.sha256(body).digest() + body


def test_counts_that_follow_from_fields_are_not_read_from_a_snapshot(fight):
    """The core computes the number of missiles in each slot anew: a forged one would crash it."""
    snapshot, before = fight.snapshot(), fight.state_hash()
    for slot in range(12):
        for count in (2**31 - 1, -1, 1, 0):
            fight.restore(sealed(snapshot, 4 * slot - 64, count))
            assert fight.snapshot() == snapshot
    assert fight.state_hash() == before


@pytest.fixture(scope="module")
def melee() -> Simulation:
    """Two against two with radars, a missile of red's first in the air, blue's second dead."""
    sim = Simulation(red_size=2, blue_size=2, sensing="radar")
    sim.set_fighter(0, 3, alive=False)
    sim.set_missile(0, 0, owner=0, target=2, x=0, y=0, heading_deg=0, speed=500)
    return sim


LANES = 64  # bytes of a field in a block, whose engagements are its lanes


def place_in(sim: Simulation, entity: str, number: int, name: str) -> int:
    """Returns the place of a field of a block's first engagement in the body of a snapshot."""
    names = {kind: list(sim.core.read(kind)) for kind in ("engagement", "fighter", "missile")}
    sizes = [len(fields) for fields in names.values()]
    [side] = [  # the room for fighters of a side, by the size of a block
        n
        for n in (1, 2, 4, 8)
        if sim.core.state_bytes == 4 * np.dot(sizes, (1, 2 * n, 12 * n)) + 4 * -(-12 * n // 16)
    ]
    known = {kind: list(sim.core.read(kind)) for kind in ("contact", "belief")}
    counts = {"engagement": 1, "fighter": 2 * side, "missile": 12 * side, "contact": 2 * side**2}
    at = sim.rewards.nbytes + 8  # after the seed
    if entity in known:
        at, names = at + 16 * sim.core.state_bytes, known
    for kind, fields in names.items():
        if kind == entity:
            return at + LANES * (number * len(fields) + fields.index(name))
        at += LANES * counts[kind] * len(fields)
    raise KeyError(entity)


@pytest.mark.parametrize(
    ("entity", "number", "name", "word", "wrong"),
    [
        ("missile", 0, "target", 1, "target"),  # on its owner's side
        ("missile", 0, "target", 3, "target"),  # dead
        ("missile", 0, "owner", 3, "target"),
        ("missile", 0, "owner", 2**31 - 1, "owner"),
        ("missile", 0, "c", 0.5, "direction"),
        ("missile", 0, "v", 1e30, "v"),
        ("fighter", 0, "target", 1, "target"),
        ("fighter", 2, "target", 3, "target"),
        ("fighter", 1, "s", 1.5, "direction"),
        ("fighter", 0, "x", 1e30, "x"),
        ("fighter", 0, "pressed", 2**30, "pressed"),
        ("engagement", 0, "time", 2**31 - 1, "time"),
        ("engagement", 0, "episode", 2**31 - 1, "episode"),
        ("contact", 7, "c", 2.0, "direction"),
        ("contact", 0, "v", float("inf"), "v"),
        ("belief", 0, "vx", -1e9, "vx"),
    ],
)
def test_a_forged_snapshot_that_cannot_be_flown_is_refused(
    melee, entity, number, name, word, wrong
):
    place = place_in(melee, entity, number, name)
    same = melee.core.read(entity)[name][0, number].item()
    melee.restore(sealed(melee.snapshot(), place, same))  # it is the field
    refuses(melee, sealed(melee.snapshot(), place, word), f"snapshot whose {wrong} is out of range")


def test_a_snapshot_with_rewards_that_are_no_numbers_is_refused(fight):
    refuses(fight, sealed(fight.snapshot(), 0, float("nan")), "rewards")


@pytest.mark.parametrize("number", [0, 5, 2**40])
def test_a_number_is_no_snapshot(fight, number):
    """bytes(number) is so many zeros."""
    with pytest.raises(TypeError, match="bytes-like"):
        fight.restore(number)


def test_a_snapshot_of_other_seats_is_refused():
    refuses(Simulation(num_envs=3), Simulation(num_envs=3, blue="shooter").snapshot(), "seats")


def test_the_core_refuses_weights_that_are_not_one_for_each_seat_and_pilot():
    parameters = resolve({})
    with pytest.raises(ValueError, match="pilot_weights"):
        _core.Core(parameters, 1, 0, [[1.0], [1.0]], True, "auto")


@pytest.mark.parametrize("num_envs", [0, -1, 2**20 + 1, 2**30, 2**31 - 1])
def test_the_core_refuses_a_number_of_engagements_that_it_cannot_count(num_envs):
    weights = [seat_weights({"agent": 1.0})] * 2
    with pytest.raises(ValueError, match=f"num_envs = {num_envs}: at least 1, at most 1048576"):
        _core.Core(resolve({}), num_envs, 0, weights, True, "auto")


def test_too_long_an_advance_is_refused():
    with pytest.raises(ValueError, match="substeps"):
        Simulation().advance(2**30)


def test_the_core_refuses_to_step_past_its_room_for_records():
    """Without missiles every engagement ends at once, and nobody takes the records."""
    env = Midrange(num_envs=4, opponent="self", ammunition=0)
    core, ends = env._groups[0].core, np.zeros((2, 8), np.uint8)
    for _ in range(2):
        core.step(env.actions, env.observations, env.rewards, *ends)
    with pytest.raises(RuntimeError, match="take_records"):
        core.step(env.actions, env.observations, env.rewards, *ends)
    assert len(core.take_records()) == 8


@pytest.mark.slow
def test_records_that_nobody_takes_are_not_written_past_their_room(tmp_path):
    """A caller in C, built without asserts, never takes the records."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    program = build(tmp_path, "full_records", compiler, "-O0", "-DNDEBUG", games=((1, 2),))
    result = subprocess.run([program], check=True, capture_output=True, text=True)
    assert result.stdout == "4\n"


@pytest.mark.parametrize(
    "other", [{"num_envs": 1}, {"num_envs": 3}, {"num_envs": 17}, {"substeps": 4}]
)
def test_a_snapshot_of_another_simulation_is_refused(fight, other):
    kwargs = {"num_envs": 2, "start_range_max": 30_000} | other
    refuses(fight, Simulation(**kwargs).snapshot())
    refuses(Simulation(**kwargs), fight.snapshot())

"""Threads may share a simulation: one at a time is let in, and none does harm."""

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.game.parameters import resolve, seat_weights

BUSY = "this simulation is in use by another thread"
NUM_ENVS = 512
STEPS = 4000  # that they fly ahead, for some hundredths of a second


def make_core(num_envs: int = NUM_ENVS) -> _core.Core:
    """Engagements in which agents fly both seats and that end at every decision."""
    weights = [seat_weights({"agent": 1.0})] * 2
    return _core.Core(resolve({"ammunition": 0}), num_envs, 0, weights, True, "auto")


class Buffers:
    """The arrays that a step of a core takes, owned by one thread."""

    def __init__(self, core: _core.Core) -> None:
        self.observations = np.zeros((core.agents, core.features), np.float32)
        self.rewards = np.zeros(core.agents, np.float32)
        ends = np.zeros((2, core.agents), np.uint8)
        self.step = np.zeros((core.agents, 3), np.int32), self.observations, self.rewards, *ends
        self.controls = np.zeros((core.num_envs, 2, 3), np.float32), self.rewards.reshape(-1, 2)


def calls(core: _core.Core) -> dict[str, Callable[[], object]]:
    """Every call that needs the state, by name."""
    buffers, state = Buffers(core), core.snapshot()
    fighter, missile = core.get_fighter(0, 0), core.get_missile(0, 0)
    both = np.zeros((2 * core.num_envs, core.features), np.float32)
    states = np.zeros((len(_core.state_rows()), 2, core.num_envs), np.float32)
    orders = np.zeros((core.num_envs, 2, 3), np.int32)
    flown = orders.astype(np.float32)
    return {
        "seed": lambda: core.seed,
        "reset": lambda: core.reset(1),
        "start": lambda: core.start(0, 0, 0),
        "step": lambda: core.step(*buffers.step),
        "step_continuous": lambda: core.step_continuous(
            buffers.step[0].astype(np.float32), *buffers.step[1:]
        ),
        "step_controls": lambda: core.step_controls(*buffers.controls),
        "controls_of_orders": lambda: core.controls_of_orders(orders, flown),
        "advance": lambda: core.advance(1),
        "observe": lambda: core.observe(buffers.observations),
        "observe_states": lambda: core.observe_states(states),
        "observe_all": lambda: core.observe_all(both),
        "observe_truth": lambda: core.observe_truth(buffers.observations),
        "record_count": core.record_count,
        "take_records": core.take_records,
        "get_fighter": lambda: core.get_fighter(0, 0),
        "set_fighter": lambda: core.set_fighter(0, 0, fighter),
        "get_missile": lambda: core.get_missile(0, 0),
        "set_missile": lambda: core.set_missile(0, 0, missile),
        "launch": lambda: core.launch(0, 0),
        "read": lambda: core.read("missile"),
        "status": core.status,
        "snapshot": core.snapshot,
        "restore": lambda: core.restore(state),
        "state_hash": core.state_hash,
        "fight_hash": core.fight_hash,
        "look_ahead": lambda: core.look_ahead(0, 0, 1, 2),
    }


NEED_NO_STATE = {"fly_shots", "threat_cone"}
ONLY_WITH_HEIGHT = {"types", "high_threat_cone"}


def test_no_call_is_forgotten_here():
    methods = {name for name in vars(_core.Core) if not name.startswith("_")}
    constant = {"num_envs", "agents", "features", "parameters", "isa", "threads"}
    constant |= {"fighters", "slots", "red_size", "controls", "state_bytes"}
    assert calls(make_core(1)).keys() == methods - constant - NEED_NO_STATE - ONLY_WITH_HEIGHT


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except RuntimeError as error:
        return str(error) == BUSY
    return False


def is_busy(core: _core.Core) -> bool:
    return is_refused(core.record_count)


def in_flight(core: _core.Core) -> threading.Thread:
    """A thread that flies a core far ahead, and is at it."""
    while True:
        core.reset(0)  # it may have been flown by one that was over too soon
        thread = threading.Thread(target=core.advance, args=(STEPS,))
        thread.start()
        while thread.is_alive():
            if is_busy(core):
                return thread
        thread.join()  # it was done before this thread saw it


def test_every_call_is_refused_while_another_is_under_way():
    core = make_core()
    for name, call in calls(core).items():
        refused = False
        while not refused:
            thread = in_flight(core)
            refused = is_refused(call)
            if not refused:
                assert not is_busy(core), name  # the flight was over before the call
            thread.join()
        core.reset(0)
        call()


def test_a_step_that_is_refused_changes_nothing():
    core, refused = make_core(), False
    step = calls(core)["step"]
    while not refused:
        core.reset(0)
        thread = in_flight(core)
        refused = is_refused(step)
        thread.join()
    other = make_core()
    other.advance(STEPS)
    assert core.state_hash() == other.state_hash()


def test_a_simulation_that_is_flown_lives_on_without_its_owner():
    core = make_core()
    thread = threading.Thread(target=core.advance, args=(STEPS,))
    thread.start()
    del core
    gc.collect()
    thread.join()


def test_a_call_that_is_refused_for_its_arguments_leaves_the_simulation_free():
    core = make_core(1)
    buffers = Buffers(core)
    for _ in range(2):
        core.step(*buffers.step)
    few = np.zeros((1, 3), np.int32)
    wrong = [
        (RuntimeError, "take_records", lambda: core.step(*buffers.step)),
        (ValueError, "actions of shape", lambda: core.step(few, *buffers.step[1:])),
        (KeyError, "plane", lambda: core.read("plane")),
        (ValueError, "snapshot of 3 bytes", lambda: core.restore(b"abc")),
        (ValueError, "substeps", lambda: core.advance(-1)),
    ]
    for kind, message, call in wrong:
        with pytest.raises(kind, match=message):
            call()
        assert not is_busy(core)


def hammer(work: list[Callable[[], object]], seconds: float = 0.15) -> Counter:
    """Do all of it over and over, each in a thread of its own; count what came of it.

    Each is tried at least once, however late the machine begins with it.
    """
    found, start = [Counter() for _ in work], threading.Barrier(len(work))

    def run(call: Callable[[], object], counts: Counter) -> None:
        start.wait()
        end = time.monotonic() + seconds
        while not counts or time.monotonic() < end:
            try:
                call()
            except RuntimeError as error:
                told = str(error)
                counts["busy" if BUSY in told else "full" if "take_records" in told else told] += 1
            else:
                counts["done"] += 1

    threads = [threading.Thread(target=run, args=pair) for pair in zip(work, found, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found, Counter())


def test_threads_that_step_one_core_are_refused_or_served():
    core = make_core()
    own = [Buffers(core) for _ in range(4)]
    counts = hammer([lambda buffers=buffers: core.step(*buffers.step) for buffers in own])
    assert counts.keys() <= {"done", "busy", "full"}
    assert counts["done"] == 2  # for more there is no room
    assert len(core.take_records()) == 2 * NUM_ENVS


def test_threads_that_do_everything_with_one_core_are_refused_or_served():
    core = make_core()
    work = [core.take_records, *([lambda: [call() for call in calls(core).values()]] * 3)]
    assert hammer(work).keys() <= {"done", "busy", "full"}


def test_calls_of_games_with_height_are_refused_while_another_is_under_way():
    sim = Simulation(NUM_ENVS, dimensions=3)
    thread = in_flight(sim.core)
    assert is_refused(lambda: sim.core.types())
    assert is_refused(lambda: sim.core.high_threat_cone(0, 0, 1, 2))
    thread.join()


def test_threads_that_step_one_environment_are_refused_or_served():
    """And what is done is the same as done by one thread: every step counts once."""
    env = Midrange(num_envs=64, opponent="self", seed=3)
    env.reset()
    actions = np.ones((env.num_agents, 3), np.int32)
    counts = hammer([lambda: env.step(actions)] * 4, seconds=0.03)
    assert counts.keys() <= {"done", "busy"}
    assert counts["done"] > 0
    alone = Midrange(num_envs=64, opponent="self", seed=3)
    alone.reset()
    for _ in range(counts["done"]):
        alone.step(actions)
    assert env.state_hash() == alone.state_hash()


def test_threads_share_what_needs_no_state():
    sim = Simulation()
    cones = {}

    def run(index: int) -> None:
        cones[index] = sim.core.threat_cone(300, 10, 200)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cone in cones.values():
        assert np.array_equal(cone, cones[0], equal_nan=True)

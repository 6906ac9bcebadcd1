"""The fields of csrc/state_fields.h: each is started, kept in snapshots, checked and readable."""

import numpy as np
import pytest

from midrange_puffer import Simulation, _core

ENTITIES = {"engagement": 1, "fighter": _core.FIGHTERS, "missile": _core.MISSILES}
NEAR = {"start_range_min": 3000, "start_range_max": 20_000}


def flown(num_envs: int, seed: int) -> Simulation:
    """Engagements of an agent that fires and turns, after 20 s."""
    sim = Simulation(num_envs, seed, blue="evader", **NEAR)
    rng = np.random.default_rng(seed)
    for _ in range(40):
        sim.step(rng.uniform(-1, 1, (num_envs, 2, 3)))
    return sim


def everything(sim: Simulation) -> dict[tuple[str, str], np.ndarray]:
    return {
        (entity, name): values
        for entity in ENTITIES
        for name, values in sim.core.read(entity).items()
    }


def test_every_field_can_be_read():
    sim = flown(18, 0)
    for (entity, name), values in everything(sim).items():
        assert values.shape == (18, ENTITIES[entity]), name
        assert values.dtype in (np.int32, np.float32), name
    fighters, missiles = sim.core.read("fighter"), sim.core.read("missile")
    assert missiles["active"].any()
    for env, fighter in np.ndindex(18, _core.FIGHTERS):
        state = sim.core.get_fighter(env, fighter)
        for name in ("x", "y", "rudder", "throttle", "alive", "ammunition", "pilot"):
            assert fighters[name][env, fighter] == state[name]
        assert fighters["v"][env, fighter] == state["speed"]
        assert sim.fighters["wait"][env, fighter] == state["launch_wait"]
    for env, slot in np.argwhere(missiles["active"]):
        state = sim.core.get_missile(env, slot)
        for name in ("x", "y", "rudder", "active", "owner", "target", "age"):
            assert missiles[name][env, slot] == state[name]


def test_a_start_sets_every_field():
    """After a reset nothing is left of what was flown before, in no field."""
    sim, fresh = flown(18, 3), Simulation(18, 5, blue="evader", **NEAR)
    before = everything(sim)
    sim.reset(5)
    changed = 0
    for place, values in everything(fresh).items():
        assert np.array_equal(everything(sim)[place], values), place
        changed += not np.array_equal(before[place], values)
    assert changed > 25
    assert sim.snapshot() == fresh.snapshot()


def test_a_snapshot_with_any_field_out_of_its_range_is_refused():
    """The error names the word of the state that is -1 or not a number."""
    sim = flown(1, 0)
    state = sim.core.snapshot()
    fields = {name for _, name in everything(sim)}
    lanes = 16
    words = lanes * sum(count * len(sim.core.read(name)) for name, count in ENTITIES.items())
    named, before = set(), sim.state_hash()
    for word in range(words):
        wrong = np.frombuffer(state, np.uint8).copy()
        wrong[8 + 4 * word : 12 + 4 * word] = 0xFF  # after the seed
        with pytest.raises(ValueError, match=r"snapshot whose \w+ is out of range") as error:
            sim.core.restore(wrong)
        named.add(str(error.value).split()[2])
    assert named == fields
    assert sim.state_hash() == before


def test_a_restored_simulation_has_the_seed_of_the_snapshot():
    """Checks `start`, `reset` and a second snapshot."""
    ours, theirs = Simulation(3, seed=1), Simulation(3, seed=2)
    ours.restore(theirs.snapshot())
    for act in (lambda sim: sim.start(1, engagement=5, episode=2), lambda sim: sim.reset()):
        act(ours)
        act(theirs)
        assert ours.snapshot() == theirs.snapshot()
    ours.reset(1)
    assert ours.snapshot() == Simulation(3, seed=1).snapshot()


def test_the_hash_tells_seeds_and_engagements_apart():
    """The next starts depend on both, however alike what has been flown is."""
    kwargs = {"num_envs": 2, "start_range_min": 20_000, "start_range_max": 20_000}
    sims = {}
    for seed, engagement in ((1, 0), (2**32 + 1, 0), (1, 7)):
        sim = sims[seed, engagement] = Simulation(seed=seed, **kwargs)
        sim.start(0, engagement)
        for env, fighter in np.ndindex(2, 2):
            sim.set_fighter(env, fighter, x=1000 * fighter, y=0, heading_deg=0, speed=300)
    assert len({sim.fight_hash() for sim in sims.values()}) == 1
    assert len({sim.state_hash() for sim in sims.values()}) == len(sims)

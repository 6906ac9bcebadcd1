"""Objects that receive the odd calls of `calls`: how each is made, stepped and compared."""

import copy
import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hostile import forged, odd
from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.game.parameters import PILOTS, resolve, seat_weights
from midrange_puffer.gym import MidrangeEnv, MidrangeVectorEnv
from midrange_puffer.pettingzoo import parallel_env

SHORT = {"start_range_min": 3000, "start_range_max": 20_000, "time_limit": 30}
FIGHTER = ("x", "y", "heading_deg", "speed", "rudder", "throttle", "ammo", "alive")
MISSILE = ("x", "y", "heading_deg", "speed", "rudder", "age", "owner", "target")

Call = Callable[[object, random.Random], object]


@dataclass(frozen=True)
class Callee:
    """A kind of object.

    Attributes:
        make: one of this kind, all of it given by the random numbers.
        step: a step as it should be.
        odd: name -> a call as it should not be.
        state: all that its future depends on, and its results, to compare.
        numbers: what must be finite, by name.
        is_locked: whether threads are kept from each other by RuntimeError and nothing else.
    """

    make: Callable[[random.Random], object]
    step: Call
    odd: Mapping[str, Call]
    state: Callable[[object], object]
    numbers: Callable[[object], dict[str, np.ndarray]]
    is_locked: bool = True


def _given(rng: random.Random, names: tuple[str, ...]) -> dict[str, object]:
    """Returns odd values of some of these arguments, and of one that does not exist."""
    names = rng.sample(names, rng.randint(0, len(names)))
    if rng.random() < 0.1:
        names.append("mood")
    return {name: odd.thing(rng) for name in names}


def _state_numbers(core: _core.Core) -> dict[str, np.ndarray]:
    return {
        f"{entity}.{name}": values
        for entity in ("engagement", "fighter", "missile")
        for name, values in core.read(entity).items()
    }


def _shake(core: _core.Core, rng: random.Random) -> None:
    """Tries the operations that Python has for any object."""
    attempts = (
        lambda: copy.copy(core),
        lambda: copy.deepcopy(core),
        lambda: pickle.dumps(core),
        lambda: core.__init__(odd.thing(rng)),
        lambda: core.__init__(),
        lambda: setattr(core, rng.choice(("num_envs", "agents", "sim", "busy")), 10**6),
        lambda: _core.Core.__new__(_core.Core),
        lambda: type("Core2", (_core.Core,), {"__init__": lambda *_: None})(odd.thing(rng)),
    )
    try:
        rng.choice(attempts)()
    except AttributeError:  # a readonly attribute
        raise TypeError("refused") from None


# The core


class _Cored:
    """A core with the buffers of its steps."""

    def __init__(self, rng: random.Random) -> None:
        self.num_envs = rng.choice((1, 3, 16, 17, 40))
        seats = [seat_weights({rng.choice(("agent", "shooter", "snake")): 1.0}) for _ in range(2)]
        seats[rng.randrange(2)] = seat_weights({"agent": 1.0})
        parameters = resolve(SHORT | {"ammunition": rng.choice((0, 1, 4))})
        seed, again = rng.randrange(2**64), rng.random() < 0.5
        self.core = _core.Core(parameters, self.num_envs, seed, seats, again, "auto")
        agents = self.core.agents
        self.actions = np.zeros((agents, 3), np.int32)
        self.observations = np.zeros((agents, self.core.features), np.float32)
        self.rewards = np.zeros(agents, np.float32)
        self.ends = np.zeros((2, agents), np.uint8)

    def step(self, rng: random.Random) -> None:
        self.core.take_records()
        levels = [[rng.randrange(5), rng.randrange(3), rng.randrange(2)] for _ in self.actions]
        self.core.step(
            np.array(levels, np.int32), self.observations, self.rewards, *self.ends, None
        )

    def odd_step(self, rng: random.Random) -> None:
        """Steps with one or two odd arrays; drops the results."""
        agents = self.core.agents
        shapes = ((agents, self.core.features), (agents,), (agents,), (agents,))
        kinds = (np.float32, np.float32, np.uint8, np.uint8)
        continuous = rng.random() < 0.5
        given = [np.zeros((agents, 3), np.float32 if continuous else np.int32)]
        given += [np.zeros(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        given.append(rng.choice((given[1], np.zeros(shapes[0], np.float32))))
        for place in rng.sample(range(6), rng.randint(0, 2)):
            given[place] = odd.array(rng, given[place].shape, given[place].dtype)
        self.core.take_records()
        (self.core.step_continuous if continuous else self.core.step)(*given)


def _odd_restore(cored: _Cored, rng: random.Random) -> None:
    whole = cored.core.snapshot()
    cored.core.restore(rng.choice((whole[:-1], whole + b"\0", whole[:0], whole, odd.thing(rng))))


def _odd_shots(cored: _Cored, rng: random.Random) -> None:
    shots = np.zeros(rng.choice((0, 1, 17)), _core.SHOT)
    shots["range"], shots["nose"], shots["aspect"] = 9000, (1, 0), (1, 0)
    shots["launch_speed"] = shots["target_speed"] = 300
    name = rng.choice(_core.SHOT.names)
    value = rng.choice((np.nan, np.inf, 1e38, -1e38, -1, 99, 0))
    shots[name] = value if name != "evasion" else rng.choice((-1, 0, 7, 99))
    cored.core.fly_shots(rng.choice((shots, shots[::-1], shots.view("u1"), odd.thing(rng))))


CORE = Callee(
    make=_Cored,
    step=_Cored.step,
    odd={
        "step": _Cored.odd_step,
        "step_controls": lambda it, rng: it.core.step_controls(
            odd.array(rng, (it.num_envs, 2, 3), np.float32),
            odd.array(rng, (it.num_envs, 2), np.float32),
        ),
        "advance": lambda it, rng: it.core.advance(rng.choice((-1, 0, 3, 2**31, 10**7, None))),
        "observe": lambda it, rng: it.core.observe(
            odd.array(rng, it.observations.shape, np.float32)
        ),
        "observe_all": lambda it, rng: it.core.observe_all(
            odd.array(rng, (2 * it.num_envs, it.core.features), np.float32)
        ),
        "reset": lambda it, rng: it.core.reset(odd.thing(rng)),
        "start": lambda it, rng: it.core.start(*(odd.index(rng, 5) for _ in range(3))),
        "get_fighter": lambda it, rng: it.core.get_fighter(*(odd.index(rng, 3) for _ in range(2))),
        "get_missile": lambda it, rng: it.core.get_missile(*(odd.index(rng, 13) for _ in range(2))),
        "set_fighter": lambda it, rng: it.core.set_fighter(
            odd.index(rng, 2), odd.index(rng, 2), odd.thing(rng)
        ),
        "launch": lambda it, rng: it.core.launch(odd.index(rng, 5), odd.index(rng, 2)),
        "read": lambda it, rng: it.core.read(odd.thing(rng)),
        "restore": _odd_restore,
        "fly_shots": _odd_shots,
        "look_ahead": lambda it, rng: it.core.look_ahead(*(odd.index(rng, 2) for _ in range(4))),
        "threat_cone": lambda it, rng: it.core.threat_cone(odd.thing(rng), 1, odd.index(rng, 3)),
        "shake": lambda it, rng: _shake(it.core, rng),
        "make": lambda it, rng: _core.Core(
            it.core.parameters, odd.thing(rng), odd.thing(rng), odd.thing(rng), True, "auto"
        ),
    },
    state=lambda it: (it.core.state_hash(), it.observations.tobytes(), it.rewards.tobytes()),
    numbers=lambda it: {
        "observations": it.observations,
        "rewards": it.rewards,
        **_state_numbers(it.core),
    },
)


# Simulation


def _make_simulation(rng: random.Random) -> Simulation:
    red, blue = (rng.choice(("agent", *PILOTS)) for _ in range(2))
    seed, num_envs = rng.randrange(2**64), rng.choice((1, 16, 19))
    return Simulation(num_envs, seed, red, blue, **SHORT)


def _make_team(rng: random.Random) -> Simulation:
    red, blue = rng.choice(((2, 2), (1, 3), (3, 2)))
    flown_by = [rng.choice(("agent", "shooter", "crank", "snake")) for _ in range(2)]
    sensing = rng.choice(("full", "radar"))
    parameters = SHORT | {"red_size": red, "blue_size": blue, "sensing": sensing}
    parameters |= {"start_spacing_min": 300, "start_spacing_max": 1000}
    return Simulation(rng.choice((1, 16, 19)), rng.randrange(2**64), *flown_by, **parameters)


def _controls(sim: Simulation, rng: random.Random) -> np.ndarray:
    numbers = np.random.default_rng(rng.randrange(2**32))
    return numbers.uniform([-1, 0, 0], 1, (*sim.rewards.shape, 3))


def _odd_snapshot(sim: Simulation, rng: random.Random) -> None:
    whole = bytearray(rng.choice((sim, Simulation(sim.num_envs, 1))).snapshot())
    if rng.random() < 0.7:
        whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    sim.restore(rng.choice((whole, whole[:-1], b"", odd.thing(rng))))


def _odd_missile(sim: Simulation, rng: random.Random) -> None:
    fighters = sim.rewards.shape[1]
    missile = {"owner": 0, "x": 0, "y": 0, "heading_deg": 0, "speed": 500, **_given(rng, MISSILE)}
    if rng.random() < 0.5:
        missile |= {name: odd.index(rng, fighters) for name in ("owner", "target")}
    sim.set_missile(odd.index(rng, 2), odd.index(rng, 6 * fighters), **missile)


def _simulation_numbers(sim: Simulation) -> dict[str, np.ndarray]:
    missiles = sim.missiles
    sides = {name: missiles[name] >= sim.core.red_size for name in ("owner", "target")}
    at_own_side = (missiles["active"] == 1) & (sides["owner"] == sides["target"])
    return {
        "observations": sim.observe(),
        "rewards": sim.rewards,
        "a missile's target on its owner's side": np.where(at_own_side, np.nan, 0),
        **_state_numbers(sim.core),
    }


SIMULATION = Callee(
    make=_make_simulation,
    step=lambda sim, rng: sim.step(_controls(sim, rng)),
    odd={
        "step": lambda sim, rng: sim.step(odd.array(rng, (*sim.rewards.shape, 3), np.float32)),
        "advance": lambda sim, rng: sim.advance(rng.choice((-1, 0, 3, 2**31, 10**7, None, 0.5))),
        "reset": lambda sim, rng: sim.reset(odd.thing(rng)),
        "start": lambda sim, rng: sim.start(*(odd.index(rng, 5) for _ in range(3))),
        "set_fighter": lambda sim, rng: sim.set_fighter(
            odd.index(rng, 2), odd.index(rng, 2), **_given(rng, FIGHTER)
        ),
        "set_missile": _odd_missile,
        "launch": lambda sim, rng: sim.launch(odd.index(rng, 5), odd.index(rng, 2)),
        "restore": _odd_snapshot,
        "make": lambda sim, rng: Simulation(odd.thing(rng), **_given(rng, ("seed", "red", "isa"))),
    },
    state=lambda sim: (sim.state_hash(), sim.rewards.tobytes()),
    numbers=_simulation_numbers,
)


TEAM = replace(SIMULATION, make=_make_team)


class _Forged:
    """A simulation, and the snapshot of a fight with missiles in the air that is forged."""

    def __init__(self, rng: random.Random) -> None:
        self.sim = rng.choice((_make_simulation, _make_team))(rng)
        for _ in range(rng.randrange(1, 30)):
            self.sim.step(_controls(self.sim, rng))
        self.whole = self.sim.snapshot()

    def restore(self, rng: random.Random) -> None:
        self.sim.restore(forged.forge(self.whole, rng))


SNAPSHOTS = Callee(
    make=_Forged,
    step=lambda it, rng: it.sim.step(_controls(it.sim, rng)),
    odd={"restore": _Forged.restore},
    state=lambda it: SIMULATION.state(it.sim),
    numbers=lambda it: SIMULATION.numbers(it.sim),
)


# Environments


def _make_midrange(rng: random.Random) -> Midrange:
    opponent = rng.choice(("self", "shooter", "self:1,snake:2", "straight:1,weave:1"))
    mode, seed = rng.choice(("discrete", "continuous")), rng.randrange(2**64)
    env = Midrange(rng.choice((2, 16, 33)), opponent, action_mode=mode, seed=seed, **SHORT)
    env.reset()
    return env


def _actions(rng: random.Random, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(rng.randrange(2**32)).integers(0, (5, 3, 2), shape)


MIDRANGE = Callee(
    make=_make_midrange,
    step=lambda env, rng: env.step(_actions(rng, env.actions.shape)),
    odd={
        "step": lambda env, rng: env.step(odd.array(rng, env.actions.shape, env.actions.dtype)),
        "step_records": lambda env, rng: env.step_records(
            odd.array(rng, env.actions.shape, env.actions.dtype)
        ),
        "reset": lambda env, rng: env.reset(odd.thing(rng)),
        "close": lambda env, rng: env.close(),
        "render": lambda env, rng: env.render(),
        "make": lambda env, rng: Midrange(
            odd.thing(rng), **_given(rng, ("opponent", "seat", "seed", "isa", "pool"))
        ),
    },
    state=lambda env: (env.state_hash(), env.observations.tobytes(), env.rewards.tobytes()),
    numbers=lambda env: {"observations": env.observations, "rewards": env.rewards},
)


def _make_gym(rng: random.Random) -> MidrangeVectorEnv:
    opponent, mode = (
        rng.choice(("shooter", "ace:1,snake:2")),
        rng.choice(("discrete", "continuous")),
    )
    env = MidrangeVectorEnv(rng.choice((2, 16)), opponent, action_mode=mode, **SHORT)
    env.reset(seed=rng.randrange(2**64))
    return env


GYM = Callee(
    make=_make_gym,
    step=lambda env, rng: env.step(_actions(rng, (env.num_envs, 3))),
    odd={
        "step": lambda env, rng: env.step(odd.array(rng, (env.num_envs, 3), np.int32)),
        "reset": lambda env, rng: env.reset(seed=1, options=odd.thing(rng)),
        "seed": lambda env, rng: env.reset(seed=odd.thing(rng) or 0),
        "options": lambda env, rng: env.reset(
            seed=1, options=_given(rng, ("engagement", "episode", "range", "speed", "ammunition"))
        ),
        "make": lambda env, rng: MidrangeEnv(odd.thing(rng), **_given(rng, ("seat", "isa"))),
    },
    state=lambda env: (env._arena.core.state_hash(), env._arena.buffers.rewards.tobytes()),
    numbers=lambda env: {
        "observations": env._arena.buffers.observations,
        "rewards": env._arena.buffers.rewards,
    },
    is_locked=False,  # an end that another thread has brought about must be followed by a reset
)


class _Pair:
    """A parallel environment that starts anew when an engagement has ended."""

    def __init__(self, rng: random.Random) -> None:
        self.env = parallel_env(**SHORT)
        self.seed = rng.randrange(2**63)
        self.results: object = self.env.reset(seed=self.seed)

    def step(self, rng: random.Random) -> None:
        if not self.env.agents:
            self.env.reset(seed=self.seed)
        self.results = self.env.step({agent: _actions(rng, (3,)) for agent in self.env.agents})


PETTINGZOO = Callee(
    make=_Pair,
    step=_Pair.step,
    odd={
        "step": lambda it, rng: it.env.step(
            {agent: odd.array(rng, (3,), np.int32) for agent in it.env.agents}
        ),
        "agents": lambda it, rng: it.env.step(
            rng.choice(({}, {"red_0": [0, 0, 0]}, {"x": 1}, odd.thing(rng)))
        ),
        "reset": lambda it, rng: it.env.reset(seed=1, options=odd.thing(rng)),
        "options": lambda it, rng: it.env.reset(
            seed=1, options=_given(rng, ("engagement", "range", "red_speed", "blue_ammunition"))
        ),
        "space": lambda it, rng: it.env.action_space(odd.thing(rng)),
    },
    state=lambda it: (it.env._arena.core.state_hash(), it.env._arena.buffers.rewards.tobytes()),
    numbers=lambda it: {"observations": it.env._arena.buffers.observations},
    is_locked=False,
)

CALLEES = {
    "core": CORE,
    "simulation": SIMULATION,
    "team": TEAM,
    "snapshots": SNAPSHOTS,
    "midrange": MIDRANGE,
    "gym": GYM,
    "pettingzoo": PETTINGZOO,
}

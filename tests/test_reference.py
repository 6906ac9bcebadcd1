"""The float64 reference stepped beside the core over random engagements and the pilots' fights.

Both get the same starts and controls. The core computes in float32: each step rounds a position
of tens of kilometres by up to 2 mm and a direction by 6e-8. Over the 1000 steps of a fight,
directions being carried along 30 km, that is at worst, all to one side, 2 m and 1000 * 6e-8 * 30 km
= 1.8 m; what is seen is centimetres and, once a missile has chased a turning target, half a metre.
A yes or no that falls within that error (a pass at the hit radius, a pilot's shot, a turn to this
side or that) forks the fight: such engagements are left from there on, and only a few may be.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from reference import OPEN, Engagement, Fighter, Missile, Pilot
from scenes import State, read

from midrange_puffer import Simulation
from midrange_puffer.parameters import PILOTS, resolve

POSITION, SPEED, RUDDER, REWARD = 2.0, 0.02, 0.02, 1e-4  # m, m/s, 1, 1
NEAR = {
    "fuze": POSITION,
    "spent": SPEED,
    "range": POSITION,
    "boresight": 1e-4,
    "side": 1e-4,
    "time to go": 1e-2,
}

Controls = dict[int, list[tuple[float, float, float]]]


def reference_of(sim: Simulation, env: int, p: dict[str, float]) -> Engagement:
    """The reference's copy of an engagement that has just started."""
    fighters = []
    for f in (read(sim.fighters, seat, env) for seat in range(2)):
        direction = f["vx"] / f["speed"], f["vy"] / f["speed"]
        fighters.append(
            Fighter(f["x"], f["y"], *direction, f["speed"], throttle=1.0, ammo=int(f["ammo"]))
        )
    return Engagement(p, fighters)


@dataclass
class Tally:
    """What a comparison saw, so that it cannot pass by seeing nothing."""

    ended: int = 0
    launches: int = 0
    kills: int = 0
    truncated: int = 0
    forks: int = 0

    def note_end(self, fight: Engagement) -> None:
        self.ended += 1
        self.launches += sum(int(fight.p["ammunition"]) - f.ammo for f in fight.fighters)
        self.kills += sum(not f.alive for f in fight.fighters)
        self.truncated += fight.truncated


def assert_same_state(ours: State, theirs: Fighter | Missile) -> None:
    assert (ours["x"], ours["y"]) == pytest.approx((theirs.x, theirs.y), abs=POSITION)
    assert (ours["vx"], ours["vy"]) == pytest.approx(theirs.velocity, abs=10 * SPEED)
    assert ours["speed"] == pytest.approx(theirs.speed, abs=SPEED)
    if getattr(theirs, "alive", True):  # the rudder of the dead moves nothing
        assert ours["rudder"] == pytest.approx(theirs.rudder, abs=RUDDER)


@dataclass
class Core:
    """What the core shows of all its engagements after a decision."""

    sim: Simulation

    def __post_init__(self) -> None:
        self.fighters, self.missiles = self.sim.fighters, self.sim.missiles
        self.outcome, self.truncated = self.sim.outcome, self.sim.truncated

    def assert_same(self, env: int, fight: Engagement, rewards: tuple[float, float]) -> None:
        """The same alive, in the air and decided, the same states and rewards."""
        assert self.outcome[env] == fight.outcome
        assert self.truncated[env] == fight.truncated
        for seat, theirs in enumerate(fight.fighters):
            ours = read(self.fighters, seat, env)
            assert (ours["alive"], ours["ammo"]) == (theirs.alive, theirs.ammo)
            assert_same_state(ours, theirs)
        in_the_air = self.in_the_air(env)
        assert in_the_air.keys() == {(shot.owner, shot.age) for shot in fight.missiles}
        for shot in fight.missiles:
            assert_same_state(in_the_air[shot.owner, shot.age], shot)
        assert self.sim.rewards[env] == pytest.approx(rewards, abs=REWARD)

    def in_the_air(self, env: int) -> dict[tuple[int, int], State]:
        """Missiles by owner and age: a fighter launches at most one a decision."""
        slots = np.flatnonzero(self.missiles["active"][env])
        shots = [read(self.missiles, slot, env) for slot in slots]
        return {(int(shot["owner"]), int(shot["age"])): shot for shot in shots}


def near_call(fight: Engagement) -> bool:
    return any(abs(margin) < NEAR[what] for what, margin in fight.margins)


def compare(
    sim: Simulation,
    p: dict[str, float],
    controls_of: Callable[[dict[int, Engagement]], Controls],
) -> Tally:
    """Step core and reference side by side until all is decided.

    Seats that a pilot of the core flies ignore the controls given to the core.
    """
    fights = {env: reference_of(sim, env, p) for env in range(sim.num_envs)}
    tally = Tally()
    command = np.zeros((sim.num_envs, 2, 3), np.float32)
    while fights:
        controls = controls_of(fights)
        for env, both in controls.items():
            command[env] = both
        sim.step(command)
        core = Core(sim)
        for env, both in controls.items():
            fight = fights[env]
            rewards = fight.decide(both)
            try:
                core.assert_same(env, fight, rewards)
            except AssertionError:
                if not near_call(fight):
                    raise
                tally.forks += 1
                del fights[env]
                continue
            fight.margins.clear()
            if fight.outcome != OPEN:
                tally.note_end(fight)
                del fights[env]
    return tally


class RandomHands:
    """Random controls, each held for four decisions on average."""

    def __init__(self, seed: int, num_envs: int) -> None:
        self.random = np.random.default_rng(seed)
        self.held = np.zeros((num_envs, 2, 3))

    def move(self) -> None:
        shape = self.held.shape
        fresh = self.random.uniform([-1, 0, 0], 1, shape).astype(np.float32)
        fresh[..., 2] = fresh[..., 2] < 0.2
        self.held = np.where(self.random.random(shape) < 0.25, fresh, self.held)

    def control(self, env: int, seat: int) -> tuple[float, float, float]:
        return tuple(self.held[env, seat])


def test_random_engagements():
    """Under random controls and launches core and reference agree in state, event and reward."""
    settings = {
        "start_range_min": 3_000,
        "start_range_max": 40_000,
        "time_limit": 60,
        "reward_pressure": 0.05,
    }
    sim = Simulation(num_envs=64, seed=4, **settings)
    hands = RandomHands(4, 64)

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        hands.move()
        return {env: [hands.control(env, seat) for seat in range(2)] for env in fights}

    tally = compare(sim, resolve(settings), controls_of)
    assert tally.forks <= 2
    assert tally.kills > 20
    assert tally.launches > 150
    assert tally.truncated > 0


PAIRS = [
    ("straight", "shooter"),
    ("shooter", "weave"),
    ("shooter", "shooter"),
    ("evader", "agent"),
    ("agent", "evader"),
    ("evader", "weave"),
]


@pytest.mark.parametrize(("red", "blue"), PAIRS)
def test_pilots(red, blue):
    """The core's pilots fight each other, and random controls, as the reference's pilots do."""
    # Cold from 30 s on, so that an evader gets away and recommits. From a pilot that points at it
    # it would turn away to this side or that by rounding alone: it meets random controls instead.
    settings = {"evader_cold_time_min": 30, "evader_cold_time_max": 30}
    sim = Simulation(num_envs=8, seed=5, red=red, blue=blue, **settings)
    p = resolve(settings)
    hands = RandomHands(5, 8)
    pilots = [None if name == "agent" else Pilot(name, p) for name in (red, blue)]

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        hands.move()
        return {
            env: [
                hands.control(env, seat) if pilot is None else pilot.control(fight, seat)
                for seat, pilot in enumerate(pilots)
            ]
            for env, fight in fights.items()
        }

    tally = compare(sim, p, controls_of)
    assert tally.forks <= 1
    assert tally.launches > sim.num_envs
    assert tally.kills + tally.truncated > 0


def test_all_pilots_are_compared():
    """The fights above show every pilot there is."""
    assert {pilot for pair in PAIRS for pilot in pair} == {*PILOTS, "agent"}

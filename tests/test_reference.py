"""The float64 reference stepped beside the core over random engagements and the pilots' fights.

Both get the same starts and controls. The core computes in float32: it rounds a position of tens
of kilometres by up to 2 mm a step and a direction by 6e-8, which is carried along a path of up to
100 km. Over a fight of 3000 steps such errors add up, at random, to less than a metre, and a
missile that passes its target closely magnifies them. A yes or no that falls within that error (a
pass at the hit radius, a pilot's shot) forks the fight: such engagements are left from there on,
and only a few may be.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from midrange_puffer.parameters import PILOTS, resolve
from reference import OPEN, Engagement, Fighter, Missile, Pilot
from scenes import read

from midrange_puffer import Simulation

POSITION, SPEED, RUDDER, REWARD = 2.0, 0.05, 0.02, 1e-3
NEAR = {"fuze": 2.0, "spent": 0.05, "boresight": 1e-4, "range": 5.0, "time to go": 0.02}


def reference_of(sim: Simulation, env: int, p: dict[str, float]) -> Engagement:
    """The reference's copy of an engagement that has just started."""
    fighters = []
    for seat in range(2):
        f = read(sim.fighters, seat, env)
        fighters.append(
            Fighter(
                f["x"],
                f["y"],
                f["vx"] / f["speed"],
                f["vy"] / f["speed"],
                f["speed"],
                f["rudder"],
                f["throttle"],
                int(f["ammo"]),
            )
        )
    return Engagement(p, fighters)


def flown_by_core(sim: Simulation, env: int) -> dict[tuple[int, int], dict[str, float]]:
    """The core's missiles by owner and age: a fighter launches at most one a decision."""
    slots = np.flatnonzero(sim.missiles["active"][env])
    shots = [read(sim.missiles, slot, env) for slot in slots]
    found = {(int(shot["owner"]), int(shot["age"])): shot for shot in shots}
    assert len(found) == len(slots)
    return found


def flown_by_reference(engagement: Engagement) -> dict[tuple[int, int], Missile]:
    return {(shot.owner, shot.age): shot for shot in engagement.missiles}


@dataclass
class Tally:
    """What a comparison saw, so that it cannot pass by seeing nothing."""

    decisions: int = 0
    ended: int = 0
    launches: int = 0
    kills: int = 0
    forks: int = 0
    truncated: int = 0

    def note_end(self, fight: Engagement) -> None:
        self.ended += 1
        self.launches += sum(int(fight.p["ammunition"]) - f.ammo for f in fight.fighters)
        self.kills += sum(not f.alive for f in fight.fighters)
        self.truncated += fight.truncated


def same_events(sim: Simulation, env: int, engagement: Engagement) -> bool:
    """Whether the same fighters live, the same missiles fly and the same is decided."""
    fighters = engagement.fighters
    return (
        sim.fighters["alive"][env].astype(bool).tolist() == [f.alive for f in fighters]
        and sim.fighters["ammo"][env].tolist() == [f.ammo for f in fighters]
        and flown_by_core(sim, env).keys() == flown_by_reference(engagement).keys()
        and sim.outcome[env] == engagement.outcome
        and bool(sim.truncated[env]) == engagement.truncated
    )


def assert_same_state(sim: Simulation, env: int, engagement: Engagement) -> None:
    core = [read(sim.fighters, seat, env) for seat in range(2)]
    core += flown_by_core(sim, env).values()
    shots = flown_by_reference(engagement)
    reference = engagement.fighters + [shots[key] for key in flown_by_core(sim, env)]
    for ours, theirs in zip(core, reference, strict=True):
        assert (ours["x"], ours["y"]) == pytest.approx((theirs.x, theirs.y), abs=POSITION)
        assert (ours["vx"], ours["vy"]) == pytest.approx(theirs.velocity, abs=20 * SPEED)
        assert ours["speed"] == pytest.approx(theirs.speed, abs=SPEED)
        assert ours["rudder"] == pytest.approx(theirs.rudder, abs=RUDDER)


Controls = dict[int, list[tuple[float, float, float]]]


def compare(
    sim: Simulation,
    fights: dict[int, Engagement],
    controls_of: Callable[[dict[int, Engagement]], Controls],
    decisions: int,
) -> Tally:
    """Step core and reference side by side until all is decided.

    Seats that a pilot of the core flies ignore the controls given to the core.
    """
    tally = Tally()
    command = np.zeros((len(sim.outcome), 2, 3), np.float32)
    for _ in range(decisions):
        controls = controls_of(fights)
        for env, both in controls.items():
            command[env] = both
        sim.step(command)
        for env, both in controls.items():
            fight = fights[env]
            rewards = fight.decide(both)
            tally.decisions += 1
            if not same_events(sim, env, fight):
                near = [what for what, margin in fight.margins if abs(margin) < NEAR[what]]
                assert near, f"engagement {env}: other events, and no near call"
                tally.forks += 1
                del fights[env]
                continue
            assert_same_state(sim, env, fight)
            assert sim.rewards[env] == pytest.approx(rewards, abs=REWARD)
            fight.margins.clear()
            if fight.outcome != OPEN:
                tally.note_end(fight)
                del fights[env]
    return tally


def test_random_engagements():
    """Under random controls and launches core and reference agree in state, event and reward."""
    count, decisions = 64, 240
    settings = {"start_range_min": 3_000, "start_range_max": 25_000, "time_limit": 90}
    sim = Simulation(num_envs=count, seed=4, **settings)
    p = resolve(settings)
    random = np.random.default_rng(4)
    held = np.zeros((count, 2, 3))

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        # Each control is held for four decisions on average; float32, so that both read the same.
        fresh = random.uniform([-1, 0, 0], 1, (count, 2, 3)).astype(np.float32)
        fresh[..., 2] = fresh[..., 2] < 0.2
        held[:] = np.where(random.random((count, 2, 3)) < 0.25, fresh, held)
        return {env: [tuple(seat) for seat in held[env]] for env in fights}

    fights = {env: reference_of(sim, env, p) for env in range(count)}
    tally = compare(sim, fights, controls_of, decisions)
    print(tally)
    assert not fights
    assert tally.forks <= 2
    assert tally.kills > 20
    assert tally.launches > 200
    assert tally.truncated > 2


@pytest.mark.parametrize(
    ("red", "blue"),
    [
        ("straight", "shooter"),
        ("shooter", "weave"),
        ("shooter", "shooter"),
        ("evader", "shooter"),
        ("evader", "evader"),
    ],
)
def test_pilots(red, blue):
    """Two pilots of the core fight as the reference's pilots do."""
    count = 8
    # Cold from half a minute on: with 20 s an evader seldom gets away from two missiles.
    settings = {"evader_cold_time_min": 30, "evader_cold_time_max": 30}
    sim = Simulation(num_envs=count, seed=5, red=red, blue=blue, **settings)
    p = resolve(settings)
    pilots = [Pilot(red, p), Pilot(blue, p)]

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        return {
            env: [pilot.control(fight, seat) for seat, pilot in enumerate(pilots)]
            for env, fight in fights.items()
        }

    fights = {env: reference_of(sim, env, p) for env in range(count)}
    tally = compare(sim, fights, controls_of, 600)
    print(tally)
    assert not fights
    assert tally.forks <= 1
    assert tally.launches > count
    assert tally.kills + tally.truncated > 0


def test_all_pilots_are_compared():
    """The pilots compared above are all there are."""
    assert set(PILOTS) == {"straight", "weave", "shooter", "evader"}

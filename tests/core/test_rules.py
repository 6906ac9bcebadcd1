"""The rules of an engagement: launches, missiles' ends, kills, outcomes, rewards.

A decision lasts 5 steps of 0.1 s as in training. Fighters fly straight at each other unless said
otherwise, and missiles are put just short of their targets.
"""

from math import hypot

import numpy as np
import pytest
from scenes import (
    BLUE,
    BLUE_WINS,
    DRAW,
    OPEN,
    RED,
    RED_WINS,
    fighter,
    hold,
    missile,
    missiles_in_the_air,
    place,
)

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import reward_bound

FIRE, HOLD_FIRE = (0, 1, 1), (0, 1, 0)
UNSHAPED = {
    "reward_geometry": 0,
    "reward_ammunition": 0,
    "reward_threat": 0,
    "reward_pressure": 0,
}
MISSILE_SPEED = 1000.0
CLOSING = MISSILE_SPEED + 300  # m/s


def duel(**parameters: float) -> Simulation:
    """Red at the origin and blue 50 km ahead, nose to nose at 300 m/s."""
    sim = Simulation(**(UNSHAPED | parameters))
    place(sim, blue={"x": 50_000})
    return sim


def shoot_at(sim: Simulation, seat: int, *, in_steps: float, slot: int | None = None) -> None:
    """Put the enemy's missile ahead of `seat` so that it hits in the step numbered `in_steps`."""
    target = fighter(sim, seat)
    ahead = 1 if seat == RED else -1
    distance = 100 + CLOSING * 0.1 * (in_steps - 0.5)
    sim.set_missile(
        0,
        slot if slot is not None else 1 - seat,
        owner=1 - seat,
        x=target["x"] + ahead * distance,
        y=target["y"],
        heading_deg=180 if seat == RED else 0,
        speed=MISSILE_SPEED,
        age=100,
        rudder=0,
    )


# Launches


@pytest.mark.parametrize(
    ("interval", "decisions_apart"), [(0, 1), (0.5, 1), (0.6, 2), (0.9, 2), (1, 2), (5, 10)]
)
def test_launch_interval(interval, decisions_apart):
    """Holding the trigger launches whenever the interval has passed, from the first decision on."""
    sim = duel(launch_interval=interval)
    for decision in range(2 * decisions_apart + 1):
        hold(sim, 1, red=FIRE)
        assert fighter(sim)["ammo"] == 6 - (1 + decision // decisions_apart)
        assert fighter(sim, BLUE)["ammo"] == 6


def test_ammunition_runs_out():
    """A fighter launches the six missiles it has and then no more, both fighters alike."""
    sim = duel(launch_interval=0)
    hold(sim, 9, red=FIRE, blue=FIRE)
    assert sim.fighters["ammo"].tolist() == [[0, 0]]
    assert missiles_in_the_air(sim, RED) == missiles_in_the_air(sim, BLUE) == 6


def test_launch_state():
    """A missile starts 20 m ahead of its launcher at its velocity, rudder and age zero."""
    sim = duel(substeps=1)
    place(sim, x=100, y=-50, heading_deg=30, speed=350, rudder=0.5, blue={"x": 50_000})
    before = fighter(sim)
    sim.launch(0, RED)
    shot = missile(sim)
    unit = np.array([before["vx"], before["vy"]]) / before["speed"]
    assert (shot["x"], shot["y"]) == pytest.approx((100, -50) + 20 * unit, abs=1e-3)
    assert (shot["vx"], shot["vy"]) == pytest.approx((before["vx"], before["vy"]), rel=1e-6)
    assert (shot["rudder"], shot["age"]) == (0, 0)
    assert (shot["owner"], shot["target"]) == (RED, BLUE)
    assert fighter(sim)["ammo"] == 5


def test_launch_comes_before_the_first_step():
    """A missile fired in a decision has flown all of its steps when it ends."""
    sim = duel()
    hold(sim, 1, red=FIRE)
    assert missile(sim)["age"] == 5
    hold(sim, 1)
    assert missile(sim)["age"] == 10


def test_the_dead_neither_launch_nor_are_fired_at():
    """With blue dead, neither side launches."""
    sim = duel()
    shoot_at(sim, RED, in_steps=60)  # keeps the engagement open
    shoot_at(sim, BLUE, in_steps=1, slot=5)
    hold(sim, 1)
    hold(sim, 3, red=FIRE, blue=FIRE)
    assert sim.outcome[0] == OPEN
    assert sim.fighters["ammo"].tolist() == [[6, 6]]


def test_launch_from_outside():
    """`launch` disregards the interval, but needs a missile and a living launcher and enemy."""
    sim = duel()
    place(sim, ammo=2, blue={"x": 50_000})
    assert sim.launch(0, RED)
    assert sim.launch(0, RED)
    assert not sim.launch(0, RED)
    assert missiles_in_the_air(sim, RED) == 2
    sim.set_fighter(0, RED, alive=False)
    assert not sim.launch(0, BLUE)
    sim.set_fighter(0, RED, alive=True, ammo=1)
    sim.set_fighter(0, BLUE, alive=False)
    assert not sim.launch(0, BLUE)
    assert not sim.launch(0, RED)


def test_advance_flies_without_deciding():
    """`advance` flies on with the last controls: no launch, no outcome, the same path as steps."""
    stepped, advanced = duel(time_limit=2), duel(time_limit=2)
    for sim in (stepped, advanced):
        hold(sim, 1, red=(0.5, 1, 1))
    hold(stepped, 5, red=(0.5, 1, 0))
    advanced.advance(25)
    assert fighter(advanced) == fighter(stepped)
    assert missile(advanced) == missile(stepped)
    assert (advanced.outcome[0], stepped.outcome[0]) == (OPEN, DRAW)
    assert advanced.time[0] == stepped.time[0] == 30


# How missiles end


def test_a_burning_missile_is_never_spent():
    """However slow, a missile lives while its motor burns, and is spent when it burns out."""
    sim = duel(missile_thrust=0, substeps=1)
    sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=150, age=0, rudder=0)
    hold(sim, 99)
    assert missile(sim)["active"]
    assert missile(sim)["speed"] < 150
    hold(sim, 1)
    assert not missile(sim)["active"]


def test_a_burnt_out_missile_is_spent_below_200():
    """A coasting missile is removed in the step that ends below 200 m/s."""
    sim = duel(substeps=1)
    sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=201, age=100, rudder=0)
    speeds = []
    while missile(sim)["active"]:
        speeds.append(missile(sim)["speed"])
        hold(sim, 1)
    # Coasting from 201 to 200 takes (1/200 - 1/201) / Cd0 = 0.406 s.
    assert len(speeds) == 5
    assert min(speeds) >= 200


def test_missiles_at_the_dead_are_removed():
    """With its target killed by another missile, a missile leaves the air and the fight ends."""
    sim = duel()
    shoot_at(sim, BLUE, in_steps=2, slot=0)
    shoot_at(sim, BLUE, in_steps=30, slot=3)
    hold(sim, 1)
    assert not sim.missiles["active"].any()
    assert sim.outcome[0] == RED_WINS


@pytest.mark.parametrize("seat", [RED, BLUE])
def test_the_dead_stay_where_they_died(seat):
    """A dead fighter does not move in the rest of the decision nor in later ones."""
    sim = duel()
    start = fighter(sim, seat)
    shoot_at(sim, seat, in_steps=3, slot=0)
    shoot_at(sim, 1 - seat, in_steps=40, slot=6)
    hold(sim, 1)
    dead = fighter(sim, seat)
    assert not dead["alive"]
    # It flew the three steps up to the hit, and not the other two.
    assert hypot(dead["x"] - start["x"], dead["y"] - start["y"]) == pytest.approx(90, abs=1.5)
    hold(sim, 4, red=(1, 1, 0), blue=(1, 1, 0))
    later = fighter(sim, seat)
    assert (later["x"], later["y"]) == (dead["x"], dead["y"])


# Outcomes


@pytest.mark.parametrize("seat", [RED, BLUE])
def test_a_kill_wins(seat):
    """With one side dead and nothing in the air the other wins: +1 and -1, in the same decision."""
    sim = duel()
    shoot_at(sim, 1 - seat, in_steps=2)
    hold(sim, 1)
    assert sim.outcome[0] == (RED_WINS, BLUE_WINS)[seat]
    assert not sim.truncated[0]
    assert sim.rewards[0].tolist() == [[1, -1], [-1, 1]][seat]


@pytest.mark.parametrize(("red_dies", "blue_dies"), [(2, 2), (1, 5), (5, 1), (2, 23), (23, 2)])
def test_mutual_kill_is_a_draw(red_dies, blue_dies):
    """Both killed is a draw: in the same step, in one decision, or seconds apart."""
    sim = duel()
    shoot_at(sim, RED, in_steps=red_dies)
    shoot_at(sim, BLUE, in_steps=blue_dies)
    decisions = -(-max(red_dies, blue_dies) // 5)
    for _ in range(decisions - 1):
        hold(sim, 1)
        assert sim.outcome[0] == OPEN
        assert sim.rewards[0].tolist() == [0, 0]
    hold(sim, 1)
    assert sim.outcome[0] == DRAW
    assert not sim.truncated[0]
    assert sim.fighters["alive"].tolist() == [[0, 0]]
    assert sim.rewards[0].tolist() == [0, 0]


def test_the_winner_is_known_when_the_last_threat_is_gone():
    """A missile outlives its launcher: no winner until it is spent, then one at once."""
    sim = duel()
    shoot_at(sim, BLUE, in_steps=1, slot=2)
    # Blue's missile flies away from red, coasting, and is spent after a while.
    sim.set_missile(0, 0, owner=BLUE, x=-5_000, y=0, heading_deg=180, speed=220, age=100, rudder=0)
    undecided = 0
    while missile(sim)["active"]:
        assert sim.outcome[0] == OPEN
        hold(sim, 1)
        undecided += 1
    assert undecided > 3
    assert sim.outcome[0] == RED_WINS
    assert sim.rewards[0].tolist() == [1, -1]


def test_exhausted_ammunition_is_a_draw():
    """With no missile left on the wings the draw comes when the last one in the air is spent."""
    sim = duel()
    place(sim, ammo=0, blue={"x": 50_000, "ammo": 0})
    sim.set_missile(0, 0, owner=RED, x=0, y=5_000, heading_deg=180, speed=205, age=100, rudder=0)
    hold(sim, 1)
    assert sim.outcome[0] == OPEN
    hold(sim, 4)
    assert not sim.missiles["active"].any()
    assert sim.outcome[0] == DRAW
    assert not sim.truncated[0]
    assert sim.rewards[0].tolist() == [0, 0]


@pytest.mark.parametrize("seat", [RED, BLUE])
def test_one_missile_on_a_wing_keeps_it_open(seat):
    """Ammunition is not exhausted while either side has a missile."""
    sim = duel()
    for side in (RED, BLUE):
        sim.set_fighter(0, side, ammo=int(side == seat))
    hold(sim, 3)
    assert sim.outcome[0] == OPEN


@pytest.mark.parametrize(
    ("margin", "outcome"), [(0, DRAW), (10.5, DRAW), (10, RED_WINS), (0.1, RED_WINS)]
)
@pytest.mark.parametrize("ammo", [0, 6])
def test_a_draw_goes_to_the_side_that_pressed_longer(margin, outcome, ammo):
    """Blue flies away for the first ten seconds; then it is turned round and presses, too."""
    sim = duel(pressing_margin=margin, time_limit=20)
    sim.set_fighter(0, BLUE, heading_deg=0)
    hold(sim, 20)
    assert sim.outcome[0] == OPEN
    for side in (RED, BLUE):
        sim.set_fighter(0, side, ammo=ammo)
    sim.set_fighter(0, BLUE, heading_deg=180)
    hold(sim, 20 if ammo else 1)
    assert sim.outcome[0] == outcome
    assert sim.truncated[0] == (ammo > 0)
    assert sim.rewards[0].tolist() == ([1, -1] if outcome == RED_WINS else [0, 0])


def test_pressing_wins_no_mutual_kill():
    """Both die at once, though only red has pressed."""
    sim = duel(pressing_margin=1, time_limit=20)
    sim.set_fighter(0, BLUE, heading_deg=0)
    hold(sim, 10)
    shoot_at(sim, RED, in_steps=3)
    x = fighter(sim, BLUE)["x"]
    sim.set_missile(0, 0, owner=RED, x=x + 450, y=0, heading_deg=180, speed=1000, age=100, rudder=0)
    hold(sim, 1)
    assert sim.outcome[0] == DRAW


@pytest.mark.parametrize(("limit", "decisions"), [(2, 4), (2.1, 5), (300, 600)])
def test_time_limit_is_a_truncated_draw(limit, decisions):
    """An engagement still open at the time limit is a draw, marked as a truncation."""
    sim = duel(time_limit=limit)
    hold(sim, decisions - 1)
    assert sim.outcome[0] == OPEN
    assert not sim.truncated[0]
    hold(sim, 1)
    assert sim.time[0] == 5 * decisions
    assert sim.outcome[0] == DRAW
    assert sim.truncated[0]
    assert sim.rewards[0].tolist() == [0, 0]


def test_time_limit_with_one_side_dead():
    """At the time limit the living side wins, though a missile is still after it; no truncation."""
    sim = duel(time_limit=2)
    shoot_at(sim, BLUE, in_steps=1)
    shoot_at(sim, RED, in_steps=60, slot=7)
    hold(sim, 3)
    assert sim.outcome[0] == OPEN
    hold(sim, 1)
    assert sim.missiles["active"].any()
    assert sim.outcome[0] == RED_WINS
    assert not sim.truncated[0]
    assert sim.rewards[0].tolist() == [1, -1]


def test_the_last_moment_counts():
    """A kill in the decision that reaches the time limit is a win, not a truncation."""
    sim = duel(time_limit=1)
    shoot_at(sim, BLUE, in_steps=10)
    hold(sim, 2)
    assert sim.outcome[0] == RED_WINS
    assert not sim.truncated[0]


def test_an_ended_engagement_keeps_its_outcome():
    """The outcome stands until reset, and its reward is paid once."""
    sim = duel()
    shoot_at(sim, BLUE, in_steps=2)
    hold(sim, 1)
    for _ in range(3):
        hold(sim, 1, red=FIRE)
        assert sim.outcome[0] == RED_WINS
        assert sim.rewards[0].tolist() == [0, 0]
    sim.reset()
    assert sim.outcome[0] == OPEN
    assert sim.fighters["alive"].all()
    assert (sim.fighters["ammo"] == 6).all()


# Rewards


def played(sim: Simulation, seed: int, decisions: int) -> np.ndarray:
    """Rewards [decisions, num_envs, 2] under random controls; stops when all engagements ended."""
    random = np.random.default_rng(seed)
    shape = (len(sim.outcome), 2)
    rewards = []
    for _ in range(decisions):
        rudder, throttle = random.uniform(-1, 1, shape), random.uniform(0, 1, shape)
        fire = random.random(shape) < 0.2
        sim.step(np.stack([rudder, throttle, fire], axis=-1).astype(np.float32))
        rewards.append(sim.rewards.copy())
        if (sim.outcome != OPEN).all():
            break
    return np.array(rewards)


CLOSE = {"start_range_min": 4_000, "start_range_max": 10_000, "start_off_boresight_max_deg": 20}


def test_rewards_sum_to_zero_and_stay_within_their_bound():
    """In every decision the seats' rewards are each other's negative."""
    sim = Simulation(num_envs=64, seed=3, **CLOSE)
    rewards = played(sim, 3, 600)
    assert (rewards[..., RED] == -rewards[..., BLUE]).all()
    assert 1 < np.abs(rewards).max() <= reward_bound(sim.parameters)
    assert {RED_WINS, BLUE_WINS, DRAW} <= set(sim.outcome.tolist())


def test_shaping_adds_a_constant_to_the_return():
    """The potential changes a return by its value at the start, whatever was played."""
    # A high potential is lost at the end, a low one regained: the return less the result is minus
    # the potential of the start, equal for any two courses of play.
    sim = Simulation(num_envs=64, seed=5, reward_pressure=0, **CLOSE)
    start = sim.snapshot()
    result = np.array([0.0, 1.0, -1.0, 0.0])
    potential, beyond_one = [], False
    for seed in (1, 2):
        sim.restore(start)
        rewards = played(sim, seed, 600)[..., RED]
        assert (sim.outcome != OPEN).all()
        beyond_one |= bool((np.abs(rewards) > 1).any())
        potential.append(rewards.sum(axis=0, dtype=np.float64) - result[sim.outcome])
    assert np.abs(potential[0] - potential[1]).max() < 1e-5
    assert potential[0].std() > 1e-3
    assert beyond_one  # so that it is seen that nothing is cut off


@pytest.mark.parametrize("hit_in_the_other", [False, True])
def test_a_missile_set_after_the_dead_is_removed_whatever_happens_in_other_engagements(
    hit_in_the_other,
):
    sim = Simulation(num_envs=2, seed=3)
    sim.set_missile(0, 0, owner=RED, x=0, y=0, heading_deg=0, speed=1000, age=50)
    sim.set_fighter(0, BLUE, alive=False)
    if hit_in_the_other:
        x, y = (float(sim.fighters[name][1, BLUE]) for name in ("x", "y"))
        sim.set_missile(1, 0, owner=RED, x=x, y=y, heading_deg=0, speed=1000, age=50)
    sim.step()
    assert sim.missiles["active"][0].sum() == 0
    assert sim.outcome.tolist() == [RED_WINS, RED_WINS if hit_in_the_other else OPEN]


def test_a_time_limit_is_met_to_the_step_where_the_steps_are_small():
    """300 s are 60,000 steps of 0.005 s, and a multiple of the 100 steps of a decision."""
    sim = Simulation(physics_dt=0.005, substeps=100)
    place(sim, blue={"x": 200_000})
    hold(sim, 599)
    assert sim.outcome[0] == OPEN
    hold(sim, 1)
    assert sim.truncated[0]
    assert sim.time[0] == 60_000

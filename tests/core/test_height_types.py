"""Types of aircraft and missiles with height: JSBSim's models, public figures, and fly-outs.

`trainer` is compared with JSBSim's T-38, `fast` with its F-104 and public figures of the MiG-31,
`heavy` with its F-15 and F-22 and public figures of the F-15. RULES.md, "Height", has the sources.
"""

import functools
from math import hypot

import height
import height_flyouts as flyouts
import numpy as np
import pytest
import reference_height as ref
from height import GRAVITY, TRACES, Body, Law, body
from height_performance import (
    best_excess,
    excess,
    excess_by_trims,
    sustained,
    sustained_by_trims,
    top_by_trims,
    top_mach,
)
from places import CSRC

from midrange_puffer.game.parameters import PARAMETERS

AIRCRAFT = ("light", "heavy", "fast", "trainer")
MISSILES = ("medium", "long", "short")
RULES = (CSRC / "RULES.md").read_text()


@functools.cache
def plane(library, name: str) -> Law:
    """Returns the law with a type of aircraft."""
    return Law(library, aircraft=height.fields(library, name))


@functools.cache
def rocket(library, name: str) -> Law:
    """Returns the law with a type of missile."""
    return Law(library, missile=height.fields(library, name))


@functools.cache
def trims(model: str) -> np.ndarray:
    """Returns drag and full thrust of a model of JSBSim, named as in the file."""
    return np.genfromtxt(TRACES / f"jsbsim_{model}.csv", delimiter=",", names=True)


# The tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*AIRCRAFT, *MISSILES])
def test_types_are_within_the_limits_of_their_fields(library, name):
    kind = "aircraft" if name in AIRCRAFT else "missile"
    values, limits = height.fields(library, name), height.limits(library, kind)
    assert values.keys() == limits.keys()
    for field, value in values.items():
        low, high = limits[field]
        assert low <= value <= high, field
    assert values["onset_mach"] < values["peak_mach"]


def test_the_rules_give_the_values_of_the_types(library):
    section = RULES[RULES.index("### Types") : RULES.index("### Aircraft against")]
    for kind in ("aircraft", "missile"):
        names = height.types(library, kind)
        head = "| field | " + " | ".join(f"`{name}`" for name in names) + " |"
        lines = section[section.index(head) :].split("\n\n")[0].splitlines()[2:]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert [row[0].split("`")[1] for row in rows] == [*height.limits(library, kind)]
        for column, name in enumerate(names, start=1):
            values = [float(row[column].replace("10¹²", "1e12")) for row in rows]
            assert values == pytest.approx([*height.fields(library, name).values()], rel=1e-6)


def test_these_are_all_types(library):
    assert (*height.types(library, "aircraft"),) == AIRCRAFT
    assert (*height.types(library, "missile"),) == MISSILES


def test_the_choices_are_the_types_of_the_table(library):
    for kind in ("aircraft", "missile"):
        for side in ("red", "blue"):
            assert PARAMETERS[f"{side}_{kind}"].choices == tuple(height.types(library, kind))


# Aircraft against JSBSim ------------------------------------------------------------------------


@pytest.mark.parametrize("z", [1000, 5000, 10_000, 14_000])
def test_the_trainer_is_near_the_t38_of_jsbsim(library, z):
    law, model = plane(library, "trainer"), trims("t38")
    mass = model["mass"][0]
    assert top_mach(law, z) == pytest.approx(top_by_trims(model, z, mass), rel=0.02)
    best = excess_by_trims(model, z, mass)[:, 1].max()
    assert best_excess(law, z) == pytest.approx(best, rel=0.06)
    for mach in (0.8, 0.9):
        its = sustained_by_trims(model, z, mach)
        assert sustained(law, z, mach)[1] == pytest.approx(its, rel=0.09)


@pytest.mark.parametrize("z", [1000, 5000, 10_000])
def test_the_interceptor_is_near_the_f104_of_jsbsim_below_mach_1(library, z):
    law, model = plane(library, "fast"), trims("f104")
    best = excess_by_trims(model, z, model["mass"][0])[:, 1].max()
    assert best_excess(law, z) == pytest.approx(best, rel=0.08)
    for mach in (0.8, 0.9, 0.95):
        its = sustained_by_trims(model, z, mach)
        assert sustained(law, z, mach)[1] == pytest.approx(its, rel=0.08)


@pytest.mark.parametrize("z", [1000, 5000, 10_000])
@pytest.mark.parametrize("mach", [0.8, 0.9])
def test_the_heavy_fighter_turns_better_than_the_f15_of_jsbsim_and_worse_than_its_f22(
    library, z, mach
):
    turn = sustained(plane(library, "heavy"), z, mach)[1]
    assert sustained_by_trims(trims("f15"), z, mach) < turn
    assert turn == pytest.approx(sustained_by_trims(trims("f22"), z, mach), rel=0.17)
    assert turn < sustained_by_trims(trims("f22"), z, mach)


@pytest.mark.parametrize(("z", "mach"), [(5000, 1.2), (5000, 1.6), (10_000, 1.2), (10_000, 1.6)])
def test_the_heavy_fighter_turns_like_the_f22_of_jsbsim_above_mach_1(library, z, mach):
    its = sustained_by_trims(trims("f22"), z, mach)
    assert sustained(plane(library, "heavy"), z, mach)[1] == pytest.approx(its, rel=0.16)


# Aircraft against public figures ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "z", "mach", "within"),
    [
        ("heavy", 12_000, 2.5, 0.07),  # F-15: "Mach 2.5 class"
        ("fast", 0, 1.23, 0.02),  # MiG-31: 1500 km/h at low height
        ("fast", 12_000, 2.55, 0.03),  # MiG-31: fastest cruise; its limit is Mach 2.83
        ("trainer", 0, 1.08, 0.16),  # T-38: 812 mph; JSBSim's, with its installed thrust, 0.93
    ],
)
def test_top_speed_is_near_the_public_figure(library, name, z, mach, within):
    assert top_mach(plane(library, name), z) == pytest.approx(mach, rel=within)


@pytest.mark.parametrize(
    ("name", "climb", "within"),
    [
        ("heavy", 340, 0.04),  # F-15C: 67,000 ft/min
        ("fast", 208, 0.06),  # MiG-31
    ],
)
def test_the_climb_rate_is_near_the_public_figure(library, name, climb, within):
    assert best_excess(plane(library, name), 0) == pytest.approx(climb, rel=within)


# Aircraft among themselves ----------------------------------------------------------------------


@pytest.mark.parametrize("z", [0, 5000, 10_000, 14_000])
def test_the_heavy_fighter_climbs_best_and_the_trainer_worst(library, z):
    heavy, light, fast, trainer = (
        best_excess(plane(library, name), z) for name in ("heavy", "light", "fast", "trainer")
    )
    assert heavy > light > fast > trainer


def test_the_interceptor_is_the_fastest_at_height(library):
    for z in (12_000, 14_000):
        fast, heavy, light, trainer = (
            top_mach(plane(library, name), z) for name in ("fast", "heavy", "light", "trainer")
        )
        assert fast > heavy > light > 2 > 1.2 > trainer > 0.85
    assert top_mach(plane(library, "fast"), 14_000) == pytest.approx(2.5, abs=0.06)


@pytest.mark.parametrize("z", [1000, 5000, 10_000])
@pytest.mark.parametrize("mach", [0.6, 0.8, 0.9])
def test_the_interceptor_turns_clearly_worse_than_fighters(library, z, mach):
    """Also in a turn that it cannot sustain: its corner speed is higher and its limit lower."""
    turns = {name: sustained(plane(library, name), z, mach)[1] for name in AIRCRAFT}
    assert turns["fast"] < 0.6 * turns["light"]
    assert turns["fast"] < 0.7 * turns["heavy"]
    limits = {name: plane(library, name).performance(z, mach * ref.SOUND)[1] for name in AIRCRAFT}
    assert limits["fast"] < 0.65 * limits["light"]


def test_the_light_fighter_turns_best_below_mach_1_and_the_heavy_one_at_mach_2(library):
    light, heavy = plane(library, "light"), plane(library, "heavy")
    for mach in (0.8, 0.9):
        assert sustained(light, 5000, mach)[0] > sustained(heavy, 5000, mach)[0]
    assert sustained(heavy, 12_000, 2.0)[0] > sustained(light, 12_000, 2.0)[0]


# Aircraft in flight -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", AIRCRAFT)
def test_level_flight_settles_at_the_top_speed(library, name):
    law = plane(library, name)
    top = top_mach(law, 5000) / law.air(5000)[2] ** 0.5
    flown = law.fly(body((0, 0, 5000), v=top - 10), (0, 0, 1), 6000)
    assert flown.v == pytest.approx(top, abs=0.3)
    assert flown.position.z == pytest.approx(5000, abs=1)


@pytest.mark.parametrize("name", AIRCRAFT)
def test_a_climb_gains_the_excess_power(library, name):
    """A steady climb, in energy height. The pull into it, in the first 6 s, costs more."""
    law = plane(library, name)
    one = body((0, 0, 2000), v=280)
    law.fly(one, (0, 0.3, 1), 60)
    for _ in range(54):
        energy, before = _energy(one), excess(law, one.position.z, one.v)
        law.fly(one, (0, 0.3, 1), 10)
        after = excess(law, one.position.z, one.v)
        assert _energy(one) - energy == pytest.approx((before + after) / 2, rel=0.02)


def _energy(one: Body) -> float:
    """Returns the energy height [m]."""
    return one.position.z + one.v**2 / 2 / GRAVITY


@pytest.mark.parametrize("name", AIRCRAFT)
@pytest.mark.parametrize(("z", "v"), [(3000, 250), (6000, 300), (10_000, 600), (15_000, 350)])
@pytest.mark.parametrize("spread", [0, 0.3])
def test_dives_are_pulled_out_above_the_ground(library, name, z, v, spread):
    """Full dives: straight with an idle engine; straight and turning at full throttle.

    Also of the aircraft that a spread makes worst: less drag and lift, more thrust.
    """
    fields = dict(height.fields(library, name))
    fields["thrust"] *= 1 + spread
    fields["terminal_speed"] /= (1 - spread) ** 0.5
    fields["turn_radius"] /= 1 - spread
    law = Law(library, aircraft=fields)
    for rudder, throttle in [(0, 0), (0, 1), (0.5, 1), (1, 1)]:
        one = body((0, 0, z), v=v)
        heights = []
        for _ in range(100):
            law.fly(one, (rudder, -1, throttle), 10)
            heights.append(one.position.z)
        assert 70 < min(heights) < 300


# Missiles ---------------------------------------------------------------------------------------

HEAD_ON, TAIL = (-1, 0, 0), (1, 0, 0)


@functools.cache
def reach(library, name: str, z: float, direction: tuple, evades: bool = False) -> float:
    """Returns the greatest distance at which a type of missile hits [m]."""
    law, commands = rocket(library, name), flyouts.cold if evades else None
    return flyouts.reach(lambda r: flyouts.fly_out(law, r, z, direction, commands))


@pytest.mark.parametrize(
    ("name", "z", "direction"),
    [
        ("medium", 10_000, TAIL),
        ("long", 10_000, HEAD_ON),
        ("long", 5000, TAIL),
        ("short", 10_000, HEAD_ON),
        ("short", 1000, TAIL),
    ],
)
def test_missiles_reach_as_far_as_in_the_reference(library, name, z, direction):
    """The reference flies RK4 in float64: within 2 % of the C's range it hits, or misses."""
    far, law = reach(library, name, z, direction), rocket(library, name)
    velocity = flyouts.SPEED * np.array(direction, float)
    shooter = np.array([0, 0, z, 1, 0, 0, flyouts.SPEED])
    for share, hits in ((0.98, True), (1.02, False)):
        target = np.array([share * far, 0, z])
        assert ref.fly_out(law.missile, shooter, target, velocity) == hits


@pytest.mark.parametrize("z", [1000, 5000, 10_000])
@pytest.mark.parametrize(
    ("direction", "evades", "farther", "nearer"),
    [(HEAD_ON, False, 1.5, 0.6), (TAIL, False, 1.5, 0.6), (HEAD_ON, True, 1.2, 0.7)],
    ids=["head-on", "tail", "turning cold"],
)
def test_long_reaches_farther_than_medium_and_short_less(
    library, z, direction, evades, farther, nearer
):
    """A target that turns away at the launch bounds the no-escape zone."""
    long, medium, short = (
        reach(library, name, z, direction, evades) for name in ("long", "medium", "short")
    )
    assert long > farther * medium
    assert short < nearer * medium


@pytest.mark.parametrize("z", [1000, 5000, 10_000])
def test_short_reaches_eight_to_fifteen_kilometres_at_most_aspects(library, z):
    """Shots at a target that flies across the line of sight."""
    assert 8000 < reach(library, "short", z, (0, 1, 0)) < 15_000


def test_short_turns_more_tightly_than_the_others(library):
    """A half turn without a motor at 5 km: its width is twice the radius."""
    widths = {}
    for name in MISSILES:
        coasting = height.fields(library, name) | {"thrust": 0.0, "sustain_thrust": 0.0}
        law, shot, age = Law(library, missile=coasting), body(v=700), 0
        while shot.direction.x > -1 + 1e-3 and age < 300:
            d = shot.direction
            law.shoot(shot, age, asked=(-1e4 * d.y, 1e4 * d.x, GRAVITY))
            age += 1
        widths[name] = shot.position.y
    assert widths["short"] < 0.7 * widths["medium"]
    assert widths["short"] < 0.7 * widths["long"]


# The motor of boost and sustain -----------------------------------------------------------------


@pytest.mark.parametrize(("boost", "sustain"), [(6.0, 35.0), (6.04, 7.33), (0.0, 5.0), (3.0, 0.0)])
def test_a_motor_without_drag_gives_the_speed_of_its_thrust(library, boost, sustain):
    """v = v0 + a1 t1 + a2 t2, also where a stage ends within a step."""
    free = {"terminal_speed": 1e9, "lift_drag": 1e18}
    times = {"burn_time": boost, "sustain_time": sustain, "thrust": 110.0, "sustain_thrust": 20.0}
    law = Law(library, missile=free | times)
    shot, age, speeds = body(v=300), 0, []
    while age * law.dt < boost + sustain + 1:
        law.shoot(shot, age, asked=(0, 0, GRAVITY))
        age += 1
        speeds.append(shot.v)
    time = law.dt * np.arange(1, age + 1)
    exact = 300 + 110 * np.minimum(time, boost) + 20 * np.clip(time - boost, 0, sustain)
    np.testing.assert_allclose(speeds, exact, rtol=1e-5)


def test_a_motor_without_drag_goes_the_distance_of_its_thrust(library):
    """x = v t + a t^2 / 2 in each stage, whose ends are those of steps."""
    law = Law(
        library,
        missile=height.fields(library, "long") | {"terminal_speed": 1e9, "lift_drag": 1e18},
    )
    shot = body(v=300)
    for age in range(410):
        law.shoot(shot, age, asked=(0, 0, GRAVITY))
    boosted = 300 * 6 + 110 * 6**2 / 2
    sustained_ = (300 + 110 * 6) * 35 + 20 * 35**2 / 2
    assert shot.position.x == pytest.approx(boosted + sustained_, rel=1e-4)
    assert hypot(shot.position.y, shot.position.z - 5000) < 0.5

"""What the scripted pilots are seen to do: when they fire, where they turn, what they keep.

A pilot flies red; blue is flown by the test. Thresholds are narrowed to one value. Moments are the
beginnings of decisions, half a second apart.
"""

from math import ceil, cos, radians

import pytest
from closed_forms import MISSILE, chase_reach
from flights import Moment, bearing_deg, exactly, first_turn, launches, scene, see, watch
from scenes import BLUE, place

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import PILOTS

FIRE = {  # pilot: the threshold of its first shot, and what it is a fraction of
    "shooter": ("shooter_fire", "R_max"),
    "evader": ("shooter_fire", "R_max"),
    "crank": ("crank_fire", "R_max"),
    "bracket_shooter": ("bracket_fire", "R_NEZ"),
    "turn_back": ("turn_back_fire", "R_max"),
    "snake": ("snake_fire", "R_max"),
    "ace": ("ace_probe", "R_max"),
    "patient": ("patient_fire", "R_NEZ"),
}
TO_R_MAX = [pilot for pilot, (_, of) in FIRE.items() if of == "R_max"]
EVADE = {  # pilot: the time to go under which it evades
    "evader": "evader_cold_time",
    "crank": "crank_cold_time",
    "bracket_shooter": "bracket_cold_time",
    "snake": "snake_time",
    "ace": "ace_cold_time",
    "patient": "patient_cold_time",
}
RUNNERS = [pilot for pilot in EVADE if pilot != "snake"]
ANY_MISSILE = exactly(ace_guard=50_000)  # for the ace, each could run it down
NEVER_WAITS = {"patient_left": 6}


def fires_from_anywhere(pilot: str) -> dict[str, float]:
    """Ranges so great that only nose, salvo and interval hold the pilot's fire."""
    threshold, of = FIRE[pilot]
    return exactly(**{threshold: 4 if of == "R_NEZ" else 2}) | NEVER_WAITS


def holds_its_fire(pilot: str) -> dict[str, float]:
    return exactly(**{FIRE[pilot][0]: 0}, ace_fire=0)


# Fire


def r_max(approach: float) -> float:
    """Returns R_max by the closed forms of boost and coast: 340 m/s left of 300 m/s at launch."""
    boost, speed = MISSILE.boost(300, 10)
    coast, time = MISSILE.coast_to(speed, 340)
    return boost + coast + (10 + time) * approach


@pytest.mark.parametrize("enemy_heading", [180, 100])
@pytest.mark.parametrize("fraction", [0.5, 0.9])
@pytest.mark.parametrize("pilot", TO_R_MAX)
def test_fires_as_soon_as_the_range_is_its_fraction_of_r_max(pilot, fraction, enemy_heading):
    start = 1.1 * fraction * r_max(300 if enemy_heading == 180 else 0)
    thresholds = holds_its_fire("ace") | exactly(**{FIRE[pilot][0]: fraction})
    sim = scene(pilot, blue={"x": start, "heading_deg": enemy_heading}, **thresholds)
    moments = watch(sim, 30)
    first = launches(moments)[0]
    beyond = [moment.range - fraction * r_max(moment.approach) for moment in moments]
    assert first > 2
    assert min(beyond[:first]) > -50
    assert beyond[first] < 50


@pytest.mark.parametrize("pilot", FIRE)
def test_fires_only_when_it_points_at_the_enemy(pilot):
    """Turning toward an enemy in range, it fires once that is 15 degrees off the nose."""
    sim = scene(pilot, blue={"x": 0, "y": 9_000}, **fires_from_anywhere(pilot))
    moments = watch(sim, 10)
    first = launches(moments)[0]
    assert first > 4
    assert all(abs(moment.enemy_deg) > 15 for moment in moments[:first])
    assert abs(moments[first].enemy_deg) < 15


@pytest.mark.parametrize(
    ("pilot", "parameters", "salvo"),
    [
        ("shooter", {}, 6),
        ("evader", {}, 2),
        ("evader", {"evader_salvo": 5}, 5),
        ("crank", {}, 1),
        ("bracket_shooter", {}, 2),
        ("turn_back", {}, 1),
        ("snake", {}, 2),
        ("crank", {"crank_salvo": 3, "crank_angle_deg": 0}, 3),
        ("bracket_shooter", {"bracket_salvo": 4}, 4),
        ("turn_back", {"turn_back_salvo": 2}, 2),
        ("snake", {"snake_salvo": 3}, 3),
        ("patient", {"patient_crank_angle_deg": 0, "patient_salvo": 3}, 3),
        ("ace", {"ace_crank_angle_deg": 0, "ace_reserve": 0}, 2),
        ("ace", {"ace_crank_angle_deg": 0, "ace_reserve": 0, "ace_salvo": 3}, 3),
    ],
)
def test_has_no_more_missiles_in_the_air_than_its_salvo(pilot, parameters, salvo):
    """Free to fire every half second at an enemy straight ahead it stops at its number."""
    far = {"x": 12_000, "heading_deg": 0, "speed": 480}
    sim = scene(pilot, blue=far, launch_interval=0, **fires_from_anywhere(pilot), **parameters)
    in_the_air = [len(moment.own) for moment in watch(sim, 5)]
    assert in_the_air == [min(count, salvo) for count in range(11)]


# While its own missile is in the air


def support(pilot: str, seconds: float, side: int = 1, **parameters: float) -> list[Moment]:
    """A pilot fires at once at an enemy that it will not reach; its nose is 8 degrees to a side."""
    enemy = {"x": 50_000, "heading_deg": 90}
    sim = scene(
        pilot,
        red={"heading_deg": 8 * side},
        blue=enemy,
        launch_interval=600,
        **fires_from_anywhere(pilot),
        **parameters,
    )
    moments = watch(sim, seconds)
    assert launches(moments) == [0]
    return moments


@pytest.mark.parametrize("pilot", ["shooter", "evader", "bracket_shooter", "snake"])
def test_flies_on_toward_the_enemy(pilot):
    assert all(abs(moment.enemy_deg) < 3 for moment in support(pilot, 30)[4:])


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("angle", [30, 55, 100])
@pytest.mark.parametrize(
    ("pilot", "parameter"),
    [
        ("crank", "crank_angle_deg"),
        ("ace", "ace_crank_angle_deg"),
        ("patient", "patient_crank_angle_deg"),
    ],
)
def test_cranks_to_the_side_on_which_its_nose_is_and_comes_back(pilot, parameter, angle, side):
    moments = support(pilot, 120, side, **{parameter: angle})
    gone = next(i for i, moment in enumerate(moments) if i and not moment.own)
    assert gone > 100
    for moment in moments[40:gone]:
        assert moment.enemy_deg == pytest.approx(-side * angle, abs=2)
    assert all(abs(moment.enemy_deg) < 2 for moment in moments[gone + 40 :])


# Waiting


def pursued(wait_range: float, seconds: float, **parameters: float) -> list[Moment]:
    """A pilot that waits, and one that flies at it and holds its fire."""
    thresholds = exactly(patient_range=wait_range, bracket_fire=0)
    sim = Simulation(1, 0, "patient", "bracket_shooter", **thresholds, **parameters)
    place(sim, speed=480, blue={"x": 45_000, "speed": 480})
    return watch(sim, seconds)


@pytest.mark.parametrize("wait_range", [20_000, 28_000])
def test_patient_keeps_its_range_while_the_enemy_has_missiles(wait_range):
    """It turns in time, so that a pursuer as fast as itself comes no nearer."""
    moments = pursued(wait_range, 200, patient_band=5_000)
    ranges = [moment.range for moment in moments]
    assert max(ranges[100:]) < wait_range
    assert min(ranges) > wait_range - 8_000
    assert ranges[-1] == pytest.approx(ranges[-60], abs=50)
    assert not launches(moments)


@pytest.mark.parametrize(("left", "waits"), [(3, True), (2, False), (0, False)])
def test_patient_attacks_an_enemy_that_has_few_missiles_left(left, waits):
    enemy = {"x": 25_000, "heading_deg": 90, "ammo": left}
    sim = scene("patient", blue=enemy, patient_left=2, **exactly(patient_range=25_000))
    moments = watch(sim, 60)
    assert waits != bool(launches(moments))
    assert (abs(moments[20].enemy_deg) > 60) == waits


@pytest.mark.parametrize("time", [0, 30])
def test_patient_waits_for_a_time_where_it_cannot_count(time):
    """With sensors it does not observe how many missiles an enemy has."""
    settings = {"patient_time": time} | exactly(patient_fire=0)
    moments = pursued(35_000, 45, sensing="radar", **settings)
    turned = [moment.time for moment in moments if abs(moment.enemy_deg) > 30]
    assert bool(turned) == (time > 0)
    assert max(turned, default=0) < time + 10


@pytest.mark.parametrize("delay", [3, 6.3])
def test_turns_back_some_seconds_after_firing(delay):
    """It flies on for its delay, runs while its missile is in the air, and comes back for more."""
    moments = support("turn_back", 120, **exactly(turn_back_delay=delay))
    aimed = 4
    turned = next(i for i, m in enumerate(moments) if i > aimed and abs(m.enemy_deg) > 1)
    assert moments[turned].time == ceil(delay / 0.5) * 0.5 + 0.5  # seen after that decision
    gone = next(i for i, moment in enumerate(moments) if i and not moment.own)
    assert all(abs(moment.enemy_deg) > 178 for moment in moments[60:gone])
    assert all(abs(moment.enemy_deg) < 2 for moment in moments[gone + 60 :])


# Inbound missiles


def threatened(pilot: str, bearing: float = 40, range_: float = 24_000, **parameters: float):
    """A pilot on its way to a far enemy, and a burnt-out missile that comes in at a bearing."""
    sim = scene(
        pilot, red={"speed": 450}, blue={"x": 300_000}, **(holds_its_fire(pilot) | parameters)
    )
    sim.set_missile(
        0,
        0,
        owner=BLUE,
        x=range_ * cos(radians(bearing)),
        y=range_ * cos(radians(90 - bearing)),
        heading_deg=bearing + 180,
        speed=1100,
        age=100,
    )
    return sim


@pytest.mark.parametrize("bearing", [-40, 40])
@pytest.mark.parametrize("time", [12, 16])
@pytest.mark.parametrize("pilot", EVADE)
def test_evades_below_its_time_to_go(pilot, time, bearing):
    sim = threatened(pilot, bearing, **exactly(**{EVADE[pilot]: time}), **ANY_MISSILE)
    moments = watch(sim, 40)
    turn = first_turn(moments)
    assert moments[turn].time_to_go < time + 0.05
    assert moments[turn - 1].time_to_go > time - 0.05


@pytest.mark.parametrize("bearing", [-20, 20])
@pytest.mark.parametrize("pilot", RUNNERS)
def test_runs_from_a_missile_and_comes_back(pilot, bearing):
    """It turns the shorter way until the missile is behind, and then back to the enemy."""
    sim = threatened(pilot, bearing, 10_000, **exactly(**{EVADE[pilot]: 100}), **ANY_MISSILE)
    moments = watch(sim, 45)
    assert moments[2].red["rudder"] * bearing < 0
    behind = [abs(bearing_deg(m, moment.red)) for moment in moments for m in moment.inbound]
    assert max(behind) > 160
    assert not moments[-1].inbound
    assert moments[-1].red["alive"]
    assert abs(moments[-1].enemy_deg) < 2


@pytest.mark.parametrize("pilot", ["shooter", "turn_back"])
def test_does_not_evade(pilot):
    moments = watch(threatened(pilot, range_=10_000), 30)
    assert first_turn(moments) is None
    assert not moments[-1].red["alive"]


@pytest.mark.parametrize("angle", [40, 60])
def test_snake_weaves_about_the_enemy(angle):
    """Its nose is so far to the left after half a period, and to the right after the other half."""
    weaving = exactly(snake_time=100) | {"snake_angle_deg": angle, "snake_period": 24}
    # A missile of little drag, so that it is on its way for that long.
    sim = threatened("snake", 0, 60_000, missile_terminal_speed=1000, **weaving)
    moments = watch(sim, 24)
    assert all(moment.inbound for moment in moments)
    assert (moments[24].enemy_deg, moments[48].enemy_deg) == pytest.approx((-angle, angle), abs=2)


def test_snake_counter_attacks():
    """While it weaves it fires at an enemy in range whenever that passes its nose."""
    sim = threatened("snake", 0, 26_000, **(fires_from_anywhere("snake") | exactly(snake_time=100)))
    sim.set_fighter(0, BLUE, x=50_000)
    moments = watch(sim, 30)
    assert len(launches(moments)) == 2
    for i in launches(moments):
        assert moments[i].inbound
        assert abs(moments[i].enemy_deg) < 15


# The ace


@pytest.mark.parametrize("bearing", [0, 60, 90, -140])
def test_ace_evades_what_could_run_it_down(bearing):
    """It turns if the missile would reach it with a share of the guard, all of it from ahead."""
    missing = 3_000
    share = (1 + cos(radians(bearing))) / 2
    for guard, turns in ((0.95 * missing / share, False), (1.05 * missing / share, True)):
        sim = threatened(
            "ace",
            bearing,
            chase_reach(1100) + missing,
            **exactly(ace_cold_time=100, ace_guard=guard),
        )
        assert (first_turn(watch(sim, 0.5)) is not None) == turns


def test_ace_drags_just_long_enough():
    """It turns less far from a missile than `evader`, and survives as well."""
    farthest = []
    for pilot in ("ace", "evader"):
        cold = exactly(ace_cold_time=100, evader_cold_time=100, ace_guard=10_000)
        moments = watch(threatened(pilot, 20, 10_000, **cold), 30)
        assert moments[-1].red["alive"]
        farthest.append(max(abs(moment.enemy_deg) for moment in moments))
    assert farthest[0] < farthest[1] - 20


@pytest.mark.parametrize("reserve", [0, 2, 5])
def test_ace_saves_missiles_for_r_nez(reserve):
    """From far off it fires all but its reserve; those it fires once the enemy is near."""
    sim = scene(
        "ace",
        blue={"x": 40_000, "heading_deg": 90},
        ace_reserve=reserve,
        ace_salvo=6,
        ace_crank_angle_deg=0,
        launch_interval=0,
        **exactly(ace_probe=2, ace_fire=1),
    )
    assert watch(sim, 5)[-1].red["ammo"] == reserve
    red = see(sim).red
    sim.set_fighter(0, BLUE, x=red["x"] + 8_000, y=red["y"])
    assert watch(sim, 5)[-1].red["ammo"] == 0


def test_ace_leaves_when_all_is_shot():
    """It supports its last missile and then flies away from a distant enemy for good."""
    sim = scene(
        "ace",
        red={"ammo": 1},
        blue={"x": 50_000, "heading_deg": 90},
        ace_reserve=0,
        **fires_from_anywhere("ace"),
    )
    moments = watch(sim, 120)
    gone = next(i for i, moment in enumerate(moments) if i and not moment.own)
    assert all(abs(moment.enemy_deg) < 120 for moment in moments[:gone])
    assert all(abs(moment.enemy_deg) > 170 for moment in moments[gone + 20 :])


# What all have in common, and the two that do not fight


@pytest.mark.parametrize("pilot", PILOTS)
def test_opens_the_throttle(pilot):
    assert watch(scene(pilot, red={"throttle": 0}), 1)[-1].red["throttle"] == 1


@pytest.mark.parametrize("pilot", ["straight", "weave"])
def test_never_fires(pilot):
    assert launches(watch(scene(pilot, blue={"x": 5_000}), 8)) == []


def test_straight_flies_straight_on():
    sim = scene("straight", blue={"x": 9_000, "y": 9_000})
    sim.set_missile(0, 0, owner=BLUE, x=9_000, y=0, heading_deg=180, speed=900, age=100)
    assert {moment.red["rudder"] for moment in watch(sim, 5)} == {0}


def test_weave_turns_left_and_right():
    """It turns left for a quarter of the period, then half of it to each side, at half rudder."""
    moments = watch(scene("weave", weave_period=16), 32)
    settled = [moment.red["rudder"] for moment in moments[4::8]]  # in the middle of each turn
    assert settled == [0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.5]
    assert abs(moments[-1].red["heading"]) < radians(5)

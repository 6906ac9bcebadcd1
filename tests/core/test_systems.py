"""Emission control and chaff against closed forms; RULES.md, "Emission control and chaff".

test_reference.py and test_height_sensors.py fly both beside their float64 reference.
"""

from math import cos, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenes import BLUE, RED

from midrange_puffer import Midrange, Simulation, _core, features_of
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import controls_in
from midrange_puffer.game.contacts import LIVE, LOST, MEMORY, UNSEEN
from midrange_puffer.game.observation import controls_of
from midrange_puffer.game.parameters import observed, resolve

SENSED = {"sensing": "radar", "radar_acquire_time": 0}
EMISSION = SENSED | {"emission_control": "on"}
CHAFF = SENSED | {"chaff": 4, "chaff_chance": 1, "radar_notch_speed": 0}
FAR = {"start_range_min": 200_000, "start_range_max": 200_000}
SILENT, DROP = _core.SILENT, _core.DROP
EACH_DIMENSION = pytest.mark.parametrize("dimensions", [2, 3])


def step(sim: Simulation, red: int = 0, blue: int = 0, **others: float) -> None:
    """Flies a decision at full throttle, with these levels of the systems."""
    of = controls_in(sim.parameters["dimensions"], systems=True)
    controls = np.zeros((sim.num_envs, 2, of.count), np.float32)
    controls[..., of.names.index("throttle")] = 1
    controls[..., of.names.index("systems")] = red, blue
    for name, value in others.items():
        controls[:, RED, of.names.index(name)] = value
    sim.step(controls)


def scene(
    distance: float = 30_000, heading: float = 180, num_envs: int = 1, **settings
) -> Simulation:
    """Red at the origin, nose to +x, and blue in front of it, both as high."""
    sim = Simulation(num_envs, 1, **(FAR | settings))
    level = {"z": 6_000, "climb_deg": 0} if settings.get("dimensions") == 3 else {}
    for env in range(num_envs):
        sim.set_fighter(env, RED, x=0, y=0, heading_deg=0, speed=300, **level)
        sim.set_fighter(env, BLUE, x=distance, y=0, heading_deg=heading, speed=300, **level)
    return sim


def source(sim: Simulation, seat: int = RED) -> int:
    return int(sim.contacts["source"][0, seat])


def shown(sim: Simulation, seat: int) -> dict[str, float]:
    """Returns the features that a fighter observes."""
    rows = features_of(observed("default", sim.parameters))
    return {row.name: float(v) for row, v in zip(rows, sim.observe()[0, seat], strict=True)}


# Emission control


@EACH_DIMENSION
def test_a_silent_radar_sees_nothing_and_is_not_heard(dimensions):
    sim = scene(**EMISSION, dimensions=dimensions)
    step(sim, red=SILENT)
    assert (source(sim), source(sim, BLUE)) == (UNSEEN, LIVE)
    red, blue = (shown(sim, seat) for seat in (RED, BLUE))
    assert (blue["receiver_searched"], blue["receiver_tracked"]) == (0, 0)
    assert red["receiver_tracked"] == 1
    assert (red["systems_emits"], blue["systems_emits"]) == (0, 1)
    step(sim)
    assert source(sim) == LIVE
    assert shown(sim, BLUE)["receiver_tracked"] == 1


def test_a_track_of_a_silent_radar_is_remembered_and_then_lost():
    sim = scene(**EMISSION, track_memory=2)
    step(sim)
    ages = []
    for _ in range(6):
        step(sim, red=SILENT)
        ages.append(source(sim))
    assert ages == [MEMORY] * 4 + [LOST] * 2  # decisions of half a second


def test_a_silent_radar_does_not_guide():
    """The missile flies where a memory has its target; the enemy has turned away meanwhile."""
    aims = []
    for level in (0, SILENT):
        sim = scene(25_000, **EMISSION)
        step(sim)
        step(sim, fire=1)
        for _ in range(10):
            sim.set_fighter(0, BLUE, heading_deg=135)
            step(sim, red=level)
        aims.append((sim.beliefs["y"][0, 0], sim.fighters["y"][0, BLUE]))
    (guided, true), (alone, _) = aims
    assert guided == pytest.approx(true, abs=1)
    assert alone == pytest.approx(0, abs=1)
    assert true > 1_000


def test_a_silent_fighter_flies_its_missile_by_the_radar_of_an_ally():
    of_three = EMISSION | FAR | {"red_size": 2, "start_spacing_max": 3_000, "dimensions": 2}
    sim = Simulation(1, 1, **of_three)
    for number, y in ((0, 0), (1, 2_000)):
        sim.set_fighter(0, number, x=0, y=y, heading_deg=0, speed=300)
    sim.set_fighter(0, 2, x=25_000, y=0, heading_deg=180, speed=300)
    controls = np.zeros((1, 3, 4), np.float32)
    sim.step(controls)
    controls[0, 0, 2] = SILENT
    for _ in range(3):
        sim.step(controls)
    contact = {name: values[0, 0, 0] for name, values in sim.contacts.items()}
    assert contact["source"] == 4  # linked
    assert sim.launch(0, 0)
    sim.set_fighter(0, 2, heading_deg=135)
    for _ in range(6):
        sim.step(controls)
    assert sim.beliefs["y"][0, 0] == pytest.approx(sim.fighters["y"][0, 2], abs=400)
    assert sim.beliefs["y"][0, 0] > 300


def test_the_control_switches_the_radar_in_every_mode():
    """Levels and continuous actions of an environment are the radar's state and the cartridges."""
    own = SENSED | {"emission_control": "on", "chaff": 4, "chaff_time": 0.6}
    rows = [row.name for row in features_of("radar+systems")]
    columns = [rows.index("systems_emits"), rows.index("systems_chaff")]
    # Of each decision the level, the feature of the radar, and the share of the chaff. A cloud
    # lasts beyond a decision, so no two drops follow each other.
    steps = ((0, 1, 1), (1, 0, 1), (2, 1, 0.75), (1, 0, 0.75), (3, 0, 0.5), (0, 1, 0.5))
    for mode in ("discrete", "continuous"):
        env = Midrange(num_envs=1, opponent="straight", action_mode=mode, **own)
        env.reset(seed=1)
        for level, emits, left in steps:
            env.step(np.array([[0, 0, level, 0]], env.actions.dtype))
            assert env.observations[0, columns].tolist() == [emits, left], (mode, level)


def test_the_nearest_level_of_a_continuous_control_counts():
    """Not-a-number counts as 0, and values are clipped."""
    sim = scene(**EMISSION)
    of = controls_in(2, systems=True)
    assert of.names == ("rudder", "throttle", "systems", "fire")
    for value, silent in ((0.4, 0), (0.6, 1), (1.4, 1), (1.6, 0), (2.6, 1), (9, 1), (np.nan, 0)):
        step(sim, red=value)
        assert sim.systems["silent"][0].tolist() == [silent, 0], value


# Chaff


def decoyed(n: int, aspect: float, dimensions: int = 2, **settings: object) -> float:
    """Returns the share of n radars that chaff decoys, of a fighter at an angle off their line."""
    sim = scene(30_000, 180 + aspect, n, **(CHAFF | {"dimensions": dimensions} | settings))
    step(sim)
    before = sim.contacts["source"][:, RED] == LIVE
    assert before.all()
    step(sim, blue=DROP)
    return float((sim.contacts["source"][:, RED] == MEMORY).mean())


@EACH_DIMENSION
@pytest.mark.parametrize("aspect", [60, 75, 90, 110, 0, 180])
def test_the_chance_falls_with_the_speed_along_the_line(aspect, dimensions):
    n, chance = 600, 0.8
    share = decoyed(n, aspect, dimensions, chaff_chance=chance, chaff_speed=200)
    # The fighter holds its speed to a few m/s in the two decisions.
    expected = chance * max(1 - abs(300 * cos(radians(aspect))) / 200, 0)
    assert share == pytest.approx(expected, abs=0.02 + 4 * (0.25 / n) ** 0.5)
    assert (share > 0) == (expected > 0)


def test_a_chance_is_drawn_once_for_a_cloud():
    """A radar that is decoyed stays so until the cloud is gone, and the others see all the time."""
    sim = scene(30_000, 90, 200, **(CHAFF | {"chaff_chance": 0.5, "chaff_time": 3}))
    step(sim)
    seen = []
    for number in range(8):
        step(sim, blue=DROP if number == 0 else 0)
        seen.append(sim.contacts["source"][:, RED] == LIVE)
    # Dropped at the beginning of the first of these decisions: gone after six.
    for during in seen[1:5]:
        # Flying across the line the chance falls a little, by which a few are freed.
        assert (during >= seen[0]).all()
        assert during.mean() - seen[0].mean() < 0.05
    assert 0.3 < seen[0].mean() < 0.7
    assert seen[6].all()


def test_clouds_draw_numbers_of_their_own():
    """The radars that one cloud decoys are independent of those that another one decoys."""
    own = {"chaff_chance": 0.5, "chaff_time": 1, "chaff_speed": 1_000}
    n = 400
    sim = scene(30_000, 90, n, **(CHAFF | own))
    step(sim)
    decoys = []
    for number in range(4):
        step(sim, blue=DROP)
        decoys.append(sim.contacts["source"][:, RED] == MEMORY)
        for _ in range(2):
            step(sim)
        assert (sim.contacts["source"][:, RED] == LIVE).all()  # the cloud is gone
        assert (sim.systems["chaff"][:, BLUE] == 3 - number).all()
    correlations = np.corrcoef(decoys)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4 / n**0.5  # four standard deviations
    assert all(0.35 < decoyed.mean() < 0.65 for decoyed in decoys)


def test_a_cartridge_waits_for_the_cloud_to_go():
    sim = scene(**(CHAFF | {"chaff_time": 2}))
    left = []
    for _ in range(20):
        step(sim, blue=DROP)
        left.append(int(sim.systems["chaff"][0, BLUE]))
    assert left == [3] * 4 + [2] * 4 + [1] * 4 + [0] * 8
    assert sim.systems["chaff"][0, RED] == 4


@pytest.mark.parametrize(("share", "carried"), [(0, 0), (0.1, 1), (0.25, 2), (0.5, 4), (1, 7)])
def test_a_type_carries_its_share_of_the_chaff(share, carried):
    """Rounded to whole cartridges, a half up; observed as a share of the parameter."""
    own = {"types": f"own=light chaff={share}", "red_aircraft": "own", "dimensions": 3, "chaff": 7}
    sim = scene(**(SENSED | own))
    assert sim.systems["chaff"][0].tolist() == [carried, 7]
    assert shown(sim, RED)["systems_chaff"] == pytest.approx(carried / 7)
    for _ in range(carried + 1):
        sim.set_fighter(0, RED, alive=True)
        for _ in range(8):
            step(sim, red=DROP)
    assert sim.systems["chaff"][0, RED] == 0
    restored = Simulation(1, 1, **sim.parameters)
    restored.restore(sim.snapshot())
    assert restored.systems["chaff"][0].tolist() == [0, 7]


def test_the_dead_drop_nothing():
    sim = scene(**CHAFF)
    sim.set_fighter(0, BLUE, alive=False)
    step(sim, blue=DROP)
    assert sim.systems["chaff"][0, BLUE] == 4


def shot(distance: float, n: int = 1, **settings: object) -> Simulation:
    """A seeker that has looked at blue, which flies across, and that chaff may decoy."""
    sim = scene(60_000, 90, n, **(CHAFF | {"seeker_memory": 0} | settings))
    for env in range(n):
        sim.set_fighter(env, RED, heading_deg=180)  # no radar helps
        away = {"x": 60_000 - distance, "y": 0, "heading_deg": 0, "speed": 900}
        if settings.get("dimensions") == 3:
            away["z"] = 6_000
        sim.set_missile(env, 0, owner=RED, age=200, **away)
    step(sim)
    assert (sim.beliefs["locked"][:, 0] == 1).all()
    return sim


@EACH_DIMENSION
def test_a_decoyed_missile_flies_to_the_cloud(dimensions):
    sim = shot(9_000, chaff_chance=1, chaff_speed=1_000, dimensions=dimensions)
    where = {name: float(sim.fighters[name][0, BLUE]) for name in "xy"}
    assert shown(sim, BLUE)["seeker_1_present"] == 1
    step(sim, blue=DROP)
    belief = {name: float(values[0, 0]) for name, values in sim.beliefs.items()}
    assert belief["locked"] == 0  # the cloud of this seed decoys it
    assert (belief["x"], belief["y"]) == pytest.approx((where["x"], where["y"]), abs=1e-3)
    assert (belief["vx"], belief["vy"]) == (0, 0)
    assert shown(sim, BLUE)["seeker_1_present"] == 0
    # It has burnt out and has neither lock nor track, and is not lost while it is decoyed.
    for _ in range(6):
        step(sim)
        assert sim.missiles["active"][0, 0] == 1


def test_seekers_near_the_fighter_tell_it_from_the_cloud():
    n = 300
    shares = []
    for distance in (9_000, 2_500):
        sim = shot(distance, n, chaff_chance=1, chaff_speed=1_000, chaff_time_to_go=8)
        step(sim, blue=DROP)
        flying = sim.missiles["active"][:, 0] == 1
        shares.append(1 - (sim.beliefs["locked"][flying, 0] == 1).mean())
    # The missiles slow down: after the drop the times to go are above 8 s, and about 2 s.
    assert shares[0] > 0.7
    assert shares[1] < 0.45


def test_chaff_lowers_the_hits_on_a_pilot_that_evades():
    """With a chance of 0 the missiles hit as without chaff."""
    hits = []
    near = SENSED | {"start_range_min": 20_000, "start_range_max": 30_000}
    for own in ({}, {"chaff": 20, "chaff_chance": 0}, {"chaff": 20, "chaff_chance": 1}):
        sim = Simulation(128, 3, red="shooter", blue="evader", **(near | own))
        for _ in range(500):
            sim.step()
        hits.append(int((sim.fighters["alive"][:, BLUE] == 0).sum()))
    assert hits[0] == hits[1]
    assert hits[2] < hits[0]


# All games


def test_games_have_the_control_and_features_only_with_a_system():
    for dimensions, red in ((2, 1), (3, 1), (2, 3), (3, 2)):
        size = {"dimensions": dimensions, "red_size": red}
        plain = Simulation(**SENSED, **size)
        for own in ({"chaff": 1}, {"emission_control": True}):
            sim = Simulation(**SENSED, **size, **own)
            assert sim.core.controls == plain.core.controls + 1
            assert sim.core.features > plain.core.features
            assert controls_of(sim.core.features).systems
        assert not controls_of(plain.core.features).systems


def test_a_system_that_is_off_does_nothing():
    sim = scene(**(SENSED | {"chaff": 3}))
    step(sim, red=SILENT | DROP)
    assert sim.systems["silent"][0, RED] == 0
    assert sim.systems["chaff"][0, RED] == 2
    sim = scene(**EMISSION)
    step(sim, red=SILENT | DROP)
    assert (sim.systems["silent"][0, RED], sim.systems["cloud"][0, RED]) == (1, 0)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_cloud_is_observed_where_it_is(dimensions):
    sim = scene(30_000, 180, **(CHAFF | {"dimensions": dimensions}))
    step(sim, red=DROP, rudder=1)
    for _ in range(3):
        step(sim, rudder=1)
    seen, own = shown(sim, RED), {n: float(v[0, RED]) for n, v in sim.fighters.items()}
    dx, dy = -own["x"], -own["y"]  # it was dropped at the origin
    distance = np.hypot(dx, dy) if dimensions == 2 else np.hypot(np.hypot(dx, dy), own["z"] - 6_000)
    c, s = cos(own["heading"]), sin(own["heading"])
    assert seen["systems_cloud_nearness"] == pytest.approx(1000 / (1000 + distance), rel=1e-3)
    assert seen["systems_cloud_ahead"] == pytest.approx((c * dx + s * dy) / distance, abs=1e-3)
    assert seen["systems_cloud_left"] == pytest.approx((c * dy - s * dx) / distance, abs=1e-3)
    assert seen["systems_cloud_time"] == pytest.approx((4 - 2) / 10, abs=1e-6)
    assert seen["systems_chaff"] == 0.75


def test_setting_and_reading_systems():
    sim = scene(**(EMISSION | {"chaff": 5}))
    sim.set_fighter(0, BLUE, silent=True, chaff=2)
    assert (sim.systems["silent"][0, BLUE], sim.systems["chaff"][0, BLUE]) == (1, 2)
    with pytest.raises(ValueError, match="chaff = 6: must be a number from 0 to 5"):
        sim.set_fighter(0, BLUE, chaff=6)
    with pytest.raises(ValueError, match="silent = True: needs emission_control = on"):
        Simulation(**SENSED).set_fighter(0, BLUE, silent=True)


def test_bad_parameters_are_named():
    with pytest.raises(UsageError, match=r"chaff = 3: without sensors .* needs sensing = radar"):
        resolve({"chaff": 3})
    with pytest.raises(UsageError, match="emission_control = on: needs sensing = radar"):
        resolve({"emission_control": True})
    with pytest.raises(ValueError, match="emission_control = 'yes'"):
        resolve(SENSED | {"emission_control": "yes"})
    with pytest.raises(ValueError, match="chaff = 61: must be from 0 to 60 cartridges"):
        resolve(SENSED | {"chaff": 61})
    assert resolve(SENSED | {"emission_control": True})["emission_control"] == "on"


# What holds in all games


@given(
    seed=st.integers(0, 2**31),
    dimensions=st.sampled_from((2, 3)),
    sizes=st.sampled_from(((1, 1), (2, 1), (2, 3))),
    own=st.fixed_dictionaries(
        {
            "emission_control": st.just("on"),
            "chaff": st.integers(0, 60),
            "chaff_time": st.sampled_from((0.6, 4, 60)),
            "chaff_chance": st.sampled_from((0, 0.5, 1)),
            "chaff_speed": st.sampled_from((1, 150, 1000)),
            "chaff_time_to_go": st.sampled_from((0, 4, 100)),
            "blue_jammer": st.sampled_from((0, 20_000)),
            "radar_noise_range": st.sampled_from((0, 300)),
        }
    ),
)
@settings(max_examples=25)
def test_random_actions_keep_everything_possible(seed, dimensions, sizes, own):
    """Everything stays finite, cartridges only go, and a snapshot is the state."""
    red, blue = sizes
    near = {"start_range_min": 8_000, "start_range_max": 20_000, "start_spacing_max": 2_500}
    if not own["chaff"]:
        own = {name: value for name, value in own.items() if not name.startswith("chaff_")}
    parameters = (
        SENSED | own | near | {"dimensions": dimensions, "red_size": red, "blue_size": blue}
    )
    sim = Simulation(9, seed, blue="evader", **parameters)
    of, rng = controls_in(dimensions, systems=True), np.random.default_rng(seed)
    left, snapshot, after = sim.systems["chaff"], b"", 0
    for decision in range(60):
        controls = rng.uniform(of.lowest, of.highest, (9, red + blue, of.count))
        controls[..., -1] *= rng.random() < 0.2
        if decision == 40:
            snapshot = sim.snapshot()
            sim.step(controls)
            after = sim.state_hash()
            sim.restore(snapshot)
        sim.step(controls)
        if decision == 40:
            assert sim.state_hash() == after
        systems = sim.systems
        assert ((left - systems["chaff"]) * (left - systems["chaff"] - 1) == 0).all()
        assert np.isin(systems["silent"], (0, 1)).all()
        left = systems["chaff"]
        seen = sim.observe()
        assert np.isfinite(seen).all()
        assert np.abs(seen).max() <= 1
    if own["chaff"] == 0:
        assert not sim.systems["cloud"].any()


@EACH_DIMENSION
def test_a_mirrored_fight_has_mirrored_clouds(dimensions):
    """Both draw the same numbers: observations are the same but for the lateral features."""
    own = EMISSION | CHAFF | {"chaff_chance": 0.6, "dimensions": dimensions, "chaff_time": 2}
    sims = [Simulation(8, 3, **(FAR | own)) for _ in range(2)]
    rng, of = np.random.default_rng(1), controls_in(dimensions, systems=True)
    high = {"z": 6_000, "climb_deg": 0} if dimensions == 3 else {}
    for env in range(8):
        for seat, x in ((RED, 0), (BLUE, 18_000)):
            y, turn = rng.uniform(-3_000, 3_000), rng.uniform(-40, 40)
            for sign, sim in zip((1, -1), sims, strict=True):
                heading = sign * ((180 if seat else 0) + turn)
                place = {"x": x, "y": sign * y, "heading_deg": heading, "speed": 300}
                sim.set_fighter(env, seat, **place, **high)
    rows = features_of(observed("default", sims[0].parameters))
    signs = np.array([-1 if row.lateral else 1 for row in rows])
    clouds = decoyed_once = 0
    for _ in range(60):
        controls = rng.uniform(of.lowest, of.highest, (8, 2, of.count)).astype(np.float32)
        controls[..., of.names.index("throttle")] = 1
        mirrored = controls.copy()
        mirrored[..., 0] *= -1
        for sim, given_controls in zip(sims, (controls, mirrored), strict=True):
            sim.step(given_controls)
        one, other = (sim.observe() for sim in sims)
        assert np.array_equal(signs * one, other)
        clouds += (sims[0].systems["cloud"] > 0).sum()
        decoyed_once += (sims[0].contacts["source"] == MEMORY).sum()
    assert clouds > 100
    assert decoyed_once > 20

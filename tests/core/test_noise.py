"""Noise and the filter of tracks against closed forms; RULES.md, "Noise".

test_reference.py and test_height_sensors.py fly both beside their float64 reference.
"""

from math import cos, radians, sin, sqrt

import numpy as np
import pytest
from scenes import BLUE, RED

from midrange_puffer import RADAR_FEATURES, Simulation, _core, features_of
from midrange_puffer.errors import UsageError
from midrange_puffer.game.contacts import LIVE, MEMORY, believed
from midrange_puffer.game.parameters import NOISE, resolve

NOISY = {"radar_noise_bearing_deg": 1.5, "radar_noise_range": 300.0, "radar_noise_speed": 12.0}
# A decision is one physics step, and a track begins at once; at the start nobody sees anybody.
QUICK = {"sensing": "radar", "substeps": 1, "radar_acquire_time": 0}
QUICK |= {"start_range_min": 200_000, "start_range_max": 200_000}
COUNT = 3_000  # engagements, to see a distribution
EACH_DIMENSION = pytest.mark.parametrize("dimensions", [2, 3])


def scene(
    count: int,
    distance: float,
    bearing_deg: float,
    aspect_deg: float = 0.0,
    up: float = 0.0,
    speed: float = 300.0,
    **settings: float,
) -> Simulation:
    """Red at the origin, nose to +x; blue at a bearing, its nose `aspect_deg` off red."""
    sim = Simulation(count, 1, **({"physics_dt": 0.001} | QUICK | NOISY | settings))
    ground = sqrt(distance**2 - up**2)
    x, y = ground * cos(radians(bearing_deg)), ground * sin(radians(bearing_deg))
    red, blue = {"x": 0, "y": 0}, {"x": x, "y": y}
    if settings.get("dimensions") == 3:
        red |= {"z": 6_000, "climb_deg": 0}
        blue |= {"z": 6_000 + up, "climb_deg": 0}
    for env in range(count):
        sim.set_fighter(env, RED, heading_deg=0, speed=speed, **red)
        heading = bearing_deg + 180 + aspect_deg
        sim.set_fighter(env, BLUE, heading_deg=heading, speed=speed, **blue)
    fly(sim, 1)
    return sim


def fly(sim: Simulation, decisions: int) -> None:
    """Everybody flies straight on at half throttle."""
    controls = np.zeros((*sim.rewards.shape, 4 if sim.parameters["dimensions"] == 3 else 3))
    controls[..., -2] = 0.5
    for _ in range(decisions):
        sim.step(controls)


def errors(sim: Simulation, seat: int = RED) -> dict[str, np.ndarray]:
    """The errors of the contacts: along the true line of sight, to the left, up, and of speed."""
    contacts, fighters = sim.contacts, sim.fighters
    axes, other = ("x", "y", "z")[: sim.parameters["dimensions"]], 1 - seat
    own, true = (np.array([fighters[a][:, n] for a in axes], float) for n in (seat, other))
    line = (true - own) / np.linalg.norm(true - own, axis=0)
    off = np.array([contacts[a][:, seat] for a in axes], float) - true
    left = np.array([-line[1], line[0], *(0 * line[2:])])
    left /= np.linalg.norm(left, axis=0)
    out = {"along": (off * line).sum(0), "left": (off * left).sum(0)}
    if len(axes) == 3:
        out["up"] = (off * np.cross(line.T, left.T).T).sum(0)
    velocity = np.array([contacts[f"v{a}"][:, seat] for a in axes], float)
    truth = np.array([fighters[f"v{a}"][:, other] for a in axes], float)
    return out | {"speed": (velocity * line).sum(0) - (truth * line).sum(0)}


def reach_at(aspect_deg: float) -> float:
    p = resolve({})
    share = cos(radians(aspect_deg)) ** 2
    end = p["radar_range_nose" if abs(aspect_deg) < 90 else "radar_range_tail"]
    return end * share + p["radar_range_beam"] * (1 - share)


# Measurements


@EACH_DIMENSION
@pytest.mark.parametrize(
    ("distance", "aspect"), [(50_000, 0), (25_000, 0), (40_000, 180), (40_000, 40)]
)
def test_the_errors_of_a_measurement_have_their_distribution(dimensions, distance, aspect):
    """A first measurement is unbiased, and its deviations go with the square of the range."""
    up = 5_000 if dimensions == 3 else 0
    sim = scene(COUNT, distance, 30, aspect, up, dimensions=dimensions)
    assert (sim.contacts["source"][:, RED] == LIVE).all()
    off = errors(sim)
    tilt = cos(np.arcsin(up / distance))  # the aspect is an angle in space
    share = (distance / reach_at(np.degrees(np.arccos(cos(radians(aspect)) * tilt)))) ** 2
    across = share * radians(NOISY["radar_noise_bearing_deg"]) * distance
    expected = {"along": share * NOISY["radar_noise_range"], "left": across, "up": across}
    expected["speed"] = share * NOISY["radar_noise_speed"]
    for name, values in off.items():
        deviation = expected[name]
        # Radially a turned line is shorter by half the square of its angle.
        assert abs(values.mean()) < 4 * deviation / sqrt(COUNT) + across**2 / distance, name
        assert values.std() == pytest.approx(deviation, rel=0.06), name
        assert np.abs(values).max() < 3.6 * deviation + across**2 / distance, name
    pairs = np.corrcoef([*off.values()])
    assert np.abs(pairs - np.eye(len(pairs))).max() < 0.08


def test_the_random_numbers_are_nearly_normal_and_independent():
    """Errors of both fighters, and of one time and the next, do not correlate."""
    sim = scene(COUNT, 50_000, 20, -20)  # both see each other
    red, blue = errors(sim, RED)["along"], errors(sim, BLUE)["along"]
    for values in (red, blue):
        values = (values - values.mean()) / values.std()
        assert np.mean(values**3) == pytest.approx(0, abs=0.1)
        assert np.mean(values**4) == pytest.approx(2.7, abs=0.2)  # of four uniform numbers; 3
        assert np.mean(np.abs(values) < 1) == pytest.approx(0.683, abs=0.03)
    assert abs(np.corrcoef(red, blue)[0, 1]) < 0.08
    fly(sim, 1)
    # The second measurement weighs as much as the first: half of its error is new.
    assert np.corrcoef(red, errors(sim)["along"])[0, 1] == pytest.approx(sqrt(0.5), abs=0.05)


def test_other_engagements_episodes_and_seeds_have_other_noise():
    sim = scene(40, 50_000, 20)
    places = {float(x) for x in sim.contacts["x"][:, RED]}
    again = scene(40, 50_000, 20)
    assert len(places) == 40
    assert places == {float(x) for x in again.contacts["x"][:, RED]}


# The filter


def test_the_first_measurements_give_the_regression_line():
    """Hardly any acceleration, no idea of the speed: the variance is that of least squares."""
    quiet = {"track_acceleration": 1, "track_speed": 2_000, "radar_noise_bearing_deg": 0.3}
    sim = scene(1, 30_000, 0, 180, physics_dt=0.5, **quiet)  # a chase at equal speed
    first = float(sim.core.read("contact")["across_xx"][0, RED])
    for n in range(2, 6):
        fly(sim, 1)
        spread = sim.core.read("contact")["across_xx"][0, RED]
        assert spread == pytest.approx(first * 2 * (2 * n - 1) / (n * (n + 1)), rel=0.02)


@pytest.mark.parametrize("acceleration", [5, 20, 80])
def test_the_filter_settles_at_the_gains_in_closed_form(acceleration):
    """Across the line of sight, where only places are measured: Kalata (1984), alpha and beta."""
    time, distance = 0.5, 30_000
    sim = scene(1, distance, 0, 180, physics_dt=time, track_acceleration=acceleration)
    fly(sim, 150)  # a chase at equal speed
    share = (distance / reach_at(180)) ** 2
    deviation = share * radians(NOISY["radar_noise_bearing_deg"]) * distance
    index = acceleration * time**2 / deviation
    r = (4 + index - sqrt(8 * index + index**2)) / 4
    alpha = 1 - r**2
    beta = 2 * (2 - alpha) - 4 * sqrt(1 - alpha)
    contact = {name: float(v[0, RED]) for name, v in sim.core.read("contact").items()}
    assert contact["across_xx"] == pytest.approx(alpha * deviation**2, rel=2e-3)
    assert contact["across_xv"] == pytest.approx(beta / time * deviation**2, rel=2e-3)
    rate = beta * (2 * alpha - beta) / (2 * (1 - alpha)) / time**2
    assert contact["across_vv"] == pytest.approx(rate * deviation**2, rel=4e-3)


@EACH_DIMENSION
def test_a_track_of_one_that_flies_straight_is_better_than_a_measurement(dimensions):
    """Its errors are those that the filter expects, or less: the enemy does not accelerate."""
    sim = scene(400, 40_000, 5, physics_dt=0.5, dimensions=dimensions, track_acceleration=5)
    first = errors(sim)
    fly(sim, 40)
    last, contacts = errors(sim), sim.core.read("contact")
    assert last["left"].std() < 0.35 * first["left"].std()
    assert abs(last["left"].mean()) < 4 * last["left"].std() / 20
    for name, of in (("along", "along_xx"), ("left", "across_xx")):
        expected = np.sqrt(contacts[of][:, RED].mean())
        assert 0.4 * expected < last[name].std() < 1.1 * expected
    assert np.abs(last["speed"]).max() < 4 * NOISY["radar_noise_speed"]


def test_a_remembered_track_grows_less_certain_and_is_narrow_again_when_seen():
    sim = scene(1, 40_000, 0, physics_dt=0.5, track_memory=20)
    fly(sim, 20)
    before = float(sim.contacts["deviation"][0, RED])
    sim.set_fighter(0, RED, heading_deg=180)
    grown = []
    for _ in range(10):
        fly(sim, 1)
        assert sim.contacts["source"][0, RED] == MEMORY
        grown.append(float(sim.contacts["deviation"][0, RED]))
    assert grown == sorted(grown)
    assert grown[-1] > 2 * before
    sim.set_fighter(0, RED, heading_deg=0)
    fly(sim, 1)
    assert sim.contacts["source"][0, RED] == LIVE
    assert sim.contacts["deviation"][0, RED] < 0.8 * grown[-1]


# Who uses it


def test_agents_pilots_and_missiles_have_the_filtered_track():
    """The observed range is that of the contact, and a missile without a lock flies at it."""
    sim = scene(20, 40_000, 0, physics_dt=0.1)
    controls = np.tile(np.float32([0, 0.5, 1]), (20, 2, 1))
    for _ in range(10):
        sim.step(controls)
    contacts, fighters = sim.contacts, sim.fighters
    names = [feature.name for feature in RADAR_FEATURES]
    view = dict(zip(names, sim.observe()[:, RED].T, strict=True))
    away = [contacts[axis][:, RED] - fighters[axis][:, RED] for axis in "xy"]
    assert view["enemy_range"] * 100_000 == pytest.approx(np.hypot(*away), abs=1)
    assert np.abs(errors(sim)["left"]).min() > 0
    quality = 1_000 / (1_000 + contacts["deviation"][:, RED])
    assert view["track_live"] == pytest.approx(quality, abs=1e-6)
    assert (quality > 0.3).all()
    assert (quality < 0.95).all()
    beliefs, missiles = sim.core.read("belief"), sim.core.read("missile")
    mine = (missiles["active"] == 1) & (missiles["owner"] == RED) & (beliefs["locked"] == 0)
    assert mine.any(axis=1).all()
    for axis in "xy":
        where = np.broadcast_to(contacts[axis][:, [RED]], mine.shape)
        assert np.array_equal(beliefs[axis][mine], where[mine])


@EACH_DIMENSION
def test_without_noise_nothing_has_a_deviation(dimensions):
    sim = Simulation(8, 3, "ace", "snake", sensing="radar", dimensions=dimensions)
    for _ in range(80):
        sim.step()
    spreads = [v for n, v in sim.core.read("contact").items() if n[:4] in ("alon", "acro")]
    assert len(spreads) == 6
    assert not np.any(spreads)
    live = sim.contacts["source"][:, RED] == LIVE
    assert live.any()
    names = [f.name for f in features_of("radar_height" if dimensions == 3 else "radar")]
    assert np.array_equal(sim.observe()[:, RED, names.index("track_live")] == 1, live)


def test_an_engagement_as_believed_is_shown_with_noise():
    sim = scene(1, 30_000, 0)
    assert believed(sim, 0, RED).fighters["x"][0, BLUE] == sim.contacts["x"][0, RED]


# What holds in all games

TEAMS = {"red_size": 2, "blue_size": 3, "start_spacing_max": 2_500}
GAMES = [{}, {"dimensions": 3}, TEAMS, TEAMS | {"dimensions": 3}]
EACH_GAME = pytest.mark.parametrize("game", GAMES, ids=["plane", "height", "2v3", "2v3 height"])


@EACH_GAME
def test_batches_threads_and_instruction_sets_give_the_same_bits(game):
    """Noise is drawn by engagement and time, so it does not matter who flies beside whom."""
    settings = {"sensing": "radar", "red": "ace", "blue": "notcher"} | NOISY | game
    several = [{"isa": isa} for isa in _core.isas()] + [{"threads": 2}]
    sims = [Simulation(20, 7, **settings, **extra) for extra in several]
    alone = Simulation(3, 7, **settings)
    for _ in range(150):
        for sim in (*sims, alone):
            sim.step()
    assert len({sim.state_hash() for sim in sims}) == 1
    assert np.array_equal(sims[0].observe()[:3], alone.observe())
    other = Simulation(20, 1, **settings)
    other.restore(sims[0].snapshot())
    for sim in (other, sims[0]):
        sim.step()
    assert other.state_hash() == sims[0].state_hash()


def test_a_mirrored_fight_has_the_mirrored_pictures():
    """Errors of bearings are away from the nose or toward it: bit for bit the mirror's."""
    sims = [Simulation(6, 5, **QUICK | NOISY, launch_interval=1) for _ in "ab"]
    random = np.random.default_rng(2)
    for env in range(6):
        for seat in (RED, BLUE):
            x, y, heading = random.uniform([-2e4, -2e4, -180], [2e4, 2e4, 180])
            for sim, sign in zip(sims, (1, -1), strict=True):
                sim.set_fighter(env, seat, x=x, y=sign * y, heading_deg=sign * heading, speed=300)
    signs, tracks = np.array([-1 if row.lateral else 1 for row in RADAR_FEATURES]), 0
    for _ in range(300):
        controls = random.uniform([-1, 0, 0], 1, (6, 2, 3)).astype(np.float32)
        for sim, sign in zip(sims, (1, -1), strict=True):
            sim.step(controls * np.float32([sign, 1, 1]))
        a, b = (sim.core.read("contact") for sim in sims)
        for name, values in a.items():
            assert np.array_equal(-values if name in ("y", "s") else values, b[name]), name
        assert np.array_equal(signs * sims[0].observe(), sims[1].observe())
        tracks += (a["source"] == LIVE).sum()
    assert tracks > 300


@pytest.mark.usefixtures("one_map")  # with sanitizers that of steps of 0.001 s takes minutes
@EACH_DIMENSION
@pytest.mark.parametrize("dt", [0.001, 0.5])
def test_extreme_noise_keeps_everything_finite(dt, dimensions):
    settings = {"radar_noise_bearing_deg": 20, "radar_noise_range": 10_000, "physics_dt": dt}
    settings |= {"radar_noise_speed": 500, "track_acceleration": 200, "track_speed": 2_000}
    settings |= {"substeps": 100, "radar_notch_speed": 300, "dimensions": dimensions}
    sim = Simulation(16, 3, "ace", "notcher", sensing="radar", **settings)
    for _ in range(100):
        sim.step()
        assert np.isfinite(sim.observe()).all()
        assert all(np.isfinite(values).all() for values in sim.contacts.values())


# Bad input


@pytest.mark.parametrize("name", NOISE)
def test_noise_needs_sensors(name):
    with pytest.raises(UsageError, match=f"{name} = 3: needs sensing = radar"):
        Simulation(**{name: 3})
    with pytest.raises(ValueError, match=name):
        Simulation(sensing="radar", **{name: -1})


def test_a_misspelt_name_gets_the_nearest_one():
    with pytest.raises((UsageError, ValueError), match="radar_noise_range"):
        Simulation(sensing="radar", radar_noise_rang=3)

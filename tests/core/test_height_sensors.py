"""Sensors with height: beside their float64 reference, and scenes whose answer is known.

height_games.py has the tolerances.
"""

from collections.abc import Iterator
from math import cos, radians, sin

import height
import numpy as np
import pytest
from flights import exactly, without_draws
from height_games import MISSILE_ADRIFT, POSITION, REWARD, Game, facts, near_call, same_states
from height_symmetry import check_snapshots_and_batches, place_mirrored, step_mirrored
from needs import nightly
from reference_height import Fields
from reference_height_fight import BLUE, RED, Fight
from reference_height_sensors import HeightSensedPilot, HeightSensedTeamPilot
from reference_sensors import Contact, with_level

from midrange_puffer import Simulation, features_of
from midrange_puffer.game.contacts import LIVE, MEMORY, UNSEEN
from midrange_puffer.game.parameters import has_systems, kinds_of, observed, sizes_of
from midrange_puffer.game.types import parse_types

# Sensors whose every row matters within a minute, at 5 to 40 km.
SHARP = {
    "sensing": "radar",
    "radar_half_angle_deg": 70,
    "radar_range_nose": 30_000,
    "radar_range_beam": 38_000,
    "radar_range_tail": 22_000,
    "radar_notch_speed": 80,
    "radar_look_down": 0.02,
    "track_memory": 5,
    "start_range_min": 8_000,
    "start_range_max": 35_000,
    "start_off_boresight_max_deg": 40,
    "start_spacing_min": 300,
    "start_spacing_max": 1_500,
    "start_height_min": 2_000,
    "start_height_max": 9_000,
    "time_limit": 60,
    "reward_pressure": 0.05,
}
DRAWN = {"red_aircraft": "heavy:1,light:2", "blue_aircraft": "fast:1,trainer:1"}
DRAWN |= {"blue_missile": "short:1,long:1", "aircraft_spread": 0.3, "missile_spread": 0.2}
LOADED = {"red_missiles": "medium:2,short:2,long:2", "blue_missiles": "short:3,medium:2"}
NOISY = {"radar_noise_bearing_deg": 2, "radar_noise_range": 200, "radar_noise_speed": 10}
JAMMING = {"blue_jammer": 15_000, "red_jammer": 20_000, "home_on_jam_range": 18_000}
# Jammers and chaff that differ by aircraft: the same fighters as DRAWN.
EQUIPPED = {"types": "heavy jammer=2 chaff=0.25, light jammer=0, trainer jammer=0.5 chaff=0"}
SYSTEMS = {"emission_control": "on", "chaff": 8, "chaff_chance": 0.9, "chaff_speed": 250}
TWOS = {"red_size": 2, "blue_size": 2}


@pytest.fixture(scope="module")
def types(library) -> dict[str, Fields]:
    """Returns the fields of all types, by name."""
    names = [*height.types(library, "aircraft"), *height.types(library, "missile")]
    return {name: height.fields(library, name) for name in names}


def random_controls(
    seed: int, shape: tuple[int, int], kinds: int = 1, systems: bool = False
) -> Iterator[np.ndarray]:
    """Yields controls [*shape, 4], held for four decisions on average; shots every 4 s.

    With `systems` there are 5: their level stands before fire.
    """
    random, count = np.random.default_rng(seed), 0
    held, level = np.zeros((*shape, 4), np.float32), np.zeros(shape)
    while True:
        fresh = random.uniform([-1, -1, 0, 0], 1, held.shape).astype(np.float32)
        held = np.where(random.random((*shape, 1)) < 0.25, fresh, held)
        held[..., 3] = (count % 8 == 1) * random.integers(1, kinds + 1, shape)
        if systems:
            fresh_level = random.choice(4, shape, p=(0.4, 0.1, 0.4, 0.1))
            level = np.where(random.random(shape) < 0.25, fresh_level, level)
        yield np.insert(held, 3, level, axis=-1).astype(np.float32) if systems else held
        count += 1


def same_pictures(ours: Fight, theirs: Fight) -> bool:
    """True if all contacts and beliefs are the same, within the tolerances."""
    pairs = [*zip(contacts_of(ours), contacts_of(theirs), strict=True)]
    pairs += [(belief, theirs.beliefs[key]) for key, belief in ours.beliefs.items()]
    names = (("source", "age", "seen"), ("locked", "unseen"))
    for a, b in pairs:
        if any(getattr(a, name) != getattr(b, name) for name in names[hasattr(a, "locked")]):
            return False
        far = np.abs(a.body.position - b.body.position).max() > 2 * MISSILE_ADRIFT
        if hasattr(a, "source") and not same_covariances(a, b):
            return False
        if far or np.abs(a.body.velocity - b.body.velocity).max() > 0.05:
            return False
    return True


def same_covariances(a: Contact, b: Contact) -> bool:
    pairs = (a.along, b.along), (a.across, b.across)
    return all(np.allclose(ours, theirs, rtol=1e-3, atol=1e-2) for ours, theirs in pairs)


def contacts_of(fight: Fight) -> list:
    return [*fight.contacts.values()] if isinstance(fight.contacts, dict) else fight.contacts


def agree(game: Game, env: int, fight: Fight, rewards: list[float]) -> bool:
    """True if the core's state after a decision is the reference's."""
    ours = game.copy(env)
    targets = [sorted((m.owner, m.age, m.target) for m in of.missiles) for of in (ours, fight)]
    return (
        facts(ours) == facts(fight)
        and targets[0] == targets[1]
        and same_states(ours, fight, POSITION, MISSILE_ADRIFT)
        and same_pictures(ours, fight)
        and np.allclose(game.sim.rewards[env], rewards, atol=4 * REWARD)
    )


# Beside the reference


@pytest.mark.parametrize(
    "settings",
    [
        *(DRAWN, LOADED, DRAWN | TWOS, nightly(DRAWN | {"red_size": 3, "blue_size": 1})),
        *(DRAWN | NOISY, nightly(DRAWN | NOISY | TWOS)),
        *(DRAWN | JAMMING, nightly(JAMMING | NOISY | TWOS)),  # the last one has both, too
        *(SYSTEMS | LOADED, SYSTEMS | NOISY | JAMMING | TWOS),
        *(DRAWN | JAMMING | SYSTEMS | EQUIPPED, DRAWN | JAMMING | SYSTEMS | EQUIPPED | TWOS),
    ],
    ids=[
        *("1v1", "loads", "2v2", "3v1", "noise", "noise 2v2", "jamming", "both 2v2"),
        *("systems", "all 2v2", "by type", "by type 2v2"),
    ],
)
def test_decisions(types, settings):
    """Decisions under random controls, and what is observed before them, are the reference's."""
    for name, change in parse_types(settings.get("types", "")).items():
        types = types | {name: types[name] | change.fields}
    game = Game(types, 6, 3, **(SHARP | settings))
    rows = features_of(observed("default", game.p), *sizes_of(game.p))
    random, worst = np.random.default_rng(0), {row.name: 0.0 for row in rows}
    forks = seen = tracks = locks = 0
    shape, own = game.sim.rewards.shape, has_systems(game.p)
    for controls in random_controls(5, shape, kinds_of(game.p), own):
        chosen = [e for e in range(6) if random.random() < 0.3 and not game.sim.outcome[e]]
        fights, shown = {env: game.copy(env) for env in chosen}, game.sim.observe()
        game.sim.step(controls)
        for env, fight in fights.items():
            for seat in range(len(fight.fighters)):
                values = fight.observe(seat)
                for row, value in zip(rows, shown[env, seat], strict=True):
                    wanted = np.clip(values.get(row.name, 0.0) / row.scale, -1, 1)
                    worst[row.name] = max(worst[row.name], abs(value - wanted))
                assert values.keys() <= worst.keys()
            rewards = fight.decide(controls[env])
            same = agree(game, env, fight, rewards)
            assert same or near_call(fight)
            seen, forks = seen + 1, forks + (not same)
            tracks += sum(contact.source in (LIVE, MEMORY) for contact in contacts_of(fight))
            locks += sum(belief.locked for belief in fight.beliefs.values())
        if game.sim.outcome.all():
            break
    assert seen > 60
    assert tracks > 40
    assert locks > 10
    assert forks <= 3
    assert {name: error for name, error in worst.items() if error > 3e-5} == {}


KNOWN = without_draws() | exactly(ace_guard=0) | {"sensing": "radar", "ammunition": 3}
KNOWN |= {"pilot_height_min": 4_000, "pilot_height_max": 12_000}
KNOWN |= {"start_range_min": 20_000, "start_range_max": 40_000, "reward_pressure": 0.05}


@pytest.mark.parametrize(
    ("red", "blue", "settings"),
    [
        ("notcher", "ace", {}),
        ("crank", "snake", {"blue_aircraft": "heavy"}),
        ("pair", "notcher", TWOS),
        ("notcher", "ace", NOISY),
        ("ace", "crank", JAMMING),
        ("evader", "ace", SYSTEMS),
        nightly("patient", "turn_back", {}),
        nightly("ace", "pair", {"red_size": 1, "blue_size": 3}),
    ],
)
def test_pilots(types, red, blue, settings):
    """The pilots search, notch, fly and fire as the reference's do."""
    random = np.random.default_rng(2)
    game = Game(types, 3, 11, red=red, blue=blue, **(KNOWN | settings))
    heights = game.sim.core.read("fighter")["height"].astype(float)
    first, in_team = game.p["red_size"], game.sim.rewards.shape[1] > 2
    kind = HeightSensedTeamPilot if in_team else HeightSensedPilot
    seen = forks = guided = 0
    while not game.sim.outcome.all() and game.sim.time[0] < 1500:
        chosen = [e for e in range(3) if random.random() < 0.15 and not game.sim.outcome[e]]
        fights = {env: game.copy(env) for env in chosen}
        game.sim.step()
        for env, fight in fights.items():
            kinds = [kind(name, game.p, heights[env]) for name in (red, blue)]
            pilots = {n: kinds[int(n >= first)] for n in range(len(fight.fighters))}
            for side in (RED, BLUE) if in_team else ():
                fight.share_targets(side, pilots)
            controls = [pilot.control(fight, n) for n, pilot in pilots.items()]
            if fight.systems:
                levels = [pilot.level(fight, n) for n, pilot in pilots.items()]
                controls = [*map(with_level, controls, levels)]
            lives = [fighter.alive for fighter in fight.fighters]
            rewards = fight.decide(controls)
            given = game.commands(env)[lives]
            given[:, -1] = np.minimum(given[:, -1], 1)
            same = np.allclose(given, np.array(controls)[lives], atol=5e-5)
            same = same and agree(game, env, fight, rewards)
            assert same or near_call(fight)
            seen, forks, guided = seen + 1, forks + (not same), guided + len(fight.missiles)
    assert seen > 30
    assert guided > 10
    assert forks <= 3


# Scenes

QUICK = {"dimensions": 3, "sensing": "radar", "substeps": 1, "radar_acquire_time": 0}
QUICK |= {"start_range_min": 200_000, "start_range_max": 200_000}


def sees(
    *, dz: float = 0, off: float = 0, range_: float = 30_000, heading: float = 180, **k
) -> bool:
    """True if red, at 8 km and level, tracks blue: so far away, above or below, off the nose."""
    sim = Simulation(**(QUICK | k))
    away = (range_**2 - dz**2) ** 0.5
    x, y = away * cos(radians(off)), away * sin(radians(off))
    sim.set_fighter(0, RED, x=0, y=0, z=8_000, heading_deg=0)
    sim.set_fighter(0, BLUE, x=x, y=y, z=8_000 + dz, heading_deg=heading + off, speed=300)
    sim.step()
    assert sim.contacts["source"][0, RED] in (LIVE, UNSEEN)
    return bool(sim.contacts["source"][0, RED] == LIVE)


@pytest.mark.parametrize("up", [-1, 1])
def test_the_cone_is_round(up):
    """A radar sees as far off the nose in elevation as in azimuth, and less so in both."""
    half = {"radar_half_angle_deg": 30}
    beyond, within = (radians(angle) for angle in (31, 29))
    assert sees(off=29, **half)
    assert not sees(off=31, **half)
    assert sees(dz=up * 10_000 * sin(within), range_=10_000, **half)
    assert not sees(dz=up * 10_000 * sin(beyond), range_=10_000, **half)
    # 25° in azimuth and 25° in elevation are 35° off the nose.
    assert not sees(off=25, dz=up * 10_000 * sin(radians(25)), range_=10_000, **half)


def test_the_notch_needs_the_ground_behind():
    """A fighter that shows its side is hidden only from a radar that looks down on it."""
    for dz, seen in ((0, True), (3_000, True), (-1_400, True), (-1_600, False)):
        assert sees(dz=dz, heading=90) is seen, dz  # 0.05 * 30 km are 1500 m
    assert sees(dz=-1_600, heading=180)
    assert sees(dz=-1_600, heading=90, radar_look_down=0.06)
    assert not sees(dz=-100, heading=90, radar_look_down=0)


@pytest.mark.parametrize("aircraft", ["light", "heavy", "fast", "trainer"])
def test_ranges_follow_the_fourth_root_of_the_cross_section(aircraft, types):
    reach = 55_000 * (types[aircraft]["cross_section"] / 5) ** 0.25
    for factor, seen in ((0.995, True), (1.005, False)):
        assert sees(range_=factor * reach, blue_aircraft=aircraft) is seen
        own = {"types": f"own=light cross_section={types[aircraft]['cross_section']:g}"}
        assert sees(range_=factor * reach, blue_aircraft="own", **own) is seen
        half = {"radar_cross_section": 2.5, "blue_aircraft": aircraft}
        assert sees(range_=factor * 2**0.25 * reach, **half) is seen


def test_the_receiver_tells_the_bearing_alone():
    """A radar 30 degrees above is heard as one at the same bearing on the ground."""
    heard = []
    for dz in (0, 6_000):
        sim = Simulation(**QUICK)
        sim.set_fighter(0, RED, x=0, y=0, z=5_000, heading_deg=0)
        sim.set_fighter(0, BLUE, x=8_000, y=6_000, z=5_000 + dz, heading_deg=216.87)
        sim.step()
        names = [row.name for row in features_of("radar_height")]
        shown = dict(zip(names, sim.observe()[0, RED], strict=True))
        heard.append([shown[f"receiver_{part}"] for part in ("tracked", "ahead", "left")])
    assert heard[0] == pytest.approx([1, 0.8, 0.6], abs=5e-3)
    assert heard[1] == pytest.approx(heard[0], abs=1e-4)


def test_a_notcher_flies_low():
    sim = Simulation(20, red="notcher", blue="shooter", dimensions=3, sensing="radar")
    for _ in range(150):
        sim.step()
    fighters = sim.fighters
    alive = (fighters["alive"][:, 0] == 1) & (sim.outcome == 0)
    assert alive.sum() > 5
    assert np.median(fighters["z"][alive, 0]) < 3_500 < np.median(fighters["z"][alive, 1])


def test_a_seeker_loses_a_low_beaming_target():
    """From above the notch breaks its lock; from below it does not."""
    for above, locked in ((2_000, False), (-2_000, True)):
        sim = Simulation(**(QUICK | {"seeker_memory": 0.3}))
        sim.set_fighter(0, RED, x=-60_000, y=0, z=5_000, heading_deg=180)
        sim.set_fighter(0, BLUE, x=0, y=0, z=5_000, heading_deg=180)
        shot = {"x": -9_000, "y": 0, "z": 5_000 + above, "heading_deg": 0, "speed": 800}
        sim.set_missile(0, 0, owner=RED, age=100, **shot)
        sim.step()
        assert sim.beliefs["locked"][0, 0] == 1
        sim.set_fighter(0, BLUE, x=0, y=0, z=5_000, heading_deg=90)
        for _ in range(5):
            sim.step(np.zeros((1, 2, 4)))
        assert bool(sim.beliefs["locked"][0, 0]) is locked


# What holds in all games


@pytest.mark.parametrize("noise", [{}, NOISY, NOISY | JAMMING], ids=["exact", "noise", "both"])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3)], ids=["1v1", "2v3"])
def test_reflection_is_exact(types, sizes, noise):
    """A mirrored fight has the mirrored states, pictures and observations, bit for bit."""
    red, blue = sizes
    far = {"start_range_min": 200_000, "start_range_max": 200_000}  # the start is not mirrored
    settings = SHARP | far | noise | {"red_size": red, "blue_size": blue}
    games = [Game(types, 5, 4, **settings) for _ in "ab"]
    place_mirrored(games)
    rows = features_of(observed("default", games[0].p), red, blue)
    signs, tracks = np.array([-1 if row.lateral else 1 for row in rows]), 0
    for _, controls in zip(range(50), random_controls(6, (5, red + blue)), strict=False):
        a, b = step_mirrored(games, controls, ("fighter", "missile", "contact", "belief"))
        assert np.array_equal(signs * a.observe(), b.observe())
        tracks += (a.core.read("contact")["source"] == LIVE).sum()
    assert tracks > 50


@pytest.mark.parametrize("sizes", [{}, {"red_size": 2, "blue_size": 3}], ids=["1v1", "2v3"])
def test_snapshots_and_batches(sizes):
    """A fight is the same after a snapshot, in any batch and on any number of threads."""
    settings = SHARP | DRAWN | NOISY | JAMMING | {"dimensions": 3, "blue": "notcher"} | sizes
    check_snapshots_and_batches(settings)

"""The float64 reference stepped beside the core over random engagements and the pilots' fights.

Both get the same starts and controls. The core computes in float32: each step rounds a position
of tens of kilometres by up to 2 mm and a direction by 6e-8. Over the 1000 steps of a fight,
directions being carried along 30 km, that is at worst, all to one side, 2 m and 1000 * 6e-8 * 30 km
= 1.8 m; what is seen is centimetres and, once a missile has chased a turning target, half a metre,
in one case 2 m after a minute of turning right round. The time to go is touchiest when a missile
passes by: 5 cm at 170 m are 0.01 s, which moves a reward by 1.5e-4.
A yes or no that falls within that error (a pass at the hit radius, a pilot's shot, a turn to this
side or that) forks the fight: the reference then goes on from the core's state.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import reference_noise as noise
from flights import exactly, without_draws
from needs import nightly
from reference import OPEN, Body, Engagement, Fighter, Missile
from reference_missions import Mission, MissionDuel, MissionPilot, MissionTeams, TransportPilot
from reference_pilots import Pilot
from reference_sensors import Belief, Contact, Sensed, SensedPilot, Systems, with_level
from reference_teams import SensedTeamPilot, SensedTeams, Teams
from scenes import State, read

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    PILOTS,
    SENSOR_PILOTS,
    WING_PILOTS,
    has_systems,
    is_team,
    resolve,
    sizes_of,
)

pytestmark = pytest.mark.slow

POSITION, SPEED, RUDDER, REWARD = 4.0, 0.03, 0.02, 3e-4  # m, m/s, 1, 1
NEAR = {
    "fuze": POSITION,
    "beam": POSITION,
    "spent": SPEED,
    "range": POSITION,
    "boresight": 1e-4,
    "side": 1e-4,
    "time to go": 1e-2,
    "run down": 5.0,  # m; the gain of a missile changes by up to 20 m for each m/s of its speed
    "cone": 1e-4,
    "sensor range": POSITION,
    "notch": 10 * SPEED,
    "phantom": 500.0,
    "chaff": 1e-3,
    "across": 10 * SPEED,
}

Controls = dict[int, list[tuple[float, float, float]]]


@dataclass
class Tally:
    """Counts of a comparison, so that it cannot pass by seeing nothing."""

    ended: int = 0
    launches: int = 0
    kills: int = 0
    truncated: int = 0
    forks: int = 0
    retargeted: int = 0
    decisions: int = 0

    def note_end(self, fight: Engagement) -> None:
        self.ended += 1
        self.launches += sum(int(fight.p["ammunition"]) - f.ammo for f in fight.fighters)
        self.kills += sum(not f.alive for f in fight.fighters)
        self.truncated += fight.truncated


def motion(body: State) -> tuple[float, ...]:
    """Returns position, direction, speed and rudder."""
    direction = body["vx"] / body["speed"], body["vy"] / body["speed"]
    return body["x"], body["y"], *direction, body["speed"], body["rudder"]


def assert_near(ours: Iterable[float], theirs: Iterable[float], tolerance: float) -> None:
    """Compares as `pytest.approx` does, in a tenth of its time."""
    for value, reference in zip(ours, theirs, strict=True):
        assert abs(value - reference) <= tolerance


def assert_same_covariance(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Compares as `pytest.approx(theirs, rel=1e-3)` does, in a tenth of its time."""
    for value, reference in zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True):
        assert abs(value - reference) <= max(1e-3 * abs(reference), 1e-12)


def assert_same_state(ours: State, theirs: Fighter | Missile) -> None:
    assert_near((ours["x"], ours["y"]), (theirs.x, theirs.y), POSITION)
    assert_near((ours["vx"], ours["vy"]), theirs.velocity, 10 * SPEED)
    # A missile that turns hard magnifies what differs.
    speed = 2 * SPEED if isinstance(theirs, Missile) else SPEED
    assert_near([ours["speed"]], [theirs.speed], speed)
    if getattr(theirs, "alive", True):  # the rudder of the dead moves nothing
        assert_near([ours["rudder"]], [theirs.rudder], RUDDER)


def believed(state: State) -> Body:
    speed = np.hypot(state["vx"], state["vy"])
    c, s = (state["vx"] / speed, state["vy"] / speed) if speed else (1.0, 0.0)
    return Body(state["x"], state["y"], c, s, speed)


def assert_same_belief(ours: Body, theirs: Body) -> None:
    assert_near((ours.x, ours.y), (theirs.x, theirs.y), POSITION)
    assert_near(ours.velocity, theirs.velocity, 10 * SPEED)


@dataclass
class Core:
    """The state that the core shows of all its engagements."""

    sim: Simulation

    def __post_init__(self) -> None:
        self.fighters, self.missiles = self.sim.fighters, self.sim.missiles
        self.outcome, self.truncated = self.sim.outcome, self.sim.truncated
        self.has_sensors = self.sim.parameters["sensing"] == "radar"
        if self.has_sensors:
            self.contacts, self.beliefs = self.sim.contacts, self.sim.beliefs
            self.has_systems = has_systems(self.sim.parameters)
            self.all_systems = self.sim.systems
            # Along the line of sight and across it: [engagements, contacts, 2, 2].
            self.covariances = [
                np.moveaxis(covariance, (0, 1), (-2, -1))
                for covariance in noise.covariances(self.sim.core.read("contact"), ...)
            ]

    def copy(self, env: int, p: dict[str, float]) -> Engagement:
        """Returns an engagement as the reference keeps it."""
        fight = self.kind(p)(p, [], time=int(self.sim.time[env]), outcome=int(self.outcome[env]))
        for (owner, age), shot in self.in_the_air(env).items():
            fight.missiles.append(
                Missile(*motion(shot), owner=owner, age=age, target=int(shot["target"]))
            )
        for seat in range(p["red_size"] + p["blue_size"]):
            f = read(self.fighters, seat, env)
            fighter = Fighter(*motion(f), f["throttle"], int(f["ammo"]), bool(f["alive"]))
            # What matters of the last launch shows in the wait for the next, or in its missile.
            since = [shot.age for shot in fight.missiles if shot.owner == seat]
            if f["wait"]:
                since.append(fight.steps("launch_interval") - int(f["wait"]))
            fighter.last_launch = fight.time - min(since) if since else None
            fighter.pressed = int(f["pressed"])
            fight.fighters.append(fighter)
        if is_team(p):
            self.copy_targets(env, fight)
        if isinstance(fight, Mission):
            laid = {name: v[env, 0] for name, v in self.sim.core.read("engagement").items()}
            way = float(laid["line_x"]), float(laid["line_y"])
            fight.lay(int(laid["attacker"]) - 1, way, float(laid["line_at"]))
        if self.has_sensors:
            fight.contacts = self.known_contacts(env, fight)
            fight.beliefs = self.known(env, fight.time)
            fight.systems = self.systems(env, fight.time)
            key = self.sim.core.read("engagement")
            fight.draws = (
                self.sim.core.seed,
                *(int(key[name][env, 0]) for name in ("engagement", "episode")),
            )
        return fight

    def kind(self, p: dict[str, float]) -> type[Engagement]:
        if p["mission"] != "fight":
            return MissionTeams if is_team(p) else MissionDuel
        if is_team(p):
            return SensedTeams if self.has_sensors else Teams
        return Sensed if self.has_sensors else Engagement

    def copy_targets(self, env: int, fight: Teams) -> None:
        """Copies the pilots' targets."""
        state = self.sim.core.read("fighter")
        fight.red_size = fight.p["red_size"]
        for seat in np.flatnonzero(state["pilot"][env]):
            fight.targets[seat] = int(state["target"][env, seat])
            fight.chosen[seat] = int(state["chosen"][env, seat])
        if self.has_sensors:
            pair = list(CONTROLLERS).index("pair")
            fight.pairs = frozenset(np.flatnonzero(state["pilot"][env] == pair).tolist())

    def known_contacts(
        self, env: int, fight: Sensed
    ) -> list[Contact] | dict[tuple[int, int], Contact]:
        """Returns the contacts as the reference keeps them."""
        if not isinstance(fight, Teams):
            return [self.contact(env, seat) for seat in range(2)]
        return {
            (seat, enemy): self.contact(env, (seat, place))
            for seat in range(len(fight.fighters))
            for place, enemy in enumerate(fight.members(1 - fight.side(seat)))
        }

    def contact(self, env: int, index: int | tuple[int, int]) -> Contact:
        """Returns a fighter's contact as the reference keeps it."""
        c = {name: float(values[env][index]) for name, values in self.contacts.items()}
        numbers = int(c["source"]), int(c["age"]), int(c["seen"])
        place = index if isinstance(index, int) else self.place(*index)
        covariances = (covariance[env, place] for covariance in self.covariances)
        return Contact(believed(c), *numbers, *covariances)

    def place(self, seat: int, enemy: int) -> int:
        """Returns the place of a team's contact in the core's state: red's come first."""
        red, blue = sizes_of(self.sim.parameters)
        return seat * blue + enemy if seat < red else red * blue + (seat - red) * red + enemy

    def known(self, env: int, time: int) -> dict[tuple[int, int], Belief]:
        """Returns the missiles' beliefs, by owner and time of the launch."""
        out = {}
        for slot in np.flatnonzero(self.missiles["active"][env]):
            shot, belief = read(self.missiles, slot, env), read(self.beliefs, slot, env)
            key = int(shot["owner"]), time - int(shot["age"])
            out[key] = Belief(believed(belief), bool(belief["locked"]), int(belief["unseen"]))
        return out

    def systems(self, env: int, time: int) -> list[Systems]:
        """Returns the fighters' systems as the reference keeps them; none in games without."""
        if not self.has_systems:
            return []
        read = {name: values[env] for name, values in self.all_systems.items()}
        return [
            Systems(bool(silent), int(chaff), Body(x, y, 1, 0, 0), time + int(left) if left else 0)
            for silent, chaff, x, y, left in zip(
                *(read[name] for name in ("silent", "chaff", "x", "y", "cloud")), strict=True
            )
        ]

    def assert_same(self, env: int, fight: Engagement, rewards: Sequence[float]) -> None:
        """Compares the fighters, the missiles, the outcome and the rewards."""
        assert self.outcome[env] == fight.outcome
        assert self.truncated[env] == fight.truncated
        for seat, theirs in enumerate(fight.fighters):
            ours = read(self.fighters, seat, env)
            assert (ours["alive"], ours["ammo"]) == (theirs.alive, theirs.ammo)
            assert ours["pressed"] == theirs.pressed
            assert_same_state(ours, theirs)
        in_the_air = self.in_the_air(env)
        assert in_the_air.keys() == {(shot.owner, shot.age) for shot in fight.missiles}
        for shot in fight.missiles:
            ours = in_the_air[shot.owner, shot.age]
            assert ours["target"] == shot.target
            assert_same_state(ours, shot)
        touchy = 3 if len(rewards) > 2 else 1  # where many pass by at once
        assert_near(self.sim.rewards[env].tolist(), rewards, touchy * REWARD)
        if self.has_sensors:
            self.assert_same_picture(env, fight)

    def assert_same_picture(self, env: int, fight: Sensed) -> None:
        """Compares contacts and beliefs."""
        ours_of = self.known_contacts(env, fight)
        places = fight.contacts if isinstance(fight, Teams) else range(2)
        for place in places:
            ours, theirs = ours_of[place], fight.contacts[place]
            assert (ours.source, ours.age, ours.seen) == (theirs.source, theirs.age, theirs.seen)
            assert_same_belief(ours.body, theirs.body)
            for name in ("along", "across"):
                assert_same_covariance(getattr(ours, name), getattr(theirs, name))
        for ours, theirs in zip(self.systems(env, fight.time), fight.systems, strict=True):
            assert (ours.silent, ours.chaff) == (theirs.silent, theirs.chaff)
            assert max(ours.cloud_end, fight.time) == max(theirs.cloud_end, fight.time)
        for key, ours in self.known(env, fight.time).items():
            theirs = fight.beliefs[key]
            assert (ours.locked, ours.unseen) == (theirs.locked, theirs.unseen)
            assert_same_belief(ours.body, theirs.body)

    def in_the_air(self, env: int) -> dict[tuple[int, int], State]:
        """Returns missiles by owner and age: a fighter launches at most one a decision."""
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
    """Steps core and reference side by side until all is decided.

    Seats that a pilot of the core flies ignore the controls given to the core.
    """
    core = Core(sim)
    fights = {env: core.copy(env, p) for env in range(sim.num_envs)}
    tally = Tally()
    command = np.zeros((*sim.rewards.shape, sim.core.controls), np.float32)
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
                fight = fights[env] = core.copy(env, p)
            fight.margins.clear()
            tally.decisions += 1
            if fight.retargeted:
                # A missile that is about to hit when its target dies, and turns to another,
                # magnifies what differs.
                tally.retargeted += fight.retargeted
                if fight.outcome == OPEN:
                    fight = fights[env] = core.copy(env, p)
            if fight.outcome != OPEN:
                tally.note_end(fight)
                del fights[env]
    return tally


class RandomHands:
    """Random controls, each held for four decisions on average."""

    def __init__(
        self, seed: int, num_envs: int, fighters: int = 2, has_systems: bool = False
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.held = np.zeros((num_envs, fighters, 3))
        self.levels = np.zeros((num_envs, fighters), int) if has_systems else None

    def move(self) -> None:
        shape = self.held.shape
        fresh = self.random.uniform([-1, 0, 0], 1, shape).astype(np.float32)
        fresh[..., 2] = fresh[..., 2] < 0.2
        self.held = np.where(self.random.random(shape) < 0.25, fresh, self.held)
        if self.levels is not None:
            fresh_levels = self.random.choice(4, self.levels.shape, p=(0.4, 0.1, 0.4, 0.1))
            switched = self.random.random(self.levels.shape) < 0.25
            self.levels = np.where(switched, fresh_levels, self.levels)

    def control(self, env: int, seat: int) -> tuple[float, ...]:
        rudder, throttle, fire = self.held[env, seat]
        systems = () if self.levels is None else (float(self.levels[env, seat]),)
        return rudder, throttle, *systems, fire


# Sensors whose every row matters within a minute, at 3 to 40 km.
SHARP = {
    "sensing": "radar",
    "radar_half_angle_deg": 80,
    "radar_range_nose": 30_000,
    "radar_range_beam": 38_000,
    "radar_range_tail": 22_000,
    "radar_notch_speed": 60,
    "track_memory": 5,
}

NOISY = SHARP | {
    "radar_noise_bearing_deg": 2,
    "radar_noise_range": 200,
    "radar_noise_speed": 10,
    "track_acceleration": 15,
}
JAMMING = SHARP | {"blue_jammer": 12_000, "home_on_jam_range": 15_000, "seeker_range": 8_000}
CHAFF = {"chaff": 8, "chaff_chance": 0.9, "chaff_speed": 250, "chaff_time": 3}
SYSTEMS = SHARP | CHAFF | {"emission_control": "on"}
SENSORS = {
    "full": {},
    "radar": SHARP,
    "noise": NOISY,
    "jamming": JAMMING,
    "systems": SYSTEMS,
    "all": SYSTEMS | JAMMING | NOISY,
}
ENDS = ("full", "all")  # the others, one by one, are daily only in the first game of a table


def with_sensors(games: Sequence[tuple]) -> list:
    """Returns games with each of SENSORS."""
    first, *others = games
    daily = [*((*first, name) for name in SENSORS), *((*g, name) for g in others for name in ENDS)]
    rest = [nightly(*game, name) for game in others for name in SENSORS if name not in ENDS]
    return [*daily, *rest]


@pytest.mark.parametrize(
    ("num_envs", "margin", "sensing"),
    [
        *with_sensors([(16, 3), (16, 0)]),
        *(nightly(64, margin, name) for margin in (0, 3) for name in SENSORS),
    ],
)
def test_random_engagements(num_envs, margin, sensing):
    """Under random controls and launches core and reference agree in state, event and reward."""
    sensors = SENSORS[sensing]
    settings = sensors | {
        "start_range_min": 3_000,
        "start_range_max": 40_000,
        "time_limit": 60,
        "pressing_margin": margin,
        "reward_pressure": 0.05,
        "reward_win": 3,
        "reward_draw": -0.5,
        "reward_loss": 0.25,
    }
    sim = Simulation(num_envs=num_envs, seed=4, **settings)
    hands = RandomHands(4, num_envs, has_systems=has_systems(sim.parameters))

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        hands.move()
        return {env: [hands.control(env, seat) for seat in range(2)] for env in fights}

    tally = compare(sim, resolve(settings), controls_of)
    assert tally.forks <= num_envs / (8 if sensors else 32)
    assert tally.kills > num_envs / (6 if sensors else 3)
    assert tally.launches > num_envs * (1.2 if sensors else 2.4)
    assert tally.truncated > 0


PAIRS = [
    ("straight", "shooter"),
    ("shooter", "weave"),
    ("evader", "ace"),
    ("agent", "crank"),
    ("bracket_shooter", "agent"),
    ("turn_back", "ace"),
    ("agent", "snake"),
    ("patient", "agent"),
    # All pilots have flown; in these they meet others.
    ("shooter", "shooter"),
    ("evader", "agent"),
    ("agent", "evader"),
    ("evader", "weave"),
    ("crank", "snake"),
    ("evader", "bracket_shooter"),
    ("turn_back", "snake"),
    ("ace", "agent"),
    ("shooter", "patient"),
    ("ace", "crank"),
]


# Of pilots that fly only by sensors.
SENSED_PAIRS = [("notcher", "ace"), ("agent", "notcher"), ("notcher", "evader")]


FIGHTS = [
    *((*pair, sensing) for pair in PAIRS for sensing in ("full", "radar")),
    *((*pair, "radar") for pair in SENSED_PAIRS),
]


def sampled() -> Iterator[tuple[str, str, str, int]]:
    """Yields fights, with so many engagements, in which each pilot flies with each sensing."""
    seen = set()
    for red, blue, sensing in FIGHTS:
        pilots = {(pilot, sensing) for pilot in (red, blue)}
        if not pilots <= seen:
            yield red, blue, sensing, 2
        seen |= pilots


@pytest.mark.parametrize(
    ("red", "blue", "sensing", "num_envs"),
    [*sampled(), *(nightly(*fight, 6) for fight in FIGHTS)],
)
def test_pilots(red, blue, sensing, num_envs):
    """The core's pilots fight each other, and random controls, as the reference's pilots do."""
    # Cold from 30 s on, so that an evader gets away and recommits; few missiles, so that an ace
    # comes down to those it keeps, and to none.
    settings = without_draws() | exactly(evader_cold_time=30) | {"ammunition": 3}
    settings["sensing"] = sensing
    sim = Simulation(num_envs=num_envs, seed=5, red=red, blue=blue, **settings)
    p = resolve(settings)
    hands = RandomHands(5, num_envs)
    kind = SensedPilot if sensing == "radar" else Pilot
    pilots = [None if name == "agent" else kind(name, p) for name in (red, blue)]

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
    assert tally.forks <= sim.num_envs
    assert tally.launches > sim.num_envs
    assert tally.kills + tally.truncated > 0


def test_all_pilots_are_compared():
    assert {pilot for pair in PAIRS for pilot in pair} == {*PILOTS, "agent"}
    sensed = {pilot for pair in SENSED_PAIRS for pilot in pair}
    assert sensed >= {*SENSOR_PILOTS} - {*WING_PILOTS}
    assert {*WING_PILOTS} <= {pilot for *pair, _ in SENSED_TEAMS for pilot in pair}


SIZES = [(2, 2), (3, 1), (1, 2), (4, 4), (5, 8)]
SAMPLED = (8, 8, 24, 1, 1)  # engagements of each size


@pytest.mark.parametrize(
    ("sizes", "num_envs", "sensing"),
    [
        *with_sensors([*zip(SIZES, SAMPLED, strict=True), ((16, 3), 1)]),
        *(nightly((16, 16), 1, name) for name in SENSORS),
        *(nightly(sizes, 32, name) for sizes in SIZES for name in SENSORS),
    ],
    ids=str,
)
def test_random_teams(sizes, num_envs, sensing):
    """Under random controls core and reference agree, also on whom a lost missile goes for."""
    red, blue = sizes
    sensors = SENSORS[sensing]
    settings = sensors | {
        "red_size": red,
        "blue_size": blue,
        "start_range_min": 8_000,
        "start_range_max": 20_000,
        "start_spacing_min": 300,
        "start_spacing_max": 1_000 if max(sizes) <= 8 else 500,
        "start_off_boresight_max_deg": 20,
        "time_limit": 60,
        "launch_interval": 2,
        "pressing_margin": 3,
        "reward_pressure": 0.05,
        "reward_kill": 0.3,
        "reward_team": 0.3,
    }
    sim = Simulation(num_envs=num_envs, seed=4, **settings)
    # So that few engagements are some of the many.
    hands = RandomHands(4, 32, red + blue, has_systems(sim.parameters))

    def controls_of(fights: dict[int, Engagement]) -> Controls:
        hands.move()
        return {env: [hands.control(env, seat) for seat in range(red + blue)] for env in fights}

    tally = compare(sim, resolve(settings, teams=True), controls_of)
    assert tally.kills > num_envs * (0.3 if sensors else 1)
    if not sensors:
        assert tally.retargeted > (0 if min(sizes) == 1 else num_envs / 6)
    assert tally.forks <= tally.decisions / (20 if sensors else 200)


SMALL, (FOURS, UNEVEN) = SIZES[:3], SIZES[3:]
FULL_TEAMS = [
    *(("ace", "shooter", sizes) for sizes in (*SMALL, UNEVEN)),
    ("crank", "evader", SMALL[0]),
]
SENSED_TEAMS = [
    *(("pair", "shooter", sizes) for sizes in (*SMALL, FOURS)),
    ("notcher", "pair", SMALL[1]),
    ("ace", "crank", SMALL[0]),
]


@pytest.mark.parametrize("num_envs", [2, nightly(4)])
@pytest.mark.parametrize(
    ("red_pilot", "blue_pilot", "sizes", "sensing"),
    [
        *((*fight, "full") for fight in FULL_TEAMS),
        *((*fight, "radar") for fight in SENSED_TEAMS),
        nightly("ace", "shooter", FOURS, "full"),
        *(nightly("crank", "evader", sizes, "full") for sizes in (*SMALL[1:], FOURS)),
        nightly("pair", "shooter", UNEVEN, "radar"),
        *(nightly("notcher", "pair", sizes, "radar") for sizes in (SMALL[0], SMALL[2], FOURS)),
        *(nightly("ace", "crank", sizes, "radar") for sizes in (*SMALL[1:], FOURS)),
    ],
)
def test_pilots_in_teams(red_pilot, blue_pilot, sizes, sensing, num_envs):
    """The pilots share the enemies out, fly and fire as the reference's do."""
    red, blue = sizes
    settings = without_draws() | exactly(evader_cold_time=30) | {"sensing": sensing}
    settings |= {"ammunition": 3, "red_size": red, "blue_size": blue}
    sim = Simulation(num_envs=num_envs, seed=5, red=red_pilot, blue=blue_pilot, **settings)
    p = resolve(settings, teams=True)
    pilot = SensedTeamPilot if sensing == "radar" else Pilot
    kinds = [pilot(name, p) for name in (red_pilot, blue_pilot)]
    pilots = {seat: kinds[int(seat >= red)] for seat in range(red + blue)}

    def controls_of(fights: dict[int, Teams]) -> Controls:
        out = {}
        for env, fight in fights.items():
            for side in range(2):
                fight.share_targets(side, pilots)
            out[env] = [pilot.control(fight, seat) for seat, pilot in pilots.items()]
        return out

    tally = compare(sim, p, controls_of)
    assert tally.launches > sim.num_envs * (red + blue)
    assert tally.kills >= sim.num_envs
    assert tally.forks <= tally.decisions / 20


WORKED = [("evader", "ace", SMALL[0]), ("notcher", "crank", (1, 1)), ("pair", "patient", SMALL[0])]


@pytest.mark.parametrize(("red_pilot", "blue_pilot", "sizes"), WORKED)
def test_pilots_work_their_systems(red_pilot, blue_pilot, sizes):
    """The pilots switch their radars off and drop chaff as the reference's do."""
    red, blue = sizes
    settings = without_draws() | CHAFF | {"sensing": "radar", "emission_control": "on"}
    settings |= {"ammunition": 3, "red_size": red, "blue_size": blue, "chaff_time": 1}
    sim = Simulation(4, 5, red=red_pilot, blue=blue_pilot, **settings)
    p = resolve(settings, teams=True)
    in_team = red + blue > 2
    pilot = SensedTeamPilot if in_team else SensedPilot
    kinds = [pilot(name, p) for name in (red_pilot, blue_pilot)]
    pilots = {seat: kinds[int(seat >= red)] for seat in range(red + blue)}
    silent = dropped = 0

    def controls_of(fights: dict[int, Sensed]) -> Controls:
        nonlocal silent, dropped
        out = {}
        for env, fight in fights.items():
            for side in range(2) if in_team else ():
                fight.share_targets(side, pilots)
            out[env] = [
                with_level(pilot.control(fight, seat), pilot.level(fight, seat))
                for seat, pilot in pilots.items()
            ]
            silent += sum(own.silent for own in fight.systems)
            dropped += sum(8 - own.chaff for own in fight.systems)
        return out

    tally = compare(sim, p, controls_of)
    assert tally.ended == 4
    assert tally.forks <= tally.decisions / 20
    assert silent > 10
    assert dropped > 0


# Missions

MISSION_SHAPED = {"reward_line": 0.2, "reward_line_range": 15_000, "reward_team": 0.4}
MISSIONS = [
    ({"mission": "line"}, "evader", "crank"),
    ({"mission": "line"}, "shooter", "patient"),
    ({"mission": "line", "red_size": 2, "blue_size": 2}, "evader", "snake"),
    ({"mission": "line", "red_size": 3, "attacker": "blue"}, "evader", "ace"),
    ({"mission": "escort", "red_size": 2, "blue_size": 2}, "evader", "snake"),
    ({"mission": "escort", "red_size": 3, "blue_size": 2, "attacker": "red"}, "evader", "ace"),
    ({"mission": "escort", "red_size": 2, "attacker": "red"}, "evader", "evader"),
]


@pytest.mark.parametrize("num_envs", [4, nightly(32)])
@pytest.mark.parametrize(("mission", "red_pilot", "blue_pilot"), MISSIONS)
def test_missions(mission, red_pilot, blue_pilot, num_envs):
    """Pilots, outcomes and rewards of missions agree."""
    settings = without_draws() | MISSION_SHAPED | mission | {"ammunition": 3, "time_limit": 200}
    settings |= {"start_range_min": 20_000, "start_range_max": 30_000}
    if mission["mission"] == "escort":
        settings["start_transport_trail"] = 5_000
    sim = Simulation(num_envs=num_envs, seed=6, red=red_pilot, blue=blue_pilot, **settings)
    p = resolve(settings, teams=True)
    sides = [MissionPilot(name, p) for name in (red_pilot, blue_pilot)]
    transport, red = TransportPilot("transport", p), p["red_size"]

    def controls_of(fights: dict[int, Mission]) -> Controls:
        out = {}
        for env, fight in fights.items():
            pilots = {seat: sides[int(seat >= red)] for seat in range(len(fight.fighters))}
            if fight.transport is not None:
                pilots[fight.transport] = transport
            if isinstance(fight, Teams):
                for side in range(2):
                    fight.share_targets(side, pilots)
            out[env] = [pilot.control(fight, seat) for seat, pilot in pilots.items()]
        return out

    tally = compare(sim, p, controls_of)
    assert tally.ended == num_envs
    assert tally.forks <= tally.decisions / 20

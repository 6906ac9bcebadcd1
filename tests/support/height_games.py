"""A simulation with height beside the float64 reference, and by how much they may differ.

A *decision from the core's state* starts the reference from what the core shows. Only the rounding
of a few steps is between them: positions to 60 km are rounded by up to 4 mm a step, and speeds of
1200 m/s by 6e-5 m/s. In a *whole fight* both run on by themselves. The 600 roundings of a minute
add up to 4 mm * sqrt(600) = 10 cm at most places, and guidance forgets most of what a missile is
off: 2 cm are seen. Near its target, where guidance is touchiest, a missile at 900 m/s has a second
to turn what is seen wrongly by 10 cm into a path that is wrong by as much again.
A yes or no within these errors forks a fight: the reference then goes on from the core's state.
Forks are counted.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from reference_height import Fields
from reference_height_fight import (
    BLUE,
    RED,
    Body,
    Fight,
    Fighter,
    Missile,
    Reach,
    draw,
    full_load,
    varied,
)
from reference_height_sensors import HeightSensed, HeightSensedTeams, place_of_contact
from reference_height_teams import HeightTeams
from reference_noise import covariances
from reference_sensors import Belief, Contact, Systems

from midrange_puffer.game.parameters import (
    CONTROLLERS,
    has_systems,
    is_team,
    resolve,
    sizes_of,
)
from midrange_puffer.game.simulation import Simulation

STATE = ("x", "y", "z", "c", "s", "u", "v")
ACTUATORS = ("rudder", "climb", "throttle")

# Tolerances of a decision from the core's state: m, 1, m/s, of actuators, of rewards.
POSITION, DIRECTION, SPEED, ACTUATOR, REWARD = 0.02, 3e-6, 3e-3, 2e-5, 1e-6
# Tolerances of the places in a whole fight, of fighters and missiles; the others grow as much.
ADRIFT, MISSILE_ADRIFT = 0.1, 0.2  # m
NEAR = {
    "fuze": MISSILE_ADRIFT,
    "ground": ADRIFT,
    "spent": 0.05,
    "beam": 1e-4,
    "boresight": 1e-5,
    "side": 1e-5,
    "range": 0.1,
    "time to go": 1e-3,
    "run down": 1.0,
    "cone": 1e-5,
    "sensor range": 0.2,
    "look down": 0.2,
    "notch": 1e-2,
    "phantom": 500.0,
    "chaff": 1e-4,
    "across": 0.1,
}


# What pilots estimate, by the parameters that it depends on, missile and enemy: finding R_NEZ takes
# seconds, so all games share it.
REACHES: dict[tuple, Reach] = {}
OF_REACH = (
    "gravity",
    "missile_hit_radius",
    "pilot_dive",
    "pilot_launch_speed",
    "pilot_reach_speed",
    "pilot_steering",
)


class Game:
    """A simulation with height and what the reference needs beside it."""

    def __init__(
        self, fields: Mapping[str, Fields], num_envs: int, seed: int, **settings: object
    ) -> None:
        parameters = {
            name: value for name, value in settings.items() if name not in ("red", "blue")
        }
        self.p = resolve(parameters | {"dimensions": 3}, teams=True)
        self.sim = Simulation(num_envs, seed, dimensions=3, **settings)
        self.fields, self.seed = fields, seed

    def copy(self, env: int = 0) -> Fight:
        """Returns the core's state of an engagement as the reference keeps it."""
        fighters, missiles = self.sim.core.read("fighter"), self.sim.core.read("missile")
        kinds = len(full_load(self.p, RED))

        def state(group: dict[str, np.ndarray], names: Sequence[str], index: int) -> np.ndarray:
            return np.array([group[name][env, index] for name in names], float)

        def fighter(seat: int) -> Fighter:
            f = {
                name: int(fighters[name][env, seat]) for name in ("ammunition", "alive", "pressed")
            }
            fired = fighters["shots"][env, seat] > 0
            last = int(fighters["launched"][env, seat]) if fired else None
            body = state(fighters, (*STATE, *ACTUATORS), seat)
            others = [int(fighters[f"ammunition_{kind}"][env, seat]) for kind in (2, 3)]
            left = [f["ammunition"] - sum(others), *others][:kinds]
            return Fighter(body, left, bool(f["alive"]), last, f["pressed"])

        def missile(slot: int) -> Missile:
            names = ("owner", "age", "kind", "target")
            numbers = (int(missiles[name][env, slot]) for name in names)
            return Missile(state(missiles, STATE, slot), *numbers)

        keys = self.sim.core.read("engagement")
        engagement, episode = (int(keys[name][env, 0]) for name in ("engagement", "episode"))
        self.draws = self.seed, engagement, episode
        places = self.places()
        drawn = [draw(self.p, self.seed, engagement, episode, *place) for place in places]
        types = [
            varied(self.fields[of.aircraft], [self.fields[name] for name in of.missiles], of)
            for of in drawn
        ]
        shots = [missile(slot) for slot in np.flatnonzero(missiles["active"][env])]
        common = {
            "p": self.p, "types": types, "fighters": [*map(fighter, range(len(places)))],
            "missiles": sorted(shots, key=order), "time": int(self.sim.time[env]),
            "outcome": int(self.sim.outcome[env]), "truncated": bool(self.sim.truncated[env]),
        }  # fmt: skip
        senses = self.p["sensing"] == "radar"
        if senses:
            common |= self.known(env, common["time"])
        if not is_team(self.p):
            reach = [
                [self.reach(name, drawn[1 - seat].aircraft) for name in drawn[seat].missiles]
                for seat in (RED, BLUE)
            ]
            return (HeightSensed if senses else Fight)(reach=reach, **common)
        reaches = {
            (own, enemy): self.reach(drawn[own].missiles[0], drawn[enemy].aircraft)
            for own, (side, _) in enumerate(places)
            for enemy, (other, _) in enumerate(places)
            if side != other
        }
        kind = HeightSensedTeams if senses else HeightTeams
        fight = kind(reach=reaches, red_size=self.p["red_size"], **common)
        if senses:
            pair = [*CONTROLLERS].index("pair")
            fight.pairs = frozenset(np.flatnonzero(fighters["pilot"][env] == pair).tolist())
        for seat in np.flatnonzero(fighters["pilot"][env]):
            fight.targets[seat] = int(fighters["target"][env, seat])
            fight.chosen[seat] = int(fighters["chosen"][env, seat])
        return fight

    def known(self, env: int, time: int) -> dict[str, object]:
        """Returns the contacts and beliefs of an engagement, as the reference keeps them."""
        contacts, beliefs = self.sim.core.read("contact"), self.sim.core.read("belief")
        missiles, places = self.sim.core.read("missile"), self.places()

        def contact(place: int) -> Contact:
            body = Body(np.array([contacts[name][env, place] for name in STATE], float))
            numbers = (int(contacts[name][env, place]) for name in ("source", "age", "seen"))
            return Contact(body, *numbers, *covariances(contacts, (env, place)))

        def belief(slot: int) -> Belief:
            at = {name: values[env, slot] for name, values in beliefs.items()}
            velocity = np.array([at[f"v{axis}"] for axis in "xyz"], float)
            speed = float(np.linalg.norm(velocity))
            direction = velocity / speed if speed else np.array([1.0, 0.0, 0.0])
            place = [float(at[axis]) for axis in "xyz"]
            body = Body(np.array([*place, *direction, speed]))
            return Belief(body, bool(at["locked"]), int(at["unseen"]))

        pairs = {
            (own, enemy): contact(place_of_contact(sizes_of(self.p), own, enemy))
            for own, (side, _) in enumerate(places)
            for enemy, (other, _) in enumerate(places)
            if side != other
        }
        in_the_air = np.flatnonzero(missiles["active"][env])
        keys = [
            (int(missiles["owner"][env, n]), time - int(missiles["age"][env, n]))
            for n in in_the_air
        ]
        return {
            "contacts": pairs if is_team(self.p) else [pairs[RED, BLUE], pairs[BLUE, RED]],
            "beliefs": dict(zip(keys, map(belief, in_the_air), strict=True)),
            "draws": self.draws,
            "systems": self.systems(env, time),
        }

    def systems(self, env: int, time: int) -> list[Systems]:
        """Returns the systems of an engagement's fighters, as the reference keeps them."""
        if not has_systems(self.p):
            return []
        read = {name: values[env] for name, values in self.sim.systems.items()}
        out = []
        for n in range(len(read["chaff"])):
            place = [float(read[axis][n]) for axis in "xyz"]
            cloud = Body(np.array([*place, 1.0, 0.0, 0.0, 0.0]))
            end = time + int(read["cloud"][n]) if read["cloud"][n] else 0
            out.append(Systems(bool(read["silent"][n]), int(read["chaff"][n]), cloud, end))
        return out

    def places(self) -> list[tuple[int, int]]:
        """Returns the side of each fighter and its place in it."""
        sizes = sizes_of(self.p)
        return [(side, place) for side in (RED, BLUE) for place in range(sizes[side])]

    def reach(self, missile: str, enemy: str) -> Reach:
        """Returns the estimates for a type of missile against a type of aircraft."""
        fields = self.fields[missile], self.fields[enemy]
        known = {name: self.p[name] for name in OF_REACH}
        key = tuple(tuple(of.items()) for of in (known, *fields))
        if key not in REACHES:
            REACHES[key] = Reach(known, *fields)
        return REACHES[key]

    def commands(self, env: int) -> np.ndarray:
        """Returns the fighters' commands [fighters, controls] of the last decision."""
        f = self.sim.core.read("fighter")
        systems = ("systems_command",) if has_systems(self.p) else ()
        if systems:
            f["systems_command"] = self.sim.core.read("systems")["command"]
        names = (*(f"{name}_command" for name in ACTUATORS), *systems, "fire")
        return np.array([f[name][env] for name in names], float).T

    def place(self, seat: int, env: int = 0, **state: float) -> None:
        """Puts a fighter at a height; keywords override."""
        base = {"x": 0, "y": 0, "z": 5_000, "heading_deg": 0, "climb_deg": 0, "speed": 300}
        base |= {"rudder": 0, "climb": 0, "throttle": 1}
        self.sim.set_fighter(env, seat, **(base | state))


def order(missile: Missile) -> tuple[int, int, int]:
    return missile.owner, missile.age, missile.kind


def near_call(fight: Fight) -> bool:
    """True if a yes or no of the last decision may be otherwise by rounding."""
    return any(abs(margin) < NEAR[what] for what, margin in fight.margins)


def facts(fight: Fight) -> tuple:
    """Returns what has no tolerance."""
    fighters = [(f.left, f.alive, f.last_launch, f.pressed) for f in fight.fighters]
    shots = sorted(order(shot) for shot in fight.missiles)
    return fight.time, fight.outcome, fight.truncated, fighters, shots


def same_states(ours: Fight, theirs: Fight, fighter: float, missile: float) -> bool:
    """True if positions of fighters and missiles are as near [m], and the rest likewise."""
    theirs.missiles.sort(key=order)
    pairs = [*zip(ours.fighters, theirs.fighters, strict=True)]
    pairs += [*zip(ours.missiles, theirs.missiles, strict=True)]
    for a, b in pairs:
        shares = (missile if isinstance(a, Missile) else fighter) / POSITION
        most = np.array([POSITION] * 3 + [DIRECTION] * 3 + [SPEED] + [ACTUATOR] * 3)
        if (np.abs(a.state - b.state) > shares * most[: len(a.state)]).any():
            return False
    return True

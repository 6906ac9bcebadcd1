"""A scripted pilot flown in a `Simulation` against an enemy of the test's, and what it saw."""

from dataclasses import dataclass
from math import atan2, degrees, hypot

import numpy as np
from scenes import BLUE, RED, State, controls, fighter, place, read, turned

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import PAIRS, PARAMETERS


def exactly(**thresholds: float) -> dict[str, float]:
    """Returns both ends of a threshold's range, by its name without _min and _max."""
    return {f"{name}{end}": value for name, value in thresholds.items() for end in ("_min", "_max")}


def without_draws() -> dict[str, float]:
    """Returns every threshold of the pilots narrowed to the middle of its range."""
    pairs = [pair for pair in PAIRS if PARAMETERS[pair[0]].group == "pilot"]
    middles = [(PARAMETERS[low].default + PARAMETERS[high].default) / 2 for low, high in pairs]
    return {end: middle for pair, middle in zip(pairs, middles, strict=True) for end in pair}


def bearing_deg(of: State, seen_from: State) -> float:
    """Returns the angle from the nose to another body, positive to the left."""
    line = atan2(of["y"] - seen_from["y"], of["x"] - seen_from["x"])
    return degrees(turned(atan2(seen_from["vy"], seen_from["vx"]), line))


def distance(one: State, other: State) -> float:
    return hypot(one["x"] - other["x"], one["y"] - other["y"])


def closing_speed(one: State, other: State) -> float:
    x, y = other["x"] - one["x"], other["y"] - one["y"]
    w = other["vx"] - one["vx"], other["vy"] - one["vy"]
    return -(x * w[0] + y * w[1]) / hypot(x, y)


@dataclass(frozen=True)
class Moment:
    """The state at the beginning of a decision. The pilot flies red; blue is the enemy."""

    time: float
    red: State
    blue: State
    own: list[State]  # missiles in the air
    inbound: list[State]

    @property
    def range(self) -> float:
        return distance(self.red, self.blue)

    @property
    def enemy_deg(self) -> float:
        """The enemy off the nose, positive to the left."""
        return bearing_deg(self.blue, self.red)

    @property
    def approach(self) -> float:
        """The enemy's speed toward the pilot."""
        x, y = self.red["x"] - self.blue["x"], self.red["y"] - self.blue["y"]
        return (self.blue["vx"] * x + self.blue["vy"] * y) / self.range

    @property
    def time_to_go(self) -> float:
        """Returns the time to go of the inbound missile that arrives first."""
        times = [
            distance(m, self.red) / closing
            for m in self.inbound
            if (closing := closing_speed(m, self.red)) > 0
        ]
        return min(times, default=100.0)


def scene(pilot: str, *, red: State | None = None, blue: State | None = None, **parameters: float):
    """Places a pilot at the origin, nose along +x, and its enemy far ahead; states override."""
    sim = Simulation(red=pilot, **parameters)
    place(sim, **(red or {}), blue=blue)
    return sim


def see(sim: Simulation) -> Moment:
    missiles = sim.missiles
    own, inbound = [], []
    for slot in missiles["active"][0].nonzero()[0]:
        shot = read(missiles, slot)
        (own if shot["owner"] == RED else inbound).append(shot)
    return Moment(sim.time[0] / 10, fighter(sim), fighter(sim, BLUE), own, inbound)


def watch(
    sim: Simulation, seconds: float, enemy: tuple[float, float, float] = (0, 1, 0)
) -> list[Moment]:
    """Flies on with constant enemy controls; returns the beginning of each decision and the end."""
    command = controls(blue=enemy)
    moments = [see(sim)]
    while moments[-1].time - moments[0].time < seconds:
        sim.step(command)
        moments.append(see(sim))
    return moments


def launches(moments: list[Moment]) -> list[int]:
    """Returns the moments at which the pilot fired."""
    ammo = [moment.red["ammo"] for moment in moments]
    return [i for i in range(len(moments) - 1) if ammo[i + 1] < ammo[i]]


def first_turn(moments: list[Moment]) -> int | None:
    """Returns the moment at which the pilot first moved its rudder by much."""
    rudders = [abs(after.red["rudder"]) for after in moments[1:]]
    return next((i for i, rudder in enumerate(rudders) if rudder > 0.1), None)


def with_room(values: dict[str, float | str]) -> dict[str, float | str]:
    """Returns the parameters with sizes and a start that go together."""
    others = values["red_size"] + values["blue_size"] - 2
    if others and values["start_spacing_max"] >= 2 * values["start_range_min"] / others:
        room = {"start_spacing_min": 100.0, "start_spacing_max": 100.0}
        return values | room | {"start_range_min": 3_000.0, "start_range_max": 9_000.0}
    return values


def states(sim: Simulation) -> dict[str, np.ndarray]:
    """Returns all fields of fighters and missiles, and all observations."""
    read = {f"{kind}.{name}": values for kind in ("fighter", "missile")
            for name, values in sim.core.read(kind).items()}  # fmt: skip
    return read | {"observations": sim.observe()}

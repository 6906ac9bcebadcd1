"""Parameters at the ends of their ranges, alone and together, yield nothing that is not finite."""

import numpy as np
import pytest
from flights import with_room
from hypothesis import given, settings
from hypothesis import strategies as st
from parameter_values import (
    DISTURBED,
    HEIGHT,
    OF_HEIGHT,
    OF_PLANE,
    OF_SENSORS,
    a_word,
    end_of,
    of_one_game,
    with_pairs,
)

from midrange_puffer import Midrange, Simulation
from midrange_puffer.game.parameters import PAIRS, PARAMETERS, PILOTS, reward_bound
from midrange_puffer.game.types import FIELDS, LEAST_RISE, PACKAGE


def fly_randomly(values: dict[str, float], decisions: int) -> None:
    """Everything that comes out stays finite and in range, whoever flies."""
    rng = np.random.default_rng(0)
    fly_env_randomly(rng, values, decisions)
    fly_all_randomly(rng, Simulation(num_envs=20, blue="ace", **values), decisions)


def fly_env_randomly(rng: np.random.Generator, values: dict[str, float], decisions: int) -> None:
    env = Midrange(num_envs=20, opponent=",".join(PILOTS), **values)
    env.reset()
    for _ in range(decisions):
        levels = env.single_action_space.nvec
        actions = rng.integers(0, levels, (env.num_agents, len(levels)), np.int32)
        observations, rewards, *_ = env.step(actions)
        assert np.isfinite(observations).all()
        assert np.abs(observations).max() <= 1
        # False for not-a-number; the bound is of exact sums, and these are rounded to float32.
        assert np.abs(rewards).max() <= (1 + 1e-6) * reward_bound(values)


def fly_all_randomly(rng: np.random.Generator, sim: Simulation, decisions: int) -> None:
    for _ in range(decisions):
        controls = rng.uniform(-1, 1, (*sim.rewards.shape, sim.core.controls))
        controls[..., -1] *= 3  # also at other enemies, or of other kinds
        sim.step(controls)
        assert np.isfinite(sim.rewards).all()
    assert np.isfinite(sim.observe()).all()
    for group in (sim.fighters, sim.missiles):
        assert all(np.isfinite(values).all() for values in group.values())


NEAR = {"start_range_min": 3000, "start_range_max": 9000}


@pytest.mark.usefixtures("one_map")
@pytest.mark.parametrize("end", ["minimum", "maximum"])
@pytest.mark.parametrize(
    ("game", "name"),
    [
        *(({}, name) for name in OF_PLANE),
        *((HEIGHT, name) for name in OF_HEIGHT),
        *((game, name) for game in (DISTURBED, HEIGHT | DISTURBED) for name in OF_SENSORS),
    ],
    ids=lambda value: value if isinstance(value, str) else "height" * ("dimensions" in value),
)
def test_a_parameter_at_its_end_keeps_everything_finite(game, name, end):
    row = PARAMETERS[name]
    overrides = game | {name: end_of(row, end)}
    if row.group == "sensor":
        overrides = {"sensing": "radar"} | overrides
    if not name.startswith("start_range"):
        overrides |= NEAR
    fly_randomly(with_room(with_pairs(overrides)), 60)


def any_value(name: str) -> st.SearchStrategy:
    row = PARAMETERS[name]
    if row.choices or row.kind is str:
        return a_word(row)
    if row.kind is int:
        return st.integers(row.minimum, row.maximum)
    ends = st.sampled_from([row.minimum, row.maximum])
    return ends | st.floats(row.minimum, row.maximum)


@pytest.mark.usefixtures("one_map")
@given(st.fixed_dictionaries({name: any_value(name) for name in PARAMETERS}))
@settings(max_examples=25)
def test_extreme_parameters_together_keep_everything_finite(values):
    for low, high in PAIRS:
        values[low], values[high] = sorted((values[low], values[high]))
    fly_randomly(with_room(of_one_game(values)), 50)


STEPS = 10_000_000  # physics steps of fighters


def wild_type(rng: np.random.Generator, category: str, name: str) -> str:
    """Returns a type of which most fields are anywhere within their limits, some at an end."""
    fields = dict(PACKAGE[category][name])
    for field in FIELDS[category].values():
        ends = (field.minimum, field.maximum)
        if rng.random() < 0.6:
            fields[field.name] = rng.choice(ends) if rng.random() < 0.2 else rng.uniform(*ends)
    least = fields["onset_mach"] + 2 * LEAST_RISE
    fields["peak_mach"] = max(fields["peak_mach"], least)
    if fields["peak_mach"] > FIELDS[category]["peak_mach"].maximum:
        fields["onset_mach"], fields["peak_mach"] = 0.8, 1.1
    return f"wild_{name}={name} " + " ".join(f"{key}={value:.6g}" for key, value in fields.items())


def wild_game(rng: np.random.Generator) -> dict[str, object]:
    types = [
        ("aircraft", "light"),
        ("aircraft", "heavy"),
        ("missile", "medium"),
        ("missile", "long"),
    ]
    return {
        "types": ", ".join(wild_type(rng, *names) for names in types),
        "red_aircraft": "wild_light,light,fast",
        "blue_aircraft": "wild_heavy,trainer",
        "red_missile": "wild_medium,short",
        "blue_missile": "wild_long,wild_medium",
        "aircraft_spread": 0.3,
        "missile_spread": 0.3,
        "physics_dt": float(rng.choice([0.01, 0.1, 0.5])),
        "gravity": float(rng.uniform(1, 20)),
        "substeps": 10,
    }


def wild_controls(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    controls = rng.uniform(-1.2, 1.2, shape)
    for value in (np.nan, np.inf):
        controls[rng.random(shape) < 0.02] = value
    return controls


def test_ten_million_steps_of_wild_types_stay_finite():
    """Types, factors, steps, gravity and controls are drawn; fights fly on after their end."""
    rng, flown, shots = np.random.default_rng(1), 0, 0
    while flown < STEPS:
        pilot = str(rng.choice(["ace", "agent", "snake"]))
        sim = Simulation(256, flown, "agent", pilot, dimensions=3, **wild_game(rng))
        for decision in range(100):
            sim.step(wild_controls(rng, (256, 2, 4)))
            flown += 256 * 2 * 10
            if decision % 10:
                continue
            for group in (sim.fighters, sim.missiles):
                assert all(np.isfinite(values).all() for values in group.values())
            assert np.abs(sim.observe()).max() <= 1  # False for not-a-number
            assert np.isfinite(sim.rewards).all()
            shots += int(sim.missiles["active"].sum())
    assert shots > 1000

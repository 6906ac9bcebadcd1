"""The parameter `types`: changed and new types of aircraft and missiles in the game with height."""

import numpy as np
import pytest
from flights import states
from hypothesis import given, settings
from hypothesis import strategies as st

from midrange_puffer import Midrange, Simulation, _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.parameters import resolve, seat_weights
from midrange_puffer.game.types import (
    AIRCRAFT,
    CATEGORIES,
    FIELDS,
    MAX_TYPES,
    MISSILE,
    PACKAGE,
    checked_types,
)

HEIGHT = {"dimensions": 3}


def text_of(name: str, base: str, fields: dict[str, float]) -> str:
    return " ".join([f"{name}={base}", *(f"{key}={value!r}" for key, value in fields.items())])


@pytest.mark.parametrize(
    ("name", "base", "side"), [("heavy", "trainer", "aircraft"), ("long", "short", "missile")]
)
def test_a_new_type_with_the_fields_of_another_flies_like_it(name, base, side):
    """All bits are the same, though its number in the core is another."""
    types = text_of("copy", base, PACKAGE[side][name])
    flown = [
        Simulation(32, 4, "ace", "crank", **HEIGHT, **{f"red_{side}": one}, types=types)
        for one in ("copy", name)
    ]
    for _ in range(150):
        for sim in flown:
            sim.step()
    ours, its = map(states, flown)
    assert all(np.array_equal(ours[name], values) for name, values in its.items())
    index = flown[0].type_names[side].index("copy")
    assert index == len(PACKAGE[side])
    assert (flown[0].types[side][:, 0] == index).all()
    plain = Simulation(32, 4, "ace", "crank", **HEIGHT, **{f"red_{side}": base})
    for _ in range(150):
        plain.step()
    assert not np.array_equal(states(plain)["fighter.x"], its["fighter.x"])


def test_a_changed_type_flies_otherwise_and_a_new_one_begins_with_its_changes():
    changed = {"types": "light thrust=9"}
    based = {"types": "light thrust=9, mine=light", "red_aircraft": "mine", "blue_aircraft": "mine"}
    flown = [Simulation(16, 1, "ace", "ace", **HEIGHT, **game) for game in ({}, changed, based)]
    for _ in range(60):
        for sim in flown:
            sim.step()
    plain, ours, its = (states(sim)["fighter.u"] for sim in flown)
    assert np.array_equal(ours, its)
    assert not np.array_equal(plain, ours)


def test_more_thrust_gains_speed_as_newton_has_it():
    """The gain is the added thrust times the time, where the engine gives what its type states."""
    still = {"thrust_lapse": 0, "ram_static": 1, "ram": 0}
    gained = []
    for thrust in (10, 14):
        types = text_of("mine", "light", still | {"thrust": thrust})
        sim = Simulation(1, **HEIGHT, types=types, red_aircraft="mine")
        sim.set_fighter(0, 0, z=5000, speed=250, climb_deg=0, throttle=1)
        controls = np.zeros((1, 2, 4), np.float32)
        controls[..., 2] = 1
        sim.step(controls)  # half a second
        gained.append(float(sim.fighters["speed"][0, 0]) - 250)
    assert gained[1] - gained[0] == pytest.approx(0.5 * 4, rel=0.005)


@st.composite
def wild(draw: st.DrawFn, kind: str) -> str:
    """Draws a type of a kind with any values within its fields' limits."""
    fields = {
        field.name: draw(st.floats(field.minimum, field.maximum)) for field in FIELDS[kind].values()
    }
    if fields["onset_mach"] > fields["peak_mach"] - 0.011:
        fields["onset_mach"], fields["peak_mach"] = 0.5, 0.9
    return text_of(f"wild_{kind}", next(iter(PACKAGE[kind])), fields)


@settings(max_examples=60)
@given(wild(AIRCRAFT), wild(MISSILE), st.integers(0, 2**32))
def test_no_type_makes_a_state_that_is_not_finite(aircraft, missile, seed):
    game = {"types": f"{aircraft}, {missile}", "red_aircraft": "wild_aircraft"}
    game |= {"red_missile": "wild_missile", "aircraft_spread": 0.3, "missile_spread": 0.3}
    sim = Simulation(16, seed, "ace", "crank", **HEIGHT, **game)
    for _ in range(100):
        sim.step()
        assert all(np.isfinite(values).all() for values in states(sim).values())
        assert np.abs(sim.observe()).max() <= 1


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("", ""),
        ("light", ""),
        (" medium  burn_time=10.0 ,light thrust=15 ", "light thrust=15, medium burn_time=10"),
        ("b=light,a=medium life=90 thrust=100", "b=light, a=medium thrust=100 life=90"),
    ],
)
def test_types_have_one_text(text, stored):
    assert checked_types(text) == stored
    assert checked_types(stored) == stored
    assert resolve(HEIGHT | {"types": text})["types"] == stored


def test_all_values_survive_their_text():
    """The package has 32-bit numbers, which nine digits tell apart."""
    for kind in CATEGORIES:
        for name, fields in PACKAGE[kind].items():
            text = checked_types(text_of("copy", name, fields))
            flown = flown_types(resolve(HEIGHT | {"types": text}))
            assert flown is not None
            found = flown.fields[kind][flown.names[kind].index("copy")]
            assert np.array_equal(np.float32(found), np.float32([*fields.values()]))


def test_a_core_needs_the_types_of_a_game_with_height_and_only_of_that():
    seats = [seat_weights({"agent": 1.0})] * 2
    high = resolve(HEIGHT)
    for parameters, observation, types in (
        (high, "height", None),
        (resolve({}), "default", flown_types(high)),
    ):
        with pytest.raises(ValueError, match="types: needed with dimensions = 3, and only there"):
            _core.Core(parameters, 1, 0, seats, False, "auto", observation=observation, types=types)


def test_mixes_name_new_types_in_one_order():
    game = HEIGHT | {"types": "b=light, a=heavy", "red_aircraft": "a:2,b:4,heavy:2"}
    assert resolve(game)["red_aircraft"] == "heavy:1,b:2,a:1"
    drawn = Simulation(4000, **game)
    shares = np.bincount(drawn.types["aircraft"][:, 0], minlength=6) / 4000
    names = drawn.type_names["aircraft"]
    assert shares[names.index("b")] == pytest.approx(0.5, abs=0.04)
    assert shares[names.index("light")] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ligth thrust=9", "ligth: no type of the package, .* did you mean 'light'"),
        ("mine=ligth", "mine is based on ligth: must be one of light.* did you mean 'light'"),
        ("light=heavy", "light: the package has this type, so it cannot be based on heavy"),
        ("Mine=light", "'Mine': a type's name has small letters, digits and _"),
        ("light,", "a type has no name: is there a comma too many"),
        ("light onset_mach=0.9999999999 peak_mach=1", "must be at least 0.01 below peak_mach = 1"),
        ("light thrust=101", "light thrust = 101: must be from 0 to 100 m/s"),
        ("light thrust=nan", "light thrust = nan: must be from 0 to 100"),
        ("light peak_drag=6", "light peak_drag = 6: must be from 1 to 5$"),
        ("light thrust=much", "light thrust = much: must be from 0 to 100"),
        ("light thurst=9", "light thurst = 9: aircraft has no such field; did you mean 'thrust'"),
        ("medium ceiling=9000", "missile has no such field"),
        ("light thrust", "light thrust: must be field=value"),
        ("light thrust=9 thrust=8", "thrust=8: is given twice"),
        ("light thrust=9, light thrust=8", "light is given twice"),
        (
            "light onset_mach=1.5",
            "light onset_mach = 1.5: must be at least 0.01 below peak_mach",
        ),
        (
            ",".join(f"m{number}=light" for number in range(MAX_TYPES - 3)),
            f"{MAX_TYPES + 1} types of aircraft: at most {MAX_TYPES}, and the package has 4",
        ),
    ],
)
def test_wrong_types_are_refused(text, words):
    with pytest.raises(ValueError, match=f"types = .*{words}"):
        Midrange(4, opponent="ace", dimensions=3, types=text)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ({"types": "light thrust=9"}, "types = light thrust=9: with height only"),
        ({**HEIGHT, "types": 3}, "types = 3: must be a text"),
        ({**HEIGHT, "red_aircraft": "mine"}, "red_aircraft = 'mine': must be one of light"),
        ({**HEIGHT, "red_aircraft": "Light"}, "did you mean 'light'"),
        (
            {**HEIGHT, "types": "mine=medium", "red_aircraft": "mine"},
            "red_aircraft = 'mine': must be one of light",
        ),
        (
            {**HEIGHT, "types": "agile=light", "red_aircraft": "agil"},
            "one of light, heavy, fast, trainer, agile, or a mix .* did you mean 'agile'",
        ),
    ],
)
def test_wrong_games_are_refused(game, words):
    with pytest.raises((ValueError, UsageError), match=words):
        Simulation(**game)


def test_the_plane_has_no_type_names():
    with pytest.raises(UsageError, match="type_names: with height only"):
        _ = Simulation().type_names

"""Wrong parameters, numbers, seeds and opponents are refused by name, value and what is allowed."""

import re

import numpy as np
import pytest

from midrange_puffer import Midrange, Simulation
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import EFFECT_NEEDS, PAIRS, PARAMETERS, resolve
from midrange_puffer.policies.mix import parse_mix

INFINITE = [float("nan"), float("inf"), -float("inf"), 10**400]
NOT_A_NUMBER = [*INFINITE, "5", b"5", True, np.True_, None, 1j, [5]]
NUMBERS = [name for name, row in PARAMETERS.items() if not row.choices and row.kind is not str]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_parameter_that_is_no_number_is_refused(name):
    for value in NOT_A_NUMBER:
        with pytest.raises(ValueError, match=re.escape(f"{name} = {value!r}: must be a")):
            resolve({name: value})


@pytest.mark.parametrize("value", ["Radar", "", 1, None, "fulll", ["radar"]])
def test_an_unknown_choice_is_refused_with_the_choices(value):
    expected = re.escape(f"sensing = {value!r}: must be full or radar")
    with pytest.raises(
        ValueError, match=f"{expected}{'; did you mean' if value == 'fulll' else ''}"
    ):
        resolve({"sensing": value})


@pytest.mark.parametrize("name", NUMBERS)
def test_a_parameter_out_of_range_is_refused_with_the_range(name):
    row = PARAMETERS[name]
    away = 1 if row.kind is int else 1e-3
    for value in (row.minimum - away, row.maximum + away):
        allowed = f"{name} = {value!r}: must be from {row.minimum:g} to {row.maximum:g}"
        with pytest.raises(ValueError, match=re.escape(allowed)):
            resolve({name: value})


@pytest.mark.parametrize("name", [name for name in NUMBERS if PARAMETERS[name].kind is int])
def test_a_fraction_of_a_whole_number_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} = 1.5: must be a whole number"):
        resolve({name: 1.5})


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_misspelt_parameter_is_refused_with_the_nearest(name):
    wrongs = f"{name}s", name[:-1], f"{name[:3]}x{name[3:]}", name.upper()[:1] + name[1:]
    for wrong in (word for word in wrongs if word not in PARAMETERS):
        with pytest.raises(ValueError, match=f"{wrong} = 1: no such parameter.*'{name}'"):
            resolve({wrong: 1})


def test_a_name_like_nothing_is_refused_without_a_guess():
    with pytest.raises(ValueError, match=r"qqqq = 1: no such parameter$"):
        resolve({"qqqq": 1})


@pytest.mark.parametrize(("low", "high"), PAIRS)
def test_a_lower_end_above_the_upper_is_refused(low, high):
    top, bottom = PARAMETERS[high].maximum, PARAMETERS[high].minimum
    with pytest.raises(ValueError, match=f"{low} = {top:g} is above {high} = {bottom:g}"):
        resolve({low: top, high: bottom})
    assert resolve({low: top, high: top})[low] == top


@pytest.mark.parametrize("sensing", ["full", "radar"])
@pytest.mark.parametrize(("name", "needed"), EFFECT_NEEDS.items())
def test_a_parameter_without_effect_is_refused_with_what_it_needs(name, needed, sensing):
    value = PARAMETERS[name].maximum
    message = f"{name} = {value:g}: needs {' or '.join(needed)} above 0"
    with pytest.raises(UsageError, match=re.escape(message)):
        resolve({"sensing": sensing, name: value})
    for other in needed:
        assert resolve({"sensing": "radar", other: 1, name: value})[name] == value


def test_every_row_of_chaff_noise_and_jammers_is_refused_where_it_has_no_effect():
    """By the meanings in the table, which begin with what a row is for."""
    rows = [row for row in PARAMETERS.values() if row.group == "sensor"]
    subjects = ("with chaff: ", "with noise: ", "with jammers: ")
    assert {row.name for row in rows if row.meaning.startswith(subjects)} == set(EFFECT_NEEDS)


@pytest.mark.parametrize("make", [Midrange, Simulation])
def test_parameters_are_checked_when_something_is_made(make):
    for wrong, message in {
        "substepz": "did you mean 'substeps'",
        "num_env": "did you mean 'num_envs'",
    }.items():
        with pytest.raises(ValueError, match=message):
            make(**{wrong: 1})
    with pytest.raises(ValueError, match=r"physics_dt = 0: must be from 0.001 to 0.5 s"):
        make(physics_dt=0)
    with pytest.raises(ValueError, match="start_range_min = 90000 is above start_range_max"):
        make(start_range_min=90_000)


@pytest.mark.parametrize("make", [Midrange, Simulation])
@pytest.mark.parametrize("num_envs", [0, -1, 2**20 + 1, 2**31, 2**70, 1.0, "4", True, None])
def test_a_wrong_number_of_engagements_is_refused(make, num_envs):
    message = f"num_envs = {num_envs!r}: must be a whole number from 1 to 1048576"
    with pytest.raises(ValueError, match=message):
        make(num_envs=num_envs)


@pytest.mark.parametrize("make", [Midrange, Simulation])
@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, float("nan"), "1", True, None])
def test_a_wrong_seed_is_refused(make, seed):
    message = re.escape(f"seed = {seed!r}: must be a whole number from 0 to 2**64 - 1")
    with pytest.raises(ValueError, match=message):
        make(num_envs=1, seed=seed)
    if seed is not None:
        with pytest.raises(ValueError, match=message):
            make(num_envs=1).reset(seed)


def test_seeds_differ_in_all_their_bits():
    seeds = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, np.int64(5), np.uint64(2**64 - 2)]
    assert len({Simulation(seed=seed).state_hash() for seed in seeds}) == len(seeds)


@pytest.mark.parametrize("make", [Midrange, Simulation])
def test_an_instruction_set_that_is_not_there_is_refused(make):
    with pytest.raises(ValueError, match=r"isa = 'avx9': this machine has .*, or auto"):
        make(num_envs=1, isa="avx9")


# PoolCrew and seats


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shoter", "'shoter' is none of .*did you mean 'shooter'"),
        ("Evader", "'Evader' is none of .*did you mean 'evader'"),
        ("agent", "'agent' is none of"),
        ("", "'' is none of"),
        ("shooter,", "'' is none of"),
        ("shooter evader", "'shooter evader' is none of"),
        ("shooter:1,shooter:2", "shooter is given twice"),
        ("shooter:0", "the weight of shooter must be above 0, at most"),
        ("shooter:-1,evader:2", "the weight of shooter must be above 0, at most"),
        ("shooter:nan", "the weight of shooter must be above 0, at most"),
        ("shooter:1e308,evader:1e308", "the weight of shooter must be above 0, at most"),
        ("shooter:x", "the weight of shooter must be above 0, at most"),
        ("shooter:1:2", "the weight of shooter must be above 0, at most"),
        ("self,shooter", "needs at least 2 engagements, one for each of self, pilots, not"),
        ("pool", "needs a pool's file"),
    ],
)
def test_a_wrong_opponent_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(f"opponent = {text!r}") + f": .*{message}"):
        Midrange(num_envs=1, opponent=text)


def test_shares_of_a_mix():
    assert parse_mix(" shooter : 1 , evader:3 ") == {"shooter": 0.25, "evader": 0.75}
    assert parse_mix("weave") == {"weave": 1}


def test_a_wrong_seat_or_controller_is_refused():
    with pytest.raises(ValueError, match=r"seat = 'blu': must be red or blue; did you mean 'blue'"):
        Midrange(num_envs=1, seat="blu")
    with pytest.raises(ValueError, match=r"blue = 'shoter': .*did you mean 'shooter'"):
        Simulation(blue="shoter")

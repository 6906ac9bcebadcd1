"""The tables of the core agree with themselves and with what is written about them."""

import re

import numpy as np
import pytest
from places import CSRC

from midrange_puffer import FEATURES, OBSERVATION_VERSION, RADAR_FEATURES, STG_FEATURES, _core
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    MISSION_PILOTS,
    PAIRS,
    PARAMETERS,
    PILOTS,
    SENSOR_PILOTS,
)

RULES = (CSRC / "RULES.md").read_text()
WORDS = set(re.findall(r"[a-z]+(?:_[a-z]+)*", RULES))
# What the rules write as in a formula, because fighters and missiles have it alike.
SYMBOLS = {
    "physics_dt": "dt",
    "gravity": "g / Vt²",
    "fighter_terminal_speed": "terminal speed Vt",
    "missile_terminal_speed": "terminal speed Vt",
    "fighter_turn_radius": "turn radius Rmin",
    "missile_turn_radius": "turn radius Rmin",
    "fighter_lift_drag": "lift-to-drag ratio LD",
    "missile_lift_drag": "lift-to-drag ratio LD",
    "fighter_load_limit": "`load_limit`",
    "missile_load_limit": "`load_limit`",
    "missile_navigation": "Cl = N ·",
}


@pytest.mark.parametrize("row", [row for row in PARAMETERS.values() if row.kind is not str])
def test_a_row_of_the_parameters_is_whole(row):
    default = row.choices.index(row.default) if row.choices else row.default
    assert type(default) is type(row.minimum) is type(row.maximum) is row.kind
    assert row.minimum <= default <= row.maximum
    assert not row.choices or row.maximum == len(row.choices) - 1
    assert row.minimum < row.maximum
    assert row.unit
    assert row.meaning
    assert row.group in ("rules", "flight", "missile", "sensor", "start", "reward", "pilot")
    if row.group in ("missile", "start", "reward"):
        assert row.name.startswith(f"{row.group}_")


def test_pairs_are_of_parameters_and_their_defaults_are_in_order():
    for low, high in PAIRS:
        assert PARAMETERS[low].default <= PARAMETERS[high].default
        assert PARAMETERS[low].unit == PARAMETERS[high].unit
    ends = {name for name in PARAMETERS if name.endswith(("_min", "_max"))}
    assert {name for pair in PAIRS for name in pair} == ends - {
        "start_off_boresight_max_deg",
        "start_height_difference_max",
    }


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_rules_name_every_parameter(name):
    assert name in WORDS or SYMBOLS[name] in RULES


def test_the_rules_name_no_parameter_that_is_none():
    """Every word of the rules that begins like a parameter is one, a pilot, or a type's field."""
    fields = re.findall(r"^  X\((\w+),", (CSRC / "type_fields.h").read_text(), re.MULTILINE)
    prefixes = {name.split("_")[0] + "_" for name in PARAMETERS if "_" in name}
    alike = {word for word in WORDS if word.startswith(tuple(prefixes))} - {*PILOTS, *fields}
    assert len(alike) > 20
    assert alike <= PARAMETERS.keys()


def test_the_rules_describe_exactly_the_pilots_that_there_are():
    section = RULES[RULES.index("## Pilots") : RULES.index("## Actions")]
    assert tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == PILOTS
    assert sorted(CONTROLLERS) == sorted(["agent", *PILOTS, *SENSOR_PILOTS, *MISSION_PILOTS])
    assert all(f"* `{name}` flies only where there are sensors" in RULES for name in SENSOR_PILOTS)


def test_the_rules_give_the_action_space():
    assert f"MultiDiscrete {list(_core.ACTION_LEVELS)}" in RULES


@pytest.mark.parametrize("table", [STG_FEATURES, RADAR_FEATURES], ids=["stg", "radar"])
def test_features(table):
    names = [feature.name for feature in table]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert all(feature.scale > 0 and feature.meaning for feature in table)
    assert OBSERVATION_VERSION >= 1


def test_features_that_all_observations_have_are_equal():
    """A feature of a name is lateral or not in any, and has one scale, so that policies compare."""
    assert STG_FEATURES[: len(FEATURES)] == FEATURES
    of_full = {feature.name: feature for feature in STG_FEATURES}
    for feature in RADAR_FEATURES:
        same = of_full.get(feature.name, feature)
        assert (same.scale, same.lateral) == (feature.scale, feature.lateral)


def test_structs_are_described_member_by_member():
    """Members of equal size that have changed places are seen, which the structs' size hides."""
    size, members = _core.layouts()["MrRecord"]
    _core.check_layout(_core.RECORD, "MrRecord", size, members)
    names = list(_core.RECORD.names)
    swapped = names.copy()
    swapped[1], swapped[2] = names[2], names[1]
    fields = _core.RECORD.fields
    for wrong, member in (
        ([(name, fields[name][0]) for name in swapped], "outcome"),
        (
            [(name, fields[name][0]) for name in names[:-1]] + [("attacker", "f4")],
            "attacker",
        ),
        ([(name, fields[name][0]) for name in names[:-1]], "attacker"),
        ([(name, fields[name][0]) for name in names] + [("luck", "f4")], "luck"),
    ):
        with pytest.raises(ImportError, match=rf"MrRecord\.{member}"):
            _core.check_layout(np.dtype(wrong), "MrRecord", size, members)

"""The sections [aircraft.NAME] and [missile.NAME], which env.types takes over."""

import pytest

from midrange_puffer.config.configuration import ConfigError, format_config
from midrange_puffer.config.reading import load_config
from midrange_puffer.sweep.space import Space

INI = """\
[env]
dimensions = 3
red_aircraft = agile:2,heavy:1
types = heavy thrust=14 lift_drag=8

[aircraft.agile]
based_on = light
turn_radius = 380
thrust = 15

[missile.medium]
burn_time = 10

[aircraft.heavy]
thrust = 16
"""
TYPES = "heavy lift_drag=8 thrust=16, medium burn_time=10, agile=light turn_radius=380 thrust=15"


@pytest.fixture
def ini(tmp_path):
    def write(text: str = INI) -> str:
        path = tmp_path / "own.ini"
        path.write_text(text)
        return str(path)

    return write


def test_sections_become_the_types_of_the_game(ini):
    config = load_config(ini())
    assert config.env["types"] == TYPES
    assert config.env["red_aircraft"] == "heavy:1,agile:2"
    assert config.source("env", "types") == ini()
    assert not [section for section in config if section.startswith(("aircraft", "missile"))]


def test_the_command_line_changes_one_field(ini):
    words = [
        "--aircraft.agile.thrust=12",
        "--missile.far.based-on",
        "long",
        "--env.red-missile=far",
    ]
    config = load_config(ini(), words)
    assert config.env["types"] == TYPES.replace("thrust=15", "thrust=12") + ", far=long"
    assert config.source("env", "types") == "command line"


def test_the_command_line_replaces_what_sections_of_a_file_say(ini):
    """Exploiters are told their game in this way, as one text."""
    text = "light thrust=20, agile=heavy"
    config = load_config(ini(), [f"--env.types={text}"])
    assert config.env["types"] == text
    config = load_config(ini(), [f"--env.types={text}", "--aircraft.agile.thrust=9"])
    assert config.env["types"] == "light thrust=20, agile=heavy thrust=9"


def test_equal_types_have_one_text(ini):
    """Models of one game agree on it, however it was written."""
    config = load_config(None, ["--env.dimensions=3", "--env.types= agile=light   thrust=15.0"])
    assert config.env["types"] == "agile=light thrust=15"


def test_a_stage_may_have_types_of_its_own(ini):
    words = ["--env.dimensions=3", "--curriculum.stages=one,two", "--curriculum.one.score=0.5"]
    words += ["--curriculum.two.env.types=agile=light", "--curriculum.two.env.red-aircraft=agile"]
    config = load_config(None, words)
    assert config["curriculum.two"]["env.types"] == "agile=light"
    with pytest.raises(ConfigError, match=r"\[curriculum.two\] .*red_aircraft = 'agile'"):
        load_config(None, [word for word in words if "types" not in word])


def test_a_runs_configuration_is_read_back_and_changed(ini, tmp_path):
    config = load_config(ini())
    written = tmp_path / "config.ini"
    written.write_text(format_config(config))
    again = load_config(written, complete=True)
    assert again.as_dict() == config.as_dict()
    changed = load_config(written, ["--aircraft.agile.thrust=11"], complete=True)
    assert changed.env["types"] == TYPES.replace("thrust=15", "thrust=11")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--aircraft.light.thurst=9"], r"no such key; did you mean --aircraft\.light\.thrust"),
        (["--aircraft.light.thrust=900"], "= 900: must be a number from 0.0 to 100.0"),
        (["--aircraft.light.thrust"], "needs a value"),
        (["--aircraft.medium.thrust=9"], "medium is no aircraft, but a type of missile"),
        (
            ["--aircraft.a.based-on=light", "--missile.a.based-on=medium"],
            "missile.a.based-on: a is no missile, but a type of aircraft",
        ),
        (["--env.types=a=light", "--missile.a.thrust=9"], "a is no missile"),
        (["--aircraft..thrust=9"], "a type has no name"),
        (
            ["--aircraft.mine.thrust=9"],
            "--aircraft.mine.thrust: mine: no type of the package",
        ),
        (["--aircraft.mine.based-on=medium"], "must be one of light, heavy, fast, trainer"),
        (["--aircraft.light.based-on=heavy"], "the package has this type"),
        (
            ["--aircraft.light.onset-mach=1.5"],
            "onset_mach = 1.5: must be at least 0.01 below",
        ),
        (["--aircraft.light.thrust=9", "--env.dimensions=2"], "types = .*: with height only"),
        (["--env.red-aircraft=ligth"], "red_aircraft = 'ligth': .* did you mean 'light'"),
    ],
)
def test_wrong_sections_are_named(words, message):
    with pytest.raises(ConfigError, match=message):
        load_config(None, ["--env.dimensions=3", *words])


def test_a_wrong_section_of_a_file_names_the_file(ini):
    with pytest.raises(ConfigError, match=r"own.ini: \[aircraft.mine\]: mine: no type of the"):
        load_config(ini("[aircraft.mine]\n"))
    with pytest.raises(ConfigError, match=r"own.ini: \[aircraft.light\] thrust = 900: must be"):
        load_config(ini("[aircraft.light]\nthrust = 900\n"))


def test_a_sweep_refuses_a_type_that_there_is_not(ini):
    text = INI + "\n[sweep.env.blue_aircraft]\nvalues = light,{}\n"
    assert Space(load_config(ini(text.format("agile")))).parameters
    with pytest.raises(ConfigError, match=r"blue_aircraft. values.*did you mean 'agile'"):
        Space(load_config(ini(text.format("agil"))))

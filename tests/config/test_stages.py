"""Stages in a configuration: reading, writing and settling them, and what is refused."""

import pytest
from config_files import assert_refused, values, write
from hypothesis import given
from hypothesis import strategies as st
from machines import machine

from midrange_puffer.config.configuration import (
    ConfigError,
    changes,
    format_config,
    run_configs,
    stage_config,
    stage_names,
)
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import help_sections, schema, stage_keys
from midrange_puffer.config.settle import settle
from midrange_puffer.game.parameters import PARAMETERS, resolve

STAGES = """
[curriculum]
stages = first, second
[curriculum.first]
score = 0.9
env.opponent = straight
[curriculum.second]
train.gamma = 0.5
[curriculum.spare]
env.substeps = 7
"""


@given(st.data())
def test_config_ini_gives_back_the_stages(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("stages")
    config = load_config(write(folder, STAGES))
    keys = {name: key for name, key in stage_keys().items() if not name.startswith("env.")}
    for stage in ("first", "second", "spare"):
        for name in data.draw(st.sets(st.sampled_from(sorted(keys)), max_size=5)):
            value = data.draw(values(keys[name]), label=name)
            config = config.replaced(f"curriculum.{stage}", "drawn", **{name: value})
    config = config.replaced("curriculum.first", "drawn", max_steps=10)
    assert load_config(write(folder, format_config(config))) == config


def test_a_stage_is_the_configuration_with_what_it_sets(tmp_path):
    path = write(tmp_path, STAGES)
    words = ["--curriculum.first.env.opponent", "weave", "--curriculum.second.score=0.5"]
    words += ["--curriculum.first.train.learning-rate", "0.25", "--env.start-range-min=31000"]
    config = load_config(path, words)
    assert stage_names(config) == ["first", "second"]
    assert changes(config, stage_config(config, "first")) == {
        "env.opponent": ("shooter", "weave"),
        "train.learning_rate": (config.train.learning_rate, 0.25),
    }
    assert changes(config, stage_config(config, "second")) == {
        "train.gamma": (config.train.gamma, 0.5)
    }
    assert config["curriculum.first"]["score"] == 0.9
    assert config["curriculum.second"]["score"] == 0.5


@pytest.mark.parametrize("text", ["None", ""])
def test_stages_may_be_left_out(tmp_path, text):
    path = write(tmp_path, STAGES)
    config = load_config(path, [f"--curriculum.stages={text}"])
    assert stage_names(config) == []
    assert run_configs(config) == [config]
    assert stage_names(load_config(path, ["--curriculum.stages=spare"])) == ["spare"]


@pytest.mark.parametrize("way", ["max_steps = 9", "env.opponent = self,weave"])
def test_a_stage_against_itself_needs_another_way_out_than_its_score(tmp_path, way):
    text = "[env]\nopponent = self\n[curriculum]\nstages = a, b\n[curriculum.a]\nscore = 0.9\n"
    config = load_config(write(tmp_path, f"{text}{way}\n[curriculum.b]\nscore = 0.9\n"))
    assert stage_names(config) == ["a", "b"]


def test_a_stage_sets_any_key_that_may_change_within_a_run():
    keys = stage_keys()
    of_the_run = {
        "env.observation",
        "env.action_mode",
        "env.agents",
        "env.sensing",
        "env.subordinates",
    }
    assert {f"env.{name}" for name in schema()["env"]} - of_the_run < set(keys)
    assert not of_the_run & set(keys)
    assert {"score", "max_steps", "train.learning_rate", "train.gamma", "train.ent_coef"} < set(
        keys
    )
    for name in ("device", "seed", "total_timesteps", "run_name", "optimizer"):
        assert f"train.{name}" not in keys
        assert name in help_sections()["curriculum.<stage>"]["train.<key>"].meaning


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[curriculum]\nstages = a b\n", ["stages = a b", "letters, digits and '_'"]),
        ("[curriculum]\nstages = a,,b\n", ["stages = a,,b", "separated by commas"]),
        ("[curriculum]\nstages = a,a\n", ["stages = a,a", "twice"]),
        ("[curriculum]\nstages = a\n", ["stages = a", "no section [curriculum.a]"]),
        (f"{STAGES}[curriculum.x]\n[curriculum.y]\nepisodes = 3\n", ["[curriculum.y] episodes"]),
        (
            "[curriculum]\nstages = first\n[curriculum.frist]\n",
            ["first has no section [curriculum.first]", "'curriculum.frist'"],
        ),
        (
            "[curriculum]\nstages = a, b\n[curriculum.a]\n[curriculum.b]\n",
            ["[curriculum.a] has neither score nor max_steps", "b would never be reached"],
        ),
        (
            "[env]\nopponent = self\n[curriculum]\nstages = a, b\n[curriculum.a]\nscore = 0.9\n"
            "[curriculum.b]\n",
            ["[curriculum.a] has score = 0.9", "no max_steps", "opponent = self", "stays near 0.5"],
        ),
        ("[curriculum.a]\nscore = 1\n", ["[curriculum.a]", "[curriculum] stages must say"]),
        (
            "[curriculum.a]\nopponent = weave\n",
            ["[curriculum.a] opponent: no such key", "mean [curriculum.a] env.opponent?"],
        ),
        (
            "[curriculum.a]\nenv.opponent = weav\n",
            ["[curriculum.a] env.opponent = weav", "did you mean 'weave'"],
        ),
        (
            "[curriculum.a]\ntrain.seed = 1\n",
            ["[curriculum.a] train.seed: no such key", "whole run, in [train]"],
        ),
        ("[curriculum.a]\nscore = 2\n", ["[curriculum.a] score = 2", "from 0.0 to 1.0"]),
        ("[curriculum.a]\nmax_steps = 0\n", ["[curriculum.a] max_steps = 0", "from 1 to"]),
        (
            "[curriculum]\nstages = a\n[curriculum.a]\nenv.start_range_min = 9e4\n",
            ["[curriculum.a] with [env]", "start_range_min = 90000", "start_range_max"],
        ),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, text, parts):
    path = write(tmp_path, text)
    assert_refused([str(path), *parts], load_config, path)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["--curriculum.frist.score=1", "--curriculum.stages=first"],
            ["frist", "'curriculum.first'"],
        ),
        (["--curriculum.first.scor=1"], ["mean --curriculum.first.score?"]),
        (["--curriculum.first.env.seat=up"], ["--curriculum.first.env.seat = up", "red, blue"]),
        (["--curriculum.first.env.opponent"], ["--curriculum.first.env.opponent", "a value"]),
        (["--curriculum.first=1"], ["--curriculum.first: no such key"]),
    ],
)
def test_a_wrong_option_is_refused_by_name(words, parts):
    assert_refused(["command line", *parts], load_config, None, words)


SETTLED = [
    "--curriculum.stages=first,second,third",
    "--curriculum.first.score=0.9",
    "--curriculum.second.max-steps=3000",
    "--curriculum.third.env.opponent=self",
]


def test_stages_are_settled_each_for_itself():
    """Engagements are shared out among the workers; a batch is what the stage's agents make."""
    words = ["--vec.backend=Multiprocessing", "--vec.num-workers=2", "--train.device=cpu"]
    words += ["--env.num-envs=64", "--curriculum.second.env.num-envs=128"]
    config = load_config(None, [*SETTLED, *words, "--train.minibatch-size=2048"])
    config = settle(config, machine(4))
    assert config.env.num_envs == 32
    assert config["curriculum.second"]["env.num_envs"] == 64
    horizon = config.train.bptt_horizon
    batches = [config[f"curriculum.{name}"]["train.batch_size"] for name in ("first", "second")]
    assert batches == [64 * horizon, 128 * horizon]
    assert config["curriculum.third"]["train.batch_size"] == 2 * 64 * horizon
    assert settle(config, machine(4)) == config


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ["--vec.num-workers=2", "--curriculum.second.env.num-envs=33"],
            ["[curriculum.second] env.num_envs = 33", "vec.num_envs = 2"],
        ),
        (
            ["--train.batch-size=4096", "--curriculum.third.train.batch-size=6144"],
            ["[curriculum.third]: train.batch_size 6144", "8192 = 128 agents"],
        ),
        (
            ["--curriculum.first.train.minibatch-size=100"],
            ["[curriculum.first]: train.minibatch_size", "100", "bptt_horizon 64"],
        ),
        (
            ["--curriculum.third.env.opponent=pool", "--pool.own=False"],
            ["pool.own = False", "pool.include"],
        ),
        (
            ["--curriculum.first.env.opponent=self,weave", "--curriculum.first.env.num-envs=1"],
            ["[curriculum.first]", "num_envs = 1", "at least 2"],
        ),
        (
            ["--curriculum.third.env.mission=line"],
            ["[curriculum.third] env.mission = line", "default+mission", "made for default;"],
        ),
        (
            ["--curriculum.third.env.dimensions=3"],
            ["[curriculum.third] env.dimensions = 3", "observe height", "made for default;"],
        ),
    ],
)
def test_a_stage_that_does_not_fit_is_refused_by_name(words, parts):
    backend = "Multiprocessing" if "--vec.num-workers=2" in words else "Serial"
    fitting = [f"--vec.backend={backend}", "--train.device=cpu", "--env.num-envs=64"]
    fitting += ["--train.minibatch-size=2048"]
    config = load_config(None, [*SETTLED, *fitting, *words])
    assert_refused(parts, settle, config, machine(4))


RISING = """
[env]
sensing = radar
emission_control = on
chaff_time = 6
track_speed = 900
radar_noise_range = {noise}
[curriculum]
stages = exact, noisy, last
[curriculum.exact]
max_steps = 1000
env.radar_noise_range = 0
[curriculum.noisy]
max_steps = 1000
env.radar_noise_range = 100
env.chaff = {chaff}
[curriculum.last]
env.radar_noise_range = 200
env.track_speed = 700
"""


@pytest.mark.parametrize("noise", [0, 50])
def test_a_parameter_that_some_stages_need_is_of_those_alone(tmp_path, noise):
    """Every stage's game can be made, and config.ini gives the same stages."""
    path = tmp_path / "rising.ini"
    path.write_text(RISING.format(noise=noise, chaff=6))
    config = load_config(path)
    path.write_text(format_config(config))
    for read in (config, load_config(path, complete=True)):
        stages = [part.env for part in run_configs(read)]
        defaults = PARAMETERS["track_speed"].default, PARAMETERS["chaff_time"].default
        assert [env["track_speed"] for env in stages] == [defaults[0], 900, 700]
        assert [env["chaff_time"] for env in stages] == [defaults[1], 6, defaults[1]]
        assert read.env["track_speed"] == (900 if noise else defaults[0])
        for env in (*stages, read.env):
            resolve({name: value for name, value in env.items() if name in PARAMETERS})


def test_a_parameter_that_no_stage_needs_is_refused(tmp_path):
    path = tmp_path / "rising.ini"
    path.write_text(RISING.format(noise=50, chaff=0))
    with pytest.raises(ConfigError, match="chaff_time = 6: needs chaff above 0"):
        load_config(path)
    words = "--curriculum.exact.env.track-speed=800", "--curriculum.noisy.env.chaff=6"
    with pytest.raises(
        ConfigError, match=r"\[curriculum.exact\].* track_speed = 800: needs radar_noise"
    ):
        load_config(path, words)

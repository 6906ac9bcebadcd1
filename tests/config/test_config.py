"""Configuration: its layers, its checks, and its way through a file and back."""

import configparser
import dataclasses
import importlib.util
import pickle
import re
import tempfile
import types
import typing
from pathlib import Path

import places
import pytest
from config_files import assert_refused, values, write
from hypothesis import example, given
from hypothesis import strategies as st
from machines import machine

from midrange_puffer.config.configuration import ConfigError, changes, format_config
from midrange_puffer.config.key import Key
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import SECTIONS, schema
from midrange_puffer.config.sections import PolicyConfig
from midrange_puffer.config.settle import settle

PUFFERLIB = Path(importlib.util.find_spec("pufferlib").submodule_search_locations[0])
CONFIGS = sorted(places.CONFIGS.glob("*.ini"))


def error(path: Path | None, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    ("section", "differ"),
    [("base", {"env_name"}), ("vec", {"backend", "num_envs"}), ("train", {"device"})],
)
def test_defaults_are_pufferlibs_but_for_what_has_to_differ(section, differ):
    """An option that PufferLib adds, renames or sets anew shows here."""
    theirs = configparser.ConfigParser(interpolation=None)
    theirs.read(PUFFERLIB / "config" / "default.ini")
    ours = schema()[section]
    shared = theirs[section].keys() & ours.keys()
    assert len(shared) == {"base": 3, "vec": 4, "train": 33}[section]
    assert {name for name in shared if _differs(ours[name], theirs[section][name])} == differ


def _differs(key: Key, text: str) -> bool:
    try:
        return key.parse(text) != key.default
    except ValueError:
        return True


def test_every_key_that_the_trainer_reads_is_ours():
    source = (PUFFERLIB / "pufferl.py").read_text()
    trainer = source[source.index("class PuffeRL") : source.index("def compute_puff_advantage")]
    read = set(re.findall(r"config\[['\"](\w+)['\"]\]", trainer))
    assert len(read) > 30
    assert read - set(load_config().train) == {"use_rnn", "env"}


def test_file_overrides_defaults_and_command_line_overrides_file(tmp_path):
    path = write(tmp_path, "[train]\ngamma = 0.9\nent_coef = 0.5\n[base]\ntag = night\n")
    config = load_config(path, ["--train.gamma", "0.8", "--train.vf_coef=3", "--wandb"])
    assert config.train.gamma == 0.8
    assert config.train.ent_coef == 0.5
    assert config.train.vf_coef == 3.0
    assert config.base.tag == "night"
    assert config.base.wandb is True


@pytest.mark.parametrize("text", ["2000000", "2_000_000", "2e6"])
@pytest.mark.parametrize("option", ["--train.total-timesteps", "--train.total_timesteps"])
def test_ways_of_writing_an_integer(option, text):
    value = load_config(None, [option, text]).train.total_timesteps
    assert value == 2_000_000
    assert isinstance(value, int)


@pytest.mark.parametrize(("text", "value"), [("True", True), ("no", False), (None, True)])
def test_ways_of_writing_a_flag(text, value):
    words = ["--train.compile"] + [text] * (text is not None)
    assert load_config(None, [*words, "--tag", "x"]).train.compile is value


@given(st.data())
def test_config_ini_gives_back_the_same_config(tmp_path_factory, data):
    config = load_config()
    for section in ("base", "vec", "policy", "rnn", "train", "pool"):
        for name, key in schema()[section].items():
            value = data.draw(values(key), label=f"{section}.{name}")
            config = config.replaced(section, "drawn", **{name: value})
    path = write(tmp_path_factory.mktemp("config"), format_config(config))
    assert load_config(path) == config


ODD = st.text(st.characters(codec=None) | st.sampled_from("\r\n\t\0\x1b\x85\u2028#;=:[]%$ a"))


@given(ODD, ODD)
@example("a\rb", "")
@example("a\n[train]\ngamma = 0", "")
@example("night", "the sweep\r[train]\rgamma = 0")
@example("night", "a\udcff.ini")
def test_config_ini_gives_back_any_text_or_it_is_refused(tag, source):
    config = load_config().replaced("base", source, tag=tag)
    try:
        text = format_config(config)
    except ConfigError:
        assert not tag.isprintable() or tag.strip() != tag or tag.lower() == "none"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "my.ini")
        path.write_bytes(text.encode())
        assert load_config(path) == config


@pytest.mark.parametrize("character", ["\r", "\n", "\0", "\x1b", "\x85", "\u2028", "\udcff"])
def test_a_value_that_config_ini_could_not_hold_is_refused_at_once(character):
    told = error(None, "--train.data-dir", f"runs{character}x")
    assert "train.data-dir = runs" in told
    assert "must be one line of text, without " + ascii(character)[1:-1] in told


def test_a_spacing_that_is_given_holds_or_is_refused(tmp_path):
    large = ["--env.red-size=16", "--env.blue-size=16"]
    config = load_config(None, large)
    assert config.env["start_spacing_max"] == "auto"
    given = ["--env.start-spacing-min=2000", "--env.start-spacing-max=4000"]
    assert load_config(None, given).env["start_spacing_max"] == 4_000
    with pytest.raises(ConfigError, match="start_spacing_max = 4000: must be below 2000"):
        load_config(None, large + given)
    # The config.ini of a run from before "auto" has the numbers.
    text = format_config(config)
    for name, number in (("min", "2000.0"), ("max", "4000.0")):
        text = text.replace(f"start_spacing_{name} = auto", f"start_spacing_{name} = {number}")
    path = write(tmp_path, text)
    assert load_config(path, complete=True) == config
    with pytest.raises(ConfigError, match="must be below 2000"):
        load_config(path)


def test_a_value_may_go_on_in_the_next_lines(tmp_path):
    path = write(tmp_path, "[pool]\ninclude =\n    a.pt,\n    b c.pt\n[base]\ntag = x\n")
    config = load_config(path)
    assert config.pool.include == "a.pt, b c.pt"
    again = tmp_path / "again.ini"
    again.write_text(format_config(config))
    assert load_config(again) == config


def test_config_ini_gives_back_the_environment(tmp_path):
    words = ["--env.start-range-min", "1234.5678901", "--env.opponent", "shooter:1,evader:3"]
    config = load_config(None, words)
    again = load_config(write(tmp_path, format_config(config)))
    assert again == config
    assert again.env["start_range_min"] == 1234.5678901


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[trane]\n", ["[trane]", "no such section", "'train'"]),
        ("[train]\nlerning_rate = 1\n", ["lerning_rate", "no such key", "[train] learning_rate?"]),
        ("[base]\ngamma = 1\n", ["[base] gamma", "did you mean [train] gamma?"]),
        ("[sweep]\nepisodes = 4\n", ["[sweep] panel_episodes or [curriculum] episodes?"]),
        ("[train]\ngamma = 1.5\n", ["[train] gamma = 1.5", "a number from 0.0 to 1.0"]),
        ("[train]\ngamma = nan\n", ["[train] gamma = nan", "a number from 0.0 to 1.0"]),
        ("[train]\ngamma = high\n", ["[train] gamma = high", "a number from 0.0 to 1.0"]),
        ("[train]\nseed = 2.5\n", ["[train] seed = 2.5", "an integer from 0 to 2147483647"]),
        ("[train]\nseed = inf\n", ["[train] seed = inf", "an integer from 0 to 2147483647"]),
        ("[train]\ncompile = maybe\n", ["[train] compile = maybe", "True or False"]),
        ("[train]\noptimizer = sgd\n", ["[train] optimizer = sgd", "one of muon, adam"]),
        ("[train]\ndevice = tpu\n", ["[train] device = tpu", "auto, cpu, cuda, cuda:N or mps"]),
        ("[train]\nrun_name = a/b\n", ["[train] run_name = a/b", "letters, digits"]),
        ("[env]\nnum_envs = 0\n", ["[env] num_envs = 0", "an integer from 1 to"]),
        ("[env]\nseat = green\n", ["[env] seat = green", "red, blue"]),
        ("[env]\nsubstep = 5\n", ["[env] substep", "[env] substeps?"]),
        ("[env]\nopponent = shoter\n", ["[env] opponent = shoter", "shooter"]),
        ("[env]\nstart_range_min = 9e4\n", ["[env]", "start_range_min", "start_range_max"]),
        ("[train]\ngamma = 1\ngamma = 1\n", ["line 3", "[train] gamma", "twice"]),
        ("[train]\n[train]\n", ["line 2", "[train]", "twice"]),
        ("gamma = 1\n", ["not an ini file"]),
        ("[pool]\nsampling = pfps\n", ["[pool] sampling = pfps", "one of pfsp, uniform"]),
        ("[league]\ngames = 7\n", ["[league] games = 7", "even"]),
        ("[train]\ngamma\n", ["not an ini file"]),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, text, parts):
    path = write(tmp_path, text)
    assert_refused([str(path), *parts], load_config, path)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--train.lerning-rate", "1"], ["--train.lerning-rate", "mean --train.learning-rate?"]),
        (["--learning-rate", "1"], ["--learning-rate", "mean --train.learning-rate?"]),
        (["--trane.gamma", "1"], ["--trane.gamma", "mean --train.gamma?"]),
        (["--train.time-limit", "1"], ["mean --env.time-limit?"]),
        (["--panel-episode", "1"], ["mean --sweep.panel-episodes?"]),
        (["--sweep.episodes", "1"], ["mean --sweep.panel-episodes or --curriculum.episodes?"]),
        (["--env.seed", "1"], ["mean --train.seed or --sweep.seed?"]),
        (["--sweep.train.gamma.minn", "1"], ["mean --sweep.train.gamma.min?"]),
        (["--env.physics", "1"], ["mean --env.physics-dt?"]),
        (["--train.gamma", "2"], ["--train.gamma = 2", "a number from 0.0 to 1.0"]),
        (["--train.gamma"], ["--train.gamma", "needs a value"]),
        (["gamma", "1"], ["gamma", "not an option"]),
    ],
)
def test_a_wrong_option_is_refused_by_name(words, parts):
    assert_refused(["command line", *parts], load_config, None, words)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_installed_configs_are_found_from_everywhere(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    for name in (f"configs/{path.name}", path.name):
        assert load_config(name) == load_config(path)


def test_a_file_that_is_there_comes_before_an_installed_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    for folder, gamma in (("configs", 0.8), (".", 0.7)):
        (tmp_path / folder / "default.ini").write_text(f"[train]\ngamma = {gamma}\n")
        assert load_config(Path(folder, "default.ini")).train.gamma == gamma


def test_a_file_that_is_nowhere_is_refused_with_those_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("configs/defualt.ini", "defualt.ini"):
        message = error(name)
        assert message.startswith(f"{name}: No such file or directory; installed are ")
        assert message.endswith("; did you mean 'configs/default.ini'?")
        assert all(f"configs/{path.name}" in message for path in CONFIGS)
    assert "default.ini" in [path.name for path in CONFIGS]
    # Of another folder somebody has named nothing is guessed.
    assert "No such file" in error("experiments/default.ini")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_point_to_sections_that_there_are(path):
    comments = " ".join(re.findall(r"^# ?(.*)", path.read_text(), re.MULTILINE))
    for name, section in re.findall(r"(\S+\.md)(?:, \"(.*?)\")?", comments):
        text = (places.ROOT / name.strip("(),")).read_text()
        assert not section or re.search(rf"^#+ {re.escape(section)}$", text, re.MULTILINE)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    assert "No such file" in error(tmp_path / "nowhere.ini")
    assert "Is a directory" in error(tmp_path)
    (tmp_path / "model.ini").write_bytes(b"\x80\x02\xff")
    assert "not text" in error(tmp_path / "model.ini")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    path = tmp_path / "mark.ini"
    path.write_bytes(b"\xef\xbb\xbf[train]\ngamma = 0.5\n")
    assert load_config(path).train.gamma == 0.5


def test_changes_names_what_differs():
    old = load_config()
    new = load_config(None, ["--train.gamma", "0.5", "--env.substeps", "7"])
    assert changes(old, new) == {
        "env.substeps": (old.env["substeps"], 7),
        "train.gamma": (old.train.gamma, 0.5),
    }


def test_a_configuration_tells_where_its_values_are_from(tmp_path):
    path = write(tmp_path, "[train]\ngamma = 0.5\nseed = 7\nvtrace_c_clip = 1\n")
    config = load_config(path, ["--train.seed=9"])
    sources = {name: config.source("train", name) for name in ("gamma", "seed", "vtrace_c_clip")}
    assert sources == {"gamma": str(path), "seed": "command line", "vtrace_c_clip": "default"}
    settled = settle(config, machine(4))
    assert settled.source("train", "device") == "no CUDA device"
    assert settled.source("vec", "backend") == "the learner's threads step them"
    assert settled.source("train", "engine") == "an MLP in float32 on the CPU"
    agents, horizon = settled.env.num_envs, settled.train.bptt_horizon
    assert settled.source("train", "batch_size") == f"{agents} agents x bptt_horizon {horizon}"
    text = format_config(settled)
    assert f"# {path}:\ngamma = 0.5\n" in text
    assert "# command line:\nseed = 9\n" in text
    assert text.count("#") == len([name for section in settled for name in settled[section]
                                   if settled.source(section, name) != "default"])  # fmt: skip


def test_a_section_is_read_by_attributes_and_by_items():
    config = load_config(None, ["--train.gamma=0.5", "--env.opponent=ace", "--curriculum.stages=a",
                                "--curriculum.a.score=0.5"])  # fmt: skip
    for section, items in config.items():
        for name in items if section in schema() else ():
            assert getattr(getattr(config, section), name, items[name]) == items[name]
    assert (config.train.gamma, config.env.opponent, config.stage("a").score) == (0.5, "ace", 0.5)
    assert isinstance(config.policy, PolicyConfig)
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert again.train.gamma == 0.5


def test_every_value_is_of_the_type_that_its_field_says():
    """Values of settled configurations; before settling they may hold "auto"."""
    for words in ([], ["--cluster.engine=ray", "--rnn-name=Recurrent"]):
        config = settle(load_config(None, ["--train.device=cpu", *words]), machine(4))
        for section in (section for section in SECTIONS if section != "env"):
            for field in dataclasses.fields(config[section]):
                value = config[section][field.name]
                if not words and (section, field.name) == ("cluster", "max_collectors"):
                    assert value == "auto"
                    continue
                assert _is_of(field.type, value), (section, field.name, value)


def _is_of(kind: object, value: object) -> bool:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return any(_is_of(member, value) for member in typing.get_args(kind))
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    return type(value) is kind


def test_nobody_can_change_a_configuration():
    """What was settled stays as it was checked; another one is made instead."""
    config = load_config()
    before = config.as_dict()
    with pytest.raises(TypeError, match="does not support item assignment"):
        config["train"]["seed"] = 1
    with pytest.raises(TypeError, match="does not support item assignment"):
        config["train"] = {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.train.seed = 1
    for change in (
        lambda: setattr(config.env, "opponent", "ace"),
        lambda: setattr(config, "train", 1),
    ):
        with pytest.raises(AttributeError, match="a configuration cannot be changed"):
            change()
    changed = config.replaced("train", "a test", seed=1)
    assert (changed.train.seed, changed.source("train", "seed")) == (1, "a test")
    assert config.as_dict() == before

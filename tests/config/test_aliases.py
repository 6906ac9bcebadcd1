"""Names that other libraries have for our keys, and the errors that say ours."""

import re

import pytest

from midrange_puffer.commands import eval as eval_command
from midrange_puffer.commands import replay
from midrange_puffer.config.aliases import ACCEPTED, ACCUMULATION, ALIASES, REFUSED
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.hints import also_called
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import schema
from midrange_puffer.errors import UsageError


def error_of(option, value="1"):
    with pytest.raises(ConfigError) as caught:
        load_config(None, [option, value])
    return str(caught.value)


def test_every_alias_is_of_a_key_that_there_is():
    for key, names in ALIASES.items():
        section, _, name = key.partition(".")
        assert name in schema()[section], key
        for alias in names.split():
            assert (section, name) in also_called(alias)


def test_no_name_is_in_two_tables():
    names = {name for names in ALIASES.values() for name in names.split()}
    assert names.isdisjoint(name for names in REFUSED.values() for name in names.split())


ROWS = [
    (name, home)
    for key, names in ALIASES.items()
    for name in names.split()
    for home in ("", key.partition(".")[0] + ".")
    if name not in (*ACCEPTED, *ACCUMULATION)
]


@pytest.mark.parametrize(("name", "home"), ROWS, ids=lambda part: part)
def test_a_name_is_refused_with_its_keys(name, home):
    """Tries it in the key's section and in none; skips sections that have a key of this name."""
    if name in schema()[home.removesuffix(".") or "base"]:
        return
    keys = [key for key, names in ALIASES.items() if name in names.split()]
    wanted = " or ".join(f"--{key}".replace("base.", "") for key in keys).replace("_", "-")
    option = f"--{home}{name}".replace("_", "-")
    assert error_of(option) == f"command line: {option}: no such key; did you mean {wanted}?"


@pytest.mark.parametrize("home", ["", "train."])
@pytest.mark.parametrize("names", REFUSED)
def test_a_name_without_a_key_is_refused_with_what_to_use(names, home):
    for name in names.split():
        option = f"--{home}{name}".replace("_", "-")
        assert error_of(option) == f"command line: {option}: no such key; {REFUSED[names]}"


def test_suggested_keys_exist():
    """Looks up each key that a refusal names."""
    for text in REFUSED.values():
        for section, name in re.findall(r"\b([a-z_]+)\.(\w+)", text):
            assert name in schema()[section] or name == "reward_", (section, name)


@pytest.mark.parametrize("option", ["--train.total-steps", "--total-steps", "--train.total_steps"])
def test_total_steps_are_total_timesteps(option, capsys):
    config = load_config(None, [option, "5e6"])
    assert config.train.total_timesteps == 5_000_000
    assert config.source("train", "total_timesteps") == "command line"
    word = f"command line: {option}: taken as train.total_timesteps\n".replace("_", "-")
    assert capsys.readouterr().err.replace("_", "-") == word


def test_epochs_are_update_epochs_in_files_and_stages(tmp_path, capsys):
    path = tmp_path / "my.ini"
    path.write_text("[train]\nepochs = 3\n[curriculum]\nstages = a\n[curriculum.a]\ntrain.epochs=4")
    config = load_config(path)
    assert config.train.update_epochs == 3
    assert config["curriculum.a"]["train.update_epochs"] == 4
    assert capsys.readouterr().err.splitlines() == [
        f"{path}: [train] epochs: taken as train.update_epochs",
        f"{path}: [curriculum.a] train.epochs: taken as train.update_epochs",
    ]
    assert load_config(None, ["--epochs", "2"]).train.update_epochs == 2


@pytest.mark.parametrize("home", ["", "train."])
@pytest.mark.parametrize("name", ACCUMULATION)
def test_accumulated_gradients_divide_the_minibatch(name, home):
    words = [f"--{home}{name}".replace("_", "-"), "4"]
    config = load_config(None, [*words, "--train.minibatch-size", "4096"])
    assert (config.train.minibatch_size, config.train.max_minibatch_size) == (4096, 1024)
    assert config.source("train", "max_minibatch_size") == "command line"
    for value in ("3", "0", "two"):
        with pytest.raises(ConfigError, match=r"must divide train.minibatch_size 4096"):
            load_config(None, [words[0], value, "--train.minibatch-size", "4096"])


def test_options_of_commands(capsys, tmp_path):
    options = replay.read(["example", "--gif-path", str(tmp_path / "a.gif"), "--fps", "15"])
    assert (options.gif, options.fps) == (str(tmp_path / "a.gif"), 15)
    assert capsys.readouterr().err == "command line: --gif-path: taken as --gif\n"
    for option in ("--gif-path", "--fps", "--save-frames", "--render-mode"):
        with pytest.raises(UsageError, match=f"{option}: no such option; .*puffer"):
            eval_command.read([option, "1"])


@pytest.mark.parametrize("name", ["lambda_", "numEnvs", "clip-param"])
def test_spellings(name):
    assert "did you mean --" in error_of(f"--train.{name}")


def test_in_a_stage_and_in_what_is_swept(tmp_path):
    path = tmp_path / "stages.ini"
    path.write_text("[curriculum]\nstages = a\n[curriculum.a]\ntrain.lr = 1\n")
    with pytest.raises(ConfigError, match=r"did you mean \[curriculum.a\] train.learning_rate\?"):
        load_config(path)
    path.write_text("[sweep.train.lr]\nmin = 1\nmax = 2\n")
    with pytest.raises(ConfigError, match=r"cannot vary train.lr; did you mean 'train.learning_ra"):
        load_config(path)


def test_values_replace_a_range_of_the_file(tmp_path):
    """A range replaces the file's values, too."""
    path, key = tmp_path / "sweep.ini", "sweep.train.gamma"
    path.write_text(f"[{key}]\ndistribution = uniform\nmin = 0.9\nmax = 1\nmean = 0.95\n")
    section = load_config(path, [f"--{key}.values", "0.9,0.99"])[key]
    assert section["values"] == "0.9,0.99"
    assert [section[name] for name in ("distribution", "min", "max", "mean")] == [None] * 4
    path.write_text(f"[{key}]\nvalues = 0.9,0.99\n")
    words = [f"--{key}.{name}" for name in ("distribution=uniform", "min=0.9", "max=1")]
    section = load_config(path, words)[key]
    assert (section["values"], section["distribution"], section["min"]) == (None, "uniform", 0.9)

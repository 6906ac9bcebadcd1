"""Runs and sweeps of earlier versions go on: keys that are retired are left out, with a word."""

import shutil
from pathlib import Path

import pytest
import runs
import sweeps

from midrange_puffer.commands import sweep as command
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import RETIRED
from midrange_puffer.sweep.record import FINISHED, Record

KEY = "pilot_turn_loss"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, "--train.total-timesteps=2048") == 0
    return folder / "run"


@pytest.fixture
def run(finished, tmp_path):
    """A run as an earlier version has left it."""
    folder = shutil.copytree(finished, tmp_path / "run")
    age(folder / "config.ini")
    return folder


def age(path: Path) -> None:
    """Let a configuration hold what an earlier version's did."""
    path.write_text(path.read_text().replace("[env]\n", f"[env]\n{KEY} = 1.3\n", 1))
    assert KEY in path.read_text()


def word(path: Path) -> str:
    return f"{path}: [env] {KEY}: no longer a key, left out"


def test_a_run_is_resumed(run, capsys):
    assert runs.resume(run, "--train.total-timesteps=3072") == 0
    assert runs.rows(run)[-1]["agent_steps"] == 3072
    assert capsys.readouterr().err.splitlines().count(word(run / "config.ini")) == 1
    assert KEY not in (run / "config.ini").read_text()


def test_a_sweep_is_read_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(command, "write_report", lambda record: record.folder / "report.html")
    sweeps.fake_trials(monkeypatch, "finish,finish")
    assert sweeps.sweep(tmp_path, "--sweep.trials=1") == 0
    folder = tmp_path / "sweeps" / "small"
    before = Record(folder).config
    age(folder / "sweep.ini")
    assert Record(folder).config == before
    assert sweeps.resume(tmp_path, "--sweep.trials=2") == 0
    assert [trial.status for trial in Record(folder).trials] == [FINISHED] * 2
    assert capsys.readouterr().err.splitlines().count(word(folder / "sweep.ini")) == 1


def test_retired_keys_are_refused_in_any_configuration_and_on_the_command_line(tmp_path, capsys):
    stage = "[curriculum]\nstages = one\n[curriculum.one]\n"
    path = tmp_path / "my.ini"
    path.write_text(f"[env]\nsubsteps = 7\n{stage}env.gravity = 9\n")
    expected = load_config(path)
    path.write_text(f"[env]\nsubsteps = 7\n{KEY} = junk\n{stage}env.gravity = 9\nenv.{KEY} = 1.3\n")
    assert load_config(path, ["--env.pilot-turn-loss", "2"]) == expected
    assert capsys.readouterr().err.splitlines() == [
        word(path),
        f"{path}: [curriculum.one] env.{KEY}: no longer a key, left out",
        "command line: --env.pilot-turn-loss: no longer a key, left out",
    ]


def test_only_there(tmp_path):
    path = tmp_path / "my.ini"
    for section in ("train", "base"):
        path.write_text(f"[{section}]\n{KEY} = 1.3\n")
        with pytest.raises(ConfigError, match=f"{KEY}: no such key"):
            load_config(path)
    path.write_text(f"[sweep.env.{KEY}]\nmin = 1\n")
    with pytest.raises(ConfigError, match=f"a sweep cannot vary env.{KEY}"):
        load_config(path)


def test_a_retired_key_is_no_key_of_this_version():
    keys = {f"{section}.{name}" for section, names in load_config().items() for name in names}
    assert keys.isdisjoint(RETIRED)


def test_a_section_of_an_earlier_name_is_todays(tmp_path):
    """In files, on the command line and of keys that a sweep varies."""
    swept = "[sweep.experience_replay.alpha]\nmin = 0\nmax = 1\nmean = 0.5\n"
    path = tmp_path / "old.ini"
    path.write_text(f"[experience_replay]\ncapacity = 4096\n{swept}")
    config = load_config(path, ["--experience-replay.warm-up=2048"])
    assert config.experience_buffer.capacity == 4096
    assert config.experience_buffer.warm_up == 2048
    assert config["sweep.experience_buffer.alpha"]["mean"] == 0.5
    assert not [name for name in config if "experience_replay" in name]

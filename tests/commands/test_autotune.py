"""`puffer autotune`: the ways it measures, those that it leaves out, and its results."""

import json

import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.commands.autotune import candidates
from midrange_puffer.config.configuration import ConfigError

SERIAL = "--vec.backend Serial"


def workers(count: int, batch: int) -> str:
    return f"--vec.backend Multiprocessing --vec.num-workers {count} --vec.batch-size {batch}"


def test_all_workers_act_at_once_or_half_of_them():
    ways = [SERIAL, workers(1, 1), workers(2, 2), workers(2, 1), workers(4, 4), workers(4, 2)]
    assert list(candidates(4)) == ways
    assert list(candidates(5)) == ways


def test_a_configuration_that_allows_no_way_is_an_error(capsys):
    with pytest.raises(ConfigError, match=r"train.threads = 1000"):
        cli.run("autotune", ["--train.threads=1000"])
    assert f"{SERIAL}: left out: train.threads = 1000" in capsys.readouterr().out


@pytest.mark.slow
def test_every_way_that_fits_is_measured_and_the_fastest_is_first(tmp_path, monkeypatch, capsys):
    """Two workers cannot divide an odd number of engagements."""
    monkeypatch.setattr("midrange_puffer.train.machine.physical_cores", lambda: 2)
    config = runs.small_config(tmp_path)
    words = ["--config", str(config), "--env.num-envs=3", "--train.minibatch-size=48"]
    words += ["--updates=1", "--rounds=2"]
    assert cli.run("autotune", [*words, "--json", str(tmp_path / "ways.json")]) == 0
    rows = json.loads((tmp_path / "ways.json").read_text())["ways"]
    assert {row["options"] for row in rows} == {SERIAL, workers(1, 1)}
    assert [row["sps"] for row in rows] == sorted((row["sps"] for row in rows), reverse=True)
    assert all(len(row["all"]) == 2 and min(row["all"]) > 0 for row in rows)
    out = capsys.readouterr().out
    assert f"the fastest: {rows[0]['options']}" in out
    assert f"{workers(2, 2)}: left out: env.num_envs = 3" in out

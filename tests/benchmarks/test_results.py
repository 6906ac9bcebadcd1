"""benchmarks/results/: the rates of a machine are kept, and compared with those of a later run."""

import argparse
import json

import pytest
from places import BENCHMARKS


@pytest.fixture
def common(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import common

    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    return common


def finish(common, rates: dict[str, float], record: bool, cpu: str = "A (R) CPU@2") -> None:
    report = {"machine": {"cpu": cpu, "cores": 2, "commit": "abc"}}
    common.finish("sps", report, rates, argparse.Namespace(json=None, record=record))


def test_recorded_rates_are_compared_and_kept_by_workload(common, capsys):
    finish(common, {"core": 100.4, "env": 50.0}, record=True)
    file = common.RESULTS / "a-r-cpu-2-2-cores.json"
    assert json.loads(file.read_text())["sps"]["rates"] == {"core": 100, "env": 50}
    capsys.readouterr()

    finish(common, {"core": 150.0}, record=False)
    row = next(line for line in capsys.readouterr().out.splitlines() if "core" in line)
    assert "1.500" in row
    assert json.loads(file.read_text())["sps"]["rates"]["core"] == 100

    finish(common, {"core": 150.0}, record=True)
    assert json.loads(file.read_text())["sps"]["rates"] == {"core": 150, "env": 50}


def test_another_machine_is_not_compared(common, capsys):
    finish(common, {"core": 100.0}, record=True)
    capsys.readouterr()
    finish(common, {"core": 150.0}, record=False, cpu="B")
    assert capsys.readouterr().out == ""

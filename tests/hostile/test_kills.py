"""A run that is killed again and again is whole each time, and goes on to its end."""

import pytest
from hostile.outcome import PASSED
from hostile.parent import run_cases
from places import ROOT

SEED = 2  # killed inside a save of a new run, then at once after --resume


@pytest.mark.slow
@pytest.mark.nightly  # test_resume.py kills a run, too
def test_a_killed_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tools"), prepend=":")
    [outcome] = run_cases("kills:train", tmp_path, SEED, 1)
    assert outcome.result == PASSED, outcome.told

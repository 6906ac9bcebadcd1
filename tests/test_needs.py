"""Programs that tests need are found, and the end of a run names those that are missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browser import NAMES, VARIABLE, find_program
from needs import nightly

SKIPPED = """
from needs import need

@need(False, "anvil", "ask a smith")
def test_one(): ...

@need(False, "anvil", "ask a smith")
def test_other(): ...
"""


def make_program(folder: Path, name: str) -> str:
    folder.mkdir()
    path = folder / name
    path.touch(0o755)
    return str(path)


@pytest.mark.parametrize("name", [name for name in NAMES if "/" not in name])
def test_a_browser_is_found_under_any_of_its_names(tmp_path, monkeypatch, name):
    monkeypatch.delenv(VARIABLE, raising=False)
    program = make_program(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program() == program


def test_a_browser_is_the_one_that_is_named_or_none(tmp_path, monkeypatch):
    program = make_program(tmp_path / "elsewhere", "mine")
    make_program(tmp_path / "bin", "chromium")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv(VARIABLE, program)
    assert find_program() == program
    monkeypatch.setenv(VARIABLE, "chromiun")
    with pytest.raises(RuntimeError, match=r"MIDRANGE_BROWSER = chromiun: must be the name or"):
        find_program()


@pytest.mark.slow
@pytest.mark.parametrize("side_by_side", [nightly([]), ["-n", "1"]], ids=str)
def test_the_last_lines_say_what_was_missing_and_how_to_get_it(tmp_path, side_by_side):
    (tmp_path / "test_it.py").write_text(SKIPPED)
    tests = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-m", "", *side_by_side, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    missing, last = done.stdout.splitlines()[-2:]
    assert missing == "2 tests were skipped: no anvil: ask a smith"
    assert "2 skipped" in last

"""Output that cannot be written costs no work, and is told of once."""

import os
import subprocess
import sys

import pytest
import runs

PRINT = """
import os, sys
from midrange_puffer.streams import QuietPipe, lasting
with lasting({kind}) as stdout:
    for line in range(20_000):
        print("a line …", line)
    sys.stdout.flush()
    print("done", stdout.error and stdout.error.errno, os.fstat(0).st_mode > 0, file=sys.stderr)
assert os.open(os.devnull, os.O_RDONLY) > 2
"""
FULL = "puffer: cannot write to stdout: No space left on device; going on without it\n"
BROKEN = "puffer: cannot write to stdout: Broken pipe; going on without it\n"


@pytest.mark.parametrize(
    ("ending", "kind", "told"),
    [
        (">&-", "", "done None True\n"),
        (">&- <&-", "", "done None True\n"),
        (">/dev/full", "", f"{FULL}done 28 True\n"),
        (">/dev/full", "QuietPipe", f"{FULL}done 28 True\n"),
        ("| head -1", "", f"{BROKEN}done 32 True\n"),
        ("| head -1", "QuietPipe", "done 32 True\n"),
        (">/dev/full 2>/dev/full", "", ""),
        (">/dev/full 2>&-", "", ""),
    ],
)
def test_what_cannot_be_printed_goes_nowhere(ending, kind, told):
    code = [sys.executable, "-c", PRINT.format(kind=kind)]
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'"$@" {ending}', "bash", *code],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, told)


@pytest.mark.slow
def test_training_goes_on_when_its_output_cannot_be_written(tmp_path):
    """It has a folder. What a command was asked to print and could not is an error."""
    words = [sys.executable, "-m", "midrange_puffer"]
    run = ["train", "midrange", "--config", str(runs.small_config(tmp_path)),
           "--train.data-dir", str(tmp_path), "--train.run-name=run"]  # fmt: skip
    for command, status in ((run, 0), (["--help"], 1), (["train", "midrange", "--help"], 1)):
        with open("/dev/full", "w") as full:  # noqa: PTH123
            done = subprocess.run(
                [*words, *command], stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert (done.returncode, done.stderr) == (status, FULL)
    assert [row["epoch"] for row in runs.rows(tmp_path / "run")] == list(range(1, 9))
    assert (tmp_path / "run" / "model_000008.pt").exists()

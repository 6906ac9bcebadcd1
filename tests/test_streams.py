"""Output that cannot be written costs no work, and is reported once."""

import os
import subprocess
import sys

import pytest

PRINT = """
import os, sys
from midrange_puffer.streams import QuietPipe, lasting
with lasting({kind}) as stdout:
    os.set_blocking(1, False)  # as a program that shares the terminal may have done
    for line in range(20_000):
        print("a line …", line)
    sys.stdout.flush()
    print("done", stdout.error and stdout.error.errno, os.fstat(0).st_mode > 0, file=sys.stderr)
assert os.open(os.devnull, os.O_RDONLY) > 2
"""
FULL = "puffer: cannot write to stdout: No space left on device; going on without it\n"
BROKEN = "puffer: cannot write to stdout: Broken pipe; going on without it\n"


@pytest.mark.parametrize(
    ("ending", "kind", "message"),
    [
        (">&-", "", "done None True\n"),
        (">&- <&-", "", "done None True\n"),
        (">/dev/full", "", f"{FULL}done 28 True\n"),
        (">/dev/full", "QuietPipe", f"{FULL}done 28 True\n"),
        ("| head -1", "", f"{BROKEN}done 32 True\n"),
        ("| head -1", "QuietPipe", "done 32 True\n"),
        ("| (sleep 0.2; cat)", "", "done None True\n"),
        (">/dev/full 2>/dev/full", "", ""),
        (">/dev/full 2>&-", "", ""),
    ],
)
def test_output_that_cannot_be_printed_goes_nowhere(ending, kind, message):
    code = [sys.executable, "-c", PRINT.format(kind=kind)]
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'"$@" {ending}', "bash", *code],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, message)


# A command that prints a line and has done its work.
MAIN = """
import sys
from midrange_puffer.commands import cli
if "--help" not in sys.argv:
    cli.run = lambda mode, argv: print(mode) or 0
sys.exit(cli.main())
"""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("train", "midrange"), 0),
        (("sweep", "midrange"), 0),
        (("train", "midrange", "--help"), 1),
        (("eval", "midrange"), 1),
        (("eval", "midrange", "--help"), 1),
        (("--help",), 1),
    ],
)
def test_a_full_output_loses_lines_but_no_training(words, status):
    """A training keeps its results in a folder."""
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (status, FULL)


@pytest.mark.parametrize(("unbuffered", "stdout"), [("1", "a line\n"), ("", "")])
def test_output_appears_before_the_end(unbuffered, stdout):
    """stderr is unbuffered, and so is stdout with PYTHONUNBUFFERED, as in containers."""
    code = "import os, sys; from midrange_puffer.streams import lasting; lasting().__enter__(); "
    code += "print('a line'); print('a word', file=sys.stderr); os._exit(0)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (stdout, "a word\n")


CHILD = "import os, sys; [os.fstat(number) for number in range(3)]"
PARENT = f"""
import subprocess, sys
from midrange_puffer.streams import lasting
with lasting():
    sys.exit(subprocess.run([sys.executable, "-c", {CHILD!r}]).returncode)
"""


def test_children_have_all_streams_where_some_are_closed():
    """Otherwise a file of theirs could get a stream's number, and with it the output."""
    done = subprocess.run(["bash", "-c", '"$@" <&- >&- 2>&-', "bash", sys.executable, "-c", PARENT])
    assert done.returncode == 0

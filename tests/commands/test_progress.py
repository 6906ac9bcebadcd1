"""How far long work is: a bar on a terminal, and elsewhere a line now and then."""

import os
import pty
import subprocess
import sys

from midrange_puffer.commands import progress


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.progress_bar("missile\x1b envelope", 200) as advance:
        for seconds, count in ((0, 0), (1, 20), (3.9, 20), (0.1, 10), (4, 50), (60, 100)):
            now += seconds
            advance(count)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        r"missile\x1b envelope: 25%",
        r"missile\x1b envelope: 100%",
    ]


def test_what_is_over_soon_leaves_a_log_as_it_was(capsys):
    with progress.progress_bar("evader", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


AWAIT = """
import sys
from midrange_puffer.commands import cli
cli.importlib.import_module = lambda name: sys.modules[__name__]
read = main = lambda words: 0
sys.exit(cli.run(sys.argv[1], []))
"""


def test_what_is_awaited_is_said_and_goes_away_on_a_terminal():
    """Only where torch is imported."""
    word = "puffer: loading PyTorch …"
    for mode, told in (("eval", word), ("envelope", "")):
        command = [sys.executable, "-c", AWAIT, mode]
        piped = subprocess.run(command, capture_output=True, text=True, check=True)
        assert (piped.stdout, piped.stderr) == ("", f"{told}\n" if told else "")
        leader, follower = pty.openpty()
        subprocess.run(command, stderr=follower, check=True)
        os.close(follower)
        shown = os.read(leader, 1000).decode() if told else ""
        os.close(leader)
        assert shown == (f"{told}\r{' ' * len(told)}\r" if told else "")

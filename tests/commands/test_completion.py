"""The words that a shell offers at a press of TAB."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A line, and what is offered behind it in a folder with some files.
OFFERED = {
    "puffer e": {"eval", "exploit", "export", "envelope"},
    "puffer eval m": {"midrange"},
    "puffer eval midrange --load": {"--load-model-path"},
    "puffer eval midrange --load-model-path mi": {"mine.pt"},
    "puffer eval midrange --load-model-path be": {"best"},
    "puffer train midrange --train.lear": {"--train.learning-rate"},
    "puffer train midrange --train.optimizer ": {"adam", "muon"},
    "puffer train midrange --resume o": {"one"},
    "puffer sweep midrange --config configs/sw": {"configs/sweep.ini"},
    "puffer sweep midrange --resume ": {"latest", "search"},
    "puffer sweep midrange --report s": {"search"},
    "puffer replay midrange mi": {"mine.replay", "mine.pt"},
}
# As bash does at a press of TAB behind each line that it reads.
PRESS = """
eval "$(register-python-argcomplete puffer)"
while IFS= read -r COMP_LINE; do
    COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMPREPLY=()
    _python_argcomplete puffer
    echo "${COMPREPLY[*]}"
done
"""


@pytest.fixture(scope="module")
def offered(tmp_path_factory):
    """Line -> what bash offers behind it."""
    folder = tmp_path_factory.mktemp("completion")
    program = folder / "bin" / "puffer"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m midrange_puffer "$@"\n')
    program.chmod(0o755)
    files = ["mine.ini", "mine.pt", "mine.replay", "experiments/one/trainer_state.pt"]
    for name in [*files, "experiments/sweeps/search/sweep.ini"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    path = f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", PRESS],
        input="".join(f"{line}\n" for line in OFFERED),
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    answers = [set(answer.split()) for answer in done.stdout.splitlines()]
    return dict(zip(OFFERED, answers, strict=True))


@pytest.mark.parametrize("line", OFFERED)
def test_tab_offers_what_may_follow(offered, line):
    assert offered[line] == OFFERED[line]


def test_tab_waits_for_nothing_heavy():
    code = "import sys, midrange_puffer.commands.completion; "
    code += "print({'torch', 'pufferlib', 'gymnasium', 'rich', 'pygame'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "set()\n"

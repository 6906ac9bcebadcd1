"""The core is of one piece: a row that lacks what its users need does not compile."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from needs import nightly
from places import CSRC, SUPPORT

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


def compiles(folder: Path, compiler: str) -> bool:
    """Returns True if a copy of the core compiles."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    sources = [folder / name for name in ("kernel.c", "midrange.c", "state.c", "tables.c")]
    for side, dimensions in ((1, 2), (8, 2), (1, 3)):
        game = [f"-DMR_SIDE={side}", f"-DMR_DIMENSIONS={dimensions}"]
        options = ["-std=c11", "-w", "-fsyntax-only", "-DMR_ISA=portable", *game]
        result = subprocess.run(
            [compiler, *options, *sources], env=environment, capture_output=True, check=False
        )
        if result.returncode != 0:
            return False
    return True


@pytest.fixture(params=[*COMPILERS[:1], *map(nightly, COMPILERS[1:])])
def core(tmp_path, request):
    """A copy of the core, and a function that adds a row to a list of a header and compiles it."""
    folder = shutil.copytree(CSRC, tmp_path / "csrc")

    def compiles_with(header: str, table: str, row: str) -> bool:
        head = f"#define {table}(X"
        text = (CSRC / header).read_text()
        assert text.count(head) == 1
        line = text[text.index(head) :].partition("\n")[0]
        (folder / header).write_text(text.replace(line, f"{line}\n  {row} \\", 1))
        return compiles(folder, request.param)

    return compiles_with


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("MR_FIGHTER_FEATURES", "own_mood"),
        ("MR_ENVELOPE_FEATURES", "own_mood"),
        ("MR_MISSILE_FEATURES", "prefix##_mood"),
        ("MR_FEATURES", "own_mood"),
        ("MR_STG_FEATURES", "own_mood"),
    ],
)
def test_a_feature_that_nobody_writes_does_not_compile(core, table, name):
    assert not core("feature_table.h", table, f'X({name}, 1, 0, "not written")')


@pytest.mark.parametrize(
    ("table", "name"), [("MR_TEAM_OWN_FEATURES", "own_mood"), ("MR_OTHER_FEATURES", "other_mood")]
)
def test_a_feature_of_teams_that_nobody_writes_does_not_compile(core, table, name):
    assert not core("feature_table.h", table, f'X({name}, 1, 0, "not written")')


def test_a_pilot_that_fights_without_tactics_does_not_compile(core):
    assert not core("midrange.h", "MR_FIGHTING_PILOTS", 'X(dreamer, 0, "has no tactics")')


def test_a_pilot_that_never_fires_needs_none(core):
    """So the core itself compiles, and those that do not fail by their row."""
    assert core("midrange.h", "MR_PEACEFUL_PILOTS", 'X(dreamer, 0, "flies straight on, too")')


@pytest.mark.parametrize(
    "table",
    [
        "MR_KEY_FIELDS",
        "MR_ENGAGEMENT_FIELDS",
        "MR_BODY_FIELDS",
        "MR_TACTICS_FIELDS",
        "MR_FIGHTER_FIELDS",
        "MR_MISSILE_FIELDS",
    ],
)
def test_a_field_of_the_state_is_one_row(core, table):
    assert core("state_fields.h", table, 'X(int32_t, mood, 1, 0, 9, 1, "nothing else to do")')


def included(path: Path) -> set[str]:
    """The headers of the core that a file includes, also by way of others."""
    found, left = set(), [path]
    while left:
        new = {*re.findall(r'#include "(.*)"', left.pop().read_text())} - found
        found |= new
        left += [CSRC / name for name in new]
    return found


def test_headers_that_are_part_of_the_kernel_say_so():
    units = [path for path in CSRC.glob("*.c") if path.name != "kernel.c"]
    units.append(SUPPORT / "height_flight.c")  # the law of height, which no game flies yet
    others = set().union(*map(included, units))
    of_kernel = included(CSRC / "kernel.c") - others
    assert {path.name for path in CSRC.glob("*.h")} == of_kernel | others
    says_so = {path.name for path in CSRC.glob("*.h") if "Part of kernel.c" in path.read_text()}
    assert says_so == of_kernel

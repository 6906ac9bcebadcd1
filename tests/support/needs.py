"""Marks of tests that need programs or instruction sets, and of nightly cases."""

import os
import platform
import shutil

import pytest

from midrange_puffer import _core

# The kernels of csrc/isas.h, see setup.py. `make sanitize` builds and names fewer.
SETS = tuple((os.environ.get("MIDRANGE_TESTED_SETS") or "sse2 avx2 avx512").split())
KERNELS = SETS if platform.machine() == "x86_64" else ("portable",)


def need(present: object, what: str, how: str) -> pytest.MarkDecorator:
    """Returns the mark of a test that is skipped if something is missing, with how to get it."""
    return pytest.mark.skipif(not present, reason=f"no {what}: {how}")


def nightly(*values: object) -> object:
    """Returns a case of a table that only `make test-all` runs."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def _isa(name: str) -> object:
    return pytest.param(name, marks=need(name in _core.isas(), name, "use a processor that has it"))


def with_compiler(name: str, *marks: pytest.MarkDecorator) -> object:
    """Returns a case for a compiler, which is skipped if that is missing."""
    return pytest.param(name, marks=[need(shutil.which(name), name, f"install {name}"), *marks])


EACH_ISA = pytest.mark.parametrize("isa", [_isa(name) for name in KERNELS])
EACH_COMPILER = pytest.mark.parametrize("compiler", [*map(with_compiler, ("gcc", "clang"))])

"""The package is compiled for the machine and system that Python is of."""

import os
import platform
import runpy
import sys
import sysconfig

import Cython.Build
import pytest
import setuptools
from places import ROOT

X86, OTHERS = ["sse2", "avx2", "avx512"], ["portable"]


@pytest.fixture
def built(monkeypatch):
    """Returns a function that runs setup.py as on another system, up to the compilers."""

    def run(system: str, name: str, machine: str, flags: str = "") -> dict[str, object]:
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(sysconfig, "get_platform", lambda: name)
        monkeypatch.setattr(platform, "machine", lambda: machine)
        monkeypatch.setattr(Cython.Build, "cythonize", lambda extensions, **_: extensions)
        monkeypatch.setattr(setuptools, "setup", lambda **_: None)
        monkeypatch.setenv("ARCHFLAGS", flags)
        monkeypatch.setenv("_PYTHON_HOST_PLATFORM", "")
        monkeypatch.chdir(ROOT)
        return runpy.run_path(str(ROOT / "setup.py"))

    return run


@pytest.mark.parametrize(
    ("system", "name", "machine", "isas"),
    [
        ("linux", "linux-x86_64", "x86_64", X86),
        ("linux", "linux-i686", "x86_64", OTHERS),  # a 32-bit Python
        ("linux", "linux-aarch64", "aarch64", OTHERS),
        ("darwin", "macosx-14.0-arm64", "arm64", OTHERS),
        ("darwin", "macosx-10.9-x86_64", "arm64", X86),  # Python of Intel, translated
        ("win32", "win-amd64", "AMD64", X86),
    ],
)
def test_instruction_sets_are_those_of_the_target(built, system, name, machine, isas):
    names = built(system, name, machine)
    assert list(names["CORE"].isas) == list(names["LEARNER"].isas) == isas
    assert os.environ["ARCHFLAGS"] == ""


@pytest.mark.parametrize(
    ("machine", "flags", "target", "isas"),
    [
        ("arm64", "", "arm64", OTHERS),
        ("x86_64", "", "x86_64", X86),
        ("arm64", "-arch x86_64", "x86_64", X86),
    ],
)
def test_a_universal_python_builds_for_one_machine(built, machine, flags, target, isas):
    names = built("darwin", "macosx-10.9-universal2", machine, flags)
    assert list(names["CORE"].isas) == isas
    assert os.environ["ARCHFLAGS"] == f"-arch {target}"
    assert os.environ["_PYTHON_HOST_PLATFORM"] == f"macosx-11.0-{target}"


def test_two_machines_at_once_are_refused(built):
    with pytest.raises(SystemExit, match="build for one machine at a time"):
        built("darwin", "macosx-10.9-universal2", "arm64", "-arch arm64 -arch x86_64")


def test_windows_has_the_c_library_of_the_compiler_inside(built):
    assert "-static" in built("win32", "win-amd64", "AMD64")["EXTENSIONS"][0].extra_link_args
    assert "-static" not in built("linux", "linux-x86_64", "x86_64")["LINK_FLAGS"]

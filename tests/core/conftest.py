"""Fixtures of the tests of the core."""

import ctypes

import pytest
from c_programs import build_library
from height import Law


@pytest.fixture(scope="session")
def library(tmp_path_factory) -> ctypes.CDLL:
    """Returns the law of height, compiled."""
    return ctypes.CDLL(str(build_library(tmp_path_factory.mktemp("height"), "height_flight", "cc")))


@pytest.fixture(scope="session")
def law(library) -> Law:
    """Returns the law of height with the types as they are."""
    return Law(library)

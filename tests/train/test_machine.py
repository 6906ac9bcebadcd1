"""The cores that a process counts as its own."""

import os

import psutil
import pytest

from midrange_puffer.errors import UsageError
from midrange_puffer.train.machine import CORES, usable_cores


@pytest.mark.parametrize(
    ("physical", "logical", "allowed", "cores"),
    [
        (8, 16, 16, 8),  # two threads a core
        (8, 16, 8, 4),  # as one of two workers of a sweep: every second of the threads
        (8, 16, 1, 1),
        (8, 8, 4, 4),  # one thread a core
        (1, 2, 1, 1),
        (None, 4, 3, 3),  # where the system tells nothing of cores
    ],
)
def test_threads_of_one_core_are_not_counted_twice(monkeypatch, physical, logical, allowed, cores):
    counts = {True: logical, False: physical}
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: counts[logical])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(allowed)), raising=False)
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("given", "cores"), [(1, 1), (3, 3), (20, 8), ("1e9", 8), ("", 8), (" 2 ", 2)]
)
def test_no_more_cores_count_than_are_given(monkeypatch, given, cores):
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setenv(CORES, str(given))
    assert usable_cores() == cores


def test_without_an_affinity_every_core_counts(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 16 if logical else 8)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert usable_cores() == 8


@pytest.mark.parametrize("given", ["x", "0", "-1", "2.5", "nan"])
def test_a_value_that_is_no_number_of_cores_is_refused(monkeypatch, given):
    monkeypatch.setenv(CORES, given)
    with pytest.raises(UsageError, match=rf"MIDRANGE_CORES = {given}: must be an integer from 1"):
        usable_cores()

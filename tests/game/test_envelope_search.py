"""The search for ranges: edges, stretches and gaps of hits that are known beforehand."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midrange_puffer.game.envelope_search import (
    RESOLUTION,
    Edges,
    count_runs,
    search,
    widest_stretch,
)

PLAIN, LEFT, RIGHT, BEAM, LATE = range(5)
COLD, OTHERS = (LEFT, RIGHT), (BEAM, LATE)
FAR = 60_000.0  # m, the limit of the ranges that are searched

Hits = Callable[[np.ndarray, int], np.ndarray]  # ranges [m] and an evasion -> bool


def flier(*cells: Hits):
    """Shots that hit as each cell's function says."""

    def fly(which, ranges, evasions):
        hits = np.ones(len(which), bool)
        for cell, function in enumerate(cells):
            mine = which == cell
            for evasion in evasions:
                hits[mine] &= function(ranges[mine], evasion)
        return hits

    return fly


def find(*cells: Hits, others=OTHERS) -> Edges:
    limits = np.full(len(cells), FAR)
    return search(flier(*cells), limits, PLAIN, COLD, others)


def between(**stretches) -> Hits:
    """Hits inside the stretches [(from, to), …] of an evasion, else of `plain`."""
    names = {PLAIN: "plain", LEFT: "left", RIGHT: "right", BEAM: "beam", LATE: "late"}

    def hits(ranges, evasion):
        inside = np.zeros(len(ranges), bool)
        for low, high in stretches.get(names[evasion], stretches["plain"]):
            inside |= (low <= ranges) & (ranges <= high)
        return inside

    return hits


def near(found: np.ndarray, edge: float, side: int) -> bool:
    """True if an edge was found to the resolution, from the side of the hits."""
    return 0 <= side * (edge - found[0]) <= RESOLUTION


@given(
    st.floats(0, 30_000), st.floats(4000, 25_000), st.lists(st.floats(0, 1), min_size=4, max_size=4)
)
def test_edges_of_intervals_are_found_to_the_resolution(minimum, width, shares):
    """The far ends of what each evasion leaves, too; R_NEZ is the least of them, and of R_aero."""
    aero = minimum + width
    ends = [minimum + (0.6 + 0.4 * share) * width for share in shares]
    names = ("left", "right", "beam", "late")
    reached = {name: [(minimum, end)] for name, end in zip(names, ends, strict=True)}
    found = find(between(plain=[(minimum, aero)], **reached))
    assert near(found.minimum, minimum, -1)
    assert near(found.aero, aero, 1)
    assert near(found.cold, min(ends[:2]), 1)
    assert near(found.nez, min(ends), 1)
    assert near(found.inner, minimum, -1)
    assert (found.stretches, found.gaps) == (1, 0)


def test_the_widest_stretch_counts_and_the_others_are_counted():
    found = find(between(plain=[(0, 300), (1500, 9000), (15_000, 40_000), (50_000, 56_000)]))
    assert near(found.minimum, 15_000, -1)
    assert near(found.aero, 40_000, 1)
    assert found.stretches == 4


def test_gaps_below_the_range_of_no_escape_are_counted():
    """The stretch of no escape begins beyond the last of them."""
    some = [(0, 400), (2000, 4000), (6000, 12_000)]
    found = find(between(plain=[(0, 30_000)], beam=some))
    assert near(found.nez, 12_000, 1)
    assert near(found.inner, 6000, -1)
    assert near(found.cold, 30_000, 1)
    assert found.minimum == 0
    assert (found.stretches, found.gaps) == (1, 2)


def test_without_a_range_of_no_escape_it_is_the_least_range():
    found = find(between(plain=[(3000, 30_000)], late=[]))
    assert found.nez == found.inner == found.minimum
    assert near(found.minimum, 3000, -1)
    assert near(found.cold, 30_000, 1)
    assert found.gaps == 0


def test_ranges_are_zero_if_no_shot_hits():
    found = find(between(plain=[]), between(plain=[(0, 20_000)]))
    for name, values in vars(found).items():
        assert values[0] == 0, name
    assert near(found.aero[1:], 20_000, 1)


def test_nothing_is_flown_beyond_what_the_limits_leave_in_doubt():
    flown = []

    def fly(cells, ranges, evasions):
        flown.append((cells, ranges))
        return ranges < 1000

    search(fly, np.array([2000.0, FAR]), PLAIN, COLD, OTHERS)
    cells, ranges = (np.concatenate(part) for part in zip(*flown, strict=True))
    assert ranges[cells == 0].max() <= 2000
    assert FAR - 2500 < ranges[cells == 1].max() <= FAR


def scattered(seed: int) -> Hits:
    """Hits without any order: stretches of random lengths, others for each evasion."""
    edges = np.sort(np.random.default_rng(seed).uniform(0, FAR, (5, 12)), axis=1)

    def hits(ranges, evasion):
        return np.searchsorted(edges[evasion], ranges) % 2 == 0

    return hits


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True))
@settings(max_examples=200)
def test_the_ranges_are_in_order_and_hit_for_any_target(seeds):
    """A larger set of evasions only shrinks R_NEZ."""
    cells = [scattered(seed) for seed in seeds]
    found, fewer = find(*cells), find(*cells, others=(BEAM,))
    ranges = np.stack([found.minimum, found.inner, found.nez, found.cold, found.aero])
    assert (np.diff(ranges, axis=0) >= 0).all()
    assert (found.nez <= fewer.nez).all()
    assert (fewer.nez <= fewer.cold).all()
    np.testing.assert_array_equal(found.cold, fewer.cold)
    some = np.flatnonzero(found.stretches)
    fly = flier(*cells)
    assert fly(some, found.minimum[some], [PLAIN]).all()
    assert fly(some, found.aero[some], [PLAIN]).all()
    real = some[found.cold[some] > found.minimum[some]]
    assert fly(real, found.cold[real], [PLAIN, *COLD]).all()
    real = some[found.nez[some] > found.minimum[some]]
    assert fly(real, found.nez[real], [PLAIN, *COLD, *OTHERS]).all()


@pytest.mark.parametrize(
    ("marks", "stretch", "runs"),
    [("0110111100", (4, 7), 2), ("1000000011", (8, 9), 2), ("0000000000", (0, -1), 0),
     ("1111111111", (0, 9), 1), ("1010101010", (0, 0), 5)],
)  # fmt: skip
def test_runs(marks, stretch, runs):
    hits = np.array([[mark == "1" for mark in marks]])
    first, last = widest_stretch(hits, np.arange(10.0))
    assert (first[0], last[0]) == stretch
    assert count_runs(hits) == runs

"""Bit rot for the tests: files with one bit turned over."""

import random
from collections.abc import Iterator


def flipped(data: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """`data` with one of its bits turned over, at `count` random places."""
    places = random.Random(seed)
    for _ in range(count):
        place, bit = places.randrange(len(data)), places.randrange(8)
        yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]

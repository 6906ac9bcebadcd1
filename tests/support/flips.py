"""Files with one flipped bit."""

import random
from collections.abc import Iterator


def flipped(data: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Yields `data` with one bit flipped, at `count` random places."""
    places = random.Random(seed)
    for _ in range(count):
        place, bit = places.randrange(len(data)), places.randrange(8)
        yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]

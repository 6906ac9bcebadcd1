"""Forged snapshots: changed, with a checksum that fits."""

import hashlib
import random

import numpy as np

from midrange_puffer.game.snapshots import DIGEST_BYTES, MAGIC

HEAD = len(MAGIC) + DIGEST_BYTES
WHOLE = (-1, 0, 1, 2, 3, 5, 7, 9, 12, 15, 16, 2**26, 2**30, 2**31 - 1, -(2**31))
FLOATS = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e12, -1e12, 1e5, 1.0, -1.0, 0.0, 1e-45, 0.995)


def sealed(body: bytes) -> bytes:
    """Returns a snapshot with this body, which begins with the digest of its simulation."""
    return MAGIC + hashlib.sha256(body).digest() + body


def forge(snapshot: bytes, rng: random.Random) -> bytes:
    """Returns a snapshot with a few numbers changed: in one engagement, or in all of a block."""
    words = np.frombuffer(snapshot[HEAD + DIGEST_BYTES :], np.int32).copy()
    count, used = len(words), np.flatnonzero(words).tolist()
    for _ in range(rng.choice((1, 1, 2, 5))):
        # Most numbers are of empty slots; a block's last are no fields.
        at = rng.choice((rng.randrange(count), rng.choice(used), rng.randrange(count - 32, count)))
        words[at : at + rng.choice((1, 1, 16))] = _number(int(words[at]), words, rng)
    return sealed(snapshot[HEAD : HEAD + DIGEST_BYTES] + words.tobytes())


def _number(word: int, words: np.ndarray, rng: random.Random) -> int:
    """Returns an odd number in place of this one, as the bits of an int32."""
    way = rng.randrange(4)
    if way == 0:
        return rng.choice(WHOLE)
    if way == 1:
        return int(np.float32(rng.choice(FLOATS)).view(np.int32))
    if way == 2:
        return int(rng.choice(words))
    return word ^ int(np.array(1 << rng.randrange(32)).astype(np.int32))

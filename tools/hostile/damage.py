"""Ways to damage a file: any bytes, the tree of a JSON file, the lines of a text."""

import json
import math
import random
import zlib
from collections.abc import Sequence

MEGABYTE = 2**20
DEEP = "nested 100,000 deep"  # stands in a tree for what json.dumps cannot write
ODD_VALUES = (
    None, True, -1, 0, 1, 0.5, 2**31, 2**63, 10**15, 10**400, 1e308, math.nan, math.inf,
    "", "x", "nan", "1", "a\nb", "\x1b[31mred", "[/b]", "$\\frac$", "../../up", "/etc/passwd",
    "\0", "\ud800", "long" * 50_000, DEEP,
    [], [[]], [None], ["x"] * 3, [0] * 10_000, {}, {"x": 1}, {"": {}},
)  # fmt: skip
ODD_TEXTS = (
    b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", "\u2028".encode(), b"%(x)s", b"[", b"]", b"=",
    b"[[", b"nan", b"-1", b"1e999", b"9" * 5000, b"x" * 100_000, b"\n\n", b" ", b";", b"#", b"~/x",
)  # fmt: skip


def of_bytes(rng: random.Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Damages bytes as a disk, a cable or a user does; returns a description and the bytes."""
    way = rng.choice((_cut, _flip, _flip, _noise, _blank, _insert, _drop, _repeat, _append, _other))
    return way(rng, data, others)


def _place(rng: random.Random, data: bytes) -> int:
    """Returns a random place, often near an end, where headers and directories are."""
    near = rng.randrange(min(len(data), 200))
    return rng.choice((near, len(data) - 1 - near, rng.randrange(len(data))))


def _cut(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    length = rng.choice((0, _place(rng, data)))
    return f"cut to {length} of {len(data)} bytes", data[:length]


def _flip(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    at, bit = _place(rng, data), rng.randrange(8)
    flipped = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
    return f"bit {bit} of byte {at} flipped", flipped


def _noise(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    at, length = _place(rng, data), rng.choice((1, 4, 512))
    return f"{length} random bytes at {at}", data[:at] + rng.randbytes(length) + data[at + length :]


def _blank(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    at, length = _place(rng, data), rng.choice((4, 512, 4096))
    blank = bytes(len(data[at : at + length]))
    return f"{len(blank)} zeros at {at}", data[:at] + blank + data[at + length :]


def _insert(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    at, odd = _place(rng, data), rng.choice(ODD_TEXTS)
    return f"{odd[:20]!r} put in at {at}", data[:at] + odd + data[at:]


def _drop(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    at, length = _place(rng, data), rng.choice((1, 4, 512))
    return f"{length} bytes left out at {at}", data[:at] + data[at + length :]


def _repeat(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    first, last = sorted((_place(rng, data), _place(rng, data)))
    return f"bytes {first} to {last} twice", data[:last] + data[first:]


def _append(rng: random.Random, data: bytes, _: object) -> tuple[str, bytes]:
    length = rng.choice((1, 100))
    return f"{length} random bytes after the end", data + rng.randbytes(length)


def _other(rng: random.Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    which = rng.randrange(len(others) + 1)
    if which == len(others):
        return "random bytes alone", rng.randbytes(300)
    return f"the file {which} of another kind", others[which]


def entries(tree: object, where: str = "") -> list[tuple[str, object, object]]:
    """Returns (path, list or dict, index or key) of every entry below."""
    if isinstance(tree, dict):
        pairs = list(tree.items())
    elif isinstance(tree, list):
        pairs = list(enumerate(tree))
    else:
        return []
    found = []
    for key, value in pairs:
        path = f"{where}/{key}"
        found += [(path, tree, key), *entries(value, path)]
    return found


def of_tree(rng: random.Random, tree: object) -> tuple[str, object]:
    """Changes a JSON tree to have one odd entry, or one entry too many or too few.

    Returns:
        The damage in words, and the tree.
    """
    where, parent, key = rng.choice([("", None, None), *entries(tree)])
    if parent is None or rng.random() < 0.7:
        odd = rng.choice(ODD_VALUES)
        told = f"{where or 'all of it'} = {repr(odd)[:40]}"
        if parent is None:
            return told, odd
        parent[key] = odd
        return told, tree
    if isinstance(parent, dict) and rng.random() < 0.5:
        parent[f"{key}s"] = parent.pop(key)
        return f"{where} renamed", tree
    if isinstance(parent, list) and rng.random() < 0.5:
        parent.insert(key, parent[key])
        return f"{where} twice", tree
    del parent[key]
    return f"{where} left out", tree


def to_json(tree: object) -> bytes:
    """Returns the text of a tree; `DEEP` is replaced by a nesting too deep for json.dumps."""
    deep = "[" * 100_000 + "]" * 100_000
    return json.dumps(tree).replace(json.dumps(DEEP), deep).encode()


def bomb(megabytes: int) -> bytes:
    """Returns the bytes into which zlib packs so many megabytes of zeros."""
    packer = zlib.compressobj()
    parts = [packer.compress(bytes(MEGABYTE)) for _ in range(megabytes)]
    return b"".join([*parts, packer.flush()])

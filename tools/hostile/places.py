"""Files that are none: pipes, devices, links, and files without an end, in place of a sample."""

import os
import random
from collections.abc import Callable
from pathlib import Path

from hostile import damage

SIZES = (2**33 + 1, 2**37, 2**40)  # bytes, more than any file may have
SIGNS = ("{}", "[]", "[0]", '{"":0}', '"ab"', "1.5", "null", "[[[[]]]]")
DENSE = 15 * damage.MEGABYTE  # bytes of a JSON file of tiny values


def _fifo(rng: random.Random, path: Path) -> str:
    os.mkfifo(path)
    return "a FIFO"


def _link(rng: random.Random, path: Path) -> str:
    target = rng.choice(("/dev/zero", "/dev/full", "/dev/tty", "/proc/self/mem", str(path)))
    path.symlink_to(target)
    return f"a link to {target if target != str(path) else 'itself'}"


def _folder(rng: random.Random, path: Path) -> str:
    path.mkdir()
    return "a folder"


def _sparse(rng: random.Random, path: Path) -> str:
    size = rng.choice(SIZES)
    path.touch()
    os.truncate(path, size)
    return f"{size} bytes without content"


def _tiny(rng: random.Random, path: Path) -> str:
    sign = rng.choice(SIGNS)
    text = ",".join([sign] * (DENSE // (len(sign) + 1)))
    rows = rng.random() < 0.5 and path.suffix == ".jsonl"
    path.write_text(text.replace(",", "\n") if rows else f"[{text}]")
    return f"{DENSE >> 20} MiB of {sign}"


WAYS: tuple[Callable[[random.Random, Path], str], ...] = (_fifo, _link, _folder, _sparse, _tiny)


def put(rng: random.Random, path: Path) -> str:
    """Replaces the file `path` by something else; returns it in words."""
    path.unlink()
    return rng.choice(WAYS)(rng, path)


def remove(path: Path) -> None:
    """Removes whatever `put` has made."""
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)

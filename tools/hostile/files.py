"""Damaged files: each is read as the package reads it, and refused, or as good as undamaged."""

import dataclasses
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from hostile import damage, limits, places
from hostile.formats import FORMATS
from hostile.outcome import (
    CHANGED,
    GARBLED,
    MEMORY,
    OTHER,
    REFUSED,
    SAME,
    TRACEBACK,
    UNNAMED,
    FoundError,
    Outcome,
    require,
)
from hostile.samples import quiet
from midrange_puffer.commands import cli
from midrange_puffer.errors import UserError

ENOUGH = 400 * damage.MEGABYTE  # of memory to read any of these files
LONGEST = 6000  # characters of an error; a path may have 4096
NO_MEMORY = re.compile(r"\b(MemoryError|bad_alloc|allocate)\b")
PLACED = 0.1  # the share of cases in which something else is in place of the file
FORGED = 0.5  # the share of forged files among the damaged ones, where there are any


def find(name: str, samples: Path) -> Path:
    """Returns the file of a kind that is damaged."""
    return max(samples.glob(FORMATS[name].pattern))


def damaged(name: str, samples: Path, seed: int) -> tuple[str, bytes, bool]:
    """Returns the damage of a seed in words, the damaged file, and True if it is forged."""
    rng, forge = random.Random(f"{name} {seed}"), FORMATS[name].forge
    whole = find(name, samples).read_bytes()
    if forge and rng.random() < FORGED:
        return *forge(rng, whole), True
    others = [
        find(other, samples).read_bytes()
        for other, form in FORMATS.items()
        # Of another reader: a whole replay of twos is no damage to one of ones.
        if form.read is not FORMATS[name].read and any(samples.glob(form.pattern))
    ]
    return *damage.of_bytes(rng, whole, others), False


def placed(name: str, seed: int) -> random.Random | None:
    """Returns the random numbers of a case with something else in place of the file, else None."""
    rng = random.Random(f"place {name} {seed}")
    return rng if rng.random() < PLACED else None


class Reader:
    """Reads damaged files of one kind.

    Args:
        name: one of FORMATS.
        samples: a folder as of `samples.make`; a copy of it is used.
    """

    def __init__(self, name: str, samples: Path) -> None:
        self._name, self._format = name, FORMATS[name]
        # A name that no error has for another reason.
        self._folder = Path(tempfile.mkdtemp(prefix="damaged-")) / "samples"
        shutil.copytree(samples, self._folder)
        self._path = find(name, self._folder)
        self._whole = self._path.read_bytes()
        with quiet():
            self._expected = plain(self._format.read(self._path))
        self._path.write_bytes(self._whole)

    def try_one(self, seed: int) -> Outcome:
        """Reads the damaged file of a seed."""
        if rng := placed(self._name, seed):
            told, is_forged = places.put(rng, self._path), True
        else:
            told, data, is_forged = damaged(self._name, self._folder, seed)
            self._path.write_bytes(data)
        limits.forget_peak()
        before = limits.memory()
        result, reason = self._read(is_forged)
        if (taken := limits.peak() - before) > ENOUGH:
            result, reason = MEMORY, f"{taken >> 20} MB; {reason}"
        places.remove(self._path)
        self._path.write_bytes(self._whole)
        return Outcome(f"files:{self._name}", seed, result, f"{told} -> {reason}"[:600])

    def close(self) -> None:
        """Removes the copy of the samples."""
        shutil.rmtree(self._folder.parent)

    def _read(self, is_forged: bool) -> tuple[str, str]:
        """Returns the result of reading the file as it is, and the reason."""
        try:
            with quiet() as printed:
                found = plain(self._format.read(self._path))
        except FoundError as error:
            return error.result, str(error)
        except self._format.errors as error:
            return self._judge(error)
        except MemoryError as error:
            return MEMORY, repr(error)
        except Exception as error:
            return (MEMORY if NO_MEMORY.search(repr(error)) else TRACEBACK), repr(error)
        if not _is_plain(printed.getvalue()):
            return GARBLED, printed.getvalue()
        if found == self._expected:
            return SAME, "read"
        if self._format.is_sealed and not is_forged:
            return CHANGED, "read with other content"
        return OTHER, "read with other content"

    def _judge(self, error: Exception) -> tuple[str, str]:
        """Returns the judgement of an error that users get."""
        message = _as_printed(error) if isinstance(error, UserError) else str(error)
        if NO_MEMORY.search(message):
            return MEMORY, message
        if self._path.name not in message and str(self._path.parent) not in message:
            return UNNAMED, message
        if isinstance(error, UserError) and not _is_plain(message):
            return GARBLED, message
        return REFUSED, message


def _as_printed(error: UserError) -> str:
    """Returns the text that the command line prints of an error."""
    with (
        mock.patch.object(cli, "run", side_effect=error),
        mock.patch.object(sys, "argv", ["puffer", "eval", "midrange"]),
        quiet() as printed,
    ):
        cli.main()
    return printed.getvalue()


def _is_plain(text: str) -> bool:
    """True if a text can be read on a terminal: it has only letters and ends of lines."""
    return len(text) <= LONGEST and text.replace("\n", "").isprintable()


def plain(value: object) -> object:
    """Returns a reader's result in a form in which == compares all of it, to the bit."""
    if isinstance(value, torch.Tensor):
        is_whole = value.layout == torch.strided and (
            value.numel() * value.element_size() <= value.untyped_storage().nbytes()
        )
        require(is_whole, f"a tensor of {tuple(value.shape)} has fewer numbers than that")
        flat = value.detach().reshape(-1).clone(memory_format=torch.contiguous_format)
        numbers = flat.view(torch.uint8).numpy()  # of any dtype
        return str(value.dtype), tuple(value.shape), numbers.tobytes()
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value).__name__, plain(fields)
    if isinstance(value, Mapping):
        return [(key, plain(entry)) for key, entry in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return repr(value)

"""Files that torch.save writes: whole, and read without running code of theirs."""

import io
import pickletools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import torch

from midrange_puffer.archives import read_zip, write_zip
from midrange_puffer.errors import CheckpointError
from midrange_puffer.policies.model_paths import check_is_file, expected_in_run

# What the pickle of a file may ask for: tensors, their storages, and Python's own collections.
_KINDS = ("BFloat16", "Bool", "Byte", "Double", "Float", "Half", "Int", "Long")
_ALLOWED = {
    "torch._utils._rebuild_tensor_v2",
    "collections.OrderedDict",
    "builtins.set",
    *(f"torch.{kind}Storage" for kind in _KINDS),
}


def to_bytes(entries: Mapping[str, object]) -> bytes:
    """What torch.save writes of these entries."""
    buffer = io.BytesIO()
    torch.save(entries, buffer)
    return buffer.getvalue()


def read_torch(
    path: Path, what: str, stand_ins: Mapping[str, Callable] = MappingProxyType({})
) -> object:
    """Read a file that torch.save has written, onto the CPU, without running code of it.

    Args:
        what: the name of the files in a run folder of which this should be one.
        stand_ins: what is called in the place of a name that its pickle may ask for besides.

    Raises:
        CheckpointError: It is missing or damaged, or asks for anything else.
    """
    expected = expected_in_run(what)
    check_is_file(path, expected)
    try:
        members = read_zip(path.read_bytes())
        for name, content in members.items():
            if name.endswith(".pkl"):
                _check_pickle(content, {*_ALLOWED, *stand_ins})
        calls = [(function, name) for name, function in stand_ins.items()]
        with torch.serialization.safe_globals(calls):
            # Written anew, so that torch sees what was checked.
            return torch.load(io.BytesIO(write_zip(members)), "cpu", weights_only=True)
    # torch.load raises many kinds for one cause, and advises to load such files without care.
    except Exception as error:
        reason = error if isinstance(error, (OSError, ValueError)) else type(error).__name__
        raise CheckpointError(
            f"{path}: damaged, or not a checkpoint ({reason}); {expected}"
        ) from None


def _check_pickle(content: bytes, allowed: set[str]) -> None:
    """Raise ValueError where a pickle asks for anything but what is allowed.

    torch's own list has what takes any amount of memory, such as a bytearray of so many bytes.
    """
    for code, words, _ in pickletools.genops(content):
        if code.name == "GLOBAL":
            module, _, name = words.partition(" ")
            asked = f"{module.replace('__builtin__', 'builtins')}.{name}"
            if asked not in allowed:
                raise ValueError(f"it asks for {asked}")

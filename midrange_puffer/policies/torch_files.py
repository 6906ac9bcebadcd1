"""Files of torch.save, such as model files. Reading one runs no code that it contains."""

import io
import pickletools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import torch

from midrange_puffer.archives import read_zip, write_zip
from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import open_regular
from midrange_puffer.policies.models import LARGEST_MODEL, check_is_file, expected_in_run

# Names that the pickle in a file may use: tensors, their storages, and Python's own collections.
_ALLOWED = {
    "torch._utils._rebuild_tensor_v2",
    "collections.OrderedDict",
    "builtins.set",
    *(
        f"torch.{dtype}Storage"
        for dtype in ("BFloat16", "Bool", "Byte", "Double", "Float", "Half", "Int", "Long")
    ),
}


def to_bytes(entries: Mapping[str, object]) -> bytes:
    """Returns the bytes that torch.save writes for these entries."""
    buffer = io.BytesIO()
    torch.save(entries, buffer)
    return buffer.getvalue()


def read_torch(
    path: Path, pattern: str, stand_ins: Mapping[str, Callable] = MappingProxyType({})
) -> object:
    """Reads a file of torch.save onto the CPU, without running any code that it contains.

    Args:
        path: the file.
        pattern: the name of such files in a run folder, for messages.
        stand_ins: functions to call in place of further names that its pickle may use.

    Raises:
        CheckpointError: The file is missing or damaged, or uses any other name.
    """
    expected = expected_in_run(pattern)
    check_is_file(path, expected)
    try:
        with open_regular(path, LARGEST_MODEL) as file:
            members = read_zip(file)
        for name, content in members.items():
            if name.endswith(".pkl"):
                _check_pickle(content, {*_ALLOWED, *stand_ins})
        calls: list[Callable | tuple[Callable, str]] = [
            (function, name) for name, function in stand_ins.items()
        ]
        with torch.serialization.safe_globals(calls):
            # torch reads the checked members, not the file.
            return torch.load(io.BytesIO(write_zip(members)), "cpu", weights_only=True)
    # torch.load raises many types of errors, and its messages advise to load without checks.
    except Exception as error:
        reason = error if isinstance(error, (OSError, ValueError)) else type(error).__name__
        raise CheckpointError(
            f"{path}: damaged, or not a checkpoint ({reason}); {expected}"
        ) from None


def _check_pickle(content: bytes, allowed: set[str]) -> None:
    """Raises ValueError if a pickle uses a name that is not in `allowed`.

    torch's own list is not strict enough: it allows types that can take any amount of memory, such
    as bytearray.
    """
    for code, words, _ in pickletools.genops(content):
        if code.name == "GLOBAL":
            module, _, name = str(words).partition(" ")
            full_name = f"{module.replace('__builtin__', 'builtins')}.{name}"
            if full_name not in allowed:
                raise ValueError(f"it asks for {full_name}")

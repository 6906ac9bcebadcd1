"""Zip archives that may be damaged or hostile, checked before their content is used.

An .npz file is a zip archive, and so is a file that torch.save writes. Each member has a checksum,
which torch does not check. It also declares its size, and numpy and torch allocate that much memory
before they read it.
"""

import io
import math
import struct
import tokenize
import zipfile
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

# All types of errors that zipfile raises, for any bytes.
_UNREADABLE = (zipfile.BadZipFile, EOFError, OSError, OverflowError, RuntimeError, struct.error)

_COUNT = -12  # place of the number of members, in an archive without a comment


def read_zip(file: BinaryIO) -> dict[str, bytes]:
    """Returns the members of a zip archive by name, after a check of their checksums.

    Compressed members are refused: numpy.savez and torch.save write none, and a few compressed
    bytes could expand to fill the memory.

    Raises:
        ValueError: It is no archive, is damaged or compressed, or contradicts itself.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            # zipfile reads as many members as its table is long; one wrong bit can hide members.
            size = file.seek(_COUNT, io.SEEK_END) - _COUNT
            if len(members) != (count := int.from_bytes(file.read(2), "little")):
                raise ValueError(f"it has {len(members)} members, its directory states {count}")
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ValueError("it is compressed")
            if (declared := sum(member.file_size for member in members)) > size:
                raise ValueError(f"its members declare {declared} bytes, more than its {size}")
            if len({member.filename for member in members}) < len(members):
                raise ValueError("two of its members have the same name")
            return {member.filename: archive.read(member) for member in members}
    except _UNREADABLE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def write_zip(members: Mapping[str, bytes]) -> bytes:
    """Returns a zip archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def read_arrays(file: BinaryIO) -> dict[str, np.ndarray]:
    """Returns the arrays of a file that numpy.savez wrote, by name.

    Raises:
        ValueError: As in `read_zip`; or a member is no array of numbers or text, or has another
            size than it declares.
    """
    members = read_zip(file)
    return {name.removesuffix(".npy"): _array(content) for name, content in members.items()}


def _array(content: bytes) -> np.ndarray:
    file = io.BytesIO(content)
    if (version := np.lib.format.read_magic(file)) != (1, 0):
        raise ValueError(f"an array has format {version}, expected (1, 0)")
    try:
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError) as error:
        raise ValueError("an array's header cannot be read") from error
    declared, actual = math.prod(shape) * dtype.itemsize, len(content) - file.tell()
    if declared != actual:
        raise ValueError(f"an array declares {declared} bytes and has {actual}")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)

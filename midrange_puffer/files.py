"""Files that are either complete or not there."""

import contextlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from midrange_puffer.errors import UserError


class WriteError(UserError):
    """A file or folder could not be written; what was there before is untouched."""


def make_folder(path: Path) -> None:
    """Make the new folder `path` and its parents.

    Raises:
        WriteError: It exists already or cannot be made.
    """
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise WriteError(f"cannot make the folder {path}: {error.strerror}") from error


def open_folder(path: Path) -> None:
    """Make the folder `path` and its parents, where there is none, for files to come.

    Raises:
        WriteError: It cannot be made or written to.
    """
    if not path.is_dir():
        make_folder(path)
    if not os.access(path, os.W_OK):
        raise WriteError(f"the folder {path} cannot be written to")


def new_name() -> str:
    """A name for a new folder, which no other has and which sorts by time."""
    return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)


def write_whole(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`, so that no crash leaves a part of it.

    Several processes may do so at once: the last one's stays. One that is killed leaves its
    temporary file, `path` with an ending of its own and .tmp.

    Raises:
        WriteError: The file could not be written; an older one is untouched.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise WriteError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: str | Path, content: Mapping[str, object]) -> None:
    """Write a JSON file whole.

    Raises:
        WriteError: As `write_whole`.
    """
    write_whole(Path(path), (json.dumps(content, indent=2) + "\n").encode())


def check_writable(path: str) -> None:
    """Raise ValueError where no file can come to be at `path`, before there is work to be lost."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to")
    if Path(path).is_dir():
        raise ValueError("is a folder")


def _sync_folder(path: Path) -> None:
    """Make a rename in the folder `path` last through a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""A mixture of frozen policies, of which one is drawn for each engagement: `nash:PATH`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_json
from midrange_puffer.json_files import JsonError, Within, read_json

NASH = "nash:"  # begins the name of such a mixture
FILE = "nash.json"
FORMAT = "midrange_puffer nash"
MOST = 1024  # members


@dataclass
class NashMember:
    """A frozen policy with its share."""

    path: str  # of its model file, from the folder of this one
    weight: Annotated[float, Within(1e-6, 1)]


@dataclass
class NashFile:
    """The content of the file."""

    format: Literal[FORMAT]
    members: Annotated[list[NashMember], Within(1, MOST)]


def write_nash(path: Path, members: list[NashMember]) -> None:
    """Write such a file.

    Raises:
        WriteError: The disk is full or the folder not writable.
    """
    write_json(path, asdict(NashFile(FORMAT, members)))


def members_of(name: str) -> list[tuple[Path, float]]:
    """The model files of `nash:PATH` with their shares; PATH is the file, or its folder.

    Raises:
        UsageError: There is no such file, or it is damaged.
    """
    path = Path(name.removeprefix(NASH))
    path = path / FILE if path.is_dir() else path
    try:
        members = read_json(path, NashFile).members
    except JsonError as error:
        raise UsageError(f"{name}: {error}; puffer league --nash writes such a file") from None
    return [(path.parent / member.path, member.weight) for member in members]

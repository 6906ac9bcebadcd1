"""The pool's files on their way to collectors, which may not see the run folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from midrange_puffer.files import write_whole
from midrange_puffer.names import inside
from midrange_puffer.policies.pool_file import PoolError, read_members
from midrange_puffer.train.own_folder import OwnFolder
from midrange_puffer.train.pool import Pool


@dataclass(frozen=True)
class PoolFiles:
    """A pool as it stands: its file, and where the models of its members are to be had.

    Attributes:
        listing: the content of the pool's file.
        models: path of each model's file, relative to the pool's folder -> a reference to its
            content.
    """

    listing: bytes
    models: dict[str, object]


class PoolSender:
    """Hands out the pool in the run folder, with the content of each model put there once.

    Args:
        path: the pool's file.
        put: keeps bytes where others can get them; returns a reference.
    """

    def __init__(self, path: Path, put: Callable[[bytes], object]) -> None:
        self._path, self._put = path, put
        self._models: dict[str, object] = {}

    def files(self) -> PoolFiles:
        """The pool as it is now, without models whose files have vanished."""
        kept, self._models = self._models, {}
        for name in (member.path for member in read_members(self._path)):
            file = self._path.parent / name
            if name in kept:
                self._models[name] = kept[name]
            elif file.is_file():
                self._models[name] = self._put(file.read_bytes())
        return PoolFiles(self._path.read_bytes(), dict(self._models))


class PoolMirror:
    """A folder of a collector's own that looks like the run's, as far as the pool goes.

    Args:
        get: returns the content that a reference stands for.
        parent: the folder that it is in.

    Attributes:
        path: the pool's file.
    """

    def __init__(self, get: Callable[[object], bytes], parent: str | Path) -> None:
        self._get = get
        self._folder = OwnFolder("midrange-pool-", parent)
        self.path = self._folder.path / Pool.FILE
        self._listing = b""
        self._models: set[str] = set()

    def update(self, files: PoolFiles) -> None:
        """Make it as `files` are, so that models in the pool's file are always there.

        Those that have left can go: who still flies an engagement is in the memory of `PoolCrew`.

        Raises:
            PoolError: A model's path leads out of the folder; nothing was written.
        """
        try:
            places = {name: inside(self.path.parent, name) for name in files.models}
        except ValueError as error:
            raise PoolError(f"the pool's model {error}") from None
        for name in files.models.keys() - self._models:
            file = places[name]
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, self._get(files.models[name]))
        if files.listing != self._listing:
            write_whole(self.path, files.listing)
            self._listing = files.listing
        for name in self._models - files.models.keys():
            (self.path.parent / name).unlink()
        self._models = set(files.models)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

"""The files of a run folder that training writes and others read.

`model_XXXXXX.pt` is a model file (policies/model_file.py). `trainer_state.pt` holds what else is
needed to go on training, and the name of the model that it belongs to. The model is written first,
each file whole, so that at any moment the state on disk has its model beside it.

The command line looks here for runs before torch is there: only what reads and writes imports it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from midrange_puffer.config.configuration import Config
from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import MODEL_SUFFIXES
from midrange_puffer.policies.model_paths import MODELS

if TYPE_CHECKING:
    import torch

CONFIG = "config.ini"
METRICS = "metrics.jsonl"
STATE = "trainer_state.pt"


@dataclass
class Run:
    """A run folder, its configuration without any "auto", and its state where it is resumed."""

    folder: Path
    config: Config
    state: dict[str, object] | None = None


def model_name(epoch: int) -> str:
    """The file name of the model after so many updates."""
    return f"model_{epoch:06d}.pt"


def save(run: Run, weights: dict[str, "torch.Tensor"], state: dict[str, object]) -> Path:
    """Write the model and trainer state of update state["epoch"]; return the model's path.

    Raises:
        WriteError: The disk is full or the folder not writable; the last checkpoint still stands.
    """
    from midrange_puffer.policies.model_file import save_model
    from midrange_puffer.policies.torch_file import to_bytes

    path = run.folder / model_name(state["epoch"])
    save_model(path, run.config, weights, state["global_step"])
    write_whole(run.folder / STATE, to_bytes({**state, "model": path.name}))
    return path


def load_state(run: Path) -> dict[str, object]:
    """Load the trainer state of the run folder `run`, as of `trainer_state.load`.

    Raises:
        CheckpointError: There is none, it is damaged, or its model is missing.
    """
    from midrange_puffer.train import trainer_state

    path = run / STATE
    state = trainer_state.load(path)
    if not (run / state["model"]).is_file():
        raise CheckpointError(f"{path}: not a trainer state with its model beside it")
    return state


def latest(data_dir: str | Path) -> Path:
    """Return the newest model file of all run folders in `data_dir`.

    Raises:
        CheckpointError: There is none.
    """
    return _newest(Path(data_dir), f"*/{MODELS}")


def find_model(name: str, data_dir: str | Path) -> Path:
    """Return the model file called `name`: a path, "latest", or a run, whose newest model it is.

    Raises:
        CheckpointError: There is none, and none can be meant.
    """
    if name == "latest":
        return latest(data_dir)
    if name.endswith(MODEL_SUFFIXES) or Path(name).is_file():
        return Path(name)
    return _newest(find_run(name, data_dir), MODELS)


def find_run(name: str, data_dir: str | Path) -> Path:
    """Return the run folder called `name`: a path, a run in `data_dir`, or "latest".

    Raises:
        CheckpointError: There is none, or it holds no checkpoint.
    """
    data_dir = Path(data_dir)
    if name == "latest":
        return _newest(data_dir, f"*/{STATE}").parent
    for run in (Path(name), data_dir / name):
        if (run / STATE).is_file():
            return run
    if Path(name).is_dir() or (data_dir / name).is_dir():
        raise CheckpointError(f"{name}: the run has no {STATE}: it ended before it began")
    runs = sorted((path.parent.name for path in data_dir.glob(f"*/{STATE}")), reverse=True)
    found = f"the newest runs are {', '.join(runs[:3])}" if runs else "there are no runs"
    raise CheckpointError(f"{name}: no such run folder, nor one in {data_dir}, where {found}")


def _newest(folder: Path, pattern: str) -> Path:
    paths = list(folder.glob(pattern))
    if not paths:
        raise CheckpointError(f"{folder}: no {pattern} in it; train first")
    return max(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))

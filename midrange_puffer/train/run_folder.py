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
from midrange_puffer.json_files import JsonError
from midrange_puffer.policies.mix import BEST, LATEST, is_word
from midrange_puffer.policies.models import MODELS, PanelScore
from midrange_puffer.train.league_file import FILE, panel_scores, read_league

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
    from midrange_puffer.policies.model_file import save_model, to_bytes

    path, steps = run.folder / model_name(state["epoch"]), state["global_step"]
    save_model(path, run.config, weights, steps, _panel_of(path, steps), state["metadata"])
    write_whole(run.folder / STATE, to_bytes({**state, "model": path.name}))
    return path


def _panel_of(path: Path, agent_steps: int) -> PanelScore | None:
    """How the league of a run rated the policy that is saved as `path` after so many steps."""
    try:
        league = read_league(path.with_name(FILE))
    except JsonError:  # there is none, or it is damaged, which whoever rates says
        return None
    steps = {rating.name: rating.agent_steps for rating in league.ratings}
    return panel_scores(league).get(path.stem) if steps.get(path.stem) == agent_steps else None


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


def best(run: str | Path) -> Path:
    """Return the best-rated model file of a run folder: that of the highest panel score.

    Raises:
        CheckpointError: None is rated, or `league.json` is damaged.
    """
    run = Path(run)
    try:
        rated = _best_rated(run)
    except JsonError as error:
        raise CheckpointError(str(error)) from None
    if rated is None:
        raise CheckpointError(
            f"{run}: has no checkpoint with a panel score, of which one would be the best; "
            f"--league.interval N rates the policy in training. {run} alone is its newest model"
        )
    return rated[0]


def best_rated(run: Path) -> tuple[Path, PanelScore] | None:
    """The best-rated model file of a run and its panel score, for showing.

    Returns:
        None: none is rated, or `league.json` is damaged.
    """
    try:
        return _best_rated(run)
    except JsonError:
        return None


def _best_rated(run: Path) -> tuple[Path, PanelScore] | None:
    """The same; of equal ones it is the newest, and files that are gone do not count.

    Raises:
        JsonError: `league.json` is damaged.
    """
    if not (run / FILE).exists():
        return None
    scores = panel_scores(read_league(run / FILE))
    rated = [(path, scores[path.stem]) for path in run.glob(MODELS) if path.stem in scores]
    return max(rated, key=lambda one: (one[1].score, one[0].name), default=None)


def find_model(name: str, data_dir: str | Path) -> Path:
    """Return the model file called `name`.

    Args:
        name: a path; a run, whose newest model it is; "latest", the newest of all runs; "RUN/best",
            the best-rated model of a run; or "best", that of the newest run.
        data_dir: folder of the runs.

    Raises:
        CheckpointError: There is none, and none can be meant.
    """
    if name == LATEST:
        return latest(data_dir)
    if is_word(name):
        return best(find_run(name.removesuffix(BEST).rstrip("/") or LATEST, data_dir))
    if name.endswith(MODEL_SUFFIXES) or Path(name).is_file():
        return Path(name)
    return _newest(find_run(name, data_dir), MODELS)


def find_run(name: str, data_dir: str | Path) -> Path:
    """Return the run folder called `name`: a path, a run in `data_dir`, or "latest".

    Raises:
        CheckpointError: There is none, or it holds no checkpoint.
    """
    data_dir = Path(data_dir)
    if name == LATEST:
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

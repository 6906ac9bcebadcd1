"""Run folders: their files, the models and runs that names stand for, and a list of all runs.

`model_XXXXXX.pt` is a model file (policies/model_file.py). `trainer_state.pt` holds what else a
resumed run needs, and the name of its model. The model is written first, each file whole, so that
the state on disk always has its model beside it.

The command line reads run folders before torch is imported. So only the functions that read or
write tensors import it.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.config.configuration import Config, ConfigError, stage_names
from midrange_puffer.config.ini_files import LARGEST_INI, file_asked_for
from midrange_puffer.config.reading import COMMAND_LINE, load_config
from midrange_puffer.config.schema import STAGE
from midrange_puffer.errors import CheckpointError
from midrange_puffer.files import LOCK, open_regular, read_whole, write_whole
from midrange_puffer.game.parameters import MODEL_SUFFIXES
from midrange_puffer.json_files import JsonError
from midrange_puffer.policies.champions import chosen_in_game
from midrange_puffer.policies.mix import (
    BEST,
    LATEST,
    RUN,
    is_there,
    is_word,
    kind_of,
    parse_mix,
    settled,
)
from midrange_puffer.policies.models import MODELS, PanelScore
from midrange_puffer.system import lock_file
from midrange_puffer.train.run_files import LEAGUE, last_row, panel_scores, read_league

if TYPE_CHECKING:
    import torch

CONFIG = "config.ini"
METRICS = "metrics.jsonl"
STATE = "trainer_state.pt"
OPPONENT = "env.opponent"
MEANT = "the model that is meant now"  # the origin of a settled value, for messages
TRAINS, DONE, STOPPED = "in training", "done", "stopped"  # states of a run
# Keys of the folder's own place, which a list of runs leaves out.
PLACE = ("train.data_dir", "train.run_name")


@dataclass
class Run:
    """A run folder, its configuration without any "auto", and its state if it is resumed."""

    folder: Path
    config: Config
    state: dict[str, Any] | None = None


def model_name(epoch: int) -> str:
    """Returns the file name of the model after `epoch` updates."""
    return f"model_{epoch:06d}.pt"


def save(run: Run, weights: dict[str, "torch.Tensor"], state: dict[str, Any]) -> Path:
    """Writes the model and trainer state of update state["epoch"]; returns the model's path.

    Raises:
        WriteError: The disk is full or the folder not writable; the last checkpoint still stands.
    """
    from midrange_puffer.policies.model_file import save_model
    from midrange_puffer.policies.torch_files import to_bytes

    path, steps = run.folder / model_name(state["epoch"]), state["global_step"]
    save_model(path, run.config, weights, steps, _panel_of(path, steps), state["metadata"])
    write_whole(run.folder / STATE, to_bytes({**state, "model": path.name}))
    return path


def _panel_of(path: Path, agent_steps: int) -> PanelScore | None:
    """Returns the panel score of the policy saved as `path`; None if the league did not rate it."""
    try:
        league = read_league(path.with_name(LEAGUE))
    except JsonError:  # missing, or damaged, which the league itself reports
        return None
    steps = {rating.name: rating.agent_steps for rating in league.ratings}
    return panel_scores(league).get(path.stem) if steps.get(path.stem) == agent_steps else None


def load_state(run: Path) -> dict[str, Any]:
    """Loads the trainer state of the run folder `run`, as `trainer_state.load` does.

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
    """Returns the newest model file of all run folders in `data_dir`.

    Raises:
        CheckpointError: There is none.
    """
    return _newest(Path(data_dir), f"*/{MODELS}")


def best(run: str | Path) -> Path:
    """Returns the best-rated model file of a run folder, by panel score.

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
    """Returns the best-rated model file of a run and its panel score, for display.

    Returns:
        None: none is rated, or `league.json` is damaged.
    """
    try:
        return _best_rated(run)
    except JsonError:
        return None


def _best_rated(run: Path) -> tuple[Path, PanelScore] | None:
    """Returns the same; of equal scores the newest, and only files that exist.

    Raises:
        JsonError: `league.json` is damaged.
    """
    if not (run / LEAGUE).exists():
        return None
    scores = panel_scores(read_league(run / LEAGUE))
    rated = [(path, scores[path.stem]) for path in run.glob(MODELS) if path.stem in scores]
    return max(rated, key=lambda pair: (pair[1].score, pair[0].name), default=None)


def find_model(name: str, data_dir: str | Path) -> Path:
    """Returns the model file called `name`.

    Args:
        name: a path; a run, for its newest model; "latest", for the newest model of all runs;
            "RUN/best", for the best-rated model of a run; or "best", for that of the newest run.
        data_dir: folder of the runs.

    Raises:
        CheckpointError: There is no such model.
    """
    if name == LATEST:
        return latest(data_dir)
    if is_word(name):
        return best(find_run(name.removesuffix(BEST).rstrip("/") or LATEST, data_dir))
    if name.endswith(MODEL_SUFFIXES) or Path(name).is_file():
        return Path(name)
    return _newest(find_run(name, data_dir), MODELS)


def find_run(name: str, data_dir: str | Path) -> Path:
    """Returns the run folder called `name`: a path, a run in `data_dir`, or "latest".

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
    newest = f"the newest runs are {', '.join(runs[:3])}" if runs else "there are no runs"
    raise CheckpointError(f"{name}: no such run folder, nor one in {data_dir}, where {newest}")


def _newest(folder: Path, pattern: str) -> Path:
    paths = list(folder.glob(pattern))
    if not paths:
        raise CheckpointError(f"{folder}: no {pattern} in it; train first")
    return max(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))


def settled_mix(text: str, data_dir: str | Path) -> str:
    """Returns a mix of opponents with absolute paths, and model files in place of runs.

    Args:
        text: the mix, as of env.opponent.
        data_dir: folder of the runs.

    Raises:
        CheckpointError: A run has no model, or there is no run for "latest".
    """
    return settled(text, lambda name: _model_of_run(name, data_dir))


def settled_models(config: Config) -> Config:
    """Returns a configuration with files in place of runs, and champions of its game.

    It settles base.load_model_path, and `champion` in pool.include.

    Raises:
        CheckpointError: As `settled_mix`.
        UsageError: The package has no champion of this game.
    """
    name, include = config.base.load_model_path, config.pool.include
    if name:
        model = _model_of_run(name, config.train.data_dir)
        name = str(model.absolute()) if model else chosen_in_game(name, config.env)
    words = [word.strip() for word in include.split(",")] if include else []
    chosen = [chosen_in_game(word, config.env) for word in words]
    if chosen != words:
        include = ",".join(chosen)
    for section, key, value in (
        ("base", "load_model_path", name),
        ("pool", "include", include),
    ):
        if value != config[section][key]:
            config = config.replaced(section, MEANT, **{key: value})
    return config


def settled_opponents(config: Config) -> Config:
    """Returns a configuration with `settled_mix` of env.opponent, in all stages.

    Raises:
        CheckpointError: As `settled_mix`.
        ConfigError: A model stands twice in a mix.
    """
    places = [("env", "opponent"), *((STAGE + stage, OPPONENT) for stage in stage_names(config))]
    for section, name in places:
        if name in config[section]:
            text = settled_mix(str(config[section][name]), config.train.data_dir)
            try:
                parse_mix(text)
            except ValueError as error:
                raise ConfigError(f"[{section}] {error}") from None
            config = config.replaced(section, MEANT, **{name: text})
    return config


def _model_of_run(name: str, data_dir: str | Path) -> Path | None:
    """Returns the model file that a run's name stands for; None if `name` is not a run."""
    is_run = kind_of(name) == RUN or is_there(Path.is_dir, data_dir, name)
    return find_model(name, data_dir) if is_run else None


@dataclass(frozen=True)
class RunInfo:
    """The facts about a run that can be read without loading its models.

    Attributes:
        folder: of the run.
        config: its configuration.
        began: when its configuration was written [s since 1970].
        state: TRAINS, DONE or STOPPED.
        metrics: the last row of its metrics, empty before the first.
        made_from: name of the configuration's file; empty if there was none.
        given: values from the command line, by "section.key", and of [base] by "key".
        best: the best-rated model and its panel score; None if none is rated.
    """

    folder: Path
    config: Config
    began: float
    state: str
    metrics: Mapping[str, float | None]
    made_from: str
    given: Mapping[str, str]
    best: tuple[Path, PanelScore] | None


def find_runs(data_dir: str | Path) -> list[RunInfo]:
    """Returns all runs in a folder, the earliest first; folders without a run are left out."""
    configs = Path(data_dir).glob(f"*/{CONFIG}")
    infos = [read_run(path.parent) for path in configs]
    return sorted(filter(None, infos), key=lambda info: (info.began, info.folder.name))


def read_run(folder: Path) -> RunInfo | None:
    """Returns the run in a folder; None if its configuration cannot be read."""
    path = folder / CONFIG
    try:
        config = load_config(path, complete=True, runs_code=False)
        began, origin = path.stat().st_mtime, _origin(path)
    except (ConfigError, OSError):
        return None
    metrics = last_row(folder / METRICS)
    if _is_locked(folder):
        state = TRAINS
    else:
        steps = metrics.get("agent_steps") or 0
        state = DONE if steps >= config.train.total_timesteps else STOPPED
    return RunInfo(folder, config, began, state, metrics, *origin, best_rated(folder))


def _origin(path: Path) -> tuple[str, dict[str, str]]:
    """Returns the file that a run's config.ini was made from, and the command line's values.

    Both are in the comments above the values that are not the default.
    """
    files, given, section, source = [], {}, "", ""
    for line in read_whole(path, LARGEST_INI).decode().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("# "):
            source = line[2:].rstrip(":")
        else:
            name, _, value = (part.strip() for part in line.partition("="))
            if source == COMMAND_LINE and f"{section}.{name}" not in PLACE:
                given[f"{section}.{name}".removeprefix("base.")] = value
            elif source.endswith(".ini"):
                files.append(Path(file_asked_for(source)).name)
            source = ""
    return max(set(files), key=files.count, default=""), given


def _is_locked(folder: Path) -> bool:
    """True if a process holds the run's lock. The check holds the lock for some microseconds."""
    try:
        with open_regular(folder / LOCK, sys.maxsize) as file:
            lock_file(file.fileno(), is_shared=True)
    except BlockingIOError:
        return True
    except OSError:  # no lock file, or a file system without locks
        return False
    return False


def format_began(info: RunInfo) -> str:
    """Formats the time when a run began, month to minute, in local time."""
    return time.strftime("%m-%d %H:%M", time.localtime(info.began))

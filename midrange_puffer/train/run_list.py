"""The runs of a folder at a glance: when each began, how far it is and what it was made from."""

import fcntl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.reading import COMMAND_LINE, load_config
from midrange_puffer.files import LOCK
from midrange_puffer.policies.models import PanelScore
from midrange_puffer.train import run_folder
from midrange_puffer.train.metrics_file import last_row

TRAINS, DONE, STOPPED = "in training", "done", "stopped"
# Keys that say where a run is kept, which its folder says.
ASIDE = ("train.data_dir", "train.run_name")


@dataclass(frozen=True)
class RunInfo:
    """What is known of a run without loading its models.

    Attributes:
        folder: of the run.
        config: its configuration.
        began: when its configuration was written [s since 1970].
        state: TRAINS, DONE or STOPPED.
        metrics: the last row of its metrics, empty before the first.
        made_from: name of the configuration's file; empty where there was none.
        given: what the command line said besides, by "section.key", and of [base] by "key".
        best: the best-rated model and its panel score; None where none was rated.
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
    """All runs of a folder, the earliest first. Folders that hold no run are left out."""
    configs = Path(data_dir).glob(f"*/{run_folder.CONFIG}")
    infos = [read_run(path.parent) for path in configs]
    return sorted(filter(None, infos), key=lambda info: (info.began, info.folder.name))


def read_run(folder: Path) -> RunInfo | None:
    """A run of this folder; None where its configuration cannot be read."""
    path = folder / run_folder.CONFIG
    try:
        config = load_config(path, complete=True, runs_code=False)
        began, origin = path.stat().st_mtime, _origin(path)
    except (ConfigError, OSError):
        return None
    metrics = last_row(folder / run_folder.METRICS)
    if _is_locked(folder):
        state = TRAINS
    else:
        steps = metrics.get("agent_steps") or 0
        state = DONE if steps >= config["train"]["total_timesteps"] else STOPPED
    best = run_folder.best_rated(folder)
    return RunInfo(folder, config, began, state, metrics, *origin, best)


def _origin(path: Path) -> tuple[str, dict[str, str]]:
    """Of a run's config.ini: the file it was made from, and what the command line said besides.

    Both stand in the comments above the values that are not the default.
    """
    files, given, section, source = [], {}, "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("# "):
            source = line[2:].rstrip(":")
        else:
            name, _, value = (part.strip() for part in line.partition("="))
            if source == COMMAND_LINE and f"{section}.{name}" not in ASIDE:
                given[f"{section}.{name}".removeprefix("base.")] = value
            elif source.endswith(".ini"):
                files.append(Path(source).name)
            source = ""
    return max(set(files), key=files.count, default=""), given


def _is_locked(folder: Path) -> bool:
    """Whether a process holds the run's lock. Looking takes it for some microseconds."""
    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none, or this file system has no locks
        return False
    return False


def format_began(info: RunInfo) -> str:
    """When a run began, month to minute, in local time."""
    return time.strftime("%m-%d %H:%M", time.localtime(info.began))

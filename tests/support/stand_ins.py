"""Stand-ins for champions: policies with random weights, in a copy of the package's models."""

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from midrange_puffer.config.reading import load_config
from midrange_puffer.game.games import GAMES
from midrange_puffer.policies import model_file, models

COPY = ("champion.pt", "default", "selfplay")  # what the tests need of the package's models


@contextlib.contextmanager
def champions(folder: Path, games: Iterable[str]) -> Iterator[None]:
    """Lets the package have champions of these games, and of the default game, and no others."""
    for name in COPY:
        source = models.FOLDER / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        for game in games:
            path = models.champion_file(game)
            path.parent.mkdir()
            save(path, game)
        yield


def save(path: Path, game: str) -> Path:
    """Writes a policy with random weights of a game, as a run of it does."""
    torch.manual_seed(3)
    words = ["--policy.hidden-size=16"]
    words += [f"--env.{name}={value}" for name, value in GAMES[game].settings.items()]
    if game == "radar":
        words.append("--env.observation=radar")
    config = load_config(None, words)
    model_file.save_policy(path, config, model_file.new_policy(config))
    return path

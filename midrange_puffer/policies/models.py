"""Models before they are loaded: names, files, metadata and ratings.

These models come with the package. models/<configuration>/ has the model and the configuration,
config.ini, that made it.

* `champion`, the strongest: configs/champion.ini; models/champion.onnx is its export;
* `champion:GAME`, such as `champion:radar`: the strongest in another game (game/games.py), of
  configs/champion_GAME.ini, in models/champion_GAME/. champions.py chooses among the champions;
* `trained`: configs/default.ini;
* `trained:selfplay`: configs/selfplay.ini;
* `trained:former`: an earlier champion, made by no single command (docs/champion-steps.md).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from midrange_puffer.errors import CheckpointError, UsageError, require
from midrange_puffer.game.games import DEFAULT_GAME, GAMES
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.json_files import Count, Share
from midrange_puffer.names import suggest

CHAMPION = "champion"
TRAINED = "trained"
FOLDER = Path(__file__).parents[1] / "models"
EXAMPLE = FOLDER / "fight.replay"
MODELS = "model_*.pt"  # model files of a run folder
EXPECTED = "expected an exported policy"
# Most bytes of a model file or trainer state, and of an exported policy. The state of the largest
# policy that the configuration allows has 6 GiB; protobuf allows 2 GiB.
LARGEST_MODEL, LARGEST_GRAPH = 8 << 30, 1 << 30
METADATA = "a dict of JSON values by name: text, numbers, True, False, None, lists and dicts"


def shipped_models() -> dict[str, Path]:
    """Returns the file of each model that comes with the package, by name, strongest first."""
    paths = sorted(FOLDER.glob(f"*/{TRAINED}_*.pt"))
    names = {f"{TRAINED}:{path.parent.name}": path for path in paths}
    files = {champion_name(game): champion_file(game) for game in GAMES}
    champions = {name: path for name, path in files.items() if path.is_file()}
    return {**champions, TRAINED: FOLDER / "default" / f"{TRAINED}_default.pt", **names}


def champion_name(game: str) -> str:
    """Returns the name of the champion of one of `GAMES`, which may be missing."""
    return CHAMPION if game == DEFAULT_GAME else f"{CHAMPION}:{game}"


def champion_file(game: str) -> Path:
    """Returns the file of the champion of one of `GAMES`, which may be missing."""
    if game == DEFAULT_GAME:
        return FOLDER / f"{CHAMPION}.pt"
    name = f"{CHAMPION}_{game}"
    return FOLDER / name / f"{name}.pt"


def path_of(text: str | Path) -> Path:
    """Returns the file of a model in the package if `text` is its name, otherwise `text` as a path.

    Raises:
        UsageError: `text` has the form of such a name, but there is no model of this name.
    """
    if not is_shipped(text):
        return Path(text)
    models = shipped_models()
    name = str(text)
    if name not in models:
        raise UsageError(
            f"{name}: no such model comes with this package; there are {', '.join(models)}"
            f"{suggest(name, models)}"
        )
    return models[name]


def is_shipped(text: str | Path) -> bool:
    """True if a text has the form of a shipped model's name, existing or not."""
    return isinstance(text, str) and text.partition(":")[0] in (CHAMPION, TRAINED)


def check_is_file(path: Path, expected: str) -> None:
    """Raises CheckpointError if there is no file at `path`; the message ends with `expected`."""
    if not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise CheckpointError(f"{path}: {what}; {expected}")


def check_is_model(path: Path) -> None:
    """Checks that a model may be loaded from `path`, without loading it.

    Raises:
        CheckpointError: There is no file.
        UsageError: A package that an exported policy needs is not installed.
    """
    if path.suffix == EXPORTED:
        check_is_file(path, EXPECTED)
        require("exported policies need", "onnx", "onnxruntime")
    else:
        check_is_file(path, expected_in_run(MODELS))


def expected_in_run(pattern: str) -> str:
    """Returns the end of an error message that names the expected file of a run folder."""
    return f"expected a run folder's {pattern}"


def spread(paths: Sequence[Path], count: int) -> list[Path]:
    """Returns at most `count` paths at even distances, including the first and the last."""
    places = np.linspace(0, len(paths) - 1, min(count, len(paths))).round().astype(int)
    return [paths[place] for place in places]


@dataclass(frozen=True)
class PanelScore:
    """A checkpoint's rating in training: its scores against every scripted pilot.

    Attributes:
        score: mean of the scores against the pilots (win 1, draw 0.5).
        worst_score: lowest of these scores.
        worst_pilot: pilot with the lowest score.
        games: engagements with each pilot.
    """

    score: Share
    worst_score: Share
    worst_pilot: str
    games: Count


def parse_metadata(text: str | None) -> dict[str, str]:
    """Reads metadata from the command line, such as `author=me,idea=stay far`.

    Raises:
        ValueError: The text has another form; the message names the wrong part.
    """
    pairs: dict[str, str] = {}
    for part in text.split(",") if text else ():
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (equals and re.fullmatch(r"\w[\w.-]*", name)):
            raise ValueError(
                f"{part.strip()!r}: must be name=text, separated by commas; a name is of letters, "
                "digits, '.', '_' and '-'"
            )
        if name in pairs:
            raise ValueError(f"{name!r} is given twice")
        pairs[name] = value
    return pairs


def checked_metadata(value: object) -> dict[str, object]:
    """Returns a copy of metadata as JSON stores it, with lists for tuples.

    Raises:
        ValueError: JSON cannot store it.
    """
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata: {error}: must be {METADATA}") from None
    if not (isinstance(value, dict) and isinstance(copy, dict)) or copy.keys() != value.keys():
        raise ValueError(f"metadata = {value!r:.100}: must be {METADATA}")
    return copy

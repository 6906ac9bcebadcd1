"""Policies by name: model files, and the models that come with the package.

`champion` is the model of configs/champion.ini, the strongest; models/champion.onnx is the same
exported. `trained` is the model of configs/default.ini, `trained:selfplay` that of
configs/selfplay.ini. The folder models/<configuration>/ has each of these, and as config.ini the
configuration that made it.
"""

from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import suggest

CHAMPION = "champion"
TRAINED = "trained"
FOLDER = Path(__file__).parents[1] / "models"
EXAMPLE = FOLDER / "fight.replay"


def shipped_models() -> dict[str, Path]:
    """The file of each model that comes with the package, by its name, the strongest first."""
    paths = sorted(FOLDER.glob(f"*/{TRAINED}_*.pt"))
    names = {f"{TRAINED}:{path.parent.name}": path for path in paths}
    plain = {CHAMPION: FOLDER / f"{CHAMPION}.pt"}
    return {**plain, TRAINED: FOLDER / "default" / f"{TRAINED}_default.pt", **names}


def path_of(text: str | Path) -> Path:
    """The file of a model that comes with the package, or else the file of this path.

    Raises:
        UsageError: `text` begins as the name of such a model, and none comes with the package.
    """
    if not is_shipped(text):
        return Path(text)
    models = shipped_models()
    if text not in models:
        raise UsageError(
            f"{text}: no such model comes with this package; there are {', '.join(models)}"
            f"{suggest(text, models)}"
        )
    return models[text]


def is_shipped(text: str | Path) -> bool:
    """Whether a text names, rightly or wrongly, a model that comes with the package."""
    return isinstance(text, str) and text.partition(":")[0] in (CHAMPION, TRAINED)

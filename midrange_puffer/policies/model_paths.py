"""Files of models before they are read: what they are called, and whether they can be read."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.game.parameters import EXPORTED

MODELS = "model_*.pt"  # of a run folder
EXPECTED = "expected an exported policy"


def check_is_file(path: Path, expected: str) -> None:
    """Raise CheckpointError, with what was `expected`, where there is no file at `path`."""
    if not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise CheckpointError(f"{path}: {what}; {expected}")


def check_is_model(path: Path) -> None:
    """Look whether a model may be loaded from `path`, without loading it.

    Raises:
        CheckpointError: There is no file.
        UsageError: What an exported policy needs is not installed.
    """
    if path.suffix == EXPORTED:
        check_is_file(path, EXPECTED)
        require_onnx("onnx", "onnxruntime")
    else:
        check_is_file(path, expected_in_run(MODELS))


def expected_in_run(what: str) -> str:
    """The end of an error message: which of a run folder's files should have been there."""
    return f"expected a run folder's {what}"


def spread(paths: Sequence[Path], count: int) -> list[Path]:
    """At most `count` of the paths, at even distances, the first and the last among them."""
    places = np.linspace(0, len(paths) - 1, min(count, len(paths))).round().astype(int)
    return [paths[place] for place in places]


def require_onnx(*packages: str) -> None:
    """Raise UsageError where a package of the extra `onnx` is not installed."""
    for name in packages:
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"exported policies need {name}: pip install 'midrange_puffer[onnx]'")

"""What `puffer average midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import MODEL_FILES, Parser
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.policies.models import MODELS, check_is_model, path_of
from midrange_puffer.train import run_folder

MODEL = ".pt"  # the suffix of a model file


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer average midrange`.

    Returns:
        The options, with the paths of the `models`.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    if "out" not in options:
        raise UsageError(f"command line: --out is missing: the file to write, *{MODEL}")
    paths = [path_of(file) for file in options.files]
    if options.run:
        folder = run_folder.find_run(options.run, options.data_dir)
        paths += sorted(folder.glob(MODELS))[-options.last :]
    if len(paths) < 2:
        raise UsageError("an average needs two models: a run, or their files")
    for path in paths:
        check_is_model(path)
        if path.suffix == EXPORTED:
            raise UsageError(f"{path}: is exported: its weights are in the model it was made from")
    options.models = paths
    return options


def _check_out(path: str) -> None:
    if Path(path).suffix != MODEL:
        raise ValueError(f"must end in {MODEL}")
    check_writable(path)


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "average",
        "Make one policy of several checkpoints of a run: the mean of their weights. It plays as "
        "well as they do, and is harder to exploit than any of them.",
    )
    parser.add_files("files", f"models: {MODEL_FILES}")
    parser.add_key(Key("run", str, "a run: its folder, its name or latest", None))
    parser.add_key(
        Key("last", int, "how many of the run's checkpoints, the last ones", 20, 2, 10_000)
    )
    parser.add_key(
        Key("out", str, f"the file to write, *{MODEL}", argparse.SUPPRESS, check=_check_out)
    )
    parser.add_data_dir()
    parser.add_policy_names()
    return parser

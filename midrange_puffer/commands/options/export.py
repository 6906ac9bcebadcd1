"""What `puffer export midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import Parser, model_path
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.policies.models import MODELS, require_onnx

# How far onnxruntime may be from torch: of 1 + an output's largest |value| seen. Not of each value,
# for one near 0 is the sum of terms that are as large as the largest, each rounded to float32.
TOLERANCE = 1e-5


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer export midrange`.

    Returns:
        The options, with the `model`'s path.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    if "onnx" not in options:
        raise UsageError(f"command line: --onnx is missing: the file to write, *{EXPORTED}")
    require_onnx("onnx", "onnxruntime", "onnxscript")
    options.model = model_path(options)
    if options.model.suffix == EXPORTED:
        raise UsageError(f"{options.model}: is exported already; expected a run folder's {MODELS}")
    return options


def _check_out(path: str) -> None:
    if Path(path).suffix != EXPORTED:
        raise ValueError(f"must end in {EXPORTED}")
    check_writable(path)


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "export",
        "Write a policy as an ONNX file. The file is written only if onnxruntime computes from it "
        "what torch computes, in fights against the pilots, to "
        f"{TOLERANCE:g} of 1 + an output's largest |value|. The file takes the place of a {MODELS} "
        "in every command but training. Any program with an ONNX runtime can fly it: its metadata "
        "say what it sees and does.",
    )
    parser.add_model(MODELS)
    meaning = f"the file to write, *{EXPORTED}"
    parser.add_key(Key("onnx", str, meaning, argparse.SUPPRESS, check=_check_out))
    return parser

"""`puffer average midrange`: one policy of several checkpoints."""

import argparse
from pathlib import Path

from midrange_puffer.commands.models import load_models
from midrange_puffer.names import shown
from midrange_puffer.policies.loading import average
from midrange_puffer.policies.model_file import write_model


def main(options: argparse.Namespace) -> int:
    """Write the average, with what `options.average` has read; return the exit status."""
    paths, out = options.models, Path(options.out)
    models, _ = load_models(paths, options, teams=True)
    write_model(out, *average(paths, models))
    print(
        f"{shown(out)}: the average of {len(paths)} models, from {shown(paths[0])} to "
        f"{shown(paths[-1])}"
    )
    return 0

"""What `puffer envelope midrange` takes."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.key import Key
from midrange_puffer.config.schema import schema
from midrange_puffer.files import open_folder
from midrange_puffer.game.envelope import LEAST_STEP, RELEVANT
from midrange_puffer.game.parameters import PARAMETERS, resolve
from midrange_puffer.show.figures import require_matplotlib

TABLE, ASPECT, OFF_BORESIGHT = "envelope.npz", "aspect.png", "off_boresight.png"


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer envelope midrange`.

    Returns:
        The options, with a value for all `parameters`.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    require_matplotlib()
    given = {name: value for name, value in vars(options).items() if name in PARAMETERS}
    options.parameters = resolve(given)
    open_folder(Path(options.out))
    return options


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "envelope",
        "Fly missiles out at every aspect, off-boresight angle and speed, and find the ranges from "
        "which they hit. This takes about half a minute. A shorter env.physics_dt than "
        f"{LEAST_STEP:g} s is taken as {LEAST_STEP:g} s: shorter steps take longer and change the "
        "ranges little.",
    )
    meaning = f"folder for {TABLE}, {ASPECT} and {OFF_BORESIGHT}"
    parser.add_key(Key("out", str, meaning, "envelope"))
    parser.add_json()
    for name in RELEVANT:
        parser.add_key(replace(schema()["env"][name], default=argparse.SUPPRESS), f"env.{name}")
    return parser

"""Make the frozen networks of the panel: python tools/ship_panel.py [NAME …].

Each row of `COMMANDS` is trained and exported to midrange_puffer/models/panel/NAME.onnx. What made
it, and the digest of the file, go to members.json beside it. Takes 10 minutes on two cores. Other
networks are another panel: whoever changes them raises its version in contest.panel.VERSIONS.
"""

import argparse
import json
import shlex
import tempfile
from pathlib import Path

from ship_models import puffer

from midrange_puffer.contest.panel import MEMBERS, digest, frozen_folder
from midrange_puffer.files import write_json
from midrange_puffer.game.games import DEFAULT_GAME

FOLDER = frozen_folder(DEFAULT_GAME)
# Networks of 64 units, so that a file has at most 80 kB.
COMMANDS = {
    "default_1": "--config configs/default.ini --train.seed 1",
    "default_2": "--config configs/default.ini --train.seed 2",
    "curriculum_half": (
        "--config configs/curriculum.ini --train.seed 1 --train.total-timesteps 30_000_000"
    ),
    "selfplay_early": (
        "--config configs/selfplay.ini --train.seed 1 --train.total-timesteps 30_000_000 "
        "--policy.hidden-size 64"
    ),
    "exploiter": (
        "--config configs/default.ini --train.seed 1 --train.total-timesteps 30_000_000 "
        "--train.ent-coef 0.006 --env.opponent trained:selfplay"
    ),
    "continuous": ("--config configs/default.ini --train.seed 1 --env.action-mode continuous"),
}


def ship(name: str) -> None:
    """Trains a network, exports its last model, and notes its origin."""
    home = FOLDER / f"{name}.onnx"
    with tempfile.TemporaryDirectory() as folder:
        puffer("train", *shlex.split(COMMANDS[name]), "--train.data-dir", folder)
        (run,) = Path(folder).iterdir()
        puffer("export", "--load-model-path", max(run.glob("model_*.pt")), "--onnx", home)
    note(name)


def note(name: str) -> None:
    """Writes the origin of a network beside those of the others."""
    path = FOLDER / MEMBERS
    members = json.loads(path.read_text()) if path.exists() else {}
    members[name] = {
        "command": f"puffer train midrange {COMMANDS[name]}",
        "sha256": digest(FOLDER / f"{name}.onnx"),
    }
    write_json(path, {one: members[one] for one in COMMANDS if one in members})


def main() -> None:
    """Makes the named networks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(COMMANDS))
    names = parser.parse_args().names
    if unknown := set(names) - set(COMMANDS):
        parser.error(f"{', '.join(unknown)}: must be of {', '.join(COMMANDS)}")
    for name in names:
        ship(name)


if __name__ == "__main__":
    main()

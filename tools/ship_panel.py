"""Make the frozen networks of the panels: python tools/ship_panel.py [--game GAME] [NAME …].

Each row of a game's `COMMANDS` is trained and exported to NAME.onnx in the folder of the game's
panel. What made it, and the digest of the file, go to members.json beside it. Those of the default
game take 10 minutes on two cores. Other networks are another panel: whoever changes them raises its
version in contest.panel.VERSIONS.
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

EARLY = "--train.seed 1 --train.total-timesteps 30_000_000 --policy.hidden-size 64"
# By game. Networks of 64 units, so that a file of one against one has at most 80 kB.
COMMANDS: dict[str, dict[str, str]] = {
    DEFAULT_GAME: {
        "default_1": "--config configs/default.ini --train.seed 1",
        "default_2": "--config configs/default.ini --train.seed 2",
        "curriculum_half": (
            "--config configs/curriculum.ini --train.seed 1 --train.total-timesteps 30_000_000"
        ),
        "selfplay_early": f"--config configs/selfplay.ini {EARLY}",
        "exploiter": (
            "--config configs/default.ini --train.seed 1 --train.total-timesteps 30_000_000 "
            "--train.ent-coef 0.006 --env.opponent trained:selfplay"
        ),
        "continuous": "--config configs/default.ini --train.seed 1 --env.action-mode continuous",
    },
    "radar": {
        "radar_1": "--config configs/radar.ini --train.critic own --train.seed 1",
        "radar_2": "--config configs/radar.ini --train.critic own --train.seed 2",
        "selfplay_early": f"--config configs/radar_selfplay.ini {EARLY}",
        "continuous": (
            "--config configs/radar.ini --train.critic own --train.seed 1 "
            "--env.action-mode continuous"
        ),
    },
    "team2": {
        "team2_1": "--config configs/team2.ini --train.seed 1 --train.total-timesteps 40_000_000",
        "team2_2": "--config configs/team2.ini --train.seed 2 --train.total-timesteps 40_000_000",
        "selfplay_early": f"--config configs/team2_selfplay.ini {EARLY}",
    },
    "team2_radar": {
        "team2_radar_1": "--config configs/team2_radar.ini --train.critic own --train.seed 1",
        "team2_radar_2": "--config configs/team2_radar.ini --train.critic own --train.seed 2",
        "selfplay_early": f"--config configs/team2_selfplay.ini --env.sensing radar {EARLY}",
    },
}


def ship(game: str, name: str) -> None:
    """Trains a network, exports its last model, and notes its origin."""
    home = frozen_folder(game) / f"{name}.onnx"
    home.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        puffer("train", *shlex.split(COMMANDS[game][name]), "--train.data-dir", folder)
        (run,) = Path(folder).iterdir()
        puffer("export", "--load-model-path", max(run.glob("model_*.pt")), "--onnx", home)
    note(game, name)


def note(game: str, name: str) -> None:
    """Writes the origin of a network beside those of the others."""
    path = frozen_folder(game) / MEMBERS
    members = json.loads(path.read_text()) if path.exists() else {}
    members[name] = {
        "command": f"puffer train midrange {COMMANDS[game][name]}",
        "sha256": digest(frozen_folder(game) / f"{name}.onnx"),
    }
    write_json(path, {one: members[one] for one in COMMANDS[game] if one in members})


def main() -> None:
    """Makes the named networks of a game."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--game", choices=COMMANDS, default=DEFAULT_GAME)
    parser.add_argument("names", nargs="*", metavar="NAME", help="by default all of the game")
    arguments = parser.parse_args()
    game = arguments.game
    if unknown := set(arguments.names) - set(COMMANDS[game]):
        parser.error(f"{', '.join(unknown)}: must be of {', '.join(COMMANDS[game])}")
    for name in arguments.names or COMMANDS[game]:
        ship(game, name)


if __name__ == "__main__":
    main()

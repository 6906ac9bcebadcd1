"""Make the models that come with the package: python tools/ship_models.py [CONFIGURATION …].

Each configuration is trained as `puffer train` trains it. Its last model, and the configuration as
it was then, go to midrange_puffer/models/. Then the self-play model fights `ace`, and one of
these fights becomes the example of `puffer replay`. Takes 12 minutes on two cores; to be run again
when observations or networks change, for older models are refused then.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from midrange_puffer.policies.models import EXAMPLE, FOLDER, TRAINED, path_of

ROOT = Path(__file__).resolve().parents[1]
CONFIGURATIONS = ("default", "curriculum", "selfplay")
FIGHTER = f"{TRAINED}:selfplay"  # of the example; its replay names the path from here


def puffer(mode: str, *words: object) -> None:
    """Runs `puffer MODE midrange`; ends this process if it fails."""
    command = [sys.executable, "-m", "midrange_puffer", mode, "midrange", *map(str, words)]
    subprocess.run(command, cwd=ROOT, check=True)


def ship_model(name: str) -> None:
    """Trains a configuration; keeps its last model, and its origin."""
    with tempfile.TemporaryDirectory() as folder:
        ini = ROOT / "configs" / f"{name}.ini"
        puffer("train", "--config", ini, "--train.data-dir", folder)
        (run,) = Path(folder).iterdir()
        home = FOLDER / name
        home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(max(run.glob("model_*.pt")), home / f"{TRAINED}_{name}.pt")
        shutil.copyfile(ini, home / "config.ini")


def ship_example() -> None:
    """Keeps the fight in which the policy was nearest to a hit and got away."""
    with tempfile.TemporaryDirectory() as folder:
        model = path_of(FIGHTER).relative_to(ROOT)
        fights = ("--opponent", "ace", "--episodes", 100, "--save-replays", 1)
        puffer("eval", "--load-model-path", model, *fights, "--replay-dir", folder)
        (closest,) = Path(folder).glob("*_closest_*.replay")
        shutil.copyfile(closest, EXAMPLE)


def main() -> None:
    """Makes the models of the named configurations, and the example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="CONFIGURATION", default=CONFIGURATIONS)
    names = parser.parse_args().names
    if unknown := set(names) - set(CONFIGURATIONS):
        parser.error(f"{', '.join(unknown)}: must be of {', '.join(CONFIGURATIONS)}")
    for name in names:
        ship_model(name)
    ship_example()


if __name__ == "__main__":
    main()

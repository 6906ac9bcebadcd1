"""Installs what this project needs, PufferLib 3.0.0 included, into the Python that runs this file.

PufferLib ships as source only, and its build imports torch. It is therefore built without pip's
isolation, against the torch that is (or has just been) installed here.
"""

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_REQUIREMENTS = ["cython", "ninja", "numpy", "setuptools", "torch", "wheel"]


def constraints(keep_torch: bool) -> str:
    """Returns the text of `constraints.txt`, with the installed torch in place of the pinned one.

    Raises:
        SystemExit: `keep_torch` is set and this Python has no torch.
    """
    text = (ROOT / "constraints.txt").read_text()
    if not keep_torch:
        return text
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        sys.exit(f"--keep-torch: {sys.executable} has no torch to keep; install torch first")
    others = [line for line in text.splitlines() if not line.startswith("torch==")]
    return "\n".join([*others, f"torch=={version}", ""])


def requirements(dev: bool) -> list[str]:
    """Returns this project's requirements as `pyproject.toml` lists them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project["dependencies"] + (project["optional-dependencies"]["dev"] if dev else [])


def main() -> None:
    """Installs the build tools and torch, then PufferLib, then the rest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="also what tests and lint need")
    parser.add_argument("--keep-torch", action="store_true", help="leave the installed torch as is")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "constraints.txt")
        pins.write_text(constraints(args.keep_torch))

        def install(step: str, *what: str, **environment: str) -> None:
            print(f"installing {step} …", flush=True)
            command = [sys.executable, "-m", "pip", "install", "-q", "-c", str(pins), *what]
            subprocess.run(command, check=True, env=os.environ | environment)

        install("1 of 3: torch and what builds PufferLib (a minute or two)", *BUILD_REQUIREMENTS)
        # pip's cache does not know which torch a wheel was built against: never take one from it.
        install(
            "2 of 3: PufferLib, which is compiled here (a minute)",
            *("--no-cache-dir", "--no-build-isolation", "--no-deps", "pufferlib"),
            PYTHONPATH=str(ROOT / "tools" / "pufferlib_build"),
            NO_OCEAN="1",
        )
        install("3 of 3: the other requirements", "--no-build-isolation", *requirements(args.dev))


if __name__ == "__main__":
    main()

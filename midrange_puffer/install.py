"""Installs what training needs, PufferLib 3.0.0 included, into the Python that runs this file.

    python -m midrange_puffer.install                   # after pip install midrange_puffer
    python -m midrange_puffer.install all --keep-torch  # all extras; leaves the installed torch

PufferLib ships as source only, its build imports torch and has bugs, so pip alone cannot install
it. Here it is built without pip's isolation, against the torch that is (or has just been)
installed. The versions are those of constraints.txt. In a clone this file runs before the package
is built, so it imports nothing of it.
"""

import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent / "pyproject.toml"  # of a clone
PUFFERLIB = "pufferlib"
BUILD_REQUIREMENTS = ("cython", "ninja", "numpy", "setuptools", "torch", "wheel")
# PyPI's torch for Linux has CUDA in it, which takes 2 GB more than the torch of this index.
CPU_INDEX = "https://download.pytorch.org/whl/cpu/"


def pins(keep_torch: bool) -> str:
    """Returns the text of constraints.txt, with the installed torch in place of the pinned one.

    Raises:
        SystemExit: `keep_torch` is set and this Python has no torch.
    """
    text = (PACKAGE / "constraints.txt").read_text()
    if not keep_torch:
        return text
    version = _installed("torch")
    if version is None:
        sys.exit(f"--keep-torch: {sys.executable} has no torch to keep; install torch first")
    others = [line for line in text.splitlines() if not line.startswith("torch==")]
    return "\n".join([*others, f"torch=={version}", ""])


def requirements(extras: Sequence[str]) -> list[str]:
    """Returns the requirements of the package with these extras, for pip, each once.

    Raises:
        SystemExit: There is no such extra.
    """
    if PROJECT.exists():
        import tomllib  # pyright: ignore[reportMissingImports] - Python 3.10 has none, see `main`

        project = tomllib.loads(PROJECT.read_text())["project"]
        known = project["optional-dependencies"]
        found = list(project["dependencies"])
    else:
        metadata = importlib.metadata.metadata("midrange_puffer")
        known = {extra: [] for extra in metadata.get_all("Provides-Extra") or ()}
        found = []
        for text in metadata.get_all("Requires-Dist") or ():
            requirement, _, condition = text.partition(";")
            extra = re.search(r"extra == ['\"](\w+)['\"]", condition)
            (known[extra[1]] if extra else found).append(requirement.strip())
    for extra in extras:
        if extra not in known:
            sys.exit(f"{extra}: no such extra; there are {', '.join(known)}")
        found += [part for text in known[extra] for part in _expanded(text)]
    return list(dict.fromkeys(found))


def _expanded(text: str) -> list[str]:
    """Returns a requirement; of this package with extras, the requirements of these."""
    own = re.fullmatch(r"midrange_puffer\s*\[(.*)\]", text)
    return requirements(re.split(r"\s*,\s*", own[1])) if own else [text]


def cpu_index() -> list[str]:
    """Returns pip's options for a torch without CUDA, on Linux without an NVIDIA driver."""
    has_driver = Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi")
    if sys.platform != "linux" or has_driver:
        return []
    try:
        urllib.request.urlopen(f"{CPU_INDEX}torch/", timeout=5).close()
    except OSError:
        return []  # PyPI's does as well
    return ["--extra-index-url", CPU_INDEX]


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    """Installs torch and what builds PufferLib, then PufferLib, then the rest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("extras", nargs="*", default=["train"], help="default: train")
    parser.add_argument("--keep-torch", action="store_true", help="leave the installed torch as is")
    args = parser.parse_args()
    if sys.version_info < (3, 11):
        sys.exit(f"Python {sys.version.split()[0]}: what training needs is for 3.11 and newer")
    wanted = requirements(args.extras)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        constraints = folder / "constraints.txt"
        constraints.write_text(pins(args.keep_torch))

        def install(step: str, *words: str, **environment: str) -> None:
            print(f"installing {step} …", flush=True)
            command = [sys.executable, "-m", "pip", "install", "-q", "-c", str(constraints), *words]
            done = subprocess.run(command, check=False, env=os.environ | environment)
            if done.returncode:
                sys.exit(done.returncode)  # pip has said why

        own = f"{PUFFERLIB}==" + re.findall(rf"(?m)^{PUFFERLIB}==(.*)$", constraints.read_text())[0]
        if f"{PUFFERLIB}=={_installed(PUFFERLIB)}" != own:
            index = [] if args.keep_torch else cpu_index()
            step = "1 of 3: torch and what builds PufferLib (a minute or two)"
            install(step, *index, *BUILD_REQUIREMENTS)
            shutil.copy(PACKAGE / "pufferlib_build.py", folder / "sitecustomize.py")
            # Not from pip's cache, which does not know the torch that a wheel was built against.
            install(
                "2 of 3: PufferLib, which is compiled here (a minute)",
                *("--no-cache-dir", "--no-build-isolation", "--no-deps", PUFFERLIB),
                PYTHONPATH=str(folder),
                NO_OCEAN="1",
            )
        install(f"3 of 3: {', '.join(args.extras)}", "--no-build-isolation", PUFFERLIB, *wanted)
    # PufferLib has a script of the same name, which passes on to none but its own environments.
    own_script = Path(sysconfig.get_path("scripts"), "midrange")
    if own_script.exists():
        shutil.copy(own_script, own_script.with_name("puffer"))


if __name__ == "__main__":
    main()

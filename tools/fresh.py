"""Runs targets of the Makefile as on a new machine.

    python tools/fresh.py               `make train`, for half a minute, and `make test`
    python tools/fresh.py lint test     other targets of the Makefile

They run in a clone of HEAD with an empty HOME, empty caches and an empty temporary folder, and with
no variable of the user's shell but those of `KEPT`. Where the system allows private mounts (Linux,
as root or with user namespaces) /tmp is empty, too. Of the user's files only pip's configuration is
carried over: it says where packages come from.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("train", "test")
# Arguments that shorten a long target.
ARGUMENTS = {"train": "--train.total-timesteps=2_000_000"}

# Prefixes of the variables that describe the machine and the sources of packages.
KEPT = (
    *("PATH", "LD_LIBRARY_PATH", "LANG", "LC_", "TERM", "TZ", "USER", "LOGNAME", "SHELL"),
    *("CC", "CFLAGS", "LDFLAGS", "CUDA_", "PYENV_", "MIDRANGE_BROWSER"),
    *("PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)
PIP_CONFIGURATION = (
    *(".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf"),
)
PRIVATE = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))


def main() -> None:
    """Runs each target in turn, up to the first that fails, and prints their times."""
    targets = ["setup", *(sys.argv[1:] or TARGETS)]  # by itself, to say how long it takes
    # Not in /tmp, where the clone would be hidden by an empty one, and which may be in memory.
    place = "/var/tmp" if Path("/var/tmp").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="midrange-fresh-", dir=place) as folder:
        machine = FreshMachine(Path(folder))
        print(f"fresh: {machine.description}", flush=True)
        times, status = [], 0
        for target in targets:
            status, seconds = machine.make(target)
            failed = ", failed" if status else ""
            times.append(f"  make {target:11} {seconds:4.0f} s{failed}")
            if status:
                break
        print("fresh:", machine.description, *times, sep="\n", flush=True)
    sys.exit(status)


class FreshMachine:
    """A clone of HEAD with an empty home and an empty temporary folder.

    Args:
        folder: the parent of all three.

    Attributes:
        description: one line about the clone and its surroundings.
    """

    def __init__(self, folder: Path) -> None:
        self._clone, home, temporary = (folder / name for name in ("clone", "home", "tmp"))
        subprocess.run(["git", "clone", "-q", ROOT, self._clone], check=True)
        left_out = _git(ROOT, "status", "--porcelain")
        home.mkdir()
        temporary.mkdir()
        temporary.chmod(0o1777)
        _copy_pip_configuration(home)
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name.upper().startswith(KEPT) and name != "PIP_CACHE_DIR"
        } | {"HOME": str(home), "PYTHON": sys.executable}
        self._wrapper = _with_own_tmp(temporary)
        if self._wrapper:
            tmp = "an empty /tmp of its own"
        else:
            tmp = "the /tmp of this machine, as private mounts are not allowed here"
            self._environment["TMPDIR"] = str(temporary)
        self.description = (
            f"{_git(self._clone, 'log', '-1', '--format=%h (%s)')} in {self._clone}, "
        )
        self.description += "without what is not committed, " * bool(left_out)
        self.description += f"with an empty HOME and {tmp}"

    def make(self, target: str) -> tuple[int, float]:
        """Runs `make TARGET`; returns its exit status and its time [s]."""
        words = [f"ARGS={ARGUMENTS[target]}"] if target in ARGUMENTS else []
        print(f"fresh: make {target}", *words, flush=True)
        begin = time.monotonic()
        done = subprocess.run(
            [*self._wrapper, "make", target, *words],
            cwd=self._clone,
            env=self._environment,
            check=False,
        )
        return done.returncode, time.monotonic() - begin


def _git(folder: Path, *words: str) -> str:
    """Returns the output of git in a folder."""
    command = ["git", "-C", folder, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _copy_pip_configuration(home: Path) -> None:
    """Copies pip's configuration of the user to another home."""
    old = Path.home()
    for name in PIP_CONFIGURATION:
        source = old / name
        if name.startswith(".config/") and "XDG_CONFIG_HOME" in os.environ:
            source = Path(os.environ["XDG_CONFIG_HOME"], name.removeprefix(".config/"))
        if source.is_file():
            (home / name).parent.mkdir(parents=True)
            shutil.copy(source, home / name)


def _with_own_tmp(folder: Path) -> list[str]:
    """Returns the words before a command that show it a folder as /tmp, or none if impossible."""
    words = [*PRIVATE, "sh", "-c", 'mount --bind "$0" /tmp && exec "$@"', str(folder)]
    if shutil.which("unshare") and Path("/tmp") not in folder.resolve().parents:
        tried = subprocess.run([*words, "true"], check=False, capture_output=True)
        if tried.returncode == 0:
            return words
    return []


if __name__ == "__main__":
    main()

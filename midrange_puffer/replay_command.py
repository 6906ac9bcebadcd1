"""`puffer replay midrange`: fly replays again, bit for bit, and show them."""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from midrange_puffer.arguments import Parser, progress_bar
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.replay import SUFFIX, Replay, ReplayError
from midrange_puffer.schema import Key
from midrange_puffer.view import film

VIEWS = ("plane", "spacetime")
# What can be written of a replay: option and file name's end -> what it is.
OUTPUTS = {
    "acmi": "a recording for Tacview; in a zip if it ends in .zip.acmi",
    "html": "a page for any browser, which needs no network",
    "gif": "a film",
    "mp4": "a film",
}


def main(argv: Sequence[str]) -> int:
    """Replay, with the words after `puffer replay midrange`; return the exit status."""
    options = _parser().read(argv)
    outputs = {kind: path for kind in OUTPUTS if (path := getattr(options, kind))}
    if not options.files:
        raise UsageError(f"no file is named; training and eval --save-replays write *{SUFFIX}")
    if outputs and len(options.files) > 1:
        raise UsageError(f"--{next(iter(outputs))}: of one file, not of {len(options.files)}")
    for kind in outputs:
        if kind in ("gif", "mp4"):
            film.require_film(outputs[kind])
    refused = []
    for path in options.files:
        try:
            replay = verified(path)
            print(describe(path, replay), flush=True)
        except ReplayError as error:
            refused.append(str(error))
    if refused:
        raise ReplayError("\n".join(refused))
    for kind, path in outputs.items():
        write(replay, kind, path, options)
        print(path)
    return 0


def verified(path: str | Path) -> Replay:
    """Read a replay and fly it to its end.

    Raises:
        ReplayError: It cannot be read, or does not go as it went.
    """
    replay = Replay.read(path)
    try:
        replay.verify()
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None
    return replay


def describe(path: str | Path, replay: Replay) -> str:
    """What a replay is, which was verified."""
    red, blue = replay.names
    return (
        f"{path}: {red} (red) against {blue} (blue), {replay.outcome} after "
        f"{replay.duration:.0f} s; bit-exact: {replay.decisions} decisions, final state hash "
        f"{replay.hashes[-1]:016x}"
    )


def write(replay: Replay, kind: str, path: str, options: argparse.Namespace) -> None:
    """Write one of OUTPUTS.

    Raises:
        UserError: It could not be written, or what writes it is not installed.
    """
    if kind == "acmi":
        from midrange_puffer.acmi import write_acmi

        write_acmi(replay, path)
    elif kind == "html":
        from midrange_puffer.page import write_page

        write_page(replay, path)
    else:
        width, height = map(int, options.size.split("x"))
        with progress_bar(path, replay.decisions) as advance:
            film.write_film(
                replay, path, (width, height), options.fps, options.speed, options.view, advance
            )


def _check_end(end: str) -> Callable[[str], None]:
    """What raises ValueError where no file that ends in `end` can be written."""

    def check(path: str) -> None:
        if not path.endswith(end):
            raise ValueError(f"must end in {end}")
        check_writable(path)

    return check


def _check_size(text: str) -> None:
    if not re.fullmatch(r"[1-9]\d{1,3}x[1-9]\d{1,3}", text):
        raise ValueError("must be width x height, as 1280x720")


def _parser() -> Parser:
    parser = Parser(
        "replay",
        "Fly replays again, bit for bit, and write what shows one of them. Every state hash is "
        "compared, whatever is written.",
    )
    parser.add_files("files", f"replays, *{SUFFIX}")
    parser.add_key(Key("verify", bool, "only fly them, which is what is done without any option"))
    for kind, meaning in OUTPUTS.items():
        parser.add_key(Key(kind, str, meaning, None, check=_check_end(f".{kind}")))
    width, height = film.SIZE
    parser.add_key(Key("size", str, "of a film (px)", f"{width}x{height}", check=_check_size))
    parser.add_key(Key("fps", int, "pictures a second of a film", film.FPS, 1, 50))
    parser.add_key(
        Key("speed", float, "seconds of the engagement in one of the film", film.SPEED, 0.01, 100)
    )
    parser.add_key(Key("view", str, "what a film shows", VIEWS[0], choices=VIEWS))
    return parser

"""What `puffer replay midrange` takes."""

import argparse
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable
from midrange_puffer.policies import models
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.show.view import MODES, PLANE, film

EXAMPLE = "example"  # names the replay that comes with the package
FILMS = ("gif", "mp4")
# What can be written of a replay: option and file name's end -> what it is. Films come first: they
# may be refused for their length, before anything else is written then.
OUTPUTS = {
    **dict.fromkeys(FILMS, "a film"),
    "acmi": "a recording for Tacview; in a zip if it ends in .zip.acmi",
    "html": "a page for any browser, which needs no network",
}


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer replay midrange`.

    Returns:
        The options, with the replays' `paths`, the `outputs` (path by kind) and what was told of
        the `film`: arguments of `film.write_film`.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    options.outputs = {kind: path for kind in OUTPUTS if (path := getattr(options, kind))}
    if not options.files:
        raise UsageError(
            f"no file is given; training and eval --save-replays write replays, *{SUFFIX}; "
            f"`{EXAMPLE}` is one that comes with the package"
        )
    if options.outputs and len(options.files) > 1:
        output = next(iter(options.outputs))
        raise UsageError(f"--{output}: takes one replay, not {len(options.files)}")
    _check_used(options, options.outputs)
    for kind in options.outputs.keys() & set(FILMS):
        film.require_film(options.outputs[kind])
    options.paths = [models.EXAMPLE if file == EXAMPLE else file for file in options.files]
    names = {key.name for key in FILM_OPTIONS.values()}
    options.film = {name: value for name, value in vars(options).items() if name in names}
    if "size" in options.film:
        options.film["size"] = _read_size(options.size)
    return options


def _check_used(options: argparse.Namespace, outputs: Collection[str]) -> None:
    """Raise UsageError where an option would have no effect."""
    if options.verify and outputs:
        output = next(iter(outputs))
        raise UsageError(f"--verify: writes nothing; --{output} alone compares and writes")
    for option, key in FILM_OPTIONS.items():
        if key.name in options and not set(FILMS) & set(outputs):
            raise UsageError(f"--{option}: has no effect without --gif or --mp4")


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
    film.check_size(_read_size(text))


def _read_size(text: str) -> tuple[int, int]:
    width, height = map(int, text.split("x"))
    return width, height


# What can be told of a film: option -> argument of `film.write_film`, with its default.
FILM_OPTIONS = {
    "size": Key("size", str, "size of a film (px)", "{}x{}".format(*film.SIZE), check=_check_size),
    "fps": Key("fps", int, "pictures a second of a film", film.FPS, 1, 50),
    "speed": Key(
        "speed", float, "seconds of the engagement in one second of the film", film.SPEED, 0.01, 100
    ),
    "view": Key("mode", str, "what a film shows", PLANE, choices=MODES),
    "picture": Key(
        "picture",
        str,
        "of a fight with sensors: the truth, what a side knows, or all side by side",
        film.TRUTH,
        choices=tuple(film.PICTURES),
    ),
    "follow": Key(
        "follow",
        str,
        f"whom a film follows: a fighter, as red_0 in teams, or {film.ALL}; several, separated by "
        "commas, side by side",
        film.ALL,
    ),
}


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "replay",
        "Fly replays again, bit for bit, and compare every state hash. Of one replay it can also "
        "write a page, a recording or films.",
    )
    parser.add_files("files", f"replays, *{SUFFIX}; {EXAMPLE} = one that comes with the package")
    parser.add_key(Key("verify", bool, "only fly the replays and compare; the same as no option"))
    for kind, meaning in OUTPUTS.items():
        parser.add_key(Key(kind, str, meaning, None, check=_check_end(f".{kind}")))
    for option, key in FILM_OPTIONS.items():
        meaning = f"{key.meaning}, {key.default} if not given"
        parser.add_key(replace(key, meaning=meaning, default=argparse.SUPPRESS), option)
    return parser

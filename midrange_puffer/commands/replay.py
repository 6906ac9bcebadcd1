"""`puffer replay midrange`: fly replays again, bit for bit, and show them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from midrange_puffer.commands import option, telemetry
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.errors import UsageError
from midrange_puffer.game.mission_line import line_of
from midrange_puffer.game.parameters import callsigns, sizes_of
from midrange_puffer.names import shown, versus
from midrange_puffer.policies import models
from midrange_puffer.replays.replay import SUFFIX, Replay, ReplayError
from midrange_puffer.replays.telemetry import stream_replay
from midrange_puffer.replays.told import tell
from midrange_puffer.show.view import MODES, PLANE, film

EXAMPLE = "example"  # names the replay that comes with the package
FILMS = ("gif", "mp4")
STREAM_SPEED = 1.0
# Options that write a file, which ends in the option's name. Films come first: a film may be
# refused for its length, before anything else is written.
OUTPUTS = (*FILMS, "acmi", "html")
# Option -> argument of `film.write_film`.
FILM_OPTIONS = {
    "size": "size",
    "fps": "fps",
    "speed": "speed",
    "view": "mode",
    "picture": "picture",
    "follow": "follow",
}


def _film_option(meaning: str, default: object, *limits: float, **allowed: Any) -> Any:
    """Declares an option of a film, None if it is not given."""
    return option.value(
        f"{meaning}, {default} if not given", None, *limits, hides_default=True, **allowed
    )


def _check_size(text: str) -> None:
    if not re.fullmatch(r"[1-9]\d{1,3}x[1-9]\d{1,3}", text):
        raise ValueError("must be width x height, as 1280x720")
    film.check_size(_read_size(text))


def _read_size(text: str) -> tuple[int, int]:
    width, height = map(int, text.split("x"))
    return width, height


DESCRIPTION = (
    "Fly replays again, bit for bit, and compare every state hash. Of one replay it can also "
    "write a page, a recording or films, or stream it to Tacview."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the files that they name.

    Attributes:
        paths: the replays' files.
        outputs: the files to write, by option.
        film: arguments of `film.write_film` that are given.
    """

    files: tuple[str, ...] = option.files(
        f"replays, *{SUFFIX}; {EXAMPLE} = one that comes with the package"
    )
    verify: bool = option.flag("only fly the replays and compare; the same as no option")
    orders: bool = option.flag("print what each fighter does, in the words of orders, with times")
    gif: str | None = option.output("a film", ".gif", None)
    mp4: str | None = option.output("a film", ".mp4", None)
    acmi: str | None = option.output(
        "a recording for Tacview; in a zip if it ends in .zip.acmi", ".acmi", None
    )
    html: str | None = option.output(
        "a page for any browser, which needs no network", ".html", None
    )
    size: str | None = _film_option(
        "size of a film (px)", "{}x{}".format(*film.SIZE), check=_check_size
    )
    fps: int | None = _film_option("pictures a second of a film", film.FPS, 1, 50)
    speed: float | None = _film_option(
        "seconds of the engagement in one second of the film, or of the stream of --tacview",
        f"{film.SPEED:g} or {STREAM_SPEED:g}",
        0.01,
        100,
    )
    view: str | None = _film_option("content of a film", PLANE, choices=MODES)
    picture: str | None = _film_option(
        "in a fight with sensors: the truth, the knowledge of a side, or all side by side",
        film.TRUTH,
        choices=tuple(film.PICTURES),
    )
    follow: str | None = _film_option(
        f"fighter that a film follows, as red_0 in teams, or {film.ALL}; several, separated by "
        "commas, are shown side by side",
        film.ALL,
    )
    tacview: int | None = telemetry.tacview()
    tacview_host: str = telemetry.tacview_host()
    tacview_password: str | None = telemetry.tacview_password()
    paths: list[str | Path] = option.settled()
    outputs: dict[str, str] = option.settled()
    film: dict[str, Any] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer replay midrange`."""
    options = option.Parser("replay", DESCRIPTION, Options).read(argv)
    outputs = {name: path for name in OUTPUTS if (path := getattr(options, name))}
    if not options.files:
        raise UsageError(
            f"no file is given; training and eval --save-replays write replays, *{SUFFIX}; "
            f"`{EXAMPLE}` is one that comes with the package"
        )
    shows = [*outputs, *["tacview"] * (options.tacview is not None), *["orders"] * options.orders]
    if shows and len(options.files) > 1:
        raise UsageError(f"--{shows[0]}: takes one replay, not {len(options.files)}")
    if shows and options.verify:
        verb = "writes" if outputs else "prints" if options.orders else "streams"
        raise UsageError(f"--verify: {verb} nothing; --{shows[0]} alone compares and {verb}")
    telemetry.check(options.tacview, options.tacview_host, options.tacview_password)
    given = {name: getattr(options, name) for name in FILM_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    films = [path for name, path in outputs.items() if name in FILMS]
    for name in given:
        if name == "speed" and options.tacview is not None:
            continue
        if not films:
            others = ", or --tacview" if name == "speed" else ""
            raise UsageError(f"--{name}: has no effect without --gif or --mp4{others}")
    for path in films:
        film.require_film(path)
    if "size" in given:
        given["size"] = _read_size(given["size"])
    return replace(
        options,
        paths=[models.EXAMPLE if file == EXAMPLE else file for file in options.files],
        outputs=outputs,
        film={FILM_OPTIONS[name]: value for name, value in given.items()},
    )


def main(options: Options) -> int:
    """Flies the replays, writes the outputs and streams; returns the exit status."""
    refused = []
    for path in options.paths:
        try:
            replay = verified(path)
            print(describe(path, replay), flush=True)
        except ReplayError as error:
            refused.append(str(error))
    if refused:
        raise ReplayError(*refused)
    if options.orders:
        print("\n".join(orders_of(replay)))
    with telemetry.serve(options.tacview, options.tacview_host, options.tacview_password) as server:
        for kind, path in options.outputs.items():
            _write(replay, kind, path, options.film)
            print(shown(path))
        if server is not None:
            print("waiting for a client", flush=True)
            stream_replay(replay, server, options.speed or STREAM_SPEED)
    return 0


def verified(path: str | Path) -> Replay:
    """Reads a replay and flies it to its end.

    Raises:
        ReplayError: It cannot be read, or the flight differs from the recorded one.
    """
    replay = Replay.read(path)
    try:
        replay.verify()
    except ReplayError as error:
        raise ReplayError(f"{path}: {error}") from None
    return replay


def describe(path: str | Path, replay: Replay) -> str:
    """Returns a line about a verified replay."""
    players = versus([shown(name) for name in replay.names], sizes_of(replay.parameters))
    if types := replay.types:
        words = [f"{' + '.join(fighter.missiles)} on {fighter.aircraft}" for fighter in types]
        line = line_of(replay.simulation())
        if line is not None and line.transport is not None:
            words[line.transport] = "transport"
        players += f" ({', '.join(words)})"
    return (
        f"{shown(path)}: {players}, {shown(replay.outcome)} after "
        f"{replay.duration:.0f} s; bit-exact: {replay.decisions} decisions, final state hash "
        f"{replay.hashes[-1]:016x}"
    )


def orders_of(replay: Replay) -> list[str]:
    """Returns a line for each order and each thing that a fighter does, with its start [s]."""
    names = callsigns(sizes_of(replay.parameters))
    width = max(map(len, names))
    return [
        f"{told.start:6.1f} s  {names[told.fighter]:{width}}  {told.words}"
        for told in tell(replay, replay.paths())
    ]


def _write(replay: Replay, kind: str, path: str, arguments: Mapping[str, Any]) -> None:
    """Writes one of OUTPUTS.

    Args:
        replay: to show.
        kind: of OUTPUTS.
        path: of the file.
        arguments: of `film.write_film`.

    Raises:
        UserError: The file cannot be written, or a package for it is missing.
    """
    if kind == "acmi":
        from midrange_puffer.replays.acmi import write_acmi

        write_acmi(replay, path)
        return
    with progress_bar(path, replay.decisions) as advance:
        if kind == "html":
            from midrange_puffer.show.page import write_page

            write_page(replay, path, advance)
        else:
            film.write_film(replay, path, **arguments, progress=advance)

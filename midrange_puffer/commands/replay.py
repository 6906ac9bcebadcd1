"""`puffer replay midrange`: fly replays again, bit for bit, and show them."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.game.parameters import sizes_of
from midrange_puffer.names import shown, versus
from midrange_puffer.replays.replay import Replay, ReplayError
from midrange_puffer.show.view import film


def main(options: argparse.Namespace) -> int:
    """Replay, with what `options.replay` has read; return the exit status."""
    refused = []
    for path in options.paths:
        try:
            replay = verified(path)
            print(describe(path, replay), flush=True)
        except ReplayError as error:
            refused.append(str(error))
    if refused:
        raise ReplayError(*refused)
    for kind, path in options.outputs.items():
        write(replay, kind, path, options.film)
        print(shown(path))
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
    who = versus([shown(name) for name in replay.names], sizes_of(replay.parameters))
    return (
        f"{shown(path)}: {who}, {shown(replay.outcome)} after "
        f"{replay.duration:.0f} s; bit-exact: {replay.decisions} decisions, final state hash "
        f"{replay.hashes[-1]:016x}"
    )


def write(replay: Replay, kind: str, path: str, told: Mapping[str, object]) -> None:
    """Write one of OUTPUTS.

    Args:
        told: arguments of `film.write_film`.

    Raises:
        UserError: It could not be written, or what writes it is not installed.
    """
    if kind == "acmi":
        from midrange_puffer.replays.acmi import write_acmi

        write_acmi(replay, path)
    elif kind == "html":
        from midrange_puffer.show.page import write_page

        with progress_bar(path, replay.decisions) as advance:
            write_page(replay, path, advance)
    else:
        with progress_bar(path, replay.decisions) as advance:
            film.write_film(replay, path, **told, progress=advance)

"""How far long work is, on stderr."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import Progress, TextColumn

from midrange_puffer.names import shown

INTERVAL = 5.0  # s, from one line to the next where stderr is no terminal


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how much of `total` is done, by what is told to the function given.

    On a terminal it is a bar, which goes away at the end; elsewhere a line now and then.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what, total)
        return
    # In place of rich's own first column, which takes a text for markup.
    columns = (TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:])
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(shown(what), total=total)
        yield lambda count: progress.advance(task, count)


def _lines(what: str, total: int) -> Callable[[int], None]:
    """What prints a line of how much is done, but for `INTERVAL` after the last one."""
    done, said = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, said
        done += count
        if time.monotonic() - said >= INTERVAL:
            said = time.monotonic()
            print(f"{shown(what)}: {done / total:.0%}", file=sys.stderr, flush=True)

    return advance

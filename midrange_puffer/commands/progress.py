"""Progress of long work, on stderr."""

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator

from midrange_puffer.names import shown

INTERVAL = 5.0  # s, between lines if stderr is no terminal


@contextlib.contextmanager
def progress_bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows the progress of work: a bar on a terminal until the end, or else a line now and then.

    Args:
        name: of the work.
        total: its amount.

    Yields:
        The function to call with the amount done since its last call.
    """
    if importlib.util.find_spec("rich") is None:
        yield _lines(name, total)
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(name, total)
        return
    # Instead of rich's own first column, which reads the text as markup.
    columns = (TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:])
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(shown(name), total=total)
        yield lambda count: progress.advance(task, count)


def _lines(name: str, total: int) -> Callable[[int], None]:
    """Returns a function that prints lines of progress, at least `INTERVAL` apart."""
    done, printed = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, printed
        done += count
        if time.monotonic() - printed >= INTERVAL:
            printed = time.monotonic()
            print(f"{shown(name)}: {done / total:.0%}", file=sys.stderr, flush=True)

    return advance

"""Progress of long work, on stderr."""

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from midrange_puffer.names import shown

if TYPE_CHECKING:
    from rich.table import Table

INTERVAL = 5.0  # s, between lines if stderr is no terminal
LOOK_INTERVAL = 30.0  # s, between lines of work that takes many minutes


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


@contextlib.contextmanager
def live_table(
    table: Callable[[], "Table"], line: Callable[[], str]
) -> Iterator[Callable[[], None]]:
    """Shows the state of long work: a table on a terminal until the end, or else a line at times.

    Args:
        table: returns the table of this moment, for rich.
        line: returns the words of this moment.

    Yields:
        The function to call now and then.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda: live.update(table(), refresh=True)
        return
    printed = time.monotonic()

    def look() -> None:
        nonlocal printed
        if time.monotonic() - printed >= LOOK_INTERVAL:
            printed = time.monotonic()
            print(line(), file=sys.stderr, flush=True)

    yield look

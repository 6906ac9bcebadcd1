"""How far long work is, on stderr."""

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import Progress, TextColumn

from midrange_puffer.names import shown


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show on stderr how much of `total` is done, by what is told to the function given."""
    # In place of rich's own first column, which takes a text for markup.
    columns = (TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:])
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(shown(what), total=total)
        yield lambda count: progress.advance(task, count)

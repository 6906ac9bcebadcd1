"""Tables on the terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def new_table(first: str, *others: str) -> "Table":
    """Returns an empty table of numbers for rich; the first column has words."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def format_optional(value: float | None, form: str, factor: float = 1.0) -> str:
    """Returns `value` times `factor` in a format such as ".3f"; a dash for None."""
    return "–" if value is None else format(value * factor, form)

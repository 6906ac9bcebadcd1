"""The web page of a fight: one file that needs nothing else, for any browser."""

from midrange_puffer.show.page.writer import write_page

__all__ = ["write_page"]

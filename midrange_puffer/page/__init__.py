"""The web page of a fight: one file that needs nothing else, for any browser."""

from midrange_puffer.page.writer import render, write_page

__all__ = ["render", "write_page"]

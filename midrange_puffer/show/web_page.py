"""Web pages of text, tables and figures: one file without scripts, in light and dark mode."""

import io
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = ".html"  # suffix of pages

# Placeholders in figures for the page's colours of text and background.
INK, PAPER = "#0a0b0c", "#f5f4f3"
STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --paper: #ffffff; --line: #d5d9de; --dim: #5c6570;
  --mark: #eef3f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e6ea; --paper: #15181c; --line: #363c44; --dim: #98a2ae; --mark: #1f2831; }
}
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 2.5rem; font-size: 1.25rem; }
svg { display: block; }
figure { margin: 0; }
figcaption, .note { color: var(--dim); font-size: 0.9rem; }
code, pre { font: 0.9em ui-monospace, monospace; }
pre { padding: 0.6rem 0.8rem; background: var(--mark); overflow-x: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.8rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.15rem 0.4rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th { font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.group th { padding-top: 0.8rem; color: var(--dim); font-weight: 400; }
"""
FIGURE_STYLE: dict[Any, Any] = {  # settings of matplotlib
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.08,  # inches
    "figure.constrained_layout.w_pad": 0.08,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",  # included in matplotlib
    "font.size": 9,
    "grid.alpha": 0.12,
    "grid.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "page",  # makes equal figures equal texts
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def web_page(title: str, sections: Iterable[str]) -> str:
    """Returns a page with a title and sections, all given as HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def svg(draw: Callable[..., "Figure"], *arguments: object) -> str:
    """Returns the figure that `draw(*arguments)` makes, as an element of a web page.

    Its colours follow the page's --ink and --paper. The URLs of its artists become tooltips.
    """
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context(FIGURE_STYLE):
        draw(*arguments).savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(INK, "var(--ink)").replace(PAPER, "var(--paper)")
    return re.sub(r'<a xlink:href="([^"]*)"[^>]*>', r"<a><title>\1</title>", text)

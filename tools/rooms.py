"""The rooms of the package, drawn from its imports: python tools/rooms.py --out rooms.png.

A room imports only from those above it. `tests/test_rooms.py` holds that; this shows it.
"""

import argparse
import ast
import re
import textwrap
from collections import Counter
from pathlib import Path

import networkx

PACKAGE = "midrange_puffer"
ROOT = Path(__file__).resolve().parents[1]
# From the top: what all may use, then each room. Names without a folder are files of the package.
ROOMS = (
    (
        "errors",
        "names",
        "system",
        "files",
        "archives",
        "json_files",
        "streams",
        "gymnasium_import",
        "puffer_import",
        "_core",
    ),
    ("game",),
    ("policies",),
    ("envs",),
    ("config",),
    ("contest",),
    ("replays",),
    ("serve",),
    ("show",),
    ("train",),
    ("sweep",),
    ("commands",),
    # Modules that users import or run: they may import from anywhere, and no room imports them.
    (
        "__init__",
        "__main__",
        "checkpoint",
        "evaluate",
        "gym",
        "install",
        "pettingzoo",
        "pufferlib_build",
        "sb3",
        "spacetime",
        "tacview",
        "training",
    ),
)
LEVELS = {name: level for level, names in enumerate(ROOMS) for name in names}


def modules() -> dict[str, Path]:
    """Returns the file of every Python module, by its name below the package."""
    folder = ROOT / PACKAGE
    paths = {path.relative_to(folder).with_suffix(""): path for path in folder.rglob("*.py")}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


def imports() -> dict[str, set[str]]:
    """Returns by module the modules of the package that it imports, at its top or later."""
    found = modules()
    return {name: _imported(path, found) - {name} for name, path in found.items()}


def level(module: str) -> int:
    """Returns the place of the module's room from the top, which is 0.

    Raises:
        KeyError: It is in no room.
    """
    return LEVELS[module.partition(".")[0]]


def upward(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Returns the imports (importer, imported) from a room further down."""
    return [
        (who, what)
        for who, targets in graph.items()
        for what in sorted(targets)
        if level(what) > level(who)
    ]


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Returns the sets of modules that import each other, directly or through others."""
    arrows = networkx.DiGraph((who, what) for who, targets in graph.items() for what in targets)
    return [circle for circle in networkx.strongly_connected_components(arrows) if len(circle) > 1]


def named_in_strings() -> set[str]:
    """Returns the modules that name a module of the package in a string, to import it."""
    name = re.compile(rf"{PACKAGE}(\.\w+)+(:\w+)?")
    return {
        module
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and name.fullmatch(str(node.value))
    }


def _imported(path: Path, known: dict[str, Path]) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # A name is a module of the folder, or what the module defines.
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            are_modules = {name for name in inner if _below(name) in {*known, "_core"}}
            names |= are_modules or {node.module}
    ours = {_below(name) for name in names if name.startswith(f"{PACKAGE}.")}
    return {name for name in ours if name in known or name == "_core"}


def _below(name: str) -> str:
    return name.removeprefix(f"{PACKAGE}.")


def draw(graph: dict[str, set[str]], path: Path) -> None:
    """Draws the rooms from the top down, with an arc to every room that another imports from.

    Arcs to the room just above are on the left, those that reach farther on the right.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Arc, Rectangle

    counts = Counter((level(who), level(what)) for who, whats in graph.items() for what in whats)
    sizes = Counter(level(name) for name in graph)
    figure = Figure(figsize=(9, 10), layout="constrained")
    axes = figure.add_subplot(xlim=(-3, 7.1), ylim=(-len(ROOMS) + 0.4, 0.6))
    axes.set_axis_off()
    axes.set_title("Who imports from whom: every arc leads up, from the dot to the room above")
    for depth, names in enumerate(ROOMS):
        corner, label = (-1.6, -depth - 0.28), "\n".join(textwrap.wrap(" ".join(names), 50))
        axes.add_patch(Rectangle(corner, 3.2, 0.56, facecolor="#eef3fa", edgecolor="#5b7bb0"))
        axes.text(
            0, -depth + 0.04, label, ha="center", va="center", size=8 if len(names) > 1 else 11
        )
        axes.text(1.55, -depth - 0.24, f"{sizes[depth]} files", ha="right", size=6)
    for (who, what), count in counts.items():
        if who == what:
            continue
        side = -1 if who - what == 1 else 1
        colour = "#6b7f99" if what < who else "#c23b3b"
        style = {"color": colour, "lw": 0.6 + count**0.5 / 3, "alpha": 0.7}
        ends = {"theta1": -90, "theta2": 90} if side == 1 else {"theta1": 90, "theta2": 270}
        middle, height = -(who + what) / 2, abs(who - what)
        axes.add_patch(Arc((1.6 * side, middle), 0.85 * height, height, **ends, **style))
        axes.plot(1.6 * side, -who, "o", ms=4, color=colour)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Prints the rooms with the rooms that each imports from, and draws them if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="draw a picture into this file")
    options = parser.parse_args()
    graph = imports()
    for depth, names in enumerate(ROOMS):
        members = [name for name in graph if level(name) == depth]
        above = sorted({level(what) for name in members for what in graph[name]} - {depth})
        sources = ", ".join(ROOMS[up][0] if up else "(top)" for up in above) or "nothing"
        print(f"{' '.join(names)}: {len(members)} files, from {sources}")
    print(f"{len(upward(graph))} imports upward, {len(cycles(graph))} cycles")
    if options.out:
        draw(graph, options.out)


if __name__ == "__main__":
    main()

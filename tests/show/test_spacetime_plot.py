"""The plot of a space-time graph: the meanings and colours of its lines."""

import re
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from scenes import BLUE, RED, place

from midrange_puffer import Simulation
from midrange_puffer.game.spacetime import SpaceTime, spacetime
from midrange_puffer.show import page
from midrange_puffer.show.spacetime_plot import draw_spacetime

CSS = (Path(page.__file__).parent / "assets" / "page.css").read_text()
COLOUR = dict(re.findall(r"--(\w+): (#\w+)", CSS.partition("@media")[0]))  # on light ground


def at(distance: float, **missile: float) -> Simulation:
    """Returns red and blue nose to nose, with a missile of blue in the air if one is given."""
    sim = Simulation(substeps=1)
    place(sim, blue={"x": distance, "y": 0})
    if missile:
        sim.set_missile(0, 0, owner=BLUE, y=0, speed=900, **missile)
    return sim


def drawn(graph: SpaceTime) -> dict[str, Line2D]:
    """Returns the lines with names."""
    [axes] = draw_spacetime(graph, "red").axes
    lines = {line.get_label(): line for line in axes.lines}
    sides = [text.get_text() for text in axes.texts]
    assert sides == ["left", "right"]
    return {name: line for name, line in lines.items() if not name.startswith("_")}


def colours(lines: dict[str, Line2D], start: str) -> list[str]:
    return [to_hex(line.get_color()) for name, line in lines.items() if name.startswith(start)]


@pytest.mark.parametrize(
    ("sim", "colour", "verdict"),
    [
        (at(60_000), "safe", r"missed by \d+\.\d km"),
        (at(8000), "danger", "hit by a missile fired now"),
        (at(60_000, x=3000, heading_deg=180), "danger", "hit by a missile in the air"),
    ],
)
def test_escapes_have_the_colours_of_the_page_by_what_comes_of_them(sim, colour, verdict):
    graph = spacetime(sim, 0, RED)
    near = [0 in graph.escape_miss, *(0 in one.escape_miss for one in graph.missiles)]
    assert any(near) == (colour == "danger")
    lines = drawn(graph)
    assert colours(lines, "escape") == [COLOUR[colour]] * 2
    for side in ("left", "right"):
        assert sum(bool(re.fullmatch(f"escape {side}: {verdict}", name)) for name in lines) == 1


@pytest.mark.parametrize(("seat", "own", "enemy"), [(RED, "red", "blue"), (BLUE, "blue", "red")])
def test_both_sides_are_named_in_their_colours(seat, own, enemy):
    lines = drawn(spacetime(at(20_000), 0, seat))
    assert colours(lines, f"{own}, controls held") == [COLOUR[own]]
    cone = f"threat cone: where a missile fired now by {enemy} can be"
    assert colours(lines, cone) == [COLOUR[enemy]]


def test_the_legend_names_nothing_that_is_absent():
    sim = at(20_000)
    sim.set_fighter(0, BLUE, ammo=0)
    names = drawn(spacetime(sim, 0, RED))
    assert not any(word in name for name in names for word in ("cone", "in the air", "at an esc"))
    assert "blue has nothing to launch" in names
    assert colours(names, "escape") == [COLOUR["safe"]] * 2


@pytest.mark.parametrize(
    ("course", "end"),
    [(180, "the same, where it hits"), (0, "the same, harmless from here on")],
)
def test_missiles_in_the_air_are_told_from_the_own_path(course, end):
    """Blue's own missile in blue's graph."""
    sim = at(20_000, x=5000, heading_deg=course)
    [axes] = draw_spacetime(spacetime(sim, 0, BLUE), "blue").axes
    lines = {line.get_label(): line for line in axes.lines}
    missile = lines["missile in the air, if controls are held"]
    assert missile.get_linestyle() == "-."
    blue = [line for line in axes.lines if to_hex(line.get_color()) == COLOUR["blue"]]
    assert [line.get_linestyle() for line in blue].count("-") == 1 + (course == 180)  # the star
    assert "-." in [line.get_linestyle() for line in blue]
    assert end in lines

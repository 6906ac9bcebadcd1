"""The plot of a fight with height: from above, and its panels over time."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from replays import record

from midrange_puffer.commands import cli
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.engagement_plot import Engagement, draw_engagement
from midrange_puffer.show.figures import COLOURS


@pytest.fixture(scope="module")
def replay() -> Replay:
    return record(
        ("crank", "shooter"), seed=1, controls=lambda rng: None, dimensions=3, time_limit=60
    )[0]


@pytest.fixture(scope="module")
def figure(replay) -> Figure:
    return draw_engagement(Engagement(replay.names, replay.paths(), replay.outcome))


@pytest.fixture(scope="module")
def flown(replay) -> list[tuple[float, dict[str, np.ndarray]]]:
    """Time and the fighters' states at the start and after every decision."""
    sim = replay.simulation()
    states = [(0.0, {name: values[0].copy() for name, values in sim.fighters.items()})]
    for _ in replay.play(sim):
        time = float(sim.time[0]) * replay.parameters["physics_dt"]
        states.append((time, {name: values[0].copy() for name, values in sim.fighters.items()}))
    return states


def test_it_has_a_plan_and_three_panels(figure):
    plan, *panels = figure.axes
    assert (plan.get_xlabel(), plan.get_ylabel()) == ("x [km]", "y [km]")
    titles = [axes.get_title(loc="left") for axes in panels]
    names = ["height", "energy height z + v²/2g", "range"]
    assert [title.split(" [")[0] for title in titles] == names


def test_the_panels_are_what_was_flown(figure, flown, replay):
    _, heights, energies, ranges = figure.axes
    gravity = replay.parameters["gravity"]
    for seat, colour in enumerate(COLOURS):
        living = [
            (time, state["z"][seat], state["speed"][seat])
            for place, (time, state) in enumerate(flown)
            if place == 0 or flown[place - 1][1]["alive"][seat]
        ]
        times, z, speed = np.array(living).T
        for axes, expected in ((heights, z), (energies, z + speed**2 / (2 * gravity))):
            [line] = [
                line
                for line in axes.lines
                if line.get_color() == colour and line.get_linewidth() == 2
            ]
            np.testing.assert_allclose(line.get_xdata(), times)
            np.testing.assert_allclose(line.get_ydata(), expected / 1000, rtol=1e-5)
    [line] = [line for line in ranges.lines if line.get_linewidth() == 1.8]
    for (_, state), between in zip(flown, line.get_ydata(), strict=False):
        red, blue = ([state[axis][seat] for axis in "xyz"] for seat in (0, 1))
        assert between == pytest.approx(math.dist(red, blue) / 1000, rel=1e-5)


def test_the_command_draws_a_replay(replay, tmp_path):
    path, out = tmp_path / "fight.replay", tmp_path / "fight.svg"
    replay.write(path)
    assert cli.run("plot", ["--replay", str(path), "--out", str(out)]) == 0
    assert out.read_text().lstrip().startswith("<?xml")

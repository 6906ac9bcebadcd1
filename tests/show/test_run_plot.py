"""Learning curves show the logged metrics."""

import numpy as np
import pytest

from midrange_puffer.errors import UsageError
from midrange_puffer.show.run_plot import draw_runs

STEPS = np.arange(1, 101) * 1e6


def rows(**metrics):
    """Returns rows of metrics, one for each million decisions and half minute."""
    columns = {"agent_steps": STEPS, "uptime": STEPS * 30e-6, **metrics}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def chart(figure, title, label):
    (axes,) = [
        axes
        for axes in figure.axes
        if axes.get_title() == title and label in axes.get_xlabel()
    ]  # fmt: skip
    return axes


def test_a_line_is_what_was_logged_over_decisions_and_over_time():
    score = np.linspace(0, 1, 100)
    figure = draw_runs({"one": rows(**{"environment/score": score})})
    for label, x in (("decisions", STEPS / 1e6), ("time", STEPS * 30e-6 / 60)):
        axes = chart(figure, "score in training", label)
        logged, mean = axes.lines[:2]
        np.testing.assert_allclose(logged.get_xydata(), np.stack([x, score], axis=1))
        # The mean of a straight line is the line, but at its ends.
        np.testing.assert_allclose(mean.get_ydata()[2:-2], score[2:-2], atol=1e-12)


def test_each_run_has_its_line_and_what_none_logged_has_no_chart():
    runs = {
        "one": rows(**{"environment/score": np.full(100, 0.25)}),
        "two": rows(**{"environment/score_vs_ace": np.full(100, 0.75)}),
    }
    figure = draw_runs(runs)
    titles = {axes.get_title() for axes in figure.axes if axes.get_visible()}
    assert titles == {"score in training", "score against ace"}
    (ace,) = [axes for axes in figure.axes if axes.get_title() == "score against ace"]
    assert {tuple(set(line.get_ydata())) for line in ace.lines} == {(0.75,)}
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["one", "two"]


def test_a_stage_begins_at_a_dashed_line():
    stage = np.repeat([1, 2, 3], [40, 35, 25])
    figure = draw_runs({"one": rows(**{"environment/score": stage / 3, "curriculum/stage": stage})})
    axes = chart(figure, "score in training", "decisions")
    assert [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"] == [41, 76]


def test_gaps_are_left_out():
    score = [None if place % 2 else 0.5 for place in range(100)]
    figure = draw_runs({"one": rows(**{"environment/score": score})})
    axes = chart(figure, "score in training", "decisions")
    assert len(axes.lines[0].get_xdata()) == 50


def test_nothing_logged_is_refused():
    with pytest.raises(UsageError, match="nothing was logged"):
        draw_runs({"one": []})

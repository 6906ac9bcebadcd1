"""The pictures of a sweep: what is drawn where, that texts keep apart, and what they tell."""

import itertools
import math

import matplotlib
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sweeps import TRIALS, make_trial, record_of

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import sweepable
from midrange_puffer.config.sweep_sections import SweepConfig
from midrange_puffer.show.web_page import FIGURE_STYLE, INK
from midrange_puffer.sweep.figures import (
    chance_correlation,
    cost_figure,
    effects_figure,
    format_value,
    parallel_figure,
    progress_figure,
    rank_correlations,
    ticks,
    trend,
)
from midrange_puffer.sweep.record import FAILED, FINISHED, RUNNING, STOPPED
from midrange_puffer.sweep.report import axis_label
from midrange_puffer.sweep.space import Space, SweptKey

# Parameters of every distribution, with long names.
SWEPT = {
    "train.learning_rate": ("log_normal", 0.0005, 0.03),
    "train.total_timesteps": ("log_normal", 2_000_000, 50_000_000),
    "train.gamma": ("logit_normal", 0.97, 0.9995),
    "train.gae_lambda": ("logit_normal", 0.8, 0.995),
    "train.max_minibatch_size": ("uniform_pow2", 1024, 65536),
    "train.update_epochs": ("int_uniform", 1, 3),
    "train.adam_eps": ("log_normal", 1e-14, 1e-4),
    "train.vf_coef": ("uniform", 0.1, 5),
    "policy.hidden_size": ("uniform_pow2", 64, 256),
    "env.start_off_boresight_max_deg": ("uniform", 10, 180),
    "env.reward_pressure": ("uniform", 0, 0.02),
    "env.pilot_fire_off_boresight_deg": ("uniform", 1, 60),
    "env.reward_geometry": ("uniform", 0, 0.3),
    "train.ent_coef": ("log_normal", 0.0003, 0.03),
}

# The longest of the scores that are sought.
LABEL = axis_label(SweepConfig(metric="time_to_score", metric_score=0.875))


@pytest.fixture(scope="module")
def parameters(tmp_path_factory):
    path = tmp_path_factory.mktemp("swept") / "swept.ini"
    path.write_text(
        "".join(
            f"[sweep.{name}]\ndistribution = {how}\nmin = {low}\nmax = {high}\nmean = {low}\n"
            for name, (how, low, high) in SWEPT.items()
        )
    )
    return Space(load_config(path)).parameters


def drawn(draw, *arguments):
    """The figure as it is on the page, laid out."""
    with matplotlib.rc_context(FIGURE_STYLE):
        figure = draw(*arguments)
        figure.draw_without_rendering()
    return figure


def marks(axes):
    """(x, y) of all that is marked."""
    return sorted(
        (float(x), float(y)) for marks in axes.collections for x, y in marks.get_offsets()
    )


def step(axes):
    """The corners of the line, in their order."""
    (line,) = (line for line in axes.lines if len(line.get_xdata()))
    assert line.get_drawstyle() == "steps-post"
    return [(x, y) for x, y in zip(*line.get_data(), strict=True) if not math.isnan(y)]


def test_score_against_cost():
    figure = drawn(cost_figure, [*TRIALS, make_trial(6, FINISHED, (1000, 0.375, 12))], "what")
    (axes,) = figure.axes
    assert marks(axes) == [(5, 0.875), (10, 0.5), (12, 0.375), (15, 0.75), (20, 0.8125)]
    assert axes.get_ylabel() == "what"
    # Trial 6 is dearer than trial 0 and worse; the front goes on to the edge.
    assert step(axes) == [(10, 0.5), (15, 0.75), (axes.get_xlim()[1], 0.75)]
    assert [text.get_text() for text in axes.texts] == ["2", "0"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "finished: 3" in labels
    assert "failed: 2, of which without a score 1" in labels


def test_best_so_far():
    by_number, by_time = drawn(progress_figure, TRIALS, "what").axes
    assert by_number.get_ylabel() == "what"
    # Trials are of 20 s each; what did not finish is marked but is no best.
    assert step(by_number) == [(1, 0.5), (2, 0.5), (3, 0.75), (4, 0.75), (5, 0.75)]
    assert step(by_time) == [(20, 0.5), (40, 0.5), (60, 0.75), (80, 0.75), (100, 0.75)]
    assert marks(by_number) == [(1, 0.5), (2, 0.875), (3, 0.75), (4, 0.8125)]
    assert "[s]" in by_time.get_xlabel()


def with_values(number, status, score, rate, weight):
    """A trial of these values for the two parameters, read once, at its end or half-way."""
    params = {"train.learning_rate": rate, "env.reward_geometry": weight}
    return make_trial(number, status, (1000 if status == FINISHED else 500, score), params=params)


def test_effects_are_drawn_where_the_values_are(tmp_path):
    parameters = Space(record_of(tmp_path).config).parameters
    rates = (0.001, 0.001, 0.003, 0.003, 0.003, 0.003, 0.01, 0.01)
    weights = (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0, 0)
    trials = [
        with_values(n, STOPPED if n == 1 else FINISHED, n / 10, *values)
        for n, values in enumerate(zip(rates, weights, strict=True))
    ]
    trials += [with_values(8, FAILED, 0.9, 0.001, 0.3), make_trial(9, RUNNING, (500, 0.9))]
    by_weight, by_rate = drawn(effects_figure, trials, parameters).axes  # the strongest first
    # The roots of 40 / 42 and 36 / 42, for values that share their ranks.
    assert by_weight.get_title("left") == "rank correlation -0.98"
    assert by_rate.get_title("left") == "rank correlation +0.93"
    for axes, name, values in (
        (by_weight, "env.reward_geometry", weights),
        (by_rate, "train.learning_rate", rates),
    ):
        assert axes.get_xlabel() == name
        names = [label.get_text() for label in axes.get_xticklabels()]
        place = dict(zip(names, axes.get_xticks(), strict=True))
        expected = sorted((place[f"{x:g}"], n / 10) for n, x in enumerate(values))
        assert np.array(marks(axes)) == pytest.approx(np.array(expected))


def test_the_line_of_a_trial_goes_through_its_values_in_the_colour_of_its_score(tmp_path):
    parameters = Space(record_of(tmp_path).config).parameters
    trials = [
        with_values(0, FINISHED, 0.2, 0.001, 0.3),
        with_values(1, STOPPED, 0.4, 0.01, 0.1),
        with_values(2, FINISHED, 0.6, 0.02, 0),
        with_values(3, FAILED, 0.9, 0.01, 0.1),
    ]
    (axes,) = drawn(parallel_figure, trials, parameters).axes
    (bundle,) = (lines for lines in axes.collections if any(lines.get_urls()))
    tips = [url.partition(",")[0] for url in bundle.get_urls()]
    assert tips == ["trial 0", "trial 1", "trial 2"]  # from the poorest to the best, drawn last
    poorest, _, best = bundle.get_segments()
    assert [nearest(axes.texts, place) for place in poorest] == ["0.001", "0.3", "0.200"]
    assert [nearest(axes.texts, place) for place in best] == ["0.02", "0", "0.600"]
    (line,) = axes.lines
    assert line.get_xydata().tolist() == best.tolist()
    assert line.get_color() == INK
    red, _, blue, opacity = bundle.get_colors().T
    assert red[0] < blue[0]  # blue
    assert red[2] > blue[2]  # orange
    assert opacity[0] < opacity[1] < opacity[2]


def nearest(texts, place):
    """The text that is written the nearest to a place."""
    return min(texts, key=lambda text: math.dist(text.get_position(), place)).get_text()


def test_rank_correlations(tmp_path):
    parameters = Space(record_of(tmp_path).config).parameters
    scores, rates = (0.1, 0.3, 0.2, 0.4), (0.01, 0.02, 0.02, 0.2)
    found = rank_correlations(
        [
            with_values(n, FINISHED, score, rate, 0.1)
            for n, (score, rate) in enumerate(zip(scores, rates, strict=True))
        ],
        parameters,
    )
    # Ranks 1 3 2 4 and 1 2.5 2.5 4: 4.5 / sqrt(5 * 4.5).
    assert found["train.learning_rate"] == pytest.approx(3 / math.sqrt(10))
    assert found["env.reward_geometry"] == 0
    assert list(found) == ["train.learning_rate", "env.reward_geometry"]


@pytest.mark.parametrize(("count", "bound"), [(8, 0.738), (10, 0.648), (20, 0.447), (30, 0.362)])
def test_correlations_by_chance_are_those_of_the_table(count, bound):
    """Critical values at 5 %, two-sided, of J. H. Zar, Biostatistical Analysis, table B.20."""
    assert chance_correlation(count) == pytest.approx(bound, abs=0.006)


def test_the_trend_is_local_and_keeps_a_constant():
    positions = np.linspace(0, 1, 101)
    x, y = trend(positions, np.full(101, 0.3))
    assert y == pytest.approx(np.full(len(x), 0.3))
    x, y = trend(positions, (positions > 0.5).astype(float))
    assert y[0] < 0.01
    assert y[-1] > 0.99
    assert (np.diff(y) >= 0).all()
    # Two values far apart: the mean at each.
    x, y = trend(np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.4, 0.6]))
    assert x.tolist() == [0, 1]
    assert y == pytest.approx([0.2, 0.5])


@given(
    st.sampled_from(["uniform", "log_normal", "logit_normal"]),
    st.floats(1e-6, 0.999),
    st.floats(1e-6, 0.999),
)
def test_ticks_are_few_and_in_the_range(distribution, low, high):
    low, high = sorted((low, high))
    assume(high > 1.01 * low)
    key = sweepable()["train.gamma"]
    parameter = SweptKey("train.gamma", key, distribution, low, high, low, "auto")
    found = ticks(parameter)
    assert 2 <= len(found) <= 5
    positions = [parameter.position(value) for value in found]
    assert positions == sorted(set(positions))
    assert -1e-6 <= positions[0] < positions[-1] <= 1 + 1e-6


def test_choices_stand_at_even_distances_by_their_names():
    key = sweepable()["train.optimizer"]
    row = SweptKey("train.optimizer", key, "int_uniform", "muon", "adam", "muon", 1.0,
                    ("muon", "adam"))  # fmt: skip
    assert [(row.position(tick), format_value(tick)) for tick in ticks(row)] == [
        (0, "muon"),
        (1, "adam"),
    ]


def test_numbers_are_short_and_exact():
    values = (0.0005, 1e-14, 3e6, 22785140, 16384, 0.9995, 100, 1e5, 0, -0.25)
    texts = ["0.0005", "1e-14", "3e6", "22785140", "16384", "0.9995", "100", "1e5", "0", "-0.25"]
    assert [format_value(value) for value in values] == texts
    assert [float(text) for text in texts] == list(values)


def test_texts_keep_apart_and_within_the_picture(parameters):
    drawn_at = np.random.default_rng(0)
    trials = [
        make_trial(
            row,
            FINISHED,
            (1000, score, 10 + 0.3 * row),
            params={
                name: low + (high - low) * share
                for (name, (_, low, high)), share in zip(
                    SWEPT.items(), drawn_at.random(len(SWEPT)), strict=True
                )
            },
        )
        for row, score in enumerate(np.sort(drawn_at.random(100)))  # all are on the front
    ]
    for draw, arguments in (
        (cost_figure, (trials, LABEL)),
        (progress_figure, (trials, LABEL)),
        (effects_figure, (trials, parameters)),
        (parallel_figure, (trials, parameters)),
    ):
        figure = drawn(draw, *arguments)
        boxes = texts(figure)
        for words, box, _ in boxes:
            assert (box.min > 0).all(), words
            assert (box.max < figure.bbox.max).all(), words
        level = [(words, box) for words, box, slope in boxes if not slope % 90]
        assert len(level) > 10
        for (one, box), (other, another) in itertools.combinations(level, 2):
            overlap = box.intersection(box, another)
            assert overlap is None or overlap.width * overlap.height < 1, (one, other)


def texts(figure):
    """(text, its box on the picture, slope [deg]) of all that is written."""
    from matplotlib.text import Text

    unseen = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    found = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text() and text not in unseen
    ]
    return [(text.get_text(), text.get_window_extent(), text.get_rotation()) for text in found]

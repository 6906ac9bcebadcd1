"""benchmarks/scale.py: speeds and times read from metrics of known course."""

import pytest
from places import BENCHMARKS

from midrange_puffer.config.reading import load_config


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import scale

    return scale


def course(updates: int, slow: int, score=lambda number: 0.0) -> list[dict[str, float]]:
    """Updates of 1000 steps and 0.5 s, the first `slow` of them of 10 s."""
    return [
        {
            "agent_steps": 1000 * number,
            "uptime": 10 * min(number, slow) + 0.5 * max(number - slow, 0),
            "performance/train": 8 * min(number, slow) + 0.2 * max(number - slow, 0),
            "performance/queue": 9.0 if number <= slow else 0.25,
            "environment/score_vs_evader": score(number),
        }
        for number in range(1, updates + 1)
    ]


def test_the_warm_up_does_not_count(scale):
    found = scale.figures(course(20, slow=scale.WARM_UP))
    assert found == pytest.approx({"sps": 2000, "update": 0.5, "learn": 0.2, "queue": 0.25})


def test_a_score_is_reached_when_the_mean_of_a_window_is(scale):
    rows = course(40, slow=1, score=lambda number: number / 40)
    # The mean of rows n - 4 to n, counted from 1, is (n - 2) / 40.
    assert scale.WINDOW == 5
    assert scale.reach(rows, 0.5) == 22 - 1
    assert scale.reach(rows, 0.96) is None
    assert scale.reach(rows[:4], 0.0) is None
    rows[21].pop("environment/score_vs_evader")  # no engagement ended in that update: as if lost
    assert scale.reach(rows, 0.5) > 21


def test_ratios_are_those_of_rounds(scale):
    report = {name: {"sps": [100.0, 200.0, 400.0]} for pair in scale.PAIRS for name in pair}
    report["blocking_2"]["sps"] = [50.0, 50.0, 200.0]
    found = {(one["of"], one["over"]): one["ratio"] for one in scale.ratios(report)}
    assert found["blocking_2", "serial"] == 0.5
    assert found["ranks_1", "serial"] == 1.0
    modes = scale.modes(load_config(None))
    assert {name for pair in scale.PAIRS for name in pair} | {*scale.SCORED} <= {*modes}
    assert all(modes[one].cores == modes[other].cores for one, other in scale.PAIRS)


def test_modes_have_the_same_batch_and_minibatches_unless_they_say_so(scale):
    whole = load_config(None)
    for name, mode in scale.modes(whole).items():
        config = load_config(None, mode.words)
        times = 2 if "twice" in name else 1
        for section, key in (("env", "num_envs"), ("train", "minibatch_size")):
            of_all = config[section][key] * max(mode.learners, 1)
            assert of_all == times * whole[section][key]


def test_runs_are_drawn_until_the_level(scale):
    speed = {
        name: {"sps": [1e5, 2e5], "medians": {"sps": 1.5e5}}
        for name in scale.modes(load_config(None))
    }
    curve = {"seconds": [0, 1, 2, 3, 4, 5], "agent_steps": [1e6] * 6}
    curve["score"] = [None, 0.1, 0.2, 0.3, 0.4, 0.5]
    runs = [{"mode": name, "seed": 0, "curve": curve} for name in scale.SCORED]
    bars, time, steps = scale.draw(speed, runs).axes
    assert len(bars.patches) == len(speed)
    for axes in (time, steps):
        *lines, level = axes.lines
        assert [line.get_label() for line in lines] == [*scale.SCORED]
        assert level.get_ydata()[0] == scale.LEVEL
    assert time.lines[0].get_ydata()[-1] == pytest.approx(0.3)

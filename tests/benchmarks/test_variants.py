"""benchmarks/variants.py: runs of known course compared at equal steps and after equal time."""

import pytest
from places import BENCHMARKS


@pytest.fixture
def variants(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import variants

    return variants


def course(value: str, seed: int, steps: int, seconds: float, slope: float) -> dict[str, object]:
    """Returns a run whose score rises by `slope` a step, at the same rate all the time."""
    scores = [slope * steps * part for part in (0, 0.5, 1)]
    return {
        "value": value,
        "seed": seed,
        "agent_steps": [0, steps // 2, steps],
        "seconds": [0, seconds / 2, seconds],
        "scores": dict.fromkeys(("evader", "crank", "ace"), scores),
    }


def test_scores_are_compared_within_the_shortest_and_the_quickest_run(variants):
    runs = [
        course("a", 0, 800, 80.0, 1e-3),
        course("b", 0, 1600, 40.0, 5e-4),
        course("c", 0, 1600, 160.0, 2e-4),
        course("a", 1, 400, 40.0, 1e-3),
    ]
    table = variants.compare(runs)
    found = {
        (row["seed"], row["axis"], row["at"], row["value"]): row["scores"]["crank"] for row in table
    }
    assert len(found) == len(table) == 2 * len(variants.MARKS) * len(runs)
    # After 800 steps at most: the scores are the slopes times the steps.
    assert found[0, "agent_steps", 800, "a"] == pytest.approx(0.8)
    assert found[0, "agent_steps", 800, "b"] == pytest.approx(0.4)
    assert found[0, "agent_steps", 100, "c"] == pytest.approx(0.02)
    # After 40 s at most, in which a and c have made 400 steps and b 1600.
    assert found[0, "seconds", 40, "a"] == pytest.approx(0.4)
    assert found[0, "seconds", 40, "b"] == pytest.approx(0.8)
    assert found[0, "seconds", 5, "c"] == pytest.approx(0.01)
    assert found[1, "agent_steps", 50, "a"] == pytest.approx(0.05)


def test_every_run_is_drawn_in_the_colour_of_its_value(variants):
    runs = [course(value, seed, 800, 80.0, 1e-3) for seed in (0, 1) for value in ("a", "b", "c")]
    figure = variants.draw("env.action_mode", runs)
    panels = figure.axes
    assert len(panels) == len(variants.UNITS) * len(variants.PILOTS)
    for axes in panels:
        colours = [line.get_color() for line in axes.lines]
        assert colours[:3] == colours[3:]
        assert len(set(colours)) == 3
    legend = panels[0].get_legend()
    assert legend.get_title().get_text() == "env.action_mode"
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]

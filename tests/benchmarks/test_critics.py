"""benchmarks/critics.py: figures of runs are compared seed by seed."""

import pytest
from places import BENCHMARKS


@pytest.fixture
def critics(monkeypatch):
    """The benchmark, as a module."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    import critics

    return critics


def result(critic: str, seed: int, mean: float | None, us: float) -> dict[str, object]:
    return {
        "critic": critic, "seed": seed, "steps": 1000, "mean": mean,
        "lowest": None if mean is None else "ace 0.100", "explained": 0.5, "us": us,
    }  # fmt: skip


def test_a_ratio_is_of_two_runs_of_one_seed(critics, capsys):
    """Own takes 2 and 3 us, the other critic 4 and 12: ratios of 1/2 and 1/4, median 3/8."""
    runs = [
        ("own", 0, 0.5, 2.0),
        ("side", 0, 0.7, 4.0),
        ("own", 1, 0.6, 3.0),
        ("side", 1, 0.8, 12.0),
    ]
    critics.print_results([result(*run) for run in runs])
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line[:1] == "│"]
    assert [row[-1] for row in rows if len(row) == 8] == ["1.00", "0.50", "1.00", "0.25"]
    assert ["own", "0.550", "0.500", "1.00"] in rows
    assert ["side", "0.750", "0.500", "0.38"] in rows


def test_speed_alone_has_no_scores(critics, capsys):
    critics.print_results([result("truth", 0, None, 5.0)])
    assert "None" not in capsys.readouterr().out

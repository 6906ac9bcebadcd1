"""The output of a run on a terminal: the dashboard, the line of a small one, and the end."""

import io

import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.train.dashboard import Dashboard, scores_table
from midrange_puffer.train.loggers import UPDATES, RecentScores, TimeLeft, format_line

STAGES = ("intercept", "survive", "counter", "selfplay")


def row(**scores: float) -> dict[str, float]:
    """Returns a row of metrics with the score against each pilot, a third of it from draws."""
    mean = sum(scores.values()) / max(len(scores), 1)
    versus = {f"environment/score_vs_{pilot}": score for pilot, score in scores.items()}
    wins = {f"environment/win_vs_{pilot}": score * 2 / 3 for pilot, score in scores.items()}
    whole = {"score": mean, "win": mean * 2 / 3, "draw": mean * 2 / 3, "loss": 1 - mean * 4 / 3}
    return {
        "agent_steps": 3_000_000,
        "SPS": 100_000.0,
        "uptime": 30.0,
        "learning_rate": 0.005,
        "losses/entropy": 2.5,
        **({f"environment/{name}": value for name, value in whole.items()} if scores else {}),
        **versus,
        **wins,
    }


EVERY_PILOT = row(**{pilot: 0.3 + n / 20 for n, pilot in enumerate(reversed(PILOTS))})


def test_results_are_means_of_the_last_updates_that_told_of_any():
    results = RecentScores()
    assert results.all is None
    assert results.opponents == []
    for score in (0.0, *[0.3] * (UPDATES - 1), 0.6):
        results.log(row(ace=score), 0)
        results.log(row(), 0)
    expected = (0.3 * (UPDATES - 1) + 0.6) / UPDATES
    [ace] = results.opponents
    assert ace.score == pytest.approx(expected)
    assert ace.draw == pytest.approx(expected * 2 / 3)
    assert sum(ace[1:]) == pytest.approx(1)


def test_a_new_stage_begins_without_results():
    results = RecentScores()
    results.log({**row(ace=0.5), "curriculum/stage": 1}, 0)
    results.log({**row(), "curriculum/stage": 2}, 0)
    assert results.all is None


def dashboard(width: int, height: int) -> list[str]:
    """Returns the dashboard's lines after an update against every pilot."""
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True)
    assert Dashboard.fits(console)
    board = Dashboard(console, "run", 10_000_000, STAGES)
    board.log({**EVERY_PILOT, "curriculum/stage": 2}, 0)
    lines = console.render_lines(board, pad=False)
    return ["".join(segment.text for segment in line) for line in lines]


@pytest.mark.parametrize(("width", "height"), [(120, 40), (100, 30)])
def test_the_dashboard_has_a_row_for_each_pilot_the_worst_first(width, height):
    lines = dashboard(width, height)
    assert len(lines) < height
    assert max(map(len, lines)) <= width
    rows = [line.split()[1:6] for line in lines if line.split()[1:2] and "█" in line]
    assert [first for first, *_ in rows[1:]] == [*reversed(PILOTS), "all"]
    scores = [float(score) for _, score, *_ in rows[1:-1]]
    assert scores == sorted(scores)
    for _, score, win, draw, loss in rows[1:]:
        assert float(win) + float(draw) + float(loss) == pytest.approx(100, abs=0.2)
        assert float(win) + float(draw) / 2 == pytest.approx(100 * float(score), abs=0.2)
    assert any("stage 2/4 survive" in line for line in lines)


def test_without_other_opponents_than_itself_there_is_one_row():
    results = RecentScores()
    alone = {name: x for name, x in EVERY_PILOT.items() if "_vs_" not in name}
    results.log(alone, 0)
    console = Console(width=120)
    lines = console.render_lines(scores_table(results, bars=True), pad=False)
    assert ["all" in "".join(one.text for one in line) for line in lines].count(True) == 1


@pytest.mark.parametrize(("width", "height", "term"), [(80, 24, "xterm"), (120, 40, "dumb")])
def test_a_small_or_simple_terminal_has_no_dashboard(width, height, term):
    console = Console(width=width, height=height, force_terminal=True, _environ={"TERM": term})
    assert not Dashboard.fits(console)


def test_a_line_tells_the_score_and_the_three_worst():
    assert " ".join(
        format_line(row(evader=0.25, ace=0.5, snake=0.9, weave=1), "1m10s left").split()
    ) == (
        "3.00 M steps 100 k/s score 0.662 worst evader 0.25 ace 0.50 snake 0.90 entropy 2.50 "
        "1m10s left"
    )
    assert "no score yet" in format_line(row(), "")


def test_a_line_tells_the_stage_and_the_rating():
    metrics = {**row(), "SPS": 1000.0, "curriculum/stage": 2, "league/rating": 1234.5}
    line = format_line(metrics, "1m00s left", ["intercept", "survive"])
    assert "stage 2/2 survive  no score yet  rating 1234  entropy 2.50  1m00s left" in line


def test_the_time_left_does_not_jump_with_a_slow_row():
    left = TimeLeft(10_000_000)
    assert left.text(row()) == "1m10s left"  # by the first row's own speed
    slow = {"agent_steps": 4_000_000, "uptime": 40.0, "SPS": 1.0}
    assert left.text({**row(), **slow}) == "1m00s left"
    assert left.text({**row(), **slow, "agent_steps": 10_000_000}) == "0s left"


@given(st.integers(79, 120), st.floats(1, 1e9), st.text(min_size=1, max_size=60))
def test_a_line_is_never_too_long(width, speed, stage):
    metrics = {**EVERY_PILOT, "SPS": speed, "curriculum/stage": 1, "league/rating": -1234.5}
    line = format_line(metrics, TimeLeft(10**10).text(metrics), [stage], width)
    assert len(line) <= width
    assert "score 0.5" in line
    assert "worst patient 0.30" in line


def test_a_terminal_shows_a_run(tmp_path, monkeypatch, capsys):
    """The dashboard disappears at the end, and the final message remains."""
    for name, value in {"COLUMNS": "120", "LINES": "40", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    assert runs.train(tmp_path) == 0
    out = capsys.readouterr().out
    assert "midrange  run" in out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert out.count("\x1b[?25l") == out.count("\x1b[?25h") == 1  # the cursor: hidden, and back
    assert "measure  puffer eval midrange" in out.partition("\x1b[?25h")[2]

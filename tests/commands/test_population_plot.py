"""`puffer plot midrange --population`: who fights whom, what is drawn, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.json_files import JsonError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.show.run_plot import Exploiter, draw_population
from midrange_puffer.train.run_files import POPULATION, Turn, write_turns

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run of four checkpoints, two of which are said to be exploiters of another one."""
    folder = tmp_path_factory.mktemp("population")
    options = ["--train.checkpoint-interval=2", "--train.learning-rate=0.05"]
    assert runs.train(folder, *options) == 0
    turns = [
        Turn(kind, 4, 4096, "model_000004.pt", 2048, 0.5, 0.25, 0.25, path)
        for kind, path in (("anew", "model_000002.pt"), ("league", "model_000008.pt"))
    ]
    write_turns(folder / "run", turns)
    return folder / "run"


def plot(run: Path, out: Path) -> int:
    words = ["--population", run.name, "--train.data-dir", str(run.parent), "--out", str(out)]
    return cli.run("plot", words)


def test_every_checkpoint_meets_every_exploiter(run, tmp_path, monkeypatch, capsys):
    """The scores are those of `evaluate`, within what so few engagements say."""
    drawn = []

    def draw(*arguments):
        drawn.append(arguments)
        return draw_population(*arguments)

    monkeypatch.setattr("midrange_puffer.commands.plot.draw_population", draw)
    out = tmp_path / "population.png"
    assert plot(run, out) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    [(exploiters, steps, scores, done)] = drawn
    assert exploiters == [Exploiter("anew", 0.004096, 0.625), Exploiter("league", 0.004096, 0.625)]
    assert (steps, done) == ([2048, 4096, 6144, 8192], 0.7)
    game = {"time_limit": 10, "start_range_min": 3000, "start_range_max": 6000}
    for row, update in enumerate((2, 4, 6, 8)):
        for column, other in enumerate((2, 8)):
            policies = [load_policy(run / f"model_{one:06d}.pt")[0] for one in (update, other)]
            expected = evaluate(*policies, 2000, **game)["score"]
            assert scores[row, column] == pytest.approx(expected, abs=0.2)
    told = capsys.readouterr().out.splitlines()
    assert told[-1].endswith("population.png")
    assert [line.split()[1] for line in told[-3:-1]] == ["anew", "league"]


def test_a_short_run_has_steps_that_differ():
    exploiters = [Exploiter("own", against, 0.6) for against in (0.00307, 12.34, 1234)]
    scores = np.full((2, 3), 0.5)
    figure = draw_population(exploiters, [3072, 118_489_088], scores, 0.7)
    _, right, _ = figure.axes
    assert [text.get_text() for text in right.get_xticklabels()] == ["0.00307", "12.3", "1230"]
    assert [text.get_text() for text in right.get_yticklabels()] == ["0.00307", "118"]


def test_a_run_without_exploiters_is_refused(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    (other / POPULATION).unlink()
    with pytest.raises(UsageError, match=r"other: has no exploiter yet; --population\.interval"):
        plot(other, tmp_path / "x.png")
    with pytest.raises(CheckpointError, match="nowhere: no such run folder"):
        plot(tmp_path / "nowhere", tmp_path / "x.png")


def test_what_is_damaged_is_named(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    (other / "model_000002.pt").write_bytes(b"no model")
    with pytest.raises(CheckpointError, match=r"model_000002\.pt"):
        plot(other, tmp_path / "x.png")
    content = json.loads((other / POPULATION).read_text())
    content["turns"][1]["kind"] = "friend"
    (other / POPULATION).write_text(json.dumps(content))
    with pytest.raises(JsonError, match=r"population\.json: damaged: turns\[1\]\.kind = 'friend'"):
        plot(other, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()

"""`puffer plot midrange`: the table of what is drawn; exploiters' reports; populations."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.commands import plot as command
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.json_files import JsonError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.show.run_plot import Exploiter, draw_population
from midrange_puffer.train.run_files import POPULATION, Turn, write_turns

MODEL = ["--load-model-path", "trained"]


@pytest.mark.parametrize(
    ("words", "option", "out"),
    [
        (MODEL, None, "engagement.png"),
        (["--pilot", "ace"], None, "engagement.png"),
        ([*MODEL, "--pictures"], "pictures", "engagement.png"),
        ([*MODEL, "--spacetime", "0"], "spacetime", "engagement.png"),
        ([*MODEL, "--pictures", "--spacetime", "9"], "spacetime", "engagement.png"),
        (["--replay", "example"], "replay", "engagement.png"),
        (["--exploit", "a.json", "--replay", "example"], "exploit", "exploit.png"),
        (["--exploit", "a.json", "--out", "mine.svg"], "exploit", "mine.svg"),
    ],
)
def test_the_first_plot_that_is_asked_for_is_drawn(words, option, out):
    options = command.read(words)
    assert command._plot_of(options).option == option
    assert options.picture == out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--replay", "example", "--pilot", "ace"], "--pilot: is not drawn of a --replay"),
        (["--replay", "example", "--spacetime", "9"], "--spacetime: is not drawn of a --replay"),
        (["--replay", "example", "--pictures"], "--pictures: is not drawn of a --replay"),
        ([*MODEL, "--out", "a.html"], "--out: a.html: only curves of --run become a page"),
        (["--exploit", "a.json", "--out", "a.html"], "only curves of --run become a page"),
    ],
)
def test_options_that_do_not_fit_the_plot_are_refused(words, message):
    with pytest.raises(UsageError, match=message):
        command.read(words)


# Reports of exploiters.

STEPS = [200_000, 400_000, 600_000]


def run(start: str = "own", mean: float = 0.5, **changes: object) -> dict[str, object]:
    """A run of a report; `changes` are of its curve."""
    results = {"win": [mean - 0.2] * 3, "draw": [0.4] * 3, "loss": [0.8 - mean] * 3}
    curve = {"agent_steps": STEPS, "score": [mean] * 3, **results, **changes}
    kind = {"start": start, "draw": -0.5, "entropy": 0.012, "seed": 42}
    return {"run": "r", **kind, "decisions_until": {"0.6": None}, "score": mean,
            "curve": curve}  # fmt: skip


def write(path: Path, *runs: dict[str, object]) -> str:
    """A report of these runs; the name of its file."""
    path.write_text(json.dumps({"model": "a.pt", "runs": runs}))
    return str(path)


def plot_reports(*reports: str, out: Path) -> int:
    return cli.run("plot", ["--exploit", *reports, "--out", str(out)])


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    figures = []
    monkeypatch.setattr(
        "midrange_puffer.commands.plot.save_figure",
        lambda figure, path: figures.append(figure),
    )
    return figures


def test_each_report_is_called_by_its_file(tmp_path, drawn):
    first = write(tmp_path / "first.json", run(mean=0.3), run(mean=0.5))
    second = write(tmp_path / "second.json", run("anew", 0.7))
    assert plot_reports(first, second, out=tmp_path / "x.png") == 0
    above, *below = drawn[0].axes
    texts = [text.get_text() for text in above.get_legend().get_texts()]
    assert texts[:2] == ["first: the strongest of 2", "second: the strongest of 1"]
    thick = [line.get_ydata()[-1] for line in above.lines if line.get_linewidth() == 2]
    assert thick == pytest.approx([0.5, 0.7])
    assert [axes.get_title() for axes in below] == [
        "the strongest against first,\nfrom the policy's own weights",
        "the strongest against second,\nfrom random weights",
    ]


def test_the_report_of_a_panel_has_the_same_curves(tmp_path, drawn):
    alone = write(tmp_path / "alone.json", run(mean=0.3))
    panel = {"rows": [], "exploit": json.loads(Path(alone).read_text())}
    (tmp_path / "panel.json").write_text(json.dumps(panel))
    for path in (alone, str(tmp_path / "panel.json")):
        assert plot_reports(path, out=tmp_path / "x.png") == 0
    lines, again = (
        [line.get_xydata().tolist() for line in figure.axes[0].get_lines()] for figure in drawn
    )
    assert lines == again != []


def test_a_picture_is_written_and_named(tmp_path, capsys):
    out = tmp_path / "exploit.svg"
    assert plot_reports(write(tmp_path / "one.json", run()), out=out) == 0
    assert "<svg" in out.read_text()
    assert str(out) in capsys.readouterr().out


def test_a_name_is_no_formula(tmp_path):
    assert plot_reports(write(tmp_path / "a_1$x^{$.json", run()), out=tmp_path / "x.png") == 0


def test_two_of_one_name_are_refused(tmp_path):
    (tmp_path / "other").mkdir()
    paths = [write(folder / "a.json", run()) for folder in (tmp_path, tmp_path / "other")]
    with pytest.raises(UsageError, match=r"other/a\.json: another file is called a, too"):
        plot_reports(*paths, out=tmp_path / "x.png")


NO_REPORT = "no report of puffer exploit"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("", NO_REPORT),
        ("{", f"{NO_REPORT}: not JSON"),
        ("[1]", f"{NO_REPORT}: runs"),
        ('{"panel": 1, "rows": []}', f"{NO_REPORT}: runs"),
        ('{"runs": []}', f"{NO_REPORT}: runs"),
        ('{"runs": 3}', f"{NO_REPORT}: runs = 3"),
        (b"\xff\xfe\x00", NO_REPORT),
        ("[" * 100_000, NO_REPORT),
        (run(score=[0.5]), r".*runs\[0\]\.curve: its columns are not equally long"),
        (run(win=[0.3] * 2), r".*curve: its columns are not equally long"),
        (
            run(agent_steps=[], score=[], win=[], draw=[], loss=[]),
            r".*runs\[0\]\.curve\.agent_steps",
        ),
        (run(score=[0.5, 1.5, 0.5]), r".*runs\[0\]\.curve\.score\[1\] = 1\.5"),
        (run(score=[0.5, float("nan"), 0.5]), ".*NaN"),
        (run(score=None), r".*runs\[0\]\.curve\.score"),
        (run(agent_steps=[-1, 0, 1]), r".*runs\[0\]\.curve\.agent_steps\[0\] = -1"),
        (run(agent_steps=[3, 2, 1]), r".*runs\[0\]\.curve: its decisions do not rise"),
        (run("else"), r".*runs\[0\]\.start = 'else'"),
        ({}, r".*runs\[0\]"),
    ],
)
def test_a_file_that_is_no_report_is_refused_and_a_damaged_curve_named(content, message, tmp_path):
    path = tmp_path / "report.json"
    if isinstance(content, dict):
        write(path, content)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(JsonError, match=rf"report\.json: {message}"):
        plot_reports(str(path), out=tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


# Populations.


@pytest.fixture(scope="module")
def population(tmp_path_factory) -> Path:
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


def plot_population(run: Path, out: Path) -> int:
    words = ["--population", run.name, "--train.data-dir", str(run.parent), "--out", str(out)]
    return cli.run("plot", words)


@pytest.mark.slow
def test_every_checkpoint_meets_every_exploiter(population, tmp_path, monkeypatch, capsys):
    """The scores are those of `evaluate`, within what so few engagements say."""
    drawn = []

    def draw(*arguments):
        drawn.append(arguments)
        return draw_population(*arguments)

    monkeypatch.setattr("midrange_puffer.commands.plot.draw_population", draw)
    out = tmp_path / "population.png"
    assert plot_population(population, out) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    [(exploiters, steps, scores, done)] = drawn
    assert exploiters == [Exploiter("anew", 0.004096, 0.625), Exploiter("league", 0.004096, 0.625)]
    assert (steps, done) == ([2048, 4096, 6144, 8192], 0.7)
    game = {"time_limit": 10, "start_range_min": 3000, "start_range_max": 6000}
    for row, update in enumerate((2, 4, 6, 8)):
        for column, other in enumerate((2, 8)):
            policies = [
                load_policy(population / f"model_{one:06d}.pt")[0] for one in (update, other)
            ]
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


@pytest.mark.slow
def test_a_run_without_exploiters_is_refused(population, tmp_path):
    other = shutil.copytree(population, tmp_path / "other")
    (other / POPULATION).unlink()
    with pytest.raises(UsageError, match=r"other: has no exploiter yet; --population\.interval"):
        plot_population(other, tmp_path / "x.png")
    with pytest.raises(CheckpointError, match="nowhere: no such run folder"):
        plot_population(tmp_path / "nowhere", tmp_path / "x.png")


@pytest.mark.slow
def test_a_damaged_population_is_named(population, tmp_path):
    other = shutil.copytree(population, tmp_path / "other")
    (other / "model_000002.pt").write_bytes(b"no model")
    with pytest.raises(CheckpointError, match=r"model_000002\.pt"):
        plot_population(other, tmp_path / "x.png")
    content = json.loads((other / POPULATION).read_text())
    content["turns"][1]["kind"] = "friend"
    (other / POPULATION).write_text(json.dumps(content))
    with pytest.raises(JsonError, match=r"population\.json: damaged: turns\[1\]\.kind = 'friend'"):
        plot_population(other, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()

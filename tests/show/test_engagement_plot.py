"""The plot of an engagement, and the command `plot`."""

import json
import re
import shutil

import matplotlib
import pytest
import runs
from matplotlib.image import imread
from team_fights import EACH_SIZE, record, sized

from midrange_puffer.commands import cli
from midrange_puffer.errors import UsageError
from midrange_puffer.files import lock
from midrange_puffer.show.engagement_plot import (
    draw_engagement,
    kills_in_words,
    plot_engagement,
    record_engagement,
)
from midrange_puffer.train.run_folder import read_run

# Nose to nose at 20 km: shots are exchanged within half a minute.
NEAR = {"start_range_min": 20_000, "start_range_max": 20_000, "start_off_boresight_max_deg": 0}


@pytest.fixture(scope="module")
def engagement():
    return record_engagement("shooter", "evader", 2, **NEAR)


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [({"time_limit": 5}, "draw by time"), ({"ammunition": 0}, "draw, no missiles left")],
)
def test_draws_are_told_apart(parameters, outcome):
    assert record_engagement("weave", "straight", **parameters).outcome == outcome


def test_the_picture_shows_both_sides(engagement, tmp_path):
    path = tmp_path / "fight.png"
    backend = matplotlib.get_backend()
    plot_engagement(engagement, path)
    assert matplotlib.get_backend() == backend
    image = imread(path)[..., :3]
    assert image.shape[0] > 600
    assert image.shape[1] > 900
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    for mine, other in ((red, blue), (blue, red)):
        assert (((mine - other) > 0.4) & (mine > green)).sum() > 500
    assert [file.name for file in tmp_path.iterdir()] == ["fight.png"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    assert runs.train(folder) == 0
    return folder


def run_plot(folder, *options: str) -> int:
    return cli.run("plot", ["--train.data-dir", str(folder), *options])


def test_plot_draws_a_trained_policy(trained, tmp_path, capsys):
    path = tmp_path / "fight.svg"
    options = ["--opponent", "shooter", "--seat", "blue", "--out", str(path)]
    assert run_plot(trained, *options) == 0
    assert str(path) in capsys.readouterr().out
    assert path.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--opponent", "shooter:1,evader:3"], "a mix"),
        (["--opponent", "evadr"], "did you mean 'evader'"),
        (["--out", "fight.txt"], r"--out: fight.txt: must end in \.png"),
        (["--seat", "green"], "--seat: green: must be one of red, blue"),
        (["--episodes", "3"], "--episodes: no such option"),
    ],
)
def test_plot_names_what_is_wrong(trained, options, message):
    with pytest.raises(UsageError, match=message):
        run_plot(trained, *options)


def test_runs_are_listed_with_what_they_were_made_from(trained, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "runs.json"
    assert cli.run("runs", ["--train.data-dir", str(trained), "--json", str(path)]) == 0
    *_, row, made_from = capsys.readouterr().out.splitlines()
    assert row.split()[0] == "run"
    assert " done " in row
    assert made_from.strip() == "small.ini"
    (run,) = json.loads(path.read_text())["runs"]
    assert run["agent_steps"] >= run["total_timesteps"] == 8192
    assert run["given"] == {}


def test_a_run_is_in_training_while_its_folder_is_locked(trained):
    run = trained / "run"
    with lock(run, "trains this run"):
        assert read_run(run).state == "in training"
    assert read_run(run).state == "done"


def test_the_curves_of_a_run_become_a_picture_or_a_page(trained, tmp_path):
    for name, holds in (("curves.svg", "<svg"), ("curves.html", "<td>small.ini</td>")):
        assert run_plot(trained, "--run", "run", "--out", str(tmp_path / name)) == 0
        assert holds in (tmp_path / name).read_text()


def test_runs_of_one_name_and_without_a_configuration_are_drawn(trained, tmp_path):
    other = tmp_path / "run"
    shutil.copytree(trained / "run", other)
    (other / "config.ini").write_text("[train]\ngama = 1\n")
    page, both = tmp_path / "curves.html", ["--run", "run", str(other)]
    assert run_plot(trained, *both, "--out", str(page)) == 0
    assert page.read_text().count("<td>run</td>") == 1
    for folder in (trained / "run", other):
        assert f"<!-- {folder} -->" in page.read_text()
    (other / "metrics.jsonl").unlink()  # as before the first row
    assert run_plot(trained, *both, "--out", str(page)) == 0
    with pytest.raises(UsageError, match="nothing was logged"):
        run_plot(trained, "--run", str(other), "--out", str(page))


def test_an_empty_value_of_the_command_line_is_told_of(tmp_path):
    path = tmp_path / "config.ini"
    path.write_text(
        "[base]\n# command line:\nwandb_group =\n[train]\n# command line:\ngamma = 0.9\n"
    )
    assert read_run(tmp_path).given == {"wandb_group": "", "train.gamma": "0.9"}


def test_only_curves_become_a_page(trained, tmp_path):
    with pytest.raises(UsageError, match=r"fight.html: only curves of --run become a page"):
        run_plot(trained, "--out", str(tmp_path / "fight.html"))


# Teams


@EACH_SIZE
def test_a_fight_of_teams_is_drawn_with_numbers_and_kills(sizes):
    engagement = record_engagement("ace", "shooter", 1, **sized(*sizes))
    paths = engagement.paths
    kills = kills_in_words(paths)
    assert len(kills) == sum(path.died is not None for path in paths.fighters) > 0
    for words in kills:
        victim, killer = re.fullmatch(r"\d+ s: (\w+)_\d by (\w+)_\d", words).groups()
        assert {victim, killer} == {"red", "blue"}
    figure = draw_engagement(engagement)
    [axes] = figure.axes
    numbers = [(text.get_text(), *text.xy) for text in axes.texts]
    for path in paths.fighters:
        number = str(path.number - path.side * sizes[0])
        for end in (0, -1):
            assert (number, path.x[end] / 1000, path.y[end] / 1000) in numbers
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert set(kills) <= set(labels)
    assert axes.get_title().startswith(f"ace ({sizes[0]} red) against shooter ({sizes[1]} blue): ")


def test_the_fight_of_a_replay_is_drawn(tmp_path, capsys):
    replay, _ = record(sized(2, 2), ("ace", "shooter"), 1)
    replay.write(tmp_path / "fight.replay")
    picture = tmp_path / "fight.png"
    assert cli.run("plot", [f"--replay={tmp_path / 'fight.replay'}", f"--out={picture}"]) == 0
    assert f"ace (2 red) against shooter (2 blue), {replay.outcome}" in capsys.readouterr().out
    drawn = tmp_path / "drawn.png"
    plot_engagement(record_engagement("ace", "shooter", 1, **sized(2, 2)), drawn)
    assert (imread(picture) == imread(drawn)).all()


def test_pilots_are_drawn_in_teams(tmp_path, capsys):
    words = ["--pilot=ace", "--opponent=crank", "--env.red-size=2", "--env.blue-size=3"]
    words += [f"--out={tmp_path / 'fight.png'}"]
    assert cli.run("plot", words) == 0
    assert re.match("ace: .* left after", capsys.readouterr().out)
    graph = [*words, "--spacetime=30", "--seat=blue", "--fighter=2"]
    assert cli.run("plot", graph) == 0
    assert re.match(
        r"ace: space-time graph of blue_2 and red_\d at 30.0 s", capsys.readouterr().out
    )
    with pytest.raises(UsageError, match="--fighter: 2: red has 2, counted from 0"):
        cli.run("plot", [*words, "--spacetime=30", "--fighter=2"])
    for given, message in (("evadr", "did you mean 'evader'"), ("ace:1,crank:1", "a mix")):
        with pytest.raises(UsageError, match=message):
            cli.run("plot", [f"--pilot={given}"])
    with pytest.raises(UsageError, match="--spacetime: is not drawn of a --replay"):
        cli.run("plot", ["--replay=x.replay", "--spacetime=3"])

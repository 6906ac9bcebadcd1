"""Training and measuring against opponents of the user's own, by the command line."""

import json
from pathlib import Path

import pytest
import runs
from places import EXAMPLES

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import run_configs
from midrange_puffer.config.reading import load_config
from midrange_puffer.errors import UsageError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.own_code import OwnCodeError
from midrange_puffer.train import run_folder
from midrange_puffer.train.run_folder import settled_opponents

IDLE = """import numpy as np
from pathlib import Path
Path(__file__).with_suffix(".ran").touch()
def idle(seen):
    return np.tile([2, 1, 0], (len(seen), 1))
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """The folder of a run against a mix that names files from its own folder."""
    folder = tmp_path_factory.mktemp("own_opponents")
    (folder / "idle_pilot.py").write_text(IDLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mix = "straight:1,idle_pilot.py:idle:2,trained"
        workers = ("--vec.backend", "Multiprocessing", "--vec.num-workers", "2")
        assert runs.train(folder, "--env.opponent", mix, "--vec.num-envs", "2", *workers) == 0
    return folder


def test_a_mix_is_trained_against_and_scored_by_name(trained):
    """The opponents also fly in workers."""
    scored = {name for row in runs.rows(trained / "run") for name in row if "_vs_" in name}
    names = ("straight", "idle", "trained")
    assert scored == {f"environment/{kind}_vs_{n}" for kind in ("score", "win") for n in names}


def test_a_run_goes_on_from_another_folder(trained, tmp_path, monkeypatch):
    """Its configuration has absolute paths."""
    text = load_config(trained / "run" / "config.ini", complete=True)["env"]["opponent"]
    assert text == f"straight:1,{trained}/idle_pilot.py:idle:2,trained"
    monkeypatch.chdir(tmp_path)
    serial = ("--vec.backend", "Serial", "--vec.num-workers", "auto")
    assert runs.resume(trained / "run", "--train.total-timesteps", "12288", *serial) == 0


def test_a_model_file_never_runs_what_its_training_named(trained):
    """Reading a configuration does not run it either."""
    ran = trained / "idle_pilot.ran"
    assert ran.exists()
    ran.unlink()
    [*_, model] = sorted((trained / "run").glob("model_*.pt"))
    _, meta = load_policy(model)
    assert "idle_pilot.py:idle" in meta["env"]["opponent"]
    load_config(trained / "run" / "config.ini", complete=True)
    assert cli.run("eval", ["--load-model-path", str(model), "--episodes", "2"]) == 0
    assert not ran.exists()


def test_stages_and_sweeps_name_opponents_by_whole_paths(trained):
    """Trials have other data directories, in which a run's name would not be found."""
    words = ["--train.data-dir", str(trained), "--env.opponent", "latest,ace"]
    words += ["--curriculum.stages", "a,b", "--curriculum.a.env.opponent", "run:2"]
    words += ["--curriculum.a.max-steps", "1000", "--curriculum.b.env.opponent", "x/y.py:fly"]
    config = settled_opponents(load_config(None, words))
    found = [one["env"]["opponent"] for one in (config, *run_configs(config))]
    models = (run_folder.find_model(name, trained) for name in ("latest", "run"))
    expected = [f"file:{model}" for model in models] + [f"{Path.cwd()}/x/y.py:fly"]
    assert found == [f"{expected[0]},ace", f"{expected[1]}:2", expected[2]]


@pytest.mark.parametrize("place", ["run", "{folder}/run", "latest"])
def test_a_run_is_an_opponent_by_its_name(place, trained, tmp_path):
    """The name becomes the file of the newest model when another run begins."""
    name = place.format(folder=trained)
    there = ("--train.data-dir", str(trained), "--train.run-name", tmp_path.name)
    newest = run_folder.find_model(name, trained)
    assert runs.train(tmp_path, "--env.opponent", f"{name}:3,straight", *there) == 0
    config = load_config(trained / tmp_path.name / "config.ini", complete=True)
    assert config["env"]["opponent"] == f"file:{newest}:3,straight"


@pytest.mark.parametrize(
    ("mix", "error", "message"),
    [
        ("{folder}/idle_pilot.py:idel", OwnCodeError, "has no idel; did you mean 'idle'"),
        ("no_such_module:fly", OwnCodeError, "does not import: ModuleNotFoundError"),
        ("{folder}/gone.pt", UsageError, "gone.pt: no such file"),
        ("shoter:2", UsageError, "'shoter' is none of .*did you mean 'shooter'"),
        ("run,{folder}/run", UsageError, "is given twice"),
    ],
)
def test_an_opponent_that_cannot_fly_is_refused_before_the_run(
    mix, error, message, trained, tmp_path
):
    words = ["--train.data-dir", str(trained), "--train.run-name", "refused"]
    with pytest.raises(error, match=message):
        runs.train(tmp_path, "--env.opponent", mix.format(folder=trained), *words)
    assert not (trained / "refused").exists()


def test_a_function_is_measured_and_rated_as_models_are(trained, tmp_path):
    idle = f"{trained}/idle_pilot.py:idle"
    report, table = tmp_path / "eval.json", tmp_path / "league.json"
    words = ["--load-model-path", "run", "--train.data-dir", str(trained)]
    words += ["--opponent", f"{idle}:3,latest", "--episodes", "20", "--json", str(report)]
    assert cli.run("eval", words) == 0
    [(name, result)] = json.loads(report.read_text())["opponents"].items()
    assert name.startswith(f"{idle}:3,file:{trained}")
    assert 0 <= result["score"] <= 1
    words = [idle, "trained", "--pilots", "ace", "--games", "20", "--json", str(table)]
    assert cli.run("league", words) == 0
    players = {one["name"]: one for one in json.loads(table.read_text())["players"]}
    assert set(players) == {"ace", "trained_default", "idle"}
    assert players["idle"]["function"] == idle


def test_a_function_is_no_model_and_says_where_it_is_taken(trained):
    with pytest.raises(UsageError, match=r"is a function, not a model; .* as --opponent by eval"):
        cli.run("eval", ["--load-model-path", f"{trained}/idle_pilot.py:idle"])


def test_the_example_is_trained_against(tmp_path):
    sniper = f"{EXAMPLES / 'own_opponent.py'}:sniper"
    assert runs.train(tmp_path, "--env.opponent", f"{sniper}:1,straight:1") == 0
    assert any("environment/score_vs_sniper" in row for row in runs.rows(tmp_path / "run"))

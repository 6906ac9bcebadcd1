"""Training with height: a small run, its resume, export and replays."""

from pathlib import Path

import numpy as np
import pytest
import runs

from midrange_puffer.commands import cli
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_of
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import features_of
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player
from midrange_puffer.replays.replay import Replay

pytestmark = pytest.mark.slow

HEIGHT = "--env.dimensions=3"
OWN = (
    "--aircraft.agile.based-on=light", "--aircraft.agile.thrust=16",
    "--env.red-aircraft=light:1,agile:2", "--env.red-missiles=medium:3,short:2,long:1",
)  # fmt: skip
MIX = ("--env.opponent=self:2,pool:1,crank:1", "--train.checkpoint-interval=2")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a small run against itself, its past and a pilot, in an aircraft of its own."""
    folder = tmp_path_factory.mktemp("finished")
    assert runs.train(folder, HEIGHT, *MIX, *OWN) == 0
    return folder / "run"


def model_of(run: Path) -> Path:
    return sorted(run.glob("model_*.pt"))[-1]


def test_the_shipped_configuration_is_of_the_game():
    config = load_config("configs/height.ini")
    assert game_of(config)["dimensions"] == 3
    with pytest.raises(ConfigError, match="it is of the flight in the plane"):
        load_config("configs/height.ini", ["--env.fighter-terminal-speed=500"])


@pytest.mark.parametrize(
    ("mode", "loads"),
    [("discrete", ()), ("continuous", ("--env.red-missiles=medium:3,short:2,long:1",))],
)
def test_both_engines_learn_the_same_from_the_same(tmp_path, mode, loads):
    """The native engine's weights after two updates are torch's, to rounding."""
    weights = []
    for engine in ("native", "torch"):
        given = (HEIGHT, f"--env.action-mode={mode}", f"--train.engine={engine}", *loads)
        (tmp_path / engine).mkdir()
        assert runs.train(tmp_path / engine, *given, "--train.optimizer=adam") == 0
        policy, _ = load_policy(model_of(tmp_path / engine / "run"))
        weights.append({name: value.numpy() for name, value in policy.state_dict().items()})
    for name, value in weights[0].items():
        np.testing.assert_allclose(value, weights[1][name], atol=2e-3, err_msg=name)


def test_a_run_repeats_itself(finished, tmp_path):
    assert runs.train(tmp_path, HEIGHT, *MIX, *OWN) == 0
    assert runs.timeless(tmp_path / "run") == runs.timeless(finished)


def test_a_model_has_the_types_that_it_was_trained_with(finished):
    env = load_policy(model_of(finished))[1]["env"]
    assert env["types"] == "agile=light thrust=16"
    assert env["red_aircraft"] == "light:1,agile:2"


def test_an_exported_policy_flies_as_the_original(finished, tmp_path):
    onnx = tmp_path / "high.onnx"
    words = ["--load-model-path", str(model_of(finished)), "--onnx", str(onnx)]
    assert cli.run("export", words) == 0
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (50, len(features_of("height_3")))).astype(np.float32)
    flown = []
    for path in (model_of(finished), onnx):
        player = Player(load_policy(path)[0], 50, seed=0, greedy=True)
        flown.append(player.act(seen, np.arange(50)))
    assert flown[0].shape == (50, 4)
    np.testing.assert_array_equal(*flown)
    entries = load_policy(onnx)[1]
    assert list(entries["actions"]) == ["rudder", "climb", "throttle", "fire"]
    assert entries["actions"]["fire"]["levels"] == [0, 1, 2, 3]


def test_evaluation_saves_replays_that_fly_again(finished, tmp_path):
    words = ["--load-model-path", str(model_of(finished)), "--opponent", "evader"]
    words += ["--episodes", "8", "--save-replays", "1", "--replay-dir", str(tmp_path / "kept")]
    words += ["--env.types", "agile=light thrust=17"]  # in place of the model's
    assert cli.run("eval", words) == 0
    replays = list((tmp_path / "kept").glob("**/*.replay"))
    assert replays
    for kind in ("lost", "closest", "longest", "first"):
        assert sum(f"_{kind}_" in path.name for path in replays) <= 1
    for path in replays:
        replay = Replay.read(path)
        replay.verify()
        assert replay.parameters["types"] == "agile=light thrust=17"
        assert replay.controls.shape[2] == 4
    assert cli.run("replay", [str(replays[0]), "--html", str(tmp_path / "fight.html")]) == 0


def test_the_panel_is_of_the_plane(finished):
    with pytest.raises(UsageError, match=r"a fixed test of .* flies with dimensions = 3"):
        cli.run("panel", [str(model_of(finished))])

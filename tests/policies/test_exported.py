"""Exported policies as contestants: they fly like the original, and bad files are refused."""

import json

import exports
import numpy as np
import onnx
import pytest
import runs
from flips import flipped
from quick_fights import SHORT

from midrange_puffer.commands import cli, play
from midrange_puffer.commands.play import load_contestants
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.envs.pool_crew import PoolCrew
from midrange_puffer.errors import UsageError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.policies.player import Player
from midrange_puffer.replays.session import Session

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["levels", "levels, memory"])
def test_its_figures_are_those_of_the_model(tmp_path, kind):
    made = exports.make(tmp_path, kind)
    exported, entries = load_policy(made.exported)
    policy, wanted = load_policy(made.model)
    assert {name: entries[name] for name in wanted} == wanted
    # Against a pilot, and against the original in either seat.
    figures, against, turned = (
        [evaluate(*pair, 20, seed=3, **SHORT) for pair in pairs]
        for pairs in (
            ((exported, "evader"), (policy, "evader")),
            ((exported, made.policy), (policy, made.policy)),
            ((made.policy, exported), (made.policy, policy)),
        )
    )
    for ours, theirs in (figures, against, turned):
        assert ours == theirs
        assert ours["shots"] > 0


@pytest.mark.parametrize("kind", exports.KINDS)
@pytest.mark.parametrize("greedy", [False, True])
def test_its_controls_are_those_of_the_model(tmp_path, kind, greedy):
    """Also for a part of the engagements, and after some have started again."""
    made = exports.make(tmp_path, kind)
    exported, _ = load_policy(made.exported)
    players = [Player(who, 12, 5, greedy) for who in (exported, made.policy)]
    random = np.random.default_rng(1)
    given = []
    for _ in range(30):
        envs = np.flatnonzero(random.random(12) < 0.7)
        seen = random.uniform(-1, 1, (len(envs), 79)).astype(np.float32)
        ours, theirs = (player.act(seen, envs) for player in players)
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
        given.append(ours)
        for player in players:
            player.reset(envs[:2])
    assert len(np.unique(np.concatenate(given), axis=0)) > 10


def test_eval_takes_it_for_either_seat(tmp_path, capsys):
    made = exports.make(tmp_path)
    words = ["--episodes", "20", "--json", str(tmp_path / "result.json")]
    results = []
    for model in (made.exported, made.model):
        for opponent in (made.exported, made.model):
            given = ["--load-model-path", str(model), "--opponent", str(opponent)]
            assert cli.run("eval", [*given, *words]) == 0
            report = json.loads((tmp_path / "result.json").read_text())
            assert report["model"] == str(model)
            assert report["parameters"]["time_limit"] == SHORT["time_limit"]
            results += report["opponents"].values()
    assert results[1:] == results[:-1]


def test_a_league_takes_it(tmp_path):
    """Also together with its original, whose file differs only in the suffix."""
    made = exports.make(tmp_path)
    report = tmp_path / "league.json"
    words = [str(made.exported), str(made.model), "--pilots", "straight,evader", "--games", "20"]
    assert cli.run("league", [*words, "--json", str(report)]) == 0
    players = {
        player.get("model", player["name"]): player
        for player in json.loads(report.read_text())["players"]
    }
    assert set(players) == {str(made.exported), str(made.model), "straight", "evader"}
    assert players[str(made.exported)]["agent_steps"] == exports.AGENT_STEPS


def test_plot_takes_it(tmp_path, capsys):
    made = exports.make(tmp_path)
    pictures = []
    for model in (made.exported, made.model):
        words = ["--load-model-path", str(model), "--out", str(tmp_path / "out.svg")]
        assert cli.run("plot", words) == 0
        pictures.append(capsys.readouterr().out.partition(":")[2])
    assert pictures[0] == pictures[1]


def test_gymnasium_takes_it(tmp_path):
    made = exports.make(tmp_path, "levels, memory")
    flights = []
    for opponent in (made.exported, made.policy):
        env = MidrangeVectorEnv(6, opponent=opponent, observation="stg", **SHORT)
        env.reset(seed=4)
        actions = np.full((6, 3), (2, 2, 0))
        flights.append([env.step(actions)[:4] for _ in range(60)])
        env.close()
    for ours, theirs in zip(*flights, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert (one == other).all()


@pytest.mark.parametrize("kind", ["levels", "continuous, memory"])
def test_play_takes_it_and_takes_time_back(tmp_path, kind):
    made = exports.make(tmp_path, kind)
    words = ["--red", str(made.exported), "--blue", "straight"]
    contestants, names, game = load_contestants(play.read(words))
    assert names == [made.exported.stem, "straight"]
    session = Session(contestants, names, seed=2, **game)
    for _ in range(10):
        session.step()
    before = session.replay().controls.copy()
    session.rewind(7)
    while len(session.recorder) < 10:
        session.step()
    assert (session.replay().controls == before).all()
    assert np.unique(before[:, 0], axis=0).size > 3


def test_it_is_in_a_pool_and_stays_there_under_its_name(tmp_path):
    """The environments fight the copies in the run's folder."""
    made = exports.make(tmp_path)
    words = ("--env.opponent", "pool", "--pool.own", "False", "--pool.include", str(made.exported))
    assert runs.train(tmp_path, *words) == 0
    made.exported.unlink()
    [copy] = (tmp_path / "run" / "pool").iterdir()
    assert copy.suffix == ".onnx"
    assert runs.resume(tmp_path / "run", "--train.total-timesteps", "10_240") == 0
    opponents = PoolCrew(tmp_path / "run" / "pool.json", 4, seed=0)
    flown = opponents.act(np.zeros((4, 71), np.float32))
    assert opponents.names() == [str(made.exported)] * 4
    assert flown.shape == (4, 3)


# Files that cannot be used


def foreign(**metadata: str) -> bytes:
    """Returns an .onnx file of another program."""
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])],
        "relu",
        [value("x", onnx.TensorProto.FLOAT, ["n", 3])],
        [value("y", onnx.TensorProto.FLOAT, ["n", 3])],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10
    )
    onnx.helper.set_model_props(model, metadata)
    return model.SerializeToString()


def edited(**metadata: object):
    """Returns a function that changes the metadata of an .onnx file."""
    return lambda data: exports.with_metadata(data, **metadata)


def remembers(size: object):
    """Returns a function that changes the declared size of the memory."""
    return edited(rnn_name='"Recurrent"', rnn={"input_size": 16, "hidden_size": size})


def reweighted(change):
    """Returns a function that changes the first weight of an .onnx file; it gets no digest."""

    def spoil(data: bytes) -> bytes:
        model = onnx.load_from_string(exports.with_metadata(data))
        change(model.graph.initializer[0])
        return model.SerializeToString()

    return spoil


def set_number(value: float):
    def change(tensor: onnx.TensorProto) -> None:
        values = onnx.numpy_helper.to_array(tensor).copy()
        values.flat[5] = value
        tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))

    return change


def move_out(tensor: onnx.TensorProto) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")


def split_by_input(data: bytes) -> bytes:
    """Returns a graph with a shape that depends on the input's values, which only a run detects."""
    model = onnx.load_from_string(exports.with_metadata(data))
    [split] = [node for node in model.graph.node if node.op_type == "Split"]
    [lengths] = [part for part in model.graph.initializer if part.name == split.input[1]]
    model.graph.initializer.remove(lengths)
    model.graph.node.insert(0, onnx.helper.make_node("Shape", ["observation"], [lengths.name]))
    return model.SerializeToString()


CONTINUOUS = {"action_mode": "continuous"}
INPUTS = r"whose inputs are {'observation': 71}, expected {'observation': "


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data[: len(data) // 2], "damaged, or not an ONNX file"),
        (lambda data: b"", "damaged, or not an ONNX file"),
        (lambda data: b"PK\x03\x04" + bytes(1000), "damaged, or not an ONNX file"),
        (lambda data: data.replace(b'"time_left"', b'"\xff\xff\xff\xff_left"'), "damaged, or not"),
        (lambda data: foreign(), "not a midrange_puffer policy"),
        (lambda data: foreign(author="other", format="other"), "not a midrange_puffer policy"),
        (edited(format=None), "not a midrange_puffer policy"),
        (edited(env="{"), "not a midrange_puffer policy"),
        (edited(author="[" * 100_000), "not a midrange_puffer policy"),
        (edited(version=2), "its version is 2, expected 1"),
        (edited(observation_version=99), "its observation_version is 99, expected 1"),
        (edited(observation_version=None), "its observation_version is None, expected 1"),
        (edited(env=None), "its env is missing"),
        (edited(env=[1]), r"its env = \[1\]: must be an object"),
        (edited(rnn_name='"Recurrent"'), INPUTS + r"71, 'lstm_h': 16"),
        (edited(env={"observation": "stg"}), INPUTS + r"79}"),
        (edited(env=CONTINUOUS, action_nvec=[]), "its action_nvec is"),
        (
            edited(env=CONTINUOUS, action_nvec="null"),
            "whose outputs are {'rudder': 5, 'throttle': 3, 'fire': 2, 'value': 1}, expected {'me",
        ),
        (split_by_input, r"its graph cannot be computed \("),
        (reweighted(set_number(np.nan)), r"its weight \S+ is beyond 1e\+06 or has what"),
        (reweighted(set_number(-2e6)), r"its weight \S+ is beyond 1e\+06 or has what"),
        (reweighted(move_out), r"damaged.*its \S+ is in another file"),
        (reweighted(lambda tensor: tensor.dims.__setitem__(0, 10**12)), "damaged"),
        *((remembers(size), r"its rnn") for size in (40_000, -1, 16.0, None, [1])),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, spoil, reason):
    made = exports.make(tmp_path)
    made.exported.write_bytes(spoil(made.exported.read_bytes()))
    with pytest.raises(CheckpointError, match=f"^{made.exported}: .*{reason}"):
        load_policy(made.exported)


def test_eval_names_a_damaged_file(tmp_path):
    made = exports.make(tmp_path)
    made.exported.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"levels\.onnx: "):
        cli.run("eval", ["--load-model-path", str(made.exported)])


def test_a_missing_file_is_named(tmp_path):
    """The error is the same as for a missing model."""
    folder = tmp_path / "folder.onnx"
    folder.mkdir()
    for path, reason in (
        (tmp_path / "none.onnx", "no such file; expected an exported policy"),
        (folder, "not a file; expected an exported policy"),
        (tmp_path / "none.pt", r"no such file; expected a run folder's model_\*\.pt"),
    ):
        with pytest.raises(CheckpointError, match=f"{path}: {reason}"):
            load_policy(path)


def test_without_onnxruntime_the_extra_is_named_and_models_still_load(tmp_path, monkeypatch):
    made = exports.make(tmp_path)
    exports.hide("onnxruntime", monkeypatch)
    with pytest.raises(UsageError, match=r"onnxruntime: pip install 'midrange_puffer\[onnx\]'"):
        cli.run("eval", ["--load-model-path", str(made.exported)])
    assert load_policy(made.model)[1]["agent_steps"] == exports.AGENT_STEPS


# Bit rot, and what a file declares


def test_no_file_with_a_flipped_bit_is_loaded(tmp_path):
    """This includes flips in the digest and in the entry that announces it."""
    made = exports.make(tmp_path)
    whole = made.exported.read_bytes()
    bits = [(place, bit) for place in range(len(whole) - 96, len(whole)) for bit in (0, 5)]
    last = (whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :] for at, bit in bits)
    for damaged in (*flipped(whole, 100), *last):
        made.exported.write_bytes(damaged)
        with pytest.raises(CheckpointError):
            load_policy(made.exported)


def test_a_file_without_a_digest_is_taken(tmp_path):
    """Other programs write no digest."""
    made = exports.make(tmp_path)
    _, entries = load_policy(made.exported)
    made.exported.write_bytes(exports.with_metadata(made.exported.read_bytes()))
    _, its = load_policy(made.exported)
    assert its == {name: entries[name] for name in entries.keys() - {"sealed", "sha256"}}

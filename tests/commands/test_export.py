"""`puffer export`: files that compute what the weights say, explain themselves, are checked."""

import copy
import json
import re

import exports
import numpy as np
import onnx
import onnxruntime
import pytest
import quick_fights
import runs
import torch
from needs import nightly

import midrange_puffer
from midrange_puffer.commands import cli, export
from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.game.observation import OBSERVATION_VERSION, STG_FEATURES
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies import exported
from midrange_puffer.policies.exported import ExportedPolicy
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player

pytestmark = pytest.mark.slow

ENGAGEMENTS = 8


def watched(policy: torch.nn.Module) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns what red sees: engagements [n], observations float32 [n, features]."""
    seen = []

    def watch(index, pending, observations, commands, orders) -> None:
        seen.append((np.flatnonzero(pending), observations[pending, 0]))

    parameters = resolve(quick_fights.SHORT)
    play([Fight(policy, "evader,ace")], ENGAGEMENTS, watch=watch, parameters=parameters)
    return seen


def session(made: exports.Made) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(made.exported)


def metadata(made: exports.Made) -> dict[str, object]:
    texts = session(made).get_modelmeta().custom_metadata_map
    return {name: json.loads(text) for name, text in texts.items()}


def run_export(*words: object) -> int:
    return cli.run("export", [str(word) for word in words])


@pytest.mark.parametrize("kind", exports.KINDS)
def test_the_graph_computes_what_the_weights_say(tmp_path, kind):
    """Compares with float64 formulas of a textbook, in fights that the policy flies."""
    made = exports.make(tmp_path, kind)
    weights = {name: value.double().numpy() for name, value in made.policy.state_dict().items()}
    graph = session(made)
    names = [output.name for output in graph.get_outputs()]
    memories = [
        {name: np.zeros((ENGAGEMENTS, exports.HIDDEN), dtype) for name in ("lstm_h", "lstm_c")}
        for dtype in (np.float32, np.float64)
    ]
    recurrent = "memory" in kind
    largest = 0.0
    for envs, observation in watched(made.policy):
        found, wanted = (
            {name: values[envs] for name, values in memory.items()} if recurrent else {}
            for memory in memories
        )
        found = dict(
            zip(names, graph.run(None, {"observation": observation, **found}), strict=True)
        )
        wanted = exports.forward(weights, {"observation": observation, **wanted})
        assert list(found) == list(wanted)
        for outputs, memory in zip((found, wanted), memories, strict=True):
            for name in memory if recurrent else ():
                memory[name][envs] = outputs[f"next_{name}"]
        for name, values in wanted.items():
            assert found[name].dtype == np.float32
            np.testing.assert_allclose(found[name], values, rtol=1e-5, atol=1e-5)
            largest = max(largest, np.abs(values).max())
    assert len(envs) > 0
    assert largest > 0.5  # there was something to compare


@pytest.mark.parametrize("kind", exports.KINDS)
def test_rows_of_a_batch_are_apart_and_as_many_as_you_like(tmp_path, kind):
    graph = session(exports.make(tmp_path, kind))
    random = np.random.default_rng(0)
    inputs = {
        value.name: random.uniform(-1, 1, (7, value.shape[1])).astype(np.float32)
        for value in graph.get_inputs()
    }
    together = graph.run(None, inputs)
    for row in range(7):
        alone = graph.run(None, {name: values[row : row + 1] for name, values in inputs.items()})
        for one, all_rows in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[0], all_rows[row], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", exports.KINDS)
def test_the_file_is_sound_and_explains_itself(tmp_path, kind):
    made = exports.make(tmp_path, kind)
    model = onnx.load(made.exported)
    onnx.checker.check_model(model, full_check=True)
    values = [*model.graph.input, *model.graph.output]
    assert all(len(value.doc_string) > 20 for value in values)
    assert "every 0.5 s" in model.doc_string
    assert ("softmax" in model.doc_string) == ("levels" in kind)
    assert ("next_lstm_h" in model.doc_string) == ("memory" in kind)
    text = made.exported.read_bytes()
    for private in (midrange_puffer.__path__[0], str(tmp_path), ".py"):
        assert private.encode() not in text


@pytest.mark.parametrize("kind", exports.KINDS)
def test_the_metadata_have_the_tables_and_all_of_the_model_but_its_weights(tmp_path, kind):
    made = exports.make(tmp_path, kind)
    entries = metadata(made)
    _, model = load_policy(made.model)
    assert {name: entries[name] for name in model} == model
    assert entries["agent_steps"] == exports.AGENT_STEPS
    assert entries["observation_version"] == OBSERVATION_VERSION
    rows = [tuple(feature.values()) for feature in entries["features"]]
    assert [list(feature) for feature in entries["features"][:1]] == [
        ["name", "scale", "lateral", "meaning"]
    ]
    wanted = [(f.name, f.scale, f.lateral, f.meaning) for f in STG_FEATURES]
    assert rows == wanted[: made.policy.features]
    assert entries["observation"] == ("default" if len(rows) < len(wanted) else "stg")
    continuous = "continuous" in kind
    assert entries["action_mode"] == ("continuous" if continuous else "discrete")
    if continuous:
        ranges = [action["range"] for action in entries["actions"].values()]
        assert ranges == [[-1, 1], [0, 1], [0, 1]]
        return
    for column, action in enumerate(entries["actions"].values()):
        for level, value in enumerate(action["levels"]):
            levels = np.eye(3, dtype=int)[[column]] * level
            assert controls(levels, PLANE)[0, column] == value
    assert [len(action["levels"]) for action in entries["actions"].values()] == [5, 3, 2]


def test_onnxruntime_alone_can_fly_it(tmp_path):
    """The file alone says how features in their units become controls."""
    made = exports.make(tmp_path)
    about = metadata(made)
    units = dict.fromkeys((feature["name"] for feature in about["features"]), 0.0)
    units |= {"own_speed": 300, "enemy_range": 20_000, "enemy_ahead": 1, "own_ammunition": 6}
    observation = [np.clip(units[f["name"]] / f["scale"], -1, 1) for f in about["features"]]
    outputs = session(made).run(None, {"observation": np.array([observation], np.float32)})
    flown = [
        action["levels"][logits.argmax()]
        for action, logits in zip(about["actions"].values(), outputs, strict=False)
    ]
    player = Player(made.policy, 1, 0, greedy=True)
    assert player.act(np.array([observation], np.float32), np.array([0])).tolist() == [flown]


# The command


def test_the_command_writes_the_file_and_prints_the_difference(tmp_path, capsys):
    made = exports.make(tmp_path, "continuous, memory")
    out = tmp_path / "out" / "fighter.onnx"
    out.parent.mkdir()
    assert run_export("--load-model-path", made.model, "--onnx", out) == 0
    assert out.read_bytes() == made.exported.read_bytes()
    assert list(out.parent.iterdir()) == [out]
    printed = capsys.readouterr()
    count, engagements = re.search(r"in (\d+) observations of (\d+) eng", printed.out).groups()
    # An engagement has at most 40 decisions of 0.5 s.
    assert 2 * int(engagements) < int(count) <= 40 * int(engagements)
    assert float(re.search(r"by at most (\S+) of", printed.out)[1]) <= 1e-5
    assert "Warning" not in printed.err


class Spoilt(ExportedPolicy):
    """An onnxruntime session whose results are slightly wrong."""

    where = "actions"

    def forward_eval(self, observations, state):
        actions, value = super().forward_eval(observations, state)
        error = 1e-4
        if self.where == "actions":
            actions = (actions[0], actions[1] + error, actions[2])
        elif self.where == "value":
            value = value * float("nan")
        else:
            state[self.where] = state[self.where] + error
        return actions, value


def approximate(policy: torch.nn.Module) -> torch.nn.Module:
    """The policy but for one GELU by its formula of tanh, at most 5e-4 beside it."""
    wrong = copy.deepcopy(policy)
    encoder = getattr(wrong, "policy", wrong).encoder
    encoder[1] = torch.nn.GELU(approximate="tanh")
    return wrong


def halved(policy: torch.nn.Module) -> torch.nn.Module:
    """The policy with weights rounded to half the bits."""
    return copy.deepcopy(policy).half().float()


@pytest.mark.parametrize(("kind", "gain"), [("levels", 5000), nightly("levels, memory", 10_000)])
def test_rounding_is_told_from_what_is_wrong(tmp_path, kind, gain):
    """Large policies with logits as after long training leave room between both."""
    policy, _, file = exports.make(tmp_path, kind, hidden=128, gain=gain)
    exported, _ = load_policy(file)
    player = Player(policy, ENGAGEMENTS, seed=0)
    logits = [torch.cat(player.see(seen, envs), dim=1) for envs, seen in watched(policy)]
    assert 20 < torch.cat(logits).abs().max() < 50
    parameters = resolve(quick_fights.SHORT)
    _, difference = export.compare(policy, exported, parameters=parameters)
    assert difference < 1e-5 / 4
    for spoil in (approximate, halved):
        with pytest.raises(export.ExportError, match="nothing is written"):
            export.compare(policy, spoil(policy), parameters=parameters)


@pytest.mark.parametrize("where", ["actions", "value", "lstm_h", "lstm_c"])
def test_nothing_is_written_where_onnxruntime_differs(tmp_path, monkeypatch, where):
    """A ten-thousandth is enough, in the actions or in the memory."""
    made = exports.make(tmp_path, "levels, memory")
    out = tmp_path / "kept.onnx"
    out.write_bytes(b"as it was")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(Spoilt, "where", where)
    monkeypatch.setattr(exported, "ExportedPolicy", Spoilt)
    monkeypatch.setattr(exported, "to_onnx", lambda *_: made.exported.read_bytes())
    with pytest.raises(export.ExportError, match=r"nothing is written: in .* differ by up to"):
        run_export("--load-model-path", made.model, "--onnx", out)
    assert out.read_bytes() == b"as it was"
    assert sorted(tmp_path.iterdir()) == before


def test_a_policy_that_cannot_be_exported_is_refused_at_once(tmp_path, monkeypatch):
    made = exports.make(tmp_path)
    monkeypatch.setattr(exported, "to_onnx", None)  # nobody comes so far
    for words, reason in (
        ((), "--onnx is missing"),
        (("--onnx", tmp_path / "x.pt"), r"x\.pt: must end in \.onnx"),
        (("--onnx", tmp_path / "no" / "x.onnx"), "there is no folder .*no"),
        (("--onnx", tmp_path), r"must end in \.onnx"),
        (("--onx", "x.onnx"), "--onx: no such option; did you mean '--onnx'"),
    ):
        with pytest.raises(UsageError, match=reason):
            run_export("--load-model-path", made.model, *words)
    with pytest.raises(UsageError, match=r"levels\.onnx: is exported already; .*model_\*\.pt"):
        run_export("--load-model-path", made.exported, "--onnx", tmp_path / "x.onnx")
    for package in ("onnx", "onnxruntime", "onnxscript"):
        with monkeypatch.context() as patch:
            exports.hide(package, patch)
            with pytest.raises(UsageError, match=rf"{package}: pip install .*\[onnx\]"):
                run_export("--load-model-path", made.model, "--onnx", tmp_path / "x.onnx")


def test_an_exported_policy_is_not_trained(tmp_path):
    made = exports.make(tmp_path)
    with pytest.raises(ConfigError, match=r"load_model_path = .*levels\.onnx: .*cannot be trained"):
        runs.train(tmp_path, "--base.load-model-path", str(made.exported))


def test_the_weights_alone_are_loaded_by_torch(tmp_path, capsys):
    path = tmp_path / "weights.pt"
    assert cli.run("export", ["--load-model-path", "trained", "--state-dict", str(path)]) == 0
    assert f"weights written to {path}" in capsys.readouterr().out
    expected = load_policy("trained")[0].state_dict()
    weights = torch.load(path, weights_only=True)
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], expected[name]) for name in expected)

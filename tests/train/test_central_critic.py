"""Runs with a central critic: both engines, resumes, every way of training, and what is saved."""

import shutil

import numpy as np
import onnx
import pytest
import runs
import torch
from machines import machine
from needs import nightly

from midrange_puffer.config.configuration import ConfigError
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.settle import settle
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.game.observation import RADAR_FEATURES, spaces_of
from midrange_puffer.policies.exported import to_onnx
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import CheckpointError
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train import run_folder

RADAR = ("--env.sensing=radar",)
SIDE, TRUTH = "--train.critic=side", "--train.critic=truth"
SHOOTERS = (*runs.TEAM, "--env.opponent=shooter", "--env.time-limit=60")
ADAM = ("--train.optimizer=adam", "--train.learning-rate=0.003")


def weights(run) -> dict[str, torch.Tensor]:
    """Returns the weights of a run's last checkpoint, those of the critic among them."""
    state = run_folder.load_state(run)
    model = torch.load(run / state["model"], weights_only=True)["weights"]
    return model | {f"central.{name}": weight for name, weight in state["critic"].items()}


@pytest.mark.parametrize(
    "options", [[*SHOOTERS, SIDE], nightly([*SHOOTERS, SIDE, *ADAM]), [*RADAR, TRUTH, *ADAM]]
)
def test_a_run_goes_on_with_the_other_engine(tmp_path, options):
    """With dead fighters, too, both engines compute the same next update."""
    words = [*options, "--train.anneal-lr=False", "--train.bptt-horizon=32"]
    words += ["--train.minibatch-size=1024", "--train.kl-coef=0.1"]
    assert (
        runs.train(tmp_path, *words, "--train.total-timesteps=12000", "--train.engine=torch") == 0
    )
    steps = run_folder.load_state(tmp_path / "run")["global_step"]
    for engine in ("torch", "native"):
        shutil.copytree(tmp_path / "run", tmp_path / engine)
        words = [f"--train.total-timesteps={steps + 1}", f"--train.engine={engine}"]
        assert runs.resume(tmp_path / engine, *words) == 0
    before, *after = (weights(tmp_path / name) for name in ("run", "torch", "native"))
    for kind in ("central", "actor"):
        names = [name for name in before if name.startswith(kind)]
        moved = max(float((after[0][name] - before[name]).abs().max()) for name in names)
        assert moved > 1e-3
        for name in names:
            torch.testing.assert_close(
                after[0][name], after[1][name], rtol=0, atol=1e-3 * moved, msg=name
            )


@pytest.mark.parametrize(
    "options",
    [
        [*runs.TEAM, SIDE, "--env.opponent=self:1,pool:1,straight:2", "--env.blue-size=3",
         "--train.minibatch-size=256"],
        [*runs.TEAM, *RADAR, TRUTH, "--base.rnn-name=Recurrent", "--env.opponent=self:1,ace:1"],
        [*runs.TEAM, SIDE, "--experience-buffer.capacity=256", "--env.action-mode=continuous"],
        [*RADAR, TRUTH, "--base.policy-name=Attention", "--policy.heads=2"],
        [*RADAR, SIDE, "--vec.backend=Multiprocessing", "--vec.num-envs=2",
         "--vec.num-workers=2", "--vec.batch-size=1", "--train.batch-size=2048"],
    ],
)  # fmt: skip
def test_policies_train_in_every_way(tmp_path, options):
    assert runs.train(tmp_path, *options, "--train.total-timesteps=8192") == 0
    row = runs.rows(tmp_path / "run")[-1]
    assert np.isfinite([row["losses/policy_loss"], row["losses/value_loss"]]).all()


def test_a_curriculum_goes_from_twos_to_threes(tmp_path):
    """The critic, too, is of sides of any size."""
    words = ["--curriculum.stages=twos,threes", "--curriculum.twos.max-steps=4096"]
    words += ["--curriculum.threes.env.red-size=3", "--train.total-timesteps=12000"]
    assert runs.train(tmp_path, *runs.TEAM, SIDE, *words) == 0
    state = run_folder.load_state(tmp_path / "run")
    assert state["curriculum"]["stage"] == "threes"
    assert runs.resume(tmp_path / "run", "--train.total-timesteps=14000") == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("truth")
    assert runs.train(folder, *RADAR, TRUTH, "--train.total-timesteps=4096") == 0
    return folder / "run"


def test_saved_and_exported_models_have_the_actor_only(run):
    """Its weights and its inputs are those of a policy that never had a central critic."""
    policy, entries = load_policy(run / run_folder.load_state(run)["model"])
    fresh = make_policy(spaces_of("radar"), {"hidden_size": 16}).state_dict()
    found = policy.state_dict()
    assert {name: one.shape for name, one in found.items()} == {
        name: one.shape for name, one in fresh.items()
    }
    assert not any(weight.any() for weight in policy.critic.parameters())  # it has no values
    graph = onnx.load_from_string(to_onnx(policy, entries)).graph
    shapes = [[size.dim_value for size in each.type.tensor_type.shape.dim] for each in graph.input]
    assert [shape[1:] for shape in shapes] == [[len(RADAR_FEATURES)]]
    assert not any("central" in each.name for each in graph.initializer)
    assert evaluate(policy, "straight", 4, sensing="radar")["score"] >= 0


def test_a_run_goes_on_with_its_critic(run, tmp_path, capsys):
    copied = shutil.copytree(run, tmp_path / "run")
    before = weights(copied)
    with pytest.raises(ConfigError, match=r"train.critic: is truth in .* cannot become own"):
        runs.resume(copied, "--train.critic=own", "--train.total-timesteps=9000")
    assert runs.resume(copied, "--train.total-timesteps=5120") == 0
    assert any((weights(copied)[name] != before[name]).any() for name in before)
    state = run_folder.load_state(copied)
    torch.save(state | {"critic": None}, copied / run_folder.STATE)
    with pytest.raises(CheckpointError, match=r"its critic does not fit train.critic"):
        runs.resume(copied, "--train.total-timesteps=9000")
    torch.save(state | {"critic": {"value.bias": 1.0}}, copied / run_folder.STATE)
    with pytest.raises(CheckpointError, match=r"its critic is .* expected the weights of a critic"):
        runs.resume(copied, "--train.total-timesteps=9000")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--train.critic=truth"], "train.critic = truth: with sensing = full every fighter"),
        (
            ["--train.critic=sides"],
            "train.critic = sides: must be one of own, side, truth; did",
        ),
        ([SIDE, f"--base.policy-name={__file__}:Mine"], "Mine has a critic of its own; a central"),
    ],
)
def test_a_critic_that_does_not_fit_is_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        settle(load_config(None, words), machine())


class Mine(torch.nn.Module):
    """A user's policy, which is only named here."""

    def __init__(self, env: object, hidden_size: int = 16) -> None:
        super().__init__()


def test_the_side_of_one_against_one_is_told(capsys):
    settle(load_config(None, [SIDE]), machine())
    assert "critic side: one fighter a side, so it sees the agent's own" in capsys.readouterr().out

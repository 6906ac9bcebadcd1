"""The pull towards a reference policy: its effect, its renewal, and its checkpoint."""

import copy
import shutil

import learners
import pytest
import runs
import torch
from needs import nightly
from torch.distributions import Categorical, kl_divergence

from midrange_puffer.errors import CheckpointError
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.native import flat_copy, parts
from midrange_puffer.train import run_folder
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.update import Schedule

pytestmark = pytest.mark.slow

# Nothing but the pull moves the policy.
PULL = (
    "--train.ent-coef=0", "--train.vf-coef=0", "--train.kl-coef=1", "--train.kl-interval=1000",
    "--train.update-epochs=4", "--train.optimizer=adam", "--train.learning-rate=0.003",
    "--train.total-timesteps=1_000_000",
)  # fmt: skip


def divergence(policy, reference, observations) -> float:
    """Returns the mean of KL(policy, reference) over the whole distributions."""
    heads = []
    for one in (policy, reference):
        with torch.no_grad():
            logits, _ = one(observations)
        heads.append([Categorical(logits=head.double()) for head in logits])
    return float(sum(kl_divergence(*pair).mean() for pair in zip(*heads, strict=True)))


@pytest.mark.parametrize(
    ("coefficient", "engine"), [(0, "native"), (1, "native"), nightly(0, "torch"), (1, "torch")]
)
def test_the_pull_makes_the_divergence_small(tmp_path, engine, coefficient):
    options = (*learners.WHOLE, *PULL, f"--train.engine={engine}")
    with learners.small_trainer(tmp_path, *options, f"--train.kl-coef={coefficient}") as trainer:
        reference = copy.deepcopy(trainer.uncompiled_policy)
        seed_everything(5)
        flat = flat_copy(reference)
        flat += 0.3 * torch.randn(flat.shape)
        for one, part in zip(reference.parameters(), parts(flat, reference), strict=True):
            one.data.copy_(part)
        trainer.engine.set_reference(flat)
        found = []
        for _ in range(60):
            trainer.evaluate()
            trainer.rewards.zero_()
            trainer.values.zero_()  # with which all advantages are 0
            trainer.learner.update(False, Schedule(1, 100, 0.1, 0.0))
            seen = trainer.observations.flatten(0, 1)
            found.append(divergence(trainer.uncompiled_policy, reference, seen))
    assert found[0] > 0.03
    if coefficient:
        assert found[-1] < found[0] / 4
    else:
        assert found[-1] > found[0] / 2


@pytest.mark.parametrize("engine", ["torch", "native"])
def test_the_reference_is_renewed_at_its_interval(tmp_path, engine):
    options = ("--train.kl-coef=0.1", "--train.kl-interval=3", f"--train.engine={engine}")
    with learners.small_trainer(tmp_path, *options) as trainer:
        for epoch in range(7):
            trainer.evaluate()
            before = flat_copy(trainer.uncompiled_policy)
            trainer.train()
            if epoch % 3 == 0:
                renewed = before
            assert torch.equal(trainer.engine.reference, renewed)
            assert not torch.equal(flat_copy(trainer.uncompiled_policy), renewed)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of three updates, whose reference is the policy after the second."""
    folder = tmp_path_factory.mktemp("pulled")
    words = ("--train.kl-coef=0.1", "--train.kl-interval=2", "--train.checkpoint-interval=1")
    assert runs.train(folder, *words, "--train.total-timesteps=3072") == 0
    return folder / "run"


def test_a_run_that_goes_on_has_its_reference(trained, tmp_path, monkeypatch):
    run, found = shutil.copytree(trained, tmp_path / "run"), []
    after_two, _ = load_policy(run / run_folder.model_name(2))
    evaluate = StageTrainer.evaluate

    def look(self):
        found.append(self.engine.reference.clone())
        return evaluate(self)

    monkeypatch.setattr(StageTrainer, "evaluate", look)
    assert runs.resume(run, "--train.total-timesteps=5120") == 0
    assert torch.equal(found[0], flat_copy(after_two))  # before the update 3, which keeps it
    assert torch.equal(found[1], found[0])


@pytest.mark.parametrize("wrong", [torch.ones(3), torch.tensor([float("nan")]), "policy", 5])
def test_another_reference_is_refused(trained, tmp_path, wrong):
    run = shutil.copytree(trained, tmp_path / "run")
    state = torch.load(run / run_folder.STATE, weights_only=True)
    torch.save(state | {"reference": wrong}, run / run_folder.STATE)
    with pytest.raises(CheckpointError, match=r"trainer_state\.pt: its reference"):
        runs.resume(run, "--train.total-timesteps=5120")

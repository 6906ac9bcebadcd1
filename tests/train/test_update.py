"""The update: PuffeRL's own where experience is the policy's own, V-trace's where it is not."""

import copy

import learners
import numpy as np
import pytest
import runs
import torch
from learners import (
    WHOLE,
    Reference,
    check_gradient,
    copied_gradient,
    gathered,
    invent,
    invented_batch,
    small_trainer,
    watched_steps,
)

from midrange_puffer.config.reading import load_config
from midrange_puffer.game.observation import SPACES
from midrange_puffer.policies import model_file
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train.fitted_pufferl import pufferl, quiet
from midrange_puffer.train.trainer import Trainer
from midrange_puffer.train.update import Learner, Schedule, vtrace_advantages

MEMORY = ("--base.rnn-name=Recurrent",)
# No engagement ends, where PuffeRL's own update would not forget it.
ENDLESS = ("--env.time-limit=300", "--policy.fire-bias=-20")

pytestmark = pytest.mark.slow


def train_as_pufferl(self: Trainer) -> dict[str, float]:
    """PuffeRL's own update."""
    self.last_log_time = 0.0  # it logs where its last log is long enough ago
    with quiet():
        return pufferl.PuffeRL.train(self)


@pytest.mark.parametrize(
    "options",
    [
        ["--train.prio-alpha=0.5", "--train.prio-beta0=0.3"],
        [*MEMORY, *ENDLESS, "--train.update-epochs=2", "--train.vtrace-c-clip=0.8"],
        ["--env.action-mode=continuous", "--train.optimizer=adam", "--train.clip-coef=0.05"],
    ],
)
def test_it_is_pufferls_own_to_the_bit(tmp_path, monkeypatch, options):
    options = [*options, "--train.minibatch-size=256", "--train.checkpoint-interval=4"]
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        if name == "theirs":
            monkeypatch.setattr(Trainer, "train", train_as_pufferl)
        assert runs.train(tmp_path / name, *options) == 0
    ours, theirs = (tmp_path / name / "run" for name in ("ours", "theirs"))
    for path in theirs.glob(model_file.MODELS):
        ours_, theirs_ = (torch.load(folder / path.name)["weights"] for folder in (ours, theirs))
        assert all(torch.equal(ours_[name], theirs_[name]) for name in theirs_)
    # Its row tells the losses of the update before.
    for row, next_row in zip(runs.rows(ours), runs.rows(theirs)[1:], strict=False):
        losses = {name: value for name, value in next_row.items() if name.startswith("losses/")}
        assert len(losses) == 8
        assert not any(name in options for name in ENDLESS) or "environment/score" not in row
        assert {name: row[name] for name in losses} == pytest.approx(losses, rel=1e-5)


def test_before_the_first_step_the_policy_is_what_gathered(tmp_path):
    """Also after an end in a segment, where its memory begins anew in both."""
    with small_trainer(tmp_path, *WHOLE, *MEMORY, "--train.learning-rate=0.1") as trainer:
        for _ in range(4):
            trainer.evaluate()
            ends = trainer.terminals[:, 1:].any(dim=1)
            trainer.train()
            # As the only minibatch of the update has found it.
            ratio = trainer.learner.experience.ratio[ends]
            torch.testing.assert_close(ratio, torch.ones_like(ratio), rtol=0, atol=1e-5)
        assert len(ratio) > 8


@pytest.mark.parametrize("clips", [(1.0, 1.0), (0.7, 1.5), (1000.0, 0.0)])
def test_advantages_are_those_of_the_paper(clips):
    rng = np.random.default_rng(5)
    train = {"gamma": 0.97, "gae_lambda": 0.9, "vtrace_rho_clip": clips[0]}
    train["vtrace_c_clip"] = clips[1]
    shape = (20, 12)
    values, rewards = rng.normal(size=shape), rng.normal(size=shape)
    terminals = (rng.random(shape) < 0.15).astype(float)
    ratio = rng.lognormal(sigma=0.7, size=shape)
    parts = (values, rewards, terminals, ratio)
    ours = vtrace_advantages(*(torch.tensor(part, dtype=torch.float32) for part in parts), train)
    np.testing.assert_allclose(ours, learners.vtrace(*parts, train), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rnn", ["None", "Recurrent"])
@pytest.mark.parametrize("clips", [(1.0, 1.0), (1.5, 0.8)])
def test_old_experience_is_corrected_in_every_pass(tmp_path, rnn, clips):
    """Also where the policy is no more the one that the clip is around, from the second on."""
    options = [f"--base.rnn-name={rnn}", "--train.update-epochs=3", "--train.learning-rate=0.3"]
    options += [f"--train.vtrace-rho-clip={clips[0]}", f"--train.vtrace-c-clip={clips[1]}"]
    options += ["--train.clip-coef=0.02", "--train.vf-clip-coef=0.05"]
    with small_trainer(tmp_path, *WHOLE, *options) as trainer:
        trainer.evaluate()
        invent(trainer, seed=1)
        policy, batch = copy.deepcopy(trainer.policy), gathered(trainer)
        seen = watched_steps(trainer)
        trainer.is_off_policy = True
        row = trainer.train()
        reference = Reference(policy, batch, trainer.run.config)
    assert len(seen) == 3
    before = policy
    for policy, gradient in seen:
        check_gradient(gradient, reference.gradient(policy, before))
        before = policy
    assert row["losses/clipfrac"] > 0.1
    ratio, _ = reference.latest(seen[0][0])
    assert ratio.std() > 0.3
    assert row["losses/older_ratio"] == pytest.approx(float(ratio.mean()), rel=1e-4)
    above = float((ratio > clips[0]).double().mean())
    assert row["losses/older_clipfrac"] == pytest.approx(above)


def test_accumulated_gradients_are_averaged(tmp_path, monkeypatch):
    """Where PuffeRL adds those of two passes up; half of that, exactly, in binary numbers."""
    steps = []
    for name in ("ours", "theirs"):
        if name == "theirs":
            monkeypatch.setattr(Trainer, "train", train_as_pufferl)
        (tmp_path / name).mkdir()
        options = ["--train.max-minibatch-size=256", "--train.max-grad-norm=1e6"]
        with small_trainer(tmp_path / name, *options) as trainer:
            trainer.evaluate()
            invent(trainer, seed=2)
            seen = watched_steps(trainer)
            trainer.train()
        assert len(seen) == 2  # of 512 of 1,024 decisions each
        steps.append(seen[0][1])
    ours, theirs = steps
    assert all(torch.equal(2 * ours[name], theirs[name]) for name in theirs)


def test_mixed_precision_is_for_the_policy_alone(tmp_path):
    """Of a learner that has no trainer, and has seen no environment."""
    inside, outside, steps = [], [], []

    def is_mixed(into: list[bool]) -> None:
        into.append(torch.is_autocast_enabled("cpu"))

    config = load_config(runs.small_config(tmp_path), [*WHOLE, "--train.batch-size=1024"])
    torch.manual_seed(3)
    policy = make_policy(SPACES, config["policy"])
    before, batch = copy.deepcopy(policy), invented_batch(segments=64, horizon=16)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    learner = Learner(
        policy=policy,
        bare_policy=policy,
        optimizer=optimizer,
        gathered=batch,
        settings=config["train"],
        buffer=config["experience_buffer"],
        precision=torch.autocast("cpu", torch.bfloat16),
        clock=pufferl.Profile(),
    )
    policy.register_forward_hook(lambda *_: is_mixed(inside))
    optimizer.register_step_pre_hook(lambda *_: is_mixed(outside))
    optimizer.register_step_pre_hook(lambda *_: steps.append(copied_gradient(policy)))
    reference = Reference(before, {name: one.clone() for name, one in batch.items()}, config)
    learner.update(True, Schedule(0, 1, 0.0, config["train"]["ent_coef"]))
    assert (set(inside), set(outside)) == ({True}, {False})
    assert not torch.is_autocast_enabled("cpu")
    (gradient,) = steps
    expected = reference.gradient(before, before)
    for name, one in expected.items():
        assert torch.cosine_similarity(gradient[name].flatten(), one.flatten(), dim=0) > 0.99, name

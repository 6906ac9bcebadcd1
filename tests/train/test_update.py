"""The update: PuffeRL's on the policy's own experience, V-trace's on older experience."""

import contextlib
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
from needs import nightly

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.train.experience import (
    Segments,
    draw_without_replacement,
    find_advantages,
)
from midrange_puffer.train.rollout import pufferl
from midrange_puffer.train.torch_engine import TorchEngine
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.update import Learner, Schedule

MEMORY = ("--base.rnn-name=Recurrent",)
# No engagement ends, where PuffeRL's own update would not forget it.
ENDLESS = ("--env.time-limit=300", "--policy.fire-bias=-20")

pytestmark = pytest.mark.slow


def train_as_pufferl(self: StageTrainer) -> dict[str, float]:
    """PuffeRL's own update, with heavyball's Muon."""
    self.last_log_time = 0.0  # it logs where its last log is long enough ago
    self.amp_context = contextlib.nullcontext()
    self.config["anneal_lr"] = False  # by a scheduler of an optimizer that is none of ours
    self.config["use_rnn"] = self.uncompiled_policy.memory_size > 0
    self.ratio, self.truncations = torch.ones_like(self.values), torch.zeros_like(self.values)
    return pufferl.PuffeRL.train(self)


def stock_optimizer(trainer: StageTrainer) -> torch.optim.Optimizer:
    """The optimizer that PuffeRL makes of the same settings."""
    config, parameters = trainer.config, trainer.policy.parameters()
    betas = (config["adam_beta1"], config["adam_beta2"])
    make = torch.optim.Adam
    if config["optimizer"] == "muon":
        import heavyball  # takes seconds

        heavyball.utils.compile_mode = None  # as PuffeRL has it where it does not compile
        make = heavyball.ForeachMuon
    return make(parameters, lr=config["learning_rate"], betas=betas, eps=config["adam_eps"])


PRIORITIES = ["--train.prio-alpha=0.5", "--train.prio-beta0=0.3", "--policy.hidden-size=64"]
MEMORIES = [*MEMORY, *ENDLESS, "--train.vtrace-c-clip=0.8"]
CONTROLS = ["--env.action-mode=continuous", "--train.optimizer=adam", "--train.clip-coef=0.05",
            "--train.learning-rate=0.003"]  # fmt: skip
LAYERS = ["--policy.hidden-layers=3", "--policy.hidden-size=96", "--train.vf-clip-coef=0.02"]


# Both engines learn the same, see test_engines.py, so that each option is tried with one of them.
@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("torch", PRIORITIES), ("torch", MEMORIES), ("native", CONTROLS), ("native", LAYERS),
        nightly("native", PRIORITIES), nightly("native", MEMORIES),
        nightly("torch", CONTROLS), nightly("torch", LAYERS),
    ],
)  # fmt: skip
def test_it_is_pufferls_own_to_rounding_over_64_steps(tmp_path, engine, options, monkeypatch):
    """An update on the same experience with the same minibatches."""
    monkeypatch.setattr(torch, "multinomial", draw_without_replacement)
    if engine == "native" and MEMORY[0] in options:
        engine = "auto"  # which is torch
    options = [*options, "--train.minibatch-size=256", "--train.update-epochs=16"]
    found = {}
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        mine = engine if name == "ours" else "torch"
        with small_trainer(tmp_path / name, *options, f"--train.engine={mine}") as trainer:
            if name == "theirs":
                trainer.optimizer = stock_optimizer(trainer)
            before = copy.deepcopy(trainer.uncompiled_policy)
            seed_everything(1)
            trainer.evaluate()
            seed_everything(2)
            row = trainer.train() if name == "ours" else train_as_pufferl(trainer)
            found[name] = copy.deepcopy(trainer.uncompiled_policy), row, trainer.losses
    (ours, row, _), (theirs, _, losses) = found["ours"], found["theirs"]
    before, ours, theirs = (
        torch.cat([one.detach().flatten() for one in policy.parameters()])
        for policy in (before, ours, theirs)
    )
    moved = float((theirs - before).abs().max())
    assert moved > 0.1
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2.5e-5 * moved)
    assert len(losses) == 8
    for name, value in losses.items():
        assert row[f"losses/{name}"] == pytest.approx(value, rel=1e-3, abs=1e-5), name


def test_before_the_first_step_the_policy_is_what_gathered(tmp_path):
    """Also after an end in a segment, where the memory is empty in both."""
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
    train = TrainConfig(
        gamma=0.97, gae_lambda=0.9, vtrace_rho_clip=clips[0], vtrace_c_clip=clips[1]
    )
    shape = (20, 12)
    values, rewards = rng.normal(size=shape), rng.normal(size=shape)
    terminals = (rng.random(shape) < 0.15).astype(float)
    ratio = rng.lognormal(sigma=0.7, size=shape)
    parts = {"values": values, "rewards": rewards, "terminals": terminals, "ratio": ratio}
    tensors = {name: torch.tensor(part, dtype=torch.float32) for name, part in parts.items()}
    nowhere = dict.fromkeys(("observations", "actions", "logprobs", "proximal"), torch.empty(0))
    tensors |= {"advantages": torch.full(shape, 7.0), "priorities": torch.full(shape[:1], 7.0)}
    experience = Segments(**nowhere, **tensors)
    rows = torch.tensor([3, 0, 19, 8])
    find_advantages(experience, rows, train)
    theirs = np.full(shape, 7.0)
    theirs[rows] = learners.vtrace(*parts.values(), train)[rows]
    np.testing.assert_allclose(experience.advantages, theirs, rtol=1e-4, atol=1e-5)
    sums = np.where(np.isin(np.arange(20), rows), np.abs(theirs).sum(1), 7)
    np.testing.assert_allclose(experience.priorities, sums, rtol=1e-4)


@pytest.mark.parametrize(
    "policy", ["--base.rnn-name=Recurrent", "--train.engine=torch", "--train.engine=native"]
)
@pytest.mark.parametrize("clips", [(1.0, 1.0), (1.5, 0.8)])
def test_old_experience_is_corrected_in_every_pass(tmp_path, policy, clips):
    """From the second minibatch on the policy differs from the one that is clipped around."""
    options = [policy, "--train.update-epochs=3", "--train.learning-rate=0.3"]
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


@pytest.mark.parametrize("engine", ["torch", "native"])
def test_accumulated_gradients_are_averaged(tmp_path, engine, monkeypatch):
    """PuffeRL adds the gradients of two passes; ours is half of that."""
    monkeypatch.setattr(torch, "multinomial", draw_without_replacement)
    steps = []
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        options = ["--train.max-minibatch-size=256", "--train.max-grad-norm=1e6"]
        options += [f"--train.engine={engine if name == 'ours' else 'torch'}"]
        with small_trainer(tmp_path / name, *options) as trainer:
            seed_everything(1)
            trainer.evaluate()
            invent(trainer, seed=2)
            seed_everything(2)
            if name == "ours":
                seen = watched_steps(trainer)
                trainer.train()
                gradients = [gradient for _, gradient in seen]
            else:
                gradients = []
                policy = trainer.policy
                trainer.optimizer.register_step_pre_hook(
                    lambda *_, to=gradients, of=policy: to.append(copied_gradient(of))
                )
                train_as_pufferl(trainer)
        assert len(gradients) == 2  # of 512 of 1,024 decisions each
        steps.append(gradients[0])
    ours, theirs = steps
    check_gradient(ours, {name: one / 2 for name, one in theirs.items()})


def test_parts_that_do_not_fit_a_gpu_are_halved_before_the_first_step(tmp_path, capsys):
    """And are no more than gradients added over smaller parts, to the bit."""
    found = []
    for name, part in (("asked", 128), ("found", 512)):
        (tmp_path / name).mkdir()
        options = ["--train.minibatch-size=512", f"--train.max-minibatch-size={part}"]
        with small_trainer(tmp_path / name, *options, "--train.engine=torch") as trainer:
            learn, learnt = trainer.engine.learn, []

            def learn_few(
                experience, rows, *others, learn=learn, learnt=learnt
            ) -> tuple[torch.Tensor, torch.Tensor]:
                learnt.append(len(rows))
                if len(rows) > 8:
                    raise torch.OutOfMemoryError("CUDA out of memory")
                return learn(experience, rows, *others)

            trainer.engine.learn = learn_few
            trainer.learner._may_not_fit = name == "found"
            seed_everything(1)
            trainer.evaluate()
            trainer.train()
            found.append((learnt, copy.deepcopy(trainer.uncompiled_policy)))
    (asked, ours), (tried, theirs) = found
    assert asked == 8 * [8]
    assert tried == [32, 16, 8, *asked]
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)
    said = capsys.readouterr().err
    assert "train.max_minibatch_size = 512: too much for the GPU's memory" in said
    assert "over parts of 128 decisions" in said


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_is_for_the_policy_alone(tmp_path, precision):
    """A learner without a trainer or an environment; the loss of float16 is scaled."""
    inside, outside, steps = [], [], []

    def is_mixed(into: list[bool]) -> None:
        into.append(torch.is_autocast_enabled("cpu"))

    words = [*WHOLE, "--train.batch-size=1024", f"--train.precision={precision}"]
    config = load_config(runs.small_config(tmp_path), words)
    torch.manual_seed(3)
    policy = make_policy(spaces_of("default"), config["policy"])
    before, batch = copy.deepcopy(policy), invented_batch(segments=64, horizon=16)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    learner = Learner(
        engine=TorchEngine(policy, policy, optimizer, config["train"]),
        gathered=batch,
        settings=config["train"],
        buffer=config["experience_buffer"],
        profile=pufferl.Profile(),
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
        assert float(gradient[name].norm() / one.norm()) == pytest.approx(1, abs=0.05), name


def test_a_step_whose_scaled_gradient_overflows_is_left_out():
    """The scale is halved until the gradient has a place in float16."""
    policy = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    settings = TrainConfig(precision="float16", max_grad_norm=1e6)
    engine = TorchEngine(policy, policy, optimizer, settings)
    before = copy.deepcopy(policy)
    for is_taken in (False, True):
        scale = float(engine._scaler.scale(torch.ones(())))
        loss = policy(torch.ones(1, 2)).sum() * (1 if is_taken else torch.inf)
        engine._scaler.scale(loss).backward()
        engine.step()
        moved = (policy.weight - before.weight).detach()
        torch.testing.assert_close(moved, torch.full((1, 2), -0.1 * is_taken))
        scale *= 1 if is_taken else 0.5
        assert float(engine._scaler.scale(torch.ones(()))) == scale

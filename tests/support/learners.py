"""Trainers for the tests of the update, and its gradient worked out anew in float64."""

import contextlib
import copy
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import runs
import torch
from torch.distributions import Categorical

from midrange_puffer.config.configuration import Config
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.native import parts
from midrange_puffer.train.central import with_critic
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.experience import GATHERED, Segments
from midrange_puffer.train.loggers import Loggers
from midrange_puffer.train.run import new_run
from midrange_puffer.train.stages import first_policy
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.vector import VecEnv, make_env

# 64 segments of 16 decisions an update, all of them in one minibatch, none preferred to others,
# and gradients as they are.
WHOLE = ("--train.minibatch-size=1024", "--train.prio-alpha=0", "--train.max-grad-norm=1e6")


@contextlib.contextmanager
def small_trainer(folder: Path, *options: str) -> Iterator[StageTrainer]:
    """Returns the trainer of a small run, before its first update."""
    words = ["--train.data-dir", str(folder), "--train.run-name=run", *options]
    with contextlib.ExitStack() as stack:
        run = stack.enter_context(new_run(str(runs.small_config(folder)), words))
        seed_everything(0)
        curriculum = Curriculum(run.config, None)
        vecenv = VecEnv(make_env, curriculum.config)
        stack.enter_context(contextlib.closing(vecenv))
        policy = with_critic(first_policy(run), run.config)
        yield StageTrainer(run, curriculum, vecenv, policy, Loggers("run", []))


def invent(trainer: StageTrainer, seed: int, staleness: float = 0.5) -> None:
    """Replaces the rewards, ends and probabilities of the gathered experience.

    `staleness`: of the probabilities; 0: they and the ends stay those of the policy that gathered,
    whose memory depends on the ends.
    """
    rng = torch.Generator().manual_seed(seed)
    shape = trainer.rewards.shape
    trainer.rewards.copy_(torch.randn(shape, generator=rng))
    if staleness:
        trainer.terminals.copy_((torch.rand(shape, generator=rng) < 0.1).float())
        trainer.logprobs.add_(staleness * torch.randn(shape, generator=rng))


def invented_batch(segments: int, horizon: int) -> dict[str, torch.Tensor]:
    """Returns invented experience, by the names of `GATHERED`."""
    spaces = spaces_of("default")
    shape, levels = (segments, horizon), spaces.single_action_space.nvec.tolist()
    return {
        "observations": torch.rand(*shape, *spaces_of("default").single_observation_space.shape) * 2
        - 1,
        "actions": torch.stack([torch.randint(count, shape) for count in levels], dim=2).int(),
        "logprobs": torch.randn(shape) - 3,
        "values": torch.randn(shape),
        "rewards": torch.randn(shape),
        "terminals": (torch.rand(shape) < 0.1).float(),
    }


def gathered(trainer: StageTrainer) -> dict[str, torch.Tensor]:
    """Copies of the buffers."""
    return {name: getattr(trainer, name).clone() for name in GATHERED}


def check_gathered(policy: torch.nn.Module, buffers: dict[str, torch.Tensor]) -> None:
    """What was gathered is of this policy, asked for each engagement's part of a segment alone."""
    for row, ends in enumerate(buffers["terminals"]):
        starts = sorted({0, *ends.nonzero().flatten().tolist(), len(ends)})
        for part in itertools.starmap(slice, itertools.pairwise(starts)):
            seen, acted, chances, worth = (
                buffers[name][row, part]
                for name in ("observations", "actions", "logprobs", "values")
            )
            memory = {"lstm_h": None, "lstm_c": None}
            with torch.no_grad():
                found, values = policy(seen[None] if policy.memory_size else seen, memory)
            if isinstance(found, torch.distributions.Normal):
                logprobs = found.log_prob(acted).sum(1)
            else:
                heads = zip(found, acted.unbind(1), strict=True)
                logprobs = sum(Categorical(logits=head).log_prob(one) for head, one in heads)
            torch.testing.assert_close(logprobs, chances, rtol=0, atol=1e-5)
            torch.testing.assert_close(values.flatten(), worth, rtol=0, atol=1e-5)


def watched_steps(trainer: StageTrainer) -> list[tuple[torch.nn.Module, dict[str, torch.Tensor]]]:
    """Returns a list; each optimizer step appends the policy before it and its gradient."""
    seen, step = [], trainer.engine.step

    def look() -> None:
        policy = copy.deepcopy(trainer.uncompiled_policy)
        if trainer.config["engine"] == "native":
            gradients = parts(trainer.engine._gradient, policy)
            for parameter, gradient in zip(policy.parameters(), gradients, strict=True):
                parameter.grad = gradient
        else:
            pairs = zip(policy.parameters(), trainer.policy.parameters(), strict=True)
            for parameter, its in pairs:
                parameter.grad = its.grad
        seen.append((policy, copied_gradient(policy)))
        step()

    trainer.engine.step = look
    return seen


def copied_gradient(policy: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns a copy of the gradient, by the names of the parameters."""
    return {name: one.grad.clone() for name, one in policy.named_parameters()}


def tensors(tree: object) -> list[torch.Tensor]:
    """Copies of the tensors in nested dictionaries, lists and tuples."""
    if isinstance(tree, torch.Tensor):
        return [tree.clone()]
    branches = tree.values() if isinstance(tree, dict) else tree
    is_leaf = not isinstance(tree, (dict, list, tuple))
    return [] if is_leaf else [tensor for branch in branches for tensor in tensors(branch)]


def watched_minibatches(trainer: StageTrainer) -> list[list[bytes]]:
    """Returns a list; each minibatch appends the observations of its segments, as bytes."""
    seen, learn = [], trainer.engine.learn

    def look(experience: Segments, rows: torch.Tensor, *others: object) -> object:
        seen.append(as_bytes(experience.observations[rows]))
        return learn(experience, rows, *others)

    trainer.engine.learn = look
    return seen


def as_bytes(observations: torch.Tensor) -> list[bytes]:
    """Returns the observations of each segment."""
    return [one.numpy().tobytes() for one in observations]


def vtrace(
    values: np.ndarray,
    rewards: np.ndarray,
    terminals: np.ndarray,
    ratio: np.ndarray,
    train: dict[str, float],
) -> np.ndarray:
    """Returns equation 1 of Espeholt et al. 2018 less the value, for all but the last decision."""
    gamma, decay = train["gamma"], train["gae_lambda"]
    rho = np.minimum(ratio, train["vtrace_rho_clip"])
    c = decay * np.minimum(ratio, train["vtrace_c_clip"])
    discount = gamma * (1 - terminals[:, 1:])  # from a decision to the next
    delta = rho[:, :-1] * (rewards[:, 1:] + discount * values[:, 1:] - values[:, :-1])
    advantages = np.zeros(values.shape)
    last = values.shape[1] - 1
    for s in range(last):
        for t in range(s, last):
            trace = np.prod(discount[:, s:t] * c[:, s:t], axis=1)
            advantages[:, s] += trace * delta[:, t]
    return advantages


class Reference:
    """An update from whole batches in the terms of the papers; float64, but for the policy.

    Args:
        policy: as it is at the start of the update.
        batch: as of `gathered`.
    """

    def __init__(
        self, policy: torch.nn.Module, batch: dict[str, torch.Tensor], config: Config
    ) -> None:
        self.train, self.batch = config["train"], batch
        self.is_recurrent = config["base"]["rnn_name"] is not None
        self.proximal, *_ = self._outputs(policy)

    def latest(self, policy: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
        """Ratios to what acted, and values, as this policy has them."""
        logprobs, values, _ = self._outputs(policy)
        return (logprobs - self.batch["logprobs"].double()).exp().detach(), values.detach()

    def advantages(self, policy: torch.nn.Module) -> torch.Tensor:
        """Returns the advantages under this policy."""
        ratio, values = self.latest(policy)
        parts = (values, self.batch["rewards"], self.batch["terminals"], ratio)
        return torch.from_numpy(vtrace(*(one.double().numpy() for one in parts), self.train))

    def gradient(
        self, policy: torch.nn.Module, before: torch.nn.Module, weights: torch.Tensor | float = 1.0
    ) -> dict[str, torch.Tensor]:
        """Returns the gradient of a policy's loss; `before` is the policy of the previous pass.

        `weights`: of the segments, [segments, 1].
        """
        train, advantages, (_, old) = self.train, self.advantages(before), self.latest(before)
        logprobs, values, entropy = self._outputs(policy)
        ratio = (logprobs - self.proximal.detach()).exp()
        scaled = weights * (advantages - advantages.mean()) / advantages.std()
        clipped = ratio.clamp(1 - train["clip_coef"], 1 + train["clip_coef"])
        surrogate = torch.minimum(ratio * scaled, clipped * scaled).mean()
        returns, clip = advantages + old, train["vf_clip_coef"]
        changed = old + (values - old).clamp(-clip, clip)
        error = torch.maximum((values - returns) ** 2, (changed - returns) ** 2).mean() / 2
        loss = train["vf_coef"] * error - surrogate - train["ent_coef"] * entropy
        parameters = dict(policy.named_parameters())
        found = torch.autograd.grad(loss, [*parameters.values()])
        return dict(zip(parameters, found, strict=True))

    def _outputs(self, policy: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns log-probabilities and values, [segments, horizon], and the mean entropy."""
        seen, actions = self.batch["observations"], self.batch["actions"].flatten(0, 1)
        if self.is_recurrent:
            logits, values = self._remembered(policy)
        else:
            logits, values = policy(seen.flatten(0, 1))
        parts = [Categorical(logits=part.double()) for part in logits]
        pairs = zip(parts, actions.unbind(1), strict=True)
        logprobs = sum(part.log_prob(action) for part, action in pairs)
        entropy = sum(part.entropy() for part in parts).mean()
        shape = self.batch["rewards"].shape
        return logprobs.view(shape), values.double().view(shape), entropy

    def _remembered(self, policy: torch.nn.Module) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Returns the outputs of a policy with a memory for all segments, decision by decision."""
        seen, ends = self.batch["observations"], self.batch["terminals"]
        h = c = torch.zeros(len(seen), policy.memory_size)
        steps = []
        for step in range(seen.shape[1]):
            goes_on = 1 - ends[:, step, None]
            hidden = policy.policy.encode_observations(seen[:, step])
            h, c = policy.cell(hidden, (goes_on * h, goes_on * c))
            logits, values = policy.policy.decode_actions(h)
            steps.append((*logits, values))
        *logits, values = (
            torch.stack(part, dim=1).flatten(0, 1) for part in zip(*steps, strict=True)
        )
        return logits, values


def check_gradient(ours: dict[str, torch.Tensor], reference: dict[str, torch.Tensor]) -> None:
    """Checks that two gradients agree within the rounding of float32."""
    assert ours.keys() == reference.keys()
    for name, one in reference.items():
        size = float(one.abs().max())
        assert size > 0
        torch.testing.assert_close(ours[name], one, rtol=1e-3, atol=1e-4 * size)

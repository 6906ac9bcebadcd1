"""The engine of any policy on any device: torch with its autograd."""

import contextlib
import copy
from collections.abc import Mapping

import numpy as np
import torch

from midrange_puffer.game.actions import within_limits
from midrange_puffer.policies.actors import draw, judge, noise_for
from midrange_puffer.policies.native import flat_copy, parts
from midrange_puffer.train.engine import Judged, Seen, Timer
from midrange_puffer.train.experience import Segments


class TorchEngine:
    """Acts and learns with torch.

    Args:
        policy: as it learns: compiled, or shared by the ranks.
        bare_policy: the same without that.
        optimizer: of its parameters.
        settings: section [train] without any "auto".
        precision: the context in which the policy is computed.
    """

    def __init__(
        self,
        policy: torch.nn.Module,
        bare_policy: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        settings: Mapping[str, object],
        precision: contextlib.AbstractContextManager,
    ) -> None:
        self._policy, self._bare_policy, self._optimizer = policy, bare_policy, optimizer
        self._settings, self._precision = settings, precision
        self._reference_policy: torch.nn.Module | None = None

    def load(self) -> None:
        """Nothing is to be done: the policy and the optimizer are used as they are."""

    @torch.no_grad()
    def act(
        self,
        seen: Seen,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """As `Engine.act`."""
        device, here = buffers["values"].device, torch.from_numpy(seen.observations)
        observations = here.to(device)
        with self._precision:
            found, values = self._policy.forward_eval(observations, state)
        noise = noise_for(len(observations), self._bare_policy.is_continuous, device)
        actions, logprobs = draw(found, noise)
        kept = buffers["observations"]
        kept[rows, step] = here if kept.device.type == "cpu" else observations
        buffers["actions"][rows, step] = actions
        buffers["logprobs"][rows, step] = logprobs
        buffers["values"][rows, step] = values.flatten().float()
        buffers["rewards"][rows, step] = torch.from_numpy(seen.rewards).to(device)
        buffers["terminals"][rows, step] = state["done"].float()
        actions = actions.cpu().numpy()
        return within_limits(actions) if self._bare_policy.is_continuous else actions

    @torch.no_grad()
    def score(self, experience: Segments, rows: torch.Tensor) -> Judged:
        """As `Engine.score`, by the bare policy: ranks may have different numbers of parts."""
        return self._score(self._bare_policy, experience.take(rows))

    @property
    def reference(self) -> torch.Tensor | None:
        """As `Engine.reference`."""
        return self._reference_policy and flat_copy(self._reference_policy).cpu()

    def refer(self, parameters: torch.Tensor | None = None) -> None:
        """As `Engine.refer`."""
        policy = self._reference_policy = copy.deepcopy(self._bare_policy)
        if parameters is not None:
            for one, part in zip(policy.parameters(), parts(parameters, policy), strict=True):
                one.data.copy_(part)

    @torch.no_grad()
    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """As `Engine.score_reference`."""
        return self._score(self._reference_policy, experience.take(rows))[0]

    def _score(self, policy: torch.nn.Module, segments: Segments) -> Judged:
        logprobs, values, _ = self._judge(policy, segments)
        return _spread(logprobs, segments), _spread(values, segments)

    def learn(
        self,
        experience: Segments,
        rows: torch.Tensor,
        advantages: torch.Tensor,
        returns: torch.Tensor,
        ent_coef: float,
        share: float,
        time: Timer,
    ) -> tuple[Judged, torch.Tensor]:
        """As `Engine.learn`."""
        time("train_copy")
        minibatch = experience.take(rows)
        time("train_forward")
        logprobs, values, entropies = self._judge(self._policy, minibatch)
        time("train_misc")
        settings, clip = self._settings, self._settings["clip_coef"]
        living = minibatch.living
        proximal, before, advantages, returns = (
            one.flatten()[living]
            for one in (minibatch.proximal, minibatch.values, advantages, returns)
        )
        logratio = logprobs - proximal
        ratio = logratio.exp()
        of_policy = policy_loss(ratio, advantages, clip)
        of_values = value_loss(values, before, returns, settings["vf_clip_coef"])
        entropy = entropies.mean()
        loss = of_policy + settings["vf_coef"] * of_values - ent_coef * entropy
        with torch.no_grad():
            kl, clipped = (ratio - 1) - logratio, (ratio - 1).abs() > clip
            means = [-logratio.mean(), kl.mean(), clipped.float().mean(), ratio.mean()]
            losses = torch.stack([of_policy, of_values, entropy, *means])  # as LOSSES
        time("learn")
        (loss * share).backward()
        judged = _spread(logprobs.detach(), minibatch), _spread(values.detach(), minibatch)
        return judged, losses

    def step(self) -> None:
        """As `Engine.step`."""
        parameters, limit = self._policy.parameters(), self._settings["max_grad_norm"]
        torch.nn.utils.clip_grad_norm_(parameters, limit)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def _judge(
        self, policy: torch.nn.Module, segments: Segments
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, values and entropies of the decisions of the living."""
        observations, living = segments.observations, segments.living
        remembers = self._bare_policy.memory_size > 0
        if not remembers:
            observations = observations.flatten(0, 1)[living]
        with self._precision:
            found, values = policy(observations, {"done": segments.terminals})
            actions = segments.actions.flatten(0, 1)
            logprobs, entropies = judge(found, actions if remembers else actions[living])
        parts = [logprobs.float(), values.float().flatten(), entropies.float()]
        return tuple(part[living] if remembers else part for part in parts)


def _spread(of_living: torch.Tensor, segments: Segments) -> torch.Tensor:
    """What there is of the decisions of the living as [n, horizon], with 0 for the dead."""
    if segments.masks is None:
        return of_living.view(segments.rewards.shape)
    spread = torch.zeros_like(segments.rewards)
    spread.view(-1)[segments.living] = of_living
    return spread


def policy_loss(ratio: torch.Tensor, advantages: torch.Tensor, clip: float) -> torch.Tensor:
    """PPO's clipped surrogate objective, negative (Schulman et al. 2017, arXiv 1707.06347)."""
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return torch.max(-advantages * ratio, -advantages * clipped).mean()


def value_loss(
    values: torch.Tensor, before: torch.Tensor, returns: torch.Tensor, clip: float
) -> torch.Tensor:
    """Half the squared error, of what is farther off: the values or their clipped change."""
    clipped = before + (values - before).clamp(-clip, clip)
    return 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean()

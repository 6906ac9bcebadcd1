"""The engine of any policy on any device: torch with its autograd."""

import contextlib
import copy
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.game.actions import within_limits
from midrange_puffer.game.observation import controls_of
from midrange_puffer.policies.actors import PolicyModule, draw, judge, noise_for
from midrange_puffer.policies.critic import ActorCritic
from midrange_puffer.policies.native import flat_copy, parts
from midrange_puffer.train.engine import BeginPart, Outputs, TimeStep
from midrange_puffer.train.experience import Segments


class TorchEngine:
    """Acts and learns with torch: see `Engine`.

    Args:
        policy: as it learns: compiled, or shared by the ranks.
        bare_policy: the same without that.
        optimizer: of its parameters.
        settings: section [train] without any "auto".
    """

    def __init__(
        self,
        policy: torch.nn.Module,
        bare_policy: PolicyModule,
        optimizer: torch.optim.Optimizer,
        settings: TrainConfig,
    ) -> None:
        self._policy, self._bare_policy, self._optimizer = policy, bare_policy, optimizer
        self.settings, device = settings, next(policy.parameters()).device.type
        self._precision = contextlib.nullcontext()
        if settings.precision != "float32":
            self._precision = torch.autocast(device, getattr(torch, settings.precision))
        # float16 has no numbers as small as many gradients: they are scaled up, and where one is
        # too large for it the step is left out and the scale halved.
        self._scaler = torch.amp.GradScaler(device, enabled=settings.precision == "float16")
        self._reference_policy: torch.nn.Module | None = None

    def load(self) -> None:
        """Does nothing: the policy and the optimizer are used as they are."""

    @torch.no_grad()
    def act(
        self,
        inputs: TimeStep,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """Draws actions, and writes inputs and outputs to the buffers."""
        device, on_cpu = buffers["values"].device, torch.from_numpy(inputs.observations)
        observations = on_cpu.to(device, non_blocking=True)  # `taken.result` waits for it, too
        with self._precision:
            act: Any = self._policy.forward_eval  # also one that is compiled or shared
            outputs, values = act(observations, state)
        bare = self._bare_policy
        noise = noise_for(len(observations), bare.action_size, bare.is_continuous, device)
        actions, logprobs = draw(outputs, noise)
        taken = OnCpu(actions)
        kept = buffers["observations"]
        kept[rows, step] = on_cpu if kept.device.type == "cpu" else observations
        buffers["actions"][rows, step] = actions
        buffers["logprobs"][rows, step] = logprobs
        buffers["values"][rows, step] = values.flatten().float()
        buffers["rewards"][rows, step] = torch.from_numpy(inputs.rewards).to(device)
        buffers["terminals"][rows, step] = state["done"].float()
        actions = taken.result()
        if bare.is_continuous:
            return within_limits(actions, controls_of(bare.features))
        return actions

    @torch.no_grad()
    def score(self, experience: Segments, rows: torch.Tensor) -> Outputs:
        """Returns the outputs of the bare policy: ranks may score different numbers of parts."""
        return self._score(self._bare_policy, experience.take(rows))

    @property
    def reference(self) -> torch.Tensor | None:
        """The flat parameters of the reference policy; None if there is none yet."""
        return self._reference_policy and flat_copy(self._reference_policy).cpu()

    def set_reference(self, parameters: torch.Tensor | None = None) -> None:
        """Sets the reference policy to these flat parameters; None: to the present policy."""
        policy = self._reference_policy = copy.deepcopy(self._bare_policy)
        if parameters is not None:
            pairs = zip(policy.parameters(), parts(parameters, policy), strict=True)
            for parameter, part in pairs:
                parameter.data.copy_(part)

    @torch.no_grad()
    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """Returns the reference policy's log-probabilities of the actions, [n, horizon]."""
        if self._reference_policy is None:
            raise RuntimeError("there is no reference policy yet")
        return self._score(self._reference_policy, experience.take(rows))[0]

    def _score(self, policy: torch.nn.Module, segments: Segments) -> Outputs:
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
        begin: BeginPart,
    ) -> tuple[Outputs, torch.Tensor]:
        """Adds the gradient of a minibatch's loss, multiplied by `share`."""
        begin("train_copy")
        minibatch = experience.take(rows)
        begin("train_forward")
        logprobs, values, entropies = self._judge(self._policy, minibatch)
        begin("train_misc")
        settings, clip = self.settings, self.settings.clip_coef
        living = minibatch.living
        proximal, old_values, advantages, returns = (
            tensor.flatten()[living]
            for tensor in (minibatch.proximal, minibatch.values, advantages, returns)
        )
        logratio = logprobs - proximal
        ratio = logratio.exp()
        policy_part = policy_loss(ratio, advantages, clip)
        value_part = value_loss(values, old_values, returns, settings.vf_clip_coef)
        entropy = entropies.mean()
        loss = policy_part + settings.vf_coef * value_part - ent_coef * entropy
        with torch.no_grad():
            kl, clipped = (ratio - 1) - logratio, (ratio - 1).abs() > clip
            means = [-logratio.mean(), kl.mean(), clipped.float().mean(), ratio.mean()]
            losses = torch.stack([policy_part, value_part, entropy, *means])  # as LOSSES
        begin("learn")
        self._scaler.scale(loss * share).backward()
        outputs = _spread(logprobs.detach(), minibatch), _spread(values.detach(), minibatch)
        return outputs, losses

    def step(self) -> None:
        """Takes an optimizer step against the added gradient, and clears it."""
        policy, limit = self._bare_policy, self.settings.max_grad_norm
        networks = (policy.actor, policy.critic) if isinstance(policy, ActorCritic) else (policy,)
        self._scaler.unscale_(self._optimizer)
        for network in networks:
            torch.nn.utils.clip_grad_norm_(network.parameters(), limit)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad()

    def _judge(
        self, policy: torch.nn.Module, segments: Segments
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns log-probabilities, values and entropies of living fighters' decisions."""
        observations, living = segments.observations, segments.living
        is_recurrent = self._bare_policy.memory_size > 0
        if not is_recurrent:
            observations = observations.flatten(0, 1)[living]
        with self._precision:
            outputs, values = policy(observations, {"done": segments.terminals})
            actions = segments.actions.flatten(0, 1)
            logprobs, entropies = judge(outputs, actions if is_recurrent else actions[living])
        logprobs, values, entropies = logprobs.float(), values.float().flatten(), entropies.float()
        if is_recurrent:
            return logprobs[living], values[living], entropies[living]
        return logprobs, values, entropies


class OnCpu:
    """A copy of a tensor in the CPU's memory, on its way while this process goes on.

    From a GPU a stream of its own copies it, so that work that is queued later does not delay it.

    Args:
        tensor: one that is not written to until `result`.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self._copy, self._arrived = tensor, None
        if tensor.is_cuda:
            stream = _copy_stream(tensor.device)
            stream.wait_stream(torch.cuda.current_stream(tensor.device))
            with torch.cuda.stream(stream):
                self._copy = torch.empty_like(tensor, device="cpu", pin_memory=True)
                self._copy.copy_(tensor, non_blocking=True)
                tensor.record_stream(stream)
                self._arrived = stream.record_event()

    def result(self) -> np.ndarray:
        """Waits for the copy and returns it."""
        if self._arrived is not None:
            self._arrived.synchronize()
        return self._copy.numpy()


@functools.cache
def _copy_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


def _spread(numbers: torch.Tensor, segments: Segments) -> torch.Tensor:
    """Returns the numbers of living fighters' decisions as [n, horizon], with 0 for the dead."""
    if segments.masks is None:
        return numbers.view(segments.rewards.shape)
    spread = torch.zeros_like(segments.rewards)
    spread.view(-1)[segments.living] = numbers
    return spread


def policy_loss(ratio: torch.Tensor, advantages: torch.Tensor, clip: float) -> torch.Tensor:
    """Returns PPO's clipped objective, negative (Schulman et al. 2017, arXiv 1707.06347)."""
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return torch.max(-advantages * ratio, -advantages * clipped).mean()


def value_loss(
    values: torch.Tensor, old_values: torch.Tensor, returns: torch.Tensor, clip: float
) -> torch.Tensor:
    """Returns half the squared error of the values or of their clipped change, the larger one."""
    clipped = old_values + (values - old_values).clamp(-clip, clip)
    return 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean()

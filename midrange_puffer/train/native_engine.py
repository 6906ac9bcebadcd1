"""The engine of the package's MLP on the CPU: the C learner (csrc/learner/)."""

from collections.abc import Mapping

import numpy as np
import torch

from midrange_puffer import _learner
from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.policies.actors import noise_for
from midrange_puffer.policies.critic import ActorCritic, actor_of
from midrange_puffer.policies.native import flattened, make_critic_network, make_network, parts
from midrange_puffer.policies.networks import Policy
from midrange_puffer.train import ranks
from midrange_puffer.train.engine import LOSSES, BeginPart, Outputs, TimeStep
from midrange_puffer.train.experience import GATHERED, Segments
from midrange_puffer.train.optimizer import MOMENTUM, Muon


class NativeEngine:
    """Acts and learns in C: see `Engine`.

    The policy's parameters and the optimizer's state are views of longer arrays, which C changes.
    So torch always has the present ones.

    Args:
        policy: as of `policies.networks.Policy`, with or without a central critic.
        optimizer: of its parameters, Muon or torch's Adam.
        settings: section [train] without any "auto".
    """

    def __init__(
        self,
        policy: Policy | ActorCritic,
        optimizer: torch.optim.Optimizer,
        settings: TrainConfig,
    ) -> None:
        self._policy, self._optimizer, self.settings = policy, optimizer, settings
        actor = actor_of(policy)
        assert isinstance(actor, Policy)  # `settle` gives this engine to no other
        self._actor, self._critic = actor, None
        self._network = make_network(actor, settings.threads)
        # Each network with its part of the parameters, the actor's first.
        self._networks = [(self._network, slice(0, self._network.size))]
        if isinstance(policy, ActorCritic):
            self._critic = make_critic_network(policy.critic, settings.threads)
            self._networks.append((self._critic, slice(self._network.size, None)))
        self._weights = flattened(policy)
        ranks.equalise(self._weights)
        self._gradient = torch.zeros_like(self._weights)
        names = (MOMENTUM,) if isinstance(optimizer, Muon) else ("exp_avg", "exp_avg_sq")
        self._averages = {name: torch.zeros_like(self._weights) for name in names}
        self._reference_network: _learner.Network | None = None
        self.reference: torch.Tensor | None = None
        self.load()

    def load(self) -> None:
        """Takes over weights and optimizer state that were changed from outside."""
        parameters, state = [*self._policy.parameters()], self._optimizer.state
        for name, flat in self._averages.items():
            for parameter, part in zip(parameters, parts(flat, self._policy), strict=True):
                # Adam has none before its first step.
                part.copy_(state[parameter].get(name, torch.zeros(())))
                state[parameter][name] = part
        if not isinstance(self._optimizer, Muon):
            for parameter in parameters:
                state[parameter].setdefault("step", torch.tensor(0.0))
        for network, own in self._networks:
            network.load(self._weights[own].numpy())

    def act(
        self,
        inputs: TimeStep,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """Draws actions, and writes inputs and outputs to the buffers."""
        count, is_continuous = len(inputs.rewards), self._policy.is_continuous
        noise = noise_for(count, self._policy.action_size, is_continuous, "cpu").numpy()
        if is_continuous:
            actions = np.empty(noise.shape, np.float32)
        else:
            actions = np.empty(noise.shape, np.int32)
        outcomes, kept = (inputs.rewards, inputs.ends), [buffers[name].numpy() for name in GATHERED]
        self._network.act(inputs.observations, noise, actions, outcomes, kept, rows.start, step)
        if self._critic is not None:
            names = ("observations", "actions", "logprobs", "values")
            experience = [buffers[name].numpy() for name in names]
            values = experience[-1]
            decisions = np.arange(step, count * values.shape[1], values.shape[1], dtype=np.int32)
            chosen = np.arange(rows.start, rows.stop)
            self._critic.score(experience, chosen, None, values[rows], decisions)
        return actions

    def score(self, experience: Segments, rows: torch.Tensor) -> Outputs:
        """Returns the policy's outputs for the segments in these rows."""
        outputs, decisions = self._score(self._network, experience, rows)
        if self._critic is not None:
            values = outputs[1].numpy()
            self._critic.score(_arrays(experience), rows.numpy(), None, values, decisions)
        return outputs

    def set_reference(self, parameters: torch.Tensor | None = None) -> None:
        """Sets the reference policy to these flat parameters; None: to the present policy."""
        if self._reference_network is None:
            threads = self.settings.threads
            self._reference_network = make_network(self._actor, threads, learns=False)
        self.reference = (self._weights if parameters is None else parameters).clone()
        self._reference_network.load(self.reference[: self._network.size].numpy())

    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """Returns the reference policy's log-probabilities of the actions, [n, horizon]."""
        if self._reference_network is None:
            raise RuntimeError("there is no reference policy yet")
        (logprobs, _), _ = self._score(self._reference_network, experience, rows)
        return logprobs

    def _score(
        self, network: _learner.Network, experience: Segments, rows: torch.Tensor
    ) -> tuple[Outputs, np.ndarray | None]:
        """Returns a network's outputs, and the living fighters' decisions."""
        outputs, decisions = _make_outputs(experience, rows), _living_decisions(experience, rows)
        logprobs, values = outputs
        network.score(
            _arrays(experience), rows.numpy(), logprobs.numpy(), values.numpy(), decisions
        )
        return outputs, decisions

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
        begin("learn")
        settings, outputs = self.settings, _make_outputs(experience, rows)
        decisions = _living_decisions(experience, rows)
        # With a central critic the actor's own values do not learn.
        weights = [settings.vf_coef] if self._critic is None else [0.0, settings.vf_coef]
        losses: list[dict[str, float]] = []
        for (network, own), value_weight in zip(self._networks, weights, strict=True):
            coefficients = (settings.clip_coef, settings.vf_clip_coef, value_weight, ent_coef)
            part = network.gradient(
                _arrays(experience),
                rows.numpy(),
                advantages.numpy(),
                returns.numpy(),
                coefficients,
                share,
                self._gradient[own].numpy(),
                outputs[0].numpy(),
                outputs[1].numpy(),
                decisions,
            )
            losses.append(part)
        # The last network is the one that gives the values.
        means = losses[0] | {"value_loss": losses[-1]["value_loss"]}
        return outputs, torch.tensor([means[name] for name in LOSSES])

    def step(self) -> None:
        """Takes an optimizer step against the added gradient, and clears it."""
        ranks.average(self._gradient)
        group, limit = self._optimizer.param_groups[0], self.settings.max_grad_norm
        number = 0 if isinstance(self._optimizer, Muon) else self._count_step()
        for network, own in self._networks:
            weights, gradient = self._weights[own].numpy(), self._gradient[own].numpy()
            averages = [average[own].numpy() for average in self._averages.values()]
            if isinstance(self._optimizer, Muon):
                network.muon(weights, averages[0], gradient, group["lr"], group["beta"], limit)
            else:
                (beta1, beta2), (mean, square) = group["betas"], averages
                network.adam(
                    weights,
                    mean,
                    square,
                    gradient,
                    group["lr"],
                    beta1,
                    beta2,
                    group["eps"],
                    number,
                    limit,
                )
        self._gradient.zero_()

    def _count_step(self) -> int:
        """Counts a step of Adam with every parameter; returns the number of steps."""
        state = self._optimizer.state
        steps = [state[value]["step"] for value in self._optimizer.param_groups[0]["params"]]
        torch._foreach_add_(steps, 1)
        return int(steps[0])


def _make_outputs(experience: Segments, rows: torch.Tensor) -> Outputs:
    """Returns arrays for log-probabilities and values, [n, horizon] each, with 0 for the dead."""
    make = torch.empty if experience.masks is None else torch.zeros
    shape = (len(rows), experience.values.shape[1])
    return make(shape), make(shape)


def _living_decisions(experience: Segments, rows: torch.Tensor) -> np.ndarray | None:
    """Returns the flat indices of living fighters' decisions in [n, horizon]; None: all live."""
    if experience.masks is None:
        return None
    return np.flatnonzero(experience.masks[rows].numpy()).astype(np.int32)


def _arrays(experience: Segments) -> list[np.ndarray]:
    """Returns the arrays of experience that the C learner reads."""
    tensors = (
        experience.observations, experience.actions, experience.proximal, experience.values
    )  # fmt: skip
    return [tensor.numpy() for tensor in tensors]

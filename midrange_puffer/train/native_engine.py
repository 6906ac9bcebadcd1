"""The engine of the package's MLP on the CPU: the C learner (csrc/learner/)."""

from collections.abc import Mapping

import numpy as np
import torch

from midrange_puffer import _learner
from midrange_puffer.policies.actors import noise_for
from midrange_puffer.policies.native import flattened, make_network, parts
from midrange_puffer.policies.networks import Policy
from midrange_puffer.train import ranks
from midrange_puffer.train.engine import LOSSES, Judged, Seen, Timer
from midrange_puffer.train.experience import GATHERED, Segments
from midrange_puffer.train.muon import MOMENTUM, Muon


class NativeEngine:
    """Acts and learns in C.

    The policy's parameters and the optimizer's state are parts of longer arrays, which C changes,
    so that torch has them as they are at any time.

    Args:
        policy: as of `policies.networks.Policy`.
        optimizer: of its parameters, Muon or torch's Adam.
        settings: section [train] without any "auto".
    """

    def __init__(
        self, policy: Policy, optimizer: torch.optim.Optimizer, settings: Mapping[str, object]
    ) -> None:
        self._policy, self._optimizer, self._settings = policy, optimizer, settings
        self._network = make_network(policy, settings["threads"])
        self._weights = flattened(policy)
        ranks.equalise(self._weights)
        self._gradient = torch.zeros_like(self._weights)
        names = (MOMENTUM,) if isinstance(optimizer, Muon) else ("exp_avg", "exp_avg_sq")
        self._averages = {name: torch.zeros_like(self._weights) for name in names}
        self._reference_network: _learner.Network | None = None
        self.reference: torch.Tensor | None = None
        self.load()

    def load(self) -> None:
        """As `Engine.load`."""
        parameters, state = [*self._policy.parameters()], self._optimizer.state
        for name, flat in self._averages.items():
            for parameter, part in zip(parameters, parts(flat, self._policy), strict=True):
                # Adam has none before its first step.
                part.copy_(state[parameter].get(name, torch.zeros(())))
                state[parameter][name] = part
        if not isinstance(self._optimizer, Muon):
            for parameter in parameters:
                state[parameter].setdefault("step", torch.tensor(0.0))
        self._network.load(self._weights.numpy())

    def act(
        self,
        seen: Seen,
        state: dict[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
        rows: slice,
        step: int,
    ) -> np.ndarray:
        """As `Engine.act`."""
        count, is_continuous = len(seen.rewards), self._policy.is_continuous
        noise = noise_for(count, is_continuous, "cpu").numpy()
        actions = np.empty(noise.shape, np.float32 if is_continuous else np.int32)
        outcomes, kept = (seen.rewards, seen.ends), [buffers[name].numpy() for name in GATHERED]
        self._network.act(seen.observations, noise, actions, outcomes, kept, rows.start, step)
        return actions

    def score(self, experience: Segments, rows: torch.Tensor) -> Judged:
        """As `Engine.score`."""
        return self._score(self._network, experience, rows)

    def refer(self, parameters: torch.Tensor | None = None) -> None:
        """As `Engine.refer`."""
        if self._reference_network is None:
            threads = self._settings["threads"]
            self._reference_network = make_network(self._policy, threads, learns=False)
        self.reference = (self._weights if parameters is None else parameters).clone()
        self._reference_network.load(self.reference.numpy())

    def score_reference(self, experience: Segments, rows: torch.Tensor) -> torch.Tensor:
        """As `Engine.score_reference`."""
        return self._score(self._reference_network, experience, rows)[0]

    def _score(self, network: _learner.Network, experience: Segments, rows: torch.Tensor) -> Judged:
        judged, decisions = self._room(experience, rows), _decisions(experience, rows)
        arrays = (one.numpy() for one in judged)
        network.score(_arrays(experience), rows.numpy(), *arrays, decisions)
        return judged

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
        time("learn")
        settings, judged = self._settings, self._room(experience, rows)
        coefficients = (
            settings["clip_coef"], settings["vf_clip_coef"], settings["vf_coef"], ent_coef
        )  # fmt: skip
        losses = self._network.gradient(
            _arrays(experience),
            rows.numpy(),
            advantages.numpy(),
            returns.numpy(),
            coefficients,
            share,
            self._gradient.numpy(),
            *(one.numpy() for one in judged),
            _decisions(experience, rows),
        )
        return judged, torch.tensor([losses[name] for name in LOSSES])

    def step(self) -> None:
        """As `Engine.step`."""
        ranks.average(self._gradient)
        group, limit = self._optimizer.param_groups[0], self._settings["max_grad_norm"]
        arrays = (self._weights, *self._averages.values(), self._gradient)
        arrays = [one.numpy() for one in arrays]
        if isinstance(self._optimizer, Muon):
            self._network.muon(*arrays, group["lr"], group["beta"], limit)
        else:
            steps = [self._optimizer.state[one]["step"] for one in group["params"]]
            torch._foreach_add_(steps, 1)
            number = int(steps[0])
            self._network.adam(*arrays, group["lr"], *group["betas"], group["eps"], number, limit)
        self._gradient.zero_()

    def _room(self, experience: Segments, rows: torch.Tensor) -> Judged:
        """For log-probabilities and values, [n, horizon] each, with 0 for the dead."""
        make = torch.empty if experience.masks is None else torch.zeros
        shape = (len(rows), experience.values.shape[1])
        return make(shape), make(shape)


def _decisions(experience: Segments, rows: torch.Tensor) -> np.ndarray | None:
    """The places of those of the living in these segments, [n, horizon]; None: all live."""
    if experience.masks is None:
        return None
    return np.flatnonzero(experience.masks[rows].numpy()).astype(np.int32)


def _arrays(experience: Segments) -> list[np.ndarray]:
    """Experience as the C learner takes it."""
    of = experience
    return [one.numpy() for one in (of.observations, of.actions, of.proximal, of.values)]

"""A policy at the controls."""

import numpy as np
import torch
from torch import nn

from midrange_puffer.game.actions import controls, within_limits
from midrange_puffer.game.observation import rows_of
from midrange_puffer.policies.actors import Actions
from midrange_puffer.policies.drawing import draw, likeliest, noise_for
from midrange_puffer.policies.native import FrozenNetwork, reason_against
from midrange_puffer.policies.own_policy import empty_memory


class Player:
    """Flies one seat of engagements with a policy on the CPU, each from its start to its end.

    It sees the first features of any observation that has as many as it was made for, `features`.
    In teams the package's own policy sees all of an observation of `any_size`. The package's MLP is
    computed in C.

    Args:
        policy: as of `make_policy`.
        num_envs: engagements, whose memories are kept apart where the policy has one.
        seed: of the actions drawn; equal seeds and observations give equal actions.
        greedy: take the likeliest action instead of drawing one.
        threads: that compute it, where C does.
    """

    def __init__(
        self,
        policy: nn.Module,
        num_envs: int,
        seed: int,
        greedy: bool = False,
        threads: int = 1,
    ) -> None:
        self.policy = policy
        self.features = policy.features
        self.any_size = getattr(policy, "any_size", False)
        self.greedy = greedy
        is_native = reason_against(policy) is None
        self._network = FrozenNetwork(policy, threads) if is_native else None
        self._random = torch.Generator().manual_seed(seed)
        self._memory = empty_memory(policy, num_envs)

    def reset(self, envs: np.ndarray) -> None:
        """Forget the engagements `envs`, int [n]: others start in their places."""
        for memory in self._memory.values():
            memory[torch.from_numpy(envs)] = 0

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Choose the next controls of some of the engagements.

        Args:
            observations: float32 [n, features].
            envs: int [n], the engagements these are of.

        Returns:
            Controls float32 [n, 3], as `Simulation.step` takes them.
        """
        noise = None
        if not self.greedy:
            noise = noise_for(len(envs), self.policy.is_continuous, "cpu", self._random)
        return self.act_by(noise, observations, envs)

    @torch.inference_mode()
    def act_by(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """The same with noise as of `noise_for`; None: the likeliest actions are taken."""
        if self._network is not None:
            actions = self._network.act(observations, noise)
        else:
            found = self.see(observations, envs)
            actions = (likeliest(found) if noise is None else draw(found, noise)[0]).numpy()
        if self.policy.is_continuous:
            return within_limits(actions)
        return controls(actions, in_team=bool(rows_of(observations.shape[1])))

    @torch.inference_mode()
    def see(self, observations: np.ndarray, envs: np.ndarray) -> Actions:
        """Look at the next observations of some of the engagements, by torch.

        Args:
            observations: float32 [n, features], at least as many as the policy's.
            envs: int [n], the engagements these are of.

        Returns:
            What the policy's actions are to be drawn from.
        """
        rows = torch.from_numpy(envs)
        state = {name: memory[rows] for name, memory in self._memory.items()}
        seen = observations if self.any_size else observations[:, : self.features]
        actions, _ = self.policy.forward_eval(torch.from_numpy(seen), state)
        for name, memory in self._memory.items():
            memory[rows] = state[name]
        return actions

    def snapshot(self) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """All that its next actions depend on besides what it sees, for `restore`."""
        memory = {name: values.clone() for name, values in self._memory.items()}
        return self._random.get_state(), memory

    def restore(self, snapshot: tuple[torch.Tensor, dict[str, torch.Tensor]]) -> None:
        """Go on from a snapshot of this player."""
        random, memory = snapshot
        self._random.set_state(random)
        for name, values in memory.items():
            self._memory[name].copy_(values)


def player_seed(seed: int, seat: int) -> int:
    """The seed of the actions drawn for a seat, apart from those of the other and of the starts."""
    return int(np.random.SeedSequence((seed, seat)).generate_state(1, np.uint64)[0])

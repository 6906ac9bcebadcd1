"""Players: policies that fly fighters."""

import numpy as np
import torch

from midrange_puffer.game.actions import controls, within_limits
from midrange_puffer.game.observation import rows_of
from midrange_puffer.policies.actors import Distribution, PolicyModule, draw, likeliest, noise_for
from midrange_puffer.policies.native import FrozenNetwork, reason_against
from midrange_puffer.policies.networks import Policy
from midrange_puffer.policies.own_policy import empty_memory


class Player:
    """A policy that flies one fighter in each of several engagements, on the CPU.

    The policy gets the first `features` features of an observation; in teams the package's own
    policy gets the whole observation of `any_size`. C code computes the package's MLP.

    Args:
        policy: from `make_policy`.
        num_envs: number of engagements, each with its own memory.
        seed: of the drawn actions; equal seeds and observations give equal actions.
        greedy: True: take the likeliest action instead of drawing one.
        threads: threads of the C code.
    """

    def __init__(
        self,
        policy: PolicyModule,
        num_envs: int,
        seed: int,
        greedy: bool = False,
        threads: int = 1,
    ) -> None:
        self.policy = policy
        self.features = policy.features
        self.any_size = getattr(policy, "any_size", False)
        self.greedy = greedy
        self._network = None
        if isinstance(policy, Policy) and reason_against(policy) is None:
            self._network = FrozenNetwork(policy, threads)
        self._random = torch.Generator().manual_seed(seed)
        self._memory = empty_memory(policy, num_envs)

    def reset(self, envs: np.ndarray) -> None:
        """Clears the memory of the engagements `envs`, int [n], whose places start new ones."""
        for memory in self._memory.values():
            memory[torch.from_numpy(envs)] = 0

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Returns the next controls of some engagements, float32 [n, 3], for `Simulation.step`.

        Args:
            observations: float32 [n, features].
            envs: int [n], their engagements.
        """
        noise = None
        if not self.greedy:
            noise = noise_for(len(envs), self.policy.is_continuous, "cpu", self._random)
        return self.act_by(noise, observations, envs)

    @torch.inference_mode()
    def act_by(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """Returns the controls for noise from `noise_for`; None: those of the likeliest actions."""
        if self._network is not None:
            actions = self._network.act(observations, noise)
        else:
            outputs = self.see(observations, envs)
            actions = (likeliest(outputs) if noise is None else draw(outputs, noise)[0]).numpy()
        if self.policy.is_continuous:
            return within_limits(actions)
        return controls(actions, in_team=bool(rows_of(observations.shape[1])))

    @torch.inference_mode()
    def see(self, observations: np.ndarray, envs: np.ndarray) -> Distribution:
        """Returns the actor's output for the next observations of some engagements, by torch.

        Args:
            observations: float32 [n, features], at least as many as the policy's.
            envs: int [n], their engagements.
        """
        rows = torch.from_numpy(envs)
        state = {name: memory[rows] for name, memory in self._memory.items()}
        if not self.any_size:
            observations = observations[:, : self.features]
        outputs, _ = self.policy.forward_eval(torch.from_numpy(observations), state)
        for name, memory in self._memory.items():
            memory[rows] = state[name]
        return outputs

    def snapshot(self) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Returns the state of the random numbers and of the memory, for `restore`."""
        memory = {name: values.clone() for name, values in self._memory.items()}
        return self._random.get_state(), memory

    def restore(self, snapshot: tuple[torch.Tensor, dict[str, torch.Tensor]]) -> None:
        """Restores a snapshot of this player."""
        random, memory = snapshot
        self._random.set_state(random)
        for name, values in memory.items():
            self._memory[name].copy_(values)


def player_seed(seed: int, seat: int) -> int:
    """Returns a seed for a seat's actions, independent of the other seat's and of the starts'."""
    return int(np.random.SeedSequence((seed, seat)).generate_state(1, np.uint64)[0])

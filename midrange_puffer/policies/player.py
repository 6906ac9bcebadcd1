"""Players: policies that fly fighters."""

from typing import NamedTuple

import numpy as np
import torch

from midrange_puffer.game.actions import controls, within_limits
from midrange_puffer.game.observation import controls_of, rows_of
from midrange_puffer.game.orders import as_commands, orders_in
from midrange_puffer.policies.actors import (
    Distribution,
    PolicyModule,
    draw,
    label_of,
    likeliest,
    noise_for,
)
from midrange_puffer.policies.native import FrozenNetwork, reason_against
from midrange_puffer.policies.networks import Policy
from midrange_puffer.policies.own_policy import empty_memory
from midrange_puffer.policies.subordinate import check_no_subordinate


class Snapshot(NamedTuple):
    """The state of a player: random numbers, memory, orders and how long they are still flown."""

    random: torch.Tensor
    memory: dict[str, torch.Tensor]
    orders: np.ndarray
    left: np.ndarray


class Player:
    """A policy that flies one fighter in each of several engagements, on the CPU.

    The policy receives the first `features` features of an observation. In teams, the package's own
    policy receives the whole observation (`any_size`). The package's MLP is computed by C code.
    A policy that gives orders decides once for each order, and its player repeats the order. If it
    has a subordinate, this flies the order by what the fighter observes at each decision.
    A commander's player is called like that of a fighter, with a row for each fighter: `fighters`
    numbers after one another are a side. The commander sees the rows of its side together, zeros
    for those that are not given.

    Args:
        policy: from `make_policy`.
        num_envs: number of engagements; each has its own memory.
        seed: seed for drawing actions; equal seeds and observations give equal actions.
        greedy: True to take the likeliest action instead of drawing one.
        threads: number of threads of the C code.
    """

    def __init__(
        self,
        policy: PolicyModule,
        num_envs: int,
        seed: int,
        greedy: bool = False,
        threads: int = 1,
    ) -> None:
        self.label = label_of(policy)
        check_no_subordinate(self.label, policy)
        self.policy = policy
        self._subordinate = getattr(policy, "subordinate", None)
        self.fighters = getattr(policy, "commanded", 1)
        self.features = policy.features // self.fighters
        num_envs //= self.fighters
        self.any_size = getattr(policy, "any_size", False)
        self.greedy = greedy
        self._network = None
        if isinstance(policy, Policy) and reason_against(policy) is None:
            self._network = FrozenNetwork(policy, threads)
        self._random = torch.Generator().manual_seed(seed)
        self._memory = empty_memory(policy, num_envs)
        # Of a policy that gives orders: for each engagement the order that is flown, and the number
        # of decisions for which it still is.
        self._hold = getattr(policy, "order_decisions", 0)
        controls_here = controls_of(self.features).count
        width = controls_here * self.fighters
        self._orders = np.zeros((num_envs if self._hold else 0, width), np.float32)
        self._left = np.zeros(len(self._orders), int)

    def reset(self, envs: np.ndarray) -> None:
        """Clears the memory of the engagements `envs`, int [n], which start anew."""
        envs = np.unique(envs // self.fighters) if self.fighters > 1 else envs
        for memory in self._memory.values():
            memory[torch.from_numpy(envs)] = 0
        if self._hold:
            self._left[envs] = 0

    def act(self, observations: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Returns the next controls [n, controls] of some engagements, for `Simulation.step`.

        A policy that gives orders returns them as `orders.as_commands`, for `orders.carry_out`.

        Args:
            observations: float32 [n, features].
            envs: int [n], their engagements.
        """
        noise = None
        if not self.greedy:
            heads = self.policy.action_size // self.fighters
            is_continuous = self.policy.is_continuous
            noise = noise_for(len(envs), heads, is_continuous, "cpu", self._random)
        return self.act_by(noise, observations, envs)

    def act_by(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """Returns the controls for noise from `noise_for`; None: for the likeliest actions."""
        commands = self._commands(noise, observations, envs)
        if self._subordinate is None:
            return commands
        orders = orders_in(commands)
        if not self._subordinate.any_size:
            observations = observations[:, : self._subordinate.features]
        return as_commands(orders, self._subordinate.act(observations, orders))

    def _commands(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """Returns the controls or orders of fighters, as `act_by`."""
        if self.fighters == 1:
            return self._act_by(noise, observations, envs)
        sides, places = np.unique(envs // self.fighters, return_inverse=True)
        places = places, envs % self.fighters  # of the rows given
        seen = np.zeros((len(sides), self.fighters, observations.shape[1]), np.float32)
        seen[places] = observations
        drawn = None
        if noise is not None:
            drawn = torch.zeros(len(sides), self.fighters, noise.shape[1])
            drawn[places] = noise
            drawn = drawn.flatten(1)
        commands = self._act_by(drawn, seen.reshape(len(sides), -1), sides)
        return commands.reshape(len(sides), self.fighters, -1)[places]

    def _act_by(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """Returns the controls of agents, as `act_by`; of a commander those of all its fighters."""
        if not self._hold:
            return self._decide(noise, observations, envs)
        due = np.flatnonzero(self._left[envs] == 0)
        if len(due):
            drawn = None if noise is None else noise[torch.from_numpy(due)]
            self._orders[envs[due]] = self._decide(drawn, observations[due], envs[due])
            self._left[envs[due]] = self._hold
        self._left[envs] -= 1
        return self._orders[envs]

    @torch.inference_mode()
    def _decide(
        self, noise: torch.Tensor | None, observations: np.ndarray, envs: np.ndarray
    ) -> np.ndarray:
        """Returns new controls or orders, as `act_by`."""
        if self._network is not None:
            actions = self._network.act(observations, noise)
        else:
            outputs = self.see(observations, envs)
            actions = (likeliest(outputs) if noise is None else draw(outputs, noise)[0]).numpy()
        if self.policy.is_continuous:
            return within_limits(actions, controls_of(self.features))
        if self._hold:
            commands = as_commands(actions.reshape(len(actions) * self.fighters, -1))
            return commands.reshape(len(actions), -1)
        return controls(actions, controls_of(self.features), bool(rows_of(observations.shape[1])))

    @torch.inference_mode()
    def see(self, observations: np.ndarray, envs: np.ndarray) -> Distribution:
        """Returns the actor's output for the next observations of some engagements, by torch.

        Args:
            observations: float32 [n, features], with at least the policy's features.
            envs: int [n], their engagements.
        """
        rows = torch.from_numpy(envs)
        state = {name: memory[rows] for name, memory in self._memory.items()}
        if not self.any_size:
            observations = observations[:, : self.policy.features]
        outputs, _ = self.policy.forward_eval(torch.from_numpy(observations), state)
        for name, memory in self._memory.items():
            memory[rows] = state[name]
        return outputs

    def snapshot(self) -> "Snapshot":
        """Returns the states of the random numbers, of the memory and of orders, for `restore`."""
        memory = {name: values.clone() for name, values in self._memory.items()}
        return Snapshot(self._random.get_state(), memory, self._orders.copy(), self._left.copy())

    def restore(self, snapshot: "Snapshot") -> None:
        """Restores a snapshot of this player."""
        random, memory, self._orders[:], self._left[:] = snapshot
        self._random.set_state(random)
        for name, values in memory.items():
            self._memory[name].copy_(values)


def player_seed(seed: int, seat: int) -> int:
    """Returns a seed for a seat's actions, other than the starts' and the other seat's seeds."""
    return int(np.random.SeedSequence((seed, seat)).generate_state(1, np.uint64)[0])

"""PPO in one file, in the manner of CleanRL, learns to win Midrange's vector environment.

    python examples/cleanrl_ppo.py

The score rises from 0.8, with actions nearly at random, to 1.0 in half a minute on one core.

At the end of an episode, the infos have its last observation. If the episode was truncated, the
value of that observation estimates the rest of the return. After a termination the rest is 0.
"""

import math

import numpy as np
import torch
from learning_curve import LearningCurve, run
from torch import nn
from torch.distributions import Categorical

from midrange_puffer.gym import MidrangeVectorEnv

STEPS = 400_000
READ_EVERY = 5  # rollouts
NUM_ENVS = 128
ROLLOUT = 64  # decisions of every engagement
EPOCHS = 4
MINIBATCH = 1024
LEARNING_RATE = 1e-3
GAMMA = 0.997  # up to 600 decisions lie between an action and its result
GAE_LAMBDA = 0.97
CLIP = 0.2
VALUE_WEIGHT = 0.5
ENTROPY_WEIGHT = 0.001
MAX_GRADIENT = 0.5
FIRE_BIAS = -4.0


def layer(inputs: int, outputs: int, std: float = 2**0.5) -> nn.Linear:
    """Returns a linear layer with orthogonal weights."""
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, std)
    nn.init.zeros_(linear.bias)
    return linear


def network(inputs: int, outputs: int, std: float) -> nn.Sequential:
    """Returns a network with two hidden layers."""
    hidden = (layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh())
    return nn.Sequential(*hidden, layer(64, outputs, std))


class Agent(nn.Module):
    """A policy of independent choices of rudder, throttle and fire, and a value."""

    def __init__(self, envs: MidrangeVectorEnv) -> None:
        super().__init__()
        features = envs.single_observation_space.shape[0]
        self.levels = envs.single_action_space.nvec.tolist()
        self.actor = network(features, sum(self.levels), 0.01)
        self.critic = network(features, 1, 1.0)
        # With an even chance of firing at every decision, six missiles last half a minute.
        with torch.no_grad():
            self.actor[-1].bias[-1] = FIRE_BIAS

    def choices(self, observations: torch.Tensor) -> list[Categorical]:
        """Returns the distributions of rudder, throttle and fire."""
        logits = self.actor(observations).split(self.levels, dim=-1)
        return [Categorical(logits=part) for part in logits]

    @torch.no_grad()
    def act(self, observations: np.ndarray) -> np.ndarray:
        """Draws actions [n, 3] for observations [n, features]."""
        choices = self.choices(torch.from_numpy(observations))
        return torch.stack([choice.sample() for choice in choices], dim=-1).numpy()

    def judge(
        self, observations: torch.Tensor, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the log-probabilities of actions, and the entropies of their distributions."""
        choices = self.choices(observations)
        parts = zip(choices, actions.unbind(-1), strict=True)
        log_probs = [choice.log_prob(action) for choice, action in parts]
        return sum(log_probs), sum(choice.entropy() for choice in choices)

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """Returns the value of each observation."""
        return self.critic(observations).squeeze(-1)


class Rollout:
    """The experience of ROLLOUT decisions, in arrays [ROLLOUT, NUM_ENVS, ...]."""

    def __init__(self, envs: MidrangeVectorEnv) -> None:
        shape = (ROLLOUT, envs.num_envs)
        features = envs.single_observation_space.shape
        self.observations = np.zeros((*shape, *features), np.float32)
        self.next_observations = np.zeros_like(self.observations)  # an episode's last at its end
        self.actions = np.zeros((*shape, 3), np.int64)
        self.rewards = np.zeros(shape, np.float32)
        self.terminated = np.zeros(shape, bool)
        self.ended = np.zeros(shape, bool)

    def collect(
        self, envs: MidrangeVectorEnv, agent: Agent, observations: np.ndarray
    ) -> np.ndarray:
        """Collects a rollout that starts with `observations`; returns the last ones."""
        for t in range(ROLLOUT):
            self.observations[t] = observations
            self.actions[t] = agent.act(observations)
            observations, self.rewards[t], self.terminated[t], truncated, infos = envs.step(
                self.actions[t]
            )
            self.ended[t] = ended = self.terminated[t] | truncated
            self.next_observations[t] = observations
            if ended.any():
                # Gymnasium 1 and 0.29 have different names for it.
                final = infos["final_obs" if "final_obs" in infos else "final_observation"]
                self.next_observations[t, ended] = np.stack(final[ended])
        return observations

    @torch.no_grad()
    def advantages(self, agent: Agent) -> tuple[np.ndarray, np.ndarray]:
        """Returns generalised advantage estimates, and the returns as targets of the values."""
        values = agent.value(torch.from_numpy(self.observations)).numpy()
        next_values = agent.value(torch.from_numpy(self.next_observations)).numpy()
        deltas = self.rewards + GAMMA * next_values * ~self.terminated - values
        advantages = np.zeros_like(deltas)
        following = np.zeros_like(deltas[0])
        for t in reversed(range(ROLLOUT)):
            following = deltas[t] + GAMMA * GAE_LAMBDA * following * ~self.ended[t]
            advantages[t] = following
        return advantages, advantages + values


def learn(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Updates the agent by EPOCHS passes over a rollout."""
    advantages, returns = rollout.advantages(agent)
    arrays = (rollout.observations, rollout.actions, advantages, returns)
    data = [torch.from_numpy(array).flatten(0, 1) for array in arrays]
    with torch.no_grad():
        data.append(agent.judge(*data[:2])[0])  # log-probabilities before the update
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(data[0])).split(MINIBATCH):
            optimizer.zero_grad()
            loss(agent, *(part[rows] for part in data)).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRADIENT)
            optimizer.step()


def loss(
    agent: Agent,
    observations: torch.Tensor,
    actions: torch.Tensor,
    advantages: torch.Tensor,
    returns: torch.Tensor,
    old_log_probs: torch.Tensor,
) -> torch.Tensor:
    """Returns PPO's loss of a minibatch: clipped surrogate, values, entropy."""
    log_probs, entropy = agent.judge(observations, actions)
    ratio = (log_probs - old_log_probs).exp()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    gain = torch.min(advantages * ratio, advantages * ratio.clamp(1 - CLIP, 1 + CLIP))
    error = (agent.value(observations) - returns) ** 2
    return -gain.mean() + VALUE_WEIGHT * error.mean() - ENTROPY_WEIGHT * entropy.mean()


def train(steps: int, seed: int, opponent: str) -> LearningCurve:
    """Trains for at least `steps` decisions, in whole rollouts."""
    torch.manual_seed(seed)
    envs = MidrangeVectorEnv(NUM_ENVS, opponent=opponent)
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    rollout = Rollout(envs)
    observations, _ = envs.reset(seed=seed)

    curve = LearningCurve(opponent)
    curve.read(0, agent.act)
    rollouts = math.ceil(steps / (ROLLOUT * NUM_ENVS))
    for number in range(1, rollouts + 1):
        observations = rollout.collect(envs, agent, observations)
        learn(agent, optimizer, rollout)
        if number % READ_EVERY == 0 or number == rollouts:
            curve.read(number * ROLLOUT * NUM_ENVS, agent.act)
    return curve


if __name__ == "__main__":
    run(train, __doc__, STEPS)

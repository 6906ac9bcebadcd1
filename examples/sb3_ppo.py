"""Stable-Baselines3's PPO learns to win on `MidrangeVecEnv`.

    pip install 'midrange_puffer[sb3]'
    python examples/sb3_ppo.py

The score rises from 0.8, with actions nearly at random, to 1.0 in ten seconds on one core.
"""

import numpy as np
import torch
from learning_curve import LearningCurve, run
from stable_baselines3 import PPO

from midrange_puffer.sb3 import MidrangeVecEnv

STEPS = 120_000
READ_EVERY = 5  # rollouts
NUM_ENVS = 64
ROLLOUT = 64  # decisions of every engagement
FIRE_BIAS = -4.0


def train(steps: int, seed: int, opponent: str) -> LearningCurve:
    """Trains for at least `steps` decisions, in whole rollouts."""
    envs = MidrangeVecEnv(NUM_ENVS, opponent=opponent)
    model = PPO(
        "MlpPolicy",
        envs,
        learning_rate=1e-3,
        n_steps=ROLLOUT,
        batch_size=512,
        n_epochs=4,
        gamma=0.997,  # up to 600 decisions lie between an action and its result
        gae_lambda=0.97,
        seed=seed,
        device="cpu",
    )
    # With an even chance of firing at every decision, six missiles last half a minute.
    with torch.no_grad():
        model.policy.action_net.bias[-1] = FIRE_BIAS

    def act(observations: np.ndarray) -> np.ndarray:
        return model.predict(observations)[0]  # drawn, not the likeliest

    curve = LearningCurve(opponent)
    curve.read(0, act)
    while model.num_timesteps < steps:
        interval = min(READ_EVERY * ROLLOUT * NUM_ENVS, steps - model.num_timesteps)
        model.learn(interval, reset_num_timesteps=False)
        curve.read(model.num_timesteps, act)
    return curve


if __name__ == "__main__":
    run(train, __doc__, STEPS)

"""Learning from fighters that die before their engagement ends."""

import numpy as np
import pytest
import torch

from midrange_puffer import _core
from midrange_puffer.config.sections import TrainConfig
from midrange_puffer.envs.midrange import Midrange
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.policies.networks import Policy
from midrange_puffer.train.experience import Segments, find_advantages, settle_deaths
from midrange_puffer.train.native_engine import NativeEngine
from midrange_puffer.train.rollout import mean_values_of_mates
from midrange_puffer.train.torch_engine import TorchEngine

GAMMA = 0.9
SETTINGS = TrainConfig(
    gamma=GAMMA, gae_lambda=0.8, vtrace_rho_clip=1.0, vtrace_c_clip=1.0,
    clip_coef=0.2, vf_clip_coef=0.3, vf_coef=2.0, max_grad_norm=1.0,
    learning_rate=0.01, adam_beta1=0.9, adam_beta2=0.999, adam_eps=1e-8, threads=1,
)  # fmt: skip


def engagements(rng: np.random.Generator, segments: int, horizon: int) -> dict[str, np.ndarray]:
    """Returns rewards, ends, values and masks; the dead stay dead until the engagement ends."""
    rewards, values = rng.normal(0, 1, (2, segments, horizon))
    terminals = (rng.random((segments, horizon)) < 0.15).astype(float)
    masks = np.ones((segments, horizon))
    for row in range(segments):
        dead = rng.random() < 0.3  # from the segment before
        for step in range(horizon):
            if terminals[row, step]:
                dead = False
            elif step:
                dead = dead or rng.random() < 0.15
            masks[row, step] = not dead
        if masks[row, 0] == 0:
            terminals[row, 0] = 0
    return {"rewards": rewards, "terminals": terminals, "values": values, "masks": masks}


def paid_later(given: dict[str, np.ndarray], row: int, step: int) -> float:
    """Returns the return after the decision before `step`, in which a fighter died."""
    total, discount = 0.0, 1.0
    horizon = given["rewards"].shape[1]
    for at in range(step, horizon):
        total += discount * given["rewards"][row, at]
        if given["terminals"][row, at]:
            return total
        discount *= GAMMA
    return total + discount * given["values"][row, -1]


def test_the_decision_in_which_one_dies_is_paid_what_its_side_gets():
    rng = np.random.default_rng(0)
    given = engagements(rng, 300, 24)
    parts = {name: torch.from_numpy(one.copy()) for name, one in given.items()}
    settle_deaths(*(parts[name] for name in ("rewards", "terminals", "values", "masks")), GAMMA)
    masks, deaths = given["masks"], 0
    for row in range(300):
        for step in range(24):
            rewards, terminal = parts["rewards"][row, step], parts["terminals"][row, step]
            was_alive = step and masks[row, step - 1]
            if was_alive and not masks[row, step]:
                deaths += 1
                assert rewards == pytest.approx(paid_later(given, row, step), rel=1e-6)
                assert terminal == 1
            elif was_alive or not step:
                assert rewards == given["rewards"][row, step]
                assert terminal == given["terminals"][row, step]
            else:  # for the decision of one that was dead
                assert rewards == 0
                assert terminal == given["terminals"][row, step]
    assert deaths > 300
    assert (parts["values"] == torch.from_numpy(given["values"] * masks)).all()


def test_the_dead_have_no_advantages_and_the_dying_learn():
    """Computed by hand: alive, alive and shot, dead, dead until the side has won."""
    rewards = torch.tensor([[0.0, 0.1, -0.5, 0.2, 1.0, 0.0]])
    terminals = torch.tensor([[0.0, 0, 0, 0, 1, 0]])
    values = torch.tensor([[0.3, 0.4, 9.0, 9.0, 0.6, 0.7]])
    masks = torch.tensor([[1.0, 1, 0, 0, 1, 1]])
    settle_deaths(rewards, terminals, values, masks, GAMMA)
    zeros = torch.zeros(1, 6)
    of = Segments(
        zeros, zeros, zeros, values, rewards, terminals, zeros, torch.ones(1, 6), zeros.clone(),
        torch.zeros(1), masks,
    )  # fmt: skip
    find_advantages(of, torch.zeros(1, dtype=torch.int64), SETTINGS)
    dying = -0.5 + 0.9 * (0.2 + 0.9 * 1.0) - 0.4
    before = 0.1 + 0.9 * 0.4 - 0.3 + 0.9 * 0.8 * dying
    after = 0.0 + 0.9 * 0.7 - 0.6
    expected = torch.tensor([[before, dying, 0, 0, after, 0]])
    torch.testing.assert_close(of.advantages, expected)
    assert of.priorities[0] == pytest.approx(float(expected.abs().sum()))


def test_the_dead_are_worth_what_the_living_of_their_side_are():
    values = torch.tensor([1.0, 3, 8, 5, 6, 7])
    living = torch.tensor([True, True, False, False, True, False])
    found = mean_values_of_mates(values, living, torch.tensor([0, 0, 0, 1, 2, 2]))
    assert found.tolist() == [1, 3, 2, 0, 6, 6]


def experience(policy: Policy, masks: torch.Tensor, seed: int) -> Segments:
    """Returns invented experience; the rows of the dead are drawn with `seed`."""
    parts = []
    for number in (0, seed):
        generator = torch.Generator().manual_seed(number)
        draw = torch.rand(*masks.shape, policy.features + 8, generator=generator)
        parts.append(draw * 2 - 1)
    drawn = torch.where(masks[..., None] > 0, *parts)
    seen, drawn = drawn.split([policy.features, 8], dim=-1)
    actions = (drawn[..., :3] > 0).int()
    logprobs, values, rewards, ratio, advantages = drawn[..., 3:].unbind(-1)
    return Segments(
        seen.contiguous(), actions, logprobs.contiguous(), values.contiguous(),
        rewards.contiguous(), torch.zeros_like(masks), (logprobs - 4).contiguous(),
        (ratio + 2).contiguous(), advantages.contiguous(), torch.zeros(len(masks)), masks,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["native", "torch"])
def test_nothing_is_learnt_from_what_the_dead_see_and_do(name):
    torch.manual_seed(0)
    masks = (torch.rand(6, 40) < 0.6).float()
    gradients = []
    for seed in (1, 2):
        torch.manual_seed(3)
        policy = Policy(spaces_of(_core.TEAM, "discrete", 2, 2), hidden_size=32, entity_size=16)
        optimizer = torch.optim.Adam(policy.parameters())
        if name == "native":
            engine = NativeEngine(policy, optimizer, SETTINGS)
        else:
            engine = TorchEngine(policy, policy, optimizer, SETTINGS)
        of, rows = experience(policy, masks, seed), torch.tensor([4, 0, 3])
        (logprobs, values), losses = engine.learn(
            of, rows, of.advantages[rows], of.values[rows] + 0.5, 0.01, 1.0, lambda name: None
        )
        assert (logprobs[masks[rows] == 0] == 0).all()
        assert (values[masks[rows] == 0] == 0).all()
        scored = engine.score(of, rows)
        torch.testing.assert_close(scored[0], logprobs)
        torch.testing.assert_close(scored[1], values)
        engine.step()
        gradients.append(([one.detach().clone() for one in policy.parameters()], losses))
    for one, other in zip(*(weights for weights, _ in gradients), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    torch.testing.assert_close(gradients[0][1], gradients[1][1], rtol=0, atol=0)


def test_an_environment_says_who_is_dead_and_who_is_of_one_side():
    env = Midrange(16, "self:3,ace:1", red_size=2, blue_size=3, seed=1)
    env.reset()
    assert env.masks.all()
    sides = env.sides
    assert len(sides) == env.num_agents == 12 * 5 + 4 * 2
    assert np.bincount(sides).tolist() == [2, 3] * 12 + [2] * 4
    rng, dead = np.random.default_rng(0), 0
    for _ in range(300):
        actions = rng.integers(0, env.single_action_space.nvec, (env.num_agents, 3))
        env.step(actions.astype(np.int32))
        assert (env.masks == env.observations.any(axis=1)).all()
        dead += int((~env.masks).sum())
    assert dead > 100

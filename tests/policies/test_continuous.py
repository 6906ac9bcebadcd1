"""Policies with continuous actions: their outputs, players and pools."""

import math
from pathlib import Path

import frozen
import numpy as np
import pytest
import torch
from continuous import fresh_policy, save
from policies import Constant, random_policy
from torch import nn

from midrange_puffer import FEATURES, Midrange
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.envs.pool_crew import PoolCrew
from midrange_puffer.game.actions import PLANE, controls
from midrange_puffer.game.observation import spaces_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.actors import STD
from midrange_puffer.policies.networks import make_policy
from midrange_puffer.policies.player import Player
from midrange_puffer.puffer_import import pufferlib
from midrange_puffer.replays.session import Session

MEMORY = ("Recurrent", {"input_size": 16, "hidden_size": 16})
NEAR = {"time_limit": 60, "start_range_min": 15_000, "start_range_max": 25_000}
COUNT = 20_000  # actions drawn where frequencies are counted


def steady_policy(rudder: float, throttle: float, fire: float) -> nn.Module:
    """Returns a policy whose means do not depend on the observation."""
    policy = fresh_policy().eval()
    mean = 2 * torch.tensor([rudder, throttle, fire]) - 1
    mean[0] = rudder
    with torch.no_grad():
        policy.actor.weight.zero_()
        policy.actor.bias[:] = mean
    return policy


def draw(policy: nn.Module, seed: int = 0, **options: bool) -> np.ndarray:
    """Returns the controls [COUNT, 3] drawn for observations of zeros."""
    seen = np.zeros((COUNT, len(FEATURES)), np.float32)
    return Player(policy, COUNT, seed, **options).act(seen, np.arange(COUNT))


# Outputs


def test_actions_have_the_density_and_entropy_of_normal_distributions():
    """PuffeRL's function agrees with the closed forms in double precision."""
    policy = random_policy(action_mode="continuous")
    with torch.no_grad():
        policy.actor.spread[:] = torch.tensor([-2.0, 0.5, 3.0])
        normal, values = policy(torch.rand(50, len(FEATURES)) * 2 - 1)
        actions, densities, entropies = pufferlib.pytorch.sample_logits(normal)
    assert values.shape == (50, 1)
    mean, std, drawn = (one.double().numpy() for one in (normal.loc, normal.scale, actions))
    assert np.ptp(mean, axis=0).min() > 0.1
    density = np.exp(-(((drawn - mean) / std) ** 2) / 2) / (std * math.sqrt(2 * math.pi))
    np.testing.assert_allclose(densities, np.log(density).sum(axis=1), rtol=1e-4)
    entropy = np.log(std * math.sqrt(2 * math.pi * math.e)).sum(axis=1)
    np.testing.assert_allclose(entropies, entropy, rtol=1e-5)


@pytest.mark.parametrize("rnn", [(), MEMORY])
@pytest.mark.parametrize("fire_bias", [-4, -1, 0, 2])
def test_at_first_fire_is_as_likely_as_with_levels(rnn, fire_bias):
    """The chance equals sigmoid(`fire_bias`) within four standard errors."""
    policy = make_policy(
        spaces_of("default", "continuous"), {"hidden_size": 16, "fire_bias": fire_bias}, *rnn
    )
    share = (draw(policy)[:, 2] > 0.5).mean()
    chance = 1 / (1 + math.exp(-fire_bias))
    assert abs(share - chance) < 4 * math.sqrt(chance * (1 - chance) / COUNT)


def test_at_first_rudder_and_throttle_are_tried_over_their_whole_range():
    """Each tenth of the range is drawn at least half as often as uniformly."""
    drawn = draw(fresh_policy())
    for column in (0, 1):
        tenths, _ = np.histogram(
            drawn[:, column], 10, (PLANE.lowest[column], PLANE.highest[column])
        )
        assert tenths.min() > 0.05 * COUNT
        assert abs(np.mean(drawn[:, column]) - (PLANE.lowest + PLANE.highest)[column] / 2) < 0.02


@pytest.mark.parametrize("sign", [1, -1])
def test_the_deviation_is_bounded_however_much_entropy_is_wanted(sign):
    """The gradient at the bounds stays large enough for a return."""
    actor, hidden = fresh_policy().actor, torch.zeros(1, 16)
    optimizer = torch.optim.SGD([actor.spread], lr=5)
    for _ in range(500):
        (-sign * actor(hidden).entropy().sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert (STD[0] <= actor.std).all()
    assert (actor.std <= STD[1]).all()
    actor(hidden).entropy().sum().backward()
    assert (actor.spread.grad > 1e-5).all()


# Players


def test_players_draw_from_the_distribution():
    """Mean and deviation agree within four standard errors; controls stay in their ranges."""
    policy = steady_policy(0.1, 0.5, 0.5)
    with torch.no_grad():
        policy.actor.spread.fill_(-3.0)  # so narrow that nothing is clipped
    drawn = draw(policy)
    std = np.array([1, 0.5, 0.5]) * policy.actor.std.detach().numpy()
    np.testing.assert_allclose(drawn.mean(axis=0), [0.1, 0.5, 0.5], atol=4 * std[0] / COUNT**0.5)
    np.testing.assert_allclose(drawn.std(axis=0), std, rtol=4 / math.sqrt(2 * COUNT))
    assert np.abs(np.corrcoef(drawn.T)[np.triu_indices(3, 1)]).max() < 4 / COUNT**0.5
    wild = draw(steady_policy(0.9, 0.1, 1.5))
    assert wild.dtype == np.float32
    assert (wild.min(axis=0) >= PLANE.lowest).all()
    assert (wild.max(axis=0) <= PLANE.highest).all()


def test_greedy_players_take_the_mean():
    np.testing.assert_array_equal(
        np.unique(draw(steady_policy(-0.25, 3, 0.75), greedy=True), axis=0), [[-0.25, 1, 0.75]]
    )


def test_equal_seeds_draw_equally():
    policy = fresh_policy()
    assert np.array_equal(draw(policy, 1), draw(policy, 1))
    assert not np.array_equal(draw(policy, 1), draw(policy, 2))


@pytest.mark.parametrize("levels", [(0, 2, 1), (3, 1, 1), (2, 2, 0)])
def test_the_same_controls_fly_the_same_fight(levels):
    """A policy of levels and one with these means, against a pilot and in either seat."""
    [means] = controls(np.array([levels]), PLANE).tolist()
    discrete, continuous = Constant(*levels), steady_policy(*means)
    fights = [
        [Fight(who, "shooter"), Fight("evader", who), Fight(who, other), Fight(other, who)]
        for who, other in ((discrete, continuous), (continuous, discrete))
    ]
    records = [play(one, 20, greedy=True, parameters=resolve(NEAR)) for one in fights]
    for expected, got in zip(*records, strict=True):
        assert np.array_equal(expected, got)


def test_policies_of_both_kinds_meet():
    """The draws of one fight do not depend on other fights."""
    levels, numbers = random_policy(), random_policy(action_mode="continuous")
    options = {"num_envs": 20, "parameters": resolve(NEAR)}
    alone = play([Fight(numbers, levels)], **options)
    together = play([Fight(numbers, levels), Fight(random_policy(*MEMORY), "ace")], **options)
    assert np.array_equal(alone[0], together[0])
    result = evaluate(numbers, levels, 40, **NEAR)
    back = evaluate(levels, numbers, 40, **NEAR)
    assert result["win"] + result["draw"] + result["loss"] == pytest.approx(1)
    assert result["win"] == pytest.approx(back["loss"], abs=0.4)


def test_a_flown_fight_is_rewound_and_replayed():
    contestants = [random_policy(*MEMORY, action_mode="continuous"), random_policy()]
    session = Session(contestants, **NEAR)
    for _ in range(40):
        session.step()
    flown = session.replay().controls
    assert (flown >= PLANE.lowest).all()
    assert (flown <= PLANE.highest).all()
    session.rewind(25)
    for _ in range(25):
        session.step()
    assert np.array_equal(session.replay().controls, flown)
    session.replay().verify()


@pytest.fixture
def pool(tmp_path) -> Path:
    """The file of a pool with two members of each kind, which differ in their means."""
    save(tmp_path / "left.pt", steady_policy(1, 1, 0))
    save(tmp_path / "right.pt", steady_policy(-1, 1, 0))
    return frozen.write_pool(
        tmp_path,
        {"right": 1, "ahead": 1, "left": 1, "half": 1},
        ahead=frozen.constant(2, fire=1),
        half=frozen.constant(3),
    )


def test_a_pool_may_have_members_of_both_kinds(pool):
    """Each engagement is flown by its own member, in any order of members."""
    opponents = PoolCrew(pool, 1000, seed=0)
    names = np.array(opponents.names())
    seen = np.zeros((1000, len(FEATURES)), np.float32)
    flown = np.array([opponents.act(seen) for _ in range(40)])
    assert (flown[:, names == "ahead"] == (0, 1, 1)).all()
    assert (flown[:, names == "half"] == (0.5, 1, 0)).all()
    std = fresh_policy().actor.std[0].item()
    for name, sign in (("left", 1), ("right", -1)):
        rudders = sign * flown[:, names == name, 0].ravel()
        assert (rudders < 1).mean() == pytest.approx(0.5, abs=2 / len(rudders) ** 0.5)
        below = 1 - rudders[rudders < 1]  # half of a normal distribution
        assert below.mean() == pytest.approx(std * math.sqrt(2 / math.pi), rel=0.05)


@pytest.mark.parametrize("mode", ["discrete", "continuous"])
def test_agents_of_either_kind_meet_such_a_pool(pool, mode):
    env = Midrange(20, "pool", pool=pool, action_mode=mode, time_limit=20, start_range_min=15_000)
    env.reset()
    log = set()
    for _ in range(96):
        *_, infos = env.step(np.ones(env.actions.shape, env.actions.dtype))
        log |= {name for info in infos for name in info}
    assert {"pool/left", "pool/right", "pool/ahead", "pool/half"} <= log

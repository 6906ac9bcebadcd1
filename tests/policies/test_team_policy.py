"""A team's policy takes any number of rows, in any order, in torch and in C."""

from functools import partial
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from midrange_puffer import _core, _learner
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import HEIGHT
from midrange_puffer.game.observation import enemies_of, observation_for, rows_of, spaces_of
from midrange_puffer.game.parameters import resolve
from midrange_puffer.policies.actors import judge, likeliest
from midrange_puffer.policies.native import FrozenNetwork, flat_copy, make_network
from midrange_puffer.policies.networks import Policy, make_policy
from midrange_puffer.train.torch_engine import policy_loss, value_loss


def make(
    size: int = 2, action_mode: str = "discrete", seed: int = 0, heads: int = 3, **sizes: int
) -> Policy:
    """Returns a policy with random weights, whose actions are of 3 or 4 numbers."""
    torch.manual_seed(seed)
    spaces = spaces_of(_core.TEAM, action_mode, size, size)
    if heads == 4:
        nvec = {"nvec": np.array([5, 5, 3, 1 + size])} if action_mode == "discrete" else {}
        low, high = HEIGHT.lowest, HEIGHT.highest
        actions = SimpleNamespace(shape=(heads,), low=low, high=high, **nvec)
        spaces = SimpleNamespace(
            single_observation_space=spaces.single_observation_space, single_action_space=actions
        )
    policy = Policy(spaces, **{"hidden_size": 32, "entity_size": 16, **sizes})
    with torch.no_grad():
        for one in policy.parameters():
            one.add_(torch.randn_like(one) * 0.1)
    return policy.eval()


def observe(size: int, count: int, seed: int = 0) -> torch.Tensor:
    """Returns observations in a game of this size, with some absent entities."""
    rng = np.random.default_rng(seed)
    own, *others = rows_of(len_of(size))
    parts = [rng.uniform(-1, 1, (count, own.features))]
    for rows in others:
        block = rng.uniform(-1, 1, (count, rows.rows, rows.features))
        block[:, :, 0] = rng.random((count, rows.rows)) < 0.7
        block *= block[:, :, :1]
        parts.append(block.reshape(count, -1))
    return torch.from_numpy(np.concatenate(parts, axis=1).astype(np.float32))


def len_of(size: int) -> int:
    return spaces_of(_core.TEAM, "discrete", size, size).single_observation_space.shape[0]


def widened(observations: torch.Tensor, size: int) -> torch.Tensor:
    """Returns the same observations in a larger game, whose other fighters are absent."""
    wide = torch.zeros(len(observations), len_of(size))
    for narrow, rows in zip(rows_of(observations.shape[1]), rows_of(len_of(size)), strict=True):
        count = narrow.rows * narrow.features
        wide[:, rows.place : rows.place + count] = observations[
            :, narrow.place : narrow.place + count
        ]
    return wide


def test_no_observation_of_one_against_one_is_taken_for_a_teams():
    for features in _core.OBSERVATIONS.values():
        assert rows_of(features) == ()


@pytest.mark.parametrize("heads", [3, 4])
@pytest.mark.parametrize("sizes", [(2, 3), (2, 8), (5, 6)])
def test_absent_fighters_change_nothing(sizes, heads):
    """So a policy can fly in teams of sizes that it was not trained for."""
    policy, seen = make(sizes[0], heads=heads), observe(sizes[0], 64)
    wide = widened(seen, sizes[1])
    (*steering, fire), values = policy(seen)
    (*wide_steering, wide_fire), wide_values = policy(wide)
    for one, other in zip((*steering, values), (*wide_steering, wide_values), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6)
    chances = wide_fire.softmax(dim=1)
    torch.testing.assert_close(chances[:, : fire.shape[1]], fire.softmax(dim=1))
    assert (chances[:, fire.shape[1] :] == 0).all()
    network = FrozenNetwork(policy)
    assert (network.act(seen.numpy(), None) == network.act(wide.numpy(), None)).all()


def test_the_order_of_equals_changes_nothing_but_whom_a_level_means():
    policy, seen = make(4), observe(4, 32)
    turned = seen.clone()
    for rows in rows_of(seen.shape[1])[1:]:
        block = seen[:, rows.place : rows.place + rows.rows * rows.features]
        other = block.unflatten(1, (rows.rows, rows.features)).roll(1, dims=1)
        turned[:, rows.place : rows.place + rows.rows * rows.features] = other.flatten(1)
    (*steering, fire), values = policy(seen)
    (*turned_steering, turned_fire), turned_values = policy(turned)
    for one, other in zip((*steering, values), (*turned_steering, turned_values), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6)
    torch.testing.assert_close(turned_fire[:, 1:], fire[:, 1:].roll(1, dims=1))
    torch.testing.assert_close(turned_fire[:, 0], fire[:, 0])


def test_nobody_absent_is_fired_at():
    policy, seen = make(3), observe(3, 500)
    fire = policy(seen)[0][2]
    rows = enemies_of(policy.rows)
    places = rows.place + rows.features * np.arange(rows.rows)
    is_there = seen[:, places] > 0
    assert not is_there.all()
    assert ((fire.softmax(dim=1)[:, 1:] > 0) == is_there).all()
    blind = seen.clone()
    blind[:, rows.place : rows.place + rows.rows * rows.features] = 0
    assert (likeliest(policy(blind)[0])[:, 2] == 0).all()


def by_autograd(policy, seen, actions, proximal, before, advantages, returns, living):
    """Returns outputs for the living, and the gradient of their loss, in float64."""
    policy = policy.double()
    distribution, values = _in_float64(policy, seen)
    logprobs, entropies = judge(distribution, actions)
    ratio = (logprobs - proximal)[living].exp()
    loss = policy_loss(ratio, advantages[living], 0.2)
    loss = loss + 2.0 * value_loss(values[living], before[living], returns[living], 0.1)
    loss = loss - 0.01 * entropies[living].mean()
    loss.backward()
    gradient = torch.cat([one.grad.flatten() for one in policy.parameters()])
    return logprobs.detach(), values.detach(), gradient


def _in_float64(policy: Policy, seen: torch.Tensor):
    """Returns the policy's outputs, computed entirely in float64."""
    seen = seen.double()
    pooled = policy.pooling(seen, policy.rows)
    hidden = policy.encoder(pooled)
    rows = enemies_of(policy.rows)
    enemies = seen[:, rows.place : rows.place + rows.rows * rows.features]
    enemies = enemies.unflatten(1, (rows.rows, rows.features))
    values = policy.critic(hidden).squeeze(1)
    outputs = torch.nn.functional.linear(hidden, policy.actor.weight, policy.actor.bias)
    if policy.is_continuous:
        means = policy.actor.middle + policy.actor.reach * outputs
        std = (policy.actor.reach * policy.actor.std).expand_as(means)
        return torch.distributions.Normal(means, std, validate_args=False), values
    *others, fire, wanted = outputs.split(policy.actor.levels, dim=1)
    fit = torch.einsum("nkf,sf,ns->nk", enemies, policy.actor.keys.weight, wanted)
    at_each = torch.where(enemies[:, :, 0] > 0, fire[:, 1:] + fit, -1e4)
    return (*others, torch.cat([fire[:, :1], at_each], dim=1)), values


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(2, 8),
    action_mode=st.sampled_from(["discrete", "continuous"]),
    heads=st.sampled_from([3, 4]),
    hidden_layers=st.integers(1, 3),
    entity_size=st.sampled_from([16, 32, 48]),
    dead=st.sampled_from([0.0, 0.3, 0.9]),
    seed=st.integers(0, 99),
    isa=st.sampled_from(_learner.isas()),
)
def test_the_c_learners_gradient_is_autograds(
    size, action_mode, heads, hidden_layers, entity_size, dead, seed, isa
):
    sizes = {"hidden_layers": hidden_layers, "entity_size": entity_size}
    policy = make(size, action_mode, seed, heads, **sizes)
    rng = np.random.default_rng(seed)
    shape = (3, 50)
    seen = observe(size, 150, seed)
    with torch.no_grad():
        distribution, _ = policy(seen)
    if action_mode == "continuous":
        actions = (distribution.loc + distribution.scale * torch.randn(150, heads)).numpy()
    else:
        levels = [torch.multinomial(one.softmax(1), 1) for one in distribution]
        actions = torch.cat(levels, dim=1).int().numpy()
    proximal, before, advantages, returns = rng.normal(0, 1, (4, *shape)).astype(np.float32)
    proximal = (
        proximal * 0.1 + judge(distribution, torch.from_numpy(actions))[0].view(shape).numpy()
    )
    decisions = np.flatnonzero(rng.random(150) >= dead).astype(np.int32)
    decisions = decisions if len(decisions) else np.zeros(1, np.int32)

    with mock.patch.object(_learner, "Network", partial(_learner.Network, isa=isa)):
        network = make_network(policy)
    network.load(flat_copy(policy).numpy())
    gradient = np.zeros(network.size, np.float32)
    logprobs, values = np.full((2, *shape), -7, np.float32)
    kept = (seen.numpy().reshape(*shape, -1), actions.reshape(*shape, heads), proximal, before)
    network.gradient(
        kept, np.arange(3), advantages, returns, (0.2, 0.1, 2.0, 0.01), 1.0, gradient, logprobs,
        values, decisions,
    )  # fmt: skip
    given_ = (torch.from_numpy(one.reshape(-1)) for one in (proximal, before, advantages, returns))
    living = torch.from_numpy(decisions)
    exact = by_autograd(policy, seen, torch.from_numpy(actions), *given_, living)
    for ours, theirs in zip((logprobs, values), exact, strict=False):
        np.testing.assert_allclose(ours.ravel()[decisions], theirs[decisions], rtol=1e-4, atol=2e-5)
        untouched = np.delete(ours.ravel(), decisions)
        assert (untouched == -7).all()
    scale = float(exact[2].abs().max())
    np.testing.assert_allclose(gradient, exact[2], rtol=0, atol=2e-4 * scale + 1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"entities": (10, 24, 1, [(1, 19, 10), (2, 19, 29)])}, "entity_size = 24"),
        ({"entities": (10, 16, 2, [(1, 19, 10), (2, 19, 29)])}, "targets = 2"),
        ({"entities": (10, 16, 1, [])}, "of 0 kinds"),
        ({"entities": (10, 16, 1, [(1, 19, 10), (2, 19, 30)])}, "follow the one before"),
        ({"entities": (10, 16, 1, [(1, 19, 10), (3, 19, 29)])}, "must be of 67 features"),
        ({"levels": (5, 3, 4)}, "must be 1 \\+ 2 targets"),
    ],
)
def test_c_refuses_rows_that_no_team_observes(wrong, message):
    right = {"levels": (5, 3, 3), "entities": (10, 16, 1, [(1, 19, 10), (2, 19, 29)])} | wrong
    with pytest.raises(ValueError, match=message):
        _learner.Network(67, (16,), right["levels"], None, (0.05, 1), entities=right["entities"])


def test_decisions_that_there_are_not_are_refused_by_c():
    policy = make()
    network = make_network(policy)
    kept = (
        observe(2, 6).numpy().reshape(2, 3, -1), np.zeros((2, 3, 3), np.int32),
        *np.zeros((2, 2, 3), np.float32),
    )  # fmt: skip
    to = np.zeros((2, 2, 3), np.float32)
    for wrong in ([6], [-1]):
        with pytest.raises(IndexError, match=r"decision .*: 0 ... 5"):
            network.score(kept, np.arange(2), *to, np.array(wrong, np.int32))
    for count in (0, 7):
        with pytest.raises(ValueError, match=f"{count} decisions: at least 1, at most 6"):
            network.score(kept, np.arange(2), *to, np.zeros(count, np.int32))


def test_a_model_that_cannot_fly_in_a_team_is_named():
    features = _core.OBSERVATIONS["default"]
    player = SimpleNamespace(features=features, any_size=False, label="its.pt")
    team, pair = resolve({"red_size": 3, "blue_size": 3}, teams=True), resolve({})
    with pytest.raises(UsageError, match=r"^its\.pt is of one against one: it cannot fly"):
        observation_for([player], team)
    player.features = len_of(2)
    with pytest.raises(UsageError, match=r"^its\.pt is of sides of 2: .* where they are of 3"):
        observation_for([player], team)
    with pytest.raises(UsageError, match=r"^its\.pt is of a team: it cannot fly one against one"):
        observation_for([player], pair)
    player.any_size = True
    assert observation_for([player], team) == _core.TEAM


def test_a_memory_flies_in_any_size():
    """Absent fighters do not change the LSTM's memory."""
    sizes = {"input_size": 32, "hidden_size": 32}
    spaces = spaces_of(_core.TEAM, "discrete", 2, 2)
    policy = make_policy(spaces, {"hidden_size": 32}, "Recurrent", sizes).eval()
    seen = observe(2, 40)
    states = [{name: torch.zeros(40, 32) for name in ("lstm_h", "lstm_c")} for _ in range(2)]
    for one, state in zip((seen, widened(seen, 4)), states, strict=True):
        policy.forward_eval(one, state)
    for name in ("lstm_h", "lstm_c"):
        assert states[0][name].abs().max() > 0
        torch.testing.assert_close(states[0][name], states[1][name], rtol=0, atol=1e-6)

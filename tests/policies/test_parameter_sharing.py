"""A commander shares its weights over its fighters, in torch and in C."""

from functools import partial
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from midrange_puffer import _core, _learner
from midrange_puffer.game.observation import OWN_ALIVE, enemies_of, spaces_of
from midrange_puffer.policies.actors import judge
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.model_file import save_model
from midrange_puffer.policies.native import FrozenNetwork, flat_copy, make_network, reason_against
from midrange_puffer.policies.networks import Policy, make_policy, policy_class
from midrange_puffer.train.torch_engine import policy_loss, value_loss

GAMES = {"plane": _core.TEAM, "sensors": _core.TEAM_RADAR, "height": _core.TEAM_HEIGHT}


def make(size: int, game: str = "plane", seed: int = 0, **sizes: object) -> Policy:
    """Returns a commander with random weights."""
    torch.manual_seed(seed)
    spaces = spaces_of(GAMES[game], "orders", size, size, 4, size)
    policy = make_policy(spaces, {"hidden_size": 32, "entity_size": 16, **sizes})
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return policy.eval()


def observe(policy: Policy, count: int, seed: int = 0, dead: float = 0.3) -> torch.Tensor:
    """Returns what sides observe, where some entities are absent and some fighters dead."""
    rng = np.random.default_rng(seed)
    seen = rng.uniform(-1, 1, (count, policy.commanded, policy.features // policy.commanded))
    for rows in policy.rows[1:]:
        part = seen[:, :, rows.place : rows.place + rows.rows * rows.features]
        block = part.reshape(count, policy.commanded, rows.rows, rows.features)
        block[..., 0] = rng.random(block.shape[:3]) < 0.7
        part[:] = (block * block[..., :1]).reshape(part.shape)
    seen[:, :, OWN_ALIVE] = 1
    seen[rng.random(seen.shape[:2]) < dead] = 0
    return torch.from_numpy(seen.astype(np.float32)).flatten(1)


def permuted(array: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Returns rows of [n, fighters * parts] with the fighters in another order."""
    return array.unflatten(1, (len(order), -1))[:, order].flatten(1)


@settings(max_examples=20, deadline=None)
@given(data=st.data(), size=st.sampled_from([2, 3, 4, 8]), game=st.sampled_from([*GAMES]))
def test_orders_change_places_with_the_fighters(data, size, game):
    policy = make(size, game, seed=size)
    order = data.draw(st.permutations(range(size)))
    seen = observe(policy, 40)
    logits, values = policy(seen)
    other_logits, other_values = policy(permuted(seen, order))
    together = torch.cat(logits, dim=1)
    torch.testing.assert_close(torch.cat(other_logits, dim=1), permuted(together, order))
    torch.testing.assert_close(other_values, values)
    network = FrozenNetwork(policy)
    orders = network.act(seen.numpy(), None)
    assert len(np.unique(orders, axis=0)) > 5
    again = network.act(permuted(seen, order).numpy(), None)
    assert np.array_equal(again, permuted(torch.from_numpy(orders), order).numpy())


def test_a_fighters_orders_depend_on_what_the_others_of_its_side_observe():
    policy = make(3)
    seen = observe(policy, 40, dead=0)
    changed = seen.clone()
    changed[:, -1] *= -1  # of the last fighter
    first, _ = policy(seen)
    second, _ = policy(changed)
    assert (first[0] - second[0]).abs().max() > 0


def test_the_number_of_weights_does_not_depend_on_the_number_of_fighters():
    counts = {sum(weight.numel() for weight in make(size).parameters()) for size in (2, 4, 8)}
    assert len(counts) == 1
    whole = make(8, parameter_sharing=False)
    assert sum(weight.numel() for weight in whole.parameters()) > 5 * counts.pop()


def test_the_dead_have_no_influence_on_learning():
    policy = make(2)
    seen = observe(policy, 60, dead=0)
    seen.unflatten(1, (2, -1))[:, 1] = 0
    logits, _ = policy(seen)
    assert all((head == 0).all() for head in logits[3:])
    orders = torch.zeros(60, 6)
    other = orders.clone()
    other[:, 3:] = 2
    assert torch.equal(judge(logits, orders)[0], judge(logits, other)[0])
    sum(head.sum() for head in logits[3:]).backward()
    gradients = [weight.grad for weight in policy.parameters() if weight.grad is not None]
    assert gradients
    assert all((gradient == 0).all() for gradient in gradients)


def in_float64(policy: Policy, seen: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """Returns outputs in float64, fighter by fighter."""
    parts = seen.double().split(policy.features // policy.commanded, dim=1)
    encodings = [policy.encoder(policy.pooling(part, policy.rows)) for part in parts]
    summary = torch.stack(encodings).max(dim=0).values
    rows, logits, values = enemies_of(policy.rows), [], []
    for part, encoding in zip(parts, encodings, strict=True):
        hidden = policy.joint(torch.cat([encoding, summary], dim=1))
        outputs = functional.linear(hidden, policy.actor.weight, policy.actor.bias)
        *others, fire, query = outputs.split(policy.actor.levels, dim=1)
        enemies = part[:, rows.place : rows.place + rows.rows * rows.features]
        enemies = enemies.unflatten(1, (rows.rows, rows.features))
        match = torch.einsum("nkf,sf,ns->nk", enemies, policy.actor.keys.weight, query)
        targets = torch.where(enemies[:, :, 0] > 0, fire[:, 1:] + match, -1e4)
        alive = part[:, OWN_ALIVE, None]
        logits += [alive * head for head in (*others, torch.cat([fire[:, :1], targets], dim=1))]
        values.append(policy.critic(hidden))
    return tuple(logits), torch.cat(values, dim=1).mean(dim=1)


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(2, 8),
    game=st.sampled_from([*GAMES]),
    hidden_layers=st.integers(1, 3),
    entity_size=st.sampled_from([16, 32]),
    seed=st.integers(0, 99),
    isa=st.sampled_from(_learner.isas()),
)
def test_the_c_learners_gradient_is_autograds(size, game, hidden_layers, entity_size, seed, isa):
    policy = make(size, game, seed, hidden_layers=hidden_layers, entity_size=entity_size)
    assert reason_against(policy) is None
    rng, shape, heads = np.random.default_rng(seed), (3, 50), policy.action_size
    seen = observe(policy, 150, seed)
    with torch.no_grad():
        logits, _ = policy(seen)
    levels = [torch.multinomial(head.softmax(1), 1) for head in logits]
    actions = torch.cat(levels, dim=1).int()
    proximal, before, advantages, returns = rng.normal(0, 1, (4, *shape)).astype(np.float32)
    proximal = proximal * 0.1 + judge(logits, actions)[0].view(shape).numpy()
    decisions = np.flatnonzero(rng.random(150) < 0.8).astype(np.int32)

    with mock.patch.object(_learner, "Network", partial(_learner.Network, isa=isa)):
        network = make_network(policy)
    network.load(flat_copy(policy).numpy())
    gradient = np.zeros(network.size, np.float32)
    ours = np.full((2, *shape), -7, np.float32)
    kept = (
        seen.numpy().reshape(*shape, -1), actions.numpy().reshape(*shape, heads), proximal, before,
    )  # fmt: skip
    network.gradient(
        kept, np.arange(3), advantages, returns, (0.2, 0.1, 2.0, 0.01), 1.0, gradient, *ours,
        decisions,
    )  # fmt: skip

    policy.double()
    exact, values = in_float64(policy, seen)
    logprobs, entropies = judge(exact, actions)
    living = torch.from_numpy(decisions)
    proximal, before, advantages, returns = (
        torch.from_numpy(array.reshape(-1))[living]
        for array in (proximal, before, advantages, returns)
    )
    loss = policy_loss((logprobs[living] - proximal).exp(), advantages, 0.2)
    loss = loss + 2.0 * value_loss(values[living], before, returns, 0.1)
    (loss - 0.01 * entropies[living].mean()).backward()
    wanted = torch.cat([weight.grad.flatten() for weight in policy.parameters()])
    for array, theirs in zip(ours, (logprobs, values), strict=True):
        theirs = theirs.detach().numpy()[decisions]
        np.testing.assert_allclose(array.ravel()[decisions], theirs, rtol=1e-4, atol=5e-5)
    scale = float(wanted.abs().max())
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=2e-4 * scale + 1e-6)


@pytest.mark.parametrize("memory", ["Recurrent", "Attention"])
def test_a_memory_remembers_the_side_whatever_the_order_of_its_fighters(memory):
    torch.manual_seed(1)
    spaces = spaces_of(_core.TEAM, "orders", 3, 3, 4, 3)
    if memory == "Recurrent":
        sizes = {"input_size": 32, "hidden_size": 32}
        policy = make_policy(spaces, {"hidden_size": 32}, "Recurrent", sizes).eval()
    else:
        policy = make_policy(spaces, {"hidden_size": 32}, policy_class=policy_class(memory)).eval()
    seen, order = observe(make(3), 40), [2, 0, 1]
    states = [
        {name: torch.zeros(40, policy.memory_size) for name in ("lstm_h", "lstm_c")}
        for _ in range(2)
    ]
    logits, values = policy.forward_eval(seen, states[0])
    others, other_values = policy.forward_eval(permuted(seen, order), states[1])
    torch.testing.assert_close(torch.cat(others, dim=1), permuted(torch.cat(logits, dim=1), order))
    torch.testing.assert_close(other_values, values)
    assert states[0]["lstm_c"].abs().max() > 0
    for name in states[0]:
        torch.testing.assert_close(states[0][name], states[1][name])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"widths": (16,)}, "fighters = 2: must be of a team, with levels and at least 2 hidden"),
        ({"entities": None}, "fighters = 2: must be of a team"),
        ({"levels": None}, "fighters = 2: must be of a team"),
        ({"levels": (6, 3, 3, 6, 3, 4)}, "must be of equal parts"),
        ({"levels": (6, 3, 3, 6, 3)}, "must be of equal parts"),
        ({"features": 135}, "135 features and levels"),
        ({"own_alive": 10}, "own_alive = 10: must be one of 10 features"),
    ],
)
def test_c_refuses_networks_that_are_no_commanders(wrong, message):
    right = {
        "features": 134,
        "widths": (16, 16),
        "levels": (6, 3, 3) * 2,
        "ranges": ((0, 0, 0), (1, 1, 1)),
        "deviations": (0.05, 1),
        "entities": (10, 16, 1, [(1, 19, 10), (2, 19, 29)]),
        "fighters": 2,
    }
    assert _learner.Network(**right).heads == 6
    with pytest.raises(ValueError, match=message):
        _learner.Network(**right | wrong)


def test_a_commander_older_than_the_setting_has_weights_of_its_own_for_each_fighter(tmp_path):
    policy = make(2, parameter_sharing=False)
    env = {"red_size": 2, "blue_size": 2, "observation": "default", "opponent": "ace"}
    config = {
        "base": {"rnn_name": None},
        "rnn": {},
        "policy": {"hidden_size": 32, "entity_size": 16},  # without parameter_sharing
        "env": env | {"action_mode": "orders", "order_decisions": 4, "agents": "side"},
    }
    path = tmp_path / "old.pt"
    save_model(path, config, policy.state_dict(), 0)
    assert "parameter_sharing" not in torch.load(path, weights_only=True)["policy"]
    loaded, entries = load_policy(path)
    assert entries["policy"]["parameter_sharing"] is False
    seen = observe(policy, 20)
    for logits, wanted in zip(loaded(seen)[0], policy(seen)[0], strict=True):
        assert torch.equal(logits, wanted)

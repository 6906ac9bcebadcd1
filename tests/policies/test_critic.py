"""A central critic in torch and in C: gradients, and rows of fighters that are not there."""

from functools import partial
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from midrange_puffer import _learner
from midrange_puffer.game.critic_views import CriticView, critic_view
from midrange_puffer.game.parameters import observed, resolve
from midrange_puffer.policies.critic import Critic
from midrange_puffer.policies.native import flat_copy, make_critic_network
from midrange_puffer.train.torch_engine import value_loss

SEGMENTS, HORIZON = 3, 30
# Kind of critic, fighters of a side, sensing or height.
VIEWS = [
    ("side", 1, "full"), ("truth", 1, "radar"), ("side", 2, "full"), ("side", 4, "radar"),
    ("truth", 3, "radar"), ("side", 8, "height"),
]  # fmt: skip


def view_of(critic: str, size: int, kind: str) -> CriticView:
    own = {"dimensions": 3} if kind == "height" else {"sensing": kind}
    game = resolve({"red_size": size, "blue_size": 1, **own}, teams=True)
    view = critic_view(critic, observed("default", game), game)
    assert view is not None
    return view


def make(view: CriticView, seed: int = 0, hidden_layers: int = 2) -> Critic:
    """Returns a critic with weights that no training gives."""
    torch.manual_seed(seed)
    critic = Critic(view, 32, hidden_layers, 16)
    with torch.no_grad():
        for weight in critic.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return critic


def by_definition(critic: Critic, rows: torch.Tensor) -> torch.Tensor:
    """Returns values in float64, from every pooled row one by one."""
    view, parts = critic.view, [rows[:, : critic.view.plain].double()]
    for kind in view.pooled:
        best = torch.zeros(len(rows), critic.entity_size, dtype=torch.float64)
        for fighter in range(kind.fighters):
            for row in range(kind.rows):
                at = kind.place + fighter * kind.stride + row * kind.features
                features = rows[:, at : at + kind.features].double()
                encoded = features @ critic.pooling[kind.name].weight.double().T
                best = torch.maximum(best, encoded)
        parts.append(best)
    hidden = torch.cat(parts, dim=1)
    for layer in critic.encoder:
        is_linear = isinstance(layer, torch.nn.Linear)
        if is_linear:
            hidden = hidden @ layer.weight.double().T + layer.bias.double()
        else:
            hidden = torch.nn.functional.gelu(hidden)
    return (hidden @ critic.value.weight.double().T + critic.value.bias.double()).squeeze(1)


@settings(max_examples=12, deadline=None)
@given(
    kind=st.sampled_from(VIEWS),
    hidden_layers=st.integers(1, 3),
    dead=st.sampled_from([0.0, 0.5]),
    extra=st.sampled_from([0, 5]),  # numbers after a row, which are not read
    seed=st.integers(0, 99),
    isa=st.sampled_from(_learner.isas()),
)
def test_the_gradient_in_c_is_that_of_the_definition(kind, hidden_layers, dead, extra, seed, isa):
    view = view_of(*kind)
    critic, rng = make(view, seed, hidden_layers), np.random.default_rng(seed)
    shape = (SEGMENTS, HORIZON)
    rows = rng.uniform(-1, 1, (*shape, view.width + extra)).astype(np.float32)
    rows[rng.random(shape) < 0.3, view.features :] = 0  # no mates, or nothing true
    before, returns = rng.normal(0, 1, (2, *shape)).astype(np.float32)
    decisions = np.flatnonzero(rng.random(rows[..., 0].size) >= dead).astype(np.int32)
    with mock.patch.object(_learner, "Network", partial(_learner.Network, isa=isa)):
        network = make_critic_network(critic)
    network.load(flat_copy(critic).numpy())
    values, gradient = np.full(shape, -7, np.float32), np.ones(network.size, np.float32)
    chosen = np.arange(SEGMENTS)[::-1].copy()
    kept = (rows, None, before, before)
    losses = network.gradient(
        kept, chosen, returns, returns, (0.2, 0.1, 2.0, 0.01), 0.5, gradient, None, values,
        decisions,
    )  # fmt: skip
    scored = np.full(shape, -7, np.float32)
    network.score(kept, chosen, None, scored, decisions)
    np.testing.assert_array_equal(scored, values)

    exact = by_definition(critic, torch.from_numpy(rows[chosen].reshape(-1, rows.shape[2])))
    old, targets = (torch.from_numpy(one.reshape(-1)) for one in (before[chosen], returns))
    loss = value_loss(exact[decisions], old[decisions], targets[decisions], 0.1)
    (0.5 * 2.0 * loss).backward()
    found = torch.cat([weight.grad.flatten() for weight in critic.parameters()]).numpy()
    np.testing.assert_allclose(values.ravel()[decisions], exact.detach()[decisions], atol=3e-5)
    assert (np.delete(values.ravel(), decisions) == -7).all()
    np.testing.assert_allclose(gradient - 1, found, rtol=0, atol=2e-4 * abs(found).max() + 1e-6)
    assert losses["value_loss"] == pytest.approx(loss.item(), rel=1e-4)


@pytest.mark.parametrize("kind", VIEWS)
def test_torch_computes_the_definition(kind):
    view = view_of(*kind)
    critic = make(view)
    rows = torch.rand(20, view.width) * 2 - 1
    found = critic(rows).squeeze(1)
    torch.testing.assert_close(found, by_definition(critic, rows).float(), atol=1e-5, rtol=0)


def test_a_fighter_that_is_not_there_changes_nothing():
    """So a critic's weights are those of a side of any size."""
    small, large = view_of("side", 2, "full"), view_of("side", 3, "full")
    critic, other = make(small), Critic(large, 32, 2, 16)
    other.load_state_dict(critic.state_dict())
    rows = torch.zeros(9, large.width)
    narrow = torch.rand(9, small.width) * 2 - 1
    for few, many in zip(small.pooled, large.pooled, strict=True):
        for fighter in range(few.fighters):
            count = few.rows * few.features
            at, place = fighter * few.stride + few.place, fighter * many.stride + many.place
            rows[:, place : place + count] = narrow[:, at : at + count]
    rows[:, : small.plain] = narrow[:, : small.plain]
    torch.testing.assert_close(other(rows), critic(narrow))


def test_a_critic_does_not_act():
    network = make_critic_network(make(view_of("truth", 1, "radar")))
    with pytest.raises(RuntimeError, match="a critic does not act"):
        network.act(np.zeros((1, network.features), np.float32), None, np.zeros((1, 0), np.int32))

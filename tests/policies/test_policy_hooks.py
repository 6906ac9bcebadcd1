"""A subclass of the package's policy may replace its features, and what it makes of them."""

import pytest
import torch

from midrange_puffer import _core
from midrange_puffer.game.observation import Spaces, spaces_of
from midrange_puffer.policies.attention import Attention
from midrange_puffer.policies.networks import Policy, Recurrent
from midrange_puffer.policies.own_policy import empty_memory

AGENTS, HORIZON, SIZE = 5, 3, 16
GAMES = {
    "one against one": spaces_of("default"),
    "teams": spaces_of(_core.TEAM, "discrete", 2, 2),
    "commander": spaces_of(_core.TEAM, "orders", 2, 2, 4, 2),
}
MEMORIES = ("none", "Recurrent", "Attention")


class Blind(Policy):
    """Its features do not depend on the observations."""

    calls = 0

    def encode_observations(self, observations: torch.Tensor, state: object = None) -> torch.Tensor:
        self.calls += 1
        return 0 * super().encode_observations(observations, state) + 1


class Indifferent(Policy):
    """All its values are 7."""

    calls = 0

    def decode_actions(self, hidden: torch.Tensor) -> tuple:
        self.calls += 1
        logits = tuple(hidden[:, :2] for _ in range(3))
        return logits, torch.full_like(hidden[:, :1], 7)


def make(policy_class: type[Policy], spaces: Spaces, memory: str) -> torch.nn.Module:
    torch.manual_seed(0)
    policy = policy_class(spaces, hidden_size=SIZE, entity_size=SIZE)
    if memory == "Attention":
        return Attention(policy, heads=2, decisions=4).eval()
    return Recurrent(spaces, policy, SIZE, SIZE).eval() if memory == "Recurrent" else policy.eval()


def values_of(policy: torch.nn.Module, spaces: Spaces, memory: str) -> list[torch.Tensor]:
    """Returns the values of one decision, and of segments in the update."""
    shape = (AGENTS, HORIZON, *spaces.single_observation_space.shape)
    seen = torch.rand(shape, generator=torch.manual_seed(1)) * 2 - 1
    if memory == "none":
        return [policy.forward_eval(seen[:, 0])[1], policy(seen.flatten(0, 1))[1]]
    state = empty_memory(policy, AGENTS)
    done = {"done": torch.zeros(AGENTS, HORIZON)}
    return [policy.forward_eval(seen[:, 0], state)[1], policy(seen, done)[1].flatten()[:, None]]


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("game", GAMES)
@torch.no_grad()
def test_its_own_features_are_used(game, memory):
    spaces = GAMES[game]
    own, plain = make(Blind, spaces, memory), make(Policy, spaces, memory)
    plain.load_state_dict(own.state_dict())
    values, expected = values_of(own, spaces, memory), values_of(plain, spaces, memory)
    assert getattr(own, "policy", own).calls == 2
    for found, other in zip(values, expected, strict=True):
        assert not torch.allclose(found, other)
    if game != "commander":  # whose values also depend on the encodings of its fighters
        assert values[0].std() < 1e-5 < expected[0].std()


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("game", GAMES)
@torch.no_grad()
def test_its_own_outputs_are_used(game, memory):
    spaces = GAMES[game]
    policy = make(Indifferent, spaces, memory)
    for found in values_of(policy, spaces, memory):
        assert torch.equal(found, torch.full_like(found, 7))
    assert getattr(policy, "policy", policy).calls == 2

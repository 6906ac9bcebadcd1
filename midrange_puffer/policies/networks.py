"""The package's policy: a small MLP, in teams behind an entity encoder, optionally with an LSTM."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from midrange_puffer.game.observation import OWN_ALIVE, Rows, Spaces, enemies_of, rows_of
from midrange_puffer.game.orders import ORDER
from midrange_puffer.policies.actors import (
    Distribution,
    GaussianActor,
    LevelActor,
    PolicyModule,
    TargetActor,
)
from midrange_puffer.policies.attention import Attention
from midrange_puffer.policies.encoders import EntityEncoder, entities, initialise_hidden, mlp
from midrange_puffer.policies.own_code import ATTENTION, PACKAGE
from midrange_puffer.policies.own_policy import MEMORY, make_own, own_policy
from midrange_puffer.puffer_import import pufferlib

# isort: split
import pufferlib.models
from pufferlib.pytorch import layer_init

# The largest absolute weight of a policy. Weights of trained policies are below 10. With weights up
# to this limit, three layers cannot overflow a float32, whatever the observation.
WEIGHT_LIMIT = 1e6


def are_usable(weights: torch.Tensor | np.ndarray) -> bool:
    """True if all weights are numbers within WEIGHT_LIMIT."""
    return bool((abs(weights) <= WEIGHT_LIMIT).all())


class Context(NamedTuple):
    """Values that `Policy.decode` needs beside hidden features.

    Attributes:
        observations: [agents, features].
        encodings: of each fighter, [agents, fighters, hidden_size]; None without
            `parameter_sharing`.
    """

    observations: torch.Tensor
    encodings: torch.Tensor | None = None


class Policy(PolicyModule):
    """The package's policy: hidden layers, an actor and a critic.

    It computes the actor's output and values [agents, 1] from observations float32 [agents,
    features]. The actor is a `LevelActor` for discrete actions and a `GaussianActor` for continuous
    ones.

    In teams an `EntityEncoder` comes first, and a `TargetActor` replaces the `LevelActor`. Such a
    policy can fly in teams of any size: the length of an observation tells its rows.

    A commander (`env.fighters` > 1) shares its weights over the fighters of its side, with
    `parameter_sharing`. The encoder computes an encoding of each fighter's own observation. The
    maximum of each feature over the fighters summarises the side (Zaheer et al. 2017, arXiv
    1703.06114). A joint layer sees a fighter's encoding and the summary, and gives the input of the
    actor for this fighter. Values are means over the fighters. So the policy is equivariant: if
    fighters change places, so do their orders, and the value stays. The logits of dead fighters are
    zeros, so that their orders have no influence on learning. A memory is one of the summary.

    A subordinate (`env.order_features` > 0) also observes the order that it is given, in teams as a
    last kind of rows.

    Args:
        env: an object with the spaces of an environment.
        hidden_size: width of the hidden layers.
        fire_bias: logit of firing in an untrained policy.
        hidden_layers: number of hidden layers.
        entity_size: number of features for each kind of entity, and length of a target's key.
        parameter_sharing: True if the fighters of a commander share its weights. False: an MLP over
            all features of the side.

    Attributes:
        rows: rows of a team's observation; empty in one against one.
        any_size: True if it can fly in teams of any size.
        shares: True if it is a commander whose fighters share its weights.
        order_features: number of features of a subordinate's order; 0: it is given none.
    """

    memory_size = 0
    rows: tuple[Rows, ...]

    def __init__(
        self,
        env: Spaces,
        hidden_size: int = 128,
        fire_bias: float = -4.0,
        hidden_layers: int = 2,
        entity_size: int = 32,
        parameter_sharing: bool = True,
    ) -> None:
        super().__init__()
        self.fire_bias = fire_bias
        self.hidden_size, self.hidden_layers = hidden_size, hidden_layers
        self.commanded = getattr(env, "fighters", 1)
        self.shares = parameter_sharing and self.commanded > 1
        parts = self.commanded if self.shares else 1  # of an observation and of an action
        self.features = env.single_observation_space.shape[0]
        self.order_features = getattr(env, "order_features", 0)
        width = self.features // parts
        # The features of a whole side may be as many as those of a fighter in another game.
        self.rows = self.rows_in(width) if self.shares or self.commanded == 1 else ()
        self.entity_size = entity_size
        if self.rows:
            self.pooling = EntityEncoder(self.rows, entity_size)  # the name that model files use
            width = self.pooling.width
        actions: Any = env.single_action_space  # MultiDiscrete, or Box if continuous
        levels = getattr(actions, "nvec", None)
        self.is_continuous = levels is None  # read by LSTMWrapper
        self.order_decisions = getattr(env, "order_decisions", 0)
        self.action_size = actions.shape[0]
        self.encoder = mlp(width, hidden_size, hidden_layers)
        if self.shares:
            self.joint = mlp(2 * hidden_size, hidden_size, 1)
        if levels is None:
            self.actor = GaussianActor(hidden_size, actions.low, actions.high)
        elif self.rows:
            before = levels[: len(levels) // parts - 1].tolist()  # the heads before the target's
            self.actor = TargetActor(hidden_size, before, enemies_of(self.rows), entity_size)
        else:
            self.actor = LevelActor(hidden_size, levels.tolist())
        self.critic = nn.Linear(hidden_size, 1)
        self.initialise()

    @property
    def any_size(self) -> bool:
        """True if it flies in teams of any size."""
        return bool(self.rows) and not self.shares

    def rows_in(self, features: int) -> tuple[Rows, ...]:
        """Returns the rows of a fighter's observation of so many features; () outside teams."""
        seen = features - self.order_features
        rows = rows_of(seen)
        if rows and self.order_features:
            return (*rows, Rows(ORDER, 1, self.order_features, seen))
        return rows

    def initialise(self) -> None:
        """Sets orthogonal weights, for actions that explore but fire rarely, by `fire_bias`.

        If it fired in every second decision, a fighter would have spent its six missiles after half
        a minute and would never explore *when* to fire.
        """
        initialise_hidden(self.encoder, self.pooling if self.rows else None)
        if self.shares:
            initialise_hidden(self.joint)
        layer_init(self.critic, std=1.0)
        # An order fires by permission only where a shot may hit, so no level begins rare.
        self.actor.initialise(0.0 if self.order_decisions else self.fire_bias)

    def forward(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's output and values."""
        return self.decode(*self.encode(observations, state))

    forward_eval = forward

    def encode(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> tuple[torch.Tensor, Context]:
        """Returns the features of `encode_observations`, the input of a memory, and their context.

        Encodes the fighters of a commander once for both, unless a subclass has features of its
        own.
        """
        if self.shares and not self._overrides("encode_observations"):
            encodings = self._encode_fighters(observations)
            return encodings.amax(dim=1), Context(observations, encodings)
        hidden = self.encode_observations(observations, state)
        encodings = self._encode_fighters(observations) if self.shares else None
        return hidden, Context(observations, encodings)

    def decode(self, hidden: torch.Tensor, context: Context) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's output and values from hidden features or a memory's output.

        A subclass's own `decode_actions` takes the hidden features alone, in teams, too.

        Args:
            hidden: [agents, hidden_size].
            context: of the same observations.
        """
        observations, encodings = context
        if self._overrides("decode_actions"):
            return self.decode_actions(hidden)
        if encodings is not None:
            return self._command(hidden, encodings, observations)
        if isinstance(self.actor, TargetActor):
            enemies = entities(observations, enemies_of(self.rows_in(observations.shape[1])))
            return self.actor(hidden, enemies), self.critic(hidden)
        return self.decode_actions(hidden)

    def encode_observations(
        self, observations: torch.Tensor, state: dict | None = None
    ) -> torch.Tensor:
        """Returns hidden features [agents, hidden_size]; PufferLib's LSTMWrapper calls it, too.

        With `parameter_sharing` they are the summaries of sides.
        """
        if self.shares:
            return self._encode_fighters(observations).amax(dim=1)
        features = observations.float()
        return self.encoder(self._pool(features) if self.rows else features)

    def decode_actions(self, hidden: torch.Tensor) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's output and values from hidden features; for one against one."""
        return self.actor(hidden), self.critic(hidden)

    def _overrides(self, method: str) -> bool:
        """True if a subclass has its own version of a method."""
        return getattr(type(self), method) is not getattr(Policy, method)

    def _encode_fighters(self, observations: torch.Tensor) -> torch.Tensor:
        """Returns the encoding of each fighter, [agents, fighters, hidden_size]."""
        fighters = self._by_fighter(observations.float())
        return self.encoder(self._pool(fighters)).unflatten(0, (-1, self.commanded))

    def _pool(self, observations: torch.Tensor) -> torch.Tensor:
        return self.pooling(observations, self.rows_in(observations.shape[1]))

    def _by_fighter(self, observations: torch.Tensor) -> torch.Tensor:
        """Returns what each fighter observes, [agents * fighters, features of a fighter]."""
        return observations.unflatten(1, (self.commanded, -1)).flatten(0, 1)

    def _command(
        self, summary: torch.Tensor, encodings: torch.Tensor, observations: torch.Tensor
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns the logits of the heads of one fighter after another, and values.

        Args:
            summary: [agents, hidden_size].
            encodings: [agents, fighters, hidden_size].
            observations: [agents, features].
        """
        side = summary[:, None].expand_as(encodings)
        hidden = self.joint(torch.cat([encodings, side], dim=2))
        fighters = self._by_fighter(observations)
        enemies = entities(fighters, enemies_of(self.rows))
        is_alive = fighters[:, OWN_ALIVE, None] > 0
        heads = [
            torch.where(is_alive, logits, 0.0).unflatten(0, (-1, self.commanded)).unbind(1)
            for logits in self.actor(hidden.flatten(0, 1), enemies)
        ]
        commands = tuple(logits for fighter in zip(*heads, strict=True) for logits in fighter)
        return commands, self.critic(hidden).mean(dim=1)


class Recurrent(pufferlib.models.LSTMWrapper, PolicyModule):
    """A policy with PufferLib's LSTM between the encoder and the heads of `Policy`.

    The LSTM's memory is cleared between engagements: `done` in the state marks the first decisions
    of engagements, and the memory is cleared before them.
    """

    def __init__(
        self, env: Spaces, policy: PolicyModule, input_size: int = 128, hidden_size: int = 128
    ) -> None:
        super().__init__(env, policy, input_size, hidden_size)
        self.features, self.memory_size = policy.features, hidden_size
        self.is_continuous, self.action_size = policy.is_continuous, policy.action_size
        self.order_decisions, self.commanded = policy.order_decisions, policy.commanded
        initialise = getattr(policy, "initialise", None)
        if initialise is not None:
            initialise()  # again, because LSTMWrapper has overwritten all weights

    @property
    def any_size(self) -> bool:
        """True if it flies in teams of any size."""
        return getattr(self.policy, "any_size", False)

    def forward_eval(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns actor outputs and values [agents, 1] of one decision; updates the memory.

        Args:
            observations: float32 [agents, features].
            state: lstm_h and lstm_c [agents, memory_size]; optionally done, bool [agents].
        """
        if "done" in state:
            for name in MEMORY:
                state[name] = state[name].masked_fill(state["done"][:, None], 0)
        hidden, context = self._encode(observations, state)
        memory = tuple(state[name] for name in MEMORY)
        state["lstm_h"], state["lstm_c"] = self.cell(hidden, memory)
        return self._decode(state["lstm_h"], context)

    def forward(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns actor outputs and values for whole segments of experience.

        A segment begins with an empty memory. Without `done`, as in PuffeRL's own update, the
        memory is not cleared within a segment.

        Args:
            observations: float32 [segments, horizon, features].
            state: optionally with done [segments, horizon].

        Returns:
            Actor outputs for segments x horizon agents, as `Policy` returns them; values [segments,
            horizon].
        """
        if "done" not in state:
            return super().forward(observations, state)
        flat = observations.flatten(0, 1)
        hidden, context = self._encode(flat, state)
        actions, values = self._decode(self._remember(hidden, state["done"]), context)
        return actions, values.view(observations.shape[:2])

    def _encode(
        self, observations: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, Context | None]:
        """Returns hidden features, and their context; a user's own policy has none."""
        if isinstance(self.policy, Policy):
            return self.policy.encode(observations, state)
        return self.policy.encode_observations(observations, state), None

    def _decode(
        self, hidden: torch.Tensor, context: Context | None
    ) -> tuple[Distribution, torch.Tensor]:
        """Returns the actor's output and values from the memory's output."""
        if isinstance(self.policy, Policy) and context is not None:
            return self.policy.decode(hidden, context)
        return self.policy.decode_actions(hidden)

    def _remember(self, hidden: torch.Tensor, done: torch.Tensor) -> torch.Tensor:
        """Runs the LSTM over each engagement's part of a segment; returns [decisions, features]."""
        is_first = done != 0
        is_first[:, 0] = True
        starts = is_first.flatten().nonzero().squeeze(1)  # first decision of each part
        part = is_first.flatten().cumsum(0) - 1  # part of each decision
        step = torch.arange(len(part), device=part.device) - starts[part]  # its index in the part
        padded = hidden.new_zeros(int(step.max()) + 1, len(starts), self.input_size)
        padded[step, part] = hidden
        outputs, _ = self.lstm(padded)
        return outputs[step, part]


def policy_class(name: str) -> type[nn.Module]:
    """Returns the class that base.policy_name names: one of the package, or a user's own.

    Raises:
        OwnCodeError: The user's own class cannot be used, see `own_policy`.
    """
    return {PACKAGE: Policy, ATTENTION: Attention}.get(name) or own_policy(name)


def fit_to_team(policy: PolicyModule, features: int) -> None:
    """Sets the number of features that a team's policy takes, to fly in teams of another size."""
    for module in (policy, getattr(policy, "policy", None)):
        if isinstance(module, Policy) and module.any_size:
            module.rows = module.rows_in(features)
            policy.features = module.features = features


def make_policy(
    env: Spaces,
    policy_kwargs: Mapping[str, Any],
    rnn_name: str | None = None,
    rnn_kwargs: Mapping[str, Any] | None = None,
    policy_class: type[nn.Module] = Policy,
) -> PolicyModule:
    """Returns a new policy for a configuration, wrapped in `Recurrent` if `rnn_name` is given.

    Raises:
        OwnCodeError: The user's own policy cannot be constructed.
    """
    if policy_class is Policy:
        policy = Policy(env, **policy_kwargs)
    elif policy_class is Attention:
        settings = dict(policy_kwargs)
        block = {name: settings.pop(name) for name in ("heads", "decisions") if name in settings}
        policy = Attention(Policy(env, **settings), **block)
    else:
        policy = make_own(policy_class, env, **policy_kwargs)
    return policy if rnn_name is None else Recurrent(env, policy, **(rnn_kwargs or {}))

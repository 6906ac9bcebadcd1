"""The user's own policies: any torch module with PufferLib's conventions.

The class is called with an environment, which has `single_observation_space` and
`single_action_space`, and with the keys of [policy] as keyword arguments, each with a default. An
instance has

* `forward_eval(observations, state)`: one decision, float32 [agents, features] -> actor outputs
  and values [agents, 1]. The actor outputs for discrete actions are a tuple of logits [agents,
  levels] of rudder, throttle and fire; for continuous actions a `Normal` [agents, 3]. With height
  climb stands after rudder, and the `Normal` is of [agents, 4];
* `forward(observations, state)`: the same in the update, by default forward_eval. A policy with a
  memory gets [segments, horizon, features] and state["done"] [segments, horizon], and begins every
  segment with an empty memory;
* optionally `memory_size`: the size of its memory, `lstm_h` and `lstm_c` [agents, memory_size] in
  the state, which forward_eval replaces. In training the state also has "done" [agents]; the policy
  clears the memory of these agents first. In fights the state has no "done".

A class may have `encode_observations` and `decode_actions` instead. Then base.rnn_name may wrap it
in `Recurrent`.
"""

from typing import cast

import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer.game.observation import Spaces
from midrange_puffer.policies import own_code
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.own_code import OwnCodeError

MEMORY = ("lstm_h", "lstm_c")  # names of the memory in the state
# Short name -> full name and class, of the policies that this process has imported.
_named: dict[str, tuple[str, type[nn.Module]]] = {}


def own_policy(name: str) -> type[nn.Module]:
    """Imports a policy's class; afterwards model files of this class can be loaded.

    Raises:
        OwnCodeError: It cannot be imported, or is no torch module.
    """
    policy_class = own_code.load(name)
    if not (isinstance(policy_class, type) and issubclass(policy_class, nn.Module)):
        raise OwnCodeError(
            f"{name}: is {own_code.in_words(policy_class)}, expected a subclass of torch.nn.Module"
        )
    _named[own_code.short_name(name)] = own_code.absolute(name), policy_class
    return policy_class


def named_policy(name: str) -> type[nn.Module] | None:
    """Returns the class with this short name; None if this process has not imported it."""
    return _named.get(name, (None, None))[1]


def full_name(name: str) -> str:
    """Returns the full name for a short name; it is valid in other processes, too."""
    return _named[name][0] if name in _named else name


def arguments(name: str) -> dict[str, own_code.Setting]:
    """Returns the arguments of a policy's class after the environment, with their defaults.

    Raises:
        OwnCodeError: As for `own_policy`, or an argument lacks a default.
    """
    return own_code.settings_of(own_policy(name), name, "policy", skip=1)


def make_own(policy_class: type[nn.Module], env: Spaces, **settings: object) -> PolicyModule:
    """Constructs a user's own policy and sets the attributes that `Policy` has.

    Raises:
        OwnCodeError: The constructor fails.
    """
    name = policy_class.__qualname__
    try:
        policy = cast("PolicyModule", policy_class(env, **settings))
    except Exception as error:  # the user's code may raise any type
        raise OwnCodeError(f"{name}: cannot be made: {own_code.where_raised(error)}") from error
    policy.features = env.single_observation_space.shape[0]
    policy.is_continuous = not hasattr(env.single_action_space, "nvec")
    policy.action_size = env.single_action_space.shape[0]
    policy.order_decisions = getattr(env, "order_decisions", 0)
    policy.commanded = getattr(env, "fighters", 1)
    policy.memory_size = getattr(policy, "memory_size", 0)
    return policy


def empty_memory(
    policy: PolicyModule, agents: int, device: torch.device | str = "cpu"
) -> dict[str, torch.Tensor]:
    """Returns a policy's empty memory: zeros [agents, memory_size] by name, or no entries."""
    if not policy.memory_size:
        return {}
    return {name: torch.zeros(agents, policy.memory_size, device=device) for name in MEMORY}


def check_outputs(policy: PolicyModule, env: Spaces) -> None:
    """Runs a policy's methods on zeros and checks the shapes of their outputs.

    The state is once that of training and once that of fights, which has no "done".

    Raises:
        OwnCodeError: A method fails, or its outputs have wrong shapes.
    """
    agents, horizon = 3, 4
    name = type(policy).__qualname__
    observations = torch.zeros(agents, policy.features)
    with torch.no_grad():
        for done in ({"done": torch.zeros(agents, dtype=torch.bool)}, {}):
            memory = empty_memory(policy, agents)
            state = done | memory
            outputs = _call(policy, "forward_eval", observations, state)
            _check_shapes(f"{name}.forward_eval", outputs, env, agents, (agents, 1))
            for key, before in memory.items():
                if _shape(state[key]) != _shape(before):
                    raise OwnCodeError(
                        f'{name}.forward_eval: leaves state["{key}"] of shape '
                        f"{_shape(state[key])}, expected {_shape(before)}"
                    )
        rows, values = agents * horizon, (agents, horizon)
        observations = torch.zeros(agents, horizon, policy.features)
        if not policy.memory_size:
            observations, values = observations.flatten(0, 1), (rows, 1)
        state = {"done": torch.zeros(agents, horizon)}
        outputs = _call(policy, "forward", observations, state)
        _check_shapes(f"{name}.forward", outputs, env, rows, values)


def _call(
    policy: PolicyModule, method: str, observations: torch.Tensor, state: dict[str, torch.Tensor]
) -> object:
    try:
        return getattr(policy, method)(observations, state)
    except Exception as error:  # the user's code may raise any type
        name = f"{type(policy).__qualname__}.{method}"
        raise OwnCodeError(f"{name}: {own_code.where_raised(error)}") from error


def _check_shapes(
    where: str, outputs: object, env: Spaces, rows: int, values_shape: tuple[int, ...]
) -> None:
    """Raises OwnCodeError if the outputs are not actions and values of `rows` agents."""
    if not (isinstance(outputs, tuple) and len(outputs) == 2):
        raise OwnCodeError(f"{where}: gives a {type(outputs).__name__}, not (actions, values)")
    actions, values = outputs
    levels = getattr(env.single_action_space, "nvec", None)
    if levels is None:
        shape = [rows, env.single_action_space.shape[0]]
        wanted = f"a Normal of shape {shape}"
        actual = _shape(actions.loc if isinstance(actions, Normal) else actions)
        is_right = isinstance(actions, Normal) and actual == shape
    else:
        shapes = [[rows, int(count)] for count in levels]
        wanted = f"logits, a tuple of tensors of the shapes {shapes}"
        is_tuple = isinstance(actions, tuple | list)
        actual = [_shape(logits) for logits in actions] if is_tuple else _shape(actions)
        is_right = is_tuple and actual == shapes
    if not is_right:
        raise OwnCodeError(f"{where}: its actions are {actual}, expected {wanted}")
    if _shape(values) != list(values_shape):
        raise OwnCodeError(
            f"{where}: its values are {_shape(values)}, expected {list(values_shape)}"
        )


def _shape(value: object) -> list[int] | str:
    """Returns the shape of a tensor; for other values the name of their type."""
    return list(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__

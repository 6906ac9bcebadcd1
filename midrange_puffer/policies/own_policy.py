"""Policies of the user's own: any torch module with PufferLib's conventions.

Its class is called with an environment, of which it may ask `single_observation_space` and
`single_action_space`, and with the keys of [policy] as keyword arguments, each of which has a
default. An instance has

* `forward_eval(observations, state)`: one decision, float32 [agents, features] -> what the actions
  are drawn from, and values [agents, 1]. For discrete actions these are a tuple of logits
  [agents, levels] of rudder, throttle and fire; for continuous ones a `Normal` [agents, 3];
* `forward(observations, state)`: the same while it learns, by default what forward_eval does. A
  policy with a memory gets [segments, horizon, features] and state["done"] [segments, horizon],
  and begins every segment without a memory;
* perhaps `memory_size`: how many numbers it remembers, as `lstm_h` and as `lstm_c` [agents,
  memory_size] of the state, which forward_eval replaces. In training the state has "done" [agents],
  too; where that is set, it forgets them first. In fights there is none.

`encode_observations` and `decode_actions` in place of these are as well: then the policy may be
wrapped in `Recurrent`, by base.rnn_name.
"""

import torch
from torch import nn
from torch.distributions import Normal

from midrange_puffer.policies import own_code
from midrange_puffer.policies.own_code import OwnCodeError

MEMORY = ("lstm_h", "lstm_c")  # what a policy remembers, by its names in the state
# By short name: those that somebody has named, and by which name.
_named: dict[str, tuple[str, type[nn.Module]]] = {}


def own_policy(name: str) -> type[nn.Module]:
    """The class of a policy, which from now on may also be loaded from model files.

    Raises:
        OwnCodeError: It cannot be imported, or is no torch module.
    """
    found = own_code.load(name)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise OwnCodeError(
            f"{name}: is {own_code.in_words(found)}, expected a subclass of torch.nn.Module"
        )
    _named[own_code.short_name(name)] = own_code.absolute(name), found
    return found


def named_policy(name: str) -> type[nn.Module] | None:
    """The class of this short name, if somebody has named it in this process."""
    return _named.get(name, (None, None))[1]


def full_name(name: str) -> str:
    """The name that a short name was given by, which means the same in any process."""
    return _named[name][0] if name in _named else name


def arguments(name: str) -> dict[str, own_code.Setting]:
    """The arguments of a policy's class but for the environment, and their defaults.

    Raises:
        OwnCodeError: As `own_policy`; or one of them has no default that tells its kind.
    """
    return own_code.settings_of(own_policy(name), name, "policy", skip=1)


def make_own(policy_class: type[nn.Module], env: object, **settings: object) -> nn.Module:
    """An instance, with the attributes that our policies have.

    Raises:
        OwnCodeError: Its constructor fails.
    """
    name = policy_class.__qualname__
    try:
        policy = policy_class(env, **settings)
    except Exception as error:  # whatever the user's code may raise
        raise OwnCodeError(f"{name}: cannot be made: {own_code.where_raised(error)}") from error
    policy.features = env.single_observation_space.shape[0]
    policy.is_continuous = not hasattr(env.single_action_space, "nvec")
    policy.memory_size = getattr(policy, "memory_size", 0)
    return policy


def empty_memory(policy: nn.Module, agents: int, device: str = "cpu") -> dict[str, torch.Tensor]:
    """What a policy remembers at first: zeros [agents, memory_size] each; without a memory none."""
    if not policy.memory_size:
        return {}
    return {name: torch.zeros(agents, policy.memory_size, device=device) for name in MEMORY}


def check_outputs(policy: nn.Module, env: object) -> None:
    """Let a policy decide and learn from a short segment, and look at what it gives.

    It decides as in training and as in fights, where the state has no "done".

    Raises:
        OwnCodeError: It fails, or gives other shapes than the actions need.
    """
    agents, horizon = 3, 4
    name = type(policy).__qualname__
    seen = torch.zeros(agents, policy.features)
    with torch.no_grad():
        for beside in ({"done": torch.zeros(agents, dtype=torch.bool)}, {}):
            memory = empty_memory(policy, agents)
            state = beside | memory
            found = _called(policy, "forward_eval", seen, state)
            _check_shapes(f"{name}.forward_eval", found, env, agents, (agents, 1))
            for key, before in memory.items():
                if _told(state[key]) != _told(before):
                    raise OwnCodeError(
                        f'{name}.forward_eval: leaves state["{key}"] of shape '
                        f"{_told(state[key])}, expected {_told(before)}"
                    )
        rows, values = agents * horizon, (agents, horizon)
        seen = torch.zeros(agents, horizon, policy.features)
        if not policy.memory_size:
            seen, values = seen.flatten(0, 1), (rows, 1)
        found = _called(policy, "forward", seen, {"done": torch.zeros(agents, horizon)})
        _check_shapes(f"{name}.forward", found, env, rows, values)


def _called(policy: nn.Module, method: str, *inputs: object) -> object:
    try:
        return getattr(policy, method)(*inputs)
    except Exception as error:  # whatever the user's code may raise
        name = f"{type(policy).__qualname__}.{method}"
        raise OwnCodeError(f"{name}: {own_code.where_raised(error)}") from error


def _check_shapes(
    where: str, found: object, env: object, rows: int, values_shape: tuple[int, ...]
) -> None:
    """Raise OwnCodeError where these are not actions and values of `rows` agents."""
    if not (isinstance(found, tuple) and len(found) == 2):
        raise OwnCodeError(f"{where}: gives a {type(found).__name__}, not (actions, values)")
    actions, values = found
    levels = getattr(env.single_action_space, "nvec", None)
    if levels is None:
        shape, is_normal = [rows, env.single_action_space.shape[0]], isinstance(actions, Normal)
        wanted = f"a Normal of shape {shape}"
        told = _told(actions.loc if is_normal else actions)
        is_right = is_normal and told == shape
    else:
        shapes = [[rows, int(count)] for count in levels]
        wanted = f"logits, a tuple of tensors of the shapes {shapes}"
        is_tuple = isinstance(actions, tuple | list)
        told = [_told(one) for one in actions] if is_tuple else _told(actions)
        is_right = is_tuple and told == shapes
    if not is_right:
        raise OwnCodeError(f"{where}: its actions are {told}, expected {wanted}")
    if _told(values) != list(values_shape):
        raise OwnCodeError(
            f"{where}: its values are {_told(values)}, expected {list(values_shape)}"
        )


def _told(value: object) -> list[int] | str:
    """The shape of a tensor, or the kind of anything else."""
    return list(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__

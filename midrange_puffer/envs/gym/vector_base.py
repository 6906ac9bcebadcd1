"""What Gymnasium 0.29 and Gymnasium 1 ask of a vector environment in different words."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from midrange_puffer.envs.arena import Arena
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from gymnasium.vector.utils import batch_space


def spread(name: str, values: np.ndarray | Sequence, envs: np.ndarray, num_envs: int) -> dict:
    """An entry of a vector environment's infos.

    Args:
        name: of the entry.
        values: of one type; numbers are numpy's.
        envs: the engagement of each, int [values].
        num_envs: of all engagements.

    Returns:
        `name`: the values in their places [num_envs], in the others 0, or None where they are no
        numbers; "_`name`": the mask of those places, bool [num_envs].
    """
    if isinstance(values[0], np.generic):
        array = np.zeros(num_envs, type(values[0].item()))
        array[envs] = values
    else:
        array = np.full(num_envs, None, object)
        for env, value in zip(envs, values, strict=True):  # at once, arrays would be taken apart
            array[env] = value
    mask = np.zeros(num_envs, bool)
    mask[envs] = True
    return {name: array, f"_{name}": mask}


if gymnasium.__version__.startswith("0."):

    class VectorBase(gymnasium.vector.VectorEnv, gymnasium.experimental.vector.VectorEnv):
        """A vector environment of Gymnasium 0.29, of both its kinds: `make_vec` means the second.

        Its constructor takes num_envs, and the spaces of one environment.
        """

        metadata: ClassVar[dict[str, object]] = {}
        closed = True  # until it is constructed, so that `__del__` leaves it alone before

        def reset_wait(
            self, seed: int | None = None, options: Mapping[str, object] | None = None
        ) -> tuple[np.ndarray, dict]:
            """The second half of `reset`; the first does nothing."""
            return self.reset(seed=seed, options=options)

        def step_async(self, actions: np.ndarray) -> None:
            """The first half of `step`."""
            self._actions = actions

        def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
            """The second half of `step`."""
            return self.step(self._actions)

    def final_infos(arena: Arena, records: np.ndarray) -> dict:
        """The infos of a step in which the engagements of these records, at least one, ended."""
        envs, count = records["env"], arena.num_envs
        return {
            **spread("final_observation", arena.final_observations[envs], envs, count),
            **spread("final_info", arena.infos(records), envs, count),
        }

    def rendered(picture: np.ndarray) -> np.ndarray:
        """A picture as `render` returns it."""
        return picture

else:

    class VectorBase(gymnasium.vector.VectorEnv):
        """A vector environment of Gymnasium 1.

        Args:
            num_envs: engagements.
            observation_space, action_space: of one environment.
        """

        metadata: ClassVar[dict[str, object]] = {}
        if hasattr(gymnasium.vector, "AutoresetMode"):  # since 1.1
            metadata["autoreset_mode"] = gymnasium.vector.AutoresetMode.SAME_STEP
        closed = True  # until it is constructed, so that `__del__` leaves it alone before

        def __init__(
            self, num_envs: int, observation_space: gymnasium.Space, action_space: gymnasium.Space
        ) -> None:
            self.num_envs = num_envs
            self.single_observation_space = observation_space
            self.single_action_space = action_space
            self.observation_space = batch_space(observation_space, num_envs)
            self.action_space = batch_space(action_space, num_envs)
            self.closed = False

    def final_infos(arena: Arena, records: np.ndarray) -> dict:
        """The infos of a step in which the engagements of these records, at least one, ended."""
        envs, count = records["env"], arena.num_envs
        infos = spread("final_obs", arena.final_observations[envs], envs, count)
        final_info = {}
        for name, indices, values in arena.figures(records):
            if len(values):
                final_info |= spread(name, values, envs[indices], count)
        return {**infos, "final_info": final_info, "_final_info": infos["_final_obs"].copy()}

    def rendered(picture: np.ndarray) -> tuple[np.ndarray, ...]:
        """A picture as `render` returns it."""
        return (picture,)

"""MidrangeVectorEnv: many engagements at once for Gymnasium, stepped by the C core."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from midrange_puffer.envs.arena import Arguments, documented
from midrange_puffer.envs.episodes import EpisodeArena
from midrange_puffer.game.parameters import OPTIONS
from midrange_puffer.gymnasium_import import gymnasium

# isort: split
from gymnasium.vector.utils import batch_space

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent


def spread(name: str, values: np.ndarray | Sequence, envs: np.ndarray, num_envs: int) -> dict:
    """Returns an entry of a vector environment's infos, with its mask.

    Args:
        name: name of the entry.
        values: values of one type; numbers are numpy's.
        envs: the engagement of each value, int [values].
        num_envs: number of all engagements.

    Returns:
        `name`: [num_envs], the values in the places of their engagements; other places have 0, or
        None if the values are no numbers. "_`name`": bool [num_envs], True in the values' places.
    """
    if isinstance(values[0], np.generic):
        array = np.zeros(num_envs, type(values[0].item()))
        array[envs] = values
    else:
        array = np.full(num_envs, None, object)
        for env, value in zip(envs, values, strict=True):  # one by one: numpy would split arrays
            array[env] = value
    mask = np.zeros(num_envs, bool)
    mask[envs] = True
    return {name: array, f"_{name}": mask}


if TYPE_CHECKING or gymnasium.__version__.startswith("0."):  # the type checker uses version 0.29

    class VectorBase(gymnasium.vector.VectorEnv, gymnasium.experimental.vector.VectorEnv):
        """A base class for a vector environment of Gymnasium 0.29.

        That version has two such classes; `make_vec` expects the second. The constructor's
        arguments are num_envs and the spaces of one environment.
        """

        metadata: dict[str, Any] = {}  # noqa: RUF012 - an instance has more
        closed = True  # until constructed: `__del__` must not close it before

        def reset_wait(
            self, seed: int | None = None, options: Mapping[str, object] | None = None
        ) -> tuple[np.ndarray, dict]:
            """Does the work of `reset`, whose first half does nothing."""
            return self.reset(seed=seed, options=None if options is None else dict(options))

        def step_async(self, actions: np.ndarray) -> None:
            """Stores the actions: the first half of `step`."""
            self._actions = actions

        def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
            """Makes the step with the stored actions: the second half of `step`."""
            return self.step(self._actions)

    def final_infos(arena: EpisodeArena, records: np.ndarray) -> dict:
        """Returns the infos of a step that ended the engagements of `records`, at least one."""
        envs, count, final = records["env"], arena.num_envs, arena.buffers.final_observations
        assert final is not None  # because the arena resets by itself
        return {
            **spread("final_observation", final[envs], envs, count),
            **spread("final_info", arena.infos(records), envs, count),
        }

    def rendered(picture: np.ndarray) -> np.ndarray:
        """Returns a picture in the form in which this Gymnasium's `render` returns it."""
        return picture

else:

    class VectorBase(gymnasium.vector.VectorEnv):
        """A vector environment of Gymnasium 1.

        Args:
            num_envs: engagements.
            observation_space, action_space: spaces of one environment.
        """

        metadata: ClassVar[dict[str, object]] = {}
        if hasattr(gymnasium.vector, "AutoresetMode"):  # since 1.1
            metadata["autoreset_mode"] = gymnasium.vector.AutoresetMode.SAME_STEP
        closed = True  # until constructed: `__del__` must not close it before

        def __init__(
            self, num_envs: int, observation_space: gymnasium.Space, action_space: gymnasium.Space
        ) -> None:
            self.num_envs = num_envs
            self.single_observation_space = observation_space
            self.single_action_space = action_space
            self.observation_space = batch_space(observation_space, num_envs)
            self.action_space = batch_space(action_space, num_envs)
            self.closed = False

    def final_infos(arena: EpisodeArena, records: np.ndarray) -> dict:
        """Returns the infos of a step that ended the engagements of `records`, at least one."""
        envs, count, final = records["env"], arena.num_envs, arena.buffers.final_observations
        infos = spread("final_obs", final[envs], envs, count)
        final_info = {}
        for name, indices, values in arena.figures(records):
            if len(values):
                final_info |= spread(name, values, envs[indices], count)
        return {**infos, "final_info": final_info, "_final_info": infos["_final_obs"].copy()}

    def rendered(picture: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns a picture in the form in which this Gymnasium's `render` returns it."""
        return (picture,)


@documented(
    copy="True: return arrays of the caller's own. False: `reset` and `step` return the "
    "environment's buffers, which the next step overwrites."
)
class MidrangeVectorEnv(VectorBase):
    """Many `MidrangeEnv`s in one: an agent on one side of each of `num_envs` engagements.

    Rewards, starting state and the end of an episode are those of `MidrangeEnv`, and all numbers
    are the same: engagement k plays the episodes of engagement k of the seed. `MidrangeEnv` plays
    the same episode with the options {"engagement": k, "episode": j}. There is one exception:
    opponents that are policies draw their actions from one stream of random numbers for all
    engagements, so they act differently in a `MidrangeEnv`.

    Autoreset (AutoresetMode.SAME_STEP of Gymnasium 1):
        In the step in which an episode ends the next one starts. The step returns the first
        observation of the new episode; the last one of the old episode is in the infos. Wrappers of
        Gymnasium 1 for another autoreset mode, such as its NormalizeObservation, refuse this one.

    `gymnasium.make_vec("Midrange-v0", …)` in Gymnasium 0.29:
        With vectorization_mode="custom" it returns this class. By default it returns an
        AsyncVectorEnv of single environments, each in its own process.

    Info:
        Empty except after a step in which engagements have ended. Then it has, in their places,
        `final_obs` (the last observation) and `final_info` (the last info of `MidrangeEnv`), with
        masks `_final_obs` and `_final_info`, in the form of the installed Gymnasium's
        SyncVectorEnv. In Gymnasium 1 `final_info` is a dict of arrays [num_envs], each with a
        mask. In Gymnasium 0.29 it is an array of dicts, and `final_obs` is called
        `final_observation`.
    """

    def __init__(
        self,
        num_envs: int = OPTIONS["num_envs"].default,
        opponent: "Opponent" = OPTIONS["opponent"].default,
        seat: str = OPTIONS["seat"].default,
        observation: str = OPTIONS["observation"].default,
        action_mode: str = OPTIONS["action_mode"].default,
        copy: bool = True,
        render_mode: str | None = None,
        isa: str = "auto",
        threads: int = 1,
        wingmen: "Opponent | None" = None,
        order_decisions: int = OPTIONS["order_decisions"].default,
        **parameters: float | str,
    ) -> None:
        given = Arguments(
            MidrangeVectorEnv, num_envs, opponent, seat, observation, action_mode,
            order_decisions, render_mode, isa,
            threads, parameters,
        )  # fmt: skip
        self._arena = EpisodeArena(given, wingmen)
        spaces = self._arena.spaces
        super().__init__(
            self._arena.num_envs, spaces.single_observation_space, spaces.single_action_space
        )
        self.metadata = self.metadata | self._arena.metadata
        self.render_mode = render_mode
        self._copy = copy

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self._arena.isa

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Starts an episode of every engagement.

        Args:
            seed: a seed for all engagements, whose episode 0 starts in each. None: the next
                episodes of the present seed; at the first reset a seed is drawn.
            options: as in `MidrangeEnv.reset`, each one number for all engagements or [num_envs].
                They hold for the episodes that start now, not for those that follow.

        Returns:
            Observations float32 [num_envs, features], and empty infos.

        Raises:
            ValueError: The seed or an option is out of range, or there is no such option.
            TypeError: The options are no dict.
        """
        self._arena.reset(seed, options)
        return self._own(self._arena.buffers.observations), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Makes one decision of every engagement.

        Args:
            actions: [num_envs, controls], whole numbers; any numbers if actions are continuous.

        Returns:
            Observations float32 [num_envs, features], rewards float32, terminations and truncations
            bool [num_envs], and infos.

        Raises:
            ResetNeeded: There was no reset yet.
            ValueError: The actions have another shape, or a level is outside.
            TypeError: The actions have another type.
        """
        records = self._arena.step(actions)
        infos = final_infos(self._arena, records) if len(records) else {}
        results = self._arena.buffers[:4]
        observations, rewards, terminations, truncations = map(self._own, results)
        return observations, rewards, terminations, truncations, infos

    def _own(self, results: np.ndarray) -> np.ndarray:
        return results.copy() if self._copy else results

    def render(self) -> np.ndarray | tuple[np.ndarray, ...] | None:
        """Returns a picture of engagement 0, uint8 [height, width, 3], with "rgb_array".

        Returns None with "human": `reset` and `step` show engagement 0 in a window.

        Returns:
            The picture; in Gymnasium 1 a tuple of one picture.

        Raises:
            ResetNeeded: There was no reset yet.
        """
        picture = self._arena.render()
        return None if picture is None else rendered(picture)

    def close_extras(self, **kwargs: object) -> None:
        """Closes the window, if there is one; `close` calls this."""
        self._arena.close()


def make_vector_env(
    num_envs: int, max_episode_steps: int | None = None, **kwargs: Any
) -> MidrangeVectorEnv:
    """Makes the environment for `gymnasium.make_vec`.

    Args:
        num_envs: number of engagements.
        max_episode_steps: Gymnasium 0.29 always passes this argument; it must be None.
        **kwargs: further arguments of `MidrangeVectorEnv`.

    Raises:
        ValueError: As in `MidrangeVectorEnv`, or max_episode_steps is not None.
    """
    if max_episode_steps is not None:
        raise ValueError(
            f"max_episode_steps = {max_episode_steps}: must be None; time_limit [s] ends an episode"
        )
    return MidrangeVectorEnv(num_envs, **kwargs)

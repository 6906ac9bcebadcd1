"""Vector environments for the tests: Gymnasium's own, actions, and comparisons to the bit."""

from collections.abc import Mapping

import numpy as np

from midrange_puffer.gym import MidrangeVectorEnv  # registers Midrange-v0
from midrange_puffer.gymnasium_import import gymnasium

BEFORE_1 = gymnasium.__version__.startswith("0.")
SEED = 11


class Place(gymnasium.Wrapper):
    """A `Midrange-v0` that plays what engagement `index` of a vector environment plays."""

    def __init__(self, env: gymnasium.Env, index: int) -> None:
        super().__init__(env)
        self._index = index

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, object] | None = None
    ) -> tuple[np.ndarray, dict]:
        """Resets with its part of the options; without a seed it continues its episodes."""
        own = {
            name: np.asarray(value)[self._index] if np.ndim(value) else value
            for name, value in (options or {}).items()
        }
        if seed is not None:
            own["engagement"] = self._index
        return super().reset(seed=seed, options=own)


def sync(num_envs: int, **kwargs: object) -> gymnasium.vector.SyncVectorEnv:
    """Gymnasium's own vector environment of `num_envs` times `Midrange-v0`."""

    def maker(index: int):
        return lambda: Place(gymnasium.make("Midrange-v0", **kwargs), index)

    mode = {} if BEFORE_1 else {"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}
    return gymnasium.vector.SyncVectorEnv([maker(index) for index in range(num_envs)], **mode)


def draw_actions(envs: gymnasium.vector.VectorEnv, steps: int) -> list[np.ndarray]:
    """Returns random actions, each held for a while so that it has an effect."""
    envs.action_space.seed(5)
    drawn = [envs.action_space.sample() for _ in range(steps // 8 + 1)]
    return [drawn[step // 8] for step in range(steps)]


def assert_same(one: object, other: object, where: str = "infos") -> None:
    """Checks for the same keys, types, shapes and bits, recursively."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            assert_same(one[name], other[name], f"{where}[{name!r}]")
    elif isinstance(one, list | tuple):
        assert_same(dict(enumerate(one)), dict(enumerate(other)), where)
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        if one.dtype == object:
            for place, (a, b) in enumerate(zip(one.flat, other.flat, strict=True)):
                assert_same(a, b, f"{where}[{place}]")
        else:
            assert one.tobytes() == other.tobytes(), where
    else:
        assert one == other, where


def final_infos(infos: dict) -> dict[int, dict]:
    """Returns the final infos by engagement, in either version's form."""
    final, mask = infos.get("final_info"), infos.get("_final_info", ())
    if BEFORE_1:
        return {env: final[env] for env in np.flatnonzero(mask)}
    return {
        env: {
            name: values[env]
            for name, values in final.items()
            if not name.startswith("_") and final[f"_{name}"][env]
        }
        for env in np.flatnonzero(mask)
    }


def compare(num_envs: int, steps: int, options: dict | None = None, **kwargs: object) -> list[dict]:
    """Flies the same in both, compares all results, and returns the infos of all ends."""
    ours, theirs = MidrangeVectorEnv(num_envs, **kwargs), sync(num_envs, **kwargs)
    for name in (
        "observation_space",
        "action_space",
        "single_observation_space",
        "single_action_space",
    ):
        assert getattr(ours, name) == getattr(theirs, name)
    start = ours.reset(seed=SEED, options=options)
    their_start = theirs.reset(seed=[SEED] * num_envs, options=options)
    assert_same(start, their_start)
    ended = []
    for actions in draw_actions(ours, steps):
        *results, infos = ours.step(actions)
        *their_results, their_infos = theirs.step(actions)
        for one, other in zip(results, their_results, strict=True):
            assert_same(one, other.astype(one.dtype))  # Gymnasium's rewards are float64
        assert_same(infos, their_infos)
        ended += final_infos(infos).values()
    assert_same(ours.reset()[0], theirs.reset()[0])  # the episodes after those in the air
    theirs.close()
    return ended

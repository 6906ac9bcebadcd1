"""PufferLib's emulation of the Gymnasium and PettingZoo environments loses nothing on the way."""

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from quick_fights import LEVELS, SHORT

from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv
from midrange_puffer.puffer_import import contained

with contained():
    import pufferlib.emulation
    import pufferlib.models
    import pufferlib.vector
    from pufferlib import pufferl

SEED = 7
UPDATES = 3
Env = MidrangeEnv | MidrangeParallelEnv
WRAPPERS = {
    MidrangeEnv: pufferlib.emulation.GymnasiumPufferEnv,
    MidrangeParallelEnv: pufferlib.emulation.PettingZooPufferEnv,
}
AGENTS = {MidrangeEnv: 1, MidrangeParallelEnv: 2}
GAMES = {MidrangeEnv: {"opponent": "straight:1,shooter:1", **SHORT}, MidrangeParallelEnv: SHORT}


def emulated(
    kind: type[Env], buf: Mapping | None = None, seed: int = 0, **game
) -> pufferlib.emulation.GymnasiumPufferEnv | pufferlib.emulation.PettingZooPufferEnv:
    """Makes an environment as PufferLib's vectorization does."""
    return WRAPPERS[kind](env_creator=kind, env_kwargs=game, buf=buf, seed=seed)


def vectorized(kind: type[Env], backend: str, **game) -> pufferlib.vector.Serial:
    """Makes two of them side by side."""
    options = {"num_workers": 2, "overwork": True} if backend == "Multiprocessing" else {}
    return pufferlib.vector.make(
        emulated, [kind], GAMES[kind] | game, backend=backend, num_envs=2, **options
    )


def by_hand(
    kind: type[Env], seed: int, actions: np.ndarray, **game
) -> tuple[list[np.ndarray], list[float]]:
    """Steps an environment without PufferLib by actions [steps, agents, 3].

    Where an episode has ended, the next action is not flown, but the next episode begins.

    Returns:
        Observations, rewards, terminations and truncations, [1 + steps, agents, ...] each, and
        red's scores.
    """
    env = kind(**GAMES[kind], **game)
    nothing = np.zeros((3, AGENTS[kind]))
    seen, scores = [(rows(env.reset(seed=seed)[0]), *nothing)], []
    for action in actions:
        if np.any(seen[-1][2:]):
            seen.append((rows(env.reset()[0]), *nothing))
            continue
        both = kind is MidrangeParallelEnv
        *outputs, info = env.step(dict(zip(env.agents, action, strict=True)) if both else action[0])
        seen.append(tuple(map(rows, outputs)))
        scores += score_of(info)
    return [np.array(history) for history in zip(*seen, strict=True)], scores


def rows(output: object) -> np.ndarray:
    """Returns the rows of the only agent, or of red and blue."""
    return np.array([*output.values()] if isinstance(output, dict) else [output])


def score_of(info: Mapping) -> list[float]:
    """Returns the (red) agent's score, if an episode has ended."""
    info = info.get("red_0", info)
    return [info["score"]] if "score" in info else []


def play(
    envs: pufferlib.vector.Serial, actions: np.ndarray
) -> tuple[list[np.ndarray], list[float]]:
    """Steps a vector environment, and closes it; returns the same as `by_hand`."""
    try:
        seen, scores = [(envs.reset(seed=SEED)[0].copy(), *np.zeros((3, envs.num_agents)))], []
        for action in actions:
            *outputs, infos = envs.step(action)
            seen.append(tuple(map(np.copy, outputs)))
            scores += [score for info in infos for score in score_of(info)]
    finally:
        envs.close()
        for process in getattr(envs, "processes", []):
            process.join()
    return [np.array(history) for history in zip(*seen, strict=True)], scores


def draw_actions(action_mode: str, steps: int, agents: int) -> np.ndarray:
    """Draws actions [steps, agents, 3], seldom with a shot."""
    rng = np.random.default_rng(1)
    if action_mode == "discrete":
        actions = rng.integers(0, LEVELS, (steps, agents, 3), np.int32)
    else:
        actions = rng.uniform((-1, 0, 0), 1, (steps, agents, 3)).astype(np.float32)
    actions[..., 2] = rng.random((steps, agents)) < 0.02
    return actions


@pytest.mark.parametrize(
    ("kind", "action_mode", "backend"),
    [
        (MidrangeEnv, "discrete", "Serial"),
        (MidrangeEnv, "continuous", "Serial"),
        (MidrangeParallelEnv, "continuous", "Serial"),
        (MidrangeParallelEnv, "discrete", "Multiprocessing"),
    ],
)
def test_emulated_environments_give_what_they_give_by_hand(kind, action_mode, backend):
    agents = AGENTS[kind]
    actions = draw_actions(action_mode, 120, 2 * agents)
    got, scores = play(vectorized(kind, backend, action_mode=action_mode), actions)
    expected = []
    for i in range(2):
        own = slice(agents * i, agents * (i + 1))
        alone, ends = by_hand(kind, SEED + i, actions[:, own], action_mode=action_mode)
        for ours, theirs in zip(alone, got, strict=True):
            assert np.array_equal(ours, theirs[:, own])
        expected += ends
    assert got[2].any()
    assert got[3].any()
    assert sorted(expected) == sorted(scores)


@pytest.mark.filterwarnings("ignore:.*autocast:UserWarning")  # PuffeRL asks for CUDA's
@pytest.mark.filterwarnings("ignore:Learning rate changed between steps:UserWarning")  # heavyball
def test_puffer_trains_on_the_emulated_pettingzoo_environment(tmp_path, monkeypatch):
    """With its own settings and policy: its experience is what its actions bring by hand."""
    monkeypatch.setattr("sys.argv", ["puffer"])
    config = pufferl.load_config("default")["train"] | {
        "env": "midrange",
        "use_rnn": False,
        "device": "cpu",
        "seed": SEED,
        "data_dir": str(tmp_path),
        "minibatch_size": 128,
        "total_timesteps": UPDATES * 4 * 64,
    }
    envs = vectorized(MidrangeParallelEnv, "Serial")
    policy = pufferlib.models.Default(envs.driver_env)
    before = [weights.clone() for weights in policy.parameters()]
    trainer = pufferl.PuffeRL(config, envs, policy)
    try:
        seen, scores = [], {"red_0": [], "blue_0": []}
        for _ in range(UPDATES):
            stats = trainer.evaluate()
            for agent, values in scores.items():
                values += stats.pop(f"{agent}/score", [])
            parts = (trainer.actions, trainer.observations, trainer.rewards, trainer.terminals)
            seen.append([part.swapaxes(0, 1).numpy().copy() for part in parts])
            trainer.train()
    finally:
        trainer.close()
    assert trainer.global_step == config["total_timesteps"]
    assert all(weights.isfinite().all() for weights in policy.parameters())
    assert not any(map(torch.equal, before, policy.parameters()))
    actions, *got = (np.concatenate(history) for history in zip(*seen, strict=True))
    expected = []
    for i in range(2):
        own = slice(2 * i, 2 * i + 2)
        alone, ends = by_hand(MidrangeParallelEnv, SEED + i, actions[:-1, own])
        observations, rewards, terminations, _ = alone
        clamped = np.clip(rewards, -1, 1)  # as PuffeRL does
        for ours, theirs in zip((observations, clamped, terminations), got, strict=True):
            assert np.array_equal(ours, theirs[:, own])
        expected += ends
    assert got[2].any()
    assert sorted(expected) == sorted(scores["red_0"])
    assert sorted(1 - score for score in expected) == sorted(scores["blue_0"])

"""The layers that sps.py times, from the C core to what other libraries call."""

import itertools
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from midrange_puffer import FEATURES, RADAR_FEATURES, Midrange, _core
from midrange_puffer.envs.gym import MidrangeEnv
from midrange_puffer.envs.gym_vector import MidrangeVectorEnv
from midrange_puffer.envs.pettingzoo import MidrangeParallelEnv
from midrange_puffer.game.envelope import core_map
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.parameters import SELF, observed, resolve, seat_weights

# isort: split
import pufferlib.vector

PHYSICS_DT = 0.1  # s
PROCESS_LAYERS = ("processes", "multiprocessing")
POOL_BYTES = 2**25  # of actions drawn beforehand
DRAWN = {
    "red_aircraft": "light:1,heavy:1", "blue_missile": "medium:1,long:1",
    "aircraft_spread": 0.2, "missile_spread": 0.2,
}  # fmt: skip
CLOSE = {"start_spacing_min": 1000, "start_spacing_max": 1500}  # m, of sides above 8, which fit so
# The features of the missiles in the air, own and enemy's. With sensors an agent knows of its own
# alone; both seats are alike.
NAMES = [feature.name for feature in FEATURES]
IN_AIR = [NAMES.index("own_in_air"), NAMES.index("enemy_in_air")]
SCALE = FEATURES[IN_AIR[0]].scale  # of each of them
IN_AIR_BY_SENSORS = [[feature.name for feature in RADAR_FEATURES].index("own_in_air")] * 2


@dataclass
class Workload:
    """A timed layer: `num_envs` engagements in each process.

    `threads` are of one process, but for the layers of many processes: there as many of these, each
    with one thread.
    """

    layer: str
    num_envs: int
    opponent: str = SELF
    substeps: int = 10
    isa: str = "auto"
    threads: int = 1
    fire: float = 0.5  # probability
    observation: str = "default"
    sensing: str = "full"
    side: int = 1  # fighters of each side
    dimensions: int = 2
    drawn: bool = False  # with height: each engagement draws its types
    rates: list[float] = field(default_factory=list)  # agent decisions a second, a round each
    in_air: list[float] = field(default_factory=list)  # missiles of an engagement

    @property
    def processes(self) -> int:
        """That each step so many engagements."""
        return self.threads if self.layer in PROCESS_LAYERS else 1

    @property
    def agents(self) -> int:
        """Of each process: all fighters of every engagement, or a side against somebody else."""
        return self.num_envs * self.side * (2 if self.opponent == SELF else 1)


class Stepper:
    """A layer that this process steps, all its agents at once."""

    agents: int
    observations: np.ndarray
    decisions = 0  # of agents, so far

    def pids(self) -> list[int]:
        """Processes that work for it."""
        return []

    def close(self) -> None:
        """Ends its processes."""

    def missiles_in_air(self) -> float:
        """Returns the mean over some thousand engagements."""
        stride = max(1, self.agents // 4096) | 1  # odd, for both seats
        with_sensors = self.observations.shape[1] == len(RADAR_FEATURES)
        columns = IN_AIR_BY_SENSORS if with_sensors else IN_AIR
        return float(self.observations[::stride, columns].mean(axis=0).sum() * SCALE)


class Core(Stepper):
    """The core alone."""

    def __init__(self, work: Workload) -> None:
        agent = seat_weights({"agent": 1})
        rules = {"physics_dt": PHYSICS_DT, "substeps": work.substeps, "sensing": work.sensing}
        sizes = {"red_size": work.side, "blue_size": work.side, "dimensions": work.dimensions}
        rules |= CLOSE if work.side > 8 else {}
        parameters = resolve(rules | sizes | (DRAWN if work.drawn else {}), teams=True)
        self._core = _core.Core(
            parameters,
            work.num_envs,
            0,
            [agent] * (2 * work.side),
            True,
            work.isa,
            core_map(parameters),
            observed(work.observation, parameters),
            work.threads,
            flown_types(parameters),
        )
        self.agents = self._core.agents
        self.observations = np.zeros((self.agents, self._core.features), np.float32)
        rewards = np.zeros(self.agents, np.float32)
        ends = np.zeros((2, self.agents), np.uint8)
        self._outputs = (self.observations, rewards, *ends)
        self.bytes = self._core.state_bytes
        self._actions = draw_actions(
            self.agents, work.fire, enemies=work.side, dimensions=work.dimensions
        )

    def missiles_in_air(self) -> float:
        """Returns the mean over the engagements."""
        return float(self._core.read("missile")["active"].sum()) / self._core.num_envs

    def step(self) -> None:
        """Makes one decision of all agents."""
        self._core.step(next(self._actions), *self._outputs)
        self.decisions += self.agents
        if self._core.record_count() > self._core.num_envs:
            self._core.take_records()


class Env(Stepper):
    """Midrange.step."""

    def __init__(self, work: Workload) -> None:
        self._env = Midrange(**env_kwargs(work))
        self._env.reset()
        self.agents = self._env.num_agents
        self.observations = self._env.observations
        self._actions = draw_actions(self.agents, work.fire)

    def step(self) -> None:
        """Makes one decision of all agents."""
        self._env.step(next(self._actions))
        self.decisions += self.agents


class GymVector(Stepper):
    """MidrangeVectorEnv.step, with actions of the type of its action space."""

    def __init__(self, work: Workload) -> None:
        copy = work.layer == "gym_vector"
        self._envs = MidrangeVectorEnv(**env_kwargs(work), copy=copy)
        self._envs.reset(seed=0)
        self.agents = work.num_envs
        self._actions = draw_actions(self.agents, work.fire, self._envs.action_space.dtype)

    def step(self) -> None:
        """Makes one decision of all agents."""
        self.observations, *_ = self._envs.step(next(self._actions))
        self.decisions += self.agents


class Sb3(Stepper):
    """MidrangeVecEnv.step, as Stable-Baselines3 calls it."""

    def __init__(self, work: Workload) -> None:
        from midrange_puffer.sb3 import MidrangeVecEnv  # takes seconds, and is an extra

        self._envs = MidrangeVecEnv(**env_kwargs(work))
        self.observations = self._envs.reset()
        self.agents = work.num_envs
        self._actions = draw_actions(self.agents, work.fire, self._envs.action_space.dtype)

    def step(self) -> None:
        """Makes one decision of all agents."""
        self.observations, *_ = self._envs.step(next(self._actions))
        self.decisions += self.agents


class GymSingle(Stepper):
    """MidrangeEnv.step, and its reset where an episode has ended."""

    agents = 1

    def __init__(self, work: Workload) -> None:
        self._env = MidrangeEnv(**env_kwargs(work, "num_envs", "threads"))
        self._actions = draw_actions(1, work.fire, self._env.action_space.dtype)
        self._last, _ = self._env.reset(seed=0)

    @property
    def observations(self) -> np.ndarray:
        """What the agent sees, a row."""
        return self._last[None]

    def step(self) -> None:
        """Makes one decision of the agent."""
        self._last, _, terminated, truncated, _ = self._env.step(next(self._actions)[0])
        if terminated or truncated:
            self._last, _ = self._env.reset()
        self.decisions += 1


class Parallel(Stepper):
    """MidrangeParallelEnv.step, and its reset where an episode has ended."""

    agents = 2

    def __init__(self, work: Workload) -> None:
        self._env = MidrangeParallelEnv(**env_kwargs(work, "num_envs", "opponent", "threads"))
        self._names = self._env.possible_agents
        dtype = self._env.action_space(self._names[0]).dtype
        self._actions = draw_actions(self.agents, work.fire, dtype)
        self._last, _ = self._env.reset(seed=0)

    @property
    def observations(self) -> np.ndarray:
        """What the agents see, a row each."""
        return np.stack([self._last[name] for name in self._names])

    def step(self) -> None:
        """Makes one decision of both agents."""
        self._last, *_ = self._env.step(dict(zip(self._names, next(self._actions), strict=True)))
        if not self._env.agents:
            self._last, _ = self._env.reset()
        self.decisions += self.agents


class Processes:
    """Processes that each step a Midrange; a step is to let them run for a moment."""

    def __init__(self, work: Workload) -> None:
        self._shared = np.frombuffer(multiprocessing.RawArray("d", 2 * work.threads))
        self._shared = self._shared.reshape(work.threads, 2)  # decisions, missiles in the air
        self._processes = [
            multiprocessing.Process(target=self._run, args=(work, mine)) for mine in self._shared
        ]
        for process in self._processes:
            process.start()

    @staticmethod
    def _run(work: Workload, mine: np.ndarray) -> None:
        env = Env(work)
        while True:
            env.step()
            mine[0] = env.decisions
            if env.decisions % (64 * env.agents) == 0:
                mine[1] = env.missiles_in_air()

    @property
    def decisions(self) -> int:
        """Agent decisions so far."""
        return int(self._shared[:, 0].sum())

    def missiles_in_air(self) -> float:
        """Returns the mean of the processes."""
        return float(self._shared[:, 1].mean())

    def step(self) -> None:
        """Sleeps."""
        time.sleep(0.002)

    def pids(self) -> list[int]:
        """Returns the processes."""
        return [process.pid for process in self._processes]

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.kill()
            process.join()


class Vector(Stepper):
    """A vector environment of PufferLib; one step is of a batch, the agents of one worker."""

    def __init__(self, work: Workload) -> None:
        options = {"backend": "Serial", "num_envs": 1}
        if work.layer == "multiprocessing":
            options = {"backend": "Multiprocessing", "num_envs": work.threads, "batch_size": 1}
            options |= {"num_workers": work.threads, "overwork": True}
        self._envs = pufferlib.vector.make(Midrange, env_kwargs=env_kwargs(work), **options)
        self._envs.async_reset(0)
        self.agents = self._envs.agents_per_batch
        self._actions = draw_actions(self.agents, work.fire)

    def step(self) -> None:
        """Makes one decision of the agents of the batch that is ready."""
        self.observations = self._envs.recv()[0]
        self._envs.send(next(self._actions))
        self.decisions += self.agents

    def pids(self) -> list[int]:
        """Returns the workers."""
        return [process.pid for process in getattr(self._envs, "processes", [])]

    def close(self) -> None:
        """Ends the workers."""
        self._envs.close()
        for process in getattr(self._envs, "processes", []):
            process.join()


LAYERS = {
    "core": Core,
    "env": Env,
    "gym_vector": GymVector,
    "gym_buffers": GymVector,
    "gym_single": GymSingle,
    "sb3": Sb3,
    "pettingzoo": Parallel,
    "serial": Vector,
    "processes": Processes,
    "multiprocessing": Vector,
}


def env_kwargs(work: Workload, *without: str) -> dict[str, object]:
    """Arguments of Midrange, or all but those of an environment that lacks some."""
    kwargs = {
        "num_envs": work.num_envs,
        "opponent": work.opponent,
        "isa": work.isa,
        "observation": work.observation,
        "sensing": work.sensing,
        "threads": work.threads // work.processes,
        "physics_dt": PHYSICS_DT,
        "substeps": work.substeps,
    }
    return {name: value for name, value in kwargs.items() if name not in without}


def draw_actions(
    agents: int, fire: float, dtype: DTypeLike = np.int32, enemies: int = 1, dimensions: int = 2
) -> Iterator[np.ndarray]:
    """Yields random actions [agents, controls], with shots at any enemy, repeatedly from a pool."""
    rng = np.random.default_rng(0)
    levels = _core.action_levels(1, 1, dimensions)
    pool = []
    for _ in range(min(256, max(POOL_BYTES // (4 * len(levels) * agents), 1))):
        actions = rng.integers(0, levels, (agents, len(levels)), dtype)
        shots = rng.integers(1, enemies + 1, agents, dtype)
        actions[:, -1] = np.where(rng.random(agents) < fire, shots, 0)
        pool.append(actions)
    return itertools.cycle(pool)

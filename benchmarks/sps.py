"""Agent decisions a second of the environment without a learner, layer by layer.

    core              one call of the C core's step, through its binding, with all arrays prepared
    env               Midrange.step
    serial            pufferlib.vector.Serial with one Midrange
    processes         processes that each step a Midrange of their own: what the cores can give
    multiprocessing   pufferlib.vector.Multiprocessing, one Midrange a worker, asynchronous with
                      two; workers and the process that they serve all busy-wait, on a core each

Both seats are agents and play random actions drawn beforehand; resets and observations are part of
every step. Before it is timed a workload has run for five simulated minutes, so that engagements
are in all phases. Workloads to be compared are timed in turns, `ROUNDS` times, and the table gives
the median. Run it on an otherwise idle machine.
"""

import argparse
import contextlib
import itertools
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from common import machine, median_and_spread, print_machine, print_table

from midrange_puffer import FEATURES, Midrange, _core
from midrange_puffer.envelope import game_envelope
from midrange_puffer.files import write_json
from midrange_puffer.parameters import OBSERVATIONS, resolve, seat_weights

# isort: split
import pufferlib.vector

ROUNDS = 5
CHUNKS = 8  # a round, with a look at the missiles in the air after each
WARM_UP = 300.0  # s, simulated
PHYSICS_DT = 0.1  # s
POOL_BYTES = 2**25  # of actions drawn beforehand
SEATS = 2
# What the equations of RULES.md ask for in a physics step, counting + - * / < and selections alike:
# 43 for the flight of a body, the rest for actuators, motor, guidance and fuze.
FIGHTER_OPERATIONS, MISSILE_OPERATIONS = 55, 105
VECTOR_LANES = {"sse2": 4, "avx2": 8, "avx512": 16, "portable": 4}  # float32
OWN_IN_AIR = [feature.name for feature in FEATURES].index("own_in_air")


@dataclass
class Workload:
    """What is timed. `num_envs` engagements in each of `threads` processes."""

    layer: str
    num_envs: int
    substeps: int = 10
    isa: str = "auto"
    threads: int = 1
    fire: float = 0.5  # probability
    observation: str = "default"
    rates: list[float] = field(default_factory=list)  # agent decisions a second, a round each
    in_air: list[float] = field(default_factory=list)  # missiles of an engagement


class Stepper:
    """A layer that this process steps, all its agents at once."""

    agents: int
    observations: np.ndarray
    decisions = 0  # of agents, so far

    def pids(self) -> list[int]:
        """Processes that work for it."""
        return []

    def close(self) -> None:
        """End what works for it."""

    def missiles_in_air(self) -> float:
        """Mean over some thousand engagements."""
        stride = max(1, self.agents // 4096) | 1  # odd, for both seats
        mean = self.observations[::stride, OWN_IN_AIR].mean()
        return float(mean) * FEATURES[OWN_IN_AIR].scale * SEATS


class Core(Stepper):
    """The core alone."""

    def __init__(self, work: Workload) -> None:
        agent = seat_weights({"agent": 1})
        parameters = resolve({"physics_dt": PHYSICS_DT, "substeps": work.substeps})
        self._core = _core.Core(
            parameters,
            work.num_envs,
            0,
            (agent, agent),
            True,
            work.isa,
            game_envelope(parameters),
            work.observation,
        )
        self.agents = self._core.agents
        self.observations = np.zeros((self.agents, self._core.features), np.float32)
        rewards = np.zeros(self.agents, np.float32)
        ends = np.zeros((2, self.agents), np.uint8)
        self._outputs = (self.observations, rewards, *ends)
        self._actions = draw_actions(self.agents, work.fire)

    def step(self) -> None:
        """One decision of all agents."""
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
        """One decision of all agents."""
        self._env.step(next(self._actions))
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
        """Mean of the processes."""
        return float(self._shared[:, 1].mean())

    def step(self) -> None:
        """Sleep."""
        time.sleep(0.002)

    def pids(self) -> list[int]:
        """The processes."""
        return [process.pid for process in self._processes]

    def close(self) -> None:
        """End the processes."""
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
        """One decision of the agents of the batch that is ready."""
        self.observations = self._envs.recv()[0]
        self._envs.send(next(self._actions))
        self.decisions += self.agents

    def pids(self) -> list[int]:
        """The workers."""
        return [process.pid for process in getattr(self._envs, "processes", [])]

    def close(self) -> None:
        """End the workers."""
        self._envs.close()
        for process in getattr(self._envs, "processes", []):
            process.join()


LAYERS = {
    "core": Core,
    "env": Env,
    "serial": Vector,
    "processes": Processes,
    "multiprocessing": Vector,
}


def env_kwargs(work: Workload) -> dict[str, object]:
    """Arguments of Midrange."""
    return {
        "num_envs": work.num_envs,
        "opponent": "self",
        "isa": work.isa,
        "observation": work.observation,
        "physics_dt": PHYSICS_DT,
        "substeps": work.substeps,
    }


def draw_actions(agents: int, fire: float) -> Iterator[np.ndarray]:
    """Random actions int32 [agents, 3], over and over from a pool."""
    rng = np.random.default_rng(0)
    pool = []
    for _ in range(min(256, max(POOL_BYTES // (12 * agents), 1))):
        actions = rng.integers(0, _core.ACTION_LEVELS, (agents, 3), np.int32)
        actions[:, 2] = rng.random(agents) < fire
        pool.append(actions)
    return itertools.cycle(pool)


@contextlib.contextmanager
def running(layer: Stepper | Processes) -> Iterator[None]:
    """Let a layer's processes run, and stop them after: they would go on beside what comes next."""
    for pid in layer.pids():
        os.kill(pid, signal.SIGCONT)
    yield
    for pid in layer.pids():
        os.kill(pid, signal.SIGSTOP)


def end(layer: Stepper | Processes) -> None:
    """Close a layer; processes that are stopped could not hear of it."""
    for pid in layer.pids():
        os.kill(pid, signal.SIGCONT)
    layer.close()


def time_round(work: Workload, layer: Stepper | Processes, seconds: float) -> None:
    """Add a round's rate, and the missiles in the air after each of its chunks."""
    before, spent = layer.decisions, 0.0
    for _ in range(CHUNKS):
        start = time.perf_counter()
        while time.perf_counter() - start < seconds / CHUNKS:
            layer.step()
        spent += time.perf_counter() - start
        work.in_air.append(layer.missiles_in_air())
    work.rates.append((layer.decisions - before) / spent)


def measure(group: Sequence[Workload], seconds: float) -> None:
    """Time workloads in turns."""
    layers = []
    with contextlib.ExitStack() as stack:
        for work in group:
            layer = LAYERS[work.layer](work)
            stack.callback(end, layer)
            layers.append(layer)
            with running(layer):
                decisions = WARM_UP / (PHYSICS_DT * work.substeps)
                while layer.decisions < decisions * work.num_envs * SEATS * work.threads:
                    layer.step()
        for _ in range(ROUNDS):
            for work, layer in zip(group, layers, strict=True):
                with running(layer):
                    time_round(work, layer, seconds)


def groups(quick: bool) -> list[list[Workload]]:
    """What is measured; workloads of one group are timed in turns."""
    sizes = [1, 16, 256, 2048, 16_384, 65_536]
    worker_sizes = [1, 256, 2048, 16_384]
    if quick:
        sizes, worker_sizes = [16, 2048], [2048]
    layers = ("core", "env", "serial")
    return [
        *([Workload(layer, size) for layer in layers] for size in sizes),
        *(
            [Workload(layer, size, threads=threads) for threads in (1, 2)]
            for layer in ("processes", "multiprocessing")
            for size in worker_sizes
        ),
        *([Workload(layer, 2048, substeps=n) for layer in layers] for n in (1, 5)),
        [Workload("core", 2048, isa=isa) for isa in _core.isas()],
        [Workload("core", 2048, fire=fire) for fire in (0.5, 0.02)],
        *(
            [Workload("core", 2048, isa=isa, observation=name) for name in OBSERVATIONS]
            for isa in _core.isas()
        ),
    ]


def ratio(top: Workload, bottom: Workload) -> float:
    """Median over the rounds."""
    return statistics.median(a / b for a, b in zip(top.rates, bottom.rates, strict=True))


def ratios(measured: Sequence[Sequence[Workload]]) -> dict[str, float]:
    """Each workload against the first of its group where layer, threads or observation differ."""
    out = {}
    for first, *others in measured:
        for other in others:
            name = f"{other.num_envs} engagements, {other.substeps} substeps"
            if other.layer != first.layer:
                out[f"{other.layer} / {first.layer}, {name}"] = ratio(other, first)
            if other.threads != first.threads:
                out[f"{other.layer}, {other.threads} / {first.threads}, {name}"] = ratio(
                    other, first
                )
            if other.observation != first.observation:
                what = f"{other.observation} / {first.observation}, {name}, {other.isa}"
                out[what] = ratio(other, first)
    return out


def row_of(work: Workload) -> dict[str, object]:
    """A row of the report."""
    median, spread = median_and_spread(work.rates)
    in_air = statistics.mean(work.in_air)
    operations = SEATS * FIGHTER_OPERATIONS + in_air * MISSILE_OPERATIONS
    return {
        "layer": work.layer,
        "num_envs": work.num_envs,
        "substeps": work.substeps,
        "threads": work.threads,
        "isa": _core.isas()[0] if work.isa == "auto" else work.isa,
        "fire_probability": work.fire,
        "observation": work.observation,
        "missiles_in_air": round(in_air, 2),
        "agent_steps_per_s": round(median),
        "spread": round(spread, 3),
        "physics_gflops": round(median / SEATS * work.substeps * operations / 1e9, 2),
    }


def print_report(report: dict) -> None:
    """Print the rows, the ratios, and what the processor could do at most."""
    lines = [
        (
            *list(row.values())[:7],
            f"{row['missiles_in_air']:.1f}",
            f"{row['agent_steps_per_s'] / 1e6:.2f}",
            f"{row['spread']:.0%}",
            f"{row['physics_gflops']:.1f}",
        )
        for row in report["rows"]
    ]
    columns = ["layer", "engagements", "substeps", "processes", "isa", "fire", "observation"]
    columns += ["in the air"]
    print_table(
        f"Million agent decisions a second, median of {ROUNDS} rounds. Engagements are of one "
        f"process,\n{report['bytes_per_engagement']} bytes each; Gflop/s are of the physics alone.",
        [*columns, "M/s", "spread", "Gflop/s"],
        lines,
    )
    peak = VECTOR_LANES[_core.isas()[0]] * 2 * report["machine"]["mhz"] / 1000
    print(
        f"two vector operations a cycle at the nominal clock would be {peak:.0f} Gflop/s a core\n"
    )
    ratios = [(name, f"{value:.3f}") for name, value in report["ratios"].items()]
    print_table("Ratios, median of the rounds", ["what", "ratio"], ratios)


def main() -> None:
    """Measure, print, and write the report where wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the report there, too")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter rounds")
    options = parser.parse_args()
    report = {"machine": machine(), "bytes_per_engagement": _core.STATE_BYTES}
    print_machine(report["machine"])
    measured = groups(options.quick)
    for group in measured:
        measure(group, seconds=0.05 if options.quick else 0.2)
    report["rows"] = [row_of(work) for group in measured for work in group]
    report["ratios"] = {name: round(value, 3) for name, value in ratios(measured).items()}
    print_report(report)
    if options.json:
        write_json(options.json, report)


if __name__ == "__main__":
    main()

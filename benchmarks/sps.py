"""Agent decisions a second of the environment without a learner, layer by layer.

    core              one call of the C core's step, through its binding, with all arrays prepared
    env               Midrange.step
    gym_vector        MidrangeVectorEnv.step, which returns copies; gym_buffers: with copy=False
    gym_single        MidrangeEnv.step, one engagement; pettingzoo: MidrangeParallelEnv.step
    sb3               MidrangeVecEnv.step, where Stable-Baselines3 is installed
    serial            pufferlib.vector.Serial with one Midrange
    processes         processes that each step a Midrange of their own: what the cores can give
    multiprocessing   pufferlib.vector.Multiprocessing, one Midrange a worker, asynchronous with
                      two; workers and the process that they serve all busy-wait, on a core each

Agents play random actions drawn beforehand, in both seats, or in one against a pilot where it says
so; resets and observations are part of every step. Before it is timed a workload has run for five
simulated minutes, so that engagements are in all phases. Workloads to be compared are timed in
turns, `ROUNDS` times, and the table gives the median. Run it on an otherwise idle machine.

--quick takes less than a minute: it has fewer sizes, the best instruction set alone, shorter
rounds, and workloads that have run for only one simulated minute.

The workloads (`--only` runs some of them):

    sizes      core, env and serial by 1 ... 65,536 engagements
    threads    core and env by 256 ... 65,536 engagements by 1 and 2 threads of one process
    rules      core and env by instruction set by 1, 5 and 10 substeps by many missiles in the air
               (7 to 8: half the actions fire) and few (2: one in 50 at 10 substeps fires, fewer at
               fewer), 2,048 engagements
    sees       core by instruction set by observation, 2,048 engagements; `radar` is the game with
               sensors
    height     core in the plane, with height, and with height and drawn types by instruction set
               by 5 and 10 substeps, few missiles, 2,048 engagements
    processes  processes and multiprocessing by 256 ... 16,384 engagements by 1 and 2 processes
    wrappers   the environments of Gymnasium, PettingZoo and Stable-Baselines3 against Midrange
    serial     core, env and serial by 1 and 5 substeps, 2,048 engagements

The rest is 10 substeps, the best instruction set, one thread, actions that fire half the time.
"""

import argparse
import contextlib
import importlib.util
import os
import signal
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence

from clock import measured_mhz
from common import (
    add_report_options,
    finish,
    machine,
    median_and_spread,
    print_machine,
    print_table,
)
from layers import LAYERS, PHYSICS_DT, PROCESS_LAYERS, Core, Processes, Stepper, Workload

from midrange_puffer import _core
from midrange_puffer.game.parameters import OBSERVATIONS, OPTIONS, PARAMETERS, RADAR
from midrange_puffer.train.loggers import format_duration

ROUNDS = 5
SECONDS, QUICK_SECONDS = 0.2, 0.05  # of a round
CHUNKS = 8  # a round, with a look at the missiles in the air after each
WARM_UP, QUICK_WARM_UP = 300.0, 60.0  # s, simulated
# For the estimate of how long all takes: agent decisions a second, and seconds to make a layer.
RATE, START = 1e7, 0.2
# Operations of a physics step by the equations of RULES.md: each + - * / < min and max is one, and
# terms of parameters alone are known. 37 for the flight of a body; a fighter's actuators
# 8, thrust 1 and velocity 2; a missile's guidance 17, actuator 4, motor 5, fuze 21 and end 2. With
# height a fighter has 184 of them: air 21, forces 83, step 65, actuators 12, velocity 3; a missile
# 229: guidance 49, air and forces 69, step 65, motor 10, fuze 29 and end 7.
OPERATIONS = {2: (48, 86), 3: (184, 229)}  # of a fighter and of a missile, by dimensions
VECTOR_LANES = {"sse2": 4, "avx2": 8, "avx512": 16, "portable": 4}  # float32
SIDES = (1, 2, 4, 8, 16)  # fighters of each
FEW = 0.002  # probability to fire, for each substep of a decision
FULL_OBSERVATIONS = [name for name in OBSERVATIONS if name != RADAR]
DEFAULTS = {
    "opponent": OPTIONS["opponent"].default,
    "substeps": PARAMETERS["substeps"].default,
}


@contextlib.contextmanager
def running(layer: Stepper | Processes) -> Iterator[None]:
    """Lets a layer's processes run, and stops them afterwards, because others are timed next."""
    for pid in layer.pids():
        os.kill(pid, signal.SIGCONT)
    yield
    for pid in layer.pids():
        os.kill(pid, signal.SIGSTOP)


def end(layer: Stepper | Processes) -> None:
    """Continues the stopped processes of a layer, which could not end otherwise, and closes it."""
    for pid in layer.pids():
        os.kill(pid, signal.SIGCONT)
    layer.close()


def time_round(work: Workload, layer: Stepper | Processes, seconds: float) -> None:
    """Adds a round's rate, and the missiles in the air after each of its chunks."""
    before, spent = layer.decisions, 0.0
    for _ in range(CHUNKS):
        start = time.perf_counter()
        while time.perf_counter() - start < seconds / CHUNKS:
            layer.step()
        spent += time.perf_counter() - start
        work.in_air.append(layer.missiles_in_air())
    work.rates.append((layer.decisions - before) / spent)


def warm_up(work: Workload, quick: bool) -> float:
    """Returns the number of agent decisions before a workload is timed."""
    simulated = QUICK_WARM_UP if quick else WARM_UP
    return simulated / (PHYSICS_DT * work.substeps) * work.agents * work.processes


def estimate(group: Sequence[Workload], quick: bool) -> float:
    """Returns about how long a group takes [s]."""
    timed = ROUNDS * (QUICK_SECONDS if quick else SECONDS)
    return sum(timed + START + warm_up(work, quick) / RATE for work in group)


def measure(group: Sequence[Workload], quick: bool) -> None:
    """Times workloads in turns."""
    layers = []
    with contextlib.ExitStack() as stack:
        for work in group:
            layer = LAYERS[work.layer](work)
            stack.callback(end, layer)
            layers.append(layer)
            with running(layer):
                while layer.decisions < warm_up(work, quick):
                    layer.step()
        for _ in range(ROUNDS):
            for work, layer in zip(group, layers, strict=True):
                with running(layer):
                    time_round(work, layer, QUICK_SECONDS if quick else SECONDS)


def cross_sections(quick: bool) -> dict[str, list[list[Workload]]]:
    """Returns the workloads by name; those of one group are timed in turns."""
    sizes = [1, 16, 256, 2048, 16_384, 65_536]
    if quick:
        sizes = [16, 2048]
    many = [size for size in sizes if size >= 256]
    isas, layers = _core.isas()[: 1 if quick else None], ("core", "env", "serial")
    vectors = ["env", "gym_vector", "gym_buffers"]
    if importlib.util.find_spec("stable_baselines3"):
        vectors.append("sb3")
    return {
        "sizes": [[Workload(layer, size) for layer in layers] for size in sizes],
        "threads": [
            [Workload(layer, size, threads=threads) for threads in (1, 2)]
            for layer in ("core", "env")
            for size in many
        ],
        "rules": [
            [
                Workload(layer, 2048, substeps=substeps, isa=isa, fire=fire)
                for layer in ("core", "env")
                for fire in (0.5, FEW * substeps)
            ]
            for isa in isas
            for substeps in (1, 5, 10)
        ],
        "sees": [
            [
                *(Workload("core", 2048, isa=isa, observation=name) for name in FULL_OBSERVATIONS),
                Workload("core", 2048, isa=isa, observation=RADAR, sensing=RADAR),
            ]
            for isa in isas
        ],
        "height": [
            [
                Workload("core", 2048, substeps=n, isa=isa, fire=FEW * n, dimensions=d, drawn=drawn)
                for d, drawn in ((2, False), (3, False), (3, True))
            ]
            for isa in isas
            for n in (5, 10)
        ],
        "teams": [
            [
                Workload("core", 4096 // side, substeps=substeps, isa=isa, fire=FEW, side=side)
                for side in SIDES
            ]
            for isa in isas
            for substeps in (5, 10)
        ],
        "processes": [
            [Workload(layer, size, threads=threads) for threads in (1, 2)]
            for layer in PROCESS_LAYERS
            for size in many
            if size <= 16_384
        ],
        "wrappers": [
            [Workload(layer, 4096, **DEFAULTS) for layer in vectors],
            [Workload(layer, 1, **DEFAULTS) for layer in ("env", "gym_single")],
            [Workload(layer, 1) for layer in ("env", "pettingzoo")],
        ],
        "serial": [[Workload(layer, 2048, substeps=n) for layer in layers] for n in (1, 5)],
    }


def describe(group: Sequence[Workload]) -> str:
    """Describes the workloads of a group, for the line printed while they are timed."""
    layers = ", ".join(dict.fromkeys(work.layer for work in group))
    return f"{layers} with {group[0].num_envs} engagements, {group[0].substeps} substeps"


def seen(work: Workload) -> str:
    """Returns what the agents see."""
    if work.dimensions == 2:
        return work.observation
    return f"{_core.HEIGHTS[0]}, drawn" if work.drawn else _core.HEIGHTS[0]


def print_group(group: Sequence[Workload]) -> None:
    """Prints the results of a group, and how its workloads differ."""
    for work in group:
        median, spread = median_and_spread(work.rates)
        words = f"{work.layer}, {work.threads} threads, {work.isa}, fire {work.fire:g}, "
        words += f"sees {seen(work)}, {work.side} a side"
        print(f"    {words:<60} {median / 1e6:8.3g} M/s, spread {spread:.0%}", flush=True)


def ratio(top: Workload, bottom: Workload) -> float:
    """Returns the median over the rounds."""
    return statistics.median(a / b for a, b in zip(top.rates, bottom.rates, strict=True))


def ratios(measured: Sequence[Sequence[Workload]]) -> dict[str, float]:
    """Returns the ratio of each workload to the first of its group with other settings."""
    out = {}
    for first, *others in measured:
        for other in others:
            name = f"{other.num_envs} engagements, {other.substeps} substeps"
            if other.layer != first.layer and other.fire == first.fire:
                if other.isa != "auto":
                    name += f", {other.isa}"
                out[f"{other.layer} / {first.layer}, {name}"] = ratio(other, first)
            if other.threads != first.threads:
                out[f"{other.layer}, {other.threads} / {first.threads}, {name}"] = ratio(
                    other, first
                )
            if other.side != first.side:
                what = f"{other.side} against {other.side} / 1 against 1"
                out[f"{what}, {other.substeps} substeps, {other.isa}"] = ratio(other, first)
            if other.dimensions != first.dimensions:
                what = "height, drawn" if other.drawn else "height"
                out[f"{what} / plane, {other.substeps} substeps, {other.isa}"] = ratio(other, first)
            if other.observation != first.observation:
                what = f"{other.observation} / {first.observation}, {name}, {other.isa}"
                out[what] = ratio(other, first)
    return out


def row_of(work: Workload, mhz: int) -> dict[str, object]:
    """Returns a row of the report, at this clock."""
    median, spread = median_and_spread(work.rates)
    in_air = statistics.mean(work.in_air)
    of_fighter, of_missile = OPERATIONS[work.dimensions]
    operations = 2 * work.side * of_fighter + in_air * of_missile
    decisions = median / work.agents * work.num_envs  # of engagements, a second
    isa = _core.isas()[0] if work.isa == "auto" else work.isa
    gflops = decisions * work.substeps * operations / 1e9
    return {
        "layer": work.layer,
        "num_envs": work.num_envs,
        "side": work.side,
        "opponent": work.opponent,
        "substeps": work.substeps,
        "threads": work.threads,
        "isa": isa,
        "fire_probability": work.fire,
        "observation": seen(work),
        "missiles_in_air": round(in_air, 2),
        "agent_steps_per_s": round(median),
        "spread": round(spread, 3),
        "physics_gflops": round(gflops, 2),
        "share_of_peak": round(gflops / (peak_gflops(isa, mhz) * work.threads), 3),
    }


def name_of(row: Mapping[str, object]) -> str:
    """Returns the workload of a row of the report, in words."""
    sides = f"{row['side']}v{row['side']} {row['opponent']}"
    sizes = f"{row['num_envs']} envs, {row['substeps']} substeps, {row['threads']} threads"
    rest = f"{row['isa']}, {row['fire_probability']} fire, {row['observation']}"
    return f"{row['layer']}, {sides}, {sizes}, {rest}"


def peak_gflops(isa: str, mhz: int) -> float:
    """Returns the peak of a core with two vector operations a cycle."""
    return VECTOR_LANES[isa] * 2 * mhz / 1000


def print_report(report: dict) -> None:
    """Prints the rows, the ratios, and the peak of the processor."""
    lines = [
        (
            *list(row.values())[:9],
            f"{row['missiles_in_air']:.1f}",
            f"{row['agent_steps_per_s'] / 1e6:.3g}",
            f"{row['spread']:.0%}",
            f"{row['physics_gflops']:.1f}",
            f"{row['share_of_peak']:.0%}",
        )
        for row in report["rows"]
    ]
    columns = [
        "layer",
        "envs",
        "side",
        "against",
        "substeps",
        "threads",
        "isa",
        "fire",
        "sees",
        "in air",
    ]
    print_table(
        f"Million agent decisions a second, median of {ROUNDS} rounds. envs: engagements of one "
        f"process, of\n{', '.join(map(str, report['bytes_per_engagement']))} bytes with "
        f"{', '.join(map(str, SIDES))} fighters a side; threads: of it, or\nprocesses where there "
        "are many; Gflop/s are of the physics alone, peak of as many threads.",
        [*columns, "M/s", "spread", "Gflop/s", "of peak"],
        lines,
    )
    isa, clock = _core.isas()[0], report["clock"]
    print(
        f"the peak is two vector operations a cycle: by {isa} {peak_gflops(isa, clock['mhz']):.0f} "
        f"Gflop/s a core at {clock['mhz']} MHz, {clock['source']}\n"
    )
    ratios = [(name, f"{value:.3f}") for name, value in report["ratios"].items()]
    if ratios:
        print_table("Ratios, median of the rounds", ["what", "ratio"], ratios)


def state_bytes() -> list[int]:
    """Returns the bytes of an engagement's state, for each of SIDES."""
    return [Core(Workload("core", 1, side=side)).bytes for side in SIDES]


def clock() -> dict[str, object]:
    """Returns the clock that the peak is computed with, and its source."""
    found = measured_mhz()
    if found is None:
        return {"mhz": machine()["mhz"], "source": "nominal"}
    return {"mhz": found, "source": "measured by a loop of dependent additions"}


def main() -> None:
    """Measures, prints, and writes the report if wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_report_options(parser)
    parser.add_argument(
        "--quick", action="store_true", help="less of all, in less than a minute; see the file"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(cross_sections(quick=False)),
        metavar="WHAT",
        help="measure only these, of %(choices)s",
    )
    options = parser.parse_args()
    report = {"machine": machine(), "bytes_per_engagement": state_bytes(), "clock": clock()}
    print_machine(report["machine"])
    sections = cross_sections(options.quick)
    measured = [group for name in options.only or sections for group in sections[name]]
    seconds = sum(estimate(group, options.quick) for group in measured)
    print(f"{len(measured)} groups of workloads, about {format_duration(seconds)}", flush=True)
    for number, group in enumerate(measured, 1):
        print(f"{number} of {len(measured)}: {describe(group)}", flush=True)
        measure(group, options.quick)
        print_group(group)
    report["rows"] = [row_of(work, report["clock"]["mhz"]) for group in measured for work in group]
    report["ratios"] = {name: round(value, 3) for name, value in ratios(measured).items()}
    print_report(report)
    rates = {name_of(row): row["agent_steps_per_s"] for row in report["rows"]}
    finish("sps", report, rates, options)


if __name__ == "__main__":
    main()

"""Gain and cost of training beyond one process: speed, and the time to the same score.

    serial                 one process
    multiprocessing        the environments in a worker of their own; both busy-wait
    ranks_1, _2            so many learners, each with its share of engagements and of a minibatch;
                           "twice as much": each with all that one process has
    blocking_1, _2         so many collectors on Ray, and a learner that waits for them
    non_blocking_1, _2     the same, collecting while the learner learns from older policies
    own buffer, shared ..  blocking_2, with a quarter of each minibatch from an experience buffer:
                           the learner's, or one in an actor of a cluster that was there before

Trains with the real command, `puffer train midrange`; engagements, batch, minibatches and optimizer
steps are the same in all modes but the one with twice as much. A mode has two cores, or one where
it says so, for all that it starts, and one torch thread a process: modes with as many cores show
what each way costs.

Speed is that of the updates after the first WARM_UP, of runs in turns. The time to a score is
counted from the end of the first update until the engagements against PILOT, one among those met in
training, that ended in the last WINDOW updates have reached LEVEL. What comes before, from the
command on, is the start.

Run it on an otherwise idle machine.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from common import machine, median_and_spread, print_machine, print_table, runs_parser
from matplotlib.figure import Figure

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.reading import load_config
from midrange_puffer.files import check_writable, write_results
from midrange_puffer.show.figures import check_picture, save_figure
from midrange_puffer.sweep.workers import pinned
from midrange_puffer.train import run_folder

PILOT, LEVEL, WINDOW = "evader", 0.8, 5
SCORE = f"environment/score_vs_{PILOT}"
WARM_UP = 4  # updates
STEPS = 8_000_000  # most of a run for the score
SCORED = ("serial", "ranks_2", "blocking_2", "non_blocking_2")
POLL = 0.1  # s
# Speeds of modes that have equally many cores, the first over the second.
PAIRS = (
    ("blocking_1, 1 core", "serial, 1 core"),
    *(
        (name, "serial")
        for name in (
            "multiprocessing",
            "ranks_1",
            "ranks_2",
            "ranks_2, twice as much",
            "blocking_1",
            "blocking_2",
            "non_blocking_1",
            "non_blocking_2",
        )
    ),
    ("shared buffer", "own buffer"),
)
# Seconds of an update, by PuffeRL's names, whose metrics count from the start of the run; "gather"
# includes what follows. And means of metrics of one update, "collect" being of one rollout.
TOTALS = {"gather": "eval", "environment": "env", "policy": "eval_forward", "learn": "train"}
MEANS = (
    *(f"performance/{name}" for name in ("collect", "queue", "copy", "broadcast")),
    *(f"cluster/{name}" for name in ("policy_lag", "policy_lag_max", "rollout_bytes", "dropped")),
)
NUMBERS = {
    "start": "start [s]",
    "policy_lag": "mean lag",
    "policy_lag_max": "greatest lag",
    "rollout_bytes": "bytes of a rollout",
}
SECONDS = {name: name for name in ("update", *TOTALS, "collect", "queue", "copy", "broadcast")}
AXES = {"seconds": (1, "time [s]"), "agent_steps": (1e-6, "agent steps [M]")}

Rows = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Mode:
    """A way to train.

    Attributes:
        words: overrides of the configuration.
        learners: side by side; 0: one, as without --ranks.
        cores: that it is kept to.
        joins: True: it joins a Ray cluster that was there before it.
    """

    words: tuple[str, ...]
    learners: int = 0
    cores: int = 2
    joins: bool = False

    @property
    def command(self) -> list[str]:
        """Words for Python."""
        ranks = [f"--ranks={self.learners}"] if self.learners else []
        return ["-m", "midrange_puffer", "train", "midrange", *ranks]


def main() -> None:
    """Measures speed and the time to the score, prints, and writes the report and the picture."""
    options, overrides = _parse()
    config = load_config(options.config, overrides)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the run, too
    words = ["--config", options.config, *overrides]
    versions = {name: version(name) for name in ("pufferlib", "torch", "ray")}
    report = {"machine": machine(), "versions": versions, "config": config.as_dict()}
    print_machine(report["machine"] | versions)
    ways = modes(config)
    report["speed"] = speeds(ways, words, options.rounds, options.updates)
    report["ratios"] = ratios(report["speed"])
    _print_speed(report["speed"], report["ratios"])
    write_results(options.json, report)
    report |= {"pilot": PILOT, "level": LEVEL, "window": WINDOW, "steps": options.steps}
    report["score"] = scores(ways, words, options.seeds, options.steps)
    _print_scores(report["score"])
    write_results(options.json, report)
    save_figure(draw(report["speed"], report["score"]), options.out)
    print(f"{options.json}, {options.out}")


def modes(config: Config) -> dict[str, Mode]:
    """Returns all modes of training a configuration, by name."""
    engagements, minibatch = config["env"]["num_envs"], config["train"]["minibatch_size"]
    serial = ("--vec.backend=Serial",)

    def ranks(count: int) -> Mode:
        share = {"env.num-envs": engagements // count, "train.minibatch-size": minibatch // count}
        return Mode((*serial, *(f"--{key}={value}" for key, value in share.items())), count)

    def ray(sync: str, count: int, cores: int = 2) -> Mode:
        cluster = {"engine": "ray", "sync": sync, "max-collectors": count}
        return Mode(tuple(f"--cluster.{key}={value}" for key, value in cluster.items()), 0, cores)

    two = ray("blocking", 2).words
    buffer = ("--experience-buffer.capacity=4096", "--experience-buffer.share=0.25")
    return {
        "serial, 1 core": Mode(serial, cores=1),
        "blocking_1, 1 core": ray("blocking", 1, cores=1),
        "serial": Mode(serial),
        "multiprocessing": Mode(("--vec.backend=Multiprocessing", "--vec.num-workers=1")),
        **{f"ranks_{count}": ranks(count) for count in (1, 2)},
        "ranks_2, twice as much": Mode(serial, learners=2),
        **{f"blocking_{count}": ray("blocking", count) for count in (1, 2)},
        **{f"non_blocking_{count}": ray("non_blocking", count) for count in (1, 2)},
        "own buffer": Mode((*two, *buffer)),
        "shared buffer": Mode((*two, *buffer, "--experience-buffer.shared"), joins=True),
    }


def train(
    mode: Mode, words: Sequence[str], is_enough: Callable[[Rows], bool]
) -> tuple[float, Rows]:
    """Trains to the end, or until the metrics are enough.

    Returns:
        Time from the command to the end of the first update [s], and the rows of metrics.
    """
    cores = sorted(os.sched_getaffinity(0))[: mode.cores]
    with (
        tempfile.TemporaryDirectory(prefix="midrange-scale-", dir="/tmp") as name,
        pinned(cores),
        _cluster(mode, Path(name, "ray")) as joined,
    ):
        start, begin = None, time.perf_counter()
        run, log = Path(name, "run"), Path(name, "log")
        command = [sys.executable, *mode.command, *words, *mode.words, *joined]
        command += [f"--train.data-dir={name}", f"--train.run-name={run.name}"]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                rows = _rows(run)
                if rows and start is None:
                    start = time.perf_counter() - begin
                if is_enough(rows):
                    break
                time.sleep(POLL)
        finally:
            process.terminate()
            process.wait()
        rows = _rows(run)
        if process.returncode and not is_enough(rows):
            raise SystemExit(f"{' '.join(command)}\n{log.read_text()}")
    return start, rows


@contextlib.contextmanager
def _cluster(mode: Mode, folder: Path) -> Iterator[list[str]]:
    """Starts the Ray cluster that a mode joins, if it does; yields the words to join it."""
    if not mode.joins:
        yield []
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, _, port = address.partition(":")
    words = ["--head", f"--node-ip-address={host}", f"--port={port}", f"--temp-dir={folder}"]
    words += [f"--num-cpus={mode.cores}", "--include-dashboard=false", "--block"]
    head = [sys.executable, "-m", "ray.scripts.scripts", "start", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(head, **quiet)
    try:
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection((host, int(port))).close()
                break
            if process.poll() is not None:
                raise SystemExit(f"{' '.join(head)} ended with {process.returncode}")
            time.sleep(POLL)
        yield [f"--cluster.address={address}"]
    finally:
        process.terminate()
        process.wait()


def reach(rows: Rows, level: float = LEVEL) -> int | None:
    """Returns the first row by which the mean score of WINDOW rows is at a level, or None."""
    if len(rows) < WINDOW:
        return None
    last = [row.get(SCORE, 0.0) for row in rows]
    there = np.flatnonzero(np.convolve(last, np.full(WINDOW, 1 / WINDOW), "valid") >= level)
    return int(there[0]) + WINDOW - 1 if len(there) else None


def speeds(
    ways: Mapping[str, Mode], words: Sequence[str], rounds: int, updates: int
) -> dict[str, dict[str, object]]:
    """Trains each mode for some updates, in turns.

    Returns:
        For each mode sps, agent decisions a second in each round, and the medians of the `figures`
        and of the start.
    """
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, mode in ways.items():
            own = [*words, f"--train.seed={number}"]
            start, rows = train(mode, own, lambda rows: len(rows) >= updates)
            runs[name].append({"start": start, **figures(rows[:updates])})
            print(f"{name}: {runs[name][-1]['sps']:,.0f} decisions/s", flush=True)
    return {
        name: {
            "sps": [one["sps"] for one in seen],
            "medians": {key: statistics.median(one[key] for one in seen) for key in seen[0]},
        }
        for name, seen in runs.items()
    }


def figures(rows: Rows) -> dict[str, float]:
    """Returns the agent decisions a second, and the figures of an update, after the warm-up."""
    start, later = rows[WARM_UP - 1], rows[WARM_UP:]
    gained = {
        name: (later[-1][name] - start[name]) / len(later)
        for name in ("agent_steps", "uptime", *(f"performance/{name}" for name in TOTALS.values()))
        if name in start
    }
    result = {"sps": gained["agent_steps"] / gained["uptime"], "update": gained["uptime"]}
    for name, total in TOTALS.items():
        if f"performance/{total}" in gained:
            result[name] = gained[f"performance/{total}"]
    for name in MEANS:
        if name in start:
            result[name.split("/")[1]] = statistics.mean(row[name] for row in later)
    return result


def ratios(report: Mapping[str, Mapping[str, object]]) -> list[dict[str, object]]:
    """Returns the ratios of the speeds of PAIRS, as medians of the rounds."""
    return [
        {
            "of": one,
            "over": other,
            "ratio": statistics.median(
                np.divide(report[one]["sps"], report[other]["sps"]).tolist()
            ),
        }
        for one, other in PAIRS
    ]


def scores(
    ways: Mapping[str, Mode], words: Sequence[str], seeds: int, steps: int
) -> list[dict[str, object]]:
    """Trains the modes SCORED until they reach the level, or for so many steps.

    Returns:
        For each run its mode and seed, start [s], the curve of the score over seconds and agent
        steps since the end of the first update, and reached: of the curve, where it was; or None.
    """
    report = []
    for seed in range(seeds):
        for name in SCORED:
            own = [*words, f"--train.seed={seed}"]
            start, rows = train(ways[name], own, lambda rows: _is_decided(rows, steps))
            there, first = reach(rows), rows[0]
            curve = {
                "seconds": [row["uptime"] - first["uptime"] for row in rows],
                "agent_steps": [row["agent_steps"] for row in rows],
                "score": [row.get(SCORE) for row in rows],
            }
            reached = there and {axis: values[there] for axis, values in curve.items()}
            run = {"mode": name, "seed": seed, "start": start, "curve": curve, "reached": reached}
            print(f"{name}, seed {seed}: {_reached(run)}", flush=True)
            report.append(run)
    return report


def draw(
    report: Mapping[str, Mapping[str, object]], runs: Sequence[Mapping[str, object]]
) -> Figure:
    """Draws the speed of each mode and round, and the scores over time and steps, a line a run."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    bars, *curves = figure.subplots(1, 3, width_ratios=(1.2, 1, 1))
    colours = {name: f"C{place}" for place, name in enumerate(SCORED)}
    names = list(report)[::-1]
    speed = [report[name]["medians"]["sps"] / 1e3 for name in names]
    bars.barh(names, speed, color=[colours.get(name, "0.75") for name in names])
    for name in names:
        sps = np.array(report[name]["sps"]) / 1e3
        bars.plot(sps, [name] * len(sps), ".", color="0.2", ms=4)
    bars.set(xlabel="agent decisions [k/s]")
    for axes, (axis, (unit, label)) in zip(curves, AXES.items(), strict=True):
        for run in runs:
            score = [np.nan if one is None else one for one in run["curve"]["score"]]
            axes.plot(
                unit * np.array(run["curve"][axis]),
                _smooth(score),
                color=colours[run["mode"]],
                lw=1.3,
                label=run["mode"] if run["seed"] == 0 else None,
            )
        axes.axhline(LEVEL, color="0.3", lw=0.7, ls=":")
        axes.set(xlabel=label, ylabel=f"score against {PILOT}", ylim=(-0.03, 1.03))
        axes.grid(color="0.92")
    for axes in (bars, *curves):
        axes.spines[["top", "right"]].set_visible(False)
    curves[0].legend(frameon=False, loc="upper left", ncols=2)
    return figure


def _parse() -> tuple[argparse.Namespace, list[str]]:
    parser = runs_parser(__doc__, "train", "default.ini")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each mode for speed")
    parser.add_argument("--updates", type=int, default=16, help="of a run for speed")
    parser.add_argument("--seeds", type=int, default=3, help="runs of a mode for the score")
    parser.add_argument("--steps", type=float, default=STEPS, help="most of a run for the score")
    parser.add_argument("--quick", action="store_true", help="one short run of each")
    parser.add_argument("--json", metavar="FILE", default="experiments/scale.json")
    parser.add_argument("--out", metavar="FILE", default="experiments/scale.png")
    options, overrides = parser.parse_known_args()
    if options.quick:
        options.rounds, options.updates, options.seeds = 1, WARM_UP + 2, 1
        options.steps = STEPS / 8
    if options.updates <= WARM_UP:
        parser.error(f"--updates must be above {WARM_UP}, which do not count")
    check_writable(options.json)
    check_picture(options.out)
    return options, overrides


def _rows(run: Path) -> Rows:
    """Returns the whole rows of metrics that are there so far."""
    path = run / run_folder.METRICS
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _is_decided(rows: Rows, steps: int) -> bool:
    """True if a run is at the level, or has made so many steps."""
    return reach(rows) is not None or (bool(rows) and rows[-1]["agent_steps"] >= steps)


def _smooth(score: Sequence[float]) -> np.ndarray:
    """Means over WINDOW rows, NaN where there are not so many yet."""
    before = np.full(WINDOW - 1, np.nan)
    return np.convolve([*before, *score], np.full(WINDOW, 1 / WINDOW), "valid")


def _reached(run: Mapping[str, object]) -> str:
    if run["reached"] is None:
        return f"not within {run['curve']['agent_steps'][-1] / 1e6:.1f} M steps"
    reached = run["reached"]
    return f"{reached['seconds']:.0f} s, {reached['agent_steps'] / 1e6:.2f} M steps"


def _print_speed(
    report: Mapping[str, Mapping[str, object]], pairs: Sequence[Mapping[str, object]]
) -> None:
    rows, seconds = [], []
    for name, mode in report.items():
        sps, spread = median_and_spread(mode["sps"])
        medians = mode["medians"]
        rows.append((name, f"{sps:,.0f}", f"{spread:.0%}", *_cells(medians, NUMBERS)))
        seconds.append((name, *_cells(medians, SECONDS)))
    columns = ("mode", "agent decisions/s", "spread", *NUMBERS.values())
    print_table("Speed, medians of the runs", columns, rows)
    print_table("Seconds of an update", ("mode", *SECONDS.values()), seconds)
    rows = [(one["of"], one["over"], f"{one['ratio']:.3f}") for one in pairs]
    print_table("Speed of one over another, with as many cores", ("mode", "over", "ratio"), rows)


def _cells(medians: Mapping[str, float], columns: Mapping[str, str]) -> list[str]:
    values = (medians.get(name) for name in columns)
    return ["–" if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}" for x in values]


def _print_scores(runs: Sequence[Mapping[str, object]]) -> None:
    rows = [(run["mode"], run["seed"], f"{run['start']:.0f} s", _reached(run)) for run in runs]
    title = f"Until the score against {PILOT} is {LEVEL:g}, after the start"
    print_table(title, ("mode", "seed", "start", "reached"), sorted(rows))


if __name__ == "__main__":
    main()

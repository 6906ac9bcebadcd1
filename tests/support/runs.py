"""Small training runs for the tests: seconds long, in this process or in one of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from midrange_puffer.commands import cli

# 64 engagements x 16 decisions an update, engagements of at most 20 decisions, no replays, which
# would take as long as the rest.
SMALL = """
[vec]
backend = Serial
[env]
num_envs = 64
opponent = straight
time_limit = 10
start_range_min = 3000
start_range_max = 6000
[policy]
hidden_size = 16
[train]
device = cpu
total_timesteps = 8192
bptt_horizon = 16
minibatch_size = 512
replay_interval = 0
"""

# The opponents of a run with a pool.
MIX = ("--env.opponent", "self:2,pool:1,straight:1")
# What makes such a run one of twos.
TEAM = ("--env.red-size=2", "--env.blue-size=2", "--env.start-spacing-min=500",
        "--env.start-spacing-max=900")  # fmt: skip


def small_config(folder: Path) -> Path:
    """Writes the configuration of a small run into `folder`."""
    path = folder / "small.ini"
    path.write_text(SMALL)
    return path


def train(folder: Path, *options: str) -> int:
    """Trains a small run `folder`/run in this process; returns the exit status."""
    words = ["--config", str(small_config(folder)), "--train.data-dir", str(folder)]
    return cli.run("train", [*words, "--train.run-name", "run", *options])


def resume(run: Path, *options: str) -> int:
    """Resumes `run` in this process; returns the exit status."""
    return cli.run("train", ["--resume", str(run), *options])


def start(folder: Path, *options: str, new_session: bool = False) -> subprocess.Popen:
    """Starts an endless small run `folder`/run in its own process, and waits for its first row.

    `new_session`: it and its children are their own process group.
    """
    words = ["train", "midrange", "--config", str(small_config(folder))]
    words += ["--train.data-dir", str(folder), "--train.run-name", "run"]
    words += ["--train.total-timesteps=1e9", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "midrange_puffer", *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=new_session,
    )
    seen = []
    for line in process.stdout:
        seen.append(line)
        if "M steps" in line:
            return process
    raise AssertionError(f"it ended before it trained:\n{''.join(seen)}")


def rows(run: Path) -> list[dict[str, float]]:
    """Returns the rows of metrics.jsonl."""
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def timeless(run: Path) -> list[dict[str, float]]:
    """Returns the rows of metrics.jsonl without the values that depend on the clock."""
    clock = ("SPS", "env_SPS", "uptime", "performance/", "machine/", "cluster/collector_sps")
    return [
        {name: value for name, value in row.items() if not name.startswith(clock)}
        for row in rows(run)
    ]


def members(folder: Path) -> dict[str, dict[str, object]]:
    """Returns the entries of the pool's file by name."""
    entries = json.loads((folder / "pool.json").read_text())
    return {entry["name"]: entry for entry in entries["members"]}

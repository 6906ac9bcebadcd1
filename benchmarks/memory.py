"""Memory of long trainings: the growth of the process over many small updates.

Each kind of training runs in a process of its own, with checkpoints, a pool of frozen policies and
a league. The memory is the process's resident set (RSS). It may grow while caches fill, so the
growth is that of the second half.
"""

import argparse
import gc
import multiprocessing
import tempfile
from multiprocessing.connection import Connection

import numpy as np
import psutil
from common import machine, print_machine, print_table

from midrange_puffer.training import Trainer, load_config

READINGS = 20  # in a run
SMALL = {
    "vec.backend": "Serial",
    "env.num_envs": 32,
    "env.opponent": "self:1,ace:2,pool:1",
    "env.time_limit": 60,
    "train.device": "cpu",
    "train.total_timesteps": 1_000_000_000,
    "train.bptt_horizon": 16,
    "train.minibatch_size": 128,
    "train.learning_rate": 1e-4,
    "train.checkpoint_interval": 500,
    "train.replay_interval": 0,
    "league.interval": 2500,
    "league.games": 8,
}
KINDS = {
    "native engine": {"train.engine": "native"},
    "torch": {"train.engine": "torch"},
    "torch, LSTM, experience buffer": {
        "base.rnn_name": "Recurrent",
        "experience_buffer.capacity": 256,
    },
}


def grow(settings: dict[str, object], updates: int, answer: Connection) -> None:
    """Trains, and sends the memory [MiB] after each `updates` / `READINGS` updates."""
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        config = load_config(None, {**SMALL, **settings, "train.data_dir": folder})
        with Trainer(config) as trainer:
            for update in range(1, updates + 1):
                trainer.evaluate()
                trainer.train()
                if update % (updates // READINGS) == 0:
                    gc.collect()
                    answer.send(process.memory_info().rss / 2**20)
    answer.close()


def main() -> None:
    """Measures each kind of training and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=10_000, help="updates of each training")
    options = parser.parse_args()
    if options.updates <= 0 or options.updates % READINGS:
        parser.error(f"--updates {options.updates}: must be a multiple of {READINGS}")
    print_machine(machine())
    rows = []
    context = multiprocessing.get_context("spawn")
    for name, settings in KINDS.items():
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=grow, args=(settings, options.updates, sender))
        process.start()
        sender.close()
        memory = [receiver.recv() for _ in range(READINGS)]
        process.join()
        half = READINGS // 2
        steps = np.arange(half) * options.updates / READINGS / 1000
        slope = np.polyfit(steps, memory[half:], 1)[0]
        rows.append((name, *(f"{memory[n]:.1f}" for n in (0, half, -1)), f"{slope:+.3f}"))
    columns = ["training", "at 5 %", "at half", "at the end", "a thousand updates, second half"]
    print_table(f"Memory [MiB] over {options.updates:,} updates", columns, rows)


if __name__ == "__main__":
    main()

"""Fights for the tests of replays, and forged files."""

import hashlib
import json
import struct
from collections.abc import Callable, Sequence

import numpy as np
from quick_fights import SHORT

from midrange_puffer import Simulation
from midrange_puffer.replays.format import parameters_hash
from midrange_puffer.replays.replay import Recorder, Replay

FIRST_LINE = b"midrange_puffer replay 1\n"
LEVELS = np.array([-1, -0.5, 0, 0.5, 1], np.float32)


def random_controls(rng: np.random.Generator, fighters: int = 2, columns: int = 3) -> np.ndarray:
    """Returns controls [1, fighters, columns] like an agent's actions, with some launches."""
    controls = rng.choice(LEVELS, (1, fighters, columns))
    controls[..., -1] = rng.random((1, fighters)) < 0.2
    return controls


def record(
    pilots: Sequence[str] = ("agent", "evader"),
    seed: int = 0,
    engagement: int = 0,
    episode: int = 0,
    controls: Callable[[np.random.Generator], np.ndarray] = random_controls,
    names: tuple[str, str] | None = None,
    **parameters: float,
) -> tuple[Replay, list[int]]:
    """Flies an engagement to its end; returns its replay, and its hash after every decision."""
    sim = Simulation(1, seed, *pilots, **(SHORT | parameters))
    sim.start(0, engagement, episode)
    recorder = Recorder(
        sim, seed=seed, pilots=pilots, names=names, engagement=engagement, episode=episode
    )
    rng = np.random.default_rng((seed, engagement, episode))
    hashes = []
    while not sim.outcome[0]:
        command = controls(rng)
        sim.step(command)
        recorder.add(command)
        hashes.append(sim.fight_hash())
    return recorder.replay(), hashes


def forged(data: bytes, **changes: object) -> bytes:
    """Returns a file with another header and its checksum; None removes an entry."""
    line, _, rest = data[len(FIRST_LINE) + 8 + 32 :].partition(b"\n")
    header = {**json.loads(line), **changes}
    header = {name: value for name, value in header.items() if value is not None}
    return with_header(json.dumps(header).encode(), rest)


def with_header(line: bytes, rest: bytes = b"") -> bytes:
    """Returns a file with any header and its checksum."""
    body = line + b"\n" + rest
    return FIRST_LINE + struct.pack("<Q", len(body)) + hashlib.sha256(body).digest() + body


def with_parameters(data: bytes, change) -> bytes:
    """Returns a file with changed parameters and their hash."""
    parameters = dict(Replay.from_bytes(data).parameters)
    change(parameters)
    return forged(data, parameters=parameters, parameters_hash=parameters_hash(parameters))

"""Replays: engagements that can be flown again, bit for bit, from a file of a few kilobytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import (
    RULES_VERSION,
    SAME_BITS_SINCE,
    is_team,
    most_decisions,
    resolve,
    sizes_of,
)
from midrange_puffer.game.paths import Paths, outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.format import (
    CONTROLS,
    HEADER,
    ReplayError,
    arrays_of,
    header_of,
    to_bytes,
)

SUFFIX = ".replay"
AGENT = "agent"  # who flies a fighter by controls from outside
HASH_INTERVAL = 20  # decisions from one state hash to the next


@dataclass(frozen=True, eq=False)
class Replay:
    """An engagement, as it was flown.

    Attributes:
        parameters: A value for every row of csrc/params.h.
        seed, engagement, episode: Which start it was, see `Simulation.start`.
        pilots: Who flew each fighter: "agent" where the controls came from outside, or a pilot.
        names: What those are called who flew red and blue.
        controls: float32 [decisions, fighters, 3], exactly as given to `Simulation.step`.
        hashes: uint64, `fight_hash` at the start, after every `hash_interval` decisions, and at
            the end.
        outcome: At the end, in words.
        hash_interval: [decisions]
        rules_version: Of the rules that it was flown by.
        meta: Anything else worth knowing, as JSON takes it.
    """

    parameters: dict[str, int | float]
    seed: int
    engagement: int
    episode: int
    pilots: tuple[str, ...]
    names: tuple[str, str]
    controls: np.ndarray
    hashes: np.ndarray
    outcome: str
    hash_interval: int = HASH_INTERVAL
    rules_version: int = RULES_VERSION
    meta: dict[str, object] = field(default_factory=dict)

    @property
    def decisions(self) -> int:
        """How many there are."""
        return len(self.controls)

    @property
    def duration(self) -> float:
        """From start to end [s]."""
        return self.decisions * self.parameters["physics_dt"] * self.parameters["substeps"]

    @property
    def fighter_names(self) -> tuple[str, ...]:
        """What whoever flew each fighter is called: in teams a pilot by its own name."""
        if not is_team(self.parameters):
            return self.names
        of_sides = np.repeat(self.names, sizes_of(self.parameters)).tolist()
        each = zip(self.pilots, of_sides, strict=True)
        return tuple(name if pilot == AGENT else pilot for pilot, name in each)

    def simulation(self) -> Simulation:
        """A simulation of this one engagement, at its start."""
        red_size, _ = sizes_of(self.parameters)
        sides = self.pilots[:red_size], self.pilots[red_size:]
        sim = Simulation(1, self.seed, *sides, **self.parameters)
        sim.start(0, self.engagement, self.episode)
        return sim

    def play(self, sim: Simulation | None = None) -> Iterator[Simulation]:
        """Fly it again; yields the simulation after each decision, at last that of the end.

        Args:
            sim: as of `simulation`, for whoever has to see the start.

        Raises:
            ReplayError: It does not go as it went; the message names the decision.
        """
        sim = sim or self.simulation()
        expected = dict(zip(_hashed(self.decisions, self.hash_interval), self.hashes, strict=True))
        self._compare(sim, 0, expected)
        for decision, controls in enumerate(self.controls, 1):
            sim.step(controls[None])
            self._compare(sim, decision, expected)
            yield sim
        if (outcome := outcome_words(sim)) != self.outcome:
            raise ReplayError(f"ends with {outcome!r}, not with {self.outcome!r} as was recorded")

    def paths(self) -> Paths:
        """Where everything went; raises as `play`."""
        sim = self.simulation()
        paths = Paths(sim)
        for _ in self.play(sim):
            paths.note()
        return paths

    def verify(self) -> None:
        """Fly it to its end; raises as `play`."""
        for _ in self.play():
            pass

    def write(self, path: str | Path) -> None:
        """Write the file whole.

        Raises:
            WriteError: It could not be written.
        """
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of its file."""
        header = {name: getattr(self, name) for name in HEADER if name != "parameters_hash"}
        return to_bytes(header, self.controls, self.hashes)

    @classmethod
    def read(cls, path: str | Path) -> "Replay":
        """Read a file.

        Raises:
            ReplayError: There is none, or it is not one that this version can play; why.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ReplayError(f"{path}: {error.strerror}") from None
        try:
            return cls.from_bytes(data)
        except ReplayError as error:
            raise ReplayError(f"{path}: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> "Replay":
        """Take the content of a file.

        Raises:
            ReplayError: As `read`.
        """
        header, compressed = header_of(data)
        pilots, names = (tuple(header[name]) for name in ("pilots", "names"))
        wanted = ("parameters", "seed", "engagement", "episode", "outcome", "hash_interval")
        wanted = (*wanted, "rules_version", "meta")
        replay = cls(
            **{name: header[name] for name in wanted},
            pilots=pilots,
            names=names,
            controls=(),
            hashes=(),
        )
        try:
            resolve(replay.parameters, teams=True)
            sizes = sizes_of(replay.parameters)
            if len(pilots) == sum(sizes):
                replay.simulation()
        except (ValueError, OverflowError) as error:
            raise ReplayError(f"cannot be flown by this version: {error}") from None
        if len(pilots) != sum(sizes):
            raise ReplayError(
                f"its header has {len(pilots)} pilots, its parameters {sizes[0]} fighters of red "
                f"and {sizes[1]} of blue"
            )
        if (count := header["decisions"]) > (most := most_decisions(replay.parameters)):
            raise ReplayError(f"its controls are of {count} decisions, its time limit of {most}")
        controls, hashes = arrays_of(
            compressed, sum(sizes), count, _hash_count(count, replay.hash_interval)
        )
        return replace(replay, controls=controls, hashes=hashes)

    def _compare(self, sim: Simulation, decision: int, expected: Mapping[int, int]) -> None:
        if decision in expected and sim.fight_hash() != expected[decision]:
            raise ReplayError(
                f"differs at decision {decision} of {self.decisions}: state hash "
                f"{sim.fight_hash():016x}, recorded {expected[decision]:016x}; {self._origin()}"
            )

    def _origin(self) -> str:
        """Why it may go otherwise than it went."""
        if self.rules_version < SAME_BITS_SINCE:
            return (
                f"it was flown by version {self.rules_version} of the rules, and since version "
                f"{SAME_BITS_SINCE} flight rounds differently: an older midrange_puffer plays it"
            )
        return "it was flown by another version of the rules or of the core"


class Recorder:
    """Records an engagement while it is flown: `add` after each `step`, at the end `replay`.

    Args:
        sim: of one engagement, at its start.
        seed: as it was made with.
        pilots: of each fighter, as it was made with.
        names: what those are called who fly red and blue; by default as the pilots.
        engagement, episode: as it was started.

    Raises:
        ValueError: `sim` is not at that start.
    """

    def __init__(
        self,
        sim: Simulation,
        *,
        seed: int,
        pilots: Sequence[str],
        names: Sequence[str] | None = None,
        engagement: int = 0,
        episode: int = 0,
    ) -> None:
        self._sim = sim
        self._start = {
            "parameters": sim.parameters,
            "seed": seed,
            "engagement": engagement,
            "episode": episode,
            "pilots": tuple(pilots),
            "names": tuple(names or side_names(pilots, sim.parameters)),
        }
        self._controls: list[np.ndarray] = []
        self._hashes = [sim.fight_hash()]  # of every HASH_INTERVAL decisions
        empty = Replay(**self._start, controls=(), hashes=(), outcome="")
        if empty.simulation().state_hash() != sim.state_hash():
            raise ValueError("the simulation is not one engagement at the start that was named")

    def __len__(self) -> int:
        """Decisions recorded."""
        return len(self._controls)

    def add(self, controls: np.ndarray | None) -> None:
        """Note the controls, float [1, fighters, 3], with which the simulation was just stepped."""
        shape = (len(self._start["pilots"]), CONTROLS)
        controls = np.zeros(shape) if controls is None else np.reshape(controls, shape)
        with np.errstate(over="ignore"):
            self._controls.append(np.array(controls, np.float32))
        if len(self) % HASH_INTERVAL == 0:
            self._hashes.append(self._sim.fight_hash())

    def truncate(self, decisions: int) -> None:
        """Forget what came after so many decisions; the simulation is taken back by others."""
        del self._controls[decisions:]
        del self._hashes[1 + decisions // HASH_INTERVAL :]

    def replay(self, **meta: object) -> Replay:
        """The replay of what was recorded so far, with `meta` beside it."""
        shape = (len(self), len(self._start["pilots"]), CONTROLS)
        hashes = [*self._hashes, self._sim.fight_hash()][: _hash_count(len(self), HASH_INTERVAL)]
        return Replay(
            **self._start,
            controls=np.array(self._controls, np.float32).reshape(shape),
            hashes=np.array(hashes, np.uint64),
            outcome=outcome_words(self._sim),
            meta=meta,
        )


def side_names(pilots: Sequence[str], parameters: Mapping[str, float | str]) -> tuple[str, str]:
    """What red and blue are called by who flies each fighter: each once, in their order."""
    red_size, _ = sizes_of(parameters)
    sides = pilots[:red_size], pilots[red_size:]
    red, blue = (", ".join(dict.fromkeys(side)) for side in sides)
    return red, blue


def _hashed(decisions: int, interval: int) -> list[int]:
    """After how many decisions there are state hashes."""
    return [*range(0, decisions, interval), decisions]


def _hash_count(decisions: int, interval: int) -> int:
    return -(-decisions // interval) + 1

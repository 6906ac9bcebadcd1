"""Replays: recorded engagements that can be flown again, bit for bit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from midrange_puffer.files import read_whole, write_whole
from midrange_puffer.game.flown_types import DrawnTypes, drawn_types
from midrange_puffer.game.orders import NONE, heads_of
from midrange_puffer.game.orders import in_words as order_in_words
from midrange_puffer.game.parameters import (
    RULES_VERSION,
    SAME_BITS_SINCE,
    game_controls,
    is_team,
    most_decisions,
    resolve,
    sizes_of,
)
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.format import (
    HEADER,
    LARGEST,
    Ordered,
    ReplayError,
    arrays_of,
    header_of,
    orders_of,
    to_bytes,
)

SUFFIX = ".replay"
AGENT = "agent"  # the pilot of a fighter whose controls come from outside
HASH_INTERVAL = 20  # decisions from one state hash to the next
_NOTHING = np.zeros(0)  # in place of controls and hashes that are not known yet


@dataclass(frozen=True, eq=False)
class Replay:
    """A recorded engagement.

    Attributes:
        parameters: A value for every row of csrc/params.h.
        seed, engagement, episode: The start, see `Simulation.start`.
        pilots: The pilot of each fighter; "agent" if its controls came from outside.
        names: Names of the contestants that flew red and blue.
        controls: float32 [decisions, fighters, controls], exactly as given to `Simulation.step`.
        hashes: uint64, `fight_hash` at the start, after every `hash_interval` decisions, and at
            the end.
        outcome: The outcome in words.
        hash_interval: [decisions]
        rules_version: Version of the rules that it was flown by.
        meta: Further information, ready for JSON.
        orders: The orders that the controls follow, in the order of their decisions.
    """

    parameters: dict[str, Any]
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
    orders: tuple[Ordered, ...] = ()

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return len(self.controls)

    @property
    def duration(self) -> float:
        """The time from start to end [s]."""
        return self.decisions * self.parameters["physics_dt"] * self.parameters["substeps"]

    @property
    def fighter_names(self) -> tuple[str, ...]:
        """The name of each fighter's contestant; in teams a pilot has its own name."""
        if not is_team(self.parameters):
            return self.names
        of_sides = np.repeat(self.names, sizes_of(self.parameters)).tolist()
        pairs = zip(self.pilots, of_sides, strict=True)
        return tuple(name if pilot == AGENT else pilot for pilot, name in pairs)

    def simulation(self) -> Simulation:
        """Returns a simulation of this engagement at its start."""
        red_size, _ = sizes_of(self.parameters)
        sides = self.pilots[:red_size], self.pilots[red_size:]
        sim = Simulation(1, self.seed, *sides, **self.parameters)
        sim.start(0, self.engagement, self.episode)
        return sim

    @property
    def types(self) -> tuple[DrawnTypes, ...]:
        """The types that each fighter flies, with the factors drawn; empty in the plane."""
        return drawn_types(self.simulation().core)

    def play(self, sim: Simulation | None = None) -> Iterator[Simulation]:
        """Flies the engagement again; yields the simulation after each decision.

        Args:
            sim: A result of `simulation`; by default a new one.

        Raises:
            ReplayError: A state differs from the recorded one; the message names the decision.
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
        """Returns the paths of all bodies; raises as `play`."""
        sim = self.simulation()
        paths = Paths(sim)
        for _ in self.play(sim):
            paths.note()
        return paths

    def verify(self) -> None:
        """Flies the engagement to its end; raises as `play`."""
        for _ in self.play():
            pass

    def write(self, path: str | Path) -> None:
        """Writes the file atomically.

        Raises:
            WriteError: The file could not be written.
        """
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Returns the content of the file."""
        header = {name: getattr(self, name) for name in HEADER if name != "parameters_hash"}
        return to_bytes(header, self.controls, self.hashes, self.orders)

    @classmethod
    def read(cls, path: str | Path) -> "Replay":
        """Reads a file.

        Raises:
            ReplayError: The file does not exist, or this version cannot play it.
        """
        try:
            data = read_whole(path, LARGEST)
        except IsADirectoryError:
            raise ReplayError(f"{path}: is a folder; expected a replay, *{SUFFIX}") from None
        except OSError as error:
            raise ReplayError(f"{path}: {error.strerror}") from None
        try:
            return cls.from_bytes(data)
        except ReplayError as error:
            raise ReplayError(f"{path}: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> "Replay":
        """Reads the content of a file.

        Raises:
            ReplayError: As in `read`.
        """
        header, compressed = header_of(data)
        pilots, names = (tuple(header[name]) for name in ("pilots", "names"))
        given = {entry.name: header[entry.name] for entry in fields(cls) if entry.name in header}
        given |= {"pilots": pilots, "names": names, "orders": ()}
        replay = cls(**given, controls=_NOTHING, hashes=_NOTHING)
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
        width = game_controls(replay.parameters).count
        controls, hashes = arrays_of(
            compressed, sum(sizes), width, count, _hash_count(count, replay.hash_interval)
        )
        orders = orders_of(header, replay.parameters)
        return replace(replay, controls=controls, hashes=hashes, orders=orders)

    def _compare(self, sim: Simulation, decision: int, expected: Mapping[int, int]) -> None:
        if decision in expected and sim.fight_hash() != expected[decision]:
            raise ReplayError(
                f"differs at decision {decision} of {self.decisions}: state hash "
                f"{sim.fight_hash():016x}, recorded {expected[decision]:016x}; {self._origin()}"
            )

    def _origin(self) -> str:
        """Returns why the states may differ from the recorded ones."""
        if self.rules_version < SAME_BITS_SINCE:
            return (
                f"it was flown by version {self.rules_version} of the rules, and since version "
                f"{SAME_BITS_SINCE} flight rounds differently: an older midrange_puffer plays it"
            )
        return "it was flown by another version of the rules or of the core"


class Recorder:
    """A recording of an engagement: `add` after each `step`, at the end `replay`.

    Args:
        sim: A simulation of one engagement, at its start.
        seed: Its seed.
        pilots: Its pilot of each fighter.
        names: Names of the contestants that fly red and blue; by default their pilots'.
        engagement, episode: The start.

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
        self._start: dict[str, Any] = {
            "parameters": sim.parameters,
            "seed": seed,
            "engagement": engagement,
            "episode": episode,
            "pilots": tuple(pilots),
            "names": tuple(names or side_names(pilots, sim.parameters)),
        }
        self._controls: list[np.ndarray] = []
        self._hashes = [sim.fight_hash()]  # of every HASH_INTERVAL decisions
        self._orders: list[Ordered] = []
        empty = Replay(**self._start, controls=_NOTHING, hashes=_NOTHING, outcome="")
        if empty.simulation().state_hash() != sim.state_hash():
            raise ValueError("the simulation is not one engagement at the start that was named")

    def __len__(self) -> int:
        """Returns the number of decisions recorded."""
        return len(self._controls)

    def add(self, controls: np.ndarray | None, orders: np.ndarray | None = None) -> None:
        """Adds the decision just flown.

        Args:
            controls: float [1, fighters, controls].
            orders: the orders that they follow, as levels, int [fighters, heads], -1: none; None:
                no fighter has one.
        """
        shape = (len(self._start["pilots"]), self._sim.core.controls)
        if orders is not None or self._orders:
            self._add_orders(np.full(shape, -1) if orders is None else orders)
        controls = np.zeros(shape) if controls is None else np.reshape(controls, shape)
        with np.errstate(over="ignore"):
            self._controls.append(np.array(controls, np.float32))
        if len(self) % HASH_INTERVAL == 0:
            self._hashes.append(self._sim.fight_hash())

    def _add_orders(self, orders: np.ndarray) -> None:
        """Adds the orders that are others than those of the decision before."""
        heads = heads_of(self._sim.parameters)
        before = {given.fighter: given.words for given in self._orders}
        for fighter, levels in enumerate(orders.tolist()):
            words = order_in_words(levels, heads) if levels[0] >= 0 else NONE
            if words != before.get(fighter, NONE):
                self._orders.append(Ordered(len(self), fighter, words))

    def truncate(self, decisions: int) -> None:
        """Drops everything after a number of decisions; the caller rewinds the simulation."""
        self._orders = [given for given in self._orders if given.decision < decisions]
        del self._controls[decisions:]
        del self._hashes[1 + decisions // HASH_INTERVAL :]

    def replay(self, **meta: object) -> Replay:
        """Returns the replay of the recording so far, with `meta`."""
        shape = (len(self), len(self._start["pilots"]), self._sim.core.controls)
        hashes = [*self._hashes, self._sim.fight_hash()][: _hash_count(len(self), HASH_INTERVAL)]
        return Replay(
            **self._start,
            controls=np.array(self._controls, np.float32).reshape(shape),
            hashes=np.array(hashes, np.uint64),
            outcome=outcome_words(self._sim),
            meta=meta,
            orders=tuple(self._orders),
        )


def side_names(pilots: Sequence[str], parameters: Mapping[str, float | str]) -> tuple[str, str]:
    """Returns names of red and blue: the pilots of each side, without repetition."""
    red_size, _ = sizes_of(parameters)
    sides = pilots[:red_size], pilots[red_size:]
    red, blue = (", ".join(dict.fromkeys(side)) for side in sides)
    return red, blue


def _hashed(decisions: int, interval: int) -> list[int]:
    """Returns the numbers of decisions after which there are state hashes."""
    return [*range(0, decisions, interval), decisions]


def _hash_count(decisions: int, interval: int) -> int:
    return -(-decisions // interval) + 1

"""Replays of fights that are played many at once, and a selection of instructive ones."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import (
    CONTROLLERS,
    RADAR,
    SEATS,
    observed,
    sizes_of,
)
from midrange_puffer.game.paths import FighterPath, MissilePath, Paths
from midrange_puffer.game.records import outcomes
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.replay import SUFFIX, Recorder, Replay

# Most engagements of a fight that are recorded, from the first on; in teams fewer in proportion to
# the fighters. Each decision of a fighter takes 12 bytes.
WATCHED = 10_000
KINDS = LOST, CLOSEST, LONGEST, FIRST = "lost", "closest", "longest", "first"
# Candidates for each CLOSEST engagement: those whose missiles were observed nearest. A decision may
# be half a second away from the least distance.
CANDIDATES = 8
_PILOTS = tuple(CONTROLLERS)


class FightRecorder:
    """A recording of all engagements of one fight: a `watch` of `match.play` or `evaluation.fight`.

    Args:
        names: Names of red and blue; None: that of the pilot that was drawn.
        num_envs: Engagements of all parts together.
        seed, parameters: As given to `play`.
        meta: Information for every replay.
        parts: As given to `fight`.

    Attributes:
        nearness: float32 [engagements, 2]: nearness of the nearest inbound missile that a fighter
            of each side has observed, by the features inbound_…_nearness; 0 if there was none. In
            a game with sensors by the enemy's features own_missile_…_nearness.
    """

    def __init__(
        self,
        names: tuple[str | None, str | None],
        num_envs: int,
        seed: int,
        parameters: Mapping[str, float],
        meta: Mapping[str, object],
        parts: Sequence[Mapping[str, float]] = ({},),
    ) -> None:
        self._sizes = sizes_of(parameters)
        watched = min(num_envs, len(SEATS) * WATCHED // sum(self._sizes))
        self._names, self._seed = names, seed
        self._parameters = [{**parameters, **part} for part in parts]
        self._size, self._meta = num_envs // len(parts), dict(meta)
        self.nearness = np.zeros((watched, len(SEATS)), np.float32)
        self._has_sensors = parameters["sensing"] == RADAR
        features = features_of(observed("default", parameters), *self._sizes)
        kind = "own_missile" if self._has_sensors else "inbound"
        self._nearness = [
            index
            for index, feature in enumerate(features)
            if re.fullmatch(rf"{kind}_\d_nearness", feature.name)
        ]
        # The last observations; and for each part and decision the open engagements' controls.
        self._seen = np.zeros((watched, sum(self._sizes), len(features)), np.float32)
        # With the orders that these follow, as levels; None: none.
        self._controls: list[list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]] = [
            [] for _ in parts
        ]

    def __call__(
        self,
        part: int,
        is_open: np.ndarray,
        seen: np.ndarray,
        controls: np.ndarray,
        orders: np.ndarray,
    ) -> None:
        """Records a decision that is about to be flown."""
        first = part * self._size
        rows = np.flatnonzero(is_open[: max(len(self.nearness) - first, 0)])
        envs = first + rows
        given = orders[rows] if (orders >= 0).any() else None
        self._controls[part].append((envs, controls[rows], given))
        self._seen[envs] = seen[rows, :, : self._seen.shape[-1]]
        nearest = self._seen[envs][..., self._nearness].max(axis=-1)
        nearest = np.maximum.reduceat(nearest, (0, self._sizes[0]), axis=1)
        if self._has_sensors:
            nearest = nearest[:, ::-1]
        self.nearness[envs] = np.maximum(self.nearness[envs], nearest)

    def replay(self, record: np.void, **meta: object) -> Replay:
        """Returns the replay of one engagement, flown alone.

        Args:
            record: Its record at its end, of type `_core.RECORD`.
            **meta: Further information for this replay.

        Raises:
            RuntimeError: The engagement flown alone differs.
        """
        env, decisions = int(record["env"]), int(record["decisions"])
        part = env // self._size
        sides = [_PILOTS[index] for index in record["pilot"]]
        names = tuple(name or pilot for name, pilot in zip(self._names, sides, strict=True))
        pilots = np.repeat(sides, self._sizes).tolist()
        sim = Simulation(1, self._seed, *sides, **self._parameters[part])
        sim.start(0, env)
        recorder = Recorder(sim, seed=self._seed, pilots=pilots, names=names, engagement=env)
        for envs, controls, orders in self._controls[part][:decisions]:
            seen = sim.observe()[0, :, : self._seen.shape[-1]]
            place = np.searchsorted(envs, env)
            command = controls[[place]]
            sim.step(command)
            recorder.add(command, None if orders is None else orders[place])
        end = (sim.outcome[0], sim.truncated[0])
        if end != (record["outcome"], record["truncated"]) or (seen != self._seen[env]).any():
            raise RuntimeError(f"engagement {env} of seed {self._seed} goes another way alone")
        return recorder.replay(**self._meta, **meta)


def save(replay: Replay, path: Path) -> None:
    """Writes a replay, and verifies the written file.

    Raises:
        WriteError: The file could not be written.
        ReplayError: The file gives other states than recorded.
    """
    replay.write(path)
    Replay.read(path).verify()


def save_instructive(
    recorders: Sequence[FightRecorder],
    records: Sequence[np.ndarray],
    count: int,
    folder: Path,
    name: str,
    progress: Callable[[int], None] = lambda count: None,
    most: int | None = None,
) -> list[Path]:
    """Saves a contestant's instructive engagements, and verifies the written files.

    There are up to `count` of each kind, none of two kinds: LOST; CLOSEST, won or drawn although
    a missile passed near; LONGEST; and FIRST. A file's name has the contestant, its opponent, the
    kind, the engagement and the seat: ann_vs-evader_lost_env0042_red.replay.

    Args:
        recorders, records: Its fights as red and as blue, from the same starts.
        count: Most files of a kind.
        folder: Folder of the files.
        name: The contestant's name, with which the files' names begin.
        progress: Called with the number of files written since the last call.
        most: Most files of all kinds together; None: no limit.

    Returns:
        The files' paths.

    Raises:
        WriteError: A file could not be written.
    """
    flown = [
        (recorder, seat, record)
        for seat, recorder in enumerate(recorders)
        for record in records[seat][: len(recorder.nearness)]
    ]
    taken: set[int] = set()
    paths = []
    for kind, places in _ranks(recorders, records).items():
        places = [place for place in places if place not in taken]
        wanted = count if most is None else min(count, most - len(paths))
        replays = {}
        for place in places[: wanted * (CANDIDATES if kind == CLOSEST else 1)]:
            recorder, seat, record = flown[place]
            replay = recorder.replay(record, kept=kind, seat=SEATS[seat])
            miss = nearest_miss(replay.paths(), seat)
            replays[place] = replace(replay, meta={**replay.meta, "nearest_miss": miss})
        if kind == CLOSEST:
            nearest = sorted(replays, key=lambda place: replays[place].meta["nearest_miss"])
            replays = {place: replays[place] for place in nearest[:wanted]}
        taken |= set(replays)
        for replay in replays.values():
            paths.append(folder / _file_name(name, replay))
            save(replay, paths[-1])
            progress(1)
    return paths


def _ranks(
    recorders: Sequence[FightRecorder], records: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    """Returns the engagements by kind, the best first, as indices: those as red, then as blue."""
    count = len(recorders[0].nearness)
    rows = np.concatenate([part[:count] for part in records])
    lost = np.concatenate(
        [outcomes(part[:count], seat)["loss"] for seat, part in enumerate(records)]
    )
    near = np.concatenate([part.nearness[:, seat] for seat, part in enumerate(recorders)])
    escaped = ~lost & (rows["mutual_kill"] == 0) & (near > 0)
    in_turn = np.arange(len(rows)).reshape(len(SEATS), -1).T.ravel()  # red, blue, red, …
    return {
        LOST: in_turn[lost[in_turn]],
        CLOSEST: np.argsort(np.where(escaped, -near, 0), kind="stable")[: escaped.sum()],
        LONGEST: np.argsort(-rows["decisions"], kind="stable"),
        FIRST: in_turn,
    }


def _file_name(name: str, replay: Replay) -> str:
    kept, seat = replay.meta["kept"], replay.meta["seat"]
    fighters = f"{name}_vs-{replay.names[1 - SEATS.index(seat)]}"
    place = f"env{replay.engagement:04d}_{seat}{SUFFIX}"
    return re.sub(r"[^\w.-]+", "-", f"{fighters}_{kept}_{place}")


def nearest_miss(paths: Paths, side: int) -> float | None:
    """Returns the least distance of a missile to its target, a fighter of a side [m].

    None if there is no such missile. Between two entries of their paths both are taken to fly
    straight.
    """
    misses = [
        _least_distance(missile, paths.fighters[target])
        for missile in paths.missiles
        for target in dict.fromkeys(missile.targets)
        if paths.fighters[target].side == side
    ]
    return min(misses, default=None)


def _least_distance(missile: MissilePath, target: FighterPath) -> float:
    """Returns the least distance of a missile to a fighter while it flies at it [m]."""
    at_target = np.array(missile.targets) == target.number
    times = np.array(missile.times)[at_target]
    axes = ("x", "y", "z") if missile.z else ("x", "y")
    sight = np.stack(
        [
            np.array(getattr(missile, axis))[at_target]
            - np.interp(times, target.times, getattr(target, axis))
            for axis in axes
        ]
    )
    step = np.diff(sight)
    length = np.maximum((step**2).sum(axis=0), 1e-9)
    share = np.clip(-(sight[:, :-1] * step).sum(axis=0) / length, 0, 1)
    passed = np.linalg.norm(sight[:, :-1] + share * step, axis=0)
    return float(min(passed.min(initial=np.inf), np.linalg.norm(sight[:, -1])))

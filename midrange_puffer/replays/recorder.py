"""Replays of fights that are played many at once, and which of them are worth a look."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import CONTROLLERS, RADAR, SEATS, observed, sizes_of
from midrange_puffer.game.paths import FighterPath, MissilePath, Paths
from midrange_puffer.game.records import outcomes
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.replays.replay import SUFFIX, Recorder, Replay

# Engagements of a fight that may be kept, the first; 12 bytes a decision of each fighter. In teams
# they are fewer, by as much as their fighters are more.
WATCHED = 10_000
KINDS = LOST, CLOSEST, LONGEST, FIRST = "lost", "closest", "longest", "first"
# Engagements in which a missile was seen nearest, for one in which it passed nearest: what is seen
# at a decision may be half a second from the least distance.
CANDIDATES = 8
_PILOTS = tuple(CONTROLLERS)


class FightRecorder:
    """Records all engagements of one fight: a `watch` of `match.play`, or of `evaluation.fight`.

    Args:
        names: what red and blue are called; None: as the pilot that was drawn.
        num_envs: engagements, of all parts together.
        seed, parameters: as given to `play`.
        meta: of every replay.
        parts: as given to `fight`.

    Attributes:
        nearness: float32 [engagements, 2]: of the nearest missile that one of each side has seen
            come, as the features inbound_…_nearness; 0 if none has seen any. In a game with
            sensors, as the enemy has seen its own missiles, by own_missile_…_nearness.
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
        # What each saw last; and of each part for each decision the engagements still open and
        # their controls.
        self._seen = np.zeros((watched, sum(self._sizes), len(features)), np.float32)
        self._controls: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in parts]

    def __call__(
        self, part: int, is_open: np.ndarray, seen: np.ndarray, controls: np.ndarray
    ) -> None:
        """Note a decision that is about to be flown."""
        first = part * self._size
        rows = np.flatnonzero(is_open[: max(len(self.nearness) - first, 0)])
        envs = first + rows
        self._controls[part].append((envs, controls[rows]))
        self._seen[envs] = seen[rows, :, : self._seen.shape[-1]]
        nearest = self._seen[envs][..., self._nearness].max(axis=-1)
        nearest = np.maximum.reduceat(nearest, (0, self._sizes[0]), axis=1)
        if self._has_sensors:
            nearest = nearest[:, ::-1]
        self.nearness[envs] = np.maximum(self.nearness[envs], nearest)

    def replay(self, record: np.void, **meta: object) -> Replay:
        """The replay of one engagement, flown alone.

        Args:
            record: of `_core.RECORD`, as it ended.
            meta: of this replay, beside that of all.

        Raises:
            RuntimeError: It goes another way alone.
        """
        env, decisions = int(record["env"]), int(record["decisions"])
        part = env // self._size
        sides = [_PILOTS[index] for index in record["pilot"]]
        names = tuple(name or pilot for name, pilot in zip(self._names, sides, strict=True))
        pilots = np.repeat(sides, self._sizes).tolist()
        sim = Simulation(1, self._seed, *sides, **self._parameters[part])
        sim.start(0, env)
        recorder = Recorder(sim, seed=self._seed, pilots=pilots, names=names, engagement=env)
        for envs, controls in self._controls[part][:decisions]:
            seen = sim.observe()[0, :, : self._seen.shape[-1]]
            command = controls[[np.searchsorted(envs, env)]]
            sim.step(command)
            recorder.add(command)
        end = (sim.outcome[0], sim.truncated[0])
        if end != (record["outcome"], record["truncated"]) or (seen != self._seen[env]).any():
            raise RuntimeError(f"engagement {env} of seed {self._seed} goes another way alone")
        return recorder.replay(**self._meta, **meta)


def save(replay: Replay, path: Path) -> None:
    """Write a replay, and fly what was written.

    Raises:
        WriteError: It could not be written.
        ReplayError: It does not go as it went.
    """
    replay.write(path)
    Replay.read(path).verify()


def save_instructive(
    recorders: Sequence[FightRecorder],
    records: Sequence[np.ndarray],
    count: int,
    folder: Path,
    who: str,
    progress: Callable[[int], None] = lambda count: None,
    most: int | None = None,
) -> list[Path]:
    """Save the engagements of somebody that are worth a look, each flown from its file.

    There are up to `count` of each kind, none of two kinds: LOST ones; CLOSEST, won or drawn
    though a missile passed near; LONGEST; and the FIRST. The files' names say who it is, who was
    met, what they are, which engagement, and the seat: ann_vs-evader_lost_env0042_red.replay.

    Args:
        recorders, records: of its fights as red and as blue, from the same starts.
        who: begins the files' names.
        progress: called with the number of files written since.
        most: files, of all kinds together; None: any number.

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
            replays[place] = _with_miss(recorder.replay(record, kept=kind, seat=SEATS[seat]))
        if kind == CLOSEST:
            nearest = sorted(replays, key=lambda place: replays[place].meta["nearest_miss"])
            replays = {place: replays[place] for place in nearest[:wanted]}
        taken |= set(replays)
        for replay in replays.values():
            paths.append(folder / _file_name(who, replay))
            save(replay, paths[-1])
            progress(1)
    return paths


def _ranks(
    recorders: Sequence[FightRecorder], records: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    """Kind -> the engagements of that kind, the best first, by their place: reds, then blues."""
    count = len(recorders[0].nearness)
    rows = np.concatenate([one[:count] for one in records])
    results = [outcomes(one[:count], seat) for seat, one in enumerate(records)]
    lost = np.concatenate([result["loss"] for result in results])
    near = np.concatenate([one.nearness[:, seat] for seat, one in enumerate(recorders)])
    escaped = ~lost & (rows["mutual_kill"] == 0) & (near > 0)
    in_turn = np.arange(len(rows)).reshape(len(SEATS), -1).T.ravel()  # red, blue, red, …
    return {
        LOST: in_turn[lost[in_turn]],
        CLOSEST: np.argsort(np.where(escaped, -near, 0), kind="stable")[: escaped.sum()],
        LONGEST: np.argsort(-rows["decisions"], kind="stable"),
        FIRST: in_turn,
    }


def _with_miss(replay: Replay) -> Replay:
    """With how near the nearest missile passed the side that is looked at."""
    side = SEATS.index(replay.meta["seat"])
    miss = nearest_miss(replay.paths(), side)
    return replace(replay, meta={**replay.meta, "nearest_miss": miss})


def _file_name(who: str, replay: Replay) -> str:
    kept, seat = replay.meta["kept"], replay.meta["seat"]
    fighters = f"{who}_vs-{replay.names[1 - SEATS.index(seat)]}"
    place = f"env{replay.engagement:04d}_{seat}{SUFFIX}"
    return re.sub(r"[^\w.-]+", "-", f"{fighters}_{kept}_{place}")


def nearest_miss(paths: Paths, side: int) -> float | None:
    """The least distance of a missile to the fighter of a side that it goes for [m].

    None if there is no such missile. Between the times that are noted both are taken to fly
    straight on.
    """
    misses = [
        _least_distance(missile, paths.fighters[target])
        for missile in paths.missiles
        for target in dict.fromkeys(missile.targets)
        if paths.fighters[target].side == side
    ]
    return min(misses, default=None)


def _least_distance(missile: MissilePath, target: FighterPath) -> float:
    """While it goes for this one."""
    goes_for = np.array(missile.targets) == target.number
    times = np.array(missile.times)[goes_for]
    x = np.array(missile.x)[goes_for] - np.interp(times, target.times, target.x)
    y = np.array(missile.y)[goes_for] - np.interp(times, target.times, target.y)
    dx, dy = np.diff(x), np.diff(y)
    length = np.maximum(dx**2 + dy**2, 1e-9)
    share = np.clip(-(x[:-1] * dx + y[:-1] * dy) / length, 0, 1)
    passed = np.hypot(x[:-1] + share * dx, y[:-1] + share * dy)
    return float(min(passed.min(initial=np.inf), np.hypot(x[-1], y[-1])))

"""The crew of a pool: frozen policies that fly the other side; and groups with one."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from midrange_puffer import _core
from midrange_puffer.envs.crews import FlownGroup, rows_in
from midrange_puffer.envs.groups import Acts
from midrange_puffer.errors import CheckpointError, UsageError
from midrange_puffer.game.observation import (
    FEATURES,
    check_commands,
    check_flies,
    controls_of,
    rows_of,
    to_fly,
)
from midrange_puffer.names import shown
from midrange_puffer.policies.actors import noise_for
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player
from midrange_puffer.policies.pool_file import Member, PoolError, read_members

# Number of decisions between two checks of the pool's file. The checks are before decisions 1, 65,
# 129 …. The learner writes the file between two updates. Meanwhile workers may still make the last
# decision before the update, whose number is a multiple of bptt_horizon. settle.py keeps
# bptt_horizon even, so no check coincides with a write: a run is repeatable, however fast its
# processes are.
LOOK_INTERVAL = 64


@dataclass(frozen=True)
class _Opponent:
    name: str
    player: Player


class PoolCrew:
    """Members of a pool; a member flies an engagement from its start to its end.

    The member is drawn when an engagement starts, by the weights in the pool's file. The crew reads
    this file again when it has changed. A member that has left the pool finishes its engagements.
    If a member's file cannot be used, the crew skips it. If the pool's file can no longer be read,
    the crew keeps its members. In both cases it prints a warning, once a process.

    Args:
        path: the pool's file.
        num_envs: number of engagements.
        seed: seed for drawing members and actions; equal seeds, files and observations give equal
            actions.
        features: number of features of the observations; a member that needs more cannot be used.
        threads: number of threads that compute the members' actions, which do not depend on it.
        size: number of fighters that a member flies in each engagement.

    Raises:
        PoolError: At the first read the file cannot be read, or none of its members can be used.
    """

    def __init__(
        self,
        path: Path,
        num_envs: int,
        seed: int,
        features: int = len(FEATURES),
        threads: int = 1,
        size: int = 1,
    ) -> None:
        self._path = path
        self._features, self._threads, self._controls = features, threads, controls_of(features)
        self._rows, self._size = num_envs * size, size
        self._random = np.random.default_rng(seed)
        self._noise = torch.Generator().manual_seed(int(self._random.integers(2**63)))
        self._decisions = 0
        self._stamp: tuple[int, int] | None = None
        self._refused: set[str] = set()
        self._opponents: list[_Opponent] = []  # in the pool, or still flying
        self._weights = np.zeros(0)  # probabilities of these to be drawn
        self._flying = np.zeros(0, int)  # [num_envs], index of the member that flies each one
        self._read()
        self._flying = self._drawn(num_envs)
        self._sort()

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Returns the next controls of every engagement, drawn from its member's policy.

        Args:
            observations: float32 [rows, features], as in `Crew.act`.

        Returns:
            Controls float32 [rows, controls], as `Simulation.step` takes them.
        """
        if self._decisions % LOOK_INTERVAL == 0:
            self._read()
        self._decisions += 1
        shape = count, heads = self._rows, self._controls.count
        chosen = np.zeros(shape, np.float32)
        noise = {kind: noise_for(count, heads, kind, "cpu", self._noise) for kind in self._kinds}
        is_flown = to_fly(observations)
        for player, rows in self._batches:
            rows = rows[is_flown[rows]]
            if len(rows):
                by = noise[player.policy.is_continuous][rows]
                chosen[rows] = player.act_by(by, observations[rows], rows)
        return chosen

    def end(self, envs: np.ndarray) -> list[str]:
        """Draws new members for engagements whose next episode starts.

        Args:
            envs: the engagements, int [n].

        Returns:
            The names of the members that flew them until now.
        """
        names = [self._opponents[index].name for index in self._flying[envs]]
        self._flying[envs] = self._drawn(len(envs))
        for index in np.unique(self._flying[envs]):
            rows = rows_in(envs[self._flying[envs] == index], self._size)
            self._opponents[index].player.reset(rows)
        self._sort()
        return names

    def names(self) -> list[str]:
        """Returns the name of the member that flies each engagement now."""
        return [self._opponents[index].name for index in self._flying]

    def _drawn(self, count: int) -> np.ndarray:
        return self._random.choice(len(self._opponents), count, p=self._weights)

    def _sort(self) -> None:
        """Groups the engagements by member, so that a member computes all of its rows at once."""
        order = np.argsort(self._flying, kind="stable")
        indices, starts = np.unique(self._flying[order], return_index=True)
        players = [self._opponents[index].player for index in indices]
        parts = [rows_in(envs, self._size) for envs in np.split(order, starts)[1:]]
        self._batches = [*zip(players, parts, strict=True)]
        self._kinds = {player.policy.is_continuous for player in players}

    def _read(self) -> None:
        """Reads the pool's file if it has changed."""
        stamp = _stamp(self._path)
        if self._opponents and stamp in (None, self._stamp):
            return
        self._stamp = stamp
        try:
            members = read_members(self._path)
        except PoolError as error:
            if not self._opponents:
                raise
            print(f"warning: pool: {shown(error)}; goes on with those of before", file=sys.stderr)
            return
        known = {opponent.name: opponent for opponent in self._opponents}
        weights = {}
        for member in members:
            if member.name in known or self._load(member, known):
                weights[member.name] = member.weight
        total = sum(weights.values())
        if total:
            self._replace(known, {name: weight / total for name, weight in weights.items()})
        elif not self._opponents:
            raise PoolError(f"{self._path}: none of its members can be used")

    def _load(self, member: Member, known: dict[str, _Opponent]) -> bool:
        """Returns True if a member's file can be used, and adds it to `known`; else warns once."""
        if member.name in self._refused:
            return False
        try:
            known[member.name] = _Opponent(member.name, self._player(member))
        except CheckpointError as error:
            left_out = f"{shown(member.name)}: {shown(error)}"
            print(f"warning: pool: left out {left_out}", file=sys.stderr)
            self._refused.add(member.name)
            return False
        return True

    def _player(self, member: Member) -> Player:
        path = self._path.parent / member.path
        policy, model = load_policy(path)
        player = Player(policy, self._rows, seed=0, threads=self._threads)
        if rows_of(self._features) or controls_of(player.features) is not self._controls:
            try:
                check_flies(str(path), player, self._features)
                check_commands(str(path), player.fighters, self._size)
            except UsageError as error:
                raise CheckpointError(str(error)) from None
        elif player.features > self._features:
            raise CheckpointError(
                f"{path}: sees env.observation = {model['env']['observation']}, more than this "
                f"run's agents do"
            )
        return player

    def _replace(self, known: dict[str, _Opponent], weights: dict[str, float]) -> None:
        """Keeps the members that have a weight or still fly an engagement."""
        flying = self.names()
        busy = set(flying)
        self._opponents = [known[name] for name in known if name in weights or name in busy]
        self._weights = np.array([weights.get(opponent.name, 0.0) for opponent in self._opponents])
        place = {opponent.name: index for index, opponent in enumerate(self._opponents)}
        self._flying = np.array([place[name] for name in flying], int)
        self._sort()


def _stamp(path: Path) -> tuple[int, int] | None:
    """Returns numbers that change when a file is replaced; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


class PoolGroup(FlownGroup):
    """Engagements against frozen policies of a pool.

    Args:
        core, seat, acts, seed: as in `FlownGroup`.
        pool: the pool's file, read at the first reset or step.
    """

    def __init__(self, core: _core.Core, seat: int, acts: Acts, pool: Path, seed: int) -> None:
        def make_crew(seed: int, size: int) -> PoolCrew:
            return PoolCrew(pool, core.num_envs, seed, core.features, core.threads, size)

        super().__init__(core, seat, acts, make_crew, seed)

    def take_infos(self, step: int) -> dict[str, np.ndarray]:
        """Returns the values of the engagements that became due, with scores as "pool/<name>"."""
        infos, _, opponents = self._take_due(step, self._opponents)
        infos["score_vs_pool"], infos["win_vs_pool"] = infos["score"], infos["win"]
        for name in dict.fromkeys(opponents):
            infos[f"pool/{name}"] = infos["score"][opponents == name]
        return infos

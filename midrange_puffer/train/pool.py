"""The pool of frozen policies that a learner fights: its members, and their sampling weights.

The learner writes the pool to a file in its run folder (policies/pool_file.py). The environments
read the file, in this or another process.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from midrange_puffer.config.sections import PoolConfig
from midrange_puffer.errors import UsageError
from midrange_puffer.files import make_folder, pieces, write_pieces, write_whole
from midrange_puffer.game.observation import rows_of
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.names import inside, shown
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import LARGEST_MODEL, path_of
from midrange_puffer.policies.pool_file import Member, PoolError, format_members, read_members

PFSP = "pfsp"  # prioritised fictitious self-play
UNIFORM = "uniform"
COPIES = "pool"  # the folder in the run folder for copies of the models of pool.include

# Errors for a model of the other kind of game, by whether the run is of teams.
UNFIT = (
    "is of a team: it cannot fly one against one",
    "is of one against one: it cannot fly in a team",
)

# The share of the engagements that PFSP divides evenly among all members. Without it a member that
# always loses would never be met again, and the learner may forget how to beat it.
EVEN_SHARE = 0.1


class Pool:
    """The members of a pool, as the learner keeps them.

    The first `refresh` copies the models of `include` into the run folder. From then on, and in
    resumed runs, the copies are used even if the original files change or vanish.

    Args:
        folder: the run folder; an existing pool is read from it.
        settings: [pool]: size, sampling, power, include, own.
        in_team: True if the members fly in teams.

    Raises:
        PoolError: The pool in the folder is damaged; or `include` is not a list of files, names
            one twice, or has too many.
        CheckpointError: A model of `include` cannot be used.
        UsageError: A model is of teams and the run is not, or the other way round.
    """

    FILE = "pool.json"

    def __init__(self, folder: Path, settings: PoolConfig, in_team: bool = False) -> None:
        self.path = folder / self.FILE
        self._settings, self._in_team = settings, in_team
        self._written = ""
        self._copies: dict[Path, Path] = {}  # of these models, not yet made
        saved = read_members(self.path) if self.path.exists() else []
        self.members = self._included(settings.include)
        if len(self.members) + settings.own > settings.size:
            raise PoolError(
                f"pool.size = {settings.size}: no room for the {len(self.members)} models of "
                f"pool.include{' and a checkpoint of the run' * settings.own}"
            )
        scores = {member.name: (member.games, member.score) for member in saved}
        for member in self.members:
            member.games, member.score = scores.get(member.name, (member.games, member.score))
        if settings.own:
            self.members += [member for member in saved if member.own]

    def add(self, path: Path, agent_steps: int) -> None:
        """Adds a checkpoint of this run, if pool.own; a full pool drops one."""
        if not self._settings.own:
            return
        own = {member.name: member for member in self.members if _is_checkpoint(member)}
        own.setdefault(path.stem, Member(path.stem, path.name, agent_steps, own=True))
        others = [member for member in self.members if not _is_checkpoint(member)]
        self.members = others + _thinned(own.values(), self._settings.size - len(others))

    def join(self, path: Path, agent_steps: int) -> None:
        """Adds an exploiter of this run; of more than half the pool's size the weakest is dropped.

        Args:
            path: of its model, within the run folder.
            agent_steps: of the policy that it was trained against.
        """
        place = path.relative_to(self.path.parent)
        name = f"{place.parent.name}/{path.stem}"
        self.members.append(Member(name, str(place), agent_steps, own=True, exploiter=True))
        exploiters = [member for member in self.members[:-1] if member.exploiter]
        room = self._settings.size - sum(not member.own for member in self.members)
        if len(exploiters) >= max(room // 2, 1):
            self.members.remove(max(exploiters, key=lambda member: member.score))
        own = [member for member in self.members if _is_checkpoint(member)]
        others = [member for member in self.members if not _is_checkpoint(member)]
        self.members = others + _thinned(own, self._settings.size - len(others))

    def observe(self, scores: Mapping[str, Sequence[float]]) -> None:
        """Counts finished engagements: the learner's scores by member, of present members only."""
        for member in self.members:
            if scores.get(member.name):
                member.observe(scores[member.name])

    def refresh(self) -> None:
        """Drops members whose file has vanished, updates the weights, and writes the file.

        Raises:
            WriteError: The file, or the copy of a model, could not be written.
        """
        self._write_copies()
        for member in [member for member in self.members if not self._file(member).is_file()]:
            print(
                f"warning: pool: {shown(self._file(member))} has vanished; {shown(member.name)} is "
                "no longer met",
                file=sys.stderr,
            )
            self.members.remove(member)
        for member, weight in zip(self.members, self._weights(), strict=True):
            member.weight = weight
        text = format_members(self.members)
        if text != self._written:
            write_whole(self.path, text.encode())
            self._written = text

    def metrics(self) -> dict[str, float]:
        """Returns the size, and the learner's mean and lowest score against the members."""
        scores = [member.score for member in self.members]
        if not scores:
            return {"pool/size": 0}
        return {
            "pool/size": len(scores),
            "pool/score": sum(scores) / len(scores),
            "pool/hardest": min(scores),
        }

    def __len__(self) -> int:
        return len(self.members)

    def _included(self, text: str | None) -> list[Member]:
        """Returns the models of pool.include, each loaded once as a check."""
        members: dict[Path, Member] = {}
        for word in _words(text):
            source = path_of(word).resolve()
            if source in members:
                raise PoolError(f"pool.include = {text}: {source} is given twice")
            # The digest is of the word, which does not change if the run is resumed elsewhere.
            digest = hashlib.blake2b(word.encode(), digest_size=4).hexdigest()
            suffix = EXPORTED if word.endswith(EXPORTED) else ".pt"
            path = f"{COPIES}/{path_of(word).stem}-{digest}{suffix}"
            copy = self.path.parent / path
            is_copied = copy.is_file()
            policy, meta = load_policy(copy if is_copied else source)
            if bool(rows_of(policy.features)) != self._in_team:
                raise UsageError(f"pool.include = {word}: {UNFIT[self._in_team]}")
            try:
                inside(self.path.parent, path)
            except ValueError as error:
                raise PoolError(f"pool.include = {text}: its copy would be {error}") from None
            if not is_copied:
                self._copies[copy] = source
            members[source] = Member(word, path, meta["agent_steps"], own=False)
        return list(members.values())

    def _write_copies(self) -> None:
        for path, source in self._copies.items():
            if not path.parent.is_dir():
                make_folder(path.parent)
            write_pieces(path, pieces(source, LARGEST_MODEL))
        self._copies = {}

    def _file(self, member: Member) -> Path:
        return self.path.parent / member.path

    def _weights(self) -> list[float]:
        """Returns the weights: PFSP's (1 - score) ** power with an even share, or equal ones."""
        count = len(self.members)
        hard = [(1 - member.score) ** self._settings.power for member in self.members]
        total = sum(hard)
        if self._settings.sampling == UNIFORM or not total:
            return [1 / count for _ in hard]  # empty if every file has vanished
        return [EVEN_SHARE / count + (1 - EVEN_SHARE) * value / total for value in hard]


def _is_checkpoint(member: Member) -> bool:
    return member.own and not member.exploiter


def _thinned(members: Iterable[Member], size: int) -> list[Member]:
    """Returns `size` members by age: the oldest, the newest, and others spread in between.

    Members are dropped one by one: always the one whose neighbours are closest in training time.
    """
    by_age = sorted(members, key=lambda member: member.agent_steps)
    while len(by_age) > max(size, 2):
        steps = [member.agent_steps for member in by_age]
        gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
        del by_age[1 + gaps.index(min(gaps))]
    return by_age[-size:]


def _words(text: str | None) -> list[str]:
    """Returns the files of pool.include as written there."""
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(words):
        raise PoolError(f"pool.include = {text}: must be model files separated by commas")
    return words

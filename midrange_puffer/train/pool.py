"""The pool of frozen policies that a learner fights: who is in it, and how often each is met.

The learner keeps it in one file of its run folder (policies/pool_file.py); the environments read
that (envs/pool_crew.py), in whatever process they run.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.files import make_folder, write_whole
from midrange_puffer.game.observation import rows_of
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.names import inside, shown
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import path_of
from midrange_puffer.policies.pool_file import Member, PoolError, format_members, read_members

PFSP = "pfsp"  # prioritised fictitious self-play
UNIFORM = "uniform"
COPIES = "pool"  # the run folder's folder for copies of the models that pool.include names

# Why a model of the other kind of game is no member, by whether the run is of teams.
UNFIT = (
    "is of a team: it cannot fly one against one",
    "is of one against one: it cannot fly in a team",
)

# The share of the engagements that PFSP gives to all members alike, so that none dies out: without
# it one that is always beaten would never be met again, though the learner may forget how.
EVEN_SHARE = 0.1


class Pool:
    """The members, as the learner keeps them.

    The models that `include` names are copied into the run folder by the first `refresh`. From then
    on the copies are taken, also where the run is resumed, whatever has become of the files.

    Args:
        folder: the run folder; a pool that stands there is taken up.
        settings: [pool]: size, sampling, power, include, own.
        in_team: whether its members fly in teams.

    Raises:
        PoolError: The pool in the folder is damaged; `include` is not a list of files, has one
            twice, or too many.
        CheckpointError: A model of `include` cannot be used.
        UsageError: One flies in teams and is not to, or the other way round.
    """

    FILE = "pool.json"

    def __init__(self, folder: Path, settings: Mapping[str, object], in_team: bool = False) -> None:
        self.path = folder / self.FILE
        self._settings, self._in_team = settings, in_team
        self._written = ""
        self._copies: dict[Path, bytes] = {}  # still to be written
        known = read_members(self.path) if self.path.exists() else []
        self.members = self._included(settings["include"])
        if len(self.members) + settings["own"] > settings["size"]:
            raise PoolError(
                f"pool.size = {settings['size']}: no room for the {len(self.members)} models of "
                f"pool.include{' and a checkpoint of the run' * settings['own']}"
            )
        results = {member.name: (member.games, member.score) for member in known}
        for member in self.members:
            member.games, member.score = results.get(member.name, (member.games, member.score))
        if settings["own"]:
            self.members += [member for member in known if member.own]

    def add(self, path: Path, agent_steps: int) -> None:
        """Let a new checkpoint of this run join, where they do; one too many leaves."""
        if not self._settings["own"]:
            return
        own = {member.name: member for member in self.members if _is_checkpoint(member)}
        own.setdefault(path.stem, Member(path.stem, path.name, agent_steps, own=True))
        others = [member for member in self.members if not _is_checkpoint(member)]
        self.members = others + _thinned(own.values(), self._settings["size"] - len(others))

    def join(self, path: Path, agent_steps: int) -> None:
        """Let an exploiter of this run join; of more than half the room the most beaten leaves.

        Args:
            path: of its model, within the run folder.
            agent_steps: of the policy against which it was trained.
        """
        place = path.relative_to(self.path.parent)
        name = f"{place.parent.name}/{path.stem}"
        self.members.append(Member(name, str(place), agent_steps, own=True, exploiter=True))
        exploiters = [member for member in self.members[:-1] if member.exploiter]
        room = self._settings["size"] - sum(not member.own for member in self.members)
        if len(exploiters) >= max(room // 2, 1):
            self.members.remove(max(exploiters, key=lambda member: member.score))
        own = [member for member in self.members if _is_checkpoint(member)]
        others = [member for member in self.members if not _is_checkpoint(member)]
        self.members = others + _thinned(own, self._settings["size"] - len(others))

    def observe(self, scores: Mapping[str, Sequence[float]]) -> None:
        """Count finished engagements: the learner's scores by member; who has left is ignored."""
        for member in self.members:
            if scores.get(member.name):
                member.observe(scores[member.name])

    def refresh(self) -> None:
        """Drop members whose file has vanished, weigh the others, and write what has changed.

        Raises:
            WriteError: The file, or the copy of a model, could not be written.
        """
        self._write_copies()
        for member in [member for member in self.members if not self._file(member).is_file()]:
            print(
                f"warning: pool: {shown(self._file(member))} has vanished; {shown(member.name)} is "
                "met no more",
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
        """The size, and the learner's score against the members: in the mean, and the lowest."""
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
        """The models of pool.include, each loaded once to see that it can be."""
        members: dict[Path, Member] = {}
        for word in _words(text):
            source = path_of(word).resolve()
            if source in members:
                raise PoolError(f"pool.include = {text}: {source} is given twice")
            # By the word, which a resumed run still has, wherever it is resumed.
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
                self._copies[copy] = source.read_bytes()
            members[source] = Member(word, path, meta["agent_steps"], own=False)
        return list(members.values())

    def _write_copies(self) -> None:
        for path, data in self._copies.items():
            if not path.parent.is_dir():
                make_folder(path.parent)
            write_whole(path, data)
        self._copies = {}

    def _file(self, member: Member) -> Path:
        return self.path.parent / member.path

    def _weights(self) -> list[float]:
        """The members' shares: PFSP's (1 - score) ** power, mixed with equal ones, or equal."""
        count = len(self.members)
        hard = [(1 - member.score) ** self._settings["power"] for member in self.members]
        total = sum(hard)
        if self._settings["sampling"] == UNIFORM or not total:
            return [1 / count for _ in hard]  # none where every file has vanished
        return [EVEN_SHARE / count + (1 - EVEN_SHARE) * value / total for value in hard]


def _is_checkpoint(member: Member) -> bool:
    return member.own and not member.exploiter


def _thinned(members: Iterable[Member], size: int) -> list[Member]:
    """The oldest, the newest, and others spread over the time between, `size` in all, by age.

    Again and again leaves the one whose neighbours in time are nearest to each other.
    """
    by_age = sorted(members, key=lambda member: member.agent_steps)
    while len(by_age) > max(size, 2):
        steps = [member.agent_steps for member in by_age]
        gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
        del by_age[1 + gaps.index(min(gaps))]
    return by_age[-size:]


def _words(text: str | None) -> list[str]:
    """The files that pool.include names, as they are written there."""
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(words):
        raise PoolError(f"pool.include = {text}: must be model files separated by commas")
    return words

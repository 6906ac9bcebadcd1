"""Contestants as text: one contestant, or a mix of several with their shares.

Examples: `shooter`, `self:4,pool:2,ace:1`, `file:fighter.onnx:2,my_pilots.py:fly,trained:selfplay`.
Commas separate the contestants. A number after the last colon is a share; the default is 1. A
contestant is

* a scripted pilot;
* `self`: agents fly both sides;
* `pool`: the frozen policies of a run's pool;
* a model: `champion`, `champion:radar`, `trained` or `trained:selfplay`, which come with the
  package; or a file, *.pt or *.onnx, with or without `file:` before its path;
* `nash:PATH`: the models that a file of `puffer league --nash` names, with its shares;
* `latest`, `best`, RUN/best or a run's folder: the command replaces it by a model of that run;
* a function of the user's own, `module:name` or `file.py:name`.

This module loads no model and runs no code of the user's own.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_json
from midrange_puffer.game.parameters import (
    ALL,
    HUMAN,
    LADDER,
    MODEL_SUFFIXES,
    PILOTS,
    POOL,
    SCRIPTED,
    SEATS,
    SELF,
    SENSOR_PILOTS,
    SIDE,
    Parameters,
    sizes_of,
)
from midrange_puffer.json_files import JsonError, Within, inside_all, read_json
from midrange_puffer.names import suggest
from midrange_puffer.policies import own_code
from midrange_puffer.policies.models import (
    CHAMPION,
    TRAINED,
    is_shipped,
    path_of,
    shipped_models,
)

MAX_WEIGHT = 1e6  # largest share of a contestant before normalisation
FILE = "file:"  # prefix of a model's file
NASH = "nash:"  # prefix of a Nash mixture's file
NASH_FILE = "nash.json"
NASH_FORMAT: Final = "midrange_puffer nash"
MAX_NASH_MEMBERS = 1024
LATEST, BEST = "latest", "best"  # the newest model of all runs, the best-rated one of a run
# Kinds of contestants, besides SCRIPTED, SELF and POOL.
MODEL, FUNCTION, RUN = "model", "function", "run"
OTHERS = "models or functions"  # group of engagements against MODEL and FUNCTION
KINDS = (SCRIPTED, SELF, POOL, MODEL, FUNCTION, RUN)
OUTSIDE = (MODEL, FUNCTION)  # kinds that the core does not fly
# Kinds that are allowed in an environment that belongs to no run.
FIGHTERS = (SCRIPTED, *OUTSIDE)
EXPECTED = {
    SCRIPTED: ", ".join(PILOTS),
    SELF: SELF,
    POOL: POOL,
    MODEL: f"{CHAMPION}, {TRAINED}, or a model's file, "
    f"{' or '.join('*' + end for end in MODEL_SUFFIXES)}",
    FUNCTION: "a function, module:name or file.py:name",
    RUN: f"a run's folder, {LATEST} or {BEST}",
}
ONE_ONLY = (
    "is a mix; must be one pilot, model or function: mixes are taken by eval as --opponent, and in "
    "training as env.opponent"
)
# For messages: where a contestant is allowed that is refused here.
TAKEN = {
    SELF: "is taken by Midrange and in training, as env.opponent, and alone by eval and plot",
    POOL: "is taken in training, as env.opponent, and by Midrange with a pool's file",
    RUN: "is taken by the command line and in training; elsewhere, name the model's file",
    HUMAN: "is taken by play, as --red and --blue",
    ALL: "is taken alone by eval, as --opponent",
}


def kind_of(name: str) -> str | None:
    """Returns the kind of a contestant (one of `KINDS`) by its name, or None."""
    if name in PILOTS or name in SENSOR_PILOTS:
        return SCRIPTED
    if name in (SELF, POOL):
        return name
    if is_shipped(name) or name.startswith(FILE):
        return MODEL
    if own_code.FORM.fullmatch(name):
        return FUNCTION
    if name.endswith(MODEL_SUFFIXES) or is_there(Path.is_file, name):
        return MODEL
    if is_word(name) or is_there(Path.is_dir, name):
        return RUN
    return None


def is_word(name: str) -> bool:
    """True if a name stands for a model of a run: "latest", "best" or "RUN/best"."""
    return name in (LATEST, BEST) or name.endswith(f"/{BEST}")


def is_there(test: Callable[[Path], bool], *parts: str | Path) -> bool:
    """True if a test, for example Path.is_file, holds for a path; False for an empty name."""
    with contextlib.suppress(OSError, ValueError):  # impossible file names
        return all(map(str, parts)) and test(Path(*parts))
    return False


def opponents_of(difficulty: float) -> str:
    """Returns the mix of scripted pilots of a difficulty, for env.opponent.

    The pilots join in the order of `LADDER`, each with a share that grows from 0. At 0 the mix is
    the weakest pilot, and at 1 all pilots in equal shares: a policy forgets opponents that it no
    longer meets.

    Args:
        difficulty: from 0 to 1.

    Raises:
        ValueError: It is not.
    """
    if not 0 <= difficulty <= 1:
        raise ValueError(f"difficulty = {difficulty}: must be from 0 to 1")
    present = 1 + difficulty * (len(LADDER) - 1)
    shares = ((name, min(round(present - place, 3), 1)) for place, name in enumerate(LADDER))
    return ",".join(f"{name}:{share:g}" for name, share in shares if share > 0)


def parse_mix(
    text: str, allowed: Sequence[str] = KINDS, argument: str = "opponent"
) -> dict[str, float]:
    """Reads a mix.

    Args:
        text: in the form that this module's docstring describes.
        allowed: kinds of contestants that are allowed.
        argument: name of the option or argument that the text belongs to, for messages.

    Returns:
        Shares by name, in the given order; they sum to 1.

    Raises:
        ValueError: A name is unknown, repeated or not allowed, or a weight is out of range.
    """
    where = f"{argument} = {text!r}"
    weights: dict[str, float] = {}
    for name, weight in _parts(text):
        _check_name(where, name, allowed)
        if name in weights:
            raise ValueError(f"{where}: {name} is given twice")
        weights[name] = _number(weight or "1")
        if not 0 < weights[name] <= MAX_WEIGHT:
            raise ValueError(
                f"{where}: the weight of {name} must be above 0, at most {MAX_WEIGHT:g}"
            )
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def check_is_one(text: str, argument: str = "opponent") -> None:
    """Raises UsageError if a text names more than one contestant, or a share."""
    if kind_of(text) is None:
        raise UsageError(f"{argument} = {text!r}: {ONE_ONLY}")


def divide(num_envs: int, opponent: str) -> dict[str, int]:
    """Returns the engagements of each group of a mix: SELF, SCRIPTED, POOL, OTHERS, in this order.

    Each group gets its share, rounded, but at least one.

    Raises:
        ValueError: As for `parse_mix`, or there are fewer engagements than groups.
    """
    shares = dict.fromkeys((SELF, SCRIPTED, POOL, OTHERS), 0.0)
    for name, share in parse_mix(opponent).items():
        kind = kind_of(name)
        shares[kind if kind in shares else OTHERS] += share
    shares = {group: share for group, share in shares.items() if share}
    if num_envs < len(shares):
        raise ValueError(
            f"opponent = {opponent!r}: needs at least {len(shares)} engagements, one for each of "
            f"{', '.join(shares)}, not num_envs = {num_envs}"
        )
    counts = dict.fromkeys(shares, 0)
    left, share_left = num_envs, 1.0
    # The smallest group first: a group that is rounded up to one reduces the larger ones.
    for group in sorted(shares, key=shares.__getitem__):
        counts[group] = max(round(left * min(shares[group] / share_left, 1.0)), 1)
        left -= counts[group]
        share_left -= shares[group]
    return counts


def count_agents(env: Parameters) -> int:
    """Returns the number of agents of a `Midrange` with this [env].

    In SELF engagements agents fly both sides, in others one side. With agents = side each side that
    they fly is an agent.

    Raises:
        ValueError: As for `divide`.
    """
    sizes, seat = sizes_of(env), SEATS.index(env["seat"])
    against_itself = divide(env["num_envs"], env["opponent"]).get(SELF, 0)
    fighters = env["num_envs"] * sizes[seat] + against_itself * sizes[1 - seat]
    return fighters // (sizes[seat] if env.get("agents") == SIDE else 1)


def file_of(model: str) -> Path:
    """Returns the file of a contestant of the kind MODEL.

    Raises:
        UsageError: No model of this name comes with the package.
    """
    return path_of(model.removeprefix(FILE))


def settled(text: str, find: Callable[[str], Path | None]) -> str:
    """Returns a mix with absolute paths, which does not depend on the working directory.

    Args:
        text: the mix.
        find: returns for a name the model's file or the run's folder; None if it names no run.
    """
    original, parts = _parts(text), []
    for name, weight in original:
        kind = kind_of(name)
        if kind == FUNCTION:
            name = own_code.absolute(name)
        elif kind == MODEL and not is_shipped(name):
            name = f"{FILE}{Path(name.removeprefix(FILE)).absolute()}"
        elif kind in (RUN, None) and (path := find(name)) is not None:
            name = f"{FILE}{path.absolute()}" if path.is_file() else str(path.absolute())
        parts.append((name, weight))
    return text if parts == original else _joined(parts)


def contestants_of(text: str) -> list[str]:
    """Returns the names in a mix, which are not checked."""
    return [name for name, _ in _parts(text)]


def replaced(text: str, name: str, other: str) -> str:
    """Returns a mix with another contestant in place of `name`, with the same share."""
    return _joined((other if part == name else part, weight) for part, weight in _parts(text))


def title(text: str) -> str:
    """Returns a mix for display, without the folders of files."""
    parts = _parts(text)
    short = short_names(name for name, _ in parts)
    return _joined([(short[name], weight) for name, weight in parts])


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Returns a distinct short name for each contestant, for tables of scores.

    A file's short name is its stem, preceded by as many folders as are needed. A function's is its
    own name, preceded by its module's if needed.
    """
    names = list(names)
    choices = [_names_of(name) for name in names]
    for length in range(max(map(len, choices), default=0)):
        short = [choice[min(length, len(choice) - 1)] for choice in choices]
        others = [word for word, name in zip(short, names, strict=True) if name not in _RESERVED]
        if len({*others, *_RESERVED}) == len(others) + len(_RESERVED):
            return dict(zip(names, short, strict=True))
    return {name: name for name in names}  # for files that differ only in their suffixes


_RESERVED = (*PILOTS, *SENSOR_PILOTS, SELF, POOL, ALL)


def _names_of(name: str) -> list[str]:
    """Returns the possible names of a contestant, from short to long."""
    kind = kind_of(name)
    if kind == FUNCTION:
        return [name.rpartition(":")[2], own_code.short_name(name).replace(":", "."), name]
    if kind != MODEL or is_shipped(name):
        return [name]
    parts = Path(name.removeprefix(FILE)).with_suffix("").parts
    return ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]


def _parts(text: str) -> list[tuple[str, str]]:
    """Returns the contestants and weights of a text; a weight that is not given is empty."""
    text = str(text)
    if is_there(Path.is_file, text.removeprefix(FILE)):  # its path may contain commas and colons
        return [(text, "")]
    parts = []
    for name, weight in (_split(part.strip()) for part in text.split(",")):
        if name.startswith(NASH):  # replaced by its models, with shares of its weight
            whole = _number(weight or "1")
            members = _nash_members(name)
            parts += [(f"{FILE}{path}", f"{whole * share:.9g}") for path, share in members]
        else:
            parts.append((name, weight))
    return parts


def _joined(parts: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}:{weight}" if weight else name for name, weight in parts)


def _split(part: str) -> tuple[str, str]:
    first, _, rest = (piece.strip() for piece in part.partition(":"))
    if first in (*PILOTS, *SENSOR_PILOTS, SELF, POOL):
        return first, rest
    name, _, last = (piece.strip() for piece in part.rpartition(":"))
    is_weight = not last or math.isfinite(_number(last))
    return (name, last) if name and is_weight else (part, "")


def _check_name(where: str, name: str, allowed: Sequence[str]) -> None:
    """Raises ValueError if there is no such contestant, or its kind is not allowed."""
    kind = kind_of(name)
    if kind == MODEL:
        file_of(name)
    if kind in allowed:
        return
    taken = TAKEN.get(kind or name)
    names = ", ".join(EXPECTED[kind] for kind in (SCRIPTED, SELF, POOL) if kind in allowed)
    others = "".join(f"; or {EXPECTED[kind]}" for kind in (*OUTSIDE, RUN) if kind in allowed)
    plain = (*PILOTS, *SENSOR_PILOTS, SELF, POOL, *shipped_models(), LATEST, BEST)
    near = suggest(name, [word for word in plain if kind_of(word) in allowed])
    raise ValueError(
        f"{where}: {name!r} is none of {names}{near}{others}{f'; {name} {taken}' if taken else ''}"
    )


def _number(text: str) -> float:
    """Returns the number that a text states, or not-a-number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass
class NashMember:
    """A frozen policy of a Nash mixture."""

    path: str  # its model file, relative to the mixture's folder
    weight: Annotated[float, Within(1e-6, 1)]


@dataclass
class _NashFile:
    """The content of a Nash mixture's file: one member is drawn for each engagement."""

    format: Literal["midrange_puffer nash"]  # NASH_FORMAT
    members: Annotated[list[NashMember], Within(1, MAX_NASH_MEMBERS)]


def write_nash(path: Path, members: list[NashMember]) -> None:
    """Writes the file of a Nash mixture.

    Raises:
        WriteError: The disk is full or the folder not writable.
    """
    write_json(path, asdict(_NashFile(NASH_FORMAT, members)))


def _nash_members(name: str) -> list[tuple[Path, float]]:
    """Returns the model files and shares of `nash:PATH`; PATH is the file or its folder.

    Raises:
        UsageError: The file is missing or damaged.
    """
    path = Path(name.removeprefix(NASH))
    path = path / NASH_FILE if path.is_dir() else path
    try:
        members = read_json(path, _NashFile).members
    except JsonError as error:
        raise UsageError(f"{name}: {error}; puffer league --nash writes such a file") from None
    paths = inside_all(path, "members", [member.path for member in members])
    for number, place in enumerate(paths):
        if place in paths[:number]:
            raise UsageError(f"{path}: members[{number}].path: {place.name} is given twice")
    return [(place, member.weight) for place, member in zip(paths, members, strict=True)]

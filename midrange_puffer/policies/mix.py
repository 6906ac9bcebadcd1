"""Who flies the other seat, as a text: a contestant, or several with their shares.

`shooter`, `self:4,pool:2,ace:1` and `file:fighter.onnx:2,my_pilots.py:fly,trained:selfplay` are
mixes. Commas separate the contestants. A number after the last colon is a share; without one it is
1. A contestant is

* a scripted pilot;
* `self`: both seats are agents; or `pool`: the frozen policies of a run's pool;
* a model: `champion`, `trained` or `trained:selfplay`, which come with the package, or a file,
  *.pt or *.onnx; `file:` before its path may be left out;
* `nash:PATH`: the models that a file of `puffer league --nash` names, with its shares;
* `latest`, `best` or RUN/best, or a run's folder: one of its models, which a command puts in its
  place;
* a function of the user's own, `module:name` or `file.py:name`.

Nothing is loaded here, and no code of the user's own is run.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import (
    ALL,
    HUMAN,
    MODEL_SUFFIXES,
    PILOTS,
    POOL,
    SCRIPTED,
    SEATS,
    SELF,
    SENSOR_PILOTS,
    sizes_of,
    suggest,
)
from midrange_puffer.policies import own_code
from midrange_puffer.policies.nash_file import NASH, members_of
from midrange_puffer.policies.shipped import (
    CHAMPION,
    TRAINED,
    is_shipped,
    path_of,
    shipped_models,
)

MAX_WEIGHT = 1e6  # of one contestant in a mix
FILE = "file:"  # begins the name of a file
LATEST, BEST = "latest", "best"  # the newest model of all runs, the best-rated one of a run
# The kinds of contestants besides SELF and POOL: SCRIPTED, and
MODEL, FUNCTION, RUN = "model", "function", "run"
OTHERS = "models or functions"  # the group of engagements against these
KINDS = (SCRIPTED, SELF, POOL, MODEL, FUNCTION, RUN)
OUTSIDE = (MODEL, FUNCTION)  # fly from outside the core
# What an environment that is no run can take, alone or mixed.
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
# Where a contestant is taken that is refused elsewhere.
TAKEN = {
    SELF: "is taken by Midrange and in training, as env.opponent, and alone by eval and plot",
    POOL: "is taken in training, as env.opponent, and by Midrange with a pool's file",
    RUN: "is taken by the command line and in training; elsewhere, name the model's file",
    HUMAN: "is taken by play, as --red and --blue",
    ALL: "is taken alone by eval, as --opponent",
}


def kind_of(name: str) -> str | None:
    """Of which of `KINDS` a contestant is, by its name; None of none."""
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
    """Whether a name means a model of one's own runs: "latest", "best" or "RUN/best"."""
    return name in (LATEST, BEST) or name.endswith(f"/{BEST}")


def is_there(test: Callable[[Path], bool], *parts: str | Path) -> bool:
    """Whether there is such a file or folder; an empty name means none."""
    with contextlib.suppress(OSError, ValueError):  # no file can have such a name
        return all(map(str, parts)) and test(Path(*parts))
    return False


def parse_mix(
    text: str, allowed: Sequence[str] = KINDS, argument: str = "opponent"
) -> dict[str, float]:
    """The share of each contestant in a mix.

    Args:
        text: as the head of this file has it.
        allowed: the kinds that may be in it.
        argument: what the text was given as, for messages.

    Returns:
        By name; shares that sum to 1, in the order given.

    Raises:
        ValueError: An unknown or repeated name, one that is not taken here, or a weight out of
            range.
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
    """Raise UsageError where a text names more than one contestant, or a share."""
    if kind_of(text) is None:
        raise UsageError(f"{argument} = {text!r}: {ONE_ONLY}")


def divide(num_envs: int, opponent: str) -> dict[str, int]:
    """The engagements of each group of a mix: SELF, SCRIPTED, POOL, OTHERS, in this order.

    Each group has its share, rounded, and at least one.

    Raises:
        ValueError: As `parse_mix`, or fewer engagements than groups.
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
    # The smallest first: what is rounded up to one is taken from the larger ones.
    for group in sorted(shares, key=shares.__getitem__):
        counts[group] = max(round(left * min(shares[group] / share_left, 1.0)), 1)
        left -= counts[group]
        share_left -= shares[group]
    return counts


def count_agents(env: Mapping[str, object]) -> int:
    """The agents of a `Midrange` of this [env]: a side of each engagement, both against itself.

    Raises:
        ValueError: As `divide`.
    """
    sizes, seat = sizes_of(env), SEATS.index(env["seat"])
    against_itself = divide(env["num_envs"], env["opponent"]).get(SELF, 0)
    return env["num_envs"] * sizes[seat] + against_itself * sizes[1 - seat]


def file_of(model: str) -> Path:
    """The file of a contestant of the kind MODEL.

    Raises:
        UsageError: No such model comes with the package.
    """
    return path_of(model.removeprefix(FILE))


def settled(text: str, find: Callable[[str], Path | None]) -> str:
    """A mix with the whole paths of files, so that it means the same wherever it is read.

    Args:
        find: the model's file, or the folder, that the name of a run stands for; None: what has
            this name is no run.
    """
    given, parts = _parts(text), []
    for name, weight in given:
        kind = kind_of(name)
        if kind == FUNCTION:
            name = own_code.absolute(name)
        elif kind == MODEL and not is_shipped(name):
            name = f"{FILE}{Path(name.removeprefix(FILE)).absolute()}"
        elif kind in (RUN, None) and (found := find(name)) is not None:
            name = f"{FILE}{found.absolute()}" if found.is_file() else str(found.absolute())
        parts.append((name, weight))
    return text if parts == given else _joined(parts)


def title(text: str) -> str:
    """A mix as it is shown: without the folders of files."""
    parts = _parts(text)
    short = short_names(name for name, _ in parts)
    return _joined([(short[name], weight) for name, weight in parts])


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A short name for each contestant, by which it is scored: enough to tell it from the others.

    A file has its stem, and before it as many folders as are needed. A function has its own name,
    or where that is another's, its module's, too.
    """
    names = list(names)
    choices = [_names_of(name) for name in names]
    for length in range(max(map(len, choices), default=0)):
        short = [choice[min(length, len(choice) - 1)] for choice in choices]
        others = [one for one, name in zip(short, names, strict=True) if name not in _RESERVED]
        if len({*others, *_RESERVED}) == len(others) + len(_RESERVED):
            return dict(zip(names, short, strict=True))
    return {name: name for name in names}  # but for their suffixes some are alike


_RESERVED = (*PILOTS, *SENSOR_PILOTS, SELF, POOL, ALL)


def _names_of(name: str) -> list[str]:
    """What a contestant may be called, from short to long."""
    kind = kind_of(name)
    if kind == FUNCTION:
        return [name.rpartition(":")[2], own_code.short_name(name).replace(":", "."), name]
    if kind != MODEL or is_shipped(name):
        return [name]
    parts = Path(name.removeprefix(FILE)).with_suffix("").parts
    return ["/".join(parts[-length:]) for length in range(1, len(parts) + 1)]


def _parts(text: str) -> list[tuple[str, str]]:
    """The contestants and their weights, as they stand in a text; an empty weight where none is."""
    text = str(text)
    if is_there(Path.is_file, text.removeprefix(FILE)):  # whatever signs its path has
        return [(text, "")]
    split = (_split(part.strip()) for part in text.split(","))
    return [part for name, weight in split for part in _expanded(name, weight)]


def _expanded(name: str, weight: str) -> list[tuple[str, str]]:
    """The models of a Nash mixture in its place, with their parts of its weight."""
    if not name.startswith(NASH):
        return [(name, weight)]
    whole = _number(weight or "1")
    return [(f"{FILE}{path}", f"{whole * share:.9g}") for path, share in members_of(name)]


def _joined(parts: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}:{weight}" if weight else name for name, weight in parts)


def _split(part: str) -> tuple[str, str]:
    first, _, rest = (piece.strip() for piece in part.partition(":"))
    if first in (*PILOTS, *SENSOR_PILOTS, SELF, POOL):
        return first, rest
    name, _, last = (piece.strip() for piece in part.rpartition(":"))
    return (name, last) if name and (not last or _is_number(last)) else (part, "")


def _check_name(where: str, name: str, allowed: Sequence[str]) -> None:
    """Raise ValueError where there is no such contestant, or it is not taken here."""
    kind = kind_of(name)
    if kind == MODEL:
        file_of(name)
    if kind in allowed:
        return
    taken = TAKEN.get(kind or name)
    names = ", ".join(EXPECTED[one] for one in (SCRIPTED, SELF, POOL) if one in allowed)
    others = "".join(f"; or {EXPECTED[one]}" for one in (MODEL, FUNCTION, RUN) if one in allowed)
    plain = (*PILOTS, *SENSOR_PILOTS, SELF, POOL, *shipped_models(), LATEST, BEST)
    near = suggest(name, [one for one in plain if kind_of(one) in allowed])
    raise ValueError(
        f"{where}: {name!r} is none of {names}{near}{others}{f'; {name} {taken}' if taken else ''}"
    )


def _is_number(text: str) -> bool:
    return math.isfinite(_number(text))


def _number(text: str) -> float:
    """What a text says; not-a-number where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan

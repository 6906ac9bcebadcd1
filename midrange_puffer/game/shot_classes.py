"""Classes of the shots in fights with height, by fly-outs: inside R_NEZ, wasted, or between.

The core's map of the missile envelope is of the plane. So with height every launch is noted, and
its shot is flown out after the fights: with the types that the fight has drawn, and their factors.
RULES.md, "Missile envelopes", defines the classes.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.game.envelope import EVASIONS, PLAIN, shots_core
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.shots import Flights, game_of, shots_on
from midrange_puffer.game.types import AIRCRAFT, MISSILE

OPEN = 0  # value of MrOutcome
_LAUNCH = np.dtype(
    [("env", "i4"), ("side", "i4"), ("shot", _core.SHOT), ("types", _core.DRAWN_TYPES)]
)
Fields = dict[str, np.ndarray]


class _Moment(NamedTuple):
    """The fields of the engagements and their fighters between two decisions, as `Core.read`."""

    engagements: Fields
    fighters: Fields


class LaunchLog:
    """The launches of fights with height, noted decision by decision.

    `note` is a `Follow` of `contest.match.play`. Engagements that have ended fly on there; their
    launches do not count.

    Args:
        count: Number of fights.
    """

    def __init__(self, count: int) -> None:
        self._before: list[_Moment | None] = [None] * count
        self._types = [np.empty(0, _core.DRAWN_TYPES)] * count  # [num_envs, fighters] of each
        self._launches: list[list[np.ndarray]] = [[] for _ in range(count)]

    def note(
        self, index: int, core: _core.Core, controls: np.ndarray | None, rewards: np.ndarray
    ) -> None:
        """Notes the launches of the last decision of a fight; before the first one, its start."""
        now = _Moment(core.read("engagement"), core.read("fighter"))
        before, self._before[index] = self._before[index], now
        if before is None:
            self._types[index] = core.types()
            return
        is_open = before.engagements["outcome"] == OPEN
        fired = (now.fighters["shots"] > before.fighters["shots"]) & is_open
        envs, owners = np.nonzero(fired)
        if len(envs):
            launches = _launches(core, self._types[index], before, now, envs, owners)
            self._launches[index].append(launches)

    def write_classes(self, index: int, parameters: Mapping[str, Any], records: np.ndarray) -> None:
        """Writes shots_in_nez and shots_wasted of a fight's records, by flying its shots out.

        Args:
            index: The fight.
            parameters: Its parameters, a value for each.
            records: `_core.RECORD` [num_envs] in the order of the engagements.
        """
        if not self._launches[index]:
            return
        launches = np.concatenate(self._launches[index])
        places = launches["env"], launches["side"]
        classes = classes_of(parameters, launches["shot"], launches["types"])
        for name, marks in zip(("shots_in_nez", "shots_wasted"), classes, strict=True):
            np.add.at(records[name], places, marks)


def classes_of(
    parameters: Mapping[str, Any], shots: np.ndarray, types: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns True for shots inside R_NEZ, and True for wasted shots, bool [n] each.

    A shot is inside R_NEZ if it hits whichever evasion its target flies. It is wasted if it misses
    a target that flies on.

    Args:
        parameters: a value for every parameter.
        shots: `_core.SHOT` [n], without evasions.
        types: `_core.DRAWN_TYPES` [n]: the missile and the target's aircraft, with the factors of
            both.
    """
    in_nez, wasted = np.zeros((2, len(shots)), bool)
    flown = flown_types(parameters)
    assert flown is not None, "the game has height"
    for drawn in np.unique(types):
        places = np.flatnonzero(types == drawn)
        missile, aircraft = (flown.names[kind][drawn[kind]] for kind in (MISSILE, AIRCRAFT))
        core = shots_core(game_of(parameters, missile, aircraft, _factors(drawn)))
        in_nez[places], wasted[places] = _fly(core, shots[places])
    return in_nez, wasted


def _factors(drawn: np.void) -> dict[str, float]:
    """Returns the factors in a row of `_core.DRAWN_TYPES` by name."""
    names = drawn.dtype.names or ()
    return {name: float(drawn[name]) for name in names if name.endswith("_factor")}


def _fly(core: _core.Core, shots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the classes of shots of one pair of types. A shot that has missed flies no more."""
    shots = shots.copy()
    names = list(EVASIONS)
    shots["evasion"] = names.index(PLAIN)
    hits = core.fly_shots(shots)
    wasted = ~hits
    for number in range(len(names)):
        if names[number] == PLAIN:
            continue
        left = np.flatnonzero(hits)
        shots["evasion"] = number
        hits[left] = core.fly_shots(shots[left])
    return hits, wasted


def _launches(
    core: _core.Core,
    drawn: np.ndarray,
    before: _Moment,
    now: _Moment,
    envs: np.ndarray,
    owners: np.ndarray,
) -> np.ndarray:
    """Returns the launches of a decision by these fighters of these engagements, `_LAUNCH` [n]."""
    targets = _targets(core, before, envs, owners)
    own, enemy = (_flights(before.fighters, envs, numbers) for numbers in (owners, targets))
    away = enemy.x - own.x, enemy.y - own.y
    launches = np.zeros(len(envs), _LAUNCH)
    launches["env"], launches["side"] = envs, owners >= core.red_size
    launches["shot"] = shots_on(own, enemy, np.arctan2(away[1], away[0]))
    launches["shot"]["range"] = np.hypot(*away)
    types = launches["types"]
    for name in _core.DRAWN_TYPES.names or ():
        types[name] = drawn[name][envs, owners if name.startswith(MISSILE) else targets]
    types[MISSILE] = _missiles(core, types[MISSILE], before, now, envs, owners)
    return launches


def _missiles(
    core: _core.Core,
    firsts: np.ndarray,
    before: _Moment,
    now: _Moment,
    envs: np.ndarray,
    owners: np.ndarray,
) -> np.ndarray:
    """Returns the numbers of the launched types; `firsts` are the first of each loadout."""
    flown = flown_types(core.parameters)
    assert flown is not None, "the game has height"
    numbers = firsts.copy()
    for place, name in ((1, "ammunition_2"), (2, "ammunition_3")):
        fired = (now.fighters[name] < before.fighters[name])[envs, owners]
        for side, loadout in enumerate(flown.loads):
            if len(loadout) > place:
                numbers[fired & ((owners >= core.red_size) == side)] = loadout[place][0]
    return numbers


def _targets(core: _core.Core, before: _Moment, envs: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Returns the fighters that missiles were launched at in the last decision.

    In teams the missile says it. If it is gone already, it was the nearest enemy.
    """
    if core.fighters == 2:
        return 1 - owners
    missiles = core.read("missile")
    is_new = (missiles["active"] != 0) & (missiles["age"] == core.parameters["substeps"])
    targets = np.empty(len(envs), int)
    for n, (env, owner) in enumerate(zip(envs.tolist(), owners.tolist(), strict=True)):
        slots = np.flatnonzero(is_new[env] & (missiles["owner"][env] == owner))
        nearest = _nearest_enemy(core, before.fighters, env, owner)
        targets[n] = missiles["target"][env, slots[0]] if len(slots) else nearest
    return targets


def _nearest_enemy(core: _core.Core, fighters: Fields, env: int, owner: int) -> int:
    """Returns the nearest living enemy of a fighter."""
    offsets = [fighters[name][env] - fighters[name][env, owner] for name in ("x", "y", "z")]
    is_enemy = (np.arange(core.fighters) >= core.red_size) != (owner >= core.red_size)
    is_one = is_enemy & (fighters["alive"][env] != 0)
    return int(np.where(is_one, np.square(offsets).sum(axis=0), np.inf).argmin())


def _flights(fighters: Fields, envs: np.ndarray, numbers: np.ndarray) -> Flights:
    """Returns the flights of these fighters of these engagements."""
    x, y, z, c, s, climb, speed = (
        fighters[name][envs, numbers].astype(float) for name in ("x", "y", "z", "c", "s", "u", "v")
    )
    return Flights(x, y, z, np.arctan2(s, c), np.arcsin(np.clip(climb, -1, 1)), speed)

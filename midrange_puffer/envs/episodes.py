"""Episodes that start by seed and options, for the environments of other libraries."""

import reprlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.arena import Arena, Arguments
from midrange_puffer.envs.crews import Crew, FlownGroup, OutsideCrew, find_crew
from midrange_puffer.envs.groups import Buffers, Group, SelfGroup
from midrange_puffer.game.actions import action_buffer, as_actions
from midrange_puffer.game.parameters import (
    LOADOUTS,
    PARAMETERS,
    SEATS,
    WINGMEN,
    checked_seed,
    has_height,
    is_team,
)
from midrange_puffer.game.records import summary
from midrange_puffer.gymnasium_import import gymnasium
from midrange_puffer.names import suggest

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent
    from midrange_puffer.policies.contestants import Mixed

NO_OPPONENT: Any = object()  # given as the opponent: both sides are agents
# Prefixes of options' names for red and blue: EQUALS with agents on both sides, the others by the
# agent's seat.
EQUALS = ("red_", "blue_")
BY_SEAT = (("", "enemy_"), ("enemy_", ""))


class _Quantity(NamedTuple):
    """Limits and unit of an option."""

    minimum: float
    maximum: float
    unit: str
    whole: bool = False


def _limits(low: str, high: str) -> _Quantity:
    """Returns the limits from the least of parameter `low` to the greatest of parameter `high`."""
    return _Quantity(PARAMETERS[low].minimum, PARAMETERS[high].maximum, PARAMETERS[low].unit)


_EPISODES = {
    "engagement": _Quantity(0, _core.MAX_START, "", whole=True),
    "episode": _Quantity(0, _core.MAX_START, "", whole=True),
}
_OF_FIGHTER = {
    "off_boresight_deg": _Quantity(-180, 180, "deg"),
    "speed": _limits("start_speed_min", "start_speed_max"),
    "ammunition": _Quantity(0, PARAMETERS["ammunition"].maximum, "missiles", whole=True),
}


def checked_options(
    options: Mapping[str, object] | None, prefixes: tuple[str, ...], num_envs: int
) -> dict[str, np.ndarray]:
    """Returns the options of a reset, each as float64 [num_envs].

    Args:
        options: numbers by name, one for all engagements or [num_envs].
        prefixes: prefixes of red's and blue's options; empty for teams, whose places cannot be set.
        num_envs: number of engagements.

    Raises:
        TypeError: The options are no dict.
        ValueError: A name is unknown, or a value is not a number, out of range, or of a shape other
            than () and [num_envs].
    """
    limits = dict(_EPISODES)
    if prefixes:
        limits["range"] = _limits("start_range_min", "start_range_max")
        limits |= {prefix + name: _OF_FIGHTER[name] for prefix in prefixes for name in _OF_FIGHTER}
    if not isinstance(options, Mapping | None):
        raise TypeError(f"options = {options!r}: must be a dict of numbers, or None")
    for name in options or {}:
        if name not in limits:
            raise ValueError(
                f"options[{name!r}]: must be of {', '.join(limits)}{suggest(str(name), limits)}"
            )
    return {
        name: np.broadcast_to(_checked(name, value, limits[name], num_envs), num_envs)
        for name, value in (options or {}).items()
    }


def _checked(name: str, value: object, quantity: _Quantity, num_envs: int) -> np.ndarray:
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"options[{name!r}] = {value!r}: must be a number")
    if numbers.shape not in ((), (num_envs,)):
        several = f" or {num_envs} of them" if num_envs > 1 else ""
        raise ValueError(f"options[{name!r}] of shape {numbers.shape}: must be a number{several}")
    minimum, maximum, unit, whole = quantity
    good = (minimum <= numbers) & (numbers <= maximum)  # also False for not-a-number
    if not good.all() or (whole and (numbers != np.floor(numbers)).any()):
        kind = "a whole number " if whole else ""
        limits = f"from {minimum:.10g} to {maximum:.10g} {unit}".rstrip()
        raise ValueError(f"options[{name!r}] = {value!r}: must be {kind}{limits}")
    return numbers.astype(float)


def place(
    core: _core.Core, env: int, options: Mapping[str, np.ndarray], prefixes: tuple[str, ...]
) -> None:
    """Moves the fighters of an engagement that has just started to the places that options give.

    Args:
        core: a core of one against one.
        env: the engagement.
        options: from `checked_options`; a quantity without an option keeps its drawn value.
        prefixes: prefixes of red's and blue's options.
    """
    fighters = [core.get_fighter(env, seat) for seat in range(_core.FIGHTERS)]
    red, blue = (np.array((fighter["x"], fighter["y"])) for fighter in fighters)
    line = (blue - red) / np.linalg.norm(blue - red)
    for seat, fighter in enumerate(fighters):
        own = {
            name: float(options[prefixes[seat] + name][env])
            for name in _OF_FIGHTER
            if prefixes[seat] + name in options
        }
        ahead = line if seat == 0 else -line  # toward the other fighter
        if "range" in options:
            fighter["x"], fighter["y"] = -options["range"][env] / 2 * ahead
        if "off_boresight_deg" in own:
            # If the other fighter is to the left of the nose, the nose is to the right of the line.
            cosine, sine = _core.direction(-own["off_boresight_deg"])
            fighter["direction_x"] = ahead[0] * cosine - ahead[1] * sine
            fighter["direction_y"] = ahead[0] * sine + ahead[1] * cosine
        given = fighter | own
        fighter["speed"], fighter["ammunition"] = given["speed"], int(given["ammunition"])
        core.set_fighter(env, seat, fighter)


class EpisodeArena(Arena):
    """An arena of one group with its own buffers, whose episodes start by seed and options.

    Args:
        given: arguments of the environment. The opponent is drawn for each episode. It may be
            `NO_OPPONENT`.
        wingmen: in teams the contestant that flies the other fighters of the agent's side, given
            like an opponent; None: `WINGMEN`. With `NO_OPPONENT` agents fly all fighters.
        auto_reset: True if the next episode of an engagement starts in the step in which one ends.

    Attributes:
        core: core of the engagements.
        actions: int32 or float32 [agents, heads], a buffer for the actions of a step.
    """

    def __init__(
        self, given: Arguments, wingmen: "Opponent | None" = None, auto_reset: bool = True
    ) -> None:
        self.auto_reset = auto_reset
        self._wingmen = wingmen
        super().__init__(given)
        self._started = self._open = False
        self._engagements = np.arange(self.num_envs)  # the seed's engagement in each place
        self._first_episode = 0  # engagement 0's episode at the last reset
        self.core = self.groups[0].core
        self.actions = action_buffer((self.agents, self.core.controls), self.action_mode)
        observations, final = np.zeros((2, self.agents, self.core.features), np.float32)
        rewards = np.zeros(self.agents, np.float32)
        terminals, truncations = np.zeros((2, self.agents), bool)
        final = final if auto_reset else None
        self.bind(Buffers(observations, rewards, terminals, truncations, final))

    def _make_groups(self, opponent: "Opponent", pool: Path | None) -> list[Group]:
        """Returns a single group, in which the opponent of each episode is drawn from the mix."""
        others = wingmen = None
        if opponent is not NO_OPPONENT:
            others = find_crew(opponent, self.observation, self._features, self.parameters)
        if self._sizes[self.seat] > 1 and opponent is not NO_OPPONENT:
            given = WINGMEN if self._wingmen is None else self._wingmen
            wingmen = find_crew(
                given, self.observation, self._features, self.parameters, argument="wingmen"
            )
        elif self._wingmen is not None:
            raise ValueError(
                f"wingmen = {reprlib.repr(self._wingmen)}: the agent's side has one fighter; "
                f"{SEATS[self.seat]}_size above 1 gives it wingmen"
            )
        self._prefixes = BY_SEAT[self.seat] if others else EQUALS
        if is_team(self.parameters):
            self._prefixes = ()
        shares = others.shares if others else {"agent": 1.0}
        core = self._make_core(self.num_envs, 0, shares, wingmen and wingmen.shares)
        if not others:
            return [SelfGroup(core, self._acts(), alone=True)]
        make_enemies, make_wingmen = (
            partial(self._make_crew, mixed, side) if mixed and mixed.outsiders else None
            for mixed, side in ((others, 1 - self.seat), (wingmen, self.seat))
        )
        if not (make_enemies or make_wingmen):
            return [Group(core, self.seat, self._acts())]
        return [FlownGroup(core, self.seat, self._acts(), make_enemies, 0, make_wingmen)]

    def _make_crew(self, mixed: "Mixed", side: int, _: int, size: int) -> Crew:
        """Makes a crew whose draws depend only on the seed, on engagement 0 and on its episode."""
        keys = (int(self._engagements[0]), self._first_episode)
        stream = np.random.SeedSequence((self.seed, side), spawn_key=keys)
        seed = int(stream.generate_state(1, np.uint64)[0])
        return OutsideCrew(mixed.outsiders, self.num_envs, seed, size, self._threads)

    def _refuse_ammunition(self, options: Mapping[str, object]) -> None:
        """Raises ValueError if options give a number of missiles to a side with a loadout."""
        for prefix, row in zip(self._prefixes, LOADOUTS, strict=False):
            if f"{prefix}ammunition" in options and self.parameters[row.name]:
                raise ValueError(
                    f"options['{prefix}ammunition']: this side carries the loadout {row.name} = "
                    f"{self.parameters[row.name]}"
                )

    def reset(self, seed: int | None, options: Mapping[str, object] | None) -> None:
        """Starts an episode of every engagement, and writes the observations to their buffer.

        Args:
            seed: a seed, whose episode 0 starts in every engagement. None: the next episodes of the
                present seed start; at the first reset a seed is drawn.
            options: as for `checked_options`.

        Raises:
            ValueError: The seed or an option is out of range, or there is no such option.
            TypeError: The options are no dict.
        """
        options = checked_options(options, self._prefixes, self.num_envs)
        self._refuse_ammunition(options)
        seed, engagements, episodes = self._next(seed, options)
        self._open = False  # stays so if an error interrupts the reset
        self._engagements, self._first_episode = engagements, int(episodes[0])
        self._started = True
        self.restart(seed)
        moved = np.flatnonzero((engagements != np.arange(self.num_envs)) | (episodes != 0))
        for env in moved:
            self.core.start(env, engagements[env], episodes[env])
        placed = range(0 if options.keys() <= _EPISODES.keys() else self.num_envs)
        for env in placed:
            place(self.core, env, options, self._prefixes)
        if len(moved) or len(placed):
            self.groups[0].observe()
            if self.view:
                self.view.reset(seed, int(engagements[0]))
        self._open = True
        self._show()

    def _next(
        self, seed: int | None, options: Mapping[str, np.ndarray]
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """Returns the seed of a reset, and its engagements and their episodes, int [num_envs]."""
        engagements, episodes = self._engagements, self.core.status()[3] + 1
        if seed is None and not self._started:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        if seed is not None:
            engagements = np.arange(self.num_envs)
        if seed is not None or "engagement" in options:
            episodes = np.zeros(self.num_envs)
        return (
            self.seed if seed is None else checked_seed(seed),
            options.get("engagement", engagements).astype(int),
            options.get("episode", episodes).astype(int),
        )

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Makes one step of every engagement, and writes the results to the buffers.

        Args:
            actions: [agents, heads], whole numbers; any numbers if actions are continuous.

        Returns:
            Records of the engagements that have ended in this step, array of `_core.RECORD`.

        Raises:
            ResetNeeded: There was no reset yet; or, without `auto_reset`, the episode has ended.
            ValueError: The actions have another shape, or a level is outside the action space.
            TypeError: The actions have another type.
            KeyboardInterrupt: The user has closed the window.
        """
        if not self._open:
            raise gymnasium.error.ResetNeeded("reset() before step()")
        if actions is not self.actions:  # those of other callers are checked
            actions = as_actions(actions, self.actions, levels=self.levels)
        self.fly(actions)
        records = self.groups[0].take_records()
        self._open = self.auto_reset or not len(records)
        self._show()
        return records

    def infos(self, records: np.ndarray, seat: int | None = None) -> list[dict[str, object]]:
        """Returns the `figures` of each finished engagement, by name."""
        infos = [{} for _ in records]
        for name, indices, values in self.figures(records, seat):
            for index, value in zip(indices.tolist(), values.tolist(), strict=True):
                infos[index][name] = value
        return infos

    def figures(
        self, records: np.ndarray, seat: int | None = None
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Yields the figures of finished engagements, seen from a seat, by default the agent's.

        Yields:
            Name, indices, values of each figure of `records.summary`; and of `opponent` (its name),
            if there is one. The indices are those of the records that have this figure: some
            figures exist only for engagements with shots.
        """
        seat = self.seat if seat is None else seat
        everywhere, with_shots = np.arange(len(records)), np.flatnonzero(records["shots"][:, seat])
        classed = not has_height(self.parameters)
        for name, values in summary(records, seat, classed).items():
            yield name, everywhere if len(values) == len(records) else with_shots, values
        if not isinstance(self.groups[0], SelfGroup):
            yield "opponent", everywhere, self.groups[0].opponents_of(records)

    def render(self) -> np.ndarray | None:
        """Returns a picture of engagement 0, uint8 [height, width, 3], with "rgb_array".

        Returns None with "human": then `reset` and `step` show the picture.

        Raises:
            ResetNeeded: There was no reset yet.
        """
        if not self._started:
            raise gymnasium.error.ResetNeeded("reset() before render()")
        return self.view.rgb() if self.view and self.render_mode == "rgb_array" else None

    def _show(self) -> None:
        if self.view and self.render_mode == "human":
            self.view.show()

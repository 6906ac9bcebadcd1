"""The engagements of an environment, for `Midrange` and the environments of other libraries.

`Arena` divides the engagements into groups, one for each kind of opponent, and holds the groups'
cores and buffers. `EpisodeArena` in episodes.py adds starts by seed and options.
"""

import copy
import importlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from midrange_puffer import _core
from midrange_puffer.envs.crews import FlownGroup, OutsideCrew, find_crew
from midrange_puffer.envs.groups import Acts, Buffers, Group, SelfGroup
from midrange_puffer.errors import require
from midrange_puffer.game.actions import CONTINUOUS
from midrange_puffer.game.envelope import core_map
from midrange_puffer.game.flown_types import flown_types
from midrange_puffer.game.observation import features_of, levels_of, spaces_of
from midrange_puffer.game.parameters import (
    POOL,
    SCRIPTED,
    SEATS,
    SELF,
    checked_choice,
    checked_num_envs,
    checked_order_decisions,
    checked_threads,
    observed,
    resolve,
    seat_weights,
    sizes_of,
)
from midrange_puffer.names import suggest
from midrange_puffer.policies.mix import FIGHTERS, OTHERS, divide

if TYPE_CHECKING:
    from midrange_puffer.envs.crews import Opponent
    from midrange_puffer.policies.subordinate import Subordinate

RENDER_MODES = ("human", "rgb_array")
VIEWER = "midrange_puffer.show.view.env_view"

# Parts of the docstrings of all environments: spaces, arguments of constructors, errors.
SPACES = """
Action space:
    orders: MultiDiscrete([4, 3, 1]), the heads of an order (docs/orders.md). A step is
    `order_decisions` decisions, and its reward their sum.
    discrete: MultiDiscrete([5, 3, 2]): levels of rudder -1 ... 1 (right ... left), throttle
    0 ... 1, fire no/yes. A level outside is an error.
    continuous: Box([-1, 0, 0], [1, 1, 1], (3,), float32): rudder and throttle anything between,
    fire yes above 0.5. Values outside are clipped; not-a-number counts as 0.
    In teams the levels of fire are the observed enemies: 0 no shot, 1 a shot at the first.
    With dimensions = 3 the climb stands after the rudder, -1 ... 1 (dive ... climb):
    MultiDiscrete([5, 5, 3, 2]), Box([-1, -1, 0, 0], [1, 1, 1, 1], (4,), float32).

Observation space:
    Box(-1, 1, (features,), float32), in the pilot's own frame: the clock, own state, enemy, own
    missiles in the air and inbound missiles, those with the least time to go first.
    `midrange_puffer.FEATURES` is the table of names, scales and meanings. With `observation="stg"`
    it is `STG_FEATURES`, which has further features: the places of both fighters in each other's
    missile envelope, and the distances by which inbound missiles would miss. With sensing = radar
    it is `RADAR_FEATURES`, with dimensions = 3 `HEIGHT_FEATURES` or `RADAR_HEIGHT_FEATURES`. Teams
    observe the rows of `team_rows`."""
OPPONENT = (
    'a pilot; a model: "trained", "champion" (that of the game) or a file (.pt, .onnx); a function '
    'by name ("module:name", "file.py:name"): observations float32 [n, features] -> actions '
    "[n, controls], where whole numbers are levels and others are controls; or a mix of these "
    '("shooter:1,fighter.onnx:3": drawn for each episode). Also a policy on the CPU, from '
    "`checkpoint.load_policy`. Policies "
    "draw their actions, and their memory is cleared at the start of an episode. Also such a "
    "function itself. "
    "It is called once when the environment is made, to check its actions"
)
ARGUMENTS = {
    "num_envs": "engagements side by side.",
    "opponent": OPPONENT + ". The observations are a buffer that is reused.",
    "seat": 'the agent\'s side, "red" or "blue".',
    "observation": '"default" or "stg"; with sensing = radar it is always "radar".',
    "action_mode": '"discrete", "continuous" or "orders".',
    "order_decisions": 'with action_mode = "orders": number of decisions for which an order is '
    "flown. If an engagement ends among them, the rest of them flies the next one with the same "
    "order; its rewards are left out.",
    "render_mode": '"human" shows every step of engagement 0 in a window, as long as it lasts; '
    'with "rgb_array" `render` returns a picture; None: nothing is rendered.',
    "isa": 'instruction set, "auto" for the best this machine has.',
    "threads": "number of threads that step the engagements, and compute a policy on the other "
    "side; the results do not depend on it.",
    "wingmen": "in teams (`red_size` or `blue_size` above 1), the contestant that flies the other "
    "fighters of the agent's side, by default evader; anything that may be an opponent. The agent "
    "flies the first fighter of its side; when that is dead, the agent observes zeros until the "
    "fight is decided.",
    "parameters": "rows of csrc/params.h.",
}
RAISES = {
    "ValueError": "an argument of the wrong name, type or range.",
    "TypeError": "an opponent that is none of these.",
    "UsageError": "a model or a function that cannot be used; pygame is not installed, or there is "
    'no display for "human".',
}
_Class = TypeVar("_Class", bound=type)


def documented(**own: str) -> Callable[[_Class], _Class]:
    """Returns a decorator that adds `SPACES`, `Args` and `Raises` to a class's docstring.

    Args:
        **own: texts of arguments that only this class has, or that differ from `ARGUMENTS`.
    """

    def complete(env_class: _Class) -> _Class:
        _, *arguments = inspect.signature(env_class.__init__).parameters.values()
        texts = {str(each).partition(":")[0]: (ARGUMENTS | own)[each.name] for each in arguments}
        lines = [inspect.cleandoc(env_class.__doc__ or ""), SPACES]
        for title, entries in {"Args": texts, "Raises": RAISES}.items():
            lines.append(f"\n{title}:")
            for name, text in entries.items():
                lines += textwrap.wrap(
                    f"{name}: {text}", 92, initial_indent=4 * " ", subsequent_indent=8 * " "
                )
        env_class.__doc__ = "\n".join(lines)
        return env_class

    return complete


def checked_render_mode(render_mode: str | None) -> str | None:
    """Returns the mode after checks.

    Raises:
        ValueError: It is neither None nor one of `RENDER_MODES`.
        UsageError: It needs pygame, which is not installed.
    """
    if render_mode is None:
        return None
    if render_mode not in RENDER_MODES:
        hint = suggest(str(render_mode), RENDER_MODES)
        raise ValueError(
            f"render_mode = {render_mode!r}: must be None or {', '.join(RENDER_MODES)}{hint}"
        )
    require("the viewer needs", "pygame")
    return render_mode


@dataclass(frozen=True)
class Arguments:
    """The arguments of an environment, as `ARGUMENTS` describes them.

    Attributes:
        env_class: the environment; error messages may suggest its arguments.
    """

    env_class: type
    num_envs: int
    opponent: "Opponent"
    seat: str
    observation: str
    action_mode: str
    order_decisions: int
    render_mode: str | None
    isa: str
    threads: int
    parameters: Mapping[str, object]
    subordinates: str | Path = ""


class Arena:
    """Engagements in groups, one for each kind of opponent: their cores, buffers and picture.

    Args:
        given: arguments of the environment.
        seed: seed of episode 0 of every engagement.
        pool: the pool's file, or None.

    Attributes:
        num_envs: number of engagements.
        seat: the agents' side, 0 (red) or 1 (blue), in engagements against other opponents than
            themselves.
        parameters: a value for each row of csrc/params.h.
        observation: the agents' observation in this game.
        action_mode, render_mode: checked arguments.
        order_decisions: number of decisions for which an order is flown; 0: no orders.
        levels: how many levels each head of an agent's action has; None: continuous actions.
        spaces: spaces of an agent.
        metadata: render_modes; and render_fps, decisions a second.
        seed: seed of the present episodes.
        counts: number of engagements of each group, by its kind of opponent.
        groups: the groups.
        agents: number of agents; they are numbered by group, engagement and fighter.
        rows: the agents of each group, as slices of the buffers.
        view: the `EnvView` of engagement 0; None without a render mode.
        buffers: the results of the last step.

    Raises:
        ValueError, TypeError, UsageError: see `RAISES`.
    """

    auto_reset = True  # in the step in which an episode ends, the engagement's next one starts

    def __init__(self, given: Arguments, seed: int = 0, pool: str | Path | None = None) -> None:
        self.parameters = resolve(given.parameters, given.env_class, teams=True)
        self.num_envs = checked_num_envs(given.num_envs)
        self.seat = SEATS.index(checked_choice("seat", given.seat))
        self.render_mode = checked_render_mode(given.render_mode)
        self.observation = observed(given.observation, self.parameters)
        self.action_mode = checked_choice("action_mode", given.action_mode)
        self.order_decisions = checked_order_decisions(given.order_decisions, self.action_mode)
        self._isa, self._threads = given.isa, checked_threads(given.threads)
        self._sizes = sizes_of(self.parameters)
        self._features = len(features_of(self.observation, *self._sizes))
        self.levels = None
        if self.action_mode != CONTINUOUS:
            self.levels = levels_of(self._features, self.action_mode)
        self._subordinate = None
        if given.subordinates:
            self._subordinate = self._load_subordinate(given.subordinates)
        # A copy, because a space has its own random numbers.
        spaces = spaces_of(self.observation, self.action_mode, *self._sizes, given.order_decisions)
        self.spaces = copy.deepcopy(spaces)
        decision = self.parameters["physics_dt"] * self.parameters["substeps"]
        step = decision * (self.order_decisions or 1)
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1 / step}
        self.seed = seed
        self.counts: dict[str, int] = {OTHERS: self.num_envs}
        self.groups = self._make_groups(given.opponent, pool)
        ends = np.cumsum([group.agents for group in self.groups]).tolist()
        self.rows = [slice(e - g.agents, e) for g, e in zip(self.groups, ends, strict=True)]
        self.agents: int = ends[-1]
        self.view = None
        if self.render_mode is not None:
            # Imported by name: only rendering needs pygame, and this room must not import viewers.
            view = importlib.import_module(VIEWER).EnvView
            self.view: Any = view(self.groups[0], self._seeds()[0], self.render_mode == "human")
            self.groups[0].watch = self.view.follow

    def _load_subordinate(self, path: str | Path) -> "Subordinate":
        """Returns what flies the agents' fighters by their orders."""
        from midrange_puffer.policies.loading import load_subordinate

        return load_subordinate(
            path, self.action_mode, self.observation, self._features, self._threads
        )

    def _make_groups(self, opponent: "Opponent", pool: str | Path | None) -> list[Group]:
        """Returns a group for each kind of opponent, with its share of the engagements."""
        if isinstance(opponent, str):
            self.counts = divide(self.num_envs, opponent)
        if POOL in self.counts and pool is None:
            raise ValueError(f"opponent = {opponent!r}: needs a pool's file, pool = None")
        allowed = (*FIGHTERS, SELF, POOL)
        others = find_crew(opponent, self.observation, self._features, self.parameters, allowed)
        pilots = {**others.shares, "agent": 0.0}
        groups: list[Group] = []
        for seed, (kind, count) in zip(self._seeds(), self.counts.items(), strict=True):
            core = self._make_core(count, seed, pilots if kind == SCRIPTED else {"agent": 1.0})
            acts = self._acts()
            if kind == SELF:
                groups.append(SelfGroup(core, acts, alone=len(self.counts) == 1))
            elif kind == POOL:
                # Imported here, because only environments with a pool need torch.
                from midrange_puffer.envs.pool_crew import PoolGroup

                groups.append(PoolGroup(core, self.seat, acts, Path(str(pool)), seed))
            elif kind == OTHERS:
                make_crew = partial(OutsideCrew, others.outsiders, count, threads=self._threads)
                groups.append(FlownGroup(core, self.seat, acts, make_crew, seed))
            else:
                groups.append(Group(core, self.seat, acts))
        return groups

    def _acts(self) -> Acts:
        """Returns how the agents act, for a group."""
        return Acts(self.action_mode, self.order_decisions, not self.auto_reset, self._subordinate)

    def _make_core(
        self,
        num_envs: int,
        seed: int,
        others: Mapping[str, float],
        wingmen: Mapping[str, float] | None = None,
    ) -> _core.Core:
        """Makes a core in which agents fly one side, and other controllers the rest.

        Args:
            num_envs: number of engagements.
            seed: seed of its random numbers.
            others: shares of the controllers of the other side; "agent" is flown from outside the
                core.
            wingmen: shares of the controllers of the agents' side except its first fighter; None:
                agents fly the whole side.
        """
        agent = seat_weights({"agent": 1.0})
        own = [agent] * self._sizes[self.seat]
        if wingmen:
            own[1:] = [seat_weights(wingmen)] * (len(own) - 1)
        sides = [own, [seat_weights(others)] * self._sizes[1 - self.seat]]
        return _core.Core(
            self.parameters, num_envs, seed, sides[self.seat] + sides[1 - self.seat],
            self.auto_reset, self._isa, core_map(self.parameters), self.observation,
            self._threads, flown_types(self.parameters),
        )  # fmt: skip

    def _seeds(self) -> list[int]:
        """Returns a seed for each group; if there is one group only, the arena's seed."""
        if len(self.counts) == 1:
            return [self.seed]
        streams = np.random.SeedSequence(self.seed).spawn(len(self.counts))
        return [int(stream.generate_state(1, np.uint64)[0]) for stream in streams]

    def bind(self, buffers: Buffers) -> None:
        """Stores the buffers, which the groups write into in place."""
        self.buffers = buffers
        for group, rows in zip(self.groups, self.rows, strict=True):
            group.bind(buffers.rows(rows))

    @property
    def isa(self) -> str:
        """The instruction set in use."""
        return self.groups[0].core.isa

    def restart(self, seed: int) -> None:
        """Starts episode 0 of every engagement, and writes the observations to their buffer."""
        self.seed = seed
        seeds = self._seeds()
        for group, group_seed in zip(self.groups, seeds, strict=True):
            group.reset(group_seed)
        for buffer in (self.buffers.rewards, self.buffers.terminals, self.buffers.truncations):
            buffer[:] = 0
        if self.view:
            self.view.reset(seeds[0])

    def fly(self, actions: np.ndarray) -> None:
        """Makes one step of every engagement, and writes the results to the buffers.

        Args:
            actions: [agents, heads], as `game.actions.as_actions` returns them.
        """
        for group, rows in zip(self.groups, self.rows, strict=True):
            group.step(actions[rows])

    def close(self) -> None:
        """Closes the window, if there is one; the cores are freed with this object."""
        if self.view:
            self.view.close()

"""A fight that humans may fly in, whose time can be paused, scaled and rewound.

Policies decide every `substeps` physics steps (0.5 s), which is slow for a human. A fight with a
human has a decision every physics step. A policy in it acts every `substeps` steps, as in
training, and holds its rudder and throttle in between; its orders are flown anew at every step.
Scripted pilots, whose rules do not depend on decisions, act at every step. A fight without a human
is flown as configured: a seed gives the same fight that `plot` draws.

In teams a human flies one fighter of a side, and may take over another at any time. Each fighter
has a wingman: the pilot or policy that flies it while the human does not.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer import _core
from midrange_puffer._core import DROP, SILENT
from midrange_puffer.errors import UsageError
from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.observation import features_of, observation_for
from midrange_puffer.game.orders import are_orders, carry_out, orders_in
from midrange_puffer.game.parameters import (
    HUMAN,
    SEATS,
    WINGMEN,
    checked_seed,
    game_controls,
    is_team,
    loadouts_of,
    resolve,
    sizes_of,
)
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import first_type_left, nearest_nose, shot_at
from midrange_puffer.policies.contestants import Mixed, MixedPlayer, player_for, try_out
from midrange_puffer.policies.mix import ONE_ONLY
from midrange_puffer.replays.crews import FIRE, PilotCrew, PlayerCrew
from midrange_puffer.replays.replay import AGENT, Recorder, Replay

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.policies.own_pilot import FunctionPlayer
    from midrange_puffer.policies.player import Player
    from midrange_puffer.replays.telemetry import Telemetry

TIME_SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MAX_LAG = 0.1  # most seconds of a frame that are flown, so that a slow machine plays slower
MARK_INTERVAL = 1.0  # s of the fight between two snapshots; a rewind flies the rest again
MAX_MARKS = 900  # snapshots kept, some 12 kB each; they limit a rewind


@dataclass(frozen=True)
class _Mark:
    """The complete state after a number of decisions."""

    decisions: int
    state: bytes
    commands: np.ndarray
    crews: list[Any]


class Session:
    """A series of engagements between two contestants, each flown in real time.

    Args:
        contestants: Contestants that fly red and blue: "human", "agent" (the caller sets its
            `commands`), a pilot's name, a policy on the CPU, or a function of observations. In
            teams also a list with a contestant for each fighter of the side, at most one of them a
            human; "human" alone has wingmen WINGMEN.
            The first contestant beside a human also flies the human's first fighter once the
            human has left it.
        names: The contestants' names.
        seed: Seed of the starts and of the policies' actions.
        greedy: Policies take the likeliest action instead of drawing one.
        **parameters: Rows of csrc/params.h.

    Attributes:
        sim, paths, recorder: The present fight.
        humans: Numbers of the fighters that humans fly, at most one of a side.
        agents: Numbers of the fighters whose commands the caller sets before each step.
        engagement: The start of the seed that the fight has.
        commands: float32 [fighters, controls], given with the next decision. Rudder, climb and
            throttle of a human or agent stay as they are set; a fire command is given once.
        paused: True while time stands still.
        time_scale: Time of the fight per real time, one of TIME_SCALES.

    Raises:
        ValueError: An argument has a wrong name, type or range, or is a mix.
        OwnCodeError: A function given by name fails, or returns no actions.
    """

    def __init__(
        self,
        contestants: Sequence["Contestant | Sequence[Contestant]"],
        names: Sequence[str] = SEATS,
        seed: int = 0,
        greedy: bool = False,
        **parameters: float,
    ) -> None:
        game = resolve(parameters, teams=True)
        self.contestants, (red, blue) = tuple(contestants), names
        self.names = red, blue
        self._game = game
        self._hold = 1  # decisions that a policy's action lasts
        if HUMAN in self._flown_by():
            self._hold, game["substeps"] = game["substeps"], 1
        self.decision = game["physics_dt"] * game["substeps"]  # s
        self._seed, self._greedy = checked_seed(seed), greedy
        self._telemetry: Telemetry | None = None
        self._make_simulation()
        names = game_controls(game).names
        self._columns = {name: column for column, name in enumerate(names)}
        self.commands = np.zeros((len(self._pilots), len(names)), np.float32)
        self.paused = False
        self.time_scale = 1.0
        self._mark_interval = max(round(MARK_INTERVAL / self.decision), 1)
        self.start(0)

    # Contestants

    def _flown_by(self) -> list["Contestant"]:
        """Returns the first contestant of each fighter, by its number.

        Raises:
            UsageError: A contestant is a mix, their number is not that of the fighters, or more
                than one of a side is a human.
        """
        flown_by = []
        for side, given, size in zip(SEATS, self.contestants, sizes_of(self._game), strict=True):
            contestants = list(given) if isinstance(given, list | tuple) else [given] * size
            if given == HUMAN:
                contestants[1:] = [WINGMEN] * (size - 1)
            if len(contestants) != size:
                raise UsageError(f"{side}: {len(contestants)} contestants; {side}_size is {size}")
            for contestant in contestants:
                if isinstance(contestant, Mixed):
                    raise UsageError(f"{side} = {contestant.title}: {ONE_ONLY}")
            if (humans := contestants.count(HUMAN)) > 1:
                raise UsageError(f"{side}: {humans} humans; at most one flies on a side")
            flown_by += contestants
        return flown_by

    def _groups(self) -> list[tuple["Contestant | None", list[int]]]:
        """Returns each wingman with its fighters of one side, red's first.

        The wingman is None for a human without wingmen.
        """
        flown_by, red = self._flown_by(), sizes_of(self._game)[0]
        fighters: dict[tuple, list[int]] = {}
        for first, side in ((0, flown_by[:red]), (red, flown_by[red:])):
            first_wingman = next((contestant for contestant in side if contestant != HUMAN), None)
            for number, contestant in enumerate(side, first):
                wingman = first_wingman if contestant == HUMAN else contestant
                fighters.setdefault((first, wingman), []).append(number)
        return [(wingman, numbers) for (_, wingman), numbers in fighters.items()]

    def _make_simulation(self) -> None:
        """Makes the simulation; fighters that a human may take over are agents in it."""
        flown_by, sizes = self._flown_by(), sizes_of(self._game)
        self.humans, self.agents = (
            [number for number, contestant in enumerate(flown_by) if contestant == name]
            for name in (HUMAN, AGENT)
        )
        self._pilots = [
            contestant
            if isinstance(contestant, str) and self.human_beside(number) is None
            else AGENT
            for number, contestant in enumerate(flown_by)
        ]
        players = (
            self._make_player(contestant, len(numbers), index)
            for index, (contestant, numbers) in enumerate(self._groups())
            if contestant is not None and not isinstance(contestant, str)
        )
        observation = observation_for(players, self._game)
        try_out(flown_by, len(features_of(observation, *sizes)))
        sides = self._pilots[: sizes[0]], self._pilots[sizes[0] :]
        # Simulation adds the rest of the game to the name.
        observation = "stg" if _core.parts_of(observation)[0] == "stg" else "default"
        # The permission "tight" of an order fires by the envelope.
        may_order = AGENT in flown_by or any(getattr(c, "order_decisions", 0) for c in flown_by)
        self.sim = Simulation(
            1, self._seed, *sides, observation=observation, envelope=may_order, **self._game
        )

    def _make_crews(self) -> list[PlayerCrew | PilotCrew]:
        """Returns the crews of all agents that no human flies."""
        crews = []
        for index, (contestant, numbers) in enumerate(self._groups()):
            if contestant in (None, AGENT) or self._pilots[numbers[0]] != AGENT:
                continue
            if isinstance(contestant, str):
                crews.append(
                    PilotCrew(numbers, contestant, self._seed, self.engagement, self._game)
                )
            else:
                crews.append(
                    PlayerCrew(numbers, self._make_player(contestant, len(numbers), index))
                )
        return crews

    def _make_player(
        self, contestant: "Contestant", count: int, index: int
    ) -> "Player | FunctionPlayer":
        """Returns the player of a policy or function for `count` fighters."""
        # Imported here, so that a fight without a policy starts at once, without torch.
        from midrange_puffer.policies.player import player_seed

        seed, teams = player_seed(self._seed, index), np.zeros(count, int)
        player = player_for(contestant, count, seed, self._greedy, teams=teams)
        assert not isinstance(player, MixedPlayer)  # a crew has one contestant
        return player

    # Fights

    def meet(self, side: int, pilot: str) -> None:
        """Replaces a side's contestant by a pilot, and begins the same start again."""
        contestants, names = list(self.contestants), list(self.names)
        contestants[side] = names[side] = pilot
        self.contestants, self.names = tuple(contestants), (names[0], names[1])
        self._make_simulation()
        self.start(self.engagement)

    def start(self, engagement: int) -> None:
        """Begins a fight at a start of the seed; equal starts are equal."""
        self.engagement = engagement
        self.sim.start(0, engagement)
        self.paths = Paths(self.sim)
        self.recorder = Recorder(
            self.sim,
            seed=self._seed,
            pilots=self._pilots,
            names=self.names,
            engagement=engagement,
        )
        self._begin_stream()
        self._crews = self._make_crews()
        # Chosen by humans, by fighter: the enemy, and the missile's place in the loadout.
        self._targets: dict[int, int | None] = {}
        self._kinds: dict[int, int] = {}
        self.commands[:] = 0
        self.commands[:, self._columns["throttle"]] = self.sim.fighters["throttle"][0]
        self._due = 0.0  # s of the fight still to be flown
        self._marks: deque[_Mark] = deque(maxlen=MAX_MARKS)
        self._set_mark()

    def stream(self, telemetry: "Telemetry | None") -> None:
        """Streams this fight and all later ones; `advance` sends what is new. None: no more."""
        self._telemetry = telemetry
        self._begin_stream()

    def _begin_stream(self) -> None:
        if self._telemetry is not None:
            pilots = self.replay().fighter_names
            self._telemetry.begin(self.sim, names=self.names, pilots=pilots, paths=self.paths)

    @property
    def over(self) -> bool:
        """True if the fight has an outcome."""
        return bool(self.sim.outcome[0])

    @property
    def time(self) -> float:
        """The time of the fight to show [s], up to one decision behind the flown time."""
        flown = self.paths.time
        return flown if self.over else max(flown - self.decision + self._due, 0.0)

    @property
    def sides(self) -> dict[int, int]:
        """The fighters that humans fly, by their sides: red (0) and blue (1)."""
        red, _ = sizes_of(self._game)
        return {int(fighter >= red): fighter for fighter in self.humans}

    def side_of(self, fighter: int) -> range:
        """Returns the numbers of the fighters of a fighter's side."""
        red, blue = sizes_of(self._game)
        return range(red) if fighter < red else range(red, red + blue)

    def human_beside(self, fighter: int) -> int | None:
        """Returns the fighter that a human flies on a fighter's side; None if none does."""
        return next((human for human in self.humans if human in self.side_of(fighter)), None)

    # Controls of humans

    def take_over(self, fighter: int) -> None:
        """Gives a fighter to the human of its side; a wingman continues with the one left.

        Raises:
            ValueError: No human flies on its side.
        """
        left = self.human_beside(fighter)
        if left is None:
            raise ValueError(f"fighter {fighter}: no human flies on its side")
        self.humans[self.humans.index(left)] = fighter
        self.commands[[left, fighter], FIRE] = 0

    def aim(self, fighter: int, enemy: int | None) -> None:
        """Chooses the enemy of a fighter's shots while it lives; None: as `target` says."""
        self._targets[fighter] = enemy

    def target(self, fighter: int) -> int | None:
        """Returns the enemy of a fighter's shots: the chosen one, else the one nearest its nose."""
        enemy = self._targets.get(fighter)
        if enemy is not None and self.sim.fighters["alive"][0, enemy]:
            return enemy
        return nearest_nose(self.sim, fighter)

    def missiles_left(self, fighter: int) -> tuple[int, ...]:
        """Returns the missiles that a fighter has left of each type in its loadout."""
        types = len(loadouts_of(self._game)[int(fighter >= sizes_of(self._game)[0])])
        return self.paths.fighters[fighter].missiles_left()[:types]

    def kind(self, fighter: int) -> int:
        """Returns the place in its loadout of the type of a fighter's shots.

        It is the chosen one while missiles of it are left, else the first that is left.
        """
        kind = self._kinds.get(fighter, 0)
        return kind if self.missiles_left(fighter)[kind] else first_type_left(self.sim, fighter)

    def choose_next_kind(self, fighter: int) -> None:
        """Chooses the next type in a fighter's loadout of which missiles are left."""
        left, kind = self.missiles_left(fighter), self.kind(fighter)
        after = ((kind + step) % len(left) for step in range(1, len(left)))
        self._kinds[fighter] = next((place for place in after if left[place]), kind)

    def steer(self, fighter: int, rudder: float) -> None:
        """Sets a human's rudder, 1 left to -1 right."""
        self.commands[fighter, self._columns["rudder"]] = rudder

    def climb(self, fighter: int, climb: float) -> None:
        """Sets a human's climb, 1 steepest climb to -1 steepest dive, in a game with height."""
        self.commands[fighter, self._columns["climb"]] = climb

    def move_throttle(self, fighter: int, change: float) -> None:
        """Moves a human's throttle lever, which stays where it is put."""
        lever = fighter, self._columns["throttle"]
        self.commands[lever] = np.clip(self.commands[lever] + change, 0, 1)

    def fire(self, fighter: int) -> None:
        """Commands one launch of its `kind` at the fighter's `target`, with the next decision."""
        enemy, shot = self.target(fighter), 1 + self.kind(fighter)
        if is_team(self.sim.parameters) and enemy is not None:
            shot = shot_at(self.sim, fighter, enemy)
        self.commands[fighter, FIRE] = shot

    def switch_radar(self, fighter: int) -> None:
        """Switches a human's radar off or on, with the next decision."""
        place = fighter, self._columns[SYSTEMS]
        self.commands[place] = int(self.commands[place]) ^ SILENT

    def drop_chaff(self, fighter: int) -> None:
        """Commands one cartridge of a human's chaff, with the next decision."""
        place = fighter, self._columns[SYSTEMS]
        self.commands[place] = int(self.commands[place]) | DROP

    # Time

    def scale_time(self, faster: bool) -> None:
        """Takes the next faster or slower time scale."""
        index = TIME_SCALES.index(self.time_scale) + (1 if faster else -1)
        self.time_scale = TIME_SCALES[min(max(index, 0), len(TIME_SCALES) - 1)]

    def advance(self, seconds: float) -> None:
        """Lets real time pass [s], and flies the decisions that come due in it."""
        if not (self.paused or self.over):
            self._due += min(seconds, MAX_LAG) * self.time_scale
            while self._due >= self.decision:
                self._due -= self.decision
                self.step()
                if self.over:
                    self._due = 0.0
        if self._telemetry is not None:
            self._telemetry.note()

    def step(self, given: np.ndarray | None = None) -> None:
        """Flies one decision with `commands`, after the crews have set theirs.

        Args:
            given: Commands of all fighters that replace these, float32 [fighters, controls].
        """
        for crew in self._crews:
            if crew.decides_always or len(self.recorder) % self._hold == 0:
                commands = crew.commands(self.sim)
                flies = ~np.isin(crew.fighters, self.humans)
                self.commands[crew.fighters[flies]] = commands[flies]
        free = ~are_orders(self.commands)  # an order stands until its crew gives the next
        if given is not None:
            self.commands[free] = given[free]
        flown = self.commands.copy() if given is None else np.array(given, np.float32)
        carry_out(self.sim.core, flown[None])
        self.sim.step(flown[None])
        self.recorder.add(flown, orders_in(self.commands))
        self.paths.note()
        self.commands[free, FIRE] = 0
        if SYSTEMS in self._columns:  # a radar stays as it is, a cartridge is dropped once
            systems = self.commands[:, self._columns[SYSTEMS]]
            systems[free] = systems[free].astype(int) & SILENT
        if len(self.recorder) % self._mark_interval == 0:
            self._set_mark()

    def rewind(self, decisions: int) -> None:
        """Takes back a number of decisions, at most to the oldest snapshot.

        The state is then bit for bit the earlier one, with the policies' random numbers.
        """
        target = max(len(self.recorder) - decisions, self._marks[0].decisions)
        flown = self.recorder.replay().controls
        while self._marks[-1].decisions > target:
            self._marks.pop()
        mark = self._marks[-1]
        self.sim.restore(mark.state)
        for crew, snapshot in zip(self._crews, mark.crews, strict=True):
            crew.restore(snapshot)
        self.paths.cut_back()
        self.recorder.truncate(mark.decisions)
        self.commands[:] = mark.commands
        self._due = 0.0
        for given in flown[mark.decisions : target]:
            self.step(given)
        if self._telemetry is not None:
            self._telemetry.note()

    def replay(self) -> Replay:
        """Returns the replay of the present fight up to now."""
        return self.recorder.replay()

    def _set_mark(self) -> None:
        crews = [crew.snapshot() for crew in self._crews]
        mark = _Mark(len(self.recorder), self.sim.snapshot(), self.commands.copy(), crews)
        self._marks.append(mark)

"""A fight that people may be in, whose time can be stopped, stretched and taken back.

How often people decide: policies are made for a decision every `substeps` physics steps (0.5 s),
which is slow for a hand. A fight with a human in it is therefore flown with a decision every
physics step. A policy in it still acts every `substeps` steps only, as it was trained, and holds
its rudder and throttle in between; scripted pilots, whose rules know of no decisions, look at every
step. Without a human the game is flown just as it is configured, and a seed gives the very fight
that `plot` draws.

In teams a human flies one fighter of a side, and may take over another at any time. For each there
is a wingman: a pilot or policy that flies it while the human does not.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import features_of, observation_for
from midrange_puffer.game.parameters import (
    HUMAN,
    SEATS,
    WINGMEN,
    checked_seed,
    is_team,
    resolve,
    sizes_of,
)
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.targets import nearest_nose, shot_at
from midrange_puffer.policies.contestants import Mixed, player_for, try_out
from midrange_puffer.policies.mix import ONE_ONLY
from midrange_puffer.replays.crews import PilotCrew, PlayerCrew
from midrange_puffer.replays.replay import Recorder, Replay

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.policies.player import Player

RUDDER, THROTTLE, FIRE = range(3)
TIME_SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MAX_LAG = 0.1  # s: what a frame took longer is lost, so that a slow machine plays slower
MARK_INTERVAL = 1.0  # s of the fight from one snapshot to the next; what is between is flown again
MAX_MARKS = 900  # snapshots kept, some 12 kB each: how far one can go back


@dataclass(frozen=True)
class _Mark:
    """How everything stood after so many decisions."""

    decisions: int
    state: bytes
    commands: np.ndarray
    crews: list[object]


class Session:
    """One engagement after another between two contestants, each flown by real time.

    Args:
        contestants: Who flies red and blue: "human", a pilot's name, a policy on the CPU, or a
            function of observations. In teams also a list with one of these for each fighter of
            the side, of whom one may be a human; the wingmen of a human alone are WINGMEN. Whoever
            comes first beside a human also flies the human's first fighter, once it is left.
        names: What they are called.
        seed: Of the starts and of the policies' actions.
        greedy: Policies take the likeliest action instead of drawing one.
        **parameters: Rows of csrc/params.h.

    Attributes:
        sim, paths, recorder: Of the present fight.
        humans: The fighters that people fly, by their numbers, at most one of a side.
        engagement: Which start of the seed it has.
        commands: float32 [fighters, 3], given with the next decision. A human's rudder and throttle
            stay as they are set; fire is taken back once it is given.
        paused: Whether time stands still.
        time_scale: Time of the fight to real time, one of TIME_SCALES.

    Raises:
        ValueError: An argument of the wrong name, type or range, or a mix.
        OwnCodeError: A function by name fails, or gives what are no actions.
    """

    def __init__(
        self,
        contestants: Sequence["Contestant"],
        names: Sequence[str] = SEATS,
        seed: int = 0,
        greedy: bool = False,
        **parameters: float,
    ) -> None:
        game = resolve(parameters, teams=True)
        self.contestants, self.names = tuple(contestants), tuple(names)
        self._game = game
        self._hold = 1  # decisions that a policy's action lasts
        if HUMAN in self._flown_by():
            self._hold, game["substeps"] = game["substeps"], 1
        self.decision = game["physics_dt"] * game["substeps"]  # s
        self._seed, self._greedy = checked_seed(seed), greedy
        self._make_simulation()
        self.commands = np.zeros((len(self._pilots), 3), np.float32)
        self.paused = False
        self.time_scale = 1.0
        self._mark_interval = max(round(MARK_INTERVAL / self.decision), 1)
        self.start(0)

    def _flown_by(self) -> list["Contestant"]:
        """Who flies each fighter at first, by its number.

        Raises:
            UsageError: It is a mix, or they are not as many as there are fighters, or more than one
                is a human.
        """
        flown_by = []
        for side, who, size in zip(SEATS, self.contestants, sizes_of(self._game), strict=True):
            each = list(who) if isinstance(who, list | tuple) else [who] * size
            if who == HUMAN:
                each[1:] = [WINGMEN] * (size - 1)
            if len(each) != size:
                raise UsageError(f"{side}: {len(each)} contestants; {side}_size is {size}")
            for one in each:
                if isinstance(one, Mixed):
                    raise UsageError(f"{side} = {one.title}: {ONE_ONLY}")
            if each.count(HUMAN) > 1:
                raise UsageError(f"{side}: {each.count(HUMAN)} humans; at most one flies on a side")
            flown_by += each
        return flown_by

    def _wingmen(self) -> list["Contestant | None"]:
        """Who flies each fighter where no human does; None for a human who flies alone."""
        flown_by, red = self._flown_by(), sizes_of(self._game)[0]
        wingmen = []
        for side in (flown_by[:red], flown_by[red:]):
            others = [who for who in side if who != HUMAN]
            wingmen += [who if who != HUMAN else next(iter(others), None) for who in side]
        return wingmen

    def _make_simulation(self) -> None:
        """One in which the contestants meet. Whom a human may take over is an agent in it."""
        flown_by, sizes = self._flown_by(), sizes_of(self._game)
        self.humans = [number for number, who in enumerate(flown_by) if who == HUMAN]
        self._pilots = [
            who if isinstance(who, str) and self.human_beside(number) is None else "agent"
            for number, who in enumerate(flown_by)
        ]
        players = (
            self._make_player(who, len(numbers), index)
            for index, (who, numbers) in enumerate(self._groups())
            if who is not None and not isinstance(who, str)
        )
        observation = observation_for(players, self._game)
        try_out(flown_by, len(features_of(observation, *sizes)))
        sides = self._pilots[: sizes[0]], self._pilots[sizes[0] :]
        observation = "default" if is_team(self._game) else observation
        self.sim = Simulation(1, self._seed, *sides, observation=observation, **self._game)

    def meet(self, side: int, pilot: str) -> None:
        """Have another pilot fly a side, from the same start."""
        contestants, names = list(self.contestants), list(self.names)
        contestants[side] = names[side] = pilot
        self.contestants, self.names = tuple(contestants), tuple(names)
        self._make_simulation()
        self.start(self.engagement)

    def start(self, engagement: int) -> None:
        """Begin a fight at a start of the seed; the same one again is the same fight again."""
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
        self._crews = self._make_crews()
        self._targets: dict[int, int | None] = {}  # that humans have chosen, by fighter
        self.commands[:] = 0
        self.commands[:, THROTTLE] = self.sim.fighters["throttle"][0]
        self._due = 0.0  # s of the fight that are to be flown
        self._marks: deque[_Mark] = deque(maxlen=MAX_MARKS)
        self._set_mark()

    @property
    def over(self) -> bool:
        """Whether the fight has an outcome."""
        return bool(self.sim.outcome[0])

    @property
    def time(self) -> float:
        """What is to be shown of the fight [s]: what was flown, up to one decision late."""
        flown = self.paths.time
        return flown if self.over else max(flown - self.decision + self._due, 0.0)

    @property
    def sides(self) -> dict[int, int]:
        """The fighters that people fly, by their sides: red (0) and blue (1)."""
        red, _ = sizes_of(self._game)
        return {int(fighter >= red): fighter for fighter in self.humans}

    def human_beside(self, fighter: int) -> int | None:
        """The fighter that a human flies on the side of a fighter; None if none does."""
        return next((one for one in self.humans if one in self.side_of(fighter)), None)

    def take_over(self, fighter: int) -> None:
        """Have the human of its side fly a fighter; a wingman goes on with the one that is left.

        Raises:
            ValueError: No human flies on its side.
        """
        left = self.human_beside(fighter)
        if left is None:
            raise ValueError(f"fighter {fighter}: no human flies on its side")
        self.humans[self.humans.index(left)] = fighter
        self.commands[[left, fighter], FIRE] = 0

    def aim(self, fighter: int, enemy: int | None) -> None:
        """Choose whom a fighter's shots are at, as long as that enemy lives; None: see `target`."""
        self._targets[fighter] = enemy

    def target(self, fighter: int) -> int | None:
        """Whom a shot of a fighter is at: the chosen enemy, or else the one nearest its nose."""
        enemy = self._targets.get(fighter)
        if enemy is not None and self.sim.fighters["alive"][0, enemy]:
            return enemy
        return nearest_nose(self.sim, fighter)

    def side_of(self, fighter: int) -> range:
        """The fighters of its side, by their numbers."""
        red, blue = sizes_of(self._game)
        return range(red) if fighter < red else range(red, red + blue)

    def steer(self, fighter: int, rudder: float) -> None:
        """Put a human's rudder: 1 left to -1 right."""
        self.commands[fighter, RUDDER] = rudder

    def move_throttle(self, fighter: int, change: float) -> None:
        """Move a human's throttle lever, which stays where it is put."""
        self.commands[fighter, THROTTLE] = np.clip(self.commands[fighter, THROTTLE] + change, 0, 1)

    def fire(self, fighter: int) -> None:
        """Ask for one launch, at the next decision, at the fighter's `target`."""
        enemy = self.target(fighter)
        self.commands[fighter, FIRE] = 1 if enemy is None else shot_at(self.sim, fighter, enemy)

    def scale_time(self, faster: bool) -> None:
        """Take the next time scale."""
        index = TIME_SCALES.index(self.time_scale) + (1 if faster else -1)
        self.time_scale = TIME_SCALES[min(max(index, 0), len(TIME_SCALES) - 1)]

    def advance(self, seconds: float) -> None:
        """Let so much real time pass: fly the decisions that come due in it."""
        if self.paused or self.over:
            return
        self._due += min(seconds, MAX_LAG) * self.time_scale
        while self._due >= self.decision:
            self._due -= self.decision
            self.step()
            if self.over:
                self._due = 0.0

    def step(self, given: np.ndarray | None = None) -> None:
        """Fly one decision with the commands as they are, and those of the policies.

        Args:
            given: Commands of all that are given instead, float32 [fighters, 3].
        """
        for crew in self._crews:
            if crew.decides_always or len(self.recorder) % self._hold == 0:
                commands = crew.commands(self.sim)
                flies = ~np.isin(crew.fighters, self.humans)
                self.commands[crew.fighters[flies]] = commands[flies]
        if given is not None:
            self.commands[:] = given
        self.sim.step(self.commands[None])
        self.recorder.add(self.commands)
        self.paths.note()
        self.commands[:, FIRE] = 0
        if len(self.recorder) % self._mark_interval == 0:
            self._set_mark()

    def rewind(self, decisions: int) -> None:
        """Take back so many decisions, at most to the oldest snapshot that is left.

        Everything is then as it was to the bit, what will be drawn for the policies included.
        """
        target = max(len(self.recorder) - decisions, self._marks[0].decisions)
        flown = self.recorder.replay().controls
        while self._marks[-1].decisions > target:
            self._marks.pop()
        mark = self._marks[-1]
        self.sim.restore(mark.state)
        for crew, kept in zip(self._crews, mark.crews, strict=True):
            crew.restore(kept)
        self.paths.cut_back()
        self.recorder.truncate(mark.decisions)
        self.commands[:] = mark.commands
        self._due = 0.0
        for given in flown[mark.decisions : target]:
            self.step(given)

    def replay(self) -> Replay:
        """The present fight up to now."""
        return self.recorder.replay()

    def _groups(self) -> list[tuple["Contestant | None", list[int]]]:
        """Who flies where no human does, and their fighters of a side, red's first."""
        fighters: dict[tuple, list[int]] = {}
        for number, who in enumerate(self._wingmen()):
            fighters.setdefault((self.side_of(number), who), []).append(number)
        return [(who, numbers) for (_, who), numbers in fighters.items()]

    def _make_crews(self) -> list[PlayerCrew | PilotCrew]:
        """All that command fighters from outside the core, but people."""
        crews = []
        for index, (who, numbers) in enumerate(self._groups()):
            if who is None or self._pilots[numbers[0]] != "agent":
                continue
            if isinstance(who, str):
                crews.append(PilotCrew(numbers, who, self._seed, self.engagement, self._game))
            else:
                player = self._make_player(who, len(numbers), index)
                crews.append(PlayerCrew(numbers, player))
        return crews

    def _make_player(self, who: "Contestant", count: int, index: int) -> "Player":
        """What a policy or a function flies so many fighters with."""
        # Here, so that a fight without a policy begins without torch, at once.
        from midrange_puffer.policies.player import player_seed

        return player_for(who, count, player_seed(self._seed, index), self._greedy)

    def _set_mark(self) -> None:
        crews = [crew.snapshot() for crew in self._crews]
        mark = _Mark(len(self.recorder), self.sim.snapshot(), self.commands.copy(), crews)
        self._marks.append(mark)

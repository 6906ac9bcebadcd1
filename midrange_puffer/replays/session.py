"""A fight that people may be in, whose time can be stopped, stretched and taken back.

How often people decide: policies are made for a decision every `substeps` physics steps (0.5 s),
which is slow for a hand. A fight with a human in it is therefore flown with a decision every
physics step. A policy in it still acts every `substeps` steps only, as it was trained, and holds
its rudder and throttle in between; scripted pilots, whose rules know of no decisions, look at every
step. Without a human the game is flown just as it is configured, and a seed gives the very fight
that `plot` draws.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import _core
from midrange_puffer.errors import UsageError
from midrange_puffer.game.observation import observation_for
from midrange_puffer.game.parameters import HUMAN, SEATS, checked_seed, resolve
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.policies.contestants import Mixed, player_for, try_out
from midrange_puffer.policies.mix import ONE_ONLY
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
    players: dict[int, tuple]


class Session:
    """One engagement after another between two contestants, each flown by real time.

    Args:
        contestants: Who flies red and blue: "human", a pilot's name, a policy on the CPU, or a
            function of observations.
        names: What they are called.
        seed: Of the starts and of the policies' actions.
        greedy: Policies take the likeliest action instead of drawing one.
        **parameters: Rows of csrc/params.h.

    Attributes:
        sim, paths, recorder: Of the present fight.
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
        game = resolve(parameters)
        for seat, who in zip(SEATS, contestants, strict=True):
            if isinstance(who, Mixed):
                raise UsageError(f"{seat} = {who.title}: {ONE_ONLY}")
        self.contestants, self.names = tuple(contestants), tuple(names)
        self._game = game
        self.humans = [seat for seat, who in enumerate(self.contestants) if who == HUMAN]
        self._hold = 1  # decisions that a policy's action lasts
        if self.humans:
            self._hold, game["substeps"] = game["substeps"], 1
        self.decision = game["physics_dt"] * game["substeps"]  # s
        self._seed, self._greedy = checked_seed(seed), greedy
        self._make_simulation()
        self.commands = np.zeros((len(SEATS), 3), np.float32)
        self.paused = False
        self.time_scale = 1.0
        self._mark_interval = max(round(MARK_INTERVAL / self.decision), 1)
        self.start(0)

    def _make_simulation(self) -> None:
        """One in which the contestants meet."""
        self._pilots = tuple(
            "agent" if who == HUMAN or not isinstance(who, str) else who for who in self.contestants
        )
        observation = self._least_observation()
        try_out(self.contestants, _core.OBSERVATIONS[observation])
        self.sim = Simulation(1, self._seed, *self._pilots, observation=observation, **self._game)

    def meet(self, seat: int, pilot: str) -> None:
        """Have another pilot fly a seat, from the same start."""
        contestants, names = list(self.contestants), list(self.names)
        contestants[seat] = names[seat] = pilot
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
        self._players = self._make_players()
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

    def steer(self, seat: int, rudder: float) -> None:
        """Put a human's rudder: 1 left to -1 right."""
        self.commands[seat, RUDDER] = rudder

    def move_throttle(self, seat: int, change: float) -> None:
        """Move a human's throttle lever, which stays where it is put."""
        self.commands[seat, THROTTLE] = np.clip(self.commands[seat, THROTTLE] + change, 0, 1)

    def fire(self, seat: int) -> None:
        """Ask for one launch, at the next decision."""
        self.commands[seat, FIRE] = 1

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

    def step(self) -> None:
        """Fly one decision with the commands as they are, and those of the policies."""
        if len(self.recorder) % self._hold == 0:
            seen = self.sim.observe()
            for seat, player in self._players.items():
                self.commands[seat] = player.act(seen[:, seat], np.array([0]))[0]
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
        for seat, player in self._players.items():
            player.restore(mark.players[seat])
        self.paths.cut_back()
        self.recorder.truncate(mark.decisions)
        self.commands[:] = mark.commands
        self._due = 0.0
        for given in flown[mark.decisions : target]:
            self.commands[self.humans] = given[self.humans]
            self.step()

    def replay(self) -> Replay:
        """The present fight up to now."""
        return self.recorder.replay()

    def _least_observation(self) -> str:
        """The observation in which all policies find what they see."""
        players = self._make_players().values()
        return observation_for(players, self._game)

    def _make_players(self) -> dict[int, "Player"]:
        """Of the seats that policies fly."""
        policies = {
            seat: who for seat, who in enumerate(self.contestants) if not isinstance(who, str)
        }
        if not policies:
            return {}
        # Here, so that a fight without a policy begins without torch, at once.
        from midrange_puffer.policies.player import player_seed

        return {
            seat: player_for(who, 1, player_seed(self._seed, seat), self._greedy)
            for seat, who in policies.items()
        }

    def _set_mark(self) -> None:
        players = {seat: player.snapshot() for seat, player in self._players.items()}
        mark = _Mark(len(self.recorder), self.sim.snapshot(), self.commands.copy(), players)
        self._marks.append(mark)

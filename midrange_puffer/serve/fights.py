"""Fights whose seats are flown from outside, by one client or several at a time.

Time stands still until each seat has controls for the present decision, or it runs at a rate.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from midrange_puffer.game.orders import ORDER, are_orders, in_words, orders_in
from midrange_puffer.game.parameters import SEATS, fighter_names, sizes_of
from midrange_puffer.game.records import DRAW, RED_WINS, outcome_words
from midrange_puffer.names import suggest
from midrange_puffer.replays.recorder import save
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.replays.session import Session
from midrange_puffer.serve.commands import DECISION, FIRE, Commands, RefusedError, short, whole
from midrange_puffer.serve.state import Reader
from midrange_puffer.serve.words import describe

RESULTS = {0: "open", RED_WINS: f"{SEATS[0]} wins", RED_WINS + 1: f"{SEATS[1]} wins", DRAW: "draw"}
SEATS_GIVEN = "seats"  # name in the body of a command to a side


class Fights:
    """A series of fights, from the starts of a session's seed. Threads may share it.

    Args:
        session: The fights. The clients fly its `agents`.
        clock: Seconds of the fight per real second; None: time stands still until every living
            seat has controls for the decision. A running clock begins once every seat has had
            controls.
        count: The number of fights; None: no limit.
        folder: Folder of a replay of each fight; None: none are written.
        report: Called with a line about the end of each fight.

    Attributes:
        seats: The fighters that clients fly, by their names.
        clock: As given.
        commands: What seats may be given, and its checks.
    """

    def __init__(
        self,
        session: Session,
        clock: float | None = None,
        count: int | None = None,
        folder: Path | None = None,
        report: Callable[[str], object] = print,
    ) -> None:
        self._session, self.clock, self._count = session, clock, count
        self._folder, self._report = folder, report
        self._reader = Reader(session.sim)
        sim = session.sim
        names = fighter_names(sizes_of(sim.parameters))
        self.seats = {names[number]: number for number in session.agents}
        self.commands = Commands(session, self._reader)
        self._changed = threading.Condition(threading.RLock())
        self._given: dict[int, int] = {}  # the decision of each seat's last controls, by fighter
        self._results: Counter[str] = Counter()
        self._error: Exception | None = None
        self._is_closed = False

    # What clients may know

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A value for every parameter of the game."""
        return self._session.sim.parameters

    @property
    def names(self) -> tuple[str, str]:
        """The names of the contestants."""
        return self._session.names

    def side(self, seat: str) -> int:
        """Returns the side of a seat: 0 red, 1 blue."""
        return SEATS.index(seat.partition("_")[0])

    def moment(self) -> dict[str, Any]:
        """Returns the numbers of the fight and of the next decision."""
        with self._changed:
            return {"fight": self._session.engagement, DECISION: len(self._session.recorder)}

    def fight(self) -> dict[str, Any]:
        """Returns the fight's progress, and the results of the fights that have ended."""
        with self._changed:
            return {
                **self.moment(),
                "outcome": outcome_words(self._session.sim),
                "waiting_for": self._waits_for(),
                "fights": self._count,
                "results": dict(self._results),
            }

    def state(self, seat: str, after: int | None = None, wait: float = 0.0) -> dict[str, Any]:
        """Returns what a seat knows.

        Args:
            seat: Its name.
            after: A decision; the state is returned as soon as the fight is at another one, or is
                over. None: at once.
            wait: Most seconds to wait for that.
        """
        with self._changed:
            self._wait(after, wait)
            fighter = self.seats[seat]
            state = self._reader.state(fighter)
            return {
                **self.moment(),
                "seat": state.pop("seat"),
                "words": describe(state),
                **state,
                **self._flown(fighter),
                "waiting_for": self._waits_for(),
            }

    def side_state(self, side: int, after: int | None = None, wait: float = 0.0) -> dict[str, Any]:
        """Returns what all seats of a side know; the arguments are those of `state`."""
        with self._changed:
            self._wait(after, wait)
            own = [seat for seat in self.seats if self.side(seat) == side]
            return {
                **self.moment(),
                "side": SEATS[side],
                SEATS_GIVEN: {seat: self.state(seat) for seat in own},
                "waiting_for": self._waits_for(),
            }

    def _wait(self, after: int | None, wait: float) -> None:
        """Waits until the fight is at another decision than `after`, or is over."""

        def is_due() -> bool:
            return self._session.over or self._is_done() or self.moment()[DECISION] != after

        if after is not None:
            self._changed.wait_for(is_due, wait)

    def _flown(self, fighter: int) -> dict[str, Any]:
        """Returns the order that a fighter follows, or the controls set last."""
        row = self._session.commands[fighter]
        if are_orders(row):
            return {ORDER: in_words(orders_in(row).tolist(), self.commands.heads), "controls": {}}
        given = zip(self.commands.names, row.tolist(), strict=True)
        return {ORDER: None, "controls": {name: value for name, value in given if name != FIRE}}

    # What clients may do

    def command(self, seat: str, given: Mapping[str, object]) -> dict[str, Any]:
        """Sets a seat's controls for a decision, and returns its state then.

        If these are the last controls that time waits for, the decision is flown first.

        Args:
            seat: Its name.
            given: The decision, and controls by their names. Other controls stay as they are, but
                fire is for one decision. In place of controls an order, which stands until there
                are controls or another order.

        Raises:
            RefusedError: A value is wrong, the seat is dead, the fight is over, or the seat has
                controls for this decision.
        """
        with self._changed:
            self._command({seat: given})
            return self.state(seat)

    def command_side(self, side: int, given: Mapping[str, object]) -> dict[str, Any]:
        """Sets the controls or orders of several seats of a side, and returns their states then.

        Args:
            side: 0 red, 1 blue.
            given: The decision, and under "seats" by each seat's name what `command` takes.

        Raises:
            RefusedError: As `command`, or a seat is none of the side's. Nothing is used then.
        """
        with self._changed:
            own = [seat for seat in self.seats if self.side(seat) == side]
            for name in given:
                if name not in (DECISION, SEATS_GIVEN):
                    hint = suggest(name, (DECISION, SEATS_GIVEN))
                    message = f"{short(name)}: must be {DECISION} or {SEATS_GIVEN}{hint}"
                    raise RefusedError(HTTPStatus.BAD_REQUEST, message)
            seats = given.get(SEATS_GIVEN)
            if not isinstance(seats, dict) or not seats:
                message = (
                    f"{SEATS_GIVEN} = {short(seats)}: must be an object with seats of the side"
                )
                raise RefusedError(HTTPStatus.BAD_REQUEST, message)
            for seat, values in seats.items():
                if seat not in own:
                    message = f"{short(seat)}: must be one of {', '.join(own)}{suggest(seat, own)}"
                    raise RefusedError(HTTPStatus.BAD_REQUEST, message)
                if not isinstance(values, dict) or DECISION in values:
                    message = (
                        f"{seat} = {short(values)}: must be an object of controls, or an order"
                    )
                    raise RefusedError(HTTPStatus.BAD_REQUEST, message)
            moment = {DECISION: given[DECISION]} if DECISION in given else {}
            self._command({seat: moment | values for seat, values in seats.items()})
            return self.side_state(side)

    def _command(self, commands: Mapping[str, Mapping[str, object]]) -> None:
        """Checks and sets what these seats are given, and flies the decision if it is due."""
        self._check_served()
        decisions, rows = {}, {}
        for seat, given in commands.items():
            self._check_open(seat)
            fighter = self.seats[seat]
            decisions[fighter] = self._checked_decision(seat, given)
            rows[fighter] = self.commands.row(fighter, given)
        for fighter, row in rows.items():
            self._session.commands[fighter] = row
        self._given |= decisions
        if self.clock is None and not self._waits_for():
            self._fly()
        self._changed.notify_all()

    def begin(self, number: object) -> dict[str, Any]:
        """Begins a fight, the present one's successor; nothing happens if it has begun.

        Raises:
            RefusedError: The number is another one, there are no more fights, or the present one is
                open and clients fly both sides.
        """
        with self._changed:
            self._check_served()
            now = self._session.engagement
            number = whole("fight", number, now, now + 1)
            if number == now:
                return self.fight()
            if number == self._count:
                raise RefusedError(
                    HTTPStatus.CONFLICT, f"fight {now} was the last of {self._count}"
                )
            if not self._session.over:
                if len({self.side(seat) for seat in self.seats}) > 1:
                    message = f"fight {now} is open, and clients fly both sides: fly it to its end"
                    raise RefusedError(HTTPStatus.CONFLICT, message)
                self._finish()
            self._session.start(number)
            self._given.clear()
            self._changed.notify_all()
            return self.fight()

    # The server's part

    def run(self) -> None:
        """Lets time run until the last fight is over or `close` is called.

        Raises:
            Exception: A contestant, or the writing of a replay, has failed.
        """
        pause = self._session.decision / self.clock if self.clock else None
        due = None
        with self._changed:
            while not self._is_done():
                if pause is None or self._session.over or self._waits_for():
                    due = None
                    self._changed.wait()
                    continue
                now = time.monotonic()
                due = now + pause if due is None else due
                if due > now:
                    self._changed.wait(due - now)
                else:
                    due = max(due + pause, now)  # a slow machine flies slower
                    self._fly()
        if self._error is not None:
            raise self._error

    def fail(self, error: Exception) -> None:
        """Ends `run` with an error."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    def close(self) -> None:
        """Ends `run` and all waiting, and writes the replay of an open fight."""
        with self._changed:
            if not self._session.over and len(self._session.recorder) and not self._is_closed:
                self._finish()
            self._is_closed = True
            self._changed.notify_all()

    @property
    def summary(self) -> str:
        """The results so far."""
        wins = [self._results[RESULTS[RED_WINS + side]] for side in range(len(SEATS))]
        draws = self._results[RESULTS[DRAW]]
        total = sum(wins) + draws
        if not total:
            return "no fight was flown to its end"
        score = (wins[0] + 0.5 * draws) / total
        return f"red won {wins[0]}, blue {wins[1]}, draws {draws}; red's score {score:.3f}"

    def _is_done(self) -> bool:
        is_last = self._count is not None and self._session.engagement + 1 >= self._count
        return self._is_closed or self._error is not None or (self._session.over and is_last)

    def _fly(self) -> None:
        """Flies a decision; if time stands still and all seats are dead, all that are left."""
        self._session.step()
        while self.clock is None and not (self._session.over or self._waits_for()):
            self._session.step()
        if self._session.over:
            self._finish()
        self._changed.notify_all()

    def _finish(self) -> None:
        """Counts and reports a fight, and writes its replay."""
        session = self._session
        words = outcome_words(session.sim)
        self._results[RESULTS[int(session.sim.outcome[0])]] += 1
        self._report(f"fight {session.engagement}: {words} after {session.paths.time:.1f} s")
        if self._folder is not None:
            save(session.replay(), self._folder / f"fight_{session.engagement:04d}{SUFFIX}")

    def _waits_for(self) -> list[str]:
        """Returns the seats whose controls time waits for."""
        if self._session.over:
            return []
        least = len(self._session.recorder) if self.clock is None else 0
        return [seat for seat in self._living() if self._given.get(self.seats[seat], -1) < least]

    def _living(self) -> list[str]:
        """Returns the seats that take controls: a transport flies itself."""
        alive = self._session.sim.core.read("fighter")["alive"][0]
        transport = self._session.paths.transport
        return [
            seat for seat, fighter in self.seats.items() if alive[fighter] and fighter != transport
        ]

    def _check_served(self) -> None:
        """Raises RefusedError after `close`, which has counted the open fight and written it."""
        if self._is_closed:
            raise RefusedError(HTTPStatus.CONFLICT, "the fights are no longer served")

    def _check_open(self, seat: str) -> None:
        if self._session.over:
            now = self._session.engagement
            message = (
                f'fight {now} is over; POST /fights {{"fight": {now + 1}}} begins the next one'
            )
            raise RefusedError(HTTPStatus.CONFLICT, message)
        if self.seats[seat] == self._session.paths.transport:
            message = f"{seat} is the transport of this fight, which flies itself"
            raise RefusedError(HTTPStatus.CONFLICT, message)
        if seat not in self._living():
            raise RefusedError(HTTPStatus.CONFLICT, f"{seat} is dead until the next fight")

    def _checked_decision(self, seat: str, given: Mapping[str, object]) -> int:
        """Returns the decision that controls are for."""
        now, last = len(self._session.recorder), self._given.get(self.seats[seat], -1)
        if DECISION not in given:
            message = f"{DECISION} is missing: must be that of the seat's last state, now {now}"
            raise RefusedError(HTTPStatus.BAD_REQUEST, message)
        decision = whole(DECISION, given[DECISION], 0, now)
        if decision <= last:
            raise RefusedError(
                HTTPStatus.CONFLICT,
                f"{DECISION} = {decision}: {seat} has controls for decision {last}, and the fight "
                f"is at decision {now}; does another client fly {seat}?",
            )
        return decision

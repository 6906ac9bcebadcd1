"""The commands of a seat for a decision: controls, or an order in words; and their checks."""

import json
from collections.abc import Mapping
from http import HTTPStatus

import numpy as np

from midrange_puffer.game.actions import SYSTEMS
from midrange_puffer.game.observation import levels_of
from midrange_puffer.game.orders import ORDER, are_orders, as_commands, heads_of, parse_order
from midrange_puffer.game.parameters import game_controls, is_team
from midrange_puffer.names import shown, suggest
from midrange_puffer.replays.session import Session
from midrange_puffer.serve.state import Reader

FIRE = "fire"
DECISION = "decision"  # name in the body of a command
MOST_ORDER = 80  # characters of an order
MOST_SHOWN = 60  # characters of a wrong value in a message


class RefusedError(Exception):
    """A request that is refused.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class Commands:
    """The controls and orders that the seats of a session take.

    Args:
        session: The fights.
        reader: What seats know.

    Attributes:
        names: Of the controls.
        heads: The words of orders.
    """

    def __init__(self, session: Session, reader: Reader) -> None:
        self._session, self._reader = session, reader
        sim = session.sim
        self._controls = game_controls(sim.parameters)
        self._fire_levels = levels_of(sim.core.features)[FIRE]
        self.names, self.heads = self._controls.names, heads_of(sim.parameters)

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """The least and the greatest value of each control."""
        of = self._controls
        limits = {
            name: (low.item(), high.item())
            for name, low, high in zip(of.names, of.lowest, of.highest, strict=True)
        }
        return limits | {FIRE: (0, self._fire_levels - 1)}

    def row(self, fighter: int, given: Mapping[str, object]) -> np.ndarray:
        """Returns a fighter's next commands, float32 [controls], as `Session.commands`.

        Args:
            fighter: Its number.
            given: Controls by their names, or an order; also the decision.

        Raises:
            RefusedError: A name or a value is wrong, or the order speaks of what is not there.
        """
        row = self._session.commands[fighter].copy()
        values = {
            name: self._checked(name, value, fighter)
            for name, value in given.items()
            if name not in (DECISION, ORDER)
        }
        if ORDER in given:
            if values:
                message = (
                    f"{ORDER} and {next(iter(values))}: an order is flown in place of controls"
                )
                raise RefusedError(HTTPStatus.BAD_REQUEST, message)
            return self._checked_order(fighter, given[ORDER])
        if values and are_orders(row):
            row[:] = 0
            row[self.names.index("throttle")] = 1  # as orders are flown
        for name, value in values.items():
            row[self.names.index(name)] = value
        return row

    def _checked_order(self, fighter: int, words: object) -> np.ndarray:
        """Returns an order as commands, after a look whether there is what it speaks of."""
        if not isinstance(words, str) or len(words) > MOST_ORDER:
            message = f'{ORDER} = {short(words)}: must be words such as "crank free"; GET / has all'
            raise RefusedError(HTTPStatus.BAD_REQUEST, message)
        try:
            self._session.sim.controls_of({fighter: words})
        except ValueError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, shown(str(error))) from None
        return as_commands(np.array([parse_order(words, self.heads)]))[0]

    def _checked(self, name: str, value: object, fighter: int) -> float:
        """Returns the value of a control as the simulation takes it."""
        if name not in self.limits:
            allowed = ", ".join((DECISION, *self.limits, ORDER))
            hint = suggest(name, (DECISION, *self.limits, ORDER))
            message = f"{short(name)}: no such control; there are {allowed}{hint}"
            raise RefusedError(HTTPStatus.BAD_REQUEST, message)
        low, high = self.limits[name]
        if name == SYSTEMS:
            return whole(name, value, int(low), int(high))
        if name != FIRE:
            return _number(name, value, low, high)
        level = whole(name, int(value) if isinstance(value, bool) else value, 0, int(high))
        if not is_team(self._session.sim.parameters):
            return level
        enemies = len(self._reader.state(fighter)["enemies"])
        whole(name, level, 0, enemies)
        return level + (level > 0)  # 1 would be a shot at the enemy nearest the nose


def _number(name: str, value: object, low: float, high: float) -> float:
    """Returns a number within limits.

    Raises:
        RefusedError: The value is another.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    message = f"{name} = {short(value)}: must be a number from {low:g} to {high:g}"
    raise RefusedError(HTTPStatus.BAD_REQUEST, message)


def whole(name: str, value: object, low: int, high: int) -> int:
    """Returns a whole number within limits; raises RefusedError as `_number`."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        allowed = f"a whole number from {low} to {high}" if low < high else str(low)
        message = f"{name} = {short(value)}: must be {allowed}"
        raise RefusedError(HTTPStatus.BAD_REQUEST, message)
    return value


def short(value: object) -> str:
    """Returns a wrong value for a message."""
    text = shown(value if isinstance(value, str) else json.dumps(value))
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"

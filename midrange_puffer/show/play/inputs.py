"""What human hands do to the controls, with keys or a gamepad."""

from collections.abc import Sequence
from dataclasses import dataclass

import pygame

DEADZONE = 0.15  # of a gamepad's stick, which never rests exactly in its middle
STICK_X, STICK_Y = 0, 1  # axes of the left stick, right and down positive
FIRE, FIGHTER, TARGET = "fire", "fighter", "target"  # what a press may ask for
BUTTONS = {FIRE: 0, TARGET: 1, FIGHTER: 2}  # of a gamepad


@dataclass(frozen=True)
class Keys:
    """Which keys do what."""

    left: int
    right: int
    more: int
    less: int
    presses: dict[str, tuple[int, ...]]


LEFT_HAND = Keys(
    pygame.K_a,
    pygame.K_d,
    pygame.K_w,
    pygame.K_s,
    {
        FIRE: (pygame.K_SPACE, pygame.K_LSHIFT),
        FIGHTER: (pygame.K_TAB,),
        TARGET: (pygame.K_q,),
    },
)
RIGHT_HAND = Keys(
    pygame.K_LEFT,
    pygame.K_RIGHT,
    pygame.K_UP,
    pygame.K_DOWN,
    {
        FIRE: (pygame.K_RCTRL, pygame.K_RETURN, pygame.K_KP_ENTER),
        FIGHTER: (pygame.K_PAGEDOWN,),
        TARGET: (pygame.K_RSHIFT,),
    },
)


class Hands:
    """One human's, on some keys and perhaps a gamepad.

    The rudder is where the keys or the stick say, at once; how fast it gets there is up to the
    fighter's actuator.

    Attributes:
        gamepad: A pygame.joystick.Joystick, or None.
    """

    def __init__(self, *keys: Keys) -> None:
        self._keys = keys
        self._held: set[int] = set()
        self.gamepad = None

    def handle(self, event: pygame.event.Event) -> str | None:
        """Take note of an event; return what it asks for: FIRE, FIGHTER, TARGET or nothing."""
        if event.type == pygame.KEYDOWN:
            self._held.add(event.key)
            presses = (item for keys in self._keys for item in keys.presses.items())
            return next((what for what, among in presses if event.key in among), None)
        if event.type == pygame.KEYUP:
            self._held.discard(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._held.clear()  # nobody will tell when they are let go
        elif event.type == pygame.JOYBUTTONDOWN and self.has(event.instance_id):
            return next((what for what, one in BUTTONS.items() if one == event.button), None)
        return None

    def has(self, instance_id: int) -> bool:
        """Whether the gamepad is the one of that number."""
        return self.gamepad is not None and self.gamepad.get_instance_id() == instance_id

    @property
    def rudder(self) -> float:
        """1 (left) to -1 (right)."""
        keys = self._held_count("left") - self._held_count("right")
        return _clip(keys - self._stick(STICK_X))

    @property
    def throttle_rate(self) -> float:
        """Of the lever: 1 (forward) to -1 (back)."""
        keys = self._held_count("more") - self._held_count("less")
        return _clip(keys - self._stick(STICK_Y))

    def _held_count(self, what: str) -> int:
        return sum(getattr(keys, what) in self._held for keys in self._keys)

    def _stick(self, axis: int) -> float:
        """-1 to 1, from 0 at the edge of the dead zone."""
        value = self.gamepad.get_axis(axis) if self.gamepad else 0.0
        beyond = max(abs(value) - DEADZONE, 0.0) / (1 - DEADZONE)
        return beyond if value > 0 else -beyond


def hands_of(sides: Sequence[int]) -> dict[int, Hands]:
    """Hands for the sides that humans fly on: a single one may use all of the keyboard."""
    halves = (LEFT_HAND, RIGHT_HAND)
    if len(sides) == 1:
        return {sides[0]: Hands(*halves)}
    return {side: Hands(halves[side]) for side in sides}


def _clip(value: float) -> float:
    return min(max(value, -1.0), 1.0)

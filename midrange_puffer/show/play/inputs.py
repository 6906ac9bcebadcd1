"""Human input: controls from keys or a gamepad."""

from collections.abc import Sequence
from dataclasses import dataclass

import pygame

DEADZONE = 0.15  # smaller deflections of a stick count as 0: it never rests exactly at 0
STICK_X, STICK_Y = 0, 1  # axes of the left stick, right and down positive
SECOND_Y, XBOX_Y = 3, 4  # axis of the right stick, down positive; the same of an Xbox gamepad
# Commands of keys and buttons.
FIRE, FIGHTER, TARGET, KIND = "fire", "fighter", "target", "kind"
RADAR_SWITCH, CHAFF = "radar", "chaff"
# A gamepad's buttons.
BUTTONS = {0: FIRE, 1: TARGET, 2: FIGHTER, 3: KIND, 4: RADAR_SWITCH, 5: CHAFF}


@dataclass(frozen=True)
class Keys:
    """The keys of one human: for rudder, throttle and climb, and for each command."""

    left: int
    right: int
    more: int
    less: int
    up: int
    down: int
    presses: dict[str, tuple[int, ...]]


LEFT_HAND = Keys(
    pygame.K_a,
    pygame.K_d,
    pygame.K_w,
    pygame.K_s,
    pygame.K_t,
    pygame.K_g,
    {
        FIRE: (pygame.K_SPACE, pygame.K_LSHIFT),
        FIGHTER: (pygame.K_TAB,),
        TARGET: (pygame.K_q,),
        KIND: (pygame.K_x,),
        RADAR_SWITCH: (pygame.K_y,),
        CHAFF: (pygame.K_c,),
    },
)
RIGHT_HAND = Keys(
    pygame.K_LEFT,
    pygame.K_RIGHT,
    pygame.K_UP,
    pygame.K_DOWN,
    pygame.K_PAGEUP,
    pygame.K_PAGEDOWN,
    {
        FIRE: (pygame.K_RCTRL, pygame.K_RETURN, pygame.K_KP_ENTER),
        FIGHTER: (pygame.K_PAGEDOWN,),
        TARGET: (pygame.K_RSHIFT,),
        KIND: (pygame.K_END,),
        RADAR_SWITCH: (pygame.K_HOME,),
        CHAFF: (pygame.K_DELETE,),
    },
)


class Hands:
    """The input of one human, from keys and an optional gamepad.

    The commanded rudder follows the keys or the stick without delay. The fighter's actuator limits
    how fast the rudder itself moves.

    Attributes:
        gamepad: A pygame.joystick.Joystick, or None.
    """

    def __init__(self, *keys: Keys) -> None:
        self._keys = keys
        self._held: set[int] = set()
        self.gamepad: pygame.joystick.JoystickType | None = None

    def handle(self, event: pygame.event.Event) -> str | None:
        """Processes an event; returns its command, such as FIRE, or None."""
        if event.type == pygame.KEYDOWN:
            self._held.add(event.key)
            presses = (item for keys in self._keys for item in keys.presses.items())
            return next((command for command, keys in presses if event.key in keys), None)
        if event.type == pygame.KEYUP:
            self._held.discard(event.key)
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._held.clear()  # pygame will not report their release
        elif event.type == pygame.JOYBUTTONDOWN and self.has(event.instance_id):
            return BUTTONS.get(event.button)
        return None

    def has(self, instance_id: int) -> bool:
        """True if this human's gamepad has this id."""
        return self.gamepad is not None and self.gamepad.get_instance_id() == instance_id

    @property
    def rudder(self) -> float:
        """The commanded rudder, 1 (left) to -1 (right)."""
        return self._axis("left", "right", STICK_X)

    @property
    def throttle_rate(self) -> float:
        """The commanded motion of the throttle lever, 1 (forward) to -1 (back)."""
        return self._axis("more", "less", STICK_Y)

    @property
    def climb(self) -> float:
        """The commanded climb, 1 (up) to -1 (down)."""
        is_xbox = self.gamepad is not None and "box" in self.gamepad.get_name().lower()
        return self._axis("up", "down", XBOX_Y if is_xbox else SECOND_Y)

    def _axis(self, positive: str, negative: str, stick: int) -> float:
        """Returns the sum of keys and stick, from -1 to 1; the stick's sign is reversed."""
        keys = sum(getattr(keys, positive) in self._held for keys in self._keys)
        keys -= sum(getattr(keys, negative) in self._held for keys in self._keys)
        has_stick = self.gamepad is not None and stick < self.gamepad.get_numaxes()
        value = self.gamepad.get_axis(stick) if self.gamepad and has_stick else 0.0
        beyond = max(abs(value) - DEADZONE, 0.0) / (1 - DEADZONE)
        return min(max(keys - (beyond if value > 0 else -beyond), -1.0), 1.0)


def hands_of(sides: Sequence[int]) -> dict[int, Hands]:
    """Returns the input of each human, by side; a single human has the keys of both sides."""
    halves = (LEFT_HAND, RIGHT_HAND)
    if len(sides) == 1:
        return {sides[0]: Hands(*halves)}
    return {side: Hands(halves[side]) for side in sides}

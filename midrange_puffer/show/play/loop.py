"""The game in which humans fly: fights, time, and all keys but the flight controls."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pygame

from midrange_puffer.files import WriteError, new_name
from midrange_puffer.game.parameters import LADDER, pilots_of
from midrange_puffer.game.targets import enemies_of
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.play.inputs import (
    CHAFF,
    FIGHTER,
    FIRE,
    KIND,
    RADAR_SWITCH,
    TARGET,
)
from midrange_puffer.show.play.screen import GameScreen
from midrange_puffer.show.play.systems import has_chaff, has_emission_control
from midrange_puffer.show.play.threats import Lookout
from midrange_puffer.show.view.renderer import Renderer

THROTTLE_RATE = 1.0  # speed of the throttle lever [1/s]: from idle to full in one second
REWIND_RATE = 8.0  # seconds of the fight that are rewound in a second
BEGIN = (pygame.K_SPACE, pygame.K_RETURN, pygame.K_h, pygame.K_F1, pygame.K_p)  # close the help


T = TypeVar("T")


class Game(GameScreen):
    """A session in a window, in which humans may fly.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Shows the renderer's surface on the screen.
        folder: Folder for replays of all fights that have ended or were left. None: only replays
            that the user requests by key are written, into the working directory.

    Attributes:
        saved: Replays written so far.
    """

    def __init__(
        self,
        session: Session,
        renderer: Renderer,
        show: Callable[[pygame.Surface], None],
        folder: Path | None = None,
    ) -> None:
        super().__init__(session, renderer, show)
        self.saved: list[Path] = []
        self._folder = folder
        self._rewound = 0.0  # seconds still to be rewound
        self._fight = 0
        if session.humans:
            self._show_help(True)
        self._kept = 0  # decisions of the present fight that are in a replay

    def run(self) -> None:
        """Plays until the user quits; then writes the replay of the last fight, if asked to.

        Raises:
            WriteError: The replay could not be written.
        """
        try:
            super().run()
        finally:
            if self._to_be_kept():
                self.session.rewind(0)  # undoes a decision that was interrupted
                self._write()

    # Events

    def _handle(self, event: pygame.event.Event) -> None:
        begins = event.type == pygame.KEYDOWN and event.key in BEGIN
        if self._help and (begins or event.type == pygame.JOYBUTTONDOWN):
            self._show_help(False)
            return
        super()._handle(event)
        for side, hands in self.hands.items():
            command = hands.handle(event)
            if command and not self._help:
                self._do(side, command)
        match event.type:
            case pygame.KEYUP if event.key == pygame.K_BACKSPACE:
                self._rewinding = False
            case pygame.WINDOWFOCUSLOST:
                self._rewinding = False
            case pygame.JOYDEVICEADDED:
                gamepad = pygame.joystick.Joystick(event.device_index)
                free = next((hands for hands in self.hands.values() if hands.gamepad is None), None)
                if free is not None:
                    free.gamepad = gamepad
                    self._say(f"{gamepad.get_name()} plugged in")
            case pygame.JOYDEVICEREMOVED:
                for hands in self.hands.values():
                    if hands.has(event.instance_id):
                        hands.gamepad = None

    def _press(self, key: int) -> None:
        super()._press(key)
        match key:
            case pygame.K_r:
                self._start(self.session.engagement)
            case pygame.K_n:
                self._start(self.session.engagement + 1)
            case pygame.K_BACKSPACE:
                self._rewinding, self._rewound = True, 0.0
            case pygame.K_z:
                self._own_view = not self._own_view
            case pygame.K_e:
                self._enemy_zones = not self._enemy_zones
            case pygame.K_o:
                self._meet_next()
            case pygame.K_h | pygame.K_F1:
                self._show_help(True)
            case pygame.K_F5:
                self._save()

    def _do(self, side: int, command: str) -> None:
        """Executes a command of a side's human."""
        session, own = self.session, self.session.sides[side]
        if command == FIRE:
            session.fire(own)
        elif command == KIND:
            session.choose_next_kind(own)
        elif command == RADAR_SWITCH and has_emission_control(session.sim.parameters):
            session.switch_radar(own)
        elif command == CHAFF and has_chaff(session.sim.parameters):
            session.drop_chaff(own)
        elif command == FIGHTER and self._is_team:
            alive = session.sim.fighters["alive"][0]
            ready = [n for n in session.side_of(own) if alive[n] and n != session.paths.transport]
            after = [number for number in ready if number > own]
            self._choose(next(iter((*after, *ready)), own))
        elif command == TARGET and self._is_team:
            enemies = enemies_of(session.sim, own).tolist()  # by range
            target = session.target(own)
            session.aim(own, _after(enemies, target) if enemies else None)

    def _choose(self, fighter: int | None) -> None:
        """Flies or follows a fighter; an enemy becomes the target."""
        session = self.session
        if not session.humans or fighter is None:
            super()._choose(fighter)
        elif session.over or self._help:
            return
        elif not session.sim.fighters["alive"][0, fighter]:
            self._say(f"{self._called(fighter)} is shot down")
        elif session.human_beside(fighter) is None:
            session.aim(session.humans[0], fighter)
        elif fighter == session.paths.transport:
            self._say(f"{self._called(fighter)} is the transport, which flies itself")
        elif fighter not in session.humans:
            session.take_over(fighter)
            self._lookout.forget(fighter)
            self._say(f"you fly {self._called(fighter)}")

    def _choose_next(self) -> None:
        """Follows the next fighter. It is for spectators: humans have their own keys."""
        if not self.session.humans:
            super()._choose_next()

    @property
    def _followed(self) -> int:
        return self.session.humans[0] if self.session.humans else super()._followed

    def _show_help(self, is_shown: bool) -> None:
        """Shows or hides the help; the fight is paused while it is shown."""
        if is_shown:
            self._was_paused = self.session.paused
        self._help = is_shown
        self.session.paused = is_shown or self._was_paused

    # Fights

    def _meet_next(self) -> None:
        """Replaces the opponent of the human by the next stronger pilot of the ladder.

        A policy is replaced by the weakest pilot, and so is the strongest pilot. With sensors, the
        ladder ends with the pilots that fly only with sensors.
        """
        for side, contestant in enumerate(self.session.contestants):
            if side not in self.session.sides:
                self._leave()
                flying = pilots_of(self.session.sim.parameters)
                ladder = [*LADDER, *(name for name in flying if name not in LADDER)]
                self.session.meet(side, _after(ladder, contestant))
                self._outcomes.clear()
                self._begin()
                self._say(f"against {self.session.names[side]}")
                return

    def _start(self, engagement: int) -> None:
        self._leave()
        self.session.start(engagement)
        self._begin()

    def _leave(self) -> None:
        """Saves the present fight if all fights are saved."""
        if self._to_be_kept():
            self._save()

    def _begin(self) -> None:
        """Resets all values that belong to the previous fight."""
        self._help = self.session.paused = self._shows_truth = False
        self.session.time_scale = 1.0
        self._kept = 0
        self._fight += 1
        self._lookout = Lookout(self.session)

    def _pass(self, seconds: float) -> None:
        if self._rewinding:
            self._rewind(seconds)
        else:
            self._fly(seconds)
        self._message_left -= seconds

    def _fly(self, seconds: float) -> None:
        session = self.session
        for side, hands in self.hands.items():
            fighter = session.sides[side]
            session.steer(fighter, hands.rudder)
            if self._has_height:
                session.climb(fighter, hands.climb)
            session.move_throttle(fighter, hands.throttle_rate * THROTTLE_RATE * seconds)
        was_over = session.over
        session.advance(seconds)
        self._lookout.look()
        if session.over and not was_over:
            self._outcomes[self._fight] = int(session.sim.outcome[0])
            self._debriefs = {
                side: debrief(session.sim, session.paths, fighter, self._lookout.checks[side])
                for side, fighter in session.sides.items()
            }
            self._leave()

    def _rewind(self, seconds: float) -> None:
        self._rewound += seconds * REWIND_RATE
        decisions = int(self._rewound / self.session.decision)
        if decisions:
            self._rewound -= decisions * self.session.decision
            self.session.rewind(decisions)
            self._kept = 0
            self._outcomes.pop(self._fight, None)  # the fight is open again
            self._shows_truth = False
            self._lookout.cut_back()

    def _to_be_kept(self) -> bool:
        """True if all fights are saved and this one is not saved yet."""
        return self._folder is not None and len(self.session.recorder) > self._kept

    def _write(self) -> None:
        path = (self._folder or Path()) / f"{new_name()}{SUFFIX}"
        self.session.replay().write(path)
        self._kept = len(self.session.recorder)
        self.saved.append(path)

    def _save(self) -> None:
        """Writes the replay, and shows its path or the error."""
        try:
            self._write()
        except WriteError as error:
            self._say(str(error))
        else:
            self._say(f"saved {self.saved[-1]}")


def _after(order: list[T], item: Any) -> T:
    """Returns the item that follows `item` in a circle; the first one if `item` is not in it."""
    return order[(order.index(item) + 1) % len(order)] if item in order else order[0]

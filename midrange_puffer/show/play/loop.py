"""The window in which humans fly: events, frames, and all keys but the flight controls."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pygame

from midrange_puffer.files import WriteError, new_name
from midrange_puffer.game.parameters import LADDER, SEATS, callsigns, pilots_of
from midrange_puffer.game.records import DRAW, RED_WINS
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
    Hands,
    hands_of,
)
from midrange_puffer.show.play.launch import status_lines
from midrange_puffer.show.play.overlay import draw_debrief, draw_help, draw_notice, draw_warning
from midrange_puffer.show.play.systems import has_chaff, has_emission_control, systems_keys
from midrange_puffer.show.play.threats import Lookout, Threat, advice
from midrange_puffer.show.view import PLANE
from midrange_puffer.show.view.canvas import FAINT
from midrange_puffer.show.view.renderer import Renderer, columns
from midrange_puffer.show.view.side import divide
from midrange_puffer.show.view.status import bar_height
from midrange_puffer.show.view.viewer import Viewer

THROTTLE_RATE = 1.0  # speed of the throttle lever [1/s]: from idle to full in one second
REWIND_RATE = 8.0  # seconds of the fight that are rewound in a second
MESSAGE_TIME = 4.0  # duration of a message [s]
# The keys of loadouts and teams, as written below a view: of red or a single human, and of blue.
KIND_KEYS = "X next type of missile", "End next type of missile"
CHOOSING_KEYS = "Tab fighter   Q target", "Page Down fighter   Right Shift target"
FOLLOWING = "Tab 1-9 click: follow a fighter"
BEGIN = (pygame.K_SPACE, pygame.K_RETURN, pygame.K_h, pygame.K_F1, pygame.K_p)  # close the help


T = TypeVar("T")


class Game(Viewer):
    """A session in a window, in which humans may fly.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Shows the renderer's surface on the screen.
        folder: Folder for replays of all fights that have ended or were left. None: only replays
            that the user requests by key are written, into the working directory.

    Attributes:
        hands: The humans' input, by side.
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
        self.hands: dict[int, Hands] = hands_of([*session.sides])
        self.saved: list[Path] = []
        self._folder = folder
        self._rewinding, self._rewound = False, 0.0  # seconds still to be rewound
        self._own_view, self._enemy_zones, self._help = True, False, False
        self._shows_truth = False  # True: show the truth, after a fight with sensors
        self._fight = 0
        self._outcomes: dict[int, int] = {}  # MrOutcome by the fight's number
        self._debriefs: dict[int, list[str]] = {}  # by side, once the fight is over
        self._lookout = Lookout(session)
        if session.humans:
            self._show_help(True)
        self._message, self._message_left = "", 0.0  # s
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

    def threats(self, side: int) -> list[Threat]:
        """Returns the missiles that a side's human is warned of; see `Lookout.threats`."""
        return self._lookout.threats[side]

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

    def _called(self, fighter: int) -> str:
        return callsigns(self.session.paths.sizes)[fighter]

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

    # Pictures

    def _say(self, message: str) -> None:
        self._message, self._message_left = message, MESSAGE_TIME

    def _draw(self) -> None:
        session, surface = self.session, self._renderer.surface
        surface.fill(FAINT)  # seen in the gap between two views
        self._spots = []
        for side, rect in self._views(surface.get_rect()):
            fighter, target, kind = self._focus, None, None
            if side is not None:
                fighter = session.sides[side]
                target = session.target(fighter) if self._is_team else None
                kind = session.kind(fighter)
            self._spots += self._renderer.draw(
                session.sim,
                session.paths,
                time=session.time,
                focus=fighter,
                target=target,
                mode=self._mode,
                rect=rect,
                lines=self._lines(side),
                names=session.names,
                enemy_zones=self._enemy_zones,
                side=self._known_to(side),
                kind=kind,
            )
            bar = bar_height(rect, session.paths.sizes, fighter is not None)
            if side in self.hands and session.over:
                draw_debrief(surface, self._seen_from_above(rect, bar), self._debriefs[side])
            elif side in self.hands and (threats := self.threats(side)):
                height = None
                if self._has_height:
                    height = float(session.sim.fighters["z"][0, session.sides[side]])
                words = advice(threats, height, self._lookout.late[side])
                draw_warning(surface, rect, bar, threats[0].words, words)
        if self._help:
            systems = systems_keys(session.sim.parameters)
            games = self._is_team, self._has_height, self._has_sensors
            draw_help(surface, *games, systems, session.paths.line)
        elif self._rewinding:
            draw_notice(surface, "back in time", bar)
        elif session.paused and not session.over:
            draw_notice(surface, "paused", bar)
        self._show(surface)

    def _seen_from_above(self, rect: pygame.Rect, bar: int) -> pygame.Rect:
        """Returns the part of a view that is seen from above, without its bar of that height."""
        below = pygame.Rect(rect.x, rect.y + bar, rect.width, rect.height - bar)
        return divide(below)[0] if self._has_height else below

    def _known_to(self, side: int | None) -> int | None:
        """Returns the side whose knowledge a view shows; None: the truth.

        A human sees the knowledge of the own side.
        """
        if not self.hands or not self._has_sensors:
            return self._side
        return None if self.session.over and self._shows_truth else side

    def _next_side(self) -> None:
        """Switches to the next picture; humans can see the truth only after the fight."""
        if not self.session.humans:
            super()._next_side()
        elif self.session.over:
            self._shows_truth = not self._shows_truth
        else:
            self._say("the truth is shown when the fight is over")

    def _views(self, whole: pygame.Rect) -> list[tuple[int | None, pygame.Rect]]:
        """Returns for each view its side, or None for a common view, and its part of the surface.

        Two humans have views side by side. With sensors they have a common view only after the
        fight, because it shows everything that flies.
        """
        sides = [*self.hands]
        shared = self._mode == PLANE and not self._own_view
        if sides and self._has_sensors:
            shared = shared and self.session.over and self._shows_truth
        if len(sides) < 2 or shared:
            return [(None if shared or not sides else sides[0], whole)]
        return list(zip(sides, columns(whole.size, len(sides)), strict=True))

    def _lines(self, side: int | None) -> list[str]:
        """Returns the lines below the view of a side, or below a shared view."""
        session = self.session
        lines = [self._message] if self._message_left > 0 else []
        if self._outcomes:
            lines.append(self._tally(side))
        if session.over:
            harder = "O next opponent   " if len(self.hands) < len(SEATS) else ""
            if self._has_sensors:
                lines.append(f"{self._side_words(self._known_to(side))}: F changes that")
            return [*lines, f"R again   N next start   {harder}Backspace back in time   Esc quit"]
        if side is not None:
            lines += status_lines(session, session.sides[side], self._lookout.shots.get(side))
        else:
            for human in session.humans:
                lines += [
                    f"{self._called(human)}: {words}" for words in status_lines(session, human)
                ]
        if self._has_sensors and not self.hands:
            lines.append(f"{self._side_words(self._side)}: F changes that")
        if session.time_scale != 1:
            lines.append(f"{session.time_scale:g}x time")
        if not self._is_team:
            if side is None or len(session.missiles_left(session.sides[side])) < 2:
                return [*lines, "H help"]
            return [*lines, f"{KIND_KEYS[side if len(self.hands) > 1 else 0]}   H help"]
        keys = CHOOSING_KEYS[side if len(self.hands) > 1 else 0] if side is not None else FOLLOWING
        return [*lines, f"{keys}   H help"]

    def _tally(self, side: int | None) -> str:
        """Returns the results so far, for one side or for both."""
        counts = Counter(self._outcomes.values())
        if side is None:
            return f"red {counts[RED_WINS]}   draws {counts[DRAW]}   blue {counts[RED_WINS + 1]}"
        won, lost = counts[RED_WINS + side], counts[RED_WINS + 1 - side]
        return f"won {won}   drawn {counts[DRAW]}   lost {lost}"


def _after(order: list[T], item: Any) -> T:
    """Returns the item that follows `item` in a circle; the first one if `item` is not in it."""
    return order[(order.index(item) + 1) % len(order)] if item in order else order[0]

"""The window in which people fly: events, frames, and the keys that are no flight controls."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pygame

from midrange_puffer.files import WriteError, new_name
from midrange_puffer.game.parameters import LADDER, SEATS, callsigns, pilots_of
from midrange_puffer.game.records import DRAW, RED_WINS
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.choosing import next_fighter, next_target
from midrange_puffer.show.play.debrief import debrief
from midrange_puffer.show.play.inputs import FIGHTER, FIRE, TARGET, Hands, hands_of
from midrange_puffer.show.play.lookout import Lookout
from midrange_puffer.show.play.overlay import (
    draw_debrief,
    draw_help,
    draw_notice,
    draw_warning,
)
from midrange_puffer.show.play.threats import Threat, advice
from midrange_puffer.show.play.words import launch_words
from midrange_puffer.show.view import PLANE
from midrange_puffer.show.view.renderer import Renderer, bar_height, columns
from midrange_puffer.show.view.theme import FAINT
from midrange_puffer.show.view.viewer import Viewer

THROTTLE_RATE = 1.0  # 1/s, of the lever: from idle to full in one second
REWIND_RATE = 8.0  # s of the fight taken back in a second
MESSAGE_TIME = 4.0  # s
# In teams, what stands below a view: of who flies red or alone, of who flies blue, of who looks on.
CHOOSING_KEYS = "Tab fighter   Q target", "Page Down fighter   Right Shift target"
FOLLOWING = "Tab 1-8 click: follow a fighter"
BEGIN = (pygame.K_SPACE, pygame.K_RETURN, pygame.K_h, pygame.K_F1, pygame.K_p)  # end the help


class Game(Viewer):
    """A session in which people may fly, in a window.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Brings the renderer's surface onto the screen.
        folder: Where the replay of every fight goes that has ended or is left; None: only
            those that are asked for are saved, into the working directory.

    Attributes:
        hands: Of the humans, by the side that each flies on.
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
        self._rewinding, self._rewound = False, 0.0  # s of the fight that are to be taken back
        self._own_view, self._enemy_zones, self._help = True, False, False
        self._shows_truth = False  # of a fight with sensors that is over
        self._fight = 0
        self._outcomes: dict[int, int] = {}  # of the fights of these two, by number: MrOutcome
        self._debriefs: dict[int, list[str]] = {}  # of the humans, once the fight is over
        self._lookout = Lookout(session)
        if session.humans:
            self._show_help(True)
        self._message, self._message_left = "", 0.0  # s
        self._kept = 0  # decisions of the present fight that are in a replay

    def run(self) -> None:
        """Play until somebody quits; however it ends, the fight that was left is kept.

        Raises:
            WriteError: The replay of that fight could not be written.
        """
        try:
            super().run()
        finally:
            if self._to_be_kept():
                self.session.rewind(0)  # whole again, if a decision was broken off in its midst
                self._write()

    def _handle(self, event: pygame.event.Event) -> None:
        begins = event.type == pygame.KEYDOWN and event.key in BEGIN
        if self._help and (begins or event.type == pygame.JOYBUTTONDOWN):
            self._show_help(False)
            return
        super()._handle(event)
        for side, hands in self.hands.items():
            asked = hands.handle(event)
            if asked and not self._help:
                self._do(side, asked)
        match event.type:
            case pygame.KEYUP if event.key == pygame.K_BACKSPACE:
                self._rewinding = False
            case pygame.WINDOWFOCUSLOST:
                self._rewinding = False
            case pygame.JOYDEVICEADDED:
                self._plug_in(pygame.joystick.Joystick(event.device_index))
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

    def _do(self, side: int, asked: str) -> None:
        """What the human of a side has asked for."""
        session, own = self.session, self.session.sides[side]
        if asked == FIRE:
            session.fire(own)
        elif asked == FIGHTER and self._is_team:
            self._choose(next_fighter(session, own))
        elif asked == TARGET and self._is_team:
            session.aim(own, next_target(session, own))

    def _choose(self, fighter: int | None) -> None:
        """Fly or follow a fighter; of an enemy, have it for a target."""
        session = self.session
        if not session.humans or fighter is None:
            super()._choose(fighter)
        elif session.over or self._help:
            return
        elif not session.sim.fighters["alive"][0, fighter]:
            self._say(f"{self._called(fighter)} is shot down")
        elif session.human_beside(fighter) is None:
            session.aim(session.humans[0], fighter)
        elif fighter not in session.humans:
            session.take_over(fighter)
            self._lookout.forget(fighter)
            self._say(f"you fly {self._called(fighter)}")

    def _choose_next(self) -> None:
        """Where humans fly, their keys choose."""
        if not self.session.humans:
            super()._choose_next()

    @property
    def _followed(self) -> int:
        return self.session.humans[0] if self.session.humans else super()._followed

    def _called(self, fighter: int) -> str:
        return callsigns(self.session.paths.sizes)[fighter]

    def _show_help(self, is_shown: bool) -> None:
        """Show the help, or no longer; time stands still meanwhile."""
        if is_shown:
            self._was_paused = self.session.paused
        self._help = is_shown
        self.session.paused = is_shown or self._was_paused

    def _meet_next(self) -> None:
        """Have the next harder pilot take the place of a pilot, or the easiest that of a policy.

        After the hardest comes the easiest. With sensors those that fly only there are the last.
        """
        for side, who in enumerate(self.session.contestants):
            if side not in self.session.sides:
                self._leave()
                flying = pilots_of(self.session.sim.parameters)
                ladder = (*LADDER, *(name for name in flying if name not in LADDER))
                rung = ladder.index(who) + 1 if who in ladder else 0
                self.session.meet(side, ladder[rung % len(ladder)])
                self._outcomes.clear()
                self._begin()
                self._say(f"against {self.session.names[side]}")
                return

    def _plug_in(self, gamepad: pygame.joystick.JoystickType) -> None:
        """Hand a gamepad to the first human without one."""
        for hands in self.hands.values():
            if hands.gamepad is None:
                hands.gamepad = gamepad
                self._say(f"{gamepad.get_name()} plugged in")
                return

    def _start(self, engagement: int) -> None:
        self._leave()
        self.session.start(engagement)
        self._begin()

    def _leave(self) -> None:
        """Keep the present fight, if it is to be."""
        if self._to_be_kept():
            self._save()

    def _begin(self) -> None:
        """A fight has begun: nothing of the one before goes on in it."""
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
            session.move_throttle(fighter, hands.throttle_rate * THROTTLE_RATE * seconds)
        was_over = session.over
        session.advance(seconds)
        self._lookout.look()
        if session.over and not was_over:
            self._outcomes[self._fight] = int(session.sim.outcome[0])
            self._debriefs = {
                side: debrief(session.sim, session.paths, fighter, self._lookout.looks[side])
                for side, fighter in session.sides.items()
            }
            if self._to_be_kept():
                self._save()

    def _rewind(self, seconds: float) -> None:
        self._rewound += seconds * REWIND_RATE
        decisions = int(self._rewound / self.session.decision)
        if decisions:
            self._rewound -= decisions * self.session.decision
            self.session.rewind(decisions)
            self._kept = 0
            self._outcomes.pop(self._fight, None)  # it is flown again
            self._shows_truth = False
            self._lookout.cut_back()

    def _to_be_kept(self) -> bool:
        """Whether all fights are to be saved, and this one is not."""
        return self._folder is not None and len(self.session.recorder) > self._kept

    def _write(self) -> None:
        path = (self._folder or Path()) / f"{new_name()}{SUFFIX}"
        self.session.replay().write(path)
        self._kept = len(self.session.recorder)
        self.saved.append(path)

    def _save(self) -> None:
        """Write the replay, and say how that went."""
        try:
            self._write()
        except WriteError as error:
            self._say(str(error))
        else:
            self._say(f"saved {self.saved[-1]}")

    def _say(self, message: str) -> None:
        self._message, self._message_left = message, MESSAGE_TIME

    def _draw(self) -> None:
        session, surface = self.session, self._renderer.surface
        surface.fill(FAINT)  # seen in the gap
        self._spots = []
        for side, rect in self._views(surface.get_rect()):
            fighter = self._chosen if side is None else session.sides[side]
            aims = self._is_team and side is not None
            self._spots += self._renderer.draw(
                session.sim,
                session.paths,
                time=session.time,
                focus=fighter,
                target=session.target(fighter) if aims else None,
                mode=self._mode,
                rect=rect,
                lines=self._lines(side),
                names=session.names,
                enemy_zones=self._enemy_zones,
                side=self._known_to(side),
            )
            bar = bar_height(rect, session.paths.sizes, fighter is not None)
            self._draw_words(surface, side, rect, bar)
        if self._help:
            draw_help(surface, self._is_team)
        elif self._rewinding:
            draw_notice(surface, "back in time", bar)
        elif session.paused and not session.over:
            draw_notice(surface, "paused", bar)
        self._show(surface)

    def threats(self, side: int) -> list[Threat]:
        """The missiles that a human on this side is warned of, the most pressing first."""
        return self._lookout.threats[side]

    def _draw_words(
        self, surface: pygame.Surface, side: int | None, rect: pygame.Rect, bar: int
    ) -> None:
        """What is said to a human: of missiles that come, and at the end why it went so."""
        if side not in self.hands:
            return
        threats = self.threats(side)
        if self.session.over:
            draw_debrief(surface, rect, self._debriefs[side])
        elif threats:
            draw_warning(surface, rect, bar, threats[0].words, advice(threats))

    def _known_to(self, side: int | None) -> int | None:
        """As which side a view is known: humans see what their sensors show; None: the truth."""
        if not self.hands or not self._has_sensors:
            return self._side
        return None if self.session.over and self._shows_truth else side

    def _next_side(self) -> None:
        """Where humans fly, the truth is for afterwards."""
        if not self.session.humans:
            super()._next_side()
        elif self.session.over:
            self._shows_truth = not self._shows_truth
        else:
            self._say("the truth is shown when the fight is over")

    def _views(self, whole: pygame.Rect) -> list[tuple[int | None, pygame.Rect]]:
        """Whose views there are, and where: side by side where two humans have their own.

        With sensors nobody sees all that flies before the end: who does not know it would.
        """
        sides = [*self.hands]
        shared = self._mode == PLANE and not self._own_view
        if sides and self._has_sensors:
            shared = shared and self.session.over and self._shows_truth
        if len(sides) < 2 or shared:
            return [(None if shared or not sides else sides[0], whole)]
        return list(zip(sides, columns(whole.size, len(sides)), strict=True))

    def _lines(self, side: int | None) -> list[str]:
        """What stands below a view of a side, or of all."""
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
            lines.append(launch_words(session, session.sides[side]))
        else:
            lines += [
                f"{self._called(human)}: {launch_words(session, human)}" for human in session.humans
            ]
        if self._has_sensors and not self.hands:
            lines.append(f"{self._side_words(self._side)}: F changes that")
        if session.time_scale != 1:
            lines.append(f"{session.time_scale:g}x time")
        if not self._is_team:
            return [*lines, "H help"]
        keys = CHOOSING_KEYS[side if len(self.hands) > 1 else 0] if side is not None else FOLLOWING
        return [*lines, f"{keys}   H help"]

    def _tally(self, side: int | None) -> str:
        """The fights that have ended, as one side or both have it."""
        counts = Counter(self._outcomes.values())
        if side is None:
            return f"red {counts[RED_WINS]}   draws {counts[DRAW]}   blue {counts[RED_WINS + 1]}"
        won, lost = counts[RED_WINS + side], counts[RED_WINS + 1 - side]
        return f"won {won}   drawn {counts[DRAW]}   lost {lost}"

"""The window in which people fly: events, frames, and the keys that are no flight controls."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pygame

from midrange_puffer.files import WriteError, new_name
from midrange_puffer.game.contact_path import TRACKS
from midrange_puffer.game.parameters import HUMAN, LADDER, SEATS, pilots_of
from midrange_puffer.game.records import DRAW, RED_WINS
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.replays.replay import SUFFIX
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.debrief import Look, debrief
from midrange_puffer.show.play.inputs import Hands, hands_of
from midrange_puffer.show.play.overlay import (
    draw_debrief,
    draw_help,
    draw_notice,
    draw_warning,
)
from midrange_puffer.show.play.threats import Threat, advice, find_threats, heard_threats
from midrange_puffer.show.view import PLANE
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.renderer import Renderer, columns
from midrange_puffer.show.view.theme import FAINT
from midrange_puffer.show.view.viewer import Viewer

THROTTLE_RATE = 1.0  # 1/s, of the lever: from idle to full in one second
REWIND_RATE = 8.0  # s of the fight taken back in a second
MESSAGE_TIME = 4.0  # s
LOOK_INTERVAL = 0.2  # s of the fight, from one look at the space-time graph to the next
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
        hands: Of the humans, by seat.
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
        self.hands: dict[int, Hands] = hands_of(session.humans)
        self.saved: list[Path] = []
        self._folder = folder
        self._rewinding, self._rewound = False, 0.0  # s of the fight that are to be taken back
        self._own_view, self._enemy_zones, self._help = True, False, False
        self._shows_truth = False  # of a fight with sensors that is over
        self._fight = 0
        self._outcomes: dict[int, int] = {}  # of the fights of these two, by number: MrOutcome
        self._debriefs: dict[int, list[str]] = {}  # of the humans, once the fight is over
        self._clear_looks()
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
        for seat, hands in self.hands.items():
            if hands.handle(event) and not self._help:
                self.session.fire(seat)
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
        for seat, who in enumerate(self.session.contestants):
            if who != HUMAN:
                self._leave()
                flying = pilots_of(self.session.sim.parameters)
                ladder = (*LADDER, *(name for name in flying if name not in LADDER))
                rung = ladder.index(who) + 1 if who in ladder else 0
                self.session.meet(seat, ladder[rung % len(ladder)])
                self._outcomes.clear()
                self._begin()
                self._say(f"against {self.session.names[seat]}")
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
        self._clear_looks()

    def _clear_looks(self) -> None:
        humans = self.session.humans
        self._looks: dict[int, list[Look]] = {seat: [] for seat in humans}
        self._threats: dict[int, list[Threat]] = {seat: [] for seat in humans}
        self._looked = -LOOK_INTERVAL

    def _pass(self, seconds: float) -> None:
        if self._rewinding:
            self._rewind(seconds)
        else:
            self._fly(seconds)
        self._message_left -= seconds

    def _fly(self, seconds: float) -> None:
        for seat, hands in self.hands.items():
            self.session.steer(seat, hands.rudder)
            self.session.move_throttle(seat, hands.throttle_rate * THROTTLE_RATE * seconds)
        was_over = self.session.over
        self.session.advance(seconds)
        self._look()
        if self.session.over and not was_over:
            self._outcomes[self._fight] = int(self.session.sim.outcome[0])
            self._debriefs = {
                seat: debrief(self.session.sim, self.session.paths, seat, looks)
                for seat, looks in self._looks.items()
            }
            if self._to_be_kept():
                self._save()

    def _look(self) -> None:
        """Look at each human's space-time graph: which missiles come, and what is open.

        It is the true one, with sensors, too: for the debriefing. Then the receiver warns.
        """
        now = self.session.paths.time
        if now - self._looked < LOOK_INTERVAL:
            return
        self._looked = now
        for seat in self.session.humans:
            graph = spacetime(self.session.sim, 0, seat)
            inbound = [one.escape_miss for one in graph.missiles if one.target == seat]
            self._threats[seat] = (
                heard_threats(moment(self.session.paths, side=seat), seat)
                if self._has_sensors
                else find_threats(self.session.sim, graph)
            )
            if inbound:
                is_open = any(all(misses[side] > 0 for misses in inbound) for side in (0, 1))
                self._looks[seat].append(Look(now, is_open))

    def _rewind(self, seconds: float) -> None:
        self._rewound += seconds * REWIND_RATE
        decisions = int(self._rewound / self.session.decision)
        if decisions:
            self._rewound -= decisions * self.session.decision
            self.session.rewind(decisions)
            self._kept = 0
            self._outcomes.pop(self._fight, None)  # it is flown again
            self._shows_truth = False
            now = self.session.paths.time
            self._looked = now - LOOK_INTERVAL  # the next decision is looked at anew
            for seat, looks in self._looks.items():
                self._looks[seat] = [look for look in looks if look.time <= now]
                self._threats[seat] = []

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
        for seat, rect in self._views(surface.get_rect()):
            self._renderer.draw(
                session.sim,
                session.paths,
                time=session.time,
                focus=seat,
                mode=self._mode,
                rect=rect,
                lines=self._lines(seat),
                names=session.names,
                enemy_zones=self._enemy_zones,
                side=self._known_to(seat),
            )
            self._draw_words(surface, seat, rect)
        if self._help:
            draw_help(surface)
        elif self._rewinding:
            draw_notice(surface, "back in time")
        elif session.paused and not session.over:
            draw_notice(surface, "paused")
        self._show(surface)

    def threats(self, seat: int) -> list[Threat]:
        """The missiles that a human in this seat is warned of, the most pressing first."""
        return self._threats[seat]

    def _draw_words(self, surface: pygame.Surface, seat: int | None, rect: pygame.Rect) -> None:
        """What is said to a human: of missiles that come, and at the end why it went so."""
        if seat not in self._threats:
            return
        threats = self._threats[seat]
        if self.session.over:
            draw_debrief(surface, rect, self._debriefs[seat])
        elif threats:
            draw_warning(surface, rect, threats[0].words, advice(threats))

    def _known_to(self, seat: int | None) -> int | None:
        """As which seat a view is known: humans see what their sensors show; None: the truth."""
        humans = self.session.humans
        if not humans or not self._has_sensors:
            return self._side
        return None if self.session.over and self._shows_truth else seat

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
        humans = self.session.humans
        shared = self._mode == PLANE and not self._own_view
        if humans and self._has_sensors:
            shared = shared and self.session.over and self._shows_truth
        if len(humans) < 2 or shared:
            return [(None if shared or not humans else humans[0], whole)]
        return list(zip(humans, columns(whole.size, len(humans)), strict=True))

    def _lines(self, seat: int | None) -> list[str]:
        """What stands below a view of a seat, or of all."""
        lines = [self._message] if self._message_left > 0 else []
        if self._outcomes:
            lines.append(self._tally(seat))
        if self.session.over:
            harder = "O next opponent   " if len(self.session.humans) < len(SEATS) else ""
            if self._has_sensors:
                lines.append(f"{self._side_words(self._known_to(seat))}: F changes that")
            return [*lines, f"R again   N next start   {harder}Backspace back in time   Esc quit"]
        if seat is not None:
            lines.append(launch_words(self.session, seat))
        else:
            humans = self.session.humans
            lines += [f"{SEATS[human]}: {launch_words(self.session, human)}" for human in humans]
        if self._has_sensors and not self.session.humans:
            lines.append(f"{self._side_words(self._side)}: F changes that")
        if self.session.time_scale != 1:
            lines.append(f"{self.session.time_scale:g}x time")
        return [*lines, "H help"]

    def _tally(self, seat: int | None) -> str:
        """The fights that have ended, from a seat's side or from both."""
        counts = Counter(self._outcomes.values())
        if seat is None:
            return f"red {counts[RED_WINS]}   draws {counts[DRAW]}   blue {counts[RED_WINS + 1]}"
        won, lost = counts[RED_WINS + seat], counts[RED_WINS + 1 - seat]
        return f"won {won}   drawn {counts[DRAW]}   lost {lost}"


def launch_words(session: Session, seat: int) -> str:
    """Whether a seat may launch, and from when on."""
    fighters = {name: values[0, seat] for name, values in session.sim.fighters.items()}
    if not fighters["alive"]:
        return "shot down"
    if not fighters["ammo"]:
        return "no missile left"
    if session.paths.contacts and session.paths.contacts[seat].source[-1] not in TRACKS:
        return "no track: nothing to launch at"
    wait = fighters["wait"] * session.sim.parameters["physics_dt"]
    return f"next missile in {wait:.1f} s" if wait else "missile ready"

"""What the window shows in which humans fly: views, lines below them, and boxes over them."""

from collections import Counter
from collections.abc import Callable

import pygame

from midrange_puffer.game.parameters import SEATS, callsigns
from midrange_puffer.game.records import DRAW, RED_WINS
from midrange_puffer.replays.session import Session
from midrange_puffer.show.play.inputs import Hands, hands_of
from midrange_puffer.show.play.launch import status_lines
from midrange_puffer.show.play.overlay import draw_debrief, draw_help, draw_notice, draw_warning
from midrange_puffer.show.play.systems import systems_keys
from midrange_puffer.show.play.threats import Lookout, Threat, advice
from midrange_puffer.show.view import PLANE
from midrange_puffer.show.view.canvas import FAINT
from midrange_puffer.show.view.renderer import Renderer, columns
from midrange_puffer.show.view.side import divide
from midrange_puffer.show.view.status import bar_height
from midrange_puffer.show.view.viewer import Viewer

MESSAGE_TIME = 4.0  # duration of a message [s]
# The keys of loadouts and teams, as written below a view: of red or a single human, and of blue.
KIND_KEYS = "X next type of missile", "End next type of missile"
CHOOSING_KEYS = "Tab fighter   Q target", "Page Down fighter   Right Shift target"
FOLLOWING = "Tab 1-9 click: follow a fighter"


class GameScreen(Viewer):
    """The screen of a session in which humans may fly. The subclass handles keys and time.

    Args:
        session: The fights.
        renderer: Draws them.
        show: Shows the renderer's surface on the screen.

    Attributes:
        hands: The humans' input, by side.
    """

    def __init__(
        self, session: Session, renderer: Renderer, show: Callable[[pygame.Surface], None]
    ) -> None:
        super().__init__(session, renderer, show)
        self.hands: dict[int, Hands] = hands_of([*session.sides])
        self._rewinding = False
        self._own_view, self._enemy_zones, self._help = True, False, False
        self._shows_truth = False  # True: show the truth, after a fight with sensors
        self._outcomes: dict[int, int] = {}  # MrOutcome by the fight's number
        self._debriefs: dict[int, list[str]] = {}  # by side, once the fight is over
        self._lookout = Lookout(session)
        self._message, self._message_left = "", 0.0  # s

    def threats(self, side: int) -> list[Threat]:
        """Returns the missiles that a side's human is warned of; see `Lookout.threats`."""
        return self._lookout.threats[side]

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

    def _called(self, fighter: int) -> str:
        return callsigns(self.session.paths.sizes)[fighter]

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

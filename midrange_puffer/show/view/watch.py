"""Fights of a policy, one after another in a window: `puffer eval midrange --render`."""

from collections.abc import Callable, Mapping, Sequence

import pygame

from midrange_puffer.contest.match import Contestant
from midrange_puffer.policies.mix import check_is_one, title
from midrange_puffer.replays.session import Session
from midrange_puffer.replays.telemetry import Telemetry
from midrange_puffer.show.view.renderer import Renderer
from midrange_puffer.show.view.viewer import Viewer, Window

LAST = 3.0  # time for which the end of a fight is shown [s]
KEYS = "P pause   N next   V space-time graph   + - speed   Esc quit"
PAIR_KEYS = f"Tab follow a fighter   {KEYS}"
TEAM_KEYS = f"Tab 1-9 click: follow a fighter   {KEYS}"
SENSOR_KEYS = f"F the truth, what red knows, what blue knows   {PAIR_KEYS}"


def watch(
    policy: Contestant,
    name: str,
    opponents: Mapping[str, Contestant],
    seed: int = 0,
    greedy: bool = False,
    telemetry: Telemetry | None = None,
    **parameters: float,
) -> None:
    """Shows fights of a policy against its opponents in turn, until the user quits.

    From each start the policy meets every opponent, first as red and then as blue, before the
    next start.

    Args:
        policy: The policy.
        name: Its name.
        opponents: Opponents by name, as in policies/mix.py; mixes are refused.
        seed: Seed of the starts and the actions.
        greedy: Policies take the likeliest action instead of drawing one.
        telemetry: A server to which the fights are streamed, too.
        **parameters: Rows of csrc/params.h.

    Raises:
        UsageError: An opponent is a mix, or there is no display.
        ValueError: An argument has a wrong name, type or range.
    """
    sessions = []
    for other, opponent in opponents.items():
        check_is_one(other)
        contestants, names = (policy, opponent), (name, title(other))
        sessions.append(Session(contestants, names, seed, greedy, **parameters))
        sessions.append(Session(contestants[::-1], names[::-1], seed, greedy, **parameters))
    with Window(title=f"midrange: {name}") as window:
        Watcher(sessions, Renderer(window.size, in_background=True), window.show, telemetry).run()


class Watcher(Viewer):
    """Several sessions that are shown in turn.

    Args:
        sessions: In the first round each session shows its fight from the first start, in the
            second round its fight from the second start, and so on.
        renderer, show: As in `Viewer`.
        telemetry: As in `watch`.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        renderer: Renderer,
        show: Callable[[pygame.Surface], None],
        telemetry: Telemetry | None = None,
    ) -> None:
        super().__init__(sessions[0], renderer, show)
        self._telemetry = telemetry
        self.session.stream(telemetry)
        self._sessions, self._turn = sessions, 0
        self._over = 0.0  # time for which the end has been shown [s]
        if not self._is_team:
            self._chosen = 0  # red's view has both fighters, with their names and zones

    def _pass(self, seconds: float) -> None:
        self.session.advance(seconds)
        if self.session.over and not self.session.paused:
            self._over += seconds
            if self._over > LAST:
                self._next()

    def _press(self, key: int) -> None:
        super()._press(key)
        if key == pygame.K_n:
            self._next()

    def _next(self) -> None:
        time_scale = self.session.time_scale
        self._turn += 1
        self.session.stream(None)
        start, index = divmod(self._turn, len(self._sessions))
        self.session = self._sessions[index]
        self.session.start(start)
        self.session.stream(self._telemetry)
        self.session.time_scale, self.session.paused = time_scale, False
        self._over = 0.0

    def _draw(self) -> None:
        session = self.session
        speed = f"{session.time_scale:g}x" if session.time_scale != 1 else ""
        state = "paused" if session.paused else speed
        keys = TEAM_KEYS if self._is_team else SENSOR_KEYS if self._has_sensors else PAIR_KEYS
        self._spots = self._renderer.draw(
            session.sim,
            session.paths,
            time=session.time,
            focus=self._focus,
            mode=self._mode,
            lines=["   ".join(filter(None, (self._side_words(self._side), state))), keys],
            names=session.names,
            enemy_zones=True,
            side=self._side,
        )
        self._show(self._renderer.surface)

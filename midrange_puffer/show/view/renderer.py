"""A picture of an engagement at a time, seen from above or as a space-time graph."""

from collections.abc import Sequence

import numpy as np
import pygame

from midrange_puffer.game.belief import believed
from midrange_puffer.game.contact_path import TRACKS, UNSEEN
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.parameters import RADAR, SEATS
from midrange_puffer.game.paths import Paths, outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.show.view import PLANE, SPACETIME, status
from midrange_puffer.show.view.camera import Camera
from midrange_puffer.show.view.canvas import Canvas, text_size
from midrange_puffer.show.view.graph import Enemy, draw_graph
from midrange_puffer.show.view.moment import moment
from midrange_puffer.show.view.plane import draw_plane
from midrange_puffer.show.view.theme import BACKGROUND, BRIGHT, HUGE, LARGE, MIDDLE, PANEL, TEXT

SIZE = (1280, 720)
GAP = 2  # px, between two views side by side


class Renderer:
    """Draws engagements onto a surface, without any display.

    Args:
        size: Width and height [px].

    Attributes:
        surface: What has been drawn.
        yaw, pitch: How the space-time graph is looked at [rad], see `graph.Projection`.
    """

    def __init__(self, size: tuple[int, int] = SIZE) -> None:
        self.surface = pygame.Surface(size)
        self.yaw, self.pitch = 0.5, 0.6
        self._views: dict[tuple, tuple[Canvas, Camera]] = {}

    def draw(
        self,
        sim: Simulation,
        paths: Paths,
        *,
        env: int = 0,
        time: float | None = None,
        focus: int | None = None,
        mode: str = PLANE,
        rect: pygame.Rect | None = None,
        lines: Sequence[str] = (),
        names: tuple[str, str] = SEATS,
        enemy_zones: bool = False,
        side: int | None = None,
    ) -> None:
        """Draw one view; a split screen has two of them.

        Args:
            sim: Whose engagement `env` is drawn.
            paths: Of that engagement, up to now.
            time: When [s]; by default now. Between two entries of the paths everything is
                drawn on its way from one to the other.
            focus: The seat it is drawn for, with its launch zones; None: for nobody.
            mode: "plane", or "spacetime" for the space-time graph (of red where `focus` is None).
                Nothing lies ahead of who is dead, or of a fight that is over: these are seen from
                above, and at its end the whole fight.
            rect: The part of the surface; by default all of it.
            lines: Texts at the bottom, such as the keys.
            names: Who flies red and blue.
            enemy_zones: Draw the launch zones of the enemy of `focus`, too.
            side: With sensors, the seat as which the engagement is known; None: as it is.
        """
        focus = side if focus is None else focus
        rect = self.surface.get_rect() if rect is None else rect
        canvas, camera = self._view(rect, focus)
        now = moment(paths, time, side)
        canvas.clear(BACKGROUND)
        bar = pygame.Rect(0, 0, rect.width, status.HEIGHT)
        area = pygame.Rect(0, bar.bottom, rect.width, rect.height - bar.height)
        is_over = bool(sim.outcome[env]) and now.time >= paths.time
        if mode == SPACETIME and sim.fighters["alive"][env, focus or 0] and not sim.outcome[env]:
            self._draw_graph(canvas, area, sim, env, focus or 0, is_believed=side is not None)
        else:
            draw_plane(
                canvas,
                area,
                camera,
                now,
                focus,
                None if focus is None else game_envelope(sim.parameters),
                whole=is_over,
                enemy_zones=enemy_zones,
                sensors=sim.parameters if sim.parameters["sensing"] == RADAR else None,
            )
            area = camera.area  # the texts below cover no labels
        status.draw_status(canvas, bar, now, focus, names)
        _draw_lines(canvas, area, lines)
        if is_over:
            _draw_banner(canvas, area, outcome_words(sim, env))
        canvas.show(self.surface.subsurface(rect))

    def _draw_graph(
        self,
        canvas: Canvas,
        area: pygame.Rect,
        sim: Simulation,
        env: int,
        seat: int,
        is_believed: bool,
    ) -> None:
        is_known, is_tracked = True, True
        if is_believed:
            source = sim.contacts["source"][env, seat]
            is_known, is_tracked = source != UNSEEN, source in TRACKS
            sim, env = believed(sim, env, seat), 0
        fighters = sim.fighters
        place = np.array([fighters[axis][env, 1 - seat] for axis in ("x", "y")], float)
        enemy = Enemy(place if is_known else None, is_tracked)
        graph = spacetime(sim, env, seat)
        draw_graph(canvas, area, graph, enemy, self.yaw, self.pitch, is_believed)

    def rgb(self) -> np.ndarray:
        """The picture as uint8 [height, width, 3]."""
        width, height = self.surface.get_size()
        pixels = np.frombuffer(pygame.image.tobytes(self.surface, "RGB"), np.uint8)
        return pixels.reshape(height, width, 3).copy()

    def _view(self, rect: pygame.Rect, focus: int | None) -> tuple[Canvas, Camera]:
        """What belongs to a part of the surface; its camera remembers where it looked."""
        key = (*rect, focus)
        if key not in self._views:
            self._views[key] = Canvas(rect.size), Camera(rect)
        return self._views[key]


def columns(size: tuple[int, int], count: int) -> list[pygame.Rect]:
    """Parts of a surface for views side by side, with a gap between them."""
    width = (size[0] - GAP * (count - 1)) // count
    return [pygame.Rect(index * (width + GAP), 0, width, size[1]) for index in range(count)]


def _draw_lines(canvas: Canvas, area: pygame.Rect, lines: Sequence[str]) -> None:
    """At the lower left, one below the other."""
    for index, line in enumerate(reversed(lines)):
        canvas.text(
            line, (area.left + 10, area.bottom - 8 - 18 * index), TEXT, MIDDLE, "bottomleft"
        )


def _draw_banner(canvas: Canvas, area: pygame.Rect, words: str) -> None:
    """How it ended, at the top."""
    size = HUGE if area.width > 500 else LARGE
    room = pygame.Rect((0, 0), text_size(words, size))
    room.midtop = area.centerx, area.top + 28
    canvas.box(room.inflate(36, 20), PANEL, 6)
    canvas.text(words, room.topleft, BRIGHT, size)

"""A picture of an engagement at a time, seen from above or as a space-time graph."""

from collections.abc import Sequence

import numpy as np
import pygame

from midrange_puffer.game.belief import believed
from midrange_puffer.game.contact_path import TRACKS, UNSEEN, contact_places
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.pair import pair_graph
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns, sizes_of
from midrange_puffer.game.paths import Paths, outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.show.view import PLANE, SPACETIME, status
from midrange_puffer.show.view.camera import Camera
from midrange_puffer.show.view.canvas import Canvas, text_size
from midrange_puffer.show.view.graph import Enemy, draw_graph
from midrange_puffer.show.view.labels import Labels
from midrange_puffer.show.view.marks import draw_marks
from midrange_puffer.show.view.moment import Focus, Moment, moment
from midrange_puffer.show.view.plane import draw_plane
from midrange_puffer.show.view.roster import draw_roster, roster_height
from midrange_puffer.show.view.theme import BACKGROUND, BRIGHT, HUGE, LARGE, MIDDLE, PANEL, TEXT

SIZE = (1280, 720)
GAP = 2  # px, between two views side by side

Spot = tuple[pygame.Rect, int]  # a part of the surface in which a fighter may be clicked


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
        self._canvases: dict[tuple[int, int], Canvas] = {}
        self._views: dict[tuple, tuple[Canvas, Camera]] = {}
        self._labels: dict[tuple, Labels] = {}

    def draw(
        self,
        sim: Simulation,
        paths: Paths,
        *,
        env: int = 0,
        time: float | None = None,
        focus: int | None = None,
        target: int | None = None,
        mode: str = PLANE,
        rect: pygame.Rect | None = None,
        lines: Sequence[str] = (),
        names: tuple[str, str] = SEATS,
        enemy_zones: bool = False,
        side: int | None = None,
    ) -> list[Spot]:
        """Draw one view; a split screen has two of them.

        Args:
            sim: Whose engagement `env` is drawn.
            paths: Of that engagement, up to now.
            time: When [s]; by default now. Between two entries of the paths everything is
                drawn on its way from one to the other.
            focus: The fighter it is drawn for, with its launch zones; None: for nobody.
            target: Whom that fighter would fire at; None: its foe, see `Moment.foe`.
            mode: "plane", or "spacetime" for the space-time graph (of the first fighter where
                `focus` is None) and its foe. Nothing lies ahead of who is dead, or of a fight that
                is over: these are seen from above, and at its end the whole fight.
            rect: The part of the surface; by default all of it.
            lines: Texts at the bottom, such as the keys.
            names: Who flies red and blue.
            enemy_zones: Draw the launch zones of the enemy of `focus`, too.
            side: With sensors, the side as which the engagement is known; None: as it is.

        Returns:
            Of teams, where on the surface fighters may be clicked.
        """
        focus = side if focus is None else focus
        rect = self.surface.get_rect() if rect is None else rect
        canvas, camera = self._view(rect, focus)
        now = moment(paths, time, side)
        follows = None if focus is None else _followed(now, focus, target)
        canvas.clear(BACKGROUND)
        bar = pygame.Rect(0, 0, rect.width, bar_height(rect, paths.sizes, focus is not None))
        area = pygame.Rect(0, bar.bottom, rect.width, rect.height - bar.height)
        is_over = bool(sim.outcome[env]) and now.time >= paths.time
        ahead = focus or 0
        has_graph = mode == SPACETIME and sim.fighters["alive"][env, ahead] and not sim.outcome[env]
        if has_graph:
            self._draw_graph(canvas, area, sim, env, ahead, now.foe(ahead), side is not None)
        else:
            draw_plane(
                canvas,
                area,
                camera,
                now,
                follows,
                None if focus is None else game_envelope(sim.parameters),
                whole=is_over,
                enemy_zones=enemy_zones,
                sensors=sim.parameters if sim.parameters["sensing"] == RADAR else None,
            )
            area = camera.area  # the texts below cover no labels
        spots: list[Spot] = []
        if now.is_team:
            called = callsigns(paths.sizes)
            spots += draw_roster(canvas, bar, now, follows, names, called)
            if not has_graph:
                spots += draw_marks(canvas, camera, self._labels_of(rect), now, follows, called)
        else:
            status.draw_status(canvas, bar, now, focus, names)
        _draw_lines(canvas, area, lines)
        if is_over:
            _draw_banner(canvas, area, outcome_words(sim, env))
        canvas.show(self.surface.subsurface(rect))
        return [(spot.move(rect.topleft), number) for spot, number in spots]

    def _draw_graph(
        self,
        canvas: Canvas,
        area: pygame.Rect,
        sim: Simulation,
        env: int,
        fighter: int,
        foe: int,
        is_believed: bool,
    ) -> None:
        called = callsigns(sizes_of(sim.parameters))
        names = called[fighter], called[foe]
        is_known, is_tracked = True, True
        if is_believed:
            source = sim.contacts["source"][env][contact_places(sim)[fighter, foe]]
            is_known, is_tracked = source != UNSEEN, source in TRACKS
            sides = tuple(int(one >= sizes_of(sim.parameters)[0]) for one in (fighter, foe))
            sim, env = believed(sim, env, fighter, foe), 0
            fighter, foe = sides
        fighters = sim.fighters
        place = np.array([fighters[axis][env, foe] for axis in ("x", "y")], float)
        enemy = Enemy(place if is_known else None, is_tracked)
        graph = pair_graph(sim, env, fighter, foe)
        draw_graph(canvas, area, graph, enemy, self.yaw, self.pitch, is_believed, names)

    def rgb(self) -> np.ndarray:
        """The picture as uint8 [height, width, 3]."""
        width, height = self.surface.get_size()
        pixels = np.frombuffer(pygame.image.tobytes(self.surface, "RGB"), np.uint8)
        return pixels.reshape(height, width, 3).copy()

    def _view(self, rect: pygame.Rect, focus: int | None) -> tuple[Canvas, Camera]:
        """What belongs to a part of the surface; its camera remembers where it looked."""
        key = (*rect, focus)
        if key not in self._views:
            if rect.size not in self._canvases:
                self._canvases[rect.size] = Canvas(rect.size)
            self._views[key] = self._canvases[rect.size], Camera(rect)
        return self._views[key]

    def _labels_of(self, rect: pygame.Rect) -> Labels:
        """The names in a part of the surface, which remember where they stood."""
        return self._labels.setdefault(tuple(rect), Labels())


def bar_height(rect: pygame.Rect, sizes: tuple[int, int], has_focus: bool) -> int:
    """Of the bar above a view of two sides of so many fighters [px]."""
    return roster_height(rect, sizes, has_focus) if max(sizes) > 1 else status.HEIGHT


def columns(size: tuple[int, int], count: int) -> list[pygame.Rect]:
    """Parts of a surface for views side by side, with a gap between them."""
    width = (size[0] - GAP * (count - 1)) // count
    return [pygame.Rect(index * (width + GAP), 0, width, size[1]) for index in range(count)]


def _followed(now: Moment, fighter: int, target: int | None) -> Focus:
    foe = now.foe(fighter)
    return Focus(fighter, foe, foe if target is None else target)


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

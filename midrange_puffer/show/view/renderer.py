"""Pictures of an engagement at a time, seen from above or as a space-time graph."""

from collections.abc import Sequence

import numpy as np
import pygame

from midrange_puffer.game.contacts import TRACKS, UNSEEN, believed, contact_places
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.manoeuvres import Doings
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns, sizes_of
from midrange_puffer.game.paths import Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.game.simulation import Simulation
from midrange_puffer.game.spacetime import pair_graph
from midrange_puffer.show.view import PLANE, SPACETIME
from midrange_puffer.show.view.canvas import (
    BACKGROUND,
    BOX,
    BRIGHT,
    HUGE,
    LARGE,
    MIDDLE,
    TEXT,
    Camera,
    Canvas,
    text_size,
)
from midrange_puffer.show.view.graph import Enemy, draw_graph
from midrange_puffer.show.view.marks import Labels, Spot, draw_marks, height_labels
from midrange_puffer.show.view.moment import Focus, Moment, moment
from midrange_puffer.show.view.plane import draw_plane
from midrange_puffer.show.view.side import divide, draw_side
from midrange_puffer.show.view.states import Fighter
from midrange_puffer.show.view.status import bar_height, draw_pair_bar, draw_team_bar
from midrange_puffer.show.view.zones import EnvelopeZones, FlownZones, Zones

SIZE = (1280, 720)
GAP = 2  # width between two views side by side [px]


class Renderer:
    """A renderer that draws engagements onto a surface; it needs no display.

    Args:
        size: Width and height [px].
        in_background: True to find launch zones with height in a thread, so that a picture does not
            wait for them.

    Attributes:
        surface: The picture.
        yaw, pitch: Point of view of the space-time graph [rad], see `graph.Projection`.
    """

    def __init__(self, size: tuple[int, int] = SIZE, in_background: bool = False) -> None:
        self._in_background = in_background
        self._zones: FlownZones | None = None  # of the fight with height that was drawn last
        self.surface = pygame.Surface(size)
        self.yaw, self.pitch = 0.5, 0.6
        self._canvases: dict[tuple[int, int], Canvas] = {}
        # Labels by part of the surface, and cameras by part and focus: both remember their state.
        self._doings: Doings | None = None
        self._labels: dict[tuple, Labels] = {}
        self._cameras: dict[tuple, Camera] = {}

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
        kind: int | None = None,
    ) -> list[Spot]:
        """Draws one view; a split screen has several.

        Args:
            sim: The simulation of the engagement.
            paths: The engagement's paths up to now.
            env: The engagement's index in the simulation.
            time: Time to draw [s]; by default now. Bodies move smoothly between two entries of
                the paths.
            focus: The fighter that the view follows and whose launch zones it shows. None: all, or
                with `side` the first fighter of that side.
            target: The enemy that this fighter would fire at; None: its foe, see `Moment.foe`.
            mode: "plane", or "spacetime" for the space-time graph of `focus` (by default of the
                first fighter) and its foe. A dead fighter and a fight that is over have no graph
                and are drawn from above.
            rect: Part of the surface; by default all of it.
            lines: Texts at the bottom, such as the keys.
            names: Names of the contestants that fly red and blue.
            enemy_zones: Draw the launch zones of the enemy of `focus`, too.
            side: In a game with sensors, the side whose knowledge is drawn; None: the truth.
            kind: The place in its loadout of the type of missile that `focus` would fire; None: the
                first type that is left.

        Returns:
            In teams, the parts of the surface where a click chooses a fighter.
        """
        if focus is None and side is not None:
            focus = side * paths.sizes[0]
        rect = self.surface.get_rect() if rect is None else rect
        if rect.size not in self._canvases:
            self._canvases[rect.size] = Canvas(rect.size)
        canvas = self._canvases[rect.size]
        camera = self._cameras.setdefault((*rect, focus), Camera(rect))
        now = moment(paths, time, side)
        seen = None if focus is None else _focus_on(now, focus, target, kind)
        canvas.clear(BACKGROUND)
        bar = pygame.Rect(0, 0, rect.width, bar_height(rect, paths.sizes, focus is not None))
        area = pygame.Rect(0, bar.bottom, rect.width, rect.height - bar.height)
        sensors = sim.parameters if sim.parameters["sensing"] == RADAR else None
        is_over = bool(sim.outcome[env]) and now.time >= paths.time
        own = focus or 0
        is_open = sim.fighters["alive"][env, own] and not sim.outcome[env]
        has_graph = mode == SPACETIME and is_open
        if has_graph:
            self._draw_graph(canvas, area, sim, env, own, now.foe(own), side is not None)
        else:
            above, beside = divide(area) if now.has_height else (area, None)
            draw_plane(
                canvas,
                above,
                camera,
                now,
                seen,
                None if focus is None else self._zones_of(sim, paths),
                whole=is_over,
                enemy_zones=enemy_zones,
                sensors=sensors,
                by_height=now.has_height and beside is None,
            )
            if now.has_height and not now.is_team:  # in teams the names have heights
                labels = self._labels.setdefault(tuple(rect), Labels())
                heights = height_labels(
                    camera, now, now.known, has_climbs=True, has_guidance=sensors is not None
                )
                labels.draw(canvas, camera.area, heights)
            if beside is not None:
                labels = self._labels.setdefault((*rect, "side"), Labels())
                left = own if focus is not None else _first_living(now)
                focused = seen or _focus_on(now, left, target, kind)
                draw_side(canvas, beside, now, focused, is_over, labels, sensors)
            area = camera.area  # the texts must not cover labels of the grid
        spots: list[Spot] = []
        words = self._words(paths, now.time, side)
        if now.is_team:
            called = callsigns(paths.sizes)
            spots += draw_team_bar(canvas, bar, now, seen, names, called, words)
            if not has_graph:
                labels = self._labels.setdefault(tuple(rect), Labels())
                has_guidance = sensors is not None
                spots += draw_marks(canvas, camera, labels, now, seen, called, has_guidance)
        else:
            draw_pair_bar(canvas, bar, now, seen, names, words)
        _draw_lines(canvas, area, lines)
        if is_over:
            _draw_outcome(canvas, area, outcome_words(sim, env))
        canvas.show(self.surface.subsurface(rect))
        return [(spot.move(rect.topleft), number) for spot, number in spots]

    def _words(self, paths: Paths, time: float, side: int | None) -> list[str]:
        """Returns what each fighter does, in words; of a side's knowledge only its own."""
        if self._doings is None or self._doings.paths is not paths:
            self._doings = Doings(paths)
        words = self._doings.words(time)
        sides = [path.side for path in paths.fighters]
        return [text if side in (None, own) else "" for text, own in zip(words, sides, strict=True)]

    def _zones_of(self, sim: Simulation, paths: Paths) -> Zones:
        """Returns the launch zones of a fight."""
        if not paths.has_height:
            return EnvelopeZones(game_envelope(sim.parameters))
        if self._zones is None or self._zones.paths is not paths:
            self._zones = FlownZones(paths, sim.parameters, self._in_background)
        return self._zones

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
        """Draws the space-time graph of a fighter and its foe, true or believed."""
        sizes = sizes_of(sim.parameters)
        names = callsigns(sizes)[fighter], callsigns(sizes)[foe]
        is_known = is_tracked = True
        if is_believed:
            source = sim.contacts["source"][env][contact_places(sim)[fighter, foe]]
            is_known, is_tracked = source != UNSEEN, source in TRACKS
            sim, env = believed(sim, env, fighter, foe), 0
            fighter, foe = (int(number >= sizes[0]) for number in (fighter, foe))
        place = np.array([sim.fighters[axis][env, foe] for axis in ("x", "y")], float)
        enemy = Enemy(place if is_known else None, is_tracked)
        graph = pair_graph(sim, env, fighter, foe)
        draw_graph(canvas, area, graph, enemy, self.yaw, self.pitch, is_believed, names)

    def rgb(self) -> np.ndarray:
        """Returns the picture as uint8 [height, width, 3]."""
        width, height = self.surface.get_size()
        pixels = np.frombuffer(pygame.image.tobytes(self.surface, "RGB"), np.uint8)
        return pixels.reshape(height, width, 3).copy()


def columns(size: tuple[int, int], count: int) -> list[pygame.Rect]:
    """Returns the parts of a surface for `count` views side by side, with gaps between them."""
    width = (size[0] - GAP * (count - 1)) // count
    return [pygame.Rect(index * (width + GAP), 0, width, size[1]) for index in range(count)]


def _first_living(now: Moment) -> int:
    """Returns the number of red's first living fighter; 0 if none lives."""
    return next((body.number for body in now.fighters if body.side == 0 and body.alive), 0)


def _focus_on(now: Moment, fighter: int, target: int | None, kind: int | None) -> Focus:
    """Returns a view's focus on a fighter.

    Without a target its foe is the target, without a kind its next shot is of the first type left.
    """
    foe, own = now.foe(fighter), now.fighters[fighter]
    first = own.first_type if isinstance(own, Fighter) else 0
    return Focus(fighter, foe, foe if target is None else target, first if kind is None else kind)


def _draw_lines(canvas: Canvas, area: pygame.Rect, lines: Sequence[str]) -> None:
    """Writes lines of text at the bottom of an area."""
    for index, line in enumerate(reversed(lines)):
        place = area.left + 10, area.bottom - 8 - 18 * index
        canvas.text(line, place, TEXT, MIDDLE, "bottomleft")


def _draw_outcome(canvas: Canvas, area: pygame.Rect, words: str) -> None:
    """Writes the outcome at the top of an area."""
    size = HUGE if area.width > 500 else LARGE
    room = pygame.Rect((0, 0), text_size(words, size))
    room.midtop = area.centerx, area.top + 28
    canvas.box(room.inflate(36, 20), BOX, 6)
    canvas.text(words, room.topleft, BRIGHT, size)

"""`puffer plot midrange`: a picture of one engagement, seen from above."""

import importlib.util
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from midrange_puffer.arguments import Parser, load_model, load_opponent
from midrange_puffer.errors import UsageError
from midrange_puffer.files import check_writable, write_whole
from midrange_puffer.parameters import PILOTS, SEATS, checked_seed
from midrange_puffer.player import Player, controls, player_seed
from midrange_puffer.schema import Key
from midrange_puffer.sim import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#c8372d", "#2463b0")  # of the seats, red and blue
STAR = "#ffc52e"
TICK = 20.0  # s between the marks on a fighter's trail
FORMATS = (".png", ".svg", ".pdf")


@dataclass
class Trail:
    """Where a fighter or missile was: times [s] and positions (x, y) [m], one for each decision.

    Attributes:
        owner: The seat, red (0) or blue (1), that flies or has launched it.
        burnt_out: When a missile's motor stops [s].
        killed: Whether a fighter's trail ends in its death, or a missile's in its target's.
    """

    owner: int
    times: list[float] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    burnt_out: float = 0.0
    killed: bool = False

    def add(self, time: float, x: float, y: float) -> None:
        """Go on to (x, y)."""
        self.times.append(time)
        self.points.append((float(x), float(y)))


@dataclass
class Engagement:
    """One engagement from its start to its end.

    Attributes:
        names: Who flies red and blue.
        length: [s]
        outcome: In words.
    """

    names: tuple[str, str]
    fighters: list[Trail]
    missiles: list[Trail]
    length: float
    outcome: str


def main(argv: Sequence[str]) -> int:
    """Plot, with the words after `puffer plot midrange`; return the exit status."""
    options = _parser().read(argv)
    require_matplotlib()
    torch.set_num_threads(1)  # small batches are slower with more
    path, policy, parameters = load_model(options)
    opponent = load_opponent(options.opponent, policy)
    if isinstance(opponent, str) and opponent not in PILOTS:
        raise UsageError(f"opponent = {opponent!r}: a mix; one of {', '.join(PILOTS)} is drawn")
    crew = [policy, opponent]
    if options.seat == SEATS[1]:
        crew.reverse()
    engagement = record_engagement(*crew, options.seed, options.greedy, **parameters)
    plot_engagement(engagement, options.out)
    print(f"{path}: {engagement.outcome} after {engagement.length:.0f} s; {options.out}")
    return 0


def record_engagement(
    red: str | nn.Module,
    blue: str | nn.Module,
    seed: int = 0,
    greedy: bool = False,
    **parameters: float,
) -> Engagement:
    """Fight one engagement and note where everything went.

    Args:
        red, blue: a pilot's name, or a policy on the CPU.
        seed: of the start and the actions.
        greedy: policies take the likeliest action instead of drawing one.
        **parameters: rows of csrc/params.h.

    Raises:
        ValueError: An argument of the wrong name, type or range.
    """
    checked_seed(seed)
    crew = (red, blue)
    names = tuple(who if isinstance(who, str) else "policy" for who in crew)
    pilots = [who if isinstance(who, str) else "agent" for who in crew]
    sim = Simulation(1, seed, *pilots, **parameters)
    players = {
        seat: Player(who, 1, player_seed(seed, seat), greedy)
        for seat, who in enumerate(crew)
        if not isinstance(who, str)
    }
    recorder = _Recorder(sim)
    commands = np.zeros((1, len(crew), 3), np.float32)
    while not sim.outcome[0]:
        seen = sim.observe()
        for seat, player in players.items():
            commands[:, seat] = controls(player.act(seen[:, seat], np.array([0])))
        sim.step(commands)
        recorder.note()
    recorder.fighters[0].killed, recorder.fighters[1].killed = sim.fighters["alive"][0] == 0
    return Engagement(names, recorder.fighters, recorder.missiles, recorder.time, _words(sim))


def plot_engagement(engagement: Engagement, path: str | Path) -> None:
    """Draw an engagement from above into a .png, .svg or .pdf file.

    Raises:
        WriteError: The file could not be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for missile in engagement.missiles:
        _draw_missile(axes, missile)
    for fighter, name in zip(engagement.fighters, engagement.names, strict=True):
        _draw_fighter(axes, fighter, f"{SEATS[fighter.owner]}: {name}")
    _draw_frame(axes, engagement)
    save_figure(figure, path)


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure whole, in the format that the file's name ends in.

    Raises:
        WriteError: The file could not be written.
    """
    image = io.BytesIO()
    figure.savefig(image, format=Path(path).suffix[1:], dpi=150)
    write_whole(Path(path), image.getvalue())


def require_matplotlib() -> None:
    """Raise UsageError where it is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib: pip install 'midrange_puffer[plots]'")


def check_picture(path: str) -> None:
    """Raise ValueError where a picture cannot be written to `path`, for its name or its folder."""
    if Path(path).suffix not in FORMATS:
        raise ValueError(f"must end in {', '.join(FORMATS)}")
    check_writable(path)


class _Recorder:
    """Follows the fighters and missiles of a simulation's one engagement."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._slots: dict[int, tuple[int, Trail]] = {}  # of missiles in the air: age and trail
        self._alive = sim.fighters["alive"][0]
        self.fighters = [Trail(seat) for seat in range(len(SEATS))]
        self.missiles: list[Trail] = []
        self.note()

    @property
    def time(self) -> float:
        return float(self._sim.time[0] * self._sim.parameters["physics_dt"])

    def note(self) -> None:
        """Add where everything is now to the trails."""
        fighters = {name: values[0] for name, values in self._sim.fighters.items()}
        for trail in self.fighters:
            if self._alive[trail.owner]:
                trail.add(self.time, fighters["x"][trail.owner], fighters["y"][trail.owner])
        ended = self._note_missiles()
        for seat in np.flatnonzero(self._alive & ~fighters["alive"]):
            self._mark_hit(self.fighters[seat], [trail for trail in ended if trail.owner != seat])
        self._alive = fighters["alive"]

    def _note_missiles(self) -> list[Trail]:
        """Extend the missiles' trails; return those that have ended."""
        before, self._slots = self._slots, {}
        missiles = {name: values[0] for name, values in self._sim.missiles.items()}
        for slot in np.flatnonzero(missiles["active"]):
            age, trail = before.pop(slot, (0, None))
            if trail is None or missiles["age"][slot] <= age:
                if trail:  # another one has taken its slot
                    before[slot] = age, trail
                trail = self._launched(missiles, slot)
            trail.add(self.time, missiles["x"][slot], missiles["y"][slot])
            self._slots[slot] = int(missiles["age"][slot]), trail
        return [trail for _, trail in before.values()]

    def _launched(self, missiles: dict[str, np.ndarray], slot: int) -> Trail:
        parameters = self._sim.parameters
        launched = self.time - float(missiles["age"][slot]) * parameters["physics_dt"]
        owner = int(missiles["owner"][slot])
        trail = Trail(owner, burnt_out=launched + parameters["missile_burn_time"])
        shooter = self.fighters[owner]
        x, y = np.array(shooter.points).T
        times = shooter.times
        trail.add(launched, np.interp(launched, times, x), np.interp(launched, times, y))
        self.missiles.append(trail)
        return trail

    def _mark_hit(self, victim: Trail, ended: list[Trail]) -> None:
        """Of the missiles that ended with their target, the nearest one has hit it."""
        end = np.array(victim.points[-1])
        hit = min(ended, key=lambda trail: np.hypot(*(np.array(trail.points[-1]) - end)))
        hit.add(victim.times[-1], *victim.points[-1])
        hit.killed = True


def _words(sim: Simulation) -> str:
    """The outcome of the engagement."""
    outcome, alive = sim.outcome[0], sim.fighters["alive"][0]
    if outcome in (1, 2):
        return f"{SEATS[outcome - 1]} wins"
    if sim.truncated[0]:
        return "draw by time"
    return "draw, no missiles left" if alive.any() else "mutual kill"


def _draw_missile(axes: "Axes", trail: Trail) -> None:
    """Thick while its motor burns, thin while it coasts."""
    times, (x, y) = np.array(trail.times), np.array(trail.points).T / 1000
    burning = times <= trail.burnt_out
    colour = COLOURS[trail.owner]
    axes.plot(x, y, color=colour, lw=1, alpha=0.8, zorder=2)
    axes.plot(x[burning], y[burning], color=colour, lw=4, alpha=0.35, zorder=2)
    if not trail.killed:
        axes.plot(x[-1], y[-1], marker="x", ms=4, mew=1, color=colour, alpha=0.8, zorder=3)


def _draw_fighter(axes: "Axes", trail: Trail, label: str) -> None:
    """A dot every TICK seconds, and at the end an arrowhead, or a star where it died."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.patheffects import withStroke

    times, (x, y) = np.array(trail.times), np.array(trail.points).T / 1000
    colour = COLOURS[trail.owner]
    axes.plot(x, y, color=colour, lw=2.2, zorder=4, label=label)
    marks = np.arange(0, times[-1], TICK)
    places = np.column_stack([np.interp(marks, times, x), np.interp(marks, times, y)])
    for time, place in zip(marks, places, strict=True):
        face = "white" if time else colour
        axes.plot(*place, marker="o", ms=5, mfc=face, mec=colour, mew=1.3, zorder=5)
        axes.annotate(
            f"{time:.0f}",
            place,
            (5, 5),
            textcoords="offset points",
            fontsize=8,
            color=colour,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=7,
        )
    heading = np.degrees(np.arctan2(y[-1] - y[-2], x[-1] - x[-2]))
    arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(deg=heading)
    end = {"marker": "*", "ms": 21, "mfc": STAR} if trail.killed else {"marker": arrow, "ms": 11}
    axes.plot(x[-1], y[-1], color=colour, mec=colour, mew=1.4, zorder=6, **end)


def _draw_frame(axes: "Axes", engagement: Engagement) -> None:
    """Scale, title and legend."""
    grey = "0.35"
    for label, style in (
        ("missile, motor burning", {"lw": 4, "alpha": 0.5}),
        ("missile coasting", {"lw": 1}),
        ("missile spent", {"ls": "", "marker": "x", "ms": 5}),
        ("hit", {"ls": "", "marker": "*", "ms": 13, "mfc": STAR}),
        (f"every {TICK:.0f} s", {"ls": "", "marker": "o", "ms": 5, "mfc": "white"}),
    ):
        axes.plot([], [], color=grey, label=label, **style)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("x [km]")
    axes.set_ylabel("y [km]")
    red, blue = engagement.names
    axes.set_title(
        f"{red} (red) against {blue} (blue): {engagement.outcome} after {engagement.length:.0f} s"
    )
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))


def _parser() -> Parser:
    parser = Parser("plot", "Draw one engagement of a trained policy, seen from above.")
    parser.add_model()
    parser.add_key(
        Key("opponent", str, f"{', '.join(PILOTS)}, self or another model's file", "evader")
    )
    parser.add_key(Key("seat", str, "the policy's seat", "red", choices=SEATS))
    parser.add_key(Key("seed", int, "of the start and the actions", 0, 0, 2**63 - 1))
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(Key("out", str, "the file to write", "engagement.png", check=check_picture))
    parser.add_game()
    return parser

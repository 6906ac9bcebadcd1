"""The pictures of docs/air-combat.md, flown by the simulation: python tools/air_combat.py [FOLDER].

Everything drawn is a flight of the C core in the default game. Takes some seconds.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from midrange_puffer import Simulation
from midrange_puffer.game.envelope import game_envelope
from midrange_puffer.game.envelope_lookup import launch_zone
from midrange_puffer.game.parameters import SEATS, resolve
from midrange_puffer.game.paths import HIT, FighterPath, MissilePath, Paths
from midrange_puffer.game.records import outcome_words
from midrange_puffer.show.figures import COLOURS, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAME = resolve({})  # every parameter at its default
SPEED = 300.0  # m/s, of both fighters when a shot of these pictures is fired
CRANK = 55.0  # degrees off the enemy, as the pilot `crank` has it
SHOT_RANGE = 25_000.0  # m, of the shot that is answered in several ways
# A target's answers to a missile, by name: its course as an angle [rad] from the line of sight to
# the missile. None: it holds its course and speed.
ANSWERS = {
    "flies on": None,
    "cranks": np.radians(CRANK),
    "beams": np.pi / 2,
    "turns cold": np.pi,
}
SHADES = dict(zip(ANSWERS, ("#c8372d", "#c25700", "#7a6a00", "#17803d"), strict=True))
GREY = "0.4"
STAR = "#ffc52e"
FIGHT, FIGHT_SEED = ("crank", "ace"), 8  # of draw_fight


@dataclass
class Shot:
    """A missile of red's at blue, from the launch to its end.

    Attributes:
        times: [s]
        time_to_go: Range by closing speed [s]; not-a-number while it does not close.
        speed: Of the missile [m/s].
    """

    answer: str
    paths: Paths
    times: np.ndarray
    time_to_go: np.ndarray
    speed: np.ndarray

    @property
    def missile(self) -> MissilePath:
        """Where it went."""
        return self.paths.missiles[0]

    @property
    def target(self) -> FighterPath:
        """Where blue went."""
        return self.paths.fighters[1]

    @property
    def hits(self) -> bool:
        """True if blue is killed."""
        return self.missile.fate == HIT


def fly_shot(distance: float, answer: str) -> Shot:
    """Flies a shot at a target that comes nose-on, and answers from the launch on."""
    sim = Simulation(substeps=1, time_limit=300)
    # The throttle that holds the speed: thrust against drag without lift.
    drag = GAME["gravity"] * (SPEED / GAME["fighter_terminal_speed"]) ** 2
    hold = drag / GAME["fighter_thrust"]
    for seat, (x, heading) in enumerate(((0.0, 0.0), (distance, 180.0))):
        sim.set_fighter(
            0, seat, x=x, y=0, heading_deg=heading, speed=SPEED, rudder=0, throttle=hold
        )
    paths = Paths(sim)
    sim.launch(0, 0)
    rows = []
    while sim.missiles["active"].any():
        sight, time_to_go, speed = _measure(sim)
        rows.append((paths.time, time_to_go, speed))
        course = ANSWERS[answer]
        steer = (0.0, hold) if course is None else (_rudder(sim, sight + course), 1.0)
        sim.step([[[0, hold, 0], [*steer, 0]]])
        paths.note()
    return Shot(answer, paths, *np.array(rows).T)


def _measure(sim: Simulation) -> tuple[float, float, float]:
    """Returns the bearing of the missile from blue [rad], its time to go [s] and speed [m/s]."""
    slot = int(np.flatnonzero(sim.missiles["active"][0])[0])
    missile = {name: float(values[0, slot]) for name, values in sim.missiles.items()}
    target = {name: float(values[0, 1]) for name, values in sim.fighters.items()}
    to_missile = np.array((missile["x"] - target["x"], missile["y"] - target["y"]))
    distance = float(np.hypot(*to_missile))
    velocity = np.array((missile["vx"] - target["vx"], missile["vy"] - target["vy"]))
    closing = -float(velocity @ to_missile) / distance
    time_to_go = distance / closing if closing > 0 else np.nan
    return float(np.arctan2(*to_missile[::-1])), time_to_go, missile["speed"]


def _rudder(sim: Simulation, course: float) -> float:
    """Returns blue's rudder toward a course [rad]: left if both ways are as short."""
    error = course - float(sim.fighters["heading"][0, 1])
    error = (error + np.pi + 1e-3) % (2 * np.pi) - np.pi - 1e-3
    return float(np.clip(4 * np.sin(error), -1, 1)) if abs(error) < 1.5 else float(np.sign(error))


def draw_answers(path: Path) -> None:
    """Draws one shot, answered in four ways, each in a panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
    for axes, answer in zip(panels, ANSWERS, strict=True):
        shot = fly_shot(SHOT_RANGE, answer)
        _draw_shot(axes, shot)
        end = f"hit after {shot.missile.times[-1]:.0f} s" if shot.hits else _miss(shot)
        axes.set_title(f"The target {answer}: {end}", fontsize=11)
        axes.set_aspect("equal")
        _plain(axes)
    _legend(figure)
    figure.suptitle(f"The same shot from {SHOT_RANGE / 1000:.0f} km, answered in four ways [km]")
    save_figure(figure, path)


def draw_ranges(path: Path) -> None:
    """Shots from inside R_NEZ, from between, and from beyond R_aero, each answered in two ways."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    rows = figure.subplots(6, 1, sharex=True, sharey=True)
    zones = ("inside R_NEZ", "between R_NEZ and R_aero", "beyond R_aero")
    for index, axes in enumerate(rows):
        distance = (14_000, 40_000, 68_000)[index // 2]
        shot = fly_shot(distance, ("flies on", "turns cold")[index % 2])
        _draw_shot(axes, shot)
        end = f"hit after {shot.missile.times[-1]:.0f} s" if shot.hits else _miss(shot)
        words = f"{distance / 1000:.0f} km, {zones[index // 2]}; the target {shot.answer}: {end}"
        axes.set_title(words, fontsize=10, loc="left", pad=3)
        axes.set(xlim=(-2, 105), ylim=(-4, 4), yticks=[])
        _plain(axes)
        axes.spines["left"].set_visible(False)
    _legend(figure)
    figure.suptitle(f"Shots at a target that comes nose-on, both at {SPEED:.0f} m/s [km]")
    save_figure(figure, path)


def draw_zones(path: Path) -> None:
    """Draws R_aero and R_NEZ around a fighter, for three headings of the enemy."""
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

    envelope = game_envelope(GAME)
    bearings = np.linspace(-np.pi, np.pi, 361)
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    headings = {"comes toward red": np.pi, "crosses": np.pi / 2, "flies away": 0.0}
    for axes, (words, heading) in zip(
        figure.subplots(1, 3, sharex=True, sharey=True), headings.items(), strict=True
    ):
        for edge, label, alpha in (("aero", "R_aero", 0.12), ("nez", "R_NEZ", 0.3)):
            ranges = launch_zone(envelope, edge, bearings, (0.0, heading), (SPEED, SPEED)) / 1000
            # Red's nose is up: x to the right of it, y ahead.
            x, y = -ranges * np.sin(bearings), ranges * np.cos(bearings)
            axes.fill(x, y, color=COLOURS[0], alpha=alpha, lw=0)
            axes.plot(x, y, color=COLOURS[0], lw=1.2, alpha=0.9)
            ahead = len(bearings) // 2
            axes.text(
                0,
                ranges[ahead] + 1,
                f"{label} {ranges[ahead]:.0f} km",
                color=COLOURS[0],
                fontsize=9,
                ha="center",
                va="bottom",
                path_effects=[withStroke(linewidth=3, foreground="white")],
                zorder=7,
            )
        _draw_nose(axes, (0, 0), np.pi / 2, COLOURS[0])
        _draw_nose(axes, (36, 56), heading + np.pi / 2, COLOURS[1])
        axes.set_title(f"the enemy {words}", fontsize=11)
        axes.set_aspect("equal")
        _plain(axes)
    figure.suptitle(f"Where a missile fired now hits, both at {SPEED:.0f} m/s, red's nose up [km]")
    save_figure(figure, path)


def draw_time_to_go(path: Path) -> None:
    """Draws the speed of the missile and its time to go, for each answer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for answer in ANSWERS:
        shot = fly_shot(SHOT_RANGE, answer)
        style = {"color": SHADES[answer], "lw": 1.8, "label": f"target {answer}"}
        left.plot(shot.times, shot.speed, **style)
        right.plot(shot.times, shot.time_to_go, **style)
        if shot.hits:
            for axes, values in ((left, shot.speed), (right, shot.time_to_go)):
                axes.plot(shot.times[-1], values[-1], "*", ms=12, color=SHADES[answer], mec="0.2")
    burn = GAME["missile_burn_time"]
    left.axvline(burn, color=GREY, lw=0.8, ls=":")
    left.annotate(
        "the motor burns out", (burn, 250), (4, 0), textcoords="offset points", color=GREY
    )
    left.set(title="Speed of the missile [m/s]", xlabel="time since the launch [s]", xlim=(0, 60))
    right.set(
        title="Time to go [s]", xlabel="time since the launch [s]", xlim=(0, 60), ylim=(0, 60)
    )
    right.legend(frameon=False, fontsize=9, loc="upper right")
    for axes in (left, right):
        _plain(axes)
    save_figure(figure, path)


def draw_fight(path: Path) -> None:
    """Draws a fight of two pilots; their actions are numbered, with a word to each number."""
    from matplotlib.figure import Figure

    sim = Simulation(seed=FIGHT_SEED, **dict(zip(SEATS, FIGHT, strict=True)))
    paths = Paths(sim)
    while sim.outcome[0] == 0:
        sim.step()
        paths.note()
    for body in (*paths.fighters, *paths.missiles):
        body.x, body.y = body.y, [-x for x in body.x]  # turned, as the page is wide
    figure = Figure(figsize=(10.4, 5.4), layout="constrained")
    axes = figure.subplots()
    for missile in paths.missiles:
        _draw_missile(axes, missile, COLOURS[missile.owner])
    for fighter in paths.fighters:
        x, y = np.array(fighter.x) / 1000, np.array(fighter.y) / 1000
        colour = COLOURS[fighter.side]
        axes.plot(x, y, color=colour, lw=2)
        axes.plot(x[0], y[0], "o", color=colour, mfc="white", ms=6)
        if fighter.died is None:
            _draw_nose(axes, (x[-1], y[-1]), fighter.heading[-1] - np.pi / 2, colour)
        else:
            axes.plot(x[-1], y[-1], "*", ms=32, mfc=STAR, mec=colour, zorder=5)
    moves: dict[tuple[float, int], list[str]] = {}
    for seat in range(len(SEATS)):
        for time, words in _moves(paths, seat):
            moves.setdefault((round(time, 3), seat), []).append(words)
    for number, ((time, seat), words) in enumerate(sorted(moves.items()), 1):
        body = paths.fighters[seat]
        index = body.at(time + 1e-3)
        place = (body.x[index] / 1000, body.y[index] / 1000)
        axes.plot(*place, "o", ms=13, color=COLOURS[seat], mec="white", zorder=6)
        style = {"color": "white", "fontsize": 8, "ha": "center", "va": "center", "zorder": 7}
        axes.annotate(str(number), place, **style)
        line = f"{number}  {time:.0f} s: {SEATS[seat]} {', '.join(words)}"
        place = (1.01, 1 - 0.065 * number)
        axes.annotate(line, place, xycoords="axes fraction", color=COLOURS[seat], fontsize=9.5)
    axes.set(aspect="equal")
    axes.margins(0.06)
    _plain(axes)
    names = " against ".join(f"{name} ({seat})" for name, seat in zip(FIGHT, SEATS, strict=True))
    figure.suptitle(f"{names}: {outcome_words(sim)} after {paths.time:.0f} s [km]")
    save_figure(figure, path)


def _moves(paths: Paths, seat: int) -> list[tuple[float, str]]:
    """Returns the actions of a fighter: when [s], and a word."""
    own, enemy = paths.fighters[seat], paths.fighters[1 - seat]
    count = min(len(own.x), len(enemy.x))
    sight = np.array(enemy.x[:count]) - own.x[:count], np.array(enemy.y[:count]) - own.y[:count]
    velocity = np.gradient(own.x[:count]), np.gradient(own.y[:count])
    off = np.degrees(np.arctan2(*velocity[::-1]) - np.arctan2(*sight[::-1]))
    off = np.abs((off + 180) % 360 - 180)  # of the nose from the enemy
    moves, words = [], "recommits"
    for time, angle in zip(own.times, off, strict=False):
        now = "is cold" if angle > 150 else "recommits" if angle < 15 else words
        if now != words:
            moves.append((time, now))
            words = now
    launches = [one.launched for one in paths.missiles if one.owner == seat]
    moves += [(time, "fires") for time in launches]
    for time in launches:
        after = own.at(time + 1e-3)
        cranks = np.flatnonzero(off[after:] > CRANK - 5)
        if len(cranks):
            moves.append((own.times[after + int(cranks[0])], "cranks"))
    if own.died is not None:
        moves.append((own.died, "is hit"))
    return moves


def _draw_missile(axes: "Axes", missile: MissilePath, colour: str) -> None:
    """Draws a missile: thick while its motor burns, with a cross where it ends without a hit."""
    x, y = np.array(missile.x) / 1000, np.array(missile.y) / 1000
    burning = np.array(missile.times) <= missile.burnt_out
    axes.plot(x, y, color=colour, lw=1)
    axes.plot(x[burning], y[burning], color=colour, lw=4, alpha=0.35)
    if missile.fate != HIT:
        axes.plot(x[-1], y[-1], "x", ms=7, mew=1.8, color=colour)


def _draw_shot(axes: "Axes", shot: Shot) -> None:
    """Draws the missile and its target, from the launch to the missile's end."""
    missile, target = shot.missile, shot.target
    _draw_missile(axes, missile, COLOURS[missile.owner])
    _draw_nose(axes, (0, 0), 0.0, COLOURS[0])
    axes.plot(np.array(target.x) / 1000, np.array(target.y) / 1000, color=COLOURS[1], lw=1.8)
    start = (target.x[0] / 1000, target.y[0] / 1000)
    end = (target.x[-1] / 1000, target.y[-1] / 1000)
    axes.plot(*start, "o", color=COLOURS[1], mfc="white", ms=5)
    if shot.hits:
        axes.plot(*end, "*", ms=17, mfc=STAR, mec=COLOURS[1], zorder=5)
    else:
        _draw_nose(axes, end, target.heading[-1], COLOURS[1])


def _miss(shot: Shot) -> str:
    """Returns the least distance of a missile that did not hit."""
    missile, target = shot.missile, shot.target
    count = min(len(missile.x), len(target.x))
    apart = np.hypot(
        np.array(missile.x[:count]) - np.array(target.x[:count]),
        np.array(missile.y[:count]) - np.array(target.y[:count]),
    )
    return f"missed by {apart.min() / 1000:.1f} km"


def _draw_nose(axes: "Axes", place: tuple[float, float], heading: float, colour: str) -> None:
    """Draws a fighter as an arrowhead."""
    from matplotlib.markers import MarkerStyle

    arrow = MarkerStyle(">").scaled(1.3, 0.75).rotated(rad=heading)
    axes.plot(*place, color=colour, marker=arrow, ms=11, mec="white", mew=0.6, zorder=6)


def _plain(axes: "Axes") -> None:
    axes.grid(color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: object) -> None:
    """Draws the legend of the lines of `_draw_shot`."""
    from matplotlib.lines import Line2D

    meanings = (
        ("missile, motor burning", {"color": COLOURS[0], "lw": 4, "alpha": 0.35}),
        ("missile coasting", {"color": COLOURS[0], "lw": 1}),
        ("missile spent", {"color": COLOURS[0], "ls": "", "marker": "x", "ms": 6}),
        ("target from the launch on", {"color": COLOURS[1], "lw": 1.8}),
        ("hit", {"color": COLOURS[1], "ls": "", "marker": "*", "ms": 13, "mfc": STAR}),
    )
    handles = [Line2D([], [], label=words, **style) for words, style in meanings]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=9)


PICTURES = {
    "air_answers.png": draw_answers,
    "air_ranges.png": draw_ranges,
    "air_zones.png": draw_zones,
    "air_time_to_go.png": draw_time_to_go,
    "air_fight.png": draw_fight,
}


def main() -> None:
    """Draws every picture into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    docs = Path(__file__).resolve().parents[1] / "docs"
    parser.add_argument("folder", type=Path, nargs="?", default=docs)
    folder = parser.parse_args().folder
    for name, draw in PICTURES.items():
        draw(folder / name)


if __name__ == "__main__":
    main()

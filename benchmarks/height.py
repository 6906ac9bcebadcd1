"""Conduct of policies and pilots in the game with height, and a side view of a fight.

    python benchmarks/height.py MODEL [MODEL …] [--picture FILE]
    python benchmarks/height.py --pilots

Every model fights each of the nine scripted pilots, as red and with its actions drawn. Heights are
in km.

    score     win 1, draw ½, over all pilots
    start     mean height at the start
    launch    mean height at its launches; gained: since the start, of its first launch
    range     mean range of its launches
    cold      mean sine of its climb while a missile that flies at it is behind its beam; ahead:
              while one is ahead of it; free: while none flies at it
    loft      mean and greatest rise of its missiles above both ends of their flights
    lowest    mean of its least height in a fight

With --pilots the nine pilots fight each other, and the table says how often the side that started
higher won, and the side that shot first, of the decided fights.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from common import print_table
from matplotlib.figure import Figure

from midrange_puffer import Simulation
from midrange_puffer.game.parameters import PILOTS
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player
from midrange_puffer.show.figures import check_picture, save_figure

ENGAGEMENTS, SEED = 128, 1
RED, BLUE = 0, 1
COLOURS = ("tab:red", "tab:blue")

Act = Callable[[Simulation], np.ndarray | None]


@dataclass
class Log:
    """The states of a simulation's fights, decision by decision, while they are open."""

    open: list[np.ndarray] = field(default_factory=list)
    fighters: list[dict[str, np.ndarray]] = field(default_factory=list)
    missiles: list[dict[str, np.ndarray]] = field(default_factory=list)
    shots: list[np.ndarray] = field(default_factory=list)

    def note(self, sim: Simulation) -> None:
        """Adds the present state."""
        self.open.append(sim.outcome == 0)
        self.fighters.append(sim.fighters)
        self.missiles.append(sim.missiles)
        self.shots.append(sim.core.read("fighter")["shots"])

    def of_fighters(self, name: str) -> np.ndarray:
        """Returns a quantity of the fighters, [decisions, engagements, fighters]."""
        return np.stack([state[name] for state in self.fighters])

    def of_missiles(self, name: str) -> np.ndarray:
        """Returns a quantity of the missiles, [decisions, engagements, slots]."""
        return np.stack([state[name] for state in self.missiles])


def fly(sim: Simulation, act: Act) -> Log:
    """Flies all fights to their ends."""
    log = Log()
    log.note(sim)
    while log.open[-1].any():
        sim.step(act(sim))
        log.note(sim)
    return log


def lofts(log: Log) -> list[float]:
    """Returns the rise of red's missiles above both ends of their flights [m]."""
    z, age = log.of_missiles("z"), log.of_missiles("age")
    flying = (log.of_missiles("active") > 0) & (log.of_missiles("owner") == RED)
    rises = []
    for env, slot in np.ndindex(flying.shape[1:]):
        times = np.flatnonzero(flying[:, env, slot])
        ages = age[times, env, slot]
        for flight in np.split(times, 1 + np.flatnonzero(np.diff(ages) <= 0)):
            if len(flight):
                heights = z[flight, env, slot]
                rises.append(heights.max() - max(heights[0], heights[-1]))
    return rises


def threats(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Returns where a missile flies at red ahead of its beam, and behind it, [decisions, envs]."""
    aimed = (log.of_missiles("active") > 0) & (log.of_missiles("owner") == BLUE)
    dx, dy = (log.of_missiles(k) - log.of_fighters(k)[..., RED, None] for k in "xy")
    vx, vy = (log.of_fighters(k)[..., RED, None] for k in ("vx", "vy"))
    ahead = dx * vx + dy * vy > 0
    return (aimed & ahead).any(axis=2), (aimed & ~ahead).any(axis=2)


def mean(values: np.ndarray | Sequence[float]) -> str:
    """Returns the mean in words; a dash where there is nothing."""
    return f"{np.mean(values):.2f}" if len(values) else "–"


def conduct(name: str, path: str) -> tuple[str, ...]:
    """Returns a model's row."""
    policy, _ = load_policy(path)
    everyone = np.arange(ENGAGEMENTS)
    scores, parts = [], {key: [] for key in KEYS}
    for pilot in PILOTS:
        sim = Simulation(ENGAGEMENTS, SEED, blue=pilot, dimensions=3)
        player = Player(policy, ENGAGEMENTS, seed=SEED)

        def act(sim: Simulation, player: Player = player) -> np.ndarray:
            controls = np.zeros((ENGAGEMENTS, 2, sim.core.controls), np.float32)
            controls[:, RED] = player.act(sim.observe()[:, RED].copy(), everyone)
            return controls

        log = fly(sim, act)
        outcome = sim.outcome
        scores.append(((outcome == 1) + 0.5 * (outcome == 3)).mean())
        add_parts(log, parts)
    loft = parts["loft"]
    return (
        name,
        f"{np.mean(scores):.3f}",
        *(mean(parts[key]) for key in KEYS if key != "loft"),
        f"{mean(loft)}, {max(loft, default=0):.2f}",
    )


KEYS = ("start", "launch", "gained", "range", "cold", "ahead", "free", "lowest", "loft")


def add_parts(log: Log, parts: dict[str, list[float]]) -> None:
    """Adds what red did in these fights."""
    z, live = log.of_fighters("z")[..., RED] / 1e3, np.stack(log.open)
    live &= log.of_fighters("alive")[..., RED] > 0
    shots = np.stack(log.shots)[..., RED]
    fired = np.diff(shots, axis=0) > 0
    launch = np.flatnonzero(fired.ravel())
    parts["start"] += z[0].tolist()
    parts["launch"] += z[:-1].ravel()[launch].tolist()
    first = fired.argmax(axis=0)[fired.any(axis=0)]
    who = np.flatnonzero(fired.any(axis=0))
    parts["gained"] += (z[first, who] - z[0, who]).tolist()
    gap = [np.diff(log.of_fighters(k), axis=2)[..., 0] for k in "xyz"]
    parts["range"] += (np.linalg.norm(gap, axis=0)[:-1].ravel()[launch] / 1e3).tolist()
    sine = (log.of_fighters("vz") / log.of_fighters("speed"))[..., RED]
    before, behind = threats(log)
    parts["cold"] += sine[live & behind].tolist()
    parts["ahead"] += sine[live & before & ~behind].tolist()
    parts["free"] += sine[live & ~before & ~behind].tolist()
    parts["lowest"] += np.where(live, z, np.inf).min(axis=0).tolist()
    parts["loft"] += (np.array(lofts(log)) / 1e3).tolist()


def pilots_table() -> list[tuple[str, ...]]:
    """Returns the scores of the pilots, and who wins."""
    score = np.full((len(PILOTS), len(PILOTS)), np.nan)
    higher, first = [], []
    for (i, red), (j, blue) in ((a, b) for a in enumerate(PILOTS) for b in enumerate(PILOTS)):
        sim = Simulation(ENGAGEMENTS, SEED, red, blue, dimensions=3)
        log = fly(sim, lambda sim: None)
        outcome = sim.outcome
        score[i, j] = ((outcome == 1) + 0.5 * (outcome == 3)).mean()
        above = log.of_fighters("z")[0]
        shots = np.stack(log.shots) > 0
        when = np.where(shots.any(axis=0), shots.argmax(axis=0), len(shots))
        decided = outcome != 3
        higher += ((outcome == 1) == (above[:, RED] > above[:, BLUE]))[decided].tolist()
        apart = decided & (when[:, RED] != when[:, BLUE])
        first += ((outcome == 1) == (when[:, RED] < when[:, BLUE]))[apart].tolist()
    overall = (score + 1 - score.T) / 2  # both seats
    rows = [
        (name, *(f"{value:.2f}" for value in row), f"{np.delete(row, i).mean():.3f}")
        for i, (name, row) in enumerate(zip(PILOTS, overall, strict=True))
    ]
    print(
        f"of the decided fights the side that started higher won {np.mean(higher):.2f}, "
        f"the side that shot first {np.mean(first):.2f}"
    )
    return rows


def draw(path: str, pilot: str, picture: str) -> None:
    """Draws a model's fight from the side: heights over the way along the first line of sight."""
    policy, _ = load_policy(path)
    sim = Simulation(1, SEED, blue=pilot, dimensions=3)
    player = Player(policy, 1, seed=SEED)

    def act(sim: Simulation) -> np.ndarray:
        controls = np.zeros((1, 2, sim.core.controls), np.float32)
        controls[:, RED] = player.act(sim.observe()[:, RED].copy(), np.zeros(1, int))
        return controls

    log = fly(sim, act)
    places = np.stack([log.of_fighters(k)[:, 0] for k in "xyz"], axis=-1) / 1e3
    line = places[0, BLUE, :2] - places[0, RED, :2]
    line /= np.linalg.norm(line)
    origin = places[0, RED, :2]
    figure = Figure((9, 3.6), layout="constrained")
    axes = figure.subplots()
    live = log.of_fighters("alive")[:, 0] > 0
    for side, name in enumerate((path if "/" not in path else "policy", pilot)):
        along = (places[live[:, side], side, :2] - origin) @ line
        axes.plot(along, places[live[:, side], side, 2], color=COLOURS[side], lw=2, label=name)
    active, owner = log.of_missiles("active")[:, 0], log.of_missiles("owner")[:, 0]
    flown = np.stack([log.of_missiles(k)[:, 0] for k in "xyz"], axis=-1) / 1e3
    for slot in range(active.shape[1]):
        times = np.flatnonzero(active[:, slot])
        for flight in np.split(times, 1 + np.flatnonzero(np.diff(times) > 1)):
            if len(flight):
                along = (flown[flight, slot, :2] - origin) @ line
                colour = COLOURS[owner[flight[0], slot]]
                axes.plot(along, flown[flight, slot, 2], "--", color=colour, lw=1)
    axes.set(xlabel="along the first line of sight [km]", ylabel="height [km]", ylim=(0, None))
    axes.legend(frameon=False)
    save_figure(figure, picture)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--pilots", action="store_true")
    parser.add_argument("--picture", metavar="FILE", help="of the first model's first fight")
    parser.add_argument("--opponent", default="crank", help="in that fight")
    options = parser.parse_args()
    if options.picture:
        check_picture(options.picture)
    if options.pilots:
        rows = pilots_table()
        print_table("Scores of the pilots against each other", ["", *PILOTS, "mean"], rows)
    if options.models:
        rows = [conduct(path, path) for path in options.models]
        print_table("Conduct with height", ["model", "score", *KEYS], rows)
    if options.picture:
        draw(options.models[0], options.opponent, options.picture)


if __name__ == "__main__":
    main()

"""Conduct of policies in the game with sensors: missiles, the notch, turning away.

    python benchmarks/sensing.py MODEL [MODEL …]

Every model fights each of the nine scripted pilots, as red and with its actions drawn. A model of
the full game is given what it knows by the sensors: the features that both games have, the seekers'
bearings as inbound missiles at SEEKER_RANGE, and 0 for the rest. It was not trained for that.

    score      win 1, draw ½, over all pilots
    supported  of the missiles fired, those for which the own side had a track until their own
               seeker had a lock
    hits       of the missiles fired
    notched    of the time in which the enemy has a track of it, the part that it spends in the
               notch: with less than `radar_notch_speed` toward or away from the enemy
    turns away median range at which the enemy passes behind its beam, km
"""

import argparse
from dataclasses import dataclass, field

import numpy as np
from common import print_table

from midrange_puffer import FEATURES, RADAR_FEATURES, Simulation
from midrange_puffer.game.parameters import PARAMETERS, PILOTS
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.player import Player

ENGAGEMENTS, SEED = 128, 1
SEEKER_RANGE = 5_000.0  # m, of which a policy of the full game believes inbound missiles
RED, BLUE = 0, 1
LIVE, MEMORY = 1, 2
NOTCH = PARAMETERS["radar_notch_speed"].default
NAMES = [feature.name for feature in FEATURES]
RADAR_NAMES = [feature.name for feature in RADAR_FEATURES]


def translated(seen: np.ndarray) -> np.ndarray:
    """Returns the observations of the full game that sensors give, float32 [n, features]."""
    out = np.zeros((len(seen), len(NAMES)), np.float32)
    for column, name in enumerate(NAMES):
        if name in RADAR_NAMES:
            out[:, column] = seen[:, RADAR_NAMES.index(name)]
    out[:, NAMES.index("enemy_alive")] = 1
    for rank in (1, 2, 3):
        present = seen[:, RADAR_NAMES.index(f"seeker_{rank}_present")]
        for name in ("present", "ahead", "left"):
            theirs = seen[:, RADAR_NAMES.index(f"seeker_{rank}_{name}")]
            out[:, NAMES.index(f"inbound_{rank}_{name}")] = theirs
        out[:, NAMES.index(f"inbound_{rank}_nearness")] = 0.5 * present  # 5 km
        out[:, NAMES.index(f"inbound_{rank}_urgency")] = 10 / 15 * present  # at 1000 m/s
        out[:, NAMES.index(f"inbound_{rank}_speed")] = 1000 / 1600 * present
        for name in ("heading_ahead", "heading_left"):  # it flies at us
            away = seen[:, RADAR_NAMES.index(f"seeker_{rank}_{name.removeprefix('heading_')}")]
            out[:, NAMES.index(f"inbound_{rank}_{name}")] = -away
    return out


@dataclass
class Tally:
    """The counts of one model, over all its fights."""

    scores: list[float] = field(default_factory=list)
    shots: int = 0
    hits: int = 0
    supported: int = 0
    tracked: int = 0  # decisions in which the enemy has a track of it
    notched: int = 0
    turns: list[float] = field(default_factory=list)  # ranges at which it turns away, m

    def row(self, name: str) -> tuple[str, ...]:
        """Returns the model's row of the table."""
        shots, tracked = max(self.shots, 1), max(self.tracked, 1)
        return (
            name,
            f"{np.mean(self.scores):.3f}",
            f"{self.supported / shots:.0%}",
            f"{self.hits / shots:.0%}",
            f"{self.notched / tracked:.0%}",
            f"{np.median(self.turns) / 1000:.1f}" if self.turns else "never",
        )


class Shots:
    """The missiles of red in the air, and whether each has been supported since its launch."""

    def __init__(self, num_envs: int, slots: int) -> None:
        self.was_there = np.zeros((num_envs, slots), bool)
        self.supported = np.zeros((num_envs, slots), bool)
        self.counted = np.zeros((num_envs, slots), bool)

    def follow(self, sim: Simulation, is_open: np.ndarray, tally: Tally) -> None:
        """Counts after a decision."""
        missiles, locked = sim.missiles, sim.beliefs["locked"] == 1
        there = (missiles["active"] == 1) & (missiles["owner"] == RED) & is_open[:, None]
        fresh = there & ((missiles["age"] <= sim.parameters["substeps"]) | ~self.was_there)
        tally.shots += int(fresh.sum())
        tracked = np.isin(sim.contacts["source"][:, RED], (LIVE, MEMORY))[:, None]
        self.supported = np.where(fresh, True, self.supported) & (tracked | locked)
        self.counted &= ~fresh
        now = there & locked & self.supported & ~self.counted
        tally.supported += int(now.sum())
        self.counted |= now
        self.was_there = there


def to_enemy(sim: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns range [m], cosine of the enemy's bearing, and own closing speed [m/s]."""
    own = sim.fighters
    dx, dy = (own[name][:, BLUE] - own[name][:, RED] for name in "xy")
    distance = np.maximum(np.hypot(dx, dy), 1)
    radial = (dx * own["vx"][:, RED] + dy * own["vy"][:, RED]) / distance
    return distance, radial / own["speed"][:, RED], radial


def fight(model: str, pilot: str, tally: Tally) -> None:
    """Flies ENGAGEMENTS against one pilot."""
    policy, _ = load_policy(model)
    sim = Simulation(ENGAGEMENTS, SEED, blue=pilot, sensing="radar")
    player = Player(policy, ENGAGEMENTS, SEED)
    of_full_game = player.features != len(RADAR_FEATURES)
    shots, ahead = Shots(ENGAGEMENTS, sim.missiles["active"].shape[1]), None
    everyone, controls = np.arange(ENGAGEMENTS), np.zeros((ENGAGEMENTS, 2, 3), np.float32)
    while (sim.outcome == 0).any():
        seen = sim.observe()[:, RED]
        controls[:, RED] = player.act(translated(seen) if of_full_game else seen, everyone)
        sim.step(controls)
        is_open = sim.outcome == 0
        shots.follow(sim, is_open, tally)
        distance, cosine, radial = to_enemy(sim)
        tracked = is_open & np.isin(sim.contacts["source"][:, BLUE], (LIVE, MEMORY))
        tally.tracked += int(tracked.sum())
        tally.notched += int((tracked & (np.abs(radial) < NOTCH)).sum())
        if ahead is not None:
            tally.turns += distance[is_open & ahead & (cosine < 0)].tolist()
        ahead = cosine >= 0
    tally.scores += np.select([sim.outcome == 1, sim.outcome == 3], [1.0, 0.5]).tolist()
    tally.hits += int(sim.core.read("fighter")["hits"][:, RED].sum())


def main() -> None:
    """Flies, and prints a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a file, a run, or a name")
    rows = []
    for model in parser.parse_args().models:
        tally = Tally()
        for pilot in PILOTS:
            fight(model, pilot, tally)
        rows.append(tally.row(model))
    print_table(
        f"With sensors, {ENGAGEMENTS} engagements with each of the nine pilots",
        ["model", "score", "supported", "hits", "notched", "turns away, km"],
        rows,
    )


if __name__ == "__main__":
    main()

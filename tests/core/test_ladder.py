"""The scripted pilots against each other: alike in both seats and mirrored, and how they rank."""

from itertools import product

import numpy as np
import pytest
from flights import without_draws

from midrange_puffer import FEATURES, RADAR_FEATURES, Simulation
from midrange_puffer.contest.match import meet, round_robin
from midrange_puffer.contest.ratings import Payoffs
from midrange_puffer.game.parameters import PILOTS, resolve

# Symmetry

TABLES = {"full": FEATURES, "radar": RADAR_FEATURES}
TARGETS = ("straight", "weave")
BY_THE_CLOCK = ("weave", "snake")  # these turn left first, wherever the enemy is


def scenes() -> list[dict[str, float]]:
    """Fighters and some missiles, in whole numbers so that their mirror images are exact."""
    random = np.random.default_rng(1)

    def body(farthest: int, slowest: int, fastest: int) -> dict[str, float]:
        return {
            "x": int(random.integers(-farthest, farthest)),
            "y": int(random.integers(-farthest, farthest)),
            "heading_deg": int(random.integers(-179, 180)),
            "speed": int(random.integers(slowest, fastest)),
            "rudder": 0,
        }

    return [
        {
            "fighters": [body(15_000, 250, 450) for _ in range(2)],
            "missiles": [body(15_000, 900, 1200) for _ in range(missiles)],
        }
        for missiles in (0, 0, 0, 1, 2, 2)
    ]


SCENES = scenes()


def seen(
    pilots: tuple[str, str], sensing: str, *, mirrored: bool = False, swapped: bool = False
) -> np.ndarray:
    """Returns what both seats observe [120, scenes, 2, features] in a minute of fighting."""

    def placed(body: dict[str, float]) -> dict[str, float]:
        flip = {"y": -body["y"], "heading_deg": -body["heading_deg"]}
        return body | flip if mirrored else body

    red, blue = pilots[::-1] if swapped else pilots
    # So far apart that nobody has a track before the scenes are set.
    start = {"start_range_min": 200_000, "start_range_max": 200_000}
    game = without_draws() | start | {"sensing": sensing}
    sim = Simulation(len(SCENES), red=red, blue=blue, **game)
    for env, scene in enumerate(SCENES):
        for side in range(2):
            seat = 1 - side if swapped else side
            sim.set_fighter(env, seat, **placed(scene["fighters"][side]))
        for side, shot in enumerate(scene["missiles"]):
            owner = 1 - side if swapped else side
            sim.set_missile(env, side, owner=owner, age=100, **placed(shot))
    out = []
    for _ in range(120):
        sim.step()
        out.append(sim.observe())
    assert (
        (sim.fighters["ammo"] < 6).any() or {*pilots} <= {*TARGETS, "patient"} or sensing == "radar"
    )
    return np.array(out)[:, :, ::-1] if swapped else np.array(out)


# What may be exactly ahead or behind: whether it is there, and its bearing.
BEARINGS = {
    "full": [
        ("own_alive", "enemy_left"),  # of a dead enemy, too
        *((f"inbound_{rank}_present", f"inbound_{rank}_left") for rank in (1, 2, 3)),
    ],
    "radar": [
        ("enemy_nearness", "enemy_left"),
        ("receiver_searched", "receiver_left"),
        ("receiver_tracked", "receiver_left"),
        *((f"seeker_{rank}_present", f"seeker_{rank}_left") for rank in (1, 2, 3)),
    ],
}


def on_the_line(observed: np.ndarray, sensing: str) -> np.ndarray:
    """Whether an enemy or a missile is or was exactly ahead or behind, bool [decisions, scenes].

    From there a pilot turns left by rule, in the mirror too.
    """
    names = [feature.name for feature in TABLES[sensing]]
    tie = np.zeros(observed.shape[:2], bool)
    for present, left in BEARINGS[sensing]:
        there = observed[..., names.index(present)] > 0
        tie |= (there & (observed[..., names.index(left)] == 0)).any(axis=2)
    return np.logical_or.accumulate(tie)


MEETINGS = [(*pair, "full") for pair in product(PILOTS, PILOTS)]
# By sensors those that differ in what they do by them.
SENSED = ("straight", "evader", "snake", "ace", "notcher")
MEETINGS += [(*pair, "radar") for pair in product(SENSED, SENSED)]


@pytest.mark.parametrize("meeting", MEETINGS, ids="-".join)
def test_a_pilot_fights_alike_in_both_seats(meeting):
    *pilots, sensing = meeting
    assert np.array_equal(seen(pilots, sensing), seen(pilots, sensing, swapped=True))


@pytest.mark.parametrize(
    "meeting", [each for each in MEETINGS if not {*each} & {*BY_THE_CLOCK}], ids="-".join
)
def test_a_pilot_fights_alike_in_the_mirror(meeting):
    """Bit for bit, as long as there is a left and a right.

    A pilot that steers at the enemy has it within 1e-7 of its nose after 18 decisions at the
    earliest. From then on rounding decides whether and when it is exactly ahead.
    """
    *pilots, sensing = meeting
    sign = np.where([feature.lateral for feature in TABLES[sensing]], -1, 1)
    one, other = seen(pilots, sensing), seen(pilots, sensing, mirrored=True)
    if sensing == "radar" and "ace" in pilots:
        # It cranks while a missile of its own flies, off the enemy, which is straight ahead to who
        # has never seen it: there by rule to the left.
        flown = [not scene["missiles"] for scene in SCENES]
        one, other = one[:, flown], other[:, flown]
    sided = ~on_the_line(one, sensing)
    assert sided.sum(axis=0).min() > 15
    assert sided.mean() > 0.3
    assert np.array_equal(one[sided] * sign, other[sided])


# Round robin

# By mean score, the weakest first; the targets, who cannot win, are below. `patient` is no rung.
LADDER = ("shooter", "crank", "bracket_shooter", "snake", "turn_back", "evader", "ace")


RUNGS = (*TARGETS, *LADDER)


@pytest.fixture(scope="module")
def payoffs() -> Payoffs:
    players = {pilot: pilot for pilot in RUNGS}
    return Payoffs(RUNGS, round_robin(players, 400, parameters=resolve({})))


def test_the_pilots_are_a_ladder(payoffs):
    """From rung to rung the mean score rises, by the error of 0.005 at least."""
    mean = dict(zip(RUNGS, np.nanmean(payoffs.scores, axis=1), strict=True))
    best_target = max(mean.pop(target) for target in TARGETS)
    assert tuple(sorted(mean, key=mean.__getitem__)) == LADDER
    assert np.diff([best_target, *(mean[pilot] for pilot in LADDER)]).min() > 0.005


def test_targets_never_win(payoffs):
    wins = dict(zip(RUNGS, payoffs.wins.sum(axis=1), strict=True))
    assert [wins[target] for target in TARGETS] == [0, 0]
    assert min(wins[pilot] for pilot in LADDER) > 0


def test_the_ace_beats_every_other_and_has_the_best_worst_case(payoffs):
    ace = RUNGS.index("ace")
    others = np.arange(len(RUNGS)) != ace
    assert payoffs.low[ace, others].min() > 0.5
    worst = np.nanmin(payoffs.scores, axis=1)
    assert worst[ace] > worst[others].max() + 0.2


def test_patience_does_not_lose_and_beats_who_comes_close_to_fire():
    """It outruns what is fired from afar."""
    players = {pilot: pilot for pilot in PILOTS}
    pairs = [("patient", pilot) for pilot in RUNGS]
    meetings = meet(pairs, players, 200, parameters=resolve({}))
    assert max(pairing.losses for pairing in meetings) < 10
    scores = {pairing.second: pairing.score for pairing in meetings}
    assert min(scores["ace"], scores["bracket_shooter"]) > 0.9

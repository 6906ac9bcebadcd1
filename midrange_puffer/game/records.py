"""The outcomes of engagements: figures of a seat from their records, and words."""

import numpy as np

from midrange_puffer.game.parameters import ESCORT, SEATS, has_mission, sizes_of
from midrange_puffer.game.simulation import Simulation

RED_WINS, DRAW = 1, 3  # values of MrOutcome; 2 is blue's win
# The shaping parts of the reward; they are zero-sum.
SHAPING = ("geometry", "ammunition", "threat", "pressure", "line")


def outcomes(records: np.ndarray, seat: int) -> dict[str, np.ndarray]:
    """Returns the wins, draws and losses of a seat, bool [records] each.

    Args:
        records: array of `_core.RECORD`.
        seat: 0 (red) or 1 (blue).
    """
    return {
        "win": records["outcome"] == RED_WINS + seat,
        "draw": records["outcome"] == DRAW,
        "loss": records["outcome"] == RED_WINS + 1 - seat,
    }


def summary(records: np.ndarray, seat: int, classed: bool = True) -> dict[str, np.ndarray]:
    """Returns a seat's figures in the engagements by name, arrays [records] each.

    Some figures have entries only for engagements with shots: hit_rate, launch_range, and the
    shares of the shots by the missile envelope: in_nez_share (R_min to R_NEZ), between_share (R_NEZ
    to R_aero), wasted_share (nearer than R_min or beyond R_aero).

    Args:
        records: array of `_core.RECORD`.
        seat: 0 (red) or 1 (blue).
        classed: False if the records are of a core with height, which does not class shots. Then
            these shares are missing.
    """
    enemy, sign = 1 - seat, 1 if seat == 0 else -1
    results = outcomes(records, seat)
    shots, hits = records["shots"][:, seat], records["hits"][:, seat]
    shot = shots > 0
    shares = {}
    if classed:
        in_nez, wasted = (
            records[name][shot, seat] / shots[shot] for name in ("shots_in_nez", "shots_wasted")
        )
        between = 1 - in_nez - wasted
        shares = {"in_nez_share": in_nez, "between_share": between, "wasted_share": wasted}
    return {
        "score": results["win"] + 0.5 * results["draw"],
        **results,
        "mutual_kill": records["mutual_kill"],
        "truncated": records["truncated"],
        "shots": shots,
        "hits": hits,
        "shots_against": records["shots"][:, enemy],
        "hits_against": records["hits"][:, enemy],
        "hit_rate": hits[shot] / shots[shot],
        "launch_range": records["launch_range"][shot, seat] / shots[shot],
        **shares,
        "episode_length": records["decisions"],
        "episode_return": records["episode_return"][:, seat],
        "reward_result": records["paid_result"][:, seat],
        **{f"reward_{part}": sign * records[f"paid_{part}"] for part in SHAPING},
    }


def outcome_words(sim: Simulation, env: int = 0) -> str:
    """Returns the outcome of an engagement in words, such as "open", "red wins" or "draw by time".

    In teams it also has the numbers of the living: "red wins, 3 of 4 left", "blue wins by time, 2
    to 3".
    """
    outcome = sim.outcome[env]
    if outcome == 0:
        return "open"
    sizes = sizes_of(sim.parameters)
    sides = np.split(sim.fighters["alive"][env], [sizes[0]])
    left = [int(side.sum()) for side in sides]
    if has_mission(sim.parameters):
        return _mission_words(sim, env, int(outcome))
    how = " by time" if sim.truncated[env] else ", no missiles left" if min(left) else ""
    if outcome not in (1, 2):
        words = f"draw{how}" if any(left) else "mutual kill"
    elif sum(sizes) == 2:  # "by time" is left out: `pressing_margin` decided it
        words = f"{SEATS[outcome - 1]} wins"
    else:
        words = f"{SEATS[outcome - 1]} wins{how}"
    if sum(sizes) == 2 or not any(left):
        return words
    if min(left):
        return f"{words}, {left[0]} to {left[1]}"
    return f"{words}, {max(left)} of {sizes[outcome - 1]} left"


def _mission_words(sim: Simulation, env: int, outcome: int) -> str:
    """Returns the outcome of a mission that is over, such as "red wins: it crosses the line"."""
    alive, red = sim.fighters["alive"][env], sizes_of(sim.parameters)[0]
    attacker = int(sim.core.read("engagement")["attacker"][env, 0]) - 1
    sides = alive[:red].any(), alive[red:].any()
    if outcome - 1 == attacker:
        how = "it crosses the line" if sides[1 - attacker] else "nobody defends the line"
    elif sim.truncated[env]:
        how = "the line holds until the end"
    else:
        escorts = sim.parameters["mission"] == ESCORT
        is_lost = escorts and not (alive[:red] if attacker == 0 else alive)[-1]
        how = "the transport is lost" if is_lost else "the line holds"
    return f"{SEATS[outcome - 1]} wins: {how}"

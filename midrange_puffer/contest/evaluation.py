"""Evaluation of a policy against an opponent; equal seeds give equal figures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from midrange_puffer.contest.match import (
    Contestant,
    Fight,
    Watch,
    half_of,
    play,
    tally,
)
from midrange_puffer.contest.ratings import covariance_within, score_interval
from midrange_puffer.game.parameters import ESCORT, has_height, loadouts_of, resolve, sizes_of
from midrange_puffer.game.records import outcomes
from midrange_puffer.game.shot_classes import LaunchLog
from midrange_puffer.policies.contestants import find_contestant


def evaluate(
    policy: Contestant | Path,
    opponent: Contestant | Path,
    episodes: int = 1000,
    seed: int = 0,
    greedy: bool = False,
    progress: Callable[[int], None] = lambda count: None,
    threads: int = 1,
    **parameters: float,
) -> dict[str, Any]:
    """Evaluates a policy in `episodes` engagements, half of them as red, half as blue.

    Both halves have the same starts. Every start is fought once a half, to its end, so that short
    engagements do not count for more than long ones. Each seat has its own seed for drawing
    actions, which does not depend on the contestant. A policy against itself draws the actions of
    both seats with one seed, and so scores exactly 0.5.

    Args:
        policy: a policy on the CPU (the first value that `checkpoint.load_policy` returns), a
            model's file, or the name of a model in the package, such as "trained". Anything that
            `opponent` may be is allowed, too.
        opponent: a policy; or a pilot, a model, a function by name ("module:name", "file.py:name")
            or a mix of them, as for `Midrange`; or a function: observations float32 [n, features]
            -> actions [n, controls]. A function's whole numbers are levels, other numbers are
            controls.
        episodes: an even number of engagements.
        seed: seed of the starts and the actions; equal seeds give equal results.
        greedy: True to take the likeliest action instead of drawing one.
        progress: called after each decision with the number of engagements that ended in it.
        threads: number of threads that step the engagements and compute the policies; the result
            does not depend on it.
        **parameters: rows of csrc/params.h.

    Returns:
        Figures of the policy by name:

        * win, draw, loss: shares of the engagements; score: mean of 1 a win and 0.5 a draw;
        * win_ci95, draw_ci95, loss_ci95, score_ci95: their 95 % intervals [low, high]. The two
          engagements of a start may have correlated results; the intervals take account of that;
        * mutual_kill, truncated: shares of the engagements;
        * shots, hits, shots_against, hits_against: means an engagement;
        * hit_rate: hits / shots; launch_range: mean range of the shots [m];
        * in_nez_share, between_share, wasted_share: shares of the shots from R_min to R_NEZ, from
          R_NEZ to R_aero, and nearer than R_min or beyond R_aero; with height by fly-outs of every
          shot, see `game.shot_classes`;
        * length: mean length of an engagement [s].

        The figures of shots are None if there was no shot.

    Raises:
        ValueError: An argument has a wrong name, type or range.
        TypeError: The policy or the opponent has another type.
        CheckpointError: A model's file cannot be used.
        OwnCodeError: A function cannot be used.
    """
    parameters = resolve(parameters, teams=True)
    contestant = find_contestant("policy", policy, parameters)
    # A model against itself is loaded once, so that both seats draw the same actions.
    other = contestant
    if opponent != policy:
        other = find_contestant("opponent", opponent, parameters)
    records = fight(
        contestant, other, episodes, seed, greedy, progress, threads=threads, parameters=parameters
    )
    return summarize(records, parameters)


def fight(
    policy: Contestant,
    opponent: Contestant,
    episodes: int,
    seed: int,
    greedy: bool,
    progress: Callable[[int], None],
    watches: Sequence[Watch | None] = (None, None),
    *,
    threads: int = 1,
    parameters: Mapping[str, float],
    parts: Sequence[Mapping[str, float]] = ({},),
) -> list[np.ndarray]:
    """Flies the engagements of `evaluate`; returns arrays of `_core.RECORD`, as red and as blue.

    Args:
        policy, opponent, episodes, seed, greedy, progress: as in `evaluate`.
        watches: one for the engagements as red, one for those as blue.
        threads: as in `play`.
        parameters: a value for every row of csrc/params.h.
        parts: the starts are split into len(parts) equal parts; part i is fought with the values
            of parts[i] in place of those in `parameters`.
    """
    half = half_of("episodes", episodes)
    size = half // len(parts)
    records = []
    for seats, watch in zip(((policy, opponent), (opponent, policy)), watches, strict=True):
        fights = [Fight(*seats, part, size * index) for index, part in enumerate(parts)]
        log = LaunchLog(len(fights)) if has_height(parameters) else None
        part_records = play(
            fights, size, seed, greedy, progress, watch, log and log.note,
            threads=threads, parameters=parameters,
        )  # fmt: skip
        for index, (part_fight, part) in enumerate(zip(fights, part_records, strict=True)):
            if log:
                log.write_classes(index, {**parameters, **part_fight.parameters}, part)
            part["env"] += part_fight.first
        records.append(np.concatenate(part_records))
    return records


def summarize(records: Sequence[np.ndarray], parameters: Mapping[str, float]) -> dict[str, Any]:
    """Returns the figures of `evaluate`, from the records as red and as blue."""
    as_red, as_blue = records
    red_outcomes, blue_outcomes = outcomes(as_red, 0), outcomes(as_blue, 1)
    figures: dict[str, Any] = {}
    for name, red in red_outcomes.items():
        figures[name], figures[f"{name}_ci95"] = _share(red, blue_outcomes[name])
    figures["score"] = figures["win"] + figures["draw"] / 2
    figures["score_ci95"] = [float(end) for end in score_interval(*tally(as_red, as_blue))]
    seats = np.repeat((0, 1), [len(as_red), len(as_blue)])
    both = np.concatenate([as_red, as_blue])
    for name in ("mutual_kill", "truncated"):
        figures[name] = float(both[name].mean())
    rows = np.arange(len(both))
    for name in ("shots", "hits"):
        figures[name] = float(both[name][rows, seats].mean())
        figures[f"{name}_against"] = float(both[name][rows, 1 - seats].mean())
    launch_range = float(both["launch_range"][rows, seats].mean(dtype=float))
    shots = figures["shots"]
    figures["hit_rate"] = figures["hits"] / shots if shots else None
    figures["launch_range"] = launch_range / shots if shots else None
    figures |= _shot_shares(both, seats)
    decision = parameters["physics_dt"] * parameters["substeps"]
    figures["length"] = float(both["decisions"].mean()) * decision
    return figures


def summarize_wins(
    records: Sequence[np.ndarray], parameters: Mapping[str, float]
) -> dict[str, Any] | None:
    """Returns figures of the engagements that the policy won; None if it won none.

    Args:
        records: arrays of `_core.RECORD`, as red and as blue.
        parameters: a value for every row of csrc/params.h.

    Returns:
        count: the number of engagements won; length: their mean length [s]; policy, opponent: for
        each side the means of the missiles that it fired (shots) and kept (left), and
        launch_range, in_nez_share, between_share and wasted_share as in `evaluate`.
    """
    seats = np.repeat((0, 1), [len(part) for part in records])
    won = np.concatenate([outcomes(part, seat)["win"] for seat, part in enumerate(records)])
    both, seats = np.concatenate(records)[won], seats[won]
    if not len(both):
        return None
    sides = {}
    for name, own in (("policy", seats), ("opponent", 1 - seats)):
        rows = np.arange(len(both))
        fired = both["shots"][rows, own]
        loadouts = np.array([sum(loadout) for loadout in loadouts_of(parameters)])
        armed = np.array(sizes_of(parameters))[own]
        if parameters["mission"] == ESCORT:
            armed = armed - (both["attacker"] == 1 + own)  # a transport carries no missiles
        carried = loadouts[own] * armed
        shots, far = int(fired.sum()), float(both["launch_range"][rows, own].sum(dtype=float))
        sides[name] = {
            "shots": float(fired.mean()),
            "left": float((carried - fired).mean()),
            "launch_range": far / shots if shots else None,
            **_shot_shares(both, own),
        }
    decision = parameters["physics_dt"] * parameters["substeps"]
    return {"count": len(both), "length": float(both["decisions"].mean()) * decision, **sides}


def typical_win(records: Sequence[np.ndarray]) -> tuple[int, int] | None:
    """Returns the seat and the index of the won engagement of middle length; None without wins."""
    wins = [
        (int(part["decisions"][place]), seat, int(place))
        for seat, part in enumerate(records)
        for place in np.flatnonzero(outcomes(part, seat)["win"])
    ]
    if not wins:
        return None
    _, seat, place = sorted(wins)[len(wins) // 2]
    return seat, place


def _shot_shares(records: np.ndarray, seats: np.ndarray) -> dict[str, float | None]:
    """Returns in_nez_share, between_share and wasted_share of `evaluate` for these seats."""
    rows = np.arange(len(records))
    shots, in_nez, wasted = (
        int(records[name][rows, seats].sum()) for name in ("shots", "shots_in_nez", "shots_wasted")
    )
    counts = {"in_nez": in_nez, "between": shots - in_nez - wasted, "wasted": wasted}
    return {f"{name}_share": n / shots if shots else None for name, n in counts.items()}


def _share(red: np.ndarray, blue: np.ndarray) -> tuple[float, list[float]]:
    """Returns the share of True among red's and blue's bools [starts], and its 95 % interval."""
    total, count = len(red) + len(blue), int(red.sum() + blue.sum())
    ends = score_interval(count, 0, total - count, covariance_within(np.stack([red, blue], axis=1)))
    return count / total, [float(end) for end in ends]

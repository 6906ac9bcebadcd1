"""`puffer plot midrange`: a picture of an engagement, a space-time graph, runs or a population."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from midrange_puffer.commands.arguments import given_parameters, resolve_game
from midrange_puffer.commands.exploit_reports import plot_reports
from midrange_puffer.commands.models import load_models, load_opponent
from midrange_puffer.commands.population import plot_population
from midrange_puffer.commands.replay import describe, verified
from midrange_puffer.commands.runs import plot_runs
from midrange_puffer.contest.match import Contestant
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import RADAR, SEATS, callsigns
from midrange_puffer.game.paths import outcome_words
from midrange_puffer.game.spacetime import nearest_enemy, pair_graph
from midrange_puffer.names import label, shown, versus
from midrange_puffer.replays.session import Session
from midrange_puffer.show.engagement_plot import (
    Engagement,
    names_of,
    plot_engagement,
    record_engagement,
)
from midrange_puffer.show.figures import save_figure
from midrange_puffer.show.picture_plot import draw_pictures
from midrange_puffer.show.spacetime_plot import draw_spacetime


def main(options: argparse.Namespace) -> int:
    """Plot, with what `options.plot` has read; return the exit status."""
    if options.run:
        plot_runs(options.runs, options.out)
        return 0
    if options.exploit:
        plot_reports(options.exploit, options.out)
        return 0
    if options.population:
        plot_population(options.population, options.out)
        return 0
    torch.set_num_threads(1)  # small batches are slower with more
    out = shown(options.out)
    if options.replay:
        replay = verified(options.replay)
        engagement = Engagement(replay.names, replay.paths(), replay.outcome)
        plot_engagement(engagement, options.out)
        print(f"{describe(options.replay, replay)}; {out}")
        return 0
    own, parameters = _load(options)
    contestants = [own, load_opponent(options.opponent, own)]
    path = options.pilot or options.model
    if options.seat == SEATS[1]:
        contestants.reverse()
    if options.spacetime is not None:
        session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
        fighter = _fighter(options, session.paths.sizes)
        who, time = plot_moment(session, options.spacetime, fighter, options.out)
        print(f"{shown(path)}: space-time graph of {who} at {time:.1f} s; {out}")
        return 0
    if options.pictures:
        session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
        outcome = plot_pictures(session, names_of(contestants), options.out)
        print(f"{shown(path)}: {outcome} after {session.paths.time:.0f} s; {out}")
        return 0
    engagement = record_engagement(*contestants, options.seed, options.greedy, **parameters)
    plot_engagement(engagement, options.out)
    print(f"{shown(path)}: {engagement.outcome} after {engagement.length:.0f} s; {out}")
    return 0


def _load(options: argparse.Namespace) -> tuple[Contestant, dict[str, int | float]]:
    """Who is to be drawn, and the game."""
    if options.pilot:
        return options.pilot, resolve_game(given_parameters(options), teams=True)
    [(policy, _)], parameters = load_models([options.model], options, teams=True)
    return policy, parameters


def _fighter(options: argparse.Namespace, sizes: tuple[int, int]) -> int:
    """The number of the fighter that --seat and --fighter name."""
    side = SEATS.index(options.seat)
    if options.fighter >= sizes[side]:
        raise UsageError(
            f"command line: --fighter: {options.fighter}: {options.seat} has {sizes[side]}, "
            "counted from 0"
        )
    return side * sizes[0] + options.fighter


def plot_pictures(session: Session, names: Sequence[str], path: str | Path) -> str:
    """Fight to the end, and draw the truth and what both sides knew.

    Args:
        session: with sensors.
        names: of red and blue.
        path: of the picture.

    Returns:
        The outcome in words.

    Raises:
        UsageError: The game has no sensors.
        WriteError: The file could not be written.
    """
    if session.sim.parameters["sensing"] != RADAR:
        raise UsageError("--pictures: both sides know everything here; give --env.sensing radar")
    while not session.over:
        session.step()
    outcome = outcome_words(session.sim)
    who = versus([label(name) for name in names], session.paths.sizes)
    title = f"{who}: {outcome} after {session.paths.time:.0f} s"
    save_figure(draw_pictures(session.paths, title), path)
    return outcome


def plot_moment(session: Session, time: float, fighter: int, path: str | Path) -> tuple[str, float]:
    """Fight on, and draw a fighter's space-time graph at a time [s].

    Returns:
        What the fighter is called, in teams with the enemy nearest to it, and the time [s] of the
        graph: of the first decision not before.

    Raises:
        UsageError: The engagement is over by then.
        WriteError: The file could not be written.
    """
    while session.paths.time < time - 1e-6 and not session.over:
        session.step()
    now = session.paths.time
    if session.over:
        raise UsageError(f"spacetime = {time:g}: the engagement ends at {now:.1f} s")
    names = callsigns(session.paths.sizes)
    who = names[fighter]
    if len(names) > len(SEATS):
        who += f" and {names[nearest_enemy(session.sim, 0, fighter)]}"
    graph = pair_graph(session.sim, 0, fighter)
    save_figure(draw_spacetime(graph, f"{who} at {now:.1f} s"), path)
    return who, now

"""`puffer plot midrange`: a picture of an engagement, a space-time graph, runs or a population."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from midrange_puffer.commands.exploit_reports import plot_reports
from midrange_puffer.commands.models import load_model, load_opponent
from midrange_puffer.commands.population import plot_population
from midrange_puffer.commands.runs import plot_runs
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import RADAR, SEATS
from midrange_puffer.game.paths import outcome_words
from midrange_puffer.game.spacetime import spacetime
from midrange_puffer.names import label, shown
from midrange_puffer.replays.session import Session
from midrange_puffer.show.engagement_plot import names_of, plot_engagement, record_engagement
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
    policy, parameters = load_model(options)
    contestants = [policy, load_opponent(options.opponent, policy)]
    path, out = options.model, shown(options.out)
    if options.seat == SEATS[1]:
        contestants.reverse()
    if options.spacetime is not None:
        seat = SEATS.index(options.seat)
        session = Session(contestants, seed=options.seed, greedy=options.greedy, **parameters)
        time = plot_moment(session, options.spacetime, seat, options.out)
        print(f"{shown(path)}: space-time graph of {options.seat} at {time:.1f} s; {out}")
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
    red, blue = map(label, names)
    title = f"{red} (red) against {blue} (blue): {outcome} after {session.paths.time:.0f} s"
    save_figure(draw_pictures(session.paths, title), path)
    return outcome


def plot_moment(session: Session, time: float, seat: int, path: str | Path) -> float:
    """Fight on, and draw a seat's space-time graph at a time [s].

    Returns:
        The time [s] of the graph: of the first decision not before.

    Raises:
        UsageError: The engagement is over by then.
        WriteError: The file could not be written.
    """
    while session.paths.time < time - 1e-6 and not session.over:
        session.step()
    now = session.paths.time
    if session.over:
        raise UsageError(f"spacetime = {time:g}: the engagement ends at {now:.1f} s")
    graph = spacetime(session.sim, 0, seat)
    save_figure(draw_spacetime(graph, f"{SEATS[seat]} at {now:.1f} s"), path)
    return now

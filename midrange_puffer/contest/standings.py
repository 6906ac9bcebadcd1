"""The standings of a league: players by rating, their pairings and cycles; as JSON and tables."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from midrange_puffer.contest.ratings import Pairing, Payoffs, edges, shortest_cycle, three_cycles
from midrange_puffer.names import shown

CYCLES_SHOWN = 5
NAME_WIDTH, CELL_WIDTH = 24, 3  # characters of the payoff matrix


@dataclass
class Standings:
    """The players in the order of their ratings, the best first.

    A player "beats" another if the 95 % interval of its score lies above 0.5. Between two players
    of equal strength that happens by chance once in 40 pairings.

    Attributes:
        payoffs: results of all pairings.
        ratings: [n], on the Elo scale.
        half_widths: [n], half widths of the ratings' 95 % intervals; 0 for a fixed rating.
        cycles: all cycles (i, j, k) in which i beats j, j beats k and k beats i. The clearest comes
            first: the one whose lowest score is highest. If there is no cycle of three players,
            the list has one shortest longer cycle. It is empty if there is no cycle at all.
    """

    payoffs: Payoffs
    ratings: np.ndarray
    half_widths: np.ndarray
    cycles: list[tuple[int, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names."""
        return self.payoffs.names

    def worst(self, player: int) -> tuple[str, float]:
        """Returns the opponent against which a player has its lowest score, and that score."""
        scores = self.payoffs.scores[player]
        opponent = int(np.nanargmin(scores))
        return self.names[opponent], float(scores[opponent])


def rank(
    names: Sequence[str], pairings: Sequence[Pairing], anchors: Mapping[str, float]
) -> Standings:
    """Rates and sorts the players; `anchors` gives fixed ratings, used if others play as well."""
    ratings, _ = Payoffs(names, pairings).rate(anchors)
    order: list[int] = np.argsort(-ratings, kind="stable").tolist()
    payoffs = Payoffs([names[place] for place in order], pairings)
    beats = payoffs.low > 0.5
    longer = shortest_cycle(beats)
    cycles = three_cycles(beats, payoffs.scores) or [longer] * bool(longer)
    return Standings(payoffs, *payoffs.rate(anchors), cycles)


def format_report(standings: Standings) -> dict[str, object]:
    """Returns the standings for a JSON file: players, pairings, cycles."""
    names = standings.names
    pairs = itertools.combinations(range(len(names)), 2)
    return {
        "players": [_report_player(standings, place) for place in range(len(names))],
        "pairings": [_report_pairing(standings.payoffs, *pair) for pair in pairs],
        "cycles": [[names[player] for player in cycle] for cycle in standings.cycles],
    }


def _report_player(standings: Standings, place: int) -> dict[str, object]:
    rating, half_width = float(standings.ratings[place]), float(standings.half_widths[place])
    opponent, score = standings.worst(place)
    return {
        "name": standings.names[place],
        "rating": rating,
        "rating_ci95": [rating - half_width, rating + half_width],
        "fixed": half_width == 0,
        "worst_opponent": opponent,
        "worst_score": score,
    }


def _report_pairing(payoffs: Payoffs, first: int, second: int) -> dict[str, object]:
    pair = first, second
    games = int(payoffs.games[pair])
    return {
        "first": payoffs.names[first],
        "second": payoffs.names[second],
        "games": games,
        "win": int(payoffs.wins[pair]) / games,
        "draw": int(payoffs.draws[pair]) / games,
        "loss": int(payoffs.wins[second, first]) / games,
        "score": float(payoffs.scores[pair]),
        "score_ci95": [float(payoffs.low[pair]), float(payoffs.high[pair])],
    }


def format_ratings(standings: Standings) -> Table:
    """Returns a table of the players by rating, each with its worst opponent and that score."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("\nplayer", overflow="fold", min_width=8)
    for heading in ("\nrating", "95 %\nc.i.", "worst\ncase %"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("\nagainst", overflow="fold", min_width=8)
    for place, name in enumerate(standings.names):
        half_width = standings.half_widths[place]
        opponent, score = standings.worst(place)
        table.add_row(
            str(place + 1),
            Text(shown(name)),
            f"{standings.ratings[place]:.0f}",
            f"±{half_width:.0f}" if half_width else "fixed",
            f"{100 * score:.1f}",
            Text(shown(opponent)),
        )
    return table


def format_matrices(standings: Standings, width: int) -> list[Table]:
    """Returns the payoff matrix in percent, in parts that fit into `width` characters."""
    total = len(standings.names)
    columns = max((width - NAME_WIDTH) // (CELL_WIDTH + 1), 1)
    return [
        _format_matrix(standings, range(first, min(first + columns, total)))
        for first in range(0, total, columns)
    ]


def _format_matrix(standings: Standings, columns: range) -> Table:
    """Returns a table of some columns of the matrix; a column's heading is the opponent's place."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, pad_edge=False)
    table.add_column("", no_wrap=True, width=NAME_WIDTH)
    for column in columns:
        table.add_column(str(column + 1), justify="right", no_wrap=True, width=CELL_WIDTH)
    for row, name in enumerate(standings.names):
        cells = [_format_cell(standings.payoffs, row, column) for column in columns]
        room = NAME_WIDTH - len("99 ")
        name = shown(name)
        short = name if len(name) <= room else f"…{name[1 - room :]}"
        table.add_row(Text(f"{row + 1:2d} {short}"), *cells)
    return table


def _format_cell(payoffs: Payoffs, row: int, column: int) -> str:
    """Returns a score in percent, green (red) if its 95 % interval lies above (below) 50 %."""
    if row == column:
        return "·"
    text = f"{100 * payoffs.scores[row, column]:.0f}"
    if payoffs.low[row, column] > 0.5:
        return f"[green]{text}[/]"
    return f"[red]{text}[/]" if payoffs.high[row, column] < 0.5 else text


def format_cycles(standings: Standings) -> list[str]:
    """Returns lines of text that list the cycles, the clearest first."""
    cycles, names = standings.cycles, list(map(shown, standings.names))
    words = "none"
    if cycles:
        words = f"{len(cycles)} of three" if len(cycles[0]) == 3 else "none of three, but longer"
    lines = [f"cycles, each scoring above one half against the next by its 95 % interval: {words}"]
    for cycle in cycles[:CYCLES_SHOWN]:
        steps = [
            f"{names[player]} {100 * standings.payoffs.scores[player, other]:.0f} %"
            for player, other in edges(cycle)
        ]
        lines.append(f"  {' > '.join([*steps, names[cycle[0]]])}")
    if len(cycles) > CYCLES_SHOWN:
        lines.append(f"  and {len(cycles) - CYCLES_SHOWN} that are less clear")
    return lines

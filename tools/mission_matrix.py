"""Prints how often each pilot's attack succeeds against each pilot's defence in a mission.

    python tools/mission_matrix.py line
    python tools/mission_matrix.py escort configs/escort.ini

The table is of Markdown: rows attack, columns defend, numbers are the share of FIGHTS fights that
the attack wins. The second argument is a file whose [env] has the rest of the game.
"""

import argparse
from typing import Any

from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import game_of
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.game.parameters import resolve

FIGHTS = 500
PILOTS = ("straight", "shooter", "evader", "crank", "snake", "turn_back", "ace", "patient")


def parameters_of(mission: str, path: str | None) -> dict[str, Any]:
    """Returns the parameters of a mission in which red attacks, with those of a file."""
    game = game_of(load_config(path))
    return resolve(game | {"mission": mission, "attacker": "red"}, teams=True)


def main() -> None:
    """Flies all pairs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mission", choices=("line", "escort"))
    parser.add_argument("config", nargs="?")
    arguments = parser.parse_args()
    game = parameters_of(arguments.mission, arguments.config)
    print(f"| attacks | {' | '.join(PILOTS)} |")
    print(f"|---|{'---|' * len(PILOTS)}")
    for attacker in PILOTS:
        fights = [Fight(attacker, defender) for defender in PILOTS]
        results = play(fights, FIGHTS, parameters=game)
        won = [f"{(records['outcome'] == 1).mean():.2f}" for records in results]
        print(f"| {attacker} | {' | '.join(won)} |", flush=True)


if __name__ == "__main__":
    main()

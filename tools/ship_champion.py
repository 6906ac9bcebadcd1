"""Make a model the champion of its game: python tools/ship_champion.py MODEL [--game GAME].

MODEL is the average of checkpoints of a run of configs/champion.ini, or for another game of
configs/champion_GAME.ini, as `puffer average` writes it. It goes to midrange_puffer/models/, to
champion.pt or champion_GAME/champion_GAME.pt, with its export beside it, and in another game its
configuration. Prints the tables of docs/champion.md, or of docs/other-champions.md, that say which
files these are, and how they fare on the panel.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from ship_models import ROOT, puffer

from midrange_puffer.config.configuration import format_sections
from midrange_puffer.config.reading import load_config
from midrange_puffer.contest.panel import digest
from midrange_puffer.game.games import DEFAULT_GAME, GAMES, describe_game, game_name
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.models import champion_file, champion_name


def main() -> None:
    """Ships the named model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", metavar="MODEL", type=Path)
    parser.add_argument("--game", choices=GAMES, help="the model's game, as a check")
    options = parser.parse_args()
    env = load_policy(options.model)[1]["env"]
    game = game_name(env)
    if game is None or options.game not in (None, game):
        wanted = options.game or f"one of {', '.join(GAMES)}"
        parser.error(f"{options.model}: is of the game {describe_game(env)}, not of {wanted}")
    files = ship(options.model, game)
    print("\n| file | SHA-256 | bytes |\n|---|---|---|")
    for path in files:
        print(f"| `{path.name}` | `{digest(path)}` | {path.stat().st_size:,} |")
    print_panel(champion_name(game))


def ship(model: Path, game: str) -> list[Path]:
    """Copies a model to the place of a game's champion; returns it and its export."""
    home = champion_file(game)
    home.parent.mkdir(exist_ok=True)
    shutil.copyfile(model, home)
    if game != DEFAULT_GAME:
        config = load_config(ROOT / "configs" / f"{home.stem}.ini")
        (home.parent / "config.ini").write_text(format_sections(config))
    exported = home.with_suffix(".onnx")
    puffer("export", "--load-model-path", home, "--onnx", exported)
    return [home, exported]


def print_panel(name: str) -> None:
    """Prints the rows of a model's panel as a table."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "panel.json")
        puffer("panel", name, "--json", report)
        rows = json.loads(report.read_text())["rows"]
    print("\n| row | wins · draws · losses % | score (95 % interval) |\n|---|---|---|")
    for row in rows:
        games = row["wins"] + row["draws"] + row["losses"]
        shares = " · ".join(
            f"{100 * row[name] / games:.1f}" for name in ("wins", "draws", "losses")
        )
        low, high = row["score_ci95"]
        print(f"| `{row['row']}` | {shares} | {row['score']:.3f} ({low:.3f}–{high:.3f}) |")


if __name__ == "__main__":
    main()

"""Make a model the champion of the package: python tools/ship_champion.py MODEL.

MODEL is the average of checkpoints of a run of configs/champion.ini, as `puffer average` writes it.
It goes to midrange_puffer/models/champion.pt, its export to champion.onnx beside it. Prints the
tables of docs/champion.md that say which files these are, and how they fare on the panel.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from ship_models import puffer

from midrange_puffer.contest.panel import digest
from midrange_puffer.policies.models import CHAMPION, path_of


def main() -> None:
    """Ships the named model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", metavar="MODEL", type=Path)
    model = parser.parse_args().model
    home = path_of(CHAMPION)
    exported = home.with_suffix(".onnx")
    shutil.copyfile(model, home)
    puffer("export", "--load-model-path", home, "--onnx", exported)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "panel.json")
        puffer("panel", CHAMPION, "--json", report)
        rows = json.loads(report.read_text())["rows"]
    print("\n| file | SHA-256 | bytes |\n|---|---|---|")
    for path in (home, exported):
        print(f"| `{path.name}` | `{digest(path)}` | {path.stat().st_size:,} |")
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

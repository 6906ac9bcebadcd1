"""Folders of the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
BENCHMARKS = ROOT / "benchmarks"
EXAMPLES = ROOT / "examples"
CSRC = ROOT / "csrc"
SUPPORT = ROOT / "tests" / "support"
GOLDEN = SUPPORT / "golden"

"""Runs with a pool, and what its file says."""

import json
from pathlib import Path

MIX = ("--env.opponent", "self:2,pool:1,straight:1")


def members(folder: Path) -> dict[str, dict[str, object]]:
    """The entries of the pool's file by name."""
    entries = json.loads((folder / "pool.json").read_text())
    return {entry["name"]: entry for entry in entries["members"]}

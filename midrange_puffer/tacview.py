"""Fights for Tacview: `Telemetry` streams them while they are flown, `write_acmi` writes files."""

from midrange_puffer.replays.acmi import write_acmi
from midrange_puffer.replays.telemetry import Telemetry

__all__ = ["Telemetry", "write_acmi"]

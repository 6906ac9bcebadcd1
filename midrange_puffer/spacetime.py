"""`spacetime`: the space-time graph of a simulation, as arrays."""

from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime, spacetime

__all__ = ["MissilePrediction", "SpaceTime", "spacetime"]

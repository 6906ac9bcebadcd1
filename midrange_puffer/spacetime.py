"""The space-time graph of a simulation, as arrays: `spacetime`, and `pair_graph` in teams."""

from midrange_puffer.game.pair import pair_graph
from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime, spacetime

__all__ = ["MissilePrediction", "SpaceTime", "pair_graph", "spacetime"]

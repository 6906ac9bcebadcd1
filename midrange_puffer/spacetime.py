"""The space-time graph of a simulation, as arrays: `spacetime`, and `pair_graph` in teams."""

from midrange_puffer.game.spacetime import MissilePrediction, SpaceTime, pair_graph, spacetime

__all__ = ["MissilePrediction", "SpaceTime", "pair_graph", "spacetime"]

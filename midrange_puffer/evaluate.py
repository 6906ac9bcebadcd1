"""`evaluate`: how well a policy fights, from Python."""

from midrange_puffer.contest.evaluation import evaluate

__all__ = ["evaluate"]

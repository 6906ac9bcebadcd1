"""Evaluation of a policy from Python: `evaluate`."""

from midrange_puffer.contest.evaluation import evaluate

__all__ = ["evaluate"]

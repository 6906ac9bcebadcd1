"""Evaluation of a policy from Python: `evaluate`."""

from midrange_puffer.errors import naming_extra

with naming_extra("midrange_puffer.evaluate needs"):
    from midrange_puffer.contest.evaluation import evaluate

__all__ = ["evaluate"]

"""The yardstick of a sweep: an outcome, which no swept reward or game parameter can move."""

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from midrange_puffer.config.configuration import Config
from midrange_puffer.config.schema import game_of
from midrange_puffer.contest.evaluation import evaluate
from midrange_puffer.game.parameters import pilot_names


class Panel:
    """Pilots, starts and a game that are the same for every trial of a sweep.

    Args:
        config: the sweep's. What a trial has for [env] is not asked for.

    Attributes:
        pilots: their names.
    """

    def __init__(self, config: Config) -> None:
        settings = config.sweep
        self.pilots = pilot_names(settings.panel)
        self._episodes, self._seed = settings.panel_episodes, settings.panel_seed
        self._parameters = game_of(config)

    def meet(self, policy: nn.Module) -> dict[str, float]:
        """Let a policy on the CPU fight each pilot, as `puffer eval` does.

        Returns:
            Pilot -> score (win 1, draw 0.5).
        """
        with _one_thread():
            results = {
                pilot: evaluate(policy, pilot, self._episodes, self._seed, **self._parameters)
                for pilot in self.pilots
            }
        return {pilot: result["score"] for pilot, result in results.items()}


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """As `puffer eval` has torch: quicker with small batches, and the same on every machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

"""`puffer export midrange`: a policy as an ONNX file, for any program that can fly it."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn

from midrange_puffer.commands.models import load_models
from midrange_puffer.commands.options.export import TOLERANCE
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.contest.match import Fight, play
from midrange_puffer.errors import UserError
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import PILOTS, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies.exported import ExportedPolicy, Graph, to_onnx
from midrange_puffer.policies.own_policy import MEMORY

STARTS = 32  # engagements in either seat, against all pilots, in which outputs are compared


class ExportError(UserError):
    """onnxruntime does not compute what torch does."""


class Comparison:
    """Has a policy and its exported form compute the same, decision by decision of fights.

    Both are given what is seen and what the policy remembers, and all that they give is compared,
    the next memory, too. Were each to remember for itself, rounding would add up from decision to
    decision.

    Attributes:
        observations: how many both have seen.
    """

    def __init__(
        self, policy: nn.Module, exported: nn.Module, num_envs: int, sizes: tuple[int, int]
    ) -> None:
        self._graphs = Graph(policy), Graph(exported)
        self._sides = slice(0, sizes[0]), slice(sizes[0], None)  # the fighters of a seat
        shape = num_envs, sum(sizes), policy.memory_size
        self._memory = [torch.zeros(shape) for _ in MEMORY] if policy.memory_size else []
        self._largest = self._differences = np.float32(0)  # of each output
        self.observations = 0

    @property
    def difference(self) -> float:
        """The largest so far, of 1 + an output's largest |value|."""
        return float(np.max(self._differences / (1 + self._largest)))  # max() may lose a NaN

    @torch.inference_mode()
    def watch(self, seat: int, pending: np.ndarray, seen: np.ndarray, commands: np.ndarray) -> None:
        """Look at what the policy sees in `seat`, its fight's index: a `match.Watch`."""
        side, rows = self._sides[seat], torch.from_numpy(np.flatnonzero(pending))
        observations = torch.from_numpy(seen)[rows, side].flatten(0, 1)
        before = [memory[rows, side].flatten(0, 1) for memory in self._memory]
        wanted, found = (graph(observations, *before) for graph in self._graphs)
        for memory, after in zip(self._memory, wanted[-len(MEMORY) :], strict=False):
            memory[rows, side] = after.unflatten(0, (len(rows), -1))
        wanted, found = (torch.cat(outputs, dim=1).numpy() for outputs in (wanted, found))
        self._largest = np.maximum(self._largest, np.abs(wanted).max(axis=0))
        self._differences = np.maximum(self._differences, np.abs(found - wanted).max(axis=0))
        self.observations += len(observations)


def main(options: argparse.Namespace) -> int:
    """Export, with what `options.export` has read; return the exit status."""
    torch.set_num_threads(1)  # small batches are slower with more
    path, out = options.model, Path(options.onnx)
    [(policy, entries)], parameters = load_models([path], options, teams=True)
    data = to_onnx(policy, entries)
    with progress_bar("comparing with torch", 2 * STARTS) as advance:
        exported = ExportedPolicy(data, out)
        observations, difference = compare(policy, exported, advance, parameters=parameters)
    write_whole(out, data)
    print(
        f"{shown(path)}: exported to {shown(out)}; in {observations} observations of {2 * STARTS} "
        f"engagements onnxruntime and torch differ by at most {difference:.1e} of 1 + an output's "
        "largest |value|"
    )
    return 0


def compare(
    policy: nn.Module,
    exported: nn.Module,
    progress: Callable[[int], None] = lambda count: None,
    *,
    parameters: Mapping[str, float],
) -> tuple[int, float]:
    """Let a policy fight all pilots, in either seat, and an exported one see what it sees.

    Args:
        progress: called now and then with the number of engagements ended since.
        parameters: a value for every row of csrc/params.h.

    Returns:
        How many observations both have seen, and the largest difference between what they make of
        them, of 1 + an output's largest |value|.

    Raises:
        ExportError: A difference is above TOLERANCE.
    """
    pilots = ",".join(PILOTS)
    comparison = Comparison(policy, exported, STARTS, sizes_of(parameters))
    fights = [Fight(policy, pilots), Fight(pilots, policy)]
    play(fights, STARTS, progress=progress, watch=comparison.watch, parameters=parameters)
    observations, difference = comparison.observations, comparison.difference
    if not difference <= TOLERANCE:  # a NaN is not
        raise ExportError(
            f"nothing is written: in {observations} observations onnxruntime and torch differ by "
            f"up to {difference:.1e} of 1 + an output's largest |value|; {TOLERANCE:g} is allowed"
        )
    return observations, difference

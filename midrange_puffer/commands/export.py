"""`puffer export midrange`: a policy as an ONNX file, for any program that can fly it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from midrange_puffer.commands import option
from midrange_puffer.commands.models import load_models, model_path
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.errors import UsageError, UserError, require
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import EXPORTED, PILOTS, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies.models import MODELS

if TYPE_CHECKING:
    from midrange_puffer.policies.actors import PolicyModule

# The greatest difference allowed between onnxruntime and torch, of 1 + an output's largest |value|
# seen. Not of each value: one near 0 is the sum of terms as large as the largest, each rounded to
# float32.
TOLERANCE = 1e-5
STARTS = 32  # engagements in either seat, against all pilots, in which outputs are compared


DESCRIPTION = (
    "Write a policy as an ONNX file. The file is written only if onnxruntime computes from it "
    "what torch computes, in fights against the pilots, to "
    f"{TOLERANCE:g} of 1 + an output's largest |value|. The file takes the place of a {MODELS} "
    "in every command but training. Any program with an ONNX runtime can fly it: its metadata "
    "describe its observations and actions."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the `model`'s path."""

    load_model_path: str = option.load_model_path(MODELS)
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    onnx: str | None = option.output(f"the file to write, *{EXPORTED}", EXPORTED, None)
    state_dict: str | None = option.output(
        "write the weights alone, *.pt, for policy.load_state_dict(torch.load(FILE))", ".pt", None
    )
    model: Path = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer export midrange`."""
    options = option.Parser("export", DESCRIPTION, Options).read(argv)
    if options.onnx is None and options.state_dict is None:
        raise UsageError("command line: --onnx is missing: the file to write; or --state-dict")
    if options.onnx is not None:
        require("exported policies need", "onnx", "onnxruntime", "onnxscript")
    model = model_path(options.load_model_path, options.data_dir)
    if model.suffix == EXPORTED:
        raise UsageError(f"{model}: is exported already; expected a run folder's {MODELS}")
    return replace(options, model=model)


class ExportError(UserError):
    """A difference between the outputs of onnxruntime and torch."""


def main(options: Options) -> int:
    """Exports the policy; returns the exit status."""
    import torch

    torch.set_num_threads(1)  # small batches are slower with more
    path = options.model
    [(policy, entries)], parameters = load_models([path], {}, options.policy_name)
    if options.state_dict is not None:
        from midrange_puffer.policies.torch_files import to_bytes

        weights = policy.state_dict()
        write_whole(Path(options.state_dict), to_bytes(weights))
        count = sum(weight.numel() for weight in weights.values())
        print(f"{shown(path)}: {count} weights written to {shown(options.state_dict)}")
    if options.onnx is None:
        return 0
    from midrange_puffer.policies.exported import ExportedPolicy, to_onnx

    out = Path(options.onnx)
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
    policy: "PolicyModule",
    exported: "PolicyModule",
    progress: Callable[[int], None] = lambda count: None,
    *,
    parameters: Mapping[str, Any],
) -> tuple[int, float]:
    """Compares the outputs of a policy and its exported form in fights against all pilots.

    Args:
        policy: flies, in either seat.
        exported: computes from the same observations.
        progress: called now and then with the number of engagements ended since.
        parameters: a value for every row of csrc/params.h.

    Returns:
        The number of observations, and the largest difference, of 1 + an output's largest |value|.

    Raises:
        ExportError: A difference is above TOLERANCE.
    """
    from midrange_puffer.contest.match import Fight, play

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


class Comparison:
    """A comparison of a policy and its exported form, decision by decision of fights.

    Both get the same observations and the same memory. All outputs are compared, the next memory,
    too. If each kept its own memory, rounding errors would add up from decision to decision.

    Attributes:
        observations: number of those compared.
    """

    def __init__(
        self,
        policy: "PolicyModule",
        exported: "PolicyModule",
        num_envs: int,
        sizes: tuple[int, int],
    ) -> None:
        import torch

        from midrange_puffer.policies.exported import Graph
        from midrange_puffer.policies.own_policy import MEMORY

        self._graphs = Graph(policy), Graph(exported)
        self._agents = sum(sizes) // policy.commanded  # of an engagement
        red = sizes[0] // policy.commanded
        self._seats = slice(0, red), slice(red, None)  # the agents of a seat
        shape = num_envs, self._agents, policy.memory_size
        self._memory = [torch.zeros(shape) for _ in MEMORY] if policy.memory_size else []
        self._largest = self._differences = np.float32(0)  # of each output
        self.observations = 0

    @property
    def difference(self) -> float:
        """The largest so far, of 1 + an output's largest |value|."""
        return float(np.max(self._differences / (1 + self._largest)))  # max() may lose a NaN

    def watch(
        self,
        seat: int,
        pending: np.ndarray,
        observations: np.ndarray,
        commands: np.ndarray,
        orders: np.ndarray,
    ) -> None:
        """Compares what both compute of a decision; a `match.Watch`.

        Args:
            seat: of the policy: the index of its fight.
            pending: bool [engagements], True where a decision is made.
            observations: of all fighters of all engagements.
            commands, orders: unused.
        """
        import torch

        agents, rows = self._seats[seat], torch.from_numpy(np.flatnonzero(pending))
        with torch.inference_mode():
            seen = torch.from_numpy(observations).reshape(len(observations), self._agents, -1)
            inputs = seen[rows, agents].flatten(0, 1)
            before = [memory[rows, agents].flatten(0, 1) for memory in self._memory]
            expected, actual = (graph(inputs, *before) for graph in self._graphs)
            after = expected[len(expected) - len(self._memory) :]
            for memory, value in zip(self._memory, after, strict=True):
                memory[rows, agents] = value.unflatten(0, (len(rows), -1))
            expected, actual = (torch.cat(out, dim=1).numpy() for out in (expected, actual))
        self._largest = np.maximum(self._largest, np.abs(expected).max(axis=0))
        self._differences = np.maximum(self._differences, np.abs(actual - expected).max(axis=0))
        self.observations += len(inputs)

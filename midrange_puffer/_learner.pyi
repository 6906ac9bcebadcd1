"""Types of the Cython module _learner, whose docstrings are in _learner.pyx."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float32]

MAX_LAYERS: int
MAX_LEVELS: int
MAX_ENTITY_SIZE: int
WIDTH_UNIT: int
MAX_WIDTH: int
MAX_FEATURES: int
MAX_DECISIONS: int

def isas() -> list[str]: ...
def find_advantages(
    outcomes: Iterable[_Floats],
    rows: NDArray[np.int64],
    settings: Iterable[float],
    advantages: _Floats,
    priorities: _Floats,
) -> None: ...

class Network:
    @property
    def size(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def is_continuous(self) -> bool: ...
    @property
    def learns(self) -> bool: ...
    @property
    def isa(self) -> str: ...
    def __init__(
        self,
        features: int,
        widths: Sequence[int],
        levels: Sequence[int] | None,
        ranges: Iterable[Iterable[float]] | None,
        deviations: Iterable[float],
        threads: int = 1,
        learns: bool = True,
        isa: str = "auto",
        entities: tuple[int, int, int, Sequence[tuple[int, ...]]] | None = None,
        fighters: int = 1,
        own_alive: int = 0,
    ) -> None: ...
    def arrays(self) -> list[tuple[int, ...]]: ...
    def load(self, parameters: _Floats) -> None: ...
    def act(
        self,
        observations: _Floats,
        noise: _Floats | None,
        actions: NDArray[np.int32] | _Floats,
        outcomes: Iterable[NDArray[np.float32] | NDArray[np.bool_]] | None = None,
        keep: Iterable[NDArray[np.float32] | NDArray[np.int32]] | None = None,
        row: int = 0,
        step: int = 0,
    ) -> None: ...
    def score(
        self,
        experience: Iterable[NDArray[np.float32] | NDArray[np.int32]],
        rows: NDArray[np.int64],
        logprobs: _Floats | None,
        values: _Floats,
        decisions: NDArray[np.int32] | None = None,
    ) -> None: ...
    def gradient(
        self,
        experience: Iterable[NDArray[np.float32] | NDArray[np.int32]],
        rows: NDArray[np.int64],
        advantages: _Floats,
        returns: _Floats,
        settings: Iterable[float],
        scale: float,
        gradient: _Floats,
        logprobs: _Floats,
        values: _Floats,
        decisions: NDArray[np.int32] | None = None,
    ) -> dict[str, float]: ...
    def muon(
        self,
        parameters: _Floats,
        momentum: _Floats,
        gradient: _Floats,
        rate: float,
        beta: float,
        max_norm: float,
    ) -> None: ...
    def adam(
        self,
        parameters: _Floats,
        mean: _Floats,
        square: _Floats,
        gradient: _Floats,
        rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        step: int,
        max_norm: float,
    ) -> None: ...

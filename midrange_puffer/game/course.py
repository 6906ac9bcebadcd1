"""Where something was over time, or was believed to be."""

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass
class Course:
    """An entry of each list for every time that was noted.

    Attributes:
        times: Since the start [s].
        x, y: [m]
        speed: [m/s]
        heading: Counter-clockwise from +x [rad].
    """

    times: list[float] = field(default_factory=list)
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    heading: list[float] = field(default_factory=list)

    def at(self, time: float) -> int | None:
        """Index of the last entry not after `time`; None before the first."""
        index = bisect_right(self.times, time) - 1
        return index if index >= 0 else None

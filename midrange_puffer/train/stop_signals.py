"""SIGINT, SIGTERM and SIGHUP during training: it stops after the present update."""

import contextlib
import os
import signal
from types import TracebackType

from midrange_puffer.errors import UserError
from midrange_puffer.system import STOP_SIGNALS
from midrange_puffer.train import ranks


class StoppedError(UserError):
    """A signal has come, and the present update cannot be finished."""


class StopSignals:
    """Turns the first SIGINT, SIGTERM or SIGHUP into a request to stop; the second exits at once.

    SIGHUP means that the terminal is gone; if it is ignored, as by nohup, it stays ignored. In a
    rank a second signal does not exit: its launcher may send one twice, and kills slow ranks.

    Attributes:
        caught: the number of the signal that has come; 0: none.
    """

    SIGNALS = STOP_SIGNALS

    def __init__(self) -> None:
        self.caught = 0

    def __enter__(self) -> "StopSignals":
        self._previous = {number: signal.getsignal(number) for number in self.SIGNALS}
        for number, handler in self._previous.items():
            if (number.name, handler) != ("SIGHUP", signal.SIG_IGN):
                signal.signal(number, self._catch)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if self.caught and ranks.is_loss(error):
            signal.raise_signal(self.caught)  # sent by the launcher because a rank was lost

    def agree(self) -> int:
        """Returns the signal that has come to any rank, so that all stop together; 0: none."""
        number = max(ranks.gather(self.caught))
        if number:
            self.caught = number
        return number

    def _catch(self, number: int, frame: object) -> None:
        if ranks.is_launched():
            self.caught = number
            return
        if self.caught:
            os._exit(128 + number)
        self.caught = number
        # Not by print(), which may have been interrupted and is not reentrant.
        with contextlib.suppress(OSError):  # the terminal may be gone
            os.write(2, b"stopping after this update; once more to stop at once\n")

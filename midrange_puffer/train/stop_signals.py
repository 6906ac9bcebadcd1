"""What SIGINT, SIGTERM and SIGHUP do to training: it stops after the update that is under way."""

import contextlib
import os
import signal
from types import TracebackType

from midrange_puffer.errors import UserError
from midrange_puffer.train import ranks


class StoppedError(UserError):
    """A signal has come, and the update that is under way cannot be finished."""


class StopSignals:
    """Turns the first SIGINT, SIGTERM or SIGHUP into a request to stop; the second ends at once.

    SIGHUP says that the terminal is gone; one that is ignored, as by nohup, stays so. A rank's
    launcher may pass one on twice, and kills who takes too long: there others are ignored.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.caught = 0

    def __enter__(self) -> "StopSignals":
        self._previous = {number: signal.getsignal(number) for number in self.SIGNALS}
        for number, handler in self._previous.items():
            if (number, handler) != (signal.SIGHUP, signal.SIG_IGN):
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
            signal.raise_signal(self.caught)  # the launcher's, because of the rank that was lost

    def agree(self) -> int:
        """The signal that has come to any rank, so that all stop together; 0: none has."""
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
        # To stderr; print() may be what was interrupted, and cannot be entered twice.
        with contextlib.suppress(OSError):  # the terminal may be gone
            os.write(2, b"stopping after this update; once more to stop at once\n")

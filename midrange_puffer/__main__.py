"""The `puffer` command; also `midrange`, and `python -m midrange_puffer`."""

import signal
import sys

# Until a mode begins, after seconds of imports, Ctrl-C ends the process by the signal itself: what
# is being imported would make other errors of KeyboardInterrupt.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from midrange_puffer.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""The `puffer` command; also `midrange`, and `python -m midrange_puffer`."""

import signal
import sys

# While modules are imported, which takes seconds, Ctrl-C must end the process by the signal itself:
# the modules that are being imported would turn a KeyboardInterrupt into other errors.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from midrange_puffer.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m midrange_puffer` is the `puffer` command."""

import sys

from midrange_puffer.commands.cli import main

sys.exit(main())

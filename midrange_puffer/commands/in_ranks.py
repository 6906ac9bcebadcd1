"""`--ranks N`: a mode that runs in several processes of this machine, side by side."""

from collections.abc import Sequence

from midrange_puffer.commands.arguments import Parser
from midrange_puffer.config.key import Key
from midrange_puffer.errors import UsageError

MOST_RESTARTS = 1000


def run_in_ranks(mode: str, argv: Sequence[str]) -> int | None:
    """Run a mode in ranks, if --ranks is given.

    Args:
        argv: the words after the environment's name.

    Returns:
        The exit status; None: --ranks is not given, and nothing was done.

    Raises:
        UserError: As `launch` has it, or an option cannot be read.
    """
    parser = Parser(mode, "")
    parser.add_key(Key("ranks", int, "processes side by side", None, 1, 1_000_000))
    parser.add_key(Key("max_restarts", int, "of a job that fails", None, 0, MOST_RESTARTS))
    options, words = parser.read_known(argv)
    if options.ranks is None:
        if options.max_restarts is not None:
            raise UsageError(f"--max-restarts = {options.max_restarts}: is for --ranks; give both")
        return None
    from midrange_puffer.train.launcher import launch

    return launch([mode, "midrange", *words], options.ranks, options.max_restarts or 0)

"""What `puffer panel midrange` takes."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from midrange_puffer.commands.arguments import MODEL_FILES, Parser, find_opponent, threads_of
from midrange_puffer.commands.options import exploit
from midrange_puffer.config.key import Key
from midrange_puffer.contest.panel import EPISODES, SEED, check_episodes
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.policies.mix import MODEL, file_of, kind_of
from midrange_puffer.policies.models import require_onnx


def read(argv: Sequence[str]) -> argparse.Namespace:
    """Read and check the words after `puffer panel midrange`.

    Returns:
        The options, with the `candidate`, as `contestants.load_contestant` takes it, its file
        as `model` if it is one, and with the options of its exploiters in `exploit`, or None.

    Raises:
        UserError: Something cannot be done.
    """
    options = parser().read(argv)
    if len(options.files) != 1:
        given = ", ".join(options.files) or "none"
        raise UsageError(f"command line: FILE: {given}: the panel takes one policy at a time")
    require_onnx("onnx", "onnxruntime")
    options.threads = threads_of(options)
    options.candidate = find_opponent(options.files[0], options.data_dir, argument="FILE")
    is_model = kind_of(options.candidate) == MODEL
    options.model = file_of(options.candidate) if is_model else None
    if options.out and not options.exploit:
        raise UsageError("command line: --out: is the picture of --exploit, which is not given")
    options.exploit = _exploit(options) if options.exploit else None
    if options.replay_dir:
        open_folder(Path(options.replay_dir))
    return options


def _exploit(options: argparse.Namespace) -> argparse.Namespace:
    """What the exploiters of the candidate are trained by.

    Raises:
        UserError: It has none.
    """
    if options.model is None:
        raise UsageError(
            f"command line: --exploit: {options.files[0]}: is no model; exploiters are trained "
            f"against one model's file, not against a function, a pilot or a mix"
        )
    if options.greedy:
        raise UsageError(
            "command line: --exploit: not with --greedy: exploiters are trained and measured "
            "against actions drawn from the policy"
        )
    return exploit.of_panel(options, options.model)


def parser() -> Parser:
    """The options of this mode."""
    parser = Parser(
        "panel",
        "Test a policy by a fixed panel: the scripted pilots, wide families of them, and frozen "
        "networks. Its figures can be quoted, with the panel's version and the seed. A model's "
        "game is the one that it was trained for. The pilots are those of the parameter table.",
    )
    parser.add_files(
        "files",
        f"the policy: {MODEL_FILES}; a run, as in --load-model-path of eval; a function of your "
        "own: module:name, file.py:name; a pilot; or a mix of these",
    )
    parser.add_key(
        Key("episodes", int, "engagements with each row", EPISODES, 2, 1_000_000,
            check=check_episodes)
    )  # fmt: skip
    parser.add_key(
        Key("seed", int, "seed of the starts, the actions and the wide families. The public panel "
            f"is of {SEED}; another one may be kept secret", SEED, 0, 2**63 - 1)
    )  # fmt: skip
    parser.add_key(Key("greedy", bool, "take the likeliest action instead of drawing one"))
    parser.add_key(
        Key("replay_dir", str, "also keep a replay of each row in this folder: an engagement that "
            "was lost, or else one in which a missile passed nearest", None)
    )  # fmt: skip
    parser.add_key(
        Key("exploit", bool, "then train exploiters of the policy, as `puffer exploit` does, and "
            "report how fast they learn to beat it; --budget, --start, --seeds and --out are of "
            "these")
    )  # fmt: skip
    exploit.add_training(parser)
    parser.add_threads()
    parser.add_json()
    parser.add_data_dir()
    parser.add_policy_names()
    parser.add_game()
    return parser

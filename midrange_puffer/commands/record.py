"""`puffer record midrange`: engagements as a Minari dataset, for imitation and offline learning."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option
from midrange_puffer.commands.models import (
    OPPONENT,
    find_champions,
    find_opponent,
    load_models,
    load_opponent,
    resolve_game,
    threads_of,
)
from midrange_puffer.commands.progress import progress_bar
from midrange_puffer.errors import UsageError, require
from midrange_puffer.game.parameters import PILOTS, SEATS, SELF
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import MODEL, file_of, kind_of, parse_mix, title
from midrange_puffer.policies.models import CHAMPION

if TYPE_CHECKING:
    from midrange_puffer.replays.dataset import Plan

BOTH = "both"
DESCRIPTION = (
    "Write engagements as a Minari dataset. An episode is one fighter of one engagement: "
    "observations, actions, rewards, terminations, truncations, and the truth as infos. Minari "
    "loads it by its name; MINARI_DATASETS_PATH is the folder of all datasets."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode; `red` and `blue` as `load_opponent` takes them."""

    dataset: str = option.value("name of the new dataset: NAME-vNUMBER or FOLDER/NAME-vNUMBER")
    red: str = option.value(f"who flies red: {OPPONENT}", CHAMPION)
    blue: str = option.value("who flies blue, as --red", ",".join(PILOTS))
    seat: str = option.value(
        "side whose fighters become episodes", SEATS[0], choices=(*SEATS, BOTH)
    )
    episodes: int = option.value("engagements to fly", 1000, 1, 2_000_000)
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    seed: int = option.seed()
    greedy: bool = option.greedy()
    threads: int | str = option.threads()
    game: dict[str, int | float] = option.game()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer record midrange`."""
    options = option.Parser("record", DESCRIPTION, Options).read(argv)
    require("datasets need", "minari", "h5py", "PIL")
    from midrange_puffer.replays.dataset import check_new

    threads_of(options.threads)
    try:
        check_new(options.dataset)
    except ValueError as error:
        raise UsageError(f"command line: --dataset = {options.dataset}: {error}") from None
    red = find_opponent(options.red, options.data_dir)
    blue = red if options.blue == SELF else find_opponent(options.blue, options.data_dir)
    if red == SELF:
        raise UsageError(f"command line: --red = {SELF}: is for --blue, and means the same as red")
    red, blue = find_champions([red, blue], options.game, options.policy_name)
    return replace(options, red=red, blue=blue)


def main(options: Options) -> int:
    """Records the engagements; returns the exit status."""
    import torch

    from midrange_puffer.replays.dataset import record

    torch.set_num_threads(1)  # small batches are slower with more
    plan, began = make_plan(options), time.monotonic()
    with progress_bar("engagements", options.episodes) as advance:
        dataset = record(options.dataset, plan, advance)
    seconds = time.monotonic() - began
    steps, size = dataset.total_steps, dataset.storage.get_size()
    print(
        f"{shown(options.dataset)}: {len(dataset)} episodes, {steps} decisions, "
        f"{size:.1f} MB, {seconds:.0f} s ({steps / seconds:,.0f} decisions/s)\n"
        f"in {shown(str(dataset.storage.data_path))}"
    )
    return 0


def make_plan(options: Options) -> "Plan":
    """Loads the contestants and the game that the policies among them were trained for."""
    from midrange_puffer.replays.dataset import Plan

    texts = (options.red, options.blue)
    models = {n: file_of(n) for text in texts for n in parse_mix(text) if kind_of(n) == MODEL}
    parameters: dict[str, Any] = resolve_game(options.game)
    if models:
        _, parameters = load_models(list(models.values()), options.game, options.policy_name)
    red = load_opponent(options.red)
    return Plan(
        contestants=(red, red if options.blue == options.red else load_opponent(options.blue)),
        names=(title(options.red), title(options.blue)),
        seats=tuple(range(2)) if options.seat == BOTH else (SEATS.index(options.seat),),
        engagements=options.episodes,
        seed=options.seed,
        greedy=options.greedy,
        threads=threads_of(options.threads),
        parameters=parameters,
    )

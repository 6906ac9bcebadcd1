"""`puffer average midrange`: one policy from several checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from midrange_puffer.commands import option
from midrange_puffer.commands.models import load_models
from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.names import shown
from midrange_puffer.policies.models import MODELS, check_is_model, path_of
from midrange_puffer.train import run_folder

MODEL = ".pt"  # the suffix of a model file


DESCRIPTION = (
    "Make one policy of several checkpoints of a run: the mean of their weights. It plays as "
    "well as they do, and is harder to exploit than any of them."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the files of the `models`."""

    files: tuple[str, ...] = option.files(f"models: {option.MODEL_FILES}")
    run: str | None = option.value("a run: its folder, its name or latest", None)
    last: int = option.value("number of the run's last checkpoints to average", 20, 2, 10_000)
    out: str = option.output(f"the file to write, *{MODEL}", MODEL)
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    models: list[Path] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer average midrange`."""
    options = option.Parser("average", DESCRIPTION, Options).read(argv)
    paths = [path_of(file) for file in options.files]
    if options.run:
        folder = run_folder.find_run(options.run, options.data_dir)
        paths += sorted(folder.glob(MODELS))[-options.last :]
    if len(paths) < 2:
        raise UsageError("an average needs two models: a run, or their files")
    for path in paths:
        check_is_model(path)
        if path.suffix == EXPORTED:
            raise UsageError(f"{path}: is exported: its weights are in the model it was made from")
    return replace(options, models=paths)


def main(options: Options) -> int:
    """Writes the average; returns the exit status."""
    from midrange_puffer.policies.loading import average
    from midrange_puffer.policies.model_file import write_model

    paths, out = options.models, Path(options.out)
    models, _ = load_models(paths, {}, options.policy_name)
    write_model(out, *average(paths, models))
    print(
        f"{shown(out)}: the average of {len(paths)} models, from {shown(paths[0])} to "
        f"{shown(paths[-1])}"
    )
    return 0

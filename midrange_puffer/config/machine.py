"""What a run may use of a machine, and what "auto" makes of that."""

from dataclasses import dataclass

from midrange_puffer.config.reading import Config, ConfigError, run_configs
from midrange_puffer.game.parameters import divide

# Workers busy-wait, so they get cores of their own, and the learner keeps these: on a GPU the one
# that feeds it, on the CPU as many as a small network makes use of.
LEARNER_CORES = {"gpu": 1, "cpu": 4}


@dataclass(frozen=True)
class Machine:
    """What a run finds where it runs.

    Attributes:
        cores: physical cores that this process may use.
        physical_cores: those of the machine.
        gpus: the names of its CUDA devices.
        has_mps: whether it has Apple's GPU.
        ranks: the learners of the job, side by side under torchrun.
        ranks_here: those of them that share this machine.
        is_launched: whether torchrun has launched this process, be it as the only rank.
    """

    cores: int
    physical_cores: int
    gpus: tuple[str, ...] = ()
    has_mps: bool = False
    ranks: int = 1
    ranks_here: int = 1
    is_launched: bool = False


def choose_device(wanted: str, machine: Machine) -> tuple[str, str]:
    """Return (device, reason) for a value of train.device.

    Raises:
        ConfigError: The device is not there, or not for each rank.
    """
    if wanted == "auto":
        device, reason = ("cuda", machine.gpus[0]) if machine.gpus else ("cpu", "no CUDA device")
    else:
        device, reason = wanted, "as configured"
    kind, _, index = device.partition(":")
    if kind == "cuda" and int(index or 0) >= len(machine.gpus):
        raise ConfigError(
            f"train.device = {wanted}: {len(machine.gpus)} CUDA devices found; use auto or cpu"
        )
    if kind == "mps" and not machine.has_mps:
        raise ConfigError("train.device = mps: not available here; use auto or cpu")
    if machine.ranks > 1 and device not in ("cpu", "cuda"):
        raise ConfigError(f"train.device = {device}: ranks learn on cuda, one each, or on the cpu")
    if machine.ranks > 1 and device == "cuda" and machine.ranks_here > len(machine.gpus):
        raise ConfigError(
            f"train.device = cuda: {machine.ranks_here} ranks on this machine, which has "
            f"{len(machine.gpus)} CUDA devices; use a smaller torchrun --nproc-per-node"
        )
    return device, reason


def choose_vec(config: Config, machine: Machine) -> str:
    """Replace every "auto" of [vec] in `config` and return the reason in words.

    Where vec.num_envs is auto, env.num_envs is divided among the workers, so that the learning
    problem is the same on every machine. train.device must be settled.

    Raises:
        ConfigError: The numbers do not fit each other or the machine.
    """
    vec = config["vec"]
    learner = LEARNER_CORES["cpu" if config["train"]["device"] == "cpu" else "gpu"]
    spare = machine.cores - learner
    reason = "as configured"
    if vec["backend"] == "auto":
        vec["backend"] = "Multiprocessing" if spare >= 2 else "Serial"
        reason = f"{max(spare, 0)} of {machine.cores} cores to spare, the learner uses {learner}"
    if vec["backend"] == "Multiprocessing":
        _divide_among_workers(config, machine, spare)
        return reason
    vec.update(num_workers="auto", batch_size="auto")
    if vec["num_envs"] == "auto":
        vec["num_envs"] = 1
    if vec["backend"] == "PufferEnv" and vec["num_envs"] != 1:
        raise ConfigError(f"vec.num_envs = {vec['num_envs']}: PufferEnv steps one instance")
    return reason


def _divide_among_workers(config: Config, machine: Machine, spare: int) -> None:
    vec, env = config["vec"], config["env"]
    workers = vec["num_workers"]
    if vec["num_envs"] == "auto":
        if workers == "auto":
            even = [n for n in range(2, max(spare, 2) + 1, 2) if is_divisible(config, n)]
            workers = max(even, default=1)
        if env["num_envs"] % workers:
            raise ConfigError(
                f"env.num_envs = {env['num_envs']}: cannot be divided among vec.num_workers = "
                f"{workers}"
            )
        vec["num_envs"] = workers
        env["num_envs"] //= workers
    if workers == "auto":
        workers = vec["num_envs"]
    # PufferLib would give the second instance of one worker and the first of the next one seed.
    if workers != vec["num_envs"]:
        raise ConfigError(
            f"vec.num_envs = {vec['num_envs']}: must equal vec.num_workers = {workers}; one "
            f"instance steps all engagements of a worker, so raise env.num_envs instead"
        )
    if workers > machine.physical_cores:
        raise ConfigError(
            f"vec.num_workers = {workers}: there are {machine.physical_cores} physical cores"
        )
    batch = max(workers // 2, 1) if vec["batch_size"] == "auto" else vec["batch_size"]
    if workers % batch:
        raise ConfigError(f"vec.batch_size = {batch}: must divide vec.num_envs = {workers}")
    vec.update(num_workers=workers, batch_size=batch)


def is_divisible(config: Config, workers: int) -> bool:
    """Whether workers have as many engagements of each group as one would, in all stages, too."""
    for env in (settings["env"] for settings in (config, *run_configs(config))):
        num_envs, opponent = env["num_envs"], env["opponent"]
        try:
            whole, part = divide(num_envs, opponent), divide(num_envs // workers, opponent)
        except ValueError:  # fewer engagements than groups
            return False
        if whole != {group: count * workers for group, count in part.items()}:
            return False
    return True


def choose_threads(config: Config, cores: int) -> None:
    """Set train.torch_threads if "auto": off the cores of the workers, which never sleep."""
    if config["train"]["torch_threads"] != "auto":
        return
    workers = config["vec"]["num_workers"]
    left = cores - (0 if workers == "auto" else workers)
    config["train"]["torch_threads"] = max(left, 1) if cores > 2 else 1

"""What a run may use of a machine, and what "auto" makes of that."""

from dataclasses import dataclass

from midrange_puffer._learner import MAX_WIDTH, WIDTH_UNIT
from midrange_puffer.config.configuration import Config, ConfigError, run_configs
from midrange_puffer.game.parameters import is_team
from midrange_puffer.policies.mix import divide
from midrange_puffer.policies.own_code import PACKAGE, short_name

# Workers busy-wait, so they get cores of their own, and the learner keeps these: on a GPU the one
# that feeds it, on the CPU as many as a small network makes use of.
LEARNER_CORES = {"gpu": 1, "cpu": 4}
# The native engine sums a minibatch in so many parts: more threads would find nothing to do.
# What only flies engagements takes as many where nobody asks for more.
MOST_THREADS = 16


@dataclass(frozen=True)
class Machine:
    """What a run finds where it runs.

    Attributes:
        cores: physical cores that this process may use.
        physical_cores: those of the machine.
        gpus: the names of its CUDA devices.
        has_mps: whether it has Apple's GPU.
        ranks: the learners of the job, side by side by --ranks or torchrun.
        ranks_here: those of them that share this machine.
        is_launched: whether this process is a rank, be it the only one.
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
            f"{len(machine.gpus)} CUDA devices; use fewer ranks"
        )
    return device, reason


def choose_vec(config: Config, machine: Machine) -> tuple[Config, str]:
    """Replace every "auto" of [vec]; return the new configuration and the reason in words.

    Where vec.num_envs is auto, env.num_envs is divided among the workers, so that the learning
    problem is the same on every machine. train.device must be settled.

    Raises:
        ConfigError: The numbers do not fit each other or the machine.
    """
    vec = config["vec"]
    learner = LEARNER_CORES["cpu" if config["train"]["device"] == "cpu" else "gpu"]
    spare = machine.cores - learner
    backend, reason = vec["backend"], "as configured"
    if backend == "auto":
        if config["train"]["engine"] == "native":
            backend, reason = "Serial", "the learner's threads step them"
        else:
            backend = "Multiprocessing" if spare >= 2 else "Serial"
            spared = f"{max(spare, 0)} of {machine.cores} cores to spare"
            reason = f"{spared}, the learner uses {learner}"
        config = config.replaced("vec", reason, backend=backend)
    if backend == "Multiprocessing":
        return _divide_among_workers(config, machine, spare), reason
    num_envs = 1 if vec["num_envs"] == "auto" else vec["num_envs"]
    if backend == "PufferEnv" and num_envs != 1:
        raise ConfigError(f"vec.num_envs = {num_envs}: PufferEnv steps one instance")
    alone = {"num_workers": "auto", "batch_size": "auto", "num_envs": num_envs}
    return config.replaced("vec", f"vec.backend is {backend}", **alone), reason


def _divide_among_workers(config: Config, machine: Machine, spare: int) -> Config:
    vec = config["vec"]
    workers, num_envs = vec["num_workers"], vec["num_envs"]
    if num_envs == "auto":
        if workers == "auto":
            even = [n for n in range(2, max(spare, 2) + 1, 2) if is_divisible(config, n)]
            workers = max(even, default=1)
        num_envs = workers
        config = share_out(config, "vec.num_workers", num_envs)
    if workers == "auto":
        workers = num_envs
    # PufferLib would give the second instance of one worker and the first of the next one seed.
    if workers != num_envs:
        raise ConfigError(
            f"vec.num_envs = {num_envs}: must equal vec.num_workers = {workers}; one "
            f"instance steps all engagements of a worker, so raise env.num_envs instead"
        )
    if workers > machine.physical_cores:
        raise ConfigError(
            f"vec.num_workers = {workers}: there are {machine.physical_cores} physical cores"
        )
    batch = max(workers // 2, 1) if vec["batch_size"] == "auto" else vec["batch_size"]
    if workers % batch:
        raise ConfigError(f"vec.batch_size = {batch}: must divide vec.num_envs = {workers}")
    each = f"one instance a worker, {machine.cores} cores"
    return config.replaced("vec", each, num_envs=num_envs, num_workers=workers, batch_size=batch)


def share_out(config: Config, by: str, instances: int) -> Config:
    """Divide the engagements of env.num_envs, of all instances, among so many.

    Args:
        by: the key that says how many instances there are.

    Raises:
        ConfigError: They cannot be divided evenly.
    """
    engagements = config["env"]["num_envs"]
    if engagements % instances:
        raise ConfigError(
            f"env.num_envs = {engagements}: cannot be divided among {by} = {instances}"
        )
    reason = f"{engagements} engagements divided among {instances} instances"
    return config.replaced("env", reason, num_envs=engagements // instances)


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


def choose_engine(config: Config) -> tuple[Config, str]:
    """Settle train.engine; return the new configuration and the reason in words.

    Raises:
        ConfigError: The native engine cannot serve this configuration.
    """
    wanted, reason = config["train"]["engine"], _reason_against_native(config)
    if wanted == "native" and reason:
        raise ConfigError(f"train.engine = native: {reason}; use auto or torch")
    if wanted != "auto":
        return config, "as configured"
    engine, reason = ("torch", reason) if reason else ("native", "an MLP in float32 on the CPU")
    return config.replaced("train", reason, engine=engine), reason


def _reason_against_native(config: Config) -> str | None:
    """What the native engine cannot do of a configuration, in words; None: it can do all."""
    train, policy_name = config["train"], config["base"]["policy_name"]
    if policy_name != PACKAGE:
        return f"it computes the package's MLP, not {short_name(policy_name)}"
    if is_team(config["env"]) and config["policy"]["entity_size"] % WIDTH_UNIT:
        return (
            f"policy.entity_size = {config['policy']['entity_size']} is no multiple of {WIDTH_UNIT}"
        )
    hidden_size = config["policy"]["hidden_size"]
    if train["device"] != "cpu":
        return f"it computes on the CPU, not on {train['device']}"
    if config["base"]["rnn_name"] is not None:
        return f"it has no memory, which base.rnn_name = {config['base']['rnn_name']} asks for"
    if hidden_size % WIDTH_UNIT:
        near = max(round(hidden_size / WIDTH_UNIT), 1) * WIDTH_UNIT
        return f"policy.hidden_size = {hidden_size} is no multiple of {WIDTH_UNIT}, as {near} is"
    if hidden_size > MAX_WIDTH:
        return f"policy.hidden_size = {hidden_size} is more than {MAX_WIDTH}: torch is faster there"
    return "train.compile is for torch" if train["compile"] else None


def check_threads(config: Config, machine: Machine) -> None:
    """Raise ConfigError where train.threads is more than there are cores."""
    threads = config["train"]["threads"]
    if threads != "auto" and threads > machine.physical_cores:
        raise ConfigError(
            f"train.threads = {threads}: there are {machine.physical_cores} physical cores; use "
            f"auto or at most {machine.physical_cores}"
        )


def choose_threads(config: Config, cores: int) -> Config:
    """Set train.threads and train.torch_threads if "auto".

    They keep off the cores of the workers, which never sleep.
    """
    train, workers = config["train"], config["vec"]["num_workers"]
    left = max(cores - (0 if workers == "auto" else workers), 1)
    is_native = train["engine"] == "native"
    found = {
        "threads": min(left, MOST_THREADS) if is_native else 1,
        "torch_threads": 1 if is_native or cores <= 2 else left,
    }
    chosen = {name: value for name, value in found.items() if train[name] == "auto"}
    return config.replaced("train", f"{cores} cores", **chosen)

"""The means of a machine, and the choices for "auto" by them: device, vec, cluster, threads."""

from dataclasses import dataclass

from midrange_puffer._learner import MAX_WIDTH, WIDTH_UNIT
from midrange_puffer.config.configuration import Config, ConfigError, run_configs
from midrange_puffer.config.key import Value
from midrange_puffer.config.sections import ClusterConfig, PolicyConfig
from midrange_puffer.game.parameters import is_team
from midrange_puffer.policies.mix import divide
from midrange_puffer.policies.own_code import PACKAGE, short_name

# Cores that the learner keeps beside workers, which step while it acts for others: on a GPU the
# one that feeds it, on the CPU as many as a small network can use.
LEARNER_CORES = {"gpu": 1, "cpu": 4}
# The native engine sums a minibatch in this many parts, so that more threads would be idle.
# It is also the default of commands that only fly engagements.
MOST_THREADS = 16
# Up to this width the native engine on a few cores outruns torch on a GPU, which mostly starts
# kernels: docs/scaling.md has figures of both.
WIDEST_ON_CPU = 128


@dataclass(frozen=True)
class Machine:
    """The means of a run on the machine where it runs.

    Attributes:
        cores: Physical cores that this process may use.
        physical_cores: Physical cores of the machine.
        gpus: Names of the CUDA devices.
        has_mps: True if the machine has Apple's GPU.
        ranks: Number of learners of the job, side by side by --ranks or torchrun.
        ranks_here: Number of those that share this machine.
        is_launched: True if this process is a rank, even if it is the only one.
    """

    cores: int
    physical_cores: int
    gpus: tuple[str, ...] = ()
    has_mps: bool = False
    ranks: int = 1
    ranks_here: int = 1
    is_launched: bool = False


def choose_device(config: Config, machine: Machine) -> tuple[Config, str]:
    """Settles train.device; returns the new configuration and the reason in words.

    Raises:
        ConfigError: The device is not there, or not for each rank.
    """
    wanted, reason = config.train.device, "as configured"
    device = wanted
    if wanted == "auto":
        device, reason = _best_device(config, machine)
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
    return config.replaced("train", reason, device=device), reason


def _best_device(config: Config, machine: Machine) -> tuple[str, str]:
    if not machine.gpus:
        return "cpu", "no CUDA device"
    train, policy = config.train, config.policy
    if train.engine == "native":
        return "cpu", "train.engine is native"
    is_for_gpu = train.precision != "float32" or train.pin_memory or train.cpu_offload
    on_cpu = config.replaced("train", "", device="cpu")
    is_native = train.engine == "auto" and not _reason_against_native(on_cpu)
    is_small = isinstance(policy, PolicyConfig) and policy.hidden_size <= WIDEST_ON_CPU
    if is_native and is_small and not is_for_gpu:
        return "cpu", f"faster than a GPU up to policy.hidden_size = {WIDEST_ON_CPU}"
    return "cuda", machine.gpus[0]


def choose_vec(config: Config, machine: Machine) -> tuple[Config, str]:
    """Replaces every "auto" of [vec]; returns the new configuration and the reason in words.

    Where vec.num_envs is auto, env.num_envs is divided among the workers, so that the learning
    problem is the same on every machine. train.device must be settled.

    Raises:
        ConfigError: The numbers do not fit each other or the machine.
    """
    learner = LEARNER_CORES["cpu" if config.train.device == "cpu" else "gpu"]
    spare = machine.cores - learner
    backend, reason = config.vec.backend, "as configured"
    if backend == "auto":
        if config.train.engine == "native":
            backend, reason = "Serial", "the learner's threads step them"
        else:
            backend = "Multiprocessing" if spare >= 2 else "Serial"
            spared = f"{max(spare, 0)} of {machine.cores} cores to spare"
            reason = f"{spared}, the learner uses {learner}"
        config = config.replaced("vec", reason, backend=backend)
    if backend == "Multiprocessing":
        return _divide_among_workers(config, machine, spare), reason
    num_envs = 1 if config.vec.num_envs == "auto" else config.vec.num_envs
    if backend == "PufferEnv" and num_envs != 1:
        raise ConfigError(f"vec.num_envs = {num_envs}: PufferEnv steps one instance")
    alone: dict[str, Value] = {"num_workers": "auto", "batch_size": "auto", "num_envs": num_envs}
    return config.replaced("vec", f"vec.backend is {backend}", **alone), reason


def _divide_among_workers(config: Config, machine: Machine, spare: int) -> Config:
    workers, num_envs = config.vec.num_workers, config.vec.num_envs
    if num_envs == "auto":
        if workers == "auto":
            even = [n for n in range(2, max(spare, 2) + 1, 2) if is_divisible(config, n)]
            workers = max(even, default=1)
        num_envs = workers
        config = share_out(config, "vec.num_workers", num_envs)
    if workers == "auto":
        workers = num_envs
    if num_envs % workers:
        raise ConfigError(
            f"vec.num_envs = {num_envs}: must be a multiple of vec.num_workers = {workers}"
        )
    if workers > machine.physical_cores:
        raise ConfigError(
            f"vec.num_workers = {workers}: there are {machine.physical_cores} physical cores"
        )
    batch, share = config.vec.batch_size, num_envs // workers
    if batch == "auto":
        batch = max(n for n in range(1, max(workers // 2, 1) + 1) if workers % n == 0) * share
    if num_envs % batch or batch % share:
        raise ConfigError(
            f"vec.batch_size = {batch}: must divide vec.num_envs = {num_envs}, and be a multiple "
            f"of a worker's instances, {share}"
        )
    each = f"{share} instance{'s' * (share > 1)} a worker, {machine.cores} cores"
    return config.replaced("vec", each, num_envs=num_envs, num_workers=workers, batch_size=batch)


def share_out(config: Config, by: str, instances: int) -> Config:
    """Divides the engagements of env.num_envs evenly among `instances` instances.

    Args:
        by: The key that gives the number of instances.

    Raises:
        ConfigError: They cannot be divided evenly.
    """
    engagements = config.env.num_envs
    if engagements % instances:
        raise ConfigError(
            f"env.num_envs = {engagements}: cannot be divided among {by} = {instances}"
        )
    reason = f"{engagements} engagements divided among {instances} instances"
    return config.replaced("env", reason, num_envs=engagements // instances)


def is_divisible(config: Config, workers: int) -> bool:
    """True if `workers` divides each group of engagements evenly, also in all stages."""
    for env in (part.env for part in (config, *run_configs(config))):
        num_envs, opponent = env.num_envs, env.opponent
        try:
            whole, part = divide(num_envs, opponent), divide(num_envs // workers, opponent)
        except ValueError:  # fewer engagements than groups
            return False
        if whole != {group: count * workers for group, count in part.items()}:
            return False
    return True


def choose_engine(config: Config) -> tuple[Config, str]:
    """Settles train.engine; returns the new configuration and the reason in words.

    Raises:
        ConfigError: The native engine cannot serve this configuration.
    """
    wanted, reason = config.train.engine, _reason_against_native(config)
    if wanted == "native" and reason:
        raise ConfigError(f"train.engine = native: {reason}; use auto or torch")
    if wanted != "auto":
        return config, "as configured"
    engine, reason = ("torch", reason) if reason else ("native", "an MLP in float32 on the CPU")
    return config.replaced("train", reason, engine=engine), reason


def _reason_against_native(config: Config) -> str | None:
    """Returns why the native engine cannot serve a configuration, in words; None if it can."""
    base, policy, train = config.base, config.policy, config.train
    if base.policy_name != PACKAGE or not isinstance(policy, PolicyConfig):
        return f"it computes the package's MLP, not {short_name(base.policy_name)}"
    if is_team(config.env) and policy.entity_size % WIDTH_UNIT:
        return f"policy.entity_size = {policy.entity_size} is no multiple of {WIDTH_UNIT}"
    hidden_size = policy.hidden_size
    if train.device != "cpu":
        return f"it computes on the CPU, not on {train.device}"
    if base.rnn_name is not None:
        return f"it has no memory, which base.rnn_name = {base.rnn_name} asks for"
    if hidden_size % WIDTH_UNIT:
        near = max(round(hidden_size / WIDTH_UNIT), 1) * WIDTH_UNIT
        return f"policy.hidden_size = {hidden_size} is no multiple of {WIDTH_UNIT}, as {near} is"
    if hidden_size > MAX_WIDTH:
        return f"policy.hidden_size = {hidden_size} is more than {MAX_WIDTH}: torch is faster there"
    return "train.compile is for torch" if train.compile else None


def check_threads(config: Config, machine: Machine) -> None:
    """Raises ConfigError if train.threads exceeds the number of cores."""
    threads = config.train.threads
    if threads != "auto" and threads > machine.physical_cores:
        raise ConfigError(
            f"train.threads = {threads}: there are {machine.physical_cores} physical cores; use "
            f"auto or at most {machine.physical_cores}"
        )


def choose_threads(config: Config, cores: int) -> Config:
    """Sets train.threads and train.torch_threads if "auto".

    The native engine learns on all cores, since workers sleep meanwhile. Torch leaves out those of
    the workers.
    """
    workers = config.vec.num_workers
    left = max(cores - (0 if workers == "auto" else workers), 1)
    is_native = config.train.engine == "native"
    counts = {
        "threads": min(cores, MOST_THREADS) if is_native else 1,
        "torch_threads": 1 if is_native or cores <= 2 else left,
    }
    chosen = {name: count for name, count in counts.items() if config.train[name] == "auto"}
    return config.replaced("train", f"{cores} cores", **chosen)


def choose_cluster(config: Config, machine: Machine) -> Config:
    """Replaces every "auto" of [cluster] and [vec], for the learner's machine.

    vec.num_envs is the number of rollouts in an update, each of one instance. Where it is auto,
    env.num_envs is divided among at most as many as cluster.max_collectors, so that neither the
    learning problem nor an update depends on the number of collectors at work.

    Raises:
        ConfigError: The settings do not fit each other.
    """
    _check_cluster(config, machine)
    num_envs, most = config.vec.num_envs, config.cluster.max_collectors
    is_blocking = config.cluster.sync == "blocking"
    if most == "auto":
        most = max(machine.cores - (not is_blocking), 1)
        config = config.replaced("cluster", f"{machine.cores} cores", max_collectors=most)
    if num_envs == "auto":
        counts = range(1, min(most, config.env.num_envs) + 1)
        fitting = (count for count in counts if is_divisible(config, count))
        num_envs = max(fitting, default=1)  # numbers that do not fit at all are refused later
        config = share_out(config, "vec.num_envs", num_envs)
    rollouts: dict[str, Value] = {
        "backend": "Serial", "num_workers": "auto", "batch_size": "auto", "num_envs": num_envs,
    }  # fmt: skip
    config = config.replaced("vec", "a rollout a collector", **rollouts)
    is_shared = config.cluster.address is None and not is_blocking
    return choose_threads(config, max(machine.cores - most * is_shared, 1))


def updates_ahead(cluster: ClusterConfig, count: int) -> int:
    """Returns for how many updates, of `count` rollouts each, experience is gathered ahead at most.

    The weights are sent at an interval, so that they are older when they are used last.
    """
    if cluster.sync == "blocking":
        return 0
    enough = -(-cluster.max_collectors // count)
    return min(enough, cluster.max_policy_lag - cluster.weight_sync_interval + 1)


def _check_cluster(config: Config, machine: Machine) -> None:
    cluster, vec = config.cluster, config.vec
    interval, lag = cluster.weight_sync_interval, cluster.max_policy_lag
    if machine.is_launched:
        raise ConfigError("cluster.engine = ray: has one learner; leave --ranks or torchrun out")
    if vec.backend not in ("auto", "Serial"):
        raise ConfigError(
            f"vec.backend = {vec.backend}: collectors step one instance each; use auto with "
            f"cluster.engine = {cluster.engine}"
        )
    if cluster.sync == "blocking" and interval > 1:
        raise ConfigError(
            f"cluster.weight_sync_interval = {interval}: must be 1 where cluster.sync = blocking, "
            f"by which all experience is from the present weights"
        )
    if cluster.sync != "blocking" and interval > lag:
        raise ConfigError(
            f"cluster.weight_sync_interval = {interval}: must be at most cluster.max_policy_lag = "
            f"{lag}, or experience would be too old when it comes"
        )

"""The settings of a run on a cluster, settled and checked."""

from midrange_puffer.config.machine import Machine, choose_threads, is_divisible
from midrange_puffer.config.reading import Config, ConfigError


def choose_cluster(config: Config, machine: Machine) -> None:
    """Replace every "auto" of [cluster] and [vec] in `config`, for the learner's machine.

    vec.num_envs is the number of rollouts in an update, each of one instance, whoever gathers them.
    Where it is auto, env.num_envs is divided among as many as there are collectors at most, so that
    neither the learning problem nor an update depends on how many are at work.

    Raises:
        ConfigError: The settings do not fit each other.
    """
    vec, env, cluster = config["vec"], config["env"], config["cluster"]
    _check(config, machine)
    is_blocking = cluster["sync"] == "blocking"
    if cluster["max_collectors"] == "auto":
        cluster["max_collectors"] = max(machine.cores - (not is_blocking), 1)
    vec.update(backend="Serial", num_workers="auto", batch_size="auto")
    if vec["num_envs"] == "auto":
        most = min(cluster["max_collectors"], env["num_envs"])
        fitting = (n for n in range(1, most + 1) if is_divisible(config, n))
        vec["num_envs"] = max(fitting, default=1)  # what does not fit at all is refused later
        env["num_envs"] //= vec["num_envs"]
    is_shared = cluster["address"] is None and not is_blocking
    choose_threads(config, max(machine.cores - cluster["max_collectors"] * is_shared, 1))


def _check(config: Config, machine: Machine) -> None:
    cluster, vec = config["cluster"], config["vec"]
    interval, lag = cluster["weight_sync_interval"], cluster["max_policy_lag"]
    if machine.is_launched:
        raise ConfigError("cluster.engine = ray: has one learner; start it without torchrun")
    if vec["backend"] not in ("auto", "Serial"):
        raise ConfigError(
            f"vec.backend = {vec['backend']}: collectors step one instance each; use auto with "
            f"cluster.engine = {cluster['engine']}"
        )
    if cluster["sync"] == "blocking" and interval > 1:
        raise ConfigError(
            f"cluster.weight_sync_interval = {interval}: must be 1 where cluster.sync = blocking, "
            f"by which all experience is from the present weights"
        )
    if cluster["sync"] != "blocking" and interval > lag:
        raise ConfigError(
            f"cluster.weight_sync_interval = {interval}: must be at most cluster.max_policy_lag = "
            f"{lag}, or experience would be too old when it comes"
        )

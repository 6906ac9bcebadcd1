"""The settings of a run on a cluster, settled and checked."""

from collections.abc import Mapping

from midrange_puffer.config.configuration import Config, ConfigError
from midrange_puffer.config.machine import Machine, choose_threads, is_divisible, share_out


def choose_cluster(config: Config, machine: Machine) -> Config:
    """Replace every "auto" of [cluster] and [vec], for the learner's machine.

    vec.num_envs is the number of rollouts in an update, each of one instance, whoever gathers them.
    Where it is auto, env.num_envs is divided among as many as there are collectors at most, so that
    neither the learning problem nor an update depends on how many are at work.

    Raises:
        ConfigError: The settings do not fit each other.
    """
    _check(config, machine)
    cluster, num_envs = config["cluster"], config["vec"]["num_envs"]
    is_blocking = cluster["sync"] == "blocking"
    most = cluster["max_collectors"]
    if most == "auto":
        most = max(machine.cores - (not is_blocking), 1)
        config = config.replaced("cluster", f"{machine.cores} cores", max_collectors=most)
    if num_envs == "auto":
        counts = range(1, min(most, config["env"]["num_envs"]) + 1)
        fitting = (count for count in counts if is_divisible(config, count))
        num_envs = max(fitting, default=1)  # what does not fit at all is refused later
        config = share_out(config, "vec.num_envs", num_envs)
    rollouts = {"backend": "Serial", "num_workers": "auto", "batch_size": "auto"}
    config = config.replaced("vec", "a rollout a collector", num_envs=num_envs, **rollouts)
    is_shared = cluster["address"] is None and not is_blocking
    return choose_threads(config, max(machine.cores - most * is_shared, 1))


def updates_ahead(cluster: Mapping[str, object], count: int) -> int:
    """For how many updates of so many rollouts experience is gathered ahead, at most."""
    if cluster["sync"] == "blocking":
        return 0
    enough = -(-cluster["max_collectors"] // count)
    # Weights that are sent only now and then are old when they are first used.
    return min(enough, cluster["max_policy_lag"] - cluster["weight_sync_interval"] + 1)


def _check(config: Config, machine: Machine) -> None:
    cluster, vec = config["cluster"], config["vec"]
    interval, lag = cluster["weight_sync_interval"], cluster["max_policy_lag"]
    if machine.is_launched:
        raise ConfigError("cluster.engine = ray: has one learner; leave --ranks or torchrun out")
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

"""A configuration as this machine runs it: every "auto" replaced, and everything checked."""

import math

from midrange_puffer import ranks
from midrange_puffer.cluster.settings import choose_cluster
from midrange_puffer.config import (
    Config,
    ConfigError,
    check_training,
    run_configs,
    stage_config,
    stage_names,
)
from midrange_puffer.loggers import check_trackers
from midrange_puffer.parameters import POOL, count_agents, parse_opponent
from midrange_puffer.schema import STAGE
from midrange_puffer.vectorize import choose_device, choose_threads, choose_vec, usable_cores

REPLAY_SETS = 10  # in a run, by default


def settle(config: Config) -> None:
    """Replace every "auto" in `config`, say what was chosen, and check that it fits together.

    Raises:
        ConfigError: It does not, or not on this machine.
    """
    check_trackers(config)
    train, vec, env, rnn = (config[section] for section in ("train", "vec", "env", "rnn"))
    train["device"], reason = choose_device(train["device"])
    ranks.check_device(train["device"])
    print(f"device {train['device']} ({reason})")
    _check_computing(config)
    divided = vec["num_envs"] == "auto"
    if config["cluster"]["engine"] is None:
        reason = choose_vec(config, usable_cores())
        batch = "" if vec["batch_size"] == "auto" else f", {vec['batch_size']} of them at a time"
        choose_threads(config, usable_cores())
        where = f"backend {vec['backend']} ({reason}): {vec['num_envs']}"
    else:
        choose_cluster(config, usable_cores())
        cluster, batch = config["cluster"], ""
        where = (
            f"{cluster['engine']}, {cluster['sync']}, at most {cluster['max_collectors']} "
            f"collectors: {vec['num_envs']} rollouts an update"
        )
    print(f"{where} x {env['num_envs']} engagements{batch}; {train['torch_threads']} torch threads")
    for name, size in rnn.items():
        rnn[name] = config["policy"]["hidden_size"] if size == "auto" else size
    _settle_pool(config)
    _check_looks(config)
    for stage in stage_names(config):
        _settle_stage(config, stage, divided)
    agents = _count_agents(config, "[env]")
    if train["batch_size"] == "auto":
        train["batch_size"] = agents * train["bptt_horizon"]
    if train["replay_interval"] == "auto":
        train["replay_interval"] = math.ceil(
            train["total_timesteps"] / (train["batch_size"] * ranks.size()) / REPLAY_SETS
        )
    if not stage_names(config):
        check_training(config, agents)
    if ranks.size() > 1:
        print(f"{ranks.size()} ranks, each with these engagements and a batch of its own")


def _check_computing(config: Config) -> None:
    """Check that the policy can be computed as it is wanted."""
    train, rnn_name = config["train"], config["base"]["rnn_name"]
    if train["precision"] == "bfloat16" and not train["device"].startswith("cuda"):
        raise ConfigError(f"train.precision = bfloat16: needs CUDA, not {train['device']}")
    if train["compile"] and train["compile_fullgraph"] and rnn_name is not None:
        raise ConfigError(
            f"train.compile_fullgraph = True: torch compiles no LSTM, the heart of base.rnn_name = "
            f"{rnn_name}; must be False with train.compile"
        )


def meets_pool(config: Config) -> bool:
    """Whether a run meets the pool, in any stage."""
    return any(POOL in parse_opponent(part["env"]["opponent"]) for part in run_configs(config))


def _settle_pool(config: Config) -> None:
    if meets_pool(config) and not config["pool"]["own"] and not config["pool"]["include"]:
        raise ConfigError(
            "pool.own = False: nobody is in the pool, an opponent of this run; "
            "pool.include must name a model"
        )


def _check_looks(config: Config) -> None:
    """Check that no worker looks at the pool's file while it may be written; see LOOK_INTERVAL."""
    for part in run_configs(config):
        horizon, opponent = part["train"]["bptt_horizon"], part["env"]["opponent"]
        has_workers = part["vec"]["backend"] == "Multiprocessing"
        if horizon % 2 and has_workers and POOL in parse_opponent(opponent):
            raise ConfigError(
                f"train.bptt_horizon = {horizon}: must be even with vec.backend = Multiprocessing "
                f"and env.opponent = {opponent}, or workers may look at the pool while it is "
                f"written, and the run would not repeat itself"
            )


def _settle_stage(config: Config, stage: str, divided: bool) -> None:
    """Settle what a stage changes; `divided`: env.num_envs is shared out among the instances."""
    where, settings = f"[{STAGE}{stage}]", config[STAGE + stage]
    if divided and "env.num_envs" in settings:
        share, rest = divmod(settings["env.num_envs"], config["vec"]["num_envs"])
        if rest:
            raise ConfigError(
                f"{where} env.num_envs = {settings['env.num_envs']}: cannot be divided among "
                f"vec.num_envs = {config['vec']['num_envs']}"
            )
        settings["env.num_envs"] = share
    agents = _count_agents(stage_config(config, stage), where)
    train = stage_config(config, stage)["train"]
    if train["batch_size"] == "auto":
        settings["train.batch_size"] = agents * train["bptt_horizon"]
    try:
        check_training(stage_config(config, stage), agents)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _count_agents(config: Config, where: str) -> int:
    env = config["env"]
    try:
        return config["vec"]["num_envs"] * count_agents(env["num_envs"], env["opponent"])
    except ValueError as error:
        raise ConfigError(f"{where} {error}") from None

"""A configuration as this machine runs it: every "auto" replaced, and everything checked."""

import contextlib
import io
import math
from dataclasses import replace

from midrange_puffer import _core
from midrange_puffer.config.checks import (
    check_agents,
    check_critic,
    check_observations,
    check_sizes,
    check_training,
)
from midrange_puffer.config.configuration import (
    Config,
    ConfigError,
    run_configs,
    stage_config,
    stage_names,
)
from midrange_puffer.config.machine import (
    Machine,
    check_threads,
    choose_cluster,
    choose_device,
    choose_engine,
    choose_threads,
    choose_vec,
)
from midrange_puffer.config.reading import load_config
from midrange_puffer.config.schema import STAGE, game_of
from midrange_puffer.config.sections import AttentionConfig
from midrange_puffer.game.critic_views import SIDE_CRITIC
from midrange_puffer.game.parameters import (
    POOL,
    RADAR,
    SENSOR_PILOTS,
    SUBORDINATE,
    WING_PILOTS,
    blindness,
    has_height,
    is_team,
    observed,
    pilots_of,
)
from midrange_puffer.policies.mix import count_agents, parse_mix
from midrange_puffer.policies.own_code import ATTENTION, PACKAGED

REPLAY_SETS = 10  # in a run, by default


def settle(config: Config, machine: Machine) -> Config:
    """Replaces every "auto" for a machine, prints the choices, and checks the whole.

    Raises:
        ConfigError: It does not fit together, or not on this machine.
    """
    check_threads(config, machine)
    config, reason = choose_device(config, machine)
    print(f"device {config.train.device} ({reason})")
    _check_computing(config)
    config, reason = choose_engine(config)
    divided = config.vec.num_envs == "auto"
    config = _settle_source(config, machine)
    _say_engine(config, reason)
    config = _settle_memory(config)
    config = _settle_observation(config)
    _check_pool(config)
    _check_population(config, machine)
    _check_looks(config)
    check_sizes(config)
    check_observations(config)
    check_agents(config)
    check_critic(config)
    _say_critic(config)
    for stage in stage_names(config):
        config = _settle_stage(config, stage, divided)
    config = _settle_update(config, machine)
    if machine.ranks > 1:
        print(f"{machine.ranks} ranks, each with these engagements and a batch of its own")
    return config


def _settle_source(config: Config, machine: Machine) -> Config:
    """Settles where experience comes from, and prints it."""
    if config.cluster.engine is None:
        config, reason = choose_vec(config, machine)
        config = choose_threads(config, machine.cores)
        vec = config.vec
        batch = "" if vec.batch_size == "auto" else f", {vec.batch_size} of them at a time"
        where = f"backend {vec.backend} ({reason}): {vec.num_envs}"
    else:
        config = choose_cluster(config, machine)
        cluster, batch = config.cluster, ""
        where = (
            f"{cluster.engine}, {cluster.sync}, at most {cluster.max_collectors} "
            f"collectors: {config.vec.num_envs} rollouts an update"
        )
    engagements, threads = config.env.num_envs, config.train.torch_threads
    print(f"{where} x {engagements} engagements{batch}; {threads} torch threads")
    return config


def _say_engine(config: Config, reason: str) -> None:
    train = config.train
    threads = f", threads {train.threads}" if train.engine == "native" else ""
    print(f"engine {train.engine} ({reason}){threads}")


def _say_critic(config: Config) -> None:
    """Prints what a central critic sees where that is less than its name says."""
    if config.train.critic == SIDE_CRITIC and not is_team(config.env):
        print(
            f"critic {SIDE_CRITIC}: one fighter a side, so it sees the agent's own observation, in "
            f"a network of its own"
        )


def _settle_memory(config: Config) -> Config:
    """Gives an LSTM the policy's width where it has none of its own."""
    open_sizes = [name for name, size in config.rnn.items() if size == "auto"]
    hidden = config.policy.get("hidden_size")
    if hidden is None:  # a policy of the user's own
        if config.base.rnn_name is None or not open_sizes:
            return config
        raise ConfigError(
            f"rnn.{open_sizes[0]} = auto: {config.base.policy_name} has no argument "
            f"hidden_size, by which it would be chosen; must be an integer"
        )
    sizes = dict.fromkeys(open_sizes, hidden)
    config = config.replaced("rnn", f"policy.hidden_size is {hidden}", **sizes)
    if config.base.rnn_name is not None and config.base.policy_name in PACKAGED:
        _check_memory(config, hidden)
    return config


def _check_memory(config: Config, hidden: object) -> None:
    """Checks that an LSTM fits between the layers of the package's policy."""
    for name, size in config.rnn.items():
        if size != hidden:
            raise ConfigError(
                f"rnn.{name} = {size}: must be {hidden}, as policy.hidden_size is, or auto: the "
                f"LSTM stands between the layers of the policy"
            )


def _settle_observation(config: Config) -> Config:
    """Settles the observation: with sensors, it is what these show."""
    env = config.env
    try:
        observation = observed(env.observation, env)
    except ValueError as error:
        raise ConfigError(f"[env] {error}") from None
    for name in parse_mix(env.opponent):
        if name in SENSOR_PILOTS and name not in pilots_of(env):
            in_teams = " and a side of more than one" * (name in WING_PILOTS)
            raise ConfigError(f"env.opponent = {name}: needs env.sensing = {RADAR}{in_teams}")
    if reason := blindness(env):
        print(f"no radar will have a track: {reason}")
    observation = _core.parts_of(observation)[0]  # what a mission adds follows from the game
    if observation == env.observation or is_team(env) or has_height(env):
        return config
    return config.replaced("env", f"sensing is {env.sensing}", observation=observation)


def _settle_update(config: Config, machine: Machine) -> Config:
    """Settles and checks the size of an update."""
    agents = _count_agents(config, "[env]")
    config = _settle_batch(config, agents)
    train = config.train
    if train.replay_interval == "auto" and config.env.agents == SUBORDINATE:
        reason = f"agents = {SUBORDINATE}, which flies by orders only"
        config = config.replaced("train", reason, replay_interval=0)
    elif train.replay_interval == "auto":
        updates = train.total_timesteps / (train.batch_size * machine.ranks)
        reason = f"{REPLAY_SETS} sets of replays in {updates:.0f} updates"
        interval = math.ceil(updates / REPLAY_SETS)
        config = config.replaced("train", reason, replay_interval=interval)
    if not stage_names(config):
        check_training(config, agents)
    return config


def _settle_batch(config: Config, agents: int) -> Config:
    """Gives an update one horizon of every agent where train.batch_size is auto."""
    horizon = config.train.bptt_horizon
    if config.train.batch_size != "auto":
        return config
    reason = f"{agents} agents x bptt_horizon {horizon}"
    return config.replaced("train", reason, batch_size=agents * horizon)


def _check_computing(config: Config) -> None:
    """Checks that torch can compute the policy in this way."""
    train, rnn_name = config.train, config.base.rnn_name
    if train.precision != "float32" and not train.device.startswith("cuda"):
        raise ConfigError(f"train.precision = {train.precision}: needs CUDA, not {train.device}")
    if train.compile and train.compile_fullgraph and rnn_name is not None:
        raise ConfigError(
            f"train.compile_fullgraph = True: torch compiles no LSTM, the heart of base.rnn_name = "
            f"{rnn_name}; must be False with train.compile"
        )
    policy = config.policy
    if not isinstance(policy, AttentionConfig):
        return
    if rnn_name is not None:
        raise ConfigError(
            f"base.rnn_name = {rnn_name}: base.policy_name = {ATTENTION} has a memory of its own; "
            f"must be None"
        )
    if policy.hidden_size % policy.heads:
        raise ConfigError(
            f"policy.hidden_size = {policy.hidden_size}: must be a multiple of heads = "
            f"{policy.heads}"
        )


def meets_pool(config: Config) -> bool:
    """True if a run meets the pool, in any stage."""
    return any(POOL in parse_mix(part.env.opponent) for part in run_configs(config))


def _check_pool(config: Config) -> None:
    """Refuses a pool without members."""
    if meets_pool(config) and not config.pool.own and not config.pool.include:
        raise ConfigError(
            "pool.own = False: the pool, an opponent of this run, would be empty; "
            "pool.include must name a model"
        )


def _check_population(config: Config, machine: Machine) -> None:
    """Refuses exploiters that cannot train, or that have no pool to join."""
    population = config.population
    if not population.interval:
        return
    if not (meets_pool(config) and config.pool.own):
        raise ConfigError(
            f"population.interval = {population.interval}: exploiters join the pool: "
            f"env.opponent must have pool, and pool.own must be True"
        )
    settings = {f"env.{name}": value for name, value in game_of(config).items()} | {
        "env.opponent": POOL,
        "train.threads": config.train.threads,
        "curriculum.stages": None,
        "population.interval": 0,
    }
    exploiter = load_config(
        population.config, [f"--{key}={value}" for key, value in settings.items()]
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # the choices for the exploiter
            batch = settle(exploiter, replace(machine, ranks=1, ranks_here=1)).train.batch_size
    except ConfigError as error:
        raise ConfigError(f"population.config = {population.config}: {error}") from None
    if population.budget < batch:
        raise ConfigError(
            f"population.budget = {population.budget}: must be at least {batch}, the batch of an "
            f"exploiter by population.config = {population.config}"
        )


def _check_looks(config: Config) -> None:
    """Checks that no worker reads the pool's file while it may be written; see LOOK_INTERVAL."""
    for part in run_configs(config):
        horizon, opponent = part.train.bptt_horizon, part.env.opponent
        has_workers = part.vec.backend == "Multiprocessing"
        if horizon % 2 and has_workers and POOL in parse_mix(opponent):
            raise ConfigError(
                f"train.bptt_horizon = {horizon}: must be even with vec.backend = Multiprocessing "
                f"and env.opponent = {opponent}, or workers may look at the pool while it is "
                f"written, and the run would not repeat itself"
            )


def _settle_stage(config: Config, stage: str, divided: bool) -> Config:
    """Settles the settings of a stage; `divided`: env.num_envs is divided among the instances."""
    section = STAGE + stage
    where, instances = f"[{section}]", config.vec.num_envs
    engagements = config[section].get("env.num_envs")
    if divided and isinstance(engagements, int):
        share, rest = divmod(engagements, instances)
        if rest:
            raise ConfigError(
                f"{where} env.num_envs = {engagements}: cannot be divided among "
                f"vec.num_envs = {instances}"
            )
        reason = f"{engagements} engagements divided among {instances} instances"
        config = config.replaced(section, reason, **{"env.num_envs": share})
    open_config = stage_config(config, stage)
    agents = _count_agents(open_config, where)
    settled = _settle_batch(open_config, agents)
    if settled is not open_config:
        source, batch = settled.source("train", "batch_size"), settled.train.batch_size
        config = config.replaced(section, source, **{"train.batch_size": batch})
    try:
        check_training(settled, agents)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return config


def _count_agents(config: Config, where: str) -> int:
    try:
        return config.vec.num_envs * count_agents(config.env)
    except ValueError as error:
        raise ConfigError(f"{where} {error}") from None

"""Checks of the values of a configuration against each other."""

from collections.abc import Mapping

from midrange_puffer._core import enemy_rows
from midrange_puffer.config.configuration import (
    Config,
    ConfigError,
    run_configs,
    stage_config,
    stage_names,
)
from midrange_puffer.config.key import Value
from midrange_puffer.config.schema import STAGE
from midrange_puffer.config.sections import ExperienceBufferConfig
from midrange_puffer.errors import UsageError
from midrange_puffer.game.critic_views import OWN_CRITIC, critic_view
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import (
    FIGHTER,
    OBSERVED,
    PARAMETERS,
    POOL,
    SELF,
    SIDE,
    SUBORDINATE,
    checked_agents,
    checked_order_cost,
    is_team,
    observed,
    resolve,
    sizes_of,
)
from midrange_puffer.names import suggest
from midrange_puffer.policies.mix import count_agents, parse_mix
from midrange_puffer.policies.own_code import ATTENTION, MIDRANGE, PACKAGE, PACKAGED, short_name


def check_pairs(config: Config, where: str) -> None:
    """Checks [env] values that bound each other; `where` begins an error message.

    Raises:
        ConfigError: Two do not fit.
    """
    _resolve(config.env, f"{where}: [env]")
    for stage in stage_names(config):
        _resolve(stage_config(config, stage).env, f"{where}: [{STAGE}{stage}] with [env]")


def check_stages(config: Config, where: str) -> None:
    """Checks that every stage has its section, and that each can be left for the next."""
    stages = stage_names(config)
    for stage in stages:
        if STAGE + stage not in config:
            sections = [name for name in config if name.startswith(STAGE)]
            raise ConfigError(
                f"{where}: [curriculum] stages = {config.curriculum.stages}: {stage} has no "
                f"section [{STAGE}{stage}]{suggest(STAGE + stage, sections)}"
            )
    for stage in stages[:-1]:
        _check_end(config, stage, stages[-1], f"{where}: [{STAGE}{stage}]")


def _check_end(config: Config, stage: str, last: str, where: str) -> None:
    """Checks that a stage can be left, so that the last one is reached."""
    limits = config.stage(stage)
    if limits.max_steps is not None:
        return
    if limits.score is None:
        raise ConfigError(f"{where} has neither score nor max_steps: {last} would never be reached")
    opponent = stage_config(config, stage).env.opponent
    if set(parse_mix(opponent)) == {SELF}:
        raise ConfigError(
            f"{where} has score = {limits.score}, no max_steps, and env.opponent = {opponent}: "
            f"against itself alone the score stays near 0.5, so that {last} would hardly be reached"
        )


def _resolve(env: Mapping[str, Value], where: str) -> None:
    try:
        game = {name: value for name, value in env.items() if name in PARAMETERS}
        resolve(game, teams=True)
    except ValueError as error:
        raise ConfigError(f"{where} {error}") from None


def check_sizes(config: Config) -> None:
    """Checks that one policy can fly in all stages, however many fly on a side.

    Raises:
        ConfigError: One stage is of teams and another is not; or what is observed changes, and the
            policy is one of the user's own, which is made for so many features.
    """
    env, policy_name = config.env, config.base.policy_name
    for stage in stage_names(config):
        stage_env = stage_config(config, stage).env
        (red, blue), rows = sizes_of(stage_env), enemy_rows(*sizes_of(env))
        where = f"[{STAGE}{stage}] env.red_size = {red}, env.blue_size = {blue}"
        if is_team(stage_env) != is_team(env):
            raise ConfigError(f"{where}: no policy flies both one against one and in teams")
        if enemy_rows(red, blue) != rows and policy_name not in PACKAGED:
            raise ConfigError(
                f"{where}: {short_name(policy_name)} is made for what is observed in [env], "
                f"where the larger side is of {max(sizes_of(env))}; only the package's policies "
                "fly in teams of any size"
            )


def check_observations(config: Config) -> None:
    """Checks that one policy sees and controls the fighters of all stages, their number aside.

    Raises:
        ConfigError: A stage has another observation than [env].
    """
    here = observed(config.env.observation, config.env)
    for stage in stage_names(config):
        env = stage_config(config, stage).env
        changed = [name for name in OBSERVED if env[name] != config.env[name]]
        try:
            there = observed(env.observation, env)
        except ValueError as error:
            raise ConfigError(f"[{STAGE}{stage}] env.{error}") from None
        if there != here:
            keys = ", ".join(f"env.{name} = {env[name]}" for name in changed)
            raise ConfigError(
                f"[{STAGE}{stage}] {keys}: agents would observe {there}, and the policy of [env] "
                f"is made for {here}; set it in [env]"
            )


def check_agents(config: Config) -> None:
    """Checks that a commander or a subordinate can fly in every stage.

    Raises:
        ConfigError: There are no orders or no such sides, the sides change, the critic or the
            reward is one of fighters, the subordinates cannot fly, or orders that do not exist
            have a cost.
    """
    agents = config.env.agents
    for stage in (None, *stage_names(config)):
        part = config if stage is None else stage_config(config, stage)
        where = "" if stage is None else f"[{STAGE}{stage}] "
        try:
            checked_agents(part.env.agents, part.env.action_mode, part.env)
            checked_order_cost(part.env["order_cost"], part.env.agents)
            _check_subordinates(part)
        except ValueError as error:
            raise ConfigError(f"{where}env.{error}") from None
        size, wanted = sizes_of(part.env), sizes_of(config.env)
        if agents == SIDE and size != wanted:
            raise ConfigError(
                f"{where}env.red_size = {size[0]}: the commander of [env] is of {wanted[0]} "
                f"fighters, and commands no other number"
            )
    if agents == FIGHTER:
        return
    where = f"env.agents = {agents}: "
    if config.train.critic != OWN_CRITIC:
        reason = (
            f"a commander ({where[:-2]}) sees its side already"
            if agents == SIDE
            else f"{where[:-2]} has none"
        )
        raise ConfigError(f"train.critic = {config.train.critic}: {reason}; must be {OWN_CRITIC}")
    if agents == SUBORDINATE:
        _check_is_subordinate(config)
    if config.base.env_class != MIDRANGE:
        raise ConfigError(
            f"{where}the reward of {short_name(config.base.env_class)} pays fighters; must be "
            f"{FIGHTER}"
        )


def _check_subordinates(config: Config) -> None:
    """Checks that env.subordinates can fly by the agents' orders.

    Raises:
        ValueError: They cannot, or their file cannot be used.
    """
    if not config.env.subordinates:
        return
    from midrange_puffer.policies.loading import load_subordinate

    observation = observed(config.env.observation, config.env)
    features = len(features_of(observation, *sizes_of(config.env)))
    try:
        load_subordinate(config.env.subordinates, config.env.action_mode, observation, features)
    except UsageError as error:
        raise ValueError(error) from None


def _check_is_subordinate(config: Config) -> None:
    """Checks the rest of a run that trains a subordinate, which cannot fly without orders.

    Raises:
        ConfigError: Its policy is no MLP of the package, or something would fly it by itself.
    """
    where = f"env.agents = {SUBORDINATE}"
    base = config.base
    for name, value, wanted in (
        ("base.policy_name", short_name(base.policy_name), PACKAGE),
        ("base.rnn_name", base.rnn_name, None),
        ("league.interval", config.league.interval, 0),
    ):
        if value != wanted:
            raise ConfigError(f"{name} = {value}: must be {wanted} with {where}")
    if config.train.replay_interval not in (0, "auto"):
        raise ConfigError(
            f"train.replay_interval = {config.train.replay_interval}: {where} flies by orders "
            "only; must be 0"
        )
    for part in run_configs(config):
        if POOL in parse_mix(part.env.opponent):
            raise ConfigError(
                f"env.opponent = {part.env.opponent}: {where} cannot be an opponent; must be "
                f"without {POOL}"
            )


def check_critic(config: Config) -> None:
    """Checks that a central critic fits the policy and the game of every stage.

    Raises:
        ConfigError: The policy is the user's own, or the critic has nothing more to see.
    """
    critic, policy_name = config.train.critic, config.base.policy_name
    if critic == OWN_CRITIC:
        return
    if policy_name not in PACKAGED:
        raise ConfigError(
            f"train.critic = {critic}: {short_name(policy_name)} has a critic of its own; a "
            f"central one goes with the package's policies, {' and '.join(PACKAGED)}; must be "
            f"{OWN_CRITIC}"
        )
    for part in (config, *run_configs(config)):
        try:
            critic_view(critic, observed(part.env.observation, part.env), part.env)
        except ValueError as error:
            raise ConfigError(f"train.{error}") from None


def check_update(config: Config) -> None:
    """Checks the trainer's needs of a configuration, as far as they are known on every machine.

    Raises:
        ConfigError: With the numbers that do not fit.
    """
    if config.vec.num_workers != "auto":  # the engagements are divided among them at the start
        return
    instances = config.vec.num_envs
    for part in run_configs(config):
        try:
            agents = count_agents(part.env)
        except ValueError:  # `settle` reports it
            return
        agents *= 1 if instances == "auto" else instances
        if part.train.batch_size == "auto":
            batch = agents * part.train.bptt_horizon
            part = part.replaced("train", "one horizon of every agent", batch_size=batch)
        check_training(part, agents)


def check_training(config: Config, agents: int) -> None:
    """Checks the trainer's needs of a configuration without any "auto", for `agents` agents.

    Raises:
        ConfigError: With the numbers that do not fit.
    """
    train, rnn_name = config.train, config.base.rnn_name
    horizon, batch, minibatch = train.bptt_horizon, train.batch_size, train.minibatch_size
    rollout = agents * horizon
    # PuffeRL fills whole segments of one horizon, all agents in turn.
    if batch % rollout:
        raise ConfigError(
            f"train.batch_size {batch} must be a multiple of {rollout} = {agents} agents x "
            f"bptt_horizon {horizon}"
        )
    # Learning begins every segment without a memory. Gathering does so in the first segment of an
    # update only. A collector gathers one segment at a time.
    memory = f"base.rnn_name = {rnn_name}" if rnn_name else ""
    if config.base.policy_name == ATTENTION:
        memory = f"base.policy_name = {ATTENTION}"
    if batch > rollout and memory and config.cluster.engine is None:
        raise ConfigError(
            f"train.batch_size {batch} must be {rollout} = {agents} agents x bptt_horizon "
            f"{horizon} with {memory}, whose memory is empty only where an "
            f"update begins; or use a longer bptt_horizon"
        )
    part = min(minibatch, train.max_minibatch_size)
    if minibatch % part:
        raise ConfigError(
            f"train.minibatch_size {minibatch} is above train.max_minibatch_size {part} and must "
            f"then be a multiple of it"
        )
    if part % horizon:
        raise ConfigError(
            f"train.minibatch_size or train.max_minibatch_size {part} must be a multiple of "
            f"train.bptt_horizon {horizon}"
        )
    if batch % minibatch:
        raise ConfigError(
            f"train.batch_size {batch} = {batch // horizon} segments x bptt_horizon {horizon} must "
            f"be a multiple of train.minibatch_size {minibatch}"
        )
    if train.total_timesteps < batch:
        raise ConfigError(
            f"train.total_timesteps {train.total_timesteps} must be at least one "
            f"train.batch_size, {batch}"
        )
    _check_buffer(config.experience_buffer, batch // horizon, part // horizon)
    _check_buffer_place(config)


def _check_buffer_place(config: Config) -> None:
    """Checks experience_buffer.shared and on_disk: there is a buffer, and it can be there."""
    buffer = config.experience_buffer
    for name, is_set in (("shared", buffer.shared), ("on_disk", buffer.on_disk)):
        if is_set and not buffer.capacity:
            raise ConfigError(
                f"experience_buffer.{name} = True: there is no buffer while "
                f"experience_buffer.capacity is 0"
            )
    if not buffer.shared:
        return
    if config.cluster.engine is None or config.cluster.address is None:
        raise ConfigError(
            "experience_buffer.shared = True: the buffer is on a Ray cluster that outlives the "
            "run: set cluster.engine = ray and cluster.address"
        )
    if buffer.on_disk:
        raise ConfigError("experience_buffer.on_disk = True: only of a buffer that is not shared")


def _check_buffer(buffer: ExperienceBufferConfig, segments: int, drawn: int) -> None:
    """Checks an experience buffer for updates of `segments` segments, `drawn` of them at a time."""
    capacity, warm_up, share = buffer.capacity, buffer.warm_up, buffer.share
    if not capacity:
        return
    if capacity < segments:
        raise ConfigError(
            f"experience_buffer.capacity {capacity} must be 0 or at least the {segments} segments "
            f"of an update"
        )
    if warm_up > capacity:
        raise ConfigError(
            f"experience_buffer.warm_up {warm_up} must be at most experience_buffer.capacity "
            f"{capacity}"
        )
    if share * drawn < 1:
        raise ConfigError(
            f"experience_buffer.share {share:g} must be at least 1/{drawn} = {1 / drawn:g}, one of "
            f"the segments of train.minibatch_size or train.max_minibatch_size"
        )

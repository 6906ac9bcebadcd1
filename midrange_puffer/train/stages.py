"""The stages of a run in training: their environments, policies and trainers, one after another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from midrange_puffer.config.configuration import Config, ConfigError, format_config
from midrange_puffer.config.key import Value
from midrange_puffer.config.schema import STAGE, game_of
from midrange_puffer.config.settle import meets_pool
from midrange_puffer.errors import memory_advice
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import EXPORTED, PARAMETERS, SIDE, is_team
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.mix import parse_mix
from midrange_puffer.policies.networks import fit_to_team
from midrange_puffer.policies.own_code import PACKAGE, short_name
from midrange_puffer.policies.own_policy import check_outputs
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.central import with_critic
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.loggers import Loggers, open_trackers
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.population import Population
from midrange_puffer.train.profiling import Profile
from midrange_puffer.train.raters import Rater, TrainingLeague, TrainingReplays
from midrange_puffer.train.run_files import MetricsFile
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.trainer import StageTrainer
from midrange_puffer.train.trainer_state import seed_everything
from midrange_puffer.train.vector import VecEnv, make_env

# The keys that a run's memory grows with.
MEMORY_KEYS = (
    ("env", "num_envs"), ("vec", "num_envs"), ("train", "bptt_horizon"),
    ("train", "max_minibatch_size"), ("policy", "hidden_size"), ("experience_buffer", "capacity"),
)  # fmt: skip


class ExperienceSource(NamedTuple):
    """The source of a run's experience in each of its stages: this process, or a cluster.

    Attributes:
        make_envs: makes the environments of a configuration, with the pool's file.
        trainer: the class of trainer that learns from them.
    """

    make_envs: Callable[[Config, Path | None], Any]  # VecEnv, or RemoteEnvs with the same use
    trainer: type[StageTrainer]


@contextmanager
def open_stages(
    run: Run,
    is_stopped: Callable[[], bool],
    raters: Sequence[Rater] = (),
    profile: Profile | None = None,
) -> Iterator["Stages"]:
    """Opens the stages of a run for training; saves a checkpoint at the end, unless it failed.

    Args:
        run: its folder is locked.
        is_stopped: returns True once a signal has come; checked while the trainer waits.
        raters: in addition to those of the configuration.
        profile: where the parts of the updates are timed; None: a new one.

    Raises:
        UserError: There is not enough memory.
    """
    config, folder = run.config, run.folder
    ranks.take_device(config.train.device)
    pool, population, loggers = None, None, Loggers(folder.name)
    all_raters: list[Rater] = []
    if ranks.is_first():
        pool, all_raters = pool_of(run), [*_raters(run), *raters]
        if config.population.interval and pool is not None:
            population = Population(run, pool, is_stopped)
        write_whole(folder / run_folder.CONFIG, format_config(config).encode())
        step = run.state["global_step"] if run.state else None
        metrics_file = MetricsFile(folder / run_folder.METRICS, step)
        loggers = Loggers(folder.name, [metrics_file, *open_trackers(config, folder, step)])
    print(f"run folder {shown(folder)}", flush=True)
    seed_everything(config.train.seed)
    torch.set_num_threads(config.train.torch_threads)
    with memory_advice(_memory_keys(config)), _source(config, is_stopped) as source:
        stages = Stages(run, source, loggers, pool, all_raters, population, profile)
        with closing(stages):
            yield stages
            stages.save()
        loggers.close(stages.trainer.model_path)


class Stages:
    """The stages of a run in training.

    Call `evaluate()` and `trainer.train()` in turns until `trainer.is_over`.

    When a stage of the curriculum is passed, the next one begins with the next `evaluate()`.

    Attributes:
        run: as of the beginning of the present stage.
        loggers: of the run; others may be added.
        trainer: of the present stage.
    """

    def __init__(
        self,
        run: Run,
        source: ExperienceSource,
        loggers: Loggers,
        pool: Pool | None,
        raters: Sequence[Rater],
        population: Population | None,
        profile: Profile | None,
    ) -> None:
        self._source, self.loggers, self._pool, self._raters = source, loggers, pool, raters
        self._population, self._profile = population, profile
        self._begin_stage(run)

    def _begin_stage(self, run: Run) -> None:
        self.run, self._curriculum = run, Curriculum(run.config, run.state)
        self._meets_others = False
        if self._curriculum.stages:
            print(f"{self._curriculum}, from {self._curriculum.start} steps on", flush=True)
        policy = first_policy(run)
        pool_path = ranks.from_first(lambda: _join(self._pool, run, policy))
        with ExitStack() as stack:
            envs = self._source.make_envs(self._curriculum.config, pool_path)
            stack.enter_context(closing(envs))
            config = self._curriculum.config
            spaces = model_file.policy_spaces(config.env)
            fit_to_team(policy, spaces.single_observation_space.shape[0])
            policy = with_critic(policy, config)
            self.trainer = self._source.trainer(
                run, self._curriculum, envs, policy, self.loggers, self._pool, self._raters,
                self._profile,
            )  # fmt: skip
            stack.enter_context(closing(self.trainer))
            self.trainer.save_checkpoint()  # fails at once if none can be written
            self._stage = stack.pop_all()

    @property
    def _is_passed(self) -> bool:
        """True if the next stage is due."""
        return not self.trainer.is_over and self._curriculum.is_passed(self.trainer.global_step)

    def move_on(self) -> None:
        """Begins the next stage if this one is passed, and trains an exploiter if one is due.

        Other opponents, by `meet`, begin this stage anew.
        """
        if self._is_passed or self._meets_others:
            self.save()
            self._stage.close()
            # From the saved state, so that a stage begins alike if the run is stopped here.
            state = ranks.from_first(lambda: run_folder.load_state(self.run.folder))
            self._begin_stage(replace(self.run, state=state))
        ranks.from_first(self._let_exploit)

    def set_live(self, name: str, value: Value) -> None:
        """Changes a setting of `schema.LIVE_KEYS` for the rest of the run, and in its config.ini.

        A later stage that sets the key itself has its own value.
        """
        self._replace("train", name, value)
        self.trainer.set_live(**{name: value})

    def meet(self, opponent: str) -> None:
        """Changes env.opponent for the rest of the run, from the next `evaluate` on.

        The engagements then start anew. A later stage that sets the key has its own value.
        """
        if parse_mix(self._curriculum.config.env.opponent) != parse_mix(opponent):
            self._replace("env", "opponent", opponent)
            self._meets_others = True

    def _replace(self, section: str, name: str, value: Value) -> None:
        """Changes a key of the run and of the present stage, also in config.ini."""
        source = "the program, during the run"
        config = self.run.config.replaced(section, source, **{name: value})
        home, key = f"{STAGE}{self._curriculum.stage}", f"{section}.{name}"
        if key in config.get(home, ()):
            config = config.replaced(home, source, **{key: value})
        self.run.config = config
        if ranks.is_first():
            write_whole(self.run.folder / run_folder.CONFIG, format_config(config).encode())

    def evaluate(self) -> dict[str, list[float]]:
        """Calls `move_on`, then `StageTrainer.evaluate`."""
        self.move_on()
        return self.trainer.evaluate()

    def _let_exploit(self) -> None:
        """Lets the population train an exploiter, if one is due."""
        if self._population is not None and self._population.is_due(self.trainer.epoch):
            self._population.take_turn(self.trainer)

    def save(self) -> None:
        """Saves a checkpoint, except at the end of the run, which the trainer has saved.

        If the stage is passed, a run resumed from the checkpoint begins the next one.
        """
        if self.trainer.done:
            return
        if self._is_passed:
            self._curriculum.advance(self.trainer.global_step)
        self.trainer.save_checkpoint()

    def close(self) -> None:
        """Closes the environments."""
        self._stage.close()


def _memory_keys(config: Config) -> str:
    """Returns advice on too little memory: the keys to reduce, and their values."""
    now = {
        f"{section}.{name}": config[section][name]
        for section, name in MEMORY_KEYS
        if name in config[section]
    }
    keys = ", ".join(f"{name} = {value}" for name, value in now.items() if value not in (0, 1))
    return f"try a smaller one of {keys}"


@contextmanager
def _source(config: Config, is_stopped: Callable[[], bool]) -> Iterator[ExperienceSource]:
    """Opens the source of experience of a configuration."""
    if config.cluster.engine is None:
        yield ExperienceSource(partial(VecEnv, make_env), StageTrainer)
        return
    from midrange_puffer.train.cluster.learner import ClusterTrainer, collecting

    with collecting(config, is_stopped) as make_envs:
        yield ExperienceSource(make_envs, ClusterTrainer)


def first_policy(run: Run) -> PolicyModule:
    """Returns the policy that a run begins or goes on with.

    Its subordinate is that of env.subordinates, as that of the environments.

    Raises:
        CheckpointError: The run's model cannot be loaded.
        ConfigError: It was trained with another subordinate.
    """
    config, device = run.config, run.config.train.device
    if run.state:
        path = run.folder / run.state["model"]
        policy, model = load_policy(path, device)
        _check_same_subordinate(config, path, model)
        policy.subordinate = model_file.subordinate_in(config.env)
        return policy.train()
    if config.base.load_model_path is not None:
        return given_policy(config).to(device)
    spaces = model_file.policy_spaces(config.env)
    policy = model_file.new_policy(config)
    if config.base.policy_name != PACKAGE:
        check_outputs(policy, spaces)
    return policy.to(device)


def _check_same_subordinate(config: Config, path: Path, model: Mapping[str, Any]) -> None:
    """Raises ConfigError if a run's model was trained with another subordinate than the config's.

    Args:
        config: the run's.
        path: the model file, for messages.
        model: its entries, with the copy of its subordinate.
    """
    file, copy = config.env.subordinates, model.get(model_file.SUBORDINATES)
    given = model_file.read_subordinate(file) if file else None
    if not model_file.is_same_subordinate(given, copy):
        trained = (
            f"with another one, {model['env'][model_file.SUBORDINATES]}" if copy else "without"
        )
        raise ConfigError(
            f"env.subordinates = {file or '(empty)'}: {path} was trained {trained}; must be "
            f"{'a file with the same weights' if copy else 'empty'}"
        )


def given_policy(config: Config) -> PolicyModule:
    """Returns the policy of base.load_model_path.

    Raises:
        CheckpointError: It cannot be loaded.
        ConfigError: Its shape differs from the configuration's.
    """
    base, path = config.base, str(config.base.load_model_path)
    if path.endswith(EXPORTED):
        raise ConfigError(
            f"base.load_model_path = {path}: is an exported policy, which cannot be trained; "
            f"expected a run folder's {model_file.MODELS}"
        )
    policy, model = load_policy(path)
    name = short_name(base.policy_name)
    shapes = [("base.policy_name", model["policy_name"], name)]
    shapes += [("base.rnn_name", model["rnn_name"], base.rnn_name)]
    shapes += [("game", _kind_of_game(model["env"]), _kind_of_game(config.env))]
    shapes += [(f"env.{name}", model["env"][name], config.env[name]) for name in model_file.SHAPING]
    # Older files lack hidden_layers and have two. All keys can shape a policy of the user's own.
    sizes = {"hidden_size": None, "hidden_layers": 2}
    if is_team(config.env):
        sizes["entity_size"] = None
    if config.env["agents"] == SIDE:
        sizes["parameter_sharing"] = None
    if name != PACKAGE:
        sizes = dict.fromkeys(config.policy)
    shapes += [
        (f"policy.{name}", *(part["policy"].get(name, default) for part in (model, config)))
        for name, default in sizes.items()
    ]
    if base.rnn_name is not None:
        shapes += [
            (f"rnn.{name}", model["rnn"].get(name), size) for name, size in config.rnn.items()
        ]
    for key, value, wanted in shapes:
        if value != wanted:
            raise ConfigError(f"base.load_model_path = {path}: its {key} is {value}, not {wanted}")
    policy.subordinate = model_file.subordinate_in(config.env)
    return policy.train()


def _kind_of_game(env: Mapping[str, Any]) -> str:
    sizes = {name: env.get(name, PARAMETERS[name].default) for name in ("red_size", "blue_size")}
    return "of teams" if is_team(sizes) else "one against one"


def pool_of(run: Run) -> Pool | None:
    """Returns the pool of a run; None if it meets none in any stage."""
    if not meets_pool(run.config):
        return None
    return Pool(run.folder, run.config.pool, is_team(run.config.env))


def _join(pool: Pool | None, run: Run, policy: torch.nn.Module) -> Path | None:
    """Adds the present policy to the pool, so that the environments find an opponent there.

    Returns:
        The pool's file; None without a pool.
    """
    if pool is None:
        return None
    if run.state:
        path, steps = run.folder / run.state["model"], run.state["global_step"]
    else:
        path, steps = run.folder / run_folder.model_name(0), 0
        model_file.save_model(path, run.config, policy.state_dict(), steps)
    pool.add(path, steps)
    pool.refresh()
    return pool.path


def _raters(run: Run) -> Iterator[Rater]:
    """Yields the raters that the configuration asks for: the league and the replays."""
    config = run.config
    if config.league.interval:
        steps = run.state["global_step"] if run.state else 0
        threads = config.train.threads
        yield TrainingLeague(run.folder, config.league, game_of(config), steps, threads)
    if config.train.replay_interval:
        yield TrainingReplays(run.folder, config)

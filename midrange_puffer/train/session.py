"""A run while it is trained: its trainers, through all stages of its curriculum."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from midrange_puffer.config.configuration import Config, ConfigError, format_config
from midrange_puffer.config.schema import game_of
from midrange_puffer.config.settle import meets_pool
from midrange_puffer.errors import memory_advice
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import EXPORTED, PARAMETERS, is_team
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.networks import fit_to_team, make_policy, policy_class
from midrange_puffer.policies.own_code import PACKAGE, short_name
from midrange_puffer.policies.own_policy import check_outputs
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.loggers import Loggers, open_trackers
from midrange_puffer.train.metrics_file import MetricsFile
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.population import Population
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.seeding import seed_everything
from midrange_puffer.train.trainer import Rater, StageTrainer
from midrange_puffer.train.training_league import TrainingLeague
from midrange_puffer.train.training_replays import TrainingReplays
from midrange_puffer.train.vector import VecEnv, make_env

# What a run's memory grows with.
MEMORY_KEYS = (
    ("env", "num_envs"), ("vec", "num_envs"), ("train", "bptt_horizon"),
    ("train", "max_minibatch_size"), ("policy", "hidden_size"), ("experience_buffer", "capacity"),
)  # fmt: skip


class Engine(NamedTuple):
    """Where the experience of a run comes from, in each of its stages.

    Attributes:
        make_envs: makes the environments of a configuration, with the file of the pool.
        trainer: the kind of trainer that learns from them.
    """

    make_envs: Callable[[Config, Path | None], VecEnv]
    trainer: type[StageTrainer]


@contextmanager
def open_session(
    run: Run,
    is_stopped: Callable[[], bool],
    raters: Sequence[Rater] = (),
) -> Iterator["Session"]:
    """Train a run; at the end of the block what was learnt is saved, but not after an error.

    Args:
        run: its folder is locked.
        is_stopped: whether a signal has come, for those who wait for others.
        raters: others than the league and the replays that the configuration may ask for.

    Raises:
        UserError: There is not enough memory.
    """
    config, folder = run.config, run.folder
    ranks.take_device(config["train"]["device"])
    pool, population, all_raters, loggers = None, None, [], Loggers(folder.name)
    if ranks.is_first():
        pool, all_raters = pool_of(run), [*_league(run), *_replays(run), *raters]
        population = _population(run, pool, is_stopped)
        write_whole(folder / run_folder.CONFIG, format_config(config).encode())
        loggers = _loggers(run)
    print(f"run folder {shown(folder)}", flush=True)
    seed_everything(config["train"]["seed"])
    torch.set_num_threads(config["train"]["torch_threads"])
    with memory_advice(_memory_keys(config)), _engine(config, is_stopped) as engine:
        session = Session(run, engine, loggers, pool, all_raters, population)
        with closing(session):
            yield session
            session.save()
        loggers.close(session.trainer.model_path)


class Session:
    """A run while it is trained: `evaluate()` and `train()` in turns, until `is_over`.

    Where a stage of the curriculum is passed, the next one begins with the next `evaluate()`.

    Attributes:
        run: as of the beginning of the present stage.
        loggers: of the run; others may be added.
        trainer: of that stage.
    """

    def __init__(
        self,
        run: Run,
        engine: Engine,
        loggers: Loggers,
        pool: Pool | None,
        raters: Sequence[Rater],
        population: Population | None = None,
    ) -> None:
        self._engine, self.loggers, self._pool, self._raters = engine, loggers, pool, raters
        self._population = population
        self._begin_stage(run)

    def _begin_stage(self, run: Run) -> None:
        self.run, self._curriculum = run, Curriculum(run.config, run.state)
        if self._curriculum.stages:
            print(f"{self._curriculum}, from {self._curriculum.start} steps on", flush=True)
        policy = first_policy(run)
        pool_path = ranks.from_first(lambda: _join(self._pool, run, policy))
        with ExitStack() as stack:
            envs = self._engine.make_envs(self._curriculum.config, pool_path)
            stack.enter_context(closing(envs))
            fit_to_team(policy, envs.single_observation_space.shape[0])
            self.trainer = self._engine.trainer(
                run, self._curriculum, envs, policy, self.loggers, self._pool, self._raters
            )
            stack.enter_context(closing(self.trainer))
            self.trainer.save_checkpoint()  # proves at once that checkpoints can be written
            self._stage = stack.pop_all()

    @property
    def is_over(self) -> bool:
        """Whether the run is at its end, early or not."""
        return self.trainer.is_over

    @property
    def _is_passed(self) -> bool:
        """Whether the next stage is to begin."""
        return not self.is_over and self._curriculum.is_passed(self.trainer.global_step)

    def move_on(self) -> None:
        """Begin the next stage if this one is passed, and train an exploiter if one is due."""
        if self._is_passed:
            self.save()
            self._stage.close()
            # From what was saved, so that a stage begins alike whether a run is stopped there.
            state = ranks.from_first(lambda: run_folder.load_state(self.run.folder))
            self._begin_stage(replace(self.run, state=state))
        ranks.from_first(self._let_exploit)

    def evaluate(self) -> dict[str, list[float]]:
        """As `StageTrainer.evaluate`, after what is due before."""
        self.move_on()
        return self.trainer.evaluate()

    def _let_exploit(self) -> None:
        """Let the population train an exploiter, if it is time."""
        if self._population is not None and self._population.is_due(self.trainer.epoch):
            self._population.take_turn(self.trainer)

    def train(self) -> dict[str, float]:
        """As `StageTrainer.train`."""
        return self.trainer.train()

    def save(self) -> None:
        """Save a checkpoint; the end of the run has been saved by itself.

        What is saved goes on in the next stage, if this one is passed.
        """
        if self.trainer.done:
            return
        if self._is_passed:
            self._curriculum.advance(self.trainer.global_step)
        self.trainer.save_checkpoint()

    def close(self) -> None:
        """End the environments."""
        self._stage.close()


def _memory_keys(config: Config) -> str:
    """What can be made smaller where there is not enough memory, and what it is now."""
    now = {f"{section}.{name}": config[section][name] for section, name in MEMORY_KEYS}
    keys = ", ".join(f"{name} = {value}" for name, value in now.items() if value > 1)
    return f"try a smaller one of {keys}"


@contextmanager
def _engine(config: Config, is_stopped: Callable[[], bool]) -> Iterator[Engine]:
    """The engine that a configuration asks for."""
    if config["cluster"]["engine"] is None:
        yield Engine(partial(VecEnv, make_env), StageTrainer)
        return
    from midrange_puffer.train.cluster.learner import ClusterTrainer, collecting

    with collecting(config, is_stopped) as make_envs:
        yield Engine(make_envs, ClusterTrainer)


def first_policy(run: Run) -> torch.nn.Module:
    """The policy that a run goes on with, or begins with."""
    config, device = run.config, run.config["train"]["device"]
    if run.state:
        policy, _ = load_policy(run.folder / run.state["model"], device)
        return policy.train()
    if config["base"]["load_model_path"] is not None:
        return given_policy(config).to(device)
    spaces = model_file.policy_spaces(config["env"])
    base = config["base"]
    made_of = policy_class(base["policy_name"])
    policy = make_policy(spaces, config["policy"], base["rnn_name"], config["rnn"], made_of)
    if base["policy_name"] != PACKAGE:
        check_outputs(policy, spaces)
    return policy.to(device)


def given_policy(config: Config) -> torch.nn.Module:
    """The policy of base.load_model_path.

    Raises:
        CheckpointError: It cannot be loaded.
        ConfigError: It has another shape than the configuration's.
    """
    base, path = config["base"], config["base"]["load_model_path"]
    if path.endswith(EXPORTED):
        raise ConfigError(
            f"base.load_model_path = {path}: is an exported policy, which cannot be trained; "
            f"expected a run folder's {model_file.MODELS}"
        )
    policy, model = load_policy(path)
    name = short_name(base["policy_name"])
    shapes = [("base.policy_name", model["policy_name"], name)]
    shapes += [("base.rnn_name", model["rnn_name"], base["rnn_name"])]
    shapes += [("game", *(_kind_of_game(of["env"]) for of in (model, config)))]
    shapes += [
        (f"env.{name}", *(of["env"][name] for of in (model, config))) for name in model_file.SHAPING
    ]
    # Files from before hidden_layers are of two. What shapes one of the user's own is not known.
    sizes = {"hidden_size": None, "hidden_layers": 2}
    if is_team(config["env"]):
        sizes["entity_size"] = None
    if name != PACKAGE:
        sizes = dict.fromkeys(config["policy"])
    shapes += [
        (f"policy.{name}", *(of["policy"].get(name, default) for of in (model, config)))
        for name, default in sizes.items()
    ]
    if base["rnn_name"] is not None:
        shapes += [
            (f"rnn.{name}", model["rnn"].get(name), size) for name, size in config["rnn"].items()
        ]
    for key, its, wanted in shapes:
        if its != wanted:
            raise ConfigError(f"base.load_model_path = {path}: its {key} is {its}, not {wanted}")
    return policy.train()


def _kind_of_game(env: Mapping[str, object]) -> str:
    sizes = {name: env.get(name, PARAMETERS[name].default) for name in ("red_size", "blue_size")}
    return "of teams" if is_team(sizes) else "one against one"


def pool_of(run: Run) -> Pool | None:
    """The pool of a run that meets it in any stage."""
    if not meets_pool(run.config):
        return None
    return Pool(run.folder, run.config["pool"], is_team(run.config["env"]))


def _join(pool: Pool | None, run: Run, policy: torch.nn.Module) -> Path | None:
    """Let the policy join the pool as it is, so that the environments find an opponent there.

    Returns:
        The pool's file, None without a pool.
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


def _population(run: Run, pool: Pool | None, is_stopped: Callable[[], bool]) -> Population | None:
    """Who trains exploiters for the pool of a run; None: nobody."""
    if not run.config["population"]["interval"]:
        return None
    return Population(run, pool, is_stopped)


def _league(run: Run) -> list[TrainingLeague]:
    """The league that rates the policy now and then, alone in a list; none if it is not to."""
    if not run.config["league"]["interval"]:
        return []
    parameters = game_of(run.config)
    agent_steps = run.state["global_step"] if run.state else 0
    threads = run.config["train"]["threads"]
    return [TrainingLeague(run.folder, run.config["league"], parameters, agent_steps, threads)]


def _replays(run: Run) -> list[TrainingReplays]:
    """Who keeps replays now and then, alone in a list; none if nobody is to."""
    if not run.config["train"]["replay_interval"]:
        return []
    return [TrainingReplays(run.folder, run.config)]


def _loggers(run: Run) -> Loggers:
    step = run.state["global_step"] if run.state else None
    metrics_file = MetricsFile(run.folder / run_folder.METRICS, step)
    return Loggers(run.folder.name, [metrics_file, *open_trackers(run.config, run.folder, step)])

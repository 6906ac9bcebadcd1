"""One run, from its configuration to its last checkpoint."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import rich.console
import torch

from midrange_puffer.config.configuration import (
    Config,
    ConfigError,
    changes,
    format_config,
    stage_names,
)
from midrange_puffer.config.game import game_of
from midrange_puffer.config.reading import data_dir, load_config
from midrange_puffer.config.settle import meets_pool, settle
from midrange_puffer.envs.own_env import try_out
from midrange_puffer.errors import UserError, memory_advice
from midrange_puffer.files import lock, make_folder, new_name, write_whole
from midrange_puffer.game.parameters import EXPORTED
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.loading import load_policy
from midrange_puffer.policies.networks import make_policy, policy_class
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGE, short_name
from midrange_puffer.policies.own_policy import check_outputs
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.dashboard import Dashboard
from midrange_puffer.train.ending import print_end
from midrange_puffer.train.loggers import (
    LINE_WIDTH,
    Console,
    Logger,
    Loggers,
    check_trackers,
    open_trackers,
)
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.metrics_file import MetricsFile
from midrange_puffer.train.opponents import check_opponents, settled_opponents
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.results import Results
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.seeding import seed_everything
from midrange_puffer.train.stop_signals import StoppedError, StopSignals
from midrange_puffer.train.trainer import Rater, Trainer
from midrange_puffer.train.training_league import TrainingLeague
from midrange_puffer.train.training_replays import TrainingReplays
from midrange_puffer.train.vector import VecEnv, make_env

# The file of a run folder that names the job which made it, where that may be restarted.
JOB = "job"
TRAINS = "trains this run"  # as an error of `lock` says it: another process trains this run
# How long a job that torchrun has restarted waits for what is left of it to end, in s.
PATIENCE = 10.0
# What begins the keys that make policy and optimizer: a run cannot go on with others.
FIXED = (
    "base.policy_name", "policy.", "rnn.", "base.rnn_name", "base.load_model_path",
    "train.optimizer",
    *(f"env.{name}" for name in model_file.SHAPING),
)  # fmt: skip

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
    trainer: type[Trainer]


def train_to_end(run: Run) -> int:
    """Train until the end of the run, or until a signal comes; return the exit status.

    The folder of a run that fails before its first checkpoint is taken away.
    """
    with StopSignals() as signals:
        try:
            train(run, signals)
        except UserError:
            if (run.folder / run_folder.STATE).exists():
                how = f"--resume {shown(run.folder)}"
                print(f"the last checkpoint still stands: {how}", file=sys.stderr)
            elif ranks.is_first():  # it never began, and another try may have its name
                shutil.rmtree(run.folder, ignore_errors=True)
            raise
    return 128 + signals.caught if signals.caught else 0


@contextmanager
def new_run(config_path: str | None, overrides: Sequence[str]) -> Iterator[Run]:
    """Settle the configuration of a new run and make its folder, which is locked meanwhile."""
    config = load_config(config_path, overrides)
    train = config["train"]
    # A name made up here is not the configuration's: config.ini may be given back for another run.
    run = planned_run(config, Path(train["data_dir"], train["run_name"] or new_name()))
    _make_run_folder(run.folder)
    with _locked(run.folder):
        yield run


def _locked(folder: Path) -> AbstractContextManager[None]:
    return lock(folder, TRAINS, PATIENCE if ranks.may_restart() else 0)


def _make_run_folder(folder: Path) -> None:
    """Make it, or take the one that this job made and had no checkpoint for when it failed."""
    if is_of_this_job(folder) and not (folder / run_folder.STATE).exists():
        return
    make_folder(folder)
    if ranks.may_restart():
        write_whole(folder / JOB, ranks.job().encode())


def is_of_this_job(folder: Path) -> bool:
    """Whether this job made the folder, before a restart, and not another run of this name."""
    path = folder / JOB
    return ranks.may_restart() and path.is_file() and path.read_text() == ranks.job()


def planned_run(config: Config, folder: Path) -> Run:
    """Settle the configuration of a new run, before there is a folder.

    Raises:
        UsageError: It cannot run, or a model that it names cannot be used.
    """
    config = _settle(settled_opponents(config))
    check_opponents(config)
    if config["base"]["env_class"] != MIDRANGE:
        try_out(config["base"]["env_class"], config["env"])
    run = Run(folder, config)
    if config["base"]["load_model_path"] is not None:
        _given_policy(config)
    _pool(run)
    return run


def _settle(config: Config) -> Config:
    """Settle `config` for this machine, once all that it needs from outside is there.

    Raises:
        UsageError: A tracker's package is missing, the cluster does not answer, or it cannot run.
    """
    check_trackers(config)
    if config["cluster"]["engine"] is not None:
        from midrange_puffer.train.cluster.connect import check_address

        check_address(config["cluster"]["address"])
    return settle(config, this_machine())


@contextmanager
def resumed_run(name: str, overrides: Sequence[str], may_be_done: bool = False) -> Iterator[Run]:
    """Find the run called `name` and take up its configuration and state.

    Its folder is locked meanwhile, and nothing of it is read before.

    Args:
        may_be_done: accept a run that has made all its steps.

    Raises:
        LockedError: Another process trains it. "latest" takes no older run instead, which might
            not be the one that is meant.
    """
    folder = run_folder.find_run(name, data_dir(overrides))
    with _locked(folder):
        yield _taken_up(folder, overrides, may_be_done)


def _taken_up(folder: Path, overrides: Sequence[str], may_be_done: bool) -> Run:
    """The run of a folder, with its configuration and state."""
    old = load_config(folder / run_folder.CONFIG, complete=True)
    config = load_config(folder / run_folder.CONFIG, overrides, complete=True)
    run_name = old["train"]["run_name"]
    here = {"data_dir": str(folder.parent), "run_name": run_name}  # the folder may have been moved
    old, config = (one.replaced("train", "the run's folder", **here) for one in (old, config))
    config = _settle(settled_opponents(config))
    check_opponents(config)
    state = run_folder.load_state(folder)
    steps, goal = state["global_step"], config["train"]["total_timesteps"]
    if steps >= goal and not may_be_done:
        raise ConfigError(
            f"{folder}: has made its {steps} steps; go on with --train.total-timesteps above {goal}"
        )
    curriculum = Curriculum(config, state)
    where = f", {curriculum}" if curriculum.stages else ""
    print(f"resuming {shown(folder)} at {steps} of {goal} steps{where}")
    for key, (before, after) in changes(old, config).items():
        if key.startswith(FIXED):
            raise ConfigError(f"{key}: is {before} in {folder} and cannot become {after}")
        print(f"  {key}: {shown(before)} -> {shown(after)}")
    return Run(folder, config, state)


def train(run: Run, signals: StopSignals, raters: Sequence[Rater] = ()) -> None:
    """Train until the end, a signal or a rater's word, and say how it ended.

    Args:
        raters: others than the league and the replays that the configuration may ask for.

    Raises:
        DivergedError: The last checkpoint is from before.
    """
    config, folder = run.config, run.folder
    ranks.take_device(config["train"]["device"])
    pool, loggers, results, all_raters = None, Loggers(folder.name, []), Results(), []
    if ranks.is_first():
        pool, all_raters = _pool(run), [*_league(run), *_replays(run), *raters]
        write_whole(folder / run_folder.CONFIG, format_config(config).encode())
        loggers = _loggers(run)
    print(f"run folder {shown(folder)}", flush=True)
    seed_everything(config["train"]["seed"])
    torch.set_num_threads(config["train"]["torch_threads"])
    with (
        memory_advice(_memory_keys(config)),
        _engine(config, signals) as engine,
        _screen(run) as screen,
    ):
        loggers.loggers += [results, *screen]
        trainer = train_stage(run, signals, engine, loggers, pool, all_raters)
        while not (signals.agree() or trainer.is_over):
            # From what was saved, so that a stage begins alike whether a run is stopped there.
            run = replace(run, state=ranks.from_first(lambda: run_folder.load_state(folder)))
            trainer = train_stage(run, signals, engine, loggers, pool, all_raters)
        loggers.close(trainer.model_path)
    print_end(trainer, results, signals)


def _memory_keys(config: Config) -> str:
    """What can be made smaller where there is not enough memory, and what it is now."""
    now = {f"{section}.{name}": config[section][name] for section, name in MEMORY_KEYS}
    keys = ", ".join(f"{name} = {value}" for name, value in now.items() if value > 1)
    return f"try a smaller one of {keys}"


def train_stage(
    run: Run,
    signals: StopSignals,
    engine: Engine,
    loggers: Loggers,
    pool: Pool | None,
    raters: Sequence[Rater],
) -> Trainer:
    """Train until the end of the stage or of the run, a signal or a rater's word.

    What is then saved goes on in the next stage, if this one is passed.
    """
    curriculum = Curriculum(run.config, run.state)
    if curriculum.stages:
        print(f"{curriculum}, from {curriculum.start} steps on", flush=True)
    policy = _policy(run)
    pool_path = ranks.from_first(lambda: _join(pool, run, policy))
    with (
        closing(engine.make_envs(curriculum.config, pool_path)) as vecenv,
        closing(engine.trainer(run, curriculum, vecenv, policy, loggers, pool, raters)) as trainer,
    ):
        trainer.save_checkpoint()  # proves at once that checkpoints can be written
        with suppress(StoppedError):  # its update is left out
            while not (
                signals.agree() or trainer.is_over or curriculum.is_passed(trainer.global_step)
            ):
                trainer.evaluate()
                trainer.train()
        if not trainer.done:
            if curriculum.is_passed(trainer.global_step):
                curriculum.advance(trainer.global_step)
            trainer.save_checkpoint()
    return trainer


@contextmanager
def _engine(config: Config, signals: StopSignals) -> Iterator[Engine]:
    """The engine that a configuration asks for."""
    if config["cluster"]["engine"] is None:
        yield Engine(partial(VecEnv, make_env), Trainer)
        return
    from midrange_puffer.train.cluster.learner import ClusterTrainer, collecting

    with collecting(config, lambda: bool(signals.caught)) as make_envs:
        yield Engine(make_envs, ClusterTrainer)


def _policy(run: Run) -> torch.nn.Module:
    """The policy that a run goes on with, or begins with."""
    config, device = run.config, run.config["train"]["device"]
    if run.state:
        policy, _ = load_policy(run.folder / run.state["model"], device)
        return policy.train()
    if config["base"]["load_model_path"] is not None:
        return _given_policy(config).to(device)
    spaces = model_file.policy_spaces(config["env"])
    base = config["base"]
    made_of = policy_class(base["policy_name"])
    policy = make_policy(spaces, config["policy"], base["rnn_name"], config["rnn"], made_of)
    if base["policy_name"] != PACKAGE:
        check_outputs(policy, spaces)
    return policy.to(device)


def _given_policy(config: Config) -> torch.nn.Module:
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
    shapes += [
        (f"env.{name}", *(of["env"][name] for of in (model, config))) for name in model_file.SHAPING
    ]
    # Files from before hidden_layers are of two. What shapes one of the user's own is not known.
    sizes = {"hidden_size": None, "hidden_layers": 2}
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


def _pool(run: Run) -> Pool | None:
    """The pool of a run that meets it in any stage."""
    return Pool(run.folder, run.config["pool"]) if meets_pool(run.config) else None


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


def _league(run: Run) -> list[TrainingLeague]:
    """The league that rates the policy now and then, alone in a list; none if it is not to."""
    if not run.config["league"]["interval"]:
        return []
    parameters = game_of(run.config)
    agent_steps = run.state["global_step"] if run.state else 0
    return [TrainingLeague(run.folder, run.config["league"], parameters, agent_steps)]


def _replays(run: Run) -> list[TrainingReplays]:
    """Who keeps replays now and then, alone in a list; none if nobody is to."""
    if not run.config["train"]["replay_interval"]:
        return []
    return [TrainingReplays(run.folder, run.config)]


def _loggers(run: Run) -> Loggers:
    step = run.state["global_step"] if run.state else None
    metrics_file = MetricsFile(run.folder / run_folder.METRICS, step)
    return Loggers(run.folder.name, [metrics_file, *open_trackers(run.config, run.folder, step)])


@contextmanager
def _screen(run: Run) -> Iterator[list[Logger]]:
    """What shows the run on stdout: a dashboard in a terminal that is large enough, else lines."""
    total_steps, stages = run.config["train"]["total_timesteps"], stage_names(run.config)
    terminal = rich.console.Console(highlight=False)
    if not ranks.is_first():
        yield []
    elif sys.stdout.isatty() and Dashboard.fits(terminal):
        with Dashboard(terminal, run.folder.name, total_steps, stages) as dashboard:
            yield [dashboard]
    else:
        width = min(terminal.width - 1, LINE_WIDTH) if sys.stdout.isatty() else LINE_WIDTH
        yield [Console(total_steps, stages, width)]

"""One run, from its configuration to its last checkpoint and the words at its end."""

import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import rich.console

from midrange_puffer.config.configuration import (
    Config,
    ConfigError,
    changes,
    run_configs,
    stage_names,
)
from midrange_puffer.config.reading import data_dir, load_config, own_words
from midrange_puffer.config.settle import settle
from midrange_puffer.envs.own_env import try_out
from midrange_puffer.errors import UserError
from midrange_puffer.files import lock, make_folder, new_name, remove_temporary, write_whole
from midrange_puffer.game.observation import features_of
from midrange_puffer.game.parameters import SUBORDINATE, observed, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.champions import chosen_in_game
from midrange_puffer.policies.contestants import load_mix
from midrange_puffer.policies.mix import KINDS
from midrange_puffer.policies.own_code import MIDRANGE, PACKAGED, short_name
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.dashboard import LEAST_WIDTH, Dashboard, scores_table
from midrange_puffer.train.loggers import (
    LINE_WIDTH,
    UPDATES,
    Console,
    Logger,
    RecentScores,
    check_trackers,
    format_duration,
)
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.profiling import Profile
from midrange_puffer.train.raters import Rater
from midrange_puffer.train.run_folder import OPPONENT, Run, settled_models, settled_opponents
from midrange_puffer.train.stages import given_policy, open_stages, pool_of
from midrange_puffer.train.stop_signals import StoppedError, StopSignals
from midrange_puffer.train.trainer import StageTrainer

# The file of a run folder that names the job that made it, if the job may be restarted.
JOB = "job"
TRAINS = "trains this run"  # in the message of `lock`: another process trains this run
PATIENCE = 10.0  # s that a restarted job waits for its earlier processes to end
# Prefixes of the keys that shape policy and optimizer: a resumed run cannot change them.
FIXED = (
    "base.policy_name", "policy.", "rnn.", "base.rnn_name", "base.load_model_path",
    "train.optimizer", "train.critic",
    *(f"env.{name}" for name in model_file.SHAPING),
)  # fmt: skip


def train_to_end(run: Run) -> int:
    """Trains until the end of the run or a signal; returns the exit status."""
    with StopSignals() as signals:
        try:
            with removed_if_never_begun(run):
                train(run, signals)
        except UserError:
            if (run.folder / run_folder.STATE).exists():
                option = f"--resume {shown(run.folder)}"
                print(f"the last checkpoint still stands: {option}", file=sys.stderr)
            raise
    return 128 + signals.caught if signals.caught else 0


@contextmanager
def removed_if_never_begun(run: Run) -> Iterator[None]:
    """Removes the folder of a run that fails before its first checkpoint, to free its name."""
    try:
        yield
    except UserError:
        if ranks.is_first() and not (run.folder / run_folder.STATE).exists():
            shutil.rmtree(run.folder, ignore_errors=True)
        raise


def new_run(config_path: str | None, overrides: Sequence[str]) -> AbstractContextManager[Run]:
    """Begins a new run of a configuration file, as `begun_run` does."""
    return begun_run(load_config(config_path, overrides))


@contextmanager
def begun_run(config: Config) -> Iterator[Run]:
    """Settles the configuration of a new run, and makes its folder and locks it meanwhile."""
    train = config.train
    # A generated name does not enter the configuration: config.ini may be used for another run.
    run = planned_run(config, Path(train.data_dir, train.run_name or new_name()))
    _make_run_folder(run.folder)
    with _locked(run.folder):
        yield run


def _locked(folder: Path) -> AbstractContextManager[None]:
    return lock(folder, TRAINS, PATIENCE if ranks.may_restart() else 0)


def _make_run_folder(folder: Path) -> None:
    """Makes the folder, or takes one that this job made before it failed without a checkpoint."""
    if is_of_this_job(folder) and not (folder / run_folder.STATE).exists():
        return
    make_folder(folder)
    if ranks.may_restart():
        write_whole(folder / JOB, ranks.job().encode())


def is_of_this_job(folder: Path) -> bool:
    """True if this job made the folder before a restart, and not another run of this name."""
    path = folder / JOB
    return ranks.may_restart() and path.is_file() and path.read_text() == ranks.job()


def planned_run(config: Config, folder: Path) -> Run:
    """Settles the configuration of a new run, before it has a folder.

    Raises:
        UsageError: It cannot run, or a model that it names cannot be used.
    """
    config = _settle(settled_models(settled_opponents(config)))
    _try_out_own_code(config)
    run = Run(folder, config)
    if config.base.load_model_path is not None:
        given_policy(config)
    pool_of(run)
    return run


def _try_out_own_code(config: Config) -> None:
    """Loads the opponents and tries the environment of every stage, before a run begins.

    Raises:
        UsageError: A model or a function cannot be used, or a model observes more than the agents
            of this run.
    """
    for env in (stage.env for stage in run_configs(config)):
        observation = observed(env.observation, env)
        features = len(features_of(observation, *sizes_of(env)))
        opponents = load_mix(chosen_in_game(env.opponent, env), KINDS, OPPONENT, features)
        where = f"env.observation = {observation}"
        opponents.check_observation(OPPONENT, observation, features, where)
    env_class = config.base.env_class
    if env_class != MIDRANGE:
        for stage in run_configs(config):
            try_out(env_class, stage.env)


def _settle(config: Config) -> Config:
    """Settles `config` for this machine, after checking trackers and cluster.

    Raises:
        UsageError: A tracker's package is missing, the cluster does not answer, or it cannot run.
    """
    check_trackers(config)
    if config.cluster.engine is not None:
        from midrange_puffer.train.cluster.connect import check_address

        check_address(config.cluster.address)
    return settle(config, this_machine())


@contextmanager
def resumed_run(name: str, overrides: Sequence[str], may_be_done: bool = False) -> Iterator[Run]:
    """Finds the run called `name`, locks its folder and reads its configuration and state.

    Args:
        name: its folder, its name in train.data_dir, or "latest".
        overrides: words of the command line.
        may_be_done: accept a run that has made all its steps.

    Raises:
        LockedError: Another process trains it. "latest" does not fall back to an older run, which
            the user may not have meant.
    """
    folder = run_folder.find_run(name, data_dir(overrides))
    with _locked(folder):
        remove_temporary(folder)
        yield _read_run(folder, overrides, may_be_done)


def _read_run(folder: Path, overrides: Sequence[str], may_be_done: bool) -> Run:
    """Returns the run of a folder, with its configuration and state."""
    path = folder / run_folder.CONFIG
    old_name = load_config(path, complete=True, runs_code=False).base.policy_name
    # Overrides may give a new place of the user's code, whose file may have been moved.
    old = load_config(path, own_words(overrides), complete=True)
    config = load_config(path, overrides, complete=True)
    policy_name = config.base.policy_name
    if short_name(policy_name) != short_name(old_name):
        raise ConfigError(
            f"base.policy_name: is {old_name} in {folder} and cannot become {policy_name}"
        )
    run_name = old["train"]["run_name"]
    # The folder may have been moved.
    place = {"data_dir": str(folder.parent), "run_name": run_name}
    old = old.replaced("train", "the run's folder", **place)
    config = config.replaced("train", "the run's folder", **place)
    config = _settle(settled_opponents(config))
    _try_out_own_code(config)
    state = run_folder.load_state(folder)
    steps, goal = state["global_step"], config.train.total_timesteps
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


def train(
    run: Run, signals: StopSignals, raters: Sequence[Rater] = (), profile: Profile | None = None
) -> None:
    """Trains until the end, a signal or a rater's stop, and prints how the run ended.

    Args:
        run: its folder is locked.
        signals: that stop the run.
        raters: in addition to those of the configuration.
        profile: where the parts of the updates are timed; None: a new one.

    Raises:
        DivergedError: The last checkpoint is from before.
    """
    scores = RecentScores()
    with (
        open_stages(run, lambda: bool(signals.caught), raters, profile) as stages,
        _screen(run) as screen,
        suppress(StoppedError),  # the interrupted update is dropped
    ):
        stages.loggers.add(scores, *screen)
        while not (signals.agree() or stages.trainer.is_over):
            stages.evaluate()
            stages.trainer.train()
    print_end(stages.trainer, scores, signals)


@contextmanager
def _screen(run: Run) -> Iterator[list[Logger]]:
    """Shows the run on stdout: a dashboard if the terminal is large enough, else lines."""
    total_steps, stages = run.config.train.total_timesteps, stage_names(run.config)
    terminal = rich.console.Console(highlight=False)
    if not ranks.is_first():
        yield []
    elif sys.stdout.isatty() and Dashboard.fits(terminal):
        with Dashboard(terminal, run.folder.name, total_steps, stages) as dashboard:
            yield [dashboard]
    else:
        width = min(terminal.width - 1, LINE_WIDTH) if sys.stdout.isatty() else LINE_WIDTH
        yield [Console(total_steps, stages, width)]


def print_end(trainer: StageTrainer, scores: RecentScores, signals: StopSignals) -> None:
    """Prints the scores, the time taken, the model's path and the next commands."""
    if trainer.stop_reason:
        print(trainer.stop_reason)
        return
    folder = shlex.quote(shown(trainer.run.folder))  # quoted for a shell
    model = shown(trainer.model_path)
    terminal = rich.console.Console(highlight=False)
    print()
    terminal.print(scores_table(scores, bars=terminal.width >= LEAST_WIDTH))
    if scores.all is not None:
        rows = "updates" if trainer.settings.log_interval == 1 else "rows of metrics"
        print(f"\nlast score {scores.all.score:.3f}: the mean of the last {UPDATES} {rows}")
    if signals.caught:
        print(
            f"stopped by {signal.Signals(signals.caught).name}; saved {model}; "
            f"go on with: puffer train midrange --resume {folder}"
        )
        return
    name = trainer.run.config.base.policy_name
    own_code = "" if name in PACKAGED else f" --policy-name {shlex.quote(shown(name))}"
    steps, duration = trainer.global_step, format_duration(trainer.uptime)
    uses = (
        f"measure  puffer eval midrange --load-model-path {folder}{own_code}\n"
        f"watch    puffer eval midrange --load-model-path {folder}{own_code} --render\n"
    )
    if trainer.run.config.env.agents == SUBORDINATE:
        uses = (
            f"command  --env.subordinates {shlex.quote(model)}, in training in this game with "
            "env.action_mode = orders\n"
        )
    print(
        f"trained  {steps / 1e6:.2f} M steps in {duration}\n"
        f"model    {model}\n{_format_best(trainer.run.folder)}{uses}"
        f"go on    puffer train midrange --resume {folder} --train.total-timesteps {2 * steps}"
    )


def _format_best(folder: Path) -> str:
    """Returns a line about the best-rated model of the run; empty if none is rated."""
    rated = run_folder.best_rated(folder)
    if rated is None:
        return ""
    path, panel = rated
    return f"best     {shown(path)}, with a panel score of {panel.score:.3f}\n"

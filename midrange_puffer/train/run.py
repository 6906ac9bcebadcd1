"""One run, from its configuration to its last checkpoint."""

import shutil
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
from midrange_puffer.envs.midrange import try_out
from midrange_puffer.errors import UserError
from midrange_puffer.files import lock, make_folder, new_name, write_whole
from midrange_puffer.names import shown
from midrange_puffer.policies import model_file
from midrange_puffer.policies.own_code import MIDRANGE, short_name
from midrange_puffer.train import ranks, run_folder
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.dashboard import Dashboard
from midrange_puffer.train.ending import print_end
from midrange_puffer.train.loggers import (
    LINE_WIDTH,
    Console,
    Logger,
    check_trackers,
)
from midrange_puffer.train.machine import this_machine
from midrange_puffer.train.opponents import check_opponents, settled_model, settled_opponents
from midrange_puffer.train.results import Results
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.session import given_policy, open_session, pool_of
from midrange_puffer.train.stop_signals import StoppedError, StopSignals
from midrange_puffer.train.trainer import Rater

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


def train_to_end(run: Run) -> int:
    """Train until the end of the run, or until a signal comes; return the exit status."""
    with StopSignals() as signals:
        try:
            with removed_if_never_begun(run):
                train(run, signals)
        except UserError:
            if (run.folder / run_folder.STATE).exists():
                how = f"--resume {shown(run.folder)}"
                print(f"the last checkpoint still stands: {how}", file=sys.stderr)
            raise
    return 128 + signals.caught if signals.caught else 0


@contextmanager
def removed_if_never_begun(run: Run) -> Iterator[None]:
    """Take away the folder of a run that fails before its first checkpoint.

    Another try may have its name.
    """
    try:
        yield
    except UserError:
        if ranks.is_first() and not (run.folder / run_folder.STATE).exists():
            shutil.rmtree(run.folder, ignore_errors=True)
        raise


def new_run(config_path: str | None, overrides: Sequence[str]) -> AbstractContextManager[Run]:
    """A new run of a configuration's file, as of `begun_run`."""
    return begun_run(load_config(config_path, overrides))


@contextmanager
def begun_run(config: Config) -> Iterator[Run]:
    """Settle the configuration of a new run and make its folder, which is locked meanwhile."""
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
    config = _settle(settled_model(settled_opponents(config)))
    _try_out_own_code(config)
    run = Run(folder, config)
    if config["base"]["load_model_path"] is not None:
        given_policy(config)
    pool_of(run)
    return run


def _try_out_own_code(config: Config) -> None:
    """Try the opponents and the reward of every stage, before a run begins or goes on.

    Raises:
        UsageError: One cannot be used.
    """
    check_opponents(config)
    env_class = config["base"]["env_class"]
    if env_class != MIDRANGE:
        for stage in run_configs(config):
            try_out(env_class, stage["env"])


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
    path = folder / run_folder.CONFIG
    named = load_config(path, complete=True, runs_code=False)["base"]["policy_name"]
    # Where code is now may be said anew: its file may have been moved.
    old = load_config(path, own_words(overrides), complete=True)
    config = load_config(path, overrides, complete=True)
    policy_name = config["base"]["policy_name"]
    if short_name(policy_name) != short_name(named):
        raise ConfigError(
            f"base.policy_name: is {named} in {folder} and cannot become {policy_name}"
        )
    run_name = old["train"]["run_name"]
    here = {"data_dir": str(folder.parent), "run_name": run_name}  # the folder may have been moved
    old, config = (one.replaced("train", "the run's folder", **here) for one in (old, config))
    config = _settle(settled_opponents(config))
    _try_out_own_code(config)
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
    results = Results()
    with (
        open_session(run, lambda: bool(signals.caught), raters) as session,
        _screen(run) as screen,
        suppress(StoppedError),  # its update is left out
    ):
        session.loggers.add(results, *screen)
        while not (signals.agree() or session.is_over):
            session.evaluate()
            session.train()
    print_end(session.trainer, results, signals)


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

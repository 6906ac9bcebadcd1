"""What a run says at its end."""

import shlex
import signal
from pathlib import Path

from rich.console import Console

from midrange_puffer.names import shown
from midrange_puffer.policies.own_code import PACKAGE
from midrange_puffer.train import run_folder
from midrange_puffer.train.dashboard import LEAST_WIDTH, results_table
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.results import UPDATES, Results
from midrange_puffer.train.stop_signals import StopSignals
from midrange_puffer.train.trainer import StageTrainer


def print_end(trainer: StageTrainer, results: Results, signals: StopSignals) -> None:
    """Say how the policy fares, how long it took, where the model is and what to type next."""
    if trainer.stop_reason:
        print(trainer.stop_reason)
        return
    folder = shlex.quote(shown(trainer.run.folder))  # as it is typed
    model = shown(trainer.model_path)
    terminal = Console(highlight=False)
    print()
    terminal.print(results_table(results, bars=terminal.width >= LEAST_WIDTH))
    if results.all is not None:
        rows = "updates" if trainer.config["log_interval"] == 1 else "rows of metrics"
        print(f"\nlast score {results.all.score:.3f}: the mean of the last {UPDATES} {rows}")
    if signals.caught:
        print(
            f"stopped by {signal.Signals(signals.caught).name}; saved {model}; "
            f"go on with: puffer train midrange --resume {folder}"
        )
        return
    named = _own_policy(trainer)
    steps, took = trainer.global_step, format_duration(trainer.uptime)
    print(
        f"trained  {steps / 1e6:.2f} M steps in {took}\n"
        f"model    {model}\n{_format_best(trainer.run.folder)}"
        f"measure  puffer eval midrange --load-model-path {folder}{named}\n"
        f"watch    puffer eval midrange --load-model-path {folder}{named} --render\n"
        f"go on    puffer train midrange --resume {folder} --train.total-timesteps {2 * steps}"
    )


def _own_policy(trainer: StageTrainer) -> str:
    """The option that names the code of a policy of the user's own, where there is one."""
    name = trainer.run.config["base"]["policy_name"]
    return "" if name == PACKAGE else f" --policy-name {shlex.quote(shown(name))}"


def _format_best(folder: Path) -> str:
    """A line about the best-rated model of the run; empty where none was rated."""
    rated = run_folder.best_rated(folder)
    if rated is None:
        return ""
    path, panel = rated
    return f"best     {shown(path)}, with a panel score of {panel.score:.3f}\n"

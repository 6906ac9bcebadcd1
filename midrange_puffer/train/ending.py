"""What a run says at its end."""

import shlex
import signal

from rich.console import Console

from midrange_puffer.names import shown
from midrange_puffer.train.dashboard import LEAST_WIDTH, results_table
from midrange_puffer.train.loggers import format_duration
from midrange_puffer.train.results import UPDATES, Results
from midrange_puffer.train.stop_signals import StopSignals
from midrange_puffer.train.trainer import Trainer


def print_end(trainer: Trainer, results: Results, signals: StopSignals) -> None:
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
    steps, took = trainer.global_step, format_duration(trainer.uptime)
    print(
        f"trained  {steps / 1e6:.2f} M steps in {took}\n"
        f"model    {model}\n"
        f"measure  puffer eval midrange --load-model-path {folder}\n"
        f"watch    puffer eval midrange --load-model-path {folder} --render\n"
        f"go on    puffer train midrange --resume {folder} --train.total-timesteps {2 * steps}"
    )

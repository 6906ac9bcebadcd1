"""PuffeRL, fitted to runs that can be stopped, killed, repeated and resumed."""

import contextlib
import random
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from midrange_puffer import checkpoint
from midrange_puffer.checkpoint import Run
from midrange_puffer.loggers import Loggers
from midrange_puffer.puffer_import import contained
from midrange_puffer.vectorize import VecEnv

with contained():
    from pufferlib import pufferl


class Trainer(pufferl.PuffeRL):
    """Trains one policy in one run folder.

    `evaluate()` gathers experience, `train()` learns from it, logs a row of metrics and saves a
    checkpoint at every train.checkpoint_interval and at the end. Every update is logged, so that
    the rows of a run do not depend on the speed of the machine.
    """

    def __init__(self, run: Run, vecenv: VecEnv, policy: torch.nn.Module, logger: Loggers) -> None:
        self.run = run
        self.model_path: Path | None = None
        self._interval_start = time.time()
        base, train = run.config["base"], run.config["train"]
        _fit_advantage_kernel()
        # Whole updates, so that PuffeRL's schedule ends with the run.
        updates = -(-train["total_timesteps"] // train["batch_size"])
        config = {
            **train,
            "total_timesteps": updates * train["batch_size"],
            "seed": _engagement_seed(train["seed"], run.state["epoch"] if run.state else 0),
            "env": base["env_name"],
            "use_rnn": base["rnn_name"] is not None,
        }
        with _quiet():
            super().__init__(config, vecenv, policy, logger)
        self.profile.frequency = 1  # measure every update, not each fifth
        if train["precision"] == "float32":
            self.amp_context = contextlib.nullcontext()
        if run.state:
            self._restore(run.state)

    @property
    def sps(self) -> float:
        """Agent decisions a second since the last log."""
        return (self.global_step - self.last_log_step) / (time.time() - self._interval_start)

    @property
    def done(self) -> bool:
        """Whether train.total_timesteps are reached."""
        return self.global_step >= self.config["total_timesteps"]

    def train(self) -> dict[str, float]:
        """Learn from the experience of the last `evaluate()`; return the logged metrics."""
        self._anneal_entropy()
        # PuffeRL logs where its last log is long enough ago.
        self._interval_start, self.last_log_time = self.last_log_time, 0.0
        with _nan_with_item(), _quiet():
            return super().train()

    def _anneal_entropy(self) -> None:
        """Set the weight of the entropy bonus for this update."""
        train = self.run.config["train"]
        first, final = train["ent_coef"], train["ent_coef_final"]
        if final is not None:
            left = max(1 - self.global_step / self.config["total_timesteps"], 0)
            self.config["ent_coef"] = final + (first - final) * left

    def print_dashboard(self, clear: bool = False) -> None:
        """Redraw the dashboard, on a terminal."""
        if sys.stdout.isatty():
            super().print_dashboard(clear=clear)

    def save_checkpoint(self) -> Path:
        """Write the model and what a resumed run needs besides; return the model's path."""
        state = {
            "epoch": self.epoch,
            "global_step": self.global_step,
            "uptime": self.uptime,
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "numpy_rng": np.random.get_state(),  # noqa: NPY002, the generator libraries share
            "python_rng": random.getstate(),
        }
        weights = self.uncompiled_policy.state_dict()
        nvec = self.vecenv.single_action_space.nvec
        self.model_path = checkpoint.save(self.run, weights, nvec, state)
        return self.model_path

    def _restore(self, state: dict[str, object]) -> None:
        """Go on from a saved state; a schedule of another length or height is entered midway."""
        settings = [
            {name: group[name] for name in ("betas", "eps")}
            for group in self.optimizer.param_groups
        ]
        self.optimizer.load_state_dict(state["optimizer"])
        for group, setting in zip(self.optimizer.param_groups, settings, strict=True):
            group.update(setting)
        self._restore_schedule(state["scheduler"])
        self.epoch, self.global_step = state["epoch"], state["global_step"]
        self.last_log_step = self.global_step
        self.start_time = time.time() - state["uptime"]
        torch.set_rng_state(state["torch_rng"])
        if len(state["cuda_rng"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(state["cuda_rng"])
        np.random.set_state(state["numpy_rng"])  # noqa: NPY002
        random.setstate(state["python_rng"])

    def _restore_schedule(self, saved: dict[str, object]) -> None:
        scheduler, train = self.scheduler, self.config
        unchanged = (saved["T_max"], saved["base_lrs"]) == (scheduler.T_max, scheduler.base_lrs)
        scheduler.load_state_dict(
            {**saved, "T_max": scheduler.T_max, "base_lrs": scheduler.base_lrs}
        )
        if not unchanged:
            rates = scheduler._get_closed_form_lr() if train["anneal_lr"] else scheduler.base_lrs
            for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
                group["lr"] = rate

    def close(self) -> None:
        """End the utilization thread; the environments are the caller's to close."""
        self.utilization.stop()


def _engagement_seed(seed: int, epoch: int) -> int:
    """Seed of the engagements, another one wherever a run is resumed: they start afresh there."""
    return int(np.random.SeedSequence((seed, epoch)).generate_state(1)[0] >> 1)


class _DaemonUtilization(pufferl.Utilization):
    """PuffeRL's monitor thread, unable to keep a failed process alive."""

    def start(self) -> None:
        self.daemon = True
        super().start()


pufferl.Utilization = _DaemonUtilization


class _NanWithItem(float):
    def item(self) -> float:
        return float(self)


@contextlib.contextmanager
def _nan_with_item() -> Iterator[None]:
    """PuffeRL calls torch.nan.item() where all returns are equal."""
    nan, torch.nan = torch.nan, _NanWithItem("nan")
    try:
        yield
    finally:
        torch.nan = nan


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide two warnings that say nothing here.

    PuffeRL sets up CUDA's mixed precision even where there is no CUDA, and heavyball's optimizers
    call a schedule of the learning rate experimental.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*autocast", UserWarning)
        warnings.filterwarnings("ignore", "Learning rate changed between steps", UserWarning)
        yield


def _fit_advantage_kernel() -> None:
    """Use the CUDA advantage kernel if it was built; PuffeRL goes by nvcc being on PATH."""
    operator = "pufferlib::compute_puff_advantage"
    pufferl.ADVANTAGE_CUDA = torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CUDA")

"""PuffeRL, fitted to runs that can be stopped, killed, repeated and resumed."""

import copy
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from midrange_puffer.errors import UserError
from midrange_puffer.policies import networks
from midrange_puffer.policies.models import parse_metadata
from midrange_puffer.train import ranks, run_folder, trainer_state
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.fitted_pufferl import FittedPuffeRL
from midrange_puffer.train.loggers import Loggers
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.seeding import seed_everything
from midrange_puffer.train.since_row import SinceRow
from midrange_puffer.train.step_clock import Stepped
from midrange_puffer.train.update import Learner, Schedule
from midrange_puffer.train.vector import VecEnv


class DivergedError(UserError):
    """Training has made the weights huge or no numbers."""


class Rater(Protocol):
    """Rates the policy in training now and then.

    Attributes:
        stop_reason: why the run is to end early, in words; None: it is not.
    """

    stop_reason: str | None

    def is_due(self, epoch: int, agent_steps: int, done: bool) -> bool:
        """Whether it is time, after so many updates and agent decisions; `done`: at the end."""

    def rate(self, policy: torch.nn.Module, name: str, agent_steps: int) -> dict[str, float]:
        """Rate a policy on the CPU in evaluation mode; return metrics.

        Args:
            policy: as it is now.
            name: of its checkpoint, as "model_000100".
            agent_steps: how long it was trained.
        """


class StageTrainer(FittedPuffeRL):
    """Trains one policy in one run folder, through one stage of its curriculum.

    `evaluate()` gathers experience, `train()` learns from it, logs a row of metrics and saves a
    checkpoint at every train.checkpoint_interval, at every rating and at the end. A row comes at
    every train.log_interval, and wherever the run is saved, rated or passes a stage: what comes
    then does not depend on the speed of the machine, and a run that goes on from a checkpoint lacks
    nothing.

    Attributes:
        is_off_policy: whether the experience gathered last is of older policies than the present
            one, and must be corrected.
        metadata: the user's own, JSON values by name, which stand in every checkpoint from now on.
            At first those of base.metadata, and of a resumed run what it had besides.
    """

    is_off_policy = False

    def __init__(
        self,
        run: Run,
        curriculum: Curriculum,
        vecenv: VecEnv,
        policy: torch.nn.Module,
        logger: Loggers,
        pool: Pool | None = None,
        raters: Sequence[Rater] = (),
    ) -> None:
        self.run, self.curriculum, self.pool, self.raters = run, curriculum, pool, raters
        self.stop_reason: str | None = None
        self.model_path: Path | None = None
        self.metadata: dict[str, object] = parse_metadata(run.config["base"]["metadata"])
        self._settings = curriculum.config["train"]
        epoch, step = (run.state["epoch"], run.state["global_step"]) if run.state else (0, 0)
        # Whole updates from here on, so that the schedules end with the run.
        batch = self._settings["batch_size"] * ranks.size()
        updates = -(-(self._settings["total_timesteps"] - step) // batch)
        config = {
            **self._settings,
            "total_timesteps": step + updates * batch,
            "seed": _engagement_seed(self._settings["seed"], epoch),
            "env": curriculum.stage or run.config["base"]["env_name"],  # on the dashboard
            "use_rnn": run.config["base"]["rnn_name"] is not None,
        }
        super().__init__(config, vecenv, policy, logger)
        self.total_epochs = epoch + updates
        self.learner = Learner(
            engine=self.engine,
            gathered=self.gathered,
            settings=config,
            buffer=run.config["experience_buffer"],
            clock=self.profile,
        )
        vars(self).update(self.learner.gathered)  # into which it is gathered from now on
        self._since_row, self._stepped_before = SinceRow(), vecenv.stepped
        if run.state:
            self._restore(run.state)
        if not ranks.is_first():  # others draw otherwise than rank 0, whose generators were saved
            seed_everything(config["seed"])
        self._set_rate()

    @property
    def done(self) -> bool:
        """Whether train.total_timesteps are reached."""
        return self.global_step >= self.config["total_timesteps"]

    @property
    def is_over(self) -> bool:
        """Whether the run is at its end, early or not."""
        return self.done or self.stop_reason is not None

    def evaluate(self) -> dict[str, list[float]]:
        """Gather experience; return the results of the engagements told of meanwhile, by name.

        They are, like the steps, those of all ranks.
        """
        before = self.global_step
        self.gather()
        parts = ranks.gather((self.global_step - before, dict(self.stats)))
        self.global_step = before + sum(steps for steps, _ in parts)
        self.stats = stats = ranks.joined_lists([results for _, results in parts])
        self.curriculum.observe(stats.get("score", ()))
        if self.pool is not None:
            prefix = "pool/"
            names = [name for name in stats if name.startswith(prefix)]
            self.pool.observe({name.removeprefix(prefix): stats.pop(name) for name in names})
            self.pool.refresh()
        return stats

    def gather(self) -> None:
        """Fill the buffers with whole segments, adding to `stats` and `global_step`."""
        super().evaluate()

    def source_metrics(self) -> dict[str, float]:
        """Figures of where the experience since the last row came from; once a row."""
        return {}

    def train(self) -> dict[str, float]:
        """Learn from the experience of the last `evaluate()`.

        Returns:
            The row of metrics that is logged; nothing where none is.

        Raises:
            DivergedError: The policy is of no more use; nothing of it was saved or rated.
        """
        schedule = Schedule(self.epoch, self.total_epochs, 1 - self._share_left, self._ent_coef)
        self.losses = self.learner.update(self.is_off_policy, schedule)
        self.epoch += 1
        self._set_rate()
        ranks.from_first(self._check_weights)  # they are the same on all
        self._since_row.add(self.stats, self.losses)
        self.stats = defaultdict(list)
        is_rated, saves = self._rate(), self._is_checkpoint_due
        is_row = self.epoch % self.config["log_interval"] == 0 or is_rated or saves
        is_row = is_row or self.is_over or self.curriculum.is_passed(self.global_step)
        metrics = self.mean_and_log() if is_row else {}
        if saves:
            self.save_checkpoint()
        return metrics

    def mean_and_log(self) -> dict[str, float]:
        """Log a row of all updates since the last one; nothing where there were none.

        It has the figures of curriculum, pool, machine and raters beside PuffeRL's. PuffeRL's own
        would take the row of one rank for that of all.
        """
        since, self._since_row = self._since_row, SinceRow()
        if not since.updates:
            return {}
        pool = self.pool.metrics() if self.pool is not None else {}
        self.logger.beside = {
            **self.curriculum.metrics,
            **pool,
            **self.source_metrics(),
            **self.learner.metrics,
            **ranks.means(ranks.gather(self.utilization.metrics())),
            **since.rated,
        }
        metrics = {
            "SPS": self.sps,
            "env_SPS": self._env_sps(),
            "agent_steps": self.global_step,
            "uptime": self.uptime,
            "epoch": self.epoch,
            "ranks": ranks.size(),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            **{f"environment/{name}": value for name, value in since.results().items()},
            **{f"losses/{name}": value for name, value in since.losses().items()},
            **{f"performance/{name}": part["elapsed"] for name, part in self.profile},
        }
        self.logger.log(metrics, self.global_step)
        self.last_log_time, self.last_log_step = time.monotonic(), self.global_step
        self.profile.clear()
        return metrics

    def _env_sps(self) -> float:
        """Agent decisions a second of the environments' own steps since the last row."""
        stepped = self.vecenv.stepped
        before, self._stepped_before = self._stepped_before, stepped
        return Stepped.sum(ranks.gather(stepped.since(before))).sps

    def _rate(self) -> bool:
        """Let those raters rate for whom it is time; whether there are metrics of them."""
        metrics = self._since_row.rated
        for rater in self.raters:
            if rater.is_due(self.epoch, self.global_step, self.done):
                policy = copy.deepcopy(self.uncompiled_policy).cpu().eval()
                name = Path(run_folder.model_name(self.epoch)).stem
                with torch.random.fork_rng(devices=[]):  # so that training is the same without
                    metrics |= rater.rate(policy, name, self.global_step)
        told = ranks.gather((bool(metrics), [rater.stop_reason for rater in self.raters]))
        self.stop_reason = next((reason for _, of in told for reason in of if reason), None)
        return any(is_rated for is_rated, _ in told)

    def _check_weights(self) -> None:
        if not all(map(networks.are_usable, self.policy.parameters())):
            raise DivergedError(
                f"training diverged: after {self.global_step} steps weights are beyond "
                f"{networks.WEIGHT_LIMIT:g} or no numbers; try a train.learning_rate below "
                f"{self._settings['learning_rate']:g} or a train.max_grad_norm below "
                f"{self._settings['max_grad_norm']:g}"
            )

    @property
    def _is_checkpoint_due(self) -> bool:
        """Whether the policy is saved after this update: a rated one is, so that it can be had."""
        intervals = self.config["checkpoint_interval"], self.run.config["league"]["interval"]
        return self.done or any(interval and self.epoch % interval == 0 for interval in intervals)

    @property
    def _ent_coef(self) -> float:
        """The weight of the entropy bonus, which falls linearly with the steps."""
        first, final = self._settings["ent_coef"], self._settings["ent_coef_final"]
        return first if final is None else final + (first - final) * self._share_left

    @property
    def _share_left(self) -> float:
        """The part of the run that is still to come."""
        return max(1 - self.global_step / self.config["total_timesteps"], 0)

    def _set_rate(self) -> None:
        """Set the learning rate, by the step and not by the update, whose size may change."""
        share = (1 - math.cos(math.pi * self._share_left)) / 2 if self._settings["anneal_lr"] else 1
        for group in self.optimizer.param_groups:
            group["lr"] = self._settings["learning_rate"] * share

    def save_checkpoint(self) -> None:
        """Write the model and what a resumed run needs besides, from rank 0."""
        self.mean_and_log()  # of updates that a run which goes on from here would know nothing of
        if not ranks.is_first():
            return
        state = {
            "epoch": self.epoch,
            "global_step": self.global_step,
            "uptime": self.uptime,
            "optimizer": trainer_state.optimizer_state(self.optimizer),
            "curriculum": self.curriculum.state,
            "metadata": self.metadata,
            "reference": self.engine.reference,
            **trainer_state.generators(),
        }
        weights = self.uncompiled_policy.state_dict()
        self.model_path = run_folder.save(self.run, weights, state)
        if self.pool is not None:
            self.pool.add(self.model_path, self.global_step)

    def _restore(self, state: dict[str, object]) -> None:
        """Go on from a saved state, with the settings of this configuration."""
        path = self.run.folder / run_folder.STATE
        trainer_state.set_optimizer(self.optimizer, state["optimizer"], path)
        self.engine.load()
        trainer_state.set_reference(self.engine, state["reference"], path)
        self.metadata = state["metadata"] | self.metadata
        self.epoch, self.global_step = state["epoch"], state["global_step"]
        self.last_log_step = self.global_step
        self.start_time = time.monotonic() - max(state["uptime"], 0)  # that of a clock set back
        trainer_state.set_generators(state)


def _engagement_seed(seed: int, epoch: int) -> int:
    """Seed of a rank's engagements, another wherever a run is resumed: they start afresh there."""
    sequence = np.random.SeedSequence((seed, epoch, ranks.rank()))
    return int(sequence.generate_state(1)[0] >> 1)

"""The trainer of one stage of a run, which can be stopped, killed, repeated and resumed."""

import copy
import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from midrange_puffer.config.key import Value
from midrange_puffer.errors import UserError
from midrange_puffer.policies import networks
from midrange_puffer.policies.actors import PolicyModule
from midrange_puffer.policies.critic import actor_of
from midrange_puffer.policies.models import parse_metadata
from midrange_puffer.train import central, ranks, run_folder, trainer_state
from midrange_puffer.train.curriculum import Curriculum
from midrange_puffer.train.experience import Buffer
from midrange_puffer.train.loggers import Loggers
from midrange_puffer.train.pool import Pool
from midrange_puffer.train.profiling import Profile
from midrange_puffer.train.raters import Rater
from midrange_puffer.train.rollout import RolloutPuffeRL
from midrange_puffer.train.run_folder import Run
from midrange_puffer.train.update import Learner, Schedule
from midrange_puffer.train.vector import StepTime, VecEnv


class DivergedError(UserError):
    """The weights became huge or not finite in training."""


class StageTrainer(RolloutPuffeRL):
    """PuffeRL that trains one policy in one run folder, through one stage of its curriculum.

    `evaluate()` gathers experience. `train()` learns from it, logs a row of metrics and saves a
    checkpoint at every train.checkpoint_interval, at every rating and at the end. A row is logged
    at every train.log_interval, and whenever the run is saved, rated or passes a stage. So the rows
    do not depend on the speed of the machine, and a resumed run lacks none.

    Attributes:
        is_off_policy: True if the last experience is of older policies and must be corrected.
        metadata: the user's own JSON values by name, saved in every checkpoint from now on. They
            are those of base.metadata, and of a resumed run also those saved before.
        stop_reason: why a rater ends the run early, in words; None: none does.
        model_path: the last saved model; None before the first.
    """

    is_off_policy = False

    def __init__(
        self,
        run: Run,
        curriculum: Curriculum,
        vecenv: VecEnv,
        policy: PolicyModule,
        logger: Loggers,
        pool: Pool | None = None,
        raters: Sequence[Rater] = (),
        profile: Profile | None = None,
    ) -> None:
        self.run, self.curriculum, self.pool, self.raters = run, curriculum, pool, raters
        self.stop_reason: str | None = None
        self.model_path: Path | None = None
        self.metadata: dict[str, Any] = parse_metadata(run.config.base.metadata)
        train = curriculum.config.train
        epoch, step = (run.state["epoch"], run.state["global_step"]) if run.state else (0, 0)
        # Whole updates from here on, so that the schedules end with the run.
        batch = train.batch_size * ranks.size()
        updates = -(-(train.total_timesteps - step) // batch)
        settings = replace(
            train,
            total_timesteps=step + updates * batch,
            seed=_engagement_seed(train.seed, epoch),
        )
        title = curriculum.stage or run.config.base.env_name
        super().__init__(settings, vecenv, policy, logger, profile, title)
        self.total_epochs = epoch + updates
        self.learner = Learner(
            engine=self.engine,
            gathered=self.gathered,
            settings=settings,
            buffer=run.config.experience_buffer,
            profile=self.profile,
            folder=run.folder,
            shared=self.shared_buffer(),
        )
        vars(self).update(self.learner.gathered)  # the buffers that rollouts fill from now on
        self._row, self._logged_step_time = _Row(), vecenv.step_time
        if run.state:
            self._restore(run.state)
        if not ranks.is_first():  # the saved generators are rank 0's; others draw differently
            trainer_state.seed_everything(settings.seed)
        self._set_rate()

    @property
    def actor(self) -> PolicyModule:
        """The policy that flies and is saved, without a central critic."""
        return actor_of(self.uncompiled_policy)

    @property
    def done(self) -> bool:
        """True if train.total_timesteps are reached."""
        return self.global_step >= self.settings.total_timesteps

    @property
    def is_over(self) -> bool:
        """True if the run is at its end, early or not."""
        return self.done or self.stop_reason is not None

    def evaluate(self) -> dict[str, list[float]]:
        """Gathers experience; returns figures of the engagements that ended, by name.

        Figures and steps are those of all ranks.
        """
        before = self.global_step
        self.gather()
        parts = ranks.gather((self.global_step - before, dict(self.stats)))
        self.global_step = before + sum(steps for steps, _ in parts)
        self.stats = stats = ranks.joined_lists([figures for _, figures in parts])
        self.curriculum.observe(stats.get("score", ()))
        if self.pool is not None:
            prefix = "pool/"
            names = [name for name in stats if name.startswith(prefix)]
            self.pool.observe({name.removeprefix(prefix): stats.pop(name) for name in names})
            self.pool.refresh()
        return stats

    def gather(self) -> None:
        """Fills the buffers with whole segments, and adds to `stats` and `global_step`."""
        super().evaluate()

    def shared_buffer(self) -> Callable[[int], Buffer] | None:
        """Returns what makes a buffer outside the learner, or None; see `Learner`."""
        return None

    def source_metrics(self) -> dict[str, float]:
        """Returns metrics of the source of the experience since the last row; called once a row."""
        return {}

    def train(self) -> dict[str, float]:
        """Learns from the experience of the last `evaluate()`.

        Returns:
            The logged row of metrics; empty if none is due.

        Raises:
            DivergedError: The policy is useless; it was neither saved nor rated.
        """
        schedule = Schedule(self.epoch, self.total_epochs, 1 - self._share_left, self._ent_coef)
        self.losses = self.learner.update(self.is_off_policy, schedule)
        self.epoch += 1
        self._set_rate()
        ranks.from_first(self._check_weights)  # they are the same on all ranks
        self._row.add(self.stats, self.losses)
        self.stats = defaultdict(list)
        is_rated, saves = self._rate(), self._is_checkpoint_due
        is_row = self.epoch % self.settings.log_interval == 0 or is_rated or saves
        is_row = is_row or self.is_over or self.curriculum.is_passed(self.global_step)
        metrics = self.mean_and_log() if is_row else {}
        if saves:
            self.save_checkpoint()
        return metrics

    def mean_and_log(self) -> dict[str, float]:
        """Logs and returns a row of all updates since the last one; empty without any.

        To PuffeRL's metrics the row adds those of curriculum, pool, machine and raters. PuffeRL's
        own method would log the row of one rank as that of all.
        """
        row, self._row = self._row, _Row()
        if not row.updates:
            return {}
        before, self._logged_step_time = self._logged_step_time, self.vecenv.step_time
        step_time = StepTime.sum(ranks.gather(self._logged_step_time.since(before)))
        metrics = {
            "SPS": self.sps,
            "env_SPS": step_time.sps,
            "agent_steps": self.global_step,
            "uptime": self.uptime,
            "epoch": self.epoch,
            "ranks": ranks.size(),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            **{f"environment/{name}": value for name, value in row.figures().items()},
            **{f"losses/{name}": value for name, value in row.losses().items()},
            **{f"performance/{name}": part["elapsed"] for name, part in self.profile},
            **{
                f"performance/update/{name}": part["delta"] / row.updates
                for name, part in self.profile
            },
            **self.curriculum.metrics,
            **(self.pool.metrics() if self.pool is not None else {}),
            **self.source_metrics(),
            **self.learner.metrics,
            **ranks.means(ranks.gather(self.utilization.metrics())),
            **row.ratings,
        }
        # Plain numbers in place of numpy's.
        metrics = {
            name: value if isinstance(value, int) else float(value)
            for name, value in metrics.items()
        }
        self.logger.log(metrics, self.global_step)
        self.last_log_time, self.last_log_step = time.monotonic(), self.global_step
        self.profile.clear()
        return metrics

    def _rate(self) -> bool:
        """Calls the raters that are due; returns True if any rank has metrics of a rater."""
        metrics = self._row.ratings
        for rater in self.raters:
            if rater.is_due(self.epoch, self.global_step, self.done):
                policy = copy.deepcopy(self.actor).cpu().eval()
                name = Path(run_folder.model_name(self.epoch)).stem
                with torch.random.fork_rng(devices=[]):  # raters do not change the training
                    metrics |= rater.rate(policy, name, self.global_step)
        answers = ranks.gather((bool(metrics), [rater.stop_reason for rater in self.raters]))
        reasons = (reason for _, reasons in answers for reason in reasons)
        self.stop_reason = next(filter(None, reasons), None)
        return any(is_rated for is_rated, _ in answers)

    def _check_weights(self) -> None:
        if not all(map(networks.are_usable, self.policy.parameters())):
            raise DivergedError(
                f"training diverged: after {self.global_step} steps weights exceed "
                f"{networks.WEIGHT_LIMIT:g} or are not finite; try a train.learning_rate below "
                f"{self.settings.learning_rate:g} or a train.max_grad_norm below "
                f"{self.settings.max_grad_norm:g}"
            )

    @property
    def _is_checkpoint_due(self) -> bool:
        """True if the policy is saved after this update; a rated one always is."""
        intervals = self.settings.checkpoint_interval, self.run.config.league.interval
        return self.done or any(interval and self.epoch % interval == 0 for interval in intervals)

    @property
    def _ent_coef(self) -> float:
        """The weight of the entropy bonus, which falls linearly with the steps."""
        first, final = self.settings.ent_coef, self.settings.ent_coef_final
        return first if final is None else final + (first - final) * self._share_left

    @property
    def _share_left(self) -> float:
        """The part of the run that is still to come."""
        return max(1 - self.global_step / self.settings.total_timesteps, 0)

    def set_live(self, **values: Value) -> None:
        """Changes settings of `schema.LIVE_KEYS` from the next update on."""
        self.settings = settings = replace(self.settings, **values)  # pyright: ignore[reportArgumentType] - checked by their keys
        self.learner.settings = self.engine.settings = settings
        self._set_rate()

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Replaces the policy's weights; the optimizer begins anew."""
        self.actor.load_state_dict(weights)
        for averages in self.optimizer.state.values():
            for average in averages.values():
                average.zero_()
        self.engine.load()

    def _set_rate(self) -> None:
        """Sets the learning rate by the steps done: the size of an update may change."""
        share = (1 - math.cos(math.pi * self._share_left)) / 2 if self.settings.anneal_lr else 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * share

    def save_checkpoint(self) -> None:
        """Writes, on rank 0, the model and the state from which a run is resumed."""
        self.mean_and_log()  # of updates that a resumed run would not know
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
            "critic": central.critic_weights(self.uncompiled_policy),
            **trainer_state.generators(),
        }
        weights = self.actor.state_dict()
        self.model_path = run_folder.save(self.run, weights, state)
        if self.pool is not None:
            self.pool.add(self.model_path, self.global_step)

    def _restore(self, state: dict[str, Any]) -> None:
        """Goes on from a saved state, with the settings of the present configuration."""
        path = self.run.folder / run_folder.STATE
        central.set_critic(self.uncompiled_policy, state["critic"], path)
        trainer_state.set_optimizer(self.optimizer, state["optimizer"], path)
        self.engine.load()
        trainer_state.set_reference(self.engine, state["reference"], path)
        self.metadata = state["metadata"] | self.metadata
        self.epoch, self.global_step = state["epoch"], state["global_step"]
        self.last_log_step = self.global_step
        # Negative where an older version's clock was set back.
        self.start_time = time.monotonic() - max(state["uptime"], 0)
        trainer_state.set_generators(state)


class _Row:
    """The next row of metrics: the figures of one or several updates.

    Attributes:
        updates: the number of updates in it.
        ratings: the raters' metrics.
    """

    def __init__(self) -> None:
        self.updates = 0
        self.ratings: dict[str, float] = {}
        self._figures: defaultdict[str, list[float]] = defaultdict(list)
        self._losses: defaultdict[str, list[float]] = defaultdict(list)

    def add(self, figures: Mapping[str, Sequence[float]], losses: Mapping[str, float]) -> None:
        """Adds an update.

        Args:
            figures: of each engagement that ended, by name, of all ranks.
            losses: means over the update, of this rank.
        """
        self.updates += 1
        for name, values in figures.items():
            self._figures[name] += values
        for name, value in losses.items():
            self._losses[name].append(value)

    def figures(self) -> dict[str, float]:
        """Returns the means over engagements, and the least and greatest return."""
        means = {name: float(np.mean(values)) for name, values in self._figures.items()}
        returns = self._figures.get("episode_return")
        if returns:
            means |= {"episode_return_min": min(returns), "episode_return_max": max(returns)}
        return means

    def losses(self) -> dict[str, float]:
        """Returns the means over updates and ranks."""
        means = {name: fmean(values) for name, values in self._losses.items()}
        return ranks.means(ranks.gather(means))


def _engagement_seed(seed: int, epoch: int) -> int:
    """Returns a rank's seed of engagements, another one after each resume: they start afresh."""
    sequence = np.random.SeedSequence((seed, epoch, ranks.rank()))
    return int(sequence.generate_state(1)[0] >> 1)

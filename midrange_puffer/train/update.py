"""The update: PPO on prioritised segments of experience, corrected by V-trace.

pi is the present policy's probability of an action, mu that of the policy that collected the
experience. If both policies are the same, the update equals PuffeRL's except for rounding and for
one rule: a recurrent state is reset where an engagement ends. On experience of older policies

* V-trace (Espeholt et al. 2018, arXiv 1802.01561) weights the temporal differences by clipped
  ratios pi / mu, and
* PPO clips the ratio of pi to the "proximal" policy, the one at the start of this update. It does
  not clip around mu, from which pi may already be far (Hilton et al. 2021, arXiv 2110.00641).

With train.kl_coef the policy is also pulled towards a reference policy, with probabilities ref: a
copy of itself that is renewed every train.kl_interval updates, as in magnetic mirror descent and
R-NaD (Sokota et al. 2022, arXiv 2206.05825; Perolat et al. 2022, arXiv 2206.15378). For this,
kl_coef log(pi / ref) of the action taken is subtracted from each normalised advantage. The gradient
of this term estimates that of kl_coef KL(pi, ref).
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch

from midrange_puffer.config.sections import ExperienceBufferConfig, TrainConfig
from midrange_puffer.train import ranks
from midrange_puffer.train.engine import LOSSES, BeginPart, Engine, Outputs
from midrange_puffer.train.experience import (
    Buffer,
    ExperienceBuffer,
    OlderDraws,
    Segments,
    draw_without_replacement,
    find_advantages,
    lengthened,
    sampling_chances,
    settle_deaths,
)
from midrange_puffer.train.profiling import Profile


class Draw(NamedTuple):
    """Segments drawn for a minibatch.

    Attributes:
        rows: their rows, [n].
        advantages: [n, horizon].
        weights: importance of each, which corrects for unequal chances, [n, 1].
    """

    rows: torch.Tensor
    advantages: torch.Tensor
    weights: torch.Tensor


class Schedule(NamedTuple):
    """Numbers that change from one update to the next.

    Attributes:
        epoch: completed updates.
        epochs: updates of the whole run.
        progress: completed part of the run's decisions, including this update's.
        ent_coef: weight of the entropy bonus.
    """

    epoch: int
    epochs: int
    progress: float
    ent_coef: float


class Learner:
    """Improves a policy from the experience in its buffers, one update at a time.

    With an experience buffer the gathered segments are the first rows of longer arrays, and the
    other rows are the buffer.

    Args:
        engine: computes the policy's outputs and improves it.
        gathered: tensors [segments, horizon, ...], by the names of `GATHERED`.
        settings: section [train] without any "auto".
        buffer: section [experience_buffer].
        profile: times the parts of an update.
        folder: where a buffer on disk has its file.
        shared: makes an experience buffer outside the learner, for its number of fresh segments;
            None: it has its own.

    Attributes:
        gathered: the tensors to fill before an update, named as those given.
        experience: these, then the buffer's, with the latest policy's outputs.
        settings: section [train], of which `schema.LIVE_KEYS` may change between updates.

    Raises:
        UserError: There is not enough memory or disk for the buffer.
    """

    def __init__(
        self,
        engine: Engine,
        gathered: Mapping[str, torch.Tensor],
        settings: TrainConfig,
        buffer: ExperienceBufferConfig,
        profile: Profile,
        folder: Path | None = None,
        shared: Callable[[int], Buffer] | None = None,
    ) -> None:
        self._engine, self.settings, self._profile = engine, settings, profile
        self._replayed_share = buffer.share
        part = min(settings.minibatch_size, settings.max_minibatch_size)
        self._divide(part // settings.bptt_horizon)
        self._count = len(gathered["values"])
        longer = gathered
        self._buffer: Buffer | None = None
        if buffer.capacity:
            drawn = min(self._minibatches * self._replayed, buffer.capacity)
            rows = buffer.capacity if shared is None else drawn
            longer = lengthened(gathered, rows, folder if buffer.on_disk else None)
            if shared is None:
                device = gathered["logprobs"].device
                self._buffer = ExperienceBuffer(buffer, device, self._count)
            else:
                self._buffer = shared(self._count)
        self.gathered = {name: tensor[: self._count] for name, tensor in longer.items()}
        like = longer["logprobs"]
        self.experience = Segments(
            **longer,
            proximal=torch.zeros_like(like),
            ratio=torch.ones_like(like),
            advantages=torch.zeros_like(like),
            priorities=torch.zeros_like(like[:, 0]),
        )
        # Ranks must accumulate alike, and one cannot know what the others lack.
        self._may_not_fit = like.is_cuda and ranks.size() == 1
        # log(pi / ref) of each decision, [segments, horizon], at the start of the update
        self._excess: torch.Tensor | None = None  # only with kl_coef

    def _divide(self, segments: int) -> None:
        """Divides each minibatch of an optimizer step into parts of so many segments."""
        settings, part = self.settings, segments * self.settings.bptt_horizon
        self._minibatches = int(settings.update_epochs * settings.batch_size / part)
        self._accumulated = settings.minibatch_size // part  # for one optimizer step
        self._drawn = segments
        self._replayed = int(self._replayed_share * segments)  # older segments of a part

    def _fit(self) -> None:
        """Halves the parts of a minibatch until the gradient of one has room in the memory.

        The gradient of a share of 0 changes nothing.

        Raises:
            torch.OutOfMemoryError: Not even the smallest parts have.
        """
        while True:
            rows = torch.arange(self._drawn, device=self.experience.ratio.device)
            zeros = torch.zeros_like(self.experience.values[rows])
            try:
                self._engine.learn(self.experience, rows, zeros, zeros, 0, 0, lambda name: None)
                return
            except torch.OutOfMemoryError:
                if self._drawn % 2:
                    raise
            self._divide(self._drawn // 2)
            torch.cuda.empty_cache()
            print(
                f"warning: train.max_minibatch_size = {self.settings.max_minibatch_size}: too much "
                f"for the GPU's memory; gradients are added over parts of "
                f"{self._drawn * self.settings.bptt_horizon} decisions",
                file=sys.stderr,
            )

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics other than the losses."""
        return {"experience_buffer/size": self._buffer.size} if self._buffer else {}

    def update(self, is_off_policy: bool, schedule: Schedule) -> dict[str, float]:
        """Learns from the experience; returns the means of the losses and related figures.

        Args:
            is_off_policy: True if the gathered experience is of older policies.
            schedule: of this update.
        """
        losses, fresh = [], slice(self._count)

        def begin(name: str, nest: bool = False) -> None:
            self._profile(name, schedule.epoch, nest=nest)

        begin("train")
        begin("train_misc", nest=True)
        if self.experience.masks is not None:
            rewards, terminals, values, masks = (
                getattr(self.experience, name)[fresh]
                for name in ("rewards", "terminals", "values", "masks")
            )
            settle_deaths(rewards, terminals, values, masks, self.settings.gamma)
        if self._may_not_fit:
            self._fit()
            self._may_not_fit = False
        older_draws = self._draw_older(schedule.progress)
        means = self._begin(is_off_policy, older_draws)
        if self._excess is None and self.settings.kl_coef:
            self._excess = torch.zeros_like(self.experience.logprobs)
        if self._excess is not None:
            means["reference_kl"] = self._find_excess(self._excess, schedule.epoch, older_draws)
        fresh_drawn = self._drawn - (self._replayed if older_draws else 0)
        changed = torch.arange(self._count, device=self.experience.ratio.device)
        for number in range(self._minibatches):
            begin("train_misc")
            # Only these rows have new values and ratios.
            find_advantages(self.experience, changed, self.settings)
            older_draw = older_draws[number] if older_draws else None
            draw = self._draw(schedule, fresh_drawn, older_draw)
            outputs, line = self._learn(draw, schedule.ent_coef, begin)
            begin("train_misc")
            self._note(draw.rows, outputs)
            changed = draw.rows[:fresh_drawn]
            losses.append(line)
            if (number + 1) % self._accumulated == 0:
                begin("optimizer")
                self._engine.step()
        begin("train_misc")
        means |= dict(zip(LOSSES, torch.stack(losses).mean(0), strict=True))
        means["explained_variance"] = self._explained_variance()
        if self._buffer:
            self._buffer.keep(self.experience)
        # One transfer waits for a CUDA device once, not for each of these numbers.
        means = dict(zip(means, torch.stack([*means.values()]).tolist(), strict=True))
        self._profile.end()
        return means

    def _draw_older(self, progress: float) -> OlderDraws | None:
        """Draws every minibatch's segments from the buffer; None: nothing is replayed."""
        if self._buffer is None:
            return None
        return self._buffer.draw_rows(self.experience, self._minibatches, self._replayed, progress)

    def _begin(
        self, is_off_policy: bool, older_draws: OlderDraws | None
    ) -> dict[str, torch.Tensor]:
        """Takes the present policy as the proximal one.

        Returns:
            If there is experience of older policies: its mean pi / mu, and the part above V-trace's
            clip.
        """
        older, experience, fresh = [], self.experience, slice(self._count)
        if is_off_policy:
            older.append(torch.arange(self._count, device=experience.ratio.device))
        else:
            experience.proximal[fresh] = experience.logprobs[fresh]
            experience.ratio[fresh] = 1
        if older_draws is not None:
            older.append(torch.cat([rows for rows, _ in older_draws]).unique())
        if not older:
            return {}
        rows = torch.cat(older)
        for part in rows.split(self._drawn):
            outputs = self._engine.score(experience, part)
            experience.proximal[part], _ = outputs
            self._note(part, outputs)
        ratio = experience.ratio[rows]
        clipped = ratio > self.settings.vtrace_rho_clip
        return {"older_ratio": ratio.mean(), "older_clipfrac": clipped.float().mean()}

    def _find_excess(
        self, excess: torch.Tensor, epoch: int, older_draws: OlderDraws | None
    ) -> torch.Tensor:
        """Writes log(pi / ref) of the drawn segments; returns the estimated divergence."""
        if self._engine.reference is None or epoch % self.settings.kl_interval == 0:
            self._engine.set_reference()
        drawn = [torch.arange(self._count, device=excess.device)]
        if older_draws is not None:
            drawn.append(torch.cat([rows for rows, _ in older_draws]).unique())
        for rows in torch.cat(drawn).split(self._drawn):
            reference = self._engine.score_reference(self.experience, rows)
            excess[rows] = self.experience.proximal[rows] - reference
        return excess[: self._count].mean()

    def _note(self, rows: torch.Tensor, outputs: Outputs) -> None:
        """Writes the latest policy's ratios and values of these segments."""
        logprobs, values = outputs
        ratio = (logprobs - self.experience.logprobs[rows]).exp()
        if self.experience.masks is not None:
            living = self.experience.masks[rows] > 0
            ratio, values = torch.where(living, ratio, 1), torch.where(living, values, 0)
        self.experience.ratio[rows] = ratio
        self.experience.values[rows] = values

    def _draw(
        self,
        schedule: Schedule,
        fresh_drawn: int,
        older_draw: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> Draw:
        """Draws a minibatch: fresh segments first, then those drawn from the buffer."""
        alpha, beta0 = self.settings.prio_alpha, self.settings.prio_beta0
        # As in PuffeRL the correction grows more slowly the smaller alpha is. There can be more
        # updates than planned: the dead of team games decide nothing.
        done = min(schedule.epoch / schedule.epochs, 1)
        beta = beta0 + (1 - beta0) * alpha * done
        chances = sampling_chances(self.experience.priorities[: self._count], alpha)
        rows = draw_without_replacement(chances, fresh_drawn)
        advantages = self.experience.advantages
        fresh = Draw(rows, advantages[rows], (self._count * chances[rows, None]) ** -beta)
        if older_draw is None or self._buffer is None:
            return fresh
        rows, weights = older_draw
        find_advantages(self.experience, rows, self.settings)
        self._buffer.prioritise_rows(rows, self.experience.priorities[rows])
        older = Draw(rows, advantages[rows], weights)
        return Draw(*(torch.cat(pair) for pair in zip(fresh, older, strict=True)))

    def _learn(self, draw: Draw, ent_coef: float, begin: BeginPart) -> tuple[Outputs, torch.Tensor]:
        """Lets the engine learn from a minibatch; returns `Engine.learn`'s results.

        The gradient is the mean over accumulated minibatches, so that its norm does not depend on
        their number.
        """
        advantages = draw.advantages
        living = advantages
        if self.experience.masks is not None:
            living = advantages[self.experience.masks[draw.rows] > 0]
        scaled = draw.weights * (advantages - living.mean()) / (living.std() + 1e-8)
        if self._excess is not None:
            scaled -= draw.weights * self.settings.kl_coef * self._excess[draw.rows]
        returns = advantages + self.experience.values[draw.rows]
        share = 1 / self._accumulated
        return self._engine.learn(
            self.experience, draw.rows, scaled, returns, ent_coef, share, begin
        )

    def _explained_variance(self) -> torch.Tensor:
        """Returns the part of the returns' variance that the values explain, or nan without any."""
        fresh = slice(self._count)
        values, advantages = self.experience.values[fresh], self.experience.advantages[fresh]
        if self.experience.masks is not None:
            living = self.experience.masks[fresh] > 0
            values, advantages = values[living], advantages[living]
        returns = advantages.flatten() + values.flatten()
        variance = returns.var()
        explained = 1 - (returns - values.flatten()).var() / variance
        return torch.where(variance == 0, torch.nan, explained)

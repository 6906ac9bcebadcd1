"""The update: PPO on prioritised segments of experience, corrected by V-trace.

Where the experience is the present policy's own it is PuffeRL's update, to rounding, but that a
policy's memory ends with the engagement. Where it is that of older policies, whose probabilities of
the actions (mu) are not the present ones (pi),

* V-trace (Espeholt et al. 2018, arXiv 1802.01561) weights the temporal differences by pi / mu, and
* PPO's clip is around the policy at the start of the update, the "proximal" one, and not around mu,
  from which pi may be far before the first step (Hilton et al. 2021, arXiv 2110.00641).

With train.kl_coef there is a pull towards a reference policy (ref), an earlier state of the policy,
as in magnetic mirror descent and R-NaD (Sokota et al. 2022, arXiv 2206.05825; Perolat et al. 2022,
arXiv 2206.15378). Its gradient is that of the divergence KL(pi, ref), whose estimate from the
actions taken is to take kl_coef log(pi / ref) off each normalised advantage.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import torch

from midrange_puffer import _learner
from midrange_puffer.puffer_import import contained
from midrange_puffer.train.deaths import settle_deaths
from midrange_puffer.train.engine import LOSSES, Engine, Judged, Timer
from midrange_puffer.train.experience import Segments, lengthened
from midrange_puffer.train.experience_buffer import (
    ExperienceBuffer,
    drawn_apart,
    sampling_chances,
)

with contained():
    from pufferlib import _C  # noqa: F401, has the kernel of the advantages

V_TRACE = ("gamma", "gae_lambda", "vtrace_rho_clip", "vtrace_c_clip")


class Draw(NamedTuple):
    """Segments that were drawn to be learnt from.

    Attributes:
        rows: where they are, [n].
        advantages: [n, horizon].
        weights: importance of each, for having been drawn with unequal chances, [n, 1].
    """

    rows: torch.Tensor
    advantages: torch.Tensor
    weights: torch.Tensor


class Schedule(NamedTuple):
    """What changes from one update to the next.

    Attributes:
        epoch: updates done.
        epochs: updates of the whole run.
        progress: part of the run's decisions that is done, those of this update among them.
        ent_coef: weight of the entropy bonus.
    """

    epoch: int
    epochs: int
    progress: float
    ent_coef: float


class Clock(Protocol):
    """Notes how long the parts of an update take, as PuffeRL's `Profile` does."""

    def __call__(self, name: str, epoch: int, nest: bool = False) -> None:
        """Begin a part, in place of the last one begun or within it (`nest`)."""

    def end(self) -> None:
        """End all parts."""


class Learner:
    """Improves a policy from the experience in its buffers, an update at a time.

    With an experience buffer the gathered segments are the first rows of longer arrays, whose
    other rows are the buffer.

    Args:
        engine: computes what the policy gives, and improves it.
        gathered: tensors [segments, horizon, ...], by the names of `GATHERED`.
        settings: section [train] without any "auto".
        buffer: section [experience_buffer].
        clock: is told which part of an update begins.

    Attributes:
        gathered: the tensors to be filled before an update, as those given.
        experience: these, then the buffer's, with what the latest policy gives for them.

    Raises:
        UserError: There is not the memory for the buffer.
    """

    def __init__(
        self,
        engine: Engine,
        gathered: Mapping[str, torch.Tensor],
        settings: Mapping[str, object],
        buffer: Mapping[str, float],
        clock: Clock,
    ) -> None:
        self._engine, self._settings, self._clock = engine, settings, clock
        part = min(settings["minibatch_size"], settings["max_minibatch_size"])
        self._minibatches = int(settings["update_epochs"] * settings["batch_size"] / part)
        self._accumulated = settings["minibatch_size"] // part  # for one step of the optimizer
        self._drawn = part // settings["bptt_horizon"]  # segments of a minibatch
        self._count = len(gathered["values"])
        longer = lengthened(gathered, buffer["capacity"]) if buffer["capacity"] else gathered
        self.gathered = {name: one[: self._count] for name, one in longer.items()}
        like = longer["logprobs"]
        self.experience = Segments(
            **longer,
            proximal=torch.zeros_like(like),
            ratio=torch.ones_like(like),
            advantages=torch.zeros_like(like),
            priorities=torch.zeros_like(like[:, 0]),
        )
        self._buffer = ExperienceBuffer(buffer, like.device) if buffer["capacity"] else None
        self._drawn_again = int(buffer["share"] * self._drawn)  # segments of a minibatch
        # log(pi / ref) of each decision, [segments, horizon], at the start of the update
        self._excess = torch.zeros_like(like) if settings["kl_coef"] else None

    @property
    def metrics(self) -> dict[str, float]:
        """What there is to tell beside the losses."""
        return {"experience_buffer/size": self._buffer.size} if self._buffer else {}

    def update(self, is_off_policy: bool, schedule: Schedule) -> dict[str, float]:
        """Learn from the experience; return the means of the losses and the like.

        Args:
            is_off_policy: whether older policies than the present one have gathered it.
            schedule: of this update.
        """
        lines, fresh = [], slice(self._count)

        def time(name: str, nest: bool = False) -> None:
            self._clock(name, schedule.epoch, nest=nest)

        time("train")
        time("train_misc", nest=True)
        if self.experience.masks is not None:
            self._settle_deaths()
        older_draws = self._draw_older(schedule.progress)
        means = self._begin(is_off_policy, older_draws)
        if self._excess is not None:
            means["reference_kl"] = self._find_excess(schedule.epoch, older_draws)
        changed = torch.arange(self._count, device=self.experience.ratio.device)
        for number in range(self._minibatches):
            time("train_misc")
            self._find_advantages(changed)  # the others are what they were
            draw = self._draw(schedule, older_draws and older_draws[number])
            judged, line = self._learn(draw, schedule.ent_coef, time)
            time("train_misc")
            self._note(draw.rows, judged)
            changed = draw.rows[: self._drawn_fresh(older_draws)]
            lines.append(line)
            if (number + 1) % self._accumulated == 0:
                time("optimizer")
                self._engine.step()
        time("train_misc")
        means |= dict(zip(LOSSES, torch.stack(lines).mean(0), strict=True))
        values, advantages = self.experience.values[fresh], self.experience.advantages[fresh]
        if self.experience.masks is not None:
            living = self.experience.masks[fresh] > 0
            values, advantages = values[living], advantages[living]
        means["explained_variance"] = _explained_variance(values, advantages)
        if self._buffer:
            priorities = self.experience.priorities[fresh]
            self.experience.keep(self._count + self._buffer.add(priorities))
        # A CUDA device is waited for once, not for each of these numbers.
        means = dict(zip(means, torch.stack([*means.values()]).tolist(), strict=True))
        self._clock.end()
        return means

    def _settle_deaths(self) -> None:
        names = ("rewards", "terminals", "values", "masks")
        parts = (getattr(self.experience, name)[: self._count] for name in names)
        settle_deaths(*parts, self._settings["gamma"])

    def _draw_older(self, progress: float) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """Rows and weights of the part from the buffer of every minibatch; None: there is none."""
        if not (self._buffer and self._buffer.is_warm):
            return None
        rows, weights = self._buffer.draw(self._minibatches, self._drawn_again, progress)
        return [*zip(self._count + rows, weights[..., None], strict=True)]

    def _begin(
        self, is_off_policy: bool, older_draws: list[tuple[torch.Tensor, torch.Tensor]] | None
    ) -> dict[str, torch.Tensor]:
        """Take the present policy for the proximal one.

        Returns:
            Of the experience of older policies, if there is any: the mean of pi / mu, and the part
            that is above V-trace's clip.
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
        self._correct(rows)
        ratio = experience.ratio[rows]
        clipped = ratio > self._settings["vtrace_rho_clip"]
        return {"older_ratio": ratio.mean(), "older_clipfrac": clipped.float().mean()}

    def _find_excess(
        self, epoch: int, older_draws: list[tuple[torch.Tensor, torch.Tensor]] | None
    ) -> torch.Tensor:
        """Compare the policy with the reference; return the divergence from it as estimated."""
        if self._engine.reference is None or epoch % self._settings["kl_interval"] == 0:
            self._engine.refer()
        drawn = [torch.arange(self._count, device=self._excess.device)]
        if older_draws is not None:
            drawn.append(torch.cat([rows for rows, _ in older_draws]).unique())
        for rows in torch.cat(drawn).split(self._drawn):
            reference = self._engine.score_reference(self.experience, rows)
            self._excess[rows] = self.experience.proximal[rows] - reference
        return self._excess[: self._count].mean()

    def _correct(self, rows: torch.Tensor) -> None:
        """Find what the present policy gives for segments of older ones."""
        for part in rows.split(self._drawn):
            judged = self._engine.score(self.experience, part)
            self.experience.proximal[part], _ = judged
            self._note(part, judged)

    def _note(self, rows: torch.Tensor, judged: Judged) -> None:
        """Keep what the latest policy gives for these segments."""
        logprobs, values = judged
        ratio = (logprobs - self.experience.logprobs[rows]).exp()
        if self.experience.masks is not None:
            living = self.experience.masks[rows] > 0
            ratio, values = torch.where(living, ratio, 1), torch.where(living, values, 0)
        self.experience.ratio[rows] = ratio
        self.experience.values[rows] = values

    def _find_advantages(self, rows: torch.Tensor) -> None:
        """Of the segments in these rows, as far as is known of the latest policy."""
        find_advantages(self.experience, rows, self._settings)

    def _draw(
        self, schedule: Schedule, older_draws: tuple[torch.Tensor, torch.Tensor] | None
    ) -> Draw:
        """Draw a minibatch: fresh segments, and some from the buffer."""
        alpha, beta0 = self._settings["prio_alpha"], self._settings["prio_beta0"]
        # As PuffeRL has it: the correction grows more slowly the smaller alpha is.
        # There are more updates than planned where the dead decide nothing.
        done = min(schedule.epoch / schedule.epochs, 1)
        beta = beta0 + (1 - beta0) * alpha * done
        chances = sampling_chances(self.experience.priorities[: self._count], alpha)
        rows = drawn_apart(chances, self._drawn_fresh(older_draws))
        advantages = self.experience.advantages
        fresh = Draw(rows, advantages[rows], (self._count * chances[rows, None]) ** -beta)
        if older_draws is None:
            return fresh
        rows, weights = older_draws
        self._find_advantages(rows)
        self._buffer.prioritise(rows - self._count, self.experience.priorities[rows])
        again = Draw(rows, advantages[rows], weights)
        return Draw(*(torch.cat(pair) for pair in zip(fresh, again, strict=True)))

    def _drawn_fresh(self, older_draws: object) -> int:
        """How many of a minibatch's segments, its first, are fresh."""
        return self._drawn - (self._drawn_again if older_draws else 0)

    def _learn(self, draw: Draw, ent_coef: float, time: Timer) -> tuple[Judged, torch.Tensor]:
        """Let the engine learn from a minibatch; return what it does.

        The gradient is the mean of what is accumulated, so that its norm means the same.
        """
        advantages = draw.advantages
        known = advantages
        if self.experience.masks is not None:
            known = advantages[self.experience.masks[draw.rows] > 0]
        scaled = draw.weights * (advantages - known.mean()) / (known.std() + 1e-8)
        if self._excess is not None:
            scaled -= draw.weights * self._settings["kl_coef"] * self._excess[draw.rows]
        returns = advantages + self.experience.values[draw.rows]
        share = 1 / self._accumulated
        return self._engine.learn(
            self.experience, draw.rows, scaled, returns, ent_coef, share, time
        )


def find_advantages(
    experience: Segments, rows: torch.Tensor, settings: Mapping[str, float]
) -> None:
    """Find the advantages of the segments in these rows.

    They are V-trace's targets less the values; generalised advantages at ratio 1. A segment's last
    decision, whose reward is in the next, has 0.

    Args:
        experience: whose `advantages` and `priorities` are written.
        rows: int64 [n].
        settings: section [train].
    """
    of, device = experience, experience.values.device
    parts = (of.values, of.rewards, of.terminals, of.ratio)
    coefficients = [settings[name] for name in V_TRACE]
    if device.type == "cpu":
        arrays = [part.numpy() for part in parts]
        found = of.advantages.numpy(), of.priorities.numpy()
        _learner.find_advantages(arrays, rows.numpy(), coefficients, *found)
        return
    # By PuffeRL's kernel. Where it was not built for the device, the CPU computes it.
    operator = "pufferlib::compute_puff_advantage"
    is_built = torch._C._dispatch_has_kernel_for_dispatch_key(operator, device.type.upper())
    parts = [part[rows].to(device if is_built else "cpu") for part in parts]
    parts.append(torch.zeros_like(parts[0]))
    torch.ops.pufferlib.compute_puff_advantage(*parts, *coefficients)
    of.advantages[rows] = parts[-1].to(device)
    of.priorities[rows] = of.advantages[rows].abs().sum(dim=1)


def _explained_variance(values: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Part of the returns' variance that the values explain; not a number where there is none."""
    returns = advantages.flatten() + values.flatten()
    variance = returns.var()
    explained = 1 - (returns - values.flatten()).var() / variance
    return torch.where(variance == 0, torch.nan, explained)

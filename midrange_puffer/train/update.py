"""The update: PPO on prioritised segments of experience, corrected by V-trace.

Where the experience is the present policy's own it is PuffeRL's update, to the bit, but that a
policy's memory ends with the engagement. Where it is that of older policies, whose probabilities of
the actions (mu) are not the present ones (pi),

* V-trace (Espeholt et al. 2018, arXiv 1802.01561) weights the temporal differences by pi / mu, and
* PPO's clip is around the policy at the start of the update, the "proximal" one, and not around mu,
  from which pi may be far before the first step (Hilton et al. 2021, arXiv 2110.00641).
"""

import contextlib
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import torch

from midrange_puffer.errors import UserError
from midrange_puffer.puffer_import import contained
from midrange_puffer.train.experience_buffer import ExperienceBuffer, sampling_chances

with contained():
    import pufferlib.pytorch
    from pufferlib import _C  # noqa: F401, has the kernel of the advantages

# The parts of experience that are there before an update, by PuffeRL's names of its buffers.
GATHERED = ("observations", "actions", "logprobs", "values", "rewards", "terminals")


@dataclass
class Segments:
    """Experience, [segments, horizon, ...] each; all but observations on the learner's device.

    Attributes:
        observations: may stay in the CPU's memory (train.cpu_offload).
        actions: that were drawn, before they are clipped to their range.
        logprobs: their log-probabilities under the policy that took them.
        values: the latest estimates.
        rewards: for the decision before.
        terminals: whether the decision before ended the engagement, 0 or 1.
        proximal: log-probabilities of the actions under the policy at the start of the update.
        ratio: probabilities of the actions under the latest policy over those under the one that
            took them.
    """

    observations: torch.Tensor
    actions: torch.Tensor
    logprobs: torch.Tensor
    values: torch.Tensor
    rewards: torch.Tensor
    terminals: torch.Tensor
    proximal: torch.Tensor
    ratio: torch.Tensor

    def take(self, rows: torch.Tensor) -> "Segments":
        """Copies of the segments in these rows, all on the learner's device."""
        device = self.rewards.device
        return Segments(*(one[rows.to(one.device)].to(device) for one in self._tensors()))

    def keep(self, rows: torch.Tensor) -> None:
        """Copy the first segments into these rows."""
        for one in self._tensors():
            one[rows.to(one.device)] = one[: len(rows)].clone()  # torch sees them overlap

    def _tensors(self) -> list[torch.Tensor]:
        return [getattr(self, field.name) for field in fields(self)]


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
        policy: as it learns: compiled, or shared by the ranks.
        bare_policy: the same without that.
        optimizer: of its parameters.
        gathered: tensors [segments, horizon, ...], by the names of `GATHERED`.
        settings: section [train] without any "auto".
        buffer: section [experience_buffer].
        precision: the context in which the policy is computed.
        clock: is told which part of an update begins.

    Attributes:
        gathered: the tensors to be filled before an update, as those given.
        experience: these, then the buffer's, with what the latest policy gives for them.

    Raises:
        UserError: There is not the memory for the buffer.
    """

    def __init__(
        self,
        policy: torch.nn.Module,
        bare_policy: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        gathered: Mapping[str, torch.Tensor],
        settings: Mapping[str, object],
        buffer: Mapping[str, float],
        precision: contextlib.AbstractContextManager,
        clock: Clock,
    ) -> None:
        self._policy, self._bare_policy, self._optimizer = policy, bare_policy, optimizer
        self._settings, self._precision, self._clock = settings, precision, clock
        part = min(settings["minibatch_size"], settings["max_minibatch_size"])
        self._minibatches = int(settings["update_epochs"] * settings["batch_size"] / part)
        self._accumulated = settings["minibatch_size"] // part  # for one step of the optimizer
        self._drawn = part // settings["bptt_horizon"]  # segments of a minibatch
        self._count = len(gathered["values"])
        longer = _lengthened(gathered, buffer["capacity"]) if buffer["capacity"] else gathered
        self.gathered = {name: one[: self._count] for name, one in longer.items()}
        like = longer["logprobs"]
        self.experience = Segments(
            **longer, proximal=torch.zeros_like(like), ratio=torch.ones_like(like)
        )
        self._buffer = ExperienceBuffer(buffer, like.device) if buffer["capacity"] else None
        self._drawn_again = int(buffer["share"] * self._drawn)  # segments of a minibatch

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
        rows, fresh = [], slice(self._count)

        def time(name: str, nest: bool = False) -> None:
            self._clock(name, schedule.epoch, nest=nest)

        time("train")
        time("train_misc", nest=True)
        older_draws = self._draw_older(schedule.progress)
        means = self._begin(is_off_policy, older_draws)
        for number in range(self._minibatches):
            time("train_misc")
            advantages = self._advantages(fresh)
            time("train_copy")
            draw = self._draw(advantages, schedule, older_draws and older_draws[number])
            minibatch = self.experience.take(draw.rows)
            time("train_forward")
            logprobs, values, entropy = self._forward(self._policy, minibatch)
            time("train_misc")
            loss, row = self._loss(minibatch, draw, logprobs, values, entropy, schedule.ent_coef)
            self._note(draw.rows, minibatch, logprobs, values)
            rows.append(row)
            time("learn")
            # The mean of what is accumulated, so that the norm of gradients means the same.
            (loss / self._accumulated).backward()
            if (number + 1) % self._accumulated == 0:
                self._step()
        time("train_misc")
        means |= {name: torch.stack([row[name] for row in rows]).mean() for name in rows[0]}
        means["explained_variance"] = _explained_variance(self.experience.values[fresh], advantages)
        if self._buffer:
            self.experience.keep(self._count + self._buffer.add(_priorities(advantages)))
        # A CUDA device is waited for once, not for each of these numbers.
        means = dict(zip(means, torch.stack([*means.values()]).tolist(), strict=True))
        self._clock.end()
        return means

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

    @torch.no_grad()
    def _correct(self, rows: torch.Tensor) -> None:
        """Find what the present policy gives for segments of older ones."""
        for part in rows.split(self._drawn):
            segments = self.experience.take(part)
            # The bare policy: ranks may have different numbers of parts.
            logprobs, values, _ = self._forward(self._bare_policy, segments)
            self.experience.proximal[part] = logprobs
            self._note(part, segments, logprobs, values)

    def _note(
        self,
        rows: torch.Tensor,
        segments: Segments,
        logprobs: torch.Tensor,
        values: torch.Tensor,
    ) -> None:
        """Keep what the latest policy gives for these segments."""
        self.experience.ratio[rows] = (logprobs.detach() - segments.logprobs).exp()
        self.experience.values[rows] = values.detach()

    def _advantages(self, rows: slice | torch.Tensor) -> torch.Tensor:
        """Of the segments in these rows, as far as is known of the latest policy."""
        of = self.experience
        parts = (one[rows] for one in (of.values, of.rewards, of.terminals, of.ratio))
        return vtrace_advantages(*parts, self._settings)

    def _draw(
        self,
        advantages: torch.Tensor,
        schedule: Schedule,
        older_draws: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> Draw:
        """Draw a minibatch: fresh segments, with these advantages, and some from the buffer."""
        alpha, beta0 = self._settings["prio_alpha"], self._settings["prio_beta0"]
        # As PuffeRL has it: the correction grows more slowly the smaller alpha is.
        beta = beta0 + (1 - beta0) * alpha * schedule.epoch / schedule.epochs
        chances = sampling_chances(_priorities(advantages), alpha)
        count = self._drawn - (self._drawn_again if older_draws else 0)
        rows = torch.multinomial(chances, count)
        fresh = Draw(rows, advantages[rows], (self._count * chances[rows, None]) ** -beta)
        if older_draws is None:
            return fresh
        rows, weights = older_draws
        advantages = self._advantages(rows)
        self._buffer.prioritise(rows - self._count, _priorities(advantages))
        again = Draw(rows, advantages, weights)
        return Draw(*(torch.cat(pair) for pair in zip(fresh, again, strict=True)))

    def _forward(
        self, policy: torch.nn.Module, segments: Segments
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities and values, [segments, horizon], and entropies, one after another."""
        observations = segments.observations
        if not self._bare_policy.memory_size:
            observations = observations.flatten(0, 1)
        state = {"done": segments.terminals}
        with self._precision:
            logits, values = policy(observations, state)
            _, logprobs, entropy = pufferlib.pytorch.sample_logits(logits, segments.actions)
        shape = segments.rewards.shape
        return logprobs.float().view(shape), values.float().view(shape), entropy.float()

    def _loss(
        self,
        minibatch: Segments,
        draw: Draw,
        logprobs: torch.Tensor,
        values: torch.Tensor,
        entropy: torch.Tensor,
        ent_coef: float,
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """What a step makes smaller, and what there is to tell of it."""
        settings, clip = self._settings, self._settings["clip_coef"]
        logratio = logprobs - minibatch.proximal
        ratio = logratio.exp()
        advantages = draw.advantages
        scaled = draw.weights * (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        of_policy = policy_loss(ratio, scaled, clip)
        returns = advantages + minibatch.values
        of_values = value_loss(values, minibatch.values, returns, settings["vf_clip_coef"])
        entropy = entropy.mean()
        loss = of_policy + settings["vf_coef"] * of_values - ent_coef * entropy
        with torch.no_grad():
            row = {
                "policy_loss": of_policy.detach(),
                "value_loss": of_values.detach(),
                "entropy": entropy.detach(),
                "old_approx_kl": -logratio.mean(),
                "approx_kl": ((ratio - 1) - logratio).mean(),
                "clipfrac": ((ratio - 1).abs() > clip).float().mean(),
                "importance": ratio.mean(),
            }
        return loss, row

    def _step(self) -> None:
        parameters, limit = self._policy.parameters(), self._settings["max_grad_norm"]
        torch.nn.utils.clip_grad_norm_(parameters, limit)
        self._optimizer.step()
        self._optimizer.zero_grad()


def vtrace_advantages(
    values: torch.Tensor,
    rewards: torch.Tensor,
    terminals: torch.Tensor,
    ratio: torch.Tensor,
    settings: Mapping[str, float],
) -> torch.Tensor:
    """V-trace's targets less the values, by PuffeRL's kernel; generalised advantages at ratio 1.

    A segment's last decision, whose reward is in the next, has 0. Where the kernel was not built
    for the device, the CPU computes them.

    Args:
        values, rewards, terminals, ratio: as of `Segments`, [segments, horizon].
        settings: section [train].
    """
    operator, device = "pufferlib::compute_puff_advantage", values.device
    is_built = torch._C._dispatch_has_kernel_for_dispatch_key(operator, device.type.upper())
    parts = (values, rewards, terminals, ratio, torch.zeros_like(values))
    parts = [part.to(device if is_built else "cpu") for part in parts]
    names = ("gamma", "gae_lambda", "vtrace_rho_clip", "vtrace_c_clip")
    torch.ops.pufferlib.compute_puff_advantage(*parts, *(settings[name] for name in names))
    return parts[-1].to(device)


def policy_loss(ratio: torch.Tensor, advantages: torch.Tensor, clip: float) -> torch.Tensor:
    """PPO's clipped surrogate objective, negative (Schulman et al. 2017, arXiv 1707.06347)."""
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return torch.max(-advantages * ratio, -advantages * clipped).mean()


def value_loss(
    values: torch.Tensor, before: torch.Tensor, returns: torch.Tensor, clip: float
) -> torch.Tensor:
    """Half the squared error, of what is farther off: the values or their clipped change."""
    clipped = before + (values - before).clamp(-clip, clip)
    return 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean()


def _priorities(advantages: torch.Tensor) -> torch.Tensor:
    """How much each segment has to tell, [segments]."""
    return advantages.abs().sum(dim=1)


def _explained_variance(values: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """Part of the returns' variance that the values explain; not a number where there is none."""
    returns = advantages.flatten() + values.flatten()
    variance = returns.var()
    explained = 1 - (returns - values.flatten()).var() / variance
    return torch.where(variance == 0, torch.nan, explained)


def _lengthened(buffers: Mapping[str, torch.Tensor], rows: int) -> dict[str, torch.Tensor]:
    """Zeros like some buffers, with so many rows more.

    Raises:
        UserError: There is not the memory for them.
    """
    try:
        return {
            name: torch.zeros(
                len(one) + rows,
                *one.shape[1:],
                dtype=one.dtype,
                device=one.device,
                pin_memory=one.is_pinned(),
            )
            for name, one in buffers.items()
        }
    except RuntimeError as error:  # of each device's own kind
        size = rows * sum(one[0].nbytes for one in buffers.values()) / 2**30
        raise UserError(
            f"experience_buffer.capacity = {rows}: there is not the memory for its {size:.1f} GiB: "
            f"{textwrap.shorten(str(error), 200)}"
        ) from error

"""The update: PPO on prioritised segments of experience, corrected by V-trace.

Where the experience is the present policy's own it is PuffeRL's update, to the bit. Where it is
that of older policies, whose probabilities of the actions (mu) are not the present ones (pi),

* V-trace (Espeholt et al. 2018, arXiv 1802.01561) weights the temporal differences by pi / mu, and
* PPO's clip is around the policy at the start of the update, the "proximal" one, and not around mu,
  from which pi may be far before the first step (Hilton et al. 2021, arXiv 2110.00641).
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch

from midrange_puffer.errors import UserError
from midrange_puffer.puffer_import import contained
from midrange_puffer.train.experience_buffer import ExperienceReplay, sampling_chances

with contained():
    import pufferlib.pytorch
    from pufferlib import pufferl

# Buffers of PuffeRL, which are filled before an update.
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


class Learner:
    """Improves the policy of a trainer from the experience in its buffers, an update at a time.

    With a replay the buffers become the first rows of longer ones, whose others hold it.

    Args:
        trainer: whose policy, optimizer, buffers, settings and profile are used.
        replay: section [experience_replay].

    Raises:
        UserError: There is not the memory for the replay.
    """

    def __init__(self, trainer: pufferl.PuffeRL, replay: Mapping[str, float]) -> None:
        self._trainer, self._config = trainer, trainer.config
        capacity, self._count = replay["capacity"], len(trainer.values)
        gathered = {name: getattr(trainer, name) for name in GATHERED}
        if capacity:
            gathered = _lengthened(gathered, capacity)
            for name, longer in gathered.items():
                setattr(trainer, name, longer[: self._count])
        like = gathered["logprobs"]
        self._experience = Segments(
            **gathered, proximal=torch.zeros_like(like), ratio=torch.ones_like(like)
        )
        self._replay = ExperienceReplay(replay, like.device) if capacity else None
        self._share = int(replay["share"] * trainer.minibatch_segments)

    @property
    def metrics(self) -> dict[str, float]:
        """What there is to tell beside the losses."""
        return {"experience_replay/size": self._replay.size} if self._replay else {}

    def update(self, is_off_policy: bool, progress: float) -> dict[str, float]:
        """Learn from the experience; return the means of the losses and the like.

        Args:
            is_off_policy: whether older policies than the present one have gathered it.
            progress: part of the run that is done.
        """
        trainer, time, rows, fresh = self._trainer, self._time, [], slice(self._count)
        time("train")
        time("train_misc", nest=True)
        replayed = self._draw_replayed(progress)
        means = self._begin(is_off_policy, replayed)
        for number in range(trainer.total_minibatches):
            time("train_misc")
            advantages = self._advantages(fresh)
            time("train_copy")
            draw = self._draw(advantages, replayed and replayed[number])
            minibatch = self._experience.take(draw.rows)
            time("train_forward")
            logprobs, values, entropy = self._forward(trainer.policy, minibatch)
            time("train_misc")
            loss, row = self._loss(minibatch, draw, logprobs, values, entropy)
            self._note(draw.rows, minibatch, logprobs, values)
            rows.append(row)
            time("learn")
            # The mean of what is accumulated, so that the norm of gradients means the same.
            (loss / trainer.accumulate_minibatches).backward()
            if (number + 1) % trainer.accumulate_minibatches == 0:
                self._step()
        time("train_misc")
        means |= {name: torch.stack([row[name] for row in rows]).mean() for name in rows[0]}
        means["explained_variance"] = _explained_variance(
            self._experience.values[fresh], advantages
        )
        if self._replay:
            self._experience.keep(self._count + self._replay.add(_priorities(advantages)))
        # A CUDA device is waited for once, not for each of these numbers.
        means = dict(zip(means, torch.stack([*means.values()]).tolist(), strict=True))
        trainer.profile.end()
        return means

    def _draw_replayed(self, progress: float) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """Rows and weights of the replayed part of every minibatch; None: there is none."""
        if not (self._replay and self._replay.is_warm):
            return None
        rows, weights = self._replay.draw(self._trainer.total_minibatches, self._share, progress)
        return [*zip(self._count + rows, weights[..., None], strict=True)]

    def _begin(
        self, is_off_policy: bool, replayed: list[tuple[torch.Tensor, torch.Tensor]] | None
    ) -> dict[str, torch.Tensor]:
        """Take the present policy for the proximal one.

        Returns:
            Of the experience of older policies, if there is any: the mean of pi / mu, and the part
            that is above V-trace's clip.
        """
        older, experience, fresh = [], self._experience, slice(self._count)
        if is_off_policy:
            older.append(torch.arange(self._count, device=experience.ratio.device))
        else:
            experience.proximal[fresh] = experience.logprobs[fresh]
            experience.ratio[fresh] = 1
        if replayed is not None:
            older.append(torch.cat([rows for rows, _ in replayed]).unique())
        if not older:
            return {}
        rows = torch.cat(older)
        self._correct(rows)
        ratio = experience.ratio[rows]
        clipped = ratio > self._config["vtrace_rho_clip"]
        return {"older_ratio": ratio.mean(), "older_clipfrac": clipped.float().mean()}

    @torch.no_grad()
    def _correct(self, rows: torch.Tensor) -> None:
        """Find what the present policy gives for segments of older ones."""
        for part in rows.split(self._trainer.minibatch_segments):
            segments = self._experience.take(part)
            # The bare policy: ranks may have different numbers of parts.
            logprobs, values, _ = self._forward(self._trainer.uncompiled_policy, segments)
            self._experience.proximal[part] = logprobs
            self._note(part, segments, logprobs, values)

    def _note(
        self,
        rows: torch.Tensor,
        segments: Segments,
        logprobs: torch.Tensor,
        values: torch.Tensor,
    ) -> None:
        """Keep what the latest policy gives for these segments."""
        self._experience.ratio[rows] = (logprobs.detach() - segments.logprobs).exp()
        self._experience.values[rows] = values.detach()

    def _advantages(self, rows: slice | torch.Tensor) -> torch.Tensor:
        """Of the segments in these rows, as far as is known of the latest policy."""
        of = self._experience
        parts = (one[rows] for one in (of.values, of.rewards, of.terminals, of.ratio))
        return vtrace_advantages(*parts, self._config)

    def _draw(
        self, advantages: torch.Tensor, replayed: tuple[torch.Tensor, torch.Tensor] | None
    ) -> Draw:
        """Draw a minibatch, of fresh segments with these advantages and of those replayed."""
        config, trainer = self._config, self._trainer
        alpha, beta0 = config["prio_alpha"], config["prio_beta0"]
        # As PuffeRL has it: the correction grows more slowly the smaller alpha is.
        beta = beta0 + (1 - beta0) * alpha * trainer.epoch / trainer.total_epochs
        chances = sampling_chances(_priorities(advantages), alpha)
        count = trainer.minibatch_segments - (self._share if replayed else 0)
        rows = torch.multinomial(chances, count)
        fresh = Draw(rows, advantages[rows], (self._count * chances[rows, None]) ** -beta)
        if replayed is None:
            return fresh
        rows, weights = replayed
        advantages = self._advantages(rows)
        self._replay.prioritise(rows - self._count, _priorities(advantages))
        again = Draw(rows, advantages, weights)
        return Draw(*(torch.cat(pair) for pair in zip(fresh, again, strict=True)))

    def _forward(
        self, policy: torch.nn.Module, segments: Segments
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities and values, [segments, horizon], and entropies, one after another."""
        observations = segments.observations
        if not self._config["use_rnn"]:
            observations = observations.flatten(0, 1)
        state = {"action": segments.actions, "lstm_h": None, "lstm_c": None}
        with self._trainer.amp_context:
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
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """What a step makes smaller, and what there is to tell of it."""
        config, clip = self._config, self._config["clip_coef"]
        logratio = logprobs - minibatch.proximal
        ratio = logratio.exp()
        advantages = draw.advantages
        scaled = draw.weights * (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        of_policy = policy_loss(ratio, scaled, clip)
        returns = advantages + minibatch.values
        of_values = value_loss(values, minibatch.values, returns, config["vf_clip_coef"])
        entropy = entropy.mean()
        loss = of_policy + config["vf_coef"] * of_values - config["ent_coef"] * entropy
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
        trainer = self._trainer
        torch.nn.utils.clip_grad_norm_(trainer.policy.parameters(), self._config["max_grad_norm"])
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()

    def _time(self, name: str, nest: bool = False) -> None:
        """Count the time from now on to this part of PuffeRL's profile."""
        self._trainer.profile(name, self._trainer.epoch, nest=nest)


def vtrace_advantages(
    values: torch.Tensor,
    rewards: torch.Tensor,
    terminals: torch.Tensor,
    ratio: torch.Tensor,
    config: Mapping[str, float],
) -> torch.Tensor:
    """V-trace's targets less the values, by PuffeRL's kernel; generalised advantages at ratio 1.

    A segment's last decision, whose reward is in the next, has 0.

    Args:
        values, rewards, terminals, ratio: as of `Segments`, [segments, horizon].
        config: section [train].
    """
    return pufferl.compute_puff_advantage(
        values,
        rewards,
        terminals,
        ratio,
        torch.zeros_like(values),
        config["gamma"],
        config["gae_lambda"],
        config["vtrace_rho_clip"],
        config["vtrace_c_clip"],
    )


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
            f"experience_replay.capacity = {rows}: there is not the memory for its {size:.1f} GiB: "
            f"{textwrap.shorten(str(error), 200)}"
        ) from error

// SPDX-License-Identifier: MIT
//
// PPO's loss (Schulman et al. 2017, arXiv 1707.06347) as PuffeRL has it, for MR_WIDTH decisions side by side. Part of
// kernel.c.

#ifndef MR_LOSS_H
#define MR_LOSS_H

#include "actions.h"

// Inputs of the loss, a number for each decision.
typedef struct {
  MrFloats logprob, entropy, value;  // by the policy
  MrFloats proximal, value_before;   // by that of before, and the latest estimate
  MrFloats advantage, target;        // normalised and weighted; of the value
  MrFloats is_there;                 // 1, or 0 for those beyond the last
} MrJudged;

// The loss's derivatives.
typedef struct {
  MrBy of_policy;
  MrFloats by_value;
} MrSlopes;

// Decision by decision, so that the sum is the same for each instruction set's width but for rounding.
MR_INLINE void mr_sum(double *sum, MrFloats x, MrFloats is_there) {
  float all = 0.0f;
  x *= is_there;
  for (int i = 0; i < MR_WIDTH; i++) all += x[i];
  *sum += (double)all;
}

MR_INLINE MrSlopes mr_loss(const MrJudged *j, const MrLossSettings *settings, float share, MrLosses *sums) {
  MrFloats weight = share * j->is_there;

  // Beyond the last decision the policy's outputs are zeros: a ratio of these could be infinite, and 0 times it no
  // number.
  MrFloats logratio = mr_where(j->is_there > 0.0f, j->logprob - j->proximal, mr_all(0.0f));
  MrFloats ratio = mr_exp(logratio);
  MrFloats surrogate = -j->advantage * ratio;
  MrFloats clipped = -j->advantage * mr_clipped(ratio, 1.0f - settings->clip, 1.0f + settings->clip);
  MrInts is_clipped = clipped > surrogate;

  // Half the squared error, of what is farther off: the value, or its clipped change. Within the clip both are the same
  // but for rounding, and the slope is the value's.
  MrFloats change = j->value - j->value_before;
  MrFloats within = mr_clipped(change, -settings->value_clip, settings->value_clip);
  MrFloats error = j->value - j->target, clipped_error = j->value_before + within - j->target;
  MrInts is_farther = clipped_error * clipped_error > error * error;
  MrFloats farther = mr_where(is_farther, clipped_error, error);
  MrFloats slope = mr_where(is_farther & (within != change), mr_all(0.0f), error);

  mr_sum(&sums->policy_loss, mr_where(is_clipped, clipped, surrogate), j->is_there);
  mr_sum(&sums->value_loss, 0.5f * farther * farther, j->is_there);
  mr_sum(&sums->entropy, j->entropy, j->is_there);
  mr_sum(&sums->old_approx_kl, -logratio, j->is_there);
  mr_sum(&sums->approx_kl, ratio - 1.0f - logratio, j->is_there);
  mr_sum(&sums->clipfrac, mr_where(mr_absolute(ratio - 1.0f) > settings->clip, mr_all(1.0f), mr_all(0.0f)),
         j->is_there);
  mr_sum(&sums->importance, ratio, j->is_there);

  return (MrSlopes){
      .of_policy.by_logprob = mr_where(is_clipped, mr_all(0.0f), surrogate) * weight,
      .of_policy.by_entropy = -settings->entropy_weight * weight,
      .by_value = settings->value_weight * slope * weight,
  };
}

#endif

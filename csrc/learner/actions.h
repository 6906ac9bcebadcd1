// SPDX-License-Identifier: MIT
//
// Draws actions from a policy's outputs, for MR_WIDTH decisions side by side: levels by their softmax, or numbers from
// normal distributions. Part of kernel.c.

#ifndef MR_ACTIONS_H
#define MR_ACTIONS_H

#include "policy.h"
#include "vectors.h"

// The outputs of MR_WIDTH decisions, the value after those of the actions. Those of levels are logits at first, and
// log-probabilities once they are normalised.
typedef struct {
  MrFloats of[MR_OUTPUTS_MAX];
} MrOutputs;

// Actions: levels or numbers, stored by their bits.
typedef struct {
  MrInts of[MR_HEADS_MAX];
} MrActions;

// By the loss: its derivatives by each decision's log-probability and entropy.
typedef struct {
  MrFloats by_logprob, by_entropy;
} MrBy;

// Through a pointer: outputs that are returned would be copied whole, those that the policy lacks, too.
MR_INLINE void mr_get_outputs(const MrPolicy *policy, const float *rows, MrOutputs *outputs) {
  for (int o = 0; o < policy->outputs; o++) {
    for (int i = 0; i < MR_WIDTH; i++) outputs->of[o][i] = rows[i * policy->row + o];
  }
}

MR_INLINE void mr_put_outputs(const MrPolicy *policy, const MrOutputs *outputs, float *rows) {
  for (int o = 0; o < policy->outputs; o++) {
    for (int i = 0; i < MR_WIDTH; i++) rows[i * policy->row + o] = outputs->of[o][i];
  }
}

// Levels -------------------------------------------------------------------------------------------------

MR_INLINE void mr_log_softmax(MrFloats *logits, int levels) {
  MrFloats most = logits[0], sum = mr_all(0.0f);
  for (int j = 1; j < levels; j++) most = mr_most(logits[j], most);
  for (int j = 0; j < levels; j++) sum += mr_exp(logits[j] - most);
  MrFloats log_sum = most + mr_log(sum);
  for (int j = 0; j < levels; j++) logits[j] -= log_sum;
}

// The level whose part of the cumulative probabilities a uniform number in [0, 1) falls into.
MR_INLINE MrInts mr_draw_level(const MrFloats *logprobs, int levels, MrFloats uniform) {
  MrInts level = {0};
  MrFloats sum = mr_all(0.0f);
  for (int j = 0; j + 1 < levels; j++) {
    sum += mr_exp(logprobs[j]);
    level -= uniform >= sum;  // a comparison that holds is -1
  }
  return level;
}

MR_INLINE MrInts mr_likeliest_level(const MrFloats *logprobs, int levels) {
  MrInts level = {0};
  MrFloats most = logprobs[0];
  for (int j = 1; j < levels; j++) {
    MrInts is_more = logprobs[j] > most;
    most = mr_where(is_more, logprobs[j], most);
    level = (is_more & j) | (~is_more & level);
  }
  return level;
}

MR_INLINE MrFloats mr_logprob_of_level(const MrFloats *logprobs, int levels, MrInts level) {
  MrFloats logprob = mr_all(0.0f);
  for (int j = 0; j < levels; j++) logprob = mr_where(level == j, logprobs[j], logprob);
  return logprob;
}

MR_INLINE MrFloats mr_entropy_of_levels(const MrFloats *logprobs, int levels) {
  MrFloats entropy = mr_all(0.0f);
  for (int j = 0; j < levels; j++) entropy -= mr_exp(logprobs[j]) * logprobs[j];
  return entropy;
}

// Log-probabilities to the loss's derivatives by the logits.
MR_INLINE void mr_derive_levels(MrFloats *logprobs, int levels, MrInts level, MrBy by) {
  MrFloats entropy = mr_entropy_of_levels(logprobs, levels);
  for (int j = 0; j < levels; j++) {
    MrFloats p = mr_exp(logprobs[j]);
    MrFloats of_action = mr_where(level == j, by.by_logprob, mr_all(0.0f));
    logprobs[j] = of_action - p * (by.by_logprob + by.by_entropy * (logprobs[j] + entropy));
  }
}

// Normal distributions -----------------------------------------------------------------------------------

static const float LOG_ROOT_2PI = 0.918938533f;

MR_INLINE MrFloats mr_mean(const MrPolicy *policy, const MrOutputs *outputs, int head) {
  return policy->shape.middle[head] + policy->shape.reach[head] * outputs->of[head];
}

// The number's distance from the mean, in deviations.
MR_INLINE MrFloats mr_distance(const MrPolicy *policy, const MrOutputs *outputs, const MrActions *actions, int head) {
  return ((MrFloats)actions->of[head] - mr_mean(policy, outputs, head)) / policy->deviation[head];
}

// Means to the loss's derivatives by the outputs; those by the spread are added to `spread`.
MR_INLINE void mr_derive_number(const MrPolicy *policy, MrOutputs *outputs, const MrActions *actions, int head, MrBy by,
                                double *spread) {
  MrFloats distance = mr_distance(policy, outputs, actions, head);
  float deviation = policy->deviation[head];
  MrFloats by_deviation = (by.by_logprob * (distance * distance - 1.0f) + by.by_entropy) / deviation;
  for (int i = 0; i < MR_WIDTH; i++) *spread += (double)(by_deviation[i] * policy->deviation_slope[head]);
  outputs->of[head] = by.by_logprob * distance * (policy->shape.reach[head] / deviation);
}

// Either -------------------------------------------------------------------------------------------------

// Logits to log-probabilities, in place, where actions are levels.
MR_INLINE void mr_normalise(const MrPolicy *policy, MrOutputs *outputs) {
  if (policy->shape.is_continuous) return;
  MrFloats *logits = outputs->of;
  for (int head = 0; head < policy->shape.heads; head++) {
    mr_log_softmax(logits, policy->shape.levels[head]);
    logits += policy->shape.levels[head];
  }
}

// Draws an action each from normalised outputs; without noise, takes the likeliest.
MR_INLINE void mr_draw(const MrPolicy *policy, const MrOutputs *outputs, const MrFloats *noise, MrActions *actions) {
  const MrFloats *logprobs = outputs->of;
  for (int head = 0; head < policy->shape.heads; head++) {
    if (policy->shape.is_continuous) {
      MrFloats number = mr_mean(policy, outputs, head);
      if (noise) number += policy->deviation[head] * noise[head];
      actions->of[head] = (MrInts)number;
      continue;
    }
    int levels = policy->shape.levels[head];
    actions->of[head] = noise ? mr_draw_level(logprobs, levels, noise[head]) : mr_likeliest_level(logprobs, levels);
    logprobs += levels;
  }
}

// Continuous actions to their ranges.
MR_INLINE void mr_limit(const MrPolicy *policy, MrActions *actions) {
  if (!policy->shape.is_continuous) return;
  for (int head = 0; head < policy->shape.heads; head++) {
    float middle = policy->shape.middle[head], reach = policy->shape.reach[head];
    actions->of[head] = (MrInts)mr_clipped((MrFloats)actions->of[head], middle - reach, middle + reach);
  }
}

// The actions' log-probabilities, and the entropies of what they are drawn from, of normalised outputs.
MR_INLINE MrFloats mr_judge(const MrPolicy *policy, const MrOutputs *outputs, const MrActions *actions,
                            MrFloats *entropy) {
  MrFloats logprob = mr_all(0.0f);
  const MrFloats *logprobs = outputs->of;
  *entropy = mr_all(0.0f);
  for (int head = 0; head < policy->shape.heads; head++) {
    if (policy->shape.is_continuous) {
      MrFloats distance = mr_distance(policy, outputs, actions, head);
      float size = policy->log_deviation[head] + LOG_ROOT_2PI;
      logprob -= 0.5f * distance * distance + size;
      *entropy += 0.5f + size;
      continue;
    }
    int levels = policy->shape.levels[head];
    logprob += mr_logprob_of_level(logprobs, levels, actions->of[head]);
    *entropy += mr_entropy_of_levels(logprobs, levels);
    logprobs += levels;
  }
  return logprob;
}

// Normalised outputs to the loss's derivatives by the outputs as they were before.
MR_INLINE void mr_derive(const MrPolicy *policy, MrOutputs *outputs, const MrActions *actions, MrBy by,
                         double spread[MR_HEADS_MAX]) {
  MrFloats *logprobs = outputs->of;
  for (int head = 0; head < policy->shape.heads; head++) {
    if (policy->shape.is_continuous) {
      mr_derive_number(policy, outputs, actions, head, by, &spread[head]);
      continue;
    }
    mr_derive_levels(logprobs, policy->shape.levels[head], actions->of[head], by);
    logprobs += policy->shape.levels[head];
  }
}

#endif

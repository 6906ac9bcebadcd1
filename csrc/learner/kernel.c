// SPDX-License-Identifier: MIT
//
// The learner's kernel: what is done with up to MR_ROWS decisions, and with a matrix. setup.py compiles this file once
// for each instruction set, with the set's name as MR_ISA.

#include "../isas.h"
#include "actions.h"
#include "loss.h"
#include "network.h"
#include "optimizers.h"
#include "policy.h"

// Some numbers of up to MR_WIDTH decisions that lie `stride` numbers apart; 0 beyond the last.
MR_INLINE MrFloats get(const float *from, int64_t stride, int count) {
  MrFloats x = mr_all(0.0f);
  for (int i = 0; i < MR_WIDTH && i < count; i++) x[i] = from[i * stride];
  return x;
}

MR_INLINE void put(MrFloats x, float *to, int64_t stride, int count) {
  for (int i = 0; i < MR_WIDTH && i < count; i++) to[i * stride] = x[i];
}

MR_INLINE void put_actions(const MrActions *actions, int32_t heads, void *to, int64_t stride, int count) {
  for (int head = 0; head < heads; head++) {
    put((MrFloats)actions->of[head], (float *)to + head, heads * stride, count);
  }
}

static void keep_seen(const MrSeen *seen, const MrKeep *keep) {
  size_t bytes = (size_t)keep->width * sizeof(float);
  for (int32_t i = 0; i < seen->count; i++) {
    int64_t at = i * keep->stride;
    memcpy(keep->observations + at * keep->width, seen->observations + i * seen->row, bytes);
    keep->rewards[at] = seen->rewards[i];
    keep->terminals[at] = seen->ends[i] ? 1.0f : 0.0f;
  }
}

MR_INLINE void keep_given(const MrPolicy *policy, const MrOutputs *outputs, const MrActions *drawn, int32_t first,
                          int32_t count, const MrKeep *keep) {
  int64_t at = first * keep->stride;
  int32_t heads = policy->shape.heads;
  MrFloats entropy;
  put_actions(drawn, heads, (float *)keep->actions + at * heads, keep->stride, count);
  put(mr_judge(policy, outputs, drawn, &entropy), keep->logprobs + at, keep->stride, count);
  put(outputs->of[policy->outputs - 1], keep->values + at, keep->stride, count);
}

// Acts in up to MR_WIDTH decisions from `i` on.
MR_INLINE void act_from(const MrPolicy *policy, const MrWork *work, int32_t i, int32_t left, const float *noise,
                        void *actions, const MrKeep *keep) {
  int32_t heads = policy->shape.heads;
  MrOutputs outputs;
  mr_get_outputs(policy, work->logits + i * policy->row, &outputs);
  MrFloats random[MR_HEADS_MAX];
  for (int head = 0; noise && head < heads; head++) {
    random[head] = get(noise + i * heads + head, heads, left);
  }
  mr_normalise(policy, &outputs);
  MrActions drawn;
  mr_draw(policy, &outputs, noise ? random : NULL, &drawn);
  if (keep->values) keep_given(policy, &outputs, &drawn, i, left, keep);
  mr_limit(policy, &drawn);
  put_actions(&drawn, heads, (float *)actions + i * heads, 1, left);
}

static void act(const MrPolicy *policy, MrWork *work, const MrSeen *seen, const float *noise, void *actions,
                const MrKeep *keep) {
  for (int32_t i = 0; i < seen->count; i++) mr_see(policy, work, i, seen->observations + i * seen->row);
  if (keep->values) keep_seen(seen, keep);
  mr_forward(policy, work, seen->count);
  for (int32_t i = 0; i < seen->count; i += MR_WIDTH) {
    act_from(policy, work, i, seen->count - i, noise, actions, keep);
  }
}

// The outputs of MR_WIDTH decisions from `i` on, the actions that were taken, and what they are worth now.
MR_INLINE void judge(const MrPolicy *policy, const MrWork *work, const MrExperience *experience, const MrBlock *block,
                     int32_t i, MrOutputs *outputs, MrActions *actions, MrJudged *judged) {
  int32_t heads = policy->shape.heads;
  mr_get_outputs(policy, work->logits + i * policy->row, outputs);
  mr_normalise(policy, outputs);
  for (int lane = 0; lane < MR_WIDTH; lane++) {
    int64_t place = block->places[i + lane < block->count ? i + lane : i];
    for (int head = 0; head < heads; head++) {
      actions->of[head][lane] = ((const MrInt *)experience->actions)[place * heads + head];
    }
    judged->is_there[lane] = i + lane < block->count ? 1.0f : 0.0f;
  }
  judged->logprob = mr_judge(policy, outputs, actions, &judged->entropy);
  judged->value = outputs->of[policy->outputs - 1];
}

static void look(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrBlock *block) {
  for (int32_t i = 0; i < block->count; i++) {
    mr_see(policy, work, i, experience->observations + block->places[i] * experience->width);
  }
  mr_forward(policy, work, block->count);
}

// Writes the policy's log-probabilities and values; a critic has no log-probabilities.
MR_INLINE void tell(const MrPolicy *policy, const MrJudged *judged, const MrBlock *block, int32_t i, float *logprobs,
                    float *values) {
  for (int lane = 0; lane < MR_WIDTH && i + lane < block->count; lane++) {
    int32_t number = block->numbers[i + lane];
    if (policy->shape.heads) logprobs[number] = judged->logprob[lane];
    values[number] = judged->value[lane];
  }
}

MR_INLINE void score_from(const MrPolicy *policy, const MrWork *work, const MrExperience *experience,
                          const MrBlock *block, int32_t i, float *logprobs, float *values) {
  MrActions actions;
  MrJudged judged = {0};
  MrOutputs outputs;
  judge(policy, work, experience, block, i, &outputs, &actions, &judged);
  tell(policy, &judged, block, i, logprobs, values);
}

static void score(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrBlock *block,
                  float *logprobs, float *values) {
  look(policy, work, experience, block);
  for (int32_t i = 0; i < block->count; i += MR_WIDTH) {
    score_from(policy, work, experience, block, i, logprobs, values);
  }
}

// Writes the loss's derivatives by the outputs of MR_WIDTH decisions from `i` on, in their place.
MR_INLINE void derive_from(const MrPolicy *policy, MrWork *work, const MrExperience *experience,
                           const MrMinibatch *minibatch, const MrLossSettings *settings, float share,
                           const MrBlock *block, int32_t i, float *logprobs, float *values, MrGradient *sum) {
  MrActions actions;
  MrJudged judged = {0};
  MrOutputs outputs;
  judge(policy, work, experience, block, i, &outputs, &actions, &judged);
  for (int lane = 0; lane < MR_WIDTH; lane++) {
    int32_t from = i + lane < block->count ? i + lane : i;
    judged.advantage[lane] = minibatch->advantages[block->numbers[from]];
    judged.target[lane] = minibatch->returns[block->numbers[from]];
    judged.proximal[lane] = experience->proximal[block->places[from]];
    judged.value_before[lane] = experience->values[block->places[from]];
  }
  tell(policy, &judged, block, i, logprobs, values);
  MrSlopes slopes = mr_loss(&judged, settings, share, &sum->losses);
  mr_derive(policy, &outputs, &actions, slopes.of_policy, sum->spread);
  outputs.of[policy->outputs - 1] = slopes.by_value;
  mr_put_outputs(policy, &outputs, work->logits + i * policy->row);
}

static void learn(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrMinibatch *minibatch,
                  const MrLossSettings *settings, float share, const MrBlock *block, float *logprobs, float *values,
                  MrGradient *sum) {
  look(policy, work, experience, block);
  for (int32_t i = 0; i < block->count; i += MR_WIDTH) {
    derive_from(policy, work, experience, minibatch, settings, share, block, i, logprobs, values, sum);
  }
  mr_backward(policy, work, block->count, sum);
}

const MrLearnerKernel MR_OF_ISA(mr_learner_kernel_) = {
    .name = MR_ISA_NAME,
    .act = act,
    .score = score,
    .learn = learn,
    .orthogonalise = mr_orthogonalise,
};

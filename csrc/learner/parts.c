// SPDX-License-Identifier: MIT
//
// Which thread does what: decisions, gradients and steps are divided into parts, and what parts have summed is added in
// their order.

#include "state.h"

#include <math.h>
#include <string.h>

// Decisions ------------------------------------------------------------------------------------------------

// A block has `size` decisions, the last one fewer.
static int32_t blocks_of(int32_t decisions, int32_t size) { return (decisions + size - 1) / size; }

static int32_t count_in_block(int32_t decisions, int32_t size, int32_t block) {
  int32_t left = decisions - block * size;
  return left < size ? left : size;
}

static int32_t block_size(const MrLearner *learner) { return mr_block_size(&learner->policy.shape); }

typedef struct {
  MrLearner *learner;
  const MrSeen *seen;
  const float *noise;
  void *actions;
  const MrKeep *keep;
} Acting;

static MrSeen seen_from(const MrSeen *seen, int64_t first, int32_t count) {
  MrSeen part = *seen;
  part.count = count;
  part.observations += first * seen->row;
  if (part.rewards) part.rewards += first;
  if (part.ends) part.ends += first;
  return part;
}

static MrKeep keep_from(const MrKeep *keep, const MrShape *shape, int64_t first) {
  MrKeep part = *keep;
  if (!part.values) return part;
  int64_t at = first * keep->stride;
  part.observations += at * part.width;
  part.actions = (float *)part.actions + at * shape->heads;
  part.logprobs += at;
  part.values += at;
  part.rewards += at;
  part.terminals += at;
  return part;
}

static void act_block(void *context, int32_t block, int32_t thread) {
  const Acting *a = context;
  const MrPolicy *policy = &a->learner->policy;
  int32_t heads = policy->shape.heads, size = block_size(a->learner);
  int64_t first = (int64_t)block * size;
  MrSeen seen = seen_from(a->seen, first, count_in_block(a->seen->count, size, block));
  MrKeep keep = keep_from(a->keep, &policy->shape, first);
  const float *noise = a->noise ? a->noise + first * heads : NULL;
  a->learner->kernel->act(policy, &a->learner->work[thread], &seen, noise, (float *)a->actions + first * heads, &keep);
}

void mr_learner_act(MrLearner *learner, const MrSeen *seen, const float *noise, void *actions, const MrKeep *keep) {
  Acting acting = {learner, seen, noise, actions, keep};
  mr_threads_run(learner->threads, blocks_of(seen->count, block_size(learner)), act_block, &acting);
}

// Places of the decisions of a block.
static MrBlock find_block(const MrExperience *experience, const MrChoice *choice, int32_t size, int32_t number) {
  MrBlock block = {.count = count_in_block(choice->count, size, number)};
  for (int32_t i = 0; i < block.count; i++) {
    int32_t at = number * size + i, decision = choice->decisions ? choice->decisions[at] : at;
    block.numbers[i] = decision;
    block.places[i] =
        choice->rows[decision / experience->horizon] * experience->horizon + decision % experience->horizon;
  }
  return block;
}

typedef struct {
  MrLearner *learner;
  const MrExperience *experience;
  const MrChoice *choice;
  float *logprobs, *values;
} Scoring;

static void score_block(void *context, int32_t number, int32_t thread) {
  const Scoring *s = context;
  MrBlock block = find_block(s->experience, s->choice, block_size(s->learner), number);
  s->learner->kernel->score(&s->learner->policy, &s->learner->work[thread], s->experience, &block, s->logprobs,
                            s->values);
}

void mr_learner_score(MrLearner *learner, const MrExperience *experience, const MrChoice *choice, float *logprobs,
                      float *values) {
  Scoring scoring = {learner, experience, choice, logprobs, values};
  mr_threads_run(learner->threads, blocks_of(choice->count, block_size(learner)), score_block, &scoring);
}

// Gradients --------------------------------------------------------------------------------------------------

typedef struct {
  Scoring of;
  const MrMinibatch *minibatch;
  const MrLossSettings *settings;
  float share;
  int32_t parts;
  float *gradient;
} Learning;

static void learn_part(void *context, int32_t part, int32_t thread) {
  const Learning *l = context;
  MrLearner *learner = l->of.learner;
  MrGradient *sum = &learner->gradients[part];
  memset(sum->weights[0], 0, learner->gradient_size * sizeof(float));
  memset(sum->spread, 0, sizeof sum->spread);
  sum->losses = (MrLosses){0};
  int32_t size = block_size(learner), blocks = blocks_of(l->of.choice->count, size);
  for (int32_t number = part * blocks / l->parts; number < (part + 1) * blocks / l->parts; number++) {
    MrBlock block = find_block(l->of.experience, l->of.choice, size, number);
    learner->kernel->learn(&learner->policy, &learner->work[thread], l->of.experience, l->minibatch, l->settings,
                           l->share, &block, l->of.logprobs, l->of.values, sum);
  }
}

// Adds an array's gradients of all parts, in their order.
static void add_array_of_parts(void *context, int32_t index, int32_t thread) {
  (void)thread;
  const Learning *l = context;
  MrLearner *learner = l->of.learner;
  const MrArray *array = &learner->arrays[index];
  MrPlace place = learner->places[index];
  float *to = l->gradient + array->at;
  for (int32_t part = 0; part < l->parts; part++) {
    const MrGradient *sum = &learner->gradients[part];
    if (place.is_spread) {
      for (int head = 0; head < array->columns; head++) to[head] += (float)sum->spread[head];
      continue;
    }
    int32_t row = array->is_matrix ? learner->policy.layers[place.layer].in_padded : 0;
    const float *from =
        array->is_matrix ? sum->weights[place.layer] + place.row * row : sum->biases[place.layer] + place.row;
    for (int32_t i = 0; i < array->rows; i++) {
      for (int32_t j = 0; j < array->columns; j++) to[i * array->columns + j] += from[i * row + j];
    }
  }
}

static void add_losses(const MrLosses *from, double weight, MrLosses *to) {
  to->policy_loss += from->policy_loss * weight;
  to->value_loss += from->value_loss * weight;
  to->entropy += from->entropy * weight;
  to->old_approx_kl += from->old_approx_kl * weight;
  to->approx_kl += from->approx_kl * weight;
  to->clipfrac += from->clipfrac * weight;
  to->importance += from->importance * weight;
}

void mr_learner_gradient(MrLearner *learner, const MrExperience *experience, const MrChoice *choice,
                         const MrMinibatch *minibatch, const MrLossSettings *settings, float scale, float *gradient,
                         float *logprobs, float *values, MrLosses *losses) {
  int32_t decisions = choice->count, blocks = blocks_of(decisions, block_size(learner));
  Learning learning = {
      .of = {learner, experience, choice, logprobs, values},
      .minibatch = minibatch,
      .settings = settings,
      .share = scale / (float)decisions,
      .parts = blocks < MR_MAX_PARTS ? blocks : MR_MAX_PARTS,
      .gradient = gradient,
  };
  mr_threads_run(learner->threads, learning.parts, learn_part, &learning);
  mr_threads_run(learner->threads, learner->count, add_array_of_parts, &learning);
  *losses = (MrLosses){0};
  for (int32_t part = 0; part < learning.parts; part++) {
    add_losses(&learner->gradients[part].losses, 1.0 / decisions, losses);
  }
}

// Steps ------------------------------------------------------------------------------------------------------

// The factor that limits the norm of a gradient to `max_norm`; as torch's clip_grad_norm_.
static float clip_factor(const float *gradient, int32_t size, float max_norm) {
  double sums[8] = {0}, all = 0.0;
  for (int32_t i = 0; i < size; i++) sums[i & 7] += (double)gradient[i] * (double)gradient[i];
  for (int i = 0; i < 8; i++) all += sums[i];
  float factor = max_norm / ((float)sqrt(all) + 1e-6f);
  return factor < 1.0f ? factor : factor != factor ? factor : 1.0f;
}

typedef struct {
  MrLearner *learner;
  float *parameters, *momentum;
  const float *gradient;
  float factor, rate, beta;
} Step;

static void muon_array(void *context, int32_t index, int32_t thread) {
  const Step *s = context;
  MrLearner *learner = s->learner;
  const MrArray *array = &learner->arrays[index];
  int32_t at = array->at, end = at + array->rows * array->columns;
  for (int32_t i = at; i < end; i++) {
    float gradient = s->factor * s->gradient[i];
    s->momentum[i] += (1.0f - s->beta) * (gradient - s->momentum[i]);
    learner->update[i] = gradient + s->momentum[i];
  }
  if (array->is_matrix) {
    learner->kernel->orthogonalise(learner->update + at, array->rows, array->columns, learner->rooms[thread]);
  }
  for (int32_t i = at; i < end; i++) s->parameters[i] -= s->rate * learner->update[i];
  mr_learner_load_array(learner, index, s->parameters);
}

void mr_learner_muon(MrLearner *learner, float *parameters, float *momentum, const float *gradient, float rate,
                     float beta, float max_norm) {
  float factor = clip_factor(gradient, learner->size, max_norm);
  Step step = {learner, parameters, momentum, gradient, factor, rate, beta};
  mr_threads_run(learner->threads, learner->count, muon_array, &step);
}

void mr_learner_adam(MrLearner *learner, float *parameters, float *mean, float *square, const float *gradient,
                     float rate, float beta1, float beta2, float epsilon, int64_t step, float max_norm) {
  float factor = clip_factor(gradient, learner->size, max_norm);
  double correction1 = 1.0 - pow((double)beta1, (double)step), correction2 = 1.0 - pow((double)beta2, (double)step);
  float stride = (float)((double)rate / correction1), root = (float)sqrt(correction2);
  for (int32_t i = 0; i < learner->size; i++) {
    float g = factor * gradient[i];
    mean[i] += (1.0f - beta1) * (g - mean[i]);
    square[i] += (1.0f - beta2) * (g * g - square[i]);
    parameters[i] -= stride * mean[i] / (sqrtf(square[i]) / root + epsilon);
  }
  mr_learner_load(learner, parameters);
}

// Advantages ----------------------------------------------------------------------------------------------

static float least(float a, float b) { return a < b ? a : b; }

// Writes the advantages of the segment that begins at `first`; returns the sum of their absolute values. PuffeRL's
// buffers are shifted: the reward for a decision, and whether it ended the engagement, are with the next one. So the
// last decision of a segment has no advantage.
static float find_segment(const MrOutcomes *outcomes, const MrTraceSettings *settings, int64_t first,
                          float *advantages) {
  const float *values = outcomes->values + first, *rewards = outcomes->rewards + first;
  const float *ends = outcomes->terminals + first, *ratio = outcomes->ratio + first;
  int32_t last = outcomes->horizon - 1;
  float sum = 0.0f, advantage = 0.0f, decay = settings->gamma * settings->lambda;
  advantages[last] = 0.0f;
  for (int32_t t = last - 1; t >= 0; t--) {
    float goes_on = 1.0f - ends[t + 1];
    float error = rewards[t + 1] + settings->gamma * values[t + 1] * goes_on - values[t];
    float rho = least(ratio[t], settings->rho_clip), c = least(ratio[t], settings->c_clip);
    advantage = rho * error + decay * c * advantage * goes_on;
    advantages[t] = advantage;
    sum += fabsf(advantage);
  }
  return sum;
}

void mr_learner_advantages(const MrOutcomes *outcomes, const MrTraceSettings *settings, const int64_t *rows,
                           int32_t count, float *advantages, float *priorities) {
  for (int32_t i = 0; i < count; i++) {
    int64_t first = rows[i] * outcomes->horizon;
    priorities[rows[i]] = find_segment(outcomes, settings, first, advantages + first);
  }
}

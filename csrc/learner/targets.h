// SPDX-License-Identifier: MIT
//
// The choice of a target by a team's policy, forward and backward (docs/learner.md). The last layer gives logits of the
// heads before fire, those of holding fire and of firing, then a query vector, and the value. A target's row gives a
// key vector. Its logit is that of firing plus the scalar product of query and key. Part of kernel.c.

#ifndef MR_TARGETS_H
#define MR_TARGETS_H

#include <string.h>

#include "pooling.h"

// The logit of an absent target. Its probability is 0.
static const float MR_ABSENT = -1e4f;

typedef struct {
  int fire, query, value;   // where these begin among the last layer's outputs
  int target, value_logit;  // the same among the logits
} MrParts;

MR_INLINE MrParts mr_parts(const MrShape *shape) {
  int last = shape->heads / mr_rows_per_decision(shape) - 1, hold = 0;
  for (int head = 0; head < last; head++) hold += shape->levels[head];
  return (MrParts){.fire = hold + 1,
                   .query = hold + 2,
                   .value = hold + 2 + shape->entity_size,
                   .target = hold + 1,
                   .value_logit = hold + shape->levels[last]};
}

MR_INLINE bool mr_is_there(const MrPolicy *policy, const MrWork *work, int target, int decision) {
  const MrShape *shape = &policy->shape;
  return mr_entity(work, &shape->rows[shape->targets], target)[decision * shape->features] > 0.0f;
}

// A target's keys in all decisions, [MR_ROWS, entity_size].
MR_INLINE float *mr_key(const MrPolicy *policy, const MrWork *work, int target) {
  return work->keys + target * MR_ROWS * policy->shape.entity_size;
}

static float mr_scalar_product(const float *a, const float *b, int size) {
  MrFloats sum = mr_all(0.0f);
  for (int j = 0; j < size; j += MR_WIDTH) sum += mr_load(a + j) * mr_load(b + j);
  float all = 0.0f;
  for (int i = 0; i < MR_WIDTH; i++) all += sum[i];
  return all;
}

// Computes logits and values from the last layer's outputs.
static void mr_aim(const MrPolicy *policy, MrWork *work, int decisions) {
  const MrShape *shape = &policy->shape;
  const MrEntityRows *rows = &shape->rows[shape->targets];
  const MrLayer *layer = &policy->layers[mr_kind_layer(shape, shape->kinds)];
  MrParts at = mr_parts(shape);
  int out = policy->layers[shape->layers].out_padded;
  for (int target = 0; target < rows->rows; target++) {
    mr_embed(policy, layer, mr_entity(work, rows, target), decisions, mr_key(policy, work, target));
  }
  for (int i = 0; i < decisions; i++) {
    const float *outputs = work->out + i * out;
    float *logits = work->fighter_logits + i * policy->fighter_row;
    memcpy(logits, outputs, (size_t)at.fire * sizeof(float));
    for (int target = 0; target < rows->rows; target++) {
      const float *key = mr_key(policy, work, target) + i * shape->entity_size;
      float fit = mr_scalar_product(outputs + at.query, key, shape->entity_size);
      logits[at.target + target] = mr_is_there(policy, work, target, i) ? outputs[at.fire] + fit : MR_ABSENT;
    }
    logits[at.value_logit] = outputs[at.value];
  }
}

// Replaces one decision's outputs of the last layer by the loss's derivatives by them.
static void mr_aim_back_one(const MrPolicy *policy, MrWork *work, MrParts at, int i) {
  const MrShape *shape = &policy->shape;
  int size = shape->entity_size;
  const float *by_logit = work->fighter_logits + i * policy->fighter_row;
  float *by = work->out + i * policy->layers[shape->layers].out_padded;
  memcpy(by, by_logit, (size_t)at.fire * sizeof(float));
  memset(by + at.fire, 0, (size_t)(1 + size) * sizeof(float));
  for (int target = 0; target < shape->rows[shape->targets].rows; target++) {
    if (!mr_is_there(policy, work, target, i)) continue;
    const float *key = mr_key(policy, work, target) + i * size;
    float by_target = by_logit[at.target + target];
    by[at.fire] += by_target;
    for (int j = 0; j < size; j++) by[at.query + j] += by_target * key[j];
  }
  by[at.value] = by_logit[at.value_logit];
}

// The same in all decisions. Also adds the derivatives by the weights of keys to `sum`.
static void mr_aim_back(const MrPolicy *policy, MrWork *work, int decisions, MrGradient *sum) {
  const MrShape *shape = &policy->shape;
  const MrEntityRows *rows = &shape->rows[shape->targets];
  MrParts at = mr_parts(shape);
  int out = policy->layers[shape->layers].out_padded, size = shape->entity_size;
  for (int target = 0; target < rows->rows; target++) {
    for (int i = 0; i < decisions; i++) {
      bool is_there = mr_is_there(policy, work, target, i);
      float by_target = is_there ? work->fighter_logits[i * policy->fighter_row + at.target + target] : 0.0f;
      const float *query = work->out + i * out + at.query;
      for (int j = 0; j < size; j++) work->embedded[i * size + j] = by_target * query[j];
    }
    mr_embed_back(policy, work, mr_kind_layer(shape, shape->kinds), mr_entity(work, rows, target), decisions, sum);
  }
  for (int i = 0; i < decisions; i++) mr_aim_back_one(policy, work, at, i);
}

#endif

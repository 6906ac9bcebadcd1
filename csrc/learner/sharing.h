// SPDX-License-Identifier: MIT
//
// A commander whose fighters share its weights, forward and backward (docs/learner.md). Each row of the network is a
// fighter; the fighters of a decision follow one another. The input of the last hidden layer, the joint layer, is a
// fighter's encoding and the maximum of the encodings over the side. After the last layer the outputs of a side's rows
// are joined into the outputs of one decision. Part of kernel.c.

#ifndef MR_SHARING_H
#define MR_SHARING_H

#include <string.h>

#include "policy.h"
#include "vectors.h"

// Number of features of a fighter's encoding. The joint layer's input is twice as wide.
MR_INLINE int mr_encoding_size(const MrShape *shape) { return shape->width[shape->layers - 2]; }

// Finds the maximum of each feature over the `fighters` encodings of a side, and the fighter that has it.
MR_INLINE void mr_summarise(const float *encodings, int fighters, int size, float *summary, MrInt *leaders) {
  for (int j = 0; j < size; j += MR_WIDTH) {
    MrFloats most = mr_load(encodings + j);
    MrInts leader = {0};
    for (int fighter = 1; fighter < fighters; fighter++) {
      MrFloats x = mr_load(encodings + fighter * size + j);
      MrInts is_more = x > most;
      most = mr_where(is_more, x, most);
      leader = (is_more & fighter) | (~is_more & leader);
    }
    mr_store(summary + j, most);
    *(MrInts *)(leaders + j) = leader;
  }
}

// Writes the joint layer's input from the encodings: each fighter's own, then the summary of its side.
static void mr_join(const MrPolicy *policy, MrWork *work, int decisions) {
  const MrShape *shape = &policy->shape;
  int fighters = mr_rows_per_decision(shape), size = mr_encoding_size(shape);
  float *joint = work->in[shape->layers - 1];
  for (int i = 0; i < decisions; i++) {
    const float *encodings = work->encodings + i * fighters * size;
    float *to = joint + i * fighters * 2 * size, *summary = to + size;
    mr_summarise(encodings, fighters, size, summary, work->leaders + i * size);
    for (int fighter = 0; fighter < fighters; fighter++) {
      memcpy(to + fighter * 2 * size, encodings + fighter * size, (size_t)size * sizeof(float));
      if (fighter) memcpy(to + fighter * 2 * size + size, summary, (size_t)size * sizeof(float));
    }
  }
}

// Computes the derivatives by the encodings, in work->encodings, from those by the joint layer's input. The derivative
// by a feature of the summary goes to the encoding that has the maximum.
static void mr_join_back(const MrPolicy *policy, MrWork *work, const float *by_in, int decisions) {
  const MrShape *shape = &policy->shape;
  int fighters = mr_rows_per_decision(shape), size = mr_encoding_size(shape);
  for (int i = 0; i < decisions; i++) {
    const float *from = by_in + i * fighters * 2 * size;
    const MrInt *leaders = work->leaders + i * size;
    float *to = work->encodings + i * fighters * size;
    for (int j = 0; j < size; j += MR_WIDTH) {
      MrFloats by_summary = mr_all(0.0f);
      for (int fighter = 0; fighter < fighters; fighter++) by_summary += mr_load(from + (2 * fighter + 1) * size + j);
      for (int fighter = 0; fighter < fighters; fighter++) {
        MrInts is_its = *(const MrInts *)(leaders + j) == fighter;
        MrFloats own = mr_load(from + 2 * fighter * size + j);
        mr_store(to + fighter * size + j, own + mr_where(is_its, by_summary, mr_all(0.0f)));
      }
    }
  }
}

MR_INLINE bool mr_is_alive(const MrShape *shape, const MrWork *work, int row) {
  return work->observations[row * shape->features + shape->own_alive] > 0.0f;
}

// Joins the outputs of a side's fighters into those of a decision: the logits of one fighter after another, zeros for
// dead ones, and the mean of the values.
static void mr_join_outputs(const MrPolicy *policy, MrWork *work, int decisions) {
  const MrShape *shape = &policy->shape;
  int fighters = mr_rows_per_decision(shape), count = (policy->outputs - 1) / fighters;
  for (int i = 0; i < decisions; i++) {
    float *to = work->logits + i * policy->row, value = 0.0f;
    for (int row = i * fighters; row < (i + 1) * fighters; row++, to += count) {
      const float *from = work->fighter_logits + row * policy->fighter_row;
      memset(to, 0, (size_t)count * sizeof(float));
      if (mr_is_alive(shape, work, row)) memcpy(to, from, (size_t)count * sizeof(float));
      value += from[count];
    }
    *to = value / (float)fighters;
  }
}

// Computes the loss's derivatives by the fighters' logits and values from those by the decisions' outputs.
static void mr_join_outputs_back(const MrPolicy *policy, MrWork *work, int decisions) {
  const MrShape *shape = &policy->shape;
  int fighters = mr_rows_per_decision(shape), count = (policy->outputs - 1) / fighters;
  for (int i = 0; i < decisions; i++) {
    const float *from = work->logits + i * policy->row;
    float by_value = from[fighters * count] / (float)fighters;
    for (int row = i * fighters; row < (i + 1) * fighters; row++, from += count) {
      float *to = work->fighter_logits + row * policy->fighter_row;
      memset(to, 0, (size_t)count * sizeof(float));
      if (mr_is_alive(shape, work, row)) memcpy(to, from, (size_t)count * sizeof(float));
      to[count] = by_value;
    }
  }
}

#endif

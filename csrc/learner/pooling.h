// SPDX-License-Identifier: MIT
//
// The entity encoder of a team's policy, forward and backward (docs/learner.md): a layer that all rows of a kind share,
// a ReLU, and the maximum over the rows. Part of kernel.c.

#ifndef MR_POOLING_H
#define MR_POOLING_H

#include <string.h>

#include "policy.h"
#include "product.h"

// One row of a kind in the first decision's observation; those of the others are `features` numbers apart.
MR_INLINE const float *mr_entity(const MrWork *work, const MrEntityRows *rows, int row) {
  return work->observations + rows->place + row / rows->per_fighter * rows->stride +
         row % rows->per_fighter * rows->features;
}

// Writes the outputs of a layer for one row in all decisions, [decisions, entity_size].
MR_INLINE void mr_embed(const MrPolicy *policy, const MrLayer *layer, const float *entity, int decisions, float *to) {
  MrMatrix in = {entity, policy->shape.features, 1};
  mr_product(decisions, layer->out_padded, layer->in, in, layer->turned, layer->out_padded, to, layer->out_padded);
}

// Adds to `sum` the derivatives by a layer's weights, from those by its outputs for one row, work->embedded. Numbers
// behind a row's features give derivatives by the weights' padding, which nothing reads.
static void mr_embed_back(const MrPolicy *policy, const MrWork *work, int layer, const float *entity, int decisions,
                          MrGradient *sum) {
  int size = policy->shape.entity_size, in = policy->layers[layer].in_padded;
  MrMatrix turned = {work->embedded, 1, size};
  mr_product_add(size, in, decisions, turned, entity, policy->shape.features, sum->weights[layer], in);
}

// Updates the maximum of each feature over the rows so far, and the number of the row that has it: from 1 on, or 0
// while no row has a feature above 0.
MR_INLINE void mr_take_most(const float *embedded, int row, int size, float *most, MrInt *winners) {
  for (int j = 0; j < size; j += MR_WIDTH) {
    MrFloats x = mr_load(embedded + j), y = mr_load(most + j);
    MrInts is_more = x > y, *winner = (MrInts *)(winners + j);
    mr_store(most + j, mr_where(is_more, x, y));
    *winner = (is_more & (row + 1)) | (~is_more & *winner);
  }
}

// Computes the first hidden layer's input: the own state, then each kind's features.
static void mr_pool(const MrPolicy *policy, MrWork *work, int decisions) {
  const MrShape *shape = &policy->shape;
  int in = policy->layers[0].in_padded, size = shape->entity_size, features = shape->kinds * size;
  memset(work->winners, 0, (size_t)(decisions * features) * sizeof *work->winners);
  for (int i = 0; i < decisions; i++) {
    float *to = work->in[0] + i * in;
    memcpy(to, work->observations + i * shape->features, (size_t)shape->own * sizeof(float));
    memset(to + shape->own, 0, (size_t)features * sizeof(float));
  }
  for (int k = 0; k < shape->kinds; k++) {
    for (int row = 0; row < shape->rows[k].rows; row++) {
      const float *entity = mr_entity(work, &shape->rows[k], row);
      mr_embed(policy, &policy->layers[mr_kind_layer(shape, k)], entity, decisions, work->embedded);
      for (int i = 0; i < decisions; i++) {
        mr_take_most(work->embedded + i * size, row, size, work->in[0] + i * in + shape->own + k * size,
                     work->winners + i * features + k * size);
      }
    }
  }
}

// Adds the derivatives by the shared layers' weights to `sum`, from those by the first hidden layer's input. The
// derivative by a feature goes to the row that has the maximum.
static void mr_pool_back(const MrPolicy *policy, MrWork *work, const float *by_in, int decisions, MrGradient *sum) {
  const MrShape *shape = &policy->shape;
  int in = policy->layers[0].in_padded, size = shape->entity_size, features = shape->kinds * size;
  for (int k = 0; k < shape->kinds; k++) {
    for (int row = 0; row < shape->rows[k].rows; row++) {
      for (int i = 0; i < decisions; i++) {
        const float *by_most = by_in + i * in + shape->own + k * size;
        const MrInt *winners = work->winners + i * features + k * size;
        for (int j = 0; j < size; j += MR_WIDTH) {
          MrInts is_its = *(const MrInts *)(winners + j) == row + 1;
          mr_store(work->embedded + i * size + j, mr_where(is_its, mr_load(by_most + j), mr_all(0.0f)));
        }
      }
      mr_embed_back(policy, work, mr_kind_layer(shape, k), mr_entity(work, &shape->rows[k], row), decisions, sum);
    }
  }
}

#endif

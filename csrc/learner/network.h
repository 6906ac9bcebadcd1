// SPDX-License-Identifier: MIT
//
// The network forward and backward, for up to MR_ROWS decisions at a time. Part of kernel.c.

#ifndef MR_NETWORK_H
#define MR_NETWORK_H

#include <string.h>

#include "policy.h"
#include "pooling.h"
#include "product.h"
#include "sharing.h"
#include "targets.h"

// Copies an observation into a row of the first layer's input, whose padding stays zero, or in teams into
// work->observations, a row for each fighter.
MR_INLINE void mr_see(const MrPolicy *policy, MrWork *work, int decision, const float *observation) {
  const MrShape *shape = &policy->shape;
  int length = shape->features * mr_rows_per_decision(shape);
  float *to =
      shape->kinds ? work->observations + decision * length : work->in[0] + decision * policy->layers[0].in_padded;
  memcpy(to, observation, (size_t)length * sizeof(float));
}

// GELU, x Phi(x), of `count` numbers in place (Hendrycks and Gimpel 2016, arXiv 1606.08415), and its slope.
static void mr_gelu(float *x, float *slope, int count) {
  for (int i = 0; i < count; i += MR_WIDTH) {
    MrFloats z = mr_load(x + i), density, cumulative;
    mr_normal(z, &density, &cumulative);
    mr_store(x + i, z * cumulative);
    mr_store(slope + i, cumulative + z * density);
  }
}

// Computes logits or means and values from the inputs. The kernel reads them MR_WIDTH rows at a time. The rows beyond
// the last decision become zeros: with numbers of an earlier call, 0 times infinity could be not-a-number.
static void mr_forward(const MrPolicy *policy, MrWork *work, int decisions) {
  int last = policy->shape.layers, rows = decisions * mr_rows_per_decision(&policy->shape);
  if (policy->shape.kinds) mr_pool(policy, work, rows);
  for (int l = 0; l <= last; l++) {
    const MrLayer *layer = &policy->layers[l];
    bool is_encoding = policy->shape.fighters && l == last - 2;
    float *out = l == last ? work->out : is_encoding ? work->encodings : work->in[l + 1];
    MrMatrix in = {work->in[l], layer->in_padded, 1};
    mr_product_bias(rows, layer->out_padded, layer->in, in, layer->turned, layer->out_padded, out, layer->out_padded,
                    layer->biases);
    if (l < last) mr_gelu(out, work->slope[l], rows * layer->out_padded);
    if (is_encoding) mr_join(policy, work, decisions);
  }
  if (mr_aims(&policy->shape)) mr_aim(policy, work, rows);
  if (policy->shape.fighters) mr_join_outputs(policy, work, decisions);
  int spare = (MR_WIDTH - decisions % MR_WIDTH) % MR_WIDTH;
  memset(work->logits + decisions * policy->row, 0, (size_t)(spare * policy->row) * sizeof(float));
}

static void mr_add_rows(const float *from, int rows, int columns, float *sum) {
  for (int column = 0; column < columns; column += MR_WIDTH) {
    MrFloats x = mr_load(sum + column);
    for (int row = 0; row < rows; row++) x += mr_load(from + row * columns + column);
    mr_store(sum + column, x);
  }
}

static void mr_multiply(float *x, const float *factors, int count) {
  for (int i = 0; i < count; i += MR_WIDTH) mr_store(x + i, mr_load(x + i) * mr_load(factors + i));
}

// Adds the loss's derivatives by all weights and biases to `sum`, from those by logits or means and values, which have
// replaced these.
static void mr_backward(const MrPolicy *policy, MrWork *work, int decisions, MrGradient *sum) {
  int rows = decisions * mr_rows_per_decision(&policy->shape);
  if (policy->shape.fighters) mr_join_outputs_back(policy, work, decisions);
  if (mr_aims(&policy->shape)) mr_aim_back(policy, work, rows, sum);
  float *by_out = work->out;
  for (int l = policy->shape.layers; l >= 0; l--) {
    const MrLayer *layer = &policy->layers[l];
    int outputs = l == policy->shape.layers ? policy->last_outputs : layer->out_padded;
    MrMatrix turned = {by_out, 1, layer->out_padded};
    mr_product_add(outputs, layer->in_padded, rows, turned, work->in[l], layer->in_padded, sum->weights[l],
                   layer->in_padded);
    mr_add_rows(by_out, rows, layer->out_padded, sum->biases[l]);
    if (l == 0 && !policy->shape.kinds) return;
    float *by_in = work->back[l & 1];
    MrMatrix out = {by_out, layer->out_padded, 1};
    mr_product(rows, layer->in_padded, outputs, out, layer->weights, layer->in_padded, by_in, layer->in_padded);
    if (l == 0) {
      mr_pool_back(policy, work, by_in, rows, sum);
      return;
    }
    if (policy->shape.fighters && l == policy->shape.layers - 1) {
      mr_join_back(policy, work, by_in, decisions);
      by_in = work->encodings;
    }
    mr_multiply(by_in, work->slope[l - 1], rows * policy->layers[l - 1].out_padded);
    by_out = by_in;
  }
}

#endif

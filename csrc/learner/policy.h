// SPDX-License-Identifier: MIT
//
// The kernel's policy: its weights, packed for the matrix products, and the buffers of its activations.

#ifndef MR_POLICY_H
#define MR_POLICY_H

#include "learner.h"

// Number of network rows that are computed together. Their buffers fit a core's caches.
enum { MR_ROWS = 64 };

// Number of network rows of one decision: the fighters that share the weights, or one.
static inline int32_t mr_rows_per_decision(const MrShape *shape) { return shape->fighters ? shape->fighters : 1; }

// Number of decisions that are computed together.
static inline int32_t mr_block_size(const MrShape *shape) { return MR_ROWS / mr_rows_per_decision(shape); }

// True if the policy chooses targets.
static inline bool mr_aims(const MrShape *shape) {
  return shape->kinds > 0 && shape->heads > 0 && !shape->is_continuous;
}

// Index of the layer of a kind of entity. The layer of the targets' keys follows those of the kinds.
static inline int32_t mr_kind_layer(const MrShape *shape, int32_t kind) { return shape->layers + 1 + kind; }

static inline int32_t mr_layer_count(const MrShape *shape) {
  return shape->layers + 1 + shape->kinds + (mr_aims(shape) ? 1 : 0);
}

static inline int32_t mr_padded(int32_t n) { return (n + 15) / 16 * 16; }

// A linear layer, out = weights in + biases. The weights are stored twice, as [out, in] and as [in, out], padded with
// zeros.
typedef struct {
  int32_t in, in_padded, out_padded;
  float *weights;  // [out_padded, in_padded]
  float *turned;   // [in, out_padded]
  float *biases;   // [out_padded]
} MrLayer;

// The most layers: hidden ones, the last one, those of the kinds of entities, and that of the targets' keys.
enum { MR_ALL_LAYERS = MR_MAX_LAYERS + 1 + MR_MAX_KINDS + 1 };

// A policy. Its layers are the hidden ones, the last one, whose outputs are the logits or means and then the value, and
// in teams those of the kinds of entities and of the targets' keys, which have no biases.
typedef struct {
  MrShape shape;
  // Numbers without padding:
  int32_t outputs;       // of a decision: logits or means, and the value
  int32_t last_outputs;  // of the last layer; with targets it has a query vector in place of their logits
  // Strides of MrWork.logits and MrWork.fighter_logits, which are padded; without `fighters` they are equal:
  int32_t row;
  int32_t fighter_row;
  MrLayer layers[MR_ALL_LAYERS];
  // Of each continuous action: its deviation, the logarithm of that, and its derivative by the spread.
  float deviation[MR_HEADS_MAX], log_deviation[MR_HEADS_MAX], deviation_slope[MR_HEADS_MAX];
} MrPolicy;

// Buffers of one thread for MR_ROWS rows. In the backward pass some are overwritten by derivatives of the loss by what
// they held.
typedef struct {
  float *in[MR_MAX_LAYERS + 1];  // input of each layer, [MR_ROWS, in_padded]
  float *slope[MR_MAX_LAYERS];   // slope of the activation after each hidden layer, [MR_ROWS, out_padded]
  float *out;                    // outputs of the last layer, [MR_ROWS, out_padded]; then derivatives
  // Logits or means, then the value, of each decision [MR_ROWS, row]; later their derivatives; equals `out` without
  // targets:
  float *logits;
  float *fighter_logits;  // of a commander's fighters and their values, [MR_ROWS, fighter_row]; else `logits`
  float *back[2];         // derivatives by the inputs of a layer and of the next, [MR_ROWS, in_padded] of the widest
  // In teams:
  float *observations;  // [MR_ROWS, features]
  float *embedded;      // a layer's outputs for one row of entities, [MR_ROWS, entity_size]; then derivatives
  int32_t *winners;  // the row that has the maximum of each kind's features, from 1 on, [MR_ROWS, kinds, entity_size]
  float *keys;       // of the targets, [targets, MR_ROWS, entity_size]
  // Of a commander:
  float *encodings;  // of the fighters, [MR_ROWS, width]; then derivatives
  int32_t *leaders;  // the fighter that has the maximum of each feature, [decisions, width]
} MrWork;

// Sums over some decisions. The gradients of a layer are laid out as the layer.
typedef struct {
  float *weights[MR_ALL_LAYERS], *biases[MR_ALL_LAYERS];
  double spread[MR_HEADS_MAX];
  MrLosses losses;
} MrGradient;

// At most MR_ROWS decisions.
typedef struct {
  int32_t count;
  int64_t places[MR_ROWS];   // indices in the experience
  int32_t numbers[MR_ROWS];  // indices in the minibatch, [segments, horizon]
} MrBlock;

// The kernel of one instruction set.
typedef struct {
  const char *name;
  // As mr_learner_act.
  void (*act)(const MrPolicy *policy, MrWork *work, const MrSeen *seen, const float *noise, void *actions,
              const MrKeep *keep);
  // As mr_learner_score.
  void (*score)(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrBlock *block,
                float *logprobs, float *values);
  // As mr_learner_gradient; sums are added to `sum`, where the gradients are weighted by `share`.
  void (*learn)(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrMinibatch *minibatch,
                const MrLossSettings *settings, float share, const MrBlock *block, float *logprobs, float *values,
                MrGradient *sum);
  // Makes a matrix orthogonal, in place. `room`: 3 m n + 3 m m numbers, m and n being the shorter and the longer side,
  // each rounded up to a multiple of 16.
  void (*orthogonalise)(float *matrix, int32_t rows, int32_t columns, float *room);
} MrLearnerKernel;

#endif

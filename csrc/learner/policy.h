// SPDX-License-Identifier: MIT
//
// A policy as the kernel has it: its weights packed as the products read them, and the room for its activations.

#ifndef MR_POLICY_H
#define MR_POLICY_H

#include "learner.h"

// Rows of the network that are worked on together. What they need fits a core's caches.
enum { MR_ROWS = 64 };

// Rows of the network for one decision: the fighters that share the weights, or one.
static inline int32_t mr_fighters(const MrShape *shape) { return shape->fighters ? shape->fighters : 1; }

// Decisions that are worked on together, where each has a row for every fighter.
static inline int32_t mr_block_size(const MrShape *shape) { return MR_ROWS / mr_fighters(shape); }

// True if there are targets to choose from.
static inline bool mr_aims(const MrShape *shape) {
  return shape->kinds > 0 && shape->heads > 0 && !shape->is_continuous;
}

// The layer of a kind of entity; that of targets follows the kinds.
static inline int32_t mr_kind_layer(const MrShape *shape, int32_t kind) { return shape->layers + 1 + kind; }

static inline int32_t mr_layer_count(const MrShape *shape) {
  return shape->layers + 1 + shape->kinds + (mr_aims(shape) ? 1 : 0);
}

static inline int32_t mr_padded(int32_t n) { return (n + 15) / 16 * 16; }

// A linear layer, out = weights in + biases. The weights lie as [out, in] and as [in, out], padded with zeros.
typedef struct {
  int32_t in, in_padded, out_padded;
  float *weights;  // [out_padded, in_padded]
  float *turned;   // [in, out_padded]
  float *biases;   // [out_padded]
} MrLayer;

// All that there may be: hidden ones, the last, those of the kinds of entities and of targets.
enum { MR_ALL_LAYERS = MR_MAX_LAYERS + 1 + MR_MAX_KINDS + 1 };

// The layers of a policy: the hidden ones; the last, which gives the actions' logits or means, and then the value; in
// teams those of the kinds of entities, and that of targets, which have no biases.
typedef struct {
  MrShape shape;
  int32_t outputs;  // logits or means, and the value, without padding
  int32_t row;      // numbers from one decision's outputs to the next one's
  int32_t given;    // by the last layer, without padding
  MrLayer layers[MR_ALL_LAYERS];
  // Of continuous actions: each one's deviation, its logarithm, and its derivative by the spread.
  float deviation[MR_HEADS_MAX], log_deviation[MR_HEADS_MAX], deviation_slope[MR_HEADS_MAX];
} MrPolicy;

// One thread's room for MR_ROWS rows.
typedef struct {
  float *in[MR_MAX_LAYERS + 1];  // what each layer gets, [MR_ROWS, in_padded]
  float *slope[MR_MAX_LAYERS];   // of the activation after each hidden layer, [MR_ROWS, out_padded]
  float *out;                    // of the last layer, [MR_ROWS, out_padded], then the loss's derivatives by it
  float *logits;                 // or means, and values, [MR_ROWS, row], then derivatives; `out` but for targets
  float *fighter_logits;         // of each row, before a commander's are gathered; else `logits`
  float *back[2];                // derivatives on their way back, [MR_ROWS, in_padded] of the widest
  // In teams.
  float *seen;       // observations, [MR_ROWS, features]
  float *each;       // what is made of a row, then derivatives by it, [MR_ROWS, entity_size]
  int32_t *winners;  // which row has the most of each kind's features, from 1 on, [MR_ROWS, kinds, entity_size]
  float *has;        // what each target's row has, [targets, MR_ROWS, entity_size]
  // Of a commander.
  float *encodings;  // before the joint layer, [MR_ROWS, width], then derivatives by them
  int32_t *leaders;  // which fighter has the most of each feature, [MR_ROWS, width]
} MrWork;

// The sums of some decisions. Gradients of a layer have the layer's own layout.
typedef struct {
  float *weights[MR_ALL_LAYERS], *biases[MR_ALL_LAYERS];
  double spread[MR_HEADS_MAX];
  MrLosses losses;
} MrGradient;

// At most MR_ROWS decisions.
typedef struct {
  int32_t count;
  int64_t places[MR_ROWS];   // in the experience
  int32_t numbers[MR_ROWS];  // in the minibatch, [segments, horizon]
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

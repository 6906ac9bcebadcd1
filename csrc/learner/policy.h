// SPDX-License-Identifier: MIT
//
// A policy as the kernel has it: its weights packed as the products read them, and the room for its activations.

#ifndef MR_POLICY_H
#define MR_POLICY_H

#include "learner.h"

// Decisions that are worked on together. What they need fits a core's caches.
enum { MR_ROWS = 64 };

static inline int32_t mr_padded(int32_t n) { return (n + 15) / 16 * 16; }

// A linear layer, out = weights in + biases. The weights lie as [out, in] and as [in, out], padded with zeros.
typedef struct {
  int32_t in, in_padded, out_padded;
  float *weights;  // [out_padded, in_padded]
  float *turned;   // [in, out_padded]
  float *biases;   // [out_padded]
} MrLayer;

// The layers of a policy, of which the last gives the actions' logits or means, and then the value.
typedef struct {
  MrShape shape;
  int32_t outputs;  // of the last layer, without padding
  MrLayer layers[MR_MAX_LAYERS + 1];
  // Of continuous actions: each one's deviation, its logarithm, and its derivative by the spread.
  float deviation[MR_HEADS], log_deviation[MR_HEADS], deviation_slope[MR_HEADS];
} MrPolicy;

// One thread's room for MR_ROWS decisions.
typedef struct {
  float *in[MR_MAX_LAYERS + 1];  // what each layer gets, [MR_ROWS, in_padded]
  float *slope[MR_MAX_LAYERS];   // of the activation after each hidden layer, [MR_ROWS, out_padded]
  float *out;                    // of the last layer, [MR_ROWS, MR_OUTPUTS], then the loss's derivatives by it
  float *back[2];                // derivatives on their way back, [MR_ROWS, in_padded] of the widest
} MrWork;

// The sums of some decisions. Gradients of a layer have the layer's own layout.
typedef struct {
  float *weights[MR_MAX_LAYERS + 1], *biases[MR_MAX_LAYERS + 1];
  double spread[MR_HEADS];
  MrLosses losses;
} MrGradient;

// What the kernel is for one instruction set. Decisions are given by their places, at most MR_ROWS at a time.
typedef struct {
  const char *name;
  // As mr_learner_act.
  void (*act)(const MrPolicy *policy, MrWork *work, const MrSeen *seen, const float *noise, void *actions,
              const MrKeep *keep);
  // As mr_learner_score, of the decisions of these places in the experience.
  void (*score)(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const int64_t *places,
                int32_t count, float *logprobs, float *values);
  // As mr_learner_gradient, of a minibatch's decisions from `first` on; sums are added to `sum`, where the gradients are
  // weighted by `share`.
  void (*learn)(const MrPolicy *policy, MrWork *work, const MrExperience *experience, const MrMinibatch *minibatch,
                const MrLossSettings *settings, float share, int32_t first, const int64_t *places, int32_t count,
                float *logprobs, float *values, MrGradient *sum);
  // Makes a matrix orthogonal, in place. `room`: 3 m n + 3 m m numbers, m and n being the shorter and the longer side,
  // each rounded up to a multiple of 16.
  void (*orthogonalise)(float *matrix, int32_t rows, int32_t columns, float *room);
} MrLearnerKernel;

#endif

// SPDX-License-Identifier: MIT
//
// The parts of a learner, for learner.c and parts.c.

#ifndef MR_STATE_H
#define MR_STATE_H

#include "policy.h"

// A minibatch's decisions are summed in so many parts at most, whatever the number of threads is.
enum { MR_MAX_PARTS = 16 };

// Place of the parameters of an array: rows of a layer's weights or among its biases, as those of actor and critic are
// one layer's, or the spread.
typedef struct {
  int32_t layer, row;
  bool is_matrix, is_spread;
} MrPlace;

struct MrLearner {
  MrPolicy policy;
  const MrLearnerKernel *kernel;
  MrThreads *threads;
  bool learns;
  int32_t count, size;  // of arrays, of parameters
  MrArray arrays[MR_MAX_ARRAYS];
  MrPlace places[MR_MAX_ARRAYS];  // of the arrays
  MrWork *work;                   // [threads]
  MrGradient gradients[MR_MAX_PARTS];
  size_t gradient_size;  // numbers of each, in one piece that begins with the first layer's weights
  float *update;         // [parameters], of a step of the optimizer
  float **rooms;         // [threads], for a matrix to be made orthogonal
  void *memory;          // of all of these
};

// Takes the parameters of one array for the policy's.
void mr_learner_load_array(MrLearner *learner, int32_t array, const float *parameters);

#endif

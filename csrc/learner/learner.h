// SPDX-License-Identifier: MIT
//
// The learner computes an MLP's outputs for observations, the gradient of its loss, and the steps of its optimizers
// (docs/learner.md), in float32. It divides sums into the same parts for any number of threads, and adds the parts in
// the same order, so the results have the same bits. Between instruction sets the last bits differ.
//
// A policy's parameters are one array, in the order and layout of the torch module `Policy` (policies/networks.py):
//   in teams the weights [entity_size, features] of each kind of entity;
//   weights [out, in] and biases [out] of each hidden layer, then of the actor;
//   with continuous actions the spread [heads];
//   with targets the weights [entity_size, features] of their keys;
//   weights and bias of the critic.
//
// A network without heads is a central critic, the torch module `Critic` (policies/critic.py): it has no actor, and
// gives values only.

#ifndef MR_LEARNER_H
#define MR_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../threads.h"

enum {
  MR_MAX_LAYERS = 4,                                         // hidden layers, a commander's joint layer included
  MR_HEADS_MIN = 3,                                          // numbers of an action: rudder, throttle, fire
  MR_HEADS_MAX = 80,                                         // of a commander: those of sixteen fighters' orders
  MR_OUTPUTS_MAX = 576,                                      // logits or means, and the value
  MR_MAX_KINDS = 15,                                         // of entities: a policy has up to 7, a critic more
  MR_MAX_ARRAYS = 2 * MR_MAX_LAYERS + 5 + MR_MAX_KINDS + 1,  // weights, biases, the spread, and those of entities
};

// The rows of one kind of entity in a team's observation, which follow one another. A row's first feature is 1 if its
// entity is present, else 0. The observation of a side's critic is those of several fighters, one after another; there
// only the rows of one fighter follow one another.
typedef struct {
  int32_t rows, features;  // number of rows, and of features in a row
  int32_t place;           // index of the first row's first feature
  int32_t per_fighter;     // number of rows of each fighter
  int32_t stride;          // number of features from one fighter's first row to the next one's
} MrEntityRows;

// Shape of a policy.
typedef struct {
  int32_t features;              // of an observation; of a commander's, those of one fighter
  int32_t layers;                // number of hidden layers, 1 ... MR_MAX_LAYERS; with `fighters` at least 2
  int32_t width[MR_MAX_LAYERS];  // of each hidden layer, a multiple of 16
  bool is_continuous;
  int32_t heads;  // of an action, MR_HEADS_MIN ... MR_HEADS_MAX; the last one is fire. 0: a critic
  // Number of levels of each head, if actions are not continuous. Their sum is below MR_OUTPUTS_MAX. In teams the last
  // head of a fighter has 1 + the number of targets.
  int32_t levels[MR_HEADS_MAX];
  // With continuous actions: the middle of each head's range, half the range, and the bounds of the deviation in half
  // ranges.
  float middle[MR_HEADS_MAX], reach[MR_HEADS_MAX], deviation[2];
  // In teams; in one against one `kinds` is 0. An observation begins with `own` features of the own state. The layer of
  // each kind has `entity_size` outputs, a multiple of 16.
  int32_t own, kinds, entity_size;
  MrEntityRows rows[MR_MAX_KINDS];
  int32_t targets;  // index of the kind that is fired at
  // Of a commander, in teams: the number of fighters that share the weights; 0: no commander. Its observation has those
  // of one fighter after another, and so have its heads. Feature `own_alive` is above 0 if a fighter lives.
  int32_t fighters, own_alive;
} MrShape;

// An array of parameters: weights [rows, columns], or a vector of one row.
typedef struct {
  int32_t at;  // index of its first one among all parameters
  int32_t rows, columns;
  bool is_matrix;
} MrArray;

typedef struct MrLearner MrLearner;

// Inputs of a decision of `count` agents.
typedef struct {
  int32_t count;
  const float *observations;  // rows of [features], `row` numbers apart
  int64_t row;
  // Rewards of the decision before, and 1 if it ended the engagement. Read only if MrKeep has destinations.
  const float *rewards;
  const uint8_t *ends;
} MrSeen;

// Destination of a decision's inputs and the policy's outputs. Each array has the row of agent i at [i * stride], so
// they may be one decision of a rollout [agents, horizon]. All are NULL if nothing is to be stored.
typedef struct {
  float *observations;  // [width] a row: the features, and numbers behind them, such as a central critic's
  int64_t width;
  void *actions;  // as drawn, before they are clipped: int32 levels or float, [heads] a row
  float *logprobs, *values, *rewards, *terminals;
  int64_t stride;
} MrKeep;

// The experience, [segments, horizon] each.
typedef struct {
  int32_t horizon;
  const float *observations;  // [width] a decision; the network reads the first `features`
  int64_t width;
  const void *actions;    // [heads] a decision
  const float *proximal;  // log-probabilities of the actions under the policy at the start of the update
  const float *values;    // the latest estimates
} MrExperience;

// Some decisions of some segments.
typedef struct {
  const int64_t *rows;  // indices of the segments in the experience
  // [count], the decisions' indices in [segments, horizon], without those of dead fighters; NULL: all from 0 on.
  const int32_t *decisions;
  int32_t count;  // number of decisions
} MrChoice;

// Targets for the decisions of a minibatch, [segments, horizon] each.
typedef struct {
  const float *advantages;  // normalised and weighted, for the policy's loss
  const float *returns;     // targets of the values
} MrMinibatch;

// PPO's coefficients (docs/training.md).
typedef struct {
  float clip, value_clip, value_weight, entropy_weight;
} MrLossSettings;

// Means over the decisions of a minibatch.
typedef struct {
  double policy_loss, value_loss, entropy, old_approx_kl, approx_kl, clipfrac, importance;
} MrLosses;

// Outcomes of the decisions, [segments, horizon] each.
typedef struct {
  int32_t horizon;
  const float *values;     // the latest estimates
  const float *rewards;    // for the decision before
  const float *terminals;  // 1 if the decision before ended the engagement, else 0
  const float *ratio;      // probabilities under the latest policy over those under the one that decided
} MrOutcomes;

// V-trace's coefficients (docs/training.md).
typedef struct {
  float gamma, lambda, rho_clip, c_clip;
} MrTraceSettings;

// Names of the instruction sets that this machine can run, best first, ended by NULL.
const char *const *mr_learner_isas(void);

// Creates a learner. The caller has checked the shape, and `isa` is one of mr_learner_isas(). Without `learns` the
// learner has no memory for mr_learner_gradient and the steps. Other learners and simulations may use the threads, too;
// they must outlive the learner. Returns NULL if there is no memory.
MrLearner *mr_learner_create(const MrShape *shape, MrThreads *threads, bool learns, const char *isa);
void mr_learner_destroy(MrLearner *learner);

// Writes the parameters' arrays, in their order, and the number of all parameters to `size`. Returns the number of
// arrays.
int32_t mr_learner_arrays(const MrLearner *learner, MrArray arrays[MR_MAX_ARRAYS], int32_t *size);

// Loads the policy's parameters.
void mr_learner_load(MrLearner *learner, const float *parameters);

// Draws an action for each agent. `noise` [count, heads] are uniform in [0, 1) where actions are levels, and standard
// normal where they are continuous; NULL: the likeliest action is taken. `actions` [count, heads] are int32 levels, or
// float clipped to their ranges.
void mr_learner_act(MrLearner *learner, const MrSeen *seen, const float *noise, void *actions, const MrKeep *keep);

// Writes the policy's log-probabilities and values for decisions of some segments, at their places in [segments,
// horizon]. A critic reads no actions and writes no log-probabilities, which may be NULL.
void mr_learner_score(MrLearner *learner, const MrExperience *experience, const MrChoice *choice, float *logprobs,
                      float *values);

// Adds the gradient of a minibatch's loss, times `scale`, to `gradient` in the layout of the parameters. Also writes
// the outputs of mr_learner_score for its decisions. Of a critic's losses only `value_loss` has a meaning.
void mr_learner_gradient(MrLearner *learner, const MrExperience *experience, const MrChoice *choice,
                         const MrMinibatch *minibatch, const MrLossSettings *settings, float scale, float *gradient,
                         float *logprobs, float *values, MrLosses *losses);

// Takes a step against `gradient`, which is scaled down to `max_norm` where its norm is above, and loads the
// parameters. Muon (K. Jordan et al. 2024) as heavyball has it: momentum [parameters] of the gradients and Nesterov's
// look ahead; matrices are then made orthogonal.
void mr_learner_muon(MrLearner *learner, float *parameters, float *momentum, const float *gradient, float rate,
                     float beta, float max_norm);

// The same with Adam (Kingma and Ba 2015, arXiv 1412.6980); `step` counts from 1.
void mr_learner_adam(MrLearner *learner, float *parameters, float *mean, float *square, const float *gradient,
                     float rate, float beta1, float beta2, float epsilon, int64_t step, float max_norm);

// Writes the advantages of some segments by V-trace (Espeholt et al. 2018, arXiv 1802.01561), to their rows of
// [segments, horizon]: generalised advantages where the ratio is 1. A segment's last decision has 0. The sums of their
// absolute values are the segments' priorities [segments].
void mr_learner_advantages(const MrOutcomes *outcomes, const MrTraceSettings *settings, const int64_t *rows,
                           int32_t count, float *advantages, float *priorities);

#endif

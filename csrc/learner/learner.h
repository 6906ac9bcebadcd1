// SPDX-License-Identifier: MIT
//
// The learner: an MLP's outputs for observations, the gradient of its loss, and the steps of its optimizers. The
// equations are in docs/learner.md. float32 throughout. The sums are of fixed parts in a fixed order, so that results
// are the same bits for any number of threads; they differ in the last bits between instruction sets.
//
// A policy's parameters are one array in the order and layout of the torch module `Policy` (policies/networks.py):
// weights [out, in] and biases [out] of each hidden layer, those of the actor, the spread [heads] of continuous
// actions, those of the critic. In teams the weights [entity_size, features] of each kind of entity stand before all,
// and those for targets before the critic's.
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
  MR_MAX_LAYERS = 4,                                         // hidden ones, with a commander's joint layer
  MR_HEADS_MIN = 3,                                          // numbers of an action: rudder, throttle, fire
  MR_HEADS_HEIGHT = 4,                                       // with height: rudder, climb, throttle, fire
  MR_HEADS_MAX = 80,                                         // of a commander: those of sixteen fighters' orders
  MR_OUTPUTS_MAX = 576,                                      // logits or means, and the value
  MR_OUTPUTS_AIMED = 48,                                     // the same, of a network that fires at targets
  MR_MAX_KINDS = 15,                                         // of entities; a policy has up to 7
  MR_MAX_ARRAYS = 2 * MR_MAX_LAYERS + 5 + MR_MAX_KINDS + 1,  // weights, biases, the spread, and those of entities
};

// The rows of one kind of entity in a team's observation, one after another. The first feature is 1 where it is there.
// A critic of a side has the rows of several fighters' observations: each fighter's follow one another.
typedef struct {
  int32_t rows, features;  // the features are those of each
  int32_t place;           // of the first one's first feature
  int32_t each, stride;    // the rows of each fighter, and the features from one fighter's first row to the next one's
} MrEntityRows;

// Shape of a policy.
typedef struct {
  int32_t features;              // of a fighter's observation, or of an agent's that no fighters share
  int32_t layers;                // hidden ones, 1 ... MR_MAX_LAYERS; with `fighters` at least 2
  int32_t width[MR_MAX_LAYERS];  // of each, multiples of 16
  bool is_continuous;
  int32_t heads;  // numbers of an action, MR_HEADS_MIN ... MR_HEADS_MAX; the last one is fire. 0: a critic
  // Levels of each number of an action, where it is not continuous. Their sum is below MR_OUTPUTS_MAX, and in teams
  // that of each fighter below MR_OUTPUTS_AIMED. In teams a fighter's last head is 1 + the targets.
  int32_t levels[MR_HEADS_MAX];
  // Where actions are continuous: the middle of each number's range and half the range's length, and the bounds of the
  // deviation in half ranges.
  float middle[MR_HEADS_MAX], reach[MR_HEADS_MAX], deviation[2];
  // In teams; `kinds` is 0 where one fights against one. The features of one's own state come first.
  int32_t own, kinds, entity_size;  // entity_size: features that are made of each kind, a multiple of 16
  MrEntityRows rows[MR_MAX_KINDS];
  int32_t targets;  // the kind that is fired at
  // Of a commander, in teams: the fighters that share the weights. Observations and heads are those of one fighter
  // after another. 0: no commander. `own_alive` is the feature that is above 0 for a living fighter.
  int32_t fighters, own_alive;
} MrShape;

// An array of parameters: weights [rows, columns], or a vector of one row.
typedef struct {
  int32_t at;  // where it begins among all parameters
  int32_t rows, columns;
  bool is_matrix;
} MrArray;

typedef struct MrLearner MrLearner;

// Inputs of a decision of `count` agents.
typedef struct {
  int32_t count;
  const float *observations;  // rows of [features], `row` numbers apart
  int64_t row;
  // Rewards of the decision before, and 1 if it ended the engagement. Not read if nothing is kept.
  const float *rewards;
  const uint8_t *ends;
} MrSeen;

// Destination of a decision's inputs and the policy's outputs. Each array has the row of agent i at [i * stride], so
// they may be one decision of a rollout [agents, horizon]. All are NULL if nothing is kept.
typedef struct {
  float *observations;  // [width] a row, the features and what follows them
  int64_t width;
  void *actions;  // as they were drawn: int32 levels or float, [heads] a row
  float *logprobs, *values, *rewards, *terminals;
  int64_t stride;
} MrKeep;

// The experience to be learnt from, [segments, horizon] each.
typedef struct {
  int32_t horizon;
  const float *observations;  // [width] a decision, of which the first features are used
  int64_t width;
  const void *actions;    // [heads] a decision
  const float *proximal;  // log-probabilities of the actions under the policy at the start of the update
  const float *values;    // the latest estimates
} MrExperience;

// Decisions of some segments.
typedef struct {
  const int64_t *rows;  // of the segments, where they are in the experience
  // [count], the decisions' numbers in [segments, horizon], those of the dead left out; NULL: all from 0 on.
  const int32_t *decisions;
  int32_t count;  // of the decisions
} MrChoice;

// Targets for the decisions of a minibatch, [segments, horizon] each.
typedef struct {
  const float *advantages;  // normalised and weighted: of the policy's loss
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

// Creates a learner without checks: the shape is right and `isa` is one of mr_learner_isas(). Without `learns` there is
// no room for mr_learner_gradient and the steps. Others may use the threads, too; these outlive the learner. Returns
// NULL if there is no memory.
MrLearner *mr_learner_create(const MrShape *shape, MrThreads *threads, bool learns, const char *isa);
void mr_learner_destroy(MrLearner *learner);

// The parameters' arrays, in their order; the number of all parameters in `size`.
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

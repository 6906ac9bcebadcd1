// SPDX-License-Identifier: MIT
//
// learner_update
//
// Computes an update of policies with discrete actions, with continuous ones, of a team, and with height, of a central
// critic, and of a commander whose fighters share weights: actions, log-probabilities, values, the loss's gradient, and a step of each optimizer. Prints a line
// for each array: its name and its numbers. tools/portability.py compares them between machines.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learner/learner.h"

enum { SEGMENTS = 9, HORIZON = 16, DECISIONS = SEGMENTS * HORIZON, AGENTS = 100 };

static uint32_t bits = 1;

// Draws a number in [low, high) from a sequence that is the same everywhere.
static float draw(float low, float high) {
  bits = bits * 1664525u + 1013904223u;
  return low + (high - low) * (float)(bits >> 8) / 16777216.0f;
}

static float *draw_array(int32_t count, float low, float high) {
  float *array = malloc((size_t)count * sizeof *array);
  for (int32_t i = 0; i < count; i++) array[i] = draw(low, high);
  return array;
}

static void print(const char *policy, const char *name, const float *array, int32_t count) {
  printf("%s.%s", policy, name);
  for (int32_t i = 0; i < count; i++) printf(" %.9g", (double)array[i]);
  printf("\n");
}

// Features of an agent's observation.
static int32_t features_of(const MrShape *shape) { return shape->features * (shape->fighters ? shape->fighters : 1); }

// Draws actions, which are level numbers or floats.
static void *draw_actions(const MrShape *shape, int32_t count) {
  float *actions = draw_array(count * shape->heads, -0.5f, 1.0f);
  for (int32_t i = 0; !shape->is_continuous && i < count * shape->heads; i++) {
    ((int32_t *)actions)[i] = (int32_t)draw(0.0f, (float)shape->levels[i % shape->heads]);
  }
  return actions;
}

static void act(const char *name, MrLearner *learner, const MrShape *shape) {
  int32_t count = AGENTS * shape->heads;
  float *noise = draw_array(count, 0.01f, 0.99f), *observations = draw_array(AGENTS * features_of(shape), 0, 1);
  MrSeen seen = {.count = AGENTS, .observations = observations, .row = features_of(shape)};
  float actions[AGENTS * MR_HEADS_MAX];
  mr_learner_act(learner, &seen, noise, actions, &(MrKeep){0});
  for (int i = 0; !shape->is_continuous && i < count; i++) {
    int32_t level;
    memcpy(&level, &actions[i], sizeof level);
    actions[i] = (float)level;
  }
  print(name, "actions", actions, count);
  free(observations);
  free(noise);
}

static void update(const char *name, const MrShape *shape) {
  MrLearner *learner = mr_learner_create(shape, NULL, true, mr_learner_isas()[0]);
  MrArray arrays[MR_MAX_ARRAYS];
  int32_t size;
  mr_learner_arrays(learner, arrays, &size);
  float *parameters = draw_array(size, -0.2f, 0.2f), *gradient = calloc((size_t)size, sizeof *gradient);
  float *momentum = calloc((size_t)size, sizeof *momentum), *mean = calloc((size_t)size, sizeof *mean);
  float *square = calloc((size_t)size, sizeof *square);
  mr_learner_load(learner, parameters);
  if (shape->heads) act(name, learner, shape);

  float *observations = draw_array(DECISIONS * features_of(shape), -1, 1), *advantages = draw_array(DECISIONS, -2, 2);
  float *returns = draw_array(DECISIONS, -1, 1), *proximal = draw_array(DECISIONS, -0.3f, 0.3f);
  float *before = draw_array(DECISIONS, -0.3f, 0.3f), values[DECISIONS];
  float logprobs[DECISIONS] = {0};  // a critic writes none
  void *actions = draw_actions(shape, DECISIONS);
  int64_t rows[SEGMENTS];
  for (int i = 0; i < SEGMENTS; i++) rows[i] = SEGMENTS - 1 - i;
  MrExperience experience = {
      .horizon = HORIZON,
      .observations = observations,
      .width = features_of(shape),
      .actions = actions,
      .proximal = proximal,
      .values = before,
  };
  MrChoice choice = {rows, NULL, DECISIONS};
  mr_learner_score(learner, &experience, &choice, logprobs, values);
  print(name, "logprobs", logprobs, DECISIONS);
  print(name, "values", values, DECISIONS);
  for (int i = 0; i < DECISIONS; i++) {  // near the outputs, so that some are within the clips and some beyond
    int place = (int)rows[i / HORIZON] * HORIZON + i % HORIZON;
    proximal[place] += logprobs[i];
    before[place] += values[i];
  }
  MrMinibatch minibatch = {advantages, returns};
  MrLossSettings settings = {0.2f, 0.2f, 2.0f, 0.01f};
  MrLosses losses;
  mr_learner_gradient(learner, &experience, &choice, &minibatch, &settings, 1.0f, gradient, logprobs, values, &losses);
  print(name, "gradient", gradient, size);
  mr_learner_muon(learner, parameters, momentum, gradient, 0.02f, 0.9f, 0.5f);
  print(name, "muon", parameters, size);
  mr_learner_adam(learner, parameters, mean, square, gradient, 0.001f, 0.9f, 0.99f, 1e-5f, 1, 0.5f);
  print(name, "adam", parameters, size);

  float *const all[] = {parameters,   gradient,   momentum, mean,     square,
                        observations, advantages, returns,  proximal, before};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(actions);
  mr_learner_destroy(learner);
}

int main(void) {
  const MrShape levels = {.features = 71, .layers = 2, .width = {48, 32}, .heads = 3, .levels = {5, 3, 2}};
  MrShape continuous = levels, team = levels, height = levels;
  continuous.is_continuous = true;
  continuous.middle[1] = continuous.middle[2] = 0.5f;
  continuous.reach[0] = 1.0f;
  continuous.reach[1] = continuous.reach[2] = 0.5f;
  continuous.deviation[0] = 0.05f;
  continuous.deviation[1] = 1.0f;
  team.own = 11;
  team.kinds = 2;
  team.entity_size = 32;
  team.rows[0] = (MrEntityRows){.rows = 3, .features = 12, .place = 11, .each = 3};
  team.rows[1] = (MrEntityRows){.rows = 4, .features = 6, .place = 47, .each = 4};
  team.targets = 0;
  team.levels[2] = 4;
  height.heads = 4;
  height.levels[1] = 5;
  height.levels[2] = 3;
  height.levels[3] = 2;
  update("levels", &levels);
  update("continuous", &continuous);
  update("team", &team);
  update("height", &height);
  MrShape critic = team;  // with one row of each of two fighters
  critic.heads = 0;
  critic.rows[1] = (MrEntityRows){.rows = 2, .features = 6, .place = 47, .each = 1, .stride = 18};
  update("critic", &critic);
  MrShape commander = team;
  commander.fighters = 3;
  commander.own_alive = 1;
  commander.heads *= commander.fighters;
  for (int head = 3; head < commander.heads; head++) commander.levels[head] = commander.levels[head - 3];
  update("commander", &commander);
  return 0;
}

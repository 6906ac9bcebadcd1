// SPDX-License-Identifier: MIT
//
// Functions for a web page, compiled to WebAssembly with the core and the learner, whose own functions the linker exports
// by name. This file wraps the ones that need structs or strings, and has no rule of the game.
//
// A page makes its simulations one after another, so the configuration is static.

#include <stdlib.h>
#include <string.h>

#include "../csrc/learner/learner.h"
#include "../csrc/midrange.h"

#define EXPORT(name) __attribute__((export_name(#name)))

static MrConfig config;
static MrEnvelope envelope;

// The memory for the map of the missile envelope (MrEnvelope, floats), which the page fills.
EXPORT(web_envelope) MrEnvelope *web_envelope(void) { return &envelope; }

// Sets a parameter, the row of params.h with this number.
EXPORT(web_set_parameter) void web_set_parameter(int32_t row, double value) {
  const MrParameter *parameter = &mr_parameters()[row];
  char *field = (char *)&config.params + parameter->offset;
  if (parameter->is_int) {
    memcpy(field, &(int32_t){(int32_t)value}, sizeof(int32_t));
  } else {
    memcpy(field, &(float){(float)value}, sizeof(float));
  }
}

// Returns a part of the configuration with the types of the game with height. web/types.js fills it, by TYPE_PARTS.
EXPORT(web_types) void *web_types(int32_t part) {
  void *const parts[] = {config.aircraft,        config.missiles, config.aircraft_weights,
                         config.missile_weights, config.loads,    config.load_types};
  return parts[part];
}

// The observation of the configuration's game.
static MrObservation observation(void) {
  const MrParams *p = &config.params;
  if (p->red_size > 1 || p->blue_size > 1) {
    if (p->dimensions == 2) return p->sensing ? MR_OBSERVE_TEAM_RADAR : MR_OBSERVE_TEAM;
    return p->sensing ? MR_OBSERVE_TEAM_RADAR_HEIGHT : MR_OBSERVE_TEAM_HEIGHT;
  }
  if (p->dimensions == 2) return p->sensing ? MR_OBSERVE_RADAR : MR_OBSERVE_DEFAULT;
  int32_t kinds = 1;
  while (kinds < MR_KINDS_MAX && (config.loads[0][kinds] || config.loads[1][kinds])) kinds++;
  int first = p->sensing ? MR_OBSERVE_RADAR_HEIGHT : MR_OBSERVE_HEIGHT;
  return (MrObservation)(first + kinds - 1);
}

// Returns the number of features of a fighter's observation in the configuration's game.
EXPORT(web_features) int32_t web_features(void) {
  const MrParams *p = &config.params;
  return mr_feature_count(observation(), mr_added(p), p->red_size, p->blue_size);
}

// Writes the layout of a team's observation in the configuration's game: for each MrRow the number of rows, the features
// of each, and the place of the first one's first feature. Returns the number of kinds.
EXPORT(web_rows) int32_t web_rows(int32_t out[MR_ROW_COUNT][3]) {
  MrRows rows[MR_ROW_COUNT];
  const MrParams *p = &config.params;
  mr_team_rows(observation(), mr_added(p), p->red_size, p->blue_size, rows);
  for (int32_t kind = 0, place = 0; kind < MR_ROW_COUNT; kind++) {
    int32_t count = rows[kind].rows, features = rows[kind].features;
    memcpy(out[kind], (int32_t[]){count, features, place}, sizeof out[kind]);
    place += count * features;
  }
  return MR_ROW_COUNT;
}

// Sets the pilot (MrPilot) of a fighter of the next simulation.
EXPORT(web_set_pilot) void web_set_pilot(int32_t fighter, int32_t pilot) {
  memset(config.pilot_weights[fighter], 0, sizeof config.pilot_weights[fighter]);
  config.pilot_weights[fighter][pilot] = 1.0f;
}

// Makes a simulation of the configuration. NULL if there is no memory.
EXPORT(web_create) MrSim *web_create(uint64_t seed) {
  config.num_envs = 1;
  config.seed = seed;
  config.isa = "auto";
  config.envelope = &envelope;
  config.observation = observation();
  return mr_create(&config);
}

// Copies a field of an entity (MrEntity) of the engagement, by its place in mr_fields.
EXPORT(web_get_field) void web_get_field(const MrSim *sim, int32_t entity, int32_t place, void *values) {
  mr_get_field(sim, (MrEntity)entity, &mr_fields(sim, (MrEntity)entity)[place], values);
}

// Return the name of that field, NULL after the last one, and true if it is an integer.
EXPORT(web_field_name) const char *web_field_name(const MrSim *sim, int32_t entity, int32_t place) {
  return mr_fields(sim, (MrEntity)entity)[place].name;
}
EXPORT(web_field_is_int) bool web_field_is_int(const MrSim *sim, int32_t entity, int32_t place) {
  return mr_fields(sim, (MrEntity)entity)[place].is_int;
}

// Returns the count of numbers in an MrShot.
EXPORT(web_shot_numbers) int32_t web_shot_numbers(void) { return sizeof(MrShot) / sizeof(float); }

// Makes a network of `layers` hidden layers of one width whose actions are levels, as in policies/networks.py. `rows` is
// NULL in one against one; in teams it has the kinds of rows after one's own, as web_rows writes them, `kinds` of them,
// and `targets` is the kind that is fired at. NULL if there is no memory.
EXPORT(web_make_network)
MrLearner *web_make_network(int32_t features, int32_t layers, int32_t width, int32_t dimensions, int32_t entity_size,
                            const int32_t (*rows)[3], int32_t kinds, int32_t targets) {
  static const int32_t levels[][4] = {{MR_RUDDER_LEVELS, MR_THROTTLE_LEVELS, MR_PAIR_FIRE_LEVELS},
                                      {MR_RUDDER_LEVELS, MR_CLIMB_LEVELS, MR_THROTTLE_LEVELS, MR_PAIR_FIRE_LEVELS}};
  MrShape shape = {.features = features, .layers = layers, .heads = dimensions + 1};
  memcpy(shape.levels, levels[dimensions - 2], (size_t)shape.heads * sizeof *shape.levels);
  for (int32_t i = 0; i < layers; i++) shape.width[i] = width;
  if (rows) {
    shape.own = rows[0][2];
    shape.kinds = kinds;
    shape.entity_size = entity_size;
    shape.targets = targets;
    shape.levels[shape.heads - 1] = 1 + rows[targets][0];
    for (int32_t kind = 0; kind < kinds; kind++) {
      const int32_t *row = rows[kind];
      shape.rows[kind] = (MrEntityRows){.rows = row[0], .features = row[1], .place = row[2], .per_fighter = row[0]};
    }
  }
  return mr_learner_create(&shape, NULL, false, mr_learner_isas()[0]);
}

// Computes one agent's levels for an observation; `noise` has a number for each, as in mr_learner_act, or is NULL.
EXPORT(web_act)
void web_act(MrLearner *network, const float *observation, const float *noise, int32_t *actions) {
  MrSeen seen = {.count = 1, .observations = observation, .row = 0};
  mr_learner_act(network, &seen, noise, actions, &(MrKeep){0});
}

// Computes the network's log-probability of these levels, and the value.
EXPORT(web_score)
void web_score(MrLearner *network, const float *observation, const int32_t *actions, float out[2]) {
  int64_t row = 0;
  MrExperience experience = {.horizon = 1, .observations = observation, .actions = actions};
  mr_learner_score(network, &experience, &(MrChoice){.rows = &row, .count = 1}, &out[0], &out[1]);
}

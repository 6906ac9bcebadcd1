// SPDX-License-Identifier: MIT
//
// state_hash ENGAGEMENTS DECISIONS SEED OBSERVATION RED_SIZE BLUE_SIZE TYPES WEIGHT...
//
// Plays random actions, with an MrObservation (with sensors if that is theirs), against pilots drawn with these weights (in the order of
// MR_PILOTS), who know the missile envelope by a map that is none of any missile's, and prints a line for each instruction set: the state's hash at the end, and a checksum of all observations and rewards.
// test_determinism.py builds it with other compilers than the package was, and does the same.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "midrange.h"

static void draw_actions(const MrParams *p, uint32_t decision, uint32_t agents, uint32_t shots, int32_t *actions) {
  const uint32_t key[2] = {0, 0};
  for (uint32_t agent = 0; agent < agents; agent++) {
    const uint32_t counter[4] = {agent, decision, 0, 0};
    uint32_t bits[4];
    mr_philox4x32(counter, key, bits);
    *actions++ = (int32_t)(bits[0] % MR_RUDDER_LEVELS);
    if (p->dimensions == 3) *actions++ = (int32_t)(bits[1] / MR_THROTTLE_LEVELS % MR_CLIMB_LEVELS);
    *actions++ = (int32_t)(bits[1] % MR_THROTTLE_LEVELS);
    if (mr_added(p).systems) *actions++ = (int32_t)(bits[2] / 10 % MR_SYSTEMS_LEVELS);
    *actions++ = bits[2] % 10 == 0 ? (int32_t)(1 + bits[3] % shots) : 0;
  }
}

static uint64_t add_bits(uint64_t checksum, const float *values, size_t count) {
  checksum *= 31;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    checksum += bits * (uint64_t)(2 * i + 1);
  }
  return checksum;
}

// A range of the map `Crooked` of reference_envelope.py.
static void scatter(int32_t factor, MrRanges ranges) {
  for (int32_t off = 0; off < MR_MAP_OFF; off++) {
    for (int32_t aspect = 0; aspect < MR_MAP_ASPECT; aspect++) {
      int32_t side = MR_MAP_ASPECT - aspect;
      if (side > aspect || off % (MR_MAP_OFF - 1)) side = aspect;
      for (int32_t launch = 0; launch < MR_MAP_LAUNCH; launch++) {
        for (int32_t target = 0; target < MR_MAP_TARGET; target++) {
          int32_t scattered = (7 * off + 5 * side + 11 * launch + 13 * target) * factor % 23;
          ranges[off][aspect][launch][target] = (float)(4000 + 900 * scattered);
        }
      }
    }
  }
}

static void play(const MrConfig *config, uint32_t decisions) {
  MrSim *sim = mr_create(config);
  int32_t red = config->params.red_size, blue = config->params.blue_size;
  int32_t shots = config->loads[0][2] ? 3 : red > blue ? red : blue;
  size_t agents = (size_t)(config->num_envs * mr_agents_per_env(sim));
  int32_t *actions = malloc(agents * (size_t)mr_controls(sim) * sizeof *actions);
  size_t observed = agents * (size_t)mr_feature_count(config->observation, mr_added(&config->params), red, blue);
  float *observations = malloc(observed * sizeof *observations);
  float *rewards = malloc(agents * sizeof *rewards);
  bool *terminals = malloc(agents), *truncations = malloc(agents);
  const MrResults results = {observations, rewards, terminals, truncations, NULL};
  uint64_t checksum = 0;
  for (uint32_t decision = 0; decision < decisions; decision++) {
    int32_t ended;
    draw_actions(&config->params, decision, (uint32_t)agents, (uint32_t)shots, actions);
    mr_step(sim, actions, &results);
    mr_take_records(sim, &ended);
    checksum = add_bits(checksum, observations, observed);
    checksum = add_bits(checksum, rewards, agents);
  }
  printf("%s %016" PRIx64 " %016" PRIx64 "\n", config->isa, mr_state_hash(sim), checksum);
  free(actions);
  free(observations);
  free(rewards);
  free(terminals);
  free(truncations);
  mr_destroy(sim);
}

// The loads LOADED there; the types are medium, long and short.
static void load(MrConfig *config) {
  const int32_t types[2][3] = {{1, 0, 2}, {0, 2, 0}}, loads[2][3] = {{2, 3, 1}, {2, 2, 0}};
  memcpy(config->load_types, types, sizeof types);
  memcpy(config->loads, loads, sizeof loads);
  for (int side = 0; side < 2; side++) config->missile_weights[side][types[side][0]] = 1.0f;
  config->params.missile_spread = 0.3f;
}

// Lets each engagement draw types, as DRAWN of tests/core/test_determinism.py has them.
static void draw_types(MrConfig *config) {
  for (int i = 0; i < 2; i++) config->aircraft_weights[0][i] = 1.0f;
  for (int i = 0; i < 3; i++) config->missile_weights[1][i] = 1.0f;
  config->params.aircraft_spread = config->params.missile_spread = 0.3f;
}

int main(int argc, char **argv) {
  if (argc != 8 + MR_PILOT_COUNT) return 2;
  static MrEnvelope envelope = {
      .launch_speed_min = 220, .launch_speed_max = 380, .target_speed_min = 180, .target_speed_max = 480};
  scatter(3, envelope.aero);
  scatter(5, envelope.nez);
  scatter(7, envelope.cold);
  scatter(9, envelope.minimum);
  MrConfig config = {
      .params = mr_default_params(),
      .num_envs = atoi(argv[1]),
      .seed = strtoull(argv[3], NULL, 10),
      .auto_reset = true,
      .envelope = &envelope,
      .observation = (MrObservation)atoi(argv[4]),
  };
  bool senses = config.observation == MR_OBSERVE_RADAR || config.observation == MR_OBSERVE_TEAM_RADAR ||
                config.observation >= MR_OBSERVE_RADAR_HEIGHT;
  if (senses) config.params.sensing = MR_SENSING_RADAR;
  if (config.observation >= MR_OBSERVE_HEIGHT) config.params.dimensions = 3;
  mr_package_types(&config);
  if (atoi(argv[7]) == 1) draw_types(&config);
  if (atoi(argv[7]) == 2) load(&config);
  if (atoi(argv[7]) == 3) {
    config.params.emission_control = 1;
    config.params.chaff = 8;
  }
  int red = config.params.red_size = atoi(argv[5]), blue = config.params.blue_size = atoi(argv[6]);
  for (int f = 0; f < red; f++) config.pilot_weights[f][MR_PILOT_agent] = 1.0f;
  for (int f = red; f < red + blue; f++) {
    for (int i = 0; i < MR_PILOT_COUNT; i++) config.pilot_weights[f][i] = strtof(argv[8 + i], NULL);
  }
  for (const char *const *isa = mr_isas(); *isa; isa++) {
    config.isa = *isa;
    play(&config, (uint32_t)atoi(argv[2]));
  }
  return 0;
}

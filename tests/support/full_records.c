// SPDX-License-Identifier: MIT
//
// Steps two engagements that end at every decision, never takes the records, and prints how many there are at last.

#include <stdio.h>

#include "midrange.h"

int main(void) {
  enum { ENVS = 2, AGENTS = 2 * ENVS };
  MrConfig config = {.params = mr_default_params(), .num_envs = ENVS, .auto_reset = true, .isa = "auto"};
  config.params.ammunition = 0;
  for (int f = 0; f < MR_SIDES; f++) config.pilot_weights[f][MR_PILOT_agent] = 1.0f;
  MrSim *sim = mr_create(&config);
  static int32_t actions[AGENTS * 3];
  static float observations[AGENTS * 1000], rewards[AGENTS];
  static bool terminals[AGENTS], truncations[AGENTS];
  const MrResults results = {observations, rewards, terminals, truncations, NULL};
  for (int decision = 0; decision < 100; decision++) mr_step(sim, actions, &results);
  printf("%d\n", mr_record_count(sim));
  mr_destroy(sim);
  return 0;
}

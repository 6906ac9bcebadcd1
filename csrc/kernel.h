// SPDX-License-Identifier: MIT
//
// What kernel.c, compiled once for each instruction set, offers to midrange.c.

#pragma once

#include "block.h"

// Where a decision's results go: rows of all blocks; NULL leaves one out.
typedef struct {
  MrResults to;
  bool every_seat;  // rows for all fighters, not only for the agents
} MrOutputs;

typedef struct MrKernel {
  const char *name;
  void (*decide_block)(MrSim *sim, int32_t block, const MrOutputs *out);
  void (*advance_block)(const MrSim *sim, MrBlock *block, int32_t steps);
  void (*observe_block)(const MrSim *sim, int32_t block, const MrOutputs *out);
  void (*start_lane)(const MrSim *sim, MrBlock *block, int lane);
  void (*rate_lane)(const MrSim *sim, MrBlock *block, int lane);  // takes its potential anew
  bool (*launch)(const MrSim *sim, MrBlock *block, int32_t fighter, int lane);
  float (*fly_out)(const MrConstants *k, float v0, float v_end, float *time);
  void (*fly_shots)(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits);  // count <= MR_LANES
  void (*look_ahead)(const MrSim *sim, const MrBlock *block, int lane, int32_t seat, int32_t interval,
                     int32_t count, MrMoment *moments, MrPrediction *predictions);
  void (*threat_cone)(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones);
} MrKernel;

// The invariants of a block's state; state.c. Asserted in builds without NDEBUG, such as the sanitizers'.
#ifdef NDEBUG
#define mr_assert_state(block) ((void)0)
#else
void mr_assert_state(const MrBlock *block);
#endif

// Lanes of a block that are engagements; the last block may have spare ones.
static inline int mr_used_lanes(const MrSim *sim, int32_t block) {
  int32_t rest = sim->num_envs - block * MR_LANES;
  return rest < MR_LANES ? rest : MR_LANES;
}

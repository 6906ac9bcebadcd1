// SPDX-License-Identifier: MIT
//
// The functions that kernel.c offers to midrange.c and state.c. kernel.c is compiled once for each instruction set.

#pragma once

#include "block.h"

// Where the results of a decision go.
typedef struct {
  MrResults to;     // arrays with the rows of all blocks; a result whose array is NULL is not written
  bool every_seat;  // true: a row for every fighter; false: a row for every agent
} MrOutputs;

typedef struct MrKernel {
  const char *name;
  void (*decide_block)(MrSim *sim, int32_t block, const MrOutputs *out);
  void (*advance_block)(const MrSim *sim, int32_t block, int32_t steps);
  void (*observe_block)(const MrSim *sim, int32_t block, const MrOutputs *out);
  void (*start_lane)(const MrSim *sim, int32_t block, int lane);
  void (*rate_lane)(const MrSim *sim, MrBlock *block, int lane);  // computes the lane's potential from its new state
  bool (*launch)(const MrSim *sim, int32_t block, int32_t fighter, int lane);
  float (*fly_out)(const MrConstants *k, float v0, float v_end, float *time);
  void (*fly_shots)(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits);  // count <= MR_LANES
  void (*look_up_shots)(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges);
  void (*look_ahead)(const MrSim *sim, const MrBlock *block, int lane, int32_t seat, int32_t interval,
                     int32_t count, MrMoment *moments, MrPrediction *predictions);
  void (*threat_cone)(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones);
} MrKernel;

// Asserts the invariants of a block's state (state.c), with its picture unless that is NULL, in builds without NDEBUG, such as those with sanitizers.
#ifdef NDEBUG
#define mr_assert_state(block, picture) ((void)0)
#else
void mr_assert_state(const MrBlock *block, const MrPicture *picture);
#endif

// What follows from the parameters (constants.c).
MrConstants mr_derive_constants(const MrParams *params, const MrKernel *kernel);

// The picture of a block; NULL without sensors.
static inline MrPicture *mr_picture(const MrSim *sim, int32_t block) {
  return sim->pictures ? &sim->pictures[block] : NULL;
}

// Number of lanes of a block that hold engagements of the simulation. The last block may have spare lanes.
static inline int mr_used_lanes(const MrSim *sim, int32_t block) {
  int32_t rest = sim->num_envs - block * MR_LANES;
  return rest < MR_LANES ? rest : MR_LANES;
}

// SPDX-License-Identifier: MIT
//
// The functions that kernel.c and state.c offer to midrange.c. kernel.c is compiled once for each instruction set and
// game, state.c once for each game.

#pragma once

#include "simulation.h"

// Destination of the results of a decision.
typedef struct {
  MrResults to;        // arrays with the rows of all blocks; a result whose array is NULL is not written
  bool every_fighter;  // true: a row for every fighter; false: a row for every agent
} MrOutputs;

// Controls of a decision: levels or continuous ones of the agents, or continuous ones of all fighters.
typedef enum { MR_TAKE_LEVELS, MR_TAKE_CONTINUOUS, MR_TAKE_CONTROLS } MrTake;

typedef struct MrKernel {
  const char *name;
  int32_t side, dimensions;  // room for so many fighters on each side; 2 or 3
  int32_t controls;          // of a fighter, without the systems
  void (*take_actions)(const MrSim *sim, int32_t block, MrTake take, const void *actions);
  void (*controls_of_orders)(const MrSim *sim, int32_t block, const int32_t *orders, float *controls, uint8_t *absent);
  void (*decide_block)(MrSim *sim, int32_t block, const MrOutputs *out);
  void (*advance_block)(const MrSim *sim, int32_t block, int32_t steps);
  void (*observe_block)(const MrSim *sim, int32_t block, const MrOutputs *out);
  // Starts an episode of an engagement in a lane. Ratings wait for rate_lane, after which the lane's potential is that
  // of its state.
  void (*start_lane)(const MrSim *sim, int32_t block, int lane, int32_t engagement, int32_t episode);
  void (*rate_lane)(const MrSim *sim, int32_t block, int lane);
  bool (*launch)(const MrSim *sim, int32_t block, int32_t fighter, int lane);
  // The rest exists in one against one only.
  void (*fly_shots)(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits);  // count <= MR_LANES
  void (*look_ahead)(const MrSim *sim, int32_t block, int lane, int32_t seat, int32_t interval, int32_t count,
                     MrMoment *moments, MrPrediction *predictions);
  // Only in the plane.
  float (*fly_out)(const MrConstants *k, float v0, float v_end, float *time);
  void (*look_up_shots)(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges);
  void (*threat_cone)(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones);
  // Only with height.
  void (*high_threat_cone)(const MrSim *sim, int32_t block, int lane, int32_t fighter, int32_t interval, int32_t count,
                           MrHighCone *cones);
} MrKernel;

// Access to the state of fights of one game, from state.c: as the functions of midrange.h with these names.
typedef struct MrAccess {
  size_t block_bytes, picture_bytes;
  const MrField *(*fields)(MrEntity entity);
  void (*get_field)(const MrSim *sim, MrEntity entity, const MrField *field, void *values);
  void (*get_fighter)(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state);
  const char *(*set_fighter)(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state);
  void (*get_missile)(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state);
  const char *(*set_missile)(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state);
  // The name of the first thing that is wrong in the blocks and pictures of a snapshot; or NULL. They may be at any
  // address, aligned or not. `pictures` is NULL without sensors.
  const char *(*find_wrong)(const MrSim *sim, const char *blocks, const char *pictures);
  void (*take_over)(MrSim *sim);  // derives anew what follows from the blocks of a snapshot
  uint64_t (*fight_hash)(const MrSim *sim);
  uint64_t (*state_hash)(const MrSim *sim);
} MrAccess;

// Derives the constants from the parameters (constants.c).
MrConstants mr_derive_constants(const MrParams *params, const MrKernel *kernel);
// Derives the types with height (types.c), and replaces the constants that depend on them.
void mr_derive_types(const MrConfig *config, MrTypes *types, MrConstants *constants);
// Writes the types of an engagement into a lane of a roster, with height.
void mr_fill_roster(const MrSim *sim, int32_t engagement, int32_t episode, MrRoster *roster, int lane);

// Number of lanes of a block that hold engagements of the simulation. The last block may have spare lanes.
static inline int mr_used_lanes(const MrSim *sim, int32_t block) {
  int32_t rest = sim->num_envs - block * MR_LANES;
  return rest < MR_LANES ? rest : MR_LANES;
}

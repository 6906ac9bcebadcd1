// SPDX-License-Identifier: MIT
//
// The kernel: one decision of a block of engagements. setup.py compiles this file once for each instruction set, with
// the set's name as MR_ISA. All sets give the same results to the bit. The kernel's functions are in this file and in
// the headers that are part of kernel.c, as they say at their tops.

#include <assert.h>
#include <string.h>

#include "kernel.h"

#include "ahead.h"
#include "engagement.h"
#include "envelope.h"
#include "flyout.h"
#include "isas.h"
#include "observation.h"
#include "physics.h"
#include "picture.h"
#include "pilots.h"
#include "radar_view.h"
#include "reward.h"
#include "scene.h"
#include "sense.h"
#include "spacetime.h"
#include "start.h"
#include "states.h"
#include "threat_cone.h"

static void rate_lane(const MrSim *sim, MrBlock *b, int lane) {
  MrScene scene;
  MrPotential potential;
  mr_look_around(sim->constants.dt, b, &scene);
  mr_potential(sim, b, &scene, &potential);
  mr_keep_potential(&potential, b, lane);
}

// Whether the fighter has a row in the results.
static inline bool has_row(const MrSim *sim, const MrOutputs *out, int32_t fighter) {
  return out->every_seat || sim->is_agent[fighter];
}

// How many floats an engagement's rows of observations have.
static size_t row_floats(const MrSim *sim, const MrOutputs *out) {
  int32_t rows = out->every_seat ? MR_FIGHTERS : sim->agents_per_env;
  return (size_t)rows * (size_t)mr_features_of(sim->observation);
}

// Writes the block's rows as its sides see it with their sensors. `sights` are the true ones.
static void write_views(const MrSim *sim, int32_t block, const MrSight sights[MR_FIGHTERS], const MrOutputs *out,
                        float *row, size_t floats) {
  const MrBlock *b = &sim->blocks[block];
  const MrPicture *picture = &sim->pictures[block];
  MrScene believed;
  mr_look_around_by_picture(sim->constants.dt, b, picture, &believed);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!has_row(sim, out, f)) continue;
    mr_view_fighter(sim, b, f, &believed, sights, picture, mr_used_lanes(sim, block), row, floats);
    row += MR_RADAR_FEATURE_COUNT;
  }
}

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                               float *observations) {
  if (!observations) return;
  const MrBlock *b = &sim->blocks[block];
  size_t features = (size_t)mr_features_of(sim->observation), floats = row_floats(sim, out);
  float *row = observations + (size_t)block * MR_LANES * floats;
  if (sim->pictures) {
    write_views(sim, block, scene->sights, out, row, floats);
    return;
  }
  MrMissilesSeen missiles;
  MrShotRanges shot_ranges[MR_FIGHTERS];
  mr_collect_missiles(sim, b, scene, &missiles);
  if (sim->observation == MR_OBSERVE_STG) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      const MrBody *enemy = &b->fighters[mr_opponent(f)].body;
      mr_look_up(sim, &b->fighters[f].body, enemy, &scene->sights[f], &shot_ranges[f]);
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!has_row(sim, out, f)) continue;
    mr_observe_fighter(sim, b, f, scene, &missiles, shot_ranges, mr_used_lanes(sim, block), row, floats);
    row += features;
  }
}

// Whether any engagement of the block is over.
static bool any_over(const MrBlock *b) {
  int32_t over = 0;
  MR_FOR_LANES(i) over |= b->outcome[i] != MR_OPEN;
  return over;
}

// Writes the block's rows of rewards, terminals and truncations.
static void write_results(const MrSim *sim, int32_t block, const float reward[MR_FIGHTERS][MR_LANES],
                          const MrOutputs *out) {
  if (!out->to.rewards) return;
  const MrBlock *b = &sim->blocks[block];
  int rows = out->every_seat ? MR_FIGHTERS : sim->agents_per_env, count = mr_used_lanes(sim, block) * rows;
  size_t first = (size_t)block * MR_LANES * (size_t)rows;
  MR_ALIGNED float rewards[MR_LANES * MR_FIGHTERS];
  if (rows == MR_FIGHTERS) {
    MR_FOR_LANES(i) {
      rewards[2 * i] = reward[0][i];
      rewards[2 * i + 1] = reward[1][i];
    }
  } else {
    memcpy(rewards, reward[sim->is_agent[0] ? 0 : 1], sizeof reward[0]);
  }
  memcpy(out->to.rewards + first, rewards, (size_t)count * sizeof rewards[0]);
  if (!out->to.terminals) return;
  bool *terminals = out->to.terminals + first, *truncations = out->to.truncations + first;
  memset(terminals, 0, (size_t)count);
  memset(truncations, 0, (size_t)count);
  if (!any_over(b)) return;  // as after most decisions
  for (int row = 0; row < count; row++) {
    int lane = row / rows;
    terminals[row] = b->outcome[lane] != MR_OPEN && !b->truncated[lane];
    truncations[row] = b->outcome[lane] != MR_OPEN && b->truncated[lane];
  }
}

static void record(MrSim *sim, int32_t block, int lane) {
  const MrBlock *b = &sim->blocks[block];
  MrRecord *r = &sim->fresh_records[block * MR_LANES + sim->ended[block]++];
  r->env = block * MR_LANES + lane;
  r->outcome = b->outcome[lane];
  r->truncated = b->truncated[lane];
  r->mutual_kill = 1;
  r->decisions = b->decisions[lane];
  r->paid_geometry = b->paid_geometry[lane];
  r->paid_ammunition = b->paid_ammunition[lane];
  r->paid_threat = b->paid_threat[lane];
  r->paid_pressure = b->paid_pressure[lane];
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    const MrFighter *fighter = &b->fighters[f];
    r->mutual_kill &= fighter->alive[lane] ^ 1;
    r->pilot[f] = fighter->pilot[lane];
    r->shots[f] = fighter->shots[lane];
    r->hits[f] = fighter->hits[lane];
    r->shots_in_nez[f] = fighter->shots_in_nez[lane];
    r->shots_wasted[f] = fighter->shots_wasted[lane];
    r->launch_range[f] = fighter->launch_range[lane];
    r->episode_return[f] = fighter->episode_return[lane];
    r->paid_result[f] = mr_result(&sim->params, b->outcome[lane], f);
  }
}

static bool any_ended(const MrBlock *b, const int32_t was_open[MR_LANES]) {
  int32_t ended = 0;
  MR_FOR_LANES(i) ended |= was_open[i] & (b->outcome[i] != MR_OPEN);
  return ended;
}

// Starts an episode, with its picture. An update is of a whole block: it is done on a copy, of which one lane is kept.
static void start_lane(const MrSim *sim, int32_t block, int lane) {
  mr_start(sim, &sim->blocks[block], lane);
  if (!sim->pictures) return;
  MrPicture *picture = &sim->pictures[block], seen;
  MrBlock b = sim->blocks[block];
  mr_start_picture(picture, lane);
  seen = *picture;
  mr_update_picture(sim, 0, &b, &seen);
  for (size_t at = 4 * (size_t)lane; at < sizeof seen; at += 4 * MR_LANES) {
    memcpy((char *)picture + at, (const char *)&seen + at, 4);
  }
}

static bool launch(const MrSim *sim, int32_t block, int32_t fighter, int lane) {
  return mr_launch_one(sim, &sim->blocks[block], mr_picture(sim, block), fighter, lane);
}

// Records the engagements that have just ended and, with auto_reset, starts their next episodes; their missiles leave
// the scene. Returns whether it started any.
static bool finish_lanes(MrSim *sim, int32_t block, const int32_t was_open[MR_LANES], MrScene *scene) {
  MrBlock *b = &sim->blocks[block];
  bool restarted = false;
  int used = mr_used_lanes(sim, block);
  MR_EACH_LANE(i) {
    if (!was_open[i] || b->outcome[i] == MR_OPEN) continue;
    if (i < used) record(sim, block, i);
    if (!sim->auto_reset) continue;
    b->episode[i]++;
    start_lane(sim, block, i);
    mr_forget_missiles(scene, i);
    restarted = true;
  }
  return restarted;
}

// What the block's decision fetches while it flies its physics steps.
static MrAhead ahead_of(const MrSim *sim, int32_t block, const MrOutputs *out) {
  int32_t steps = sim->constants.substeps;
  MrAhead ahead = {0};
  if ((size_t)sim->num_blocks * sizeof(MrBlock) < MR_CACHED) return ahead;
  if (block + 1 < sim->num_blocks) ahead.state = mr_in_parts(&sim->blocks[block + 1], sizeof(MrBlock), steps);
  if (out->to.observations) {
    size_t floats = row_floats(sim, out);
    const float *rows = out->to.observations + (size_t)block * MR_LANES * floats;
    ahead.rows = mr_in_parts(rows, (size_t)mr_used_lanes(sim, block) * floats * sizeof(float), steps);
  }
  return ahead;
}

static void decide_block(MrSim *sim, int32_t block, const MrOutputs *out) {
  MrBlock *b = &sim->blocks[block];
  MrPicture *picture = mr_picture(sim, block);
  MrScene scene;
  MR_ALIGNED int32_t was_open[MR_LANES];
  MR_ALIGNED float reward[MR_FIGHTERS][MR_LANES];
  MrPotential potential;

  sim->ended[block] = 0;
  mr_fly_pilots(sim, b, picture);
  mr_launch_commanded(sim, b, picture);
  mr_fly_decision(sim, b, picture, sim->constants.substeps, ahead_of(sim, block, out));
  if (picture) mr_update_picture(sim, sim->constants.substeps, b, picture);

  MR_FOR_LANES(i) {
    was_open[i] = b->outcome[i] == MR_OPEN;
    b->decisions[i]++;
  }
  mr_look_around(sim->constants.dt, b, &scene);
  mr_decide_outcomes(sim, &scene, b);
  mr_potential(sim, b, &scene, &potential);
  mr_reward(sim, b, scene.sights, &potential, was_open, reward);
  write_results(sim, block, reward, out);
  if (any_ended(b, was_open)) write_observations(sim, block, &scene, out, out->to.final_observations);
  mr_write_states(sim, block, &scene, out->to.final_states);
  if (finish_lanes(sim, block, was_open, &scene)) {
    mr_look(b, scene.sights);
    // The engagements that started anew need a potential. The other engagements get the same potential again.
    mr_potential(sim, b, &scene, &potential);
    MR_FOR_LANES(i) mr_keep_potential(&potential, b, i);
  }
  write_observations(sim, block, &scene, out, out->to.observations);
  mr_write_states(sim, block, &scene, out->to.states);
  mr_assert_state(b, picture);
}

static void advance_block(const MrSim *sim, int32_t block, int32_t steps) {
  mr_fly_steps(sim, &sim->blocks[block], mr_picture(sim, block), steps);
  mr_assert_state(&sim->blocks[block], mr_picture(sim, block));
}

static void observe_block(const MrSim *sim, int32_t block, const MrOutputs *out) {
  MrScene scene;
  mr_look_around(sim->constants.dt, &sim->blocks[block], &scene);
  write_observations(sim, block, &scene, out, out->to.observations);
  mr_write_states(sim, block, &scene, out->to.states);
}

// The distance [m] and time [s] of a missile that flies straight from speed v0 until it has burnt out and slowed to
// v_end. All lanes fly the same missile.
static float fly_out(const MrConstants *k, float v0, float v_end, float *time) {
  MrMissile m = {0};
  MR_FOR_LANES(i) {
    m.body.v[i] = v0;
    m.body.c[i] = 1.0f;
    m.active[i] = 1;
  }
  while ((float)m.age[0] < k->burn_steps || m.body.v[0] > v_end) {
    float thrust = k->missile.thrust * mr_burning(k, k->burn_steps - (float)m.age[0]);
    MR_FOR_LANES(i) mr_fly(k, &k->missile, k->dt, thrust, &m.body, i);
    MR_FOR_LANES(i) m.age[i]++;
  }
  *time = (float)m.age[0] * k->dt;
  return m.body.x[0];
}

const MrKernel MR_OF_ISA(mr_kernel_) = {
    .name = MR_ISA_NAME,
    .decide_block = decide_block,
    .advance_block = advance_block,
    .observe_block = observe_block,
    .start_lane = start_lane,
    .rate_lane = rate_lane,
    .launch = launch,
    .fly_out = fly_out,
    .fly_shots = mr_fly_out_block,
    .look_up_shots = mr_look_up_each,
    .look_ahead = mr_look_ahead_lane,
    .threat_cone = mr_fly_cone,
};

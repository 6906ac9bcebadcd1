// SPDX-License-Identifier: MIT
//
// The kernel: one decision of a block of engagements. setup.py compiles this file once for each instruction set, with
// the set's name as MR_ISA, and each game, MR_SIDE and MR_DIMENSIONS. All sets give the same results to the bit. The
// kernel's functions are in this file and in the headers that are part of kernel.c, as they say at their tops.

#include <assert.h>
#include <string.h>

#include "kernel.h"

#include "engagement.h"
#include "mission.h"
#include "orders.h"
#include "physics.h"
#include "pilots.h"
#include "reward.h"
#include "scene.h"
#include "start.h"
#if MR_SIDE > 1
#include "view_team.h"
#include "wing_pilots.h"
#elif MR_DIMENSIONS == 3
#include "cone3.h"
#include "flyout.h"
#include "spacetime.h"
#include "view_height.h"
#else
#include "cone.h"
#include "flyout.h"
#include "spacetime.h"
#include "view_pair.h"
#endif

static void rate_lane(const MrSim *sim, int32_t block, int lane) {
  MrBlock *b = mr_block(sim, block);
  MrScene scene;
  MrPotential potential;
  mr_look_around(sim, b, &scene);
  mr_potential(sim, b, &scene, &potential);
  mr_keep_lane(&potential, b, lane);
}

// True if any engagement of the block is over.
static bool any_over(const MrBlock *b) {
  int32_t over = 0;
  MR_FOR_LANES(i) over |= b->outcome[i] != MR_OPEN;
  return over;
}

// Arranges the rewards of the fighters with a row by engagement, then by fighter.
static inline void arrange_rewards(const MrSim *sim, const MrOutputs *out, int rows,
                                   const float reward[MR_FIGHTERS][MR_LANES], float to[MR_LANES * MR_FIGHTERS]) {
  if (MR_SIDE == 1 && rows == MR_FIGHTERS) {  // with constants it is vectorised
    MR_FOR_LANES(i) {
      to[2 * i] = reward[0][i];
      to[2 * i + 1] = reward[1][i];
    }
    return;
  }
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!mr_has_row(sim, out, f)) continue;
    for (int i = 0; i < MR_LANES; i++) to[rows * i] = reward[f][i];
    to++;
  }
}

// Writes the block's rows of rewards, terminals and truncations.
static void write_results(const MrSim *sim, int32_t block, const float reward[MR_FIGHTERS][MR_LANES],
                          const MrOutputs *out) {
  if (!out->to.rewards) return;
  const MrBlock *b = mr_block(sim, block);
  int rows = out->every_fighter ? mr_fighters(sim) : sim->agents_per_env, count = mr_used_lanes(sim, block) * rows;
  size_t first = (size_t)block * MR_LANES * (size_t)rows;
  MR_ALIGNED float rewards[MR_LANES * MR_FIGHTERS];
  arrange_rewards(sim, out, rows, reward, rewards);
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

// The states of a fighter, MR_STATES of midrange.h: for code outside that pays rewards of its own.
static void state_of(const MrBlock *b, int32_t f, const MrScene *scene, float values[MR_STATE_COUNT][MR_LANES]) {
  const MrFighter *fighter = &b->fighters[f];
  const MrInbound *inbound = &scene->inbound[f];
  MR_FOR_LANES(i) {
    values[MR_STATE_x][i] = fighter->body.x[i];
    values[MR_STATE_y][i] = fighter->body.y[i];
    values[MR_STATE_direction_x][i] = fighter->body.c[i];
    values[MR_STATE_direction_y][i] = fighter->body.s[i];
    values[MR_STATE_speed][i] = fighter->body.v[i];
    values[MR_STATE_alive][i] = (float)fighter->alive[i];
    values[MR_STATE_ammunition][i] = (float)fighter->ammunition[i];
    values[MR_STATE_inbound][i] = (float)inbound->in_air[i];
    values[MR_STATE_time_to_go][i] = mr_clip(inbound->least[i], 0.0f, MR_TIME_TO_GO_MAX);
    values[MR_STATE_z][i] = mr_height(&fighter->body, i);
    values[MR_STATE_direction_z][i] = mr_climb_sine(&fighter->body, i);
  }
}

// Writes the block's part of `states`, which has the engagements of all blocks.
static void write_states(const MrSim *sim, int32_t block, const MrScene *scene, float *states) {
  if (!states) return;
  size_t used = (size_t)mr_used_lanes(sim, block);
  MR_ALIGNED float values[MR_STATE_COUNT][MR_LANES];
  int32_t fighters = mr_fighters(sim);
  for (int32_t f = 0; f < fighters; f++) {
    state_of(mr_block(sim, block), f, scene, values);
    for (int32_t state = 0; state < MR_STATE_COUNT; state++) {
      size_t row = (size_t)(state * fighters + f) * (size_t)sim->num_envs;
      memcpy(states + row + (size_t)block * MR_LANES, values[state], used * sizeof(float));
    }
  }
}

// Adds a fighter of a side to the record of its engagement.
static void record_fighter(const MrSim *sim, const MrFighter *fighter, int32_t side, int lane, MrRecord *r) {
  float share = 1.0f / (float)mr_size(sim, side);
  r->mutual_kill &= fighter->alive[lane] ^ 1;
  r->shots[side] += fighter->shots[lane];
  r->hits[side] += fighter->hits[lane];
  r->shots_in_nez[side] += fighter->shots_in_nez[lane];
  r->shots_wasted[side] += fighter->shots_wasted[lane];
  r->launch_range[side] += fighter->launch_range[lane];
  r->episode_return[side] += share * fighter->episode_return[lane];
  r->survivors[side] += fighter->alive[lane];
  r->paid_kill += (side ? share : -share) * sim->params.reward_kill * (float)(1 - fighter->alive[lane]);
}

static void record(MrSim *sim, int32_t block, int lane) {
  const MrBlock *b = mr_block(sim, block);
  MrRecord *r = &sim->fresh_records[block * MR_LANES + sim->ended[block]++];
  *r = (MrRecord){.env = block * MR_LANES + lane};
  r->outcome = b->outcome[lane];
  r->truncated = b->truncated[lane];
  r->mutual_kill = 1;
  r->decisions = b->decisions[lane];
  r->paid_geometry = b->paid_geometry[lane];
  r->paid_ammunition = b->paid_ammunition[lane];
  r->paid_threat = b->paid_threat[lane];
  r->paid_pressure = b->paid_pressure[lane];
  r->paid_line = b->paid_line[lane];
  r->attacker = b->attacker[lane];
  for (int32_t side = 0; side < MR_SIDES; side++) {
    r->pilot[side] = b->fighters[mr_first(sim, side)].pilot[lane];
    r->paid_result[side] = mr_result(&sim->params, b->outcome[lane], side);
    MR_FOR_SIDE(sim, side, f) record_fighter(sim, &b->fighters[f], side, lane, r);
  }
}

static bool any_ended(const MrBlock *b, const int32_t was_open[MR_LANES]) {
  int32_t ended = 0;
  MR_FOR_LANES(i) ended |= was_open[i] & (b->outcome[i] != MR_OPEN);
  return ended;
}

// Starts an episode, with its picture. An update is of a whole block: it is done on a copy, of which one lane is kept.
static void start_lane(const MrSim *sim, int32_t block, int lane, int32_t engagement, int32_t episode) {
  MrBlock *to = mr_block(sim, block);
  to->engagement[lane] = engagement;
  to->episode[lane] = episode;
  mr_start(sim, to, lane);
  mr_enlist(sim, block, lane);
  if (!sim->pictures) return;
  MrPicture *picture = mr_picture(sim, block), seen;
  MrBlock b = *to;
  mr_start_picture(sim, mr_roster(sim, to), picture, lane);
  seen = *picture;
  mr_update_picture(sim, mr_roster(sim, to), 0, &b, &seen);
  for (size_t at = 4 * (size_t)lane; at < sizeof seen; at += 4 * MR_LANES) {
    memcpy((char *)picture + at, (const char *)&seen + at, 4);
  }
}

static bool launch(const MrSim *sim, int32_t block, int32_t fighter, int lane) {
  return mr_launch_one(sim, mr_block(sim, block), mr_picture(sim, block), fighter, lane);
}

// Records the engagements that have just ended and, with auto_reset, starts their next episodes; their missiles leave
// the scene. Returns true if it started any.
static bool finish_lanes(MrSim *sim, int32_t block, const int32_t was_open[MR_LANES], MrScene *scene) {
  MrBlock *b = mr_block(sim, block);
  bool restarted = false;
  int used = mr_used_lanes(sim, block);
  MR_EACH_LANE(i) {
    if (!was_open[i] || b->outcome[i] == MR_OPEN) continue;
    if (i < used) record(sim, block, i);
    if (!sim->auto_reset) continue;
    start_lane(sim, block, i, b->engagement[i], b->episode[i] + 1);
    mr_forget_missiles(sim, scene, i);
    restarted = true;
  }
  return restarted;
}

// Memory that the block's decision prefetches during its physics steps.
static MrAhead ahead_of(const MrSim *sim, int32_t block, const MrOutputs *out) {
  int32_t steps = sim->constants.substeps;
  MrAhead ahead = {0};
  if (mr_is_cached(sim)) return ahead;
  if (block + 1 < sim->num_blocks) ahead.state = mr_in_parts(mr_block(sim, block + 1), sizeof(MrBlock), steps);
  if (MR_SIDE == 1 && out->to.observations) {
    size_t floats = mr_row_floats(sim, out);
    const float *rows = out->to.observations + (size_t)block * MR_LANES * floats;
    ahead.rows = mr_in_parts(rows, (size_t)mr_used_lanes(sim, block) * floats * sizeof(float), steps);
  }
  return ahead;
}

static void decide_block(MrSim *sim, int32_t block, const MrOutputs *out) {
  MrBlock *b = mr_block(sim, block);
  MrPicture *picture = mr_picture(sim, block);
  MrScene scene;
  MR_ALIGNED int32_t was_open[MR_LANES], losses[MR_SIDES][MR_LANES], living[MR_SIDES][MR_LANES];
  MR_ALIGNED float reward[MR_FIGHTERS][MR_LANES];
  MrPotential potential;

  sim->ended[block] = 0;
  mr_count_living(sim, b, losses);
  mr_fly_pilots(sim, b, picture);
  mr_launch_commanded(sim, b, picture);
  if (sim->has_systems) mr_work_systems(sim, b, picture);
  mr_fly_block(sim, b, picture, sim->constants.substeps, ahead_of(sim, block, out));
  mr_straighten(sim, b);
  if (picture) mr_update_picture(sim, mr_roster(sim, b), sim->constants.substeps, b, picture);

  mr_count_living(sim, b, living);
  MR_FOR_LANES(i) {
    was_open[i] = b->outcome[i] == MR_OPEN;
    b->decisions[i]++;
    losses[0][i] -= living[0][i];
    losses[1][i] -= living[1][i];
  }
  mr_look_around(sim, b, &scene);
  mr_decide_outcomes(sim, &scene, b);
  mr_potential(sim, b, &scene, &potential);
  mr_reward(sim, b, scene.sights, &potential, was_open, losses, reward);
  write_results(sim, block, reward, out);
  if (any_ended(b, was_open)) mr_write_observations(sim, block, &scene, out, out->to.final_observations);
  write_states(sim, block, &scene, out->to.final_states);
  if (finish_lanes(sim, block, was_open, &scene)) {
    mr_look_at_enemies(sim, b, scene.sights);
    // The engagements that started anew need a potential. The other engagements get the same potential again.
    mr_potential(sim, b, &scene, &potential);
    mr_keep_potential(&potential, b);
  }
  mr_write_observations(sim, block, &scene, out, out->to.observations);
  write_states(sim, block, &scene, out->to.states);
  mr_assert_state(sim, block);
}

// In one against one with full information flights of any lengths give the same. Otherwise the steps are flown one by
// one: beliefs move by the length of a flight, and missiles find new targets at its end.
static void advance_block(const MrSim *sim, int32_t block, int32_t steps) {
  MrPicture *picture = mr_picture(sim, block);
  int32_t length = picture || MR_SIDE > 1 ? 1 : steps;
  for (int32_t flown = 0; flown < steps; flown += length) {
    mr_fly_block(sim, mr_block(sim, block), picture, length, MR_NOTHING_AHEAD);
  }
  mr_assert_state(sim, block);
}

static void observe_block(const MrSim *sim, int32_t block, const MrOutputs *out) {
  MrScene scene;
  mr_look_around(sim, mr_block(sim, block), &scene);
  mr_write_observations(sim, block, &scene, out, out->to.observations);
  write_states(sim, block, &scene, out->to.states);
}

#if MR_SIDE == 1 && MR_DIMENSIONS == 2
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

#endif

const MrKernel MR_OF_ISA_AND_GAME(mr_kernel_) = {
    .name = MR_ISA_NAME,
    .side = MR_SIDE,
    .dimensions = MR_DIMENSIONS,
    .controls = MR_SYSTEMS_PLACE + 1,
    .take_actions = mr_take_actions,
    .controls_of_orders = mr_controls_of_orders_in,
    .decide_block = decide_block,
    .advance_block = advance_block,
    .observe_block = observe_block,
    .start_lane = start_lane,
    .rate_lane = rate_lane,
    .launch = launch,
#if MR_SIDE == 1
    .fly_shots = mr_fly_out_block,
    .look_ahead = mr_look_ahead_lane,
#endif
#if MR_SIDE == 1 && MR_DIMENSIONS == 2
    .fly_out = fly_out,
    .look_up_shots = mr_look_up_each,
    .threat_cone = mr_fly_cone,
#elif MR_SIDE == 1
    .high_threat_cone = mr_fly_high_cone,
#endif
};

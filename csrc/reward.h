// SPDX-License-Identifier: MIT
//
// Rewards: the outcome, the change of a zero-sum potential, and pressure on the enemy. RULES.md, "Rewards".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "scene.h"
#include "sense.h"

// G of RULES.md, 0 to 1: how well a fighter points at its enemy, weighted by how near the enemy is. The weight is 1/2
// at the distance `range`.
static inline float mr_geometry(float range, const MrSight *sight, int i) {
  return 0.5f * (1.0f + sight->ahead[i]) * range / (range + sight->range[i]);
}

// Red's potential: red's merit less blue's, in its parts and as their sum; 0 once the engagement is over.
typedef struct {
  MR_ALIGNED float geometry[MR_LANES], stock[MR_LANES], threat[MR_LANES], sum[MR_LANES];
#if MR_SIDE > 1
  MR_ALIGNED float merit[MR_FIGHTERS][MR_LANES];  // of each fighter
#endif
} MrPotential;

static inline void mr_keep_lane(const MrPotential *potential, MrBlock *b, int i) {
  b->geometry[i] = potential->geometry[i];
  b->stock[i] = potential->stock[i];
  b->threat[i] = potential->threat[i];
  b->potential[i] = potential->sum[i];
#if MR_SIDE > 1
  for (int32_t f = 0; f < MR_FIGHTERS; f++) b->fighters[f].merit[i] = potential->merit[f][i];
#endif
}

// Keeps the potential of all lanes.
static inline void mr_keep_potential(const MrPotential *potential, MrBlock *b) {
#if MR_SIDE == 1
  MR_FOR_LANES(i) mr_keep_lane(potential, b, i);
#else
  MR_EACH_LANE(i) mr_keep_lane(potential, b, i);
#endif
}

// What the outcome, which may still be open, pays a side.
static inline float mr_result(const MrParams *p, int32_t outcome, int32_t side) {
  float paid = mr_select(outcome == MR_DRAW, p->reward_draw, 0.0f);
  paid += mr_select(outcome == MR_RED_WINS + side, p->reward_win, 0.0f);
  return paid + mr_select(outcome == MR_BLUE_WINS - side, p->reward_loss, 0.0f);
}

#if MR_SIDE == 1

static void mr_potential(const struct MrSim *sim, const MrBlock *b, const MrScene *scene, MrPotential *to) {
  const MrParams *p = &sim->params;
  float per_missile = p->ammunition > 0 ? p->reward_ammunition / (float)p->ammunition : 0.0f;
  float range = p->reward_geometry_range, time = p->reward_threat_time;
  MR_FOR_LANES(i) {
    float geometry[MR_FIGHTERS], stock[MR_FIGHTERS], threat[MR_FIGHTERS], merit[MR_FIGHTERS];
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      geometry[f] = p->reward_geometry * mr_geometry(range, &scene->sights[f], i);
      stock[f] = per_missile * (float)b->fighters[f].ammunition[i];
      threat[f] = p->reward_threat * (time / (time + scene->inbound[f].least[i]));
      merit[f] = geometry[f] + stock[f] - threat[f];
    }
    float open = b->outcome[i] == MR_OPEN ? 1.0f : 0.0f;
    to->geometry[i] = open * (geometry[0] - geometry[1]);
    to->stock[i] = open * (stock[0] - stock[1]);
    to->threat[i] = open * (threat[1] - threat[0]);
    to->sum[i] = b->outcome[i] == MR_OPEN ? merit[0] - merit[1] : 0.0f;
  }
}

// The rewards of both fighters for the decision just flown. Keeps `potential` for the next decision, and what was paid.
// `was_open` marks the engagements that were not over before this decision; the others get no reward. `losses` are the
// fighters that each side has lost in it.
static void mr_reward(const struct MrSim *sim, MrBlock *b, const MrSight sights[MR_FIGHTERS],
                      const MrPotential *potential, const int32_t was_open[MR_LANES],
                      const int32_t losses[MR_SIDES][MR_LANES],
                      float reward[MR_FIGHTERS][MR_LANES]) {
  const MrParams *p = &sim->params;
  float range = p->reward_geometry_range;
  float pressure = p->reward_pressure * p->physics_dt * (float)p->substeps;
  MR_FOR_LANES(i) {
    float change = potential->sum[i] - b->potential[i];
    float pressed = pressure * (mr_geometry(range, &sights[0], i) - mr_geometry(range, &sights[1], i));
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      float side = f ? -1.0f : 1.0f;
      float kills = p->reward_kill * (float)(losses[f ^ 1][i] - losses[f][i]);
      float sum = side * change + mr_result(p, b->outcome[i], f) + side * pressed + kills;
      reward[f][i] = mr_select(was_open[i], sum, 0.0f);
      b->fighters[f].episode_return[i] += reward[f][i];
    }
    b->paid_geometry[i] += mr_select(was_open[i], potential->geometry[i] - b->geometry[i], 0.0f);
    b->paid_ammunition[i] += mr_select(was_open[i], potential->stock[i] - b->stock[i], 0.0f);
    b->paid_threat[i] += mr_select(was_open[i], potential->threat[i] - b->threat[i], 0.0f);
    b->paid_pressure[i] += mr_select(was_open[i], pressed, 0.0f);
  }
  mr_keep_potential(potential, b);
}

#endif

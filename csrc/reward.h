// SPDX-License-Identifier: MIT
//
// Rewards: the outcome, the change of a zero-sum potential, and pressure on the enemy. RULES.md, "Rewards" and "Teams".
//
// One against one and teams differ in the order of their sums, which the bits depend on. In one against one a potential
// is the difference of two merits; in teams it is the sum of its parts, each the difference of two sides' means. There
// a fighter also has a merit of its own, and the dead and those without a living enemy have none.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "block.h"
#include "mission.h"
#include "scene.h"
#include "sight.h"

// G of RULES.md, 0 to 1: how well a fighter points at its enemy, weighted by how near the enemy is. The weight is 1/2
// at the distance `range`.
static inline float mr_geometry(float range, const MrSight *sight, int i) {
  return 0.5f * (1.0f + mr_cosine(sight, i)) * range / (range + sight->range[i]);
}

// Red's potential: red's merit less blue's, in its parts and as their sum; 0 once the engagement is over.
typedef struct {
  MR_ALIGNED float geometry[MR_LANES], stock[MR_LANES], threat[MR_LANES], sum[MR_LANES];
  MR_ALIGNED float progress[MR_LANES];  // of a mission; 0 without one
#if MR_SIDE > 1
  MR_ALIGNED float merit[MR_FIGHTERS][MR_LANES];  // of each fighter
#endif
} MrPotential;

static inline void mr_keep_lane(const MrPotential *potential, MrBlock *b, int i) {
  b->geometry[i] = potential->geometry[i];
  b->stock[i] = potential->stock[i];
  b->threat[i] = potential->threat[i];
  b->progress[i] = potential->progress[i];
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

// The reward of a side for an outcome, which may still be open.
static inline float mr_result(const MrParams *p, int32_t outcome, int32_t side) {
  float paid = mr_select(outcome == MR_DRAW, p->reward_draw, 0.0f);
  paid += mr_select(outcome == MR_RED_WINS + side, p->reward_win, 0.0f);
  return paid + mr_select(outcome == MR_BLUE_WINS - side, p->reward_loss, 0.0f);
}

// The potential of a missile that a fighter of a side has left.
static inline float mr_per_missile(const MrSim *sim, int32_t side) {
  int32_t load = mr_full_load(sim, side);
  return load > 0 ? sim->params.reward_ammunition / (float)load : 0.0f;
}

// Adds what the shaping rewards paid in this decision to the records, and keeps the potential for the next one.
static inline void mr_book(const MrPotential *potential, const float pressed[MR_LANES],
                           const int32_t was_open[MR_LANES], MrBlock *b) {
  MR_FOR_LANES(i) {
    b->paid_geometry[i] += mr_select(was_open[i], potential->geometry[i] - b->geometry[i], 0.0f);
    b->paid_ammunition[i] += mr_select(was_open[i], potential->stock[i] - b->stock[i], 0.0f);
    b->paid_threat[i] += mr_select(was_open[i], potential->threat[i] - b->threat[i], 0.0f);
    b->paid_line[i] += mr_select(was_open[i], potential->progress[i] - b->progress[i], 0.0f);
    b->paid_pressure[i] += mr_select(was_open[i], pressed[i], 0.0f);
  }
  mr_keep_potential(potential, b);
}

// Adds the progress of a mission to a potential. In teams each fighter of a side has half of its side's part, dead or
// alive: so the means of the sides differ by all of it.
static void mr_add_progress(const MrSim *sim, const MrBlock *b, MrPotential *to) {
  MR_FOR_LANES(i) to->progress[i] = 0.0f;
  if (!mr_has_mission(sim)) return;
  mr_rate_progress(sim, b, to->progress);
  MR_FOR_LANES(i) to->sum[i] += to->progress[i];
#if MR_SIDE > 1
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    float share = mr_side(sim, f) ? -0.5f : 0.5f;
    MR_FOR_LANES(i) to->merit[f][i] += share * to->progress[i];
  }
#endif
}

#if MR_SIDE == 1

static void mr_potential(const MrSim *sim, const MrBlock *b, const MrScene *scene, MrPotential *to) {
  const MrParams *p = &sim->params;
  const float per_missile[MR_SIDES] = {mr_per_missile(sim, 0), mr_per_missile(sim, 1)};
  float range = p->reward_geometry_range, time = p->reward_threat_time;
  MR_FOR_LANES(i) {
    float geometry[MR_FIGHTERS], stock[MR_FIGHTERS], threat[MR_FIGHTERS], merit[MR_FIGHTERS];
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      geometry[f] = p->reward_geometry * mr_geometry(range, &scene->sights[f], i);
      stock[f] = per_missile[f] * (float)b->fighters[f].ammunition[i];
      threat[f] = p->reward_threat * (time / (time + scene->inbound[f].least[i]));
      merit[f] = geometry[f] + stock[f] - threat[f];
    }
    float open = b->outcome[i] == MR_OPEN ? 1.0f : 0.0f;
    to->geometry[i] = open * (geometry[0] - geometry[1]);
    to->stock[i] = open * (stock[0] - stock[1]);
    to->threat[i] = open * (threat[1] - threat[0]);
    to->sum[i] = b->outcome[i] == MR_OPEN ? merit[0] - merit[1] : 0.0f;
  }
  mr_add_progress(sim, b, to);
}

// The rewards of both fighters for the decision just flown. Keeps `potential` for the next decision, and what was paid.
// `was_open` marks the engagements that were not over before this decision; the others get no reward. `losses` are the
// fighters that each side has lost in it.
static void mr_reward(const MrSim *sim, MrBlock *b, const MrSight sights[MR_FIGHTERS], const MrPotential *potential,
                      const int32_t was_open[MR_LANES], const int32_t losses[MR_SIDES][MR_LANES],
                      float reward[MR_FIGHTERS][MR_LANES]) {
  const MrParams *p = &sim->params;
  float range = p->reward_geometry_range;
  float pressure = p->reward_pressure * p->physics_dt * (float)p->substeps;
  MR_ALIGNED float pressed_lanes[MR_LANES];
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
    pressed_lanes[i] = pressed;
  }
  mr_book(potential, pressed_lanes, was_open, b);
}

#else

// A number of each fighter, in all lanes, and the means over each side.
typedef struct {
  MR_ALIGNED float own[MR_FIGHTERS][MR_LANES], mean[MR_SIDES][MR_LANES];
} MrShares;

static void mr_average(const MrSim *sim, MrShares *shares) {
  for (int32_t side = 0; side < MR_SIDES; side++) {
    float part = 1.0f / (float)mr_size(sim, side);
    MR_FOR_LANES(i) shares->mean[side][i] = 0.0f;
    MR_FOR_SIDE(sim, side, f) {
      MR_FOR_LANES(i) shares->mean[side][i] += part * shares->own[f][i];
    }
  }
}

// G of RULES.md of each living fighter on its nearest enemy; 0 where no enemy lives.
static void mr_rate_geometry(const MrSim *sim, const MrBlock *b, const MrSight sights[MR_FIGHTERS], MrShares *out) {
  float range = sim->params.reward_geometry_range;
  MR_ALIGNED int32_t living[MR_SIDES][MR_LANES];
  mr_count_living(sim, b, living);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const int32_t *enemies = living[!mr_side(sim, f)];
    MR_FOR_LANES(i) {
      int faces = b->fighters[f].alive[i] & (enemies[i] > 0);
      out->own[f][i] = mr_select(faces, mr_geometry(range, &sights[f], i), 0.0f);
    }
  }
  mr_average(sim, out);
}

static void mr_potential(const MrSim *sim, const MrBlock *b, const MrScene *scene, MrPotential *to) {
  const MrParams *p = &sim->params;
  const float per_missile[MR_SIDES] = {mr_per_missile(sim, 0), mr_per_missile(sim, 1)};
  float time = p->reward_threat_time;
  MrShares geometry, stock, threat;
  memset(to->merit, 0, sizeof to->merit);
  mr_rate_geometry(sim, b, scene->sights, &geometry);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const MrFighter *fighter = &b->fighters[f];
    float value = per_missile[mr_side(sim, f)];
    MR_FOR_LANES(i) {
      stock.own[f][i] = value * (float)(fighter->alive[i] * fighter->ammunition[i]);
      threat.own[f][i] = p->reward_threat * (time / (time + scene->inbound[f].least[i]));
      float merit = p->reward_geometry * geometry.own[f][i] + stock.own[f][i] - threat.own[f][i];
      to->merit[f][i] = mr_select(b->outcome[i] == MR_OPEN, merit, 0.0f);
    }
  }
  mr_average(sim, &stock);
  mr_average(sim, &threat);
  MR_FOR_LANES(i) {
    float open = b->outcome[i] == MR_OPEN ? 1.0f : 0.0f;
    to->geometry[i] = open * p->reward_geometry * (geometry.mean[0][i] - geometry.mean[1][i]);
    to->stock[i] = open * (stock.mean[0][i] - stock.mean[1][i]);
    to->threat[i] = open * (threat.mean[1][i] - threat.mean[0][i]);
    to->sum[i] = to->geometry[i] + to->stock[i] + to->threat[i];
  }
  mr_add_progress(sim, b, to);
}

// The rewards of all fighters, as above.
static void mr_reward(const MrSim *sim, MrBlock *b, const MrSight sights[MR_FIGHTERS], const MrPotential *potential,
                      const int32_t was_open[MR_LANES], const int32_t losses[MR_SIDES][MR_LANES],
                      float reward[MR_FIGHTERS][MR_LANES]) {
  const MrParams *p = &sim->params;
  float pressure = p->reward_pressure * p->physics_dt * (float)p->substeps, team = p->reward_team;
  MR_ALIGNED float pressed[MR_LANES];
  MrShares geometry, merit;  // of merit the change
  mr_rate_geometry(sim, b, sights, &geometry);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) merit.own[f][i] = potential->merit[f][i] - b->fighters[f].merit[i];
  }
  mr_average(sim, &merit);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    int32_t side = mr_side(sim, f), other = !side;
    float kill = p->reward_kill / (float)mr_size(sim, other), loss = p->reward_kill / (float)mr_size(sim, side);
    MR_FOR_LANES(i) {
      float own = merit.own[f][i] + pressure * geometry.own[f][i];
      float mean = merit.mean[side][i] + pressure * geometry.mean[side][i];
      float enemies = merit.mean[other][i] + pressure * geometry.mean[other][i];
      float kills = kill * (float)losses[other][i] - loss * (float)losses[side][i];
      float sum = own + team * (mean - own) - enemies + mr_result(p, b->outcome[i], side) + kills;
      reward[f][i] = mr_select(was_open[i], sum, 0.0f);
      b->fighters[f].episode_return[i] += reward[f][i];
    }
  }
  MR_FOR_LANES(i) pressed[i] = pressure * (geometry.mean[0][i] - geometry.mean[1][i]);
  mr_book(potential, pressed, was_open, b);
}

#endif

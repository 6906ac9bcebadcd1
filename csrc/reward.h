// SPDX-License-Identifier: MIT
//
// Rewards: the outcome, the change of a zero-sum potential, and pressure on the enemy. RULES.md, "Rewards".
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

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

// Red's potential: red's merit less blue's; 0 once the engagement is over.
static void mr_potential(const struct MrSim *sim, const MrBlock *b, const MrScene *scene, float potential[MR_LANES]) {
  const MrParams *p = &sim->params;
  float per_missile = p->ammunition > 0 ? p->reward_ammunition / (float)p->ammunition : 0.0f;
  float range = p->reward_geometry_range;
  MR_ALIGNED float merit[MR_FIGHTERS][MR_LANES];
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) {
      float threat = p->reward_threat_time / (p->reward_threat_time + scene->inbound[f].least[i]);
      merit[f][i] = p->reward_geometry * mr_geometry(range, &scene->sights[f], i) +
                    per_missile * (float)b->fighters[f].ammunition[i] - p->reward_threat * threat;
    }
  }
  MR_FOR_LANES(i) {
    float sum = 0.0f;
    for (int32_t f = 0; f < MR_FIGHTERS; f++) sum += (f & 1) ? -merit[f][i] : merit[f][i];
    potential[i] = b->outcome[i] == MR_OPEN ? sum : 0.0f;
  }
}

// Red's reward for the decision just flown; blue's is its negative. Stores `potential` for the next decision.
// `was_open` marks the engagements that were not over before this decision; the others get no reward.
static void mr_reward(const struct MrSim *sim, MrBlock *b, const MrSight sights[MR_FIGHTERS],
                      const float potential[MR_LANES], const int32_t was_open[MR_LANES],
                      float reward[MR_LANES]) {
  const MrParams *p = &sim->params;
  float range = p->reward_geometry_range;
  float pressure = p->reward_pressure * p->physics_dt * (float)p->substeps;
  MR_FOR_LANES(i) {
    float sum = potential[i] - b->potential[i];
    sum += mr_select(b->outcome[i] == MR_RED_WINS, 1.0f, 0.0f);
    sum -= mr_select(b->outcome[i] == MR_BLUE_WINS, 1.0f, 0.0f);
    sum += pressure * (mr_geometry(range, &sights[0], i) - mr_geometry(range, &sights[1], i));
    reward[i] = mr_select(was_open[i], sum, 0.0f);
    b->potential[i] = potential[i];
    b->episode_return[i] += reward[i];
  }
}

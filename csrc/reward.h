// SPDX-License-Identifier: MIT
//
// Rewards: the outcome, and shaping by the change of a zero-sum potential. RULES.md, "Rewards".
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

#include <math.h>

#include "block.h"
#include "sense.h"

// How well a fighter points at its enemy, from how near: 0 to 1; half of it is lost at `range`.
static inline float mr_geometry(float range, const MrSight *sight, int i) {
  return 0.5f * (1.0f + sight->ahead[i]) * range / (range + sight->range[i]);
}

// Red's potential: red's merits less blue's, 0 once the engagement is over.
static void mr_potential(const struct MrSim *sim, const MrBlock *b,
                         const MrSight sights[MR_FIGHTERS], const MrIntercept intercepts[MR_MISSILES],
                         float potential[MR_LANES]) {
  const MrParams *p = &sim->params;
  float per_missile = p->ammunition > 0 ? p->reward_ammunition / (float)p->ammunition : 0.0f;
  MR_ALIGNED float merit[MR_FIGHTERS][MR_LANES];
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_ALIGNED float least[MR_LANES];  // time to go of the inbound missiles
    MR_FOR_LANES(i) least[i] = INFINITY;
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      if (!b->live[slot]) continue;
      const MrMissile *m = &b->missiles[slot];
      MR_FOR_LANES(i) {
        float time = intercepts[slot].time_to_go[i];
        int nearer = m->active[i] & (m->target[i] == f) & (time < least[i]);
        least[i] = mr_select(nearer, time, least[i]);
      }
    }
    const MrSight *sight = &sights[f];
    float range = p->reward_geometry_range;
    MR_FOR_LANES(i) {
      float threat = p->reward_threat_time / (p->reward_threat_time + least[i]);
      merit[f][i] = p->reward_geometry * mr_geometry(range, sight, i) +
                    per_missile * (float)b->fighters[f].ammunition[i] - p->reward_threat * threat;
    }
  }
  MR_FOR_LANES(i) {
    float sum = 0.0f;
    for (int32_t f = 0; f < MR_FIGHTERS; f++) sum += (f & 1) ? -merit[f][i] : merit[f][i];
    potential[i] = b->outcome[i] == MR_OPEN ? sum : 0.0f;
  }
}

// Red's reward of the decision just flown (blue's is its negative); keeps the potential.
// `was_open` marks the engagements that were not over before it.
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

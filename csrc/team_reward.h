// SPDX-License-Identifier: MIT
//
// Rewards in teams: those of one against one, of a fighter's own merit and of the mean of its side's. RULES.md,
// "Teams".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <string.h>

#include "block.h"
#include "reward.h"
#include "scene.h"

// A number of each fighter, in all lanes, and the means over each side.
typedef struct {
  MR_ALIGNED float own[MR_FIGHTERS][MR_LANES], mean[MR_SIDES][MR_LANES];
} MrShares;

static void mr_average(const struct MrSim *sim, MrShares *shares) {
  for (int32_t side = 0; side < MR_SIDES; side++) {
    float part = 1.0f / (float)mr_size(sim, side);
    MR_FOR_LANES(i) shares->mean[side][i] = 0.0f;
    MR_FOR_SIDE(sim, side, f) {
      MR_FOR_LANES(i) shares->mean[side][i] += part * shares->own[f][i];
    }
  }
}

// G of RULES.md of each living fighter on its nearest enemy; 0 where no enemy lives.
static void mr_rate_geometry(const struct MrSim *sim, const MrBlock *b, const MrSight sights[MR_FIGHTERS],
                             MrShares *out) {
  float range = sim->params.reward_geometry_range;
  MR_ALIGNED int32_t living[MR_SIDES][MR_LANES] = {{0}};
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    int32_t *side = living[mr_side(sim, f)];
    MR_FOR_LANES(i) side[i] |= b->fighters[f].alive[i];
  }
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const int32_t *enemies = living[!mr_side(sim, f)];
    MR_FOR_LANES(i) {
      int faces = b->fighters[f].alive[i] & enemies[i];
      out->own[f][i] = mr_select(faces, mr_geometry(range, &sights[f], i), 0.0f);
    }
  }
  mr_average(sim, out);
}

static void mr_potential(const struct MrSim *sim, const MrBlock *b, const MrScene *scene, MrPotential *to) {
  const MrParams *p = &sim->params;
  float per_missile = p->ammunition > 0 ? p->reward_ammunition / (float)p->ammunition : 0.0f;
  float time = p->reward_threat_time;
  MrShares geometry, stock, threat;
  memset(to->merit, 0, sizeof to->merit);
  mr_rate_geometry(sim, b, scene->sights, &geometry);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const MrFighter *fighter = &b->fighters[f];
    MR_FOR_LANES(i) {
      stock.own[f][i] = per_missile * (float)(fighter->alive[i] * fighter->ammunition[i]);
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
}

// The rewards of all fighters for the decision just flown; as mr_reward of reward.h.
static void mr_reward(const struct MrSim *sim, MrBlock *b, const MrSight sights[MR_FIGHTERS],
                      const MrPotential *potential, const int32_t was_open[MR_LANES],
                      const int32_t losses[MR_SIDES][MR_LANES], float reward[MR_FIGHTERS][MR_LANES]) {
  const MrParams *p = &sim->params;
  float pressure = p->reward_pressure * p->physics_dt * (float)p->substeps, team = p->reward_team;
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
  MR_FOR_LANES(i) {
    float pressed = pressure * (geometry.mean[0][i] - geometry.mean[1][i]);
    b->paid_geometry[i] += mr_select(was_open[i], potential->geometry[i] - b->geometry[i], 0.0f);
    b->paid_ammunition[i] += mr_select(was_open[i], potential->stock[i] - b->stock[i], 0.0f);
    b->paid_threat[i] += mr_select(was_open[i], potential->threat[i] - b->threat[i], 0.0f);
    b->paid_pressure[i] += mr_select(was_open[i], pressed, 0.0f);
  }
  mr_keep_potential(potential, b);
}

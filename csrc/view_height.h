// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in one against one with height: with full information those of view_pair.h and
// what height adds; view_radar.h has those with sensors.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <string.h>

#include "flight3.h"
#include "view.h"
#include "view_radar.h"

typedef struct {
  MR_FIGHTER_FEATURES(MR_DECLARE_FEATURE)
  MR_OWN_HEIGHT_FEATURES(MR_DECLARE_FEATURE)
  MR_OTHER_HEIGHT_FEATURES(MR_DECLARE_FEATURE, enemy, "the enemy")
  MrMissileRow inbound[MR_INBOUND_OBSERVED], own_missiles[MR_OWN_MISSILES_OBSERVED];
  // Set if fighters carry several kinds.
  MR_TWO_KIND_FEATURES(MR_DECLARE_FEATURE)
  MR_THIRD_KIND_FEATURES(MR_DECLARE_FEATURE)
} MrHeightView;

_Static_assert(sizeof(MrHeightView) == MR_HEIGHT_3_FEATURE_COUNT * sizeof(float[MR_LANES]), "every feature is written");

// Writes the features of both fighters, of their heights and of the clock.
static void mr_write_fighters(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                              MrHeightView *out) {
  const MrRoster *roster = mr_roster(sim, b);
  MR_FOR_LANES(i) {
    float limit = sim->constants.one;
    MR_FIGHTER_VALUES(sim, roster, b, fighter, scene, i)
    MR_FIGHTER_FEATURES(MR_WRITE)
  }
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[mr_opponent(fighter)];
  const MrSight *sight = &scene->sights[fighter];
  MR_FOR_LANES(i) {
    float limit = sim->constants.one;
    MR_OWN_HEIGHT_VALUES(sim, roster, fighter, own, i)
    MR_OWN_HEIGHT_FEATURES(MR_WRITE)
    MR_SEEN_HEIGHT_VALUES(enemy, sim, roster, mr_opponent(fighter), &own->body, &enemy->body, sight, i)
    MR_SEEN_CLIMB_VALUES(enemy, enemy, i)
    MR_OTHER_HEIGHT_FEATURES(MR_WRITE, enemy, "the enemy")
  }
}

// Writes the features of a kind of missile in all lanes.
#define MR_WRITE_KIND(prefix, kind, which)                                                                  \
  MR_FOR_LANES(i) {                                                                                         \
    float limit = sim->constants.one, range = sight->range[i];                                              \
    float approach = sight->approach[i], its_approach = mr_cosine(sight, i) * own->body.v[i];               \
    float r_max = mr_r_max(sim, roster, its, kind, &own->body, &enemy->body, approach, i);              \
    float its_r_max = mr_r_max(sim, roster, fighter, kind, &enemy->body, &own->body, its_approach, i);          \
    float own_##prefix##_ammunition = (float)mr_missiles_left(own, kind, i);                                \
    float own_##prefix##_reach = r_max - range;                                                             \
    float enemy_##prefix##_ammunition = (float)mr_missiles_left(enemy, kind, i);                            \
    float enemy_##prefix##_reach = its_r_max - range;                                                       \
    MR_KIND_FEATURES(MR_WRITE, prefix, which)                                                               \
  }

// Writes the features of the kinds of missiles that either fighter carries.
static void mr_write_kinds(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrSight *sight,
                           MrHeightView *out) {
  const MrRoster *roster = mr_roster(sim, b);
  int32_t its = mr_opponent(fighter);
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[its];
  MR_WRITE_KIND(first, 0, "first")
  MR_WRITE_KIND(second, 1, "second")
  if (mr_kinds(sim) < 3) return;
  MR_WRITE_KIND(third, 2, "third")
}

static void mr_write_view(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                          const MrAllObserved *missiles, MrHeightView *out) {
  int32_t enemy = mr_opponent(fighter);
  const MrBody *own = &b->fighters[fighter].body;
  mr_write_fighters(sim, b, fighter, scene, out);
  if (mr_kinds(sim) > 1) mr_write_kinds(sim, b, fighter, &scene->sights[fighter], out);
  if (!scene->any) {
    memset(out->inbound, 0, sizeof out->inbound + sizeof out->own_missiles);
    return;
  }
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    mr_write_missiles(&sim->constants, own, true, &missiles->at[fighter][rank], &out->inbound[rank]);
  }
  for (int rank = 0; rank < MR_OWN_MISSILES_OBSERVED; rank++) {
    mr_write_missiles(&sim->constants, own, false, &missiles->at[enemy][rank], &out->own_missiles[rank]);
  }
}

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                                  float *observations) {
  if (!observations) return;
  const MrBlock *b = mr_block(sim, block);
  MrDestination to = mr_first_rows(sim, block, out, observations);
  if (sim->pictures) {
    mr_write_radar_views(sim, b, mr_picture(sim, block), scene->sights, out, to);
    return;
  }
  MrAllObserved missiles;
  MrHeightView view;
  mr_collect_missiles(sim, b, scene, &missiles);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_write_view(sim, b, f, scene, &missiles, &view);
    mr_place_mission(sim, b, f, &to);
    mr_place_view(sim, &view, &to);
  }
}

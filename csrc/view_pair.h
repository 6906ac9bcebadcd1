// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in one against one in the plane; view_radar.h has those with sensors. view.h has
// what teams share with it; these differ from view_team.h:
//
//   - An observation is flat: each of its features has a place and a name of its own. There is one enemy, dead or
//     alive. A dead fighter observes, too.
//   - Missiles are collected by rank in all lanes at once, by the keys of the scene, and rated once for both fighters.
//   - MR_OBSERVE_STG adds the ranges of shots and the predicted misses of inbound missiles.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "definitions.h"
#include "envelope.h"
#include "flight.h"
#include "misses.h"
#include "view.h"
#include "view_radar.h"

// Views of one fighter. With full information, MR_OBSERVE_STG alone has the last two lists.
typedef struct {
  MR_FIGHTER_FEATURES(MR_DECLARE_FEATURE)
  MrMissileRow inbound[MR_INBOUND_OBSERVED], own_missiles[MR_OWN_MISSILES_OBSERVED];
  MR_ENVELOPE_FEATURES(MR_DECLARE_FEATURE)
  MR_ALIGNED float misses[MR_INBOUND_OBSERVED][MR_LANES];
} MrFullView;

enum { MR_FEATURE_BYTES = sizeof(float[MR_LANES]) };
_Static_assert(offsetof(MrFullView, own_aero) == MR_FEATURE_COUNT * MR_FEATURE_BYTES, "every feature is written");
_Static_assert(sizeof(MrFullView) == MR_STG_FEATURE_COUNT * MR_FEATURE_BYTES, "every feature is written");

// Full information ----------------------------------------------------------------------------------------

// Writes the features of both fighters and of the clock.
static void mr_write_fighters(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                              MrFullView *out) {
  MR_FOR_LANES(i) {
    float limit = sim->constants.one;
    MR_FIGHTER_VALUES(sim, NULL, b, fighter, scene, i)
    MR_FIGHTER_FEATURES(MR_WRITE)
  }
}

// A range of the envelope compared with the range to the enemy: 1/2 where they are equal.
static inline float mr_range_ratio(float reach, float range) { return reach / mr_max(reach + range, 1.0f); }

// Writes the features of the fighters' ranges on each other. `own` and `enemy` are the ranges of their shots.
static void mr_write_envelopes(const MrConstants *k, const MrSight *sight, const MrShotRanges *own,
                               const MrShotRanges *enemy, MrFullView *out) {
  MR_FOR_LANES(i) {
    float limit = k->one, range = sight->range[i];
    float own_aero = mr_range_ratio(own->aero[i], range);
    float own_nez = mr_range_ratio(own->nez[i], range);
    float enemy_aero = mr_range_ratio(enemy->aero[i], range);
    float enemy_nez = mr_range_ratio(enemy->nez[i], range);
    float escape_margin = range - enemy->cold[i];
    MR_ENVELOPE_FEATURES(MR_WRITE)
  }
}

// Writes the view of one fighter. `shot_ranges` is read for MR_OBSERVE_STG only.
static void mr_write_full_view(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                               const MrAllObserved *missiles, const MrShotRanges shot_ranges[MR_FIGHTERS],
                               MrFullView *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter];
  int32_t enemy = mr_opponent(fighter);
  mr_write_fighters(sim, b, fighter, scene, out);
  if (scene->any) {
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      mr_write_missiles(k, &own->body, true, &missiles->at[fighter][rank], &out->inbound[rank]);
    }
    for (int rank = 0; rank < MR_OWN_MISSILES_OBSERVED; rank++) {
      mr_write_missiles(k, &own->body, false, &missiles->at[enemy][rank], &out->own_missiles[rank]);
    }
  } else {
    memset(out->inbound, 0, sizeof out->inbound + sizeof out->own_missiles);
  }
  if (sim->observation != MR_OBSERVE_STG) return;
  mr_write_envelopes(k, &scene->sights[fighter], &shot_ranges[fighter], &shot_ranges[enemy], out);
  if (scene->any) {
    mr_write_misses(sim, own, missiles->at[fighter], out->misses);
  } else {
    memset(out->misses, 0, sizeof out->misses);
  }
}

// Blocks --------------------------------------------------------------------------------------------------

static void mr_write_full_views(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrOutputs *out,
                                MrDestination to) {
  MrFullView view;
  MrAllObserved missiles;
  MrShotRanges shot_ranges[MR_FIGHTERS];
  mr_collect_missiles(sim, b, scene, &missiles);
  for (int32_t f = 0; sim->observation == MR_OBSERVE_STG && f < MR_FIGHTERS; f++) {
    const MrBody *enemy = &b->fighters[mr_opponent(f)].body;
    mr_look_up(sim, &b->fighters[f].body, enemy, &scene->sights[f], &shot_ranges[f]);
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_write_full_view(sim, b, f, scene, &missiles, shot_ranges, &view);
    mr_place_mission(sim, b, f, &to);
    mr_place_view(sim, &view, &to);
  }
}

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                                  float *observations) {
  if (!observations) return;
  MrDestination to = mr_first_rows(sim, block, out, observations);
  if (sim->pictures) {
    mr_write_radar_views(sim, mr_block(sim, block), mr_picture(sim, block), scene->sights, out, to);
  } else {
    mr_write_full_views(sim, mr_block(sim, block), scene, out, to);
  }
}

// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in the game with height: those of view_pair.h with full information, and what
// height adds.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <string.h>

#include "flight3.h"
#include "view.h"

typedef struct {
  MrMissileRow missile;
  MR_RISE_FEATURES(MR_DECLARE_FEATURE, missile)
} MrRisingRow;

typedef struct {
  MR_FIGHTER_FEATURES(MR_DECLARE_FEATURE)
  MR_OWN_HEIGHT_FEATURES(MR_DECLARE_FEATURE)
  MR_ENEMY_HEIGHT_FEATURES(MR_DECLARE_FEATURE)
  MrRisingRow inbound[MR_INBOUND_OBSERVED], own_missiles[MR_OWN_MISSILES_OBSERVED];
  // Set if fighters carry several kinds.
  MR_TWO_KIND_FEATURES(MR_DECLARE_FEATURE)
  MR_THIRD_KIND_FEATURES(MR_DECLARE_FEATURE)
} MrHeightView;

_Static_assert(sizeof(MrHeightView) == MR_HEIGHT_3_FEATURE_COUNT * sizeof(float[MR_LANES]), "every feature is written");

// A fighter's performance at its height and speed in one lane.
typedef struct {
  float density, mach2, energy, lift_limit, thrust;
} MrPerformance;

static inline MrPerformance mr_performance(float gravity, const MrRoster *roster, int32_t side, const MrBody *body,
                                           int i) {
  MrAircraft type = mr_aircraft_at(roster, side, i);
  MrAir air = mr_air(body->z[i]);
  float v2 = body->v[i] * body->v[i], mach2 = v2 * air.sound2;
  return (MrPerformance){
      .density = air.density,
      .mach2 = mach2,
      .energy = body->z[i] + v2 * (0.5f / gravity),
      .lift_limit = mr_lift_limit(&type.frame, air.density, v2),
      .thrust = mr_engine(&type, air.thin, mach2, 1.0f),
  };
}

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
  float gravity = sim->types.gravity;
  MR_FOR_LANES(i) {
    float limit = sim->constants.one;
    MrPerformance mine = mr_performance(gravity, roster, fighter, &own->body, i);
    MrPerformance its = mr_performance(gravity, roster, mr_opponent(fighter), &enemy->body, i);
    float own_height = own->body.z[i];
    float own_climb_sine = own->body.u[i];
    float own_climb = own->climb[i];
    float own_density = mine.density;
    float own_mach = sqrtf(mine.mach2);
    float own_energy = mine.energy;
    float own_lift_limit = mine.lift_limit;
    float own_thrust = mine.thrust;
    MR_OWN_HEIGHT_FEATURES(MR_WRITE)
    float enemy_up = sight->up[i];
    float enemy_off_nose = sight->cosine[i];
    float enemy_climb = enemy->climb[i];
    float enemy_heading_up = sight->heading_up[i];
    float enemy_los_rate_up = sight->los_rate_up[i];
    float enemy_above = enemy->body.z[i] - own->body.z[i];
    float enemy_energy = its.energy - mine.energy;
    float enemy_lift_limit = its.lift_limit;
    float enemy_thrust = its.thrust;
    MR_ENEMY_HEIGHT_FEATURES(MR_WRITE)
  }
}

// Writes the features of a kind of missile in all lanes.
#define MR_WRITE_KIND(prefix, kind, which)                                                                  \
  MR_FOR_LANES(i) {                                                                                         \
    float limit = sim->constants.one, range = sight->range[i];                                              \
    float approach = sight->approach[i], its_approach = mr_cosine(sight, i) * own->body.v[i];               \
    float r_max = mr_r_max(sim, roster, fighter, kind, &own->body, &enemy->body, approach, i);              \
    float its_r_max = mr_r_max(sim, roster, its, kind, &enemy->body, &own->body, its_approach, i);          \
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

// Writes the features of missiles, as observed from the bodies `own`, that fly at `target`.
static void mr_write_rising(const MrConstants *k, const MrBody *own, const MrBody *target, const MrObserved *m,
                            MrRisingRow *out) {
  mr_write_missiles(k, own, own == target, m, &out->missile);
  MR_FOR_LANES(i) {
    float limit = mr_select(m->present[i], k->one, 0.0f);
    float dx = m->x[i] - own->x[i], dy = m->y[i] - own->y[i], dz = m->z[i] - own->z[i];
    float missile_up = dz / mr_max(sqrtf(dx * dx + dy * dy + dz * dz), k->one);
    float missile_heading_up = m->u[i];
    float missile_above = m->z[i] - target->z[i];
    MR_RISE_FEATURES(MR_WRITE, missile)
  }
}

static void mr_write_view(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                          const MrAllObserved *missiles, MrHeightView *out) {
  int32_t enemy = mr_opponent(fighter);
  const MrBody *own = &b->fighters[fighter].body, *other = &b->fighters[enemy].body;
  mr_write_fighters(sim, b, fighter, scene, out);
  if (mr_kinds(sim) > 1) mr_write_kinds(sim, b, fighter, &scene->sights[fighter], out);
  if (!scene->any) {
    memset(out->inbound, 0, sizeof out->inbound + sizeof out->own_missiles);
    return;
  }
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    mr_write_rising(&sim->constants, own, own, &missiles->at[fighter][rank], &out->inbound[rank]);
  }
  for (int rank = 0; rank < MR_OWN_MISSILES_OBSERVED; rank++) {
    mr_write_rising(&sim->constants, own, other, &missiles->at[enemy][rank], &out->own_missiles[rank]);
  }
}

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                                  float *observations) {
  if (!observations) return;
  const MrBlock *b = mr_block(sim, block);
  MrDestination to = mr_first_rows(sim, block, out, observations);
  MrAllObserved missiles;
  MrHeightView view;
  mr_collect_missiles(sim, b, scene, &missiles);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_write_view(sim, b, f, scene, &missiles, &view);
    mr_place_view(sim, &view, &to);
  }
}

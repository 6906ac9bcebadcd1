// SPDX-License-Identifier: MIT
//
// Writes observations: fills the table of feature_table.h for one fighter, scales and clips it.

#pragma once

#include <string.h>

#include "block.h"
#include "feature_table.h"
#include "sense.h"

typedef float MrFeatures[MR_FEATURE_COUNT][MR_LANES];

// Natural logarithm of q >= 1 by the series of 2 atanh((q - 1) / (q + 1)); 1 % at q = 8.
static inline float mr_log(float q) {
  float z = (q - 1.0f) / (q + 1.0f), z2 = z * z;
  return 2.0f * z * (1.0f + z2 * (1.0f / 3.0f + z2 * (1.0f / 5.0f + z2 * (1.0f / 7.0f + z2 * (1.0f / 9.0f)))));
}

// How far a missile gains on a target that runs straight away at `speed`, until it is no faster or
// spent: closed form of the coast after the rest of its boost in one step.
static inline float mr_chase_reach(const struct MrSim *sim, float v, float age, float speed) {
  const MrConstants *k = &sim->constants;
  float burn = (k->burn_steps - age) * k->dt;
  burn = burn > 0.0f ? burn : 0.0f;
  float end = speed > sim->params.missile_spent_speed ? speed : sim->params.missile_spent_speed;
  float v_burnt = (v + k->missile.thrust * burn) / (1.0f + k->missile.cd0 * v * burn);
  float q = v_burnt > end ? v_burnt / end : 1.0f;
  float coast = (mr_log(q) - speed * (1.0f / end - 1.0f / (q * end))) / k->missile.cd0;
  return burn * (0.5f * (v + v_burnt) - speed) + coast;
}

// The features of one missile slot as its target or its owner sees it.
static inline void mr_see_missile(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                                  int32_t slot, const MrTrack *track,
                                  float seen[MR_SEEN_FEATURES][MR_LANES]) {
  const MrBody *own = &b->fighters[fighter].body;
  const MrMissile *m = &b->missiles[slot];
  MR_FOR_LANES(i) {
    float c = own->c[i], s = own->s[i];
    float dx = m->body.x[i] - own->x[i], dy = m->body.y[i] - own->y[i];
    float distance = sqrtf(dx * dx + dy * dy);
    float inverse = 1.0f / (distance > 1.0f ? distance : 1.0f);
    seen[MR_SEEN_present][i] = 1.0f;
    seen[MR_SEEN_ahead][i] = (dx * c + dy * s) * inverse;
    seen[MR_SEEN_left][i] = (dy * c - dx * s) * inverse;
    seen[MR_SEEN_nearness][i] = MR_NEAR_MISSILE / (MR_NEAR_MISSILE + track->range[i]);
    seen[MR_SEEN_urgency][i] = MR_NEAR_TIME / (MR_NEAR_TIME + track->time_to_go[i]);
    seen[MR_SEEN_speed][i] = m->body.v[i];
    seen[MR_SEEN_heading_ahead][i] = m->body.c[i] * c + m->body.s[i] * s;
    seen[MR_SEEN_heading_left][i] = m->body.s[i] * c - m->body.c[i] * s;
    seen[MR_SEEN_reach][i] =
        mr_chase_reach(sim, m->body.v[i], (float)m->age[i], track->target_speed[i]) - track->range[i];
  }
}

// Ranks the inbound and the own missiles by time to go and writes the features of the first few; counts
// the own and the enemy's missiles in the air.
static void mr_see_missiles(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                            const MrTrack tracks[MR_MISSILES], MrFeatures out) {
  MR_ALIGNED float time[MR_SEEN][MR_LANES];  // time to go of each rank so far
  MR_ALIGNED int32_t ranked[MR_SEEN][MR_LANES];  // and its slot, -1 for none
  for (int rank = 0; rank < MR_SEEN; rank++) {
    MR_FOR_LANES(i) {
      time[rank][i] = 2.0f * MR_TIME_TO_GO_MAX;
      ranked[rank][i] = -1;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    for (int group = 0; group < 2; group++) {  // inbound, own
      MR_ALIGNED float key[MR_LANES];
      MR_ALIGNED int32_t who[MR_LANES];
      MR_FOR_LANES(i) {
        int wanted = (m->active[i] != 0) &
                     (group ? m->owner[i] == fighter : m->target[i] == fighter);
        key[i] = mr_select(wanted, tracks[slot].time_to_go[i], 2.0f * MR_TIME_TO_GO_MAX);
        who[i] = slot;
        out[group ? MR_OBS_own_in_air : MR_OBS_enemy_in_air][i] += wanted ? 1.0f : 0.0f;
      }
      int first = group ? MR_SEEN_INBOUND : 0, end = group ? MR_SEEN : MR_SEEN_INBOUND;
      for (int rank = first; rank < end; rank++) {  // insert, pushing the later ones down
        MR_FOR_LANES(i) {
          int before = key[i] < time[rank][i];
          float later = mr_select(before, time[rank][i], key[i]);
          int32_t later_who = mr_select_int(before, ranked[rank][i], who[i]);
          time[rank][i] = mr_select(before, key[i], time[rank][i]);
          ranked[rank][i] = mr_select_int(before, who[i], ranked[rank][i]);
          key[i] = later;
          who[i] = later_who;
        }
      }
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_ALIGNED float seen[MR_SEEN_FEATURES][MR_LANES];
    mr_see_missile(sim, b, fighter, slot, &tracks[slot], seen);
    for (int rank = 0; rank < MR_SEEN; rank++) {
      for (int feature = 0; feature < MR_SEEN_FEATURES; feature++) {
        float *value = out[MR_OBS_inbound_1_present + rank * MR_SEEN_FEATURES + feature];
        MR_FOR_LANES(i) value[i] = mr_select(ranked[rank][i] == slot, seen[feature][i], value[i]);
      }
    }
  }
}

// Everything but the missiles.
static void mr_see_fighters(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                            const MrSight *sight, MrFeatures out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[mr_opponent(fighter)];
  MR_FOR_LANES(i) {
    int32_t own_wait = own->ready[i] - b->time[i], enemy_wait = enemy->ready[i] - b->time[i];
    out[MR_OBS_time_left][i] = (float)(k->time_limit - b->time[i]) * k->dt;
    out[MR_OBS_own_alive][i] = (float)own->alive[i];
    out[MR_OBS_own_speed][i] = own->body.v[i];
    out[MR_OBS_own_rudder][i] = own->body.rudder[i];
    out[MR_OBS_own_throttle][i] = own->throttle[i];
    out[MR_OBS_own_ammunition][i] = (float)own->ammunition[i];
    out[MR_OBS_own_reload][i] = (float)(own_wait > 0 ? own_wait : 0) * k->dt;
    out[MR_OBS_enemy_alive][i] = (float)enemy->alive[i];
    out[MR_OBS_enemy_speed][i] = enemy->body.v[i];
    out[MR_OBS_enemy_rudder][i] = enemy->body.rudder[i];
    out[MR_OBS_enemy_ammunition][i] = (float)enemy->ammunition[i];
    out[MR_OBS_enemy_reload][i] = (float)(enemy_wait > 0 ? enemy_wait : 0) * k->dt;
    out[MR_OBS_enemy_ahead][i] = sight->ahead[i];
    out[MR_OBS_enemy_left][i] = sight->left[i];
    out[MR_OBS_enemy_range][i] = sight->range[i];
    out[MR_OBS_enemy_nearness][i] = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + sight->range[i]);
    out[MR_OBS_enemy_closing][i] = sight->closing[i];
    out[MR_OBS_enemy_los_rate][i] = sight->los_rate[i];
    out[MR_OBS_enemy_heading_ahead][i] = sight->heading_ahead[i];
    out[MR_OBS_enemy_heading_left][i] = sight->heading_left[i];
    out[MR_OBS_own_aspect_ahead][i] = sight->enemy_ahead[i];
    out[MR_OBS_own_aspect_left][i] = sight->enemy_left[i];
    out[MR_OBS_own_reach][i] = mr_reach(k, sight->approach[i]) - sight->range[i];
    out[MR_OBS_enemy_reach][i] =
        mr_reach(k, sight->ahead[i] * own->body.v[i]) - sight->range[i];
  }
}

#define MR_SCALE_FEATURE(name, scale, lateral, meaning) (float)(1.0 / (scale)),
static const float mr_feature_factor[] = {MR_FEATURES(MR_SCALE_FEATURE)};

// Observations of one fighter in `lanes` lanes; lane i's row starts at rows + i * stride.
static void mr_observe_fighter(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                               const MrSight *sight, const MrTrack tracks[MR_MISSILES], int lanes,
                               float *rows, size_t stride) {
  MR_ALIGNED MrFeatures features;
  memset(features, 0, sizeof features);
  mr_see_fighters(sim, b, fighter, sight, features);
  mr_see_missiles(sim, b, fighter, tracks, features);
  for (int feature = 0; feature < MR_FEATURE_COUNT; feature++) {
    float factor = mr_feature_factor[feature];
    MR_FOR_LANES(i) features[feature][i] = mr_clip(features[feature][i] * factor, -1.0f, 1.0f);
  }
  for (int lane = 0; lane < lanes; lane++) {
    for (int feature = 0; feature < MR_FEATURE_COUNT; feature++) {
      rows[(size_t)lane * stride + (size_t)feature] = features[feature][lane];
    }
  }
}

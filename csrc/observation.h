// SPDX-License-Identifier: MIT
//
// Writes observations: computes the features of feature_table.h for one fighter, scales and clips them.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include <assert.h>
#include <string.h>

#include "block.h"
#include "envelope.h"
#include "feature_table.h"
#include "frame.h"
#include "prediction.h"
#include "sense.h"
#include "transpose.h"

typedef float MrFeatures[MR_STG_FEATURE_COUNT][MR_LANES];

#define MR_SCALE_FEATURE(name, scale, lateral, meaning) (float)(1.0 / (scale)),
static const float mr_feature_factor[] = {MR_FEATURES(MR_SCALE_FEATURE) MR_STG_FEATURES(MR_SCALE_FEATURE)};

// A feature's value as it is observed: divided by the feature's scale and clipped.
static inline float mr_scaled(int feature, float value) {
  return mr_clip(value * mr_feature_factor[feature], -1.0f, 1.0f);
}

// Writes a feature from the variable of its name.
#define MR_WRITE_FEATURE(name, scale, lateral, meaning) out[MR_OBS_##name][i] = mr_scaled(MR_OBS_##name, name);

// Missiles are ranked by a key, an integer that holds both their order and their slot. Its high bits are those of the
// time to go as a float, since positive floats sort like their bits. Its lowest bits, MR_SLOT_BITS, are the slot, which
// decides only between missiles whose high bits are equal. Missiles that do not close come last, the older first.
enum { MR_SLOT_BITS = 15, MR_NO_MISSILE = 0x7f000000 };
_Static_assert(MR_MISSILES <= MR_SLOT_BITS + 1, "the number of a slot fits in its bits of a key");

typedef struct {
  MR_ALIGNED int32_t ranks[MR_SEEN][MR_LANES];  // keys: MR_SEEN_INBOUND of inbound missiles, then MR_SEEN_OWN of own
  MR_ALIGNED int32_t inbound[MR_LANES], own[MR_LANES];  // number of missiles in the air
  bool any;  // whether the block has any missile; if not, `ranks` is not set
} MrRanking;

// Inserts a missile's key among `count` sorted keys. The keys after it move down; the last one drops out.
static inline void mr_insert(int32_t ranks[][MR_LANES], int count, const int32_t key[MR_LANES]) {
  MR_ALIGNED int32_t down[MR_LANES];
  MR_FOR_LANES(i) down[i] = key[i];
  for (int rank = 0; rank < count; rank++) {
    MR_FOR_LANES(i) {
      int32_t here = ranks[rank][i], new = down[i];
      ranks[rank][i] = mr_select_int(new < here, new, here);
      down[i] = mr_select_int(new < here, here, new);
    }
  }
}

// Ranks the inbound and the own missiles by time to go.
static void mr_rank_missiles(float dt, const MrBlock *b, int32_t fighter,
                             const MrIntercept intercepts[MR_MISSILES], MrRanking *out) {
  int32_t slot = 0;
  while (slot < MR_MISSILES && !b->live[slot]) slot++;
  out->any = slot < MR_MISSILES;
  MR_FOR_LANES(i) out->inbound[i] = out->own[i] = 0;
  if (!out->any) return;
  for (int rank = 0; rank < MR_SEEN; rank++) {
    // A rank without a missile still has a slot, since mr_collect reads that slot in every lane. This one is live, so
    // its intercept has been computed.
    MR_FOR_LANES(i) out->ranks[rank][i] = MR_NO_MISSILE | slot;
  }
  for (; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_ALIGNED int32_t inbound[MR_LANES], own[MR_LANES];
    MR_FOR_LANES(i) {
      float time_to_go = intercepts[slot].time_to_go[i];
      float age = mr_clip((float)m->age[i] * dt, 0.0f, MR_TIME_TO_GO_MAX);
      float order = mr_select(time_to_go < MR_TIME_TO_GO_MAX, time_to_go, 2.0f * MR_TIME_TO_GO_MAX - age);
      int32_t bits;
      memcpy(&bits, &order, sizeof bits);
      int32_t key = (bits & ~MR_SLOT_BITS) | slot;
      int is_inbound = m->active[i] & (m->target[i] == fighter);
      int is_own = m->active[i] & (m->owner[i] == fighter);
      inbound[i] = mr_select_int(is_inbound, key, INT32_MAX);
      own[i] = mr_select_int(is_own, key, INT32_MAX);
      out->inbound[i] += is_inbound;
      out->own[i] += is_own;
    }
    mr_insert(out->ranks, MR_SEEN_INBOUND, inbound);
    mr_insert(out->ranks + MR_SEEN_INBOUND, MR_SEEN_OWN, own);
  }
}

// The missiles of one rank, collected from their slots.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], c[MR_LANES], s[MR_LANES], v[MR_LANES], age[MR_LANES];
  float range[MR_LANES], time_to_go[MR_LANES], target_speed[MR_LANES];
} MrSeen;

static void mr_collect(const MrBlock *b, const MrIntercept intercepts[MR_MISSILES],
                       const int32_t rank[MR_LANES], MrSeen *out) {
  for (int i = 0; i < MR_LANES; i++) {
    int32_t slot = rank[i] & MR_SLOT_BITS;
    assert(slot < MR_MISSILES && b->live[slot] && "only live slots have an intercept");
    const MrMissile *m = &b->missiles[slot];
    const MrIntercept *intercept = &intercepts[slot];
    out->x[i] = m->body.x[i];
    out->y[i] = m->body.y[i];
    out->c[i] = m->body.c[i];
    out->s[i] = m->body.s[i];
    out->v[i] = m->body.v[i];
    out->age[i] = (float)m->age[i];
    out->range[i] = intercept->range[i];
    out->time_to_go[i] = intercept->time_to_go[i];
    out->target_speed[i] = intercept->target_speed[i];
  }
}

// Writes the features of one rank's missiles, as seen from the fighter with the body `own`.
static inline void mr_see_missile(const struct MrSim *sim, const MrBody *own, const MrSeen *m,
                                  const int32_t rank[MR_LANES], float out[][MR_LANES]) {
#define MR_WRITE_SEEN(name, scale, lateral, meaning) \
  out[MR_SEEN_##name][i] = mr_select(present, mr_scaled(MR_OBS_inbound_1_present + MR_SEEN_##name, name), 0.0f);
  MR_FOR_LANES(i) {
    int present = rank[i] < MR_NO_MISSILE;
    float c = own->c[i], s = own->s[i];
    float dx = m->x[i] - own->x[i], dy = m->y[i] - own->y[i];
    float inverse = 1.0f / mr_max(sqrtf(dx * dx + dy * dy), 1.0f);
    float reach = mr_chase_reach(sim, m->v[i], m->age[i], m->target_speed[i]);
    MrVector place = mr_into_frame(dx, dy, c, s), heading = mr_into_frame(m->c[i], m->s[i], c, s);
    float missile_present = 1.0f;
    float missile_ahead = place.ahead * inverse;
    float missile_left = place.left * inverse;
    float missile_nearness = MR_NEAR_MISSILE / (MR_NEAR_MISSILE + m->range[i]);
    float missile_urgency = MR_NEAR_TIME / (MR_NEAR_TIME + m->time_to_go[i]);
    float missile_speed = m->v[i];
    float missile_heading_ahead = heading.ahead;
    float missile_heading_left = heading.left;
    float missile_reach = reach - m->range[i];
    MR_MISSILE_FEATURES(MR_WRITE_SEEN, missile)
  }
#undef MR_WRITE_SEEN
}

// Writes the features of the inbound missiles' predicted misses.
static void mr_see_misses(const struct MrSim *sim, const MrFighter *own, const MrSeen seen[MR_SEEN_INBOUND],
                          const int32_t ranks[MR_SEEN_INBOUND][MR_LANES], MrFeatures out) {
  const MrConstants *k = &sim->constants;
  MrPursuit pursuits[MR_SEEN_INBOUND];
  MR_ALIGNED float time_to_go[MR_LANES] = {0};  // the longest of the inbound missiles [s]
  for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
    const MrSeen *m = &seen[rank];
    MrPursuit *p = &pursuits[rank];
    MR_FOR_LANES(i) {
      p->body.x[i] = m->x[i] - own->body.x[i];
      p->body.y[i] = m->y[i] - own->body.y[i];
      p->body.c[i] = m->c[i];
      p->body.s[i] = m->s[i];
      p->body.v[i] = m->v[i];
      p->burn_time[i] = mr_max(k->burn_steps - m->age[i], 0.0f) * k->dt;
      p->miss2[i] = m->range[i] * m->range[i];
      float longest = mr_max(m->time_to_go[i], time_to_go[i]);
      time_to_go[i] = mr_select(ranks[rank][i] < MR_NO_MISSILE, longest, time_to_go[i]);
    }
  }
  mr_predict_misses(sim, own, time_to_go, pursuits, MR_SEEN_INBOUND);
  for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
    MR_FOR_LANES(i) {
      float nearness = MR_NEAR_MISS / (MR_NEAR_MISS + sqrtf(mr_max(pursuits[rank].miss2[i], 0.0f)));
      out[MR_OBS_inbound_1_miss + rank][i] = mr_select(ranks[rank][i] < MR_NO_MISSILE, nearness, 0.0f);
    }
  }
}

static void mr_see_missiles(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                            const MrIntercept intercepts[MR_MISSILES], const MrRanking *ranking, MrFeatures out) {
  const MrFighter *own = &b->fighters[fighter];
  bool predicts = sim->observation == MR_OBSERVE_STG;
  if (!ranking->any) {
    memset(out[MR_OBS_inbound_1_present], 0, MR_SEEN * sizeof(float[MR_SEEN_FEATURES][MR_LANES]));
    if (predicts) memset(out[MR_OBS_inbound_1_miss], 0, sizeof(float[MR_SEEN_INBOUND][MR_LANES]));
    return;
  }
  MrSeen seen[MR_SEEN];
  for (int rank = 0; rank < MR_SEEN; rank++) mr_collect(b, intercepts, ranking->ranks[rank], &seen[rank]);
  for (int rank = 0; rank < MR_SEEN; rank++) {
    mr_see_missile(sim, &own->body, &seen[rank], ranking->ranks[rank],
                   out + MR_OBS_inbound_1_present + rank * MR_SEEN_FEATURES);
  }
  if (predicts) mr_see_misses(sim, own, seen, ranking->ranks, out);
}

// Writes the features of both fighters and of the clock.
static void mr_see_fighters(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                            const MrSight *sight, const MrRanking *ranking, MrFeatures out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[mr_opponent(fighter)];
  MR_FOR_LANES(i) {
    int32_t own_wait = own->ready[i] - b->time[i], enemy_wait = enemy->ready[i] - b->time[i];
    float range = sight->range[i];
    float time_left = (float)(k->time_limit - b->time[i]) * k->dt * k->clock_rate;
    float own_alive = (float)own->alive[i];
    float own_speed = own->body.v[i];
    float own_rudder = own->body.rudder[i];
    float own_throttle = own->throttle[i];
    float own_ammunition = (float)own->ammunition[i];
    float own_reload = (float)mr_select_int(own_wait > 0, own_wait, 0) * k->dt;
    float own_in_air = (float)ranking->own[i];
    float enemy_alive = (float)enemy->alive[i];
    float enemy_speed = enemy->body.v[i];
    float enemy_rudder = enemy->body.rudder[i];
    float enemy_ammunition = (float)enemy->ammunition[i];
    float enemy_reload = (float)mr_select_int(enemy_wait > 0, enemy_wait, 0) * k->dt;
    float enemy_in_air = (float)ranking->inbound[i];
    float enemy_ahead = sight->ahead[i];
    float enemy_left = sight->left[i];
    float enemy_range = range;
    float enemy_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + range);
    float enemy_closing = sight->closing[i];
    float enemy_los_rate = sight->los_rate[i];
    float enemy_heading_ahead = sight->heading_ahead[i];
    float enemy_heading_left = sight->heading_left[i];
    float own_aspect_ahead = sight->aspect_ahead[i];
    float own_aspect_left = sight->aspect_left[i];
    float own_reach = mr_r_max(k, sight->approach[i]) - range;
    float enemy_reach = mr_r_max(k, sight->ahead[i] * own->body.v[i]) - range;
    MR_FIGHTER_FEATURES(MR_WRITE_FEATURE)
  }
}

// A range of the envelope compared with the range to the enemy: 1/2 where they are equal.
static inline float mr_range_ratio(float reach, float range) { return reach / mr_max(reach + range, 1.0f); }

// Writes the features of the fighters' ranges on each other. `own` and `enemy` are the ranges of their shots.
static void mr_see_envelopes(const MrSight *sight, const MrShotRanges *own, const MrShotRanges *enemy, MrFeatures out) {
  MR_FOR_LANES(i) {
    float range = sight->range[i];
    float own_aero = mr_range_ratio(own->aero[i], range);
    float own_nez = mr_range_ratio(own->nez[i], range);
    float enemy_aero = mr_range_ratio(enemy->aero[i], range);
    float enemy_nez = mr_range_ratio(enemy->nez[i], range);
    float escape_margin = range - enemy->cold[i];
    MR_ENVELOPE_FEATURES(MR_WRITE_FEATURE)
  }
}

// Writes the observations of one fighter in the first `lanes` lanes. Lane i's row starts at rows + i * stride.
// `shot_ranges` is read for MR_OBSERVE_STG only.
static void mr_observe_fighter(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                               const MrSight *sight, const MrIntercept intercepts[MR_MISSILES],
                               const MrShotRanges shot_ranges[MR_FIGHTERS], int lanes, float *rows, size_t stride) {
  MR_ALIGNED MrFeatures features;
  MrRanking ranking;
  mr_rank_missiles(sim->constants.dt, b, fighter, intercepts, &ranking);
  mr_see_fighters(sim, b, fighter, sight, &ranking, features);
  mr_see_missiles(sim, b, fighter, intercepts, &ranking, features);
  if (sim->observation == MR_OBSERVE_STG) {
    mr_see_envelopes(sight, &shot_ranges[fighter], &shot_ranges[mr_opponent(fighter)], features);
  }
  mr_write_rows(features, mr_features_of(sim->observation), lanes, rows, stride);
}

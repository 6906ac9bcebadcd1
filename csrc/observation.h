// SPDX-License-Identifier: MIT
//
// Writes observations: computes the features of feature_table.h for one fighter, scales and clips them.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <assert.h>
#include <string.h>

#include "block.h"
#include "envelope.h"
#include "feature_table.h"
#include "frame.h"
#include "own_values.h"
#include "prediction.h"
#include "scene.h"
#include "sense.h"
#include "transpose.h"

typedef float MrFeatures[MR_STG_FEATURE_COUNT][MR_LANES];

#define MR_SCALE_FEATURE(name, scale, lateral, meaning) (float)(1.0 / (scale)),
static const float mr_feature_factor[] = {MR_FEATURES(MR_SCALE_FEATURE) MR_STG_FEATURES(MR_SCALE_FEATURE)};

// A feature's value as it is observed: divided by the feature's scale and clipped.
static inline float mr_scaled(const MrConstants *k, int feature, float value) {
  return mr_clip(value * mr_feature_factor[feature], -k->one, k->one);
}

// Writes a feature from the variable of its name.
#define MR_WRITE_FEATURE(name, scale, lateral, meaning) out[MR_OBS_##name][i] = mr_scaled(k, MR_OBS_##name, name);

// The missiles of one rank, collected from their slots, and their features that are the same for both fighters.
typedef struct {
  MR_ALIGNED int32_t age[MR_LANES];
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], c[MR_LANES], s[MR_LANES], v[MR_LANES];
  float range[MR_LANES], time_to_go[MR_LANES];
  float nearness[MR_LANES], urgency[MR_LANES], reach[MR_LANES];
} MrSeen;

static void mr_collect(const MrBlock *b, const MrScene *scene, const int32_t keys[MR_LANES], MrSeen *out) {
#define MR_COLLECT(member, table, field) \
  MR_STORE_QUAD(&out->member[lane], table[slot[0]]field[lane], table[slot[1]]field[lane + 1], \
                table[slot[2]]field[lane + 2], table[slot[3]]field[lane + 3])
  for (int lane = 0; lane < MR_LANES; lane += 4) {
    int32_t slot[4];
    for (int n = 0; n < 4; n++) {
      slot[n] = keys[lane + n] & MR_SLOT_BITS;
      assert(slot[n] < MR_MISSILES && "a key has a slot");
    }
    MR_COLLECT(x, b->missiles, .body.x);
    MR_COLLECT(y, b->missiles, .body.y);
    MR_COLLECT(c, b->missiles, .body.c);
    MR_COLLECT(s, b->missiles, .body.s);
    MR_COLLECT(v, b->missiles, .body.v);
    MR_COLLECT(age, b->missiles, .age);
    MR_COLLECT(range, scene->range, );
    MR_COLLECT(time_to_go, scene->time_to_go, );
  }
#undef MR_COLLECT
}

// Computes the features that both fighters see alike. `target` is the fighter that the missiles fly at.
static void mr_rate_missiles(const struct MrSim *sim, const MrBody *target, MrSeen *m) {
  MR_FOR_LANES(i) {
    m->nearness[i] = MR_NEAR_MISSILE / (MR_NEAR_MISSILE + m->range[i]);
    m->urgency[i] = MR_NEAR_TIME / (MR_NEAR_TIME + m->time_to_go[i]);
    m->reach[i] = mr_chase_reach(sim, m->v[i], (float)m->age[i], target->v[i]) - m->range[i];
  }
}

// The missiles that are seen in a block: of each fighter those that fly at it, by rank. Set if the block has any.
typedef struct {
  MrSeen at[MR_FIGHTERS][MR_SEEN_INBOUND];
} MrMissilesSeen;

static void mr_collect_missiles(const struct MrSim *sim, const MrBlock *b, const MrScene *scene, MrMissilesSeen *out) {
  if (!scene->any) return;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
      mr_collect(b, scene, scene->inbound[f].keys[rank], &out->at[f][rank]);
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
      mr_rate_missiles(sim, &b->fighters[f].body, &out->at[f][rank]);
    }
  }
}

// Writes the features of one rank's missiles, as seen from the fighter with the body `own`, which inbound missiles
// fly at.
static inline void mr_see_missile(const MrConstants *k, const MrBody *own, bool inbound, const MrSeen *m,
                                  const int32_t keys[MR_LANES], float out[][MR_LANES]) {
#define MR_WRITE_SEEN(name, scale, lateral, meaning) \
  out[MR_SEEN_##name][i] = mr_select(present, mr_scaled(k, MR_OBS_inbound_1_present + MR_SEEN_##name, name), 0.0f);
  MR_FOR_LANES(i) {
    int present = keys[i] < MR_NO_MISSILE;
    float c = own->c[i], s = own->s[i];
    float dx = m->x[i] - own->x[i], dy = m->y[i] - own->y[i];
    float distance = inbound ? m->range[i] : sqrtf(dx * dx + dy * dy);
    float inverse = 1.0f / mr_max(distance, k->one);
    MrVector place = mr_into_frame(dx, dy, c, s), heading = mr_into_frame(m->c[i], m->s[i], c, s);
    float missile_present = 1.0f;
    float missile_ahead = place.ahead * inverse;
    float missile_left = place.left * inverse;
    float missile_nearness = m->nearness[i];
    float missile_urgency = m->urgency[i];
    float missile_speed = m->v[i];
    float missile_heading_ahead = heading.ahead;
    float missile_heading_left = heading.left;
    float missile_reach = m->reach[i];
    MR_MISSILE_FEATURES(MR_WRITE_SEEN, missile)
  }
#undef MR_WRITE_SEEN
}

// Writes the features of the inbound missiles' predicted misses.
static void mr_see_misses(const struct MrSim *sim, const MrFighter *own, const MrSeen seen[MR_SEEN_INBOUND],
                          const int32_t keys[MR_SEEN_INBOUND][MR_LANES], MrFeatures out) {
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
      p->burn_time[i] = mr_max(k->burn_steps - (float)m->age[i], 0.0f) * k->dt;
      p->miss2[i] = m->range[i] * m->range[i];
      float longest = mr_max(m->time_to_go[i], time_to_go[i]);
      time_to_go[i] = mr_select(keys[rank][i] < MR_NO_MISSILE, longest, time_to_go[i]);
    }
  }
  mr_predict_misses(sim, own, time_to_go, pursuits, MR_SEEN_INBOUND);
  for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
    MR_FOR_LANES(i) {
      float nearness = MR_NEAR_MISS / (MR_NEAR_MISS + sqrtf(mr_max(pursuits[rank].miss2[i], 0.0f)));
      out[MR_OBS_inbound_1_miss + rank][i] = mr_select(keys[rank][i] < MR_NO_MISSILE, nearness, 0.0f);
    }
  }
}

static void mr_see_missiles(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                            const MrMissilesSeen *missiles, MrFeatures out) {
  const MrFighter *own = &b->fighters[fighter];
  int32_t enemy = mr_opponent(fighter);
  const MrInbound *inbound = &scene->inbound[fighter], *outbound = &scene->inbound[enemy];
  bool predicts = sim->observation == MR_OBSERVE_STG;
  if (!scene->any) {
    memset(out[MR_OBS_inbound_1_present], 0, MR_SEEN * sizeof(float[MR_SEEN_FEATURES][MR_LANES]));
    if (predicts) memset(out[MR_OBS_inbound_1_miss], 0, sizeof(float[MR_SEEN_INBOUND][MR_LANES]));
    return;
  }
  for (int rank = 0; rank < MR_SEEN_INBOUND; rank++) {
    mr_see_missile(&sim->constants, &own->body, true, &missiles->at[fighter][rank], inbound->keys[rank],
                   out + MR_OBS_inbound_1_present + rank * MR_SEEN_FEATURES);
  }
  for (int rank = 0; rank < MR_SEEN_OWN; rank++) {
    mr_see_missile(&sim->constants, &own->body, false, &missiles->at[enemy][rank], outbound->keys[rank],
                   out + MR_OBS_own_missile_1_present + rank * MR_SEEN_FEATURES);
  }
  if (predicts) mr_see_misses(sim, own, missiles->at[fighter], inbound->keys, out);
}

// The variables of MR_GEOMETRY_FEATURES in lane i, of a fighter with this sight of its enemy.
#define MR_GEOMETRY_VALUES(k, own, sight, i)                                   \
  float enemy_range = (sight)->range[i];                                       \
  float enemy_ahead = (sight)->ahead[i];                                       \
  float enemy_left = (sight)->left[i];                                         \
  float enemy_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + enemy_range);    \
  float enemy_closing = (sight)->closing[i];                                   \
  float enemy_los_rate = (sight)->los_rate[i];                                 \
  float enemy_heading_ahead = (sight)->heading_ahead[i];                       \
  float enemy_heading_left = (sight)->heading_left[i];                         \
  float own_aspect_ahead = (sight)->aspect_ahead[i];                           \
  float own_aspect_left = (sight)->aspect_left[i];                             \
  float own_reach = mr_r_max(k, (sight)->approach[i]) - enemy_range;           \
  float enemy_reach = mr_r_max(k, enemy_ahead * (own)->body.v[i]) - enemy_range;

// Writes the features of both fighters and of the clock.
static void mr_see_fighters(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                            MrFeatures out) {
  const MrSight *sight = &scene->sights[fighter];
  int32_t other = mr_opponent(fighter);
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[other];
  MR_FOR_LANES(i) {
    MR_OWN_VALUES(k, b, own, scene->inbound[other].in_air[i], i)
    float enemy_alive = (float)enemy->alive[i];
    float enemy_speed = enemy->body.v[i];
    float enemy_rudder = enemy->body.rudder[i];
    float enemy_ammunition = (float)enemy->ammunition[i];
    float enemy_reload = mr_reload(k, b, enemy, i);
    float enemy_in_air = (float)scene->inbound[fighter].in_air[i];
    MR_GEOMETRY_VALUES(k, own, sight, i)
    MR_FIGHTER_FEATURES(MR_WRITE_FEATURE)
  }
}

// A range of the envelope compared with the range to the enemy: 1/2 where they are equal.
static inline float mr_range_ratio(float reach, float range) { return reach / mr_max(reach + range, 1.0f); }

// Writes the features of the fighters' ranges on each other. `own` and `enemy` are the ranges of their shots.
static void mr_see_envelopes(const MrConstants *k, const MrSight *sight, const MrShotRanges *own,
                             const MrShotRanges *enemy, MrFeatures out) {
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
static void mr_observe_fighter(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                               const MrMissilesSeen *missiles,
                               const MrShotRanges shot_ranges[MR_FIGHTERS], int lanes, float *rows, size_t stride) {
  MR_ALIGNED MrFeatures features;
  mr_see_fighters(sim, b, fighter, scene, features);
  mr_see_missiles(sim, b, fighter, scene, missiles, features);
  if (sim->observation == MR_OBSERVE_STG) {
    mr_see_envelopes(&sim->constants, &scene->sights[fighter], &shot_ranges[fighter],
                     &shot_ranges[mr_opponent(fighter)], features);
  }
  mr_write_rows(features, sim->features, lanes, rows, stride);
}

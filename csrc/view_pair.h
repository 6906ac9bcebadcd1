// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in one against one. view.h has what teams share with it; these differ from
// view_team.h:
//
//   - An observation is flat: each of its features has a place and a name of its own. There is one enemy, dead or
//     alive. A dead fighter observes, too.
//   - Missiles are collected by rank in all lanes at once, by the keys of the scene, and rated once for both fighters.
//   - MR_OBSERVE_STG adds the ranges of shots and the predicted misses of inbound missiles.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <assert.h>
#include <math.h>
#include <string.h>

#include "definitions.h"
#include "envelope.h"
#include "flight.h"
#include "view.h"

// Views of one fighter. With full information, MR_OBSERVE_STG alone has the last two lists.
typedef struct {
  MR_FIGHTER_FEATURES(MR_DECLARE_FEATURE)
  MrMissileRow inbound[MR_INBOUND_OBSERVED], own_missiles[MR_OWN_MISSILES_OBSERVED];
  MR_ENVELOPE_FEATURES(MR_DECLARE_FEATURE)
  MR_ALIGNED float misses[MR_INBOUND_OBSERVED][MR_LANES];
} MrFullView;

// With sensors.
typedef struct {
  MR_OWN_FEATURES(MR_DECLARE_FEATURE)
  MR_CONTACT_FEATURES(MR_DECLARE_FEATURE)
  MR_GEOMETRY_FEATURES(MR_DECLARE_FEATURE)
  MR_RECEIVER_FEATURES(MR_DECLARE_FEATURE)
  MrSeekerRow seekers[MR_SEEKERS_OBSERVED];
  MrGuidedRow own_missiles[MR_OWN_MISSILES_OBSERVED];
} MrRadarView;

enum { MR_FEATURE_BYTES = sizeof(float[MR_LANES]) };
_Static_assert(offsetof(MrFullView, own_aero) == MR_FEATURE_COUNT * MR_FEATURE_BYTES, "every feature is written");
_Static_assert(sizeof(MrFullView) == MR_STG_FEATURE_COUNT * MR_FEATURE_BYTES, "every feature is written");
_Static_assert(sizeof(MrRadarView) == MR_RADAR_FEATURE_COUNT * MR_FEATURE_BYTES, "every feature is written");

// Missiles ------------------------------------------------------------------------------------------------

// Collects the missiles of one rank from their slots.
static void mr_collect(const MrBlock *b, const MrScene *scene, const int32_t keys[MR_LANES], MrObserved *out) {
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
  MR_FOR_LANES(i) out->present[i] = keys[i] < MR_NO_MISSILE;
}

// The missiles that are observed in a block: of each fighter those that fly at it, by rank. Set if the block has any.
typedef struct {
  MrObserved at[MR_FIGHTERS][MR_INBOUND_OBSERVED];
} MrAllObserved;

static void mr_collect_missiles(const MrSim *sim, const MrBlock *b, const MrScene *scene, MrAllObserved *out) {
  if (!scene->any) return;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      mr_collect(b, scene, scene->inbound[f].keys[rank], &out->at[f][rank]);
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      mr_rate_missiles(sim, b->fighters[f].body.v, false, &out->at[f][rank]);
    }
  }
}

// Predicted misses ----------------------------------------------------------------------------------------
//
// By how much inbound missiles will miss a fighter that holds its rudder and throttle. The flight law and the guidance
// are applied in a few long steps, whose constants are in definitions.h. RULES.md, "Observations".

// A fighter's velocity before a step [m/s], and its change of position in the step [m].
typedef struct {
  MR_ALIGNED float vx[MR_LANES], vy[MR_LANES], dx[MR_LANES], dy[MR_LANES];
} MrStride;

// A set of inbound missiles, one in each lane.
typedef struct {
  MrBody body;                           // the position is relative to the fighter's; the rudder is not used
  MR_ALIGNED float burn_time[MR_LANES];  // burn time left [s]
  MR_ALIGNED float half_length[MR_LANES], lift[MR_LANES];  // of the present step, as in mr_fly_arc
  MR_ALIGNED int32_t flies[MR_LANES];                      // 1 if not yet spent when the present step begins
  MR_ALIGNED float miss2[MR_LANES];                        // least distance to the fighter so far, squared [m^2]
} MrPursuit;

// Flies the fighter for a step.
static inline void mr_stride(const MrConstants *k, const float dt[MR_LANES], const float throttle[MR_LANES],
                             MrBody *body, MrStride *out) {
  MR_FOR_LANES(i) {
    out->vx[i] = body->v[i] * body->c[i];
    out->vy[i] = body->v[i] * body->s[i];
    body->x[i] = body->y[i] = 0.0f;
    mr_fly(k, &k->fighter, dt[i], k->fighter.thrust * throttle[i], body, i);
    out->dx[i] = body->x[i];
    out->dy[i] = body->y[i];
  }
}

// First half of a set's step: guidance and speed. The missile has the lift that guidance commands at once, without
// rudder rate.
static inline void mr_steer(const MrSim *sim, const float dt[MR_LANES], const MrStride *target, MrPursuit *p) {
  const MrConstants *k = &sim->constants;
  float spent_speed = sim->params.missile_spent_speed;
  MrBody *m = &p->body;
  float navigation = MR_PREDICTION_GAIN * k->navigation_gain * k->missile.lift_per_rudder;
  MR_FOR_LANES(i) {
    float x = m->x[i], y = m->y[i], v = m->v[i];
    float wx = v * m->c[i] - target->vx[i], wy = v * m->s[i] - target->vy[i];
    float range2 = x * x + y * y;
    float inverse = 1.0f / mr_max(range2 * (v * v), k->one);
    float limit = k->missile.load_limit * (range2 * inverse);
    limit = limit < k->missile.lift_per_rudder ? limit : k->missile.lift_per_rudder;
    float lift = mr_clip(navigation * (x * wy - y * wx) * (v * inverse), -limit, limit);
    p->flies[i] = (v > spent_speed) | (p->burn_time[i] > 0.0f);
    float burn = p->burn_time[i] < dt[i] ? p->burn_time[i] : dt[i];
    p->burn_time[i] -= burn;
    float drag = k->missile.cd0 + k->missile.k * (lift * lift);
    m->v[i] = mr_next_speed(v, k->missile.thrust * burn, drag * dt[i]);
    p->half_length[i] = 0.25f * dt[i] * (v + m->v[i]);
    p->lift[i] = lift;
  }
}

// Second half of a set's step: moves the missiles along their arcs and notes how near they come. As in the fuze, the
// relative position moves on a straight line from (x, y) to (x + dx, y + dy). Its least distance is at the share of the
// step that minimises |(x, y) + share (dx, dy)|^2.
static inline void mr_pass(const MrConstants *k, const MrStride *target, MrPursuit *p) {
  MrBody *m = &p->body;
  MR_FOR_LANES(i) {
    float x = m->x[i], y = m->y[i];
    mr_fly_arc(p->half_length[i], p->lift[i], &m->x[i], &m->y[i], &m->c[i], &m->s[i]);
    m->x[i] -= target->dx[i];
    m->y[i] -= target->dy[i];
    float dx = m->x[i] - x, dy = m->y[i] - y;
    float d2 = dx * dx + dy * dy, along = -(x * dx + y * dy);
    float share = mr_clip(along / mr_max(d2, k->one), 0.0f, k->one);
    float distance2 = x * x + y * y + share * (share * d2 - 2.0f * along);
    p->miss2[i] = mr_select(p->flies[i] & (distance2 < p->miss2[i]), distance2, p->miss2[i]);
  }
}

// Predicts the miss distances of `count` sets of missiles. `time_to_go` is the longest of each lane's missiles [s].
// Each stage is done for all sets before the next stage begins, as in mr_step_bodies.
static void mr_predict_misses(const MrSim *sim, const MrFighter *fighter, const float time_to_go[MR_LANES],
                              MrPursuit pursuits[], int count) {
  const MrConstants *k = &sim->constants;
  MrBody body = fighter->body;
  MrStride stride;
  MR_ALIGNED float dt[MR_LANES];
  MR_FOR_LANES(i) {
    dt[i] = MR_PREDICTION_FIRST * mr_clip(2.0f * time_to_go[i], MR_PREDICTION_MIN, MR_PREDICTION_MAX);
  }
  for (int step = 0; step < MR_PREDICTION_STEPS; step++) {
    mr_stride(k, dt, fighter->throttle, &body, &stride);
    for (int n = 0; n < count; n++) mr_steer(sim, dt, &stride, &pursuits[n]);
    for (int n = 0; n < count; n++) mr_pass(k, &stride, &pursuits[n]);
    MR_FOR_LANES(i) dt[i] *= MR_PREDICTION_GROWTH;
  }
}

// Writes the features of the inbound missiles' predicted misses.
static void mr_write_misses(const MrSim *sim, const MrFighter *own, const MrObserved missiles[MR_INBOUND_OBSERVED],
                            float out[MR_INBOUND_OBSERVED][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  MrPursuit pursuits[MR_INBOUND_OBSERVED];
  MR_ALIGNED float time_to_go[MR_LANES] = {0};  // the longest of the inbound missiles [s]
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    const MrObserved *m = &missiles[rank];
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
      time_to_go[i] = mr_select(m->present[i], longest, time_to_go[i]);
    }
  }
  mr_predict_misses(sim, own, time_to_go, pursuits, MR_INBOUND_OBSERVED);
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    MR_FOR_LANES(i) {
      float nearness = MR_NEAR_MISS / (MR_NEAR_MISS + sqrtf(mr_max(pursuits[rank].miss2[i], 0.0f)));
      out[rank][i] = mr_select(missiles[rank].present[i], nearness, 0.0f);
    }
  }
}

// Full information ----------------------------------------------------------------------------------------

// The variables of MR_GEOMETRY_FEATURES in lane i, of a fighter with this sight of its enemy.
#define MR_GEOMETRY_VALUES(k, own, sight, i)                     \
  MR_SIGHT_VALUES(enemy, own, sight, i)                          \
  float own_reach = mr_r_max(k, (sight)->approach[i]) - enemy_range; \
  float enemy_reach = mr_r_max(k, enemy_ahead * (own)->body.v[i]) - enemy_range;

// Writes the features of both fighters and of the clock.
static void mr_write_fighters(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                              MrFullView *out) {
  const MrSight *sight = &scene->sights[fighter];
  int32_t other = mr_opponent(fighter);
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter], *enemy = &b->fighters[other];
  MR_FOR_LANES(i) {
    float limit = k->one;
    MR_OWN_VALUES(k, b, own, scene->inbound[other].in_air[i], i)
    float enemy_alive = (float)enemy->alive[i];
    float enemy_speed = enemy->body.v[i];
    float enemy_rudder = enemy->body.rudder[i];
    float enemy_ammunition = (float)enemy->ammunition[i];
    float enemy_reload = mr_reload(k, b, enemy, i);
    float enemy_in_air = (float)scene->inbound[fighter].in_air[i];
    MR_GEOMETRY_VALUES(k, own, sight, i)
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

// Sensors -------------------------------------------------------------------------------------------------

// Writes the features of the own fighter, the contact and the receiver. `scene` is as the side believes it.
static void mr_write_contact(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                             const MrContact *contact, const MrHeard *heard, MrRadarView *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter];
  const MrSight *sight = &scene->sights[fighter];
  int32_t other = mr_opponent(fighter);
  MR_FOR_LANES(i) {
    float limit = k->one;
    MR_OWN_VALUES(k, b, own, scene->inbound[other].in_air[i], i)
    float receiver_searched = (float)(heard->hears[i] & !heard->tracked[i]);
    float receiver_tracked = (float)heard->tracked[i];
    float receiver_ahead = heard->ahead[i];
    float receiver_left = heard->left[i];
    MR_OWN_FEATURES(MR_WRITE)
    MR_RECEIVER_FEATURES(MR_WRITE)
  }
  MR_FOR_LANES(i) {
    float limit = mr_select(mr_is_track(contact->source[i]), k->one, 0.0f);
    float track_live = (float)(contact->source[i] == MR_LIVE);
    float track_memory = (float)(contact->source[i] == MR_MEMORY);
    float track_age = (float)contact->age[i] * k->dt;
    float enemy_speed = contact->body.v[i];
    MR_GEOMETRY_VALUES(k, own, sight, i)
    MR_CONTACT_FEATURES(MR_WRITE)
    MR_GEOMETRY_FEATURES(MR_WRITE)
  }
}

// Writes the features of the own missiles of one rank. Range and time to go are to the contact.
static void mr_write_own_missiles(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                                  const MrPicture *picture, int rank, MrGuidedRow *out) {
  const MrContact *contact = &picture->contacts[fighter];
  const int32_t *keys = scene->inbound[mr_opponent(fighter)].keys[rank];
  MrObserved missiles;
  mr_collect(b, scene, keys, &missiles);
  MR_EACH_LANE(i) missiles.active[i] = picture->beliefs[keys[i] & MR_SLOT_BITS].locked[i];
  MR_FOR_LANES(i) missiles.supported[i] = mr_is_track(contact->source[i]);
  mr_rate_missiles(sim, contact->body.v, true, &missiles);
  mr_write_guided(&sim->constants, &b->fighters[fighter].body, &missiles, out);
}

// Writes the view of one fighter with sensors. `scene` is as the side believes it; `sights` are the true ones, by which
// the receiver hears.
static void mr_write_radar_view(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrScene *scene,
                                const MrSight sights[MR_FIGHTERS], const MrPicture *picture, MrRadarView *out) {
  MrHeard heard;
  MrSeekers seekers;
  int32_t other = mr_opponent(fighter);
  mr_listen(sim, &b->fighters[fighter], &b->fighters[other], &sights[fighter], &picture->contacts[other], &heard);
  mr_listen_to_seekers(b, fighter, picture, &seekers);
  mr_write_contact(sim, b, fighter, scene, &picture->contacts[fighter], &heard, out);
  mr_write_seekers(&sim->constants, &seekers, out->seekers);
  if (!scene->any) memset(out->own_missiles, 0, sizeof out->own_missiles);
  for (int rank = 0; scene->any && rank < MR_OWN_MISSILES_OBSERVED; rank++) {
    mr_write_own_missiles(sim, b, fighter, scene, picture, rank, &out->own_missiles[rank]);
  }
}

// Blocks --------------------------------------------------------------------------------------------------

// Writes the view of a fighter, an array float [feature][lane], and goes on to the next one's rows.
static inline void mr_place_view(const MrSim *sim, const void *view, MrDestination *to) {
  mr_place_strided_rows(view, sim->features, to->lanes, to->first, to->stride);
  to->first += sim->features;
}

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
    mr_place_view(sim, &view, &to);
  }
}

// The same with sensors. `sights` are the true ones.
static void mr_write_radar_views(const MrSim *sim, const MrBlock *b, const MrPicture *picture,
                                 const MrSight sights[MR_FIGHTERS], const MrOutputs *out, MrDestination to) {
  MrRadarView view;
  MrScene believed;
  mr_look_around_by_picture(sim, b, picture, &believed);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_write_radar_view(sim, b, f, &believed, sights, picture, &view);
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

// SPDX-License-Identifier: MIT
//
// Writes observations: the parts that one against one (view_pair.h) and teams (view_team.h) share. The features are the
// rows of feature_table.h. They are computed as arrays [lane], and each lane's are then written side by side into its
// row of the caller's buffer.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <assert.h>

#include "block.h"
#include "definitions.h"
#include "feature_table.h"
#include "kernel.h"
#include "picture.h"
#include "quads.h"
#include "receiver.h"
#include "scene.h"
#include "sight.h"

// Rows of the results -------------------------------------------------------------------------------------

// True if the fighter has a row in the results.
static inline bool mr_has_row(const MrSim *sim, const MrOutputs *out, int32_t fighter) {
  return out->every_fighter || sim->is_agent[fighter];
}

// The number of floats in an engagement's rows of observations.
static inline size_t mr_row_floats(const MrSim *sim, const MrOutputs *out) {
  int32_t rows = out->every_fighter ? mr_fighters(sim) : sim->agents_per_env;
  return (size_t)rows * (size_t)sim->features;
}

// Destination of one fighter's observations: a row in each lane in use.
typedef struct {
  int lanes;      // in use
  size_t stride;  // from lane to lane [floats]
  float *first;
} MrDestination;

// The first rows of a block in `observations`, which has the rows of all blocks.
static inline MrDestination mr_first_rows(const MrSim *sim, int32_t block, const MrOutputs *out, float *observations) {
  size_t stride = mr_row_floats(sim, out);
  return (MrDestination){mr_used_lanes(sim, block), stride, observations + (size_t)block * MR_LANES * stride};
}

// Features ------------------------------------------------------------------------------------------------

// A member [lane] for each row of a table. A struct of them is an array [feature][lane] in the order of the table.
#define MR_DECLARE_FEATURE(name, scale, lateral, meaning) MR_ALIGNED float name[MR_LANES];

// Writes a feature from the variable of its name: divided by its scale and clipped to +-limit. The limit is 1, or 0
// where there is nothing to observe.
#define MR_WRITE(name, scale, lateral, meaning) out->name[i] = mr_clip(name * (float)(1.0 / (scale)), -limit, limit);

// The features of a missile.
#if MR_DIMENSIONS == 3
#define MR_MISSILE_ROW MR_RISING_FEATURES
#else
#define MR_MISSILE_ROW MR_MISSILE_FEATURES
#endif

typedef struct {
  MR_MISSILE_ROW(MR_DECLARE_FEATURE, missile)
} MrMissileRow;

typedef struct {
  MrMissileRow missile;
  MR_GUIDANCE_FEATURES(MR_DECLARE_FEATURE, guided)
} MrGuidedRow;

typedef struct {
  MR_SEEKER_FEATURES(MR_DECLARE_FEATURE, seeker)
} MrSeekerRow;

// The wait for a fighter's next launch in lane i [s].
static inline float mr_reload(const MrConstants *k, const MrBlock *b, const MrFighter *f, int i) {
  int32_t wait = f->ready[i] - b->time[i];
  return (float)mr_select_int(wait > 0, wait, 0) * k->dt;
}

// The variables of MR_OWN_FEATURES in lane i. `in_air` are the own missiles in the air.
#define MR_OWN_VALUES(k, b, own, in_air, i)                                               \
  float time_left = (float)((k)->time_limit - (b)->time[i]) * (k)->dt * (k)->clock_rate; \
  float own_alive = (float)(own)->alive[i];                                               \
  float own_speed = (own)->body.v[i];                                                     \
  float own_rudder = (own)->body.rudder[i];                                               \
  float own_throttle = (own)->throttle[i];                                                \
  float own_ammunition = (float)(own)->ammunition[i];                                     \
  float own_reload = mr_reload(k, b, own, i);                                             \
  float own_in_air = (float)(in_air);

// The variables of a fighter that is in sight, in lane i. Their names begin with `seen`, and with `aspect` those of the
// own bearing in its frame.
#define MR_SIGHT_VALUES(seen, aspect, sight, i)                                \
  float seen##_ahead = (sight)->ahead[i];                                      \
  float seen##_left = (sight)->left[i];                                        \
  float seen##_range = (sight)->range[i];                                      \
  float seen##_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + seen##_range);  \
  float seen##_closing = (sight)->closing[i];                                  \
  float seen##_los_rate = (sight)->los_rate[i];                                \
  float seen##_heading_ahead = (sight)->heading_ahead[i];                      \
  float seen##_heading_left = (sight)->heading_left[i];                        \
  float aspect##_aspect_ahead = (sight)->aspect_ahead[i];                      \
  float aspect##_aspect_left = (sight)->aspect_left[i];

#if MR_DIMENSIONS == 3

// A fighter's performance at its height and speed in one lane.
typedef struct {
  float density, mach2, energy, lift_limit, thrust;
} MrPerformance;

// The height of a body in lane i plus that which its speed would buy [m].
static inline float mr_energy(const MrSim *sim, const MrBody *body, int i) {
  return body->z[i] + body->v[i] * body->v[i] * (0.5f / sim->types.gravity);
}

// That of a body with the aircraft of a fighter.
static inline MrPerformance mr_performance(const MrSim *sim, const MrRoster *roster, int32_t fighter,
                                           const MrBody *body, int i) {
  MrAircraft type = mr_aircraft_at(roster, fighter, i);
  MrAir air = mr_air(body->z[i]);
  float v2 = body->v[i] * body->v[i], mach2 = v2 * air.sound2;
  return (MrPerformance){
      .density = air.density,
      .mach2 = mach2,
      .energy = mr_energy(sim, body, i),
      .lift_limit = mr_lift_limit(&type.frame, air.density, v2),
      .thrust = mr_engine(&type, air.thin, mach2, 1.0f),
  };
}

// The variables of MR_OWN_HEIGHT_FEATURES in lane i, of the fighter with this number.
#define MR_OWN_HEIGHT_VALUES(sim, roster, number, own, i)                    \
  MrPerformance mine = mr_performance(sim, roster, number, &(own)->body, i); \
  float own_height = (own)->body.z[i];                                       \
  float own_climb_sine = (own)->body.u[i];                                   \
  float own_climb = (own)->climb[i];                                         \
  float own_density = mine.density;                                          \
  float own_mach = sqrtf(mine.mach2);                                        \
  float own_energy = mine.energy;                                            \
  float own_lift_limit = mine.lift_limit;                                    \
  float own_thrust = mine.thrust;

// The variable of MR_ECHO_FEATURES.
#define MR_ECHO_VALUES(roster, number, i) float own_echo = mr_echo_of(roster, number, i);

// The variables of MR_ELEVATION_FEATURES and MR_ASCENT_FEATURES in lane i, of the fighter with this number and body.
#define MR_SEEN_HEIGHT_VALUES(seen, sim, roster, number, own_body, its_body, sight, i) \
  MrPerformance seen##_performance = mr_performance(sim, roster, number, its_body, i);                \
  float seen##_up = (sight)->up[i];                                                    \
  float seen##_off_nose = (sight)->cosine[i];                                          \
  float seen##_heading_up = (sight)->heading_up[i];                                    \
  float seen##_los_rate_up = (sight)->los_rate_up[i];                                  \
  float seen##_above = (its_body)->z[i] - (own_body)->z[i];                            \
  float seen##_energy = seen##_performance.energy - mr_energy(sim, own_body, i);                                     \
  float seen##_lift_limit = seen##_performance.lift_limit;                                            \
  float seen##_thrust = seen##_performance.thrust;

// The variable of MR_CLIMB_FEATURES.
#define MR_SEEN_CLIMB_VALUES(seen, its, i) float seen##_climb = (its)->climb[i];

#else
#define MR_OWN_HEIGHT_VALUES(sim, roster, number, own, i)
#define MR_ECHO_VALUES(roster, number, i)
#define MR_SEEN_HEIGHT_VALUES(seen, sim, roster, number, own_body, its_body, sight, i)
#define MR_SEEN_CLIMB_VALUES(seen, its, i)
#endif

// Missiles ------------------------------------------------------------------------------------------------

// Missiles that are observed, one in each lane, and their features that are the same for all observers.
typedef struct {
  MR_ALIGNED int32_t present[MR_LANES], age[MR_LANES];
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], c[MR_LANES], s[MR_LANES], v[MR_LANES];
#if MR_DIMENSIONS == 3
  MR_ALIGNED float z[MR_LANES], u[MR_LANES];
  MR_ALIGNED float above[MR_LANES];   // height above the target [m]
  MR_ALIGNED int32_t kind[MR_LANES];  // set if fighters carry several kinds
#endif
  MR_ALIGNED float range[MR_LANES], time_to_go[MR_LANES];  // to the target, as the observers believe it with sensors
  MR_ALIGNED float nearness[MR_LANES], urgency[MR_LANES], reach[MR_LANES];
  // Set with sensors: 1 if the missile's fighter has a track of its target; 1 if its own seeker has a lock.
  MR_ALIGNED int32_t supported[MR_LANES], active[MR_LANES];
} MrObserved;

// The height halfway between an observed missile and its target in lane i [m].
static inline float mr_mean_height(const MrObserved *m, const MrBody *target, int i) {
#if MR_DIMENSIONS == 3
  return 0.5f * (m->z[i] + target->z[i]);
#else
  (void)m, (void)target, (void)i;
  return 0.0f;
#endif
}

// The chase reach of an observed missile of a kind on its target, less its range, in lane i [m]. `side` is the
// missile's.
static inline float mr_reach_left(const MrSim *sim, const MrRoster *roster, int32_t side, int32_t kind,
                                  const MrBody *target, const MrObserved *m, int i) {
  float height = mr_mean_height(m, target, i);
  return mr_chase_reach(sim, roster, side, kind, m->v[i], (float)m->age[i], target->v[i], height, i) - m->range[i];
}

// Computes the features that are the same for all observers, from the missiles' targets, but for the reach. With
// sensors (`is_guided`) they are 0 without a track.
static inline void mr_rate_approach(const MrBody *target, bool is_guided, MrObserved *m) {
  (void)target;
  MR_FOR_LANES(i) {
    int known = is_guided ? m->supported[i] : 1;
    float nearness = MR_NEAR_MISSILE / (MR_NEAR_MISSILE + m->range[i]);
    float urgency = MR_NEAR_TIME / (MR_NEAR_TIME + m->time_to_go[i]);
    m->nearness[i] = mr_select(known, nearness, 0.0f);
    m->urgency[i] = mr_select(known, urgency, 0.0f);
#if MR_DIMENSIONS == 3
    m->above[i] = mr_select(known, m->z[i] - target->z[i], 0.0f);
#endif
  }
}

// The same with the reach. `side` is that of the missiles, which matters with height only.
static inline void mr_rate_missiles(const MrSim *sim, const MrRoster *roster, int32_t side, const MrBody *target,
                                    bool is_guided, MrObserved *m) {
  mr_rate_approach(target, is_guided, m);
  MR_FOR_LANES(i) {
    int known = is_guided ? m->supported[i] : 1;
    m->reach[i] = mr_select(known, mr_reach_left(sim, roster, side, 0, target, m, i), 0.0f);
  }
#if MR_DIMENSIONS == 3
  for (int32_t kind = 1; kind < mr_kinds(sim); kind++) {
    MR_FOR_LANES(i) {
      float reach = mr_reach_left(sim, roster, side, kind, target, m, i);
      int known = is_guided ? m->supported[i] : 1;
      m->reach[i] = mr_select(known & (m->kind[i] == kind), reach, m->reach[i]);
    }
  }
#endif
}

// Writes the features of missiles, as observed from the bodies `own`. The missiles that are `inbound` fly at these, so
// their range to the target is the distance.
static inline void mr_write_missiles(const MrConstants *k, const MrBody *own, bool inbound, const MrObserved *m,
                                     MrMissileRow *out) {
  MR_FOR_LANES(i) {
    float limit = mr_select(m->present[i], k->one, 0.0f);
    float dx = m->x[i] - own->x[i], dy = m->y[i] - own->y[i];
#if MR_DIMENSIONS == 3
    float dz = m->z[i] - own->z[i];
    float distance = inbound ? m->range[i] : sqrtf(dx * dx + dy * dy + dz * dz);
#else
    float distance = inbound ? m->range[i] : sqrtf(dx * dx + dy * dy);
#endif
    float inverse = 1.0f / mr_max(distance, k->one);
    MrVector place = mr_into_own(own, dx, dy, i), heading = mr_into_own(own, m->c[i], m->s[i], i);
    float missile_present = 1.0f;
    float missile_ahead = place.ahead * inverse;
    float missile_left = place.left * inverse;
    float missile_nearness = m->nearness[i];
    float missile_urgency = m->urgency[i];
    float missile_speed = m->v[i];
    float missile_heading_ahead = heading.ahead;
    float missile_heading_left = heading.left;
    float missile_reach = m->reach[i];
#if MR_DIMENSIONS == 3
    float missile_up = dz / mr_max(sqrtf(dx * dx + dy * dy + dz * dz), k->one);
    float missile_heading_up = m->u[i];
    float missile_above = m->above[i];
#endif
    MR_MISSILE_ROW(MR_WRITE, missile)
  }
}

// Writes the features of own missiles in a game with sensors.
static inline void mr_write_guided(const MrConstants *k, const MrBody *own, const MrObserved *m, MrGuidedRow *out) {
  mr_write_missiles(k, own, false, m, &out->missile);
  MR_FOR_LANES(i) {
    float limit = mr_select(m->present[i], k->one, 0.0f);
    float guided_supported = (float)m->supported[i];
    float guided_active = (float)m->active[i];
    MR_GUIDANCE_FEATURES(MR_WRITE, guided)
  }
}

// Writes the features of the seekers with a lock on a fighter.
static inline void mr_write_seekers(const MrConstants *k, const MrSeekers *seekers,
                                    MrSeekerRow rows[MR_SEEKERS_OBSERVED]) {
  for (int rank = 0; rank < MR_SEEKERS_OBSERVED; rank++) {
    MrSeekerRow *out = &rows[rank];
    MR_FOR_LANES(i) {
      float limit = k->one;
      float seeker_present = (float)seekers->present[rank][i];
      float seeker_ahead = seekers->ahead[rank][i];
      float seeker_left = seekers->left[rank][i];
      MR_SEEKER_FEATURES(MR_WRITE, seeker)
    }
  }
}

// One against one ------------------------------------------------------------------------------------------

#if MR_SIDE == 1

// The variables of MR_GEOMETRY_FEATURES in lane i, of a fighter's body with this sight of an enemy's.
#define MR_GEOMETRY_VALUES(sim, roster, fighter, own_body, enemy_body, sight, i)                            \
  MR_SIGHT_VALUES(enemy, own, sight, i)                                                                     \
  float own_r_max = mr_r_max(sim, roster, !(fighter), 0, own_body, enemy_body, (sight)->approach[i], i);    \
  float own_reach = own_r_max - enemy_range;                                                                \
  float enemy_approach = mr_cosine(sight, i) * (own_body)->v[i];                                            \
  float enemy_reach = mr_r_max(sim, roster, fighter, 0, enemy_body, own_body, enemy_approach, i) - enemy_range;

// The variables of MR_FIGHTER_FEATURES in lane i.
#define MR_FIGHTER_VALUES(sim, roster, b, fighter, scene, i)                                  \
  const MrFighter *own_fighter = &(b)->fighters[fighter];                                     \
  const MrFighter *enemy_fighter = &(b)->fighters[mr_opponent(fighter)];                      \
  const MrSight *sight = &(scene)->sights[fighter];                                           \
  MR_OWN_VALUES(&(sim)->constants, b, own_fighter, (scene)->inbound[mr_opponent(fighter)].in_air[i], i) \
  float enemy_alive = (float)enemy_fighter->alive[i];                                         \
  float enemy_speed = enemy_fighter->body.v[i];                                               \
  float enemy_rudder = enemy_fighter->body.rudder[i];                                         \
  float enemy_ammunition = (float)enemy_fighter->ammunition[i];                               \
  float enemy_reload = mr_reload(&(sim)->constants, b, enemy_fighter, i);                     \
  float enemy_in_air = (float)(scene)->inbound[fighter].in_air[i];                            \
  MR_GEOMETRY_VALUES(sim, roster, fighter, &own_fighter->body, &enemy_fighter->body, sight, i)

// Writes the view of a fighter, an array float [feature][lane], and goes on to the next one's rows.
static inline void mr_place_view(const MrSim *sim, const void *view, MrDestination *to) {
  mr_place_strided_rows(view, sim->view_features, to->lanes, to->first, to->stride);
  to->first += sim->features;
}

// Writes features that a game adds to a view, an array float [feature][lane], at this place of the rows that `to` is
// at.
static inline void mr_place_added(const void *features, int32_t count, int32_t place, const MrDestination *to) {
  const float (*from)[MR_LANES] = features;
  for (int i = 0; i < to->lanes; i++) {
    float *row = to->first + (size_t)i * to->stride + place;
    for (int32_t n = 0; n < count; n++) row[n] = from[n][i];
  }
}

// Collects the missiles of one rank from their slots.
static void mr_collect(const MrSim *sim, const MrBlock *b, const MrScene *scene, const int32_t keys[MR_LANES],
                       MrObserved *out) {
  (void)sim;
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
#if MR_DIMENSIONS == 3
    MR_COLLECT(z, b->missiles, .body.z);
    MR_COLLECT(u, b->missiles, .body.u);
    if (mr_kinds(sim) > 1) MR_COLLECT(kind, b->missiles, .kind);
#endif
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
      mr_collect(sim, b, scene, scene->inbound[f].keys[rank], &out->at[f][rank]);
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      mr_rate_missiles(sim, mr_roster(sim, b), !f, &b->fighters[f].body, false, &out->at[f][rank]);
    }
  }
}

#endif

// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in teams: the features of team_feature_table.h.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <string.h>

#include "ahead.h"
#include "block.h"
#include "frame.h"
#include "kernel.h"
#include "own_values.h"
#include "rows.h"
#include "scene.h"
#include "sense.h"
#include "team_feature_table.h"
#include "transpose.h"

#define MR_FACTOR(name, scale, lateral, meaning) (float)(1.0 / (scale)),
static const float mr_team_own_factor[] = {MR_TEAM_OWN_FEATURES(MR_FACTOR)};
static const float mr_other_factor[] = {MR_OTHER_FEATURES(MR_FACTOR)};
static const float mr_missile_factor[] = {MR_MISSILE_FEATURES(MR_FACTOR, missile)};

// Write a feature from the variable of its name, clipped to `limit`: 0 where there is nothing to be seen.
#define MR_WRITE_OWN(name, scale, lateral, meaning) \
  out[MR_TEAM_##name][i] = mr_clip(name * mr_team_own_factor[MR_TEAM_##name], -limit, limit);
#define MR_WRITE_OTHER(name, scale, lateral, meaning) \
  out[MR_TEAM_##name][i] = mr_clip(name * mr_other_factor[MR_TEAM_##name], -limit, limit);
#define MR_WRITE_MISSILE(name, scale, lateral, meaning) \
  out[MR_SEEN_##name][i] = mr_clip(name * mr_missile_factor[MR_SEEN_##name], -k->one, k->one);

// The variables of MR_PLACE_FEATURES in lane i, of a fighter that is `present` (1, else 0) and flies at `speed`.
#define MR_PLACE_VALUES(present, sight, speed, i)                                 \
  float other_present = present;                                                  \
  float other_ahead = (sight).ahead[i];                                           \
  float other_left = (sight).left[i];                                             \
  float other_range = (sight).range[i];                                           \
  float other_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + other_range);       \
  float other_closing = (sight).closing[i];                                       \
  float other_los_rate = (sight).los_rate[i];                                     \
  float other_heading_ahead = (sight).heading_ahead[i];                           \
  float other_heading_left = (sight).heading_left[i];                             \
  float other_aspect_ahead = (sight).aspect_ahead[i];                             \
  float other_aspect_left = (sight).aspect_left[i];                               \
  float other_speed = speed;

// The missiles of one list in one lane, the most pressing first: their slots.
typedef struct {
  float order[MR_SEEN_INBOUND];
  int32_t slot[MR_SEEN_INBOUND], count;
} MrList;
_Static_assert(MR_SEEN_OWN <= MR_SEEN_INBOUND, "a list has room for the own missiles");

// For each fighter in each lane the missiles that fly at it, and its own.
typedef struct {
  MrList inbound[MR_FIGHTERS][MR_LANES], own[MR_FIGHTERS][MR_LANES];
  MR_ALIGNED int32_t own_in_air[MR_FIGHTERS][MR_LANES];  // all of its own
} MrLists;

// Inserts a missile into a list of at most `room`; the last one drops out.
static void mr_list_missile(MrList *list, int32_t room, float order, int32_t slot) {
  int32_t at = list->count;
  while (at > 0 && list->order[at - 1] > order) at--;
  if (at == room) return;
  if (list->count < room) list->count++;
  for (int32_t n = list->count - 1; n > at; n--) {
    list->order[n] = list->order[n - 1];
    list->slot[n] = list->slot[n - 1];
  }
  list->order[at] = order;
  list->slot[at] = slot;
}

static void mr_list_missiles(const MrSim *sim, const MrBlock *b, const MrScene *scene, MrLists *lists) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_EACH_LANE(i) {
      lists->inbound[f][i].count = lists->own[f][i].count = 0;
      lists->own_in_air[f][i] = 0;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      float time_to_go = scene->time_to_go[slot][i];
      float age = mr_clip((float)m->age[i] * sim->constants.dt, 0.0f, MR_TIME_TO_GO_MAX);
      float order = time_to_go < MR_TIME_TO_GO_MAX ? time_to_go : 2.0f * MR_TIME_TO_GO_MAX - age;
      mr_list_missile(&lists->inbound[m->target[i]][i], MR_SEEN_INBOUND, order, slot);
      mr_list_missile(&lists->own[m->owner[i]][i], MR_SEEN_OWN, order, slot);
      lists->own_in_air[m->owner[i]][i]++;
    }
  }
}

// The squared distances between all fighters, infinite to the dead [m^2]; those of an engagement are [lane].
typedef struct {
  MR_ALIGNED float to[MR_FIGHTERS][MR_FIGHTERS][MR_LANES];  // [from][to]
} MrDistances;

static void mr_measure(const MrSim *sim, const MrBlock *b, MrDistances *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    for (int32_t other = 0; other < mr_fighters(sim); other++) {
      const MrFighter *to = &b->fighters[other];
      MR_FOR_LANES(i) {
        out->to[f][other][i] = mr_select(to->alive[i], mr_range2(&b->fighters[f].body, &to->body, i), INFINITY);
      }
    }
  }
}

// The rank of each fighter of a side as another sees them, the nearest first: 0, 1 and so on.
static void mr_rank(const MrSim *sim, const float distances[MR_FIGHTERS][MR_LANES], int32_t viewer, int32_t side,
                    int32_t rank[MR_FIGHTERS][MR_LANES]) {
  MR_FOR_SIDE(sim, side, f) {
    MR_FOR_LANES(i) rank[f][i] = 0;
    if (f == viewer) continue;
    for (int32_t before = mr_first(sim, side); before < f; before++) {
      if (before == viewer) continue;
      MR_FOR_LANES(i) {
        int32_t nearer = distances[f][i] < distances[before][i];
        rank[before][i] += nearer;
        rank[f][i] += 1 - nearer;
      }
    }
  }
}

// The features of the own fighter. `survivors` are the living fighters of both sides.
static void mr_see_own(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrLists *lists,
                       const int32_t survivors[MR_SIDES][MR_LANES], float out[MR_TEAM_OWN_COUNT][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter];
  int32_t side = mr_side(sim, fighter);
  MR_FOR_LANES(i) {
    MR_OWN_VALUES(k, b, own, lists->own_in_air[fighter][i], i)
    float own_survivors = (float)survivors[side][i];
    float enemy_survivors = (float)survivors[!side][i];
    float limit = own_alive;
    MR_TEAM_OWN_FEATURES(MR_WRITE_OWN)
  }
}

// The features of another fighter.
static void mr_see_other(const MrSim *sim, const MrBlock *b, const MrScene *scene, int32_t fighter, int32_t other,
                         float out[MR_OTHER_COUNT][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &b->fighters[fighter], *seen = &b->fighters[other];
  const MrInbound *inbound = &scene->inbound[other];
  MrSight sight;
  mr_look_at(&own->body, &seen->body, &sight);
  MR_FOR_LANES(i) {
    float limit = (float)(own->alive[i] & seen->alive[i]);
    MR_PLACE_VALUES(limit, sight, seen->body.v[i], i)
    float other_rudder = seen->body.rudder[i];
    float other_ammunition = (float)seen->ammunition[i];
    float other_reload = mr_reload(k, b, seen, i);
    float other_own_reach = mr_r_max(k, sight.approach[i]) - other_range;
    float other_reach = mr_r_max(k, other_ahead * own->body.v[i]) - other_range;
    float other_inbound = (float)inbound->in_air[i];
    float other_urgency = MR_NEAR_TIME / (MR_NEAR_TIME + inbound->least[i]);
    MR_OTHER_FEATURES(MR_WRITE_OTHER)
  }
}

// Sights of missiles, which are few and of any fighters and lanes: gathered until they fill a vector.
typedef struct {
  int32_t count;
  float *rows[MR_LANES];  // where each is to be written
  MR_ALIGNED float dx[MR_LANES], dy[MR_LANES], c[MR_LANES], s[MR_LANES];  // from the viewer; its direction
  MR_ALIGNED float missile_c[MR_LANES], missile_s[MR_LANES], v[MR_LANES], age[MR_LANES], target_v[MR_LANES];
  MR_ALIGNED float range[MR_LANES], time_to_go[MR_LANES];  // to its target
} MrGlimpses;

// Writes the rows of all that have been gathered.
static void mr_write_glimpses(const MrSim *sim, MrGlimpses *g) {
  const MrConstants *k = &sim->constants;
  MR_ALIGNED float out[MR_SEEN_FEATURES][MR_LANES], turned[MR_LANES][MR_SEEN_FEATURES];
  MR_FOR_LANES(i) {
    float inverse = 1.0f / mr_max(sqrtf(g->dx[i] * g->dx[i] + g->dy[i] * g->dy[i]), k->one);
    MrVector place = mr_into_frame(g->dx[i], g->dy[i], g->c[i], g->s[i]);
    MrVector heading = mr_into_frame(g->missile_c[i], g->missile_s[i], g->c[i], g->s[i]);
    float missile_present = 1.0f;
    float missile_ahead = place.ahead * inverse;
    float missile_left = place.left * inverse;
    float missile_nearness = MR_NEAR_MISSILE / (MR_NEAR_MISSILE + g->range[i]);
    float missile_urgency = MR_NEAR_TIME / (MR_NEAR_TIME + g->time_to_go[i]);
    float missile_speed = g->v[i];
    float missile_heading_ahead = heading.ahead;
    float missile_heading_left = heading.left;
    float missile_reach = mr_chase_reach(sim, g->v[i], g->age[i], g->target_v[i]) - g->range[i];
    MR_MISSILE_FEATURES(MR_WRITE_MISSILE, missile)
  }
  mr_write_rows(out, MR_SEEN_FEATURES, MR_LANES, turned[0], MR_SEEN_FEATURES);
  for (int32_t n = 0; n < g->count; n++) memcpy(g->rows[n], turned[n], sizeof turned[n]);
  g->count = 0;
}

// Gathers the missiles of a list, as a fighter in one lane sees them.
static inline void mr_see_list(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrBody *own,
                               const MrList *list, int lane, float *row, MrGlimpses *g) {
  for (int32_t n = 0; n < list->count; n++, row += MR_SEEN_FEATURES) {
    int32_t at = g->count++, slot = list->slot[n];
    const MrMissile *m = &b->missiles[slot];
    g->rows[at] = row;
    g->dx[at] = m->body.x[lane] - own->x[lane];
    g->dy[at] = m->body.y[lane] - own->y[lane];
    g->c[at] = own->c[lane];
    g->s[at] = own->s[lane];
    g->missile_c[at] = m->body.c[lane];
    g->missile_s[at] = m->body.s[lane];
    g->v[at] = m->body.v[lane];
    g->age[at] = (float)m->age[lane];
    g->target_v[at] = b->fighters[m->target[lane]].body.v[lane];
    g->range[at] = scene->range[slot][lane];
    g->time_to_go[at] = scene->time_to_go[slot][lane];
    if (g->count == MR_LANES) mr_write_glimpses(sim, g);
  }
}

// Where the rows of each kind begin in an observation, and where it ends.
typedef struct {
  int32_t first[MR_ROW_COUNT + 1];
} MrPlaces;

static MrPlaces mr_find_rows(const MrSim *sim) {
  MrRows rows[MR_ROW_COUNT];
  MrPlaces places = {{0}};
  mr_count_team_rows(sim->observation, mr_size(sim, 0), mr_size(sim, 1), rows);
  for (int kind = 0; kind < MR_ROW_COUNT; kind++) {
    places.first[kind + 1] = places.first[kind] + rows[kind].rows * rows[kind].features;
  }
  return places;
}

// Where what a fighter observes goes.
typedef struct {
  int lanes;              // that are used
  float *rows[MR_LANES];  // each lane's observation; spare lanes share one that nobody reads
  size_t next;  // from an observation to the one that is written after it and is fetched before [floats]; 0: it is not
} MrDestination;

enum { MR_MOST_FEATURES = MR_TEAM_OWN_COUNT + (2 * MR_ENEMIES - 1) * MR_OTHER_COUNT + MR_SEEN * MR_SEEN_FEATURES };

// How far from a fighter's observation is the next one: of the next fighter that has any or, after the last, of the
// next block. Unless that block is full, nothing of it is fetched.
static size_t mr_find_next(const MrSim *sim, int32_t block, size_t floats, bool is_last) {
  size_t features = (size_t)sim->features;
  if (mr_is_cached(sim)) return 0;
  if (!is_last) return features;
  return (block + 2) * MR_LANES <= sim->num_envs ? (MR_LANES - 1) * floats + features : 0;
}

// Fetches one of so many parts of the observations that are written next: a processor waits for few lines at a time.
// Inlined always, as gcc drops calls of functions that only fetch.
__attribute__((always_inline)) static inline void mr_fetch_next(const MrSim *sim, const MrDestination *to,
                                                                int32_t part, int32_t parts) {
  if (!to->next) return;
  for (int i = to->lanes * part / parts; i < to->lanes * (part + 1) / parts; i++) {
    const float *row = to->rows[i] + to->next;
    for (int32_t at = 0; at < sim->features; at += MR_LINE / 4) __builtin_prefetch(row + at, 1, 3);
  }
}

// By a loop: gcc compiles memset of a known length to a string instruction, which takes longer to start than to write.
static inline void mr_zero(float *row, int32_t from, int32_t to) {
  for (int32_t at = from; at < to; at++) row[at] = 0.0f;
}

// Zeros what no fighter is written into: the rows of more others than a side has, and those of missiles.
static inline void mr_clear_rows(const MrPlaces *places, int32_t allies, int32_t enemies, float *row) {
  const int32_t *first = places->first;
  mr_zero(row, first[MR_ROW_ALLY] + allies * MR_OTHER_COUNT, first[MR_ROW_ENEMY]);
  mr_zero(row, first[MR_ROW_ENEMY] + enemies * MR_OTHER_COUNT, first[MR_ROW_INBOUND]);
  mr_zero(row + first[MR_ROW_INBOUND], 0, MR_SEEN * MR_SEEN_FEATURES);
}

// Writes what a fighter observes of the others. The dead, who are the last by rank, leave zeros in their rows.
static void mr_write_fighters(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrDistances *distances,
                              int32_t fighter, const MrPlaces *places, const MrDestination *to) {
  MR_ALIGNED float features[MR_OTHER_COUNT][MR_LANES];
  MR_ALIGNED int32_t rank[MR_FIGHTERS][MR_LANES];
  float *rows[MR_LANES];
  int32_t part = 0;
  for (int32_t side = 0; side < MR_SIDES; side++) mr_rank(sim, distances->to[fighter], fighter, side, rank);
  for (int32_t other = 0; other < mr_fighters(sim); other++) {
    if (other == fighter) continue;
    int32_t kind = mr_side(sim, other) == mr_side(sim, fighter) ? MR_ROW_ALLY : MR_ROW_ENEMY;
    mr_see_other(sim, b, scene, fighter, other, features);
    MR_EACH_LANE(i) rows[i] = to->rows[i] + places->first[kind] + rank[other][i] * MR_OTHER_COUNT;
    mr_scatter_rows(features, MR_OTHER_COUNT, rows);
    mr_fetch_next(sim, to, part++, mr_fighters(sim) - 1);
  }
}

// Writes what a fighter observes.
static void mr_write_fighter(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrDistances *distances,
                             const MrLists *lists, const int32_t survivors[MR_SIDES][MR_LANES], int32_t fighter,
                             const MrPlaces *places, const MrDestination *to, MrGlimpses *glimpses) {
  const MrFighter *own = &b->fighters[fighter];
  int32_t side = mr_side(sim, fighter), allies = mr_size(sim, side) - 1, enemies = mr_size(sim, !side);
  int32_t inbound = places->first[MR_ROW_INBOUND], outbound = places->first[MR_ROW_OWN_MISSILE];
  MR_ALIGNED float features[MR_TEAM_OWN_COUNT][MR_LANES];
  mr_see_own(sim, b, fighter, lists, survivors, features);
  mr_scatter_rows(features, MR_TEAM_OWN_COUNT, to->rows);
  mr_write_fighters(sim, b, scene, distances, fighter, places, to);
  for (int i = 0; i < to->lanes; i++) {
    float *row = to->rows[i];
    mr_clear_rows(places, allies, enemies, row);
    if (!own->alive[i]) continue;
    mr_see_list(sim, b, scene, &own->body, &lists->inbound[fighter][i], i, row + inbound, glimpses);
    mr_see_list(sim, b, scene, &own->body, &lists->own[fighter][i], i, row + outbound, glimpses);
  }
}

static void mr_write_views(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out, float *rows,
                           size_t floats);  // with sensors

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                                  float *observations) {
  if (!observations) return;
  const MrBlock *b = mr_block(sim, block);
  size_t floats = mr_row_floats(sim, out), features = (size_t)sim->features;
  if (sim->pictures) {
    mr_write_views(sim, block, scene, out, observations + (size_t)block * MR_LANES * floats, floats);
    return;
  }
  float spare[MR_MOST_FEATURES];
  MR_ALIGNED int32_t survivors[MR_SIDES][MR_LANES];
  MrDestination to = {.lanes = mr_used_lanes(sim, block)};
  MrPlaces places = mr_find_rows(sim);
  MrLists lists;
  MrDistances distances;
  MrGlimpses glimpses = {0};
  MR_EACH_LANE(i) {
    to.rows[i] = i < to.lanes ? observations + ((size_t)block * MR_LANES + (size_t)i) * floats : spare;
  }
  mr_count_living(sim, b, survivors);
  mr_list_missiles(sim, b, scene, &lists);
  mr_measure(sim, b, &distances);
  size_t written = 0;  // floats of an engagement
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!mr_has_row(sim, out, f)) continue;
    written += features;
    to.next = mr_find_next(sim, block, floats, written == floats);
    mr_write_fighter(sim, b, scene, &distances, &lists, survivors, f, &places, &to, &glimpses);
    for (int i = 0; i < to.lanes; i++) to.rows[i] += features;
  }
  mr_write_glimpses(sim, &glimpses);
}

// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in teams. view.h has what one against one shares with it; these differ from
// view_pair.h:
//
//   - An observation is of rows of some kinds. The rows of other fighters are ranked by range, and lie where their rank
//     says. Rows without a fighter, and all rows of the dead, are zeros.
//   - Missiles are few for each fighter, and of any lane: they are listed lane by lane and gathered until they fill a
//     vector.
//   - With sensors allies report their state, and each enemy has a contact and a radar of its own.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <string.h>

#include "physics.h"
#include "targets.h"
#include "view.h"
#include "view_mission.h"
#include "view_systems.h"

// The features of the rows.
#if MR_DIMENSIONS == 3
#define MR_OWN_ROW MR_TEAM_RADAR_OWN_FEATURES
#define MR_OTHER_ROW MR_HIGH_OTHER_FEATURES
#define MR_ALLY_ROW MR_HIGH_ALLY_FEATURES
#define MR_TRACK_ROW MR_HIGH_TRACK_FEATURES
#else
#define MR_OWN_ROW MR_TEAM_OWN_FEATURES
#define MR_OTHER_ROW MR_OTHER_FEATURES
#define MR_ALLY_ROW MR_ALLY_FEATURES
#define MR_TRACK_ROW MR_TRACK_FEATURES
#endif

// With height the echo, which is the last feature, belongs to games with sensors only.
typedef struct {
  MR_OWN_ROW(MR_DECLARE_FEATURE)
} MrOwnRow;

typedef struct {
  MR_OTHER_ROW(MR_DECLARE_FEATURE)
} MrOtherRow;

typedef struct {
  MR_ALLY_ROW(MR_DECLARE_FEATURE)
} MrAllyRow;

typedef struct {
  MR_TRACK_ROW(MR_DECLARE_FEATURE)
} MrTrackRow;

typedef struct {
  MR_HEARD_FEATURES(MR_DECLARE_FEATURE)
} MrHeardRow;

// The numbers of features of the rows.
#define MR_WIDTH(Row) ((int)(sizeof(Row) / sizeof(float[MR_LANES])))
enum {
  MR_OWN_WIDTH = MR_WIDTH(MrOwnRow),
  MR_OTHER_WIDTH = MR_WIDTH(MrOtherRow),
  MR_ALLY_WIDTH = MR_WIDTH(MrAllyRow),
  MR_TRACK_WIDTH = MR_WIDTH(MrTrackRow),
  MR_HEARD_WIDTH = MR_WIDTH(MrHeardRow),
  MR_MISSILE_WIDTH = MR_WIDTH(MrMissileRow),
  MR_GUIDED_WIDTH = MR_WIDTH(MrGuidedRow),
  MR_SEEKER_WIDTH = MR_WIDTH(MrSeekerRow)
};

// The number of features of the own row.
static inline int mr_own_width(bool senses) {
  return MR_DIMENSIONS == 3 && !senses ? (int)MR_TEAM_OWN_HEIGHT_COUNT : (int)MR_OWN_WIDTH;
}

// The rows of one fighter's observations in all lanes. Spare lanes share a row that is not read.
typedef struct {
  int lanes;  // in use
  float *rows[MR_LANES];
} MrTeamRows;

// The missiles of one list in one lane, the most pressing first: their slots.
typedef struct {
  float order[MR_INBOUND_OBSERVED];
  int32_t slot[MR_INBOUND_OBSERVED], count;
} MrList;
_Static_assert((int)MR_OWN_MISSILES_OBSERVED <= (int)MR_INBOUND_OBSERVED, "a list has room for the own missiles");

// Warning receivers of all fighters. Allies report the numbers `tracked` and `locked`.
typedef struct {
  MrHeardAll heard[MR_FIGHTERS];
  MR_ALIGNED int32_t tracked[MR_FIGHTERS][MR_LANES];  // radars that a fighter hears and that track it
  MR_ALIGNED int32_t locked[MR_FIGHTERS][MR_LANES];   // missiles whose seekers have a lock on it
} MrAlarms;

// Everything from which the observations of a block are written.
typedef struct {
  const MrBlock *b;
  const MrPicture *picture;  // NULL without sensors
  const MrScene *scene;
  const MrScene *believed;  // ranges and times to go of missiles to their targets: with sensors to the believed ones
  int32_t first[MR_ROW_COUNT + 1];  // place of the first row of each kind in an observation; the last one is its end
  MR_ALIGNED int32_t survivors[MR_SIDES][MR_LANES];
  // For each fighter in each lane the missiles that fly at it, and its own.
  MrList inbound[MR_FIGHTERS][MR_LANES], own[MR_FIGHTERS][MR_LANES];
  MR_ALIGNED int32_t own_in_air[MR_FIGHTERS][MR_LANES];  // all of its own
  MrAlarms alarms;                                       // set with sensors
} MrTeamView;

// Missiles ------------------------------------------------------------------------------------------------

// Inserts a missile into a list of at most `room`, after those of equal order. The last one drops out of a full list.
static inline void mr_list_missile(MrList *list, int32_t room, float order, int32_t slot) {
  int32_t at = list->count;
  if (at < room) {
    list->count++;
  } else if (list->order[--at] <= order) {
    return;
  }
  for (; at > 0 && list->order[at - 1] > order; at--) {
    list->order[at] = list->order[at - 1];
    list->slot[at] = list->slot[at - 1];
  }
  list->order[at] = order;
  list->slot[at] = slot;
}

static void mr_list_missiles(const MrSim *sim, MrTeamView *view) {
  const MrBlock *b = view->b;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_EACH_LANE(i) {
      view->inbound[f][i].count = view->own[f][i].count = 0;
      view->own_in_air[f][i] = 0;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      float time_to_go = view->believed->time_to_go[slot][i];
      float age = mr_clip((float)m->age[i] * sim->constants.dt, 0.0f, MR_TIME_TO_GO_MAX);
      float order = time_to_go < MR_TIME_TO_GO_MAX ? time_to_go : 2.0f * MR_TIME_TO_GO_MAX - age;
      mr_list_missile(&view->inbound[m->target[i]][i], MR_INBOUND_OBSERVED, order, slot);
      mr_list_missile(&view->own[m->owner[i]][i], MR_OWN_MISSILES_OBSERVED, order, slot);
      view->own_in_air[m->owner[i]][i]++;
    }
  }
}

// Missiles of any fighters and lanes, gathered until they fill a vector.
typedef struct {
  int32_t count;
  float *rows[MR_LANES];  // where each is to be written
  MrBody observers;
  MrObserved missiles;
  MrBody targets;  // only their speeds are set, and with height their heights
} MrGathered;

// Rates the missiles that have been gathered. With height their reach follows from the types of their own lanes, by
// which mr_gather sets it.
static void mr_rate_gathered(const MrSim *sim, MrGathered *g) {
#if MR_DIMENSIONS == 3
  mr_rate_approach(&g->targets, sim->pictures != NULL, &g->missiles);
#else
  mr_rate_missiles(sim, NULL, 0, &g->targets, sim->pictures != NULL, &g->missiles);
#endif
}

// Writes the rows of all that have been gathered.
static void mr_write_gathered(const MrSim *sim, MrGathered *g) {
  float spare[MR_GUIDED_WIDTH];
  MrGuidedRow row;
  for (int32_t n = g->count; n < MR_LANES; n++) g->rows[n] = spare;
  mr_rate_gathered(sim, g);
  if (sim->pictures) {
    mr_write_guided(&sim->constants, &g->observers, &g->missiles, &row);
    mr_place_rows(&row, MR_GUIDED_WIDTH, g->rows);
  } else {
    mr_write_missiles(&sim->constants, &g->observers, false, &g->missiles, &row.missile);
    mr_place_rows(&row.missile, MR_MISSILE_WIDTH, g->rows);
  }
  g->count = 0;
}

// Gathers the missiles of a list, which a fighter in one lane observes in `row` and after it.
static inline void mr_gather(const MrSim *sim, const MrTeamView *view, int32_t fighter, const MrList *list, int lane,
                             float *row, MrGathered *g) {
  const MrBody *own = &view->b->fighters[fighter].body;
  for (int32_t n = 0; n < list->count; n++) {
    int32_t at = g->count++, slot = list->slot[n];
    const MrMissile *m = &view->b->missiles[slot];
    const MrBody *target = &view->b->fighters[m->target[lane]].body;
    if (view->picture) {
      const MrContact *contact = &view->picture->contacts[mr_contact_place(sim, fighter, m->target[lane])];
      target = &contact->body;
      g->missiles.supported[at] = mr_is_track(contact->source[lane]);
      g->missiles.active[at] = view->picture->beliefs[slot].locked[lane];
    }
    g->rows[at] = row;
    g->observers.x[at] = own->x[lane];
    g->observers.y[at] = own->y[lane];
    g->observers.c[at] = own->c[lane];
    g->observers.s[at] = own->s[lane];
    g->missiles.x[at] = m->body.x[lane];
    g->missiles.y[at] = m->body.y[lane];
    g->missiles.c[at] = m->body.c[lane];
    g->missiles.s[at] = m->body.s[lane];
    g->missiles.v[at] = m->body.v[lane];
    g->missiles.age[at] = m->age[lane];
    g->missiles.range[at] = view->believed->range[slot][lane];
    g->missiles.time_to_go[at] = view->believed->time_to_go[slot][lane];
    g->targets.v[at] = target->v[lane];
#if MR_DIMENSIONS == 3
    g->observers.z[at] = own->z[lane];
    g->missiles.z[at] = m->body.z[lane];
    g->missiles.u[at] = m->body.u[lane];
    g->targets.z[at] = target->z[lane];
    float height = 0.5f * (m->body.z[lane] + target->z[lane]);
    float reach = mr_chase_reach(sim, mr_roster(sim, view->b), mr_side(sim, m->owner[lane]), 0, m->body.v[lane],
                                 (float)m->age[lane], target->v[lane], height, lane);
    bool known = !view->picture || g->missiles.supported[at];
    g->missiles.reach[at] = known ? reach - g->missiles.range[at] : 0.0f;
#endif
    row += view->picture ? MR_GUIDED_WIDTH : MR_MISSILE_WIDTH;
    if (g->count == MR_LANES) mr_write_gathered(sim, g);
  }
}

// Other fighters ------------------------------------------------------------------------------------------

// The squared ranges at which a fighter knows the others; infinite where these are dead or not known [m^2].
static void mr_measure(const MrSim *sim, const MrTeamView *view, int32_t fighter, float out[MR_FIGHTERS][MR_LANES]) {
  const MrBody *own = &view->b->fighters[fighter].body;
  for (int32_t other = 0; other < mr_fighters(sim); other++) {
    const MrFighter *seen = &view->b->fighters[other];
    if (!view->picture || mr_side(sim, other) == mr_side(sim, fighter)) {
      MR_FOR_LANES(i) out[other][i] = mr_select(seen->alive[i], mr_range2(own, &seen->body, i), INFINITY);
      continue;
    }
    const MrContact *contact = &view->picture->contacts[mr_contact_place(sim, fighter, other)];
    MR_FOR_LANES(i) {
      int known = seen->alive[i] & mr_is_track(contact->source[i]);
      out[other][i] = mr_select(known, mr_range2(own, &contact->body, i), INFINITY);
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

// The variables of MR_REACH_FEATURES in lane i, of the bodies of two fighters. R_max depends on the missiles alone:
// `target` is any enemy of the own fighter, `its_target` one of the other's.
#define MR_REACH_VALUES(sim, roster, target, its_target, own_body, body, sight, i)                      \
  float other_approach = mr_cosine(sight, i) * (own_body)->v[i];                                        \
  float own_r_max = mr_r_max(sim, roster, target, 0, own_body, body, (sight)->approach[i], i);          \
  float other_own_reach = own_r_max - other_range;                                                      \
  float other_reach = mr_r_max(sim, roster, its_target, 0, body, own_body, other_approach, i) - other_range;

// Writes the features of another fighter, with full information.
static void mr_write_other(const MrSim *sim, const MrTeamView *view, int32_t fighter, int32_t other, MrOtherRow *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &view->b->fighters[fighter], *seen = &view->b->fighters[other];
  const MrInbound *inbound = &view->scene->inbound[other];
  const MrRoster *roster = mr_roster(sim, view->b);
  int32_t target = mr_first(sim, !mr_side(sim, fighter)), its_target = mr_first(sim, !mr_side(sim, other));
  MrSight sight;
  mr_look_at(&own->body, &seen->body, &sight);
  MR_FOR_LANES(i) {
    float limit = (float)(own->alive[i] & seen->alive[i]), other_present = 1.0f;
    MR_SIGHT_VALUES(other, other, &sight, i)
    float other_speed = seen->body.v[i];
    float other_rudder = seen->body.rudder[i];
    float other_ammunition = (float)seen->ammunition[i];
    float other_reload = mr_reload(k, view->b, seen, i);
    MR_REACH_VALUES(sim, roster, target, its_target, &own->body, &seen->body, &sight, i)
    float other_inbound = (float)inbound->in_air[i];
    float other_urgency = MR_NEAR_TIME / (MR_NEAR_TIME + inbound->least[i]);
    MR_SEEN_HEIGHT_VALUES(other, sim, roster, other, &own->body, &seen->body, &sight, i)
    MR_SEEN_CLIMB_VALUES(other, seen, i)
    MR_OTHER_ROW(MR_WRITE)
  }
}

// Writes the features of an ally, with sensors.
static void mr_write_ally(const MrSim *sim, const MrTeamView *view, int32_t fighter, int32_t other, MrAllyRow *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &view->b->fighters[fighter], *ally = &view->b->fighters[other];
  const MrRoster *roster = mr_roster(sim, view->b);
  MrSight sight;
  (void)roster;  // not used in the plane
  mr_look_at(&own->body, &ally->body, &sight);
  MR_FOR_LANES(i) {
    float limit = (float)(own->alive[i] & ally->alive[i]), other_present = 1.0f;
    MR_SIGHT_VALUES(other, other, &sight, i)
    float other_speed = ally->body.v[i];
    float other_rudder = ally->body.rudder[i];
    float other_ammunition = (float)ally->ammunition[i];
    float other_reload = mr_reload(k, view->b, ally, i);
    float other_tracked = (float)view->alarms.tracked[other][i];
    float other_locked = (float)view->alarms.locked[other][i];
    MR_SEEN_HEIGHT_VALUES(other, sim, roster, other, &own->body, &ally->body, &sight, i)
    MR_SEEN_CLIMB_VALUES(other, ally, i)
    MR_ALLY_ROW(MR_WRITE)
  }
}

// Writes the features of the contact with an enemy.
static void mr_write_track(const MrSim *sim, const MrTeamView *view, int32_t fighter, int32_t enemy, MrTrackRow *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &view->b->fighters[fighter];
  const int32_t *alive = view->b->fighters[enemy].alive, *in_air = view->scene->inbound[enemy].in_air;
  const MrContact *contact = &view->picture->contacts[mr_contact_place(sim, fighter, enemy)];
  const MrRoster *roster = mr_roster(sim, view->b);
  MrSight sight;
  mr_look_at(&own->body, &contact->body, &sight);
  MR_FOR_LANES(i) {
    float limit = (float)(own->alive[i] & alive[i] & mr_is_track(contact->source[i])), other_present = 1.0f;
    MR_SIGHT_VALUES(other, other, &sight, i)
    float other_speed = contact->body.v[i];
    MR_REACH_VALUES(sim, roster, enemy, fighter, &own->body, &contact->body, &sight, i)
    float quality = mr_quality(contact, i);
    float other_live = quality * (float)(contact->source[i] == MR_LIVE);
    float other_linked = quality * (float)(contact->source[i] == MR_LINKED);
    float other_age = (float)contact->age[i] * k->dt;
    float other_inbound = (float)in_air[i];
    MR_SEEN_HEIGHT_VALUES(other, sim, roster, enemy, &own->body, &contact->body, &sight, i)
    MR_TRACK_ROW(MR_WRITE)
  }
}

// Prefetches one of so many parts of the observations that are written next, `next` floats after the present ones (0 =
// no prefetch). A part at a time, since a processor waits for few lines at once. Always inlined, since gcc drops calls
// of functions that only prefetch.
__attribute__((always_inline)) static inline void mr_fetch_next(const MrSim *sim, const MrTeamRows *to, size_t next,
                                                                int32_t part, int32_t parts) {
  if (!next) return;
  for (int i = to->lanes * part / parts; i < to->lanes * (part + 1) / parts; i++) {
    const float *row = to->rows[i] + next;
    for (int32_t at = 0; at < sim->features; at += MR_LINE / 4) __builtin_prefetch(row + at, 1, 3);
  }
}

// Places the row of another fighter by its rank in each lane; the rows of its kind begin at `first`. Inlined, so that
// `count` is constant.
static inline void mr_place_ranked(const void *features, int count, int32_t first, const int32_t rank[MR_LANES],
                                   const MrTeamRows *to) {
  float *rows[MR_LANES];
  MR_EACH_LANE(i) rows[i] = to->rows[i] + first + rank[i] * count;
  mr_place_rows(features, count, rows);
}

// Places all rows of a kind at once. Inlined, too.
static inline void mr_place_kind(const MrTeamView *view, int32_t kind, const void *features, int count,
                                 const MrTeamRows *to) {
  float *rows[MR_LANES];
  MR_EACH_LANE(i) rows[i] = to->rows[i] + view->first[kind];
  mr_place_rows(features, count, rows);
}

// Writes the rows of the other fighters. Those that are dead or not known are the last by rank, and leave zeros.
static void mr_write_others(const MrSim *sim, const MrTeamView *view, int32_t fighter, const MrTeamRows *to,
                            size_t next) {
  union {
    MrOtherRow other;
    MrAllyRow ally;
    MrTrackRow track;
  } row;
  MR_ALIGNED float distances[MR_FIGHTERS][MR_LANES];
  MR_ALIGNED int32_t rank[MR_FIGHTERS][MR_LANES];
  int32_t part = 0;
  mr_measure(sim, view, fighter, distances);
  for (int32_t side = 0; side < MR_SIDES; side++) mr_rank(sim, distances, fighter, side, rank);
  for (int32_t other = 0; other < mr_fighters(sim); other++) {
    if (other == fighter) continue;
    bool is_ally = mr_side(sim, other) == mr_side(sim, fighter);
    int32_t first = view->first[is_ally ? MR_ROW_ALLY : MR_ROW_ENEMY];
    if (!view->picture) {
      mr_write_other(sim, view, fighter, other, &row.other);
      mr_place_ranked(&row, MR_OTHER_WIDTH, first, rank[other], to);
    } else if (is_ally) {
      mr_write_ally(sim, view, fighter, other, &row.ally);
      mr_place_ranked(&row, MR_ALLY_WIDTH, first, rank[other], to);
    } else {
      mr_write_track(sim, view, fighter, other, &row.track);
      mr_place_ranked(&row, MR_TRACK_WIDTH, first, rank[other], to);
    }
    mr_fetch_next(sim, to, next, part++, mr_fighters(sim) - 1);
  }
}

// Warning receivers ---------------------------------------------------------------------------------------

static void mr_note_alarms(const MrSim *sim, const MrBlock *b, const MrPicture *picture, MrAlarms *out) {
  const MrRoster *roster = mr_roster(sim, b);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    mr_listen_around(sim, b, f, picture, &out->heard[f]);
    MR_FOR_LANES(i) out->tracked[f][i] = out->locked[f][i] = 0;
    for (int32_t e = 0; e < mr_size(sim, !mr_side(sim, f)); e++) {
      MR_FOR_LANES(i) out->tracked[f][i] += out->heard[f].of[e].tracked[i];
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      int32_t target = m->target[i];
      float jammer = mr_jammer(sim, roster, target, i);
      int radiates = mr_radiates(sim, jammer, &m->body, &b->fighters[target].body, i);
      out->locked[target][i] += m->active[i] & picture->beliefs[slot].locked[i] & radiates;
    }
  }
}

// Writes the rows of the radars that a fighter hears, the most pressing first, and of the seekers with a lock on it.
static void mr_write_heard(const MrSim *sim, const MrTeamView *view, int32_t fighter, const MrTeamRows *to) {
  const MrHeard *all = view->alarms.heard[fighter].of;
  int32_t enemies = mr_size(sim, !mr_side(sim, fighter));
  MrSeekers seekers;
  MrSeekerRow seeker_rows[MR_SEEKERS_OBSERVED];
  for (int32_t e = 0; e < enemies; e++) {
    const MrHeard *heard = &all[e];
    MrHeardRow row, *out = &row;
    MR_ALIGNED int32_t rank[MR_LANES] = {0};
    for (int32_t other = 0; other < enemies; other++) {
      if (other == e) continue;
      MR_FOR_LANES(i) {
        rank[i] += other < e ? !mr_presses(heard, &all[other], i) : mr_presses(&all[other], heard, i);
      }
    }
    MR_FOR_LANES(i) {
      float limit = (float)heard->hears[i];
      float radar_present = 1.0f;
      float radar_tracked = (float)heard->tracked[i];
      float radar_ahead = heard->ahead[i];
      float radar_left = heard->left[i];
      MR_HEARD_FEATURES(MR_WRITE)
    }
    mr_place_ranked(&row, MR_HEARD_WIDTH, view->first[MR_ROW_RADAR], rank, to);
  }
  mr_listen_to_seekers(sim, view->b, fighter, view->picture, &seekers);
  mr_write_seekers(&sim->constants, &seekers, seeker_rows);
  mr_place_kind(view, MR_ROW_INBOUND, seeker_rows, MR_SEEKERS_OBSERVED * MR_SEEKER_WIDTH, to);
}

// Fighters ------------------------------------------------------------------------------------------------

static void mr_write_own(const MrSim *sim, const MrTeamView *view, int32_t fighter, MrOwnRow *out) {
  const MrConstants *k = &sim->constants;
  const MrFighter *own = &view->b->fighters[fighter];
  const MrRoster *roster = mr_roster(sim, view->b);
  int32_t side = mr_side(sim, fighter);
  (void)roster;  // not used in the plane
  MR_FOR_LANES(i) {
    MR_OWN_VALUES(k, view->b, own, view->own_in_air[fighter][i], i)
    float own_survivors = (float)view->survivors[side][i];
    float enemy_survivors = (float)view->survivors[!side][i];
    float limit = own_alive;
    MR_OWN_HEIGHT_VALUES(sim, roster, fighter, own, i)
    MR_ECHO_VALUES(roster, fighter, i)
    MR_OWN_ROW(MR_WRITE)
  }
}

// By a loop: gcc compiles memset of a known length to a string instruction, which takes longer to start than to write.
static inline void mr_zero(float *row, int32_t from, int32_t to) {
  for (int32_t at = from; at < to; at++) row[at] = 0.0f;
}

// Finds the lanes in which a fighter observes: where it lives, and is not a transport.
static inline void mr_find_observers(const MrBlock *b, int32_t fighter, int32_t out[MR_LANES]) {
  const MrFighter *own = &b->fighters[fighter];
  MR_FOR_LANES(i) out[i] = own->alive[i] & (own->pilot[i] != MR_PILOT_transport);
}

static void mr_write_mission_row(const MrSim *sim, const MrTeamView *view, int32_t fighter,
                                 const int32_t observes[MR_LANES], const MrTeamRows *to) {
  MrMissionRow row;
  mr_write_line(sim, view->b, fighter, observes, &row);
  mr_write_transport(sim, view->b, view->picture, fighter, observes, &row);
  mr_place_kind(view, MR_ROW_MISSION, &row, MR_MISSION_COUNT, to);
}

static void mr_write_systems_row(const MrSim *sim, const MrTeamView *view, int32_t fighter,
                                 const int32_t observes[MR_LANES], const MrTeamRows *to) {
  MrSystemsRow row;
  mr_write_systems(sim, view->b, view->picture, fighter, observes, &row);
  mr_place_kind(view, MR_ROW_SYSTEMS, &row, MR_SYSTEMS_COUNT, to);
}

// Writes the observation of a fighter. Rows for more others than a side has, and those without a missile, are zeros.
static void mr_write_fighter(const MrSim *sim, const MrTeamView *view, int32_t fighter, const MrTeamRows *to,
                             size_t next, MrGathered *gathered) {
  bool senses = view->picture != NULL;
  const int32_t *first = view->first;
  MR_ALIGNED int32_t observes[MR_LANES];
  mr_find_observers(view->b, fighter, observes);
  int32_t side = mr_side(sim, fighter), enemies = mr_size(sim, !side);
  int32_t allies_end = first[MR_ROW_ALLY] + (mr_size(sim, side) - 1) * (senses ? MR_ALLY_WIDTH : MR_OTHER_WIDTH);
  int32_t enemies_end = first[MR_ROW_ENEMY] + enemies * (senses ? MR_TRACK_WIDTH : MR_OTHER_WIDTH);
  int32_t radars_end = first[MR_ROW_RADAR] + (senses ? enemies * MR_HEARD_WIDTH : 0);
  int32_t inbound = first[MR_ROW_INBOUND], own_missiles = first[MR_ROW_OWN_MISSILE];
  MrOwnRow own;
  mr_write_own(sim, view, fighter, &own);
  mr_place_rows(&own, mr_own_width(senses), to->rows);
  mr_write_others(sim, view, fighter, to, next);
  if (senses) mr_write_heard(sim, view, fighter, to);
  for (int i = 0; i < to->lanes; i++) {
    float *row = to->rows[i];
    mr_zero(row, allies_end, first[MR_ROW_ENEMY]);
    mr_zero(row, enemies_end, first[MR_ROW_RADAR]);
    mr_zero(row, radars_end, first[MR_ROW_INBOUND]);
    if (senses) {
      mr_zero(row + own_missiles, 0, MR_OWN_MISSILES_OBSERVED * MR_GUIDED_WIDTH);
    } else {
      mr_zero(row + inbound, 0, MR_MISSILES_OBSERVED * MR_MISSILE_WIDTH);
      if (observes[i]) mr_gather(sim, view, fighter, &view->inbound[fighter][i], i, row + inbound, gathered);
    }
    if (observes[i]) mr_gather(sim, view, fighter, &view->own[fighter][i], i, row + own_missiles, gathered);
    if (mr_has_mission(sim) && !observes[i]) mr_zero(row, 0, own_missiles);
  }
  if (sim->has_systems) mr_write_systems_row(sim, view, fighter, observes, to);
  if (mr_has_mission(sim)) mr_write_mission_row(sim, view, fighter, observes, to);
}

// Blocks --------------------------------------------------------------------------------------------------

// The offset of the next observation from a fighter's, for prefetching [floats]: of the next fighter with a row or,
// after the last one, of the next block. 0 = no prefetch.
static size_t mr_find_next(const MrSim *sim, int32_t block, size_t floats, bool is_last) {
  size_t features = (size_t)sim->features;
  if (mr_is_cached(sim)) return 0;
  if (!is_last) return features;
  return (block + 2) * MR_LANES <= sim->num_envs ? (MR_LANES - 1) * floats + features : 0;
}

// Finds the rows of the fighter that is written next.
static void mr_spread_rows(const MrDestination *to, float *spare, MrTeamRows *out) {
  size_t at = 0;
  out->lanes = to->lanes;
  MR_EACH_LANE(i) {
    out->rows[i] = i < to->lanes ? to->first + at : spare;
    at += to->stride;
  }
}

// Finds ranges and times to go of missiles to their targets as their fighters believe these.
static void mr_look_by_picture(const MrSim *sim, const MrBlock *b, const MrPicture *picture, MrScene *believed) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      const MrBody *targets[MR_FIGHTERS];
      targets[m->target[i]] = &picture->contacts[mr_contact_place(sim, m->owner[i], m->target[i])].body;
      MrStanding standing = mr_standing(m, targets, i);
      believed->range[slot][i] = standing.range;
      believed->time_to_go[slot][i] = standing.time_to_go;
    }
  }
}

// The places of the kinds of rows in an observation.
static void mr_find_rows(const MrSim *sim, int32_t first[MR_ROW_COUNT + 1]) {
  MrRows rows[MR_ROW_COUNT];
  MrAdded added = {.systems = sim->has_systems, .mission = mr_has_mission(sim)};
  mr_team_rows(sim->observation, added, mr_size(sim, 0), mr_size(sim, 1), rows);
  first[0] = 0;
  for (int n = 0; n < MR_ROW_COUNT; n++) first[n + 1] = first[n] + rows[n].rows * rows[n].features;
}

// Room for the features of an observation, with and without sensors.
enum {
  MR_TEAM_FEATURES_MAX = MR_OWN_WIDTH + (2 * MR_ENEMIES - 1) * MR_OTHER_WIDTH + MR_ENEMIES * MR_HEARD_WIDTH +
  MR_MISSILES_OBSERVED * MR_GUIDED_WIDTH + MR_SYSTEMS_COUNT + MR_MISSION_COUNT
};
_Static_assert((int)MR_ALLY_WIDTH <= (int)MR_OTHER_WIDTH && (int)MR_TRACK_WIDTH <= (int)MR_OTHER_WIDTH, "room");

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                                  float *observations) {
  if (!observations) return;
  float spare[MR_TEAM_FEATURES_MAX];
  MrDestination to = mr_first_rows(sim, block, out, observations);
  MrScene believed;
  MrTeamView view;
  MrGathered gathered = {0};
  MR_FOR_LANES(i) gathered.missiles.present[i] = 1;
  view.b = mr_block(sim, block);
  view.picture = mr_picture(sim, block);
  view.scene = view.believed = scene;
  if (view.picture) {
    mr_look_by_picture(sim, view.b, view.picture, &believed);
    mr_note_alarms(sim, view.b, view.picture, &view.alarms);
    view.believed = &believed;
  }
  mr_find_rows(sim, view.first);
  mr_count_living(sim, view.b, view.survivors);
  mr_list_missiles(sim, &view);
  size_t written = 0;  // floats of an engagement
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!mr_has_row(sim, out, f)) continue;
    written += (size_t)sim->features;
    MrTeamRows rows;
    mr_spread_rows(&to, spare, &rows);
    mr_write_fighter(sim, &view, f, &rows, mr_find_next(sim, block, to.stride, written == to.stride), &gathered);
    to.first += sim->features;
  }
  mr_write_gathered(sim, &gathered);
}

// SPDX-License-Identifier: MIT
//
// Writes the rows of one fighter's observations in teams that are computed in all lanes at once: its own, those of the
// other fighters, of the radars and seekers that it hears, of systems and of the mission. view_team.h writes the rows
// of missiles, and joins all rows to observations.
//
// Contract: the caller sets the fields `b`, `picture`, `scene`, `first`, `survivors` and `own_in_air` of an MrTeamView,
// and with sensors `alarms` by mr_note_alarms. mr_write_own returns its row, which the caller places. The other
// functions write into `to`, at the place of their kind of row. The rows of other fighters and of radars lie in the
// order of their ranks. The caller zeroes the rows for more fighters than the sides have.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

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

// Own fighter, mission and systems ------------------------------------------------------------------------

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

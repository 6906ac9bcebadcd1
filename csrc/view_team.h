// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in teams. view_team_rows.h writes the rows of fighters, radars and seekers;
// this file those of missiles, zeros elsewhere, and the observations of a block one after another. view.h has what one
// against one shares with it; these differ from view_pair.h:
//
//   - An observation is of rows of some kinds. Rows without a fighter, and all rows of the dead, are zeros.
//   - Missiles are few for each fighter, and of any lane: they are listed lane by lane and gathered until they fill a
//     vector.
//   - With sensors allies report their state, and each enemy has a contact and a radar of its own.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "view_team_rows.h"

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

// Fighters ------------------------------------------------------------------------------------------------

// By a loop: gcc compiles memset of a known length to a string instruction, which takes longer to start than to write.
static inline void mr_zero(float *row, int32_t from, int32_t to) {
  for (int32_t at = from; at < to; at++) row[at] = 0.0f;
}

// Finds the lanes in which a fighter observes: where it lives, and is not a transport.
static inline void mr_find_observers(const MrBlock *b, int32_t fighter, int32_t out[MR_LANES]) {
  const MrFighter *own = &b->fighters[fighter];
  MR_FOR_LANES(i) out[i] = own->alive[i] & (own->pilot[i] != MR_PILOT_transport);
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

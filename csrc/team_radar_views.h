// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in teams with sensors: what a fighter knows of itself, what its allies tell by
// data link, its contacts, what its receiver hears, and its own missiles. The features are in team_feature_table.h.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <string.h>

#include "block.h"
#include "frame.h"
#include "kernel.h"
#include "picture.h"
#include "rows.h"
#include "scene.h"
#include "sense.h"
#include "team_feature_table.h"
#include "team_views.h"
#include "transpose.h"

static const float mr_ally_factor[] = {MR_ALLY_FEATURES(MR_FACTOR)};
static const float mr_track_factor[] = {MR_TEAM_CONTACT_FEATURES(MR_FACTOR)};
_Static_assert((int)MR_ALLY_COUNT <= (int)MR_TRACK_COUNT, "what has room for a track's row has it for an ally's");
static const float mr_guided_factor[] = {MR_GUIDED_FEATURES(MR_FACTOR, guided)};

// Write a feature from the variable of its name.
#define MR_WRITE_ALLY(name, scale, lateral, meaning) \
  out[MR_ALLY_##name][i] = mr_clip(name * mr_ally_factor[MR_ALLY_##name], -k->one, k->one);
#define MR_WRITE_TRACK(name, scale, lateral, meaning) \
  out[MR_TRACK_##name][i] = mr_clip(name * mr_track_factor[MR_TRACK_##name], -k->one, k->one);
#define MR_WRITE_GUIDED(name, scale, lateral, meaning) \
  row[MR_SEEN_##name] = mr_clip(name * mr_guided_factor[MR_SEEN_##name], -k->one, k->one);

// What all fighters of a block hear: of a side's fighters its allies know the numbers.
typedef struct {
  MrHeardAll heard[MR_FIGHTERS];
  MR_ALIGNED int32_t tracked[MR_FIGHTERS][MR_LANES];  // radars that are heard and that track it
  MR_ALIGNED int32_t locked[MR_FIGHTERS][MR_LANES];   // missiles whose seekers have a lock on it
} MrAlarms;

static void mr_note_alarms(const MrSim *sim, const MrBlock *b, const MrPicture *picture, MrAlarms *out) {
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
    MR_EACH_LANE(i) out->locked[m->target[i]][i] += m->active[i] & picture->beliefs[slot].locked[i];
  }
}

// The features of an ally.
static void mr_view_ally(const MrSim *sim, const MrBlock *b, const MrAlarms *alarms, int32_t fighter, int32_t other,
                         float out[MR_ALLY_COUNT][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *ally = &b->fighters[other];
  MrSight sight;
  mr_look_at(&b->fighters[fighter].body, &ally->body, &sight);
  MR_FOR_LANES(i) {
    MR_PLACE_VALUES(1.0f, sight, ally->body.v[i], i)
    float other_rudder = ally->body.rudder[i];
    float other_ammunition = (float)ally->ammunition[i];
    float other_reload = mr_reload(k, b, ally, i);
    float other_tracked = (float)alarms->tracked[other][i];
    float other_locked = (float)alarms->locked[other][i];
    MR_ALLY_FEATURES(MR_WRITE_ALLY)
  }
}

// The features of a contact. `in_air` are the missiles that fly at it.
static void mr_view_track(const MrSim *sim, const MrBody *own, const MrContact *contact, const int32_t in_air[MR_LANES],
                          float out[MR_TRACK_COUNT][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  MrSight sight;
  mr_look_at(own, &contact->body, &sight);
  MR_FOR_LANES(i) {
    MR_PLACE_VALUES(1.0f, sight, contact->body.v[i], i)
    float other_own_reach = mr_r_max(k, sight.approach[i]) - other_range;
    float other_reach = mr_r_max(k, other_ahead * own->v[i]) - other_range;
    float other_live = (float)(contact->source[i] == MR_RADAR);
    float other_linked = (float)(contact->source[i] == MR_LINKED);
    float other_age = (float)contact->age[i] * k->dt;
    float other_inbound = (float)in_air[i];
    MR_TEAM_CONTACT_FEATURES(MR_WRITE_TRACK)
  }
}

// The squared ranges at which a fighter knows the others, infinite where it does not [m^2].
static void mr_measure_known(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                             float out[MR_FIGHTERS][MR_LANES]) {
  const MrBody *own = &b->fighters[fighter].body;
  for (int32_t other = 0; other < mr_fighters(sim); other++) {
    bool is_ally = mr_side(sim, other) == mr_side(sim, fighter);
    const MrContact *contact = is_ally ? NULL : &picture->contacts[mr_contact_place(sim, fighter, other)];
    const MrBody *body = is_ally ? &b->fighters[other].body : &contact->body;
    const int32_t *alive = b->fighters[other].alive;
    MR_FOR_LANES(i) out[other][i] = mr_select(alive[i], mr_range2(own, body, i), INFINITY);
    if (is_ally) continue;
    MR_FOR_LANES(i) out[other][i] = mr_select(mr_is_track(contact->source[i]), out[other][i], INFINITY);
  }
}

// Writes the rows of one kind that all lanes have of another fighter: to the places of their ranks, where it is known.
static void mr_put_rows(const float *turned, int32_t features, const int32_t rank[MR_LANES],
                        const float known[MR_LANES], const int32_t alive[MR_LANES], int lanes, float *rows,
                        size_t stride) {
  for (int i = 0; i < lanes; i++) {
    if (!alive[i] || known[i] == INFINITY) continue;
    memcpy(rows + (size_t)i * stride + rank[i] * features, turned + i * features, (size_t)features * sizeof(float));
  }
}

// Writes the rows of allies and contacts.
static void mr_view_others(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrPicture *picture,
                           const MrAlarms *alarms, int32_t fighter, const MrPlaces *places, int lanes, float *rows,
                           size_t stride) {
  const MrFighter *own = &b->fighters[fighter];
  MR_ALIGNED float known[MR_FIGHTERS][MR_LANES];
  MR_ALIGNED int32_t rank[MR_FIGHTERS][MR_LANES];
  MR_ALIGNED float ally[MR_ALLY_COUNT][MR_LANES], track[MR_TRACK_COUNT][MR_LANES];
  MR_ALIGNED float turned[MR_LANES * MR_TRACK_COUNT];  // has room for both
  mr_measure_known(sim, b, picture, fighter, known);
  for (int32_t side = 0; side < MR_SIDES; side++) mr_rank(sim, known, fighter, side, rank);
  for (int32_t other = 0; other < mr_fighters(sim); other++) {
    if (other == fighter) continue;
    bool is_ally = mr_side(sim, other) == mr_side(sim, fighter);
    int32_t features = is_ally ? MR_ALLY_COUNT : MR_TRACK_COUNT;
    if (is_ally) {
      mr_view_ally(sim, b, alarms, fighter, other, ally);
    } else {
      const MrContact *contact = &picture->contacts[mr_contact_place(sim, fighter, other)];
      mr_view_track(sim, &own->body, contact, scene->inbound[other].in_air, track);
    }
    mr_write_rows(is_ally ? ally : track, features, MR_LANES, turned, (size_t)features);
    mr_put_rows(turned, features, rank[other], known[other], own->alive, lanes,
                rows + places->first[is_ally ? MR_ROW_ALLY : MR_ROW_ENEMY], stride);
  }
}

// Writes what the receiver of a fighter hears in one lane: the radars, the most pressing first, and the seekers.
static void mr_view_heard(const MrHeardAll *all, int32_t enemies, const MrSeekers *seekers, int lane,
                          const MrPlaces *places, float *row) {
  float *radars = row + places->first[MR_ROW_RADAR], *locks = row + places->first[MR_ROW_INBOUND];
  for (int32_t e = 0; e < enemies; e++) {
    const MrHeard *heard = &all->of[e];
    if (!heard->hears[lane]) continue;
    int32_t rank = 0;
    for (int32_t other = 0; other < enemies; other++) {
      int first_of_equals = other < e && !mr_presses(heard, &all->of[other], lane);
      rank += mr_presses(&all->of[other], heard, lane) || first_of_equals;
    }
    float *to = radars + rank * MR_HEARD_COUNT;
    to[MR_HEARD_radar_present] = 1.0f;
    to[MR_HEARD_radar_tracked] = (float)heard->tracked[lane];
    to[MR_HEARD_radar_ahead] = mr_clip(heard->ahead[lane], -1.0f, 1.0f);
    to[MR_HEARD_radar_left] = mr_clip(heard->left[lane], -1.0f, 1.0f);
  }
  for (int rank = 0; rank < MR_HEARD_SEEKERS; rank++, locks += MR_SEEKER_FEATURE_COUNT) {
    locks[MR_LOCK_seeker_present] = (float)seekers->present[rank][lane];
    locks[MR_LOCK_seeker_ahead] = mr_clip(seekers->ahead[rank][lane], -1.0f, 1.0f);
    locks[MR_LOCK_seeker_left] = mr_clip(seekers->left[rank][lane], -1.0f, 1.0f);
  }
}

// Where the missile of a slot stands in one lane to its target, as its fighter believes it.
static MrStanding mr_believed_standing(const MrMissile *m, const MrContact *contact, int lane) {
  const MrBody *targets[MR_FIGHTERS];
  targets[m->target[lane]] = &contact->body;
  return mr_standing(m, targets, lane);
}

// Times to go of the missiles as their fighters believe them, by which these list them.
static void mr_look_by_picture(const MrSim *sim, const MrBlock *b, const MrPicture *picture, MrScene *believed) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      const MrContact *contact = &picture->contacts[mr_contact_place(sim, m->owner[i], m->target[i])];
      believed->time_to_go[slot][i] = mr_believed_standing(m, contact, i).time_to_go;
    }
  }
}

// Writes the row of a fighter's own missile in one lane. Where it stands to its target is by the contact.
static void mr_view_own_missile(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                int32_t slot, int i, float *row) {
  const MrConstants *k = &sim->constants;
  const MrBody *own = &b->fighters[fighter].body;
  const MrMissile *m = &b->missiles[slot];
  const MrContact *contact = &picture->contacts[mr_contact_place(sim, fighter, m->target[i])];
  MrStanding standing = mr_believed_standing(m, contact, i);
  bool tracked = mr_is_track(contact->source[i]);
  float dx = m->body.x[i] - own->x[i], dy = m->body.y[i] - own->y[i];
  float inverse = 1.0f / mr_max(sqrtf(dx * dx + dy * dy), k->one);
  MrVector place = mr_into_frame(dx, dy, own->c[i], own->s[i]);
  MrVector heading = mr_into_frame(m->body.c[i], m->body.s[i], own->c[i], own->s[i]);
  float gain = mr_chase_reach(sim, m->body.v[i], (float)m->age[i], contact->body.v[i]);
  float guided_present = 1.0f;
  float guided_ahead = place.ahead * inverse;
  float guided_left = place.left * inverse;
  float guided_nearness = tracked ? MR_NEAR_MISSILE / (MR_NEAR_MISSILE + standing.range) : 0.0f;
  float guided_urgency = tracked ? MR_NEAR_TIME / (MR_NEAR_TIME + standing.time_to_go) : 0.0f;
  float guided_speed = m->body.v[i];
  float guided_heading_ahead = heading.ahead;
  float guided_heading_left = heading.left;
  float guided_reach = tracked ? gain - standing.range : 0.0f;
  float guided_supported = (float)tracked;
  float guided_active = (float)picture->beliefs[slot].locked[i];
  MR_GUIDED_FEATURES(MR_WRITE_GUIDED, guided)
}

// Writes what a fighter observes into the first `lanes` lanes' rows, `stride` floats apart.
static void mr_view_fighter(const MrSim *sim, const MrBlock *b, const MrScene *scene, const MrPicture *picture,
                            const MrAlarms *alarms, const MrLists *lists, const int32_t survivors[MR_SIDES][MR_LANES],
                            int32_t fighter, const MrPlaces *places, int lanes, float *rows, size_t stride) {
  const MrFighter *own = &b->fighters[fighter];
  int32_t enemies = mr_size(sim, !mr_side(sim, fighter));
  MR_ALIGNED float features[MR_TEAM_OWN_COUNT][MR_LANES], turned[MR_LANES][MR_TEAM_OWN_COUNT];
  MrSeekers seekers;
  mr_see_own(sim, b, fighter, lists, survivors, features);
  mr_write_rows(features, MR_TEAM_OWN_COUNT, MR_LANES, turned[0], MR_TEAM_OWN_COUNT);
  mr_listen_to_seekers(b, fighter, picture, &seekers);
  for (int i = 0; i < lanes; i++) {
    float *row = rows + (size_t)i * stride;
    const MrList *list = &lists->own[fighter][i];
    mr_zero(row, 0, sim->features);
    if (!own->alive[i]) continue;
    memcpy(row, turned[i], sizeof turned[i]);
    mr_view_heard(&alarms->heard[fighter], enemies, &seekers, i, places, row);
    for (int32_t n = 0; n < list->count; n++) {
      float *missile = row + places->first[MR_ROW_OWN_MISSILE] + n * MR_SEEN_GUIDED_FEATURES;
      mr_view_own_missile(sim, b, picture, fighter, list->slot[n], i, missile);
    }
  }
  mr_view_others(sim, b, scene, picture, alarms, fighter, places, lanes, rows, stride);
}

// Writes the block's rows as its sides see it with their sensors.
static void mr_write_views(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out, float *rows,
                           size_t floats) {
  const MrBlock *b = mr_block(sim, block);
  const MrPicture *picture = mr_picture(sim, block);
  MR_ALIGNED int32_t survivors[MR_SIDES][MR_LANES];
  MrPlaces places = mr_find_rows(sim);
  MrScene believed;
  MrLists lists;
  MrAlarms alarms;
  mr_count_living(sim, b, survivors);
  mr_look_by_picture(sim, b, picture, &believed);
  mr_list_missiles(sim, b, &believed, &lists);
  mr_note_alarms(sim, b, picture, &alarms);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_view_fighter(sim, b, scene, picture, &alarms, &lists, survivors, f, &places, mr_used_lanes(sim, block), rows,
                    floats);
    rows += sim->features;
  }
}

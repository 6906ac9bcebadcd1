// SPDX-License-Identifier: MIT
//
// What a side knows in a game with sensors: contacts with enemies, and what its missiles believe of their targets.
// Between updates, which come with the decisions, what is believed flies straight on. RULES.md, "Sensors". What differs
// between one against one and teams is in pair_picture.h and team_picture.h.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "feature_table.h"
#include "sense.h"

// Whether a contact of this source is a track.
static inline int mr_is_track(int32_t source) {
  return (source == MR_RADAR) | (source == MR_MEMORY) | (source == MR_LINKED);
}

// Whether a sensor with this cosine of its half angle and this range sees a target: `ahead` is the cosine of the
// target's bearing, `radial` its own speed along the line of sight [m/s].
static inline int mr_sees(float cosine, float reach, float notch, float ahead, float range, float radial) {
  return (ahead >= cosine) & (range <= reach) & (fabsf(radial) >= notch);
}

// The range of a radar on a target that shows it `toward`, the cosine of its aspect [m].
static inline float mr_radar_range(const MrParams *p, float toward) {
  float end = mr_select(toward > 0.0f, p->radar_range_nose, p->radar_range_tail);
  return p->radar_range_beam + (end - p->radar_range_beam) * (toward * toward);
}

// Lets everything that is believed fly straight on for a time [s]. A lost contact stays where it is.
static void mr_fly_beliefs(const struct MrSim *sim, float time, const MrBlock *b, MrPicture *picture) {
  for (int32_t place = 0; place < mr_contacts(sim); place++) {
    MrContact *contact = &picture->contacts[place];
    MrBody *body = &contact->body;
    MR_FOR_LANES(i) {
      float way = mr_select(mr_is_track(contact->source[i]), time * body->v[i], 0.0f);
      body->x[i] += way * body->c[i];
      body->y[i] += way * body->s[i];
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MrBelief *belief = &picture->beliefs[slot];
    MR_FOR_LANES(i) {
      belief->x[i] += time * belief->vx[i];
      belief->y[i] += time * belief->vy[i];
    }
  }
}

// Updates the contact of a fighter with an enemy by its radar. `sight` is of the enemy, the true one; `steps` have been
// flown since the last update.
static void mr_update_contact(const struct MrSim *sim, const MrFighter *own, const MrFighter *enemy, int32_t steps,
                              const MrSight *sight, MrContact *contact) {
  const MrSensors *k = &sim->constants.sensors;
  MrBody *body = &contact->body;
  float notch = sim->params.radar_notch_speed;
  MR_FOR_LANES(i) {
    float reach = mr_radar_range(&sim->params, sight->aspect_ahead[i]);
    int sees = own->alive[i] & enemy->alive[i] &
               mr_sees(k->radar_cosine, reach, notch, sight->ahead[i], sight->range[i], sight->approach[i]);
    int32_t before = contact->seen[i], source = contact->source[i];
    int32_t seen = mr_select_int(sees, mr_select_int(before < 0, 0, before + steps), -1);
    int32_t age = contact->age[i] + steps;
    int tracked = mr_is_track(source);
    int live = sees & (tracked | (seen >= k->acquire_time));
    int remembered = tracked & (age <= k->track_memory);
    source = mr_select_int(source == MR_UNSEEN, MR_UNSEEN, MR_LOST);
    source = mr_select_int(remembered, MR_MEMORY, source);
    source = mr_select_int(live, MR_RADAR, source);
    contact->seen[i] = seen;
    contact->source[i] = source;
    contact->age[i] = mr_select_int(live | (source == MR_UNSEEN), 0, age);
    body->x[i] = mr_select(live, enemy->body.x[i], body->x[i]);
    body->y[i] = mr_select(live, enemy->body.y[i], body->y[i]);
    body->c[i] = mr_select(live, enemy->body.c[i], body->c[i]);
    body->s[i] = mr_select(live, enemy->body.s[i], body->s[i]);
    body->v[i] = mr_select(live, enemy->body.v[i], body->v[i]);
  }
}

// The targets of a slot's missiles: as they are, and as the missiles' fighters believe them, where these have a track.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], vx[MR_LANES], vy[MR_LANES];  // [m], [m/s]
  MR_ALIGNED int32_t tracked[MR_LANES];
  MR_ALIGNED float told_x[MR_LANES], told_y[MR_LANES], told_vx[MR_LANES], told_vy[MR_LANES];
} MrTargets;

// Updates what the missiles of a slot believe, by the first of these that applies: their seeker sees the target; it
// remembers it; their fighter has a track; what they believed before. Marks in `strays` those that know nothing.
static void mr_update_belief(const struct MrSim *sim, const MrMissile *m, int32_t steps, const MrTargets *t,
                             MrBelief *belief, int32_t strays[MR_LANES]) {
  const MrSensors *k = &sim->constants.sensors;
  float reach = sim->params.seeker_range, notch = sim->params.radar_notch_speed;
  MR_FOR_LANES(i) {
    int tracked = t->tracked[i];
    int told = tracked & !belief->locked[i];
    float x = mr_select(told, t->told_x[i], belief->x[i]);
    float y = mr_select(told, t->told_y[i], belief->y[i]);
    float vx = mr_select(told, t->told_vx[i], belief->vx[i]);
    float vy = mr_select(told, t->told_vy[i], belief->vy[i]);

    float mx = m->body.x[i], my = m->body.y[i];
    int looks = (x - mx) * (x - mx) + (y - my) * (y - my) <= reach * reach;
    float dx = t->x[i] - mx, dy = t->y[i] - my;
    float range = sqrtf(dx * dx + dy * dy), inverse = 1.0f / mr_max(range, 1.0f);
    float ahead = (dx * m->body.c[i] + dy * m->body.s[i]) * inverse;
    float radial = (dx * t->vx[i] + dy * t->vy[i]) * inverse;
    int sees = looks & mr_sees(k->seeker_cosine, reach, notch, ahead, range, radial);

    int32_t unseen = mr_select_int(sees, 0, belief->unseen[i] + steps);
    int locked = sees | (belief->locked[i] & (unseen <= k->seeker_memory));
    // A lock that ends in this update leaves the missile to the track, if there is one.
    int falls_back = belief->locked[i] & !locked & tracked;
    x = mr_select(falls_back, t->told_x[i], x);
    y = mr_select(falls_back, t->told_y[i], y);
    vx = mr_select(falls_back, t->told_vx[i], vx);
    vy = mr_select(falls_back, t->told_vy[i], vy);
    belief->x[i] = mr_select(sees, t->x[i], x);
    belief->y[i] = mr_select(sees, t->y[i], y);
    belief->vx[i] = mr_select(sees, t->vx[i], vx);
    belief->vy[i] = mr_select(sees, t->vy[i], vy);
    belief->locked[i] = locked;
    belief->unseen[i] = mr_select_int(locked, unseen, 0);
    strays[i] = m->active[i] & !locked & !tracked;
  }
}

// Removes a slot's burnt-out missiles that know nothing of their targets.
static void mr_drop_strays(const MrConstants *k, const int32_t strays[MR_LANES], MrBlock *b, int32_t slot) {
  MrMissile *m = &b->missiles[slot];
  MR_FOR_LANES(i) m->active[i] &= !(strays[i] & ((float)m->age[i] >= k->burn_steps));
  b->live[slot] = mr_count(m->active);
}

static void mr_note_targets(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t slot,
                            MrTargets *out);

// Updates what all missiles believe, after the contacts, and removes those that are lost.
static void mr_update_beliefs(const struct MrSim *sim, int32_t steps, MrBlock *b, MrPicture *picture) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MR_ALIGNED int32_t strays[MR_LANES];
    MrTargets targets;
    if (!b->live[slot]) continue;
    mr_note_targets(sim, b, picture, slot, &targets);
    mr_update_belief(sim, &b->missiles[slot], steps, &targets, &picture->beliefs[slot], strays);
    mr_drop_strays(&sim->constants, strays, b, slot);
  }
}

// The warning receiver -------------------------------------------------------------------------------------

// What the receiver of a fighter hears of an enemy's radar: whether it points here, and whether it has a track. Flags are
// 0 or 1. The bearing is a unit vector in the own frame.
typedef struct {
  MR_ALIGNED int32_t hears[MR_LANES], tracked[MR_LANES];
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrHeard;

// `sight` is of the enemy, the true one; `contact` is what the enemy knows of the fighter.
static void mr_listen(const struct MrSim *sim, const MrFighter *own, const MrFighter *enemy, const MrSight *sight,
                      const MrContact *contact, MrHeard *out) {
  const MrSensors *k = &sim->constants.sensors;
  MR_FOR_LANES(i) {
    int hears = own->alive[i] & enemy->alive[i] & (sight->aspect_ahead[i] >= k->radar_cosine) &
                (sight->range[i] <= k->receiver_range);
    out->hears[i] = hears;
    out->tracked[i] = hears & (contact->source[i] == MR_RADAR);
    out->ahead[i] = mr_select(hears, sight->ahead[i], 0.0f);
    out->left[i] = mr_select(hears, sight->left[i], 0.0f);
  }
}

// The seekers with a lock on a fighter, the one nearest its nose first. The bearings are unit vectors in the own frame.
typedef struct {
  MR_ALIGNED int32_t present[MR_SEEKERS_OBSERVED][MR_LANES];
  MR_ALIGNED float ahead[MR_SEEKERS_OBSERVED][MR_LANES], left[MR_SEEKERS_OBSERVED][MR_LANES];
} MrSeekers;

// Inserts a seeker among those of a lane, which are sorted. Those behind it move down; the last one drops out.
static inline void mr_insert_seeker(MrSeekers *seekers, int i, int32_t present, float ahead, float left) {
  for (int rank = 0; rank < MR_SEEKERS_OBSERVED; rank++) {
    int32_t here = seekers->present[rank][i];
    float here_ahead = seekers->ahead[rank][i], here_left = seekers->left[rank][i];
    int before = present & (!here | (ahead > here_ahead));
    seekers->present[rank][i] = mr_select_int(before, present, here);
    seekers->ahead[rank][i] = mr_select(before, ahead, here_ahead);
    seekers->left[rank][i] = mr_select(before, left, here_left);
    present = mr_select_int(before, here, present);
    ahead = mr_select(before, here_ahead, ahead);
    left = mr_select(before, here_left, left);
  }
}

static void mr_listen_to_seekers(const MrBlock *b, int32_t fighter, const MrPicture *picture, MrSeekers *out) {
  const MrBody *own = &b->fighters[fighter].body;
  for (int rank = 0; rank < MR_SEEKERS_OBSERVED; rank++) {
    MR_FOR_LANES(i) {
      out->present[rank][i] = 0;
      out->ahead[rank][i] = out->left[rank][i] = 0.0f;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    const MrBelief *belief = &picture->beliefs[slot];
    MR_FOR_LANES(i) {
      float dx = m->body.x[i] - own->x[i], dy = m->body.y[i] - own->y[i];
      float inverse = 1.0f / mr_max(sqrtf(dx * dx + dy * dy), 1.0f);
      MrVector place = mr_into_frame(dx, dy, own->c[i], own->s[i]);
      int present = m->active[i] & (m->target[i] == fighter) & belief->locked[i];
      mr_insert_seeker(out, i, present, place.ahead * inverse, place.left * inverse);
    }
  }
}

#if MR_SIDE == 1
#include "pair_picture.h"
#else
#include "team_picture.h"
#endif

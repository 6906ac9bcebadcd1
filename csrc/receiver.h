// SPDX-License-Identifier: MIT
//
// The warning receiver: the radars and seekers that a fighter hears. RULES.md, "Sensors".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "feature_table.h"
#include "picture.h"
#include "sight.h"

// An enemy's radar as the receiver of a fighter hears it: 1 if it points at the fighter, 1 if it tracks it. The bearing
// is a unit vector in the own frame, on the ground: with height it tells nothing of the radar's elevation.
typedef struct {
  MR_ALIGNED int32_t hears[MR_LANES], tracked[MR_LANES];
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrHeard;

// Listens for the radar of an enemy, `e`, unless that is silent, and for its jammer, which it hears in all directions.
// `sight` is the true one of the enemy; `contact` is the enemy's with the fighter.
static void mr_listen(const MrSim *sim, const MrFighter *own, const MrBlock *b, const MrPicture *picture, int32_t e,
                      const MrSight *sight, const MrContact *contact, MrHeard *out) {
  const MrSensors *k = &sim->constants.sensors;
  const int32_t *silent = picture->systems[e].silent;
  const MrFighter *enemy = &b->fighters[e];
  const MrRoster *roster = mr_roster(sim, b);
  MR_FOR_LANES(i) {
    int jams = mr_jammer(sim, roster, e, i) > 0.0f;
    int hears = own->alive[i] & enemy->alive[i] &
                (jams | (!silent[i] & (mr_aspect_cosine(sight, i) >= k->radar_cosine))) &
                (sight->range[i] <= k->receiver_range);
    MrVector bearing = mr_bearing(sight, i);
    out->hears[i] = hears;
    out->tracked[i] = hears & (contact->source[i] == MR_LIVE);
    out->ahead[i] = mr_select(hears, bearing.ahead, 0.0f);
    out->left[i] = mr_select(hears, bearing.left, 0.0f);
  }
}

// 1 if the seeker of a missile with a lock can be heard by its target in lane i. One that homes on the target's jammer
// from beyond its own range only listens. `jammer` is the target's.
static inline int mr_radiates(const MrSim *sim, float jammer, const MrBody *missile, const MrBody *target, int i) {
  float dx = missile->x[i] - target->x[i], dy = missile->y[i] - target->y[i];
  float dz = mr_height(missile, i) - mr_height(target, i), reach = sim->params.seeker_range;
  return (jammer <= 0.0f) | (dx * dx + dy * dy + dz * dz <= reach * reach);
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

static void mr_listen_to_seekers(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrPicture *picture,
                                 MrSeekers *out) {
  const MrRoster *roster = mr_roster(sim, b);
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
      MrVector place = mr_into_own(own, dx, dy, i);
      int present = m->active[i] & (m->target[i] == fighter) & belief->locked[i];
      present &= mr_radiates(sim, mr_jammer(sim, roster, fighter, i), &m->body, own, i);
      mr_insert_seeker(out, i, present, place.ahead * inverse, place.left * inverse);
    }
  }
}

// The radars of all enemies of a fighter, by their places in their side.
typedef struct {
  MrHeard of[MR_ENEMIES];
} MrHeardAll;

static void mr_listen_around(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrPicture *picture,
                             MrHeardAll *out) {
  int32_t enemies = !mr_side(sim, fighter), first = mr_first(sim, enemies);
  MR_FOR_SIDE(sim, enemies, e) {
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, e, fighter)];
    MrSight room[2], *sight = mr_true_sight(b, fighter, e, room);
    mr_listen(sim, &b->fighters[fighter], b, picture, e, sight, contact, &out->of[e - first]);
  }
}

// 1 if radar a presses more than radar b: those that track the fighter come first, of these the one nearer its nose.
// Those that are not heard come last.
static inline int mr_presses(const MrHeard *a, const MrHeard *b, int i) {
  int32_t order = a->hears[i] + a->tracked[i], other = b->hears[i] + b->tracked[i];
  return (order > other) | ((order == other) & (a->ahead[i] > b->ahead[i]));
}

// Finds the radar that presses most.
static void mr_most_pressing(const MrSim *sim, int32_t fighter, const MrHeardAll *all, MrHeard *out) {
  *out = all->of[0];
  for (int32_t e = 1; e < mr_size(sim, !mr_side(sim, fighter)); e++) {
    const MrHeard *other = &all->of[e];
    MR_FOR_LANES(i) {
      int more = mr_presses(other, out, i);
      out->hears[i] = mr_select_int(more, other->hears[i], out->hears[i]);
      out->tracked[i] = mr_select_int(more, other->tracked[i], out->tracked[i]);
      out->ahead[i] = mr_select(more, other->ahead[i], out->ahead[i]);
      out->left[i] = mr_select(more, other->left[i], out->left[i]);
    }
  }
}

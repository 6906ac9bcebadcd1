// SPDX-License-Identifier: MIT
//
// The choice of an enemy: by a shot, by a missile that has lost its target, and by a scripted pilot in a team.
// RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "picture.h"

// The squared distance between two bodies in one lane [m^2].
static inline float mr_range2(const MrBody *a, const MrBody *b, int i) {
  float dx = b->x[i] - a->x[i], dy = b->y[i] - a->y[i];
#if MR_DIMENSIONS == 3
  float dz = b->z[i] - a->z[i];
  return dx * dx + dy * dy + dz * dz;
#else
  return dx * dx + dy * dy;
#endif
}

// The body of an enemy in one lane as a fighter knows it: the true one, or with sensors its track's. NULL if the enemy
// is dead or there is no track. `picture` is NULL without sensors.
static inline const MrBody *mr_known(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                     int32_t enemy, int lane) {
  if (!b->fighters[enemy].alive[lane]) return NULL;
  if (!picture) return &b->fighters[enemy].body;
  const MrContact *contact = &picture->contacts[mr_contact_place(sim, fighter, enemy)];
  return mr_is_track(contact->source[lane]) ? &contact->body : NULL;
}

// The k-th nearest enemy that a fighter knows in one lane, k from 1; -1 if there are fewer. Of enemies at equal range
// the first comes first. This is the order in which they are observed.
static int32_t mr_nearest_enemy(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                int32_t k, int lane) {
  const MrBody *own = &b->fighters[fighter].body;
  int32_t order[MR_FIGHTERS], count = 0;
  float ranges[MR_FIGHTERS];
  MR_FOR_SIDE(sim, !mr_side(sim, fighter), e) {
    const MrBody *enemy = mr_known(sim, b, picture, fighter, e, lane);
    if (!enemy) continue;
    float range2 = mr_range2(own, enemy, lane);
    int32_t at = count++;
    for (; at > 0 && ranges[at - 1] > range2; at--) {
      ranges[at] = ranges[at - 1];
      order[at] = order[at - 1];
    }
    ranges[at] = range2;
    order[at] = e;
  }
  return k <= count ? order[k - 1] : -1;
}

#if MR_SIDE > 1

// The way from a body in one lane to another, along the velocity of a third [m].
static inline float mr_along(const MrBody *from, const MrBody *to, const MrBody *flown, int i) {
  float dx = to->x[i] - from->x[i], dy = to->y[i] - from->y[i];
  float way = dx * flown->c[i] + dy * flown->s[i];
#if MR_DIMENSIONS == 3
  way += (to->z[i] - from->z[i]) * flown->u[i];
#endif
  return way;
}

// The cosine of the angle at which a body in one lane sees another off its nose.
static inline float mr_off_nose(const MrBody *own, const MrBody *other, int i) {
  float range = sqrtf(mr_range2(own, other, i));
  return mr_along(own, other, own, i) / (range > 1.0f ? range : 1.0f);
}

// The enemy of a side nearest a body's nose in one lane, of the `enemies` that are not NULL; or -1.
static int32_t mr_nearest_nose(const MrSim *sim, const MrBody *own, int32_t side,
                               const MrBody *const enemies[MR_FIGHTERS], int lane) {
  int32_t nearest = -1;
  float most = -2.0f;
  MR_FOR_SIDE(sim, !side, e) {
    if (!enemies[e]) continue;
    float cosine = mr_off_nose(own, enemies[e], lane);
    if (cosine > most) nearest = e;
    most = mr_max(cosine, most);
  }
  return nearest;
}

// True if the seeker of a missile without a target sees an enemy in one lane. Without sensors there is no notch.
static bool mr_seeker_sees(const MrSim *sim, const MrBlock *b, const MrBody *own, int32_t target, int lane) {
  const MrParams *p = &sim->params;
  const MrBody *body = &b->fighters[target].body;
  float reach = sim->pictures ? p->seeker_range * mr_echo_of(mr_roster(sim, b), target, lane) : p->seeker_range;
  float range2 = mr_range2(own, body, lane), ahead = mr_off_nose(own, body, lane);
  if (!b->fighters[target].alive[lane] || range2 > reach * reach) return false;
  if (ahead < sim->constants.sensors.seeker_cosine) return false;
  float below = mr_height(own, lane) - mr_height(body, lane);
  MrEcho echo = {ahead, sqrtf(range2), mr_off_nose(body, own, lane) * body->v[lane], below};
  return !sim->pictures || !mr_is_notched(p, echo);
}

// The living enemy nearest a missile's nose of those that its seeker sees in one lane; or -1.
static int32_t mr_seek_target(const MrSim *sim, const MrBlock *b, const MrMissile *m, int lane) {
  const MrBody *enemies[MR_FIGHTERS];
  int32_t side = mr_side(sim, m->owner[lane]);
  MR_FOR_SIDE(sim, !side, e) {
    enemies[e] = mr_seeker_sees(sim, b, &m->body, e, lane) ? &b->fighters[e].body : NULL;
  }
  return mr_nearest_nose(sim, &m->body, side, enemies, lane);
}

// True if a missile of one lane, whose target is dead, is spent.
static bool mr_is_spent(const MrSim *sim, const MrBlock *b, const MrMissile *m, int lane) {
#if MR_DIMENSIONS == 3
  const MrMissileLanes *type = &mr_roster(sim, b)->missiles[mr_side(sim, m->owner[lane])][0];
  float age = (float)m->age[lane], z = m->body.z[lane], over = z - b->fighters[m->target[lane]].body.z[lane];
  float speed2 = m->body.v[lane] * m->body.v[lane] + 2.0f * sim->types.gravity * over;
  bool slow = age >= type->motor_steps[lane] && speed2 < type->spent2[lane];
  return slow || age >= type->life_steps[lane] || z < 0.0f;
#else
  (void)b;
  return (float)m->age[lane] >= sim->constants.burn_steps && m->body.v[lane] < sim->params.missile_spent_speed;
#endif
}

// Gives each missile of a lane whose target is dead another: the enemy nearest its nose that its seeker sees. Without
// one, or once it is spent, it is removed.
static void mr_find_new_targets(const MrSim *sim, MrBlock *b, MrPicture *picture, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrMissile *m = &b->missiles[slot];
    if (!m->active[lane] || b->fighters[m->target[lane]].alive[lane]) continue;
    int32_t target = mr_is_spent(sim, b, m, lane) ? -1 : mr_seek_target(sim, b, m, lane);
    if (target < 0) {
      mr_remove(b, slot, lane);
      continue;
    }
    m->target[lane] = target;
    if (picture) mr_believe_in(&b->fighters[target].body, 1, &picture->beliefs[slot], lane);
  }
}

// The enemy that a fighter's `fire` is at, in one lane; -1 if it knows none there.
static int32_t mr_shot_at(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter, int lane) {
  int32_t fire = b->fighters[fighter].fire[lane], target = b->fighters[fighter].target[lane];
  if (fire == MR_FIRE_TARGET) return mr_known(sim, b, picture, fighter, target, lane) ? target : -1;
  if (fire != MR_FIRE_AHEAD) return mr_nearest_enemy(sim, b, picture, fighter, fire, lane);
  const MrBody *enemies[MR_FIGHTERS];
  int32_t side = mr_side(sim, fighter);
  MR_FOR_SIDE(sim, !side, e) enemies[e] = mr_known(sim, b, picture, fighter, e, lane);
  return mr_nearest_nose(sim, &b->fighters[fighter].body, side, enemies, lane);
}

#else

static inline int32_t mr_shot_at(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                 int lane) {
  return mr_nearest_enemy(sim, b, picture, fighter, 1, lane);
}

#endif

// SPDX-License-Identifier: MIT
//
// Which enemy a shot, a missile that has lost its target, and a scripted pilot in a team go for. RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"

// The squared distance between two bodies in one lane [m^2].
static inline float mr_range2(const MrBody *a, const MrBody *b, int i) {
  float dx = b->x[i] - a->x[i], dy = b->y[i] - a->y[i];
  return dx * dx + dy * dy;
}

// The k-th nearest living enemy of a fighter in one lane, k from 1; -1 if there are fewer. Of enemies at equal range
// the first comes first. This is the order in which they are observed.
static int32_t mr_nearest_enemy(const struct MrSim *sim, const MrBlock *b, int32_t fighter, int32_t k, int lane) {
  const MrBody *own = &b->fighters[fighter].body;
  int32_t order[MR_FIGHTERS], count = 0;
  float ranges[MR_FIGHTERS];
  MR_FOR_SIDE(sim, !mr_side(sim, fighter), e) {
    if (!b->fighters[e].alive[lane]) continue;
    float range2 = mr_range2(own, &b->fighters[e].body, lane);
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

// Removes the missile of a slot in one lane.
static inline void mr_remove(MrBlock *b, int32_t slot, int lane) {
  b->live[slot] -= b->missiles[slot].active[lane];
  b->missiles[slot].active[lane] = 0;
}

#if MR_SIDE > 1

// The cosine of the angle at which a body in one lane sees another off its nose.
static inline float mr_off_nose(const MrBody *own, const MrBody *other, int i) {
  float dx = other->x[i] - own->x[i], dy = other->y[i] - own->y[i];
  float range = sqrtf(dx * dx + dy * dy);
  return (dx * own->c[i] + dy * own->s[i]) / (range > 1.0f ? range : 1.0f);
}

// Of the living fighters of a side in one lane, within `reach` [m], the one nearest the nose of a body, if its cosine
// is at least `least`; or -1.
static int32_t mr_nearest_nose(const struct MrSim *sim, const MrBlock *b, const MrBody *own, int32_t side, float reach,
                               float least, int lane) {
  int32_t nearest = -1;
  MR_FOR_SIDE(sim, side, f) {
    const MrFighter *other = &b->fighters[f];
    if (!other->alive[lane] || mr_range2(own, &other->body, lane) > reach * reach) continue;
    float cosine = mr_off_nose(own, &other->body, lane);
    if (cosine < least || (nearest >= 0 && cosine == least)) continue;
    least = cosine;
    nearest = f;
  }
  return nearest;
}

// Gives each missile of a lane whose target is dead another: the enemy nearest its nose of those within its seeker's
// cone and range. Without one, or once it is spent, it is removed.
static void mr_find_new_targets(const struct MrSim *sim, MrBlock *b, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrMissile *m = &b->missiles[slot];
    if (!m->active[lane] || b->fighters[m->target[lane]].alive[lane]) continue;
    bool burnt = (float)m->age[lane] >= sim->constants.burn_steps;
    bool spent = burnt && m->body.v[lane] < sim->params.missile_spent_speed;
    int32_t enemies = !mr_side(sim, m->owner[lane]);
    float cosine = sim->constants.sensors.seeker_cosine;
    int32_t target = spent ? -1 : mr_nearest_nose(sim, b, &m->body, enemies, sim->params.seeker_range, cosine, lane);
    if (target < 0) {
      mr_remove(b, slot, lane);
    } else {
      m->target[lane] = target;
    }
  }
}

// At whom a fighter's `fire` is, in one lane; -1 for nobody that lives.
static int32_t mr_shot_at(const struct MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  const MrFighter *f = &b->fighters[fighter];
  int32_t fire = f->fire[lane], target = f->target[lane];
  if (fire == MR_FIRE_TARGET) return b->fighters[target].alive[lane] ? target : -1;
  if (fire == MR_FIRE_AHEAD) return mr_nearest_nose(sim, b, &f->body, !mr_side(sim, fighter), INFINITY, -2.0f, lane);
  return mr_nearest_enemy(sim, b, fighter, fire, lane);
}

#else

static inline void mr_find_new_targets(const struct MrSim *sim, MrBlock *b, int lane) {
  (void)sim, (void)b, (void)lane;
}

static inline int32_t mr_shot_at(const struct MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  return mr_nearest_enemy(sim, b, fighter, 1, lane);
}

#endif

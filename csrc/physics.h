// SPDX-License-Identifier: MIT
//
// The physics steps of a block. RULES.md, "Order of events".
//
// A missile affects nothing but whether its target lives, and what a missile does after its end or a fighter
// after its death concerns nobody. So all steps are flown without a branch, noting when each missile would
// end; what ends what is settled after the last step.

#pragma once

#include "block.h"
#include "flight.h"
#include "guidance.h"

#define MR_NEVER INT32_MAX  // odd: not a hit, see mr_fly_missile

// Moves a fighter's actuators, then the fighter up to the step of its death; reports its motion.
static inline void mr_fly_fighter(const MrConstants *k, int32_t step, const int32_t death[MR_LANES],
                                  MrFighter *f, MrMotion *motion) {
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float dt = mr_select(2 * step <= death[i], k->dt, 0.0f);
    float throttle = mr_actuate(f->throttle[i], f->throttle_command[i], k->throttle_step);
    motion->vx[i] = body->v[i] * body->c[i];
    motion->vy[i] = body->v[i] * body->s[i];
    body->rudder[i] = mr_actuate(body->rudder[i], f->rudder_command[i], k->fighter.rudder_step);
    f->throttle[i] = throttle;
    mr_fly(&k->fighter, dt, k->fighter.thrust * throttle, body, i);
    motion->x[i] = body->x[i];
    motion->y[i] = body->y[i];
  }
}

// Steers one slot's missiles by PN on their targets' state before the step.
static inline void mr_guide(const MrConstants *k, const MrMotion fighters[MR_FIGHTERS],
                            const MrChase *chase, MrMissile *m) {
  MrBody *body = &m->body;
  MR_FOR_LANES(i) {
    float vx = fighters[0].vx[i], vy = fighters[0].vy[i];
    for (int32_t f = 1; f < MR_FIGHTERS; f++) {  // by comparing, so that it stays a vector operation
      vx = mr_select(m->target[i] == f, fighters[f].vx[i], vx);
      vy = mr_select(m->target[i] == f, fighters[f].vy[i], vy);
    }
    float wx = vx - body->v[i] * body->c[i], wy = vy - body->v[i] * body->s[i];
    float range2 = mr_max(chase->range2[i], 1.0f), v = mr_max(body->v[i], 1.0f);
    float cross = chase->x[i] * wy - chase->y[i] * wx;
    float command = mr_clip(k->navigation_gain * cross / (range2 * v), -1.0f, 1.0f);
    body->rudder[i] = mr_actuate(body->rudder[i], command, k->missile.rudder_step);
  }
}

typedef struct {
  MR_ALIGNED float length[MR_LANES], turn[MR_LANES];
} MrArcs;

static inline void mr_fly_missile_speed(const MrConstants *k, int32_t step, MrMissile *m, MrArcs *arcs) {
  MR_FOR_LANES(i) {
    float thrust = mr_motor(k, k->burn_steps - (float)(m->age[i] + step));
    MrArc arc = mr_fly_speed(&k->missile, k->dt, thrust, &m->body, i);
    arcs->length[i] = arc.length;
    arcs->turn[i] = arc.turn;
  }
}
static inline void mr_fly_missile_arc(const MrArcs *arcs, MrMissile *m) {
  MR_FOR_LANES(i) mr_fly_arc(arcs->length[i], arcs->turn[i], &m->body, i);
}

// Notes in `end` the least of 2 * step where a missile hits and 2 * step + 1 where it is spent.
static inline void mr_fuze(const struct MrSim *sim, int32_t step, const MrMotion fighters[MR_FIGHTERS],
                           const MrMissile *m, MrChase *chase, int32_t end[MR_LANES]) {
  float radius2 = sim->params.missile_hit_radius * sim->params.missile_hit_radius;
  float spent_speed = sim->params.missile_spent_speed, burn_steps = sim->constants.burn_steps;
  MR_FOR_LANES(i) {
    float x = fighters[0].x[i], y = fighters[0].y[i];
    for (int32_t f = 1; f < MR_FIGHTERS; f++) {
      x = mr_select(m->target[i] == f, fighters[f].x[i], x);
      y = mr_select(m->target[i] == f, fighters[f].y[i], y);
    }
    float ax = chase->x[i], ay = chase->y[i], a2 = chase->range2[i];
    float bx = x - m->body.x[i], by = y - m->body.y[i], b2 = bx * bx + by * by;
    int hit = mr_passes_within(radius2, ax, ay, a2, bx, by, b2);
    int spent = (m->body.v[i] < spent_speed) & ((float)(m->age[i] + step + 1) >= burn_steps);
    int32_t event = mr_select_int(hit, 2 * step, mr_select_int(spent, 2 * step + 1, MR_NEVER));
    end[i] = mr_select_int(event < end[i], event, end[i]);
    chase->x[i] = bx;
    chase->y[i] = by;
    chase->range2[i] = b2;
  }
}

// Where a slot's missiles have their targets before the first step.
static void mr_begin_chase(const MrBlock *b, int32_t slot, MrChase *chase) {
  const MrMissile *m = &b->missiles[slot];
  MR_FOR_LANES(i) {
    float x = b->fighters[0].body.x[i], y = b->fighters[0].body.y[i];
    for (int32_t f = 1; f < MR_FIGHTERS; f++) {
      x = mr_select(m->target[i] == f, b->fighters[f].body.x[i], x);
      y = mr_select(m->target[i] == f, b->fighters[f].body.y[i], y);
    }
    x -= m->body.x[i];
    y -= m->body.y[i];
    chase->x[i] = x;
    chase->y[i] = y;
    chase->range2[i] = x * x + y * y;
  }
}

// When each fighter dies: 2 * step, MR_NEVER, or -1 for long ago.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// Finds who dies when; false when nothing has ended.
static bool mr_find_deaths(const MrBlock *b, const int32_t ends[MR_MISSILES][MR_LANES],
                           MrDeaths death) {
  MR_ALIGNED int32_t ended[MR_LANES] = {0};
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_LANES(i) ended[i] |= m->active[i] & (ends[slot][i] != MR_NEVER);
  }
  if (mr_count(ended) == 0) return false;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      MR_FOR_LANES(i) {
        int32_t end = ends[slot][i];
        int kills = m->active[i] & (m->target[i] == f) & !(end & 1) & (end < death[f][i]);
        death[f][i] = mr_select_int(kills, end, death[f][i]);
      }
    }
  }
  return true;
}

// Removes one slot's missiles that have ended or lost their target, and counts the hits.
static void mr_end_flights(MrBlock *b, int32_t slot, const int32_t end[MR_LANES],
                           const MrDeaths death) {
  MrMissile *m = &b->missiles[slot];
  MR_ALIGNED int32_t gone[MR_LANES], hit[MR_LANES] = {0};
  MR_FOR_LANES(i) gone[i] = end[i] != MR_NEVER;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) {
      int lost = (m->target[i] == f) & (death[f][i] != MR_NEVER);
      hit[i] |= m->active[i] & lost & (end[i] == death[f][i]);
      gone[i] |= lost;
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) b->fighters[f].hits[i] += hit[i] & (m->owner[i] == f);
  }
  MR_FOR_LANES(i) m->active[i] &= gone[i] ^ 1;
  b->live[slot] = mr_count(m->active);
}

// The part of a fighter that mr_fly_fighter changes.
typedef struct {
  MrBody body;
  MR_ALIGNED float throttle[MR_LANES];
} MrTakeoff;

static inline void mr_copy_body(const MrBody *from, MrBody *to) {
  MR_FOR_LANES(i) {
    to->x[i] = from->x[i];
    to->y[i] = from->y[i];
    to->c[i] = from->c[i];
    to->s[i] = from->s[i];
    to->v[i] = from->v[i];
    to->rudder[i] = from->rudder[i];
  }
}

// Kills a fighter: flies it again from before the first step, up to its death.
static void mr_kill(const MrConstants *k, const MrTakeoff *before, int32_t steps,
                    const int32_t death[MR_LANES], MrFighter *f) {
  MrMotion unused;
  mr_copy_body(&before->body, &f->body);
  MR_FOR_LANES(i) {
    f->throttle[i] = before->throttle[i];
    f->alive[i] = death[i] == MR_NEVER;
  }
  for (int32_t step = 0; step < steps; step++) mr_fly_fighter(k, step, death, f, &unused);
}

// Settles who has died and which missiles are gone.
static void mr_settle(const MrConstants *k, MrBlock *b, int32_t steps,
                      const MrTakeoff before[MR_FIGHTERS],
                      const int32_t ends[MR_MISSILES][MR_LANES], MrDeaths death) {
  if (!mr_find_deaths(b, ends, death)) return;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (b->live[slot]) mr_end_flights(b, slot, ends[slot], death);
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_ALIGNED int32_t dies[MR_LANES];
    MR_FOR_LANES(i) dies[i] = b->fighters[f].alive[i] & (death[f][i] != MR_NEVER);
    if (mr_count(dies)) mr_kill(k, &before[f], steps, death[f], &b->fighters[f]);
  }
}

// Flies a block for some steps.
static void mr_fly_steps(const struct MrSim *sim, MrBlock *b, int32_t steps) {
  const MrConstants *k = &sim->constants;
  MrTakeoff before[MR_FIGHTERS];
  MrMotion motion[MR_FIGHTERS];
  MrChase chase[MR_MISSILES];
  MrArcs arcs[MR_MISSILES];
  MR_ALIGNED MrDeaths death;
  MR_ALIGNED int32_t ends[MR_MISSILES][MR_LANES];
  MrMissile *missiles[MR_MISSILES];
  int32_t slots[MR_MISSILES], live = 0;

  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    mr_copy_body(&fighter->body, &before[f].body);
    MR_FOR_LANES(i) {
      before[f].throttle[i] = fighter->throttle[i];
      death[f][i] = mr_select_int(fighter->alive[i], MR_NEVER, -1);
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    mr_begin_chase(b, slot, &chase[live]);
    MR_FOR_LANES(i) ends[slot][i] = MR_NEVER;
    missiles[live] = &b->missiles[slot];
    slots[live++] = slot;
  }
  for (int32_t step = 0; step < steps; step++) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      mr_fly_fighter(k, step, death[f], &b->fighters[f], &motion[f]);
    }
    for (int32_t j = 0; j < live; j++) mr_guide(k, motion, &chase[j], missiles[j]);
    for (int32_t j = 0; j < live; j++) mr_fly_missile_speed(k, step, missiles[j], &arcs[j]);
    for (int32_t j = 0; j < live; j++) mr_fly_missile_arc(&arcs[j], missiles[j]);
    for (int32_t j = 0; j < live; j++) {
      mr_fuze(sim, step, motion, missiles[j], &chase[j], ends[slots[j]]);
    }
  }
  for (int32_t j = 0; j < live; j++) {
    MR_FOR_LANES(i) b->missiles[slots[j]].age[i] += steps;
  }
  MR_FOR_LANES(i) b->time[i] += steps;
  mr_settle(k, b, steps, before, ends, death);
}

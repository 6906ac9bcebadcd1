// SPDX-License-Identifier: MIT
//
// The rules of an engagement: launches, the order of events in a physics step, kills, the outcome.
// RULES.md, "Order of events".

#pragma once

#include <math.h>

#include "block.h"
#include "flight.h"
#include "guidance.h"

// The nearest living enemy of a fighter in one lane, or -1.
static inline int32_t mr_enemy_of(const MrBlock *b, int32_t fighter, int lane) {
  const MrBody *own = &b->fighters[fighter].body;
  int32_t nearest = -1;
  float least = INFINITY;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if ((f & 1) == (fighter & 1) || !b->fighters[f].alive[lane]) continue;
    float dx = b->fighters[f].body.x[lane] - own->x[lane];
    float dy = b->fighters[f].body.y[lane] - own->y[lane];
    if (dx * dx + dy * dy < least) {
      least = dx * dx + dy * dy;
      nearest = f;
    }
  }
  return nearest;
}

// Launches a missile of one fighter in one lane; false without a missile or a living enemy.
static bool mr_launch_one(const struct MrSim *sim, MrBlock *b, int32_t fighter, int lane) {
  MrFighter *f = &b->fighters[fighter];
  int32_t target = mr_enemy_of(b, fighter, lane);
  int32_t slot = 0;
  while (slot < MR_MISSILES && b->missiles[slot].active[lane]) slot++;
  if (!f->alive[lane] || f->ammunition[lane] < 1 || target < 0 || slot == MR_MISSILES) return false;

  const MrBody *from = &f->body;
  const MrBody *to = &b->fighters[target].body;
  MrMissile *m = &b->missiles[slot];
  float offset = sim->params.missile_launch_offset;
  m->body.x[lane] = from->x[lane] + offset * from->c[lane];
  m->body.y[lane] = from->y[lane] + offset * from->s[lane];
  m->body.c[lane] = from->c[lane];
  m->body.s[lane] = from->s[lane];
  m->body.v[lane] = from->v[lane];
  m->body.rudder[lane] = 0.0f;
  m->active[lane] = 1;
  m->owner[lane] = fighter;
  m->target[lane] = target;
  m->age[lane] = 0;
  b->live[slot]++;

  float dx = to->x[lane] - from->x[lane], dy = to->y[lane] - from->y[lane];
  f->launch_range[lane] += sqrtf(dx * dx + dy * dy);
  f->ammunition[lane]--;
  f->shots[lane]++;
  f->ready[lane] = b->time[lane] + sim->constants.launch_interval;
  return true;
}

// Launches of all fighters that fire and may.
static void mr_launch_commanded(const struct MrSim *sim, MrBlock *b) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    const MrFighter *fighter = &b->fighters[f];
    MR_ALIGNED int32_t wants[MR_LANES];
    MR_FOR_LANES(i) {
      wants[i] = fighter->fire[i] & fighter->alive[i] & (fighter->ammunition[i] > 0) &
                 (b->time[i] >= fighter->ready[i]);
    }
    if (mr_count(wants) == 0) continue;
    MR_FOR_LANES(i) {
      if (wants[i]) mr_launch_one(sim, b, f, i);
    }
  }
}

// Moves one fighter's actuators, then the fighter; reports its motion.
static inline void mr_move_fighter(const MrConstants *k, MrFighter *f, MrMotion *motion) {
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    motion->x[i] = body->x[i];
    motion->y[i] = body->y[i];
    motion->vx[i] = body->v[i] * body->c[i];
    motion->vy[i] = body->v[i] * body->s[i];
    body->rudder[i] = mr_actuate(body->rudder[i], f->rudder_command[i], k->fighter.rudder_step);
    f->throttle[i] = mr_actuate(f->throttle[i], f->throttle_command[i], k->throttle_step);
    float dt = mr_select(f->alive[i], k->dt, 0.0f);
    mr_fly(&k->fighter, dt, k->fighter.thrust * f->throttle[i], body, i);
    motion->x_next[i] = body->x[i];
    motion->y_next[i] = body->y[i];
  }
}

// Flies one missile slot; reports where it was before.
static inline void mr_move_missile(const MrConstants *k, MrMissile *m, float x0[MR_LANES],
                                   float y0[MR_LANES]) {
  MR_FOR_LANES(i) {
    x0[i] = m->body.x[i];
    y0[i] = m->body.y[i];
    float dt = mr_select(m->active[i], k->dt, 0.0f);
    mr_fly(&k->missile, dt, mr_motor(k, m->age[i]), &m->body, i);
    m->age[i]++;
  }
}

// Takes the killed out of the fight, and the missiles that were after them.
static void mr_apply_kills(MrBlock *b, int32_t killed[MR_FIGHTERS][MR_LANES]) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (mr_count(killed[f]) == 0) continue;
    MR_FOR_LANES(i) b->fighters[f].alive[i] &= killed[f][i] ^ 1;
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      MrMissile *m = &b->missiles[slot];
      MR_FOR_LANES(i) m->active[i] &= (killed[f][i] & (m->target[i] == f)) ^ 1;
      b->live[slot] = mr_count(m->active);
    }
  }
}

// Removes one slot's hits and spent missiles; adds to `killed`.
static inline void mr_end_flights(const struct MrSim *sim, MrBlock *b, int32_t slot,
                                  const int32_t hit[MR_LANES],
                                  int32_t killed[MR_FIGHTERS][MR_LANES]) {
  float spent_speed = sim->params.missile_spent_speed, burn_steps = sim->constants.burn_steps;
  MrMissile *m = &b->missiles[slot];
  MR_ALIGNED int32_t gone[MR_LANES];
  MR_FOR_LANES(i) {
    int32_t spent = (m->body.v[i] < spent_speed) & ((float)m->age[i] >= burn_steps);
    gone[i] = m->active[i] & (hit[i] | spent);
  }
  if (mr_count(gone) == 0) return;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) {
      killed[f][i] |= hit[i] & (m->target[i] == f);
      b->fighters[f].hits[i] += hit[i] & (m->owner[i] == f);
    }
  }
  MR_FOR_LANES(i) m->active[i] ^= gone[i];
  b->live[slot] = mr_count(m->active);
}

// One physics step. Each stage goes over all missiles before the next: their work overlaps in the
// processor, that of one missile's stages does not.
static void mr_physics_step(const struct MrSim *sim, MrBlock *b) {
  const MrConstants *k = &sim->constants;
  MrMotion motion[MR_FIGHTERS], target[MR_MISSILES];
  MR_ALIGNED float x0[MR_MISSILES][MR_LANES], y0[MR_MISSILES][MR_LANES];
  MR_ALIGNED int32_t hit[MR_MISSILES][MR_LANES];
  MR_ALIGNED int32_t killed[MR_FIGHTERS][MR_LANES] = {{0}};
  MrMissile *live[MR_MISSILES];
  int32_t slots[MR_MISSILES], n = 0;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    slots[n] = slot;
    live[n++] = &b->missiles[slot];
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_move_fighter(k, &b->fighters[f], &motion[f]);
  for (int32_t j = 0; j < n; j++) mr_target_motion(motion, live[j]->target, &target[j]);
  for (int32_t j = 0; j < n; j++) mr_guide(k, &target[j], &live[j]->body);
  for (int32_t j = 0; j < n; j++) mr_move_missile(k, live[j], x0[j], y0[j]);
  for (int32_t j = 0; j < n; j++) {
    mr_fuze(sim->params.missile_hit_radius, &target[j], live[j], x0[j], y0[j], hit[j]);
  }
  for (int32_t j = 0; j < n; j++) mr_end_flights(sim, b, slots[j], hit[j], killed);
  mr_apply_kills(b, killed);
  MR_FOR_LANES(i) b->time[i]++;
}

// Decides the engagements that are still open, from the state at the end of a decision.
static void mr_decide(const struct MrSim *sim, MrBlock *b) {
  MR_ALIGNED int32_t missiles_left[MR_LANES] = {0}, in_air[MR_LANES] = {0};
  MR_ALIGNED int32_t living[2][MR_LANES] = {{0}};
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) {
      living[f & 1][i] |= b->fighters[f].alive[i];
      missiles_left[i] |= b->fighters[f].alive[i] * b->fighters[f].ammunition[i];
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) in_air[i] |= b->missiles[slot].active[i];
  }
  MR_FOR_LANES(i) {
    int32_t red = living[0][i], blue = living[1][i];
    int out_of_time = b->time[i] >= sim->constants.time_limit;
    int settled = (red & blue) ? out_of_time | (!missiles_left[i] & !in_air[i])
                               : out_of_time | !in_air[i] | !(red | blue);
    int32_t result = red == blue ? MR_DRAW : red ? MR_RED_WINS : MR_BLUE_WINS;
    int open = b->outcome[i] == MR_OPEN;
    b->outcome[i] = mr_select_int(open & settled, result, b->outcome[i]);
    b->truncated[i] = mr_select_int(open & settled, red & blue & out_of_time, b->truncated[i]);
  }
}

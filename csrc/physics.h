// SPDX-License-Identifier: MIT
//
// The physics steps of a block. RULES.md, "Order of events".
//
// All physics steps of a decision are flown without a branch, as if nothing ended. Each missile's end is noted in the
// meantime. After the last step it is settled who died and which missiles are gone. This is allowed because a missile
// affects nothing but its target's life, and because nobody depends on a missile after its end. A fighter that died
// is flown again up to its death.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flight.h"
#include "guidance.h"

// Flies a fighter for a step and reports its motion. After the step of its death only its actuators move.
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
    mr_fly(k, &k->fighter, dt, k->fighter.thrust * throttle, body, i);
    motion->x[i] = body->x[i];
    motion->y[i] = body->y[i];
  }
}

typedef struct {
  MR_ALIGNED float length[MR_LANES], half_turn[MR_LANES];
} MrArcs;

// Updates the speed of one slot's missiles. Notes in `end` the event 2 * step + 1 for missiles that are spent.
static inline void mr_fly_missile_speed(const struct MrSim *sim, int32_t step, MrMissile *m,
                                        MrArcs *arcs, int32_t end[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  float spent_speed = sim->params.missile_spent_speed;
  MR_FOR_LANES(i) {
    float burn_left = k->burn_steps - (float)(m->age[i] + step);
    MrArc arc = mr_fly_speed(k, &k->missile, k->dt, mr_motor(k, burn_left), &m->body, i);
    int spent = (m->body.v[i] < spent_speed) & (burn_left <= 1.0f);
    int32_t event = mr_select_int(spent, 2 * step + 1, MR_NEVER);
    end[i] = mr_select_int(event < end[i], event, end[i]);
    arcs->length[i] = arc.length;
    arcs->half_turn[i] = arc.half_turn;
  }
}

// Moves one slot's missiles along their arcs. Writes their lines of sight after the step.
static inline void mr_fly_missile_arc(const MrMotion fighters[MR_FIGHTERS], const MrArcs *arcs,
                                      MrMissile *m, MrLineOfSight *los) {
  MR_FOR_LANES(i) {
    float x = MR_OF_TARGET(m, fighters, x, i);
    float y = MR_OF_TARGET(m, fighters, y, i);
    mr_fly_arc((MrArc){arcs->length[i], arcs->half_turn[i]}, &m->body, i);
    x -= m->body.x[i];
    y -= m->body.y[i];
    los->x[i] = x;
    los->y[i] = y;
    los->range2[i] = x * x + y * y;
  }
}

// Writes the lines of sight of one slot's missiles before the first step. Notes a hit in the first step for missiles
// that are already within the radius. Returns whether any missile could come within the radius in the time t; if not,
// the steps skip the fuzes of this slot.
static bool mr_begin_flight(const struct MrSim *sim, const MrBlock *b, const MrMissile *m, float t,
                           MrLineOfSight *los, int32_t end[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  float radius = sim->params.missile_hit_radius;
  MR_ALIGNED int32_t near[MR_LANES];
  MR_FOR_LANES(i) {
    float x = MR_OF_TARGET(m, b->fighters, body.x, i);
    float y = MR_OF_TARGET(m, b->fighters, body.y, i);
    float v = MR_OF_TARGET(m, b->fighters, body.v, i);
    x -= m->body.x[i];
    y -= m->body.y[i];
    float range2 = x * x + y * y;
    float speed = v + m->body.v[i] + (k->fighter.thrust + k->missile.thrust) * t;  // upper bound of the closing speed
    float reach = 1.01f * (radius + speed * t);
    near[i] = m->active[i] & (range2 < reach * reach);
    los->x[i] = x;
    los->y[i] = y;
    los->range2[i] = range2;
    end[i] = mr_select_int(range2 < radius * radius, 0, MR_NEVER);
  }
  return mr_count(near) > 0;
}

// What the steps keep of a block's missiles, besides their state. One entry for each slot in use.
typedef struct {
  int32_t count, near_count;
  MrMissile *missile[MR_MISSILES];
  int32_t near[MR_MISSILES];            // the entries with a missile that could hit within these steps
  MrLineOfSight los[2][MR_MISSILES];    // [step & 1]: before the step; the other one: after it
  MrArcs arcs[MR_MISSILES];
  MR_ALIGNED int32_t end[MR_MISSILES][MR_LANES];
} MrFlights;

static void mr_begin_flights(const struct MrSim *sim, MrBlock *b, int32_t steps, MrFlights *flights) {
  float t = (float)steps * sim->constants.dt;
  flights->count = flights->near_count = 0;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    int32_t n = flights->count++;
    flights->missile[n] = &b->missiles[slot];
    if (mr_begin_flight(sim, b, flights->missile[n], t, &flights->los[0][n], flights->end[n])) {
      flights->near[flights->near_count++] = n;
    }
  }
}

// Flies all missiles for a step. Each stage is done for all slots before the next stage begins. The stages of one slot
// wait for each other's results; the same stage of different slots overlaps in the processor.
static void mr_fly_missiles(const struct MrSim *sim, int32_t step, const MrMotion fighters[MR_FIGHTERS],
                            MrFlights *flights) {
  const MrConstants *k = &sim->constants;
  const MrLineOfSight *before = flights->los[step & 1];
  MrLineOfSight *after = flights->los[~step & 1];
  int32_t count = flights->count;
  for (int32_t n = 0; n < count; n++) mr_guide(k, fighters, &before[n], flights->missile[n]);
  for (int32_t n = 0; n < count; n++) {
    mr_fly_missile_speed(sim, step, flights->missile[n], &flights->arcs[n], flights->end[n]);
  }
  for (int32_t n = 0; n < count; n++) {
    mr_fly_missile_arc(fighters, &flights->arcs[n], flights->missile[n], &after[n]);
  }
  for (int32_t j = 0; j < flights->near_count; j++) {
    int32_t n = flights->near[j];
    mr_fuze(sim->params.missile_hit_radius, step, &before[n], &after[n], flights->end[n]);
  }
}

// When each fighter dies: the event of the hit, MR_NEVER, or -1 if it was dead before these steps.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// Finds when each fighter dies: by the first hit on it. Returns false when no missile has ended.
static bool mr_find_deaths(const MrFlights *flights, MrDeaths death) {
  MR_ALIGNED int32_t ended[MR_LANES] = {0};
  for (int32_t n = 0; n < flights->count; n++) {
    const MrMissile *m = flights->missile[n];
    MR_FOR_LANES(i) ended[i] |= m->active[i] & (flights->end[n][i] != MR_NEVER);
  }
  if (mr_count(ended) == 0) return false;
  for (int32_t n = 0; n < flights->count; n++) {
    const MrMissile *m = flights->missile[n];
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      MR_FOR_LANES(i) {
        int32_t end = flights->end[n][i];
        int kills = m->active[i] & (m->target[i] == f) & !(end & 1) & (end < death[f][i]);
        death[f][i] = mr_select_int(kills, end, death[f][i]);
      }
    }
  }
  return true;
}

// Removes one slot's missiles that have ended or lost their target, and counts the hits. Returns in how many lanes the
// slot is still active.
static int32_t mr_end_flights(MrBlock *b, MrMissile *m, const int32_t end[MR_LANES],
                              const MrDeaths death) {
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
  return mr_count(m->active);
}

// The part of a fighter's state that mr_fly_fighter changes.
typedef struct {
  MrBody body;
  MR_ALIGNED float throttle[MR_LANES];
} MrFlightState;

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

// Kills one fighter in the lanes where it dies. All lanes are flown again from the state before the first step, now
// with the deaths known. Lanes without a death come out the same.
static void mr_kill(const MrConstants *k, const MrFlightState *before, int32_t steps,
                    const int32_t death[MR_LANES], MrFighter *f) {
  MrMotion unused;
  mr_copy_body(&before->body, &f->body);
  MR_FOR_LANES(i) {
    f->throttle[i] = before->throttle[i];
    f->alive[i] = death[i] == MR_NEVER;
  }
  for (int32_t step = 0; step < steps; step++) mr_fly_fighter(k, step, death, f, &unused);
}

// Settles who has died and which missiles are gone, after the last step.
static void mr_settle(const MrConstants *k, MrBlock *b, int32_t steps,
                      const MrFlightState before[MR_FIGHTERS], const MrFlights *flights, MrDeaths death) {
  if (!mr_find_deaths(flights, death)) return;
  for (int32_t n = 0; n < flights->count; n++) {
    MrMissile *m = flights->missile[n];
    b->live[m - b->missiles] = mr_end_flights(b, m, flights->end[n], death);
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_ALIGNED int32_t dies[MR_LANES];
    MR_FOR_LANES(i) dies[i] = b->fighters[f].alive[i] & (death[f][i] != MR_NEVER);
    if (mr_count(dies)) mr_kill(k, &before[f], steps, death[f], &b->fighters[f]);
  }
}

static void mr_fly_steps(const struct MrSim *sim, MrBlock *b, int32_t steps) {
  const MrConstants *k = &sim->constants;
  MrFlightState before[MR_FIGHTERS];
  MrMotion motion[MR_FIGHTERS];
  MrFlights flights;
  MR_ALIGNED MrDeaths death;

  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    mr_copy_body(&fighter->body, &before[f].body);
    MR_FOR_LANES(i) {
      before[f].throttle[i] = fighter->throttle[i];
      death[f][i] = mr_select_int(fighter->alive[i], MR_NEVER, -1);
    }
  }
  mr_begin_flights(sim, b, steps, &flights);
  for (int32_t step = 0; step < steps; step++) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      mr_fly_fighter(k, step, death[f], &b->fighters[f], &motion[f]);
    }
    mr_fly_missiles(sim, step, motion, &flights);
  }
  for (int32_t n = 0; n < flights.count; n++) {
    MR_FOR_LANES(i) flights.missile[n]->age[i] += steps;
  }
  MR_FOR_LANES(i) b->time[i] += steps;
  mr_settle(k, b, steps, before, &flights, death);
}

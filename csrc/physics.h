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

#include <math.h>

#include "block.h"
#include "flight.h"
#include "flights.h"
#include "guidance.h"

// When each fighter dies: the event of the hit, MR_NEVER, or -1 if it was dead before these steps.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// The arcs that one fighter flies in a step.
typedef struct {
  MR_ALIGNED float length[MR_LANES], half_turn[MR_LANES];
} MrArcs;

// First half of a fighter's step. After the step of its death only its actuators move.
static inline void mr_speed_fighter(const MrConstants *k, int32_t step, const int32_t death[MR_LANES], MrFighter *f,
                                    MrArcs *arcs) {
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float dt = mr_select(2 * step <= death[i], k->dt, 0.0f);
    float throttle = mr_actuate(f->throttle[i], f->throttle_command[i], k->throttle_step);
    body->rudder[i] = mr_actuate(body->rudder[i], f->rudder_command[i], k->fighter.rudder_step);
    f->throttle[i] = throttle;
    MrArc arc = mr_fly_speed(k, &k->fighter, dt, k->fighter.thrust * throttle, body, i);
    arcs->length[i] = arc.length;
    arcs->half_turn[i] = arc.half_turn;
  }
}

// Second half.
static inline void mr_move_fighter(const MrArcs *arcs, MrFighter *f) {
  MR_FOR_LANES(i) mr_fly_arc((MrArc){arcs->length[i], arcs->half_turn[i]}, &f->body, i);
}

// The lines of sight of the flights with a missile that could hit within these steps. Others need no fuze.
typedef struct {
  int32_t count;
  int32_t flight[MR_MISSILES];
  MR_ALIGNED float reach2[MR_MISSILES][MR_LANES];  // [m^2] squared range beyond which a missile cannot hit in one step
  MrLineOfSight before[MR_MISSILES], after[MR_MISSILES];
} MrNear;

static inline void mr_sight(const MrMotions *fighters, const MrFlight *f, MrLineOfSight *out) {
  MrMotion target;
  mr_pick_targets(fighters, f, &target);
  MR_FOR_LANES(i) {
    float x = target.x[i] - f->body.x[i], y = target.y[i] - f->body.y[i];
    out->x[i] = x;
    out->y[i] = y;
    out->range2[i] = x * x + y * y;
  }
}

// Begins a flight of `count` missiles: notes a hit in the first step for those already within the radius. Returns
// whether any could come within the radius in the time t. Then `reach2` is set.
static bool mr_begin_flight(const struct MrSim *sim, const MrMotions *fighters, float t, int32_t count,
                            MrFlight *f, float reach2[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  float radius = sim->params.missile_hit_radius;
  MR_ALIGNED int32_t near[MR_LANES];
  MrMotion target;
  mr_pick_targets(fighters, f, &target);
  MR_FOR_LANES(i) {
    float x = target.x[i] - f->body.x[i], y = target.y[i] - f->body.y[i];
    float range2 = x * x + y * y;
    // An upper bound of the closing speed.
    float speed = fabsf(target.vx[i]) + fabsf(target.vy[i]) + f->body.v[i] + (k->fighter.thrust + k->missile.thrust) * t;
    float reach = 1.01f * (radius + speed * t), step_reach = 1.01f * (radius + speed * k->dt);
    near[i] = (i < count) & (range2 < reach * reach);
    reach2[i] = mr_select(i < count, step_reach * step_reach, -1.0f);
    f->end[i] = mr_select_int(range2 < radius * radius, 0, MR_NEVER);
    f->steps_flown[i] = (float)f->age[i];
  }
  return mr_count(near) > 0;
}

// Packs the block's missiles.
static void mr_begin_flights(const struct MrSim *sim, const MrBlock *b, int32_t steps, MrFlights *flights,
                             MrNear *near) {
  MrMotions fighters;
  near->count = 0;
  mr_find_missiles(b, flights);
  flights->vectors = (flights->count + MR_LANES - 1) / MR_LANES;
  mr_pack(b, flights);
  mr_note_motions(b, &fighters);
  for (int32_t n = 0; n < flights->vectors; n++) {
    near->flight[near->count] = n;
    near->count += mr_begin_flight(sim, &fighters, (float)steps * sim->constants.dt, flights->count - n * MR_LANES,
                                   &flights->flights[n], near->reach2[near->count]);
  }
}

// The stages of a flight's step.

static inline void mr_steer_flight(const MrConstants *k, const MrMotions *fighters, MrFlight *f) {
  MrMotion target;
  mr_pick_targets(fighters, f, &target);
  MR_FOR_LANES(i) {
    float x = target.x[i] - f->body.x[i], y = target.y[i] - f->body.y[i];
    f->half_lift[i] = mr_guide(k, x, y, target.vx[i], target.vy[i], &f->body, i);
  }
}

static inline void mr_speed_flight(const MrConstants *k, int32_t step, MrFlight *f) {
  MR_FOR_LANES(i) {
    float burn_left = k->burn_steps - (f->steps_flown[i] + (float)step);
    float boost = k->missile.thrust * k->dt * mr_burning(k, burn_left);
    MrArc arc = mr_fly_lift(&k->missile, k->dt, boost, f->half_lift[i], &f->body, i);
    f->length[i] = arc.length;
    f->half_turn[i] = arc.half_turn;
  }
}

static inline void mr_move_flight(MrFlight *f) {
  MR_FOR_LANES(i) mr_fly_arc((MrArc){f->length[i], f->half_turn[i]}, &f->body, i);
}

// Notes the event 2 * step + 1 for missiles that are spent after the step.
static inline void mr_note_spent(const struct MrSim *sim, int32_t step, MrFlight *f) {
  float spent_speed = sim->params.missile_spent_speed;
  MR_FOR_LANES(i) {
    float burn_left = sim->constants.burn_steps - (f->steps_flown[i] + (float)step);
    int spent = (f->body.v[i] < spent_speed) & (burn_left <= 1.0f);
    int32_t event = mr_select_int(spent, 2 * step + 1, MR_NEVER);
    f->end[i] = mr_select_int(event < f->end[i], event, f->end[i]);
  }
}

// Flies everything for a step. Each stage is done for all flights before the next stage begins. The stages of one flight
// wait for each other's results; the same stage of different flights overlaps in the processor.
static void mr_fly_step(const struct MrSim *sim, int32_t step, MrDeaths death, MrBlock *b, MrFlights *flights,
                        MrNear *near) {
  const MrConstants *k = &sim->constants;
  MrMotions fighters;
  MrArcs arcs[MR_FIGHTERS];
  int32_t vectors = flights->vectors;
  mr_note_motions(b, &fighters);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_speed_fighter(k, step, death[f], &b->fighters[f], &arcs[f]);
  for (int32_t j = 0; j < near->count; j++) mr_sight(&fighters, &flights->flights[near->flight[j]], &near->before[j]);
  for (int32_t n = 0; n < vectors; n++) mr_steer_flight(k, &fighters, &flights->flights[n]);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_move_fighter(&arcs[f], &b->fighters[f]);
  for (int32_t n = 0; n < vectors; n++) mr_speed_flight(k, step, &flights->flights[n]);
  for (int32_t n = 0; n < vectors; n++) mr_move_flight(&flights->flights[n]);
  if (near->count == 0) return;
  mr_note_motions(b, &fighters);
  for (int32_t j = 0; j < near->count; j++) {
    MrFlight *f = &flights->flights[near->flight[j]];
    MR_ALIGNED int32_t reaches[MR_LANES];
    MR_FOR_LANES(i) reaches[i] = near->before[j].range2[i] < near->reach2[j][i];
    if (mr_count(reaches)) {
      mr_sight(&fighters, f, &near->after[j]);
      mr_fuze(sim->params.missile_hit_radius, step, &near->before[j], &near->after[j], f->end);
    }
    mr_note_spent(sim, step, f);
  }
}

// Events of the missiles' ends, by slot; set for slots in use.
typedef int32_t MrEnds[MR_MISSILES][MR_LANES];

// Returns whether any missile has ended, and if so, how.
static bool mr_find_ends(const MrFlights *flights, MrEnds end) {
  MR_ALIGNED int32_t ended[MR_LANES] = {0};
  for (int32_t n = 0; n < flights->vectors; n++) {
    MR_FOR_LANES(i) ended[i] |= flights->flights[n].end[i] != MR_NEVER;
  }
  if (mr_count(ended) == 0) return false;
  mr_unpack_ends(flights, end);
  return true;
}

// Finds when each fighter dies: by the first hit on it. Returns false when there is no hit.
static bool mr_find_deaths(const MrBlock *b, MrEnds end, MrDeaths death) {
  MR_ALIGNED int32_t hits[MR_LANES] = {0};
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) hits[i] |= b->missiles[slot].active[i] & !(end[slot][i] & 1);
  }
  if (mr_count(hits) == 0) return false;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      MR_FOR_LANES(i) {
        int32_t event = end[slot][i];
        int kills = m->active[i] & (m->target[i] == f) & !(event & 1) & (event < death[f][i]);
        death[f][i] = mr_select_int(kills, event, death[f][i]);
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
  mr_copy_body(&before->body, &f->body);
  MR_FOR_LANES(i) {
    f->throttle[i] = before->throttle[i];
    f->alive[i] = death[i] == MR_NEVER;
  }
  MrArcs arcs;
  for (int32_t step = 0; step < steps; step++) {
    mr_speed_fighter(k, step, death, f, &arcs);
    mr_move_fighter(&arcs, f);
  }
}

// Settles who has died and which missiles are gone, after the last step.
static void mr_settle(const MrConstants *k, MrBlock *b, int32_t steps,
                      const MrFlightState before[MR_FIGHTERS], MrFlights *flights, MrDeaths death) {
  MR_ALIGNED MrEnds end;
  if (!mr_find_ends(flights, end)) return;
  if (!mr_find_deaths(b, end, death)) {
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      if (!b->live[slot]) continue;
      MrMissile *m = &b->missiles[slot];
      MR_FOR_LANES(i) m->active[i] &= end[slot][i] == MR_NEVER;
      b->live[slot] = mr_count(m->active);
    }
    return;
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (b->live[slot]) b->live[slot] = mr_end_flights(b, &b->missiles[slot], end[slot], death);
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_ALIGNED int32_t dies[MR_LANES];
    MR_FOR_LANES(i) dies[i] = b->fighters[f].alive[i] & (death[f][i] != MR_NEVER);
    if (mr_count(dies)) mr_kill(k, &before[f], steps, death[f], &b->fighters[f]);
  }
}

static void mr_end_steps(const struct MrSim *sim, MrBlock *b, int32_t steps, MrFlights *flights) {
  for (int32_t n = 0; n < flights->vectors; n++) mr_note_spent(sim, steps - 1, &flights->flights[n]);
  mr_unpack(flights, b);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) b->missiles[slot].age[i] += steps;
  }
}

static void mr_fly_steps(const struct MrSim *sim, MrBlock *b, int32_t steps) {
  if (steps < 1) return;
  const MrConstants *k = &sim->constants;
  MrFlightState before[MR_FIGHTERS];
  MrFlights flights;
  MrNear near;
  MR_ALIGNED MrDeaths death;

  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    mr_copy_body(&fighter->body, &before[f].body);
    MR_FOR_LANES(i) {
      before[f].throttle[i] = fighter->throttle[i];
      death[f][i] = mr_select_int(fighter->alive[i], MR_NEVER, -1);
    }
  }
  mr_begin_flights(sim, b, steps, &flights, &near);
  for (int32_t step = 0; step < steps; step++) mr_fly_step(sim, step, death, b, &flights, &near);
  mr_end_steps(sim, b, steps, &flights);
  MR_FOR_LANES(i) b->time[i] += steps;
  mr_settle(k, b, steps, before, &flights, death);
}

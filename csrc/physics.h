// SPDX-License-Identifier: MIT
//
// The physics steps of a block. RULES.md, "Order of events".
//
// All physics steps of a decision are flown without a branch, as if nothing ended. Each missile's end is noted in the
// meantime. After the last step it is settled who died and which missiles are gone. This is allowed because a missile
// affects nothing but its target's life, and because nobody depends on a missile after its end. A fighter that died
// is flown again up to its death. For the same reason the missiles are packed for these steps: what they cost follows
// the missiles in the air, not the slots.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include <math.h>

#include "ahead.h"
#include "block.h"
#include "flight.h"
#include "guidance.h"
#include "packing.h"

// When each fighter dies: the event of the hit, MR_NEVER, or -1 if it was dead before these steps.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// The part of a fighter's state that the steps work on.
typedef struct {
  MrBody body;
  MR_ALIGNED float throttle[MR_LANES], rudder_command[MR_LANES], throttle_command[MR_LANES];
  MR_ALIGNED float half_length[MR_LANES], lift[MR_LANES];  // of the present step, as in mr_fly_arc
} MrFlyer;

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

// Takes over a body where it flies; the rudder moves everywhere.
static inline void mr_keep_body(const int32_t flies[MR_LANES], const MrBody *flown, MrBody *body) {
  MR_FOR_LANES(i) {
    body->x[i] = mr_select(flies[i], flown->x[i], body->x[i]);
    body->y[i] = mr_select(flies[i], flown->y[i], body->y[i]);
    body->c[i] = mr_select(flies[i], flown->c[i], body->c[i]);
    body->s[i] = mr_select(flies[i], flown->s[i], body->s[i]);
    body->v[i] = mr_select(flies[i], flown->v[i], body->v[i]);
    body->rudder[i] = flown->rudder[i];
  }
}

static inline void mr_take_off(const MrFighter *f, MrFlyer *out) {
  mr_copy_body(&f->body, &out->body);
  MR_FOR_LANES(i) {
    out->throttle[i] = f->throttle[i];
    out->rudder_command[i] = f->rudder_command[i];
    out->throttle_command[i] = f->throttle_command[i];
  }
}

// First half of a fighter's step.
static inline void mr_speed_fighter(const MrConstants *k, MrFlyer *f) {
  const MrAirframe *frame = &k->fighter;
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float v = body->v[i];
    float throttle = mr_actuate(f->throttle[i], f->throttle_command[i], k->throttle_step);
    float rudder = mr_actuate(body->rudder[i], f->rudder_command[i], frame->rudder_step);
    float lift = mr_lift(k, frame, v, rudder);
    float v_next = mr_next_speed(v, frame->thrust_dt * throttle, frame->cd0_dt + frame->k_dt * (lift * lift));
    f->throttle[i] = throttle;
    body->rudder[i] = rudder;
    body->v[i] = v_next;
    f->half_length[i] = k->quarter_dt * (v + v_next);
    f->lift[i] = lift;
  }
}

static inline void mr_move_fighter(MrFlyer *f) {
  MrBody *body = &f->body;
  MR_FOR_LANES(i) mr_fly_arc(f->half_length[i], f->lift[i], &body->x[i], &body->y[i], &body->c[i], &body->s[i]);
}

// Room for all missiles of a block, and for as many numbers after them as packing writes.
enum { MR_ROOM = (MR_MISSILES + 1) * MR_LANES };
#define MR_DECLARE_PACKED(type, name, ...) MR_ALIGNED type name[MR_ROOM];

// The missiles in the air, packed in the order of their slots. They are flown in flights of MR_LANES. The places in the
// last flight that are left over hold zeros, which are flown, too, and do not matter.
typedef struct {
  int32_t count;
  MR_BODY_FIELDS(MR_DECLARE_PACKED)
  MR_ALIGNED float burn_left[MR_ROOM];  // before the first step [physics steps], less than 0 once burnt out
  MR_ALIGNED int32_t target[MR_ROOM];   // number of the target's motion
  MR_ALIGNED int32_t end[MR_ROOM];      // event of the missile's end, as in guidance.h
  // Of the present step, as in mr_guide and mr_fly_arc.
  MR_ALIGNED float command[MR_ROOM], limit[MR_ROOM], lift[MR_ROOM], half_length[MR_ROOM];
  int32_t first[MR_MISSILES];  // place of a slot's first missile, or of the next slot's if it has none
} MrPacked;

static void mr_pack_missiles(const MrConstants *k, const MrBlock *b, MrPacked *p) {
  MR_ALIGNED float burn_left[MR_LANES];
  MR_ALIGNED int32_t target[MR_LANES];
  static const MR_ALIGNED int32_t zeros[MR_LANES];
  MrLanes lanes;
  int32_t n = 0;
#define MR_PACK(type, name, ...) mr_pack(m->body.name, lanes, &p->name[n]);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    p->first[slot] = n;
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_LANES(i) {
      burn_left[i] = k->burn_steps - (float)m->age[i];
      target[i] = m->target[i] * MR_LANES + i;
    }
    lanes = mr_lanes_of(m->active);
    MR_BODY_FIELDS(MR_PACK)
    mr_pack(burn_left, lanes, &p->burn_left[n]);
    mr_pack(target, lanes, &p->target[n]);
    n += b->live[slot];
  }
#undef MR_PACK
#define MR_ZERO(type, name, ...) memcpy(&p->name[n], zeros, sizeof zeros);
  MR_BODY_FIELDS(MR_ZERO)
  memcpy(&p->burn_left[n], zeros, sizeof zeros);
  memcpy(&p->target[n], zeros, sizeof zeros);
#undef MR_ZERO
  p->count = n;
}

// Puts the packed missiles' bodies back.
static void mr_unpack_missiles(const MrPacked *p, MrBlock *b) {
  int32_t n = 0;
#define MR_UNPACK(type, name, ...) mr_unpack(&p->name[n], lanes, m->body.name);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MrMissile *m = &b->missiles[slot];
    MrLanes lanes = mr_lanes_of(m->active);
    MR_BODY_FIELDS(MR_UNPACK)
    n += b->live[slot];
  }
#undef MR_UNPACK
}

// The lines of sight of the flights with a missile that could hit within these steps. Others need no fuze.
typedef struct {
  int32_t count;
  int64_t first[MR_MISSILES];                      // place of the flight's first missile
  MR_ALIGNED float reach2[MR_MISSILES][MR_LANES];  // [m^2] squared range beyond which a missile cannot hit in one step
  MrLineOfSight before[MR_MISSILES], after[MR_MISSILES];
} MrNear;

static inline void mr_sight(const MrMotions *fighters, const MrPacked *p, int64_t first, MrLineOfSight *out) {
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  MR_FOR_LANES(i) {
    float x = target.x[i] - p->x[first + i], y = target.y[i] - p->y[first + i];
    out->x[i] = x;
    out->y[i] = y;
    out->range2[i] = x * x + y * y;
  }
}

// Begins a flight: notes a hit in the first step for missiles already within the radius. Returns whether any missile
// could come within the radius in the time t. Then `reach2` is set.
static inline bool mr_begin_flight(const struct MrSim *sim, const MrMotions *fighters, float t, int64_t first,
                                   MrPacked *p, float reach2[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  float radius = sim->params.missile_hit_radius, dt = k->dt;
  float gain = (k->fighter.thrust + k->missile.thrust) * t;  // an upper bound of what the closing speed grows by
  int32_t count = p->count - (int32_t)first, near = 0;
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float x = target.x[i] - p->x[n], y = target.y[i] - p->y[n];
    float range2 = x * x + y * y;
    float speed = fabsf(target.vx[i]) + fabsf(target.vy[i]) + p->v[n] + gain;
    float reach = 1.01f * (radius + speed * t), step_reach = 1.01f * (radius + speed * dt);
    near |= (i < count) & (range2 < reach * reach);
    reach2[i] = mr_select(i < count, step_reach * step_reach, -1.0f);
    p->end[n] = mr_select_int(range2 < radius * radius, 0, MR_NEVER);
  }
  return near;
}

static void mr_begin_flights(const struct MrSim *sim, const MrFlyer flyers[MR_FIGHTERS], int32_t steps, MrPacked *p,
                             MrNear *near) {
  MrMotions fighters;
  mr_note_motions((const MrBody *[]){&flyers[0].body, &flyers[1].body}, &fighters);
  near->count = 0;
  for (int32_t first = 0; first < p->count; first += MR_LANES) {
    near->first[near->count] = first;
    near->count += mr_begin_flight(sim, &fighters, (float)steps * sim->constants.dt, first, p,
                                   near->reach2[near->count]);
  }
}

// The stages of a flight's step.

static inline void mr_guide_flight(const MrConstants *k, const MrMotions *fighters, int64_t first, MrPacked *p) {
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float x = target.x[i] - p->x[n], y = target.y[i] - p->y[n];
    MrGuidance guidance = mr_guide(k, x, y, target.vx[i], target.vy[i], p->c[n], p->s[n], p->v[n]);
    p->command[n] = guidance.command;
    p->limit[n] = guidance.limit;
  }
}

static inline void mr_steer_flight(const MrConstants *k, int64_t first, MrPacked *p) {
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float command = mr_clip(p->command[n], -k->one, k->one);
    float rudder = mr_actuate(p->rudder[n], command, k->missile.rudder_step);
    p->rudder[n] = rudder;
    p->lift[n] = mr_limit(k->missile.lift_per_rudder * rudder, k->load_by_navigation * p->limit[n]);
  }
}

static inline void mr_speed_flight(const MrConstants *k, int32_t step, int64_t first, MrPacked *p) {
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float v = p->v[n], lift = p->lift[n];
    float boost = k->missile.thrust_dt * mr_burning(k, p->burn_left[n] - (float)step);
    float v_next = mr_next_speed(v, boost, k->missile.cd0_dt + k->missile.k_dt * (lift * lift));
    p->v[n] = v_next;
    p->half_length[n] = k->quarter_dt * (v + v_next);
  }
}

static inline void mr_move_flight(int64_t first, MrPacked *p) {
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    mr_fly_arc(p->half_length[n], p->lift[n], &p->x[n], &p->y[n], &p->c[n], &p->s[n]);
  }
}

// Notes the event 2 * step + 1 for missiles that are spent after the step.
static inline void mr_note_spent(const struct MrSim *sim, int32_t step, int64_t first, MrPacked *p) {
  float spent_speed = sim->params.missile_spent_speed;
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    int spent = (p->v[n] < spent_speed) & (p->burn_left[n] - (float)step <= 1.0f);
    int32_t event = mr_select_int(spent, 2 * step + 1, MR_NEVER);
    p->end[n] = mr_select_int(event < p->end[n], event, p->end[n]);
  }
}

// Notes the ends of the near missiles in a step that has been flown.
static inline void mr_note_ends(const struct MrSim *sim, int32_t step, const MrMotions *fighters, int32_t j,
                                MrNear *near, MrPacked *p) {
  int64_t first = near->first[j];
  MR_ALIGNED int32_t reaches[MR_LANES];
  MR_FOR_LANES(i) reaches[i] = near->before[j].range2[i] < near->reach2[j][i];
  if (mr_count(reaches)) {
    mr_sight(fighters, p, first, &near->after[j]);
    mr_fuze(sim->params.missile_hit_radius, step, &near->before[j], &near->after[j], &p->end[first]);
  }
  mr_note_spent(sim, step, first, p);
}

// What the steps of a decision work on. The block stays as it was before the first step until all is settled.
typedef struct {
  MrConstants constants;
  MrFlyer flyers[MR_FIGHTERS];
  MrMotions fighters;
  MrPacked missiles;
  MrNear near;
} MrSky;

// Flies everything for a step. Each stage is done for all flights before the next stage begins. The stages of one flight
// wait for each other's results; the same stage of different flights overlaps in the processor.
static void mr_fly_step(const struct MrSim *sim, int32_t step, const MrConstants *restrict k, MrFlyer *restrict flyers,
                        MrMotions *restrict fighters, MrPacked *restrict p, MrNear *restrict near) {
  int64_t count = p->count;
  mr_note_motions((const MrBody *[]){&flyers[0].body, &flyers[1].body}, fighters);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_speed_fighter(k, &flyers[f]);
  for (int32_t j = 0; j < near->count; j++) mr_sight(fighters, p, near->first[j], &near->before[j]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_guide_flight(k, fighters, n, p);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_move_fighter(&flyers[f]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_steer_flight(k, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_speed_flight(k, step, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_move_flight(n, p);
  if (near->count == 0) return;
  mr_note_motions((const MrBody *[]){&flyers[0].body, &flyers[1].body}, fighters);
  for (int32_t j = 0; j < near->count; j++) mr_note_ends(sim, step, fighters, j, near, p);
}

// Flies one fighter again from the state before the first step, now only up to its death. Lanes without a death come out
// the same. The actuators of the dead move on.
static void mr_kill(const MrConstants *k, const MrFighter *before, int32_t steps, const int32_t death[MR_LANES],
                    MrFlyer *f) {
  mr_take_off(before, f);
  for (int32_t step = 0; step < steps; step++) {
    MrBody last;
    MR_ALIGNED int32_t flies[MR_LANES];
    mr_copy_body(&f->body, &last);
    mr_speed_fighter(k, f);
    mr_move_fighter(f);
    MR_FOR_LANES(i) flies[i] = 2 * step <= death[i];
    mr_keep_body(flies, &f->body, &last);
    mr_copy_body(&last, &f->body);
  }
}

// Writes a flyer's state back. Fighters that were dead before the steps stay where they are.
static void mr_land(const MrFlyer *flyer, const int32_t death[MR_LANES], MrFighter *f) {
  mr_keep_body(f->alive, &flyer->body, &f->body);
  MR_FOR_LANES(i) {
    f->throttle[i] = flyer->throttle[i];
    f->alive[i] = death[i] == MR_NEVER;
  }
}

// The slot of a packed missile.
static inline int32_t mr_slot_of(const MrPacked *p, int32_t place) {
  int32_t slot = MR_MISSILES - 1;
  while (p->first[slot] > place) slot--;
  return slot;
}

// Removes the missile of a slot in one lane.
static inline void mr_remove(MrBlock *b, int32_t slot, int lane) {
  b->live[slot] -= b->missiles[slot].active[lane];
  b->missiles[slot].active[lane] = 0;
}

// Removes the missiles that fly at a fighter in one lane.
static void mr_remove_all(MrBlock *b, int32_t target, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (b->missiles[slot].target[lane] == target) mr_remove(b, slot, lane);
  }
}

// The missiles of a flight that have ended, as bits.
static inline uint32_t mr_ended(const MrPacked *p, int64_t first) {
  static const MR_ALIGNED uint32_t bits[MR_LANES] = {1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                                     1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
  uint32_t ended = 0;
  MR_FOR_LANES(i) ended |= p->end[first + i] != MR_NEVER ? bits[i] : 0;
  return ended;
}

// The places of the missiles that have ended; returns their number.
static int32_t mr_find_ends(const MrPacked *p, int32_t places[MR_MISSILES * MR_LANES]) {
  int32_t count = 0;
  for (int32_t first = 0; first < p->count; first += MR_LANES) {
    for (uint32_t ended = mr_ended(p, first); ended; ended &= ended - 1) {
      int32_t place = first + __builtin_ctz(ended);
      if (place < p->count) places[count++] = place;
    }
  }
  return count;
}

// Finds when each fighter dies: by the first hit on it.
static void mr_find_deaths(const MrPacked *p, const int32_t ended[], int32_t count, MrDeaths death) {
  for (int32_t j = 0; j < count; j++) {
    int32_t n = ended[j], f = p->target[n] / MR_LANES, lane = p->target[n] % MR_LANES;
    int32_t end = p->end[n];
    if (!(end & 1) && end < death[f][lane]) death[f][lane] = end;
  }
}

// Settles who has died and which missiles are gone, after the last step. Missiles that hit a fighter at the time of its
// death are hits; others have lost their target. Few missiles end in a decision, so they are taken one by one.
static void mr_settle(int32_t steps, MrSky *sky, MrBlock *b) {
  const MrPacked *p = &sky->missiles;
  MR_ALIGNED MrDeaths death;
  int32_t places[MR_MISSILES * MR_LANES];
  int32_t count = mr_find_ends(p, places);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MR_FOR_LANES(i) death[f][i] = mr_select_int(b->fighters[f].alive[i], MR_NEVER, -1);
  }
  mr_find_deaths(p, places, count, death);
  for (int32_t j = 0; j < count; j++) {
    int32_t n = places[j], f = p->target[n] / MR_LANES, lane = p->target[n] % MR_LANES, slot = mr_slot_of(p, n);
    b->fighters[b->missiles[slot].owner[lane]].hits[lane] += p->end[n] == death[f][lane];
    mr_remove(b, slot, lane);
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    MR_ALIGNED int32_t dies[MR_LANES];
    MR_FOR_LANES(i) dies[i] = fighter->alive[i] & (death[f][i] != MR_NEVER);
    if (mr_count(dies)) {
      MR_EACH_LANE(i) {
        if (dies[i]) mr_remove_all(b, f, i);
      }
      mr_kill(&sky->constants, fighter, steps, death[f], &sky->flyers[f]);
    }
    mr_land(&sky->flyers[f], death[f], fighter);
  }
}

// Flies steps, and fetches a part of what is `ahead` at each.
static void mr_fly_decision(const struct MrSim *sim, MrBlock *b, int32_t steps, MrAhead ahead) {
  if (steps < 1) return;
  MrSky sky;
  MrPacked *p = &sky.missiles;
  sky.constants = sim->constants;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_take_off(&b->fighters[f], &sky.flyers[f]);
  mr_pack_missiles(&sky.constants, b, p);
  mr_begin_flights(sim, sky.flyers, steps, p, &sky.near);
  for (int32_t step = 0; step < steps; step++) {
    mr_fetch_ahead(&ahead);
    mr_fly_step(sim, step, &sky.constants, sky.flyers, &sky.fighters, p, &sky.near);
  }
  // A burnt-out missile only gets slower: those without a fuze need to be looked at once.
  for (int64_t n = 0; n < p->count; n += MR_LANES) mr_note_spent(sim, steps - 1, n, p);
  mr_unpack_missiles(p, b);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) b->missiles[slot].age[i] += steps;
  }
  MR_FOR_LANES(i) b->time[i] += steps;
  mr_settle(steps, &sky, b);
}

static void mr_fly_steps(const struct MrSim *sim, MrBlock *b, int32_t steps) {
  mr_fly_decision(sim, b, steps, (MrAhead){0});
}

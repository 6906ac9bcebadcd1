// SPDX-License-Identifier: MIT
//
// One physics step in the plane: the fighters' flight, and the missiles' guidance, flight and ends. RULES.md, "Flight"
// and "Missiles". steps3.h has the step with height.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flight.h"
#include "flights.h"
#include "guidance.h"

// Fighters ------------------------------------------------------------------------------------------------

// The part of a fighter's state that the steps work on.
typedef struct {
  MrBody body;
  MR_ALIGNED float throttle[MR_LANES], rudder_command[MR_LANES], throttle_command[MR_LANES];
  MR_ALIGNED float half_length[MR_LANES], lift[MR_LANES];  // of the present step, as in mr_fly_arc
} MrFlyer;

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

// Missiles: the stages of a flight's step ------------------------------------------------------------------

static inline void mr_guide_flight(const MrConstants *k, int32_t step, const MrMotions *fighters, int64_t first,
                                   const MrBelieved *believed, MrPacked *p) {
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  if (believed) mr_believe(believed, (float)step * k->dt, first, &target);
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
static inline void mr_note_spent(const MrSim *sim, int32_t step, int64_t first, MrPacked *p) {
  float spent_speed = sim->params.missile_spent_speed;
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    int spent = (p->v[n] < spent_speed) & (p->burn_left[n] - (float)step <= 1.0f);
    int32_t event = mr_select_int(spent, 2 * step + 1, MR_NEVER);
    p->end[n] = mr_select_int(event < p->end[n], event, p->end[n]);
  }
}

// Steps ---------------------------------------------------------------------------------------------------

// Working state of the steps of a decision. The block stays as it was before the first step until all is settled.
typedef struct {
  MrConstants constants;
  MrFlyer flyers[MR_FIGHTERS];
  MrMotions fighters;
  MrPacked missiles;
  MrBelieved believed;  // set with sensors
  MrNear near;
} MrSky;

static inline void mr_begin_sky(const MrSim *sim, const MrBlock *b, MrSky *sky) {
  (void)b;
  sky->constants = sim->constants;
}

// A whole step of a fighter.
static inline void mr_fly_fighter(const MrSky *sky, int32_t step, int32_t fighter, MrFlyer *f) {
  (void)step, (void)fighter;
  mr_speed_fighter(&sky->constants, f);
  mr_move_fighter(f);
}

static inline void mr_note_fighters(const MrSim *sim, const MrFlyer flyers[MR_FIGHTERS], MrMotions *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_note_fighter(&flyers[f].body, f, out);
}

// Flies everything for a step. Each stage is done for all flights before the next stage begins. The stages of one
// flight wait for each other's results; the same stage of different flights overlaps in the processor.
static void mr_step_bodies(const MrSim *sim, int32_t step, const MrConstants *restrict k, MrFlyer *restrict flyers,
                           MrMotions *restrict fighters, MrPacked *restrict p, const MrBelieved *restrict believed,
                           MrNear *restrict near) {
  int64_t count = p->count;
  int32_t flying = mr_fighters(sim);
  mr_note_fighters(sim, flyers, fighters);
  for (int32_t f = 0; f < flying; f++) mr_speed_fighter(k, &flyers[f]);
  for (int32_t j = 0; j < near->count; j++) mr_sight(fighters, p, near->first[j], &near->before[j]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_guide_flight(k, step, fighters, n, believed, p);
  for (int32_t f = 0; f < flying; f++) mr_move_fighter(&flyers[f]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_steer_flight(k, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_speed_flight(k, step, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_move_flight(n, p);
  if (near->count == 0) return;
  mr_note_fighters(sim, flyers, fighters);
  for (int32_t j = 0; j < near->count; j++) {
    mr_note_hits(sim, step, fighters, j, near, p);
    mr_note_spent(sim, step, near->first[j], p);
  }
}

// A step of everything. `believed` is NULL without sensors.
static inline void mr_step_sky(const MrSim *sim, int32_t step, const MrBelieved *believed, MrSky *sky) {
  mr_step_bodies(sim, step, &sky->constants, sky->flyers, &sky->fighters, &sky->missiles, believed, &sky->near);
}

// Notes the missiles that are spent after the last step. A burnt-out missile only gets slower, so those without a fuze
// are looked at once.
static inline void mr_end_sky(const MrSim *sim, int32_t steps, MrSky *sky) {
  for (int64_t n = 0; n < sky->missiles.count; n += MR_LANES) mr_note_spent(sim, steps - 1, n, &sky->missiles);
}

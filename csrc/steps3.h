// SPDX-License-Identifier: MIT
//
// One physics step with height: the fighters' flight and crashes, and the missiles' guidance, flight and ends.
// RULES.md, "Height". steps.h has the step in the plane.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flight3.h"
#include "flights.h"
#include "guidance.h"

// The direction of a body, or of the packed missile in place i, as a vector.
#define MR_DIRECTION(body, i) ((MrVector3){(body)->c[i], (body)->s[i], (body)->u[i]})

static inline void mr_straighten_body(MrBody *body) {
  MR_FOR_LANES(i) {
    MrVector3 d = mr_unit(MR_DIRECTION(body, i));
    body->c[i] = d.x;
    body->s[i] = d.y;
    body->u[i] = d.z;
  }
}

// Moves what stands in lane i of a body, or in place i of the packed missiles.
#define MR_MOVE(body, i, dt, gravity, forces)                                  \
  do {                                                                         \
    MrVector3 position = {(body)->x[i], (body)->y[i], (body)->z[i]};           \
    MrVector3 direction = MR_DIRECTION(body, i);                               \
    mr_move(dt, gravity, &(forces), &position, &direction, &(body)->v[i]);     \
    (body)->x[i] = position.x, (body)->y[i] = position.y, (body)->z[i] = position.z;    \
    (body)->c[i] = direction.x, (body)->s[i] = direction.y, (body)->u[i] = direction.z; \
  } while (0)

// Fighters ------------------------------------------------------------------------------------------------

// The part of a fighter's state that the steps work on.
typedef struct {
  MrBody body;
  MR_ALIGNED float climb[MR_LANES], throttle[MR_LANES];
  MR_ALIGNED float rudder_command[MR_LANES], climb_command[MR_LANES], throttle_command[MR_LANES];
  MR_ALIGNED int32_t crash[MR_LANES];  // event of its crash: 2 * step + 1, or MR_NEVER
} MrFlyer;

static inline void mr_take_off(const MrFighter *f, MrFlyer *out) {
  mr_copy_body(&f->body, &out->body);
  MR_FOR_LANES(i) {
    out->climb[i] = f->climb[i];
    out->throttle[i] = f->throttle[i];
    out->rudder_command[i] = f->rudder_command[i];
    out->climb_command[i] = f->climb_command[i];
    out->throttle_command[i] = f->throttle_command[i];
    out->crash[i] = MR_NEVER;
  }
}

// Working state of the steps of a decision. The block stays as it was before the first step until all is settled.
typedef struct {
  MrConstants constants;
  const MrRoster *roster;
  float gravity, climb_step;  // of MrTypes
  MrFlyer flyers[MR_FIGHTERS];
  MrMotions fighters;
  MrPacked missiles;
  MrBelieved believed;  // set with sensors
  MrNear near;
} MrSky;

static inline void mr_begin_sky(const MrSim *sim, const MrBlock *b, MrSky *sky) {
  sky->constants = sim->constants;
  sky->roster = mr_roster(sim, b);
  sky->gravity = sim->types.gravity;
  sky->climb_step = sim->types.climb_step;
}

static inline void mr_note_fighters(const MrSim *sim, const MrFlyer flyers[MR_FIGHTERS], MrMotions *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_note_fighter(&flyers[f].body, f, out);
}

// Flies a fighter for a step, and notes its crash where it is below the ground then.
static inline void mr_fly_fighter(const MrSky *sky, int32_t step, int32_t fighter, MrFlyer *f) {
  const MrConstants *k = &sky->constants;
  const MrRoster *roster = sky->roster;
  float dt = k->dt, gravity = sky->gravity, climb_step = sky->climb_step;
  float rudder_step = k->fighter.rudder_step, throttle_step = k->throttle_step;
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float rudder = mr_actuate(body->rudder[i], f->rudder_command[i], rudder_step);
    float climb = mr_actuate(f->climb[i], f->climb_command[i], climb_step);
    float throttle = mr_actuate(f->throttle[i], f->throttle_command[i], throttle_step);
    MrAircraft type = mr_aircraft_at(roster, fighter, i);
    MrForces forces =
        mr_fighter_forces(&type, gravity, body->z[i], MR_DIRECTION(body, i), body->v[i], rudder, climb, throttle);
    body->rudder[i] = rudder;
    f->climb[i] = climb;
    f->throttle[i] = throttle;
    MR_MOVE(body, i, dt, gravity, forces);
    int32_t event = mr_select_int(body->z[i] < 0.0f, 2 * step + 1, MR_NEVER);
    f->crash[i] = mr_select_int(event < f->crash[i], event, f->crash[i]);
  }
}

// Missiles ------------------------------------------------------------------------------------------------

// Gives each packed missile the constants of its type: that of the side that it does not fly at, which carries one
// kind. All lanes of a roster are equal unless types are drawn: then lane 0 serves all, and nothing has to be gathered.
static inline void mr_pack_types_of(const MrSim *sim, const MrRoster *roster, bool are_drawn, MrPacked *p) {
  const MrMissileLanes *red = &roster->missiles[0][0], *blue = &roster->missiles[1][0];
  MrTypeLanes *to = &p->types;
  int32_t reds = mr_first(sim, 1) * MR_LANES;  // numbers of the motions of red's fighters are below this
#define MR_PACK_TYPE(name, meaning) to->name[n] = mr_select(at_red, blue->name[lane], red->name[lane]);
  for (int64_t first = 0; first < p->count; first += MR_LANES) {
    MR_FOR_LANES(i) {
      int64_t n = first + i;
      int at_red = p->target[n] < reds;
      int lane = are_drawn ? p->target[n] % MR_LANES : 0;
      MR_AIRFRAME3_CONSTANTS(MR_PACK_TYPE)
      MR_MISSILE_CONSTANTS(MR_PACK_TYPE)
    }
  }
#undef MR_PACK_TYPE
}

// The same where sides carry several kinds. The places that are left over have the type of the first missile.
static inline void mr_pack_kinds(const MrSim *sim, const MrRoster *roster, const MrBlock *b, MrPacked *p) {
  int32_t n = 0;
#define MR_PACK_TYPE(name, meaning) p->types.name[n] = type->name[lane];
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(lane) {
      if (!m->active[lane]) continue;
      const MrMissileLanes *type = &roster->missiles[mr_side(sim, m->owner[lane])][m->kind[lane]];
      MR_AIRFRAME3_CONSTANTS(MR_PACK_TYPE)
      MR_MISSILE_CONSTANTS(MR_PACK_TYPE)
      n++;
    }
  }
#undef MR_PACK_TYPE
#define MR_FILL_UP(name, meaning) p->types.name[n] = p->types.name[0];
  for (; n % MR_LANES; n++) {
    MR_AIRFRAME3_CONSTANTS(MR_FILL_UP)
    MR_MISSILE_CONSTANTS(MR_FILL_UP)
  }
#undef MR_FILL_UP
}

static inline void mr_pack_types(const MrSim *sim, const MrRoster *roster, const MrBlock *b, MrPacked *p) {
  if (mr_kinds(sim) > 1) {
    mr_pack_kinds(sim, roster, b, p);
  } else if (sim->types.are_drawn) {
    mr_pack_types_of(sim, roster, true, p);
  } else {
    mr_pack_types_of(sim, roster, false, p);
  }
}

static inline MrMissileType mr_type_of(const MrTypeLanes *types, int64_t n) {
#define MR_TAKE_CONSTANT(name, meaning) .name = types->name[n],
  return (MrMissileType){.frame = {MR_AIRFRAME3_CONSTANTS(MR_TAKE_CONSTANT)}, MR_MISSILE_CONSTANTS(MR_TAKE_CONSTANT)};
#undef MR_TAKE_CONSTANT
}

// Notes the event 2 * step + 1 for the missiles of a flight that are spent after the step: burnt out and slow for their
// height above the target, too old, or below the ground. `target` is where their targets are then.
static inline void mr_note_spent(float gravity, int32_t step, const MrMotion *target, int64_t first, MrPacked *p) {
  const MrTypeLanes *types = &p->types;
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float age = p->age[n] + (float)(step + 1);
    float speed2 = p->v[n] * p->v[n] + 2.0f * gravity * (p->z[n] - target->z[i]);
    int slow = (speed2 < types->spent2[n]) & (age >= types->motor_steps[n]);
    int spent = slow | (age >= types->life_steps[n]) | (p->z[n] < 0.0f);
    int32_t event = mr_select_int(spent, 2 * step + 1, MR_NEVER);
    p->end[n] = mr_select_int(event < p->end[n], event, p->end[n]);
  }
}

// Notes the missiles of a flight that were spent after the step before, and flies all for a step. Those that do not see
// their target fly where they believe it; `believed` is NULL without sensors.
static inline void mr_fly_flight(const MrSky *sky, int32_t step, int64_t first, const MrBelieved *believed,
                                 MrPacked *p) {
  float dt = sky->constants.dt, gravity = sky->gravity;
  MrMotion target;
  mr_pick_motions(&sky->fighters, &p->target[first], &target);
  if (step > 0) mr_note_spent(gravity, step - 1, &target, first, p);
  if (believed) mr_believe(believed, (float)step * dt, first, &target);
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    MrMissileType type = mr_type_of(&p->types, n);
    float v = p->v[n], age = p->age[n] + (float)step;
    MrVector3 d = MR_DIRECTION(p, n);
    MrVector3 sight = {target.x[i] - p->x[n], target.y[i] - p->y[n], target.z[i] - p->z[n]};
    MrVector3 drift = {target.vx[i] - v * d.x, target.vy[i] - v * d.y, target.vz[i] - v * d.z};
    MrVector3 asked = mr_guide3(&type, gravity, sight, drift, d, v);
    float thrust = mr_motor(&type, type.burn_steps - age, type.motor_steps - age);
    MrForces forces = mr_missile_forces(&type, gravity, p->z[n], d, v, asked, thrust);
    MR_MOVE(p, n, dt, gravity, forces);
  }
}

// Steps ---------------------------------------------------------------------------------------------------

// A step of everything. `sky->fighters` has the fighters' motions before the step, and then those after it.
static void mr_step_sky(const MrSim *sim, int32_t step, const MrBelieved *believed, MrSky *sky) {
  MrPacked *p = &sky->missiles;
  MrNear *near = &sky->near;
  for (int32_t j = 0; j < near->count; j++) mr_sight(&sky->fighters, p, near->first[j], &near->before[j]);
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_fly_fighter(sky, step, f, &sky->flyers[f]);
  for (int64_t n = 0; n < p->count; n += MR_LANES) mr_fly_flight(sky, step, n, believed, p);
  mr_note_fighters(sim, sky->flyers, &sky->fighters);
  for (int32_t j = 0; j < near->count; j++) mr_note_hits(sim, step, &sky->fighters, j, near, p);
}

// Notes the missiles that are spent after the last step.
static inline void mr_end_sky(const MrSim *sim, int32_t steps, MrSky *sky) {
  (void)sim;
  MrPacked *p = &sky->missiles;
  for (int64_t n = 0; n < p->count; n += MR_LANES) {
    MrMotion target;
    mr_pick_motions(&sky->fighters, &p->target[n], &target);
    mr_note_spent(sky->gravity, steps - 1, &target, n, p);
  }
}

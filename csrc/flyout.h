// SPDX-License-Identifier: MIT
//
// Fly-outs: does a shot hit a target that evades in a given way? Each lane flies one shot, by the physics steps of
// every engagement. RULES.md, "Fly-outs".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "definitions.h"
#include "engagement.h"
#include "physics.h"

// Evasions, MR_EVASIONS of midrange.h ---------------------------------------------------------------------

enum { MR_SHOOTER, MR_TARGET };

// The evasion of each lane's target, as the row of MR_EVASIONS has it.
typedef struct {
  MR_ALIGNED float side[MR_LANES], time_to_go[MR_LANES];
  MR_ALIGNED int32_t beams[MR_LANES];
  MR_ALIGNED int32_t begun[MR_LANES];  // 1 once the evasion has begun; the target flies straight on before
} MrEvaders;

// The rudder that turns a fighter to a course by way of `side` (1 left, -1 right). (ahead, left) is the course, a unit
// vector in the own frame. The rudder is full to that side until the nose is near the course, then steers onto it.
static inline float mr_turn_to(float ahead, float left, float side) {
  float rudder = MR_EVASION_STEERING * left;
  int near = (ahead > 0.0f) & (rudder > -1.0f) & (rudder < 1.0f);
  return mr_select(near, rudder, side);
}

// The throttle that holds a speed in straight and level flight; full throttle if that is not enough.
static inline float mr_cruise_throttle(const MrSim *sim, const MrFighter *f, int i) {
  float v = f->body.v[i];
#if MR_DIMENSIONS == 3
  MrAircraft type = mr_aircraft_at(sim->rosters, MR_TARGET, i);
  MrAir air = mr_air(f->body.z[i]);
  float gravity = sim->types.gravity, drag = mr_drag(&type.frame, &air, v, gravity * gravity) * v;
  return mr_clip(drag / mr_max(mr_engine(&type, air.thin, v * v * air.sound2, 1.0f), 1e-6f), 0.0f, 1.0f);
#else
  const MrAirframe *frame = &sim->constants.fighter;
  return mr_clip(frame->cd0 * v * v / frame->thrust, 0.0f, 1.0f);
#endif
}

// The place of a missile, ahead and to the left of the target's nose, as a unit vector. With height it is seen from
// above.
static inline MrVector mr_missile_bearing(const MrIntercept *missile, const MrBody *body, int i) {
  float x = missile->x[i], y = missile->y[i], c = body->c[i], s = body->s[i];
#if MR_DIMENSIONS == 3
  float nose = 1.0f / sqrtf(mr_max(c * c + s * s, 1e-6f));
  float range = sqrtf(x * x + y * y);
  c *= nose, s *= nose;
#else
  float range = missile->range[i];
#endif
  float inverse = 1.0f / mr_max(range, 1.0f);
  MrVector place = mr_into_frame(x, y, c, s);
  return (MrVector){place.ahead * inverse, place.left * inverse};
}

// Sets the commands of the fighters that evade. `missile` has the positions of their missiles.
static void mr_evade(const MrSim *sim, const MrIntercept *missile, MrEvaders *evaders, MrFighter *f) {
  const MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    MrVector place = mr_missile_bearing(missile, body, i);
    float ahead = place.ahead, left = place.left;
    // A target that beams holds the missile abeam on the wing that the missile is nearer to.
    int beams = evaders->beams[i];
    float course_ahead = mr_select(beams, fabsf(left), -ahead);
    float course_left = mr_select(beams, left < 0.0f ? ahead : -ahead, -left);

    int begun = evaders->begun[i] | (missile->time_to_go[i] <= evaders->time_to_go[i]);
    float rudder = mr_turn_to(course_ahead, course_left, evaders->side[i]);
    evaders->begun[i] = begun;
    f->rudder_command[i] = mr_select(begun, rudder, 0.0f);
    f->throttle_command[i] = mr_select(begun, 1.0f, mr_cruise_throttle(sim, f, i));
#if MR_DIMENSIONS == 3
    f->climb_command[i] = mr_select(begun & !beams, -sim->params.pilot_dive, 0.0f);
#endif
  }
}

// Fly-outs ------------------------------------------------------------------------------------------------

// A target must be this many hit radii ahead of the missile to count as outrunning it. A nearer target may still turn.
#define MR_OUTRUN_RADII 5.0f

static void mr_place_body(MrBody *body, int lane, float x, float c, float s, float v) {
  body->x[lane] = x;
  body->c[lane] = c;
  body->s[lane] = s;
  body->v[lane] = v;
}

// Puts the fighters of a shot at their heights, and points the shooter's nose up or down.
static void mr_lift_shot(const MrShot *shot, MrBody *shooter, MrBody *target, int lane) {
#if MR_DIMENSIONS == 3
  float climb = mr_clip(shot->climb_sine, -0.999f, 0.999f), level = sqrtf(1.0f - climb * climb);
  shooter->c[lane] *= level;
  shooter->s[lane] *= level;
  shooter->u[lane] = climb;
  shooter->z[lane] = shot->height;
  target->z[lane] = shot->target_height;
#else
  (void)shot, (void)shooter, (void)target, (void)lane;
#endif
}

// Puts a shot into a lane of an empty block and launches its missile.
static void mr_place_shot(const MrSim *sim, const MrShot *shot, MrBlock *b, MrEvaders *evaders, int lane) {
  MrFighter *shooter = &b->fighters[MR_SHOOTER], *target = &b->fighters[MR_TARGET];
  // The line from the target to the shooter points along -x.
  mr_place_body(&shooter->body, lane, 0.0f, shot->nose_x, shot->nose_y, shot->launch_speed);
  mr_place_body(&target->body, lane, shot->range, -shot->aspect_x, -shot->aspect_y, shot->target_speed);
  mr_lift_shot(shot, &shooter->body, &target->body, lane);
  target->throttle[lane] = mr_cruise_throttle(sim, target, lane);
  shooter->alive[lane] = target->alive[lane] = 1;
  shooter->ammunition[lane] = 1;
  mr_launch_one(sim, b, NULL, MR_SHOOTER, lane);

  const MrEvasion *evasion = &mr_evasions()[shot->evasion];
  evaders->side[lane] = evasion->side;
  evaders->time_to_go[lane] = evasion->time_to_go;
  evaders->beams[lane] = evasion->beams;
}

// Ends fly-outs whose missile is burnt out and slower than a target that runs straight away: the range can then only
// grow. To be safe, the missile must be 5 % slower, and the target's nose within 14 degrees (cosine 0.97) of the line
// away from the missile, with almost no rudder. With height nothing is given up: a dive may still gain speed.
static void mr_give_up_outrun(const MrSim *sim, const MrIntercept *intercept, const MrEvaders *evaders, MrBlock *b) {
#if MR_DIMENSIONS == 2
  const MrConstants *k = &sim->constants;
  const MrBody *target = &b->fighters[MR_TARGET].body;
  MrMissile *m = &b->missiles[0];
  float near = MR_OUTRUN_RADII * sim->params.missile_hit_radius;
  MR_FOR_LANES(i) {
    float ahead = -mr_into_frame(intercept->x[i], intercept->y[i], target->c[i], target->s[i]).ahead;  // of the missile
    float speed = target->v[i] < k->run_speed ? target->v[i] : k->run_speed;
    int runs = !evaders->beams[i] & (ahead > 0.97f * intercept->range[i]) & (fabsf(target->rudder[i]) < 0.1f);
    int slower = ((float)m->age[i] >= k->burn_steps) & (m->body.v[i] < 0.95f * speed);
    m->active[i] &= !(runs & slower & (ahead > near));
  }
  b->live[0] = mr_count(m->active);
#else
  (void)sim, (void)intercept, (void)evaders, (void)b;
#endif
}

// Flies up to MR_LANES shots until each missile has hit or is gone. A lane whose shot has ended is flown on idly.
static void mr_fly_out_block(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits) {
  MrBlock b;
  MrEvaders evaders;
  MrIntercept intercept;
  memset(&b, 0, sizeof b);
  memset(&evaders, 0, sizeof evaders);
  for (int lane = 0; lane < count; lane++) mr_place_shot(sim, &shots[lane], &b, &evaders, lane);
  int32_t last = mr_steps_of(&sim->params, MR_FLY_OUT_TIME);
  while (b.live[0] && b.time[0] < last) {
    mr_intercept(&b, 0, &intercept);
    mr_give_up_outrun(sim, &intercept, &evaders, &b);
    mr_evade(sim, &intercept, &evaders, &b.fighters[MR_TARGET]);
    mr_fly_block(sim, &b, NULL, 1, MR_NOTHING_AHEAD);
    mr_straighten(sim, &b);
  }
  for (int lane = 0; lane < count; lane++) hits[lane] = !b.fighters[MR_TARGET].alive[lane];
}

// SPDX-License-Identifier: MIT
//
// Flies the evasions of targets in fly-outs, MR_EVASIONS of midrange.h. RULES.md, "Fly-outs".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"
#include "frame.h"
#include "sense.h"

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

// The throttle that holds the speed v in straight flight; full throttle if that is not enough.
static inline float mr_cruise_throttle(const MrConstants *k, float v) {
  return mr_clip(k->fighter.cd0 * v * v / k->fighter.thrust, 0.0f, 1.0f);
}

// Sets the commands of the fighters that evade. `missile` is where their missiles are.
static void mr_evade(const MrConstants *k, const MrIntercept *missile, MrEvaders *evaders, MrFighter *f) {
  const MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float inverse = 1.0f / mr_max(missile->range[i], k->one);
    MrVector place = mr_into_frame(missile->x[i], missile->y[i], body->c[i], body->s[i]);
    float ahead = place.ahead * inverse, left = place.left * inverse;
    // A target that beams holds the missile abeam on the wing that the missile is nearer to.
    int beams = evaders->beams[i];
    float course_ahead = mr_select(beams, fabsf(left), -ahead);
    float course_left = mr_select(beams, left < 0.0f ? ahead : -ahead, -left);

    int begun = evaders->begun[i] | (missile->time_to_go[i] <= evaders->time_to_go[i]);
    float rudder = mr_turn_to(course_ahead, course_left, evaders->side[i]);
    evaders->begun[i] = begun;
    f->rudder_command[i] = mr_select(begun, rudder, 0.0f);
    f->throttle_command[i] = mr_select(begun, 1.0f, mr_cruise_throttle(k, body->v[i]));
  }
}

// SPDX-License-Identifier: MIT
//
// How targets evade a missile in fly-outs: the declared set MR_EVASIONS. RULES.md, "Evasions".
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"
#include "frame.h"
#include "sense.h"

// What the lanes' targets do, one evasion each.
typedef struct {
  MR_ALIGNED float side[MR_LANES], time_to_go[MR_LANES];
  MR_ALIGNED int32_t beams[MR_LANES];
  MR_ALIGNED int32_t begun[MR_LANES];  // 0 or 1: no longer flies on
} MrEvaders;

// Full rudder to `side` until the nose is near the course (unit vector, own frame), then onto it.
static inline float mr_turn_to(float ahead, float left, float side) {
  float rudder = MR_EVASION_STEERING * left;
  int near = (ahead > 0.0f) & (rudder > -1.0f) & (rudder < 1.0f);
  return mr_select(near, rudder, side);
}

// Throttle that holds the speed in straight flight, if there is one.
static inline float mr_cruise_throttle(const MrConstants *k, float v) {
  return mr_clip(k->fighter.cd0 * v * v / k->fighter.thrust, 0.0f, 1.0f);
}

// Commands of the fighters that evade the missile of one slot, each lane its own.
static void mr_evade(const MrConstants *k, const MrIntercept *missile, MrEvaders *evaders, MrFighter *f) {
  const MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float inverse = 1.0f / mr_max(missile->range[i], k->one);
    MrVector place = mr_into_frame(missile->x[i], missile->y[i], body->c[i], body->s[i]);
    float ahead = place.ahead * inverse, left = place.left * inverse;
    // Abeam: it may be on either wing, the nearer one counts.
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

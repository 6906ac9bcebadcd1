// SPDX-License-Identifier: MIT
//
// The flight law: one physics step of fighters and missiles alike. Equations: RULES.md, "Flight".
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"

// Moves an actuator toward its command by at most `step`.
static inline float mr_actuate(float position, float command, float step) {
  return position + mr_clip(command - position, -step, step);
}

// The arc that a body flies in a step: its length [m] and half the angle it turns [rad].
typedef struct {
  float length, half_turn;
} MrArc;

// First half of one lane's physics step: drag and speed. `boost` is thrust times dt [m/s]. `half_lift` is Cl / 2
// [1/m]: the second half of the step needs half the angle turned, and so no halving.
static inline MrArc mr_fly_lift(const MrAirframe *frame, float dt, float boost, float half_lift, MrBody *body,
                                int i) {
  float v = body->v[i];
  float drag = frame->cd0 + frame->four_k * (half_lift * half_lift);
  float v_next = (v + boost) / (1.0f + drag * v * dt);  // Kahan's method
  float length = 0.5f * dt * (v + v_next);
  body->v[i] = v_next;
  return (MrArc){length, length * half_lift};
}

// The same, with the lift of the body's present rudder; `thrust` in m/s^2. With dt = 0 the body stays the same to the
// bit: that is how a dead fighter is kept where it is.
static inline MrArc mr_fly_speed(const MrConstants *k, const MrAirframe *frame, float dt, float thrust,
                                 MrBody *body, int i) {
  float v = body->v[i];
  float limit = frame->half_load_limit / mr_max(v * v, k->one);
  float half_lift = mr_clip(frame->half_lift_per_rudder * body->rudder[i], -limit, limit);
  return mr_fly_lift(frame, dt, thrust * dt, half_lift, body, i);
}

// Second half of the step: the move along the arc.
static inline void mr_fly_arc(MrArc arc, MrBody *body, int i) {
  float c = body->c[i], s = body->s[i];
  float m = 1.0f + arc.half_turn * arc.half_turn * (1.0f / 3.0f);
  float h = arc.half_turn * m;  // tan(turn / 2)
  float w = 1.0f / (1.0f + h * h);
  float p = c - h * s, r = s + h * c;  // direction of the chord, of length sqrt(1 + h^2)
  float chord = arc.length * m * w, sine = 2.0f * h * w;
  body->x[i] += chord * p;
  body->y[i] += chord * r;
  body->c[i] = c - sine * r;
  body->s[i] = s + sine * p;
}

static inline void mr_fly(const MrConstants *k, const MrAirframe *frame, float dt, float thrust, MrBody *body,
                          int i) {
  mr_fly_arc(mr_fly_speed(k, frame, dt, thrust, body, i), body, i);
}

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

// First half of one lane's physics step: drag and speed, for a body with lift coefficient `lift`, Cl [1/m]. `boost` is
// thrust times dt [m/s]. Returns half the length of the arc that the body flies [m].
static inline float mr_fly_lift(const MrAirframe *frame, float dt, float boost, float lift, float *speed) {
  float v = *speed;
  float drag = frame->cd0 + frame->k * (lift * lift);
  float v_next = (v + boost) / (1.0f + drag * v * dt);  // Kahan's method
  *speed = v_next;
  return 0.25f * dt * (v + v_next);
}

// The lift coefficient of a rudder [1/m], within the load limit.
static inline float mr_lift(const MrConstants *k, const MrAirframe *frame, float v, float rudder) {
  float limit = frame->load_limit / mr_max(v * v, k->one);
  return mr_clip(frame->lift_per_rudder * rudder, -limit, limit);
}

// Second half of the step: the move along the arc.
static inline void mr_fly_arc(float half_length, float lift, float *x, float *y, float *c, float *s) {
  float half_turn = half_length * lift;
  float m = 1.0f + half_turn * half_turn * (1.0f / 3.0f);
  float h = half_turn * m;  // tan(turn / 2)
  float chord = half_length * m * (2.0f / (1.0f + h * h));
  float dx = chord * (*c - h * *s), dy = chord * (*s + h * *c);
  *x += dx;
  *y += dy;
  *c -= lift * dy;
  *s += lift * dx;
}

// A whole step; `thrust` in m/s^2.
static inline void mr_fly(const MrConstants *k, const MrAirframe *frame, float dt, float thrust, MrBody *body,
                          int i) {
  float lift = mr_lift(k, frame, body->v[i], body->rudder[i]);
  float half_length = mr_fly_lift(frame, dt, thrust * dt, lift, &body->v[i]);
  mr_fly_arc(half_length, lift, &body->x[i], &body->y[i], &body->c[i], &body->s[i]);
}

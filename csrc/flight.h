// SPDX-License-Identifier: MIT
//
// The flight law: one physics step of fighters and missiles alike. Equations: RULES.md, "Flight".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"

// The speed after a step [m/s]. `boost` is a dt [m/s], `drag` Cd dt [s/m].
static inline float mr_next_speed(float v, float boost, float drag) {
  return (v + boost) / (1.0f + drag * v);  // Kahan's method
}

// The lift coefficient Cl of a rudder [1/m], within the load limit.
static inline float mr_lift(const MrConstants *k, const MrAirframe *frame, float v, float rudder) {
  float limit = frame->load_limit / mr_max(v * v, k->one);
  return mr_clip(frame->lift_per_rudder * rudder, -limit, limit);
}

// The move of a step along an arc, of which half the length is given [m]: L / 2 = dt (v + v') / 4.
static inline void mr_fly_arc(float half_length, float lift, float *x, float *y, float *c, float *s) {
  float half_turn = half_length * lift;
  float m = 1.0f + half_turn * half_turn * (1.0f / 3.0f);
  float h = half_turn * m;  // tan(turn / 2)
  float chord = 2.0f * (half_length * m) / (1.0f + h * h);
  float dx = chord * (*c - h * *s), dy = chord * (*s + h * *c);
  *x += dx;
  *y += dy;
  *c -= lift * dy;
  *s += lift * dx;
}

// A whole step of any length; `thrust` in m/s^2.
static inline void mr_fly(const MrConstants *k, const MrAirframe *frame, float dt, float thrust, MrBody *body, int i) {
  float v = body->v[i], lift = mr_lift(k, frame, v, body->rudder[i]);
  float drag = frame->cd0 + frame->k * (lift * lift);
  body->v[i] = mr_next_speed(v, thrust * dt, drag * dt);
  mr_fly_arc(0.25f * dt * (v + body->v[i]), lift, &body->x[i], &body->y[i], &body->c[i], &body->s[i]);
}

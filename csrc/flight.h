// SPDX-License-Identifier: MIT
//
// The flight law: one physics step of fighters and missiles alike. Equations: RULES.md, "Flight".

#pragma once

#include "block.h"

// Moves an actuator toward its command by at most `step`.
static inline float mr_actuate(float position, float command, float step) {
  return position + mr_clip(command - position, -step, step);
}

// Flies one lane of a body for a step with its present rudder; `thrust` in m/s^2. A body that does not move
// gets dt = 0, which changes no bit of it.
static inline void mr_fly(const MrAirframe *frame, float dt, float thrust, MrBody *body, int i) {
  float v = body->v[i], c = body->c[i], s = body->s[i];
  float v2 = v * v;
  float limit = frame->load_limit / mr_max(v2, 1.0f);
  float lift = mr_clip(frame->lift_per_rudder * body->rudder[i], -limit, limit);
  float drag = frame->cd0 + frame->k * (lift * lift);

  float v_next = (v + thrust * dt) / (1.0f + drag * v * dt);  // Kahan
  float length = 0.5f * dt * (v + v_next);
  float turn = length * lift;
  float arc = 1.0f + turn * turn * (1.0f / 12.0f);
  float h = 0.5f * turn * arc;  // tan(turn / 2)
  float w = 1.0f / (1.0f + h * h);
  float p = c - h * s, r = s + h * c;  // direction of the chord, not normalised
  float chord = length * arc * w, sine = 2.0f * h * w;

  body->v[i] = v_next;
  body->x[i] += chord * p;
  body->y[i] += chord * r;
  body->c[i] = c - sine * r;
  body->s[i] = s + sine * p;
}

// SPDX-License-Identifier: MIT
//
// The flight law: one physics step of fighters and missiles alike. Equations: RULES.md, "Flight".

#pragma once

#include "block.h"

// Moves an actuator toward its command by at most `step`.
static inline float mr_actuate(float position, float command, float step) {
  return position + mr_clip(command - position, -step, step);
}

// The arc that a body flies in a step: its length [m] and the angle it turns [rad].
typedef struct {
  float length, turn;
} MrArc;

// First half of the flight of one lane for a step, with its present rudder: speed and drag; `thrust` in m/s^2.
// A body that does not move gets dt = 0, which changes no bit of it.
static inline MrArc mr_fly_speed(const MrAirframe *frame, float dt, float thrust, MrBody *body, int i) {
  float v = body->v[i];
  float limit = frame->load_limit / mr_max(v * v, 1.0f);
  float lift = mr_clip(frame->lift_per_rudder * body->rudder[i], -limit, limit);
  float drag = frame->cd0 + frame->k * (lift * lift);
  float v_next = (v + thrust * dt) / (1.0f + drag * v * dt);  // Kahan
  float length = 0.5f * dt * (v + v_next);
  body->v[i] = v_next;
  return (MrArc){length, length * lift};
}

// Second half: the way along the arc.
static inline void mr_fly_arc(float length, float turn, MrBody *body, int i) {
  float c = body->c[i], s = body->s[i];
  float arc = 1.0f + turn * turn * (1.0f / 12.0f);
  float h = 0.5f * turn * arc;  // tan(turn / 2)
  float w = 1.0f / (1.0f + h * h);
  float p = c - h * s, r = s + h * c;  // direction of the chord, not normalised
  float chord = length * arc * w, sine = 2.0f * h * w;
  body->x[i] += chord * p;
  body->y[i] += chord * r;
  body->c[i] = c - sine * r;
  body->s[i] = s + sine * p;
}

// Both.
static inline void mr_fly(const MrAirframe *frame, float dt, float thrust, MrBody *body, int i) {
  MrArc arc = mr_fly_speed(frame, dt, thrust, body, i);
  mr_fly_arc(arc.length, arc.turn, body, i);
}

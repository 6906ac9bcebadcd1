// SPDX-License-Identifier: MIT
//
// Missile guidance and fuze. Pure proportional navigation: P. Zarchan, "Tactical and Strategic Missile
// Guidance"; M. Guelman, "A qualitative study of proportional navigation", 1971.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flight.h"

// How and when a missile ends is one number, its event: 2 * step for a hit in that physics step, 2 * step + 1 for being
// spent after it. So hits are even, and a hit comes before being spent in the same step. MR_NEVER is later than any
// event. It is odd, so that it is not taken for a hit.
#define MR_NEVER INT32_MAX

// A fighter's velocity before a physics step [m/s] and its position after the step [m].
typedef struct {
  MR_ALIGNED float vx[MR_LANES], vy[MR_LANES], x[MR_LANES], y[MR_LANES];
} MrMotion;

// The line of sight from a missile to its target, between two physics steps: target - missile [m], and its squared
// length [m^2].
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], range2[MR_LANES];
} MrLineOfSight;

// Thrust of the motor [m/s^2], which has `burn_left` physics steps left to burn. Below one step it is that part of the
// thrust.
static inline float mr_motor(const MrConstants *k, float burn_left) {
  return k->missile.thrust * mr_clip(burn_left, 0.0f, k->one);
}

// Steers one slot's missiles by proportional navigation, from their targets' state before the step.
static inline void mr_guide(const MrConstants *k, const MrMotion fighters[MR_FIGHTERS],
                            const MrLineOfSight *los, MrMissile *m) {
  MrBody *body = &m->body;
  MR_FOR_LANES(i) {
    float vx = MR_OF_TARGET(m, fighters, vx, i);
    float vy = MR_OF_TARGET(m, fighters, vy, i);
    float v = body->v[i], wx = vx - v * body->c[i], wy = vy - v * body->s[i];
    float cross = los->x[i] * wy - los->y[i] * wx;
    float command = k->navigation_gain * cross / mr_max(los->range2[i] * v, k->one);
    command = mr_clip(command, -k->one, k->one);
    body->rudder[i] = mr_actuate(body->rudder[i], command, k->missile.rudder_step);
  }
}

// Notes in `end` the event 2 * step for missiles that pass their target within the radius. a and b are the lines of
// sight before and after the step. The target passes the missile on the straight line from a to b, nearest either at b
// or in between. In between, the distance is |cross| / |a - b|; the comparison of squares needs no division.
static inline void mr_fuze(float radius, int32_t step, const MrLineOfSight *a, const MrLineOfSight *b,
                           int32_t end[MR_LANES]) {
  MR_FOR_LANES(i) {
    float dx = a->x[i] - b->x[i], dy = a->y[i] - b->y[i];
    float d2 = dx * dx + dy * dy;
    float along = a->x[i] * dx + a->y[i] * dy, cross = a->x[i] * dy - a->y[i] * dx;
    int passes = (along > 0.0f) & (along < d2) & (cross * cross < radius * radius * d2);
    int32_t event = mr_select_int(passes | (b->range2[i] < radius * radius), 2 * step, MR_NEVER);
    end[i] = mr_select_int(event < end[i], event, end[i]);
  }
}

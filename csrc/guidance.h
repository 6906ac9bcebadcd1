// SPDX-License-Identifier: MIT
//
// Missile guidance and fuze. Pure proportional navigation: P. Zarchan, "Tactical and Strategic Missile
// Guidance"; M. Guelman, "A qualitative study of proportional navigation", 1971.
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

#include "block.h"
#include "flight.h"

#define MR_NEVER INT32_MAX  // later than any event; odd, so never taken for a hit

// A fighter's velocity before a physics step, and where it is after the step.
typedef struct {
  MR_ALIGNED float vx[MR_LANES], vy[MR_LANES], x[MR_LANES], y[MR_LANES];
} MrMotion;

// Target - missile, after one physics step and before the next.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], range2[MR_LANES];
} MrLineOfSight;

// Thrust of the motor with so many steps left to burn; the last may burn in part.
static inline float mr_motor(const MrConstants *k, float burn_left) {
  return k->missile.thrust * mr_clip(burn_left, 0.0f, k->one);
}

// Steers one slot's missiles by PN on their targets' state before the step.
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

// Notes in `end` 2 * step where a missile passes its target within the radius. Swept over the step without a
// division: the nearest point of the line from a to b lies between, and its distance is |cross| / |a - b|.
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

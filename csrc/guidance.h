// SPDX-License-Identifier: MIT
//
// Missile guidance and fuze. Pure proportional navigation: P. Zarchan, "Tactical and Strategic Missile
// Guidance"; M. Guelman, "A qualitative study of proportional navigation", 1971.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#if MR_DIMENSIONS == 3
#include "flight3.h"
#endif

// A missile's end, by kind and time, is one number, its event: 2 * step for a hit in that physics step, 2 * step + 1
// for being spent after it. So hits are even, and a hit comes before being spent in the same step. MR_NEVER is later
// than any event. It is odd, so that it is not taken for a hit.
#define MR_NEVER INT32_MAX

// The line of sight from a missile to its target, between two physics steps: target - missile [m], and its squared
// length [m^2].
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], range2[MR_LANES];
#if MR_DIMENSIONS == 3
  MR_ALIGNED float z[MR_LANES];
#endif
} MrLineOfSight;

// The share of a step for which a motor burns that has `burn_left` physics steps left to burn.
static inline float mr_burning(const MrConstants *k, float burn_left) { return mr_clip(burn_left, k->zero, k->one); }

#if MR_DIMENSIONS == 2

// Commands of guidance to a missile: the rudder, before it is clipped to -1 ... 1, and what k->load_by_navigation
// is multiplied by to give the load limit of Cl [1/m].
typedef struct {
  float command, limit;
} MrGuidance;

// Proportional navigation of one missile, from the line of sight (x, y) to its target and the target's velocity
// (vx, vy). The command is a quotient by r^2 v, the limit one by v^2: one division serves both.
static inline MrGuidance mr_guide(const MrConstants *k, float x, float y, float vx, float vy, float c, float s,
                                  float v) {
  float wx = vx - v * c, wy = vy - v * s;
  float cross = x * wy - y * wx;
  float range2 = x * x + y * y;
  float quotient = k->navigation_gain / mr_max(range2 * (v * v), k->one);
  return (MrGuidance){cross * (v * quotient), range2 * quotient};
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

#else

// The same with height, by the least range while the line of sight goes straight from a to b.
static inline void mr_fuze(float radius, int32_t step, const MrLineOfSight *a, const MrLineOfSight *b,
                           int32_t end[MR_LANES]) {
  MR_FOR_LANES(i) {
    MrVector3 from = {a->x[i], a->y[i], a->z[i]}, to = {b->x[i], b->y[i], b->z[i]};
    int32_t event = mr_select_int(mr_least_range2(from, to) < radius * radius, 2 * step, MR_NEVER);
    end[i] = mr_select_int(event < end[i], event, end[i]);
  }
}

#endif

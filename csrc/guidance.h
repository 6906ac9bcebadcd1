// SPDX-License-Identifier: MIT
//
// Missile guidance and fuze. Pure proportional navigation: P. Zarchan, "Tactical and Strategic Missile
// Guidance"; M. Guelman, "A qualitative study of proportional navigation", 1971.

#pragma once

#include "block.h"
#include "flight.h"

// A fighter's velocity before a physics step, and where it is after the step.
typedef struct {
  MR_ALIGNED float vx[MR_LANES], vy[MR_LANES], x[MR_LANES], y[MR_LANES];
} MrMotion;

// Target - missile, after one physics step and before the next.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], range2[MR_LANES];
} MrChase;

// Does something at a, then at b, pass the origin within the radius? Swept over the step without a
// division: the nearest point of the line lies inside the step, and its distance is |cross| / |d|.
static inline int mr_passes_within(float radius2, float ax, float ay, float a2, float bx, float by,
                                   float b2) {
  float dx = bx - ax, dy = by - ay;
  float d2 = dx * dx + dy * dy, along = -(ax * dx + ay * dy), cross = ax * dy - ay * dx;
  int inside = (along > 0.0f) & (along < d2) & (cross * cross < radius2 * d2);
  return (a2 < radius2) | (b2 < radius2) | inside;
}

// Thrust of the motor with so many steps left to burn; the last may burn in part.
static inline float mr_motor(const MrConstants *k, float burn_left) {
  return k->missile.thrust * mr_clip(burn_left, 0.0f, 1.0f);
}

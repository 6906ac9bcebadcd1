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

// Thrust of the motor with so many steps left to burn; the last may burn in part.
static inline float mr_motor(const MrConstants *k, float burn_left) {
  return k->missile.thrust * mr_clip(burn_left, 0.0f, k->one);
}

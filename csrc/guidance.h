// SPDX-License-Identifier: MIT
//
// Missile guidance and fuze. Pure proportional navigation: P. Zarchan, "Tactical and Strategic Missile
// Guidance"; M. Guelman, "A qualitative study of proportional navigation", 1971.

#pragma once

#include "block.h"
#include "flight.h"

// Where something is before a physics step, its velocity, and where it is after the step.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], vx[MR_LANES], vy[MR_LANES];
  float x_next[MR_LANES], y_next[MR_LANES];
} MrMotion;

// The motion of a missile's target in each lane, found by comparing so that it stays a vector operation.
static inline void mr_target_motion(const MrMotion fighters[MR_FIGHTERS],
                                    const int32_t target[MR_LANES], MrMotion *out) {
  *out = fighters[0];
  for (int32_t f = 1; f < MR_FIGHTERS; f++) {
    const MrMotion *in = &fighters[f];
    MR_FOR_LANES(i) {
      int is_target = target[i] == f;
      out->x[i] = mr_select(is_target, in->x[i], out->x[i]);
      out->y[i] = mr_select(is_target, in->y[i], out->y[i]);
      out->vx[i] = mr_select(is_target, in->vx[i], out->vx[i]);
      out->vy[i] = mr_select(is_target, in->vy[i], out->vy[i]);
      out->x_next[i] = mr_select(is_target, in->x_next[i], out->x_next[i]);
      out->y_next[i] = mr_select(is_target, in->y_next[i], out->y_next[i]);
    }
  }
}

// Sets a missile's rudder by pure PN on its target's state before the step.
static inline void mr_guide(const MrConstants *k, const MrMotion *target, MrBody *m) {
  MR_FOR_LANES(i) {
    float rx = target->x[i] - m->x[i], ry = target->y[i] - m->y[i];
    float wx = target->vx[i] - m->v[i] * m->c[i], wy = target->vy[i] - m->v[i] * m->s[i];
    float r2 = rx * rx + ry * ry;
    float v = mr_max(m->v[i], 1.0f);
    float command = k->navigation_gain * (rx * wy - ry * wx) / (mr_max(r2, 1.0f) * v);
    m->rudder[i] = mr_actuate(m->rudder[i], mr_clip(command, -1.0f, 1.0f), k->missile.rudder_step);
  }
}

// Thrust of the motor of a missile of this age [steps]; the last step may burn in part.
static inline float mr_motor(const MrConstants *k, int32_t age) {
  return k->missile.thrust * mr_clip(k->burn_steps - (float)age, 0.0f, 1.0f);
}

// 1 where a missile in the air, which flew here from (x0, y0), passed its target within the radius. Swept
// over the step's relative motion without a division: the nearest point of the line lies inside the step,
// and its distance is |cross| / |d|.
static inline void mr_fuze(float radius, const MrMotion *target, const MrMissile *missile,
                           const float x0[MR_LANES], const float y0[MR_LANES], int32_t hit[MR_LANES]) {
  const MrBody *m = &missile->body;
  float radius2 = radius * radius;
  MR_FOR_LANES(i) {
    float ax = target->x[i] - x0[i];
    float ay = target->y[i] - y0[i];
    float bx = target->x_next[i] - m->x[i];
    float by = target->y_next[i] - m->y[i];
    float dx = bx - ax, dy = by - ay;
    float d2 = dx * dx + dy * dy, along = -(ax * dx + ay * dy), cross = ax * dy - ay * dx;
    int32_t starts = ax * ax + ay * ay < radius2;
    int32_t ends = bx * bx + by * by < radius2;
    int32_t passes = (along > 0.0f) & (along < d2) & (cross * cross < radius2 * d2);
    hit[i] = missile->active[i] & (starts | ends | passes);
  }
}

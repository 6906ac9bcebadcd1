// SPDX-License-Identifier: MIT
//
// Predicted misses: by how much inbound missiles will miss a fighter that holds its rudder and throttle. The flight law
// and the guidance are applied in a few long steps, whose constants are in definitions.h. RULES.md, "Observations".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "definitions.h"
#include "flight.h"
#include "view.h"

// A fighter's velocity before a step [m/s], and its change of position in the step [m].
typedef struct {
  MR_ALIGNED float vx[MR_LANES], vy[MR_LANES], dx[MR_LANES], dy[MR_LANES];
} MrStride;

// A set of inbound missiles, one in each lane.
typedef struct {
  MrBody body;                           // the position is relative to the fighter's; the rudder is not used
  MR_ALIGNED float burn_time[MR_LANES];  // burn time left [s]
  MR_ALIGNED float half_length[MR_LANES], lift[MR_LANES];  // of the present step, as in mr_fly_arc
  MR_ALIGNED int32_t flies[MR_LANES];                      // 1 if not yet spent when the present step begins
  MR_ALIGNED float miss2[MR_LANES];                        // least distance to the fighter so far, squared [m^2]
} MrPursuit;

// Flies the fighter for a step.
static inline void mr_stride(const MrConstants *k, const float dt[MR_LANES], const float throttle[MR_LANES],
                             MrBody *body, MrStride *out) {
  MR_FOR_LANES(i) {
    out->vx[i] = body->v[i] * body->c[i];
    out->vy[i] = body->v[i] * body->s[i];
    body->x[i] = body->y[i] = 0.0f;
    mr_fly(k, &k->fighter, dt[i], k->fighter.thrust * throttle[i], body, i);
    out->dx[i] = body->x[i];
    out->dy[i] = body->y[i];
  }
}

// First half of a set's step: guidance and speed. The missile has the lift that guidance commands at once, without
// rudder rate.
static inline void mr_steer(const MrSim *sim, const float dt[MR_LANES], const MrStride *target, MrPursuit *p) {
  const MrConstants *k = &sim->constants;
  float spent_speed = sim->params.missile_spent_speed;
  MrBody *m = &p->body;
  float navigation = MR_PREDICTION_GAIN * k->navigation_gain * k->missile.lift_per_rudder;
  MR_FOR_LANES(i) {
    float x = m->x[i], y = m->y[i], v = m->v[i];
    float wx = v * m->c[i] - target->vx[i], wy = v * m->s[i] - target->vy[i];
    float range2 = x * x + y * y;
    float inverse = 1.0f / mr_max(range2 * (v * v), k->one);
    float limit = k->missile.load_limit * (range2 * inverse);
    limit = limit < k->missile.lift_per_rudder ? limit : k->missile.lift_per_rudder;
    float lift = mr_clip(navigation * (x * wy - y * wx) * (v * inverse), -limit, limit);
    p->flies[i] = (v > spent_speed) | (p->burn_time[i] > 0.0f);
    float burn = p->burn_time[i] < dt[i] ? p->burn_time[i] : dt[i];
    p->burn_time[i] -= burn;
    float drag = k->missile.cd0 + k->missile.k * (lift * lift);
    m->v[i] = mr_next_speed(v, k->missile.thrust * burn, drag * dt[i]);
    p->half_length[i] = 0.25f * dt[i] * (v + m->v[i]);
    p->lift[i] = lift;
  }
}

// Second half of a set's step: moves the missiles along their arcs and notes how near they come. As in the fuze, the
// relative position moves on a straight line from (x, y) to (x + dx, y + dy). Its least distance is at the share of the
// step that minimises |(x, y) + share (dx, dy)|^2.
static inline void mr_pass(const MrConstants *k, const MrStride *target, MrPursuit *p) {
  MrBody *m = &p->body;
  MR_FOR_LANES(i) {
    float x = m->x[i], y = m->y[i];
    mr_fly_arc(p->half_length[i], p->lift[i], &m->x[i], &m->y[i], &m->c[i], &m->s[i]);
    m->x[i] -= target->dx[i];
    m->y[i] -= target->dy[i];
    float dx = m->x[i] - x, dy = m->y[i] - y;
    float d2 = dx * dx + dy * dy, along = -(x * dx + y * dy);
    float share = mr_clip(along / mr_max(d2, k->one), 0.0f, k->one);
    float distance2 = x * x + y * y + share * (share * d2 - 2.0f * along);
    p->miss2[i] = mr_select(p->flies[i] & (distance2 < p->miss2[i]), distance2, p->miss2[i]);
  }
}

// Predicts the miss distances of `count` sets of missiles. `time_to_go` is the longest of each lane's missiles [s].
// Each stage is done for all sets before the next stage begins, as in mr_step_bodies.
static void mr_predict_misses(const MrSim *sim, const MrFighter *fighter, const float time_to_go[MR_LANES],
                              MrPursuit pursuits[], int count) {
  const MrConstants *k = &sim->constants;
  MrBody body = fighter->body;
  MrStride stride;
  MR_ALIGNED float dt[MR_LANES];
  MR_FOR_LANES(i) {
    dt[i] = MR_PREDICTION_FIRST * mr_clip(2.0f * time_to_go[i], MR_PREDICTION_MIN, MR_PREDICTION_MAX);
  }
  for (int step = 0; step < MR_PREDICTION_STEPS; step++) {
    mr_stride(k, dt, fighter->throttle, &body, &stride);
    for (int n = 0; n < count; n++) mr_steer(sim, dt, &stride, &pursuits[n]);
    for (int n = 0; n < count; n++) mr_pass(k, &stride, &pursuits[n]);
    MR_FOR_LANES(i) dt[i] *= MR_PREDICTION_GROWTH;
  }
}

// Writes the features of the inbound missiles' predicted misses.
static void mr_write_misses(const MrSim *sim, const MrFighter *own, const MrObserved missiles[MR_INBOUND_OBSERVED],
                            float out[MR_INBOUND_OBSERVED][MR_LANES]) {
  const MrConstants *k = &sim->constants;
  MrPursuit pursuits[MR_INBOUND_OBSERVED];
  MR_ALIGNED float time_to_go[MR_LANES] = {0};  // the longest of the inbound missiles [s]
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    const MrObserved *m = &missiles[rank];
    MrPursuit *p = &pursuits[rank];
    MR_FOR_LANES(i) {
      p->body.x[i] = m->x[i] - own->body.x[i];
      p->body.y[i] = m->y[i] - own->body.y[i];
      p->body.c[i] = m->c[i];
      p->body.s[i] = m->s[i];
      p->body.v[i] = m->v[i];
      p->burn_time[i] = mr_max(k->burn_steps - (float)m->age[i], 0.0f) * k->dt;
      p->miss2[i] = m->range[i] * m->range[i];
      float longest = mr_max(m->time_to_go[i], time_to_go[i]);
      time_to_go[i] = mr_select(m->present[i], longest, time_to_go[i]);
    }
  }
  mr_predict_misses(sim, own, time_to_go, pursuits, MR_INBOUND_OBSERVED);
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    MR_FOR_LANES(i) {
      float nearness = MR_NEAR_MISS / (MR_NEAR_MISS + sqrtf(mr_max(pursuits[rank].miss2[i], 0.0f)));
      out[rank][i] = mr_select(missiles[rank].present[i], nearness, 0.0f);
    }
  }
}

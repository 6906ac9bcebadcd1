// SPDX-License-Identifier: MIT
//
// What there is to see: the geometry of fighters to each other and of missiles to their targets. Pilots,
// rewards and observations all use it, so that both seats and all three mean the same.
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"
#include "frame.h"

// One fighter's enemy: in the fighter's frame, x along its velocity and y to the left.
typedef struct {
  MR_ALIGNED float range[MR_LANES], ahead[MR_LANES], left[MR_LANES];      // [m], unit vector to the enemy
  MR_ALIGNED float closing[MR_LANES], los_rate[MR_LANES];                  // [m/s], [rad/s]
  MR_ALIGNED float heading_ahead[MR_LANES], heading_left[MR_LANES];        // enemy's direction
  MR_ALIGNED float aspect_ahead[MR_LANES], aspect_left[MR_LANES];          // unit vector from enemy to us, its frame
  MR_ALIGNED float approach[MR_LANES];  // enemy's speed component toward us [m/s]
} MrSight;

// One missile slot and its target.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES];  // missile - target [m]
  MR_ALIGNED float range[MR_LANES], time_to_go[MR_LANES];
  MR_ALIGNED float target_speed[MR_LANES];
} MrIntercept;

// The enemy of a fighter. With one fighter a side it is the other seat.
static inline int32_t mr_opponent(int32_t fighter) { return fighter ^ 1; }

static void mr_look(const MrBlock *b, int32_t fighter, MrSight *out) {
  const MrBody *own = &b->fighters[fighter].body;
  const MrBody *enemy = &b->fighters[mr_opponent(fighter)].body;
  MR_FOR_LANES(i) {
    float dx = enemy->x[i] - own->x[i], dy = enemy->y[i] - own->y[i];
    float c = own->c[i], s = own->s[i], ec = enemy->c[i], es = enemy->s[i];
    float range = sqrtf(dx * dx + dy * dy);
    float inverse = 1.0f / (range > 1.0f ? range : 1.0f);
    float ux = dx * inverse, uy = dy * inverse;
    float wx = enemy->v[i] * ec - own->v[i] * c, wy = enemy->v[i] * es - own->v[i] * s;
    MrVector bearing = mr_into_frame(ux, uy, c, s), heading = mr_into_frame(ec, es, c, s);
    MrVector aspect = mr_into_frame(-ux, -uy, ec, es);
    out->range[i] = range;
    out->ahead[i] = bearing.ahead;
    out->left[i] = bearing.left;
    out->closing[i] = -(wx * ux + wy * uy);
    out->los_rate[i] = (ux * wy - uy * wx) * inverse;
    out->heading_ahead[i] = heading.ahead;
    out->heading_left[i] = heading.left;
    out->aspect_ahead[i] = aspect.ahead;
    out->aspect_left[i] = aspect.left;
    out->approach[i] = aspect.ahead * enemy->v[i];
  }
}

static inline void mr_intercept(const MrBlock *b, int32_t slot, MrIntercept *out) {
  const MrMissile *m = &b->missiles[slot];
  MR_FOR_LANES(i) {
    float tx = MR_OF_TARGET(m, b->fighters, body.x, i);
    float ty = MR_OF_TARGET(m, b->fighters, body.y, i);
    float tv = MR_OF_TARGET(m, b->fighters, body.v, i);
    float tc = MR_OF_TARGET(m, b->fighters, body.c, i);
    float ts = MR_OF_TARGET(m, b->fighters, body.s, i);
    float x = m->body.x[i] - tx, y = m->body.y[i] - ty;
    float wx = m->body.v[i] * m->body.c[i] - tv * tc, wy = m->body.v[i] * m->body.s[i] - tv * ts;
    float range = sqrtf(x * x + y * y);
    float rate = -(x * wx + y * wy);  // range * closing speed
    float least = range * range * (1.0f / MR_TIME_TO_GO_MAX);
    out->x[i] = x;
    out->y[i] = y;
    out->range[i] = range;
    // range / closing speed; a rate below `least` means more than the maximum, or opening.
    out->time_to_go[i] = mr_select(rate > least, range * range / rate, MR_TIME_TO_GO_MAX);
    out->target_speed[i] = tv;
  }
}

// Farthest a missile of this fighter would reach its enemy now, if the enemy flew on (RULES.md, R_max).
static inline float mr_r_max(const MrConstants *k, float approach) {
  return k->reach + k->reach_time * approach;
}

// Natural logarithm of (1 + z) / (1 - z), 0 <= z < 1, by its series; 1 % at a ratio of 8.
static inline float mr_log_ratio(float z) {
  float z2 = z * z;
  return 2.0f * z * (1.0f + z2 * (1.0f / 3.0f + z2 * (1.0f / 5.0f + z2 * (1.0f / 7.0f + z2 * (1.0f / 9.0f)))));
}

// How far a missile gains on a target that runs straight away at `speed`, until it is no faster or
// spent: closed form of the coast, from v_burnt to v_end, after the rest of its boost in one step.
static inline float mr_chase_reach(const struct MrSim *sim, float v, float age, float speed) {
  const MrConstants *k = &sim->constants;
  float cd0 = k->missile.cd0;
  float burn = mr_max(k->burn_steps - age, 0.0f) * k->dt;
  float v_end = mr_max(speed, sim->params.missile_spent_speed);
  float v_burnt = (v + k->missile.thrust * burn) / (1.0f + cd0 * v * burn);
  float boost = burn * (0.5f * (v + v_burnt) - speed);
  v_burnt = mr_max(v_burnt, v_end);
  // ln(v_burnt / v_end) - speed (1 / v_end - 1 / v_burnt), with one division for both terms
  float drop = v_burnt - v_end, sum = v_burnt + v_end, product = v_burnt * v_end;
  float inverse = 1.0f / (sum * product);
  float coast = mr_log_ratio(drop * product * inverse) - speed * drop * sum * inverse;
  return boost + coast * (1.0f / cd0);
}

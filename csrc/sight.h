// SPDX-License-Identifier: MIT
//
// The geometry between the fighters, and between missiles and their targets. Pilots, rewards and observations of both
// sides use these functions, so that they agree.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"

// A vector in the frame of a body: x along its velocity, y to the left.
typedef struct {
  float ahead, left;
} MrVector;

// The vector (x, y), expressed in the frame whose x axis points along the unit vector (c, s).
static inline MrVector mr_into_frame(float x, float y, float c, float s) {
  return (MrVector){x * c + y * s, y * c - x * s};
}

// The vector, turned to the left by the angle whose cosine is c and sine is s.
static inline MrVector mr_turn(MrVector a, float c, float s) {
  return (MrVector){a.ahead * c - a.left * s, a.left * c + a.ahead * s};
}

// The time to go of a missile [s], range / closing speed, from the range [m] and range * closing speed.
static inline float mr_time_to_go(float range, float rate) {
  float least = range * range * (1.0f / MR_TIME_TO_GO_MAX);
  // Where the rate is at most `least`, the time is above the maximum or the range grows.
  return mr_select(rate > least, range * range / rate, MR_TIME_TO_GO_MAX);
}

// ln((1 + z) / (1 - z)) for 0 <= z < 1, by the first five terms of its series. The error is 1 % where (1 + z) / (1 - z)
// is 8, and less below.
static inline float mr_log_ratio(float z) {
  float z2 = z * z;
  return 2.0f * z * (1.0f + z2 * (1.0f / 3.0f + z2 * (1.0f / 5.0f + z2 * (1.0f / 7.0f + z2 * (1.0f / 9.0f)))));
}

// Chase reach [m]: the distance that a missile gains on a target that runs straight away at `speed`. It gains until it
// is no faster than the target or is spent. The rest of the boost, `burn` [s], is one step of the flight law, up to
// v_burnt. The coast from v_burnt down to v_end is in closed form. RULES.md, "Pilots".
static inline float mr_chase(float cd0, float thrust, float burn, float spent_speed, float v, float speed) {
  float v_end = mr_max(speed, spent_speed);
  float v_burnt = (v + thrust * burn) / (1.0f + cd0 * v * burn);
  float boost = burn * (0.5f * (v + v_burnt) - speed);
  v_burnt = mr_max(v_burnt, v_end);
  // The coast is ln(v_burnt / v_end) - speed (1 / v_end - 1 / v_burnt); one division serves both terms.
  float drop = v_burnt - v_end, sum = v_burnt + v_end, product = v_burnt * v_end;
  float inverse = 1.0f / (sum * product);
  float coast = mr_log_ratio(drop * product * inverse) - speed * drop * sum * inverse;
  return boost + coast * (1.0f / cd0);
}

#if MR_DIMENSIONS == 3
#include "sight3.h"
#else

// A fighter's sight of its enemy. Vectors are in the fighter's own frame (x along its velocity, y to the left), but for
// the aspect.
typedef struct {
  MR_ALIGNED float range[MR_LANES];                                  // [m]
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];                  // unit vector to the enemy
  MR_ALIGNED float closing[MR_LANES];                                // closing speed [m/s]
  MR_ALIGNED float los_rate[MR_LANES];                               // rate of turn of the line of sight [rad/s]
  MR_ALIGNED float heading_ahead[MR_LANES], heading_left[MR_LANES];  // direction of the enemy's velocity
  MR_ALIGNED float aspect_ahead[MR_LANES], aspect_left[MR_LANES];    // unit vector to the fighter in the enemy's frame
  MR_ALIGNED float approach[MR_LANES];                               // enemy's speed toward the fighter [m/s]
} MrSight;

// The cosine of the angle off the nose at which the enemy is.
static inline float mr_cosine(const MrSight *sight, int i) { return sight->ahead[i]; }

// The cosine of the angle at which the enemy sees the fighter off its nose.
static inline float mr_aspect_cosine(const MrSight *sight, int i) { return sight->aspect_ahead[i]; }

// The unit vector to the enemy on the ground.
static inline MrVector mr_bearing(const MrSight *sight, int i) { return (MrVector){sight->ahead[i], sight->left[i]}; }

// The vector (x, y) in the own frame.
static inline MrVector mr_into_own(const MrBody *own, float x, float y, int i) {
  return mr_into_frame(x, y, own->c[i], own->s[i]);
}

// A fighter's sight of an enemy with that body: as mr_look has it, but for the sign of zeros.
static inline void mr_look_at(const MrBody *own, const MrBody *enemy, MrSight *out) {
  MR_FOR_LANES(i) {
    float dx = enemy->x[i] - own->x[i], dy = enemy->y[i] - own->y[i];
    float c = own->c[i], s = own->s[i], ec = enemy->c[i], es = enemy->s[i];
    float range = sqrtf(dx * dx + dy * dy);
    float inverse = 1.0f / (range > 1.0f ? range : 1.0f);
    float ux = dx * inverse, uy = dy * inverse;
    float wx = enemy->v[i] * ec - own->v[i] * c, wy = enemy->v[i] * es - own->v[i] * s;
    MrVector enemy_seen = mr_into_frame(ux, uy, c, s), own_seen = mr_into_frame(-ux, -uy, ec, es);
    MrVector heading = mr_into_frame(ec, es, c, s);
    out->range[i] = range;
    out->ahead[i] = enemy_seen.ahead;
    out->left[i] = enemy_seen.left;
    out->closing[i] = -(wx * ux + wy * uy);
    out->los_rate[i] = (ux * wy - uy * wx) * inverse;
    out->heading_ahead[i] = heading.ahead;
    out->heading_left[i] = heading.left;
    out->aspect_ahead[i] = own_seen.ahead;
    out->aspect_left[i] = own_seen.left;
    out->approach[i] = own_seen.ahead * enemy->v[i];
  }
}

#if MR_SIDE == 1

// The fighters' sights of each other. Range, closing speed and the line of sight's rate are the same for both. How the
// enemy sees the own fighter is the enemy's sight, too.
static void mr_look(const MrBlock *b, MrSight sights[MR_FIGHTERS]) {
  const MrBody *red = &b->fighters[0].body, *blue = &b->fighters[1].body;
  MrSight *of_red = &sights[0], *of_blue = &sights[1];
  MR_FOR_LANES(i) {
    float dx = blue->x[i] - red->x[i], dy = blue->y[i] - red->y[i];
    float c = red->c[i], s = red->s[i], bc = blue->c[i], bs = blue->s[i];
    float range = sqrtf(dx * dx + dy * dy);
    float inverse = 1.0f / (range > 1.0f ? range : 1.0f);
    float ux = dx * inverse, uy = dy * inverse;  // from red to blue
    float wx = blue->v[i] * bc - red->v[i] * c, wy = blue->v[i] * bs - red->v[i] * s;
    MrVector blue_seen = mr_into_frame(ux, uy, c, s), red_seen = mr_into_frame(-ux, -uy, bc, bs);
    MrVector blue_heading = mr_into_frame(bc, bs, c, s), red_heading = mr_into_frame(c, s, bc, bs);
    of_red->range[i] = of_blue->range[i] = range;
    of_red->ahead[i] = of_blue->aspect_ahead[i] = blue_seen.ahead;
    of_red->left[i] = of_blue->aspect_left[i] = blue_seen.left;
    of_blue->ahead[i] = of_red->aspect_ahead[i] = red_seen.ahead;
    of_blue->left[i] = of_red->aspect_left[i] = red_seen.left;
    of_red->closing[i] = of_blue->closing[i] = -(wx * ux + wy * uy);
    of_red->los_rate[i] = of_blue->los_rate[i] = (ux * wy - uy * wx) * inverse;
    of_red->heading_ahead[i] = blue_heading.ahead;
    of_red->heading_left[i] = blue_heading.left;
    of_blue->heading_ahead[i] = red_heading.ahead;
    of_blue->heading_left[i] = red_heading.left;
    of_red->approach[i] = red_seen.ahead * blue->v[i];
    of_blue->approach[i] = blue_seen.ahead * red->v[i];
  }
}

#endif

// The position of the missile in one lane to its target: missile - target [m]. `targets` are the fighters' bodies, true
// ones or believed ones.
typedef struct {
  float x, y, range, time_to_go;
} MrStanding;

static inline MrStanding mr_standing(const MrMissile *m, const MrBody *const targets[MR_FIGHTERS], int i) {
  float tx = MR_OF_TARGET(m, targets, x, i);
  float ty = MR_OF_TARGET(m, targets, y, i);
  float tv = MR_OF_TARGET(m, targets, v, i);
  float tc = MR_OF_TARGET(m, targets, c, i);
  float ts = MR_OF_TARGET(m, targets, s, i);
  float x = m->body.x[i] - tx, y = m->body.y[i] - ty;
  float wx = m->body.v[i] * m->body.c[i] - tv * tc, wy = m->body.v[i] * m->body.s[i] - tv * ts;
  float range = sqrtf(x * x + y * y);
  return (MrStanding){x, y, range, mr_time_to_go(range, -(x * wx + y * wy))};
}

// R_max [m], the pilots' estimate of the range from which a missile reaches an enemy that flies on. `approach` is the
// enemy's speed toward the shooter [m/s]. RULES.md, "Pilots".
static inline float mr_r_max(const MrSim *sim, const MrRoster *roster, int32_t target, int32_t kind, const MrBody *own,
                             const MrBody *enemy, float approach, int i) {
  (void)roster, (void)target, (void)kind, (void)own, (void)enemy, (void)i;
  return sim->constants.reach + sim->constants.reach_time * approach;
}

// The speed of a fighter that runs [m/s], as pilots judge it.
static inline float mr_run_speed(const MrSim *sim, const MrBody *own, int i) {
  (void)own, (void)i;
  return sim->constants.run_speed;
}

// Chase reach [m] of a missile; neither its type nor the heights matter in the plane.
static inline float mr_chase_reach(const MrSim *sim, const MrRoster *roster, int32_t side, int32_t kind, float v,
                                   float age, float speed, float mean_height, int i) {
  (void)roster, (void)side, (void)kind, (void)mean_height, (void)i;
  const MrConstants *k = &sim->constants;
  float burn = mr_max(k->burn_steps - age, 0.0f) * k->dt;
  return mr_chase(k->missile.cd0, k->missile.thrust, burn, sim->params.missile_spent_speed, v, speed);
}

#endif

#if MR_SIDE == 1
// The enemy of a fighter in one against one.
static inline int32_t mr_opponent(int32_t fighter) { return fighter ^ 1; }
#endif

// The true sight that a fighter has of an enemy, in `room`. In one against one it is that of mr_look: to the sign of
// zeros.
static inline MrSight *mr_true_sight(const MrBlock *b, int32_t fighter, int32_t enemy, MrSight room[2]) {
#if MR_SIDE == 1
  (void)enemy;
  mr_look(b, room);
  return &room[fighter];
#else
  mr_look_at(&b->fighters[fighter].body, &b->fighters[enemy].body, room);
  return room;
#endif
}

// The positions of one slot's missiles to their targets, in all lanes.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES];               // missile - target [m]
  MR_ALIGNED float range[MR_LANES], time_to_go[MR_LANES];  // [m], [s]
} MrIntercept;

// The body of each fighter, for MR_OF_TARGET.
static inline void mr_bodies(const MrBlock *b, const MrBody *bodies[MR_FIGHTERS]) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) bodies[f] = &b->fighters[f].body;
}

static inline void mr_intercept(const MrBlock *b, int32_t slot, MrIntercept *out) {
  const MrBody *targets[MR_FIGHTERS];
  mr_bodies(b, targets);
  MR_FOR_LANES(i) {
    MrStanding standing = mr_standing(&b->missiles[slot], targets, i);
    out->x[i] = standing.x;
    out->y[i] = standing.y;
    out->range[i] = standing.range;
    out->time_to_go[i] = standing.time_to_go;
  }
}

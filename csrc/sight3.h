// SPDX-License-Identifier: MIT
//
// The geometry of sight.h with height. A fighter's frame is level: x along the horizontal part of its velocity, y to
// the left, z up.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"
#include "flight3.h"

// A fighter's sight of its enemy. Vectors are in the fighter's level frame, but for the aspect.
typedef struct {
  MR_ALIGNED float range[MR_LANES];                                // [m]
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES], up[MR_LANES];  // unit vector to the enemy
  MR_ALIGNED float cosine[MR_LANES];                               // of the angle between that and the own velocity
  MR_ALIGNED float closing[MR_LANES];                              // closing speed [m/s]
  MR_ALIGNED float los_rate[MR_LANES];     // rate of turn of the line of sight about the vertical [rad/s]
  MR_ALIGNED float los_rate_up[MR_LANES];  // rate of the sine of its elevation [1/s]
  MR_ALIGNED float heading_ahead[MR_LANES], heading_left[MR_LANES], heading_up[MR_LANES];  // of the enemy's velocity
  MR_ALIGNED float aspect_ahead[MR_LANES], aspect_left[MR_LANES];  // unit vector to the fighter in the enemy's frame
  MR_ALIGNED float toward[MR_LANES];    // cosine of the angle between the enemy's velocity and the line to the fighter
  MR_ALIGNED float approach[MR_LANES];  // enemy's speed toward the fighter [m/s]
} MrSight;

// The cosine of the angle off the nose at which the enemy is.
static inline float mr_cosine(const MrSight *sight, int i) { return sight->cosine[i]; }

// The cosine of the angle at which the enemy sees the fighter off its nose.
static inline float mr_aspect_cosine(const MrSight *sight, int i) { return sight->toward[i]; }

// The unit vector to the enemy on the ground; shorter to one that is nearly above or below.
static inline MrVector mr_bearing(const MrSight *sight, int i) {
  float ahead = sight->ahead[i], left = sight->left[i];
  float inverse = 1.0f / sqrtf(mr_max(ahead * ahead + left * left, MR_LEAST_COSINE2));
  return (MrVector){ahead * inverse, left * inverse};
}

// The horizontal unit vector of a level frame's x axis. That of a body in vertical flight is short, and never infinite.
static inline MrVector mr_level_axis(float c, float s) {
  float inverse = 1.0f / sqrtf(mr_max(c * c + s * s, MR_LEAST_COSINE2));
  return (MrVector){c * inverse, s * inverse};
}

// The horizontal vector (x, y) in the own level frame.
static inline MrVector mr_into_own(const MrBody *own, float x, float y, int i) {
  MrVector axis = mr_level_axis(own->c[i], own->s[i]);
  return mr_into_frame(x, y, axis.ahead, axis.left);
}

// A fighter's sight of an enemy with that body.
static inline void mr_look_at(const MrBody *own, const MrBody *enemy, MrSight *out) {
  MR_FOR_LANES(i) {
    float dx = enemy->x[i] - own->x[i], dy = enemy->y[i] - own->y[i], dz = enemy->z[i] - own->z[i];
    float range = sqrtf(dx * dx + dy * dy + dz * dz);
    float inverse = 1.0f / mr_max(range, 1.0f);
    MrVector3 line = {dx * inverse, dy * inverse, dz * inverse};
    MrVector3 d = {own->c[i], own->s[i], own->u[i]}, e = {enemy->c[i], enemy->s[i], enemy->u[i]};
    float v = own->v[i], w = enemy->v[i];
    MrVector3 drift = {w * e.x - v * d.x, w * e.y - v * d.y, w * e.z - v * d.z};
    MrVector own_axis = mr_level_axis(d.x, d.y), enemy_axis = mr_level_axis(e.x, e.y);
    MrVector seen = mr_into_frame(line.x, line.y, own_axis.ahead, own_axis.left);
    MrVector heading = mr_into_frame(e.x, e.y, own_axis.ahead, own_axis.left);
    MrVector aspect = mr_into_frame(-line.x, -line.y, enemy_axis.ahead, enemy_axis.left);
    float closing = -mr_dot(drift, line);
    out->range[i] = range;
    out->ahead[i] = seen.ahead;
    out->left[i] = seen.left;
    out->up[i] = line.z;
    out->cosine[i] = mr_dot(line, d);
    out->closing[i] = closing;
    out->los_rate[i] = (line.x * drift.y - line.y * drift.x) * inverse;
    out->los_rate_up[i] = (drift.z + line.z * closing) * inverse;
    out->heading_ahead[i] = heading.ahead;
    out->heading_left[i] = heading.left;
    out->heading_up[i] = e.z;
    out->aspect_ahead[i] = aspect.ahead;
    out->aspect_left[i] = aspect.left;
    float toward = -mr_dot(line, e);
    out->toward[i] = toward;
    out->approach[i] = toward * w;
  }
}

#if MR_SIDE == 1
// The fighters' sights of each other.
static void mr_look(const MrBlock *b, MrSight sights[MR_FIGHTERS]) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    mr_look_at(&b->fighters[f].body, &b->fighters[f ^ 1].body, &sights[f]);
  }
}
#endif

// The position of the missile in one lane to its target: missile - target [m]. `targets` are the fighters' bodies.
typedef struct {
  float x, y, z, range, time_to_go;
} MrStanding;

static inline MrStanding mr_standing(const MrMissile *m, const MrBody *const targets[MR_FIGHTERS], int i) {
  MrVector3 to = {MR_OF_TARGET(m, targets, x, i), MR_OF_TARGET(m, targets, y, i), MR_OF_TARGET(m, targets, z, i)};
  MrVector3 e = {MR_OF_TARGET(m, targets, c, i), MR_OF_TARGET(m, targets, s, i), MR_OF_TARGET(m, targets, u, i)};
  MrVector3 place = {m->body.x[i] - to.x, m->body.y[i] - to.y, m->body.z[i] - to.z};
  float v = m->body.v[i], w = MR_OF_TARGET(m, targets, v, i);
  MrVector3 drift = {v * m->body.c[i] - w * e.x, v * m->body.s[i] - w * e.y, v * m->body.u[i] - w * e.z};
  float range = sqrtf(mr_dot(place, place));
  return (MrStanding){place.x, place.y, place.z, range, mr_time_to_go(range, -mr_dot(place, drift))};
}

// R_max [m], the pilots' estimate of the range from which a missile of a kind reaches an enemy that flies on. RULES.md,
// "Height". `target` is the enemy.
static inline float mr_r_max(const MrSim *sim, const MrRoster *roster, int32_t target, int32_t kind, const MrBody *own,
                             const MrBody *enemy, float approach, int i) {
  (void)sim;
  MrReach reach = mr_reach_at(roster, target, kind, i);
  float thin = mr_min(mr_air(0.7f * own->z[i] + 0.3f * enemy->z[i]).thin, reach.thin_max);
  float time = reach.time + reach.time_by_thin * thin;
  return reach.range + reach.range_by_thin * thin + time * approach;
}

// A fighter that runs gains this much speed while a missile chases it [m/s], as pilots judge it.
#define MR_RUN_GAIN 60.0f

// The speed of a fighter that runs [m/s].
static inline float mr_run_speed(const MrSim *sim, const MrBody *own, int i) {
  (void)sim;
  return own->v[i] + MR_RUN_GAIN;
}

// The drag of a missile in a chase, as a multiple of that below the drag rise: that of `medium` between Mach 1.1 and 2.
#define MR_CHASE_DRAG 1.15f

// Chase reach [m] of a side's missile of a kind on a target that runs straight away at `speed`, in the air halfway
// between their heights.
static inline float mr_chase_reach(const MrSim *sim, const MrRoster *roster, int32_t side, int32_t kind, float v,
                                   float age, float speed, float mean_height, int i) {
  MrMissileType type = mr_missile_type_at(roster, side, kind, i);
  // Drawn times are no whole numbers of steps, so that less than one may be left.
  float boost = mr_max(type.burn_steps - age, 0.0f), burn = mr_max(type.motor_steps - age, 0.0f);
  float thrust = (type.thrust * boost + type.sustain * (burn - boost)) / mr_max(burn, 1e-3f);
  float cd0 = type.frame.cd0 * MR_CHASE_DRAG * mr_air(mean_height).density;
  return mr_chase(cd0, thrust, burn * sim->constants.dt, sqrtf(type.spent2), v, speed);
}

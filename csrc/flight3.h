// SPDX-License-Identifier: MIT
//
// The flight law with height: one physics step of a fighter or a missile under lift, drag, thrust and gravity. z is up.
// Equations and their reasons: RULES.md, "Height". flight.h has the law of the plane.

#pragma once

#include <math.h>

#include "air.h"
#include "simulation.h"

#define MR_SLOWEST 20.0f        // m/s; nothing flies slower
#define MR_LEAST_COSINE2 1e-6f  // of a climb angle, squared: a body that flies straight up has no left

typedef struct {
  float x, y, z;
} MrVector;

// Constants of lift and drag, of fighters and missiles alike. Those of drag and lift hold at sea level and below the
// drag rise.
typedef struct {
  float cd0, k;          // zero-lift drag [1/m]; induced drag factor [m]
  float lift;            // greatest lift over v^2: 1 / turn radius [1/m]
  float load_limit;      // greatest lift [m/s^2]
  float onset2, width4;  // of the drag rise: onset^2 [Mach^2]; (peak^2 - onset^2)^2 [Mach^4]
  float rise, high;      // coefficients of the drag rise: A, H
} MrAirframe3;

// Constants of an aircraft type.
typedef struct {
  MrAirframe3 frame;
  float thrust, lapse;                       // T0 (1 + K) [m/s^2]; K
  float ram_static, ram, ram_mach2;          // of the engine's Mach factor
  float climb_sine, climb_gain, climb_load;  // of the greatest climb; [1/s]; [m/s^2]
  float floor, floor_fall;                   // [m]; twice the acceleration of a pull-out [m/s^2]
  float stall_load, stall_time;              // [m/s^2]; [s]
  float ceiling, ceiling_rate;               // [m]; [1/s]
} MrAircraft;

// Constants of a missile type's guidance and flight.
typedef struct {
  MrAirframe3 frame;
  float navigation;      // N
  float loft, loft_max;  // 1 / loft radius [1/m]; [m]
} MrMissileType;

// What acts on a body during a step.
typedef struct {
  MrVector across;  // acceleration across the path, gravity included [m/s^2]
  float drag;       // deceleration by drag over speed [1/s]
  float thrust;     // [m/s^2]
} MrForces;

static inline float mr_dot(MrVector a, MrVector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Forces --------------------------------------------------------------------------------------------------

// The zero-lift drag [1/m]: flat below the onset, a peak near the peak Mach number, another level far above it.
static inline float mr_zero_lift_drag(const MrAirframe3 *frame, float density, float mach2) {
  float y = mr_max(mach2 - frame->onset2, 0.0f);
  return frame->cd0 * density * (1.0f + y * (frame->rise + frame->high * y) / (y * y + frame->width4));
}

// The greatest lift [m/s^2].
static inline float mr_lift_limit(const MrAirframe3 *frame, float density, float v2) {
  return mr_min(frame->lift * density * v2, frame->load_limit);
}

// The deceleration over speed by zero-lift and induced drag [1/s]; `lift2` is the lift squared.
static inline float mr_drag(const MrAirframe3 *frame, const MrAir *air, float v, float lift2) {
  float inverse = 1.0f / v;
  float induced = frame->k * air->thin * lift2 * (inverse * inverse * inverse);
  return mr_zero_lift_drag(frame, air->density, v * v * air->sound2) * v + induced;
}

static inline float mr_engine(const MrAircraft *type, float thin, float mach2, float throttle) {
  float ram = type->ram_static + type->ram * mr_min(mach2, type->ram_mach2);
  return throttle * ram * type->thrust / (1.0f + type->lapse * thin);
}

// The climb [m/s] that an aircraft's autopilot flies for a command: less where lift is short, below the ceiling, and
// never so much down that it could not be pulled out above the floor.
static inline float mr_climb_wanted(const MrAircraft *type, float z, float v, float limit, float climb) {
  float wanted = climb * (type->climb_sine * v);
  wanted = mr_min(wanted, (limit - type->stall_load) * type->stall_time);
  wanted = mr_min(wanted, (type->ceiling - z) * type->ceiling_rate);
  return mr_max(wanted, -sqrtf(type->floor_fall * mr_max(z - type->floor, 0.0f)));
}

// The forces on a fighter at the height z with the direction d and speed v. The autopilot takes the lift that the climb
// needs, and `rudder` is the share of the rest that turns.
static inline MrForces mr_fighter_forces(const MrAircraft *type, float gravity, float z, MrVector d, float v,
                                         float rudder, float climb, float throttle) {
  MrAir air = mr_air(z);
  float v2 = v * v;
  float level = sqrtf(mr_max(d.x * d.x + d.y * d.y, MR_LEAST_COSINE2));  // cosine of the climb angle
  float limit = mr_lift_limit(&type->frame, air.density, v2);
  float lack = mr_climb_wanted(type, z, v, limit, climb) - v * d.z;
  float pull = mr_clip(type->climb_gain * lack, -type->climb_load, type->climb_load);
  float up = mr_clip(gravity * level + pull, -limit, limit);
  float left = rudder * sqrtf(limit * limit - up * up);
  float net = up - gravity * level, inverse = 1.0f / level;
  float p = left * inverse, q = net * d.z * inverse;
  return (MrForces){
      .across = {-p * d.y - q * d.x, p * d.x - q * d.y, net * level},
      .drag = mr_drag(&type->frame, &air, v, up * up + left * left),
      .thrust = mr_engine(type, air.thin, v2 * air.sound2, throttle),
  };
}

// Guidance ------------------------------------------------------------------------------------------------

// The lift that a missile's guidance asks for [m/s^2]: proportional navigation to a point above its target, and what
// carries its weight. It is across the path. `sight` is the target's position less the missile's [m], `drift` the
// target's velocity less the missile's [m/s].
static inline MrVector mr_guide3(const MrMissileType *type, float gravity, MrVector sight, MrVector drift, MrVector d,
                                 float v) {
  float range2 = mr_dot(sight, sight);
  sight.z += mr_min(range2 * type->loft, type->loft_max);
  float n = type->navigation * v / mr_max(range2, 1.0f);
  float a = n * mr_dot(sight, d), b = n * mr_dot(drift, d), weight = gravity * d.z;
  return (MrVector){a * drift.x - b * sight.x - weight * d.x, a * drift.y - b * sight.y - weight * d.y,
                    a * drift.z - b * sight.z - weight * d.z + gravity};
}

// The forces on a missile at the height z, whose guidance asks for a lift.
static inline MrForces mr_missile_forces(const MrMissileType *type, float gravity, float z, MrVector d, float v,
                                         MrVector asked, float thrust) {
  MrAir air = mr_air(z);
  float limit = mr_lift_limit(&type->frame, air.density, v * v);
  float share = limit / mr_max(sqrtf(mr_dot(asked, asked)), limit), weight = gravity * d.z;
  MrVector lift = {asked.x * share, asked.y * share, asked.z * share};
  return (MrForces){
      .across = {lift.x + weight * d.x, lift.y + weight * d.y, lift.z + weight * d.z - gravity},
      .drag = mr_drag(&type->frame, &air, v, mr_dot(lift, lift)),
      .thrust = thrust,
  };
}

// Motion --------------------------------------------------------------------------------------------------

// Moves a body by a step. Without thrust and drag v^2 / 2 + gravity * z stays the same, but for rounding.
static inline void mr_move(float dt, float gravity, const MrForces *forces, MrVector *position, MrVector *d, float *v) {
  float slow = *v, inverse = 1.0f / slow;
  float free = (slow + dt * (forces->thrust - gravity * d->z)) / (1.0f + dt * forces->drag);  // Kahan's method
  float t = 0.5f * dt * inverse * mr_max(1.5f - 0.5f * (free * inverse), 0.25f);              // about dt / (v + free)
  MrVector e = {forces->across.x * t, forces->across.y * t, forces->across.z * t};            // half the turn
  float m = 1.0f + mr_dot(e, e) * (1.0f / 3.0f);
  e = (MrVector){e.x * m, e.y * m, e.z * m};  // its tangent
  float h2 = mr_dot(e, e), w = 1.0f / (1.0f + h2), mw = m * w, twice = 2.0f * w;
  MrVector mean = {mw * (d->x + e.x), mw * (d->y + e.y), mw * (d->z + e.z)};
  *v = mr_max(free - dt * gravity * (mean.z - d->z), MR_SLOWEST);
  float half_length = 0.5f * dt * (slow + *v);
  *position = (MrVector){position->x + half_length * mean.x, position->y + half_length * mean.y,
                         position->z + half_length * mean.z};
  *d = (MrVector){d->x + twice * (e.x - h2 * d->x), d->y + twice * (e.y - h2 * d->y), d->z + twice * (e.z - h2 * d->z)};
}

// Brings a direction back to length 1, from which rounding moves it. Once a decision.
static inline MrVector mr_unit(MrVector d) {
  float scale = 1.5f - 0.5f * mr_dot(d, d);
  return (MrVector){d.x * scale, d.y * scale, d.z * scale};
}

// The least squared distance [m^2] during a step, in which the line of sight goes straight from a to b.
static inline float mr_least_range2(MrVector a, MrVector b) {
  MrVector path = {b.x - a.x, b.y - a.y, b.z - a.z};
  float t = mr_clip(-mr_dot(a, path) / mr_max(mr_dot(path, path), 1e-9f), 0.0f, 1.0f);
  MrVector least = {a.x + t * path.x, a.y + t * path.y, a.z + t * path.z};
  return mr_dot(least, least);
}

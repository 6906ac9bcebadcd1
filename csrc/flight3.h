// SPDX-License-Identifier: MIT
//
// The flight law with height: one physics step of a fighter or a missile under lift, drag, thrust and gravity. z is up.
// Equations and their reasons: RULES.md, "Height". flight.h has the law of the plane.

#pragma once

#include <math.h>

#include "air.h"
#include "simulation.h"

#define MR_SLOWEST 20.0f        // m/s; nothing flies slower

// What acts on a body during a step.
typedef struct {
  MrVector3 across;  // acceleration across the path, gravity included [m/s^2]
  float drag;        // deceleration by drag over speed [1/s]
  float thrust;      // [m/s^2]
} MrForces;

// Types ---------------------------------------------------------------------------------------------------

// Copies of the constants that a fighter or a side flies with in lane i.
#define MR_TAKE_CONSTANT(name, meaning) .name = of->name[i],

static inline MrAircraft mr_aircraft_at(const MrRoster *roster, int32_t fighter, int i) {
  const MrAircraftLanes *of = &roster->fighters[fighter].aircraft;
  return (MrAircraft){.frame = {MR_AIRFRAME3_CONSTANTS(MR_TAKE_CONSTANT)}, MR_AIRCRAFT_CONSTANTS(MR_TAKE_CONSTANT)};
}

static inline MrMissileType mr_missile_type_at(const MrRoster *roster, int32_t side, int32_t kind, int i) {
  const MrMissileLanes *of = &roster->missiles[side][kind];
  return (MrMissileType){.frame = {MR_AIRFRAME3_CONSTANTS(MR_TAKE_CONSTANT)}, MR_MISSILE_CONSTANTS(MR_TAKE_CONSTANT)};
}

// The reach of the missiles that fly at a fighter, `target`.
static inline MrReach mr_reach_at(const MrRoster *roster, int32_t target, int32_t kind, int i) {
  const MrReachLanes *of = &roster->fighters[target].reach[kind];
  return (MrReach){MR_REACH_CONSTANTS(MR_TAKE_CONSTANT)};
}

#undef MR_TAKE_CONSTANT

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
static inline MrForces mr_fighter_forces(const MrAircraft *type, float gravity, float z, MrVector3 d, float v,
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
static inline MrVector3 mr_guide3(const MrMissileType *type, float gravity, MrVector3 sight, MrVector3 drift,
                                  MrVector3 d, float v) {
  float range2 = mr_dot(sight, sight);
  sight.z += mr_min(range2 * type->loft, type->loft_max);
  float n = type->navigation * v / mr_max(range2, 1.0f);
  float a = n * mr_dot(sight, d), b = n * mr_dot(drift, d), weight = gravity * d.z;
  return (MrVector3){a * drift.x - b * sight.x - weight * d.x, a * drift.y - b * sight.y - weight * d.y,
                     a * drift.z - b * sight.z - weight * d.z + gravity};
}

// The forces on a missile at the height z, whose guidance asks for a lift.
static inline MrForces mr_missile_forces(const MrMissileType *type, float gravity, float z, MrVector3 d, float v,
                                         MrVector3 asked, float thrust) {
  MrAir air = mr_air(z);
  float limit = mr_lift_limit(&type->frame, air.density, v * v);
  float share = limit / mr_max(sqrtf(mr_dot(asked, asked)), limit), weight = gravity * d.z;
  MrVector3 lift = {asked.x * share, asked.y * share, asked.z * share};
  return (MrForces){
      .across = {lift.x + weight * d.x, lift.y + weight * d.y, lift.z + weight * d.z - gravity},
      .drag = mr_drag(&type->frame, &air, v, mr_dot(lift, lift)),
      .thrust = thrust,
  };
}

// Motion --------------------------------------------------------------------------------------------------

// Moves a body by a step. Without thrust and drag v^2 / 2 + gravity * z stays the same, but for rounding.
static inline void mr_move(float dt, float gravity, const MrForces *forces, MrVector3 *position, MrVector3 *d,
                           float *v) {
  float slow = *v, inverse = 1.0f / slow;
  float free = (slow + dt * (forces->thrust - gravity * d->z)) / (1.0f + dt * forces->drag);  // Kahan's method
  float t = 0.5f * dt * inverse * mr_max(1.5f - 0.5f * (free * inverse), 0.25f);              // about dt / (v + free)
  MrVector3 e = {forces->across.x * t, forces->across.y * t, forces->across.z * t};           // half the turn
  float m = 1.0f + mr_dot(e, e) * (1.0f / 3.0f);
  e = (MrVector3){e.x * m, e.y * m, e.z * m};  // its tangent
  float h2 = mr_dot(e, e), w = 1.0f / (1.0f + h2), mw = m * w, twice = 2.0f * w;
  MrVector3 mean = {mw * (d->x + e.x), mw * (d->y + e.y), mw * (d->z + e.z)};
  *v = mr_max(free - dt * gravity * (mean.z - d->z), MR_SLOWEST);
  float half_length = 0.5f * dt * (slow + *v);
  *position = (MrVector3){position->x + half_length * mean.x, position->y + half_length * mean.y,
                          position->z + half_length * mean.z};
  *d =
      (MrVector3){d->x + twice * (e.x - h2 * d->x), d->y + twice * (e.y - h2 * d->y), d->z + twice * (e.z - h2 * d->z)};
}

// Brings a direction back to length 1, from which rounding moves it. Once a decision.
static inline MrVector3 mr_unit(MrVector3 d) {
  float scale = 1.5f - 0.5f * mr_dot(d, d);
  return (MrVector3){d.x * scale, d.y * scale, d.z * scale};
}

// The thrust of a missile's motor in a step [m/s^2], which has so many physics steps to burn before it: of the boost,
// and of boost and sustain.
static inline float mr_motor(const MrMissileType *type, float boost_left, float motor_left) {
  float boosts = mr_clip(boost_left, 0.0f, 1.0f), burns = mr_clip(motor_left, 0.0f, 1.0f);
  return type->thrust * boosts + type->sustain * (burns - boosts);
}

// The least squared distance [m^2] during a step, in which the line of sight goes straight from a to b.
static inline float mr_least_range2(MrVector3 a, MrVector3 b) {
  MrVector3 path = {b.x - a.x, b.y - a.y, b.z - a.z};
  float t = mr_clip(-mr_dot(a, path) / mr_max(mr_dot(path, path), 1e-9f), 0.0f, 1.0f);
  MrVector3 least = {a.x + t * path.x, a.y + t * path.y, a.z + t * path.z};
  return mr_dot(least, least);
}

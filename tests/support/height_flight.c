// SPDX-License-Identifier: MIT
//
// The law with height as a shared library, for tests that fly it through ctypes.

#include "aircraft.h"

#define NAME(name, ...) #name,
const char *const airframe_names[] = {MR_AIRFRAME_FIELDS(NAME) NULL};
const char *const aircraft_names[] = {MR_AIRCRAFT_FIELDS(NAME) NULL};
const char *const missile_names[] = {MR_MISSILE_TYPE_FIELDS(NAME) NULL};

#define LIMITS(name, minimum, maximum, ...) {minimum, maximum},
const float airframe_limits[][2] = {MR_AIRFRAME_FIELDS(LIMITS)};
const float aircraft_limits[][2] = {MR_AIRCRAFT_FIELDS(LIMITS)};
const float missile_limits[][2] = {MR_MISSILE_TYPE_FIELDS(LIMITS)};

#define VALUES(name, meaning, ...) {__VA_ARGS__},
static const MrAircraftFields aircraft[] = {MR_AIRCRAFT_TYPES(VALUES)};
static const MrMissileFields missiles[] = {MR_MISSILE_TYPES(VALUES)};
const MrAircraftFields *aircraft_types(void) { return aircraft; }
const MrMissileFields *missile_types(void) { return missiles; }
const char *const aircraft_type_names[] = {MR_AIRCRAFT_TYPES(NAME) NULL};
const char *const missile_type_names[] = {MR_MISSILE_TYPES(NAME) NULL};

// Gravity, the length of a step, and the actuators' greatest changes in a step.
typedef struct {
  double gravity;
  float dt, rudder_step, climb_step, throttle_step;
} Setting;

// A body: position, direction, speed, actuators of a fighter.
typedef struct {
  MrVector3 position, direction;
  float v, rudder, climb, throttle;
} Body;

void air(float z, float out[3]) {
  MrAir found = mr_air(z);
  out[0] = found.thin, out[1] = found.density, out[2] = found.sound2;
}

// The zero-lift drag [1/m], the lift limit [m/s^2], the thrust [m/s^2] and the level drag D/v [1/s].
void performance(const MrAircraftFields *fields, double gravity, float z, float v, float throttle, float lift,
                 float out[4]) {
  MrAircraft type = mr_derive_aircraft(fields, gravity, 5.0f);
  MrAir here = mr_air(z);
  float mach2 = v * v * here.sound2;
  out[0] = mr_zero_lift_drag(&type.frame, here.density, mach2);
  out[1] = mr_lift_limit(&type.frame, here.density, v * v);
  out[2] = mr_engine(&type, here.thin, mach2, throttle);
  out[3] = mr_drag(&type.frame, &here, v, lift * lift);
}

float missile_drag(const MrMissileFields *fields, double gravity, float mach2) {
  MrMissileType type = mr_derive_missile_type(fields, gravity, 1.0f);
  return mr_zero_lift_drag(&type.frame, 1.0f, mach2);
}

static float actuate(float at, float to, float step) { return mr_clip(to, at - step, at + step); }

void fly_fighter(const MrAircraftFields *fields, const Setting *set, Body *b, const float command[3], int steps) {
  MrAircraft type = mr_derive_aircraft(fields, set->gravity, 5.0f);
  float g = (float)set->gravity;
  for (int n = 0; n < steps; n++) {
    b->rudder = actuate(b->rudder, command[0], set->rudder_step);
    b->climb = actuate(b->climb, command[1], set->climb_step);
    b->throttle = actuate(b->throttle, command[2], set->throttle_step);
    MrForces forces = mr_fighter_forces(&type, g, b->position.z, b->direction, b->v, b->rudder, b->climb, b->throttle);
    mr_move(set->dt, g, &forces, &b->position, &b->direction, &b->v);
    if (n % 5 == 4) b->direction = mr_unit(b->direction);
  }
}

void guide(const MrMissileFields *fields, double gravity, const MrVector3 *sight, const MrVector3 *drift,
           const MrVector3 *direction, float v, MrVector3 *asked) {
  MrMissileType type = mr_derive_missile_type(fields, gravity, 1.0f);
  *asked = mr_guide3(&type, (float)gravity, *sight, *drift, *direction, v);
}

// Flies a missile for a step, with the thrust of its age in steps. `asked` NULL: guided at the target.
void fly_missile(const MrMissileFields *fields, const Setting *set, Body *b, const MrVector3 *asked, const Body *target,
                 int age) {
  MrMissileType type = mr_derive_missile_type(fields, set->gravity, set->dt);
  float g = (float)set->gravity, w = target->v;
  MrVector3 lift, d = b->direction, e = target->direction;
  if (asked) {
    lift = *asked;
  } else {
    MrVector3 sight = {target->position.x - b->position.x, target->position.y - b->position.y,
                       target->position.z - b->position.z};
    MrVector3 drift = {w * e.x - b->v * d.x, w * e.y - b->v * d.y, w * e.z - b->v * d.z};
    lift = mr_guide3(&type, g, sight, drift, d, b->v);
  }
  float thrust = mr_motor(&type, type.burn_steps - (float)age, type.motor_steps - (float)age);
  MrForces forces = mr_missile_forces(&type, g, b->position.z, d, b->v, lift, thrust);
  mr_move(set->dt, g, &forces, &b->position, &b->direction, &b->v);
}

float least_range2(const MrVector3 *a, const MrVector3 *b) { return mr_least_range2(*a, *b); }

// SPDX-License-Identifier: MIT
//
// The constants of the types that a simulation with height flies, and the pilots' estimates of how far their missiles
// reach. RULES.md, "Height".

#include <math.h>

#include "aircraft.h"
#include "kernel.h"

// The estimates are flown in steps of this length [s], whatever the simulation's.
#define MR_ESTIMATE_STEP 0.1f

// Estimates are flown at these heights [m], between which they are linear in the thinness of the air.
#define MR_ESTIMATE_LOW 1000.0f
#define MR_ESTIMATE_HIGH 10000.0f

// The greatest range of an estimate [m], and how often it is halved to find R_NEZ.
#define MR_ESTIMATE_RANGE 200000.0f
enum { MR_HALVINGS = 12 };

// A body in the flights of the estimates.
typedef struct {
  MrVector3 position, direction;
  float v;
} Flyer;

static void move(float gravity, const MrForces *forces, Flyer *body) {
  mr_move(MR_ESTIMATE_STEP, gravity, forces, &body->position, &body->direction, &body->v);
  body->direction = mr_unit(body->direction);
}

// The forces on a missile of an age in steps, whose guidance asks for a lift.
static MrForces missile_forces(const MrMissileType *type, float gravity, float age, MrVector3 asked, const Flyer *m) {
  float thrust = mr_motor(type, type->burn_steps - age, type->motor_steps - age);
  return mr_missile_forces(type, gravity, m->position.z, m->direction, m->v, asked, thrust);
}

// The distance [m] and the time [s] of a missile that is launched at pilot_launch_speed and flies level at the height
// z, until its motor has burnt out and it has slowed to pilot_reach_speed or is too old. It flies level even where its
// lift does not carry it.
static void fly_level(const MrParams *p, const MrMissileType *type, float z, double *distance, double *time) {
  Flyer m = {{0.0f, 0.0f, z}, {1.0f, 0.0f, 0.0f}, p->pilot_launch_speed};
  MrVector3 weight = {0.0f, 0.0f, p->gravity};
  float age = 0.0f;  // [steps]
  while (age < type->life_steps && (age < type->motor_steps || m.v > p->pilot_reach_speed)) {
    MrForces forces = missile_forces(type, p->gravity, age, weight, &m);
    forces.across = (MrVector3){0.0f, 0.0f, 0.0f};
    move(p->gravity, &forces, &m);
    age += 1.0f;
  }
  *distance = (double)m.position.x;
  *time = (double)(age * MR_ESTIMATE_STEP);
}

// Flies a target away from a missile, with the dive of the pilots.
static void fly_cold(const MrParams *p, const MrAircraft *type, const Flyer *missile, Flyer *target) {
  MrVector3 d = target->direction;
  float x = target->position.x - missile->position.x, y = target->position.y - missile->position.y;
  float inverse = 1.0f / mr_max(sqrtf(x * x + y * y), 1.0f);
  float ahead = (d.x * x + d.y * y) * inverse, left = (d.x * y - d.y * x) * inverse;
  float rudder = ahead < 0.0f ? 1.0f : mr_clip(p->pilot_steering * left, -1.0f, 1.0f);
  MrForces forces = mr_fighter_forces(type, p->gravity, target->position.z, d, target->v, rudder, -p->pilot_dive, 1.0f);
  move(p->gravity, &forces, target);
}

// True if a missile hits a target that turns cold at its launch. Both are at the height z, at pilot_launch_speed, and
// head-on at first. A target that falls to the ground counts as hit.
static bool hits_cold(const MrParams *p, const MrMissileType *type, const MrAircraft *enemy, float z, float range) {
  Flyer m = {{0.0f, 0.0f, z}, {1.0f, 0.0f, 0.0f}, p->pilot_launch_speed};
  Flyer target = {{range, 0.0f, z}, {-1.0f, 0.0f, 0.0f}, p->pilot_launch_speed};
  float radius2 = p->missile_hit_radius * p->missile_hit_radius;
  for (float age = 0.0f; age < type->life_steps; age += 1.0f) {
    MrVector3 d = m.direction, e = target.direction;
    float v = m.v, w = target.v;
    MrVector3 sight = {target.position.x - m.position.x, target.position.y - m.position.y,
                       target.position.z - m.position.z};
    MrVector3 drift = {w * e.x - v * d.x, w * e.y - v * d.y, w * e.z - v * d.z};
    MrVector3 asked = mr_guide3(type, p->gravity, sight, drift, d, v);
    fly_cold(p, enemy, &m, &target);
    MrForces forces = missile_forces(type, p->gravity, age, asked, &m);
    move(p->gravity, &forces, &m);
    MrVector3 after = {target.position.x - m.position.x, target.position.y - m.position.y,
                       target.position.z - m.position.z};
    if (mr_least_range2(sight, after) < radius2 || target.position.z < 0.0f) return true;
    float speed2 = m.v * m.v - 2.0f * p->gravity * after.z;
    if (m.position.z < 0.0f || (age + 1.0f >= type->motor_steps && speed2 < type->spent2)) return false;
  }
  return false;
}

// The greatest range at which a missile hits such a target [m].
static double find_nez(const MrParams *p, const MrMissileType *type, const MrAircraft *enemy, float z) {
  float near = 0.0f, far = MR_ESTIMATE_RANGE;
  for (int n = 0; n < MR_HALVINGS; n++) {
    float middle = 0.5f * (near + far);
    if (hits_cold(p, type, enemy, z, middle)) {
      near = middle;
    } else {
      far = middle;
    }
  }
  return (double)near;
}

// `enemy` is the aircraft that the missiles are fired at.
static MrReach derive_reach(const MrParams *p, const MrMissileType *type, const MrAircraft *enemy) {
  double thin = (double)mr_air(MR_ESTIMATE_LOW).thin, by = (double)mr_air(MR_ESTIMATE_HIGH).thin - thin;
  double near, far, near_time, far_time;
  fly_level(p, type, MR_ESTIMATE_LOW, &near, &near_time);
  fly_level(p, type, MR_ESTIMATE_HIGH, &far, &far_time);
  double low_nez = find_nez(p, type, enemy, MR_ESTIMATE_LOW), high_nez = find_nez(p, type, enemy, MR_ESTIMATE_HIGH);
  double range_by_thin = (far - near) / by, time_by_thin = (far_time - near_time) / by;
  double nez_by_thin = (high_nez - low_nez) / by, time = near_time - time_by_thin * thin;
  double life = (double)(type->life_steps * MR_ESTIMATE_STEP);
  return (MrReach){
      .range = (float)(near - range_by_thin * thin),
      .range_by_thin = (float)range_by_thin,
      .time = (float)time,
      .time_by_thin = (float)time_by_thin,
      .nez = (float)(low_nez - nez_by_thin * thin),
      .nez_by_thin = (float)nez_by_thin,
      .thin_max = time_by_thin > 1e-3 ? (float)((life - time) / time_by_thin) : 1e6f,
  };
}

// An upper bound of an aircraft's thrust [m/s^2]: at the engine's best Mach number, and in air however dense.
static float most_thrust(const MrAircraft *type) {
  return type->thrust * (type->ram_static + type->ram * type->ram_mach2);
}

void mr_derive_types(const MrParams *p, MrTypes *types, MrConstants *k) {
  const int32_t aircraft[MR_SIDES] = {p->red_aircraft, p->blue_aircraft};
  const int32_t missiles[MR_SIDES] = {p->red_missile, p->blue_missile};
  double gravity = (double)p->gravity;
  float engine = 0.0f, motor = 0.0f;
  types->gravity = p->gravity;
  types->climb_step = p->fighter_climb_rate * p->physics_dt;
  for (int32_t side = 0; side < MR_SIDES; side++) {
    const MrMissileFields *fields = &mr_missile_types[missiles[side]];
    types->aircraft[side] = mr_derive_aircraft(&mr_aircraft_types[aircraft[side]], gravity);
    types->missiles[side] = mr_derive_missile_type(fields, gravity, p->physics_dt);
    engine = mr_max(engine, most_thrust(&types->aircraft[side]));
    motor = mr_max(motor, mr_max(fields->thrust, fields->sustain_thrust));
  }
  for (int32_t side = 0; side < MR_SIDES; side++) {
    MrMissileType type = mr_derive_missile_type(&mr_missile_types[missiles[side]], gravity, MR_ESTIMATE_STEP);
    types->reach[side] = derive_reach(p, &type, &types->aircraft[!side]);
  }
  k->closing_acceleration = engine + motor + 2.0f * p->gravity;  // both may also fall
}

// SPDX-License-Identifier: MIT
//
// The types that a simulation with height flies: their constants, the pilots' estimates of how far their missiles
// reach, and how an engagement draws its types. RULES.md, "Height".

#include <math.h>
#include <string.h>

#include "aircraft.h"
#include "kernel.h"
#include "rng.h"

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

// The tables of the package ------------------------------------------------------------------------------------

#define MR_DESCRIBE_TYPE_FIELD(name, minimum, maximum, unit, meaning) {#name, minimum, maximum, unit, meaning},
const MrTypeField *mr_aircraft_fields(void) {
  static const MrTypeField table[] = {MR_AIRFRAME_FIELDS(MR_DESCRIBE_TYPE_FIELD)
                                          MR_AIRCRAFT_FIELDS(MR_DESCRIBE_TYPE_FIELD){0}};
  return table;
}

const MrTypeField *mr_missile_fields(void) {
  static const MrTypeField table[] = {MR_AIRFRAME_FIELDS(MR_DESCRIBE_TYPE_FIELD)
                                          MR_MISSILE_TYPE_FIELDS(MR_DESCRIBE_TYPE_FIELD){0}};
  return table;
}

#define MR_DESCRIBE_TYPE(name, meaning, ...) {#name, meaning},
const MrTypeInfo *mr_aircraft_types(void) {
  static const MrTypeInfo table[] = {MR_AIRCRAFT_TYPES(MR_DESCRIBE_TYPE){0}};
  return table;
}

const MrTypeInfo *mr_missile_types(void) {
  static const MrTypeInfo table[] = {MR_MISSILE_TYPES(MR_DESCRIBE_TYPE){0}};
  return table;
}

#define MR_TYPE_FIELDS(name, meaning, ...) {__VA_ARGS__},
void mr_package_types(MrConfig *config) {
  static const MrAircraftFields aircraft[] = {MR_AIRCRAFT_TYPES(MR_TYPE_FIELDS)};
  static const MrMissileFields missiles[] = {MR_MISSILE_TYPES(MR_TYPE_FIELDS)};
  _Static_assert(sizeof aircraft <= sizeof config->aircraft, "there is room for all types of aircraft");
  _Static_assert(sizeof missiles <= sizeof config->missiles, "there is room for all types of missiles");
  memcpy(config->aircraft, aircraft, sizeof aircraft);
  memcpy(config->missiles, missiles, sizeof missiles);
}

// The flights of the estimates --------------------------------------------------------------------------------

// Moves a body for one step.
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

// The weights of a side's types: those that are given, or all on `plain`.
static void share_types(const float given[MR_TYPES_MAX], int32_t plain, float ends[MR_TYPES_MAX]) {
  float weights[MR_TYPES_MAX], total = 0.0f;
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) total += given[i];
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) weights[i] = total > 0.0f ? given[i] : (float)(i == plain);
  mr_share_out(weights, MR_TYPES_MAX, ends);
}

// True if a type has a share, that is, if some random number draws it.
static bool has_share(const float ends[MR_TYPES_MAX], int32_t type) {
  return ends[type] > (type ? ends[type - 1] : 0.0f);
}

// True if a side's fighters may carry a type of missile.
static bool carries(const MrTypes *types, int32_t side, int32_t type) {
  bool found = has_share(types->missile_ends[side], type);
  for (int32_t kind = 1; kind < MR_KINDS_MAX; kind++) {
    found |= types->loads[side][kind] > 0 && types->load_types[side][kind] == type;
  }
  return found;
}

static bool are_mixed(const float ends[MR_TYPES_MAX]) {
  int32_t count = 0;
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) count += has_share(ends, i);
  return count > 1;
}

// Derives the types of a side, and notes the strongest engine and motor [m/s^2].
static void derive_side(const MrConfig *config, int32_t side, MrTypes *types, float *engine, float *motor) {
  double gravity = (double)config->params.gravity;
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) {
    if (!has_share(types->aircraft_ends[side], i)) continue;
    types->aircraft[i] = mr_derive_aircraft(&config->aircraft[i], gravity, config->params.radar_cross_section);
    *engine = mr_max(*engine, most_thrust(&types->aircraft[i]));
  }
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) {
    if (!carries(types, side, i)) continue;
    const MrMissileFields *missile = &config->missiles[i];
    types->missiles[i] = mr_derive_missile_type(missile, gravity, config->params.physics_dt);
    *motor = mr_max(*motor, mr_max(missile->thrust, missile->sustain_thrust));
  }
}

static void derive_reaches(const MrConfig *config, int32_t side, MrTypes *types) {
  const MrParams *p = &config->params;
  for (int32_t i = 0; i < MR_TYPES_MAX; i++) {
    if (!carries(types, side, i)) continue;
    MrMissileType missile = mr_derive_missile_type(&config->missiles[i], (double)p->gravity, MR_ESTIMATE_STEP);
    for (int32_t j = 0; j < MR_TYPES_MAX; j++) {
      bool is_known = types->reach[i][j].range > 0.0f;  // both sides may have the same pair
      if (is_known || !has_share(types->aircraft_ends[!side], j)) continue;
      types->reach[i][j] = derive_reach(p, &missile, &types->aircraft[j]);
    }
  }
}

// Takes over the loads of the sides.
static void take_loads(const MrConfig *config, MrTypes *types) {
  types->kinds = 1;
  memcpy(types->loads, config->loads, sizeof types->loads);
  memcpy(types->load_types, config->load_types, sizeof types->load_types);
  for (int32_t side = 0; side < MR_SIDES; side++) {
    int32_t *loads = types->loads[side];
    if (loads[0] == 0) loads[0] = config->params.ammunition;
    for (int32_t kind = 1; kind < MR_KINDS_MAX; kind++) {
      if (loads[kind] > 0 && types->kinds <= kind) types->kinds = kind + 1;
    }
  }
}

void mr_derive_types(const MrConfig *config, MrTypes *types, MrConstants *k) {
  const MrParams *p = &config->params;
  const int32_t aircraft[MR_SIDES] = {p->red_aircraft, p->blue_aircraft};
  const int32_t missiles[MR_SIDES] = {p->red_missile, p->blue_missile};
  float engine = 0.0f, motor = 0.0f;
  types->gravity = p->gravity;
  types->climb_step = p->fighter_climb_rate * p->physics_dt;
  types->aircraft_spread = p->aircraft_spread;
  types->missile_spread = p->missile_spread;
  types->are_drawn = p->aircraft_spread > 0.0f || p->missile_spread > 0.0f;
  take_loads(config, types);
  for (int32_t side = 0; side < MR_SIDES; side++) {
    share_types(config->aircraft_weights[side], aircraft[side], types->aircraft_ends[side]);
    share_types(config->missile_weights[side], missiles[side], types->missile_ends[side]);
    types->are_drawn |= are_mixed(types->aircraft_ends[side]) || are_mixed(types->missile_ends[side]);
    derive_side(config, side, types, &engine, &motor);
  }
  for (int32_t side = 0; side < MR_SIDES; side++) derive_reaches(config, side, types);
  engine *= 1.0f + p->aircraft_spread;
  motor *= 1.0f + p->missile_spread;
  k->closing_acceleration = engine + motor + 2.0f * p->gravity;  // both may also fall
}

// Draws -----------------------------------------------------------------------------------------------------

// Numbers of draws, beyond those of the fighters' tactics and MR_DRAW_HEIGHTS, and below MR_DRAW_ATTACKER. That of a factor is for red; blue's
// follows. DRAW_WINGMEN, and those after it, are for the aircraft of the second fighters of the sides, and so on.
enum { DRAW_TYPES = 0x101, DRAW_AIRCRAFT_FACTORS = 0x102, DRAW_MISSILE_FACTORS = 0x104, DRAW_WINGMEN = 0x106 };

// Draws four factors from 1 - spread to 1 + spread.
static void draw_factors(const MrSim *sim, const uint32_t key[2], uint32_t draw, float spread, float out[4]) {
  mr_uniform4(sim->seed, key[0], key[1], draw, out);
  for (int i = 0; i < 4; i++) out[i] = 1.0f + spread * (2.0f * out[i] - 1.0f);
}

void mr_draw_types(const MrSim *sim, int32_t engagement, int32_t episode, MrDrawnTypes drawn[]) {
  const MrTypes *types = &sim->types;
  const uint32_t key[2] = {(uint32_t)engagement, (uint32_t)episode};
  float u[4], a[4], m[4];
  mr_uniform4(sim->seed, key[0], key[1], DRAW_TYPES, u);
  for (int32_t side = 0; side < MR_SIDES; side++) {
    int32_t first = side ? sim->sizes[0] : 0;
    draw_factors(sim, key, DRAW_AIRCRAFT_FACTORS + (uint32_t)side, types->aircraft_spread, a);
    draw_factors(sim, key, DRAW_MISSILE_FACTORS + (uint32_t)side, types->missile_spread, m);
    drawn[first] = (MrDrawnTypes){
        .aircraft = mr_draw_share(types->aircraft_ends[side], MR_TYPES_MAX, u[side]),
        .missile = mr_draw_share(types->missile_ends[side], MR_TYPES_MAX, u[2 + side]),
        .thrust_factor = a[0],
        .drag_factor = a[1],
        .lift_factor = a[2],
        .induced_drag_factor = a[3],
        .missile_thrust_factor = m[0],
        .missile_drag_factor = m[1],
        .missile_lift_factor = m[2],
        .missile_burn_time_factor = m[3],
    };
    for (int32_t place = 1; place < sim->sizes[side]; place++) {
      float wingmen[4];
      mr_uniform4(sim->seed, key[0], key[1], DRAW_WINGMEN + (uint32_t)place - 1, wingmen);
      drawn[first + place] = drawn[first];
      drawn[first + place].aircraft = mr_draw_share(types->aircraft_ends[side], MR_TYPES_MAX, wingmen[side]);
    }
  }
}

// The aircraft and the missile of a fighter.
static MrAircraft vary_aircraft(const MrTypes *types, const MrDrawnTypes *drawn) {
  MrAircraft type = types->aircraft[drawn->aircraft];
  type.frame.cd0 *= drawn->drag_factor;
  type.frame.lift *= drawn->lift_factor;
  type.frame.k *= drawn->induced_drag_factor;
  type.thrust *= drawn->thrust_factor;
  return type;
}

static MrMissileType vary_missile(const MrTypes *types, const MrDrawnTypes *drawn, int32_t number) {
  MrMissileType type = types->missiles[number];
  type.frame.cd0 *= drawn->missile_drag_factor;
  type.frame.lift *= drawn->missile_lift_factor;
  type.thrust *= drawn->missile_thrust_factor;
  type.sustain *= drawn->missile_thrust_factor;
  type.burn_steps *= drawn->missile_burn_time_factor;
  type.motor_steps *= drawn->missile_burn_time_factor;
  return type;
}

// The number of the type of a side's missiles of a kind. A kind that the side does not carry is its first.
static int32_t type_of_kind(const MrTypes *types, int32_t side, int32_t kind, const MrDrawnTypes *drawn) {
  return kind > 0 && types->loads[side][kind] > 0 ? types->load_types[side][kind] : drawn->missile;
}

#define MR_FILL_FRAME(name, meaning) to->name[lane] = type.frame.name;
#define MR_FILL(name, meaning) to->name[lane] = type.name;

static void fill_aircraft(MrAircraft type, MrAircraftLanes *to, int lane) {
  MR_AIRFRAME3_CONSTANTS(MR_FILL_FRAME)
  MR_AIRCRAFT_CONSTANTS(MR_FILL)
}

static void fill_missile(MrMissileType type, MrMissileLanes *to, int lane) {
  MR_AIRFRAME3_CONSTANTS(MR_FILL_FRAME)
  MR_MISSILE_CONSTANTS(MR_FILL)
}

static void fill_reach(MrReach type, MrReachLanes *to, int lane) { MR_REACH_CONSTANTS(MR_FILL) }

void mr_fill_roster(const MrSim *sim, int32_t engagement, int32_t episode, MrRoster *to, int lane) {
  const MrTypes *types = &sim->types;
  MrDrawnTypes drawn[MR_FIGHTERS_MAX];
  mr_draw_types(sim, engagement, episode, drawn);
  for (int32_t f = 0; f < sim->fighters; f++) {
    fill_aircraft(vary_aircraft(types, &drawn[f]), &to->fighters[f].aircraft, lane);
  }
  for (int32_t side = 0; side < MR_SIDES; side++) {
    const MrDrawnTypes *own = &drawn[side ? sim->sizes[0] : 0];  // all of a side have the same missiles
    int32_t first = side ? 0 : sim->sizes[0], end = side ? sim->sizes[0] : sim->fighters;
    for (int32_t kind = 0; kind < types->kinds; kind++) {
      int32_t number = type_of_kind(types, side, kind, own);
      fill_missile(vary_missile(types, own, number), &to->missiles[side][kind], lane);
      for (int32_t enemy = first; enemy < end; enemy++) {
        fill_reach(types->reach[number][drawn[enemy].aircraft], &to->fighters[enemy].reach[kind], lane);
      }
    }
  }
}

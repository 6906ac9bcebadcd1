// SPDX-License-Identifier: MIT
//
// Types of aircraft and missiles in the game with height: their constants, as the law of flight3.h takes them, which
// aircraft.h derives from the fields of the types; and the types that are flown. RULES.md, "Height".

#pragma once

#include "midrange.h"

// clang-format off

// Constants of lift and drag, of aircraft and missile types alike: rows X(name, meaning). Those of drag and lift hold
// at sea level and below the drag rise.
#define MR_AIRFRAME3_CONSTANTS(X) \
  X(cd0, "zero-lift drag [1/m]") \
  X(k, "induced drag factor [m]") \
  X(lift, "greatest lift over v^2: 1 / turn radius [1/m]") \
  X(load_limit, "greatest lift [m/s^2]") \
  X(onset2, "onset of the drag rise, squared [Mach^2]") \
  X(width4, "(peak^2 - onset^2)^2 of the drag rise [Mach^4]") \
  X(rise, "coefficient A of the drag rise") \
  X(high, "coefficient H of the drag rise")

#define MR_AIRCRAFT_CONSTANTS(X) \
  X(thrust, "T0 (1 + K) [m/s^2]") \
  X(lapse, "loss of thrust with height: K") \
  X(ram_static, "the engine's Mach factor at rest") \
  X(ram, "its gain with the squared Mach number") \
  X(ram_mach2, "squared Mach number above which it gains no more") \
  X(climb_sine, "sine of the greatest climb") \
  X(climb_gain, "[1/s]") \
  X(climb_load, "most lift for following a climb [m/s^2]") \
  X(floor, "height above which dives are pulled out [m]") \
  X(floor_fall, "twice the acceleration of a pull-out [m/s^2]") \
  X(stall_load, "lift below which the nose goes down [m/s^2]") \
  X(stall_time, "climb for each m/s^2 of lift above that [s]") \
  X(ceiling, "[m]") \
  X(ceiling_rate, "[1/s]") \
  X(echo, "range of radars and seekers on it, over that of the parameters") \
  X(jammer, "burn-through range of its jammer, over that of its side") \
  X(chaff, "cartridges that it carries, over the parameter chaff")

// The last of these limit a flight, and say when a missile is spent. Times are in physics steps, not rounded.
#define MR_MISSILE_CONSTANTS(X) \
  X(navigation, "N") \
  X(loft, "1 / loft radius [1/m]") \
  X(loft_max, "[m]") \
  X(thrust, "of the boost [m/s^2]") \
  X(sustain, "thrust after the boost [m/s^2]") \
  X(burn_steps, "length of the boost") \
  X(motor_steps, "length of boost and sustain") \
  X(life_steps, "longest flight") \
  X(spent2, "squared speed, height above the target included, below which it is spent [m^2/s^2]")

// The pilots' estimates of a missile's flight against a type of aircraft, linear in the thinness of the air: the value
// at 0, and the growth.
#define MR_REACH_CONSTANTS(X) \
  X(range, "of level flight until it has slowed to pilot_reach_speed [m]") \
  X(range_by_thin, "[m]") \
  X(time, "of that flight [s]") \
  X(time_by_thin, "[s]") \
  X(nez, "R_NEZ [m]") \
  X(nez_by_thin, "[m]") \
  X(thin_max, "where that flight lasts for the missile's life")

// clang-format on

#define MR_DECLARE_CONSTANT(name, meaning) float name;
#define MR_DECLARE_LANES(name, meaning) _Alignas(64) float name[MR_LANES];

typedef struct {
  MR_AIRFRAME3_CONSTANTS(MR_DECLARE_CONSTANT)
} MrAirframe3;

typedef struct {
  MrAirframe3 frame;
  MR_AIRCRAFT_CONSTANTS(MR_DECLARE_CONSTANT)
} MrAircraft;

typedef struct {
  MrAirframe3 frame;
  MR_MISSILE_CONSTANTS(MR_DECLARE_CONSTANT)
} MrMissileType;

typedef struct {
  MR_REACH_CONSTANTS(MR_DECLARE_CONSTANT)
} MrReach;

typedef struct {
  MR_AIRFRAME3_CONSTANTS(MR_DECLARE_LANES)
  MR_AIRCRAFT_CONSTANTS(MR_DECLARE_LANES)
} MrAircraftLanes;

typedef struct {
  MR_AIRFRAME3_CONSTANTS(MR_DECLARE_LANES)
  MR_MISSILE_CONSTANTS(MR_DECLARE_LANES)
} MrMissileLanes;

typedef struct {
  MR_REACH_CONSTANTS(MR_DECLARE_LANES)
} MrReachLanes;

// The aircraft of a fighter, and how far each kind of the enemy's missiles reaches against it, by lane.
typedef struct {
  MrAircraftLanes aircraft;
  MrReachLanes reach[MR_KINDS_MAX];
} MrFlownLanes;

// The types that a block's engagements fly, by lane: the missiles of each side, and as many fighters as there are.
typedef struct {
  MrMissileLanes missiles[MR_SIDES][MR_KINDS_MAX];
  MrFlownLanes fighters[];
} MrRoster;

#undef MR_DECLARE_CONSTANT
#undef MR_DECLARE_LANES

// The types of a simulation, and how they are drawn. Types that no side flies have zeros.
typedef struct {
  float gravity;     // [m/s^2]
  float climb_step;  // greatest change of the climb actuator in a physics step
  bool are_drawn;    // for each engagement; false: all fly the same
  float aircraft_spread, missile_spread;
  int32_t kinds;  // of missiles that a fighter may carry: the most of both sides
  // A side's missiles of each kind, and their types. The first of load_types is not used: that kind has the drawn type.
  int32_t loads[MR_SIDES][MR_KINDS_MAX], load_types[MR_SIDES][MR_KINDS_MAX];
  // Upper ends of the types' shares of [0, 1), from which each fighter's aircraft and each side's missiles are drawn.
  float aircraft_ends[MR_SIDES][MR_TYPES_MAX], missile_ends[MR_SIDES][MR_TYPES_MAX];
  MrAircraft aircraft[MR_TYPES_MAX];
  MrMissileType missiles[MR_TYPES_MAX];
  MrReach reach[MR_TYPES_MAX][MR_TYPES_MAX];  // of a missile, against an aircraft
} MrTypes;

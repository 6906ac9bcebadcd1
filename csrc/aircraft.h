// SPDX-License-Identifier: MIT
//
// Types of aircraft and missiles in the game with height: tables of their fields and of the types. A row of fields is
//
//     X(name, minimum, maximum, unit, meaning)
//
// A row of types is X(name, meaning, values of the fields). RULES.md, "Height", has the sources, and compares aircraft
// with JSBSim's.

#pragma once

#include "flight3.h"

// clang-format off

// The fields of lift and drag, which aircraft and missiles share.
#define MR_AIRFRAME_FIELDS(X) \
  X(terminal_speed, 100, 2000, "m/s", "free-fall terminal speed at sea level, below the drag rise; sets zero-lift drag g/Vt^2") \
  X(turn_radius, 100, 20000, "m", "turn radius at full lift at sea level, load limit aside") \
  X(lift_drag, 0.5, 30, "1", "best lift-to-drag ratio below the drag rise; sets induced drag") \
  X(load_limit, 0, 200, "g", "structural limit of lift; 0 = none") \
  X(onset_mach, 0.3, 2, "Mach", "zero-lift drag begins to rise here, below peak_mach") \
  X(peak_mach, 0.4, 3, "Mach", "zero-lift drag has risen to peak_drag here") \
  X(peak_drag, 1, 5, "1", "zero-lift drag at peak_mach, as a multiple of that below the rise") \
  X(high_drag, 0.3, 5, "1", "zero-lift drag far above peak_mach, as such a multiple")

#define MR_AIRCRAFT_FIELDS(X) \
  X(thrust, 0, 100, "m/s^2", "thrust acceleration at sea level, full throttle and about Mach 0.82") \
  X(thrust_lapse, 0, 20, "1", "loss of thrust with height: 0 = none, large = in proportion to the density") \
  X(ram_static, 0, 2, "1", "thrust at rest, as a multiple of the above") \
  X(ram, 0, 1, "1/Mach^2", "gain of that multiple with the squared Mach number") \
  X(ram_mach, 0, 5, "Mach", "no further gain above this") \
  X(climb_max_deg, 5, 80, "deg", "angle of climb or dive at full command") \
  X(climb_gain, 0.1, 5, "1/s", "how fast the climb follows its command") \
  X(climb_load, 0.5, 20, "g", "most lift for following it") \
  X(floor, -1e7, 5000, "m", "height above which every dive is pulled out") \
  X(floor_load, 0.5, 8, "g", "acceleration of that pull-out") \
  X(stall_load, 0, 5, "g", "with less lift at hand than this the nose goes down") \
  X(stall_time, 0, 100, "s", "by this much climb for each m/s^2 of lift above or below it") \
  X(ceiling, 1000, 25000, "m", "greatest height that is climbed to") \
  X(ceiling_time, 1, 600, "s", "time in which the climb ends below the ceiling")

#define MR_MISSILE_TYPE_FIELDS(X) \
  X(thrust, 0, 1000, "m/s^2", "thrust acceleration of the boost") \
  X(burn_time, 0, 120, "s", "how long the boost lasts") \
  X(sustain_thrust, 0, 1000, "m/s^2", "thrust acceleration after the boost") \
  X(sustain_time, 0, 120, "s", "for how long after the boost") \
  X(navigation, 1, 10, "1", "navigation constant N of pure proportional navigation") \
  X(loft_radius, 10000, 1e12, "m", "it flies at a point above its target, by the squared range over this") \
  X(loft_max, 0, 50000, "m", "greatest height of that point above the target") \
  X(spent_speed, 1, 1000, "m/s", "its motor burnt out, it is spent below this speed; height above the target counts as speed") \
  X(life, 1, 600, "s", "longest flight; after this time it is spent")

#define MR_AIRCRAFT_TYPES(X) \
  X(light, "light fighter of the F-16's class", \
    .frame = {.terminal_speed = 515, .turn_radius = 430, .lift_drag = 9.2f, .load_limit = 9, \
              .onset_mach = 0.82f, .peak_mach = 1.1f, .peak_drag = 2.2f, .high_drag = 1.45f}, \
    .thrust = 13.5f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 1.8f, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 16000, .ceiling_time = 20) \
  X(heavy, "heavy twin-engined fighter of the F-15's class", \
    .frame = {.terminal_speed = 478, .turn_radius = 400, .lift_drag = 7.4f, .load_limit = 9, \
              .onset_mach = 0.82f, .peak_mach = 1.1f, .peak_drag = 2.15f, .high_drag = 1.45f}, \
    .thrust = 15.1f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 2, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 18000, .ceiling_time = 20) \
  X(fast, "interceptor of the MiG-31's class", \
    .frame = {.terminal_speed = 670, .turn_radius = 720, .lift_drag = 6.4f, .load_limit = 5, \
              .onset_mach = 0.85f, .peak_mach = 1.15f, .peak_drag = 2.7f, .high_drag = 1.7f}, \
    .thrust = 9.5f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 2.3f, \
    .climb_max_deg = 45, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 1.5f, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 19000, .ceiling_time = 20) \
  X(trainer, "jet trainer of the T-38's class", \
    .frame = {.terminal_speed = 530, .turn_radius = 500, .lift_drag = 10.7f, .load_limit = 7.3f, \
              .onset_mach = 0.83f, .peak_mach = 1.1f, .peak_drag = 2.4f, .high_drag = 1.4f}, \
    .thrust = 5.7f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 1.8f, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 15000, .ceiling_time = 20)

#define MR_MISSILE_TYPES(X) \
  X(medium, "medium-range missile of the AIM-120's class", \
    .frame = {.terminal_speed = 320, .turn_radius = 600, .lift_drag = 3, .load_limit = 40, \
              .onset_mach = 0.5f, .peak_mach = 1.05f, .peak_drag = 1.5f, .high_drag = 0.55f}, \
    .thrust = 121, .burn_time = 8, .navigation = 4, .loft_radius = 200000, .loft_max = 8000, \
    .spent_speed = 300, .life = 100) \
  X(long, "long-range missile of the Meteor's class: boost and sustain", \
    .frame = {.terminal_speed = 340, .turn_radius = 600, .lift_drag = 3, .load_limit = 40, \
              .onset_mach = 0.5f, .peak_mach = 1.05f, .peak_drag = 1.5f, .high_drag = 0.55f}, \
    .thrust = 110, .burn_time = 6, .sustain_thrust = 20, .sustain_time = 35, \
    .navigation = 4, .loft_radius = 250000, .loft_max = 8000, .spent_speed = 300, .life = 160) \
  X(short, "short-range missile of the AIM-9X's class: turns tightly, no loft", \
    .frame = {.terminal_speed = 285, .turn_radius = 350, .lift_drag = 3, .load_limit = 60, \
              .onset_mach = 0.5f, .peak_mach = 1.05f, .peak_drag = 1.5f, .high_drag = 0.6f}, \
    .thrust = 150, .burn_time = 5, .navigation = 4, .loft_radius = 1e12f, .loft_max = 0, \
    .spent_speed = 350, .life = 20)

// clang-format on

#define MR_DECLARE_TYPE_FIELD(name, ...) float name;

typedef struct {
  MR_AIRFRAME_FIELDS(MR_DECLARE_TYPE_FIELD)
} MrAirframeFields;

typedef struct {
  MrAirframeFields frame;
  MR_AIRCRAFT_FIELDS(MR_DECLARE_TYPE_FIELD)
} MrAircraftFields;

typedef struct {
  MrAirframeFields frame;
  MR_MISSILE_TYPE_FIELDS(MR_DECLARE_TYPE_FIELD)
} MrMissileFields;

#undef MR_DECLARE_TYPE_FIELD

#define MR_TYPE_VALUES(name, meaning, ...) {__VA_ARGS__},
static const MrAircraftFields mr_aircraft_types[] = {MR_AIRCRAFT_TYPES(MR_TYPE_VALUES)};
static const MrMissileFields mr_missile_types[] = {MR_MISSILE_TYPES(MR_TYPE_VALUES)};
enum {
  MR_AIRCRAFT_TYPE_COUNT = sizeof mr_aircraft_types / sizeof *mr_aircraft_types,
  MR_MISSILE_TYPE_COUNT = sizeof mr_missile_types / sizeof *mr_missile_types
};

static inline MrAirframe3 mr_derive_airframe3(const MrAirframeFields *of, double gravity) {
  double onset2 = (double)of->onset_mach * (double)of->onset_mach;
  double width2 = (double)of->peak_mach * (double)of->peak_mach - onset2, high = (double)of->high_drag - 1.0;
  double cd0 = gravity / ((double)of->terminal_speed * (double)of->terminal_speed);
  return (MrAirframe3){
      .cd0 = (float)cd0,
      .k = (float)(0.25 / (cd0 * (double)of->lift_drag * (double)of->lift_drag)),
      .lift = 1.0f / of->turn_radius,
      .load_limit = of->load_limit > 0.0f ? of->load_limit * (float)gravity : 1e30f,
      .onset2 = (float)onset2,
      .width4 = (float)(width2 * width2),
      .rise = (float)(2.0 * width2 * ((double)of->peak_drag - 1.0 - 0.5 * high)),
      .high = (float)high,
  };
}

static inline MrAircraft mr_derive_aircraft(const MrAircraftFields *of, double gravity) {
  float g = (float)gravity, sine, unused;
  mr_unit_vector((double)of->climb_max_deg / 360.0, &unused, &sine);
  return (MrAircraft){
      .frame = mr_derive_airframe3(&of->frame, gravity),
      .thrust = of->thrust * (1.0f + of->thrust_lapse),
      .lapse = of->thrust_lapse,
      .ram_static = of->ram_static,
      .ram = of->ram,
      .ram_mach2 = of->ram_mach * of->ram_mach,
      .climb_sine = sine,
      .climb_gain = of->climb_gain,
      .climb_load = of->climb_load * g,
      .floor = of->floor,
      .floor_fall = 2.0f * of->floor_load * g,
      .stall_load = of->stall_load * g,
      .stall_time = of->stall_time,
      .ceiling = of->ceiling,
      .ceiling_rate = 1.0f / of->ceiling_time,
  };
}

// `dt` is the length of a physics step [s].
static inline MrMissileType mr_derive_missile_type(const MrMissileFields *of, double gravity, float dt) {
  return (MrMissileType){
      .frame = mr_derive_airframe3(&of->frame, gravity),
      .navigation = of->navigation,
      .loft = 1.0f / of->loft_radius,
      .loft_max = of->loft_max,
      .thrust = of->thrust,
      .sustain = of->sustain_thrust,
      .burn_steps = of->burn_time / dt,
      .motor_steps = (of->burn_time + of->sustain_time) / dt,
      .life_steps = of->life / dt,
      .spent2 = of->spent_speed * of->spent_speed,
  };
}

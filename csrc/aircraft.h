// SPDX-License-Identifier: MIT
//
// Types of aircraft and missiles in the game with height: tables of their fields. A row is
//
//     X(name, value, minimum, maximum, unit, meaning)
//
// with the value of the first type: `light`, an aircraft of the F-16's class, and `medium`, a missile of the AIM-120's.
// RULES.md, "Height", has the sources, and compares `light` with JSBSim's F-16.

#pragma once

#include "flight3.h"

// clang-format off

// The fields of lift and drag, which aircraft and missiles share: a row X(name, light, medium, minimum, ...).
#define MR_AIRFRAME_FIELDS(X) \
  X(terminal_speed, 515, 320, 100, 2000, "m/s", "free-fall terminal speed at sea level, below the drag rise; sets zero-lift drag g/Vt^2") \
  X(turn_radius, 430, 600, 100, 20000, "m", "turn radius at full lift at sea level, load limit aside") \
  X(lift_drag, 9.2f, 3, 0.5f, 30, "1", "best lift-to-drag ratio below the drag rise; sets induced drag") \
  X(load_limit, 9, 40, 0, 200, "g", "structural limit of lift; 0 = none") \
  X(onset_mach, 0.82f, 0.5f, 0.3f, 2, "Mach", "zero-lift drag begins to rise here, below peak_mach") \
  X(peak_mach, 1.1f, 1.05f, 0.4f, 3, "Mach", "zero-lift drag has risen to peak_drag here") \
  X(peak_drag, 2.2f, 1.5f, 1, 5, "1", "zero-lift drag at peak_mach, as a multiple of that below the rise") \
  X(high_drag, 1.45f, 0.55f, 0.3f, 5, "1", "zero-lift drag far above peak_mach, as such a multiple")

#define MR_AIRCRAFT_FIELDS(X) \
  X(thrust, 13.5f, 0, 100, "m/s^2", "thrust acceleration at sea level, full throttle and about Mach 0.82") \
  X(thrust_lapse, 1.2f, 0, 20, "1", "loss of thrust with height: 0 = none, large = in proportion to the density") \
  X(ram_static, 0.9f, 0, 2, "1", "thrust at rest, as a multiple of the above") \
  X(ram, 0.15f, 0, 1, "1/Mach^2", "gain of that multiple with the squared Mach number") \
  X(ram_mach, 1.8f, 0, 5, "Mach", "no further gain above this") \
  X(climb_max_deg, 60, 5, 80, "deg", "angle of climb or dive at full command") \
  X(climb_gain, 0.7f, 0.1f, 5, "1/s", "how fast the climb follows its command") \
  X(climb_load, 4, 0.5f, 20, "g", "most lift for following it") \
  X(floor, 300, -1e7f, 5000, "m", "height above which every dive is pulled out") \
  X(floor_load, 2.5f, 0.5f, 8, "g", "acceleration of that pull-out") \
  X(stall_load, 1.4f, 0, 5, "g", "with less lift at hand than this the nose goes down") \
  X(stall_time, 5, 0, 100, "s", "by this much climb for each m/s^2 of lift above or below it") \
  X(ceiling, 16000, 1000, 25000, "m", "greatest height that is climbed to") \
  X(ceiling_time, 20, 1, 600, "s", "time in which the climb ends below the ceiling")

#define MR_MISSILE_TYPE_FIELDS(X) \
  X(thrust, 121, 0, 1000, "m/s^2", "thrust acceleration while the motor burns") \
  X(burn_time, 8, 0, 120, "s", "how long the motor burns") \
  X(navigation, 4, 1, 10, "1", "navigation constant N of pure proportional navigation") \
  X(loft_radius, 200000, 10000, 1e12f, "m", "it flies at a point above its target, by the squared range over this") \
  X(loft_max, 8000, 0, 50000, "m", "greatest height of that point above the target")

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

static inline MrMissileType mr_derive_missile_type(const MrMissileFields *of, double gravity) {
  return (MrMissileType){
      .frame = mr_derive_airframe3(&of->frame, gravity),
      .navigation = of->navigation,
      .loft = 1.0f / of->loft_radius,
      .loft_max = of->loft_max,
  };
}

// SPDX-License-Identifier: MIT
//
// The types of aircraft and missiles of the package in the game with height, and how the law's constants follow from
// the fields of a type. A row of types is X(name, meaning, values of the fields). RULES.md, "Height", has the sources,
// and compares aircraft with JSBSim's.

#pragma once

#include "flight3.h"

// clang-format off

#define MR_AIRCRAFT_TYPES(X) \
  X(light, "light fighter of the F-16's class", \
    .frame = {.terminal_speed = 515, .turn_radius = 430, .lift_drag = 9.2f, .load_limit = 9, \
              .onset_mach = 0.82f, .peak_mach = 1.1f, .peak_drag = 2.2f, .high_drag = 1.45f}, \
    .thrust = 13.5f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 1.8f, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 16000, .ceiling_time = 20, .cross_section = 5, \
    .jammer = 1, .chaff = 1) \
  X(heavy, "heavy twin-engined fighter of the F-15's class", \
    .frame = {.terminal_speed = 478, .turn_radius = 400, .lift_drag = 7.4f, .load_limit = 9, \
              .onset_mach = 0.82f, .peak_mach = 1.1f, .peak_drag = 2.15f, .high_drag = 1.45f}, \
    .thrust = 15.1f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 2, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 18000, .ceiling_time = 20, .cross_section = 15, \
    .jammer = 1, .chaff = 1) \
  X(fast, "interceptor of the MiG-31's class", \
    .frame = {.terminal_speed = 670, .turn_radius = 720, .lift_drag = 6.4f, .load_limit = 5, \
              .onset_mach = 0.85f, .peak_mach = 1.15f, .peak_drag = 2.7f, .high_drag = 1.7f}, \
    .thrust = 9.5f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 2.3f, \
    .climb_max_deg = 45, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 1.5f, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 19000, .ceiling_time = 20, .cross_section = 20, \
    .jammer = 1, .chaff = 1) \
  X(trainer, "jet trainer of the T-38's class", \
    .frame = {.terminal_speed = 530, .turn_radius = 500, .lift_drag = 10.7f, .load_limit = 7.3f, \
              .onset_mach = 0.83f, .peak_mach = 1.1f, .peak_drag = 2.4f, .high_drag = 1.4f}, \
    .thrust = 5.7f, .thrust_lapse = 1.2f, .ram_static = 0.9f, .ram = 0.15f, .ram_mach = 1.8f, \
    .climb_max_deg = 60, .climb_gain = 0.7f, .climb_load = 4, .floor = 300, .floor_load = 2, \
    .stall_load = 1.4f, .stall_time = 5, .ceiling = 15000, .ceiling_time = 20, .cross_section = 3, \
    .jammer = 1, .chaff = 1)

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

// `cross_section` is that for which the parameters have the ranges of radars [m^2].
static inline MrAircraft mr_derive_aircraft(const MrAircraftFields *of, double gravity, float cross_section) {
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
      .echo = sqrtf(sqrtf(of->cross_section / cross_section)),
      .jammer = of->jammer,
      .chaff = of->chaff,
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

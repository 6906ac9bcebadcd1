// SPDX-License-Identifier: MIT
//
// The fields of types of aircraft and missiles in the game with height. A row is
//
//     X(name, minimum, maximum, unit, meaning)
//
// From it come the C structs, which have no other members, the keys of [aircraft.NAME] and [missile.NAME], their range
// checks and error messages, `--help` and the documentation.

#pragma once

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
  X(ram_static, 0, 2, "1", "thrust at rest, as a multiple of `thrust`") \
  X(ram, 0, 1, "1/Mach^2", "increase of this multiple for each squared Mach number") \
  X(ram_mach, 0, 5, "Mach", "the multiple does not grow above this Mach number") \
  X(climb_max_deg, 5, 80, "deg", "angle of climb or dive at full command") \
  X(climb_gain, 0.1, 5, "1/s", "how fast the climb follows its command") \
  X(climb_load, 0.5, 20, "g", "greatest lift that is used to change the climb") \
  X(floor, -1e7, 5000, "m", "height above which every dive is pulled out") \
  X(floor_load, 0.5, 8, "g", "acceleration of the pull-out at the floor") \
  X(stall_load, 0, 5, "g", "with less lift at hand than this the nose goes down") \
  X(stall_time, 0, 100, "s", "the greatest climb rate is this time the lift beyond stall_load; with less lift the nose goes down") \
  X(ceiling, 1000, 25000, "m", "greatest height that is climbed to") \
  X(ceiling_time, 1, 600, "s", "time in which the climb ends below the ceiling") \
  X(cross_section, 0.01, 1000, "m^2", "radar cross-section; radars and seekers see it from farther by its fourth root") \
  X(jammer, 0, 10, "1", "burn-through range of its jammer, as a multiple of red_jammer or blue_jammer; 0 = no jammer") \
  X(chaff, 0, 1, "1", "chaff that it carries, as a share of the parameter chaff, rounded to whole cartridges")

#define MR_MISSILE_TYPE_FIELDS(X) \
  X(thrust, 0, 1000, "m/s^2", "thrust acceleration of the boost") \
  X(burn_time, 0, 120, "s", "how long the boost lasts") \
  X(sustain_thrust, 0, 1000, "m/s^2", "thrust acceleration after the boost") \
  X(sustain_time, 0, 120, "s", "how long the thrust after the boost lasts") \
  X(navigation, 1, 10, "1", "navigation constant N of pure proportional navigation") \
  X(loft_radius, 10000, 1e12, "m", "it flies at a point above its target, by the squared range over this") \
  X(loft_max, 0, 50000, "m", "greatest height above the target of the point at which it flies") \
  X(spent_speed, 1, 1000, "m/s", "its motor burnt out, it is spent below this speed; height above the target counts as speed") \
  X(life, 1, 600, "s", "longest flight; after this time it is spent")

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

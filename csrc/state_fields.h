// SPDX-License-Identifier: MIT
//
// The state of an engagement: a list of fields for each struct of block.h. A row is
//
//     X(type, name, start, minimum, maximum, hashed, meaning)
//
// and everything else follows from it: the array [lane] in the struct, its value when an episode starts, the
// range that a snapshot is checked against, whether it enters the hash, and how it is read from outside. So a
// new field is one new row. `type` is float or int32_t; the range includes its ends. `hashed` is 1 for what the
// course of the engagement depends on; it is 0 for what is only counted for the record, and for what follows
// from fields that are hashed. SI units.

#pragma once

#include <float.h>
#include <stdint.h>

// clang-format off

// Which start it is: with the seed, the key of its random numbers. Set from outside, so never cleared.
#define MR_KEY_FIELDS(X) \
  X(int32_t, engagement, 0, 0, INT32_MAX, 0, "number of the engagement") \
  X(int32_t, episode, 0, 0, INT32_MAX, 1, "number of the episode, from 0")

#define MR_ENGAGEMENT_FIELDS(X) \
  X(int32_t, time, 0, 0, INT32_MAX, 1, "physics steps since the start") \
  X(int32_t, decisions, 0, 0, INT32_MAX, 1, "decisions since the start") \
  X(int32_t, outcome, MR_OPEN, MR_OPEN, MR_DRAW, 1, "MrOutcome") \
  X(int32_t, truncated, 0, 0, 1, 1, "1 if the time limit ended it") \
  X(float, potential, 0, -FLT_MAX, FLT_MAX, 1, "red's shaping potential after the last decision") \
  X(float, episode_return, 0, -FLT_MAX, FLT_MAX, 0, "sum of red's rewards")

// What flies: a fighter or a missile.
#define MR_BODY_FIELDS(X) \
  X(float, x, 0, -FLT_MAX, FLT_MAX, 1, "position [m]") \
  X(float, y, 0, -FLT_MAX, FLT_MAX, 1, "position [m]") \
  X(float, c, 1, -2, 2, 1, "direction of the velocity, a unit vector: its x") \
  X(float, s, 0, -2, 2, 1, "direction of the velocity: its y") \
  X(float, v, 0, 0, FLT_MAX, 1, "speed [m/s]") \
  X(float, rudder, 0, -1, 1, 1, "actuator position, 1 is full left")

// How a scripted pilot fights, drawn at the start of the engagement. RULES.md, "Pilots".
#define MR_TACTICS_FIELDS(X) \
  X(float, fire_r_max, 0, 0, FLT_MAX, 1, "fires inside this fraction of R_max") \
  X(float, fire_r_nez, 0, 0, FLT_MAX, 1, "fires inside this fraction of R_NEZ") \
  X(int32_t, salvo, 0, 0, INT32_MAX, 0, "has at most so many of its missiles in the air") \
  X(int32_t, reserve, 0, 0, INT32_MAX, 0, "keeps so many missiles for R_NEZ") \
  X(int32_t, delay, 0, 0, INT32_MAX, 1, "flies on for so long after a launch [physics steps]") \
  X(float, off_c, 1, -1, 1, 0, "after that flies so far off the enemy while its missile is in the air: cosine") \
  X(float, off_s, 0, -1, 1, 0, "sine of that angle") \
  X(float, cold_time, 0, 0, FLT_MAX, 1, "evades missiles with less time to go [s]") \
  X(float, guard, 0, -FLT_MAX, FLT_MAX, 1, "if prudent, evades those that would fall short by less, nose-on [m]") \
  X(int32_t, prudent, 0, 0, 1, 0, "1 if it goes by that guard, and leaves when it has fired all its missiles") \
  X(float, weave_c, 1, -1, 1, 0, "evades by weaving so far off the enemy: cosine; by running if the angle is 0") \
  X(float, weave_s, 0, -1, 1, 0, "sine of that angle")

#define MR_FIGHTER_FIELDS(X) \
  X(float, throttle, 1, 0, 1, 1, "actuator position") \
  X(float, rudder_command, 0, -1, 1, 1, "where the rudder moves to") \
  X(float, throttle_command, 1, 0, 1, 1, "where the throttle moves to") \
  X(int32_t, fire, 0, 0, 1, 1, "command to launch") \
  X(int32_t, alive, 1, 0, 1, 1, "1 until it is hit") \
  X(int32_t, ammunition, 0, 0, MR_MISSILES_PER_FIGHTER, 1, "missiles left") \
  X(int32_t, ready, 0, 0, INT32_MAX, 1, "time from which the next launch is allowed [physics steps]") \
  X(int32_t, launched, 0, 0, INT32_MAX, 1, "time of the last launch [physics steps]") \
  X(int32_t, pilot, MR_PILOT_agent, MR_PILOT_agent, MR_PILOT_COUNT - 1, 1, "MrPilot") \
  X(int32_t, shots, 0, 0, INT32_MAX, 0, "missiles launched") \
  X(int32_t, hits, 0, 0, INT32_MAX, 0, "missiles that hit") \
  X(int32_t, shots_in_nez, 0, 0, INT32_MAX, 0, "launched inside R_NEZ") \
  X(int32_t, shots_wasted, 0, 0, INT32_MAX, 0, "launched outside R_min ... R_aero") \
  X(float, launch_range, 0, 0, FLT_MAX, 0, "sum over the shots [m]")

// `active` enters the hash ahead of the slot's other fields, which do not enter it where it is 0.
#define MR_MISSILE_FIELDS(X) \
  X(int32_t, active, 0, 0, 1, 0, "1 while a missile flies in this slot") \
  X(int32_t, owner, 0, 0, MR_FIGHTERS - 1, 1, "the fighter that launched it") \
  X(int32_t, target, 0, 0, MR_FIGHTERS - 1, 1, "the fighter that it goes for") \
  X(int32_t, age, 0, 0, INT32_MAX, 1, "physics steps since the launch")

// clang-format on

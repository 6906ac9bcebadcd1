// SPDX-License-Identifier: MIT
//
// The state of an engagement: a list of fields for each struct of block.h. A row is
//
//     X(type, name, start, minimum, maximum, hashed, meaning)
//
// Everything else follows from the row: the array [lane] in the struct, its value when an episode starts, the range
// that a snapshot is checked against, whether the field enters the hash, and how it is read from outside. So a new
// field is one new row. SI units.
//
//   type: float or int32_t.
//   minimum, maximum: the ends of the range; both are allowed values. A step on numbers within these ranges overflows
//     nothing.
//   hashed: 1 if the further course of the engagement depends on the field. 0 if the field is only counted for the
//     record, or follows from fields that are hashed. MR_HASHED_IF_SET if it depends on the field where that is not 0:
//     a later field, so that earlier hashes stay as they are.

#pragma once

#include <stdint.h>

#define MR_HASHED_IF_SET 2

// Ends of wide ranges, far beyond those of a game: physics steps and decisions; tallies, of which 16 fighters' sum is a
// number, too; episodes; numbers in general; speeds [m/s].
#define MR_STEPS_MAX 0x3fffffff
#define MR_TALLY_MAX 0x03ffffff
#define MR_EPISODE_MAX 0x5fffffff
#define MR_NUMBER_MAX 1e12f
#define MR_SPEED_MAX 1e5f
#define MR_VARIANCE_MAX 1e12f  // of a place [m^2], of a velocity [m^2/s^2], of both [m^2/s]

// clang-format off

// The key, with the seed, of the random numbers of an episode's start. These fields are set before a start, so a
// start does not reset them. The state hash takes in the engagement's number beside the seed; the fight hash does not.
#define MR_KEY_FIELDS(X) \
  X(int32_t, engagement, 0, 0, INT32_MAX, 0, "number of the engagement") \
  X(int32_t, episode, 0, 0, MR_EPISODE_MAX, 1, "number of the episode, from 0")

#define MR_ENGAGEMENT_FIELDS(X) \
  X(int32_t, time, 0, 0, MR_STEPS_MAX, 1, "physics steps since the start") \
  X(int32_t, decisions, 0, 0, MR_STEPS_MAX, 1, "decisions since the start") \
  X(int32_t, outcome, MR_OPEN, MR_OPEN, MR_DRAW, 1, "MrOutcome") \
  X(int32_t, truncated, 0, 0, 1, 1, "1 if the time limit ended the engagement with both sides alive") \
  X(float, potential, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "red's potential after the last decision; RULES.md, Rewards") \
  X(float, geometry, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "the potential's part of reward_geometry") \
  X(float, stock, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "the potential's part of reward_ammunition") \
  X(float, threat, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "the potential's part of reward_threat") \
  X(float, paid_geometry, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of red's rewards by reward_geometry") \
  X(float, paid_ammunition, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of red's rewards by reward_ammunition") \
  X(float, paid_threat, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of red's rewards by reward_threat") \
  X(float, paid_pressure, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of red's rewards by reward_pressure") \
  X(int32_t, attacker, 0, 0, MR_SIDES, MR_HASHED_IF_SET, "in missions the side that attacks: 1 red, 2 blue") \
  X(float, line_x, 0, -2, 2, MR_HASHED_IF_SET, "direction of the attack, straight across the line: unit vector") \
  X(float, line_y, 0, -2, 2, MR_HASHED_IF_SET, "direction of the attack") \
  X(float, line_at, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, MR_HASHED_IF_SET, "place of the line: line_x x + line_y y of its points [m]") \
  X(float, progress, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "the potential's part of reward_line") \
  X(float, paid_line, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of red's rewards by reward_line")

// The fields that fighters and missiles share. With height a missile's rudder is not used.
#define MR_BODY_FIELDS(X) \
  X(float, x, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "position [m]") \
  X(float, y, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "position [m]") \
  X(float, c, 1, -2, 2, 1, "direction of the velocity as a unit vector: x, in the plane the cosine of the heading") \
  X(float, s, 0, -2, 2, 1, "direction of the velocity: y, in the plane the sine of the heading") \
  X(float, v, 0, 0, MR_SPEED_MAX, 1, "speed [m/s]") \
  X(float, rudder, 0, -1, 1, 1, "actuator position, 1 is full left") \
  MR_HEIGHT_BODY_FIELDS(X)

// Fields of the game with height only: of bodies, beliefs, tactics, fighters and missiles.
#if MR_DIMENSIONS == 3
#define MR_HEIGHT_BODY_FIELDS(X) \
  X(float, z, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "height [m]") \
  X(float, u, 0, -2, 2, 1, "direction of the velocity: z, the sine of the climb")
#define MR_HEIGHT_BELIEF_FIELDS(X) \
  X(float, z, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "height [m]") \
  X(float, vz, 0, -MR_SPEED_MAX, MR_SPEED_MAX, 1, "velocity [m/s]")
#define MR_HEIGHT_TACTICS_FIELDS(X) \
  X(float, height, 0, 0, MR_NUMBER_MAX, 1, "height at which it flies while no missile threatens it [m]")
#define MR_HEIGHT_FIGHTER_FIELDS(X) \
  X(float, climb, 0, -1, 1, 1, "actuator position, 1 is the greatest climb") \
  X(float, climb_command, 0, -1, 1, 1, "position that the climb moves to") \
  X(int32_t, ammunition_2, 0, 0, MR_MISSILES_PER_FIGHTER, MR_HASHED_IF_SET, "missiles left of the second kind of its load") \
  X(int32_t, ammunition_3, 0, 0, MR_MISSILES_PER_FIGHTER, MR_HASHED_IF_SET, "missiles left of the third kind")
#define MR_HEIGHT_MISSILE_FIELDS(X) \
  X(int32_t, kind, 0, 0, MR_KINDS_MAX - 1, MR_HASHED_IF_SET, "its kind in the load of its fighter, from 0")
#else
#define MR_HEIGHT_BODY_FIELDS(X)
#define MR_HEIGHT_BELIEF_FIELDS(X)
#define MR_HEIGHT_TACTICS_FIELDS(X)
#define MR_HEIGHT_FIGHTER_FIELDS(X)
#define MR_HEIGHT_MISSILE_FIELDS(X)
#endif

// Tactics of a scripted pilot, drawn at the start of the engagement. RULES.md, "Pilots".
#define MR_TACTICS_FIELDS(X) \
  X(float, fire_r_max, 0, 0, MR_NUMBER_MAX, 1, "fires inside this fraction of R_max") \
  X(float, fire_r_nez, 0, 0, MR_NUMBER_MAX, 1, "fires inside this fraction of R_NEZ") \
  X(int32_t, salvo, 0, 0, INT32_MAX, 0, "has at most this many of its missiles in the air") \
  X(int32_t, reserve, 0, 0, INT32_MAX, 0, "keeps this many missiles for shots inside R_NEZ") \
  X(int32_t, delay, 0, 0, INT32_MAX, 1, "time for which it flies on after a launch [physics steps]") \
  X(float, off_c, 1, -1, 1, 0, "angle off the enemy at which it flies after the delay, while its missile is in the air: cosine") \
  X(float, off_s, 0, -1, 1, 0, "sine of that angle") \
  X(float, cold_time, 0, 0, MR_NUMBER_MAX, 1, "evades missiles with less time to go [s]") \
  X(float, guard, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "if prudent, evades missiles that would fall short by less than this when nose-on [m]") \
  X(int32_t, prudent, 0, 0, 1, 0, "1 if it evades only missiles within the guard, and flies away when all its missiles are spent") \
  X(float, weave_c, 1, -1, 1, 0, "angle off the enemy of the weave with which it evades: cosine; with the angle 0 it runs instead") \
  X(float, weave_s, 0, -1, 1, 0, "sine of that angle") \
  X(float, wait_range, 0, 0, MR_NUMBER_MAX, 0, "range at which it waits [m]; 0 if it does not wait") \
  X(int32_t, wait_left, 0, 0, INT32_MAX, 0, "waits while the enemy has more missiles than this left") \
  X(int32_t, wait_time, 0, 0, MR_STEPS_MAX, 0, "with sensors, waits until this time [physics steps]") \
  MR_HEIGHT_TACTICS_FIELDS(X)

#define MR_FIGHTER_FIELDS(X) \
  X(float, throttle, 1, 0, 1, 1, "actuator position") \
  X(float, rudder_command, 0, -1, 1, 1, "position that the rudder moves to") \
  X(float, throttle_command, 1, 0, 1, 1, "position that the throttle moves to") \
  X(int32_t, fire, 0, 0, MR_FIRE_HIGHEST, 1, "not 0 to launch a missile at the next decision, if allowed; in teams it says at whom, see targets.h, with height of which kind, from 1") \
  X(int32_t, alive, 1, 0, 1, 1, "1 until it is dead") \
  X(int32_t, ammunition, 0, 0, MR_MISSILES_PER_FIGHTER, 1, "missiles left") \
  X(int32_t, ready, 0, 0, INT32_MAX, 1, "time from which the next launch is allowed [physics steps]") \
  X(int32_t, launched, 0, 0, MR_STEPS_MAX, 1, "time of the last launch [physics steps]") \
  X(int32_t, pilot, MR_PILOT_agent, MR_PILOT_agent, MR_PILOT_COUNT - 1, 1, "MrPilot") \
  X(int32_t, pressed, 0, 0, MR_TALLY_MAX, 0, "time for which it pressed, counted if pressing_margin is not 0 [physics steps]") \
  X(int32_t, shots, 0, 0, MR_TALLY_MAX, 0, "missiles launched") \
  X(int32_t, hits, 0, 0, MR_TALLY_MAX, 0, "missiles that hit") \
  X(int32_t, shots_in_nez, 0, 0, MR_TALLY_MAX, 0, "missiles launched inside R_NEZ") \
  X(int32_t, shots_wasted, 0, 0, MR_TALLY_MAX, 0, "missiles launched nearer than R_min or farther than R_aero") \
  X(float, launch_range, 0, 0, MR_NUMBER_MAX, 0, "sum of the ranges at the launches [m]") \
  X(float, episode_return, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 0, "sum of its rewards") \
  MR_HEIGHT_FIGHTER_FIELDS(X) \
  MR_TEAM_FIELDS(X)

// Fields of fighters in teams only.
#if MR_SIDE == 1
#define MR_TEAM_FIELDS(X)
#else
#define MR_TEAM_FIELDS(X) \
  X(float, merit, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "its own potential after the last decision; RULES.md, Rewards") \
  X(int32_t, target, 0, 0, MR_FIGHTERS - 1, 1, "the enemy that a pilot flies against") \
  X(int32_t, chosen, 0, 0, INT32_MAX, 1, "time from which the pilot may choose another one [physics steps]")
#endif

// `active` is not marked as hashed, because mr_state_hash treats it specially: it enters the hash of every slot, and
// the slot's other fields enter only when it is 1.
#define MR_MISSILE_FIELDS(X) \
  X(int32_t, active, 0, 0, 1, 0, "1 while a missile flies in this slot") \
  X(int32_t, owner, 0, 0, MR_FIGHTERS - 1, 1, "the fighter that launched it") \
  X(int32_t, target, 0, 0, MR_FIGHTERS - 1, 1, "the fighter that it attacks") \
  X(int32_t, age, 0, 0, MR_STEPS_MAX, 1, "physics steps since the launch") \
  MR_HEIGHT_MISSILE_FIELDS(X)

// A fighter's contact with an enemy, beside the believed body: MR_BODY_FIELDS, whose rudder is always 0.
#define MR_CONTACT_FIELDS(X) \
  X(int32_t, source, MR_UNSEEN, MR_UNSEEN, MR_LINKED, 1, "MrSource") \
  X(int32_t, age, 0, 0, MR_STEPS_MAX, 1, "time since the enemy was last seen, once there was a track [physics steps]") \
  X(int32_t, seen, -1, -1, MR_STEPS_MAX, 1, "time for which the radar has seen the enemy without a break, -1 if it does not [physics steps]") \
  MR_SPREAD_FIELDS(X)

// With noise: the covariances of the filter of a track, along the line of sight and across it. RULES.md, "Noise".
#define MR_SPREAD_FIELDS(X) \
  X(float, along_xx, 0, 0, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "variance of the believed place along the line of sight [m^2]") \
  X(float, along_xv, 0, -MR_VARIANCE_MAX, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "covariance of place and velocity along it [m^2/s]") \
  X(float, along_vv, 0, 0, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "variance of the believed velocity along it [m^2/s^2]") \
  X(float, across_xx, 0, 0, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "variance of the believed place across the line of sight [m^2]") \
  X(float, across_xv, 0, -MR_VARIANCE_MAX, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "covariance of place and velocity across it [m^2/s]") \
  X(float, across_vv, 0, 0, MR_VARIANCE_MAX, MR_HASHED_IF_SET, "variance of the believed velocity across it [m^2/s^2]")

// A missile's belief of its target. The fields of an empty slot do not matter.
#define MR_BELIEF_FIELDS(X) \
  X(float, x, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "position [m]") \
  X(float, y, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, 1, "position [m]") \
  X(float, vx, 0, -MR_SPEED_MAX, MR_SPEED_MAX, 1, "velocity [m/s]") \
  X(float, vy, 0, -MR_SPEED_MAX, MR_SPEED_MAX, 1, "velocity [m/s]") \
  X(int32_t, locked, 0, 0, 1, 1, "1 if the seeker has a lock") \
  X(int32_t, unseen, 0, 0, MR_STEPS_MAX, 1, "time since the seeker of a locked missile last saw the target [physics steps]") \
  MR_HEIGHT_BELIEF_FIELDS(X)

// A fighter's systems: with emission control its radar, with chaff its cartridges and their last cloud. RULES.md,
// "Emission control and chaff".
#define MR_SYSTEMS_FIELDS(X) \
  X(int32_t, command, 0, 0, MR_SYSTEMS_LEVELS - 1, MR_HASHED_IF_SET, "level of the control systems: MR_SILENT and MR_DROP, one, both or neither") \
  X(int32_t, silent, 0, 0, 1, MR_HASHED_IF_SET, "1 while its radar is silent") \
  X(int32_t, chaff, 0, 0, MR_CHAFF_MAX, MR_HASHED_IF_SET, "cartridges left") \
  X(int32_t, cloud_end, 0, 0, INT32_MAX, MR_HASHED_IF_SET, "time at which its last cloud is gone [physics steps]; 0 without one") \
  X(float, x, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, MR_HASHED_IF_SET, "place of that cloud [m]") \
  X(float, y, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, MR_HASHED_IF_SET, "place of that cloud [m]") \
  X(float, z, 0, -MR_NUMBER_MAX, MR_NUMBER_MAX, MR_HASHED_IF_SET, "its height [m]; 0 in the plane")

// clang-format on

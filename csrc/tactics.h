// SPDX-License-Identifier: MIT
//
// The tactics of each scripted pilot, from its parameters. RULES.md, "Pilots".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <assert.h>

#include "block.h"
#include "definitions.h"

// One pilot's tactics in one engagement: the values of MrTactics (state_fields.h has their meanings), in seconds and
// degrees. The rows below name only the members that their pilot uses. The others are 0, which means "never" or "none".
typedef struct {
  float fire_r_max, fire_r_nez;
  int32_t salvo, reserve;
  float delay;
  float off_deg;
  float cold_time, guard;
  int32_t prudent;
  float weave_deg;
  float wait_range;
  int32_t wait_left;
  float wait_time;
} MrTacticsRow;

// Defines the function mr_tactics_NAME of a pilot. It has three random numbers from [0, 1): `turn` is for evading and
// turning, `fire` for firing, `count` for counting the enemy's missiles.
#define MR_TACTICS(name, ...)                                                                     \
  static MrTacticsRow mr_tactics_##name(const MrParams *p, float turn, float fire, float count) { \
    (void)p, (void)turn, (void)fire, (void)count;                                                 \
    return (MrTacticsRow){__VA_ARGS__};                                                           \
  }

// The value at the share u, 0 to 1, of the way from a parameter's least to its greatest value.
#define MR_BETWEEN(parameter, u) (p->parameter##_min + (p->parameter##_max - p->parameter##_min) * (u))

// A parameter and up to its spread more, each of these integers at an equal share of u. A spread is so small that its
// product with u, of 24 bits, does not round up to the next integer.
#define MR_AND_UP(parameter, u) (p->parameter + (int32_t)((float)(p->parameter##_spread + 1) * (u)))

MR_TACTICS(none, 0)  // of peaceful pilots: with a salvo of 0 they never fire
MR_TACTICS(shooter, .fire_r_max = MR_BETWEEN(shooter_fire, fire), .salvo = MR_MISSILES_PER_FIGHTER)
MR_TACTICS(evader, .fire_r_max = MR_BETWEEN(shooter_fire, fire), .salvo = p->evader_salvo,
           .cold_time = MR_BETWEEN(evader_cold_time, turn))
MR_TACTICS(crank, .fire_r_max = MR_BETWEEN(crank_fire, fire), .salvo = p->crank_salvo, .off_deg = p->crank_angle_deg,
           .cold_time = MR_BETWEEN(crank_cold_time, turn))
MR_TACTICS(bracket_shooter, .fire_r_nez = MR_BETWEEN(bracket_fire, fire), .salvo = p->bracket_salvo,
           .cold_time = MR_BETWEEN(bracket_cold_time, turn))
MR_TACTICS(turn_back, .fire_r_max = MR_BETWEEN(turn_back_fire, fire), .salvo = p->turn_back_salvo,
           .delay = MR_BETWEEN(turn_back_delay, turn), .off_deg = 180.0f)
MR_TACTICS(snake, .fire_r_max = MR_BETWEEN(snake_fire, fire), .salvo = p->snake_salvo,
           .cold_time = MR_BETWEEN(snake_time, turn), .weave_deg = p->snake_angle_deg)
MR_TACTICS(ace, .fire_r_max = MR_BETWEEN(ace_probe, fire), .fire_r_nez = MR_BETWEEN(ace_fire, fire),
           .salvo = p->ace_salvo, .reserve = p->ace_reserve, .off_deg = p->ace_crank_angle_deg,
           .cold_time = MR_BETWEEN(ace_cold_time, turn), .guard = MR_BETWEEN(ace_guard, turn), .prudent = 1)
MR_TACTICS(patient, .fire_r_nez = MR_BETWEEN(patient_fire, fire), .salvo = p->patient_salvo,
           .off_deg = p->patient_crank_angle_deg, .cold_time = MR_BETWEEN(patient_cold_time, turn),
           .wait_range = MR_BETWEEN(patient_range, turn), .wait_left = MR_AND_UP(patient_left, count),
           .wait_time = p->patient_time)
MR_TACTICS(transport, .cold_time = p->transport_cold_time)
// These evade every seeker that they hear: no time to go is above the greatest. wing_pilots.h has the rest of `pair`.
MR_TACTICS(notcher, .fire_r_max = MR_BETWEEN(notcher_fire, fire), .salvo = p->notcher_salvo,
           .cold_time = MR_TIME_TO_GO_MAX)
MR_TACTICS(pair, .fire_r_max = MR_BETWEEN(pair_fire, fire), .salvo = p->pair_salvo, .cold_time = MR_TIME_TO_GO_MAX)

typedef MrTacticsRow MrTacticsOf(const MrParams *p, float turn, float fire, float count);
#define MR_HAS_NO_TACTICS(name, by_map, meaning) [MR_PILOT_##name] = mr_tactics_none,
#define MR_HAS_TACTICS(name, by_map, meaning) [MR_PILOT_##name] = mr_tactics_##name,
static MrTacticsOf *const mr_tactics_of[MR_PILOT_COUNT] = {
    MR_PEACEFUL_PILOTS(MR_HAS_NO_TACTICS) MR_FIGHTING_PILOTS(MR_HAS_TACTICS) MR_SENSOR_PILOTS(MR_HAS_TACTICS)
        MR_WING_PILOTS(MR_HAS_TACTICS) MR_LATER_PILOTS(MR_HAS_TACTICS) MR_MISSION_PILOTS(MR_HAS_TACTICS)};

// The thresholds of ace with height, over those of the parameters. In thin air missiles coast farther, and those that
// it fires from far keep an enemy cold for longer. RULES.md, "Height".
#define MR_ACE_PROBE 1.75f
#define MR_ACE_FIRE 1.3f
#define MR_ACE_COLD_TIME 1.5f
#define MR_ACE_GUARD 4.0f
#define MR_ACE_RESERVE 1  // more missiles

static inline MrTacticsRow mr_ace_with_height(MrTacticsRow row) {
  row.fire_r_max *= MR_ACE_PROBE;
  row.fire_r_nez *= MR_ACE_FIRE;
  row.reserve += MR_ACE_RESERVE;
  row.cold_time *= MR_ACE_COLD_TIME;
  row.guard *= MR_ACE_GUARD;
  return row;
}

// Gives a pilot its tactics for the episode that starts in a lane, by the random numbers of MR_TACTICS.
static void mr_assign_tactics(const MrParams *p, MrPilot pilot, float turn, float fire, float count, MrTactics *t,
                              int lane) {
  assert(pilot < MR_PILOT_COUNT);
  MrTacticsRow row = mr_tactics_of[pilot](p, turn, fire, count);
  if (MR_DIMENSIONS == 3 && pilot == MR_PILOT_ace) row = mr_ace_with_height(row);
  t->fire_r_max[lane] = row.fire_r_max;
  t->fire_r_nez[lane] = row.fire_r_nez;
  t->salvo[lane] = row.salvo;
  t->reserve[lane] = row.reserve;
  t->delay[lane] = mr_steps_of(p, (double)row.delay);
  mr_unit_vector((double)row.off_deg / 360.0, &t->off_c[lane], &t->off_s[lane]);
  t->cold_time[lane] = row.cold_time;
  t->guard[lane] = row.guard;
  t->prudent[lane] = row.prudent;
  mr_unit_vector((double)row.weave_deg / 360.0, &t->weave_c[lane], &t->weave_s[lane]);
  t->wait_range[lane] = row.wait_range;
  t->wait_left[lane] = row.wait_left;
  t->wait_time[lane] = mr_steps_of(p, (double)row.wait_time);
}

// SPDX-License-Identifier: MIT
//
// The tactics of each scripted pilot, from its parameters. RULES.md, "Pilots".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <assert.h>

#include "block.h"
#include "definitions.h"

// One pilot's tactics in one engagement: the values of MrTactics (state_fields.h has their meanings), in seconds and
// degrees. The functions below name only the members that their pilot uses; C sets the others to 0, which means "never"
// or "none".
typedef struct {
  float fire_r_max, fire_r_nez;
  int32_t salvo, reserve;
  float delay;
  float off_deg;
  float cold_time, guard;
  int32_t prudent;
  float weave_deg;
} MrTacticsRow;

// The value at the share u, 0 to 1, of the way from low to high.
static inline float mr_between(float low, float high, float u) { return low + (high - low) * u; }

// One function for each fighting pilot. It has two random numbers from [0, 1): evade_draw says when the pilot evades or
// turns, fire_draw says when it fires.

static MrTacticsRow mr_tactics_shooter(const MrParams *p, float evade_draw, float fire_draw) {
  (void)evade_draw;
  return (MrTacticsRow){.fire_r_max = mr_between(p->shooter_fire_min, p->shooter_fire_max, fire_draw),
                        .salvo = MR_MISSILES_PER_FIGHTER};
}

static MrTacticsRow mr_tactics_evader(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_max = mr_between(p->shooter_fire_min, p->shooter_fire_max, fire_draw),
                        .salvo = p->evader_salvo,
                        .cold_time = mr_between(p->evader_cold_time_min, p->evader_cold_time_max, evade_draw)};
}

static MrTacticsRow mr_tactics_crank(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_max = mr_between(p->crank_fire_min, p->crank_fire_max, fire_draw),
                        .salvo = p->crank_salvo,
                        .off_deg = p->crank_angle_deg,
                        .cold_time = mr_between(p->crank_cold_time_min, p->crank_cold_time_max, evade_draw)};
}

static MrTacticsRow mr_tactics_bracket_shooter(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_nez = mr_between(p->bracket_fire_min, p->bracket_fire_max, fire_draw),
                        .salvo = p->bracket_salvo,
                        .cold_time = mr_between(p->bracket_cold_time_min, p->bracket_cold_time_max, evade_draw)};
}

static MrTacticsRow mr_tactics_turn_back(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_max = mr_between(p->turn_back_fire_min, p->turn_back_fire_max, fire_draw),
                        .salvo = p->turn_back_salvo,
                        .delay = mr_between(p->turn_back_delay_min, p->turn_back_delay_max, evade_draw),
                        .off_deg = 180.0f};
}

static MrTacticsRow mr_tactics_snake(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_max = mr_between(p->snake_fire_min, p->snake_fire_max, fire_draw),
                        .salvo = p->snake_salvo,
                        .cold_time = mr_between(p->snake_time_min, p->snake_time_max, evade_draw),
                        .weave_deg = p->snake_angle_deg};
}

static MrTacticsRow mr_tactics_ace(const MrParams *p, float evade_draw, float fire_draw) {
  return (MrTacticsRow){.fire_r_max = mr_between(p->ace_probe_min, p->ace_probe_max, fire_draw),
                        .fire_r_nez = mr_between(p->ace_fire_min, p->ace_fire_max, fire_draw),
                        .salvo = p->ace_salvo,
                        .reserve = p->ace_reserve,
                        .off_deg = p->ace_crank_angle_deg,
                        .cold_time = mr_between(p->ace_cold_time_min, p->ace_cold_time_max, evade_draw),
                        .guard = mr_between(p->ace_guard_min, p->ace_guard_max, evade_draw),
                        .prudent = 1};
}

// It evades every seeker that it hears of: no time to go is above the greatest.
static MrTacticsRow mr_tactics_notcher(const MrParams *p, float evade_draw, float fire_draw) {
  (void)evade_draw;
  return (MrTacticsRow){.fire_r_max = mr_between(p->notcher_fire_min, p->notcher_fire_max, fire_draw),
                        .salvo = p->notcher_salvo,
                        .cold_time = MR_TIME_TO_GO_MAX};
}

// It evades every seeker, too. What it does with a partner is in wing_pilots.h.
static MrTacticsRow mr_tactics_pair(const MrParams *p, float evade_draw, float fire_draw) {
  (void)evade_draw;
  return (MrTacticsRow){.fire_r_max = mr_between(p->pair_fire_min, p->pair_fire_max, fire_draw),
                        .salvo = p->pair_salvo,
                        .cold_time = MR_TIME_TO_GO_MAX};
}

// Tactics of peaceful pilots. The salvo is 0, so they never fire.
static MrTacticsRow mr_no_tactics(const MrParams *p, float evade_draw, float fire_draw) {
  (void)p, (void)evade_draw, (void)fire_draw;
  return (MrTacticsRow){0};
}

typedef MrTacticsRow MrTacticsOf(const MrParams *p, float evade_draw, float fire_draw);
#define MR_HAS_NO_TACTICS(name, by_map, meaning) [MR_PILOT_##name] = mr_no_tactics,
#define MR_HAS_TACTICS(name, by_map, meaning) [MR_PILOT_##name] = mr_tactics_##name,
static MrTacticsOf *const mr_tactics_of[MR_PILOT_COUNT] = {
    MR_PEACEFUL_PILOTS(MR_HAS_NO_TACTICS) MR_FIGHTING_PILOTS(MR_HAS_TACTICS) MR_SENSOR_PILOTS(MR_HAS_TACTICS)
        MR_WING_PILOTS(MR_HAS_TACTICS)};

// Gives a pilot its tactics for the episode that starts in a lane.
static void mr_assign_tactics(const MrParams *p, MrPilot pilot, float evade_draw, float fire_draw, MrTactics *t,
                     int lane) {
  assert(pilot < MR_PILOT_COUNT);
  MrTacticsRow row = mr_tactics_of[pilot](p, evade_draw, fire_draw);
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
}

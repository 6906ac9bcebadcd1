// SPDX-License-Identifier: MIT
//
// Takes actions and controls from outside over into the state, clipped.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "kernel.h"

static inline int32_t mr_clip_int(int32_t x, int32_t high) { return x < 0 ? 0 : x > high ? high : x; }

// What a fighter's `fire` is for this control: above 0.5 a shot. In teams that is at the enemy nearest the nose, and
// k + 1 means the level k, a shot at the k-th enemy. Not-a-number is no shot.
static inline int32_t mr_fire_of(const MrSim *sim, float control) {
  if (!(control > 0.5f)) return 0;
  if (MR_SIDE == 1) return 1;
  if (control < 1.5f) return MR_FIRE_AHEAD;
  int32_t highest = mr_fire_levels(sim) - 1;
  return control < (float)highest + 1.0f ? (int32_t)(control - 0.5f) : highest;
}

// Sets the commands of a fighter that is flown from outside, clipped; not-a-number counts as 0.
static inline void mr_command(const MrSim *sim, MrFighter *f, int lane, const float controls[MR_ACTIONS]) {
  float rudder = controls[0], throttle = controls[1];
  f->rudder_command[lane] = rudder == rudder ? mr_clip(rudder, -1.0f, 1.0f) : 0.0f;
  f->throttle_command[lane] = throttle == throttle ? mr_clip(throttle, 0.0f, 1.0f) : 0.0f;
  f->fire[lane] = mr_fire_of(sim, controls[2]);
}

// Levels of one agent in the first lanes; `stride` numbers from lane to lane.
static void mr_take_levels(const MrSim *sim, const int32_t *actions, int lanes, int stride, MrFighter *fighter) {
  for (int i = 0; i < lanes; i++) {
    const int32_t *levels = actions + i * stride;
    int32_t rudder = mr_clip_int(levels[0], MR_RUDDER_LEVELS - 1);
    int32_t throttle = mr_clip_int(levels[1], MR_THROTTLE_LEVELS - 1);
    fighter->rudder_command[i] = (float)(2 * rudder) / (MR_RUDDER_LEVELS - 1) - 1.0f;
    fighter->throttle_command[i] = (float)throttle / (MR_THROTTLE_LEVELS - 1);
    fighter->fire[i] = mr_clip_int(levels[2], mr_fire_levels(sim) - 1);
  }
}

// `actions` has a row of MR_ACTIONS numbers, int32 levels or float32 controls, for every agent of the simulation, or
// for every fighter.
static void mr_take_actions(const MrSim *sim, int32_t block, MrTake take, const void *actions) {
  int32_t rows = take == MR_TAKE_CONTROLS ? mr_fighters(sim) : sim->agents_per_env;
  int lanes = mr_used_lanes(sim, block), stride = rows * MR_ACTIONS;
  const char *first = (const char *)actions + 4 * (size_t)block * MR_LANES * (size_t)stride;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MrFighter *fighter = &mr_block(sim, block)->fighters[f];
    if (take != MR_TAKE_CONTROLS && !sim->is_agent[f]) continue;
    if (take == MR_TAKE_LEVELS) {
      mr_take_levels(sim, (const int32_t *)(const void *)first, lanes, stride, fighter);
    } else {
      const float *controls = (const float *)(const void *)first;
      for (int i = 0; i < lanes; i++, controls += stride) {
        if (fighter->pilot[i] == MR_PILOT_agent) mr_command(sim, fighter, i, controls);
      }
    }
    first += 4 * MR_ACTIONS;
  }
}

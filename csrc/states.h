// SPDX-License-Identifier: MIT
//
// States: how the fighters stand, for code outside that pays rewards of its own. midrange.h, MR_STATES.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <string.h>

#include "kernel.h"
#include "scene.h"

static void mr_state_of(const MrBlock *b, int32_t f, const MrScene *scene, float values[MR_STATE_COUNT][MR_LANES]) {
  const MrFighter *fighter = &b->fighters[f];
  const MrInbound *inbound = &scene->inbound[f];
  MR_FOR_LANES(i) {
    values[MR_STATE_x][i] = fighter->body.x[i];
    values[MR_STATE_y][i] = fighter->body.y[i];
    values[MR_STATE_direction_x][i] = fighter->body.c[i];
    values[MR_STATE_direction_y][i] = fighter->body.s[i];
    values[MR_STATE_speed][i] = fighter->body.v[i];
    values[MR_STATE_alive][i] = (float)fighter->alive[i];
    values[MR_STATE_ammunition][i] = (float)fighter->ammunition[i];
    values[MR_STATE_inbound][i] = (float)inbound->in_air[i];
    values[MR_STATE_time_to_go][i] = mr_clip(inbound->least[i], 0.0f, MR_TIME_TO_GO_MAX);
  }
}

// Writes the block's part of `states`, which has the engagements of all blocks.
static void mr_write_states(const MrSim *sim, int32_t block, const MrScene *scene, float *states) {
  if (!states) return;
  size_t used = (size_t)mr_used_lanes(sim, block);
  MR_ALIGNED float values[MR_STATE_COUNT][MR_LANES];
  int32_t fighters = mr_fighters(sim);
  for (int32_t f = 0; f < fighters; f++) {
    mr_state_of(mr_block(sim, block), f, scene, values);
    for (int32_t state = 0; state < MR_STATE_COUNT; state++) {
      size_t row = (size_t)(state * fighters + f) * (size_t)sim->num_envs;
      memcpy(states + row + (size_t)block * MR_LANES, values[state], used * sizeof(float));
    }
  }
}

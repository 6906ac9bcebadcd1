// SPDX-License-Identifier: MIT
//
// Writes a block's rows of observations in one against one.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "kernel.h"
#include "observation.h"
#include "radar_view.h"
#include "rows.h"
#include "scene.h"

// Writes the block's rows as its sides see it with their sensors. `sights` are the true ones.
static void mr_write_views(const MrSim *sim, int32_t block, const MrSight sights[MR_FIGHTERS], const MrOutputs *out,
                        float *row, size_t floats) {
  const MrBlock *b = mr_block(sim, block);
  const MrPicture *picture = mr_picture(sim, block);
  MrScene believed;
  mr_look_around_by_picture(sim->constants.dt, b, picture, &believed);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_view_fighter(sim, b, f, &believed, sights, picture, mr_used_lanes(sim, block), row, floats);
    row += MR_RADAR_FEATURE_COUNT;
  }
}

// Writes the block's rows into `observations`, which has the rows of all blocks.
static void mr_write_observations(const MrSim *sim, int32_t block, const MrScene *scene, const MrOutputs *out,
                               float *observations) {
  if (!observations) return;
  const MrBlock *b = mr_block(sim, block);
  size_t features = (size_t)sim->features, floats = mr_row_floats(sim, out);
  float *row = observations + (size_t)block * MR_LANES * floats;
  if (sim->pictures) {
    mr_write_views(sim, block, scene->sights, out, row, floats);
    return;
  }
  MrMissilesSeen missiles;
  MrShotRanges shot_ranges[MR_FIGHTERS];
  mr_collect_missiles(sim, b, scene, &missiles);
  if (sim->observation == MR_OBSERVE_STG) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      const MrBody *enemy = &b->fighters[mr_opponent(f)].body;
      mr_look_up(sim, &b->fighters[f].body, enemy, &scene->sights[f], &shot_ranges[f]);
    }
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!mr_has_row(sim, out, f)) continue;
    mr_observe_fighter(sim, b, f, scene, &missiles, shot_ranges, mr_used_lanes(sim, block), row, floats);
    row += features;
  }
}

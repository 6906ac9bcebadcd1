// SPDX-License-Identifier: MIT
//
// Writes the features that emission control and chaff add to observations with sensors: the own radar and chaff.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "definitions.h"
#include "feature_table.h"
#include "systems.h"
#include "view.h"

typedef struct {
  MR_SYSTEMS_FEATURES(MR_DECLARE_FEATURE)
} MrSystemsRow;

// Writes the systems of a fighter, in the lanes in which it observes; zeros in the others.
static void mr_write_systems(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                             const int32_t observes[MR_LANES], MrSystemsRow *out) {
  const MrBody *own = &b->fighters[fighter].body;
  const MrSystems *s = &picture->systems[fighter];
  memset(out, 0, sizeof *out);  // for the spare ones
  float share = 1.0f / mr_max((float)sim->params.chaff, 1.0f);
  MR_FOR_LANES(i) {
    float limit = mr_select(observes[i], sim->constants.one, 0.0f);
    float systems_emits = (float)!s->silent[i];
    float systems_chaff = share * (float)s->chaff[i];
    MR_STATUS_FEATURES(MR_WRITE)
  }
  MR_FOR_LANES(i) {
    float limit = mr_select(observes[i] & mr_has_cloud(b, s, i), sim->constants.one, 0.0f);
    float dx = s->x[i] - own->x[i], dy = s->y[i] - own->y[i], dz = s->z[i] - mr_height(own, i);
    float range = sqrtf(dx * dx + dy * dy + dz * dz), inverse = 1.0f / mr_max(range, 1.0f);
    MrVector place = mr_into_own(own, dx, dy, i);
    float systems_cloud_time = (float)(s->cloud_end[i] - b->time[i]) * sim->constants.dt;
    float systems_cloud_ahead = place.ahead * inverse;
    float systems_cloud_left = place.left * inverse;
    float systems_cloud_up = dz * inverse;
    float systems_cloud_nearness = MR_NEAR_TRACK / (MR_NEAR_TRACK + range);
    MR_CLOUD_FEATURES(MR_WRITE)
  }
}

#if MR_SIDE == 1

// Writes the features of the systems after those of the view that `to` is at.
static inline void mr_place_systems(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                                    const MrDestination *to) {
  if (!sim->has_systems) return;
  MrSystemsRow row;
  MR_ALIGNED int32_t observes[MR_LANES];
  MR_FOR_LANES(i) observes[i] = 1;
  mr_write_systems(sim, b, picture, fighter, observes, &row);
  mr_place_added(&row, MR_PAIR_SYSTEMS_COUNT, sim->view_features, to);
}

#endif

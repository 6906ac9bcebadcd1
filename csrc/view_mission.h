// SPDX-License-Identifier: MIT
//
// Writes the features that missions add to observations, which come last: the line and, in teams, the transport.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "definitions.h"
#include "feature_table.h"
#include "mission.h"
#include "picture.h"
#include "targets.h"
#include "view.h"

typedef struct {
  MR_MISSION_FEATURES(MR_DECLARE_FEATURE)
} MrMissionRow;

// Writes the line as a fighter sees it, in the lanes in which it observes; zeros in the others.
static void mr_write_line(const MrSim *sim, const MrBlock *b, int32_t fighter, const int32_t observes[MR_LANES],
                          MrMissionRow *out) {
  const MrBody *own = &b->fighters[fighter].body;
  int32_t side = mr_side(sim, fighter);
  MR_FOR_LANES(i) {
    float limit = mr_select(observes[i], sim->constants.one, 0.0f);
    MrVector way = mr_into_own(own, b->line_x[i], b->line_y[i], i);
    float mission_attacks = mr_select(mr_attacks(b, side, i), 1.0f, -1.0f);
    float mission_line_ahead = way.ahead;
    float mission_line_left = way.left;
    float mission_line_range = mr_line_range(b, own, i);
    float mission_line_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + mr_max(mission_line_range, 0.0f));
    MR_LINE_FEATURES(MR_WRITE)
  }
}

#if MR_SIDE == 1

// Writes the features of the mission after those of the view that `to` is at.
static inline void mr_place_mission(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrDestination *to) {
  if (!mr_has_mission(sim)) return;
  MrMissionRow row;
  MR_ALIGNED int32_t observes[MR_LANES];
  MR_FOR_LANES(i) observes[i] = 1;
  mr_write_line(sim, b, fighter, observes, &row);
  mr_place_added(&row, MR_LINE_COUNT, sim->features - MR_LINE_COUNT, to);
}

#else

// Writes the transport as a fighter knows it: its own side's, or the enemy's, with sensors by its track. Zeros where
// there is none.
static void mr_write_transport(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                               const int32_t observes[MR_LANES], MrMissionRow *out) {
  const MrBody *own = &b->fighters[fighter].body;
  int32_t side = mr_side(sim, fighter);
  MR_EACH_LANE(i) {
    int32_t carrier = mr_attacks(b, 0, i) ? 0 : 1, transport = mr_transport_of(sim, carrier);
    bool escorts = sim->params.mission == MR_MISSION_ESCORT, lives = escorts && b->fighters[transport].alive[i];
    const MrBody *body = lives ? &b->fighters[transport].body : NULL;
    if (escorts && carrier != side) body = mr_known(sim, b, picture, fighter, transport, i);
    float limit = observes[i] && body ? sim->constants.one : 0.0f;
    if (!body) body = own;
    float range = sqrtf(mr_range2(own, body, i)), inverse = 1.0f / mr_max(range, sim->constants.one);
    MrVector place = mr_into_own(own, body->x[i] - own->x[i], body->y[i] - own->y[i], i);
    float mission_transport_present = 1.0f;
    float mission_transport_ahead = place.ahead * inverse;
    float mission_transport_left = place.left * inverse;
    float mission_transport_range = range;
    float mission_transport_nearness = MR_NEAR_FIGHTER / (MR_NEAR_FIGHTER + range);
    float mission_transport_line_range = mr_line_range(b, body, i);
    MR_TRANSPORT_FEATURES(MR_WRITE)
  }
}

#endif

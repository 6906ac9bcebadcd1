// SPDX-License-Identifier: MIT
//
// The threat cone of the space-time graph in the plane. RULES.md, "Space-time graph". cone3.h has it with height.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "definitions.h"
#include "flight.h"
#include "flyout.h"
#include "guidance.h"
#include "start.h"

// The threat cone: the positions that a missile launched now can reach by any steering.
//
// Flies missiles that are launched at the origin along +x. Each turns left to the heading of its lane, with one of
// MR_CONE_RUDDERS rudders, and then flies straight. Positions are not-a-number once a missile is spent.
static void mr_fly_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones) {
  const MrConstants *k = &sim->constants;
  float rudder = 1.0f;
  for (int32_t turn = 0; turn < MR_CONE_RUDDERS; turn++) {
    MrBody body;
    MR_ALIGNED float c[MR_LANES], s[MR_LANES];
    MR_ALIGNED int32_t spent[MR_LANES] = {0};
    memset(&body, 0, sizeof body);
    MR_EACH_LANE(i) {
      body.x[i] = sim->params.missile_launch_offset;
      body.c[i] = 1.0f;
      body.v[i] = launch_speed;
      mr_unit_vector(0.5 * i / (MR_LANES - 1), &c[i], &s[i]);
    }
    for (int32_t step = 0; step < interval * count; step++) {
      if (step % interval == 0) {
        MR_EACH_LANE(i) {
          cones[step / interval].points[turn][i][0] = spent[i] ? NAN : body.x[i];
          cones[step / interval].points[turn][i][1] = spent[i] ? NAN : body.y[i];
        }
      }
      float burn_left = k->burn_steps - (float)step;
      MR_FOR_LANES(i) {
        MrVector heading = mr_into_frame(c[i], s[i], body.c[i], body.s[i]);
        float command = rudder * mr_turn_to(heading.ahead, heading.left, 1.0f);
        body.rudder[i] = mr_actuate(body.rudder[i], command, k->missile.rudder_step);
        mr_fly(k, &k->missile, k->dt, k->missile.thrust * mr_burning(k, burn_left), &body, i);
        spent[i] |= (body.v[i] < sim->params.missile_spent_speed) & (burn_left <= 1.0f);
      }
    }
    rudder *= MR_CONE_RATIO;
  }
}

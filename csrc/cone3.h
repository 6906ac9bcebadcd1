// SPDX-License-Identifier: MIT
//
// The threat cone of the space-time graph with height. RULES.md, "Space-time graph". cone.h has it in the plane.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <string.h>

#include "block.h"
#include "definitions.h"
#include "engagement.h"
#include "flight3.h"
#include "flyout.h"
#include "start.h"
#include "steps3.h"

// Sines of the climb angles at which missiles of the cone fly in the end.
static const float mr_cone_climbs[MR_CONE_CLIMBS] = {-0.5f, -0.2f, 0.0f, 0.2f, 0.5f};

#define MR_CONE_BEHIND 1e-3f  // sine of the angle below which a direction is straight behind

// Missiles of the cone: each lane turns to another heading.
typedef struct {
  MrMissileType type;  // of all lanes
  MrBody body;
  MR_ALIGNED float c[MR_LANES], s[MR_LANES];  // the headings
  MR_ALIGNED int32_t spent[MR_LANES];
} MrConeFlight;

// Launches missiles as a fighter in one lane flies: from the place below or above which the origin is, along +x.
static void mr_begin_cone(const MrSim *sim, const MrBody *from, int lane, MrConeFlight *out) {
  float offset = sim->params.missile_launch_offset;
  float climb = from->u[lane], level = sqrtf(mr_max(1.0f - climb * climb, 0.0f));
  memset(&out->body, 0, sizeof out->body);
  MR_EACH_LANE(i) {
    out->body.x[i] = offset * level;
    out->body.z[i] = from->z[lane] + offset * climb;
    out->body.c[i] = level;
    out->body.u[i] = climb;
    out->body.v[i] = from->v[lane];
    out->spent[i] = 0;
    mr_unit_vector(0.5 * i / (MR_LANES - 1), &out->c[i], &out->s[i]);
  }
}

// The lift of a missile [m/s^2] that turns the shortest way into its direction, with a share of its greatest lift, and
// carries its weight. It turns left into the direction that is straight behind it.
static inline MrVector3 mr_cone_lift(const MrConeFlight *flight, float gravity, float limit, float share, float climb,
                                     int i) {
  float ground = sqrtf(1.0f - climb * climb);
  MrVector3 d = MR_DIRECTION(&flight->body, i);
  MrVector3 to = {flight->c[i] * ground, flight->s[i] * ground, climb};
  float along = mr_dot(to, d);
  MrVector3 across = {to.x - along * d.x, to.y - along * d.y, to.z - along * d.z};
  float sine = sqrtf(mr_dot(across, across));  // of the angle that is left to turn
  int behind = (along < 0.0f) & (sine < MR_CONE_BEHIND);
  MrVector axis = mr_level_axis(d.x, d.y);
  across.x = mr_select(behind, -axis.left, across.x);
  across.y = mr_select(behind, axis.ahead, across.y);
  int near = (along > 0.0f) & (sine * MR_EVASION_STEERING < 1.0f);
  float pull = share * limit * mr_select(near, MR_EVASION_STEERING, 1.0f / mr_max(sine, MR_CONE_BEHIND));
  float weight = gravity * d.z;
  return (MrVector3){pull * across.x - weight * d.x, pull * across.y - weight * d.y,
                     pull * across.z - weight * d.z + gravity};
}

// Flies the missiles for the step that begins `step` steps after the launch. One is spent once it could not hit even a
// target on the ground.
static void mr_fly_cone_step(const MrSim *sim, int32_t step, float share, float climb, MrConeFlight *flight) {
  const MrMissileType *type = &flight->type;
  MrBody *body = &flight->body;
  float dt = sim->constants.dt, gravity = sim->types.gravity, age = (float)step;
  float thrust = mr_motor(type, type->burn_steps - age, type->motor_steps - age);
  MR_FOR_LANES(i) {
    MrAir air = mr_air(body->z[i]);
    float limit = mr_lift_limit(&type->frame, air.density, body->v[i] * body->v[i]);
    MrVector3 asked = mr_cone_lift(flight, gravity, limit, share, climb, i);
    MrForces forces = mr_missile_forces(type, gravity, body->z[i], MR_DIRECTION(body, i), body->v[i], asked, thrust);
    MR_MOVE(body, i, dt, gravity, forces);
    float speed2 = body->v[i] * body->v[i] + 2.0f * gravity * body->z[i];
    int slow = (speed2 < type->spent2) & (age + 1.0f >= type->motor_steps);
    flight->spent[i] |= slow | (age + 1.0f >= type->life_steps) | (body->z[i] < 0.0f);
  }
  mr_straighten_body(body);
}

// The threat cone: the positions that a missile which a fighter launches now can reach by any steering.
static void mr_fly_high_cone(const MrSim *sim, int32_t block, int lane, int32_t fighter, int32_t interval,
                             int32_t count, MrHighCone *cones) {
  const MrBlock *b = mr_block(sim, block);
  const MrFighter *launcher = &b->fighters[fighter];
  int32_t kind = mr_first_kind_left(sim, launcher, lane);
  MrConeFlight flight;
  flight.type = mr_missile_type_at(mr_roster(sim, b), fighter, kind, lane);
  for (int32_t climb = 0; climb < MR_CONE_CLIMBS; climb++) {
    float share = 1.0f;
    for (int32_t turn = 0; turn < MR_CONE_SHARES; turn++) {
      mr_begin_cone(sim, &launcher->body, lane, &flight);
      for (int32_t step = 0; step < interval * count; step++) {
        if (step % interval == 0) {
          float (*points)[3] = cones[step / interval].points[climb][turn];
          MR_EACH_LANE(i) {
            points[i][0] = flight.spent[i] ? NAN : flight.body.x[i];
            points[i][1] = flight.spent[i] ? NAN : flight.body.y[i];
            points[i][2] = flight.spent[i] ? NAN : flight.body.z[i];
          }
        }
        mr_fly_cone_step(sim, step, share, mr_cone_climbs[climb], &flight);
      }
      share *= MR_CONE_RATIO * MR_CONE_RATIO;
    }
  }
}

// SPDX-License-Identifier: MIT
//
// Fly-outs: does a shot hit a target that evades in a given way? Each lane flies one shot, by the physics steps of
// every engagement. RULES.md, "Fly-outs".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <string.h>

#include "definitions.h"
#include "engagement.h"
#include "evasion.h"
#include "frame.h"
#include "physics.h"

// A target must be this many hit radii ahead of the missile to count as outrunning it. A nearer target may still turn.
#define MR_OUTRUN_RADII 5.0f

enum { MR_SHOOTER, MR_TARGET };

static void mr_place_body(MrBody *body, int lane, float x, float c, float s, float v) {
  body->x[lane] = x;
  body->c[lane] = c;
  body->s[lane] = s;
  body->v[lane] = v;
}

// Puts a shot into a lane of an empty block and launches its missile.
static void mr_place_shot(const struct MrSim *sim, const MrShot *shot, MrBlock *b, MrEvaders *evaders,
                          int lane) {
  MrFighter *shooter = &b->fighters[MR_SHOOTER], *target = &b->fighters[MR_TARGET];
  // The line from the target to the shooter points along -x.
  mr_place_body(&shooter->body, lane, 0.0f, shot->nose_x, shot->nose_y, shot->launch_speed);
  mr_place_body(&target->body, lane, shot->range, -shot->aspect_x, -shot->aspect_y, shot->target_speed);
  target->throttle[lane] = mr_cruise_throttle(&sim->constants, shot->target_speed);
  shooter->alive[lane] = target->alive[lane] = 1;
  shooter->ammunition[lane] = 1;
  mr_launch_one(sim, b, NULL, MR_SHOOTER, lane);

  const MrEvasion *evasion = &mr_evasions()[shot->evasion];
  evaders->side[lane] = evasion->side;
  evaders->time_to_go[lane] = evasion->time_to_go;
  evaders->beams[lane] = evasion->beams;
}

// Ends fly-outs whose missile is burnt out and slower than a target that runs straight away: the range can then only
// grow. To be safe, the missile must be 5 % slower, and the target's nose within 14 degrees (cosine 0.97) of the line
// away from the missile, with almost no rudder.
static void mr_give_up_outrun(const struct MrSim *sim, const MrIntercept *intercept, const MrEvaders *evaders,
                              MrBlock *b) {
  const MrConstants *k = &sim->constants;
  const MrBody *target = &b->fighters[MR_TARGET].body;
  MrMissile *m = &b->missiles[0];
  float near = MR_OUTRUN_RADII * sim->params.missile_hit_radius;
  MR_FOR_LANES(i) {
    float ahead = -mr_into_frame(intercept->x[i], intercept->y[i], target->c[i], target->s[i]).ahead;  // of the missile
    float speed = target->v[i] < k->run_speed ? target->v[i] : k->run_speed;
    int runs = !evaders->beams[i] & (ahead > 0.97f * intercept->range[i]) & (fabsf(target->rudder[i]) < 0.1f);
    int slower = ((float)m->age[i] >= k->burn_steps) & (m->body.v[i] < 0.95f * speed);
    m->active[i] &= !(runs & slower & (ahead > near));
  }
  b->live[0] = mr_count(m->active);
}

// Flies up to MR_LANES shots until each missile has hit or is gone. A lane whose shot has ended is flown on idly.
static void mr_fly_out_block(const struct MrSim *sim, const MrShot *shots, int32_t count, bool *hits) {
  MrBlock b;
  MrEvaders evaders;
  MrIntercept intercept;
  memset(&b, 0, sizeof b);
  memset(&evaders, 0, sizeof evaders);
  for (int lane = 0; lane < count; lane++) mr_place_shot(sim, &shots[lane], &b, &evaders, lane);
  int32_t last = mr_steps_of(&sim->params, MR_FLY_OUT_TIME);
  while (b.live[0] && b.time[0] < last) {
    mr_intercept(&b, 0, &intercept);
    mr_give_up_outrun(sim, &intercept, &evaders, &b);
    mr_evade(&sim->constants, &intercept, &evaders, &b.fighters[MR_TARGET]);
    mr_fly_steps(sim, &b, NULL, 1);
  }
  for (int lane = 0; lane < count; lane++) hits[lane] = !b.fighters[MR_TARGET].alive[lane];
}

// SPDX-License-Identifier: MIT
//
// The space-time graph: flies one engagement ahead, with another manoeuvre of one fighter in each lane, by the physics
// steps of every engagement; and the threat cone. RULES.md, "Space-time graph".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "definitions.h"
#include "engagement.h"
#include "flyout.h"
#include "guidance.h"
#include "physics.h"
#include "sight.h"
#include "start.h"

// Notes of the look-ahead on one slot's missiles.
typedef struct {
  MrLineOfSight los[2];                  // [step & 1]: before the step; the other one: after it
  MR_ALIGNED int32_t present[MR_LANES];  // 1 if the slot had a missile at the beginning
  MR_ALIGNED int32_t flying[MR_LANES];   // 1 while that missile flies
  MR_ALIGNED float miss2[MR_LANES];      // least distance to the target so far, squared [m^2]
  MR_ALIGNED int32_t closed[MR_LANES];   // time at the end of the last step in which the range shrank
  MR_ALIGNED int32_t hits[MR_LANES];     // 1 once it has hit
  MR_ALIGNED int32_t ended[MR_LANES];    // time of its end, -1 before
} MrApproach;

_Static_assert(offsetof(MrBlock, live) % (4 * MR_LANES) == 0, "all fields before `live` are arrays [lane] of 4 bytes");

// Copies one lane of a block into all lanes of another.
static void mr_spread_lane(const MrBlock *from, int lane, MrBlock *to) {
  const char *source = (const char *)from + 4 * lane;
  char *target = (char *)to;
  for (size_t at = 0; at < offsetof(MrBlock, live); at += 4 * MR_LANES) {
    MR_EACH_LANE(i) memcpy(target + at + 4 * (size_t)i, source + at, 4);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) to->live[slot] = mr_count(to->missiles[slot].active);
}

// Prepares the lanes that MR_AHEAD_… names: their throttle and their missiles.
static void mr_plan(const MrSim *sim, MrBlock *b, int32_t seat) {
  for (int lane = MR_AHEAD_ESCAPES; lane < MR_AHEAD_LANES; lane++) {
    b->fighters[seat].throttle_command[lane] = 1.0f;
    if (lane < MR_AHEAD_THREATENED) continue;
    mr_clear_missiles(b, lane);
    mr_launch_one(sim, b, NULL, mr_opponent(seat), lane);
  }
}

// Steers the lanes of escapes away from the enemy. Odd lanes turn left, even lanes right.
static void mr_escape(MrBlock *b, int32_t seat) {
  MrFighter *f = &b->fighters[seat];
  MrSight sights[MR_FIGHTERS];
  const MrSight *sight = &sights[seat];
  mr_look(b, sights);
  MR_FOR_LANES(i) {
    float rudder = mr_turn_to(-sight->ahead[i], -sight->left[i], i % 2 ? 1.0f : -1.0f);
    f->rudder_command[i] = mr_select(i == MR_AHEAD_HELD, f->rudder_command[i], rudder);
  }
}

// The lines of sight of one slot's missiles.
static void mr_find_targets(const MrBlock *b, int32_t slot, MrLineOfSight *los) {
  MrIntercept intercept;
  mr_intercept(b, slot, &intercept);
  MR_FOR_LANES(i) {
    los->x[i] = -intercept.x[i];
    los->y[i] = -intercept.y[i];
    los->range2[i] = intercept.x[i] * intercept.x[i] + intercept.y[i] * intercept.y[i];
  }
}

static void mr_begin_approach(const MrBlock *b, int32_t slot, MrApproach *out) {
  const MrMissile *m = &b->missiles[slot];
  mr_find_targets(b, slot, &out->los[0]);
  MR_FOR_LANES(i) {
    out->present[i] = out->flying[i] = m->active[i];
    out->miss2[i] = out->los[0].range2[i];
    out->closed[i] = out->hits[i] = 0;
    out->ended[i] = -1;
  }
}

// Updates the notes on one slot's missiles after a step has been flown. `step` counts from 0.
static void mr_follow_approach(const MrSim *sim, const MrBlock *b, int32_t slot, int32_t step, MrApproach *a) {
  const MrMissile *m = &b->missiles[slot];
  const MrLineOfSight *from = &a->los[step & 1];
  MrLineOfSight *to = &a->los[~step & 1];
  float radius = sim->params.missile_hit_radius;
  MR_ALIGNED int32_t end[MR_LANES];
  mr_find_targets(b, slot, to);
  MR_FOR_LANES(i) end[i] = mr_select_int(from->range2[i] < radius * radius, 0, MR_NEVER);
  mr_fuze(radius, 0, from, to, end);
  MR_FOR_LANES(i) {
    float dx = to->x[i] - from->x[i], dy = to->y[i] - from->y[i];
    float along = -(from->x[i] * dx + from->y[i] * dy);
    float part = mr_clip(along / mr_max(dx * dx + dy * dy, 1e-12f), 0.0f, 1.0f);
    float x = from->x[i] + part * dx, y = from->y[i] + part * dy;
    float miss2 = x * x + y * y;
    int flew = a->flying[i], ends = flew & !m->active[i];
    a->miss2[i] = mr_select(flew & (miss2 < a->miss2[i]), miss2, a->miss2[i]);
    a->closed[i] = mr_select_int(flew & (to->range2[i] < from->range2[i]), step + 1, a->closed[i]);
    a->hits[i] |= ends & (end[i] == 0);
    a->ended[i] = mr_select_int(ends, step + 1, a->ended[i]);
    a->flying[i] = flew & m->active[i];
  }
}

// Sums up the predictions of one slot. A missile that still burns or still came nearer in the last step is undecided:
// it may yet hit, so it does not count as harmless.
static void mr_sum_up(const MrSim *sim, const MrMissile *m, int32_t steps, const MrApproach *a,
                      MrPrediction out[MR_LANES]) {
  MR_EACH_LANE(i) {
    bool burns = (float)m->age[i] < sim->constants.burn_steps;
    bool undecided = a->flying[i] && (burns || a->closed[i] == steps);
    out[i] = (MrPrediction){
        .present = a->present[i],
        .hits = a->hits[i],
        .ended = a->ended[i],
        .harmless = !a->present[i] || a->hits[i] || undecided ? -1 : a->closed[i],
        .miss = a->hits[i] ? 0.0f : sqrtf(a->miss2[i]),
    };
  }
}

static void mr_note_moment(const MrBlock *b, int32_t seat, MrMoment *out) {
  const MrBody *own = &b->fighters[seat].body;
  MR_EACH_LANE(i) {
    out->own[i][0] = own->x[i];
    out->own[i][1] = own->y[i];
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      out->missiles[slot][i][0] = m->active[i] ? m->body.x[i] : NAN;
      out->missiles[slot][i][1] = m->active[i] ? m->body.y[i] : NAN;
    }
  }
}

// Flies one lane of a block ahead, with the manoeuvres of MR_AHEAD_… in the lanes of a copy.
static void mr_look_ahead_lane(const MrSim *sim, int32_t block, int lane, int32_t seat, int32_t interval, int32_t count,
                               MrMoment *moments, MrPrediction *predictions) {
  MrBlock b;
  MrApproach approaches[MR_MISSILES];
  mr_spread_lane(mr_block(sim, block), lane, &b);
  mr_plan(sim, &b, seat);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) mr_begin_approach(&b, slot, &approaches[slot]);

  int32_t steps = (count - 1) * interval;
  mr_note_moment(&b, seat, &moments[0]);
  for (int32_t step = 0; step < steps; step++) {
    bool flies[MR_MISSILES];
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) flies[slot] = b.live[slot] > 0;
    mr_escape(&b, seat);
    mr_fly_block(sim, &b, NULL, 1, MR_NOTHING_AHEAD);
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      if (flies[slot]) mr_follow_approach(sim, &b, slot, step, &approaches[slot]);
    }
    if ((step + 1) % interval == 0) mr_note_moment(&b, seat, &moments[(step + 1) / interval]);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    mr_sum_up(sim, &b.missiles[slot], steps, &approaches[slot], predictions + slot * MR_LANES);
  }
}

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

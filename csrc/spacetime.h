// SPDX-License-Identifier: MIT
//
// What will be, if: one engagement flown ahead with several manoeuvres of one fighter side by side, each a
// lane, by the same steps as ever. RULES.md, "Space-time graph".
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

#include <stddef.h>
#include <string.h>

#include "engagement.h"
#include "evasion.h"
#include "physics.h"
#include "sense.h"
#include "start.h"

// One slot's missiles on their way to their targets.
typedef struct {
  MrLineOfSight los[2];                    // before the present step and after it, by turns
  MR_ALIGNED int32_t present[MR_LANES];    // 0 or 1: was there at the beginning
  MR_ALIGNED int32_t flying[MR_LANES];
  MR_ALIGNED float miss2[MR_LANES];        // least distance yet, squared
  MR_ALIGNED int32_t closed[MR_LANES];     // end of the last step in which it came nearer
  MR_ALIGNED int32_t hits[MR_LANES], ended[MR_LANES];
} MrApproach;

_Static_assert(offsetof(MrBlock, live) % (4 * MR_LANES) == 0, "before it are arrays [lane] of four bytes each");

// Copies one lane of a block into all lanes of another.
static void mr_spread_lane(const MrBlock *from, int lane, MrBlock *to) {
  const char *source = (const char *)from + 4 * lane;
  char *target = (char *)to;
  for (size_t at = 0; at < offsetof(MrBlock, live); at += 4 * MR_LANES) {
    MR_EACH_LANE(i) memcpy(target + at + 4 * (size_t)i, source + at, 4);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) to->live[slot] = mr_count(to->missiles[slot].active);
}

// Gives the lanes their throttle and missiles: MR_AHEAD_….
static void mr_plan(const struct MrSim *sim, MrBlock *b, int32_t seat) {
  for (int lane = MR_AHEAD_ESCAPES; lane < MR_AHEAD_LANES; lane++) {
    b->fighters[seat].throttle_command[lane] = 1.0f;
    if (lane < MR_AHEAD_THREATENED) continue;
    mr_clear_missiles(b, lane);
    mr_launch_one(sim, b, mr_opponent(seat), lane);
  }
}

// Steers the escapes, to the left in odd lanes.
static void mr_escape(MrBlock *b, int32_t seat) {
  MrFighter *f = &b->fighters[seat];
  MrSight sight;
  mr_look(b, seat, &sight);
  MR_FOR_LANES(i) {
    float rudder = mr_turn_to(-sight.ahead[i], -sight.left[i], i % 2 ? 1.0f : -1.0f);
    f->rudder_command[i] = mr_select(i == MR_AHEAD_HELD, f->rudder_command[i], rudder);
  }
}

// Where the missiles of a slot have their targets.
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

// Takes note of the step just flown, the number `step` of all.
static void mr_follow_approach(const struct MrSim *sim, const MrBlock *b, int32_t slot, int32_t step,
                               MrApproach *a) {
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

// Of a missile that burns or still closes in at the end nobody knows that it is harmless.
static void mr_sum_up(const struct MrSim *sim, const MrMissile *m, int32_t steps, const MrApproach *a,
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

static void mr_look_ahead_lane(const struct MrSim *sim, const MrBlock *now, int lane, int32_t seat,
                               int32_t interval, int32_t count, MrMoment *moments,
                               MrPrediction *predictions) {
  MrBlock b;
  MrApproach approaches[MR_MISSILES];
  mr_spread_lane(now, lane, &b);
  mr_plan(sim, &b, seat);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) mr_begin_approach(&b, slot, &approaches[slot]);

  int32_t steps = (count - 1) * interval;
  mr_note_moment(&b, seat, &moments[0]);
  for (int32_t step = 0; step < steps; step++) {
    bool flies[MR_MISSILES];
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) flies[slot] = b.live[slot] > 0;
    mr_escape(&b, seat);
    mr_fly_steps(sim, &b, 1);
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      if (flies[slot]) mr_follow_approach(sim, &b, slot, step, &approaches[slot]);
    }
    if ((step + 1) % interval == 0) mr_note_moment(&b, seat, &moments[(step + 1) / interval]);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    mr_sum_up(sim, &b.missiles[slot], steps, &approaches[slot], predictions + slot * MR_LANES);
  }
}

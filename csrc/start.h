// SPDX-License-Identifier: MIT
//
// How an engagement starts: random geometry and pilots, the same distribution for both seats.
// RULES.md, "Start".

#pragma once

#include <string.h>

#include "block.h"
#include "rng.h"
#include "tactics.h"
#include "trig.h"

// The pilot whose share of [0, 1) holds u.
static inline int32_t mr_draw_pilot(const float ends[MR_PILOT_COUNT], float u) {
  int32_t pilot = 0;
  while (pilot < MR_PILOT_COUNT - 1 && u >= ends[pilot]) pilot++;
  return pilot;
}

// Zeroes one lane of an array.
#define MR_CLEAR(array, lane) memset(&(array)[lane], 0, sizeof((array)[lane]))

static inline void mr_clear_body(MrBody *body, int lane) {
  MR_CLEAR(body->x, lane);
  MR_CLEAR(body->y, lane);
  MR_CLEAR(body->s, lane);
  MR_CLEAR(body->v, lane);
  MR_CLEAR(body->rudder, lane);
  body->c[lane] = 1.0f;
}

static void mr_clear_missiles(MrBlock *b, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrMissile *m = &b->missiles[slot];
    b->live[slot] -= m->active[lane];
    mr_clear_body(&m->body, lane);
    MR_CLEAR(m->active, lane);
    MR_CLEAR(m->owner, lane);
    MR_CLEAR(m->target, lane);
    MR_CLEAR(m->age, lane);
  }
}

// Places one fighter, as it is at the start of an episode.
static void mr_place(const MrParams *p, MrFighter *f, int lane, float x, float y,
                     double heading_turns, float speed) {
  mr_clear_body(&f->body, lane);
  f->body.x[lane] = x;
  f->body.y[lane] = y;
  mr_unit_vector(heading_turns, &f->body.c[lane], &f->body.s[lane]);
  f->body.v[lane] = speed;
  f->throttle[lane] = 1.0f;
  f->throttle_command[lane] = 1.0f;
  MR_CLEAR(f->rudder_command, lane);
  MR_CLEAR(f->fire, lane);
  MR_CLEAR(f->ready, lane);
  MR_CLEAR(f->launched, lane);
  MR_CLEAR(f->shots, lane);
  MR_CLEAR(f->hits, lane);
  MR_CLEAR(f->shots_in_nez, lane);
  MR_CLEAR(f->shots_wasted, lane);
  MR_CLEAR(f->launch_range, lane);
  f->alive[lane] = 1;
  f->ammunition[lane] = p->ammunition;
}

// Starts the lane's present episode from the random numbers keyed by it.
static void mr_start(const struct MrSim *sim, MrBlock *b, int lane) {
  const MrParams *p = &sim->params;
  uint32_t engagement = (uint32_t)b->engagement[lane], episode = (uint32_t)b->episode[lane];
  float place[4], noses[4], pilots[4], tactics[4];
  mr_uniform4(sim->seed, engagement, episode, 0, place);
  mr_uniform4(sim->seed, engagement, episode, 1, noses);
  mr_uniform4(sim->seed, engagement, episode, 2, pilots);
  mr_uniform4(sim->seed, engagement, episode, 3, tactics);

  float range = p->start_range_min + (p->start_range_max - p->start_range_min) * place[0];
  double bearing = (double)place[1];  // of blue from red, in turns
  float dx, dy;
  mr_unit_vector(bearing, &dx, &dy);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    int blue = f & 1;
    float along = (blue ? 0.5f : -0.5f) * range;
    double off = (2.0 * (double)noses[f] - 1.0) * (double)p->start_off_boresight_max_deg / 360.0;
    float speed = p->start_speed_min + (p->start_speed_max - p->start_speed_min) * noses[2 + f];
    mr_place(p, fighter, lane, along * dx, along * dy, bearing + (blue ? 0.5 : 0.0) + off, speed);
    fighter->pilot[lane] = mr_draw_pilot(sim->pilot_ends[f], pilots[f]);
    mr_brief(p, (MrPilot)fighter->pilot[lane], pilots[2 + f], tactics[f], &fighter->tactics, lane);
  }
  mr_clear_missiles(b, lane);
  b->time[lane] = 0;
  b->decisions[lane] = 0;
  b->outcome[lane] = MR_OPEN;
  b->truncated[lane] = 0;
  b->potential[lane] = 0.0f;
  b->episode_return[lane] = 0.0f;
}

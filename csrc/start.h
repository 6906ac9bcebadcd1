// SPDX-License-Identifier: MIT
//
// The start of an episode: its random geometry, pilots and tactics. The geometry has the same distribution for both
// seats. RULES.md, "Start".
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"
#include "rng.h"
#include "tactics.h"
#include "trig.h"

// The pilot in whose share of [0, 1) u lies. `ends` are the upper ends of the shares.
static inline int32_t mr_draw_pilot(const float ends[MR_PILOT_COUNT], float u) {
  int32_t pilot = 0;
  while (pilot < MR_PILOT_COUNT - 1 && u >= ends[pilot]) pilot++;
  return pilot;
}

// Sets a field of one lane to its value at the start of an episode, from state_fields.h.
#define MR_START_FIELD(type, name, start, ...) to->name[lane] = start;

static inline void mr_start_engagement(MrBlock *to, int lane) { MR_ENGAGEMENT_FIELDS(MR_START_FIELD) }
static inline void mr_start_body(MrBody *to, int lane) { MR_BODY_FIELDS(MR_START_FIELD) }
static inline void mr_start_tactics(MrTactics *to, int lane) { MR_TACTICS_FIELDS(MR_START_FIELD) }

static void mr_start_fighter(MrFighter *to, int lane) {
  mr_start_body(&to->body, lane);
  mr_start_tactics(&to->tactics, lane);
  MR_FIGHTER_FIELDS(MR_START_FIELD)
}

static void mr_start_missile(MrMissile *to, int lane) {
  mr_start_body(&to->body, lane);
  MR_MISSILE_FIELDS(MR_START_FIELD)
}

static void mr_clear_missiles(MrBlock *b, int lane) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    b->live[slot] -= b->missiles[slot].active[lane];
    mr_start_missile(&b->missiles[slot], lane);
  }
}

static void mr_start_picture(MrPicture *picture, int lane) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrContact *to = &picture->contacts[f];
    mr_start_body(&to->body, lane);
    MR_CONTACT_FIELDS(MR_START_FIELD)
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrBelief *to = &picture->beliefs[slot];
    MR_BELIEF_FIELDS(MR_START_FIELD)
  }
}

// Starts the episode whose engagement and episode number the lane already has. The random numbers are keyed by them.
static void mr_start(const struct MrSim *sim, MrBlock *b, int lane) {
  const MrParams *p = &sim->params;
  uint32_t engagement = (uint32_t)b->engagement[lane], episode = (uint32_t)b->episode[lane];
  float place[4], noses[4], pilots[4], tactics[4];
  mr_uniform4(sim->seed, engagement, episode, 0, place);
  mr_uniform4(sim->seed, engagement, episode, 1, noses);
  mr_uniform4(sim->seed, engagement, episode, 2, pilots);
  mr_uniform4(sim->seed, engagement, episode, 3, tactics);

  mr_start_engagement(b, lane);
  float range = p->start_range_min + (p->start_range_max - p->start_range_min) * place[0];
  double bearing = (double)place[1];  // direction from red to blue [turns]
  float dx, dy;
  mr_unit_vector(bearing, &dx, &dy);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrFighter *fighter = &b->fighters[f];
    int blue = f & 1;
    float along = (blue ? 0.5f : -0.5f) * range;
    double off = (2.0 * (double)noses[f] - 1.0) * (double)p->start_off_boresight_max_deg / 360.0;
    float speed = p->start_speed_min + (p->start_speed_max - p->start_speed_min) * noses[2 + f];
    mr_start_fighter(fighter, lane);
    fighter->body.x[lane] = along * dx;
    fighter->body.y[lane] = along * dy;
    mr_unit_vector(bearing + (blue ? 0.5 : 0.0) + off, &fighter->body.c[lane], &fighter->body.s[lane]);
    fighter->body.v[lane] = speed;
    fighter->ammunition[lane] = p->ammunition;
    fighter->pilot[lane] = mr_draw_pilot(sim->pilot_ends[f], pilots[f]);
    mr_assign_tactics(p, (MrPilot)fighter->pilot[lane], pilots[2 + f], tactics[f], &fighter->tactics, lane);
  }
  mr_clear_missiles(b, lane);
}

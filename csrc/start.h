// SPDX-License-Identifier: MIT
//
// The start of an episode: its random geometry, pilots and tactics. The geometry has the same distribution for both
// sides. RULES.md, "Start".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "mission.h"
#include "rng.h"
#include "systems.h"
#include "tactics.h"

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

static void mr_start_picture(const MrSim *sim, const MrRoster *roster, MrPicture *picture, int lane) {
  for (int32_t place = 0; place < MR_CONTACTS; place++) {
    MrContact *to = &picture->contacts[place];
    mr_start_body(&to->body, lane);
    MR_CONTACT_FIELDS(MR_START_FIELD)
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrBelief *to = &picture->beliefs[slot];
    MR_BELIEF_FIELDS(MR_START_FIELD)
  }
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrSystems *to = &picture->systems[f];
    MR_SYSTEMS_FIELDS(MR_START_FIELD)
    if (f < mr_fighters(sim)) to->chaff[lane] = mr_chaff_carried(sim, roster, f, lane);
  }
}

// Moves a fighter that starts at its side's place into the line of its side: abreast, its first on the left. `share` of
// [0, 1) draws the distance between neighbours. A transport is not in the line.
static void mr_line_up(const MrSim *sim, const MrBlock *b, int32_t f, float share, MrBody *body, int lane) {
  const MrParams *p = &sim->params;
  int32_t side = mr_side(sim, f), count = mr_size(sim, side);
  if (mr_is_transport(sim, b, mr_transport_of(sim, side), lane)) count--;
  float spacing = p->start_spacing_min + (p->start_spacing_max - p->start_spacing_min) * share;
  float middle = 0.5f * (float)(count - 1);
  float left = spacing * (middle - (float)(f - mr_first(sim, side)));
  body->x[lane] -= left * body->s[lane];
  body->y[lane] += left * body->c[lane];
}

#if MR_DIMENSIONS == 3
// The number of the draw of heights, beyond those of the fighters' tactics.
#define MR_DRAW_HEIGHTS 0x100u

// Puts the fighters at their heights: the mean of the sides, half their difference, and what a pilot flies at.
static void mr_draw_heights(const MrSim *sim, MrBlock *b, int lane) {
  const MrParams *p = &sim->params;
  float u[4];
  mr_uniform4(sim->seed, (uint32_t)b->engagement[lane], (uint32_t)b->episode[lane], MR_DRAW_HEIGHTS, u);
  float mean = p->start_height_min + (p->start_height_max - p->start_height_min) * u[0];
  float half = p->start_height_difference_max * (u[1] - 0.5f);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    int32_t side = mr_side(sim, f);
    b->fighters[f].body.z[lane] = side ? mean - half : mean + half;
    float height = p->pilot_height_min + (p->pilot_height_max - p->pilot_height_min) * u[2 + side];
    bool notches = b->fighters[f].pilot[lane] == MR_PILOT_notcher;
    bool is_transport = b->fighters[f].pilot[lane] == MR_PILOT_transport;
    if (is_transport) height = b->fighters[f].body.z[lane];
    b->fighters[f].tactics.height[lane] = notches ? p->notcher_height : height;
  }
}
#endif

// The first draw for the missiles left at which `patient` attacks. The fighter at place k of its side takes the k-th
// draw after it.
#define MR_DRAW_COUNTS 0x300u

// Draws a fighter's pilot and tactics. `pilots` are the random numbers that all fighters of a side share; the first
// fighter takes one of them for its tactics, too.
static void mr_draw_fighter(const MrSim *sim, const MrBlock *b, int32_t f, const float pilots[4], int lane,
                            MrFighter *fighter) {
  uint32_t engagement = (uint32_t)b->engagement[lane], episode = (uint32_t)b->episode[lane];
  int32_t side = mr_side(sim, f), index = f - mr_first(sim, side);
  float tactics[4], counts[4];
  mr_uniform4(sim->seed, engagement, episode, 3 + (uint32_t)index, tactics);
  mr_uniform4(sim->seed, engagement, episode, MR_DRAW_COUNTS + (uint32_t)index, counts);
  float turn = index ? tactics[2 + side] : pilots[2 + side], fire = tactics[side];
  fighter->pilot[lane] = mr_draw_share(sim->pilot_ends[f], MR_PILOT_COUNT, pilots[side]);
  if (mr_is_transport(sim, b, f, lane)) fighter->pilot[lane] = MR_PILOT_transport;
  mr_assign_tactics(&sim->params, (MrPilot)fighter->pilot[lane], turn, fire, counts[side], &fighter->tactics, lane);
}

// Starts the episode whose engagement and episode number the lane already has. The random numbers are keyed by them.
static void mr_start(const MrSim *sim, MrBlock *b, int lane) {
  const MrParams *p = &sim->params;
  uint32_t engagement = (uint32_t)b->engagement[lane], episode = (uint32_t)b->episode[lane];
  float place[4], noses[4], pilots[4];
  mr_uniform4(sim->seed, engagement, episode, 0, place);
  mr_uniform4(sim->seed, engagement, episode, 1, noses);
  mr_uniform4(sim->seed, engagement, episode, 2, pilots);

  mr_start_engagement(b, lane);
  float range = p->start_range_min + (p->start_range_max - p->start_range_min) * place[0];
  double bearing = (double)place[1];  // direction from red to blue [turns]
  float dx, dy;
  mr_unit_vector(bearing, &dx, &dy);
  if (mr_has_mission(sim)) mr_lay_line(sim, b, range, dx, dy, lane);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MrFighter *fighter = &b->fighters[f];
    int32_t side = mr_side(sim, f);
    int blue = side == 1;
    float along = (blue ? 0.5f : -0.5f) * range;
    double off = (2.0 * (double)noses[side] - 1.0) * (double)p->start_off_boresight_max_deg / 360.0;
    float speed = p->start_speed_min + (p->start_speed_max - p->start_speed_min) * noses[2 + side];
    mr_start_fighter(fighter, lane);
    fighter->body.x[lane] = along * dx;
    fighter->body.y[lane] = along * dy;
    mr_unit_vector(bearing + (blue ? 0.5 : 0.0) + off, &fighter->body.c[lane], &fighter->body.s[lane]);
    if (MR_SIDE > 1 && !mr_is_transport(sim, b, f, lane)) {
      mr_line_up(sim, b, f, place[2 + side], &fighter->body, lane);
    }
    fighter->body.v[lane] = speed;
    fighter->ammunition[lane] = mr_full_load(sim, side);
#if MR_DIMENSIONS == 3
    fighter->ammunition_2[lane] = mr_load(sim, side, 1);
    fighter->ammunition_3[lane] = mr_load(sim, side, 2);
#endif
    if (mr_is_transport(sim, b, f, lane)) mr_start_transport(sim, b, fighter, lane);
    mr_draw_fighter(sim, b, f, pilots, lane, fighter);
#if MR_SIDE > 1
    fighter->target[lane] = mr_first(sim, !side);
#endif
  }
#if MR_DIMENSIONS == 3
  mr_draw_heights(sim, b, lane);
#endif
  mr_clear_missiles(b, lane);
}

// SPDX-License-Identifier: MIT
//
// What scripted pilots know of missiles and radars before they decide: the missile to evade, their own missiles in the
// air, and the radar that presses most. RULES.md, "Pilots" and "Sensors".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "picture.h"
#include "receiver.h"
#include "sight.h"

// The inbound missile that a pilot evades: of those that threaten it, the one with the least time to go. Also the
// pilot's own missiles.
typedef struct {
  MR_ALIGNED int32_t present[MR_LANES];              // 1 if there is a missile to evade
  MR_ALIGNED float time_to_go[MR_LANES];             // of that missile [s]; not set with sensors
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];  // the course that evades it, a unit vector in the own frame
  MR_ALIGNED int32_t own_in_air[MR_LANES];           // number of its missiles in the air
  MR_ALIGNED int32_t needs_support[MR_LANES];        // 1 if, with sensors, one of these has no lock yet
} MrThreat;

// The missiles and radars that the pilots of a block know of before they decide, for each fighter [fighter][lane]. The
// pilots of a side read the entries of its own fighters. Of the enemy's fighters they read `menaces`, and `in_air`: the
// missiles of their own side that fly at them.
typedef struct {
  MrThreat threats[MR_FIGHTERS];  // set for the fighters that fighting pilots fly
  MrHeard heard[MR_FIGHTERS];     // the radar that presses most; set with sensors
#if MR_SIDE > 1
  MR_ALIGNED int32_t in_air[MR_FIGHTERS][MR_LANES];  // missiles that fly at each fighter
  // 1 if a fighter menaces the other side: one of its missiles is in the air, or with sensors a receiver of the other
  // side hears that its radar tracks.
  MR_ALIGNED int32_t menaces[MR_FIGHTERS][MR_LANES];
#endif
} MrAwareness;

// Threats ------------------------------------------------------------------------------------------------

static void mr_no_threat(MrThreat *out) {
  MR_FOR_LANES(i) {
    out->present[i] = 0;
    out->time_to_go[i] = MR_TIME_TO_GO_MAX;
    out->ahead[i] = -1.0f;
    out->left[i] = 0.0f;
    out->own_in_air[i] = 0;
    out->needs_support[i] = 0;
  }
}

// The cosine of the angle off a fighter's nose at which a missile is, whose bearing in the own frame is `ahead`: in the
// plane they are the same.
static inline float mr_nose_cosine(const MrBody *own, const MrBody *missile, float ahead, float range, int i) {
#if MR_DIMENSIONS == 3
  float sine = own->u[i], up = (missile->z[i] - own->z[i]) / mr_max(range, 1.0f);
  return ahead * sqrtf(mr_max(1.0f - sine * sine, 0.0f)) + up * sine;
#else
  (void)own, (void)missile, (void)range, (void)i;
  return ahead;
#endif
}

// 1 if a pilot heeds a missile in lane i. A prudent pilot ignores a missile that would fall short by more than its
// guard. `ahead` is the missile's bearing in the own frame.
static inline int mr_heeds(const MrSim *sim, const MrRoster *roster, const MrMissile *m, const MrFighter *own,
                           int32_t enemy_side, int32_t kind, float range, float ahead, int i) {
  const MrTactics *t = &own->tactics;
  float height = 0.5f * (mr_height(&m->body, i) + mr_height(&own->body, i));
  float run_speed = mr_run_speed(sim, &own->body, i);
  float run_down =
      mr_chase_reach(sim, roster, enemy_side, kind, m->body.v[i], (float)m->age[i], run_speed, height, i) - range;
  float cosine = mr_nose_cosine(&own->body, &m->body, ahead, range, i);
  int reaches = run_down + t->guard[i] * 0.5f * (1.0f + cosine) > 0.0f;
  return reaches | !t->prudent[i];
}

// Counts a fighter's own missiles in the air and, with sensors, finds whether one of them has no lock.
static inline void mr_count_own(const MrBlock *b, const MrPicture *picture, int32_t fighter, MrThreat *out) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_LANES(i) out->own_in_air[i] += m->active[i] & (m->owner[i] == fighter);
    if (!picture) continue;
    const int32_t *locked = picture->beliefs[slot].locked;
    MR_FOR_LANES(i) out->needs_support[i] |= m->active[i] & (m->owner[i] == fighter) & !locked[i];
  }
}

#if MR_SIDE == 1

// Takes into account the missiles of a slot that threaten a fighter, in all lanes at once. `intercept` is to their
// targets. In teams, where few lanes of a slot have a missile, this would cost 5 % of a decision: they have mr_heed
// below.
static inline void mr_heed(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrMissile *m,
                           const MrIntercept *intercept, MrThreat *out) {
  const MrBody *own = &b->fighters[fighter].body;
  const MrTactics *t = &b->fighters[fighter].tactics;
  MR_ALIGNED int32_t threatens[MR_LANES], doubtful[MR_LANES];
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
  MR_FOR_LANES(i) {
    threatens[i] = (m->active[i] != 0) & (m->target[i] == fighter) & (intercept->time_to_go[i] < t->cold_time[i]) &
                   (intercept->time_to_go[i] < out->time_to_go[i]);
    doubtful[i] = threatens[i] & t->prudent[i];
  }
  if (mr_count(threatens) == 0) return;
  MR_FOR_LANES(i) {
    float inverse = 1.0f / (intercept->range[i] > 1.0f ? intercept->range[i] : 1.0f);
    MrVector place = mr_into_own(own, intercept->x[i], intercept->y[i], i);
    ahead[i] = place.ahead * inverse;
    left[i] = place.left * inverse;
  }
  if (mr_count(doubtful)) {
    const MrFighter *f = &b->fighters[fighter];
    const MrRoster *roster = mr_roster(sim, b);
    int32_t enemy_side = !mr_side(sim, fighter);
    const float *range = intercept->range;
    if (mr_kinds(sim) == 1) {
      MR_FOR_LANES(i) threatens[i] &= mr_heeds(sim, roster, m, f, enemy_side, 0, range[i], ahead[i], i);
    } else {
      MR_EACH_LANE(i) threatens[i] &= mr_heeds(sim, roster, m, f, enemy_side, mr_kind(m, i), range[i], ahead[i], i);
    }
  }
  MR_FOR_LANES(i) {
    out->present[i] |= threatens[i];
    out->time_to_go[i] = mr_select(threatens[i], intercept->time_to_go[i], out->time_to_go[i]);
    out->ahead[i] = mr_select(threatens[i], -ahead[i], out->ahead[i]);
    out->left[i] = mr_select(threatens[i], -left[i], out->left[i]);
  }
}

// Finds the threats to the fighters marked in `fights` with full information.
static void mr_see_missiles(const MrSim *sim, const MrBlock *b, const bool fights[MR_FIGHTERS],
                            MrThreat threats[MR_FIGHTERS]) {
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    MrIntercept intercept;
    if (!b->live[slot]) continue;
    mr_intercept(b, slot, &intercept);
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      if (fights[f]) mr_heed(sim, b, f, &b->missiles[slot], &intercept, &threats[f]);
    }
  }
}

#else

// Takes into account a missile that may threaten its target in lane i.
static inline void mr_heed(const MrSim *sim, const MrBlock *b, const MrMissile *m, MrStanding standing, int i,
                           MrThreat *out) {
  const MrFighter *own = &b->fighters[m->target[i]];
  float time_to_go = standing.time_to_go, range = standing.range;
  if (time_to_go >= own->tactics.cold_time[i] || time_to_go >= out->time_to_go[i]) return;
  float inverse = 1.0f / (range > 1.0f ? range : 1.0f);
  MrVector place = mr_into_own(&own->body, standing.x, standing.y, i);
  float ahead = place.ahead * inverse, left = place.left * inverse;
  if (!mr_heeds(sim, mr_roster(sim, b), m, own, !mr_side(sim, m->target[i]), 0, range, ahead, i)) return;
  out->present[i] = 1;
  out->time_to_go[i] = time_to_go;
  out->ahead[i] = -ahead;
  out->left[i] = -left;
}

static void mr_see_missiles(const MrSim *sim, const MrBlock *b, const bool fights[MR_FIGHTERS],
                            MrThreat threats[MR_FIGHTERS]) {
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_ACTIVE(m, i) {
      if (fights[m->target[i]]) mr_heed(sim, b, m, mr_standing(m, bodies, i), i, &threats[m->target[i]]);
    }
  }
}

#endif

// The course across a line of sight, on the side that the nose is nearer to. (ahead, left) is the unit vector along it.
static inline MrVector mr_beam(float ahead, float left) {
  float side = left < 0.0f ? -1.0f : 1.0f;
  return (MrVector){side * left, -side * ahead};
}

// Finds the threat to a fighter with sensors: the seeker nearest its nose of those with a lock on it. A pilot that
// evades at all turns its side to this seeker, to the side that its nose is nearer to.
static void mr_hear_seekers(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                            MrThreat *out) {
  const MrTactics *t = &b->fighters[fighter].tactics;
  MrSeekers seekers;
  mr_listen_to_seekers(sim, b, fighter, picture, &seekers);
  MR_FOR_LANES(i) {
    MrVector beam = mr_beam(seekers.ahead[0][i], seekers.left[0][i]);
    int present = seekers.present[0][i] & (t->cold_time[i] > 0.0f);
    out->present[i] = present;
    out->ahead[i] = mr_select(present, beam.ahead, out->ahead[i]);
    out->left[i] = mr_select(present, beam.left, out->left[i]);
  }
}

// Hears the radars of a fighter's enemies.
static void mr_hear_radars(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                           MrAwareness *out) {
  MrHeardAll all;
  mr_listen_around(sim, b, fighter, picture, &all);
  mr_most_pressing(sim, fighter, &all, &out->heard[fighter]);
#if MR_SIDE > 1
  int32_t enemies = !mr_side(sim, fighter), first = mr_first(sim, enemies);
  MR_FOR_SIDE(sim, enemies, e) {
    MR_FOR_LANES(i) out->menaces[e][i] |= all.of[e - first].tracked[i];
  }
#endif
}

#if MR_SIDE > 1
// Counts the missiles in the air. Without sensors, fighters with missiles in the air menace the other side.
static void mr_count_missiles(const MrSim *sim, const MrBlock *b, bool senses, MrAwareness *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) out->in_air[f][i] = out->menaces[f][i] = 0;
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_ACTIVE(m, i) {
      out->in_air[m->target[i]][i]++;
      out->menaces[m->owner[i]][i] |= !senses;
    }
  }
}
#endif

static void mr_become_aware(const MrSim *sim, const MrBlock *b, const MrPicture *picture,
                            const bool fights[MR_FIGHTERS], MrAwareness *out) {
#if MR_SIDE > 1
  mr_count_missiles(sim, b, picture != NULL, out);
#endif
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!fights[f]) continue;
    mr_no_threat(&out->threats[f]);
    mr_count_own(b, picture, f, &out->threats[f]);
    if (picture) mr_hear_seekers(sim, b, picture, f, &out->threats[f]);
  }
  if (!picture) mr_see_missiles(sim, b, fights, out->threats);
  for (int32_t f = 0; picture && f < mr_fighters(sim); f++) {
    if (fights[f] || MR_SIDE > 1) mr_hear_radars(sim, b, picture, f, out);  // a side shares what its receivers hear
  }
}

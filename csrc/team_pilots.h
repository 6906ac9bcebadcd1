// SPDX-License-Identifier: MIT
//
// Scripted pilots in teams: whom they fly against, and the missiles that threaten them. Otherwise they fly as in one
// against one. RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "pilots.h"
#include "sense.h"
#include "targets.h"

// What the pilots of a block know before they decide.
typedef struct {
  MrThreat threats[MR_FIGHTERS];
  MR_ALIGNED int32_t in_air[MR_FIGHTERS][MR_LANES];  // missiles that fly at each fighter
} MrAwareness;

// Takes a missile that threatens its target in lane i into account.
static void mr_heed(const struct MrSim *sim, const MrBlock *b, const MrMissile *m, MrStanding standing, int i,
                    MrThreat *out) {
  const MrFighter *own = &b->fighters[m->target[i]];
  float time_to_go = standing.time_to_go, range = standing.range;
  if (time_to_go >= own->tactics.cold_time[i] || time_to_go >= out->time_to_go[i]) return;
  float inverse = 1.0f / (range > 1.0f ? range : 1.0f);
  MrVector place = mr_into_frame(standing.x, standing.y, own->body.c[i], own->body.s[i]);
  float ahead = place.ahead * inverse, left = place.left * inverse;
  if (!mr_heeds(sim, m, &own->tactics, range, ahead, i)) return;
  out->present[i] = 1;
  out->time_to_go[i] = time_to_go;
  out->ahead[i] = -ahead;
  out->left[i] = -left;
}

static void mr_become_aware(const struct MrSim *sim, const MrBlock *b, MrAwareness *out) {
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    mr_no_threat(&out->threats[f]);
    MR_FOR_LANES(i) out->in_air[f][i] = 0;
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      out->threats[m->owner[i]].own_in_air[i]++;
      out->in_air[m->target[i]][i]++;
      mr_heed(sim, b, m, mr_standing(m, bodies, i), i, &out->threats[m->target[i]]);
    }
  }
}

// How good a shot at an enemy is in one lane [m]: the range less R_max, less still for an enemy whose missile flies at
// one of the own side. The least is the best.
static float mr_rate_shot(const struct MrSim *sim, const MrFighter *own, const MrFighter *enemy, bool threatens,
                          int i) {
  float dx = enemy->body.x[i] - own->body.x[i], dy = enemy->body.y[i] - own->body.y[i];
  float range = sqrtf(dx * dx + dy * dy), inverse = 1.0f / (range > 1.0f ? range : 1.0f);
  float approach = -(dx * enemy->body.c[i] + dy * enemy->body.s[i]) * inverse * enemy->body.v[i];
  float margin = range - mr_r_max(&sim->constants, approach);
  return threatens ? margin - sim->params.pilot_cover : margin;
}

// A choice that a pilot may make, and what speaks against it.
typedef struct {
  int32_t fighter, enemy, taken, missiles;  // pilots that have this target, missiles in the air at it
  float shot;
} MrChoice;

// Whether a choice is better: at an enemy that fewer have taken, then with fewer missiles at it, then the better shot.
static bool mr_is_better(const MrChoice *a, const MrChoice *b) {
  if (a->taken != b->taken) return a->taken < b->taken;
  if (a->missiles != b->missiles) return a->missiles < b->missiles;
  return a->shot < b->shot;
}

// The best choice of those that fighters marked in `asks` have in one lane; its fighter is -1 if there is none.
static MrChoice mr_best_choice(const struct MrSim *sim, const MrBlock *b, const MrAwareness *aware, int32_t side,
                               const bool asks[MR_FIGHTERS], const int32_t taken[MR_FIGHTERS], int lane) {
  MrChoice best = {.fighter = -1};
  MR_FOR_SIDE(sim, side, f) {
    if (!asks[f]) continue;
    MR_FOR_SIDE(sim, !side, e) {
      const MrFighter *enemy = &b->fighters[e];
      if (!enemy->alive[lane]) continue;
      bool threatens = aware->threats[e].own_in_air[lane] > 0;
      float shot = mr_rate_shot(sim, &b->fighters[f], enemy, threatens, lane);
      MrChoice choice = {f, e, taken[e], aware->in_air[e][lane], shot};
      if (best.fighter < 0 || mr_is_better(&choice, &best)) best = choice;
    }
  }
  return best;
}

// Shares the enemies out among a side's pilots in one lane: the best choice of all comes first. Those keep their
// targets who may not choose yet.
static void mr_share_targets(const struct MrSim *sim, MrBlock *b, const MrAwareness *aware, int32_t side, int lane) {
  bool asks[MR_FIGHTERS] = {false}, any = false;
  int32_t taken[MR_FIGHTERS] = {0};
  MR_FOR_SIDE(sim, side, f) {
    const MrFighter *own = &b->fighters[f];
    if (!own->alive[lane] || own->pilot[lane] < MR_PEACEFUL_PILOT_COUNT) continue;
    int32_t target = own->target[lane];
    asks[f] = b->time[lane] >= own->chosen[lane] || !b->fighters[target].alive[lane];
    any |= asks[f];
    taken[target] += !asks[f];
  }
  while (any) {
    MrChoice best = mr_best_choice(sim, b, aware, side, asks, taken, lane);
    if (best.fighter < 0) return;
    MrFighter *own = &b->fighters[best.fighter];
    own->target[lane] = best.enemy;
    own->chosen[lane] = b->time[lane] + sim->constants.target_time;
    taken[best.enemy]++;
    asks[best.fighter] = false;
  }
}

// The bodies of a fighter's targets, without their rudders.
static void mr_collect_targets(const MrBlock *b, const int32_t target[MR_LANES], MrBody *out) {
  MR_EACH_LANE(i) {
    const MrBody *body = &b->fighters[target[i]].body;
    out->x[i] = body->x[i];
    out->y[i] = body->y[i];
    out->c[i] = body->c[i];
    out->s[i] = body->s[i];
    out->v[i] = body->v[i];
  }
}

// Sets the commands of fighting pilots.
static void mr_fight(const struct MrSim *sim, MrBlock *b, const MrThreat *threat, int32_t fighter) {
  MrFighter *f = &b->fighters[fighter];
  MrBody target = {0};
  MrSight sight;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
  mr_collect_targets(b, f->target, &target);
  mr_look_at(&f->body, &target, &sight);
  mr_choose_course(sim, b, fighter, &sight, threat, &course);
  mr_choose_fire(sim, b, fighter, &target, &sight, threat, fire);
  MR_FOR_LANES(i) fire[i] = mr_select_int(fire[i], MR_FIRE_TARGET, 0);
  mr_give_commands(sim, &course, fire, f);
}

// Sets the commands of all scripted fighters of a block.
static void mr_fly_pilots(const struct MrSim *sim, MrBlock *b, const MrPicture *picture) {
  (void)picture;
  bool fights[MR_FIGHTERS], any = false;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    fights[f] = mr_fly_peaceful(sim, b, f);
    any |= fights[f];
  }
  if (!any) return;
  MrAwareness aware;
  mr_become_aware(sim, b, &aware);
  MR_EACH_LANE(i) {
    for (int32_t side = 0; side < MR_SIDES; side++) mr_share_targets(sim, b, &aware, side, i);
  }
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (fights[f]) mr_fight(sim, b, &aware.threats[f], f);
  }
}

// SPDX-License-Identifier: MIT
//
// Scripted pilots in teams: whom they fly against, what they know of the missiles in the air, and how two of them guide
// each other's missiles. Otherwise they fly as in one against one. RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "sense.h"
#include "sensor_pilots.h"
#include "targets.h"
#include "wing_pilots.h"

// What the pilots of a block know before they decide. Of a side's fighters it is for that side alone, but for
// `menaces`, which the enemy knows.
typedef struct {
  MrThreat threats[MR_FIGHTERS];
  MrHeard heard[MR_FIGHTERS];                        // the radar that presses most; set with sensors
  MR_ALIGNED int32_t in_air[MR_FIGHTERS][MR_LANES];  // missiles that fly at each fighter
  // Whether a fighter menaces the other side: its missiles fly at it, or with sensors it hears that its radar tracks it.
  MR_ALIGNED int32_t menaces[MR_FIGHTERS][MR_LANES];
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

// What pilots see in the air that know everything.
static void mr_see_missiles(const struct MrSim *sim, const MrBlock *b, MrAwareness *out) {
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_no_threat(&out->threats[f]);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      out->threats[m->owner[i]].own_in_air[i]++;
      out->menaces[m->owner[i]][i] = 1;
      mr_heed(sim, b, m, mr_standing(m, bodies, i), i, &out->threats[m->target[i]]);
    }
  }
}

// What pilots hear by their receivers.
static void mr_hear_warnings(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, MrAwareness *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    int32_t enemies = !mr_side(sim, f), first = mr_first(sim, enemies);
    MrHeardAll heard;
    mr_assess_warning(b, picture, f, &out->threats[f]);
    mr_listen_around(sim, b, f, picture, &heard);
    mr_most_pressing(sim, f, &heard, &out->heard[f]);
    MR_FOR_SIDE(sim, enemies, e) {
      MR_FOR_LANES(i) out->menaces[e][i] |= heard.of[e - first].tracked[i];
    }
  }
}

static void mr_become_aware(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, MrAwareness *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) out->in_air[f][i] = out->menaces[f][i] = 0;
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) out->in_air[m->target[i]][i] += m->active[i];
  }
  if (picture) {
    mr_hear_warnings(sim, b, picture, out);
  } else {
    mr_see_missiles(sim, b, out);
  }
}

// How good a shot at an enemy is in one lane [m]: the range less R_max, less still for one that menaces the own side.
// The least is the best.
static float mr_rate_shot(const struct MrSim *sim, const MrBody *own, const MrBody *enemy, bool menaces, int i) {
  float dx = enemy->x[i] - own->x[i], dy = enemy->y[i] - own->y[i];
  float range = sqrtf(dx * dx + dy * dy), inverse = 1.0f / (range > 1.0f ? range : 1.0f);
  float approach = -(dx * enemy->c[i] + dy * enemy->s[i]) * inverse * enemy->v[i];
  float margin = range - mr_r_max(&sim->constants, approach);
  return menaces ? margin - sim->params.pilot_cover : margin;
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

// The best choice of those that fighters marked in `asks` have in one lane, among the enemies that each knows; its
// fighter is -1 if there is none.
static MrChoice mr_best_choice(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture,
                               const MrAwareness *aware, int32_t side, const bool asks[MR_FIGHTERS],
                               const int32_t taken[MR_FIGHTERS], int lane) {
  MrChoice best = {.fighter = -1};
  MR_FOR_SIDE(sim, side, f) {
    if (!asks[f]) continue;
    MR_FOR_SIDE(sim, !side, e) {
      const MrBody *enemy = mr_known(sim, b, picture, f, e, lane);
      if (!enemy) continue;
      float shot = mr_rate_shot(sim, &b->fighters[f].body, enemy, aware->menaces[e][lane], lane);
      MrChoice choice = {f, e, taken[e], aware->in_air[e][lane], shot};
      if (best.fighter < 0 || mr_is_better(&choice, &best)) best = choice;
    }
  }
  return best;
}

// Shares the enemies out among a side's pilots in one lane: the best choice of all comes first. Those keep their
// targets who may not choose yet. Who guides another's missiles has the other's target.
static void mr_share_targets(const struct MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                             int32_t side, int lane) {
  bool asks[MR_FIGHTERS] = {false}, any = false;
  int32_t taken[MR_FIGHTERS] = {0};
  MR_FOR_SIDE(sim, side, f) {
    const MrFighter *own = &b->fighters[f];
    if (!own->alive[lane] || own->pilot[lane] < MR_PEACEFUL_PILOT_COUNT) continue;
    if (mr_guides_for(sim, b, aware->threats, f, lane) >= 0) continue;
    int32_t target = own->target[lane];
    asks[f] = b->time[lane] >= own->chosen[lane] || !mr_known(sim, b, picture, f, target, lane);
    any |= asks[f];
    taken[target] += !asks[f];
  }
  while (any) {
    MrChoice best = mr_best_choice(sim, b, picture, aware, side, asks, taken, lane);
    if (best.fighter < 0) break;
    MrFighter *own = &b->fighters[best.fighter];
    own->target[lane] = best.enemy;
    own->chosen[lane] = b->time[lane] + sim->constants.target_time;
    taken[best.enemy]++;
    asks[best.fighter] = false;
  }
  MR_FOR_SIDE(sim, side, f) {
    int32_t guided = mr_guides_for(sim, b, aware->threats, f, lane);
    if (guided >= 0) b->fighters[f].target[lane] = b->fighters[guided].target[lane];
  }
}

// The bodies of a fighter's targets, without their rudders: the true ones, or with sensors those of its contacts, with
// what these rest on.
static void mr_collect_targets(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                               MrContact *out) {
  const int32_t *target = b->fighters[fighter].target;
  MR_EACH_LANE(i) {
    const MrContact *contact = picture ? &picture->contacts[mr_contact_place(sim, fighter, target[i])] : NULL;
    const MrBody *body = contact ? &contact->body : &b->fighters[target[i]].body;
    out->source[i] = contact ? contact->source[i] : MR_RADAR;
    out->body.x[i] = body->x[i];
    out->body.y[i] = body->y[i];
    out->body.c[i] = body->c[i];
    out->body.s[i] = body->s[i];
    out->body.v[i] = body->v[i];
  }
}

// Sets the commands of fighting pilots.
static void mr_fight(const struct MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                     int32_t fighter) {
  MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &aware->threats[fighter];
  const MrHeard *heard = &aware->heard[fighter];
  MrContact target = {.source = {0}};
  MrSight sight;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
  mr_collect_targets(sim, b, picture, fighter, &target);
  if (picture) {
    mr_search(&f->body, &target, heard, &sight);
  } else {
    mr_look_at(&f->body, &target.body, &sight);
  }
  mr_choose_course(sim, b, fighter, &sight, threat, &course);
  mr_choose_fire(sim, b, fighter, &target.body, &sight, threat, fire);
  if (picture) {
    mr_notch(sim, b, fighter, heard, threat, &course);
    mr_fly_in_pairs(sim, b, picture, aware->threats, fighter, &sight, &course, fire);
  }
  MR_FOR_LANES(i) fire[i] = mr_select_int(fire[i] & mr_is_track(target.source[i]), MR_FIRE_TARGET, 0);
  mr_give_commands(sim, &course, fire, f);
}

// Sets the commands of all scripted fighters of a block. `picture` is NULL without sensors.
static void mr_fly_pilots(const struct MrSim *sim, MrBlock *b, const MrPicture *picture) {
  bool fights[MR_FIGHTERS], any = false;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    fights[f] = mr_fly_peaceful(sim, b, f);
    any |= fights[f];
  }
  if (!any) return;
  MrAwareness aware;
  mr_become_aware(sim, b, picture, &aware);
  MR_EACH_LANE(i) {
    for (int32_t side = 0; side < MR_SIDES; side++) mr_share_targets(sim, b, picture, &aware, side, i);
  }
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (fights[f]) mr_fight(sim, b, picture, &aware, f);
  }
}

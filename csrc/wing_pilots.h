// SPDX-License-Identifier: MIT
//
// The pilot `pair`, in teams with sensors: of two fighters one fires and runs, the other keeps its radar on the enemy and
// so guides the missile by data link. RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "picture.h"
#include "pilots.h"

// The fighter with which another makes a pair in one lane: a side's first and second, its third and fourth and so on,
// while both live and are flown by this pilot; or -1.
static int32_t mr_partner(const struct MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  int32_t side = mr_side(sim, fighter), first = mr_first(sim, side), place = (fighter - first) ^ 1;
  if (place >= mr_size(sim, side)) return -1;
  const MrFighter *own = &b->fighters[fighter], *other = &b->fighters[first + place];
  bool fly = own->pilot[lane] == MR_PILOT_pair && other->pilot[lane] == MR_PILOT_pair;
  return fly && own->alive[lane] && other->alive[lane] ? first + place : -1;
}

// The partner for which a fighter guides missiles in one lane: one that has a missile in the air without a lock, while
// it has none itself; or -1. `threats` tell whose missiles need support.
static int32_t mr_guides_for(const struct MrSim *sim, const MrBlock *b, const MrThreat threats[MR_FIGHTERS],
                             int32_t fighter, int lane) {
  int32_t partner = mr_partner(sim, b, fighter, lane);
  if (partner < 0 || threats[fighter].needs_support[lane]) return -1;
  return threats[partner].needs_support[lane] ? partner : -1;
}

// Changes the courses and shots of the pilots `pair` of a fighter. Who has fired runs while the partner's radar tracks
// the target; else it flies as far off the target as its own radar allows. So does who guides, and it does not fire. Nor
// does the second of a pair in a decision in which the first does: `b` has the first's commands by then.
static void mr_fly_in_pairs(const struct MrSim *sim, const MrBlock *b, const MrPicture *picture,
                            const MrThreat threats[MR_FIGHTERS], int32_t fighter, const MrSight *sight,
                            MrCourse *course, int32_t fire[MR_LANES]) {
  const MrSensors *k = &sim->constants.sensors;
  const MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &threats[fighter];
  MR_EACH_LANE(i) {
    if (f->pilot[i] != MR_PILOT_pair || !f->alive[i]) continue;
    int32_t partner = mr_partner(sim, b, fighter, i);
    bool guides = mr_guides_for(sim, b, threats, fighter, i) >= 0;
    if (guides || (partner >= 0 && partner < fighter && b->fighters[partner].fire[i])) fire[i] = 0;
    if (threat->present[i] || !(threat->needs_support[i] || guides)) continue;
    bool is_guided = false;
    if (!guides && partner >= 0 && mr_guides_for(sim, b, threats, partner, i) == fighter) {
      is_guided = picture->contacts[mr_contact_place(sim, partner, f->target[i])].source[i] == MR_RADAR;
    }
    MrVector enemy = {sight->ahead[i], sight->left[i]};
    MrVector off = mr_turn(enemy, k->crank_c, enemy.left > 0.0f ? -k->crank_s : k->crank_s);
    course->ahead[i] = is_guided ? -enemy.ahead : off.ahead;
    course->left[i] = is_guided ? -enemy.left : off.left;
  }
}

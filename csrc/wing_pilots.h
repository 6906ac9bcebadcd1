// SPDX-License-Identifier: MIT
//
// Scripted pilots in teams: how the pilots of a side share the enemies out, and the pilot `pair`. Of two pilots `pair`
// one fires and runs; the other keeps its radar on the enemy and so guides the missile by data link. RULES.md, "Teams".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "targets.h"

// The pilot `pair` ----------------------------------------------------------------------------------------

// The partner of a fighter in one lane, or -1. A side's first and second fighter are partners, its third and fourth and
// so on, while both live and this pilot flies both.
static int32_t mr_partner(const MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  int32_t side = mr_side(sim, fighter), first = mr_first(sim, side), place = (fighter - first) ^ 1;
  if (place >= mr_size(sim, side)) return -1;
  const MrFighter *own = &b->fighters[fighter], *other = &b->fighters[first + place];
  bool fly = own->pilot[lane] == MR_PILOT_pair && other->pilot[lane] == MR_PILOT_pair;
  return fly && own->alive[lane] && other->alive[lane] ? first + place : -1;
}

// The partner whose missiles a fighter guides in one lane, or -1. The partner has a missile in the air without a lock,
// and the fighter itself has none. `threats` say whose missiles need support.
static int32_t mr_guides_for(const MrSim *sim, const MrBlock *b, const MrThreat threats[MR_FIGHTERS], int32_t fighter,
                             int lane) {
  int32_t partner = mr_partner(sim, b, fighter, lane);
  if (partner < 0 || threats[fighter].needs_support[lane]) return -1;
  return threats[partner].needs_support[lane] ? partner : -1;
}

// Overrides the course and the shot of one fighter in the lanes where the pilot `pair` flies it. Its missiles need a
// track of the target until their seekers have a lock:
// - A fighter with such a missile turns its tail to the target while its partner's radar tracks the target. Without
//   that it keeps the track itself: it turns as far off the target as the half angle of its radar allows.
// - A partner that guides such a missile also turns off the target by this angle, and does not fire.
// - The second fighter of a pair does not fire in a decision in which the first fires. `b` has the first's command.
static void mr_fly_in_pairs(const MrSim *sim, const MrBlock *b, const MrPicture *picture,
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
      is_guided = picture->contacts[mr_contact_place(sim, partner, f->target[i])].source[i] == MR_LIVE;
    }
    MrVector enemy = {sight->ahead[i], sight->left[i]};
    MrVector off = mr_turn(enemy, k->crank_c, enemy.left > 0.0f ? -k->crank_s : k->crank_s);
    course->ahead[i] = is_guided ? -enemy.ahead : off.ahead;
    course->left[i] = is_guided ? -enemy.left : off.left;
  }
}

// Targets ------------------------------------------------------------------------------------------------

// Rating of a shot by a fighter at an enemy, whose number is `target`, in one lane [m]: the range less R_max, and less
// pilot_cover if the enemy menaces the own side. The least is the best.
static float mr_rate_shot(const MrSim *sim, const MrRoster *roster, int32_t target, const MrBody *own,
                          const MrBody *enemy, bool menaces, int i) {
  float range = sqrtf(mr_range2(own, enemy, i)), inverse = 1.0f / (range > 1.0f ? range : 1.0f);
  float approach = -mr_along(own, enemy, enemy, i) * inverse * enemy->v[i];
  float margin = range - mr_r_max(sim, roster, target, 0, own, enemy, approach, i);
  return menaces ? margin - sim->params.pilot_cover : margin;
}

// A choice of a target by a pilot, and what counts against it.
typedef struct {
  int32_t fighter, enemy, taken, missiles;  // pilots that have this target, missiles in the air at it
  float shot;
  bool urgent;  // a transport that too few have as target
} MrChoice;

// True if choice a is better than b: at a transport that too few have taken, then at an enemy that fewer have taken,
// then with fewer missiles at it, then the better shot.
static bool mr_is_better(const MrChoice *a, const MrChoice *b) {
  if (a->urgent != b->urgent) return a->urgent;
  if (a->taken != b->taken) return a->taken < b->taken;
  if (a->missiles != b->missiles) return a->missiles < b->missiles;
  return a->shot < b->shot;
}

// The best choice in one lane of the fighters marked in `asks`, among the enemies that each knows; its fighter is -1 if
// there is none.
static MrChoice mr_best_choice(const MrSim *sim, const MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                               int32_t side, const bool asks[MR_FIGHTERS], const int32_t taken[MR_FIGHTERS], int lane) {
  MrChoice best = {.fighter = -1};
  int32_t living = 0;
  MR_FOR_SIDE(sim, side, f) living += b->fighters[f].alive[lane];
  MR_FOR_SIDE(sim, side, f) {
    if (!asks[f]) continue;
    MR_FOR_SIDE(sim, !side, e) {
      const MrBody *enemy = mr_known(sim, b, picture, f, e, lane);
      if (!enemy) continue;
      float shot = mr_rate_shot(sim, mr_roster(sim, b), e, &b->fighters[f].body, enemy, aware->menaces[e][lane], lane);
      bool urgent = mr_is_transport(sim, b, e, lane) && 2 * taken[e] < living;
      MrChoice choice = {f, e, taken[e], aware->in_air[e][lane], shot, urgent};
      if (best.fighter < 0 || mr_is_better(&choice, &best)) best = choice;
    }
  }
  return best;
}

// Shares the enemies out among a side's pilots in one lane: the best choice of all comes first. Pilots that may not
// choose yet keep their targets. A pilot that guides its partner's missiles takes the partner's target.
static void mr_share_targets(const MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                             int32_t side, int lane) {
  bool asks[MR_FIGHTERS] = {false}, any = false;
  int32_t taken[MR_FIGHTERS] = {0};
  MR_FOR_SIDE(sim, side, f) {
    const MrFighter *own = &b->fighters[f];
    bool chooses = own->pilot[lane] >= MR_PEACEFUL_PILOT_COUNT && own->pilot[lane] != MR_PILOT_transport;
    if (!own->alive[lane] || !chooses) continue;
    if (picture && mr_guides_for(sim, b, aware->threats, f, lane) >= 0) continue;
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
  if (!picture) return;
  MR_FOR_SIDE(sim, side, f) {
    int32_t guided = mr_guides_for(sim, b, aware->threats, f, lane);
    if (guided >= 0) b->fighters[f].target[lane] = b->fighters[guided].target[lane];
  }
}

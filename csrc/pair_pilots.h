// SPDX-License-Identifier: MIT
//
// Scripted pilots in one against one, and the missiles that threaten them. RULES.md, "Pilots".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "sense.h"
#include "sensor_pilots.h"

static void mr_assess_threat(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                             MrThreat *out) {
  const MrBody *own = &b->fighters[fighter].body;
  const MrTactics *t = &b->fighters[fighter].tactics;
  mr_no_threat(out);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MrIntercept intercept;
    MR_ALIGNED int32_t threatens[MR_LANES], doubtful[MR_LANES];
    MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
    mr_intercept(b, slot, &intercept);
    MR_FOR_LANES(i) {
      out->own_in_air[i] += m->active[i] & (m->owner[i] == fighter);
      threatens[i] = (m->active[i] != 0) & (m->target[i] == fighter) & (intercept.time_to_go[i] < t->cold_time[i]) &
                     (intercept.time_to_go[i] < out->time_to_go[i]);
      doubtful[i] = threatens[i] & t->prudent[i];
    }
    if (mr_count(threatens) == 0) continue;
    MR_FOR_LANES(i) {
      float inverse = 1.0f / (intercept.range[i] > 1.0f ? intercept.range[i] : 1.0f);
      MrVector place = mr_into_frame(intercept.x[i], intercept.y[i], own->c[i], own->s[i]);
      ahead[i] = place.ahead * inverse;
      left[i] = place.left * inverse;
    }
    if (mr_count(doubtful)) {
      MR_FOR_LANES(i) threatens[i] &= mr_heeds(sim, m, t, intercept.range[i], ahead[i], i);
    }
    MR_FOR_LANES(i) {
      out->present[i] |= threatens[i];
      out->time_to_go[i] = mr_select(threatens[i], intercept.time_to_go[i], out->time_to_go[i]);
      out->ahead[i] = mr_select(threatens[i], -ahead[i], out->ahead[i]);
      out->left[i] = mr_select(threatens[i], -left[i], out->left[i]);
    }
  }
}

// Sets the commands of fighting pilots.
static void mr_fight(const struct MrSim *sim, MrBlock *b, const MrPicture *picture, int32_t fighter) {
  MrSight sights[MR_FIGHTERS];
  MrSight *sight = &sights[fighter];
  const MrBody *enemy = picture ? &picture->contacts[fighter].body : &b->fighters[mr_opponent(fighter)].body;
  MrThreat threat;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
  MrHeard heard;
  mr_look(b, sights);
  if (picture) {
    int32_t other = mr_opponent(fighter);
    mr_listen(sim, &b->fighters[fighter], &b->fighters[other], sight, &picture->contacts[other], &heard);
    mr_assess_warning(b, picture, fighter, &threat);
    mr_search(&b->fighters[fighter].body, &picture->contacts[fighter], &heard, sight);
  } else {
    mr_assess_threat(sim, b, fighter, &threat);
  }
  mr_choose_course(sim, b, fighter, sight, &threat, &course);
  if (picture) mr_notch(sim, b, fighter, &heard, &threat, &course);
  mr_choose_fire(sim, b, fighter, enemy, sight, &threat, fire);
  if (picture) MR_FOR_LANES(i) fire[i] &= mr_is_track(picture->contacts[fighter].source[i]);
  mr_give_commands(sim, &course, fire, &b->fighters[fighter]);
}

// Sets the commands of all scripted fighters of a block. `picture` is NULL without sensors.
static void mr_fly_pilots(const struct MrSim *sim, MrBlock *b, const MrPicture *picture) {
  for (int32_t fighter = 0; fighter < MR_FIGHTERS; fighter++) {
    if (mr_fly_peaceful(sim, b, fighter)) mr_fight(sim, b, picture, fighter);
  }
}

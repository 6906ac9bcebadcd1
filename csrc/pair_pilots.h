// SPDX-License-Identifier: MIT
//
// Scripted pilots in one against one: the missiles that threaten them, and with sensors what warns them and whom they
// search. RULES.md, "Pilots".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "sense.h"

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

// The same with sensors: a pilot that evades at all turns its side to the seeker that has a lock on it, of several to
// the one nearest its nose. It turns to the side that its nose is nearer to.
static void mr_assess_warning(const MrBlock *b, const MrPicture *picture, int32_t fighter, MrThreat *out) {
  const MrTactics *t = &b->fighters[fighter].tactics;
  MrSeekers seekers;
  mr_no_threat(out);
  mr_listen_to_seekers(b, fighter, picture, &seekers);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_LANES(i) {
      int own = m->active[i] & (m->owner[i] == fighter);
      out->own_in_air[i] += own;
      out->needs_support[i] |= own & !picture->beliefs[slot].locked[i];
    }
  }
  MR_FOR_LANES(i) {
    MrVector beam = mr_beam(seekers.ahead[0][i], seekers.left[0][i]);
    int present = seekers.present[0][i] & (t->cold_time[i] > 0.0f);
    out->present[i] = present;
    out->ahead[i] = mr_select(present, beam.ahead, out->ahead[i]);
    out->left[i] = mr_select(present, beam.left, out->left[i]);
  }
}

// The sight that a pilot with sensors has of its enemy: of its contact. Where there is no track, the direction is one
// to search in: that of the radar its receiver hears; else where the enemy was last; else straight ahead.
static void mr_search(const MrBlock *b, const MrPicture *picture, int32_t fighter, const MrHeard *heard,
                      MrSight *sight) {
  const MrContact *contact = &picture->contacts[fighter];
  mr_look_at(&b->fighters[fighter].body, &contact->body, sight);
  MR_FOR_LANES(i) {
    int searches = !mr_is_track(contact->source[i]), ahead = searches & (contact->source[i] == MR_UNSEEN);
    int follows = searches & heard->hears[i];
    float left = mr_select(ahead, 0.0f, sight->left[i]);
    sight->ahead[i] = mr_select(follows, heard->ahead[i], mr_select(ahead, 1.0f, sight->ahead[i]));
    sight->left[i] = mr_select(follows, heard->left[i], left);
  }
}

// Has notchers beam the radar that tracks them, in the first part of each period, unless a seeker has a lock on them or
// a missile of their own needs them.
static void mr_notch(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrHeard *heard,
                     const MrThreat *threat, MrCourse *course) {
  int32_t period = sim->constants.notcher_period, time = sim->constants.notcher_time;
  const MrFighter *f = &b->fighters[fighter];
  MR_FOR_LANES(i) {
    int notches = (f->pilot[i] == MR_PILOT_notcher) & heard->tracked[i] & (b->time[i] % period < time) &
                  !threat->present[i] & !threat->needs_support[i];
    MrVector beam = mr_beam(heard->ahead[i], heard->left[i]);
    course->ahead[i] = mr_select(notches, beam.ahead, course->ahead[i]);
    course->left[i] = mr_select(notches, beam.left, course->left[i]);
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
    mr_listen(sim, b, fighter, sights, picture, &heard);
    mr_assess_warning(b, picture, fighter, &threat);
    mr_search(b, picture, fighter, &heard, sight);
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

// SPDX-License-Identifier: MIT
//
// Scripted pilots in games with sensors: what warns them, whom they search, and how notchers turn. RULES.md, "Sensors".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "picture.h"
#include "pilots.h"
#include "sense.h"

// What a pilot with sensors evades. One that evades at all turns its side to the seeker that has a lock on it, of several to
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
static void mr_search(const MrBody *own, const MrContact *contact, const MrHeard *heard, MrSight *sight) {
  mr_look_at(own, &contact->body, sight);
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

// SPDX-License-Identifier: MIT
//
// Scripted pilots, for either seat. Their commands follow from what they see (sense.h) and from their tactics
// (tactics.h). RULES.md, "Pilots".
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"
#include "envelope.h"
#include "frame.h"
#include "picture.h"
#include "sense.h"

// The directions in which pilots steer: unit vectors in the own frame.
typedef struct {
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrCourse;

// The inbound missile that a pilot evades: of those that threaten it, the one with the least time to go. Also the
// number of its own missiles in the air.
typedef struct {
  MR_ALIGNED int32_t present[MR_LANES];              // 1 if there is a missile to evade
  MR_ALIGNED float time_to_go[MR_LANES];             // of that missile [s]; not known with sensors
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];  // the course that evades it, a unit vector in the own frame
  MR_ALIGNED int32_t own_in_air[MR_LANES];
  MR_ALIGNED int32_t needs_support[MR_LANES];        // 1 if, with sensors, one of these has no lock yet
} MrThreat;

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

// Clears `threatens` where a prudent pilot does not evade, since the missile would not reach it, nor nearly. `ahead` is
// the cosine of the missile's bearing.
static void mr_disregard(const struct MrSim *sim, const MrMissile *m, const MrTactics *t, const float range[MR_LANES],
                         const float ahead[MR_LANES], int32_t threatens[MR_LANES]) {
  float run_speed = sim->constants.run_speed;
  MR_FOR_LANES(i) {
    float run_down = mr_chase_reach(sim, m->body.v[i], (float)m->age[i], run_speed) - range[i];
    int reaches = run_down + t->guard[i] * 0.5f * (1.0f + ahead[i]) > 0.0f;
    threatens[i] &= reaches | !t->prudent[i];
  }
}

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
    if (mr_count(doubtful)) mr_disregard(sim, m, t, intercept.range, ahead, threatens);
    MR_FOR_LANES(i) {
      out->present[i] |= threatens[i];
      out->time_to_go[i] = mr_select(threatens[i], intercept.time_to_go[i], out->time_to_go[i]);
      out->ahead[i] = mr_select(threatens[i], -ahead[i], out->ahead[i]);
      out->left[i] = mr_select(threatens[i], -left[i], out->left[i]);
    }
  }
}

// The course across a line of sight, on the side that the nose is nearer to. (ahead, left) is the unit vector along it.
static inline MrVector mr_beam(float ahead, float left) {
  float side = left < 0.0f ? -1.0f : 1.0f;
  return (MrVector){side * left, -side * ahead};
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

// The angle off the enemy at which a pilot flies while its missile is in the air. With sensors, while the missile needs
// support, the angle stays within the radar's cone; but who runs from the enemy altogether runs.
static inline MrVector mr_crank_angle(const MrSensors *k, const MrTactics *t, const MrThreat *threat, int i) {
  int narrows = threat->needs_support[i] & (t->off_c[i] < k->crank_c) & (t->off_c[i] > -1.0f);
  return (MrVector){mr_select(narrows, k->crank_c, t->off_c[i]), mr_select(narrows, k->crank_s, t->off_s[i])};
}

// The sight that a pilot with sensors has of its enemy: of its contact. Where there is no track, the direction is one to
// search in: that of the radar its receiver hears; else where the enemy was last; else straight ahead.
static void mr_search(const MrBlock *b, const MrPicture *picture, int32_t fighter, const MrHeard *heard, MrSight *sight) {
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

// The course of each pilot, by the first of these that applies:
// - a missile threatens it: the course that evades it, or weaving;
// - it is prudent and has no missile left, on the wing or in the air: away from the enemy;
// - a missile of its own is in the air and the delay is over: off the enemy by the angle of its tactics;
// - toward the enemy.
static void mr_choose_course(const struct MrSim *sim, const MrBlock *b, int32_t fighter,
                             const MrSight *sight, const MrThreat *threat, MrCourse *out) {
  const MrFighter *f = &b->fighters[fighter];
  const MrTactics *t = &f->tactics;
  int32_t period = sim->constants.snake_period;
  MR_ALIGNED int32_t weaves[MR_LANES];
  MR_FOR_LANES(i) {
    MrVector enemy = {sight->ahead[i], sight->left[i]};
    int supports = (threat->own_in_air[i] > 0) & (b->time[i] - f->launched[i] >= t->delay[i]);
    // To the side of the enemy on which the nose already is.
    MrVector angle = mr_crank_angle(&sim->constants.sensors, t, threat, i);
    MrVector off = mr_turn(enemy, angle.ahead, enemy.left > 0.0f ? -angle.left : angle.left);
    out->ahead[i] = mr_select(supports, off.ahead, enemy.ahead);
    out->left[i] = mr_select(supports, off.left, enemy.left);

    int leaves = t->prudent[i] & (f->ammunition[i] == 0) & (threat->own_in_air[i] == 0);
    out->ahead[i] = mr_select(leaves, -enemy.ahead, out->ahead[i]);
    out->left[i] = mr_select(leaves, -enemy.left, out->left[i]);

    out->ahead[i] = mr_select(threat->present[i], threat->ahead[i], out->ahead[i]);
    out->left[i] = mr_select(threat->present[i], threat->left[i], out->left[i]);
    weaves[i] = threat->present[i] & (t->weave_s[i] != 0.0f);
  }
  if (mr_count(weaves) == 0) return;
  MR_FOR_LANES(i) {
    MrVector enemy = {sight->ahead[i], sight->left[i]};
    float side = b->time[i] % period < period / 2 ? t->weave_s[i] : -t->weave_s[i];
    MrVector weave = mr_turn(enemy, t->weave_c[i], side);
    out->ahead[i] = mr_select(weaves[i], weave.ahead, out->ahead[i]);
    out->left[i] = mr_select(weaves[i], weave.left, out->left[i]);
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

// R_NEZ [m] of the pilots that fire by it, 0 for others. If no lane has such a pilot, the map is not looked up.
static void mr_look_up_r_nez(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
                             const MrSight *sight, float nez[MR_LANES]) {
  const MrTactics *t = &b->fighters[fighter].tactics;
  MR_ALIGNED int32_t asks[MR_LANES];
  MrShotRanges ranges;
  MR_FOR_LANES(i) {
    asks[i] = t->fire_r_nez[i] > 0.0f;
    nez[i] = 0.0f;
  }
  if (mr_count(asks) == 0) return;
  mr_look_up(sim, &b->fighters[fighter].body, enemy, sight, &ranges);
  MR_FOR_LANES(i) nez[i] = ranges.nez[i];
}

// Whether each pilot fires. The enemy must be near its nose, and inside the range at which its tactics fire with the
// missiles that it has left. It must have fewer missiles in the air than its salvo.
static void mr_choose_fire(const struct MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
                           const MrSight *sight, const MrThreat *threat, int32_t fire[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *f = &b->fighters[fighter];
  const MrTactics *t = &f->tactics;
  MR_ALIGNED float nez[MR_LANES];
  mr_look_up_r_nez(sim, b, fighter, enemy, sight, nez);
  MR_FOR_LANES(i) {
    int far = (sight->range[i] < t->fire_r_max[i] * mr_r_max(k, sight->approach[i])) &
              (f->ammunition[i] > t->reserve[i]);
    int near = sight->range[i] < t->fire_r_nez[i] * nez[i];
    fire[i] = (sight->ahead[i] > k->fire_cosine) & (threat->own_in_air[i] < t->salvo[i]) & (far | near);
  }
}

// Sets the commands of fighting pilots. With the course at angle e off the nose, the rudder is clip(gain * sin e), or
// full when the course is behind.
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
  MrFighter *f = &b->fighters[fighter];
  float gain = sim->params.pilot_steering;
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    float side = course.left[i] < 0.0f ? -1.0f : 1.0f;
    float rudder = course.ahead[i] < 0.0f ? side : mr_clip(gain * course.left[i], -1.0f, 1.0f);
    f->rudder_command[i] = mr_select(mine, rudder, f->rudder_command[i]);
    f->fire[i] = mr_select_int(mine, fire[i], f->fire[i]);
  }
}

static void mr_weave(const struct MrSim *sim, MrBlock *b, int32_t fighter) {
  int32_t period = sim->constants.weave_period;
  float rudder = sim->params.weave_rudder;
  MrFighter *f = &b->fighters[fighter];
  MR_FOR_LANES(i) {
    int32_t phase = (b->time[i] + period / 4) % period;
    float weave = phase < period / 2 ? rudder : -rudder;
    f->rudder_command[i] = mr_select(f->pilot[i] == MR_PILOT_weave, weave, f->rudder_command[i]);
  }
}

// Sets the commands of all scripted fighters of a block. `picture` is NULL without sensors.
static void mr_fly_pilots(const struct MrSim *sim, MrBlock *b, const MrPicture *picture) {
  for (int32_t fighter = 0; fighter < MR_FIGHTERS; fighter++) {
    MrFighter *f = &b->fighters[fighter];
    int32_t agents = 0, weaving = 0, fighting = 0;  // lanes
    MR_FOR_LANES(i) {
      agents += f->pilot[i] == MR_PILOT_agent;
      weaving += f->pilot[i] == MR_PILOT_weave;
      fighting += f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    }
    if (agents == MR_LANES) continue;

    MR_FOR_LANES(i) {  // the commands of `straight`; mr_weave and mr_fight replace them for other pilots
      int scripted = f->pilot[i] != MR_PILOT_agent;
      f->rudder_command[i] = mr_select(scripted, 0.0f, f->rudder_command[i]);
      f->throttle_command[i] = mr_select(scripted, 1.0f, f->throttle_command[i]);
      f->fire[i] = mr_select_int(scripted, 0, f->fire[i]);
    }
    if (weaving) mr_weave(sim, b, fighter);
    if (fighting) mr_fight(sim, b, picture, fighter);
  }
}

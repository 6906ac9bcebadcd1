// SPDX-License-Identifier: MIT
//
// Scripted pilots, for either side. Their commands follow from their sight of the enemy (sight.h), their picture and
// their tactics (tactics.h). RULES.md, "Pilots".
//
// In teams a pilot has a target among the enemies, and two pilots may fly as a pair: wing_pilots.h. In one against one
// the target is the enemy.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "envelope.h"
#include "picture.h"
#include "receiver.h"
#include "sight.h"

// The directions in which pilots steer: unit vectors in the own frame.
typedef struct {
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrCourse;

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
static inline int mr_heeds(const MrSim *sim, const MrMissile *m, const MrFighter *own, int32_t enemy_side, float range,
                           float ahead, int i) {
  const MrTactics *t = &own->tactics;
  float height = 0.5f * (mr_height(&m->body, i) + mr_height(&own->body, i));
  float run_speed = mr_run_speed(sim, &own->body, i);
  float run_down = mr_chase_reach(sim, enemy_side, m->body.v[i], (float)m->age[i], run_speed, height) - range;
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
    MR_FOR_LANES(i) threatens[i] &= mr_heeds(sim, m, f, !mr_side(sim, fighter), intercept->range[i], ahead[i], i);
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
  if (!mr_heeds(sim, m, own, !mr_side(sim, m->target[i]), range, ahead, i)) return;
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
static void mr_hear_seekers(const MrBlock *b, const MrPicture *picture, int32_t fighter, MrThreat *out) {
  const MrTactics *t = &b->fighters[fighter].tactics;
  MrSeekers seekers;
  mr_listen_to_seekers(b, fighter, picture, &seekers);
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
    if (picture) mr_hear_seekers(b, picture, f, &out->threats[f]);
  }
  if (!picture) mr_see_missiles(sim, b, fights, out->threats);
  for (int32_t f = 0; picture && f < mr_fighters(sim); f++) {
    if (fights[f] || MR_SIDE > 1) mr_hear_radars(sim, b, picture, f, out);  // a side shares what its receivers hear
  }
}

// Courses and shots --------------------------------------------------------------------------------------

// The angle off the enemy at which a pilot flies while its missile is in the air. With sensors, while the missile needs
// support, the angle stays within the radar's cone, unless the tactics are to run straight away from the enemy.
static inline MrVector mr_crank_angle(const MrSensors *k, const MrTactics *t, const MrThreat *threat, int i) {
  int narrows = threat->needs_support[i] & (t->off_c[i] < k->crank_c) & (t->off_c[i] > -1.0f);
  return (MrVector){mr_select(narrows, k->crank_c, t->off_c[i]), mr_select(narrows, k->crank_s, t->off_s[i])};
}

// Changes the courses of pilots that wait, unless a missile threatens them. Far outside the range at which they wait
// they fly toward the enemy, at this range across its bearing, and far inside away from it. They wait while the enemy
// has more than `wait_left` missiles left. With sensors they do not observe `enemy_left`, and wait until `wait_time`
// while the contact is a track; `contact` is NULL with full information.
static void mr_keep_range(const MrSim *sim, const MrBlock *b, const MrTactics *t, const MrSight *sight,
                          const MrThreat *threat, const MrContact *contact, const int32_t enemy_left[MR_LANES],
                          MrCourse *out) {
  MR_ALIGNED int32_t waits[MR_LANES];
  MR_FOR_LANES(i) {
    int waits_for_shots = contact == NULL && enemy_left[i] > t->wait_left[i];
    int waits_for_time = contact != NULL && mr_is_track(contact->source[i]) & (b->time[i] < t->wait_time[i]);
    waits[i] = (waits_for_shots | waits_for_time) & (t->wait_range[i] > 0.0f) & !threat->present[i];
  }
  if (mr_count(waits) == 0) return;
  MR_FOR_LANES(i) {
    MrVector enemy = {sight->ahead[i], sight->left[i]};
    float c = mr_clip((sight->range[i] - t->wait_range[i]) / sim->params.patient_band, -1.0f, 1.0f);
    float s = sqrtf(1.0f - c * c);
    MrVector off = mr_turn(enemy, c, enemy.left > 0.0f ? -s : s);
    out->ahead[i] = mr_select(waits[i], off.ahead, out->ahead[i]);
    out->left[i] = mr_select(waits[i], off.left, out->left[i]);
  }
}

// The course of each pilot, by the first of these that applies:
// - a missile threatens it: the course that evades it, or weaving;
// - it is prudent and has no missile left, on the wing or in the air: away from the enemy;
// - a missile of its own is in the air and the delay is over: off the enemy by the angle of its tactics;
// - toward the enemy.
static void mr_choose_course(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrSight *sight,
                             const MrThreat *threat, MrCourse *out) {
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

#if MR_DIMENSIONS == 3

// R_NEZ [m] as pilots estimate it, by the thinness of the air halfway between the fighters' heights.
static void mr_look_up_r_nez(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
                             const MrSight *sight, float nez[MR_LANES]) {
  (void)sight;
  const MrBody *own = &b->fighters[fighter].body;
  const MrReach *reach = &sim->types.reach[mr_side(sim, fighter)];
  MR_FOR_LANES(i) nez[i] = reach->nez + reach->nez_by_thin * mr_air(0.5f * (own->z[i] + enemy->z[i])).thin;
}

#else

// R_NEZ [m] of the pilots that fire by it, 0 for others. If no lane has such a pilot, the map is not looked up.
static void mr_look_up_r_nez(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
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

#endif

// Decides which pilots fire. The enemy must be near its nose, and inside the range at which its tactics fire with the
// missiles that it has left. It must have fewer missiles in the air than its salvo.
static void mr_choose_fire(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
                           const MrSight *sight, const MrThreat *threat, int32_t fire[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *f = &b->fighters[fighter];
  const MrTactics *t = &f->tactics;
  int32_t side = mr_side(sim, fighter);
  MR_ALIGNED float nez[MR_LANES];
  mr_look_up_r_nez(sim, b, fighter, enemy, sight, nez);
  MR_FOR_LANES(i) {
    int far = (sight->range[i] < t->fire_r_max[i] * mr_r_max(sim, side, &f->body, enemy, sight->approach[i], i)) &
              (f->ammunition[i] > t->reserve[i]);
    int near = sight->range[i] < t->fire_r_nez[i] * nez[i];
    fire[i] = (mr_cosine(sight, i) > k->fire_cosine) & (threat->own_in_air[i] < t->salvo[i]) & (far | near);
  }
}

// Turns a pilot's sight of its contact into the direction of a search where there is no track: toward the radar that
// its receiver hears; else to the last place of the enemy; else straight ahead. `source` is the contact's.
static void mr_search(const int32_t source[MR_LANES], const MrHeard *heard, MrSight *sight) {
  MR_FOR_LANES(i) {
    int searches = !mr_is_track(source[i]), ahead = searches & (source[i] == MR_UNSEEN);
    int follows = searches & heard->hears[i];
    float left = mr_select(ahead, 0.0f, sight->left[i]);
    sight->ahead[i] = mr_select(follows, heard->ahead[i], mr_select(ahead, 1.0f, sight->ahead[i]));
    sight->left[i] = mr_select(follows, heard->left[i], left);
  }
}

// Changes the courses of the pilots `notcher`: they beam the radar that tracks them, in the first part of each period,
// unless a seeker has a lock on them or a missile of their own needs support.
static void mr_notch(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrHeard *heard, const MrThreat *threat,
                     MrCourse *course) {
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

// Sets the commands of fighting pilots in all lanes. With the course at angle e off the nose, the rudder is clip(gain *
// sin e), or full when the course is behind.
static void mr_give_commands(const MrSim *sim, const MrCourse *course, const int32_t fire[MR_LANES], MrFighter *f) {
  float gain = sim->params.pilot_steering;
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    float side = course->left[i] < 0.0f ? -1.0f : 1.0f;
    float rudder = course->ahead[i] < 0.0f ? side : mr_clip(gain * course->left[i], -1.0f, 1.0f);
    f->rudder_command[i] = mr_select(mine, rudder, f->rudder_command[i]);
    f->fire[i] = mr_select_int(mine, fire[i], f->fire[i]);
  }
}

#if MR_DIMENSIONS == 3

// The greatest sine of the climb with which pilots go to their height, and how fast they level off there [s].
#define MR_PILOT_CLIMB 0.5f
#define MR_PILOT_LEVEL_TIME 8.0f

// Sets the climb of fighting pilots: they dive while a missile threatens them, else they go to their height.
static void mr_choose_climb(const MrSim *sim, int32_t side, const MrThreat *threat, MrFighter *f) {
  float inverse = 1.0f / sim->types.aircraft[side].climb_sine, dive = -sim->params.pilot_dive;
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    float sine = (f->tactics.height[i] - f->body.z[i]) / (MR_PILOT_LEVEL_TIME * f->body.v[i]);
    float climb = mr_clip(mr_clip(sine, -MR_PILOT_CLIMB, MR_PILOT_CLIMB) * inverse, -1.0f, 1.0f);
    climb = mr_select(threat->present[i], dive, climb);
    f->climb_command[i] = mr_select(mine, climb, f->climb_command[i]);
  }
}

#endif

static void mr_weave(const MrSim *sim, MrBlock *b, int32_t fighter) {
  int32_t period = sim->constants.weave_period;
  float rudder = sim->params.weave_rudder;
  MrFighter *f = &b->fighters[fighter];
  MR_FOR_LANES(i) {
    int32_t phase = (b->time[i] + period / 4) % period;
    float weave = phase < period / 2 ? rudder : -rudder;
    f->rudder_command[i] = mr_select(f->pilot[i] == MR_PILOT_weave, weave, f->rudder_command[i]);
  }
}

// Sets the commands of the peaceful pilots of a fighter. Returns true if fighting ones fly it in some lanes, whose
// commands are then those of straight flight.
static bool mr_fly_peaceful(const MrSim *sim, MrBlock *b, int32_t fighter) {
  MrFighter *f = &b->fighters[fighter];
  int32_t agents = 0, weaving = 0, fighting = 0;  // lanes
  MR_FOR_LANES(i) {
    agents += f->pilot[i] == MR_PILOT_agent;
    weaving += f->pilot[i] == MR_PILOT_weave;
    fighting += f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
  }
  if (agents == MR_LANES) return false;
  MR_FOR_LANES(i) {
    int scripted = f->pilot[i] != MR_PILOT_agent;
    f->rudder_command[i] = mr_select(scripted, 0.0f, f->rudder_command[i]);
    f->throttle_command[i] = mr_select(scripted, 1.0f, f->throttle_command[i]);
    f->fire[i] = mr_select_int(scripted, 0, f->fire[i]);
  }
#if MR_DIMENSIONS == 3
  MR_FOR_LANES(i) {
    f->climb_command[i] = mr_select(f->pilot[i] != MR_PILOT_agent, 0.0f, f->climb_command[i]);
  }
#endif
  if (weaving) mr_weave(sim, b, fighter);
  return fighting > 0;
}

// Fighting pilots -----------------------------------------------------------------------------------------

#if MR_SIDE > 1
// wing_pilots.h has these.
static void mr_share_targets(const MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                             int32_t side, int lane);
static void mr_fly_in_pairs(const MrSim *sim, const MrBlock *b, const MrPicture *picture,
                            const MrThreat threats[MR_FIGHTERS], int32_t fighter, const MrSight *sight,
                            MrCourse *course, int32_t fire[MR_LANES]);

// Collects the true targets of a fighter's pilots, or with sensors their contacts.
static void mr_collect_targets(const MrSim *sim, const MrBlock *b, const MrPicture *picture, int32_t fighter,
                               MrContact *out) {
  const int32_t *target = b->fighters[fighter].target;
  MR_EACH_LANE(i) {
    const MrContact *contact = picture ? &picture->contacts[mr_contact_place(sim, fighter, target[i])] : NULL;
    out->source[i] = contact ? contact->source[i] : MR_LIVE;
    mr_take_body(1, contact ? &contact->body : &b->fighters[target[i]].body, &out->body, i);
  }
}
#endif

// Sets the commands of the fighting pilots of one fighter.
static void mr_fight(const MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                     int32_t fighter) {
  MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &aware->threats[fighter];
  const MrHeard *heard = &aware->heard[fighter];
  MrSight room[2], *sight = room;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
#if MR_SIDE == 1
  const MrContact *contact = picture ? &picture->contacts[fighter] : NULL;
  const MrBody *target = contact ? &contact->body : &b->fighters[mr_opponent(fighter)].body;
  const int32_t *enemy_left = b->fighters[mr_opponent(fighter)].ammunition;
  if (!picture) sight = mr_true_sight(b, fighter, mr_opponent(fighter), room);
#else
  MrContact collected = {.source = {0}};
  const MrContact *contact = &collected;
  const MrBody *target = &collected.body;
  MR_ALIGNED int32_t enemy_left[MR_LANES];
  mr_collect_targets(sim, b, picture, fighter, &collected);
  MR_EACH_LANE(i) enemy_left[i] = b->fighters[f->target[i]].ammunition[i];
#endif
  if (picture || MR_SIDE > 1) mr_look_at(&f->body, target, sight);
  if (picture) mr_search(contact->source, heard, sight);
  mr_choose_course(sim, b, fighter, sight, threat, &course);
  mr_keep_range(sim, b, &f->tactics, sight, threat, picture ? contact : NULL, enemy_left, &course);
  mr_choose_fire(sim, b, fighter, target, sight, threat, fire);
  if (picture) mr_notch(sim, b, fighter, heard, threat, &course);
#if MR_SIDE > 1
  if (picture) mr_fly_in_pairs(sim, b, picture, aware->threats, fighter, sight, &course, fire);
  MR_FOR_LANES(i) fire[i] = mr_select_int(fire[i], MR_FIRE_TARGET, 0);
#endif
  if (picture)
    MR_FOR_LANES(i) fire[i] = mr_select_int(mr_is_track(contact->source[i]), fire[i], 0);
  mr_give_commands(sim, &course, fire, f);
#if MR_DIMENSIONS == 3
  mr_choose_climb(sim, mr_side(sim, fighter), threat, f);
#endif
}

// Sets the commands of all scripted fighters of a block. `picture` is NULL without sensors.
static void mr_fly_pilots(const MrSim *sim, MrBlock *b, const MrPicture *picture) {
  bool fights[MR_FIGHTERS], any = false;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    fights[f] = mr_fly_peaceful(sim, b, f);
    any |= fights[f];
  }
  if (!any) return;
  MrAwareness aware;
  mr_become_aware(sim, b, picture, fights, &aware);
#if MR_SIDE > 1
  MR_EACH_LANE(i) {
    for (int32_t side = 0; side < MR_SIDES; side++) mr_share_targets(sim, b, picture, &aware, side, i);
  }
#endif
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (fights[f]) mr_fight(sim, b, picture, &aware, f);
  }
}

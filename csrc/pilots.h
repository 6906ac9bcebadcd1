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

#include "awareness.h"
#include "block.h"
#include "envelope.h"
#include "mission.h"
#include "picture.h"
#include "sight.h"

// The directions in which pilots steer: unit vectors in the own frame.
typedef struct {
  MR_ALIGNED float ahead[MR_LANES], left[MR_LANES];
} MrCourse;

// Courses and shots --------------------------------------------------------------------------------------

// The angle off the enemy at which a pilot flies while its missile is in the air. With sensors, while the missile needs
// support, the angle stays within the radar's cone, unless the tactics are to run straight away from the enemy.
static inline MrVector mr_crank_angle(const MrSensors *k, const MrTactics *t, const MrThreat *threat, int i) {
  int narrows = threat->needs_support[i] & (t->off_c[i] < k->crank_c) & (t->off_c[i] > -1.0f);
  return (MrVector){mr_select(narrows, k->crank_c, t->off_c[i]), mr_select(narrows, k->crank_s, t->off_s[i])};
}

// The direction at an angle off another, whose cosine and sine are c and s, on the side of the nose.
static inline MrVector mr_off_to_nose(MrVector to, float c, float s) { return mr_turn(to, c, to.left > 0.0f ? -s : s); }

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
    MrVector off = mr_off_to_nose(enemy, c, s);
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
    MrVector angle = mr_crank_angle(&sim->constants.sensors, t, threat, i);
    MrVector off = mr_off_to_nose(enemy, angle.ahead, angle.left);
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

// The enemy that a fighter's pilot flies against in lane i.
#if MR_SIDE == 1
#define MR_PILOT_TARGET(b, fighter, i) mr_opponent(fighter)
#else
#define MR_PILOT_TARGET(b, fighter, i) ((b)->fighters[fighter].target[i])
#endif

#if MR_DIMENSIONS == 3

// R_NEZ [m] of a kind of missile as pilots estimate it, by the thinness of the air halfway between the fighters'
// heights.
static void mr_look_up_r_nez(const MrSim *sim, const MrBlock *b, int32_t fighter, int32_t kind, const MrBody *enemy,
                             const MrSight *sight, float nez[MR_LANES]) {
  (void)sight;
  const MrBody *own = &b->fighters[fighter].body;
  const MrRoster *roster = mr_roster(sim, b);
  MR_FOR_LANES(i) {
    MrReach reach = mr_reach_at(roster, MR_PILOT_TARGET(b, fighter, i), kind, i);
    nez[i] = reach.nez + reach.nez_by_thin * mr_air(0.5f * (own->z[i] + enemy->z[i])).thin;
  }
}

#else

// R_NEZ [m] of the pilots that fire by it, 0 for others. If no lane has such a pilot, the map is not looked up.
static void mr_look_up_r_nez(const MrSim *sim, const MrBlock *b, int32_t fighter, int32_t kind, const MrBody *enemy,
                             const MrSight *sight, float nez[MR_LANES]) {
  (void)kind;
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

// Sets what each pilot fires: 0, or from 1 the kind of missile with the shortest R_max among those that it would fire.
// The enemy must be near its nose, and inside the range at which its tactics fire with the missiles that it has left.
// It must have fewer missiles in the air than its salvo.
static void mr_choose_fire(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrBody *enemy,
                           const MrSight *sight, const MrThreat *threat, int32_t fire[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  const MrFighter *f = &b->fighters[fighter];
  const MrTactics *t = &f->tactics;
  const MrRoster *roster = mr_roster(sim, b);
  int32_t kinds = mr_kinds(sim);
  MR_ALIGNED float nez[MR_LANES], shortest[MR_LANES] = {0};
  MR_FOR_LANES(i) fire[i] = 0;
  for (int32_t kind = 0; kind < kinds; kind++) {
    mr_look_up_r_nez(sim, b, fighter, kind, enemy, sight, nez);
    MR_FOR_LANES(i) {
      int32_t target = MR_PILOT_TARGET(b, fighter, i);
      float r_max = mr_r_max(sim, roster, target, kind, &f->body, enemy, sight->approach[i], i);
      int far = (sight->range[i] < t->fire_r_max[i] * r_max) & (f->ammunition[i] > t->reserve[i]);
      int near = sight->range[i] < t->fire_r_nez[i] * nez[i];
      int may = (mr_cosine(sight, i) > k->fire_cosine) & (threat->own_in_air[i] < t->salvo[i]) & (far | near);
      if (kinds > 1) may &= (mr_missiles_left(f, kind, i) > 0) & ((fire[i] == 0) | (r_max < shortest[i]));
      shortest[i] = mr_select(may, r_max, shortest[i]);
      fire[i] = mr_select_int(may, kind + 1, fire[i]);
    }
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
static void mr_choose_climb(const MrSim *sim, const MrRoster *roster, int32_t fighter, const MrThreat *threat,
                            MrFighter *f) {
  const float *climb_sine = roster->fighters[fighter].aircraft.climb_sine;
  float dive = -sim->params.pilot_dive;
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    float sine = (f->tactics.height[i] - f->body.z[i]) / (MR_PILOT_LEVEL_TIME * f->body.v[i]);
    float climb = mr_clip(mr_clip(sine, -MR_PILOT_CLIMB, MR_PILOT_CLIMB) * (1.0f / climb_sine[i]), -1.0f, 1.0f);
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

// The target of a fighter's pilots, and their sight of it: the true ones, or with sensors those of the contact. In
// lanes without a track the sight is the direction of a search.
typedef struct {
  const MrBody *target;
  const MrContact *contact;  // with full information its source alone is set, and in one against one nothing: NULL
  MrSight *sight;
  MrSight room[2];
  MrContact collected;
} MrAim;

static void mr_aim(const MrSim *sim, const MrBlock *b, const MrPicture *picture, const MrHeard *heard, int32_t fighter,
                   MrAim *out) {
  out->sight = out->room;
#if MR_SIDE == 1
  (void)sim;
  out->contact = picture ? &picture->contacts[fighter] : NULL;
  out->target = picture ? &out->contact->body : &b->fighters[mr_opponent(fighter)].body;
  if (!picture) out->sight = mr_true_sight(b, fighter, mr_opponent(fighter), out->room);
#else
  out->collected = (MrContact){.source = {0}};
  out->contact = &out->collected;
  out->target = &out->collected.body;
  mr_collect_targets(sim, b, picture, fighter, &out->collected);
#endif
  if (picture || MR_SIDE > 1) mr_look_at(&b->fighters[fighter].body, out->target, out->sight);
  if (picture) mr_search(out->contact->source, heard, out->sight);
}

// Changes the courses of attackers' pilots in missions, unless a missile threatens them. They fly straight to the line:
// in the mission line where they have no missile left, no track of their target, or are nearer to the line than it is; in
// the mission escort where they fly the transport, or have no track.
static void mr_press_on(const MrSim *sim, const MrBlock *b, int32_t fighter, const MrThreat *threat, const MrAim *aim,
                        MrCourse *course) {
  const MrFighter *f = &b->fighters[fighter];
  int32_t side = mr_side(sim, fighter);
  bool is_line = sim->params.mission == MR_MISSION_LINE;
  MR_FOR_LANES(i) {
    int tracks = aim->contact ? mr_is_track(aim->contact->source[i]) : 1;
    int passed = mr_line_range(b, &f->body, i) < mr_line_range(b, aim->target, i);
    int is_free = is_line ? (f->ammunition[i] == 0) | passed : f->pilot[i] == MR_PILOT_transport;
    int goes = mr_attacks(b, side, i) & !threat->present[i] & !threat->needs_support[i] & (is_free | !tracks);
    MrVector way = mr_into_own(&f->body, b->line_x[i], b->line_y[i], i);
    course->ahead[i] = mr_select(goes, way.ahead, course->ahead[i]);
    course->left[i] = mr_select(goes, way.left, course->left[i]);
  }
}

// Sets the commands of the fighting pilots of one fighter.
static void mr_fight(const MrSim *sim, MrBlock *b, const MrPicture *picture, const MrAwareness *aware,
                     int32_t fighter) {
  MrFighter *f = &b->fighters[fighter];
  const MrThreat *threat = &aware->threats[fighter];
  const MrHeard *heard = &aware->heard[fighter];
  MrAim aim;
  MrCourse course;
  MR_ALIGNED int32_t fire[MR_LANES];
#if MR_SIDE == 1
  const int32_t *enemy_left = b->fighters[mr_opponent(fighter)].ammunition;
#else
  MR_ALIGNED int32_t enemy_left[MR_LANES];
  MR_EACH_LANE(i) enemy_left[i] = b->fighters[f->target[i]].ammunition[i];
#endif
  mr_aim(sim, b, picture, heard, fighter, &aim);
  const MrSight *sight = aim.sight;
  mr_choose_course(sim, b, fighter, sight, threat, &course);
  if (!mr_has_mission(sim)) {
    mr_keep_range(sim, b, &f->tactics, sight, threat, picture ? aim.contact : NULL, enemy_left, &course);
  }
  mr_choose_fire(sim, b, fighter, aim.target, sight, threat, fire);
  if (picture) mr_notch(sim, b, fighter, heard, threat, &course);
  if (mr_has_mission(sim)) mr_press_on(sim, b, fighter, threat, &aim, &course);
#if MR_SIDE > 1
  if (picture) mr_fly_in_pairs(sim, b, picture, aware->threats, fighter, sight, &course, fire);
  MR_FOR_LANES(i) fire[i] = mr_select_int(fire[i], MR_FIRE_TARGET, 0);
#endif
  if (picture)
    MR_FOR_LANES(i) fire[i] = mr_select_int(mr_is_track(aim.contact->source[i]), fire[i], 0);
  mr_give_commands(sim, &course, fire, f);
  if (mr_has_mission(sim)) mr_hold_speed(sim, threat->present, f);
#if MR_DIMENSIONS == 3
  mr_choose_climb(sim, mr_roster(sim, b), fighter, threat, f);
#endif
}

// Sets the systems of the fighting pilots of one fighter. The radar is silent while it could see nothing that they
// know: all their tracks are outside its cone, and no missile of theirs needs support. They drop chaff while a seeker
// that they evade has a lock on them, and they fly across the line to it enough for chaff to work.
static void mr_choose_systems(const MrSim *sim, const MrBlock *b, const MrThreat *threat, int32_t fighter,
                              MrPicture *picture) {
  const MrFighter *f = &b->fighters[fighter];
  MR_ALIGNED int32_t tracks[MR_LANES] = {0}, watches[MR_LANES] = {0};
  MR_FOR_SIDE(sim, !mr_side(sim, fighter), e) {
    const MrContact *contact = &picture->contacts[mr_contact_place(sim, fighter, e)];
    MrSight sight;
    mr_look_at(&f->body, &contact->body, &sight);
    MR_FOR_LANES(i) {
      int tracked = mr_is_track(contact->source[i]);
      tracks[i] |= tracked;
      watches[i] |= tracked & (mr_cosine(&sight, i) >= sim->constants.sensors.radar_cosine);
    }
  }
  int32_t *command = picture->systems[fighter].command;
  MR_FOR_LANES(i) {
    // The course that evades a seeker is across the line to it: its left part is the seeker's part ahead.
    int across = fabsf(threat->left[i]) * f->body.v[i] < sim->params.chaff_speed;
    int silent = tracks[i] & !watches[i] & !threat->needs_support[i];
    int32_t level = silent * MR_SILENT + (threat->present[i] & across) * MR_DROP;
    command[i] = mr_select_int(f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT, level, command[i]);
  }
}

// Lets scripted pilots use no systems, until they choose.
static void mr_use_no_systems(const MrFighter *f, MrSystems *systems) {
  MR_FOR_LANES(i) {
    systems->command[i] = mr_select_int(f->pilot[i] == MR_PILOT_agent, systems->command[i], 0);
  }
}

// Sets the commands of all scripted fighters of a block. `picture` is NULL without sensors.
static void mr_fly_pilots(const MrSim *sim, MrBlock *b, MrPicture *picture) {
  bool fights[MR_FIGHTERS], any = false;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    fights[f] = mr_fly_peaceful(sim, b, f);
    any |= fights[f];
    if (sim->has_systems) mr_use_no_systems(&b->fighters[f], &picture->systems[f]);
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
    if (!fights[f]) continue;
    mr_fight(sim, b, picture, &aware, f);
    if (sim->has_systems) mr_choose_systems(sim, b, &aware.threats[f], f, picture);
  }
}

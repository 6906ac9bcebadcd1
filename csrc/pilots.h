// SPDX-License-Identifier: MIT
//
// Scripted pilots, for either side. Their commands follow from what they see (sense.h) and from their tactics
// (tactics.h). What differs between one against one and teams is in pair_pilots.h and team_pilots.h. RULES.md,
// "Pilots".
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

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

// Whether a pilot heeds a missile in lane i. A prudent one does not, if the missile would not reach it, nor nearly.
// `ahead` is the cosine of the missile's bearing.
static inline int mr_heeds(const struct MrSim *sim, const MrMissile *m, const MrTactics *t, float range, float ahead,
                           int i) {
  float run_down = mr_chase_reach(sim, m->body.v[i], (float)m->age[i], sim->constants.run_speed) - range;
  int reaches = run_down + t->guard[i] * 0.5f * (1.0f + ahead) > 0.0f;
  return reaches | !t->prudent[i];
}

// The course across a line of sight, on the side that the nose is nearer to. (ahead, left) is the unit vector along it.
static inline MrVector mr_beam(float ahead, float left) {
  float side = left < 0.0f ? -1.0f : 1.0f;
  return (MrVector){side * left, -side * ahead};
}

// The angle off the enemy at which a pilot flies while its missile is in the air. With sensors, while the missile needs
// support, the angle stays within the radar's cone; but who runs from the enemy altogether runs.
static inline MrVector mr_crank_angle(const MrSensors *k, const MrTactics *t, const MrThreat *threat, int i) {
  int narrows = threat->needs_support[i] & (t->off_c[i] < k->crank_c) & (t->off_c[i] > -1.0f);
  return (MrVector){mr_select(narrows, k->crank_c, t->off_c[i]), mr_select(narrows, k->crank_s, t->off_s[i])};
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
static void mr_give_commands(const struct MrSim *sim, const MrCourse *course, const int32_t fire[MR_LANES],
                             MrFighter *f) {
  float gain = sim->params.pilot_steering;
  MR_FOR_LANES(i) {
    int mine = f->pilot[i] >= MR_PEACEFUL_PILOT_COUNT;
    float side = course->left[i] < 0.0f ? -1.0f : 1.0f;
    float rudder = course->ahead[i] < 0.0f ? side : mr_clip(gain * course->left[i], -1.0f, 1.0f);
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

// Sets the commands of the peaceful pilots of a fighter. Returns whether fighting ones fly it, whose commands are then
// those of straight flight.
static bool mr_fly_peaceful(const struct MrSim *sim, MrBlock *b, int32_t fighter) {
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
  if (weaving) mr_weave(sim, b, fighter);
  return fighting > 0;
}

// SPDX-License-Identifier: MIT
//
// The rules of an engagement around its physics steps: actions from outside, launches and the outcome. RULES.md, "Order
// of events".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "envelope.h"
#include "kernel.h"
#include "mission.h"
#include "picture.h"
#include "scene.h"
#include "systems.h"
#include "targets.h"

// Actions -------------------------------------------------------------------------------------------------

static inline int32_t mr_clip_int(int32_t x, int32_t high) { return x < 0 ? 0 : x > high ? high : x; }

// The level nearest a continuous control, at most the highest; not-a-number is level 0.
static inline int32_t mr_level_of(float control, int32_t highest) {
  if (!(control > 0.5f)) return 0;
  return control < (float)highest ? (int32_t)(control + 0.5f) : highest;
}

// A fighter's `fire` for this control: above 0.5 a shot. In one against one with height k means the level k, the k-th
// kind of missile. In teams the shot is at the enemy nearest the nose, and k + 1 means the level k, a shot at the k-th
// enemy. Not-a-number is no shot.
static inline int32_t mr_fire_of(const MrSim *sim, float control) {
  int32_t highest = mr_fire_levels(sim) - 1;
  if (MR_SIDE == 1) return mr_level_of(control, highest);
  if (!(control > 0.5f)) return 0;
  if (control < 1.5f) return MR_FIRE_AHEAD;
  return control < (float)highest + 1.0f ? (int32_t)(control - 0.5f) : highest;
}

// Sets the commands of a fighter that is flown from outside, clipped; not-a-number counts as 0.
// `systems` is NULL in games without that control.
static inline void mr_command(const MrSim *sim, MrFighter *f, MrSystems *systems, int lane, const float *controls) {
  float rudder = controls[0], throttle = controls[MR_THROTTLE];
  f->rudder_command[lane] = rudder == rudder ? mr_clip(rudder, -1.0f, 1.0f) : 0.0f;
  f->throttle_command[lane] = throttle == throttle ? mr_clip(throttle, 0.0f, 1.0f) : 0.0f;
#if MR_DIMENSIONS == 3
  float climb = controls[MR_CLIMB];
  f->climb_command[lane] = climb == climb ? mr_clip(climb, -1.0f, 1.0f) : 0.0f;
#endif
  f->fire[lane] = mr_fire_of(sim, controls[mr_controls_of(sim) - 1]);
  if (systems) systems->command[lane] = mr_level_of(controls[MR_SYSTEMS_PLACE], MR_SYSTEMS_LEVELS - 1);
}

// Takes the levels of one agent in the first lanes, `stride` numbers from lane to lane.
static void mr_take_levels(const MrSim *sim, const int32_t *actions, int lanes, int stride, MrFighter *fighter,
                           MrSystems *systems) {
  int32_t fire = mr_controls_of(sim) - 1;
  for (int i = 0; i < lanes; i++) {
    const int32_t *levels = actions + i * stride;
    int32_t rudder = mr_clip_int(levels[0], MR_RUDDER_LEVELS - 1);
    int32_t throttle = mr_clip_int(levels[MR_THROTTLE], MR_THROTTLE_LEVELS - 1);
    fighter->rudder_command[i] = (float)(2 * rudder) / (MR_RUDDER_LEVELS - 1) - 1.0f;
    fighter->throttle_command[i] = (float)throttle / (MR_THROTTLE_LEVELS - 1);
    fighter->fire[i] = mr_clip_int(levels[fire], mr_fire_levels(sim) - 1);
    if (systems) systems->command[i] = mr_clip_int(levels[MR_SYSTEMS_PLACE], MR_SYSTEMS_LEVELS - 1);
#if MR_DIMENSIONS == 3
    int32_t climb = mr_clip_int(levels[MR_CLIMB], MR_CLIMB_LEVELS - 1);
    fighter->climb_command[i] = (float)(2 * climb) / (MR_CLIMB_LEVELS - 1) - 1.0f;
#endif
  }
}

// Takes actions over into the state, clipped. `actions` has a row of mr_controls_of numbers, int32 levels or float32
// controls, for every agent of the simulation, or for every fighter.
static void mr_take_actions(const MrSim *sim, int32_t block, MrTake take, const void *actions) {
  int32_t rows = take == MR_TAKE_CONTROLS ? mr_fighters(sim) : sim->agents_per_env;
  int lanes = mr_used_lanes(sim, block), stride = rows * mr_controls_of(sim);
  MrPicture *picture = mr_picture(sim, block);
  const char *first = (const char *)actions + 4 * (size_t)block * MR_LANES * (size_t)stride;
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MrFighter *fighter = &mr_block(sim, block)->fighters[f];
    MrSystems *systems = sim->has_systems ? &picture->systems[f] : NULL;
    if (take != MR_TAKE_CONTROLS && !sim->is_agent[f]) continue;
    if (take == MR_TAKE_LEVELS) {
      mr_take_levels(sim, (const int32_t *)(const void *)first, lanes, stride, fighter, systems);
    } else {
      const float *controls = (const float *)(const void *)first;
      for (int i = 0; i < lanes; i++, controls += stride) {
        if (fighter->pilot[i] == MR_PILOT_agent) mr_command(sim, fighter, systems, i, controls);
      }
    }
    first += 4 * mr_controls_of(sim);
  }
}

// Launches ------------------------------------------------------------------------------------------------

// Counts a shot for the records: its range, and whether that is inside R_NEZ, wasted or neither.
static void mr_count_shot(const MrSim *sim, MrFighter *shooter, const MrFighter *target, int lane) {
  const MrBody *from = &shooter->body, *to = &target->body;
  float range = sqrtf(mr_range2(from, to, lane));
  shooter->shots[lane]++;
  shooter->launch_range[lane] += range;
  if (!sim->has_map) return;
  float dx = to->x[lane] - from->x[lane], dy = to->y[lane] - from->y[lane];
  MrVector target_seen = mr_into_frame(dx, dy, from->c[lane], from->s[lane]);
  MrVector shooter_seen = mr_into_frame(-dx, -dy, to->c[lane], to->s[lane]);
  MrCell cell = mr_cell(&sim->map, target_seen, shooter_seen, from->v[lane], to->v[lane]);
  MrQuad ranges = mr_ranges(&sim->map, cell);
  float aero = ranges[0], nez = ranges[1], minimum = ranges[3];
  shooter->shots_wasted[lane] += range > aero || range < minimum;
  shooter->shots_in_nez[lane] += range > minimum && range <= nez;
}

// Launches a missile of one fighter in one lane at an enemy that it knows; -1 is no enemy. Returns false if the fighter
// is dead, has no missile of this kind left or no enemy to launch it at, or if no slot is free. `picture` is NULL
// without sensors.
static bool mr_launch_at(const MrSim *sim, MrBlock *b, MrPicture *picture, int32_t fighter, int32_t kind,
                         int32_t target, int lane) {
  MrFighter *f = &b->fighters[fighter];
  int32_t slot = 0;
  while (slot < MR_MISSILES && b->missiles[slot].active[lane]) slot++;
  if (!f->alive[lane] || mr_missiles_left(f, kind, lane) < 1 || target < 0 || slot == MR_MISSILES) return false;
  const MrBody *known = mr_known(sim, b, picture, fighter, target, lane);
  if (!known) return false;
  if (picture) mr_believe_in(known, 0, &picture->beliefs[slot], lane);

  const MrBody *from = &f->body;
  MrMissile *m = &b->missiles[slot];
  float offset = sim->params.missile_launch_offset;
  m->body.x[lane] = from->x[lane] + offset * from->c[lane];
  m->body.y[lane] = from->y[lane] + offset * from->s[lane];
  m->body.c[lane] = from->c[lane];
  m->body.s[lane] = from->s[lane];
  m->body.v[lane] = from->v[lane];
  m->body.rudder[lane] = 0.0f;
#if MR_DIMENSIONS == 3
  m->body.z[lane] = from->z[lane] + offset * from->u[lane];
  m->body.u[lane] = from->u[lane];
  m->kind[lane] = kind;
  f->ammunition_2[lane] -= kind == 1;
  f->ammunition_3[lane] -= kind == 2;
#endif
  m->active[lane] = 1;
  m->owner[lane] = fighter;
  m->target[lane] = target;
  m->age[lane] = 0;
  b->live[slot]++;

  mr_count_shot(sim, f, &b->fighters[target], lane);
  f->ammunition[lane]--;
  f->launched[lane] = b->time[lane];
  f->ready[lane] = b->time[lane] + sim->constants.launch_interval;
  return true;
}

// The first kind of missile that a fighter in one lane has left; the last kind if it has none.
static inline int32_t mr_first_kind_left(const MrSim *sim, const MrFighter *f, int lane) {
  int32_t kind = 0;
  while (kind < mr_kinds(sim) - 1 && mr_missiles_left(f, kind, lane) < 1) kind++;
  return kind;
}

// Launches a missile of the first kind that is left at the nearest enemy that the fighter knows.
static bool mr_launch_one(const MrSim *sim, MrBlock *b, MrPicture *picture, int32_t fighter, int lane) {
  int32_t target = mr_nearest_enemy(sim, b, picture, fighter, 1, lane);
  int32_t kind = mr_first_kind_left(sim, &b->fighters[fighter], lane);
  return mr_launch_at(sim, b, picture, fighter, kind, target, lane);
}

// Launches a missile for every fighter whose fire command is set and that may launch now.
static void mr_launch_commanded(const MrSim *sim, MrBlock *b, MrPicture *picture) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const MrFighter *fighter = &b->fighters[f];
    MR_ALIGNED int32_t wants[MR_LANES];
    MR_FOR_LANES(i) {
      wants[i] = (fighter->fire[i] != 0) & fighter->alive[i] & (fighter->ammunition[i] > 0) &
                 (b->time[i] >= fighter->ready[i]);
    }
    if (mr_count(wants) == 0) continue;
    MR_EACH_LANE(i) {
      int32_t kind = MR_DIMENSIONS == 3 && MR_SIDE == 1 ? fighter->fire[i] - 1 : 0;
      if (wants[i]) mr_launch_at(sim, b, picture, f, kind, mr_shot_at(sim, b, picture, f, i), i);
    }
  }
}

// Outcomes ------------------------------------------------------------------------------------------------

// Counts the decision just flown for each fighter that presses: the enemy is ahead of its beam. In teams it must live.
static void mr_count_pressing(const MrSim *sim, const MrScene *scene, const int32_t living[MR_SIDES][MR_LANES],
                              MrBlock *b) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const int32_t *enemies = living[!mr_side(sim, f)];
    MR_FOR_LANES(i) {
      int faces = MR_SIDE == 1 || enemies[i] > 0;
      int presses =
          faces & (b->outcome[i] == MR_OPEN) & b->fighters[f].alive[i] & (mr_cosine(&scene->sights[f], i) > 0.0f);
      b->fighters[f].pressed[i] += mr_select_int(presses, sim->constants.substeps, 0);
    }
  }
}

// The outcome of a draw with both sides alive under a pressing margin: the side that has pressed longer by it wins.
// `lead` is the time for which red has pressed less that of blue.
static inline int32_t mr_by_pressing(int32_t margin, int32_t lead) {
  int32_t winner = mr_select_int(lead >= margin, MR_RED_WINS, MR_DRAW);
  return mr_select_int(-lead >= margin, MR_BLUE_WINS, winner);
}

// Sets the outcome of engagements that are open but now over, from the state at the end of a decision.
static void mr_decide_outcomes(const MrSim *sim, const MrScene *scene, MrBlock *b) {
  int32_t margin = sim->constants.pressing_margin;
  MR_ALIGNED int32_t missiles_left[MR_LANES] = {0}, in_air[MR_LANES] = {0}, lead[MR_LANES] = {0};
  MR_ALIGNED int32_t living[MR_SIDES][MR_LANES];
  mr_count_living(sim, b, living);
  if (margin) mr_count_pressing(sim, scene, living, b);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) {
      missiles_left[i] |= b->fighters[f].alive[i] * b->fighters[f].ammunition[i];
      in_air[i] += scene->inbound[f].in_air[i];
      lead[i] += mr_side(sim, f) ? -b->fighters[f].pressed[i] : b->fighters[f].pressed[i];
    }
  }
  if (mr_has_mission(sim)) {
    mr_decide_missions(sim, b, living, in_air);
    return;
  }
  MR_FOR_LANES(i) {
    int32_t red = living[0][i], blue = living[1][i];
    int out_of_time = b->time[i] >= sim->constants.time_limit;
    int both = (red > 0) & (blue > 0);
    int settled = both ? out_of_time | (!missiles_left[i] & !in_air[i]) : out_of_time | !in_air[i] | !(red | blue);
    int32_t result = red == blue ? MR_DRAW : red > blue ? MR_RED_WINS : MR_BLUE_WINS;
    if (margin) result = mr_select_int(both & (red == blue), mr_by_pressing(margin, lead[i]), result);
    int open = b->outcome[i] == MR_OPEN;
    b->outcome[i] = mr_select_int(open & settled, result, b->outcome[i]);
    b->truncated[i] = mr_select_int(open & settled, both & out_of_time, b->truncated[i]);
  }
}

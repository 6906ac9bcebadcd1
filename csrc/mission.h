// SPDX-License-Identifier: MIT
//
// Missions: one side attacks, and its fighters have to cross a line, or its transport has to. Their start, progress and
// outcome, and what pilots do in them. RULES.md, "Missions".
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "rng.h"

// The number of the draw of the attacker, beyond those of the types.
#define MR_DRAW_ATTACKER 0x200u

static inline bool mr_has_mission(const MrSim *sim) { return sim->params.mission != MR_MISSION_FIGHT; }

// 1 if a side attacks in lane i.
static inline int mr_attacks(const MrBlock *b, int32_t side, int i) { return b->attacker[i] == 1 + side; }

// The distance of a body in lane i to the line [m], below 0 beyond it.
static inline float mr_line_range(const MrBlock *b, const MrBody *body, int i) {
  return b->line_at[i] - (b->line_x[i] * body->x[i] + b->line_y[i] * body->y[i]);
}

// The transport of a side that attacks in the mission escort: its last fighter.
static inline int32_t mr_transport_of(const MrSim *sim, int32_t side) {
  return mr_first(sim, side) + mr_size(sim, side) - 1;
}

// True if a fighter is the transport of the engagement in a lane.
static inline bool mr_is_transport(const MrSim *sim, const MrBlock *b, int32_t fighter, int lane) {
  int32_t side = mr_side(sim, fighter);
  bool escorts = sim->params.mission == MR_MISSION_ESCORT && mr_attacks(b, side, lane);
  return escorts && fighter == mr_transport_of(sim, side);
}

// The start ------------------------------------------------------------------------------------------------

// Draws the attacker of an episode, and lays the line behind the defender. (dx, dy) is the unit vector from red to
// blue, and `range` the distance between the sides.
static void mr_lay_line(const MrSim *sim, MrBlock *b, float range, float dx, float dy, int lane) {
  float u[4];
  int32_t attacker = sim->params.attacker;
  mr_uniform4(sim->seed, (uint32_t)b->engagement[lane], (uint32_t)b->episode[lane], MR_DRAW_ATTACKER, u);
  bool blue = attacker == MR_ATTACKER_IS_DRAWN ? u[0] >= 0.5f : attacker == MR_BLUE_ATTACKS;
  b->attacker[lane] = blue ? 2 : 1;
  b->line_x[lane] = blue ? -dx : dx;
  b->line_y[lane] = blue ? -dy : dy;
  b->line_at[lane] = 0.5f * range + sim->params.start_line_depth;
}

// Puts a fighter that starts at its side's place behind it, as the transport.
static void mr_start_transport(const MrSim *sim, const MrBlock *b, MrFighter *fighter, int lane) {
  float trail = sim->params.start_transport_trail;
  fighter->body.x[lane] -= trail * b->line_x[lane];
  fighter->body.y[lane] -= trail * b->line_y[lane];
  fighter->body.c[lane] = b->line_x[lane];
  fighter->body.s[lane] = b->line_y[lane];
  fighter->body.v[lane] = sim->params.transport_speed;
  fighter->ammunition[lane] = 0;
#if MR_DIMENSIONS == 3
  fighter->ammunition_2[lane] = fighter->ammunition_3[lane] = 0;
#endif
}

// Progress and outcome -------------------------------------------------------------------------------------

// The attack of a block: the living fighters that have to cross the line, and the least distance of one of them to it.
typedef struct {
  MR_ALIGNED int32_t living[MR_LANES];
  MR_ALIGNED float least[MR_LANES];  // [m]; infinite if none lives
} MrAttack;

static void mr_measure_attack(const MrSim *sim, const MrBlock *b, MrAttack *out) {
  MR_FOR_LANES(i) {
    out->living[i] = 0;
    out->least[i] = INFINITY;
  }
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    int32_t side = mr_side(sim, f);
    if (sim->params.mission == MR_MISSION_ESCORT && f != mr_transport_of(sim, side)) continue;
    MR_FOR_LANES(i) {
      int counts = mr_attacks(b, side, i) & b->fighters[f].alive[i];
      float range = mr_select(counts, mr_line_range(b, &b->fighters[f].body, i), INFINITY);
      out->living[i] += counts;
      out->least[i] = mr_select(range < out->least[i], range, out->least[i]);
    }
  }
}

// The outcome in one lane at the end of a decision, or MR_OPEN. `living` are the fighters of the side that defends.
static inline int32_t mr_mission_outcome(const MrBlock *b, const MrAttack *attack, int32_t living, int32_t in_air,
                                         int out_of_time, int i) {
  int32_t attacker = b->attacker[i] == 1 ? MR_RED_WINS : MR_BLUE_WINS;
  int32_t defender = b->attacker[i] == 1 ? MR_BLUE_WINS : MR_RED_WINS;
  int crossed = attack->least[i] <= 0.0f, cleared = (living == 0) & (in_air == 0);
  int32_t result = mr_select_int(out_of_time, defender, MR_OPEN);
  result = mr_select_int(cleared, attacker, result);
  result = mr_select_int(attack->living[i] == 0, defender, result);
  return mr_select_int(crossed, attacker, result);
}

// The outcomes of a block's missions. The arguments are of the state at the end of a decision.
static void mr_decide_missions(const MrSim *sim, MrBlock *b, const int32_t living[MR_SIDES][MR_LANES],
                               const int32_t in_air[MR_LANES]) {
  MrAttack attack;
  mr_measure_attack(sim, b, &attack);
  MR_FOR_LANES(i) {
    int out_of_time = b->time[i] >= sim->constants.time_limit;
    int32_t defenders = mr_select_int(b->attacker[i] == 1, living[1][i], living[0][i]);
    int32_t result = mr_mission_outcome(b, &attack, defenders, in_air[i], out_of_time, i);
    int open = b->outcome[i] == MR_OPEN, both = (living[0][i] > 0) & (living[1][i] > 0);
    int by_time = out_of_time & both & (attack.least[i] > 0.0f) & (attack.living[i] > 0);
    b->outcome[i] = mr_select_int(open, result, b->outcome[i]);
    b->truncated[i] = mr_select_int(open, by_time, b->truncated[i]);
  }
}

// Red's part of the potential for the progress of the attack: of the nearest attacker, or of the transport.
static void mr_rate_progress(const MrSim *sim, const MrBlock *b, float out[MR_LANES]) {
  float weight = sim->params.reward_line, half = sim->params.reward_line_range;
  MrAttack attack;
  mr_measure_attack(sim, b, &attack);
  MR_FOR_LANES(i) {
    float nearness = half / (half + mr_clip(attack.least[i], 0.0f, INFINITY));
    float part = weight * mr_select(b->attacker[i] == 1, nearness, -nearness);
    out[i] = mr_select(b->outcome[i] == MR_OPEN, part, 0.0f);
  }
}

// Pilots ---------------------------------------------------------------------------------------------------

// The throttle of a transport for each m/s below its speed.
#define MR_TRANSPORT_THROTTLE 0.05f

// Sets the throttle of transports that no missile threatens: half at their speed, less above it.
static void mr_hold_speed(const MrSim *sim, const int32_t threatened[MR_LANES], MrFighter *f) {
  MR_FOR_LANES(i) {
    float throttle = mr_clip(0.5f + MR_TRANSPORT_THROTTLE * (sim->params.transport_speed - f->body.v[i]), 0.0f, 1.0f);
    int holds = (f->pilot[i] == MR_PILOT_transport) & !threatened[i];
    f->throttle_command[i] = mr_select(holds, throttle, f->throttle_command[i]);
  }
}

// SPDX-License-Identifier: MIT
//
// The state: blocks of MR_LANES engagements in lock-step, every quantity an array [lane], so that a
// plain loop over the lanes is one vector instruction or a few. state_fields.h lists the quantities. Also
// the constants derived from the parameters at creation.

#pragma once

#include "midrange.h"
#include "state_fields.h"

// A loop over the lanes, for the vectoriser: lanes do not depend on each other, and unrolling sixteen
// scalar rounds first would hide that.
#if defined(__clang__)
#define MR_FOR_LANES(i) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < MR_LANES; i++)
#else
#define MR_FOR_LANES(i) _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int i = 0; i < MR_LANES; i++)
#endif

// The same one lane after the other, where lanes share something or branch.
#define MR_EACH_LANE(i) for (int i = 0; i < MR_LANES; i++)

// Arrays over the lanes start at a cache line: split vectors would cost twice.
#define MR_ALIGNED _Alignas(64)

// The structs of the state; state_fields.h says what their fields mean.
#define MR_DECLARE_FIELD(type, name, ...) MR_ALIGNED type name[MR_LANES];

typedef struct {
  MR_BODY_FIELDS(MR_DECLARE_FIELD)
} MrBody;

typedef struct {
  MR_TACTICS_FIELDS(MR_DECLARE_FIELD)
} MrTactics;

typedef struct {
  MrBody body;
  MrTactics tactics;
  MR_FIGHTER_FIELDS(MR_DECLARE_FIELD)
} MrFighter;

// Slots are shared by an engagement's fighters: a launch takes the lowest free one, so that a block
// works on few of them.
typedef struct {
  MrBody body;
  MR_MISSILE_FIELDS(MR_DECLARE_FIELD)
} MrMissile;

typedef struct {
  MR_KEY_FIELDS(MR_DECLARE_FIELD)
  MR_ENGAGEMENT_FIELDS(MR_DECLARE_FIELD)
  MrFighter fighters[MR_FIGHTERS];
  MrMissile missiles[MR_MISSILES];
  int32_t live[MR_MISSILES];  // in how many lanes the slot is active; no lane, no work
  int32_t padding[4];         // to a multiple of 64 bytes
} MrBlock;

_Static_assert(sizeof(MrBlock) % 64 == 0, "blocks stay aligned to cache lines");
_Static_assert(sizeof(MrBlock) <= 1024 * MR_LANES, "an engagement fits in 1 KiB");

// The flight law of one kind of body, see RULES.md.
typedef struct {
  float cd0, four_k;    // zero-lift drag [1/m], 4 * induced drag factor [m]
  float half_lift_per_rudder;  // 1 / turn radius / 2 [1/m]
  float half_load_limit;  // lateral acceleration / 2 [m/s^2]; huge when there is none
  float rudder_step;    // rudder travel a physics step
  float thrust;         // [m/s^2]
} MrAirframe;

typedef struct {
  float one;  // 1, but not to the compiler: gcc 12 makes two instructions of a minimum with a constant
  float dt;
  float clock_rate;  // seconds of the feature time_left for one of the engagement's
  int32_t substeps, time_limit, launch_interval;  // physics steps
  MrAirframe fighter, missile;
  float throttle_step;
  float burn_steps;       // motor burn time in physics steps, not rounded
  float navigation_gain;  // N * turn radius
  float reach, reach_time;  // of a missile flown straight down to pilot_reach_speed [m], [s]
  float run_speed;          // top speed of a fighter flying straight [m/s]
  float fire_cosine;        // cos of the pilots' fire limit off boresight
  int32_t weave_period, snake_period;  // physics steps
} MrConstants;

// The map as it is looked up: aero, nez, cold and minimum of a cell's corner side by side, and the first aspect again
// as the last.
typedef struct {
  float launch_speed_min, target_speed_min;
  float launch_nodes, target_nodes;  // a m/s
  _Alignas(16) float ranges[MR_MAP_OFF][MR_MAP_ASPECT + 1][MR_MAP_LAUNCH][MR_MAP_TARGET][4];
} MrMap;

struct MrSim {
  MrParams params;
  MrConstants constants;
  bool has_map;
  MrMap map;
  MrObservation observation;
  uint64_t seed;
  int32_t num_envs, num_blocks;
  bool auto_reset;
  bool is_agent[MR_FIGHTERS];
  int32_t agents_per_env;
  // Upper ends of the pilots' shares of [0, 1), for drawing one.
  float pilot_ends[MR_FIGHTERS][MR_PILOT_COUNT];
  const struct MrKernel *kernel;
  MrBlock *blocks;
  MrRecord *records;  // room for 2 * num_envs
  int32_t record_count;
};

// Whole physics steps that a time takes: rounded up, but for rounding errors, of which those of the two
// parameters (float32) grow with the result.
static inline int32_t mr_steps_of(const MrParams *p, double time) {
  double steps = time / (double)p->physics_dt * (1.0 - 2.4e-7) - 1e-4;
  int32_t whole = (int32_t)steps;
  return steps > (double)whole ? whole + 1 : whole;
}

// NaN gives `low`. Written so that each comparison is one instruction, also when a limit is a constant.
static inline float mr_clip(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

static inline float mr_max(float a, float b) { return a > b ? a : b; }

// a where the condition holds, else b. As functions, so that both are read in every lane: a conditional
// read or write of an array would become a masked one, which is slow to forward to later reads.
static inline float mr_select(int condition, float a, float b) { return condition ? a : b; }
static inline int32_t mr_select_int(int condition, int32_t a, int32_t b) { return condition ? a : b; }

// A field of the missile's target in lane i, out of an array of one struct for each fighter. By comparing, so that
// it stays a vector operation. A loop over the fighters in its place would keep gcc from vectorising the lanes.
#define MR_OF_TARGET(missile, fighters, field, i) \
  mr_select((missile)->target[i] == 1, (fighters)[1].field[i], (fighters)[0].field[i])
_Static_assert(MR_FIGHTERS == 2, "MR_OF_TARGET chooses one of two fighters");

// Sum of 0/1 flags over the lanes.
static inline int32_t mr_count(const int32_t flags[MR_LANES]) {
  int32_t n = 0;
  MR_FOR_LANES(i) n += flags[i];
  return n;
}

// SPDX-License-Identifier: MIT
//
// The state of the simulation. A block holds MR_LANES engagements, which fly in lock-step. A lane is the place of one
// engagement in its block. Every quantity is an array [lane], so a plain loop over the lanes compiles to one or a few
// vector instructions. state_fields.h lists the quantities.
//
// Here are also the constants that are derived from the parameters when a simulation is created.

#pragma once

#include "midrange.h"
#include "state_fields.h"

// A loop over the lanes that the compiler vectorises. The pragmas say that the lanes do not depend on each other.
// They also keep gcc from unrolling the loop, since it does not vectorise sixteen unrolled rounds.
#if defined(__clang__)
#define MR_FOR_LANES(i) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < MR_LANES; i++)
#else
#define MR_FOR_LANES(i) _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int i = 0; i < MR_LANES; i++)
#endif

// A plain loop over the lanes, one after the other. It is for bodies that branch or that share data between lanes.
#define MR_EACH_LANE(i) for (int i = 0; i < MR_LANES; i++)

// Arrays over the lanes start at a cache line: reading a vector that spans two lines would take twice as long.
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

// A missile slot, for missiles of either fighter. A launch takes the lowest free slot of its engagement. So the
// missiles of a block's engagements fill few slots, and the other slots cost nothing.
typedef struct {
  MrBody body;
  MR_MISSILE_FIELDS(MR_DECLARE_FIELD)
} MrMissile;

typedef struct {
  MR_KEY_FIELDS(MR_DECLARE_FIELD)
  MR_ENGAGEMENT_FIELDS(MR_DECLARE_FIELD)
  MrFighter fighters[MR_FIGHTERS];
  MrMissile missiles[MR_MISSILES];
  int32_t live[MR_MISSILES];  // number of lanes in which the slot is active; a slot with 0 is skipped
  int32_t padding[4];         // makes the size a multiple of 64 bytes
} MrBlock;

_Static_assert(sizeof(MrBlock) % 64 == 0, "blocks stay aligned to cache lines");
_Static_assert(sizeof(MrBlock) <= 1024 * MR_LANES, "an engagement fits in 1 KiB");

// What is known in a block with sensors: picture.h. Simulations without sensors have none of it.
typedef struct {
  MrBody body;  // that the enemy is believed to have
  MR_CONTACT_FIELDS(MR_DECLARE_FIELD)
} MrContact;

typedef struct {
  MR_BELIEF_FIELDS(MR_DECLARE_FIELD)
} MrBelief;

typedef struct {
  MrContact contacts[MR_FIGHTERS];  // of each fighter with its enemy
  MrBelief beliefs[MR_MISSILES];    // of the missile in each slot
} MrPicture;

// Constants of the flight law, RULES.md, "Flight": one struct for fighters, one for missiles.
typedef struct {
  float cd0, k;                // zero-lift drag Cd0 [1/m]; induced drag factor k [m]
  float lift_per_rudder;       // Cl at full rudder: 1 / turn radius [1/m]
  float load_limit;            // greatest lateral acceleration [m/s^2]; 1e30 without a limit
  float rudder_step;           // greatest change of the rudder in a physics step
  float thrust;                // at full throttle [m/s^2]
  float cd0_dt, k_dt, thrust_dt;  // for a physics step: times dt
} MrAirframe;

_Static_assert(sizeof(MrPicture) % (4 * MR_LANES) == 0, "a picture is of arrays [lane] of 4 bytes");

// Constants of the sensors, RULES.md, "Sensors". A cosine is -2 where every angle is seen.
typedef struct {
  float radar_cosine, seeker_cosine;         // of the half angles
  int32_t acquire_time, track_memory, seeker_memory;  // [physics steps]
  float receiver_range;                      // [m]
  float crank_c, crank_s;                    // cosine and sine of the greatest angle at which a pilot supports a missile
} MrSensors;

typedef struct {
  // Always 0 and 1. The values are read from memory, because gcc 12 compiles a minimum with a literal to two
  // instructions and a minimum with a variable to one.
  float zero, one;
  float dt, quarter_dt;
  float clock_rate;  // the feature time_left falls by this many seconds in each second
  int32_t substeps, time_limit, launch_interval, pressing_margin;  // [physics steps]
  MrAirframe fighter, missile;
  float throttle_step;      // greatest change of the throttle in a physics step
  float burn_steps;         // burn time of the motor [physics steps], not rounded
  float navigation_gain;    // navigation constant N times the missile's turn radius [m]
  float load_by_navigation;  // the missile's load limit divided by this [1/s^2]
  float reach, reach_time;  // distance [m] and time [s] of a missile flown straight until it slows to pilot_reach_speed
  float run_speed;          // top speed of a fighter that flies straight [m/s]
  float fire_cosine;        // cosine of pilot_fire_off_boresight_deg
  int32_t weave_period, snake_period, notcher_period, notcher_time;  // [physics steps]
  MrSensors sensors;
} MrConstants;

// The envelope map, arranged for looking ranges up. The ranges aero, nez, cold and minimum of a node lie side by side.
// The first aspect is repeated as the last, so that no cell wraps around.
typedef struct {
  float launch_speed_min, target_speed_min;
  float launch_nodes, target_nodes;  // nodes for each m/s on the axes of the shooter's and the target's speed
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
  // Each pilot has a share of [0, 1) in proportion to its weight. These are the upper ends of the shares: a random
  // number from [0, 1) draws the pilot in whose share it lies.
  float pilot_ends[MR_FIGHTERS][MR_PILOT_COUNT];
  const struct MrKernel *kernel;
  MrBlock *blocks;
  MrPicture *pictures;  // of each block; NULL without sensors
  MrRecord *records;  // room for 2 * num_envs
  int32_t record_count;
  // Records of the present decision: a block's begin at its first lane, and are as many as `ended` says.
  MrRecord *fresh_records;
  int32_t *ended;            // [num_blocks]
  struct MrThreads *threads;  // NULL: the caller's alone
};

// The time in whole physics steps, rounded up. A result that is above a whole number only by rounding errors must not
// be rounded up. The tolerance is therefore 1e-4 steps, plus a relative one of two float32 roundings (2.4e-7), of the
// time and of physics_dt.
static inline int32_t mr_steps_of(const MrParams *p, double time) {
  double steps = time / (double)p->physics_dt * (1.0 - 2.4e-7) - 1e-4;
  int32_t whole = (int32_t)steps;
  return steps > (double)whole ? whole + 1 : whole;
}

// x within the limits. NaN gives `low`. In this form each comparison compiles to one instruction, also with constant
// limits.
static inline float mr_clip(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

// x within the limit on both sides of 0. A limit that is NaN is none.
static inline float mr_limit(float x, float limit) {
  x = limit < x ? limit : x;
  return -limit > x ? -limit : x;
}

static inline float mr_max(float a, float b) { return a > b ? a : b; }

// a where the condition holds, else b. A function reads both arguments in every lane. With ?: on array elements the
// compiler would read or write only the chosen lanes by mask, and masked writes delay the reads that follow.
static inline float mr_select(int condition, float a, float b) { return condition ? a : b; }
static inline int32_t mr_select_int(int condition, int32_t a, int32_t b) { return condition ? a : b; }

// A field of the missile's target in lane i. `bodies` is an array with a pointer for each fighter. The macro compares
// and selects instead of indexing by target or looping over the fighters: gcc vectorises only this form.
#define MR_OF_TARGET(missile, bodies, field, i) \
  mr_select((missile)->target[i] == 1, (bodies)[1]->field[i], (bodies)[0]->field[i])
_Static_assert(MR_FIGHTERS == 2, "MR_OF_TARGET chooses one of two fighters");

// Number of lanes whose flag is 1. Flags are 0 or 1.
static inline int32_t mr_count(const int32_t flags[MR_LANES]) {
  int32_t n = 0;
  MR_FOR_LANES(i) n += flags[i];
  return n;
}

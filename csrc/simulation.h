// SPDX-License-Identifier: MIT
//
// A simulation: its parameters, what follows from them, and where its state is. Also the small functions and macros
// that all of the core uses. block.h has the state itself.

#pragma once

#include "midrange.h"
#include "types.h"

#include <float.h>

// Results are the same bits everywhere, so every operation must round to float. The x87 unit of 32-bit x86 rounds to
// more bits, and gcc computes in double on s390x.
_Static_assert(FLT_EVAL_METHOD == 0,
               "floats need float arithmetic: compile with -msse2 -mfpmath=sse on 32-bit x86, "
               "with -fexcess-precision=fast on s390x");

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

// Constants of the flight law, RULES.md, "Flight": one struct for fighters, one for missiles.
typedef struct {
  float cd0, k;                   // zero-lift drag Cd0 [1/m]; induced drag factor k [m]
  float lift_per_rudder;          // Cl at full rudder: 1 / turn radius [1/m]
  float load_limit;               // greatest lateral acceleration [m/s^2]; 1e30 without a limit
  float rudder_step;              // greatest change of the rudder in a physics step
  float thrust;                   // at full throttle [m/s^2]
  float cd0_dt, k_dt, thrust_dt;  // for a physics step: times dt
} MrAirframe;

// Constants of the sensors, RULES.md, "Sensors". A cosine is -2 where every angle is seen.
typedef struct {
  float radar_cosine, seeker_cosine;                  // of the half angles
  int32_t acquire_time, track_memory, seeker_memory;  // [physics steps]
  float receiver_range;                               // [m]
  bool is_noisy;                                      // a radar's measurements have noise
  float jammer[MR_SIDES];  // burn-through range on a fighter of this side [m]; 0 without jammers
  float noise_bearing;     // [rad] where its range ends
  float crank_c, crank_s;  // greatest angle at which a pilot supports a missile: cosine and sine
  int32_t chaff_time;      // [physics steps]
} MrSensors;

typedef struct {
  // Always 0 and 1. The values are read from memory, because gcc 12 compiles a minimum with a literal to two
  // instructions and a minimum with a variable to one.
  float zero, one;
  float dt, quarter_dt;
  float closing_acceleration;  // the closing speed of a missile grows by less than this [m/s^2]
  float clock_rate;            // the feature time_left falls by this many seconds in each second
  int32_t substeps, time_limit, launch_interval, pressing_margin;  // [physics steps]
  MrAirframe fighter, missile;
  float throttle_step;       // greatest change of the throttle in a physics step
  float burn_steps;          // burn time of the motor [physics steps], not rounded
  float navigation_gain;     // navigation constant N times the missile's turn radius [m]
  float load_by_navigation;  // the missile's load limit divided by this [1/s^2]
  float reach, reach_time;  // distance [m] and time [s] of a missile flown straight until it slows to pilot_reach_speed
  float run_speed;          // top speed of a fighter that flies straight [m/s]
  float fire_cosine;        // cosine of pilot_fire_off_boresight_deg
  int32_t target_time;      // for which pilots in teams keep their targets [physics steps]
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
  MrTypes types;  // with height
  // With height: of each block if types are drawn, else one of all; NULL in the plane. Their size follows the fighters.
  MrRoster *rosters;
  size_t roster_bytes;
  bool has_map;
  MrMap map;
  MrObservation observation;
  bool has_systems;       // with emission control or chaff
  int32_t features;       // of an observation
  int32_t view_features;  // of these, without those of systems and of a mission
  uint64_t seed;
  int32_t num_envs, num_blocks;
  bool auto_reset;
  int32_t sizes[MR_SIDES];  // fighters of each side
  int32_t fighters;         // of both
  bool is_agent[MR_FIGHTERS_MAX];
  int32_t agents_per_env;
  // The heads of its orders, mr_order_heads.
  int32_t head_count, head_levels[MR_ORDER_HEADS_MAX];
  MrHead heads[MR_ORDER_HEADS_MAX];
  MrOrder orders[MR_ORDER_COUNT];
  // Each pilot has a share of [0, 1) in proportion to its weight. These are the upper ends of the shares: a random
  // number from [0, 1) draws the pilot in whose share it lies.
  float pilot_ends[MR_FIGHTERS_MAX][MR_PILOT_COUNT];
  const struct MrKernel *kernel;       // for fights of this game
  const struct MrKernel *pair_kernel;  // of the same instruction set for one against one, which flies single shots
  const struct MrAccess *access;       // to the state of fights of this game
  // MrBlock and MrPicture of block.h, which are of another size for each game. Only what is compiled for the game looks
  // into them: by mr_block and mr_picture.
  void *blocks;
  void *pictures;     // of each block; NULL without sensors
  MrRecord *records;  // room for 2 * num_envs
  int32_t record_count;
  // Records of the present decision: a block's begin at its first lane, and are as many as `ended` says.
  MrRecord *fresh_records;
  int32_t *ended;             // [num_blocks]
  struct MrThreads *threads;  // NULL: the caller's alone
};

// The roster of a block, where types are drawn.
static inline MrRoster *mr_roster_of(const MrSim *sim, int32_t block) {
  return (MrRoster *)(void *)((char *)sim->rosters + (size_t)block * sim->roster_bytes);
}

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

// Moves an actuator toward its command by at most `step`.
static inline float mr_actuate(float position, float command, float step) {
  return mr_clip(command, position - step, position + step);
}

static inline float mr_max(float a, float b) { return a > b ? a : b; }
static inline float mr_min(float a, float b) { return a < b ? a : b; }

// a where the condition holds, else b. A function reads both arguments in every lane. With ?: on array elements the
// compiler would read or write only the chosen lanes by mask, and masked writes delay the reads that follow.
static inline float mr_select(int condition, float a, float b) { return condition ? a : b; }
static inline int32_t mr_select_int(int condition, int32_t a, int32_t b) { return condition ? a : b; }

// A vector in space, or in the plane with z = 0.
typedef struct {
  float x, y, z;
} MrVector3;

static inline float mr_dot(MrVector3 a, MrVector3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

#define MR_LEAST_COSINE2 1e-6f  // of a climb angle, squared: a line that goes straight up has no left

// Number of lanes whose flag is 1. Flags are 0 or 1.
static inline int32_t mr_count(const int32_t flags[MR_LANES]) {
  int32_t n = 0;
  MR_FOR_LANES(i) n += flags[i];
  return n;
}

// Upper ends of the shares of [0, 1) that weights give, in their order. The last share above 0 ends at 1.
static inline void mr_share_out(const float *weights, int32_t count, float *ends) {
  float total = 0.0f, end = 0.0f;
  int32_t last = 0;
  for (int32_t i = 0; i < count; i++) {
    total += weights[i];
    if (weights[i] > 0.0f) last = i;
  }
  for (int32_t i = 0; i < count; i++) {
    end += weights[i] / total;
    ends[i] = i < last ? end : 1.0f;  // exactly 1: the sum may be off by rounding
  }
}

// The share in which the random number u lies, of those that mr_share_out made.
static inline int32_t mr_draw_share(const float *ends, int32_t count, float u) {
  int32_t share = 0;
  while (share < count - 1 && u >= ends[share]) share++;
  return share;
}

// The unit vector at an angle counter-clockwise from +x, by our own sine and cosine, so that results do not depend on
// the version of the C library. The angle is in full turns, |turns| < 1e6. The result is exact at multiples of a
// quarter turn.
static inline void mr_unit_vector(double turns, float *x, float *y) {
  int quarter = (int)(4.0 * turns + (turns >= 0.0 ? 0.5 : -0.5));
  double a = (turns - 0.25 * quarter) * 6.283185307179586;  // within +-pi/4
  double a2 = a * a;
  // Taylor series, truncation error below 4e-12.
  double s = a * (1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0 * (1.0 - a2 / 110.0)))));
  double c =
      1.0 -
      a2 / 2.0 * (1.0 - a2 / 12.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0 * (1.0 - a2 / 90.0 * (1.0 - a2 / 132.0)))));
  switch (quarter & 3) {
    case 0:
      *x = (float)c;
      *y = (float)s;
      break;
    case 1:
      *x = (float)-s;
      *y = (float)c;
      break;
    case 2:
      *x = (float)-c;
      *y = (float)-s;
      break;
    default:
      *x = (float)s;
      *y = (float)-c;
      break;
  }
}

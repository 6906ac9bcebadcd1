// SPDX-License-Identifier: MIT
//
// Public C API of the simulation: many independent engagements of fighters and missiles in the plane.
//
// SI units. Headings are counter-clockwise from +x; positive rudder is left. Seats are red (0) and
// blue (1). A simulation owns all its memory, allocated at creation; stepping neither allocates nor
// does I/O. Buffers passed in belong to the caller. The rules are in RULES.md. Arguments are checked by the
// caller (indices, ranges, buffer sizes); actions and controls may hold anything.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "params.h"

enum { MR_LANES = 16 };                  // engagements side by side in a block
enum { MR_FIGHTERS = 2 };                // fighters of an engagement, numbered by seat
enum { MR_MISSILES_PER_FIGHTER = 6 };    // upper bound of `ammunition`
enum { MR_MISSILES = MR_FIGHTERS * MR_MISSILES_PER_FIGHTER };  // slots for missiles in the air
enum { MR_RUDDER_LEVELS = 5, MR_THROTTLE_LEVELS = 3, MR_FIRE_LEVELS = 2, MR_ACTIONS = 3 };

// Who controls a fighter: somebody outside (an agent, a test, a human) or a scripted pilot.
// X(name, by_map, meaning); by_map: fires by R_NEZ, so that the simulation needs an MrEnvelope. The first list
// never fires; a pilot of the second fights by its tactics, the function mr_tactics_NAME of tactics.h.
#define MR_PEACEFUL_PILOTS(X)                                                        \
  X(agent, 0, "controls come from outside")                                          \
  X(straight, 0, "flies straight on, never fires")                                   \
  X(weave, 0, "turns left and right, never fires")

#define MR_FIGHTING_PILOTS(X)                                                        \
  X(shooter, 0, "pursues, fires inside a fraction of R_max, never evades")           \
  X(evader, 0, "fires like shooter, turns cold from inbound missiles, recommits")    \
  X(crank, 0, "fires near R_max, flies off to the side while its missile is in the air, then as evader") \
  X(bracket_shooter, 1, "holds its fire until R_NEZ, turns cold late")               \
  X(turn_back, 0, "fires near R_max, flies on some seconds, runs, comes back")       \
  X(snake, 0, "weaves against inbound missiles and counter-attacks")                 \
  X(ace, 1, "probes, keeps missiles for R_NEZ, turns from what can reach it for as long as it can")

#define MR_PILOTS(X) MR_PEACEFUL_PILOTS(X) MR_FIGHTING_PILOTS(X)

#define MR_ENUM_PILOT(name, by_map, meaning) MR_PILOT_##name,
#define MR_COUNT_PILOT(name, by_map, meaning) +1
typedef enum { MR_PILOTS(MR_ENUM_PILOT) MR_PILOT_COUNT } MrPilot;
enum { MR_PEACEFUL_PILOT_COUNT = 0 MR_PEACEFUL_PILOTS(MR_COUNT_PILOT) };  // their MrPilot comes first

// How a target evades in a fly-out: the declared set of R_NEZ.
// X(name, side, beams, time_to_go, meaning): turns to that side (1 left, -1 right) and runs straight away from
// the missile, or holds it abeam; from when the missile has so long to go [s] (it never has more than 100).
#define MR_EVASIONS(X)                                                                          \
  X(fly_on, 0, false, -1, "flies straight on at the speed it has")                              \
  X(cold_left, 1, false, 100, "turns left until the missile is behind it, runs at full throttle")  \
  X(cold_right, -1, false, 100, "the same to the right")                                        \
  X(beam_left, 1, true, 100, "turns left until the missile is abeam, holds it there, full throttle") \
  X(beam_right, -1, true, 100, "the same to the right")                                         \
  X(late_left, 1, false, 8, "flies on until the missile has 8 s to go, then as cold_left")      \
  X(late_right, -1, false, 8, "the same to the right")

#define MR_ENUM_EVASION(name, side, beams, time_to_go, meaning) MR_EVASION_##name,
typedef enum { MR_EVASIONS(MR_ENUM_EVASION) MR_EVASION_COUNT } MrEvasionId;

typedef enum { MR_OPEN, MR_RED_WINS, MR_BLUE_WINS, MR_DRAW } MrOutcome;

// Parameters, one field a row of params.h.
#define MR_FIELD_float float
#define MR_FIELD_int int32_t
#define MR_DECLARE_PARAM(group, type, name, default_, min, max, unit, meaning) MR_FIELD_##type name;
typedef struct {
  MR_PARAMS(MR_DECLARE_PARAM)
} MrParams;

// What an agent observes, see feature_table.h.
typedef enum { MR_OBSERVE_DEFAULT, MR_OBSERVE_STG, MR_OBSERVATION_COUNT } MrObservation;

// The missile envelope as a map: the farthest ranges [m] of a shot on a target that flies on (aero), that evades as
// well as it may (nez) and that turns cold (cold), and the nearest on one that flies on (minimum); nez and cold are
// minimum where there is no such range. Over
//   off-boresight: the shooter's nose off the line to the target, nodes evenly from 0 to 2;
//   aspect: the target's nose off the line to the shooter, counter-clockwise from it, for a nose that is
//           counter-clockwise from its line; nodes evenly from -2, the end at 2 being the first again;
//   speed of the shooter and of the target, nodes evenly between the ends, beyond which it stays as at them.
// Angles are "diamond" ones, for a direction (c, s): s / (|c| + |s|) where c >= 0, behind that 2 or -2 less it.
enum { MR_MAP_OFF = 9, MR_MAP_ASPECT = 16, MR_MAP_LAUNCH = 3, MR_MAP_TARGET = 3 };
typedef float MrRanges[MR_MAP_OFF][MR_MAP_ASPECT][MR_MAP_LAUNCH][MR_MAP_TARGET];
typedef struct {
  float launch_speed_min, launch_speed_max, target_speed_min, target_speed_max;
  MrRanges aero, nez, cold, minimum;
} MrEnvelope;

typedef struct {
  MrParams params;
  int32_t num_envs;
  uint64_t seed;
  // Share of engagements in which each pilot flies each seat. A seat that is to be an agent's has all
  // its weight on MR_PILOT_agent.
  float pilot_weights[MR_FIGHTERS][MR_PILOT_COUNT];
  bool auto_reset;  // start the next episode as soon as one has ended
  const char *isa;  // name of an instruction set, or "auto"
  // Copied; NULL: shots are not classed, and neither MR_OBSERVE_STG nor pilots that go by the map are allowed.
  const MrEnvelope *envelope;
  MrObservation observation;
} MrConfig;

// One fighter, as read or set from outside.
typedef struct {
  float x, y;                    // m
  float direction_x, direction_y;  // unit vector of the velocity
  float speed;                   // m/s
  float rudder, throttle;        // actuator positions, [-1, 1] and [0, 1]
  int32_t alive, ammunition, pilot;
  int32_t launch_wait;           // physics steps until the next launch is allowed
} MrFighterState;

// One missile slot, as read or set from outside. All zero when not active.
typedef struct {
  int32_t active, owner, target;  // owner and target: fighters
  int32_t age;                    // physics steps since launch
  float x, y, direction_x, direction_y, speed, rudder;
} MrMissileState;

// One finished engagement.
typedef struct {
  int32_t env, outcome, truncated, mutual_kill;
  int32_t decisions;                          // length
  int32_t pilot[MR_FIGHTERS];                 // MrPilot of each seat
  int32_t shots[MR_FIGHTERS], hits[MR_FIGHTERS];
  int32_t shots_in_nez[MR_FIGHTERS], shots_wasted[MR_FIGHTERS];  // RULES.md, "Missile envelopes"; 0 without a map
  float launch_range[MR_FIGHTERS];            // m, sum over that seat's shots
  float episode_return;                       // sum of red's rewards (blue's is its negative)
} MrRecord;

typedef struct MrSim MrSim;

// A row of params.h, and where MrParams keeps it.
typedef struct {
  const char *group, *name, *unit, *meaning;
  bool is_int;
  double default_value, minimum, maximum;
  size_t offset;
} MrParameter;

// The first may not exceed the second.
typedef struct {
  const char *low, *high;
} MrParameterPair;

// A row of params.h that is not of version 1 of the rules, and the value with which it changes nothing.
typedef struct {
  const char *name;
  int32_t version;
  double neutral;
} MrParameterAddition;

typedef struct {
  const char *name, *meaning;
  bool by_map;
} MrPilotInfo;

// What has fields: an engagement, each of its MR_FIGHTERS fighters, each of its MR_MISSILES missile slots.
typedef enum { MR_ENGAGEMENT, MR_FIGHTER, MR_MISSILE } MrEntity;

// A field of the state, a row of state_fields.h.
typedef struct {
  const char *name, *meaning;
  bool is_int, hashed;
  double minimum, maximum;
  size_t offset;  // for the core's own use
} MrField;

// The tables of parameters, of their ordered pairs, of those added, of pilots and of an entity's fields; each ends with a NULL name.
const MrParameter *mr_parameters(void);
const MrParameterPair *mr_parameter_pairs(void);
const MrParameterAddition *mr_parameter_additions(void);
const MrPilotInfo *mr_pilots(void);
const MrField *mr_fields(MrEntity entity);

MrParams mr_default_params(void);

// Names of the instruction sets this build can run on this machine, best first, NULL-terminated.
const char *const *mr_isas(void);

// NULL when memory is short or the instruction set is not among mr_isas().
MrSim *mr_create(const MrConfig *config);
void mr_destroy(MrSim *sim);

const char *mr_isa(const MrSim *sim);
size_t mr_state_bytes(void);         // of one engagement
int32_t mr_agents_per_env(const MrSim *sim);
uint64_t mr_seed(const MrSim *sim);  // as last given, or restored

// Starts episode 0 of every engagement.
void mr_reset(MrSim *sim, uint64_t seed);
// Starts one of them again, as any episode of any engagement of the seed.
void mr_start_episode(MrSim *sim, int32_t env, int32_t engagement, int32_t episode);

// Where the results of a step go: rows by agent, numbered by engagement, then seat. An agent is a seat flown from
// outside.
typedef struct {
  float *observations;            // [agents][features]
  float *rewards;                 // [agents]
  bool *terminals, *truncations;  // [agents]
  // [agents][features], or NULL: what the agents see where an engagement ends, before the next one starts in its
  // place. Only their rows have a meaning.
  float *final_observations;
} MrResults;

// One decision of every engagement. actions: int32 [agents][MR_ACTIONS], levels of rudder, throttle and fire, clamped.
void mr_step(MrSim *sim, const int32_t *actions, const MrResults *results);

// The same with actions float32 [agents][MR_ACTIONS]: rudder, throttle, fire (> 0.5), clipped; not-a-number is 0.
void mr_step_continuous(MrSim *sim, const float *actions, const MrResults *results);

// The same with such actions of every seat, float32 [num_envs][MR_FIGHTERS][MR_ACTIONS]; pilots ignore theirs.
// Rewards float32 [num_envs][MR_FIGHTERS] may be NULL.
void mr_step_controls(MrSim *sim, const float *controls, float *rewards);

// Physics only, with the commands last given.
void mr_advance(MrSim *sim, int32_t steps);

// Observations of the agents [agents][features], or of every seat [num_envs][MR_FIGHTERS][features].
void mr_observe(const MrSim *sim, float *observations);
void mr_observe_all(const MrSim *sim, float *observations);

void mr_get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state);
// All but the pilot. Missiles that go for a dead fighter are removed, here and in mr_set_missile.
void mr_set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state);
void mr_get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state);
void mr_set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state);
// Launches at once, whatever the launch interval. False without a missile left or a living enemy.
bool mr_launch(MrSim *sim, int32_t env, int32_t fighter);

// Copies one field of mr_fields(entity), of all engagements, to [num_envs][of that entity in an engagement].
void mr_get_field(const MrSim *sim, MrEntity entity, const MrField *field, void *values);

// Exact copies of the state. mr_restore takes what mr_snapshot of an equal simulation wrote. If a field is out
// of its range it changes nothing and returns the field's name, else NULL.
size_t mr_snapshot_bytes(const MrSim *sim);
void mr_snapshot(const MrSim *sim, void *bytes);
const char *mr_restore(MrSim *sim, const void *bytes);
// Hash of everything that the future of the engagements depends on, one after the other, the seed and their numbers
// included. Neither lanes nor what is only counted for the records enter. Simulations have equal parameters and pilots
// here.
uint64_t mr_state_hash(const MrSim *sim);
// The same without seed and numbers: of what has been flown since the start. Replays compare it.
uint64_t mr_fight_hash(const MrSim *sim);

// Engagements finished since they were last taken. The caller takes them before there are more than
// num_envs of them; then none is lost.
int32_t mr_record_count(const MrSim *sim);
const MrRecord *mr_take_records(MrSim *sim, int32_t *count);

// Where a struct has a member, for who reads its bytes.
typedef struct {
  const char *name;
  bool is_float;  // the member, or what it is an array of; int32_t otherwise
  size_t offset, size;
} MrMember;

// The members of structs whose bytes leave the core, in their order; each ends with a NULL name.
typedef struct {
  const MrMember *record, *shot, *moment, *prediction;  // of MrRecord, MrShot, MrMoment, MrPrediction
} MrLayouts;
MrLayouts mr_layouts(void);

// Unit vector of an angle in degrees; exact at multiples of 90.
void mr_direction(double degrees, float *x, float *y);

// Philox4x32-10 (Salmon et al. 2011), for tests.
void mr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

// Fly-outs.

typedef struct {
  const char *name, *meaning;
  float side, time_to_go;
  bool beams;
} MrEvasion;
const MrEvasion *mr_evasions(void);  // ends with a NULL name

// A shot: the shooter at the origin, the target `range` ahead of it on +x.
typedef struct {
  float range;  // m
  // Unit vectors of the velocities. Nose, the shooter's: (1, 0) at the target, (0, 1) 90 degrees to the left of
  // that. Aspect, the target's: (1, 0) at the shooter, (0, 1) 90 degrees to the left of that, (-1, 0) away.
  float nose_x, nose_y, aspect_x, aspect_y;
  float launch_speed, target_speed;  // m/s
  int32_t evasion;         // MrEvasionId
} MrShot;

// Which of the shots hit, by the simulation's parameters; its state plays no part. hits: bool [count].
void mr_fly_shots(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits);

// The space-time graph: what one fighter does in each lane of an engagement flown ahead, from now on at full
// throttle; the enemy holds its controls.
enum {
  MR_AHEAD_HELD = 0,        // holds its controls, too
  MR_AHEAD_ESCAPES = 1,     // turns left (next lane: right) until its tail is to the enemy, runs
  MR_AHEAD_THREATENED = 3,  // the same two; from here on the enemy launches a missile, and there are no others
  MR_AHEAD_LANES = 5        // what is in the other lanes means nothing
};

// Positions at one moment [m]; not-a-number where no missile flies. The missile launched is in slot 0.
typedef struct {
  float own[MR_LANES][2];
  float missiles[MR_MISSILES][MR_LANES][2];
} MrMoment;

// What becomes of a missile and its target; times in physics steps from now, -1 for none.
typedef struct {
  int32_t present;   // is there now
  int32_t hits, ended;
  int32_t harmless;  // from then on it came no nearer to its target, until its end or that of the flight
  float miss;        // least distance [m]; 0: hits
} MrPrediction;

// Flies one engagement ahead; the simulation stays as it is. moments: [count], the first of now, `interval`
// physics steps apart. predictions: [MR_MISSILES][MR_LANES].
void mr_look_ahead(const MrSim *sim, int32_t env, int32_t seat, int32_t interval, int32_t count,
                   MrMoment *moments, MrPrediction *predictions);

// Where a missile could be that is launched at the origin along +x: after a turn to the left with the rudder of
// each row, into each of MR_LANES headings from straight on to straight back; NaN where it is spent. The right is
// the mirror image.
enum { MR_CONE_RUDDERS = 16 };
typedef struct {
  float points[MR_CONE_RUDDERS][MR_LANES][2];  // m
} MrCone;
// Writes `count` of them, the first of now, `interval` physics steps apart.
void mr_threat_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones);

// The observation table.
typedef struct {
  const char *name;
  float scale;       // the value is divided by this and clipped to [-1, 1]
  bool lateral;      // changes sign when the engagement is reflected
  const char *meaning;
} MrFeature;
enum { MR_OBSERVATION_VERSION = 1 };
// All features, ending with a NULL name; an observation has the first mr_feature_count() of them.
const MrFeature *mr_features(void);
int32_t mr_feature_count(MrObservation observation);

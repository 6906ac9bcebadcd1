// SPDX-License-Identifier: MIT
//
// Public C API of the simulation: many independent engagements of fighters and missiles, in the plane or with height.
//
// The rules of the game are in RULES.md. SI units. Headings are counter-clockwise from +x; positive rudder is left; z
// is up.
//
// Sides are red (0) and blue (1). The fighters of an engagement are numbered: red's first, then blue's. Where
// one fights against one, a fighter has the number of its side, and is also called a seat.
//
// A simulation allocates all its memory at creation. Stepping neither allocates nor does I/O. Buffers passed in
// belong to the caller. The caller checks arguments: indices, ranges, buffer sizes. Actions and controls need no
// check: the core clips them, whatever they hold.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orders_table.h"
#include "params.h"
#include "type_fields.h"

enum { MR_LANES = 16 };     // engagements in a block, one in each vector lane
enum { MR_TYPES_MAX = 8 };  // room for types of aircraft, and of missiles, with height
enum { MR_KINDS_MAX = 3 };  // kinds of missiles that a fighter may carry, with height
enum { MR_SIDES = 2 };      // red and blue
// Fighters of a side, and of both sides.
enum { MR_SIDE_MAX = 16, MR_FIGHTERS_MAX = MR_SIDES * MR_SIDE_MAX };
// Up to this size of the larger side an observation has a row for each enemy. Larger sides share one layout: if each
// size had its own, observations of different games would have the same length, by which a policy knows its game.
enum { MR_SIDE_SMALL = 8 };
// Slots of a fighter for missiles in the air: the greatest value of the parameter `ammunition`.
enum { MR_MISSILES_PER_FIGHTER = 6 };
enum { MR_PAIR_MISSILES = MR_SIDES * MR_MISSILES_PER_FIGHTER };  // slots in one against one
// The level k of fire is a shot at the k-th enemy that the fighter observes. There are mr_enemy_rows of them, and 0 for
// no shot.
enum { MR_RUDDER_LEVELS = 5, MR_CLIMB_LEVELS = 5, MR_THROTTLE_LEVELS = 3, MR_PAIR_FIRE_LEVELS = 2 };
// With emission control or chaff there is a control of the systems. Its level is a sum: MR_SILENT for a silent radar,
// MR_DROP to drop a cartridge of chaff.
enum { MR_SILENT = 1, MR_DROP = 2, MR_SYSTEMS_LEVELS = 4 };
enum { MR_CHAFF_MAX = 60 };  // cartridges of a fighter: the greatest value of the parameter `chaff`

// Pilots control fighters: code outside (an agent, a test, a human) or a scripted pilot.
// Sensor pilots are fighting ones that fly only where the game has sensors, wing pilots only in teams with sensors.
// X(name, by_map, meaning). A pilot whose by_map is 1 fires by R_NEZ, so its simulation needs an MrEnvelope.
// Peaceful pilots never fire. A fighting pilot has a row MR_TACTICS(NAME, ...) in tactics.h.
#define MR_PEACEFUL_PILOTS(X)                                                        \
  X(agent, 0, "controls come from outside")                                          \
  X(straight, 0, "flies straight on, never fires")                                   \
  X(weave, 0, "turns left and right, never fires")

#define MR_FIGHTING_PILOTS(X)                                                        \
  X(shooter, 0, "pursues, fires inside a fraction of R_max, never evades")           \
  X(evader, 0, "fires like shooter, turns cold from inbound missiles, recommits")    \
  X(crank, 0, "fires near R_max, flies off to the side while its missile is in the air, evades like evader") \
  X(bracket_shooter, 1, "holds its fire until R_NEZ, turns cold late")               \
  X(turn_back, 0, "fires near R_max, flies on for some seconds, runs, comes back")   \
  X(snake, 0, "weaves against inbound missiles and counter-attacks")                 \
  X(ace, 1, "fires a probing shot, keeps missiles for R_NEZ, turns cold late, only from missiles that can reach it")

#define MR_SENSOR_PILOTS(X)                                                          \
  X(notcher, 0, "turns its side to a radar that tracks it, comes back and fires like shooter")

#define MR_WING_PILOTS(X)                                                            \
  X(pair, 0, "two by two: one fires and runs, the other guides its missile by radar")

// Fighting pilots that came later. They stand last, so that the other pilots keep their numbers.
#define MR_LATER_PILOTS(X)                                                           \
  X(patient, 1, "stays at a range at which it can outrun shots until the enemy has fired nearly all, then attacks")

// The core itself puts these into their seats, in a mission.
#define MR_MISSION_PILOTS(X)                                                         \
  X(transport, 0, "unarmed: flies straight to the line, turns cold from inbound missiles; in the mission escort")

#define MR_PILOTS(X) \
  MR_PEACEFUL_PILOTS(X) MR_FIGHTING_PILOTS(X) MR_SENSOR_PILOTS(X) MR_WING_PILOTS(X) MR_LATER_PILOTS(X) \
  MR_MISSION_PILOTS(X)

#define MR_ENUM_PILOT(name, by_map, meaning) MR_PILOT_##name,
#define MR_COUNT_PILOT(name, by_map, meaning) +1
typedef enum { MR_PILOTS(MR_ENUM_PILOT) MR_PILOT_COUNT } MrPilot;
// Peaceful pilots come first in MrPilot: a pilot fights if its MrPilot is at least this count.
enum { MR_PEACEFUL_PILOT_COUNT = 0 MR_PEACEFUL_PILOTS(MR_COUNT_PILOT) };

// Evasions of a target in a fly-out. R_NEZ is the farthest range from which a missile hits, whichever of these the
// target flies. X(name, side, beams, time_to_go, meaning)
//   side: which way the target turns, 1 left, -1 right.
//   beams: true if the target then holds the missile abeam; false if it runs straight away from the missile.
//   time_to_go: the evasion begins when the missile has at most this time to go [s]. The time to go is never above
//     100 s, so 100 begins at the launch and -1 never.
#define MR_EVASIONS(X)                                                                          \
  X(fly_on, 0, false, -1, "flies straight on at the speed it has")                              \
  X(cold_left, 1, false, 100, "turns left until the missile is behind it, runs at full throttle")  \
  X(cold_right, -1, false, 100, "the same to the right")                                        \
  X(beam_left, 1, true, 100, "turns left until the missile is abeam, holds it there, full throttle") \
  X(beam_right, -1, true, 100, "the same to the right")                                         \
  X(late_left, 1, false, 8, "flies on until the missile has 8 s to go, then evades like cold_left") \
  X(late_right, -1, false, 8, "the same to the right")

#define MR_ENUM_EVASION(name, side, beams, time_to_go, meaning) MR_EVASION_##name,
typedef enum { MR_EVASIONS(MR_ENUM_EVASION) MR_EVASION_COUNT } MrEvasionId;

typedef enum { MR_OPEN, MR_RED_WINS, MR_BLUE_WINS, MR_DRAW } MrOutcome;

// Parameters: one field for each row of params.h.
#define MR_FIELD_float float
#define MR_FIELD_int int32_t
#define MR_DECLARE_PARAM(group, type, name, default_, min, max, unit, meaning) MR_FIELD_##type name;
typedef struct {
  MR_PARAMS(MR_DECLARE_PARAM)
} MrParams;

// Values of the parameter `sensing`.
typedef enum { MR_SENSING_FULL, MR_SENSING_RADAR } MrSensing;

// Values of the parameter `mission`, and of `attacker`.
typedef enum { MR_MISSION_FIGHT, MR_MISSION_LINE, MR_MISSION_ESCORT } MrMission;
typedef enum { MR_RED_ATTACKS, MR_BLUE_ATTACKS, MR_ATTACKER_IS_DRAWN } MrAttacker;

// Source of a fighter's contact with an enemy.
typedef enum {
  MR_UNSEEN,  // nothing: there never was a track
  MR_LIVE,    // a track: the own radar sees the enemy
  MR_MEMORY,  // a track: the enemy was seen a short time ago
  MR_LOST,    // nothing any more: where the enemy was when the track ended
  MR_LINKED   // a track, in teams: the radar of another fighter of the side saw the enemy one decision ago
} MrSource;

// Observations of agents, see feature_table.h. Those with RADAR in their names belong to MR_SENSING_RADAR, those with
// TEAM to teams, those with HEIGHT to the game with height. The others belong to full information, one against one and
// the plane.
typedef enum {
  MR_OBSERVE_DEFAULT,
  MR_OBSERVE_STG,
  MR_OBSERVE_RADAR,
  MR_OBSERVE_TEAM,
  MR_OBSERVE_TEAM_RADAR,
  MR_OBSERVE_HEIGHT,
  MR_OBSERVE_HEIGHT_2,  // with height where fighters carry two kinds of missiles, and three
  MR_OBSERVE_HEIGHT_3,
  MR_OBSERVE_TEAM_HEIGHT,
  MR_OBSERVE_RADAR_HEIGHT,
  MR_OBSERVE_RADAR_HEIGHT_2,
  MR_OBSERVE_RADAR_HEIGHT_3,
  MR_OBSERVE_TEAM_RADAR_HEIGHT,
  MR_OBSERVATION_COUNT
} MrObservation;

// The missile envelope as a map: R_aero, R_NEZ, R_cold and R_min of RULES.md, "Missile envelopes", of a missile
// launched now [m]. It also has the axes and their diamond angles: off-boresight from 0 to 2; aspect from -2 to 2,
// without the node at 2, which would be equal to the first; the shooter's and the target's speed, between the least and
// the greatest below. Nodes are evenly spaced.
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
  // Share of engagements in which each pilot flies each fighter. A fighter that is to be an agent's has all its weight
  // on MR_PILOT_agent. Fighters of one side with the same weights have the same pilot in an engagement.
  float pilot_weights[MR_FIGHTERS_MAX][MR_PILOT_COUNT];
  // With height: the types of aircraft and missiles, by number. mr_package_types writes those of the package. Types
  // without a share may be unset.
  MrAircraftFields aircraft[MR_TYPES_MAX];
  MrMissileFields missiles[MR_TYPES_MAX];
  // Shares of the engagements in which each of these types flies for each side. Where all of a side's are 0, all its
  // engagements have the type that params names.
  float aircraft_weights[MR_SIDES][MR_TYPES_MAX], missile_weights[MR_SIDES][MR_TYPES_MAX];
  // The load of each side's fighters: how many missiles of which types, by kind. The kinds after the last have 0. A
  // side whose loads are all 0 carries params.ammunition missiles of the type that is drawn for it; the others' first
  // kind must have all of their missile_weights.
  int32_t loads[MR_SIDES][MR_KINDS_MAX], load_types[MR_SIDES][MR_KINDS_MAX];
  bool auto_reset;  // start the next episode of an engagement as soon as one has ended
  const char *isa;  // name of an instruction set, or "auto"
  // Threads that step the engagements; they outlive the simulation. NULL: the caller alone. The result does not depend
  // on them.
  struct MrThreads *threads;
  // The map is copied; with height it is not used. With NULL, shots are not classed, and neither MR_OBSERVE_STG nor
  // pilots of by_map are allowed.
  const MrEnvelope *envelope;
  MrObservation observation;  // goes with params.sensing
} MrConfig;

// One fighter, as read or set from outside. In the plane z, direction_z and climb are 0.
typedef struct {
  float x, y, z;                                // m
  float direction_x, direction_y, direction_z;  // unit vector of the velocity
  float speed;                                  // m/s
  float rudder, climb, throttle;                // actuator positions, the first two [-1, 1], the last [0, 1]
  int32_t alive, ammunition, pilot;
  int32_t ammunition_2, ammunition_3;  // of `ammunition` those of the second and the third kind; 0 in the plane
  int32_t launch_wait;                 // physics steps until the next launch is allowed
  // Its systems, 0 in games without them: 1 if its radar is silent, cartridges of chaff left, physics steps until its
  // last cloud is gone, and the place of that [m].
  int32_t silent, chaff, cloud_wait;
  float cloud_x, cloud_y, cloud_z;
} MrFighterState;

// One missile slot, as read or set from outside. All members are 0 when the slot is not active.
typedef struct {
  int32_t active, owner, target;  // owner and target: fighters
  int32_t age;                    // physics steps since launch
  int32_t kind;                   // of its fighter's load, from 0; 0 in the plane
  float x, y, z, direction_x, direction_y, direction_z, speed, rudder;
} MrMissileState;

// The types that a fighter flies in an engagement with height, and factors by which these are varied: those of its side.
typedef struct {
  int32_t aircraft, missile;  // numbers of the types in MrConfig; of a load, its first kind
  // Of the aircraft; drag is that without lift.
  float thrust_factor, drag_factor, lift_factor, induced_drag_factor;
  float missile_thrust_factor, missile_drag_factor, missile_lift_factor, missile_burn_time_factor;
} MrDrawnTypes;

// One finished engagement.
typedef struct {
  int32_t env, outcome, truncated, mutual_kill;
  int32_t decisions;        // length
  int32_t pilot[MR_SIDES];  // MrPilot of each side's first fighter
  int32_t shots[MR_SIDES], hits[MR_SIDES];
  int32_t shots_in_nez[MR_SIDES], shots_wasted[MR_SIDES];  // RULES.md, "Missile envelopes"; 0 without envelope
  float launch_range[MR_SIDES];                            // m, sum over that side's shots
  float episode_return[MR_SIDES];                          // sum of the rewards of a side's fighters, their mean
  // Parts of the return: by the result, and by each reward_... of params.h. Red's; blue's are the negatives.
  float paid_result[MR_SIDES];
  float paid_geometry, paid_ammunition, paid_threat, paid_pressure, paid_kill;
  int32_t survivors[MR_SIDES];  // fighters alive at the end
  float paid_line;
  int32_t attacker;  // in missions the side that attacked: 1 red, 2 blue; 0 without one
} MrRecord;

typedef struct MrSim MrSim;

// A row of params.h, and its offset in MrParams.
typedef struct {
  const char *group, *name, *unit, *meaning;
  bool is_int;
  double default_value, minimum, maximum;
  size_t offset;
} MrParameter;

// Two parameters: the value of `low` may not exceed the value of `high`.
typedef struct {
  const char *low, *high;
} MrParameterPair;

// A parameter that was added after version 1 of the rules, the version that added it, and its neutral value: with
// that value the game is as it was before.
typedef struct {
  const char *name;
  int32_t version;
  double neutral;
} MrParameterAddition;

typedef struct {
  const char *name, *meaning;
  bool by_map, needs_sensors, needs_team, needs_mission;
} MrPilotInfo;

// An order, a row of orders_table.h.
typedef struct {
  const char *name;
  MrNeeds needs;
  const char *meaning, *otherwise;
} MrOrderInfo;

// States: numbers of each fighter for code outside that pays rewards of its own. X(name, meaning)
#define MR_STATES(X)                                                                          \
  X(x, "position [m]")                                                                        \
  X(y, "position [m]")                                                                        \
  X(direction_x, "direction of the velocity as a unit vector: x, in the plane cosine of the heading")         \
  X(direction_y, "direction of the velocity: y, in the plane sine of the heading")                                                       \
  X(speed, "[m/s]")                                                                           \
  X(alive, "1 until it is dead, then 0")                                                       \
  X(ammunition, "missiles left")                                                              \
  X(inbound, "missiles in the air that fly at it")                                            \
  X(time_to_go, "least time to go of those [s], at most 100, which it is without any")      \
  X(z, "height [m], 0 in the plane")                                                          \
  X(direction_z, "sine of the climb, 0 in the plane")

#define MR_ENUM_STATE(name, meaning) MR_STATE_##name,
typedef enum { MR_STATES(MR_ENUM_STATE) MR_STATE_COUNT } MrState;

typedef struct {
  const char *name, *meaning;
} MrStateInfo;

// The kinds of things that have fields: the engagement, its fighters, its missile slots. With sensors also what a side
// knows: the contact that each fighter has with each enemy, red's fighters first, each missile's belief of its target,
// and each fighter's systems.
typedef enum { MR_ENGAGEMENT, MR_FIGHTER, MR_MISSILE, MR_CONTACT, MR_BELIEF, MR_SYSTEMS, MR_ENTITY_COUNT } MrEntity;

// A field of the state, a row of state_fields.h.
typedef struct {
  const char *name, *meaning;
  bool is_int;
  int32_t hashed;
  double minimum, maximum;
  size_t offset;  // in the core's struct of the entity
} MrField;

// A field of a type of aircraft or missile, a row of type_fields.h, in the order of MrAircraftFields and
// MrMissileFields. They are floats.
typedef struct {
  const char *name;
  double minimum, maximum;
  const char *unit, *meaning;
} MrTypeField;

typedef struct {
  const char *name, *meaning;
} MrTypeInfo;

// Tables. Each ends with a row whose name is NULL.
const MrParameter *mr_parameters(void);
const MrParameterPair *mr_parameter_pairs(void);
const MrParameterAddition *mr_parameter_additions(void);
const MrPilotInfo *mr_pilots(void);
const MrStateInfo *mr_states(void);
const MrOrderInfo *mr_orders(void);
const MrStateInfo *mr_permissions(void);
const MrStateInfo *mr_order_levels(void);
const MrStateInfo *mr_order_systems(void);
const MrTypeField *mr_aircraft_fields(void);
const MrTypeField *mr_missile_fields(void);
const MrTypeInfo *mr_aircraft_types(void);  // those of the package
const MrTypeInfo *mr_missile_types(void);

// Writes the types of the package into a configuration, in the order of these tables, from number 0 on.
void mr_package_types(MrConfig *config);

MrParams mr_default_params(void);

// Names of the instruction sets this build can run on this machine, best first, NULL-terminated.
const char *const *mr_isas(void);

// NULL when memory is short or the instruction set is not among mr_isas(). The sizes of the sides are parameters.
MrSim *mr_create(const MrConfig *config);
void mr_destroy(MrSim *sim);

const char *mr_isa(const MrSim *sim);
size_t mr_state_bytes(const MrSim *sim);  // of one engagement
int32_t mr_agents_per_env(const MrSim *sim);
int32_t mr_fighters_per_env(const MrSim *sim);
// The number of a fighter's controls: rudder, throttle and fire in the plane; with height rudder, climb, throttle,
// fire. With emission control or chaff the systems stand before fire.
int32_t mr_controls(const MrSim *sim);
// The fields of an entity; they differ between games. NULL stands for one against one in the plane. Ends with a row
// whose name is NULL.
const MrField *mr_fields(const MrSim *sim, MrEntity entity);
// The number of such entities in one engagement.
int32_t mr_count_of(const MrSim *sim, MrEntity entity);
uint64_t mr_seed(const MrSim *sim);  // the seed last given by mr_create, mr_reset or mr_restore

// Starts episode 0 of every engagement.
void mr_reset(MrSim *sim, uint64_t seed);
// Starts any episode of any engagement of the present seed, in the place `env`.
void mr_start_episode(MrSim *sim, int32_t env, int32_t engagement, int32_t episode);

// Destination of the results of a step: one row for each agent. An agent is a fighter flown from outside. Agents are
// numbered by engagement, then by fighter.
typedef struct {
  float *observations;            // [agents][features]
  float *rewards;                 // [agents]
  bool *terminals, *truncations;  // [agents]
  // [agents][features], or NULL: the last observations of an engagement that ends in this step, before the next
  // episode starts. The rows of the other engagements mean nothing.
  float *final_observations;
  // float32 [MR_STATE_COUNT][fighters][num_envs], or NULL: how all fighters stand after the step, and how they stood
  // before the engagements that ended in it gave way to the next episodes.
  float *states, *final_states;
} MrResults;

// Flies every engagement for one decision. actions: int32 [agents][controls], levels of each control; a level out of
// range is clamped.
void mr_step(MrSim *sim, const int32_t *actions, const MrResults *results);

// The same with continuous actions: float32 [agents][controls], of which the last is fire (fires if > 0.5). Values
// out of range are clipped; not-a-number counts as 0. In teams a shot is at the enemy nearest the nose; but a fire of
// k + 1, from 2 on, is the level k of mr_step.
void mr_step_continuous(MrSim *sim, const float *actions, const MrResults *results);

// The same with continuous actions for every fighter: float32 [num_envs][fighters][controls]. Those of scripted
// pilots are ignored. rewards: float32 [num_envs][fighters], or NULL.
void mr_step_controls(MrSim *sim, const float *controls, float *rewards);

// Writes the controls by which fighters follow orders in the next decision, as mr_step_controls takes them. They are a
// function of the state and the orders: the state stays as it is, and has no orders. RULES.md, "Orders".
// orders: int32 [num_envs][fighters][heads], the heads of mr_order_heads; a level out of range is clamped. The controls
// of fighters whose first level is below 0 stay as they are. The permission `tight` needs an MrEnvelope in the plane:
// without one such a fighter fires nothing. absent: [num_envs][fighters], or NULL: 1 for fighters whose order speaks of
// what is not there, so that they do what orders_table.h has under `otherwise`.
void mr_controls_of_orders(MrSim *sim, const int32_t *orders, float *controls, uint8_t *absent);

// The heads of an order: the order, the permission, with height the level, with emission control or chaff the systems,
// and the target, which has one level in one against one. So an order has as many heads as a fighter has controls.
typedef enum { MR_HEAD_ORDER, MR_HEAD_PERMISSION, MR_HEAD_LEVEL, MR_HEAD_SYSTEMS, MR_HEAD_TARGET } MrHead;
enum { MR_ORDER_HEADS_MAX = MR_HEAD_TARGET + 1 };

// Writes the numbers of levels of the heads of a game's orders, and which head each is; returns the number of heads.
// `orders` gets the orders of the game, the levels of the first head. The arguments are rows of params.h, and whether
// the game has emission control or chaff.
int32_t mr_order_heads(int32_t sensing, int32_t red_size, int32_t blue_size, int32_t dimensions, bool has_systems,
                       int32_t levels[MR_ORDER_HEADS_MAX], MrHead heads[MR_ORDER_HEADS_MAX],
                       MrOrder orders[MR_ORDER_COUNT]);

// Flies physics steps only: no launches, outcomes or rewards. Actuators follow the commands last given. It does not
// matter to the bit how many calls the steps are in. RULES.md, "Order of events".
void mr_advance(MrSim *sim, int32_t steps);

// Observations of the agents [agents][features], or of every fighter [num_envs][fighters][features].
void mr_observe(MrSim *sim, float *observations);
// Writes states, as of MrResults.
void mr_observe_states(MrSim *sim, float *states);
void mr_observe_all(MrSim *sim, float *observations);
// Observations of the agents as they would be with full information, for a central critic; and the number of their
// features.
void mr_observe_truth(MrSim *sim, float *observations);
int32_t mr_truth_features(const MrSim *sim);

void mr_get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state);
// Sets all of the state except the pilot. Missiles whose target is dead are removed, here and in mr_set_missile. Both
// return NULL; or, if a member is out of its range, they change nothing and return its name. The direction must be a
// unit vector. The owner and the target of an active missile must also be on different sides.
const char *mr_set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state);
void mr_get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state);
const char *mr_set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state);
// Launches a missile at once, at the nearest enemy; the launch interval does not count. Returns false when the fighter
// is dead or has no missile left, or when no enemy lives, or with sensors when it has no track.
bool mr_launch(MrSim *sim, int32_t env, int32_t fighter);

// Writes the types that each fighter flies in an episode of an engagement. Only with height.
void mr_draw_types(const MrSim *sim, int32_t engagement, int32_t episode, MrDrawnTypes drawn[]);

// Copies one field of mr_fields(sim, entity) from all engagements. values: [num_envs][entities of that kind in one
// engagement], int32 or float32. Without sensors there are no contacts and beliefs to copy.
void mr_get_field(const MrSim *sim, MrEntity entity, const MrField *field, void *values);

// Exact copies of the state. mr_restore takes a snapshot of a simulation with an equal configuration. It returns
// NULL; or, if a field is out of its range, a direction is not a unit vector or a target is not a living enemy, it
// changes nothing and returns the name. So any bytes give either an error or a state that can be flown.
size_t mr_snapshot_bytes(const MrSim *sim);
void mr_snapshot(const MrSim *sim, void *bytes);
const char *mr_restore(MrSim *sim, const void *bytes);
// Hash of all that the future of the engagements depends on: the seed, and of each engagement its number and its
// fields that are marked `hashed`. Parameters and pilots are not in it: compare simulations that have the same ones.
// Which lane an engagement is in does not matter.
uint64_t mr_state_hash(const MrSim *sim);
// The same hash without the seed and the engagements' numbers. It tells what has been flown since the start. Replays
// compare it.
uint64_t mr_fight_hash(const MrSim *sim);

// Records of the engagements that ended since mr_take_records was last called. A step may add num_envs records, and
// there is room for twice num_envs. So the caller takes them before there are more than num_envs.
int32_t mr_record_count(const MrSim *sim);
const MrRecord *mr_take_records(MrSim *sim, int32_t *count);

// A member of a struct, for callers that read the struct's bytes.
typedef struct {
  const char *name;
  bool is_float;  // whether the member, or an element of it, is a float; else it is an int32_t
  size_t offset, size;
} MrMember;

// The members of the structs that leave the core as bytes, in declaration order. Each list ends with a NULL name.
typedef struct {
  const MrMember *record, *shot, *moment, *prediction;  // of MrRecord, MrShot, MrMoment, MrPrediction
  const MrMember *drawn_types;                          // of MrDrawnTypes
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

// A shot: the shooter at the origin, the target `range` ahead of it on +x, on the ground.
typedef struct {
  float range;  // m
  // Unit vectors of the velocities. The shooter's (nose) is relative to the line to the target: (1, 0) points at
  // the target, (0, 1) to the left of it. The target's (aspect) is relative to the line to the shooter: (1, 0)
  // points at the shooter, (0, 1) to the left of that, (-1, 0) away.
  float nose_x, nose_y, aspect_x, aspect_y;
  float launch_speed, target_speed;  // m/s
  // With height: where both are [m], and the sine of the shooter's climb. Nose and aspect are as seen from above, and
  // the target flies level. The plane ignores them.
  float height, target_height, climb_sine;
  int32_t evasion;  // MrEvasionId
} MrShot;

// Flies shots out with the simulation's parameters. Its state plays no part. hits: [count], whether each shot hit. With
// height red fires at blue, no types may be drawn, and a target that evades straight away from the missile dives by the
// parameter pilot_dive.
void mr_fly_shots(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits);

// The ranges of such shots in the simulation's map, which it must have [m]. Their own range and evasion play no part.
typedef struct {
  float aero, nez, cold, minimum;
} MrShotEdges;
void mr_look_up_shots(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges);

// The space-time graph, of one against one: the engagement flown ahead, with another manoeuvre of one fighter in each
// lane. The enemy holds its controls.
enum {
  MR_AHEAD_HELD = 0,  // the fighter holds its controls
  // two lanes: it turns left, or right, until its tail is to the enemy; runs at full throttle, with height in a dive
  MR_AHEAD_ESCAPES = 1,
  MR_AHEAD_THREATENED = 3,  // the same two escapes from a missile that the enemy launches now; no other missiles fly
  MR_AHEAD_LANES = 5        // lanes in use; the results of the others mean nothing
};

// Positions and heights at one moment [m], not-a-number where no missile flies. In the lanes of MR_AHEAD_THREATENED the
// enemy's missile is in slot 0. In the plane heights are 0.
typedef struct {
  float own[MR_LANES][2];
  float missiles[MR_PAIR_MISSILES][MR_LANES][2];
  float own_height[MR_LANES];
  float missile_heights[MR_PAIR_MISSILES][MR_LANES];
} MrMoment;

// The fate of a missile in one lane. Times are in physics steps from now; -1 is "not within the flight".
typedef struct {
  int32_t present;   // 1 if the slot has a missile at the beginning
  int32_t hits;      // 1 if it hits
  int32_t ended;     // time of its end, by a hit or otherwise
  int32_t harmless;  // time from which it came no nearer to its target; RULES.md, "Space-time graph"
  float miss;        // least distance to its target [m]; 0 if it hits
} MrPrediction;

// Flies a copy of one engagement ahead. moments: [count], `interval` physics steps apart, the first is now.
// predictions: [MR_PAIR_MISSILES][MR_LANES].
void mr_look_ahead(const MrSim *sim, int32_t env, int32_t seat, int32_t interval, int32_t count, MrMoment *moments,
                   MrPrediction *predictions);

// Positions that a missile can reach, launched at the origin along +x. It turns left with the rudder of each row,
// into each of MR_LANES headings from straight ahead to straight back, then flies straight. NaN once it is spent.
// Turns to the right are the mirror image.
enum { MR_CONE_RUDDERS = 16 };
typedef struct {
  float points[MR_CONE_RUDDERS][MR_LANES][2];  // m
} MrCone;
// Writes `count` cones, `interval` physics steps apart, the first at the launch. Only in the plane.
void mr_threat_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones);

// The same with height, for a missile of the first kind that a fighter has left, launched as the fighter flies now. It
// turns with each share of its lift into each heading, and flies at each climb angle. x is the horizontal distance
// ahead, y to the left; the third number is the height.
enum { MR_CONE_SHARES = 8, MR_CONE_CLIMBS = 5 };
typedef struct {
  float points[MR_CONE_CLIMBS][MR_CONE_SHARES][MR_LANES][3];  // m
} MrHighCone;
void mr_high_threat_cone(const MrSim *sim, int32_t env, int32_t fighter, int32_t interval, int32_t count,
                         MrHighCone *cones);

// The observation table.
typedef struct {
  const char *name;
  float scale;   // the value is divided by this and clipped to [-1, 1]
  bool lateral;  // whether the value changes sign when the engagement is mirrored
  const char *meaning;
} MrFeature;
enum { MR_OBSERVATION_VERSION = 1 };
// The table of an observation's features. In teams the tables of its kinds of rows follow one another, each once:
// mr_team_rows says how many of each kind an observation has.
const MrFeature *mr_features(MrObservation observation);
// The table of the features that missions add to every observation. They are the last ones; in teams they are a row.
const MrFeature *mr_mission_features(void);
// The table of the features that emission control and chaff add to observations with sensors. They come before those
// of a mission; in teams they are a row.
const MrFeature *mr_systems_features(void);
// What a game adds to an observation.
typedef struct {
  bool systems, mission;
} MrAdded;
// The number of features of an observation with what is added, in fights of this size.
int32_t mr_feature_count(MrObservation observation, MrAdded added, int32_t red_size, int32_t blue_size);
// What games of these parameters add.
MrAdded mr_added(const MrParams *params);

// A team's observation: rows of these kinds, one kind after the other. With sensors enemies are contacts, and inbound
// missiles are seekers; only then are there rows of radars that the receiver hears.
typedef enum {
  MR_ROW_OWN,
  MR_ROW_ALLY,
  MR_ROW_ENEMY,
  MR_ROW_RADAR,
  MR_ROW_INBOUND,
  MR_ROW_OWN_MISSILE,
  MR_ROW_SYSTEMS,
  MR_ROW_MISSION,
  MR_ROW_COUNT
} MrRow;
// Of each kind its name, how many rows there are in fights of a size, of how many features, and where these begin in
// the observation's table. The rows of systems and of a mission are in tables of their own.
typedef struct {
  const char *name;
  int32_t rows, features, first;
} MrRows;
// The rows of enemies: as many as the larger side has fighters, or MR_SIDE_MAX if that has more than MR_SIDE_SMALL.
static inline int32_t mr_enemy_rows(int32_t red_size, int32_t blue_size) {
  int32_t larger = red_size > blue_size ? red_size : blue_size;
  return larger > MR_SIDE_SMALL ? MR_SIDE_MAX : larger;
}
void mr_team_rows(MrObservation observation, MrAdded added, int32_t red_size, int32_t blue_size,
                  MrRows rows[MR_ROW_COUNT]);

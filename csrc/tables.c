// SPDX-License-Identifier: MIT
//
// The public API's tables: parameters, pilots, features, manoeuvres, and the members of structs.

#include "midrange.h"

#include <stddef.h>

#include "feature_table.h"

#define MR_IS_float false
#define MR_IS_int true
#define MR_DESCRIBE_PARAM(group, type, name, default_, min, max, unit, meaning) \
  {#group, #name, unit, meaning, MR_IS_##type, default_, min, max, offsetof(MrParams, name)},
const MrParameter *mr_parameters(void) {
  static const MrParameter table[] = {MR_PARAMS(MR_DESCRIBE_PARAM){0}};
  return table;
}

#define MR_NAME_PAIR(low, high) {#low, #high},
const MrParameterPair *mr_parameter_pairs(void) {
  static const MrParameterPair pairs[] = {MR_PARAM_PAIRS(MR_NAME_PAIR){NULL, NULL}};
  return pairs;
}

#define MR_DESCRIBE_ADDITION(name, version, neutral) {#name, version, neutral},
const MrParameterAddition *mr_parameter_additions(void) {
  static const MrParameterAddition additions[] = {MR_PARAM_ADDITIONS(MR_DESCRIBE_ADDITION){NULL, 0, 0}};
  return additions;
}

#define MR_DESCRIBE_PILOT(name, by_map, meaning) {#name, meaning, by_map, false, false, false},
#define MR_DESCRIBE_SENSOR_PILOT(name, by_map, meaning) {#name, meaning, by_map, true, false, false},
#define MR_DESCRIBE_WING_PILOT(name, by_map, meaning) {#name, meaning, by_map, true, true, false},
#define MR_DESCRIBE_MISSION_PILOT(name, by_map, meaning) {#name, meaning, by_map, false, false, true},
const MrPilotInfo *mr_pilots(void) {
  static const MrPilotInfo table[] = {MR_PEACEFUL_PILOTS(MR_DESCRIBE_PILOT) MR_FIGHTING_PILOTS(MR_DESCRIBE_PILOT)
                                          MR_SENSOR_PILOTS(MR_DESCRIBE_SENSOR_PILOT)
                                              MR_WING_PILOTS(MR_DESCRIBE_WING_PILOT) MR_LATER_PILOTS(MR_DESCRIBE_PILOT)
                                                  MR_MISSION_PILOTS(MR_DESCRIBE_MISSION_PILOT){0}};
  return table;
}

#define MR_DESCRIBE_STATE(name, meaning) {#name, meaning},
const MrStateInfo *mr_states(void) {
  static const MrStateInfo table[] = {MR_STATES(MR_DESCRIBE_STATE){0}};
  return table;
}

#define MR_DESCRIBE_ORDER(name, needs, meaning, otherwise) {#name, needs, meaning, otherwise},
const MrOrderInfo *mr_orders(void) {
  static const MrOrderInfo table[] = {MR_ORDERS(MR_DESCRIBE_ORDER){0}};
  return table;
}

const MrStateInfo *mr_permissions(void) {
  static const MrStateInfo table[] = {MR_PERMISSIONS(MR_DESCRIBE_STATE){0}};
  return table;
}

const MrStateInfo *mr_order_systems(void) {
  static const MrStateInfo table[] = {MR_ORDER_SYSTEMS(MR_DESCRIBE_STATE){0}};
  return table;
}

const MrStateInfo *mr_order_levels(void) {
  static const MrStateInfo table[] = {MR_ORDER_LEVELS(MR_DESCRIBE_STATE){0}};
  return table;
}

int32_t mr_order_heads(int32_t sensing, int32_t red, int32_t blue, int32_t dimensions, bool has_systems,
                       int32_t levels[MR_ORDER_HEADS_MAX], MrHead heads[MR_ORDER_HEADS_MAX],
                       MrOrder orders[MR_ORDER_COUNT]) {
  int32_t side = mr_enemy_rows(red, blue), count = 0;
  bool has[] = {
      [MR_NEEDS_NOTHING] = true, [MR_NEEDS_SENSORS] = sensing == MR_SENSING_RADAR, [MR_NEEDS_TEAM] = side > 1};
  levels[0] = 0;
  for (int32_t order = 0; order < MR_ORDER_COUNT; order++) {
    if (has[mr_orders()[order].needs]) orders[levels[0]++] = (MrOrder)order;
  }
  heads[count++] = MR_HEAD_ORDER;
  levels[count] = MR_PERMISSION_COUNT;
  heads[count++] = MR_HEAD_PERMISSION;
  if (dimensions == 3) {
    levels[count] = MR_ORDER_LEVEL_COUNT;
    heads[count++] = MR_HEAD_LEVEL;
  }
  if (has_systems) {
    levels[count] = MR_SYSTEMS_LEVELS;
    heads[count++] = MR_HEAD_SYSTEMS;
  }
  levels[count] = side > 1 ? 1 + side : 1;
  heads[count++] = MR_HEAD_TARGET;
  return count;
}

#define MR_DESCRIBE_FEATURE(name, scale, lateral, meaning) {#name, (float)(scale), lateral, meaning},
const MrFeature *mr_features(MrObservation observation) {
  static const MrFeature full[] = {MR_FEATURES(MR_DESCRIBE_FEATURE) MR_STG_FEATURES(MR_DESCRIBE_FEATURE)};
  static const MrFeature radar[] = {MR_RADAR_FEATURES(MR_DESCRIBE_FEATURE)};
  static const MrFeature height[] = {MR_HEIGHT_FEATURES(MR_DESCRIBE_FEATURE) MR_TWO_KIND_FEATURES(MR_DESCRIBE_FEATURE)
                                         MR_THIRD_KIND_FEATURES(MR_DESCRIBE_FEATURE)};
  static const MrFeature team[] = {MR_TEAM_OWN_FEATURES(MR_DESCRIBE_FEATURE) MR_OTHER_FEATURES(MR_DESCRIBE_FEATURE)
                                       MR_MISSILE_FEATURES(MR_DESCRIBE_FEATURE, missile)};
  static const MrFeature team_height[] = {MR_TEAM_OWN_HEIGHT_FEATURES(MR_DESCRIBE_FEATURE) MR_HIGH_OTHER_FEATURES(
      MR_DESCRIBE_FEATURE) MR_RISING_FEATURES(MR_DESCRIBE_FEATURE, missile)};
  static const MrFeature team_radar[] = {
      MR_TEAM_OWN_FEATURES(MR_DESCRIBE_FEATURE) MR_ALLY_FEATURES(MR_DESCRIBE_FEATURE)
          MR_TRACK_FEATURES(MR_DESCRIBE_FEATURE) MR_HEARD_FEATURES(MR_DESCRIBE_FEATURE)
              MR_SEEKER_FEATURES(MR_DESCRIBE_FEATURE, seeker) MR_GUIDED_FEATURES(MR_DESCRIBE_FEATURE, guided)};
  static const MrFeature radar_height[] = {MR_RADAR_HEIGHT_FEATURES(MR_DESCRIBE_FEATURE) MR_TWO_KNOWN_KIND_FEATURES(
      MR_DESCRIBE_FEATURE) MR_THIRD_KNOWN_KIND_FEATURES(MR_DESCRIBE_FEATURE)};
  static const MrFeature team_radar_height[] = {
      MR_TEAM_RADAR_OWN_FEATURES(MR_DESCRIBE_FEATURE) MR_HIGH_ALLY_FEATURES(MR_DESCRIBE_FEATURE)
          MR_HIGH_TRACK_FEATURES(MR_DESCRIBE_FEATURE) MR_HEARD_FEATURES(MR_DESCRIBE_FEATURE)
              MR_SEEKER_FEATURES(MR_DESCRIBE_FEATURE, seeker) MR_GUIDED_RISING_FEATURES(MR_DESCRIBE_FEATURE, guided)};
  static const MrFeature *const tables[MR_OBSERVATION_COUNT] = {
      [MR_OBSERVE_DEFAULT] = full,
      [MR_OBSERVE_STG] = full,
      [MR_OBSERVE_RADAR] = radar,
      [MR_OBSERVE_HEIGHT] = height,
      [MR_OBSERVE_HEIGHT_2] = height,
      [MR_OBSERVE_HEIGHT_3] = height,
      [MR_OBSERVE_RADAR_HEIGHT] = radar_height,
      [MR_OBSERVE_RADAR_HEIGHT_2] = radar_height,
      [MR_OBSERVE_RADAR_HEIGHT_3] = radar_height,
      [MR_OBSERVE_TEAM] = team,
      [MR_OBSERVE_TEAM_RADAR] = team_radar,
      [MR_OBSERVE_TEAM_HEIGHT] = team_height,
      [MR_OBSERVE_TEAM_RADAR_HEIGHT] = team_radar_height,
  };
  return tables[observation];
}

const MrFeature *mr_systems_features(void) {
  static const MrFeature table[] = {MR_SYSTEMS_FEATURES(MR_DESCRIBE_FEATURE)};
  return table;
}

MrAdded mr_added(const MrParams *p) {
  bool senses = p->sensing == MR_SENSING_RADAR;
  return (MrAdded){.systems = senses && (p->emission_control || p->chaff > 0),
                   .mission = p->mission != MR_MISSION_FIGHT};
}

const MrFeature *mr_mission_features(void) {
  static const MrFeature table[] = {MR_MISSION_FEATURES(MR_DESCRIBE_FEATURE)};
  return table;
}

// The numbers of features of a team's rows, by kind.
typedef int32_t Widths[MR_ROW_COUNT];
static const Widths team_widths[MR_OBSERVATION_COUNT] = {
    [MR_OBSERVE_TEAM] = {MR_TEAM_OWN_COUNT, MR_OTHER_COUNT, MR_OTHER_COUNT, MR_HEARD_COUNT, MR_MISSILE_COUNT,
                         MR_MISSILE_COUNT},
    [MR_OBSERVE_TEAM_RADAR] = {MR_TEAM_OWN_COUNT, MR_ALLY_COUNT, MR_TRACK_COUNT, MR_HEARD_COUNT, MR_SEEKER_COUNT,
                               MR_GUIDED_COUNT},
    [MR_OBSERVE_TEAM_HEIGHT] = {MR_TEAM_OWN_HEIGHT_COUNT, MR_HIGH_OTHER_COUNT, MR_HIGH_OTHER_COUNT, MR_HEARD_COUNT,
                                MR_RISING_COUNT, MR_RISING_COUNT},
    [MR_OBSERVE_TEAM_RADAR_HEIGHT] = {MR_TEAM_RADAR_OWN_COUNT, MR_HIGH_ALLY_COUNT, MR_HIGH_TRACK_COUNT, MR_HEARD_COUNT,
                                      MR_SEEKER_COUNT, MR_GUIDED_RISING_COUNT},
};

void mr_team_rows(MrObservation observation, MrAdded added, int32_t red, int32_t blue, MrRows rows[MR_ROW_COUNT]) {
  bool senses = observation == MR_OBSERVE_TEAM_RADAR || observation == MR_OBSERVE_TEAM_RADAR_HEIGHT;
  int32_t side = mr_enemy_rows(red, blue);
  const int32_t *widths = team_widths[observation];
  rows[MR_ROW_OWN] = (MrRows){"", 1, 0, 0};
  rows[MR_ROW_ALLY] = (MrRows){"ally", side - 1, 0, 0};
  rows[MR_ROW_ENEMY] = (MrRows){"enemy", side, 0, 0};
  rows[MR_ROW_RADAR] = (MrRows){"radar", senses ? side : 0, 0, 0};
  rows[MR_ROW_INBOUND] =
      senses ? (MrRows){"seeker", MR_SEEKERS_OBSERVED, 0, 0} : (MrRows){"inbound", MR_INBOUND_OBSERVED, 0, 0};
  rows[MR_ROW_OWN_MISSILE] = (MrRows){"own_missile", MR_OWN_MISSILES_OBSERVED, 0, 0};
  for (int kind = 0; kind < MR_ROW_COUNT; kind++) rows[kind].features = widths[kind];
  rows[MR_ROW_SYSTEMS] = (MrRows){"systems", added.systems, MR_SYSTEMS_COUNT, 0};
  rows[MR_ROW_MISSION] = (MrRows){"mission", added.mission, MR_MISSION_COUNT, 0};
  // Where each kind's table begins: with full information a table serves two kinds.
  int32_t own = widths[MR_ROW_OWN], ally = own + widths[MR_ROW_ALLY], enemy = ally + widths[MR_ROW_ENEMY];
  rows[MR_ROW_ALLY].first = own;
  rows[MR_ROW_ENEMY].first = senses ? ally : own;
  rows[MR_ROW_RADAR].first = enemy;
  rows[MR_ROW_INBOUND].first = senses ? enemy + widths[MR_ROW_RADAR] : ally;
  rows[MR_ROW_OWN_MISSILE].first = rows[MR_ROW_INBOUND].first + (senses ? widths[MR_ROW_INBOUND] : 0);
}

int32_t mr_feature_count(MrObservation observation, MrAdded added, int32_t red, int32_t blue) {
  static const int32_t counts[MR_OBSERVATION_COUNT] = {
      [MR_OBSERVE_DEFAULT] = MR_FEATURE_COUNT,
      [MR_OBSERVE_STG] = MR_STG_FEATURE_COUNT,
      [MR_OBSERVE_RADAR] = MR_RADAR_FEATURE_COUNT,
      [MR_OBSERVE_HEIGHT] = MR_HEIGHT_FEATURE_COUNT,
      [MR_OBSERVE_HEIGHT_2] = MR_HEIGHT_2_FEATURE_COUNT,
      [MR_OBSERVE_HEIGHT_3] = MR_HEIGHT_3_FEATURE_COUNT,
      [MR_OBSERVE_RADAR_HEIGHT] = MR_RADAR_HEIGHT_FEATURE_COUNT,
      [MR_OBSERVE_RADAR_HEIGHT_2] = MR_RADAR_HEIGHT_2_FEATURE_COUNT,
      [MR_OBSERVE_RADAR_HEIGHT_3] = MR_RADAR_HEIGHT_3_FEATURE_COUNT,
  };
  int32_t more = (added.systems ? MR_PAIR_SYSTEMS_COUNT : 0) + (added.mission ? MR_LINE_COUNT : 0);
  if (counts[observation]) return counts[observation] + more;
  MrRows rows[MR_ROW_COUNT];
  int32_t count = 0;
  mr_team_rows(observation, added, red, blue, rows);
  for (int kind = 0; kind < MR_ROW_COUNT; kind++) count += rows[kind].rows * rows[kind].features;
  return count;
}

#define MR_DESCRIBE_EVASION(name, side, beams, time_to_go, meaning) {#name, meaning, side, time_to_go, beams},
const MrEvasion *mr_evasions(void) {
  static const MrEvasion table[] = {MR_EVASIONS(MR_DESCRIBE_EVASION){0}};
  return table;
}

#define MR_DEFAULT_PARAM(group, type, name, default_, min, max, unit, meaning) .name = default_,
MrParams mr_default_params(void) { return (MrParams){MR_PARAMS(MR_DEFAULT_PARAM)}; }

#define MR_IS_FLOAT(member)                                                                                   \
  _Generic((member), float: true, float *: true, float (*)[2]: true, float (*)[MR_LANES]: true,               \
           float (*)[MR_LANES][2]: true, default: false)
#define MR_MEMBER(type, name) {#name, MR_IS_FLOAT(((type *)0)->name), offsetof(type, name), sizeof(((type *)0)->name)}
MrLayouts mr_layouts(void) {
  static const MrMember record[] = {MR_MEMBER(MrRecord, env),
                                    MR_MEMBER(MrRecord, outcome),
                                    MR_MEMBER(MrRecord, truncated),
                                    MR_MEMBER(MrRecord, mutual_kill),
                                    MR_MEMBER(MrRecord, decisions),
                                    MR_MEMBER(MrRecord, pilot),
                                    MR_MEMBER(MrRecord, shots),
                                    MR_MEMBER(MrRecord, hits),
                                    MR_MEMBER(MrRecord, shots_in_nez),
                                    MR_MEMBER(MrRecord, shots_wasted),
                                    MR_MEMBER(MrRecord, launch_range),
                                    MR_MEMBER(MrRecord, episode_return),
                                    MR_MEMBER(MrRecord, paid_result),
                                    MR_MEMBER(MrRecord, paid_geometry),
                                    MR_MEMBER(MrRecord, paid_ammunition),
                                    MR_MEMBER(MrRecord, paid_threat),
                                    MR_MEMBER(MrRecord, paid_pressure),
                                    MR_MEMBER(MrRecord, paid_kill),
                                    MR_MEMBER(MrRecord, survivors),
                                    MR_MEMBER(MrRecord, paid_line),
                                    MR_MEMBER(MrRecord, attacker),
                                    {0}};
  static const MrMember shot[] = {
      MR_MEMBER(MrShot, range),        MR_MEMBER(MrShot, nose_x),   MR_MEMBER(MrShot, nose_y),
      MR_MEMBER(MrShot, aspect_x),     MR_MEMBER(MrShot, aspect_y), MR_MEMBER(MrShot, launch_speed),
      MR_MEMBER(MrShot, target_speed), MR_MEMBER(MrShot, height),   MR_MEMBER(MrShot, target_height),
      MR_MEMBER(MrShot, climb_sine),   MR_MEMBER(MrShot, evasion),  {0}};
  static const MrMember moment[] = {MR_MEMBER(MrMoment, own),
                                    MR_MEMBER(MrMoment, missiles),
                                    MR_MEMBER(MrMoment, own_height),
                                    MR_MEMBER(MrMoment, missile_heights),
                                    {0}};
  static const MrMember prediction[] = {MR_MEMBER(MrPrediction, present), MR_MEMBER(MrPrediction, hits),
                                        MR_MEMBER(MrPrediction, ended),   MR_MEMBER(MrPrediction, harmless),
                                        MR_MEMBER(MrPrediction, miss),    {0}};
  static const MrMember drawn_types[] = {MR_MEMBER(MrDrawnTypes, aircraft),
                                         MR_MEMBER(MrDrawnTypes, missile),
                                         MR_MEMBER(MrDrawnTypes, thrust_factor),
                                         MR_MEMBER(MrDrawnTypes, drag_factor),
                                         MR_MEMBER(MrDrawnTypes, lift_factor),
                                         MR_MEMBER(MrDrawnTypes, induced_drag_factor),
                                         MR_MEMBER(MrDrawnTypes, missile_thrust_factor),
                                         MR_MEMBER(MrDrawnTypes, missile_drag_factor),
                                         MR_MEMBER(MrDrawnTypes, missile_lift_factor),
                                         MR_MEMBER(MrDrawnTypes, missile_burn_time_factor),
                                         {0}};
  return (MrLayouts){record, shot, moment, prediction, drawn_types};
}

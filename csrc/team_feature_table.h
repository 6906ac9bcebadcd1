// SPDX-License-Identifier: MIT
//
// The tables of features that a fighter in a team observes. An observation is of rows: one of the own fighter; then
// rows of allies, of enemies, of inbound missiles and of own missiles, each kind the most pressing first. All rows of a
// kind have the same features. Where there are fewer, the last rows of a kind are zeros, and so is all that a dead
// fighter observes.
//
//   - Allies and enemies: the living ones, the nearest first.
//   - Missiles: the one with the least time to go first; those that do not close come last, the older first.
//
// team_views.h writes the features. A row of a table is as in feature_table.h.

#pragma once

#include "feature_table.h"

// clang-format off
#define MR_TEAM_OWN_FEATURES(X) \
  MR_OWN_FEATURES(X) \
  X(own_survivors, 8, 0, "living fighters of the own side") \
  X(enemy_survivors, 8, 0, "living enemies")

// Of an ally or an enemy, the other.
#define MR_OTHER_FEATURES(X) \
  X(other_present, 1, 0, "1 if there is such a fighter, alive; else 0, as are all features of this row") \
  X(other_ahead, 1, 0, "bearing: cosine of the angle off the nose") \
  X(other_left, 1, 1, "bearing: sine of that angle") \
  X(other_range, 100000, 0, "range [m]") \
  X(other_nearness, 1, 0, "10 km / (10 km + range)") \
  X(other_closing, 1000, 0, "closing speed [m/s]") \
  X(other_los_rate, 0.05, 1, "rate of turn of the line of sight [rad/s]") \
  X(other_heading_ahead, 1, 0, "direction of its velocity: cosine of the angle to own velocity") \
  X(other_heading_left, 1, 1, "direction of its velocity: sine of that angle") \
  X(other_aspect_ahead, 1, 0, "own bearing as it sees it: cosine of the angle off its nose") \
  X(other_aspect_left, 1, 1, "own bearing as it sees it: sine of that angle") \
  X(other_speed, 500, 0, "speed [m/s]") \
  X(other_rudder, 1, 1, "rudder position") \
  X(other_ammunition, 6, 0, "missiles left") \
  X(other_reload, 10, 0, "time until its next launch is allowed [s]") \
  X(other_own_reach, 40000, 0, "own R_max on it less the range [m]") \
  X(other_reach, 40000, 0, "its R_max on the own fighter less the range [m]") \
  X(other_inbound, 6, 0, "missiles in the air that fly at it") \
  X(other_urgency, 1, 0, "10 s / (10 s + the least time to go of those); 0 without any")
// clang-format on

#define MR_ENUM_TEAM_FEATURE(name, scale, lateral, meaning) MR_TEAM_##name,
enum { MR_TEAM_OWN_FEATURES(MR_ENUM_TEAM_FEATURE) MR_TEAM_OWN_COUNT };
enum { MR_OTHER_FEATURES(MR_ENUM_TEAM_FEATURE) MR_OTHER_COUNT };

// How many rows of each kind there are, and of how many features.
static inline void mr_count_team_rows(int32_t red, int32_t blue, MrRows rows[MR_ROW_COUNT]) {
  int32_t side = red > blue ? red : blue, missiles = MR_TEAM_OWN_COUNT + MR_OTHER_COUNT;
  rows[MR_ROW_OWN] = (MrRows){"", 1, MR_TEAM_OWN_COUNT, 0};
  rows[MR_ROW_ALLY] = (MrRows){"ally", side - 1, MR_OTHER_COUNT, MR_TEAM_OWN_COUNT};
  rows[MR_ROW_ENEMY] = (MrRows){"enemy", side, MR_OTHER_COUNT, MR_TEAM_OWN_COUNT};
  rows[MR_ROW_INBOUND] = (MrRows){"inbound", MR_SEEN_INBOUND, MR_SEEN_FEATURES, missiles};
  rows[MR_ROW_OWN_MISSILE] = (MrRows){"own_missile", MR_SEEN_OWN, MR_SEEN_FEATURES, missiles};
}

// How many features an observation has in fights of a size.
static inline int32_t mr_features_of(MrObservation observation, int32_t red, int32_t blue) {
  static const int32_t counts[MR_OBSERVATION_COUNT] = {
      [MR_OBSERVE_DEFAULT] = MR_FEATURE_COUNT,
      [MR_OBSERVE_STG] = MR_STG_FEATURE_COUNT,
      [MR_OBSERVE_RADAR] = MR_RADAR_FEATURE_COUNT,
  };
  if (observation != MR_OBSERVE_TEAM) return counts[observation];
  MrRows rows[MR_ROW_COUNT];
  int32_t count = 0;
  mr_count_team_rows(red, blue, rows);
  for (int kind = 0; kind < MR_ROW_COUNT; kind++) count += rows[kind].rows * rows[kind].features;
  return count;
}

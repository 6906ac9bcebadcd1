// SPDX-License-Identifier: MIT
//
// The tables of features that a fighter in a team observes. An observation is of rows: one of the own fighter; then
// rows of allies, of enemies, with sensors of the radars that are heard, of inbound missiles and of own missiles, each
// kind the most pressing first. All rows of a kind have the same features. Where there are fewer, the last rows of a
// kind are zeros, and so is all that a dead fighter observes.
//
//   - Allies and enemies: the living ones, the nearest first. With sensors enemies are the tracks, by where they are
//     believed, and allies tell by data link how they stand.
//   - Radars that are heard: those that track the fighter first, of these the one nearest its nose.
//   - Inbound missiles: the one with the least time to go first; those that do not close come last, the older first.
//     With sensors they are the seekers with a lock on the fighter, the one nearest its nose first.
//   - Own missiles: the one with the least time to go first, likewise; with sensors by where their targets are believed.
//
// team_views.h writes the features, and with sensors team_radar_views.h. A row of a table is as in feature_table.h.

#pragma once

#include "feature_table.h"

// clang-format off
#define MR_TEAM_OWN_FEATURES(X) \
  MR_OWN_FEATURES(X) \
  X(own_survivors, 8, 0, "living fighters of the own side") \
  X(enemy_survivors, 8, 0, "living enemies")

// Of an ally or an enemy, the other: where it is and how it flies.
#define MR_PLACE_FEATURES(X) \
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
  X(other_speed, 500, 0, "speed [m/s]")

#define MR_STORES_FEATURES(X) \
  X(other_rudder, 1, 1, "rudder position") \
  X(other_ammunition, 6, 0, "missiles left") \
  X(other_reload, 10, 0, "time until its next launch is allowed [s]")

#define MR_REACH_FEATURES(X) \
  X(other_own_reach, 40000, 0, "own R_max on it less the range [m]") \
  X(other_reach, 40000, 0, "its R_max on the own fighter less the range [m]")

#define MR_OTHER_FEATURES(X) \
  MR_PLACE_FEATURES(X) \
  MR_STORES_FEATURES(X) \
  MR_REACH_FEATURES(X) \
  X(other_inbound, 6, 0, "missiles in the air that fly at it") \
  X(other_urgency, 1, 0, "10 s / (10 s + the least time to go of those); 0 without any")

// With sensors. What an ally tells by data link.
#define MR_ALLY_FEATURES(X) \
  MR_PLACE_FEATURES(X) \
  MR_STORES_FEATURES(X) \
  X(other_tracked, 8, 0, "enemy radars that it hears and that track it") \
  X(other_locked, 6, 0, "missiles whose seekers have a lock on it")

// A track of an enemy.
#define MR_TEAM_CONTACT_FEATURES(X) \
  MR_PLACE_FEATURES(X) \
  MR_REACH_FEATURES(X) \
  X(other_live, 1, 0, "1 while the own radar tracks it") \
  X(other_linked, 1, 0, "1 while the radar of an ally tracks it, and the own one does not") \
  X(other_age, 10, 0, "time since it was seen [s]") \
  X(other_inbound, 6, 0, "missiles of the own side in the air that fly at it")

// An enemy's radar that the warning receiver hears.
#define MR_HEARD_FEATURES(X) \
  X(radar_present, 1, 0, "1 if the receiver hears such a radar; else 0, as are all features of this row") \
  X(radar_tracked, 1, 0, "1 if it tracks the own fighter") \
  X(radar_ahead, 1, 0, "bearing of the radar: cosine of the angle off the nose") \
  X(radar_left, 1, 1, "bearing of the radar: sine of that angle")
// clang-format on

#define MR_ENUM_TEAM_FEATURE(name, scale, lateral, meaning) MR_TEAM_##name,
enum { MR_TEAM_OWN_FEATURES(MR_ENUM_TEAM_FEATURE) MR_TEAM_OWN_COUNT };
enum { MR_OTHER_FEATURES(MR_ENUM_TEAM_FEATURE) MR_OTHER_COUNT };

#define MR_ENUM_ALLY(name, scale, lateral, meaning) MR_ALLY_##name,
enum { MR_ALLY_FEATURES(MR_ENUM_ALLY) MR_ALLY_COUNT };
#define MR_ENUM_TRACK(name, scale, lateral, meaning) MR_TRACK_##name,
enum { MR_TEAM_CONTACT_FEATURES(MR_ENUM_TRACK) MR_TRACK_COUNT };
#define MR_ENUM_HEARD(name, scale, lateral, meaning) MR_HEARD_##name,
enum { MR_HEARD_FEATURES(MR_ENUM_HEARD) MR_HEARD_COUNT };
#define MR_ENUM_LOCK(name, scale, lateral, meaning) MR_LOCK_##name,
enum { MR_SEEKER_FEATURES(MR_ENUM_LOCK, seeker) };

// How many rows of each kind there are, and of how many features.
static inline void mr_count_team_rows(MrObservation observation, int32_t red, int32_t blue,
                                      MrRows rows[MR_ROW_COUNT]) {
  bool senses = observation == MR_OBSERVE_TEAM_RADAR;
  int32_t side = red > blue ? red : blue, others = MR_OTHER_COUNT;
  rows[MR_ROW_OWN] = (MrRows){"", 1, MR_TEAM_OWN_COUNT, 0};
  rows[MR_ROW_ALLY] = (MrRows){"ally", side - 1, senses ? MR_ALLY_COUNT : others, 0};
  rows[MR_ROW_ENEMY] = (MrRows){"enemy", side, senses ? MR_TRACK_COUNT : others, 0};
  rows[MR_ROW_RADAR] = (MrRows){"radar", senses ? side : 0, MR_HEARD_COUNT, 0};
  rows[MR_ROW_INBOUND] = senses ? (MrRows){"seeker", MR_HEARD_SEEKERS, MR_SEEKER_FEATURE_COUNT, 0}
                                : (MrRows){"inbound", MR_SEEN_INBOUND, MR_SEEN_FEATURES, 0};
  rows[MR_ROW_OWN_MISSILE] = (MrRows){"own_missile", MR_SEEN_OWN, senses ? MR_SEEN_GUIDED_FEATURES : MR_SEEN_FEATURES, 0};
  // Where each kind's table begins: with full information a table serves two kinds.
  int32_t own = MR_TEAM_OWN_COUNT, ally = own + rows[MR_ROW_ALLY].features;
  rows[MR_ROW_ALLY].first = own;
  rows[MR_ROW_ENEMY].first = senses ? ally : own;
  rows[MR_ROW_RADAR].first = ally + MR_TRACK_COUNT;
  rows[MR_ROW_INBOUND].first = senses ? ally + MR_TRACK_COUNT + MR_HEARD_COUNT : ally;
  rows[MR_ROW_OWN_MISSILE].first = rows[MR_ROW_INBOUND].first + (senses ? MR_SEEKER_FEATURE_COUNT : 0);
}

// How many features an observation has in fights of a size.
static inline int32_t mr_features_of(MrObservation observation, int32_t red, int32_t blue) {
  static const int32_t counts[MR_OBSERVATION_COUNT] = {
      [MR_OBSERVE_DEFAULT] = MR_FEATURE_COUNT,
      [MR_OBSERVE_STG] = MR_STG_FEATURE_COUNT,
      [MR_OBSERVE_RADAR] = MR_RADAR_FEATURE_COUNT,
  };
  if (counts[observation]) return counts[observation];
  MrRows rows[MR_ROW_COUNT];
  int32_t count = 0;
  mr_count_team_rows(observation, red, blue, rows);
  for (int kind = 0; kind < MR_ROW_COUNT; kind++) count += rows[kind].rows * rows[kind].features;
  return count;
}

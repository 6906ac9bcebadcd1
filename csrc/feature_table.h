// SPDX-License-Identifier: MIT
//
// What an agent observes: the table of features. Everything is in the pilot's own frame, x along its
// velocity and y to the left; nothing is absolute. A row is
//
//     X(name, scale, lateral, meaning)
//
// and observation.h has a variable of that name for its value: a row without one does not compile.
// The observation is value / scale, clipped to [-1, 1]. Reflecting the engagement changes the sign of the
// lateral features exactly, and of no other. A change of these tables, or of what definitions.h
// says about observations, needs a new MR_OBSERVATION_VERSION.
// MR_OBSERVE_DEFAULT has the features of the first table, MR_OBSERVE_STG those of the second, too.

#pragma once

#include "definitions.h"
#include "midrange.h"

enum { MR_SEEN_INBOUND = 3, MR_SEEN_OWN = 2, MR_SEEN = MR_SEEN_INBOUND + MR_SEEN_OWN };

// clang-format off
#define MR_MISSILE_FEATURES(X, prefix) \
  X(prefix##_present, 1, 0, "1 if there is such a missile, else it and all below are 0") \
  X(prefix##_ahead, 1, 0, "bearing of the missile: cosine of the angle off the nose") \
  X(prefix##_left, 1, 1, "bearing of the missile: sine of that angle") \
  X(prefix##_nearness, 1, 0, "nearness of missile to target, 5 km / (5 km + range)") \
  X(prefix##_urgency, 1, 0, "10 s / (10 s + time to go)") \
  X(prefix##_speed, 1600, 0, "its speed [m/s]") \
  X(prefix##_heading_ahead, 1, 0, "its direction: cosine of the angle to own velocity") \
  X(prefix##_heading_left, 1, 1, "its direction: sine of that angle") \
  X(prefix##_reach, 20000, 0, "how much farther it could chase the target, running away now, than it has to [m]")

#define MR_FIGHTER_FEATURES(X) \
  X(time_left, MR_CLOCK_SCALE, 0, "until the time limit [s]; if that is above 300 s, 300 times the share of it left") \
  X(own_alive, 1, 0, "1 while alive") \
  X(own_speed, 500, 0, "own speed [m/s]") \
  X(own_rudder, 1, 1, "own rudder position") \
  X(own_throttle, 1, 0, "own throttle position") \
  X(own_ammunition, 6, 0, "missiles left") \
  X(own_reload, 10, 0, "until the next launch is allowed [s]") \
  X(own_in_air, 6, 0, "own missiles in the air") \
  X(enemy_alive, 1, 0, "1 while the enemy is alive") \
  X(enemy_speed, 500, 0, "enemy's speed [m/s]") \
  X(enemy_rudder, 1, 1, "enemy's rudder position") \
  X(enemy_ammunition, 6, 0, "missiles the enemy has left") \
  X(enemy_reload, 10, 0, "until the enemy's next launch is allowed [s]") \
  X(enemy_in_air, 6, 0, "enemy's missiles in the air") \
  X(enemy_ahead, 1, 0, "bearing of the enemy: cosine of the angle off the nose") \
  X(enemy_left, 1, 1, "bearing of the enemy: sine of that angle") \
  X(enemy_range, 100000, 0, "range [m]") \
  X(enemy_nearness, 1, 0, "10 km / (10 km + range)") \
  X(enemy_closing, 1000, 0, "closing speed [m/s]") \
  X(enemy_los_rate, 0.05, 1, "rate of turn of the line of sight [rad/s]") \
  X(enemy_heading_ahead, 1, 0, "enemy's direction: cosine of the angle to own velocity") \
  X(enemy_heading_left, 1, 1, "enemy's direction: sine of that angle") \
  X(own_aspect_ahead, 1, 0, "own bearing as the enemy sees it: cosine of the angle off its nose") \
  X(own_aspect_left, 1, 1, "own bearing as the enemy sees it: sine of that angle") \
  X(own_reach, 40000, 0, "own R_max on the enemy less the range [m]") \
  X(enemy_reach, 40000, 0, "enemy's R_max on us less the range [m]")

#define MR_FEATURES(X) \
  MR_FIGHTER_FEATURES(X) \
  MR_MISSILE_FEATURES(X, inbound_1) \
  MR_MISSILE_FEATURES(X, inbound_2) \
  MR_MISSILE_FEATURES(X, inbound_3) \
  MR_MISSILE_FEATURES(X, own_missile_1) \
  MR_MISSILE_FEATURES(X, own_missile_2)

#define MR_MISS_MEANING(which) \
  "1 km / (1 km + predicted miss distance) of the " which " inbound missile against the present rudder; 0 without one"

#define MR_ENVELOPE_FEATURES(X) \
  X(own_aero, 1, 0, "own R_aero on the enemy against the range, R / (R + range): 1/2 at its edge") \
  X(own_nez, 1, 0, "own R_NEZ on the enemy, likewise; R_min where it can escape from any range") \
  X(enemy_aero, 1, 0, "enemy's R_aero on us, likewise") \
  X(enemy_nez, 1, 0, "enemy's R_NEZ on us, likewise; R_min where we can escape from any range") \
  X(escape_margin, 20000, 0, "range less the enemy's R_cold on us: above 0, turning cold outruns a shot fired now [m]")

#define MR_STG_FEATURES(X) \
  MR_ENVELOPE_FEATURES(X) \
  X(inbound_1_miss, 1, 0, MR_MISS_MEANING("first")) \
  X(inbound_2_miss, 1, 0, MR_MISS_MEANING("second")) \
  X(inbound_3_miss, 1, 0, MR_MISS_MEANING("third"))
// clang-format on

#define MR_ENUM_FEATURE(name, scale, lateral, meaning) MR_OBS_##name,
enum { MR_FEATURES(MR_ENUM_FEATURE) MR_FEATURE_COUNT };
enum { MR_LAST_FEATURE = MR_FEATURE_COUNT - 1, MR_STG_FEATURES(MR_ENUM_FEATURE) MR_STG_FEATURE_COUNT };

static inline int32_t mr_features_of(MrObservation observation) {
  return observation == MR_OBSERVE_STG ? MR_STG_FEATURE_COUNT : MR_FEATURE_COUNT;
}

// The features of one missile, counted from its first.
#define MR_ENUM_SEEN(name, scale, lateral, meaning) MR_SEEN_##name,
enum { MR_MISSILE_FEATURES(MR_ENUM_SEEN, missile) MR_SEEN_FEATURES };

// observation.h writes these lists, MR_SEEN missiles and a miss for each inbound missile, and no more.
#define MR_COUNT_FEATURE(name, scale, lateral, meaning) +1
enum {
  MR_FIGHTER_FEATURE_COUNT = 0 MR_FIGHTER_FEATURES(MR_COUNT_FEATURE),
  MR_ENVELOPE_FEATURE_COUNT = 0 MR_ENVELOPE_FEATURES(MR_COUNT_FEATURE)
};
_Static_assert(MR_FEATURE_COUNT == MR_FIGHTER_FEATURE_COUNT + MR_SEEN * MR_SEEN_FEATURES,
               "a feature that is in no list that is written");
_Static_assert(MR_STG_FEATURE_COUNT == MR_FEATURE_COUNT + MR_ENVELOPE_FEATURE_COUNT + MR_SEEN_INBOUND,
               "a feature that is in no list that is written");

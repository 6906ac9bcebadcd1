// SPDX-License-Identifier: MIT
//
// The tables of features that agents observe. All directions are in the fighter's own frame: x along its velocity, y to
// the left; with height x is along the horizontal part of its velocity, and z is up. No feature is a place or a compass
// direction. A row is
//
//     X(name, scale, lateral, meaning)
//
// The observed number is value / scale, clipped to [-1, 1]. `lateral` is 1 if the value changes its sign when the
// engagement is mirrored; other values stay the same. view_pair.h and view_team_rows.h compute the value in a variable
// of the row's name, so a row without its variable does not compile.
//
// MR_OBSERVE_DEFAULT has the features of MR_FEATURES. MR_OBSERVE_STG has those of MR_STG_FEATURES after them.
// MR_OBSERVE_RADAR has the features of MR_RADAR_FEATURES, MR_OBSERVE_HEIGHT those of MR_HEIGHT_FEATURES.
// MR_OBSERVE_HEIGHT_2 has those of MR_TWO_KIND_FEATURES after them, and MR_OBSERVE_HEIGHT_3 then those of
// MR_THIRD_KIND_FEATURES.
// MR_OBSERVE_RADAR_HEIGHT has the features of MR_RADAR_HEIGHT_FEATURES, MR_OBSERVE_RADAR_HEIGHT_2 and
// MR_OBSERVE_RADAR_HEIGHT_3 also those of MR_TWO_KNOWN_KIND_FEATURES and MR_THIRD_KNOWN_KIND_FEATURES.
// MR_OBSERVE_TEAM, MR_OBSERVE_TEAM_RADAR, MR_OBSERVE_TEAM_RADAR_HEIGHT and MR_OBSERVE_TEAM_HEIGHT are of rows, which
// have the tables of "Teams" below.
//
// Raise MR_OBSERVATION_VERSION when these tables change, or the constants of observations in definitions.h.

#pragma once

#include "definitions.h"
#include "midrange.h"

// Numbers of missiles and seekers that an agent observes.
enum {
  MR_INBOUND_OBSERVED = 3,
  MR_OWN_MISSILES_OBSERVED = 2,
  MR_MISSILES_OBSERVED = MR_INBOUND_OBSERVED + MR_OWN_MISSILES_OBSERVED,
  MR_SEEKERS_OBSERVED = 3
};

// clang-format off
#define MR_MISSILE_FEATURES(X, prefix) \
  X(prefix##_present, 1, 0, "1 if there is such a missile; else 0, as are all features of this missile") \
  X(prefix##_ahead, 1, 0, "bearing of the missile: cosine of the angle off the nose") \
  X(prefix##_left, 1, 1, "bearing of the missile: sine of that angle") \
  X(prefix##_nearness, 1, 0, "nearness of missile to target, 5 km / (5 km + range)") \
  X(prefix##_urgency, 1, 0, "10 s / (10 s + time to go)") \
  X(prefix##_speed, 1600, 0, "speed of the missile [m/s]") \
  X(prefix##_heading_ahead, 1, 0, "direction of the missile's velocity: cosine of the angle to own velocity") \
  X(prefix##_heading_left, 1, 1, "direction of the missile's velocity: sine of that angle") \
  X(prefix##_reach, 20000, 0, "distance that the missile could gain on the target, if the target now ran straight away, less the range [m]")

#define MR_OWN_FEATURES(X) \
  X(time_left, MR_CLOCK_SCALE, 0, "time until the time limit [s]; with a limit above 300 s, 300 s times the share of the limit that is left") \
  X(own_alive, 1, 0, "1 while the own fighter is alive") \
  X(own_speed, 500, 0, "own speed [m/s]") \
  X(own_rudder, 1, 1, "own rudder position") \
  X(own_throttle, 1, 0, "own throttle position") \
  X(own_ammunition, 6, 0, "missiles left") \
  X(own_reload, 10, 0, "time until the own next launch is allowed [s]") \
  X(own_in_air, 6, 0, "own missiles in the air")

#define MR_FULL_FEATURES(X) \
  X(enemy_alive, 1, 0, "1 while the enemy is alive") \
  X(enemy_speed, 500, 0, "enemy's speed [m/s]") \
  X(enemy_rudder, 1, 1, "enemy's rudder position") \
  X(enemy_ammunition, 6, 0, "missiles the enemy has left") \
  X(enemy_reload, 10, 0, "time until the enemy's next launch is allowed [s]") \
  X(enemy_in_air, 6, 0, "enemy's missiles in the air")

// Geometry of the enemy, or of the contact with it.
#define MR_GEOMETRY_FEATURES(X) \
  X(enemy_ahead, 1, 0, "bearing of the enemy: cosine of the angle off the nose") \
  X(enemy_left, 1, 1, "bearing of the enemy: sine of that angle") \
  X(enemy_range, 100000, 0, "range to the enemy [m]") \
  X(enemy_nearness, 1, 0, "10 km / (10 km + range)") \
  X(enemy_closing, 1000, 0, "closing speed [m/s]") \
  X(enemy_los_rate, 0.05, 1, "rate of turn of the line of sight [rad/s]") \
  X(enemy_heading_ahead, 1, 0, "direction of the enemy's velocity: cosine of the angle to own velocity") \
  X(enemy_heading_left, 1, 1, "direction of the enemy's velocity: sine of that angle") \
  X(own_aspect_ahead, 1, 0, "own bearing as the enemy sees it: cosine of the angle off its nose") \
  X(own_aspect_left, 1, 1, "own bearing as the enemy sees it: sine of that angle") \
  X(own_reach, 40000, 0, "own R_max on the enemy less the range [m]; of several kinds of missiles that of the first") \
  X(enemy_reach, 40000, 0, "enemy's R_max on the own fighter less the range [m], likewise")

#define MR_FIGHTER_FEATURES(X) MR_OWN_FEATURES(X) MR_FULL_FEATURES(X) MR_GEOMETRY_FEATURES(X)

#define MR_FEATURES(X) \
  MR_FIGHTER_FEATURES(X) \
  MR_MISSILE_FEATURES(X, inbound_1) \
  MR_MISSILE_FEATURES(X, inbound_2) \
  MR_MISSILE_FEATURES(X, inbound_3) \
  MR_MISSILE_FEATURES(X, own_missile_1) \
  MR_MISSILE_FEATURES(X, own_missile_2)

#define MR_MISS_MEANING(which) \
  "1 km / (1 km + predicted miss distance) of the " which " inbound missile if rudder and throttle stay as they are; 0 without one"

#define MR_ENVELOPE_FEATURES(X) \
  X(own_aero, 1, 0, "own R_aero on the enemy compared with the range: R_aero / (R_aero + range), 1/2 where they are equal") \
  X(own_nez, 1, 0, "own R_NEZ on the enemy, likewise; R_min where the enemy can escape from any range") \
  X(enemy_aero, 1, 0, "enemy's R_aero on the own fighter, likewise") \
  X(enemy_nez, 1, 0, "enemy's R_NEZ on the own fighter, likewise; R_min where the own fighter can escape from any range") \
  X(escape_margin, 20000, 0, "range less the enemy's R_cold on the own fighter [m]; above 0, turning cold outruns a shot fired now")

#define MR_STG_FEATURES(X) \
  MR_ENVELOPE_FEATURES(X) \
  X(inbound_1_miss, 1, 0, MR_MISS_MEANING("first")) \
  X(inbound_2_miss, 1, 0, MR_MISS_MEANING("second")) \
  X(inbound_3_miss, 1, 0, MR_MISS_MEANING("third"))

// Contact with the enemy in a game with sensors. Without a track the features of the enemy are 0, and so are those that
// compare an own missile with it: nearness, urgency and reach.
#define MR_CONTACT_FEATURES(X) \
  X(track_live, 1, 0, "1 while the own radar tracks the enemy; with noise the quality of the track, 1 km / (1 km + standard deviation of the place)") \
  X(track_memory, 1, 0, "1 while the track lives on in memory: the enemy is believed to fly straight on; with noise its quality") \
  X(track_age, 10, 0, "time since the radar saw the enemy [s]") \
  X(enemy_speed, 500, 0, "enemy's speed [m/s]")

#define MR_RECEIVER_FEATURES(X) \
  X(receiver_searched, 1, 0, "1 if the receiver hears the enemy's radar, which has no track") \
  X(receiver_tracked, 1, 0, "1 if the enemy's radar tracks the own fighter") \
  X(receiver_ahead, 1, 0, "bearing of that radar: cosine of the angle off the nose; 0 without one") \
  X(receiver_left, 1, 1, "bearing of that radar: sine of that angle")

// The missiles whose seekers have a lock on the own fighter, the one nearest the nose first.
#define MR_SEEKER_FEATURES(X, prefix) \
  X(prefix##_present, 1, 0, "1 if there is such a seeker; else 0, as are both others") \
  X(prefix##_ahead, 1, 0, "bearing of the missile: cosine of the angle off the nose") \
  X(prefix##_left, 1, 1, "bearing of the missile: sine of that angle")

#define MR_GUIDANCE_FEATURES(X, prefix) \
  X(prefix##_supported, 1, 0, "1 while the own side has a track for this missile to fly at") \
  X(prefix##_active, 1, 0, "1 while its own seeker has a lock")

#define MR_GUIDED_FEATURES(X, prefix) MR_MISSILE_FEATURES(X, prefix) MR_GUIDANCE_FEATURES(X, prefix)

#define MR_RADAR_FEATURES(X) \
  MR_OWN_FEATURES(X) \
  MR_CONTACT_FEATURES(X) \
  MR_GEOMETRY_FEATURES(X) \
  MR_RECEIVER_FEATURES(X) \
  MR_SEEKER_FEATURES(X, seeker_1) \
  MR_SEEKER_FEATURES(X, seeker_2) \
  MR_SEEKER_FEATURES(X, seeker_3) \
  MR_GUIDED_FEATURES(X, own_missile_1) \
  MR_GUIDED_FEATURES(X, own_missile_2)

// Height --------------------------------------------------------------------------------------------------
//
// The features above that are cosines and sines are ahead and left of a unit vector in space: with up their squares add
// up to 1. The rate of turn of the line of sight is that about the vertical: (line x drift) / range, of unit line.

#define MR_OWN_HEIGHT_FEATURES(X) \
  X(own_height, 16000, 0, "own height [m]") \
  X(own_climb_sine, 1, 0, "sine of the own climb") \
  X(own_climb, 1, 0, "position of the own climb actuator") \
  X(own_density, 1, 0, "density of the air here over that at sea level") \
  X(own_mach, 2.5, 0, "own Mach number") \
  X(own_energy, 40000, 0, "own height plus that which the own speed would buy, v^2/2g [m]") \
  X(own_lift_limit, 90, 0, "own greatest lift at this height and speed [m/s^2]") \
  X(own_thrust, 20, 0, "own full thrust at this height and speed [m/s^2]")

// Height of another fighter, `who`: its elevation, its actuator, and its flight.
#define MR_ELEVATION_FEATURES(X, prefix, who) \
  X(prefix##_up, 1, 0, "bearing of " who ": sine of its elevation") \
  X(prefix##_off_nose, 1, 0, "cosine of the angle between the own velocity and the line to " who)

#define MR_CLIMB_FEATURES(X, prefix, who) \
  X(prefix##_climb, 1, 0, "position of the climb actuator of " who)

#define MR_ASCENT_FEATURES(X, prefix, who) \
  X(prefix##_heading_up, 1, 0, "direction of the velocity of " who ": sine of its climb") \
  X(prefix##_los_rate_up, 0.05, 0, "rate of the sine of the elevation of " who " [1/s]") \
  X(prefix##_above, 10000, 0, "height of " who " less the own one [m]") \
  X(prefix##_energy, 20000, 0, "height of " who " plus that which its speed would buy, less the own one [m]") \
  X(prefix##_lift_limit, 90, 0, "greatest lift of " who " at its height and speed [m/s^2]") \
  X(prefix##_thrust, 20, 0, "full thrust of " who " at its height and speed [m/s^2]")

#define MR_OTHER_HEIGHT_FEATURES(X, prefix, who) \
  MR_ELEVATION_FEATURES(X, prefix, who) MR_CLIMB_FEATURES(X, prefix, who) MR_ASCENT_FEATURES(X, prefix, who)

#define MR_RISE_FEATURES(X, prefix) \
  X(prefix##_up, 1, 0, "bearing of the missile: sine of its elevation") \
  X(prefix##_heading_up, 1, 0, "direction of the missile's velocity: sine of its climb") \
  X(prefix##_above, 10000, 0, "height of the missile above its target [m]")

#define MR_RISING_FEATURES(X, prefix) MR_MISSILE_FEATURES(X, prefix) MR_RISE_FEATURES(X, prefix)

// With sensors the fighter's own echo.
#define MR_ECHO_FEATURES(X) \
  X(own_echo, 2, 0, "range at which radars and seekers see the own fighter, over that of the parameters")

#define MR_GUIDED_RISING_FEATURES(X, prefix) MR_RISING_FEATURES(X, prefix) MR_GUIDANCE_FEATURES(X, prefix)

// A kind of missile in the loads of both sides.
#define MR_KIND_FEATURES(X, prefix, which) \
  X(own_##prefix##_ammunition, 6, 0, "own missiles left of the " which " kind") \
  X(own_##prefix##_reach, 40000, 0, "own R_max on the enemy with the " which " kind less the range [m]; that of the first kind if the own side has no such kind") \
  X(enemy_##prefix##_ammunition, 6, 0, "missiles that the enemy has left of its " which " kind") \
  X(enemy_##prefix##_reach, 40000, 0, "enemy's R_max on the own fighter with its " which " kind less the range [m], likewise")

#define MR_TWO_KIND_FEATURES(X) MR_KIND_FEATURES(X, first, "first") MR_KIND_FEATURES(X, second, "second")
#define MR_THIRD_KIND_FEATURES(X) MR_KIND_FEATURES(X, third, "third")

#define MR_HEIGHT_FEATURES(X) \
  MR_FIGHTER_FEATURES(X) \
  MR_OWN_HEIGHT_FEATURES(X) \
  MR_OTHER_HEIGHT_FEATURES(X, enemy, "the enemy") \
  MR_RISING_FEATURES(X, inbound_1) \
  MR_RISING_FEATURES(X, inbound_2) \
  MR_RISING_FEATURES(X, inbound_3) \
  MR_RISING_FEATURES(X, own_missile_1) \
  MR_RISING_FEATURES(X, own_missile_2)

// A kind of missile with sensors, which do not tell what the enemy has left.
#define MR_KIND_STORE_FEATURES(X, prefix, which) \
  X(own_##prefix##_ammunition, 6, 0, "own missiles left of the " which " kind")
#define MR_KIND_REACH_FEATURES(X, prefix, which) \
  X(own_##prefix##_reach, 40000, 0, "own R_max on the enemy with the " which " kind less the range [m]; that of the first kind if the own side has no such kind") \
  X(enemy_##prefix##_reach, 40000, 0, "enemy's R_max on the own fighter with its " which " kind less the range [m], likewise")
#define MR_KNOWN_KIND_FEATURES(X, prefix, which) \
  MR_KIND_STORE_FEATURES(X, prefix, which) MR_KIND_REACH_FEATURES(X, prefix, which)

#define MR_TWO_KNOWN_KIND_FEATURES(X) MR_KNOWN_KIND_FEATURES(X, first, "first") MR_KNOWN_KIND_FEATURES(X, second, "second")
#define MR_THIRD_KNOWN_KIND_FEATURES(X) MR_KNOWN_KIND_FEATURES(X, third, "third")

#define MR_RADAR_HEIGHT_FEATURES(X) \
  MR_OWN_FEATURES(X) \
  MR_CONTACT_FEATURES(X) \
  MR_GEOMETRY_FEATURES(X) \
  MR_RECEIVER_FEATURES(X) \
  MR_OWN_HEIGHT_FEATURES(X) \
  MR_ECHO_FEATURES(X) \
  MR_ELEVATION_FEATURES(X, enemy, "the enemy") \
  MR_ASCENT_FEATURES(X, enemy, "the enemy") \
  MR_SEEKER_FEATURES(X, seeker_1) \
  MR_SEEKER_FEATURES(X, seeker_2) \
  MR_SEEKER_FEATURES(X, seeker_3) \
  MR_GUIDED_RISING_FEATURES(X, own_missile_1) \
  MR_GUIDED_RISING_FEATURES(X, own_missile_2)

// Teams ---------------------------------------------------------------------------------------------------
//
// An observation in teams is of rows: one of the own fighter; then rows of allies, of enemies, with sensors of the
// radars that are heard, of inbound missiles and of own missiles, each kind the most pressing first. All rows of a kind
// have the same features. Where there are fewer, the last rows of a kind are zeros, and so is everything that a dead
// fighter observes.
//
//   - Allies and enemies: the living ones, the nearest first. With sensors enemies are the tracks, by where they are
//     believed, and allies report their state by data link.
//   - Radars that are heard: those that track the fighter first, of these the one nearest its nose.
//   - Inbound missiles: the one with the least time to go first; those that do not close come last, the older first.
//     With sensors they are the seekers with a lock on the fighter, the one nearest its nose first.
//   - Own missiles: the one with the least time to go first, likewise; with sensors by where their targets are believed.

#define MR_TEAM_OWN_FEATURES(X) \
  MR_OWN_FEATURES(X) \
  X(own_survivors, 8, 0, "living fighters of the own side") \
  X(enemy_survivors, 8, 0, "living enemies")

// Place and flight of an ally or an enemy, the "other".
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

// The same rows with height.
#define MR_TEAM_OWN_HEIGHT_FEATURES(X) MR_TEAM_OWN_FEATURES(X) MR_OWN_HEIGHT_FEATURES(X)
#define MR_HIGH_OTHER_FEATURES(X) MR_OTHER_FEATURES(X) MR_OTHER_HEIGHT_FEATURES(X, other, "the other")

// An ally in a game with sensors, which reports these by data link.
#define MR_ALLY_FEATURES(X) \
  MR_PLACE_FEATURES(X) \
  MR_STORES_FEATURES(X) \
  X(other_tracked, 8, 0, "enemy radars that it hears and that track it") \
  X(other_locked, 6, 0, "missiles whose seekers have a lock on it")

// A track of an enemy.
#define MR_TRACK_FEATURES(X) \
  MR_PLACE_FEATURES(X) \
  MR_REACH_FEATURES(X) \
  X(other_live, 1, 0, "1 while the own radar tracks it; with noise the quality of the track, 1 km / (1 km + standard deviation of the place)") \
  X(other_linked, 1, 0, "1 while the radar of an ally tracks it, and the own one does not; with noise its quality") \
  X(other_age, 10, 0, "time since it was seen [s]") \
  X(other_inbound, 6, 0, "missiles of the own side in the air that fly at it")

// The same rows with height. Allies report their height, and a track has that of its enemy.
#define MR_TEAM_RADAR_OWN_FEATURES(X) MR_TEAM_OWN_HEIGHT_FEATURES(X) MR_ECHO_FEATURES(X)
#define MR_HIGH_ALLY_FEATURES(X) MR_ALLY_FEATURES(X) MR_OTHER_HEIGHT_FEATURES(X, other, "the other")
#define MR_HIGH_TRACK_FEATURES(X) \
  MR_TRACK_FEATURES(X) MR_ELEVATION_FEATURES(X, other, "the other") MR_ASCENT_FEATURES(X, other, "the other")

// An enemy's radar that the warning receiver hears.
#define MR_HEARD_FEATURES(X) \
  X(radar_present, 1, 0, "1 if the receiver hears such a radar; else 0, as are all features of this row") \
  X(radar_tracked, 1, 0, "1 if it tracks the own fighter") \
  X(radar_ahead, 1, 0, "bearing of the radar: cosine of the angle off the nose") \
  X(radar_left, 1, 1, "bearing of the radar: sine of that angle")
// clang-format on

// Missions ------------------------------------------------------------------------------------------------

// In missions those of the line follow the features above; in teams those of line and transport are a row. The line lies
// across the direction of the attack.
// clang-format off
#define MR_LINE_FEATURES(X) \
  X(mission_attacks, 1, 0, "1 if the own side attacks, -1 if it defends") \
  X(mission_line_ahead, 1, 0, "direction of the attack, straight across the line: cosine of the angle to own velocity") \
  X(mission_line_left, 1, 1, "direction of the attack: sine of that angle") \
  X(mission_line_range, 100000, 0, "distance to the line [m], below 0 beyond it") \
  X(mission_line_nearness, 1, 0, "10 km / (10 km + that distance), 1 beyond it")

// The transport of the mission escort: one's own, or an enemy's that lives and of which, with sensors, there is a track.
#define MR_TRANSPORT_FEATURES(X) \
  X(mission_transport_present, 1, 0, "1 if it is known; else 0, as are the features that follow") \
  X(mission_transport_ahead, 1, 0, "bearing of the transport: cosine of the angle off the nose") \
  X(mission_transport_left, 1, 1, "bearing of the transport: sine of that angle") \
  X(mission_transport_range, 100000, 0, "range to the transport [m]") \
  X(mission_transport_nearness, 1, 0, "10 km / (10 km + range)") \
  X(mission_transport_line_range, 100000, 0, "distance of the transport to the line [m]")

#define MR_MISSION_FEATURES(X) MR_LINE_FEATURES(X) MR_TRANSPORT_FEATURES(X)
// clang-format on

// Systems -------------------------------------------------------------------------------------------------

// With emission control or chaff these follow the features of sensors, before those of a mission; in teams they are a
// row. One table serves one against one and teams. Zeros follow it, since programs tell games apart by the number of features: as many
// as make this number differ from that of every other game.
// clang-format off
#define MR_STATUS_FEATURES(X) \
  X(systems_emits, 1, 0, "1 while the own radar emits, 0 while it is silent") \
  X(systems_chaff, 1, 0, "chaff left, as a share of the parameter chaff; 0 without chaff")

// The own last cloud of chaff.
#define MR_CLOUD_FEATURES(X) \
  X(systems_cloud_time, 10, 0, "time until the own last cloud of chaff is gone [s]; 0 without a cloud, as are the features that follow") \
  X(systems_cloud_ahead, 1, 0, "bearing of that cloud: cosine of the angle off the nose") \
  X(systems_cloud_left, 1, 1, "bearing of the cloud: sine of that angle") \
  X(systems_cloud_up, 1, 0, "bearing of the cloud: sine of its elevation; 0 in the plane") \
  X(systems_cloud_nearness, 1, 0, "1 km / (1 km + range to the cloud)")

#define MR_SPARE_FEATURE(X, number) X(systems_spare_##number, 1, 0, "0: makes the number of features that of this game alone")
#define MR_PAIR_SPARE_FEATURES(X) \
  MR_SPARE_FEATURE(X, 1) MR_SPARE_FEATURE(X, 2) MR_SPARE_FEATURE(X, 3) \
  MR_SPARE_FEATURE(X, 4) MR_SPARE_FEATURE(X, 5) MR_SPARE_FEATURE(X, 6)
#define MR_TEAM_SPARE_FEATURES(X) \
  MR_SPARE_FEATURE(X, 7) MR_SPARE_FEATURE(X, 8) MR_SPARE_FEATURE(X, 9) MR_SPARE_FEATURE(X, 10) \
  MR_SPARE_FEATURE(X, 11) MR_SPARE_FEATURE(X, 12) MR_SPARE_FEATURE(X, 13) MR_SPARE_FEATURE(X, 14) \
  MR_SPARE_FEATURE(X, 15) MR_SPARE_FEATURE(X, 16)

// In one against one, and in teams.
#define MR_PAIR_SYSTEMS_FEATURES(X) MR_STATUS_FEATURES(X) MR_CLOUD_FEATURES(X) MR_PAIR_SPARE_FEATURES(X)
#define MR_SYSTEMS_FEATURES(X) MR_PAIR_SYSTEMS_FEATURES(X) MR_TEAM_SPARE_FEATURES(X)
// clang-format on

// The number of features in each table.
#define MR_COUNT_FEATURE(name, scale, lateral, meaning) +1
enum {
  MR_FEATURE_COUNT = 0 MR_FEATURES(MR_COUNT_FEATURE),
  MR_STG_FEATURE_COUNT = MR_FEATURE_COUNT MR_STG_FEATURES(MR_COUNT_FEATURE),
  MR_RADAR_FEATURE_COUNT = 0 MR_RADAR_FEATURES(MR_COUNT_FEATURE),
  MR_RADAR_HEIGHT_FEATURE_COUNT = 0 MR_RADAR_HEIGHT_FEATURES(MR_COUNT_FEATURE),
  MR_RADAR_HEIGHT_2_FEATURE_COUNT = MR_RADAR_HEIGHT_FEATURE_COUNT MR_TWO_KNOWN_KIND_FEATURES(MR_COUNT_FEATURE),
  MR_RADAR_HEIGHT_3_FEATURE_COUNT = MR_RADAR_HEIGHT_2_FEATURE_COUNT MR_THIRD_KNOWN_KIND_FEATURES(MR_COUNT_FEATURE),
  MR_HEIGHT_FEATURE_COUNT = 0 MR_HEIGHT_FEATURES(MR_COUNT_FEATURE),
  MR_HEIGHT_2_FEATURE_COUNT = MR_HEIGHT_FEATURE_COUNT MR_TWO_KIND_FEATURES(MR_COUNT_FEATURE),
  MR_HEIGHT_3_FEATURE_COUNT = MR_HEIGHT_2_FEATURE_COUNT MR_THIRD_KIND_FEATURES(MR_COUNT_FEATURE),
  MR_TEAM_OWN_COUNT = 0 MR_TEAM_OWN_FEATURES(MR_COUNT_FEATURE),
  MR_OTHER_COUNT = 0 MR_OTHER_FEATURES(MR_COUNT_FEATURE),
  MR_ALLY_COUNT = 0 MR_ALLY_FEATURES(MR_COUNT_FEATURE),
  MR_TRACK_COUNT = 0 MR_TRACK_FEATURES(MR_COUNT_FEATURE),
  MR_HEARD_COUNT = 0 MR_HEARD_FEATURES(MR_COUNT_FEATURE),
  MR_MISSILE_COUNT = 0 MR_MISSILE_FEATURES(MR_COUNT_FEATURE, missile),
  MR_TEAM_OWN_HEIGHT_COUNT = 0 MR_TEAM_OWN_HEIGHT_FEATURES(MR_COUNT_FEATURE),
  MR_HIGH_OTHER_COUNT = 0 MR_HIGH_OTHER_FEATURES(MR_COUNT_FEATURE),
  MR_RISING_COUNT = 0 MR_RISING_FEATURES(MR_COUNT_FEATURE, missile),
  MR_TEAM_RADAR_OWN_COUNT = 0 MR_TEAM_RADAR_OWN_FEATURES(MR_COUNT_FEATURE),
  MR_HIGH_ALLY_COUNT = 0 MR_HIGH_ALLY_FEATURES(MR_COUNT_FEATURE),
  MR_HIGH_TRACK_COUNT = 0 MR_HIGH_TRACK_FEATURES(MR_COUNT_FEATURE),
  MR_GUIDED_RISING_COUNT = 0 MR_GUIDED_RISING_FEATURES(MR_COUNT_FEATURE, missile),
  MR_GUIDED_COUNT = 0 MR_GUIDED_FEATURES(MR_COUNT_FEATURE, missile),
  MR_SEEKER_COUNT = 0 MR_SEEKER_FEATURES(MR_COUNT_FEATURE, seeker),
  MR_PAIR_SYSTEMS_COUNT = 0 MR_PAIR_SYSTEMS_FEATURES(MR_COUNT_FEATURE),
  MR_SYSTEMS_COUNT = 0 MR_SYSTEMS_FEATURES(MR_COUNT_FEATURE),
  MR_LINE_COUNT = 0 MR_LINE_FEATURES(MR_COUNT_FEATURE),
  MR_MISSION_COUNT = 0 MR_MISSION_FEATURES(MR_COUNT_FEATURE)
};

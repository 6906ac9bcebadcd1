// SPDX-License-Identifier: MIT
//
// The one table of parameters. A row is
//
//     X(group, type, name, default, minimum, maximum, unit, meaning)
//
// Everything else follows from the row: the C struct `MrParams` and its defaults, the Python keyword, the [env] key
// of the ini file, its range check and error message, `--help` and the documentation. Every constant of the game is
// a row here; definitions.h has the constants of definitions. SI units; type is `float` or `int`.
//
// The groups rules, flight, missile, sensor and start define the game. Training may change the groups reward and pilot
// without changing what a result means, since evaluation always takes their defaults.
//
// A row whose unit has names with bars between them is a choice: its numbers stand for these names, from 0. With plus
// signs between them it is a choice that may be mixed: an engagement draws one of several, by the weights in MrConfig; the
// number is the type where these are all 0.
//
// The bound of a reward follows from the units of its rows. A row of unit "1" is the weight of a potential within
// +-1, a row of unit "1/s" is the weight of a rate within +-1, and a row of unit "result" is what a result pays.

#pragma once

// clang-format off
#define MR_PARAMS(X) \
  X(rules, float, physics_dt, 0.1, 0.001, 0.5, "s", "physics step") \
  X(rules, int, substeps, 5, 1, 100, "steps", "physics steps a decision (an action lasts physics_dt * substeps)") \
  X(rules, float, time_limit, 300, 1, 3600, "s", "an engagement that is undecided by then ends as a draw (truncation)") \
  X(rules, int, ammunition, 6, 0, 6, "missiles", "missiles each fighter starts with") \
  X(rules, float, launch_interval, 5, 0, 600, "s", "least time between two launches of one fighter") \
  X(rules, float, pressing_margin, 0, 0, 3600, "s", "a draw with both alive goes to the side that pressed the other longer, by at least this time; 0 = off") \
  X(rules, int, red_size, 1, 1, 16, "fighters", "fighters of red") \
  X(rules, int, blue_size, 1, 1, 16, "fighters", "fighters of blue") \
  X(rules, int, dimensions, 2, 2, 3, "1", "2 = in the plane; 3 = with height, where types of aircraft and missiles replace most of the groups flight and missile") \
  X(rules, int, red_aircraft, 0, 0, 3, "light+heavy+fast+trainer", "with height: red's type of aircraft, or a mix: light:2,heavy:1") \
  X(rules, int, blue_aircraft, 0, 0, 3, "light+heavy+fast+trainer", "with height: blue's type of aircraft, or a mix") \
  X(rules, int, red_missile, 0, 0, 2, "medium+long+short", "with height: red's type of missile, or a mix: medium:4,long:2") \
  X(rules, int, blue_missile, 0, 0, 2, "medium+long+short", "with height: blue's type of missile, or a mix") \
  X(rules, float, aircraft_spread, 0, 0, 0.3, "1", "with height: greatest relative change of an aircraft's thrust, drag, lift and induced drag, drawn for each engagement") \
  X(rules, float, missile_spread, 0, 0, 0.3, "1", "with height: greatest relative change of the thrust, drag, lift and burn time of a side's missiles, drawn for each engagement") \
  X(rules, int, mission, 0, 0, 2, "fight|line|escort", "aim of an engagement: fight = kill the enemy; line = one side attacks and has to cross a line; escort = it has to bring a transport there") \
  X(rules, int, attacker, 2, 0, 2, "red|blue|drawn", "in missions: the side that attacks; drawn = another one in each engagement, at random") \
  X(rules, float, transport_speed, 250, 100, 600, "m/s", "in the mission escort: the speed that the transport keeps") \
  X(flight, float, gravity, 9.8, 1, 20, "m/s^2", "acceleration of gravity; load limits and zero-lift drag are relative to it") \
  X(flight, float, fighter_terminal_speed, 400, 100, 1000, "m/s", "free-fall terminal speed; sets zero-lift drag g/Vt^2") \
  X(flight, float, fighter_turn_radius, 1000, 100, 20000, "m", "turn radius at full rudder, load limit aside") \
  X(flight, float, fighter_lift_drag, 5, 0.5, 30, "1", "best lift-to-drag ratio; sets induced drag") \
  X(flight, float, fighter_thrust, 14.7, 0, 100, "m/s^2", "thrust acceleration at full throttle") \
  X(flight, float, fighter_load_limit, 9, 0, 100, "g", "structural limit of lateral acceleration; 0 = none") \
  X(flight, float, fighter_rudder_rate, 2, 0.1, 1000, "1/s", "rudder travel per second (centre to full is 1)") \
  X(flight, float, fighter_throttle_rate, 1, 0.1, 1000, "1/s", "throttle travel per second (idle to full is 1)") \
  X(flight, float, fighter_climb_rate, 2, 0.1, 1000, "1/s", "with height: travel of the climb per second (level to greatest is 1)") \
  X(missile, float, missile_terminal_speed, 400, 100, 1000, "m/s", "free-fall terminal speed; sets zero-lift drag g/Vt^2") \
  X(missile, float, missile_turn_radius, 1000, 100, 20000, "m", "turn radius at full rudder, load limit aside") \
  X(missile, float, missile_lift_drag, 2, 0.5, 30, "1", "best lift-to-drag ratio; sets induced drag") \
  X(missile, float, missile_thrust, 147, 0, 1000, "m/s^2", "thrust acceleration while the motor burns") \
  X(missile, float, missile_burn_time, 10, 0, 120, "s", "how long the motor burns") \
  X(missile, float, missile_load_limit, 40, 0, 200, "g", "structural limit of lateral acceleration; 0 = none") \
  X(missile, float, missile_rudder_rate, 10, 0.1, 1000, "1/s", "rudder travel per second (centre to full is 1)") \
  X(missile, float, missile_navigation, 4, 1, 10, "1", "navigation constant N of pure proportional navigation") \
  X(missile, float, missile_hit_radius, 100, 1, 2000, "m", "a missile kills its target when it passes nearer than this") \
  X(missile, float, missile_spent_speed, 200, 1, 1000, "m/s", "below this speed, its motor burnt out, a missile is spent") \
  X(missile, float, missile_launch_offset, 20, 0, 1000, "m", "a missile starts this far ahead of its launcher") \
  X(sensor, int, sensing, 0, 0, 1, "full|radar", "what a side knows: full = everything; radar = what its sensors show it") \
  X(sensor, float, radar_half_angle_deg, 60, 1, 180, "deg", "a radar sees up to this angle off its fighter's nose") \
  X(sensor, float, radar_range_nose, 55000, 100, 1000000, "m", "a radar sees a fighter with its nose to the radar from this range") \
  X(sensor, float, radar_range_beam, 65000, 100, 1000000, "m", "a radar sees a fighter that shows its side from this range, unless radar_notch_speed hides it") \
  X(sensor, float, radar_range_tail, 45000, 100, 1000000, "m", "a radar sees a fighter with its tail to the radar from this range") \
  X(sensor, float, radar_notch_speed, 30, 0, 1000, "m/s", "radars and seekers do not see a fighter whose own speed along the line of sight is below this") \
  X(sensor, float, radar_look_down, 0.05, 0, 1, "range", "with height: that holds only for a fighter lower than the radar by more than this share of the range: with the ground behind it") \
  X(sensor, float, radar_cross_section, 5, 0.01, 1000, "m^2", "with height: the ranges of radars and seekers are on an aircraft with this radar cross-section; they grow with its fourth root") \
  X(sensor, float, radar_acquire_time, 1, 0, 60, "s", "a track begins when the radar has seen the enemy for this time without a break") \
  X(sensor, float, track_memory, 8, 0, 600, "s", "a track of an enemy that is no longer seen lives on for this time") \
  X(sensor, float, receiver_range, 1.5, 0, 10, "radar_range_nose", "a warning receiver hears the radars that point at it from this range") \
  X(sensor, float, seeker_range, 13000, 0, 1000000, "m", "a missile's seeker looks when the target is believed nearer than this, and sees as far") \
  X(sensor, float, seeker_half_angle_deg, 45, 1, 180, "deg", "a seeker sees up to this angle off its missile's nose") \
  X(sensor, float, seeker_memory, 1.2, 0, 60, "s", "the lock of a seeker that no longer sees its target lives on for this time") \
  X(sensor, float, radar_noise_bearing_deg, 0, 0, 20, "deg", "standard deviation of the bearing (with height also of the elevation) that a radar measures, at its farthest range; it falls with the square of the range") \
  X(sensor, float, radar_noise_range, 0, 0, 10000, "m", "standard deviation of the range that a radar measures, at its farthest range, likewise") \
  X(sensor, float, radar_noise_speed, 0, 0, 500, "m/s", "standard deviation of the target's speed along the line of sight that a radar measures, at its farthest range, likewise; with all three 0 radars measure exactly") \
  X(sensor, float, track_acceleration, 20, 1, 200, "m/s^2", "with noise: standard deviation of the enemy's acceleration that the filter of a track assumes") \
  X(sensor, float, track_speed, 300, 1, 2000, "m/s", "with noise: standard deviation of the enemy's speed across the line of sight that the filter of a new track assumes") \
  X(sensor, float, red_jammer, 0, 0, 1000000, "m", "red's fighters jam radars, which see one with its nose to the radar, and the cross-section radar_cross_section, only nearer than this; 0 = no jammers") \
  X(sensor, float, blue_jammer, 0, 0, 1000000, "m", "the same of blue's fighters") \
  X(sensor, float, home_on_jam_range, 30000, 0, 1000000, "m", "with jammers: a missile's seeker homes on a jammer from this range, within its half angle") \
  X(sensor, int, emission_control, 0, 0, 1, "off|on", "on = pilots and agents may switch their radars off: a silent radar sees nothing, and warning receivers do not hear it") \
  X(sensor, int, chaff, 0, 0, 60, "cartridges", "chaff that each fighter carries against radars and seekers; 0 = none") \
  X(sensor, float, chaff_time, 4, 0.1, 60, "s", "with chaff: how long the cloud of a cartridge lasts; until then the fighter drops no other") \
  X(sensor, float, chaff_chance, 0.7, 0, 1, "1", "with chaff: chance that a cloud decoys a radar or seeker which the fighter flies straight across") \
  X(sensor, float, chaff_speed, 150, 1, 1000, "m/s", "with chaff: that chance falls to 0 where the fighter's own speed along the line of sight is this, by which a Doppler radar tells it from the cloud") \
  X(sensor, float, chaff_time_to_go, 4, 0, 100, "s", "with chaff: seekers with less time to go tell fighter and cloud apart more and more") \
  X(start, float, start_range_min, 30000, 100, 200000, "m", "least distance between the sides at the start") \
  X(start, float, start_range_max, 60000, 100, 200000, "m", "greatest distance between the sides at the start") \
  X(start, float, start_off_boresight_max_deg, 45, 0, 180, "deg", "at the start each nose points up to this far off the enemy") \
  X(start, float, start_speed_min, 250, 50, 1000, "m/s", "least speed at the start") \
  X(start, float, start_speed_max, 400, 50, 1000, "m/s", "greatest speed at the start") \
  X(start, float, start_spacing_min, 2000, 100, 20000, "m", "least distance between neighbours in a side's line at the start; auto = 2000, less where the lines of more than 16 fighters could meet") \
  X(start, float, start_spacing_max, 4000, 100, 20000, "m", "greatest distance between neighbours in a side's line at the start; auto = 4000, likewise less") \
  X(start, float, start_line_depth, 10000, -100000, 200000, "m", "in missions: at the start the line is this far behind the defender, as the attacker sees it; below 0 in front of it") \
  X(start, float, start_transport_trail, 15000, 0, 50000, "m", "in the mission escort: the transport starts this far behind its side") \
  X(start, float, start_height_min, 5000, 500, 15000, "m", "with height: least mean height of the fighters at the start") \
  X(start, float, start_height_max, 10000, 500, 15000, "m", "with height: greatest mean height of the fighters at the start") \
  X(start, float, start_height_difference_max, 3000, 0, 15000, "m", "with height: at the start one side is up to this much higher than the other") \
  X(reward, float, reward_win, 1, -10, 10, "result", "reward for a win, at the end") \
  X(reward, float, reward_draw, 0, -10, 10, "result", "reward for a draw, to each side") \
  X(reward, float, reward_loss, -1, -10, 10, "result", "reward for a loss") \
  X(reward, float, reward_geometry, 0.2, 0, 0.3, "1", "weight of the potential for pointing the nose at the enemy at short range") \
  X(reward, float, reward_pressure, 0.004, 0, 0.1, "1/s", "reward per second for pointing better at the enemy than the enemy at us, at short range") \
  X(reward, float, reward_geometry_range, 20000, 1000, 200000, "m", "distance at which reward_geometry and reward_pressure pay half") \
  X(reward, float, reward_ammunition, 0.1, 0, 0.3, "1", "weight of the potential for missiles left") \
  X(reward, float, reward_threat, 0.2, 0, 0.3, "1", "weight of the potential for the inbound missile that is nearest in time (a penalty)") \
  X(reward, float, reward_threat_time, 10, 0.5, 100, "s", "time to go at which reward_threat counts half") \
  X(reward, float, reward_line, 0, 0, 0.3, "1", "in missions: weight of the potential for how near the attacker, or the transport, is to the line") \
  X(reward, float, reward_line_range, 20000, 1000, 200000, "m", "distance to the line at which reward_line pays half") \
  X(reward, float, reward_kill, 0, 0, 1, "1", "reward of a side for the share of the enemies that it kills, less the share of its own that it loses") \
  X(reward, float, reward_team, 0.5, 0, 1, "share", "share of a fighter's potential and pressure that is the mean of its side's, the rest is its own") \
  X(pilot, float, pilot_steering, 4, 0.5, 20, "1", "rudder per sine of the angle between nose and wanted direction") \
  X(pilot, float, pilot_reach_speed, 340, 100, 1000, "m/s", "the pilots' estimate R_max ends where a missile has slowed to this speed") \
  X(pilot, float, pilot_launch_speed, 300, 50, 1000, "m/s", "launch speed of the missile in the pilots' estimate R_max") \
  X(pilot, float, pilot_fire_off_boresight_deg, 15, 1, 180, "deg", "pilots fire when the enemy is within this angle off the nose") \
  X(pilot, float, pilot_cone_margin_deg, 5, 0, 90, "deg", "pilots that guide a missile by radar keep the enemy this far inside the radar's cone") \
  X(pilot, float, pilot_target_time, 2, 0, 60, "s", "pilots in teams keep a target that lives for this time before they share the enemies out again") \
  X(pilot, float, pilot_cover, 15000, 0, 200000, "m", "pilots in teams take an enemy whose missile flies at one of their side for so much nearer") \
  X(pilot, float, pilot_height_min, 6000, 0, 20000, "m", "with height: pilots fly at a height from this on; drawn per engagement") \
  X(pilot, float, pilot_height_max, 11000, 0, 20000, "m", "upper end of that draw") \
  X(pilot, float, pilot_dive, 0.5, 0, 1, "1", "with height: share of the greatest dive with which pilots evade a missile") \
  X(pilot, float, order_fire, 0.7, 0, 2, "R_max", "orders: a fighter with the permission free fires inside this fraction of R_max") \
  X(pilot, int, order_salvo, 2, 1, 6, "missiles", "orders: a fighter has at most this many of its missiles in the air") \
  X(pilot, float, order_crank_angle_deg, 55, 0, 180, "deg", "orders: angle off the target of the order crank") \
  X(pilot, float, shooter_fire_min, 0.7, 0, 2, "R_max", "shooter and evader fire inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, shooter_fire_max, 0.7, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, int, evader_salvo, 2, 1, 6, "missiles", "evader has at most this many of its missiles in the air") \
  X(pilot, float, evader_cold_time_min, 20, 0, 100, "s", "evader turns cold from a missile with less time to go; drawn per engagement") \
  X(pilot, float, evader_cold_time_max, 20, 0, 100, "s", "upper end of that draw") \
  X(pilot, float, weave_period, 20, 1, 200, "s", "weave: time from one left turn to the next") \
  X(pilot, float, weave_rudder, 0.5, 0, 1, "1", "weave: rudder of its turns") \
  X(pilot, float, crank_fire_min, 0.8, 0, 2, "R_max", "crank fires inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, crank_fire_max, 1, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, float, crank_angle_deg, 55, 0, 180, "deg", "angle off the enemy at which crank flies while its missile is in the air") \
  X(pilot, float, crank_cold_time_min, 14, 0, 100, "s", "crank turns cold from a missile with less time to go; drawn per engagement") \
  X(pilot, float, crank_cold_time_max, 18, 0, 100, "s", "upper end of that draw") \
  X(pilot, int, crank_salvo, 1, 1, 6, "missiles", "crank has at most this many of its missiles in the air") \
  X(pilot, float, bracket_fire_min, 0.8, 0, 4, "R_NEZ", "bracket_shooter fires inside this fraction of R_NEZ; drawn per engagement") \
  X(pilot, float, bracket_fire_max, 1, 0, 4, "R_NEZ", "upper end of that draw") \
  X(pilot, float, bracket_cold_time_min, 8, 0, 100, "s", "bracket_shooter turns cold from a missile with less time to go; drawn per engagement") \
  X(pilot, float, bracket_cold_time_max, 12, 0, 100, "s", "upper end of that draw") \
  X(pilot, int, bracket_salvo, 2, 1, 6, "missiles", "bracket_shooter has at most this many of its missiles in the air") \
  X(pilot, float, turn_back_fire_min, 0.85, 0, 2, "R_max", "turn_back fires inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, turn_back_fire_max, 1, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, float, turn_back_delay_min, 3, 0, 60, "s", "time for which turn_back flies on after firing, before it runs; drawn per engagement") \
  X(pilot, float, turn_back_delay_max, 8, 0, 60, "s", "upper end of that draw") \
  X(pilot, int, turn_back_salvo, 1, 1, 6, "missiles", "turn_back has at most this many of its missiles in the air") \
  X(pilot, float, snake_fire_min, 0.5, 0, 2, "R_max", "snake fires inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, snake_fire_max, 0.7, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, float, snake_time_min, 10, 0, 100, "s", "snake weaves from a missile with less time to go; drawn per engagement") \
  X(pilot, float, snake_time_max, 16, 0, 100, "s", "upper end of that draw") \
  X(pilot, float, snake_angle_deg, 75, 1, 179, "deg", "angle off the enemy, to either side, at which snake weaves") \
  X(pilot, float, snake_period, 10, 1, 200, "s", "snake: time from one turn to the left to the next") \
  X(pilot, int, snake_salvo, 2, 1, 6, "missiles", "snake has at most this many of its missiles in the air") \
  X(pilot, float, ace_probe_min, 0.43, 0, 2, "R_max", "ace fires probing shots inside this fraction of R_max, to make the enemy turn; with height 1.75 times as much; drawn per engagement") \
  X(pilot, float, ace_probe_max, 0.65, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, int, ace_reserve, 2, 0, 6, "missiles", "ace keeps this many missiles for shots inside R_NEZ; with height one more") \
  X(pilot, float, ace_fire_min, 0.8, 0, 4, "R_NEZ", "ace fires inside this fraction of R_NEZ; with height 1.3 times as much; drawn per engagement") \
  X(pilot, float, ace_fire_max, 1, 0, 4, "R_NEZ", "upper end of that draw") \
  X(pilot, int, ace_salvo, 2, 1, 6, "missiles", "ace has at most this many of its missiles in the air") \
  X(pilot, float, ace_crank_angle_deg, 100, 0, 180, "deg", "angle off the enemy at which ace flies while its missile is in the air") \
  X(pilot, float, ace_cold_time_min, 7, 0, 100, "s", "ace turns cold from a missile with less time to go; with height 1.5 times as much; drawn per engagement") \
  X(pilot, float, ace_cold_time_max, 8, 0, 100, "s", "upper end of that draw") \
  X(pilot, float, ace_guard_min, 8000, -50000, 50000, "m", "ace evades only missiles that could run it down or would fall short by less than this guard; full guard nose-on, none tail-on; with height 4 times as much; drawn per engagement") \
  X(pilot, float, ace_guard_max, 13000, -50000, 50000, "m", "upper end of that draw") \
  X(pilot, float, notcher_fire_min, 0.6, 0, 2, "R_max", "notcher fires inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, notcher_fire_max, 0.8, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, int, notcher_salvo, 2, 1, 6, "missiles", "notcher has at most this many of its missiles in the air") \
  X(pilot, float, notcher_period, 24, 1, 200, "s", "notcher: time from the beginning of one notch to that of the next") \
  X(pilot, float, notcher_time, 12, 0, 200, "s", "notcher: how long a notch lasts at most") \
  X(pilot, float, notcher_height, 2500, 0, 20000, "m", "with height: notcher flies at this height, below the radars that look for it") \
  X(pilot, float, pair_fire_min, 0.8, 0, 2, "R_max", "pair fires inside this fraction of R_max; drawn per engagement") \
  X(pilot, float, pair_fire_max, 1, 0, 2, "R_max", "upper end of that draw") \
  X(pilot, int, pair_salvo, 2, 1, 6, "missiles", "pair has at most this many of one fighter's missiles in the air") \
  X(pilot, float, transport_cold_time, 20, 0, 100, "s", "transport turns cold from a missile with less time to go") \
  X(pilot, float, patient_time, 120, 0, 600, "s", "with sensors patient waits for this time, as it does not know how many missiles the enemy has left") \
  X(pilot, int, patient_left, 1, 0, 6, "missiles", "with full information patient waits while the enemy has more missiles than this left") \
  X(pilot, int, patient_left_spread, 0, 0, 6, "missiles", "patient_left and up to this many more is where patient stops waiting; drawn per engagement") \
  X(pilot, float, patient_range_min, 17000, 1000, 100000, "m", "range at which patient waits; drawn per engagement") \
  X(pilot, float, patient_range_max, 19000, 1000, 100000, "m", "upper end of that draw") \
  X(pilot, float, patient_band, 2000, 100, 100000, "m", "patient flies straight in or out when it is off its range by this much; across at its range") \
  X(pilot, float, patient_cold_time_min, 18, 0, 100, "s", "patient turns cold from a missile with less time to go; drawn per engagement") \
  X(pilot, float, patient_cold_time_max, 22, 0, 100, "s", "upper end of that draw") \
  X(pilot, float, patient_fire_min, 1.1, 0, 4, "R_NEZ", "patient fires inside this fraction of R_NEZ; drawn per engagement") \
  X(pilot, float, patient_fire_max, 1.3, 0, 4, "R_NEZ", "upper end of that draw") \
  X(pilot, float, patient_crank_angle_deg, 55, 0, 180, "deg", "angle off the enemy at which patient flies while its missile is in the air") \
  X(pilot, int, patient_salvo, 2, 1, 6, "missiles", "patient has at most this many of its missiles in the air")
// clang-format on

// The version of the rules, which is written into replays and models. Whoever adds a row raises the version and
// adds the row to the list below, too:
//
//     X(name, version of the rules that brought the row, neutral value)
//
// With the neutral value the game is as it was before the row. Replays, models and runs of older versions take the
// neutral value instead of the default. The row of a pilot that did not exist before may have any neutral value.
//
// Version 3 brought no row: since then results are the present ones to the bit. Flight and guidance are computed in
// other steps than before, which round differently.
#define MR_RULES_VERSION 17
#define MR_SAME_BITS_SINCE 3
#define MR_PARAM_ADDITIONS(X) \
  X(crank_salvo, 2, 1)        \
  X(bracket_salvo, 2, 2)      \
  X(turn_back_salvo, 2, 1)    \
  X(snake_salvo, 2, 2)        \
  X(reward_win, 4, 1)         \
  X(reward_draw, 4, 0)        \
  X(reward_loss, 4, -1)       \
  X(pressing_margin, 5, 0)    \
  X(sensing, 6, 0)            \
  X(radar_half_angle_deg, 6, 60)  \
  X(radar_range_nose, 6, 55000)   \
  X(radar_range_beam, 6, 65000)   \
  X(radar_range_tail, 6, 45000)   \
  X(radar_notch_speed, 6, 30)     \
  X(radar_acquire_time, 6, 1)     \
  X(track_memory, 6, 8)           \
  X(receiver_range, 6, 1.5)       \
  X(seeker_range, 6, 13000)       \
  X(seeker_half_angle_deg, 6, 45) \
  X(seeker_memory, 6, 1.2)        \
  X(pilot_cone_margin_deg, 6, 5)  \
  X(notcher_fire_min, 6, 0.6)     \
  X(notcher_fire_max, 6, 0.8)     \
  X(notcher_salvo, 6, 2)          \
  X(notcher_period, 6, 24)        \
  X(notcher_time, 6, 12)          \
  X(red_size, 7, 1)               \
  X(blue_size, 7, 1)              \
  X(start_spacing_min, 7, 2000)   \
  X(start_spacing_max, 7, 4000)   \
  X(reward_kill, 7, 0)            \
  X(reward_team, 7, 0.5)          \
  X(pilot_target_time, 7, 2)      \
  X(pilot_cover, 7, 15000)        \
  X(pair_fire_min, 8, 0.8)        \
  X(pair_fire_max, 8, 1)          \
  X(pair_salvo, 8, 2)             \
  X(patient_time, 9, 120)         \
  X(patient_left, 9, 1)           \
  X(patient_range_min, 9, 17000)  \
  X(patient_range_max, 9, 19000)  \
  X(patient_band, 9, 2000)        \
  X(patient_cold_time_min, 9, 18) \
  X(patient_cold_time_max, 9, 22) \
  X(patient_fire_min, 9, 1.1)     \
  X(patient_fire_max, 9, 1.3)     \
  X(patient_crank_angle_deg, 9, 55) \
  X(patient_salvo, 9, 2) \
  X(dimensions, 10, 2) \
  X(red_aircraft, 10, 0) \
  X(blue_aircraft, 10, 0) \
  X(red_missile, 10, 0) \
  X(blue_missile, 10, 0) \
  X(aircraft_spread, 10, 0) \
  X(missile_spread, 10, 0) \
  X(fighter_climb_rate, 10, 2) \
  X(start_height_min, 10, 5000) \
  X(start_height_max, 10, 10000) \
  X(start_height_difference_max, 10, 3000) \
  X(pilot_height_min, 10, 6000) \
  X(pilot_height_max, 10, 11000) \
  X(pilot_dive, 10, 0.5) \
  X(radar_look_down, 13, 0.05) \
  X(radar_cross_section, 13, 5) \
  X(notcher_height, 13, 2500) \
  X(order_fire, 14, 0.7) \
  X(order_salvo, 14, 2) \
  X(order_crank_angle_deg, 14, 55) \
  X(radar_noise_bearing_deg, 15, 0) \
  X(radar_noise_range, 15, 0) \
  X(radar_noise_speed, 15, 0) \
  X(track_acceleration, 15, 20) \
  X(track_speed, 15, 300) \
  X(red_jammer, 15, 0) \
  X(blue_jammer, 15, 0) \
  X(home_on_jam_range, 15, 30000) \
  X(mission, 15, 0) \
  X(attacker, 15, 2) \
  X(transport_speed, 15, 250) \
  X(start_line_depth, 15, 10000) \
  X(start_transport_trail, 15, 15000) \
  X(transport_cold_time, 15, 20) \
  X(reward_line, 15, 0) \
  X(reward_line_range, 15, 20000) \
  X(emission_control, 16, 0) \
  X(chaff, 16, 0) \
  X(chaff_time, 16, 4) \
  X(chaff_chance, 16, 0.7) \
  X(chaff_speed, 16, 150) \
  X(chaff_time_to_go, 16, 4) \
  X(patient_left_spread, 17, 0)

// Ordered pairs of rows: the value of the first may not exceed the value of the second.
#define MR_PARAM_PAIRS(X)                        \
  X(start_range_min, start_range_max)            \
  X(start_speed_min, start_speed_max)            \
  X(start_spacing_min, start_spacing_max)        \
  X(start_height_min, start_height_max)          \
  X(pilot_height_min, pilot_height_max)          \
  X(shooter_fire_min, shooter_fire_max)          \
  X(evader_cold_time_min, evader_cold_time_max)  \
  X(crank_fire_min, crank_fire_max)              \
  X(crank_cold_time_min, crank_cold_time_max)    \
  X(bracket_fire_min, bracket_fire_max)          \
  X(bracket_cold_time_min, bracket_cold_time_max) \
  X(turn_back_fire_min, turn_back_fire_max)      \
  X(turn_back_delay_min, turn_back_delay_max)    \
  X(snake_fire_min, snake_fire_max)              \
  X(snake_time_min, snake_time_max)              \
  X(ace_probe_min, ace_probe_max)                \
  X(ace_fire_min, ace_fire_max)                  \
  X(ace_cold_time_min, ace_cold_time_max)        \
  X(ace_guard_min, ace_guard_max)                \
  X(notcher_fire_min, notcher_fire_max)          \
  X(pair_fire_min, pair_fire_max)                \
  X(patient_range_min, patient_range_max)        \
  X(patient_cold_time_min, patient_cold_time_max) \
  X(patient_fire_min, patient_fire_max)

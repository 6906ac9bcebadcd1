// SPDX-License-Identifier: MIT
//
// The constants that follow from a simulation's parameters when it is created. types.c has those of the types with
// height.

#include <math.h>

#include "definitions.h"
#include "kernel.h"
#include "simulation.h"

static MrAirframe airframe(const MrParams *p, float terminal_speed, float radius, float lift_drag, float load_limit,
                           float rudder_rate, float thrust) {
  double cd0 = (double)p->gravity / ((double)terminal_speed * (double)terminal_speed);
  double k = 0.25 / (cd0 * (double)lift_drag * (double)lift_drag), dt = (double)p->physics_dt;
  return (MrAirframe){
      .cd0 = (float)cd0,
      .k = (float)k,
      .lift_per_rudder = 1.0f / radius,
      .load_limit = load_limit > 0.0f ? load_limit * p->gravity : 1e30f,
      .rudder_step = rudder_rate * p->physics_dt,
      .thrust = thrust,
      .cd0_dt = (float)(cd0 * dt),
      .k_dt = (float)(k * dt),
      .thrust_dt = thrust * p->physics_dt,
  };
}

// The cosine of a sensor's half angle.
static float half_angle_cosine(double degrees) {
  float cosine, unused;
  mr_unit_vector(degrees / 360.0, &cosine, &unused);
  return degrees < 180.0 ? cosine : -2.0f;
}

static MrSensors derive_sensors(const MrParams *p) {
  double crank = (double)p->radar_half_angle_deg - (double)p->pilot_cone_margin_deg;
  MrSensors k = {
      .radar_cosine = half_angle_cosine((double)p->radar_half_angle_deg),
      .seeker_cosine = half_angle_cosine((double)p->seeker_half_angle_deg),
      .acquire_time = mr_steps_of(p, p->radar_acquire_time),
      .track_memory = mr_steps_of(p, p->track_memory),
      .seeker_memory = mr_steps_of(p, p->seeker_memory),
      .chaff_time = mr_steps_of(p, p->chaff_time),
      .receiver_range = p->receiver_range * p->radar_range_nose,
      .jammer = {p->red_jammer, p->blue_jammer},
      .is_noisy = p->radar_noise_bearing_deg > 0.0f || p->radar_noise_range > 0.0f || p->radar_noise_speed > 0.0f,
      .noise_bearing = p->radar_noise_bearing_deg * 0.017453293f,
  };
  mr_unit_vector((crank > 0.0 ? crank : 0.0) / 360.0, &k.crank_c, &k.crank_s);
  return k;
}

MrConstants mr_derive_constants(const MrParams *p, const MrKernel *kernel) {
  MrConstants k = {
      .one = 1.0f,
      .dt = p->physics_dt,
      .quarter_dt = 0.25f * p->physics_dt,
      .closing_acceleration = p->fighter_thrust + p->missile_thrust,
      .clock_rate = p->time_limit > MR_CLOCK_SCALE ? MR_CLOCK_SCALE / p->time_limit : 1.0f,
      .substeps = p->substeps,
      .time_limit = mr_steps_of(p, p->time_limit),
      .launch_interval = mr_steps_of(p, p->launch_interval),
      .pressing_margin = mr_steps_of(p, p->pressing_margin),
      .fighter = airframe(p, p->fighter_terminal_speed, p->fighter_turn_radius, p->fighter_lift_drag,
                          p->fighter_load_limit, p->fighter_rudder_rate, p->fighter_thrust),
      .missile = airframe(p, p->missile_terminal_speed, p->missile_turn_radius, p->missile_lift_drag,
                          p->missile_load_limit, p->missile_rudder_rate, p->missile_thrust),
      .throttle_step = p->fighter_throttle_rate * p->physics_dt,
      .burn_steps = p->missile_burn_time / p->physics_dt,
      .navigation_gain = p->missile_navigation * p->missile_turn_radius,
      .target_time = mr_steps_of(p, p->pilot_target_time),
      .weave_period = mr_steps_of(p, p->weave_period),
      .snake_period = mr_steps_of(p, p->snake_period),
      .notcher_period = mr_steps_of(p, p->notcher_period),
      .notcher_time = mr_steps_of(p, p->notcher_time),
  };
  k.load_by_navigation = k.missile.load_limit / k.navigation_gain;
  k.run_speed = sqrtf(k.fighter.thrust / k.fighter.cd0);
  float unused;
  mr_unit_vector((double)p->pilot_fire_off_boresight_deg / 360.0, &k.fire_cosine, &unused);
  k.sensors = derive_sensors(p);
  k.reach = kernel->fly_out(&k, p->pilot_launch_speed, p->pilot_reach_speed, &k.reach_time);
  return k;
}

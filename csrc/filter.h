// SPDX-License-Identifier: MIT
//
// Noise: what a radar measures of an enemy, and the filter that makes a track of measurements. RULES.md, "Noise".
//
// The filter is a Kalman filter of a target at constant velocity with random accelerations. Along the line of sight and
// across it, it has covariances of their own, which turn with the line.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "definitions.h"
#include "rng.h"
#include "sight.h"

// What a radar has of an enemy at an update.
typedef struct {
  MR_ALIGNED int32_t sees[MR_LANES];
  MR_ALIGNED int32_t begins[MR_LANES];  // 1 if the filter begins anew, at the first sight of an enemy without a track
  MR_ALIGNED int32_t flown[MR_LANES];   // 1 if the believed body has flown on since the last update
  MR_ALIGNED float reach[MR_LANES];     // how far the radar sees this target [m]
  // Errors of the measurement in standard deviations: of range, bearing (away from the nose), speed and elevation.
  MR_ALIGNED float range[MR_LANES], bearing[MR_LANES], speed[MR_LANES], elevation[MR_LANES];
} MrGlimpse;

enum { MR_STREAMS = 4 };  // of random numbers: one for each error of a contact

// Draws the errors of a contact's measurement, where the radar sees.
static void mr_draw_errors(const MrSim *sim, const MrBlock *b, int32_t contact, MrGlimpse *out) {
  uint32_t stream = MR_STREAMS * (uint32_t)contact;
  float *errors[MR_STREAMS] = {out->range, out->bearing, out->speed, out->elevation};
  for (uint32_t n = 0; n < MR_STREAMS; n++) {
    bool is_drawn = n < 3 || MR_DIMENSIONS == 3;
    MR_EACH_LANE(i) {
      uint32_t engagement = (uint32_t)b->engagement[i], episode = (uint32_t)b->episode[i], time = (uint32_t)b->time[i];
      bool draws = is_drawn && out->sees[i];
      errors[n][i] = draws ? mr_normal(sim->seed, engagement, episode, time, stream + n) : 0.0f;
    }
  }
}

// A radar's measurement of an enemy.
typedef struct {
  MrVector3 place, line;          // [m]; unit vector from the radar to it
  float speed;                    // the enemy's own speed along the line, away from the radar [m/s]
  float along2, across2, speed2;  // variances of the errors, which the filter counts as at least 1 [m^2], [m^2/s^2]
} MrMeasurement;

// The unit vector `line`, turned by small angles to the left and up, whose tangents are given.
static inline MrVector3 mr_turn_line(MrVector3 line, float left, float up) {
  float level = sqrtf(mr_max(line.x * line.x + line.y * line.y, MR_LEAST_COSINE2)), inverse = 1.0f / level;
  float x = line.x * inverse, y = line.y * inverse;
  MrVector3 turned = {line.x - left * y - up * line.z * x, line.y + left * x - up * line.z * y, line.z + up * level};
  float shorten = 1.0f / sqrtf(mr_max(mr_dot(turned, turned), MR_LEAST_COSINE2));
  return (MrVector3){turned.x * shorten, turned.y * shorten, turned.z * shorten};
}

// The measurement in lane i. The noise grows with the square of the range: a signal falls with its fourth power, and
// errors with the square root of the signal. The bearing's error is away from the nose or toward it, so that it is
// mirrored with the fight.
static inline MrMeasurement mr_measure_enemy(const MrSim *sim, const MrBody *own, const MrBody *enemy,
                                             const MrSight *sight, const MrGlimpse *glimpse, int i) {
  const MrParams *p = &sim->params;
  float range = sight->range[i], inverse = 1.0f / mr_max(range, 1.0f);
  float share = range / glimpse->reach[i], noise = share * share;
  float angle = sim->constants.sensors.noise_bearing * noise;
  float along = p->radar_noise_range * noise, across = angle * range, speed = p->radar_noise_speed * noise;
  MrVector3 line = {(enemy->x[i] - own->x[i]) * inverse, (enemy->y[i] - own->y[i]) * inverse,
                    (mr_height(enemy, i) - mr_height(own, i)) * inverse};
  float left = mr_select(sight->left[i] < 0.0f, -glimpse->bearing[i], glimpse->bearing[i]);
  MrVector3 seen = mr_turn_line(line, angle * left, angle * glimpse->elevation[i]);
  float distance = mr_max(range + along * glimpse->range[i], 0.0f);
  return (MrMeasurement){
      .place = {own->x[i] + distance * seen.x, own->y[i] + distance * seen.y, mr_height(own, i) + distance * seen.z},
      .line = seen,
      .speed = speed * glimpse->speed[i] - sight->approach[i],
      .along2 = mr_max(along * along, 1.0f),
      .across2 = mr_max(across * across, 1.0f),
      .speed2 = mr_max(speed * speed, 1.0f),
  };
}

// Covariances of a place and its velocity along one direction.
typedef struct {
  float xx, xv, vv;  // [m^2], [m^2/s], [m^2/s^2]
} MrSpread;

// By how much a measurement moves the believed place and velocity: for each unit by which it differs from the belief.
typedef struct {
  float x, v;
} MrGain;

// The covariances after a time [s] in which the target has accelerated at random: constantly, with this standard
// deviation [m/s^2].
static inline MrSpread mr_spread_on(MrSpread s, float time, float acceleration) {
  float turn = time * acceleration, slip = 0.5f * time * turn;
  float xx = s.xx + time * (2.0f * s.xv + time * s.vv) + slip * slip;
  return (MrSpread){
      mr_clip(xx, 0.0f, MR_VARIANCE_MAX),
      mr_limit(s.xv + time * s.vv + slip * turn, MR_VARIANCE_MAX),
      mr_min(s.vv + turn * turn, MR_VARIANCE_MAX),
  };
}

// Narrows the covariances by a measurement of the place with this variance.
static inline MrGain mr_narrow_place(float variance, MrSpread *s) {
  float inverse = 1.0f / (s->xx + variance);
  MrGain gain = {s->xx * inverse, s->xv * inverse};
  s->vv = mr_max(s->vv - gain.v * s->xv, 0.0f);
  s->xv = (1.0f - gain.x) * s->xv;
  s->xx = (1.0f - gain.x) * s->xx;
  return gain;
}

// The same by a measurement of the velocity.
static inline MrGain mr_narrow_velocity(float variance, MrSpread *s) {
  float inverse = 1.0f / (s->vv + variance);
  MrGain gain = {s->xv * inverse, s->vv * inverse};
  s->xx = mr_max(s->xx - gain.x * s->xv, 0.0f);
  s->xv = (1.0f - gain.v) * s->xv;
  s->vv = (1.0f - gain.v) * s->vv;
  return gain;
}

// The place or velocity, moved along a line and across it. `miss` is by how much a measurement missed it, of which
// `part` is along the line.
static inline float mr_correct(float value, float line, float along, float across, float miss, float part) {
  return value + along * line + across * (miss - part * line);
}

// Gives the contact's body in lane i a place and a velocity. One that hardly moves keeps its direction.
static inline void mr_put_track(int condition, MrVector3 place, MrVector3 velocity, MrBody *body, int i) {
  float vx = mr_limit(velocity.x, MR_SPEED_MAX), vy = mr_limit(velocity.y, MR_SPEED_MAX);
  float vz = mr_limit(velocity.z, MR_SPEED_MAX);
  float v = sqrtf(vx * vx + vy * vy + vz * vz), inverse = 1.0f / mr_max(v, 1.0f);
  int moves = condition & (v >= 1.0f);
  body->x[i] = mr_select(condition, mr_limit(place.x, MR_NUMBER_MAX), body->x[i]);
  body->y[i] = mr_select(condition, mr_limit(place.y, MR_NUMBER_MAX), body->y[i]);
  body->c[i] = mr_select(moves, vx * inverse, body->c[i]);
  body->s[i] = mr_select(moves, vy * inverse, body->s[i]);
  body->v[i] = mr_select(condition, mr_min(v, MR_SPEED_MAX), body->v[i]);
#if MR_DIMENSIONS == 3
  body->z[i] = mr_select(condition, mr_limit(place.z, MR_NUMBER_MAX), body->z[i]);
  body->u[i] = mr_select(moves, vz * inverse, body->u[i]);
#endif
}

// Lets the covariances of a contact grow for a time [s].
static void mr_spread_track(const MrSim *sim, float time, MrContact *contact) {
  float acceleration = sim->params.track_acceleration;
  MR_FOR_LANES(i) {
    MrSpread along = {contact->along_xx[i], contact->along_xv[i], contact->along_vv[i]};
    MrSpread across = {contact->across_xx[i], contact->across_xv[i], contact->across_vv[i]};
    along = mr_spread_on(along, time, acceleration);
    across = mr_spread_on(across, time, acceleration);
    contact->along_xx[i] = along.xx;
    contact->along_xv[i] = along.xv;
    contact->along_vv[i] = along.vv;
    contact->across_xx[i] = across.xx;
    contact->across_xv[i] = across.xv;
    contact->across_vv[i] = across.vv;
  }
}

// Filters the measurements of a fighter's radar into its contact with an enemy, a time [s] after the last update.
// Without a measurement only the covariances grow.
static void mr_filter(const MrSim *sim, const MrFighter *own, const MrFighter *enemy, float time, const MrSight *sight,
                      const MrGlimpse *glimpse, MrContact *contact) {
  const MrParams *p = &sim->params;
  MrBody *body = &contact->body;
  mr_spread_track(sim, time, contact);
  MR_FOR_LANES(i) {
    MrMeasurement m = mr_measure_enemy(sim, &own->body, &enemy->body, sight, glimpse, i);
    int sees = glimpse->sees[i], begins = glimpse->begins[i];
    MrSpread along = {contact->along_xx[i], contact->along_xv[i], contact->along_vv[i]};
    MrSpread across = {contact->across_xx[i], contact->across_xv[i], contact->across_vv[i]};
    MrGain way = mr_narrow_place(m.along2, &along), side = mr_narrow_place(m.across2, &across);
    MrGain pace = mr_narrow_velocity(m.speed2, &along);
    float v = body->v[i], late = mr_select(glimpse->flown[i], 0.0f, time);
    MrVector3 velocity = {v * body->c[i], v * body->s[i], v * mr_climb_sine(body, i)};
    MrVector3 place = {body->x[i] + late * velocity.x, body->y[i] + late * velocity.y,
                       mr_height(body, i) + late * velocity.z};
    MrVector3 miss = {m.place.x - place.x, m.place.y - place.y, m.place.z - place.z};
    float part = mr_dot(miss, m.line);
    float gap = m.speed - (mr_dot(velocity, m.line) + way.v * part);
    float ahead = way.x * part + pace.x * gap, faster = way.v * part + pace.v * gap;
    MrVector3 filtered_place = {mr_correct(place.x, m.line.x, ahead, side.x, miss.x, part),
                                mr_correct(place.y, m.line.y, ahead, side.x, miss.y, part),
                                mr_correct(place.z, m.line.z, ahead, side.x, miss.z, part)};
    MrVector3 filtered_velocity = {mr_correct(velocity.x, m.line.x, faster, side.v, miss.x, part),
                                   mr_correct(velocity.y, m.line.y, faster, side.v, miss.y, part),
                                   mr_correct(velocity.z, m.line.z, faster, side.v, miss.z, part)};
    MrVector3 first_velocity = {m.speed * m.line.x, m.speed * m.line.y, m.speed * m.line.z};

#define MR_PICK(begun, narrowed, name) \
  contact->name[i] = mr_select(begins, begun, mr_select(sees, narrowed, contact->name[i]));
    mr_put_track(sees & !begins, filtered_place, filtered_velocity, body, i);
    mr_put_track(begins, m.place, first_velocity, body, i);
    MR_PICK(m.along2, along.xx, along_xx)
    MR_PICK(0.0f, along.xv, along_xv)
    MR_PICK(m.speed2, along.vv, along_vv)
    MR_PICK(m.across2, across.xx, across_xx)
    MR_PICK(0.0f, across.xv, across_xv)
    MR_PICK(p->track_speed * p->track_speed, across.vv, across_vv)
#undef MR_PICK
  }
}

// The quality of a track, above 0 and at most 1, by the standard deviation of its place; 1 without noise.
static inline float mr_quality(const MrContact *contact, int i) {
  float deviation = sqrtf(contact->along_xx[i] + contact->across_xx[i]);
  return MR_NEAR_TRACK / (MR_NEAR_TRACK + deviation);
}

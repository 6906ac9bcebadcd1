// SPDX-License-Identifier: MIT
//
// A fighter's systems beside its weapons: the radar, which may be silent, and chaff. RULES.md, "Emission control and
// chaff".
//
// A cartridge makes a cloud that stays where it was dropped. For each sensor it draws one random number, and decoys the
// sensor while the chance is above that number. So a chance does not depend on how often sensors look, and a fighter
// that leaves the beam is seen again.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <math.h>

#include "block.h"
#include "filter.h"
#include "rng.h"
#include "sight.h"

// The random numbers of chaff, beyond those of noise, at the time at which a cloud ends: for each contact those of its
// radar, and of the missiles by their launch times.
#define MR_CHAFF_STREAM 0x1000u
#define MR_SEEKER_STREAMS 0x10000u
_Static_assert(MR_STREAMS * MR_SIDES * MR_SIDE_MAX * MR_SIDE_MAX < MR_CHAFF_STREAM, "noise and chaff have own numbers");

// The cartridges of chaff with which a fighter starts in a lane: its aircraft's share of the parameter `chaff`.
static inline int32_t mr_chaff_carried(const MrSim *sim, const MrRoster *roster, int32_t fighter, int lane) {
#if MR_DIMENSIONS == 3
  return (int32_t)((float)sim->params.chaff * roster->fighters[fighter].aircraft.chaff[lane] + 0.5f);
#else
  (void)roster, (void)fighter, (void)lane;
  return sim->params.chaff;
#endif
}

// Switches the radars, and drops the chaff, as commanded.
static void mr_work_systems(const MrSim *sim, const MrBlock *b, MrPicture *picture) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const MrFighter *fighter = &b->fighters[f];
    MrSystems *s = &picture->systems[f];
    MR_FOR_LANES(i) {
      int drops = ((s->command[i] & MR_DROP) != 0) & fighter->alive[i] & (s->chaff[i] > 0);
      drops &= b->time[i] >= s->cloud_end[i];
      s->silent[i] = sim->params.emission_control & s->command[i];
      s->chaff[i] -= drops;
      s->cloud_end[i] = mr_select_int(drops, b->time[i] + sim->constants.sensors.chaff_time, s->cloud_end[i]);
      s->x[i] = mr_select(drops, fighter->body.x[i], s->x[i]);
      s->y[i] = mr_select(drops, fighter->body.y[i], s->y[i]);
      s->z[i] = mr_select(drops, mr_height(&fighter->body, i), s->z[i]);
    }
  }
}

// 1 while the last cloud of a fighter lasts.
static inline int mr_has_cloud(const MrBlock *b, const MrSystems *systems, int i) {
  return b->time[i] < systems->cloud_end[i];
}

// The chance that a cloud decoys a sensor. `radial` is the fighter's own speed along the line of sight [m/s].
static inline float mr_chaff_chance(const MrParams *p, float radial) {
  return p->chaff_chance * mr_max(1.0f - fabsf(radial) / p->chaff_speed, 0.0f);
}

// The random number that a cloud draws for a sensor, whose stream separates it from the others.
static inline float mr_draw_decoy(const MrSim *sim, const MrBlock *b, const MrSystems *cloud, uint32_t stream, int i) {
  uint32_t counter[4] = {(uint32_t)b->engagement[i], (uint32_t)b->episode[i], (uint32_t)cloud->cloud_end[i], stream};
  float u[4];
  mr_uniforms(sim->seed, counter, u);
  return u[0];
}

// Finds where the radar of a fighter, `f`, cannot see an enemy, `target`: it is silent, or chaff decoys it. `sight` is
// the true one of the enemy.
static void mr_find_blind_radars(const MrSim *sim, const MrBlock *b, int32_t f, int32_t target, const MrSight *sight,
                                 const MrSystems *systems, int32_t blind[MR_LANES]) {
  const MrSystems *cloud = &systems[target];
  uint32_t stream = MR_CHAFF_STREAM + (uint32_t)mr_contact_place(sim, f, target);
  MR_FOR_LANES(i) blind[i] = systems[f].silent[i];
  if (sim->params.chaff == 0) return;
  MR_EACH_LANE(i) {
    if (blind[i] || !mr_has_cloud(b, cloud, i)) continue;
    blind[i] = mr_draw_decoy(sim, b, cloud, stream, i) < mr_chaff_chance(&sim->params, sight->approach[i]);
  }
}

// 1 if the cloud of a missile's target decoys the missile's seeker in lane i. The nearer the missile in time, the less.
static int mr_decoys_seeker(const MrSim *sim, const MrBlock *b, const MrSystems *cloud, int32_t slot, int i) {
  const MrMissile *m = &b->missiles[slot];
  const MrBody *body = &b->fighters[m->target[i]].body, *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  MrStanding standing = mr_standing(m, bodies, i);
  float inverse = 1.0f / mr_max(standing.range, 1.0f), v = body->v[i] * inverse;
  float radial = v * (standing.x * body->c[i] + standing.y * body->s[i]);
#if MR_DIMENSIONS == 3
  radial += v * standing.z * body->u[i];
#endif
  float time = sim->params.chaff_time_to_go, left = standing.time_to_go;
  float late = left < time ? left / time : 1.0f;
  uint32_t contact = (uint32_t)mr_contact_place(sim, m->owner[i], m->target[i]);
  uint32_t stream = MR_CHAFF_STREAM + contact + MR_SEEKER_STREAMS * (1 + (uint32_t)b->time[i] - (uint32_t)m->age[i]);
  return mr_draw_decoy(sim, b, cloud, stream, i) < late * mr_chaff_chance(&sim->params, radial);
}

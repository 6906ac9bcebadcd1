// SPDX-License-Identifier: MIT
//
// What can be seen in a block of teams at one moment, gathered once for outcomes, rewards and observations.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <float.h>
#include <math.h>

#include "block.h"
#include "sense.h"
#include "targets.h"

// The missiles that fly at a fighter.
typedef struct {
  MR_ALIGNED int32_t in_air[MR_LANES];  // their number
  MR_ALIGNED float least[MR_LANES];     // their least time to go [s]; infinite without any
} MrInbound;

typedef struct {
  MrSight sights[MR_FIGHTERS];  // of the nearest living enemy; of the first one where all are dead
  MrInbound inbound[MR_FIGHTERS];
  // Of each live slot's missiles, to their targets.
  MR_ALIGNED float range[MR_MISSILES][MR_LANES];       // [m]
  MR_ALIGNED float time_to_go[MR_MISSILES][MR_LANES];  // [s]
} MrScene;

// The body of the nearest living enemy, without its rudder.
static void mr_find_nearest(const struct MrSim *sim, const MrBlock *b, int32_t fighter, MrBody *nearest) {
  const MrBody *own = &b->fighters[fighter].body;
  MR_ALIGNED float least[MR_LANES];
  MR_FOR_LANES(i) least[i] = INFINITY;
  MR_FOR_SIDE(sim, !mr_side(sim, fighter), e) {
    const MrFighter *enemy = &b->fighters[e];
    const MrBody *body = &enemy->body;
    MR_FOR_LANES(i) {
      float range2 = mr_select(enemy->alive[i], mr_range2(own, body, i), FLT_MAX);
      int nearer = range2 < least[i];
      least[i] = mr_select(nearer, range2, least[i]);
      nearest->x[i] = mr_select(nearer, body->x[i], nearest->x[i]);
      nearest->y[i] = mr_select(nearer, body->y[i], nearest->y[i]);
      nearest->c[i] = mr_select(nearer, body->c[i], nearest->c[i]);
      nearest->s[i] = mr_select(nearer, body->s[i], nearest->s[i]);
      nearest->v[i] = mr_select(nearer, body->v[i], nearest->v[i]);
    }
  }
}

static void mr_look_at_enemies(const struct MrSim *sim, const MrBlock *b, MrSight sights[MR_FIGHTERS]) {
  MrBody nearest = {0};
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    mr_find_nearest(sim, b, f, &nearest);
    mr_look_at(&b->fighters[f].body, &nearest, &sights[f]);
  }
}

static void mr_look_at_missiles(const struct MrSim *sim, const MrBlock *b, MrScene *scene) {
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) {
      scene->inbound[f].in_air[i] = 0;
      scene->inbound[f].least[i] = INFINITY;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      MrStanding standing = mr_standing(m, bodies, i);
      MrInbound *inbound = &scene->inbound[m->target[i]];
      scene->range[slot][i] = standing.range;
      scene->time_to_go[slot][i] = standing.time_to_go;
      inbound->in_air[i]++;
      if (standing.time_to_go < inbound->least[i]) inbound->least[i] = standing.time_to_go;
    }
  }
}

static void mr_look_around(const struct MrSim *sim, const MrBlock *b, MrScene *scene) {
  mr_look_at_enemies(sim, b, scene->sights);
  mr_look_at_missiles(sim, b, scene);
}

// Takes the missiles of a lane, which started anew, out of the scene.
static void mr_forget_missiles(const struct MrSim *sim, MrScene *scene, int lane) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    scene->inbound[f].in_air[lane] = 0;
    scene->inbound[f].least[lane] = INFINITY;
  }
}

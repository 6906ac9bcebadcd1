// SPDX-License-Identifier: MIT
//
// The scene: the geometry of a block at one moment, gathered once for outcomes, rewards and observations.
//
// One against one and teams differ in this:
//
//   - A fighter's sight is of its only enemy, dead or alive; in teams it is of the nearest living enemy.
//   - In one against one missiles are ranked by keys in all lanes at once. A fighter's own missiles are those that fly
//     at its enemy, in the same order. In teams missiles are only counted; view_team.h lists them lane by lane.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <float.h>
#include <math.h>
#include <string.h>

#include "block.h"
#include "feature_table.h"
#include "sight.h"
#include "targets.h"

#if MR_SIDE == 1
// A missile's key is an integer that holds both its order and its slot. The high bits are those of the time to go as a
// float, since positive floats sort like their bits. The lowest bits, the mask MR_SLOT_BITS, are the slot, which
// decides only between missiles whose high bits are equal. Missiles that do not close come last, the older first.
enum { MR_SLOT_BITS = 15, MR_NO_MISSILE = 0x7f000000 };
_Static_assert(MR_MISSILES <= MR_SLOT_BITS + 1, "the number of a slot fits in its bits of a key");
_Static_assert(MR_OWN_MISSILES_OBSERVED <= MR_INBOUND_OBSERVED, "the own missiles that are observed are ranked");
#endif

// The missiles that fly at a fighter.
typedef struct {
#if MR_SIDE == 1
  MR_ALIGNED int32_t keys[MR_INBOUND_OBSERVED][MR_LANES];  // by rank; set if the scene has missiles
#endif
  MR_ALIGNED int32_t in_air[MR_LANES];  // their number
  MR_ALIGNED float least[MR_LANES];     // their least time to go [s]; infinite without any
} MrInbound;

typedef struct {
  MrSight sights[MR_FIGHTERS];  // of the enemy; in teams of the nearest living one, or of the first if all are dead
  MrInbound inbound[MR_FIGHTERS];
#if MR_SIDE == 1
  bool any;            // true if the block has any missile
  int32_t first_live;  // the first slot with a missile, if any
#endif
  // Of each live slot's missiles, to their targets.
  MR_ALIGNED float range[MR_MISSILES][MR_LANES];       // [m]
  MR_ALIGNED float time_to_go[MR_MISSILES][MR_LANES];  // [s]
} MrScene;

#if MR_SIDE == 1

// Inserts a missile's key among the sorted keys of a lane. The keys after it move down; the last one drops out.
static inline void mr_insert(int32_t keys[MR_INBOUND_OBSERVED][MR_LANES], int i, int32_t key) {
  for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
    int32_t here = keys[rank][i];
    keys[rank][i] = mr_select_int(key < here, key, here);
    key = mr_select_int(key < here, here, key);
  }
}

static inline void mr_look_at_slot(const MrBlock *b, int32_t slot, const MrBody *const targets[MR_FIGHTERS],
                                   MrScene *scene) {
  MR_FOR_LANES(i) {
    MrStanding standing = mr_standing(&b->missiles[slot], targets, i);
    scene->range[slot][i] = standing.range;
    scene->time_to_go[slot][i] = standing.time_to_go;
  }
}

static inline void mr_rank_slot(float dt, const MrBlock *b, int32_t slot, MrScene *scene) {
  const MrMissile *m = &b->missiles[slot];
  MR_FOR_LANES(i) {
    float time_to_go = scene->time_to_go[slot][i];
    float age = mr_clip((float)m->age[i] * dt, 0.0f, MR_TIME_TO_GO_MAX);
    float order = mr_select(time_to_go < MR_TIME_TO_GO_MAX, time_to_go, 2.0f * MR_TIME_TO_GO_MAX - age);
    int32_t bits;
    memcpy(&bits, &order, sizeof bits);
    int32_t key = (bits & ~MR_SLOT_BITS) | slot;
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      MrInbound *inbound = &scene->inbound[f];
      int flies_at_it = m->active[i] & (m->target[i] == f);
      float time = mr_select(flies_at_it, time_to_go, INFINITY);
      inbound->in_air[i] += flies_at_it;
      inbound->least[i] = mr_select(time < inbound->least[i], time, inbound->least[i]);
      mr_insert(inbound->keys, i, mr_select_int(flies_at_it, key, INT32_MAX));
    }
  }
}

// Gathers the missiles. `targets` are the fighters' bodies, true ones or believed ones.
static void mr_look_at_missiles(const MrSim *sim, const MrBlock *b, const MrBody *const targets[MR_FIGHTERS],
                                MrScene *scene) {
  int32_t slot = 0;
  while (slot < MR_MISSILES && !b->live[slot]) slot++;
  scene->any = slot < MR_MISSILES;
  scene->first_live = slot;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrInbound *inbound = &scene->inbound[f];
    MR_FOR_LANES(i) {
      inbound->in_air[i] = 0;
      inbound->least[i] = INFINITY;
    }
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      // A rank without a missile still has a slot, since it is read in every lane.
      MR_FOR_LANES(i) inbound->keys[rank][i] = MR_NO_MISSILE | slot;
    }
  }
  for (int32_t n = slot; n < MR_MISSILES; n++) {
    if (b->live[n]) mr_look_at_slot(b, n, targets, scene);
  }
  for (int32_t n = slot; n < MR_MISSILES; n++) {
    if (b->live[n]) mr_rank_slot(sim->constants.dt, b, n, scene);
  }
}

static void mr_look_at_enemies(const MrSim *sim, const MrBlock *b, MrSight sights[MR_FIGHTERS]) {
  (void)sim;
  mr_look(b, sights);
}

// Gathers the scene as each side believes it: its enemy has the body of its contact.
static void mr_look_around_by_picture(const MrSim *sim, const MrBlock *b, const MrPicture *picture, MrScene *scene) {
  const MrBody *red = &picture->contacts[1].body, *blue = &picture->contacts[0].body;  // as their enemies believe
  mr_look_at(&b->fighters[0].body, blue, &scene->sights[0]);
  mr_look_at(&b->fighters[1].body, red, &scene->sights[1]);
  mr_look_at_missiles(sim, b, (const MrBody *[]){red, blue}, scene);
}

#else

// The body of the nearest living enemy, without its rudder.
static void mr_find_nearest(const MrSim *sim, const MrBlock *b, int32_t fighter, MrBody *nearest) {
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
      mr_take_body(nearer, body, nearest, i);
    }
  }
}

static void mr_look_at_enemies(const MrSim *sim, const MrBlock *b, MrSight sights[MR_FIGHTERS]) {
  MrBody nearest = {0};
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    mr_find_nearest(sim, b, f, &nearest);
    mr_look_at(&b->fighters[f].body, &nearest, &sights[f]);
  }
}

static void mr_look_at_missiles(const MrSim *sim, const MrBlock *b, const MrBody *const targets[MR_FIGHTERS],
                                MrScene *scene) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) {
      scene->inbound[f].in_air[i] = 0;
      scene->inbound[f].least[i] = INFINITY;
    }
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_ACTIVE(m, i) {
      MrStanding standing = mr_standing(m, targets, i);
      MrInbound *inbound = &scene->inbound[m->target[i]];
      scene->range[slot][i] = standing.range;
      scene->time_to_go[slot][i] = standing.time_to_go;
      inbound->in_air[i]++;
      if (standing.time_to_go < inbound->least[i]) inbound->least[i] = standing.time_to_go;
    }
  }
}

#endif

static void mr_look_around(const MrSim *sim, const MrBlock *b, MrScene *scene) {
  const MrBody *bodies[MR_FIGHTERS];
  mr_bodies(b, bodies);
  mr_look_at_enemies(sim, b, scene->sights);
  mr_look_at_missiles(sim, b, bodies, scene);
}

// Takes the missiles of a lane, which started anew, out of the scene.
static void mr_forget_missiles(const MrSim *sim, MrScene *scene, int lane) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MrInbound *inbound = &scene->inbound[f];
    inbound->in_air[lane] = 0;
    inbound->least[lane] = INFINITY;
#if MR_SIDE == 1
    for (int rank = 0; rank < MR_INBOUND_OBSERVED; rank++) {
      inbound->keys[rank][lane] = MR_NO_MISSILE | scene->first_live;
    }
#endif
  }
}

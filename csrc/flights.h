// SPDX-License-Identifier: MIT
//
// The missiles of a block during the physics steps of a decision, which steps.h and steps3.h fly. A missile affects
// nothing but its target's life, so they are packed for these steps, from any slots and lanes: what they cost follows
// the missiles in the air.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <float.h>
#include <math.h>

#include "block.h"
#include "guidance.h"
#include "packing.h"

// Room for all missiles of a block, and for as many numbers after them as packing writes.
enum { MR_ROOM = (MR_MISSILES + 1) * MR_LANES };
#define MR_DECLARE_PACKED(type, name, ...) MR_ALIGNED type name[MR_ROOM];

#if MR_DIMENSIONS == 3

// The constants of the types of the packed missiles.
#define MR_DECLARE_LANES(name, meaning) MR_ALIGNED float name[MR_ROOM];
typedef struct {
  MR_AIRFRAME3_CONSTANTS(MR_DECLARE_LANES)
  MR_MISSILE_CONSTANTS(MR_DECLARE_LANES)
} MrTypeLanes;

#endif

// The missiles in the air, packed in the order of their slots. They are flown in flights of MR_LANES. The places in the
// last flight that are left over hold zeros, which are flown, too, and do not matter.
typedef struct {
  int32_t count;
  MR_BODY_FIELDS(MR_DECLARE_PACKED)
#if MR_DIMENSIONS == 2
  MR_ALIGNED float burn_left[MR_ROOM];  // before the first step [physics steps], less than 0 once burnt out
#else
  MR_ALIGNED float age[MR_ROOM];  // before the first step [physics steps]
  MrTypeLanes types;              // of each missile
#endif
  MR_ALIGNED int32_t target[MR_ROOM];  // number of the target's motion
  MR_ALIGNED int32_t end[MR_ROOM];     // event of the missile's end, as in guidance.h
#if MR_DIMENSIONS == 2
  // Of the present step, as in mr_guide and mr_fly_arc.
  MR_ALIGNED float command[MR_ROOM], limit[MR_ROOM], lift[MR_ROOM], half_length[MR_ROOM];
#endif
  int32_t first[MR_MISSILES];  // place of a slot's first missile, or of the next slot's if it has none
} MrPacked;

// The number of each missile that its steps count by: what its motor has left to burn, or with height its age.
#if MR_DIMENSIONS == 2
#define MR_PACKED_TIME burn_left
#define MR_TIME_OF(k, age) ((k)->burn_steps - (float)(age))
#else
#define MR_PACKED_TIME age
#define MR_TIME_OF(k, age) ((float)(age))
#endif

static void mr_pack_missiles(const MrConstants *k, const MrBlock *b, MrPacked *p) {
  (void)k;
  MR_ALIGNED float time[MR_LANES];
  MR_ALIGNED int32_t target[MR_LANES];
  static const MR_ALIGNED int32_t zeros[MR_LANES];
  MrLanes lanes;
  int32_t n = 0;
#define MR_PACK(type, name, ...) mr_pack(m->body.name, lanes, &p->name[n]);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    p->first[slot] = n;
    if (!b->live[slot]) continue;
    const MrMissile *m = &b->missiles[slot];
    MR_FOR_LANES(i) {
      time[i] = MR_TIME_OF(k, m->age[i]);
      target[i] = m->target[i] * MR_LANES + i;
    }
    lanes = mr_lanes_of(m->active);
    MR_BODY_FIELDS(MR_PACK)
    mr_pack(time, lanes, &p->MR_PACKED_TIME[n]);
    mr_pack(target, lanes, &p->target[n]);
    n += b->live[slot];
  }
#undef MR_PACK
#define MR_ZERO(type, name, ...) memcpy(&p->name[n], zeros, sizeof zeros);
  MR_BODY_FIELDS(MR_ZERO)
  memcpy(&p->MR_PACKED_TIME[n], zeros, sizeof zeros);
  memcpy(&p->target[n], zeros, sizeof zeros);
#undef MR_ZERO
  p->count = n;
}

// Beliefs of the packed missiles about their targets at the first step: position [m] and velocity [m/s], and 1 if the
// seeker sees the target. Missiles with 1 fly at the true target.
#define MR_DECLARE_AXIS(x, vx) MR_ALIGNED float x[MR_ROOM], vx[MR_ROOM];
typedef struct {
  MR_AXES(MR_DECLARE_AXIS)
  MR_ALIGNED int32_t sees[MR_ROOM];
} MrBelieved;
#undef MR_DECLARE_AXIS

static void mr_pack_beliefs(const MrBlock *b, const MrPicture *picture, MrBelieved *out) {
  int32_t n = 0;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    const MrBelief *belief = &picture->beliefs[slot];
    MrLanes lanes = mr_lanes_of(b->missiles[slot].active);
    MR_ALIGNED int32_t sees[MR_LANES];
    MR_FOR_LANES(i) sees[i] = belief->locked[i] & (belief->unseen[i] == 0);
#define MR_PACK_AXIS(x, vx)                \
  mr_pack(belief->x, lanes, &out->x[n]);   \
  mr_pack(belief->vx, lanes, &out->vx[n]);
    MR_AXES(MR_PACK_AXIS)
#undef MR_PACK_AXIS
    mr_pack(sees, lanes, &out->sees[n]);
    n += b->live[slot];
  }
  static const MR_ALIGNED int32_t zeros[MR_LANES];
#define MR_ZERO_AXIS(x, vx)                 \
  memcpy(&out->x[n], zeros, sizeof zeros);  \
  memcpy(&out->vx[n], zeros, sizeof zeros);
  MR_AXES(MR_ZERO_AXIS)
#undef MR_ZERO_AXIS
  memcpy(&out->sees[n], zeros, sizeof zeros);
}

// Gives the missiles of a flight that do not see their target the one that they believe in, `time` [s] after the first
// step.
static inline void mr_believe(const MrBelieved *believed, float time, int64_t first, MrMotion *target) {
#define MR_BELIEVE_AXIS(x, vx)                                                            \
  target->x[i] = mr_select(sees, target->x[i], believed->x[n] + time * believed->vx[n]); \
  target->vx[i] = mr_select(sees, target->vx[i], believed->vx[n]);
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    int sees = believed->sees[n];
    MR_AXES(MR_BELIEVE_AXIS)
  }
#undef MR_BELIEVE_AXIS
}

// Puts the packed missiles' bodies back.
static void mr_unpack_missiles(const MrPacked *p, MrBlock *b) {
  int32_t n = 0;
#define MR_UNPACK(type, name, ...) mr_unpack(&p->name[n], lanes, m->body.name);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MrMissile *m = &b->missiles[slot];
    MrLanes lanes = mr_lanes_of(m->active);
    MR_BODY_FIELDS(MR_UNPACK)
    n += b->live[slot];
  }
#undef MR_UNPACK
}

// The lines of sight of the flights with a missile that could hit within these steps. Others need no fuze.
typedef struct {
  int32_t count;
  int64_t first[MR_MISSILES];                      // place of the flight's first missile
  MR_ALIGNED float reach2[MR_MISSILES][MR_LANES];  // [m^2] squared range beyond which a missile cannot hit in one step
  MrLineOfSight before[MR_MISSILES], after[MR_MISSILES];
} MrNear;

static inline void mr_sight(const MrMotions *fighters, const MrPacked *p, int64_t first, MrLineOfSight *out) {
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  MR_FOR_LANES(i) {
    float x = target.x[i] - p->x[first + i], y = target.y[i] - p->y[first + i];
    out->x[i] = x;
    out->y[i] = y;
#if MR_DIMENSIONS == 3
    float z = target.z[i] - p->z[first + i];
    out->z[i] = z;
    out->range2[i] = x * x + y * y + z * z;
#else
    out->range2[i] = x * x + y * y;
#endif
  }
}

// Begins a flight: notes a hit in the first step for missiles already within the radius. Returns whether any missile
// could come within the radius in the time t. Then `reach2` is set.
static inline bool mr_begin_flight(const MrSim *sim, const MrMotions *fighters, float t, int64_t first, MrPacked *p,
                                   float reach2[MR_LANES]) {
  const MrConstants *k = &sim->constants;
  float radius = sim->params.missile_hit_radius, dt = k->dt;
  float gain = k->closing_acceleration * t;  // an upper bound of what the closing speed grows by
  float grain = FLT_EPSILON / dt;  // and by what rounding may add to it far from the origin, for each metre from it
  int32_t count = p->count - (int32_t)first, near = 0;
  MrMotion target;
  mr_pick_motions(fighters, &p->target[first], &target);
  MR_FOR_LANES(i) {
    int64_t n = first + i;
    float x = target.x[i] - p->x[n], y = target.y[i] - p->y[n];
    float range2 = x * x + y * y;
    float away = fabsf(target.x[i]) + fabsf(target.y[i]) + fabsf(p->x[n]) + fabsf(p->y[n]);
    float speed = fabsf(target.vx[i]) + fabsf(target.vy[i]) + p->v[n] + gain + grain * away;
#if MR_DIMENSIONS == 3
    float z = target.z[i] - p->z[n];
    range2 += z * z;
    speed += fabsf(target.vz[i]) + grain * (fabsf(target.z[i]) + fabsf(p->z[n]));
#endif
    float reach = 1.01f * (radius + speed * t), step_reach = 1.01f * (radius + speed * dt);
    near |= (i < count) & (range2 < reach * reach);
    reach2[i] = mr_select(i < count, step_reach * step_reach, -1.0f);
    p->end[n] = mr_select_int(range2 < radius * radius, 0, MR_NEVER);
  }
  return near;
}

// `motions` are the fighters' before the first step.
static void mr_begin_flights(const MrSim *sim, const MrMotions *motions, int32_t steps, MrPacked *p, MrNear *near) {
  float t = (float)steps * sim->constants.dt;
  near->count = 0;
  for (int32_t first = 0; first < p->count; first += MR_LANES) {
    near->first[near->count] = first;
    near->count += mr_begin_flight(sim, motions, t, first, p, near->reach2[near->count]);
  }
}

// Notes the hits of the near missiles of a flight in a step that has been flown.
static inline void mr_note_hits(const MrSim *sim, int32_t step, const MrMotions *fighters, int32_t j, MrNear *near,
                                MrPacked *p) {
  int64_t first = near->first[j];
  MR_ALIGNED int32_t reaches[MR_LANES];
  MR_FOR_LANES(i) reaches[i] = near->before[j].range2[i] < near->reach2[j][i];
  if (mr_count(reaches) == 0) return;
  mr_sight(fighters, p, first, &near->after[j]);
  mr_fuze(sim->params.missile_hit_radius, step, &near->before[j], &near->after[j], &p->end[first]);
}

// The slot of a packed missile.
static inline int32_t mr_slot_of(const MrPacked *p, int32_t place) {
  int32_t slot = MR_MISSILES - 1;
  while (p->first[slot] > place) slot--;
  return slot;
}

// The missiles of a flight that have ended, as bits.
static inline uint32_t mr_ended(const MrPacked *p, int64_t first) {
  uint32_t ended = 0;
  MR_FOR_LANES(i) ended |= (uint32_t)(p->end[first + i] != MR_NEVER) << i;
  return ended;
}

// The places of the missiles that have ended; returns their number.
static int32_t mr_find_ends(const MrPacked *p, int32_t places[MR_MISSILES * MR_LANES]) {
  int32_t count = 0;
  for (int32_t first = 0; first < p->count; first += MR_LANES) {
    for (uint32_t ended = mr_ended(p, first); ended; ended &= ended - 1) {
      int32_t place = first + __builtin_ctz(ended);
      if (place < p->count) places[count++] = place;
    }
  }
  return count;
}

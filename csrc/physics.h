// SPDX-License-Identifier: MIT
//
// The physics steps of a block. RULES.md, "Order of events".
//
// All physics steps of a decision are flown without a branch, as if nothing ended. Each missile's end is noted in the
// meantime. After the last step it is settled who died and which missiles are gone. This is allowed because a missile
// affects only its target's life, and because nothing depends on a missile after its end. A fighter that died
// is flown again up to its death.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flight.h"
#include "flights.h"
#include "picture.h"
#include "targets.h"

// Prefetching ---------------------------------------------------------------------------------------------
//
// Prefetches memory while a block's physics steps are computed: the block's rows of observations, which are written at
// the end of the decision, and the next block's state. In batches larger than the caches a decision would wait for
// both. A part is prefetched at each step, because a processor waits for some twenty cache lines at a time, and stalls
// when it is asked for more at once. In teams the rows of a block do not fit in the first level: view_team.h prefetches
// one fighter's rows while it writes those of the fighter before.

enum {
  MR_LINE = 64,         // bytes of a cache line
  MR_CACHED = 2 << 20,  // bytes of state that the caches have ready anyway: fetching would cost up to 7 %
};

// True if the simulation is so small that prefetching does not help.
static inline bool mr_is_cached(const MrSim *sim) { return (size_t)sim->num_blocks * sizeof(MrBlock) < MR_CACHED; }

// A stretch of memory, and the bytes of it that are prefetched at a time: whole cache lines.
typedef struct {
  const char *begin, *end;
  size_t part;
} MrStretch;

// Memory that is still to be prefetched.
typedef struct {
  MrStretch state, rows;
} MrAhead;

#define MR_NOTHING_AHEAD ((MrAhead){0})

// A stretch that is prefetched in `parts` parts.
static inline MrStretch mr_in_parts(const void *begin, size_t bytes, int32_t parts) {
  size_t lines = (bytes + MR_LINE - 1) / MR_LINE, count = (size_t)(parts > 0 ? parts : 1);
  return (MrStretch){begin, (const char *)begin + bytes, (lines + count - 1) / count * MR_LINE};
}

// Takes the next part away from a stretch.
static inline MrStretch mr_take_part(MrStretch *stretch) {
  const char *begin = stretch->begin;
  size_t rest = begin ? (size_t)(stretch->end - begin) : 0;
  if (rest) stretch->begin += rest < stretch->part ? rest : stretch->part;
  return (MrStretch){begin, stretch->begin, 0};
}

// Prefetches the next parts: state into the second level, as the present block's fills the first; rows to be written.
static inline void mr_fetch_ahead(MrAhead *ahead) {
  MrStretch state = mr_take_part(&ahead->state), rows = mr_take_part(&ahead->rows);
  for (const char *line = state.begin; line < state.end; line += MR_LINE) __builtin_prefetch(line, 0, 2);
  for (const char *line = rows.begin; line < rows.end; line += MR_LINE) __builtin_prefetch(line, 1, 3);
}

// Steps ---------------------------------------------------------------------------------------------------

// When each fighter dies: the event of the hit, MR_NEVER, or -1 if it was dead before these steps.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// The part of a fighter's state that the steps work on.
typedef struct {
  MrBody body;
  MR_ALIGNED float throttle[MR_LANES], rudder_command[MR_LANES], throttle_command[MR_LANES];
  MR_ALIGNED float half_length[MR_LANES], lift[MR_LANES];  // of the present step, as in mr_fly_arc
} MrFlyer;

static inline void mr_copy_body(const MrBody *from, MrBody *to) {
  MR_FOR_LANES(i) {
    to->x[i] = from->x[i];
    to->y[i] = from->y[i];
    to->c[i] = from->c[i];
    to->s[i] = from->s[i];
    to->v[i] = from->v[i];
    to->rudder[i] = from->rudder[i];
  }
}

// Takes over a body where it flies; the rudder moves everywhere.
static inline void mr_keep_body(const int32_t flies[MR_LANES], const MrBody *flown, MrBody *body) {
  MR_FOR_LANES(i) {
    mr_take_body(flies[i], flown, body, i);
    body->rudder[i] = flown->rudder[i];
  }
}

static inline void mr_take_off(const MrFighter *f, MrFlyer *out) {
  mr_copy_body(&f->body, &out->body);
  MR_FOR_LANES(i) {
    out->throttle[i] = f->throttle[i];
    out->rudder_command[i] = f->rudder_command[i];
    out->throttle_command[i] = f->throttle_command[i];
  }
}

// First half of a fighter's step.
static inline void mr_speed_fighter(const MrConstants *k, MrFlyer *f) {
  const MrAirframe *frame = &k->fighter;
  MrBody *body = &f->body;
  MR_FOR_LANES(i) {
    float v = body->v[i];
    float throttle = mr_actuate(f->throttle[i], f->throttle_command[i], k->throttle_step);
    float rudder = mr_actuate(body->rudder[i], f->rudder_command[i], frame->rudder_step);
    float lift = mr_lift(k, frame, v, rudder);
    float v_next = mr_next_speed(v, frame->thrust_dt * throttle, frame->cd0_dt + frame->k_dt * (lift * lift));
    f->throttle[i] = throttle;
    body->rudder[i] = rudder;
    body->v[i] = v_next;
    f->half_length[i] = k->quarter_dt * (v + v_next);
    f->lift[i] = lift;
  }
}

static inline void mr_move_fighter(MrFlyer *f) {
  MrBody *body = &f->body;
  MR_FOR_LANES(i) mr_fly_arc(f->half_length[i], f->lift[i], &body->x[i], &body->y[i], &body->c[i], &body->s[i]);
}

// Working state of the steps of a decision. The block stays as it was before the first step until all is settled.
typedef struct {
  MrConstants constants;
  MrFlyer flyers[MR_FIGHTERS];
  MrMotions fighters;
  MrPacked missiles;
  MrBelieved believed;  // set with sensors
  MrNear near;
} MrSky;

static inline void mr_note_fighters(const MrSim *sim, const MrFlyer flyers[MR_FIGHTERS], MrMotions *out) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_note_fighter(&flyers[f].body, f, out);
}

// Flies everything for a step. Each stage is done for all flights before the next stage begins. The stages of one
// flight wait for each other's results; the same stage of different flights overlaps in the processor.
// `believed` is NULL without sensors.
static void mr_step_bodies(const MrSim *sim, int32_t step, const MrConstants *restrict k, MrFlyer *restrict flyers,
                           MrMotions *restrict fighters, MrPacked *restrict p, const MrBelieved *restrict believed,
                           MrNear *restrict near) {
  int64_t count = p->count;
  int32_t flying = mr_fighters(sim);
  mr_note_fighters(sim, flyers, fighters);
  for (int32_t f = 0; f < flying; f++) mr_speed_fighter(k, &flyers[f]);
  for (int32_t j = 0; j < near->count; j++) mr_sight(fighters, p, near->first[j], &near->before[j]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_guide_flight(k, step, fighters, n, believed, p);
  for (int32_t f = 0; f < flying; f++) mr_move_fighter(&flyers[f]);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_steer_flight(k, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_speed_flight(k, step, n, p);
  for (int64_t n = 0; n < count; n += MR_LANES) mr_move_flight(n, p);
  if (near->count == 0) return;
  mr_note_fighters(sim, flyers, fighters);
  for (int32_t j = 0; j < near->count; j++) mr_note_ends(sim, step, fighters, j, near, p);
}

// Flies one fighter again from the state before the first step, now only up to its death. Lanes without a death come
// out the same. The actuators of the dead move on.
static void mr_kill(const MrConstants *k, const MrFighter *before, int32_t steps, const int32_t death[MR_LANES],
                    MrFlyer *f) {
  mr_take_off(before, f);
  for (int32_t step = 0; step < steps; step++) {
    MrBody last;
    MR_ALIGNED int32_t flies[MR_LANES];
    mr_copy_body(&f->body, &last);
    mr_speed_fighter(k, f);
    mr_move_fighter(f);
    MR_FOR_LANES(i) flies[i] = 2 * step <= death[i];
    mr_keep_body(flies, &f->body, &last);
    mr_copy_body(&last, &f->body);
  }
}

// Writes a flyer's state back. Fighters that were dead before the steps stay where they are.
static void mr_land(const MrFlyer *flyer, const int32_t death[MR_LANES], MrFighter *f) {
  mr_keep_body(f->alive, &flyer->body, &f->body);
  MR_FOR_LANES(i) {
    f->throttle[i] = flyer->throttle[i];
    f->alive[i] = death[i] == MR_NEVER;
  }
}

// Finds when each fighter dies: by the first hit on it.
static void mr_find_deaths(const MrPacked *p, const int32_t ended[], int32_t count, MrDeaths death) {
  for (int32_t j = 0; j < count; j++) {
    int32_t n = ended[j], f = p->target[n] / MR_LANES, lane = p->target[n] % MR_LANES;
    int32_t end = p->end[n];
    if (!(end & 1) && end < death[f][lane]) death[f][lane] = end;
  }
}

// Settles who has died and which missiles are gone, after the last step. Missiles that hit a fighter at the time of its
// death are hits; others have lost their target: they are gone, or in teams look for another. Few missiles end in a
// decision, so they are taken one by one.
static void mr_settle(const MrSim *sim, int32_t steps, MrSky *sky, MrBlock *b, MrPicture *picture) {
  const MrPacked *p = &sky->missiles;
  MR_ALIGNED MrDeaths death;
  int32_t places[MR_MISSILES * MR_LANES];
  int32_t count = mr_find_ends(p, places);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_FOR_LANES(i) death[f][i] = mr_select_int(b->fighters[f].alive[i], MR_NEVER, -1);
  }
  mr_find_deaths(p, places, count, death);
  for (int32_t j = 0; j < count; j++) {
    int32_t n = places[j], slot = mr_slot_of(p, n);
    int32_t f = p->target[n] / MR_LANES, lane = p->target[n] % MR_LANES;
    b->fighters[b->missiles[slot].owner[lane]].hits[lane] += p->end[n] == death[f][lane];
    // In teams a missile that passed where its dead target would have been may go for another enemy.
    bool passed = MR_SIDE > 1 && !(p->end[n] & 1) && p->end[n] > death[f][lane];
    if (!passed) mr_remove(b, slot, lane);
  }
  MR_ALIGNED int32_t lost[MR_LANES] = {0};  // 1 where a fighter has died
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MrFighter *fighter = &b->fighters[f];
    MR_ALIGNED int32_t dies[MR_LANES];
    MR_FOR_LANES(i) dies[i] = fighter->alive[i] & (death[f][i] != MR_NEVER);
    if (mr_count(dies)) {
      MR_EACH_LANE(i) {
        lost[i] |= dies[i];
        if (dies[i] && MR_SIDE == 1) mr_remove_missiles_at(b, f, i);
      }
      mr_kill(&sky->constants, fighter, steps, death[f], &sky->flyers[f]);
    }
    mr_land(&sky->flyers[f], death[f], fighter);
  }
#if MR_SIDE > 1
  MR_EACH_LANE(i) {
    if (lost[i]) mr_find_new_targets(sim, b, picture, i);
  }
#else
  (void)picture, (void)lost;
#endif
}

// Flies a block for some steps, and prefetches a part of `ahead` at each. `picture` is NULL without sensors.
static void mr_fly_block(const MrSim *sim, MrBlock *b, MrPicture *picture, int32_t steps, MrAhead ahead) {
  if (steps < 1) return;
  MrSky sky;
  MrPacked *p = &sky.missiles;
  sky.constants = sim->constants;
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_take_off(&b->fighters[f], &sky.flyers[f]);
  mr_pack_missiles(&sky.constants, b, p);
  if (picture) mr_pack_beliefs(b, picture, &sky.believed);
  mr_note_fighters(sim, sky.flyers, &sky.fighters);
  mr_begin_flights(sim, &sky.fighters, steps, p, &sky.near);
  for (int32_t step = 0; step < steps; step++) {
    mr_fetch_ahead(&ahead);
    mr_step_bodies(sim, step, &sky.constants, sky.flyers, &sky.fighters, p, picture ? &sky.believed : NULL, &sky.near);
  }
  // A burnt-out missile only gets slower: those without a fuze need to be looked at once.
  for (int64_t n = 0; n < p->count; n += MR_LANES) mr_note_spent(sim, steps - 1, n, p);
  mr_unpack_missiles(p, b);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) b->missiles[slot].age[i] += steps;
  }
  MR_FOR_LANES(i) b->time[i] += steps;
  if (picture) mr_fly_beliefs(sim, (float)steps * sim->constants.dt, b, picture);
  mr_settle(sim, steps, &sky, b, picture);
}

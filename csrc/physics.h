// SPDX-License-Identifier: MIT
//
// The physics steps of a block, by the step of steps.h, or steps3.h with height. RULES.md, "Order of events".
//
// All physics steps of a decision are flown without a branch, as if nothing ended. Each missile's end is noted in the
// meantime. After the last step it is settled who died and which missiles are gone. This is allowed because a missile
// affects only its target's life, and because nothing depends on a missile after its end. A fighter that died
// is flown again up to its death.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include "block.h"
#include "flights.h"
#include "picture.h"
#include "targets.h"
#if MR_DIMENSIONS == 3
#include "steps3.h"
#else
#include "steps.h"
#endif

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

// Deaths --------------------------------------------------------------------------------------------------

// When each fighter dies: the event of the hit, with height that of a crash, which is odd; MR_NEVER; or -1 if it was
// dead before these steps.
typedef int32_t MrDeaths[MR_FIGHTERS][MR_LANES];

// Flies one fighter again from the state before the first step, now only up to its death. Lanes without a death come
// out the same. The actuators of the dead move on.
static void mr_kill(const MrSky *sky, const MrFighter *before, int32_t steps, int32_t fighter,
                    const int32_t death[MR_LANES], MrFlyer *f) {
  mr_take_off(before, f);
  for (int32_t step = 0; step < steps; step++) {
    MrBody last;
    MR_ALIGNED int32_t flies[MR_LANES];
    mr_copy_body(&f->body, &last);
    mr_fly_fighter(sky, step, fighter, f);
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
#if MR_DIMENSIONS == 3
  MR_FOR_LANES(i) f->climb[i] = flyer->climb[i];
#endif
}

// Finds when each fighter dies: by the first hit on it, or with height by a crash before that.
static void mr_find_deaths(const MrSim *sim, const MrSky *sky, const int32_t ended[], int32_t count, MrDeaths death) {
  const MrPacked *p = &sky->missiles;
#if MR_DIMENSIONS == 3
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    const int32_t *crash = sky->flyers[f].crash;
    MR_FOR_LANES(i) death[f][i] = mr_select_int(crash[i] < death[f][i], crash[i], death[f][i]);
  }
#else
  (void)sim;
#endif
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
  mr_find_deaths(sim, sky, places, count, death);
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
      mr_kill(sky, fighter, steps, f, death[f], &sky->flyers[f]);
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
  mr_begin_sky(sim, b, &sky);
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_take_off(&b->fighters[f], &sky.flyers[f]);
  mr_pack_missiles(&sky.constants, b, p);
#if MR_DIMENSIONS == 3
  mr_pack_types(sim, sky.roster, b, p);
#endif
  if (picture) mr_pack_beliefs(b, picture, &sky.believed);
  mr_note_fighters(sim, sky.flyers, &sky.fighters);
  mr_begin_flights(sim, &sky.fighters, steps, p, &sky.near);
  for (int32_t step = 0; step < steps; step++) {
    mr_fetch_ahead(&ahead);
    mr_step_sky(sim, step, picture ? &sky.believed : NULL, &sky);
  }
  mr_end_sky(sim, steps, &sky);
  mr_unpack_missiles(p, b);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_FOR_LANES(i) b->missiles[slot].age[i] += steps;
  }
  MR_FOR_LANES(i) b->time[i] += steps;
  if (picture) mr_fly_beliefs(sim, (float)steps * sim->constants.dt, b, picture);
  mr_settle(sim, steps, &sky, b, picture);
}

// Brings the directions of all that flies back to length 1, from which rounding moves them with height. Once a
// decision, and at every step of a fly-out.
static inline void mr_straighten(const MrSim *sim, MrBlock *b) {
#if MR_DIMENSIONS == 3
  for (int32_t f = 0; f < mr_fighters(sim); f++) mr_straighten_body(&b->fighters[f].body);
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (b->live[slot]) mr_straighten_body(&b->missiles[slot].body);
  }
#else
  (void)sim, (void)b;
#endif
}

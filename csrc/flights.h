// SPDX-License-Identifier: MIT
//
// A missile affects nothing but its target's life. So for the physics steps of a decision a block's missiles are packed:
// MR_LANES of them to a vector, from any slots and lanes. Where AVX-512 has an instruction that moves numbers between
// lanes, it is used, since compilers do not find it.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include "block.h"
#include "quad.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

// Positions [m] and velocities [m/s]: of a fighter in all lanes, or of the targets of MR_LANES missiles.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], vx[MR_LANES], vy[MR_LANES];
} MrMotion;

// Up to MR_LANES missiles, and what the steps keep of them. Columns without a missile are flown, too, and do not matter.
typedef struct {
  MrBody body;
  MR_ALIGNED int32_t age[MR_LANES];     // before the first step
  MR_ALIGNED int32_t target[MR_LANES];  // the target's fighter * MR_LANES + lane
  MR_ALIGNED int32_t end[MR_LANES];     // event of the end, as in guidance.h
  MR_ALIGNED float steps_flown[MR_LANES];  // the age as a float
  MR_ALIGNED float half_lift[MR_LANES], length[MR_LANES], half_turn[MR_LANES];  // of the present step
} MrFlight;

typedef struct {
  int32_t count, vectors;  // missiles, and flights that hold them
#if defined(__AVX512F__)
  int32_t slots, slot[MR_MISSILES], first[MR_MISSILES];  // slots in use, and the place of each one's first missile
  __mmask16 lanes[MR_MISSILES];
#else
  uint8_t slot[MR_MISSILES * MR_LANES], lane[MR_MISSILES * MR_LANES];  // of each missile
#endif
  MrFlight flights[MR_MISSILES + 1];
} MrFlights;

static inline void mr_note_motion(const MrBody *body, MrMotion *out) {
  MR_FOR_LANES(i) {
    out->x[i] = body->x[i];
    out->y[i] = body->y[i];
    out->vx[i] = body->v[i] * body->c[i];
    out->vy[i] = body->v[i] * body->s[i];
  }
}

// What is packed: a missile's body, age and target. The structs begin with the body, as arrays [lane].
enum { MR_BODY_NUMBERS = sizeof(MrBody) / sizeof(float[MR_LANES]) };
typedef float MrNumbers[MR_LANES];

#if defined(__AVX512F__)

_Static_assert(MR_LANES == 16 && MR_FIGHTERS == 2, "the fighters' numbers fill two vectors");

static inline __m512i mr_lane_numbers(void) {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

// Finds the missiles in the air.
static void mr_find_missiles(const MrBlock *b, MrFlights *out) {
  out->count = out->slots = 0;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    __m512i active = _mm512_load_si512(b->missiles[slot].active);
    out->slot[out->slots] = slot;
    out->first[out->slots] = out->count;
    out->lanes[out->slots++] = _mm512_test_epi32_mask(active, active);
    out->count += b->live[slot];
  }
}

// Packs the missiles in the air, in the order of slots and of lanes in a slot.
static void mr_pack(const MrBlock *b, MrFlights *out) {
  __m512i lane = mr_lane_numbers();
  __m512 packed[MR_BODY_NUMBERS + 2];
  for (int q = 0; q < MR_BODY_NUMBERS + 2; q++) packed[q] = _mm512_setzero_ps();
  MrNumbers *to = (MrNumbers *)&out->flights[0];
  for (int32_t j = 0; j < out->slots; j++) {
    const MrMissile *m = &b->missiles[out->slot[j]];
    const MrNumbers *from = (const MrNumbers *)m;
    int32_t column = out->first[j] % MR_LANES;
    __mmask16 rest = (__mmask16)(0xffff << column);
    // The lanes that go to the columns from `column` on, and from column 0 on when the vector is full.
    __m512i order = _mm512_permutexvar_epi32(_mm512_sub_epi32(lane, _mm512_set1_epi32(column)),
                                             _mm512_maskz_compress_epi32(out->lanes[j], lane));
    __m512 numbers[MR_BODY_NUMBERS + 2];
    for (int q = 0; q < MR_BODY_NUMBERS; q++) numbers[q] = _mm512_load_ps(from[q]);
    numbers[MR_BODY_NUMBERS] = _mm512_load_ps((const float *)m->age);
    __m512i target = _mm512_mullo_epi32(_mm512_load_si512(m->target), _mm512_set1_epi32(MR_LANES));
    numbers[MR_BODY_NUMBERS + 1] = _mm512_castsi512_ps(_mm512_add_epi32(target, lane));
    for (int q = 0; q < MR_BODY_NUMBERS + 2; q++) {
      packed[q] = _mm512_mask_permutexvar_ps(packed[q], rest, order, numbers[q]);
    }
    if (column + __builtin_popcount(out->lanes[j]) < MR_LANES) continue;
    for (int q = 0; q < MR_BODY_NUMBERS + 2; q++) {
      _mm512_store_ps(to[q], packed[q]);
      packed[q] = _mm512_permutexvar_ps(order, numbers[q]);
    }
    to = (MrNumbers *)((MrFlight *)to + 1);
  }
  for (int q = 0; q < MR_BODY_NUMBERS + 2; q++) _mm512_store_ps(to[q], packed[q]);
}

// For each lane of the j-th slot in use the place of its missile in two flights, the first of which is returned.
static inline const MrFlight *mr_places(const MrFlights *flights, int32_t j, __m512i *places) {
  __m512i order = _mm512_maskz_expand_epi32(flights->lanes[j], mr_lane_numbers());
  *places = _mm512_add_epi32(order, _mm512_set1_epi32(flights->first[j] % MR_LANES));
  return &flights->flights[flights->first[j] / MR_LANES];
}

// Puts the bodies back.
static void mr_unpack(const MrFlights *flights, MrBlock *b) {
  for (int32_t j = 0; j < flights->slots; j++) {
    __m512i places;
    const MrFlight *f = mr_places(flights, j, &places);
    const MrNumbers *low = (const MrNumbers *)&f[0], *high = (const MrNumbers *)&f[1];
    MrNumbers *to = (MrNumbers *)&b->missiles[flights->slot[j]];
    for (int q = 0; q < MR_BODY_NUMBERS; q++) {
      __m512 numbers = _mm512_permutex2var_ps(_mm512_load_ps(low[q]), places, _mm512_load_ps(high[q]));
      _mm512_store_ps(to[q], _mm512_mask_mov_ps(_mm512_load_ps(to[q]), flights->lanes[j], numbers));
    }
  }
}

// Writes the events of the missiles' ends by slot and lane, for packed missiles.
static void mr_unpack_ends(const MrFlights *flights, int32_t end[MR_MISSILES][MR_LANES]) {
  for (int32_t j = 0; j < flights->slots; j++) {
    __m512i places;
    const MrFlight *f = mr_places(flights, j, &places);
    __m512i ends = _mm512_permutex2var_epi32(_mm512_load_si512(f[0].end), places, _mm512_load_si512(f[1].end));
    _mm512_store_si512(end[flights->slot[j]], ends);
  }
}

typedef struct {
  MrMotion of[MR_FIGHTERS];
} MrMotions;

static void mr_note_motions(const MrBlock *b, MrMotions *out) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) mr_note_motion(&b->fighters[f].body, &out->of[f]);
}

// The motions of a flight's targets.
static inline void mr_pick_targets(const MrMotions *motions, const MrFlight *f, MrMotion *out) {
  const MrNumbers *low = (const MrNumbers *)&motions->of[0], *high = (const MrNumbers *)&motions->of[1];
  MrNumbers *to = (MrNumbers *)out;
  __m512i target = _mm512_load_si512(f->target);
  for (int q = 0; q < 4; q++) {
    _mm512_store_ps(to[q], _mm512_permutex2var_ps(_mm512_load_ps(low[q]), target, _mm512_load_ps(high[q])));
  }
}

#else

static void mr_find_missiles(const MrBlock *b, MrFlights *out) {
  int32_t n = 0;
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    if (!b->live[slot]) continue;
    MR_EACH_LANE(i) {
      out->slot[n] = (uint8_t)slot;
      out->lane[n] = (uint8_t)i;
      n += b->missiles[slot].active[i];
    }
  }
  out->count = n;
  for (; n % MR_LANES; n++) {  // the first missile once more
    out->slot[n] = out->slot[0];
    out->lane[n] = out->lane[0];
  }
}

static void mr_pack(const MrBlock *b, MrFlights *out) {
  for (int32_t j = 0; j < out->vectors; j++) {
    MrFlight *f = &out->flights[j];
    MrNumbers *to = (MrNumbers *)f;
    for (int i = 0; i < MR_LANES; i++) {
      int32_t n = j * MR_LANES + i, lane = out->lane[n];
      const MrMissile *m = &b->missiles[out->slot[n]];
      const MrNumbers *from = (const MrNumbers *)m;
      for (int q = 0; q < MR_BODY_NUMBERS; q++) to[q][i] = from[q][lane];
      f->age[i] = m->age[lane];
      f->target[i] = m->target[lane] * MR_LANES + lane;
    }
  }
}

static void mr_unpack(const MrFlights *flights, MrBlock *b) {
  for (int32_t n = 0; n < flights->count; n++) {
    const MrNumbers *from = (const MrNumbers *)&flights->flights[n / MR_LANES];
    MrNumbers *to = (MrNumbers *)&b->missiles[flights->slot[n]];
    for (int q = 0; q < MR_BODY_NUMBERS; q++) to[q][flights->lane[n]] = from[q][n % MR_LANES];
  }
}

static void mr_unpack_ends(const MrFlights *flights, int32_t end[MR_MISSILES][MR_LANES]) {
  for (int32_t n = 0; n < flights->count; n++) {
    end[flights->slot[n]][flights->lane[n]] = flights->flights[n / MR_LANES].end[n % MR_LANES];
  }
}

typedef struct {
  MR_ALIGNED float of[MR_FIGHTERS * MR_LANES][4];
} MrMotions;

// Turns four rows of four numbers into columns.
static inline void mr_turn_quads(const float *const from[4], float *const to[4]) {
  MrQuad a = mr_load_quad(from[0]), b = mr_load_quad(from[1]), c = mr_load_quad(from[2]), d = mr_load_quad(from[3]);
  MrQuad ac_low = MR_SHUFFLE(a, c, 0, 4, 1, 5), ac_high = MR_SHUFFLE(a, c, 2, 6, 3, 7);
  MrQuad bd_low = MR_SHUFFLE(b, d, 0, 4, 1, 5), bd_high = MR_SHUFFLE(b, d, 2, 6, 3, 7);
  mr_store_quad(MR_SHUFFLE(ac_low, bd_low, 0, 4, 1, 5), to[0]);
  mr_store_quad(MR_SHUFFLE(ac_low, bd_low, 2, 6, 3, 7), to[1]);
  mr_store_quad(MR_SHUFFLE(ac_high, bd_high, 0, 4, 1, 5), to[2]);
  mr_store_quad(MR_SHUFFLE(ac_high, bd_high, 2, 6, 3, 7), to[3]);
}

static void mr_note_motions(const MrBlock *b, MrMotions *out) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    MrMotion m;
    mr_note_motion(&b->fighters[f].body, &m);
    for (int i = 0; i < MR_LANES; i += 4) {
      float(*to)[4] = &out->of[f * MR_LANES + i];
      mr_turn_quads((const float *[]){&m.x[i], &m.y[i], &m.vx[i], &m.vy[i]}, (float *[]){to[0], to[1], to[2], to[3]});
    }
  }
}

static inline void mr_pick_targets(const MrMotions *motions, const MrFlight *f, MrMotion *out) {
  for (int i = 0; i < MR_LANES; i += 4) {
    const int32_t *n = &f->target[i];
    mr_turn_quads((const float *[]){motions->of[n[0]], motions->of[n[1]], motions->of[n[2]], motions->of[n[3]]},
                  (float *[]){&out->x[i], &out->y[i], &out->vx[i], &out->vy[i]});
  }
}

#endif

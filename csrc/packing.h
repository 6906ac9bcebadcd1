// SPDX-License-Identifier: MIT
//
// Moves numbers between the lanes of a block and packed arrays: the missiles in the air fill only some lanes of their
// slots, and packed one after the other they fill vectors. Each instruction set has its own way to move a vector's
// numbers, which compilers do not find. What is moved is of four bytes, float or int32_t.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <string.h>

#include "block.h"
#include "quads.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

// The lanes of a slot that are packed.
#if defined(__AVX512F__)

// Their flags, and the orders that move their numbers to and fro.
typedef struct {
  __mmask16 flags;
  __m512i to_packed, to_lanes;
} MrLanes;

static inline MrLanes mr_lanes_of(const int32_t flags[MR_LANES]) {
  __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __mmask16 mask = _mm512_test_epi32_mask(_mm512_load_si512(flags), _mm512_load_si512(flags));
  return (MrLanes){mask, _mm512_maskz_compress_epi32(mask, lanes), _mm512_maskz_expand_epi32(mask, lanes)};
}

// Writes the numbers of these lanes side by side, and after them others, MR_LANES in all.
static inline void mr_pack(const void *from, MrLanes lanes, void *to) {
  _mm512_storeu_si512(to, _mm512_permutexvar_epi32(lanes.to_packed, _mm512_load_si512(from)));
}

// Writes numbers that lie side by side into these lanes. Reads MR_LANES numbers.
static inline void mr_unpack(const void *from, MrLanes lanes, void *to) {
  __m512i packed = _mm512_loadu_si512(from), numbers = _mm512_load_si512(to);
  _mm512_store_si512(to, _mm512_mask_permutexvar_epi32(numbers, lanes.flags, lanes.to_lanes, packed));
}

#elif defined(__AVX2__)

// Of eight lanes: their flags as a vector, how many are set, and the order that moves their numbers to and fro.
typedef struct {
  __m256i flags, to_packed, to_lanes;
  int32_t count;
} MrOctet;

typedef struct {
  MrOctet low, high;
} MrLanes;

// For each set of four lanes, as bits: the lanes in it, one after the other, and of each lane how many in the set are
// before it. A number a byte. Pdep and pext need no table, but take hundreds of cycles on Zen 1 and 2.
// clang-format off
static const uint32_t mr_four_to_packed[16] = {
    0x0000, 0x0000, 0x0001, 0x000100, 0x0002, 0x000200, 0x000201, 0x00020100,
    0x0003, 0x0300, 0x0301, 0x030100, 0x0302, 0x030200, 0x030201, 0x03020100};
// clang-format on
static const uint32_t mr_four_to_lanes[8] = {0x00000000, 0x01010100, 0x01010000, 0x02020100,
                                             0x01000000, 0x02010100, 0x02010000, 0x03020100};

static inline __m256i mr_bytes_to_lanes(uint64_t bytes) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
}

static inline MrOctet mr_octet_of(const int32_t flags[8]) {
  __m256i set = _mm256_cmpgt_epi32(_mm256_load_si256((const __m256i *)flags), _mm256_setzero_si256());
  uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(set)), low = mask & 15, high = mask >> 4;
  uint32_t before = (uint32_t)__builtin_popcount(low);
  uint64_t packed = mr_four_to_packed[high] + 0x04040404, lanes = mr_four_to_lanes[high & 7] + 0x01010101 * before;
  return (MrOctet){
      .flags = set,
      .to_packed = mr_bytes_to_lanes(mr_four_to_packed[low] | packed << 8 * before),
      .to_lanes = mr_bytes_to_lanes(mr_four_to_lanes[low & 7] | lanes << 32),
      .count = __builtin_popcount(mask),
  };
}

static inline MrLanes mr_lanes_of(const int32_t flags[MR_LANES]) {
  return (MrLanes){mr_octet_of(flags), mr_octet_of(flags + 8)};
}

static inline void mr_pack(const void *from, MrLanes lanes, void *to) {
  const __m256i *source = from;
  int32_t *target = to;
  __m256i low = _mm256_permutevar8x32_epi32(_mm256_load_si256(source), lanes.low.to_packed);
  __m256i high = _mm256_permutevar8x32_epi32(_mm256_load_si256(source + 1), lanes.high.to_packed);
  _mm256_storeu_si256((__m256i *)target, low);
  _mm256_storeu_si256((__m256i *)(target + lanes.low.count), high);
}

static inline __m256i mr_expand(const int32_t *from, MrOctet octet, __m256i to) {
  __m256i numbers = _mm256_loadu_si256((const __m256i *)from);
  return _mm256_blendv_epi8(to, _mm256_permutevar8x32_epi32(numbers, octet.to_lanes), octet.flags);
}

static inline void mr_unpack(const void *from, MrLanes lanes, void *to) {
  const int32_t *source = from;
  __m256i *target = to;
  _mm256_store_si256(target, mr_expand(source, lanes.low, _mm256_load_si256(target)));
  _mm256_store_si256(target + 1, mr_expand(source + lanes.low.count, lanes.high, _mm256_load_si256(target + 1)));
}

#else

typedef struct {
  int32_t place[MR_LANES];  // of a lane's number among the packed ones
  uint32_t mask[MR_LANES];  // all bits where a lane is packed
} MrLanes;

static inline MrLanes mr_lanes_of(const int32_t flags[MR_LANES]) {
  MrLanes lanes;
  int32_t place = 0;
  MR_EACH_LANE(i) {
    lanes.mask[i] = -(uint32_t)flags[i];
    lanes.place[i] = place;
    place += flags[i];
  }
  return lanes;
}

static inline void mr_pack(const void *from, MrLanes lanes, void *to) {
  MR_EACH_LANE(i) memcpy((char *)to + 4 * lanes.place[i], (const char *)from + 4 * i, 4);
}

static inline void mr_unpack(const void *from, MrLanes lanes, void *to) {
  uint32_t packed[MR_LANES], numbers[MR_LANES];
  memcpy(packed, from, sizeof packed);
  memcpy(numbers, to, sizeof numbers);
  MR_EACH_LANE(i) numbers[i] ^= (numbers[i] ^ packed[lanes.place[i]]) & lanes.mask[i];
  memcpy(to, numbers, sizeof numbers);
}

#endif

// clang takes apart a vector that was written whole and does not vectorise the loop that then reads it. This keeps it
// in memory.
#if defined(__clang__)
#define MR_KEEP(what) __asm__ volatile("" : "+m"(what))
#else
#define MR_KEEP(what) ((void)0)
#endif

// Positions [m] and velocities [m/s]: of a fighter in all lanes, or of MR_LANES missiles' targets.
typedef struct {
  MR_ALIGNED float x[MR_LANES], y[MR_LANES], vx[MR_LANES], vy[MR_LANES];
#if MR_DIMENSIONS == 3
  MR_ALIGNED float z[MR_LANES], vz[MR_LANES];
#endif
} MrMotion;

static inline void mr_note_motion(const MrBody *body, MrMotion *out) {
  MR_FOR_LANES(i) {
    out->x[i] = body->x[i];
    out->y[i] = body->y[i];
    out->vx[i] = body->v[i] * body->c[i];
    out->vy[i] = body->v[i] * body->s[i];
#if MR_DIMENSIONS == 3
    out->z[i] = body->z[i];
    out->vz[i] = body->v[i] * body->u[i];
#endif
  }
}

// The motions of a block's fighters, arranged for picking them by number. Fighter f in lane i has the number
// f * MR_LANES + i.
#if defined(__AVX512F__) && MR_SIDE == 1

_Static_assert(MR_LANES == 16, "a permutation picks from two vectors of sixteen");

typedef struct {
  MrMotion of[MR_FIGHTERS];
} MrMotions;

static inline void mr_note_fighter(const MrBody *body, int32_t f, MrMotions *out) { mr_note_motion(body, &out->of[f]); }

static inline void mr_pick(const float first[], const float second[], __m512i numbers, float out[MR_LANES]) {
  _mm512_store_ps(out, _mm512_permutex2var_ps(_mm512_load_ps(first), numbers, _mm512_load_ps(second)));
}

static inline void mr_pick_motions(const MrMotions *motions, const int32_t numbers[MR_LANES], MrMotion *out) {
  const MrMotion *red = &motions->of[0], *blue = &motions->of[1];
  __m512i which = _mm512_load_si512(numbers);
  mr_pick(red->x, blue->x, which, out->x);
  mr_pick(red->y, blue->y, which, out->y);
  mr_pick(red->vx, blue->vx, which, out->vx);
  mr_pick(red->vy, blue->vy, which, out->vy);
#if MR_DIMENSIONS == 3
  mr_pick(red->z, blue->z, which, out->z);
  mr_pick(red->vz, blue->vz, which, out->vz);
#endif
  MR_KEEP(*out);
}

#else

// Rows of four numbers for each fighter in each lane: x, y, vx, vy, and with height z and vz.
typedef struct {
  MR_ALIGNED float rows[MR_FIGHTERS * MR_LANES][4];
#if MR_DIMENSIONS == 3
  MR_ALIGNED float height_rows[MR_FIGHTERS * MR_LANES][4];
#endif
} MrMotions;

// Writes four numbers of each lane into the rows of the lanes.
static inline void mr_put_rows(const float *a, const float *b, const float *c, const float *d, float (*rows)[4]) {
  for (int i = 0; i < MR_LANES; i += MR_SQUARES_WIDTH) {
    int second = i + MR_SECOND_SQUARE;
    MrQuads quads[4] = {mr_get_quads(&a[i], &a[second]), mr_get_quads(&b[i], &b[second]),
                        mr_get_quads(&c[i], &c[second]), mr_get_quads(&d[i], &d[second])};
    mr_turn_squares(quads);
    for (int n = 0; n < 4; n++) mr_put_quads(quads[n], rows[i + n], rows[second + n]);
  }
}

// Reads the rows of these numbers: four numbers of each.
static inline void mr_get_rows(const float (*rows)[4], const int32_t numbers[MR_LANES], float *a, float *b, float *c,
                               float *d) {
  for (int i = 0; i < MR_LANES; i += MR_SQUARES_WIDTH) {
    MrQuads quads[4];
    for (int n = 0; n < 4; n++) {
      quads[n] = mr_get_quads(rows[numbers[i + n]], rows[numbers[i + n + MR_SECOND_SQUARE]]);
    }
    mr_turn_squares(quads);
    mr_store_quads(quads[0], &a[i]);
    mr_store_quads(quads[1], &b[i]);
    mr_store_quads(quads[2], &c[i]);
    mr_store_quads(quads[3], &d[i]);
  }
}

static inline void mr_note_fighter(const MrBody *body, int32_t f, MrMotions *out) {
  MrMotion motion;
  mr_note_motion(body, &motion);
  mr_put_rows(motion.x, motion.y, motion.vx, motion.vy, &out->rows[f * MR_LANES]);
#if MR_DIMENSIONS == 3
  mr_put_rows(motion.z, motion.vz, motion.z, motion.vz, &out->height_rows[f * MR_LANES]);
#endif
}

static inline void mr_pick_motions(const MrMotions *motions, const int32_t numbers[MR_LANES], MrMotion *out) {
  mr_get_rows(motions->rows, numbers, out->x, out->y, out->vx, out->vy);
#if MR_DIMENSIONS == 3
  MR_ALIGNED float unused[2][MR_LANES];
  mr_get_rows(motions->height_rows, numbers, out->z, out->vz, unused[0], unused[1]);
#endif
  MR_KEEP(*out);
}

#endif

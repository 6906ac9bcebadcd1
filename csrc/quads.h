// SPDX-License-Identifier: MIT
//
// Vectors of four floats, and the transposition of quantities, each an array [lane], into a row of quantities in each
// lane. It works in squares of four quantities by four lanes. With AVX, two squares are transposed at once, side by
// side: the four quantities of the second follow those of the first.
//
// Part of kernel.c, compiled once for each instruction set and game. No other .c file includes this header.

#pragma once

#include <assert.h>
#include <string.h>

#include "block.h"

// By an extension that gcc and clang have on every machine.
typedef float MrQuad __attribute__((vector_size(16)));
#if defined(__clang__)
#define MR_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t MrQuadIndex __attribute__((vector_size(16)));
#define MR_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (MrQuadIndex){__VA_ARGS__})
#endif

static inline MrQuad mr_load_quad(const float *from) {
  MrQuad quad;
  memcpy(&quad, from, sizeof quad);
  return quad;
}

static inline void mr_store_quad(MrQuad quad, float *to) { memcpy(to, &quad, sizeof quad); }

// Stores four numbers of four bytes side by side: one store for all.
#define MR_STORE_QUAD(to, a, b, c, d) memcpy(to, (__typeof__(a)[4]){a, b, c, d}, 16)

// A quad of each square: four lanes of one quantity, or four quantities of one lane. The functions that interleave two
// quads take the first halves, or the second halves, of both.
#if defined(__AVX__)
#include <immintrin.h>
enum { MR_SQUARES = 2 };
typedef __m256 MrQuads;
static inline MrQuads mr_interleave_first(MrQuads a, MrQuads b) { return _mm256_unpacklo_ps(a, b); }
static inline MrQuads mr_interleave_second(MrQuads a, MrQuads b) { return _mm256_unpackhi_ps(a, b); }
static inline MrQuads mr_get_quads(const float *first, const float *second) {
  return _mm256_set_m128(_mm_loadu_ps(second), _mm_loadu_ps(first));
}
static inline void mr_put_quads(MrQuads quads, float *first, float *second) {
  _mm_storeu_ps(first, _mm256_castps256_ps128(quads));
  _mm_storeu_ps(second, _mm256_extractf128_ps(quads, 1));
}
#else
enum { MR_SQUARES = 1 };
typedef MrQuad MrQuads;
static inline MrQuads mr_interleave_first(MrQuads a, MrQuads b) { return MR_SHUFFLE(a, b, 0, 4, 1, 5); }
static inline MrQuads mr_interleave_second(MrQuads a, MrQuads b) { return MR_SHUFFLE(a, b, 2, 6, 3, 7); }
static inline MrQuads mr_get_quads(const float *first, const float *unused) {
  (void)unused;
  return mr_load_quad(first);
}
static inline void mr_put_quads(MrQuads quads, float *first, float *unused) {
  (void)unused;
  mr_store_quad(quads, first);
}
#endif
enum { MR_SQUARES_WIDTH = 4 * MR_SQUARES, MR_SECOND_SQUARE = 4 * (MR_SQUARES - 1) };  // quantities

static inline void mr_store_quads(MrQuads quads, float *to) { memcpy(to, &quads, sizeof quads); }

// Turns the rows of squares into their columns.
static inline void mr_turn_squares(MrQuads quads[4]) {
  MrQuads a = quads[0], b = quads[1], c = quads[2], d = quads[3];
  MrQuads ac_first = mr_interleave_first(a, c), ac_second = mr_interleave_second(a, c);
  MrQuads bd_first = mr_interleave_first(b, d), bd_second = mr_interleave_second(b, d);
  quads[0] = mr_interleave_first(ac_first, bd_first);
  quads[1] = mr_interleave_second(ac_first, bd_first);
  quads[2] = mr_interleave_first(ac_second, bd_second);
  quads[3] = mr_interleave_second(ac_second, bd_second);
}

// Writes the squares that begin at `first` and `lane` into the rows of the four lanes.
static inline void mr_place_squares(const float from[][MR_LANES], int first, int lane, float *const rows[4]) {
  const float (*square)[MR_LANES] = from + first;
  MrQuads quads[4];
  for (int n = 0; n < 4; n++) quads[n] = mr_get_quads(&square[n][lane], &square[n + MR_SECOND_SQUARE][lane]);
  mr_turn_squares(quads);
  for (int n = 0; n < 4; n++) mr_store_quads(quads[n], rows[n] + first);
}

// Writes `count` >= MR_SQUARES_WIDTH quantities of four lanes into their rows.
static inline void mr_place_four(const float from[][MR_LANES], int count, int lane, float *const rows[4]) {
  int last = count - MR_SQUARES_WIDTH;
  for (int q = 0; q < last; q += MR_SQUARES_WIDTH) mr_place_squares(from, q, lane, rows);
  mr_place_squares(from, last, lane, rows);  // the rest; overlaps the squares before
}

// Writes `count` quantities, float [count][MR_LANES], of each lane side by side; lane i's row starts at rows[i].
static inline void mr_place_rows(const void *quantities, int count, float *const rows[MR_LANES]) {
  const float (*from)[MR_LANES] = quantities;
  if (count < MR_SQUARES_WIDTH) {
    MR_EACH_LANE(i) {
      for (int q = 0; q < count; q++) rows[i][q] = from[q][i];
    }
    return;
  }
  for (int lane = 0; lane < MR_LANES; lane += 4) {
    float *const four[] = {rows[lane], rows[lane + 1], rows[lane + 2], rows[lane + 3]};
    mr_place_four(from, count, lane, four);
  }
}

// The same for the first `lanes` lanes and at least MR_SQUARES_WIDTH quantities, where lane i's row starts at
// rows + i * stride: no array of pointers is written and read.
static inline void mr_place_strided_rows(const void *quantities, int count, int lanes, float *rows, size_t stride) {
  const float (*from)[MR_LANES] = quantities;
  assert(count >= MR_SQUARES_WIDTH && lanes <= MR_LANES);
  int whole = lanes & ~3;
  for (int lane = 0; lane < whole; lane += 4) {
    float *row = rows + (size_t)lane * stride;
    float *const four[] = {row, row + stride, row + 2 * stride, row + 3 * stride};
    mr_place_four(from, count, lane, four);
  }
  for (int lane = whole; lane < lanes; lane++) {
    for (int q = 0; q < count; q++) rows[(size_t)lane * stride + (size_t)q] = from[q][lane];
  }
}

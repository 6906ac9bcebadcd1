// SPDX-License-Identifier: MIT
//
// Transposes quantities, each an array [lane], into one row of quantities for each lane. Works in squares of four
// quantities by four lanes. With AVX, two squares are transposed at once, side by side: the four quantities of the
// second follow those of the first.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <assert.h>

#include "block.h"
#include "quad.h"

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

// Reads the squares that begin at `lane` and turns them: each quad is of a lane, then.
static inline void mr_get_turned(const float from[][MR_LANES], int lane, MrQuads quads[4]) {
  for (int n = 0; n < 4; n++) quads[n] = mr_get_quads(&from[n][lane], &from[n + MR_SECOND_SQUARE][lane]);
  mr_turn_squares(quads);
}

// Writes the squares that begin at `lane`; lane i's row starts at to + i * stride.
static inline void mr_transpose_squares(const float from[][MR_LANES], int lane, float *to, size_t stride) {
  MrQuads quads[4];
  mr_get_turned(from, lane, quads);
  for (int n = 0; n < 4; n++) mr_store_quads(quads[n], to + (size_t)n * stride);
}

// Writes `count` >= MR_SQUARES_WIDTH quantities of the first `lanes` lanes; lane i's row starts at rows + i * stride.
static void mr_write_rows(const float from[][MR_LANES], int count, int lanes, float *rows,
                          size_t stride) {
  assert(count >= MR_SQUARES_WIDTH && lanes <= MR_LANES);
  int whole = lanes & ~3, last = count - MR_SQUARES_WIDTH;
  for (int lane = 0; lane < whole; lane += 4) {
    float *row = rows + (size_t)lane * stride;
    for (int q = 0; q < last; q += MR_SQUARES_WIDTH) mr_transpose_squares(from + q, lane, row + q, stride);
    mr_transpose_squares(from + last, lane, row + last, stride);  // the rest; overlaps the squares before
  }
  for (int lane = whole; lane < lanes; lane++) {
    for (int q = 0; q < count; q++) rows[(size_t)lane * stride + (size_t)q] = from[q][lane];
  }
}

#if MR_SIDE > 1

// The same squares, of the quantities from `first` on; lane i's row starts at rows[i].
static inline void mr_scatter_squares(const float from[][MR_LANES], int first, int lane, float *const rows[MR_LANES]) {
  MrQuads quads[4];
  mr_get_turned(from + first, lane, quads);
  for (int n = 0; n < 4; n++) mr_store_quads(quads[n], rows[lane + n] + first);
}

// Writes `count` >= MR_SQUARES_WIDTH quantities of all lanes, each into a row anywhere.
static inline void mr_scatter_rows(const float from[][MR_LANES], int count, float *const rows[MR_LANES]) {
  int last = count - MR_SQUARES_WIDTH;
  for (int lane = 0; lane < MR_LANES; lane += 4) {
    for (int q = 0; q < last; q += MR_SQUARES_WIDTH) mr_scatter_squares(from, q, lane, rows);
    mr_scatter_squares(from, last, lane, rows);
  }
}

#endif

// SPDX-License-Identifier: MIT
//
// Transposes quantities, each an array [lane], into one row of quantities for each lane. Works in squares of four
// quantities by four lanes. With AVX, two squares are transposed at once, side by side: the four quantities of the
// second follow those of the first.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

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
static inline MrQuads mr_load_quads(const float from[][MR_LANES], int lane) {
  return _mm256_set_m128(_mm_loadu_ps(&from[4][lane]), _mm_loadu_ps(&from[0][lane]));
}
#else
enum { MR_SQUARES = 1 };
typedef MrQuad MrQuads;
static inline MrQuads mr_interleave_first(MrQuads a, MrQuads b) { return MR_SHUFFLE(a, b, 0, 4, 1, 5); }
static inline MrQuads mr_interleave_second(MrQuads a, MrQuads b) { return MR_SHUFFLE(a, b, 2, 6, 3, 7); }
static inline MrQuads mr_load_quads(const float from[][MR_LANES], int lane) { return mr_load_quad(&from[0][lane]); }
#endif
enum { MR_SQUARES_WIDTH = 4 * MR_SQUARES };  // quantities

static inline void mr_store_quads(MrQuads quads, float *to) { memcpy(to, &quads, sizeof quads); }

// Writes the squares that begin at `lane`; lane i's row starts at to + i * stride.
static inline void mr_transpose_squares(const float from[][MR_LANES], int lane, float *to, size_t stride) {
  MrQuads a = mr_load_quads(from, lane), b = mr_load_quads(from + 1, lane);
  MrQuads c = mr_load_quads(from + 2, lane), d = mr_load_quads(from + 3, lane);
  MrQuads ac_first = mr_interleave_first(a, c), ac_second = mr_interleave_second(a, c);
  MrQuads bd_first = mr_interleave_first(b, d), bd_second = mr_interleave_second(b, d);
  mr_store_quads(mr_interleave_first(ac_first, bd_first), to);
  mr_store_quads(mr_interleave_second(ac_first, bd_first), to + stride);
  mr_store_quads(mr_interleave_first(ac_second, bd_second), to + 2 * stride);
  mr_store_quads(mr_interleave_second(ac_second, bd_second), to + 3 * stride);
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

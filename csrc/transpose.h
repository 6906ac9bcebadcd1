// SPDX-License-Identifier: MIT
//
// Transposes quantities, each an array [lane], into one row of quantities for each lane. Works in squares of four
// quantities by four lanes.
//
// Part of kernel.c, compiled once for each instruction set. No other .c file includes this header.

#pragma once

#include <assert.h>

#include "block.h"
#include "quad.h"

// Writes the square of four quantities by four lanes that begins at `lane`; lane i's row starts at to + i * stride.
static inline void mr_transpose_square(const float from[][MR_LANES], int lane, float *to, size_t stride) {
  MrQuad a = mr_load_quad(&from[0][lane]), b = mr_load_quad(&from[1][lane]);
  MrQuad c = mr_load_quad(&from[2][lane]), d = mr_load_quad(&from[3][lane]);
  MrQuad ac_low = MR_SHUFFLE(a, c, 0, 4, 1, 5), ac_high = MR_SHUFFLE(a, c, 2, 6, 3, 7);
  MrQuad bd_low = MR_SHUFFLE(b, d, 0, 4, 1, 5), bd_high = MR_SHUFFLE(b, d, 2, 6, 3, 7);
  mr_store_quad(MR_SHUFFLE(ac_low, bd_low, 0, 4, 1, 5), to);
  mr_store_quad(MR_SHUFFLE(ac_low, bd_low, 2, 6, 3, 7), to + stride);
  mr_store_quad(MR_SHUFFLE(ac_high, bd_high, 0, 4, 1, 5), to + 2 * stride);
  mr_store_quad(MR_SHUFFLE(ac_high, bd_high, 2, 6, 3, 7), to + 3 * stride);
}

// Writes `count` >= 4 quantities of the first `lanes` lanes; lane i's row starts at rows + i * stride.
static void mr_write_rows(const float from[][MR_LANES], int count, int lanes, float *rows,
                          size_t stride) {
  assert(count >= 4 && lanes <= MR_LANES);
  int whole = lanes & ~3;
  for (int lane = 0; lane < whole; lane += 4) {
    float *row = rows + (size_t)lane * stride;
    for (int q = 0; q <= count - 4; q += 4) mr_transpose_square(from + q, lane, row + q, stride);
    mr_transpose_square(from + count - 4, lane, row + count - 4, stride);  // the rest; overlaps the square before
  }
  for (int lane = whole; lane < lanes; lane++) {
    for (int q = 0; q < count; q++) rows[(size_t)lane * stride + (size_t)q] = from[q][lane];
  }
}

// SPDX-License-Identifier: MIT
//
// The product of two matrices, tile by tile: a tile of the result stays in the processor's registers while the sum over
// `depth` runs.

#ifndef MR_PRODUCT_H
#define MR_PRODUCT_H

#include "vectors.h"

// A matrix to be read: element (i, j) is at from[i * row + j * column].
typedef struct {
  const float *from;
  long row, column;
} MrMatrix;

// Use of the product.
typedef enum {
  MR_SET,   // it is the result
  MR_ADD,   // it is added to the result
  MR_BIAS,  // it and a row of biases are the result
} MrProductEnd;

// One tile: `rows` rows of `vectors` vectors each. With both known where it is called, all its sums are in registers.
MR_INLINE void mr_tile(int rows, int vectors, int depth, MrMatrix a, const float *b, long b_row, float *c, long c_row,
                       MrProductEnd end, const float *bias) {
  MrFloats sum[8][4];
  for (int i = 0; i < rows; i++) {
    for (int v = 0; v < vectors; v++) sum[i][v] = mr_all(0.0f);
  }
  for (int k = 0; k < depth; k++) {
    MrFloats right[4];
    for (int v = 0; v < vectors; v++) right[v] = mr_load(b + k * b_row + v * MR_WIDTH);
    for (int i = 0; i < rows; i++) {
      MrFloats left = mr_all(a.from[i * a.row + k * a.column]);
      for (int v = 0; v < vectors; v++) sum[i][v] += left * right[v];
    }
  }
  for (int i = 0; i < rows; i++) {
    for (int v = 0; v < vectors; v++) {
      float *to = c + i * c_row + v * MR_WIDTH;
      MrFloats x = sum[i][v];
      if (end == MR_ADD) x += mr_load(to);
      if (end == MR_BIAS) x += mr_load(bias + v * MR_WIDTH);
      mr_store(to, x);
    }
  }
}

// The columns of one tile's width: tiles of `rows` rows, and of one row for those that are left over.
MR_INLINE void mr_tiles(int tile_rows, int vectors, int rows, int depth, MrMatrix a, const float *b, long b_row,
                        float *c, long c_row, MrProductEnd end, const float *bias) {
  int i = 0;
  for (; i + tile_rows <= rows; i += tile_rows) {
    mr_tile(tile_rows, vectors, depth, a, b, b_row, c + i * c_row, c_row, end, bias);
    a.from += tile_rows * a.row;
  }
  for (; i < rows; i++) {
    mr_tile(1, vectors, depth, a, b, b_row, c + i * c_row, c_row, end, bias);
    a.from += a.row;
  }
}

// C = A B, C += A B or C = A B + bias, with A [rows, depth], B [depth, columns] and C [rows, columns]. The columns are
// a multiple of 16. Rows of B and C are b_row and c_row numbers apart. Each element is summed in the order of `depth`,
// wherever it lies in a tile.
MR_INLINE void mr_product_to(int rows, int columns, int depth, MrMatrix a, const float *b, long b_row, float *c,
                             long c_row, MrProductEnd end, const float *bias) {
  int column = 0;
#if MR_WIDTH == 16  // 32 registers
  for (; column + 4 * MR_WIDTH <= columns; column += 4 * MR_WIDTH) {
    mr_tiles(4, 4, rows, depth, a, b + column, b_row, c + column, c_row, end, bias + column);
  }
  for (; column + 2 * MR_WIDTH <= columns; column += 2 * MR_WIDTH) {
    mr_tiles(8, 2, rows, depth, a, b + column, b_row, c + column, c_row, end, bias + column);
  }
  for (; column < columns; column += MR_WIDTH) {
    mr_tiles(8, 1, rows, depth, a, b + column, b_row, c + column, c_row, end, bias + column);
  }
#else  // 16 registers, or 32 of less width
  for (; column < columns; column += 2 * MR_WIDTH) {
    mr_tiles(4, 2, rows, depth, a, b + column, b_row, c + column, c_row, end, bias + column);
  }
#endif
}

static void mr_product(int rows, int columns, int depth, MrMatrix a, const float *b, long b_row, float *c, long c_row) {
  mr_product_to(rows, columns, depth, a, b, b_row, c, c_row, MR_SET, c);
}

static void mr_product_add(int rows, int columns, int depth, MrMatrix a, const float *b, long b_row, float *c,
                           long c_row) {
  mr_product_to(rows, columns, depth, a, b, b_row, c, c_row, MR_ADD, c);
}

static void mr_product_bias(int rows, int columns, int depth, MrMatrix a, const float *b, long b_row, float *c,
                            long c_row, const float *bias) {
  mr_product_to(rows, columns, depth, a, b, b_row, c, c_row, MR_BIAS, bias);
}

#endif

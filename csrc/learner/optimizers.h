// SPDX-License-Identifier: MIT
//
// Muon's step for a matrix: nearly the nearest matrix whose rows or columns are orthonormal. Part of kernel.c.

#ifndef MR_OPTIMIZERS_H
#define MR_OPTIMIZERS_H

#include <math.h>
#include <string.h>

#include "policy.h"
#include "product.h"

// Five steps of Newton and Schulz, x <- (a + b s + c s^2) x with s = x x^T, which move singular values between 0 and 1
// towards 1. The coefficients are heavyball's, which PuffeRL trains with.
static const float NEWTON_SCHULZ[5][3] = {
    {4.0848f, -6.8946f, 2.9270f}, {3.9505f, -6.3029f, 2.6377f}, {3.7418f, -5.5913f, 2.3037f},
    {2.8769f, -3.1427f, 1.2046f}, {2.8366f, -3.0525f, 1.2012f},
};

// Turns [rows, columns] over into [columns, rows]; both have rows of their own lengths.
static void mr_turn(const float *from, int rows, int columns, long from_row, float *to, long to_row) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) to[j * to_row + i] = from[i * from_row + j];
  }
}

static void mr_orthogonalise(float *matrix, int32_t rows, int32_t columns, float *room) {
  // x [m, n] is the matrix, or the matrix turned if that is less wide.
  bool is_tall = rows > columns;
  int m = is_tall ? columns : rows, n = is_tall ? rows : columns;
  long m_row = mr_padded(m), n_row = mr_padded(n);
  float *x = room, *next = x + m * n_row, *turned = next + m * n_row, *s = turned + n * m_row, *y = s + m * m_row,
        *factor = y + m * m_row;
  memset(room, 0, (size_t)(2 * m * n_row + n * m_row) * sizeof(float));

  double square = 0.0;
  for (int i = 0; i < rows * columns; i++) square += (double)matrix[i] * (double)matrix[i];
  float norm = sqrtf((float)square);
  float scale = 1.0f / (norm > 1e-7f ? norm : 1e-7f);
  for (int i = 0; i < rows * columns; i++) matrix[i] *= scale;
  if (is_tall) {
    mr_turn(matrix, rows, columns, columns, x, n_row);
  } else {
    for (int i = 0; i < m; i++) memcpy(x + i * n_row, matrix + i * n, (size_t)n * sizeof(float));
  }

  for (int step = 0; step < 5; step++) {
    const float *k = NEWTON_SCHULZ[step];
    mr_turn(x, m, n, n_row, turned, m_row);
    mr_product(m, (int)m_row, n, (MrMatrix){x, n_row, 1}, turned, m_row, s, m_row);
    for (int i = 0; i < m * m_row; i++) y[i] = k[2] * s[i];
    for (int i = 0; i < m; i++) y[i * m_row + i] += k[1];
    mr_product(m, (int)m_row, m, (MrMatrix){y, m_row, 1}, s, m_row, factor, m_row);
    for (int i = 0; i < m; i++) factor[i * m_row + i] += k[0];
    mr_product(m, (int)n_row, m, (MrMatrix){factor, m_row, 1}, x, n_row, next, n_row);
    float *before = x;
    x = next;
    next = before;
  }

  if (is_tall) {
    float stretch = sqrtf((float)rows / (float)columns);
    for (int i = 0; i < m * n_row; i++) x[i] *= stretch;
    mr_turn(x, m, n, n_row, matrix, columns);
  } else {
    for (int i = 0; i < m; i++) memcpy(matrix + i * n, x + i * n_row, (size_t)n * sizeof(float));
  }
}

#endif

// SPDX-License-Identifier: MIT
//
// A vector of four floats, by an extension that gcc and clang have on every machine.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include <stdint.h>
#include <string.h>

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

// SPDX-License-Identifier: MIT
//
// Vectors of floats as wide as the instruction set has them, and the functions of them that the learner needs. A loop
// over MR_WIDTH rows or columns at a time is written with these; the compiler makes the instructions.

#ifndef MR_VECTORS_H
#define MR_VECTORS_H

#include <stdint.h>

#if defined(__AVX512F__)
#define MR_WIDTH 16
#elif defined(__AVX2__)
#define MR_WIDTH 8
#else
#define MR_WIDTH 4
#endif

#define MR_INLINE static inline __attribute__((always_inline))

// Only aligned as single numbers are, and allowed to lie over arrays of them.
typedef float MrFloats __attribute__((vector_size(4 * MR_WIDTH), aligned(4), may_alias));
typedef int32_t MrInt __attribute__((may_alias));
typedef int32_t MrInts __attribute__((vector_size(4 * MR_WIDTH), aligned(4), may_alias));

MR_INLINE MrFloats mr_load(const float *from) { return *(const MrFloats *)from; }
MR_INLINE void mr_store(float *to, MrFloats x) { *(MrFloats *)to = x; }
MR_INLINE MrFloats mr_all(float x) { return x - (MrFloats){0}; }

// `mask` is of comparisons: all bits of a number or none.
MR_INLINE MrFloats mr_where(MrInts mask, MrFloats yes, MrFloats no) {
  return (MrFloats)((mask & (MrInts)yes) | (~mask & (MrInts)no));
}

MR_INLINE MrFloats mr_least(MrFloats a, MrFloats b) { return mr_where(a < b, a, b); }
MR_INLINE MrFloats mr_most(MrFloats a, MrFloats b) { return mr_where(a > b, a, b); }
MR_INLINE MrFloats mr_clipped(MrFloats x, float low, float high) {
  return mr_least(mr_most(x, mr_all(low)), mr_all(high));
}

MR_INLINE MrFloats mr_absolute(MrFloats x) { return (MrFloats)((MrInts)x & 0x7fffffff); }

// e^x to 2 units in the last place, for x clipped to -87 ... 88: 2^n e^f with |f| <= ln(2) / 2, and e^f by the
// polynomial 1 + f + ... whose largest relative error, 3e-9, is least. Not-a-number stays one.
MR_INLINE MrFloats mr_exp(MrFloats x) {
  x = mr_where(x < -87.0f, mr_all(-87.0f), x);
  x = mr_where(x > 88.0f, mr_all(88.0f), x);
  const float to_integer = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded
  MrFloats shifted = x * 1.44269504f + to_integer;
  MrFloats n = shifted - to_integer;
  MrFloats f = x - n * 0.693359375f;  // ln 2 in two parts, of which the first times n is exact
  f = f + n * 2.12194440e-4f;
  MrFloats p = f * 0.001381454f + 0.00836874525f;
  p = p * f + 0.0416683908f;
  p = p * f + 0.166665204f;
  p = p * f + 0.499999934f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  return (MrFloats)((MrInts)p + ((MrInts)shifted << 23));
}

// The natural logarithm of normal numbers above 0, to 2 units in the last place or 1e-7: m 2^n with m from sqrt(1/2) to
// sqrt(2), and log m = 2 atanh(s) with s = (m - 1) / (m + 1) as a power series. Not-a-number stays one.
MR_INLINE MrFloats mr_log(MrFloats x) {
  MrInts bits = (MrInts)x;
  MrInts exponent = (bits - 0x3f3504f3) >> 23;
  MrFloats m = (MrFloats)(bits - (exponent << 23));
  MrFloats n = __builtin_convertvector(exponent, MrFloats);
  MrFloats s = (m - 1.0f) / (m + 1.0f);
  MrFloats q = s * s;
  MrFloats p = q * (1.0f / 9.0f) + 1.0f / 7.0f;
  p = p * q + 1.0f / 5.0f;
  p = p * q + 1.0f / 3.0f;
  MrFloats log = n * 0.693359375f + (2.0f * s + (2.0f * s * q * p - n * 2.12194440e-4f));
  return mr_where(x == x, log, x);
}

// The standard normal distribution's density, and its cumulative function, which keeps its relative precision far below
// 0: the density's rounding of x^2 / 2 in its exponent is the largest error. The form is Abramowitz and Stegun's
// 7.1.26, with the polynomial whose largest relative error up to |x| = 13, 2e-8, is least; theirs is wrong by 1e-7 of 1,
// which is all of what there is below -6.
MR_INLINE void mr_normal(MrFloats x, MrFloats *density, MrFloats *cumulative) {
  MrFloats bell = mr_exp(-0.5f * x * x);
  MrFloats t = 1.0f / (1.0f + 0.34375f * mr_absolute(x));
  MrFloats p = t * -0.028199028f + 0.145639842f;
  p = p * t - 0.275197255f;
  p = p * t + 0.194656087f;
  p = p * t - 0.041714589f;
  p = p * t + 0.113610096f;
  p = p * t + 0.116515475f;
  p = p * t + 0.137571247f;
  p = p * t + 0.137118118f;
  MrFloats tail = p * t * bell;
  *density = bell * 0.39894228f;
  *cumulative = mr_where(x < 0.0f, tail, 1.0f - tail);
}

#endif

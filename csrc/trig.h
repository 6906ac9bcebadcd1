// SPDX-License-Identifier: MIT
//
// Sine and cosine, used where a simulation or an episode starts. They are our own, so that results do not depend on
// the version of the C library.

#pragma once

// The unit vector at an angle counter-clockwise from +x. The angle is in full turns, |turns| < 1e6. The result is exact
// at multiples of a quarter turn.
static inline void mr_unit_vector(double turns, float *x, float *y) {
  int quarter = (int)(4.0 * turns + (turns >= 0.0 ? 0.5 : -0.5));
  double a = (turns - 0.25 * quarter) * 6.283185307179586;  // within +-pi/4
  double a2 = a * a;
  // Taylor series, truncation error below 4e-12.
  double s = a * (1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0 *
             (1.0 - a2 / 110.0)))));
  double c = 1.0 - a2 / 2.0 * (1.0 - a2 / 12.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0 *
             (1.0 - a2 / 90.0 * (1.0 - a2 / 132.0)))));
  switch (quarter & 3) {
    case 0: *x = (float)c; *y = (float)s; break;
    case 1: *x = (float)-s; *y = (float)c; break;
    case 2: *x = (float)-c; *y = (float)-s; break;
    default: *x = (float)s; *y = (float)-c; break;
  }
}

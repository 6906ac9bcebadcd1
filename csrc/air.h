// SPDX-License-Identifier: MIT
//
// The air by height: the International Standard Atmosphere (ISO 2533) in polynomials, so that it has the same bits
// everywhere. RULES.md, "Height".

#pragma once

// The air at a height.
typedef struct {
  float thin;     // density at sea level over the density here
  float density;  // its inverse
  float sound2;   // 1 / speed of sound squared [s^2/m^2]: times v^2 it is the Mach number squared
} MrAir;

#define MR_TROPOPAUSE 11000.0f  // m; above it the temperature stays the same

// The air at the height z [m], above -10 km.
static inline MrAir mr_air(float z) {
  const float slowest = 1.0f / (340.294f * 340.294f);  // at sea level
  float a = z < MR_TROPOPAUSE ? z : MR_TROPOPAUSE, b = z - a;
  float below = 1.0f + a * (4.8661203e-5f + a * (1.3354166e-9f + a * 1.0309813e-13f));
  float above = 1.0f + b * (7.908521e-5f + b * (2.9369702e-9f + b * 1.1429625e-13f));
  float root = below * above;  // square root of thin
  float thin = root * root;
  float warmth = 1.0f + a * (2.1678857e-5f + a * 7.472089e-10f);  // temperature at sea level over that here
  return (MrAir){thin, 1.0f / thin, slowest * warmth};
}

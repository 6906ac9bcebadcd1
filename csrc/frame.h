// SPDX-License-Identifier: MIT
//
// Vectors in the frame of a body: x along its velocity, y to the left. Everybody who looks at something from a
// fighter or a missile turns it here.
//
// Part of kernel.c, which alone includes it: function bodies, compiled for each instruction set.

#pragma once

typedef struct {
  float ahead, left;
} MrVector;

// The vector (x, y) in the frame whose x axis has the direction (c, s), a unit vector.
static inline MrVector mr_into_frame(float x, float y, float c, float s) {
  return (MrVector){x * c + y * s, y * c - x * s};
}

// The vector turned to the left by the angle that has this cosine and sine.
static inline MrVector mr_turn(MrVector a, float c, float s) {
  return (MrVector){a.ahead * c - a.left * s, a.left * c + a.ahead * s};
}

// SPDX-License-Identifier: MIT
//
// Vectors in the frame of a body: x along its velocity, y to the left.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

typedef struct {
  float ahead, left;
} MrVector;

// The vector (x, y), expressed in the frame whose x axis points along the unit vector (c, s).
static inline MrVector mr_into_frame(float x, float y, float c, float s) {
  return (MrVector){x * c + y * s, y * c - x * s};
}

// The vector, turned to the left by the angle whose cosine is c and sine is s.
static inline MrVector mr_turn(MrVector a, float c, float s) {
  return (MrVector){a.ahead * c - a.left * s, a.left * c + a.ahead * s};
}

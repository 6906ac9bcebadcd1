// SPDX-License-Identifier: MIT
//
// The features of the own fighter that all observations have.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "definitions.h"

// A launch's wait in lane i [s].
static inline float mr_reload(const MrConstants *k, const MrBlock *b, const MrFighter *f, int i) {
  int32_t wait = f->ready[i] - b->time[i];
  return (float)mr_select_int(wait > 0, wait, 0) * k->dt;
}

// The variables of MR_OWN_FEATURES in lane i. `in_air` are the own missiles in the air.
#define MR_OWN_VALUES(k, b, own, in_air, i)                                               \
  float time_left = (float)((k)->time_limit - (b)->time[i]) * (k)->dt * (k)->clock_rate; \
  float own_alive = (float)(own)->alive[i];                                               \
  float own_speed = (own)->body.v[i];                                                     \
  float own_rudder = (own)->body.rudder[i];                                               \
  float own_throttle = (own)->throttle[i];                                                \
  float own_ammunition = (float)(own)->ammunition[i];                                     \
  float own_reload = mr_reload(k, b, own, i);                                             \
  float own_in_air = (float)(in_air);

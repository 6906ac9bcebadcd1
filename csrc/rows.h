// SPDX-License-Identifier: MIT
//
// Which rows the results of a block have.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"
#include "kernel.h"

// Whether the fighter has a row in the results.
static inline bool mr_has_row(const MrSim *sim, const MrOutputs *out, int32_t fighter) {
  return out->every_fighter || sim->is_agent[fighter];
}

// How many floats an engagement's rows of observations have.
static inline size_t mr_row_floats(const MrSim *sim, const MrOutputs *out) {
  int32_t rows = out->every_fighter ? mr_fighters(sim) : sim->agents_per_env;
  return (size_t)rows * (size_t)sim->features;
}

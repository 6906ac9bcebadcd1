// SPDX-License-Identifier: MIT
//
// Prefetches memory while a block's physics steps are computed: the block's rows of observations, which are written at
// the end of the decision, and the next block's state. In batches larger than the caches a decision would wait for
// both. A part is prefetched at each step, because a processor waits for some twenty cache lines at a time, and stalls
// when it is asked for more at once. In teams the rows of a block do not fit in the first level: view_team.h prefetches
// one fighter's rows while it writes those of the fighter before.
//
// Part of kernel.c, compiled once for each instruction set and side size. No other .c file includes this header.

#pragma once

#include "block.h"

enum {
  MR_LINE = 64,         // bytes of a cache line
  MR_CACHED = 2 << 20,  // bytes of state that the caches have ready anyway: fetching would cost up to 7 %
};

// True if the simulation is so small that prefetching does not help.
static inline bool mr_is_cached(const MrSim *sim) { return (size_t)sim->num_blocks * sizeof(MrBlock) < MR_CACHED; }

// A stretch of memory, and the bytes of it that are prefetched at a time: whole cache lines.
typedef struct {
  const char *begin, *end;
  size_t part;
} MrStretch;

// Memory that is still to be prefetched.
typedef struct {
  MrStretch state, rows;
} MrAhead;

#define MR_NOTHING_AHEAD ((MrAhead){0})

// A stretch that is prefetched in `parts` parts.
static inline MrStretch mr_in_parts(const void *begin, size_t bytes, int32_t parts) {
  size_t lines = (bytes + MR_LINE - 1) / MR_LINE, count = (size_t)(parts > 0 ? parts : 1);
  return (MrStretch){begin, (const char *)begin + bytes, (lines + count - 1) / count * MR_LINE};
}

// Takes the next part away from a stretch.
static inline MrStretch mr_take_part(MrStretch *stretch) {
  const char *begin = stretch->begin;
  size_t rest = begin ? (size_t)(stretch->end - begin) : 0;
  if (rest) stretch->begin += rest < stretch->part ? rest : stretch->part;
  return (MrStretch){begin, stretch->begin, 0};
}

// Prefetches the next parts: state into the second level, as the present block's fills the first; rows to be written.
static inline void mr_fetch_ahead(MrAhead *ahead) {
  MrStretch state = mr_take_part(&ahead->state), rows = mr_take_part(&ahead->rows);
  for (const char *line = state.begin; line < state.end; line += MR_LINE) __builtin_prefetch(line, 0, 2);
  for (const char *line = rows.begin; line < rows.end; line += MR_LINE) __builtin_prefetch(line, 1, 3);
}

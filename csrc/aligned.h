// SPDX-License-Identifier: MIT
//
// Memory that begins at a multiple of a size: C11's aligned_alloc, which Windows lacks.

#ifndef MR_ALIGNED_H
#define MR_ALIGNED_H

#include <stdlib.h>

// Returns `bytes` of memory, a multiple of `unit`, that begin at a multiple of `unit`, a power of two; or NULL. It is
// freed by mr_free_aligned.
static inline void *mr_alloc_aligned(size_t unit, size_t bytes) {
#ifdef _WIN32
  return _aligned_malloc(bytes, unit);
#else
  return aligned_alloc(unit, bytes);
#endif
}

static inline void mr_free_aligned(void *memory) {
#ifdef _WIN32
  _aligned_free(memory);
#else
  free(memory);
#endif
}

#endif

// SPDX-License-Identifier: MIT
//
// threads.h without threads: the caller does all parts.

#include "../csrc/threads.h"

#include <stddef.h>

MrThreads *mr_threads_create(int32_t count) {
  (void)count;
  return NULL;
}

void mr_threads_destroy(MrThreads *threads) { (void)threads; }

int32_t mr_threads_count(const MrThreads *threads) {
  (void)threads;
  return 1;
}

void mr_threads_run(MrThreads *threads, int32_t parts, MrPart work, void *context) {
  (void)threads;
  for (int32_t part = 0; part < parts; part++) work(context, part, 0);
}

// SPDX-License-Identifier: MIT
//
// A few threads that share the parts of a piece of work. They may be made in one library and do the work of another
// that is linked with the same code: the core and the learner share them.

#ifndef MR_THREADS_H
#define MR_THREADS_H

#include <stdint.h>

typedef struct MrThreads MrThreads;

// Does one part of the work. `thread` is from 0 to one below the count of threads: no two parts of one piece of work
// have the same one at the same time. Work done without the threads is thread 0's, so two pieces may both have a
// thread 0.
typedef void (*MrPart)(void *context, int32_t part, int32_t thread);

// Makes `count` threads, the caller's among them. Returns NULL where there is no memory for them, or where the system
// grants none.
MrThreads *mr_threads_create(int32_t count);

// Ends the threads. No work may be under way.
void mr_threads_destroy(MrThreads *threads);

int32_t mr_threads_count(const MrThreads *threads);

// Does all parts and returns when they are done. Where there are many parts for each thread, a thread begins with those
// that it had in the last call of as many. Which thread does a part must not change the result. The caller does all
// parts, as thread 0, where `threads` is NULL, is busy with another caller's work, or is of a parent process (after
// fork()).
void mr_threads_run(MrThreads *threads, int32_t parts, MrPart work, void *context);

#endif

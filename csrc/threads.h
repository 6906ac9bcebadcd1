// SPDX-License-Identifier: MIT
//
// A few threads that share the parts of a piece of work. They may be made in one library and do the work of another
// that is linked with the same code: the core and the learner share them.

#ifndef MR_THREADS_H
#define MR_THREADS_H

#include <stdint.h>

typedef struct MrThreads MrThreads;

// Does one part of the work. `thread` is from 0 to one below the count of threads: no two parts have the same one at
// the same time.
typedef void (*MrPart)(void *context, int32_t part, int32_t thread);

// Makes `count` threads, the caller's among them. Returns NULL where there is no memory for them, or where the system
// grants none.
MrThreads *mr_threads_create(int32_t count);

// Ends the threads. No work may be under way.
void mr_threads_destroy(MrThreads *threads);

int32_t mr_threads_count(const MrThreads *threads);

// Does all parts from 0 on and returns when they are done. A thread
// begins with the parts that it had in an equal call before, if it comes in time; the result must not depend on it. Where `threads` is NULL, or busy with the work of another
// caller, the caller does all parts as thread 0. So it does in a child of fork(), which has none of its parent's threads.
void mr_threads_run(MrThreads *threads, int32_t parts, MrPart work, void *context);

#endif

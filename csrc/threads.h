// SPDX-License-Identifier: MIT
//
// Threads that share the parts of a piece of work. One library may create them and another one, linked with the same
// code, may use them: the core and the learner share them.

#ifndef MR_THREADS_H
#define MR_THREADS_H

#include <stdint.h>

typedef struct MrThreads MrThreads;

// Does one part of the work. `thread` is from 0 to one below the number of threads. No two parts of one piece of work
// run at the same time with the same `thread`. Work that is done without the threads has thread 0, so two pieces may
// both have a thread 0.
typedef void (*MrPart)(void *context, int32_t part, int32_t thread);

// Creates `count` threads, with the caller's. Returns NULL if there is no memory for them, or if the system grants
// none.
MrThreads *mr_threads_create(int32_t count);

// Ends the threads. No work may be in progress.
void mr_threads_destroy(MrThreads *threads);

int32_t mr_threads_count(const MrThreads *threads);

// Does all parts and returns when they are done. If there are many parts for each thread, a thread begins with the
// parts that it had in the last call with this number. The result must not depend on the thread of a part. The caller
// does all parts, as thread 0, if `threads` is NULL, busy with another caller's work, or of a parent process (after
// fork()).
void mr_threads_run(MrThreads *threads, int32_t parts, MrPart work, void *context);

#endif

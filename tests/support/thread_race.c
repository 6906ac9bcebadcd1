// SPDX-License-Identifier: MIT
//
// thread_race THREADS ROUNDS
//
// Shares pieces of work of many sizes out to threads, by two callers at once. Each piece reads the plain numbers that
// the caller and the piece before it have written, and writes them again. Built with -fsanitize=thread it finds races in
// threads.c: a part that is done twice or too late, and memory that is not ordered between the caller and the threads.
// Prints the sum of all numbers, which follows from the arguments alone.

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "threads.h"

enum { PARTS = 203 };

typedef struct {
  MrThreads *threads;
  int32_t rounds, scale;
  int64_t numbers[PARTS];
  int32_t parts;     // of the present piece
  int64_t *scratch;  // a number of each thread
} Caller;

static void add_part(void *context, int32_t part, int32_t thread) {
  Caller *caller = context;
  if (caller->scale == 10 && part % 50 == 0) {  // long enough for those that wait to fall asleep
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  }
  int32_t mirrored = caller->parts - 1 - part;  // a number that another thread may have written in the last piece
  if (part <= mirrored) {
    int64_t sum = caller->numbers[part] + caller->numbers[mirrored];
    caller->numbers[part] = sum % 1000003 + caller->scale;
    caller->numbers[mirrored] = caller->numbers[part] + part;
  }
  caller->scratch[thread]++;
}

static void *run_pieces(void *argument) {
  Caller *caller = argument;
  for (int32_t n = 0; n < caller->rounds; n++) {
    caller->parts = n % 3 ? 1 + n * 7 % PARTS : PARTS;
    caller->scale = n % 11;
    mr_threads_run(caller->threads, caller->parts, add_part, caller);
    caller->numbers[n % PARTS] += n;  // the caller writes between pieces
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int32_t count = atoi(argv[1]), rounds = atoi(argv[2]);
  MrThreads *threads = mr_threads_create(count);
  if (!threads) return 3;
  Caller callers[2];
  pthread_t other;
  int64_t sum = 0;
  for (int n = 0; n < 2; n++) {
    callers[n] = (Caller){.threads = threads, .rounds = rounds, .scratch = calloc((size_t)count, sizeof(int64_t))};
  }
  if (pthread_create(&other, NULL, run_pieces, &callers[1])) return 3;
  run_pieces(&callers[0]);
  pthread_join(other, NULL);
  mr_threads_destroy(threads);
  for (int n = 0; n < 2; n++) {
    for (int part = 0; part < PARTS; part++) sum = (31 * sum + callers[n].numbers[part]) % 1000000007;
    free(callers[n].scratch);
  }
  printf("%" PRId64 "\n", sum);
  return 0;
}

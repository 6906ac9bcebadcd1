// SPDX-License-Identifier: MIT

#define _POSIX_C_SOURCE 200809L

#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aligned.h"

// Number of times that a waiting thread looks for its condition before it sleeps: for about as long as it takes to wake
// up, some 80 microseconds on the virtual machine where it was measured. After every PAUSES looks it yields its
// processor.
enum { LOOKS = 8000, PAUSES = 50 };

// Below this number of parts for each thread there is one share for all threads, since parts may differ in length.
enum { FEW = 5 };

// Bytes of the stack of a thread that is created here: the default on Linux; other systems have less. A decision of
// sixteen against sixteen takes 2 MiB. The caller works on parts, too, on the stack that its thread has.
enum { STACK = 8 << 20 };

// A contiguous share of the parts, which one thread takes first: their memory is in its core's caches from last time.
// When they are taken, it takes parts of other shares. The number of the piece of work and the next free part are one
// word, so a late thread cannot mistake a part of the next piece for one of this.
typedef struct {
  _Alignas(64) atomic_uint_least64_t next;
  atomic_uint_least32_t end;
} Share;

struct MrThreads {
  int32_t count;  // with the caller's
  atomic_flag is_busy;
  pid_t process;  // of the threads
  pthread_t *threads;
  pthread_mutex_t mutex;
  pthread_cond_t begun, ended;

  MrPart work;
  void *context;

  Share *shares;                 // [count]
  atomic_uint_least32_t undone;  // parts
  atomic_uint_least32_t piece;
  bool is_over;
};

typedef struct {
  MrThreads *threads;
  int32_t index;
} Worker;

static void linger(int look) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
  if (look % PAUSES == PAUSES - 1) sched_yield();
}

// Takes the parts of a share of this piece of work until there are none left.
static void take_share(MrThreads *t, Share *share, uint32_t piece, int32_t thread) {
  for (;;) {
    uint_least64_t next = atomic_load(&share->next);
    do {
      if ((uint32_t)(next >> 32) != piece || (uint32_t)next >= atomic_load(&share->end)) return;
    } while (!atomic_compare_exchange_weak(&share->next, &next, next + 1));
    t->work(t->context, (int32_t)(uint32_t)next, thread);
    if (atomic_fetch_sub(&t->undone, 1) == 1) {
      pthread_mutex_lock(&t->mutex);
      pthread_cond_signal(&t->ended);
      pthread_mutex_unlock(&t->mutex);
    }
  }
}

static void share_out(Share *share, uint32_t piece, int32_t begin, int32_t end) {
  atomic_store(&share->next, (uint_least64_t)piece << 32 | UINT32_MAX);  // no part, until the end is there
  atomic_store(&share->end, (uint32_t)end);
  atomic_store(&share->next, (uint_least64_t)piece << 32 | (uint32_t)begin);
}

static void take_parts(MrThreads *t, uint32_t piece, int32_t thread) {
  for (int32_t i = 0; i < t->count; i++) take_share(t, &t->shares[(thread + i) % t->count], piece, thread);
}

static uint32_t wait_for_work(MrThreads *t, uint32_t done, bool *is_over) {
  for (int i = 0; i < LOOKS && atomic_load(&t->piece) == done; i++) linger(i);
  pthread_mutex_lock(&t->mutex);
  while (atomic_load(&t->piece) == done && !t->is_over) pthread_cond_wait(&t->begun, &t->mutex);
  *is_over = t->is_over;
  pthread_mutex_unlock(&t->mutex);
  return atomic_load(&t->piece);
}

static void *work_until_over(void *argument) {
  Worker worker = *(Worker *)argument;
  free(argument);
  uint32_t piece = 0;
  for (;;) {
    bool is_over;
    piece = wait_for_work(worker.threads, piece, &is_over);
    if (is_over) return NULL;
    take_parts(worker.threads, piece, worker.index);
  }
}

// Creates a thread with a stack of STACK bytes.
static bool create_with_stack(pthread_t *thread, Worker *worker) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes)) return false;
  bool is_created = pthread_attr_setstacksize(&attributes, STACK) == 0 &&
                    pthread_create(thread, &attributes, work_until_over, worker) == 0;
  pthread_attr_destroy(&attributes);
  return is_created;
}

// Creates a thread that blocks all signals: these are for the threads of the program. Windows has none of them.
static bool create_thread(pthread_t *thread, Worker *worker) {
#ifdef _WIN32
  return create_with_stack(thread, worker);
#else
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_created = create_with_stack(thread, worker);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return is_created;
#endif
}

// Starts a worker thread.
static bool start(MrThreads *t, int32_t index) {
  Worker *worker = malloc(sizeof *worker);
  if (!worker) return false;
  *worker = (Worker){t, index};
  bool is_started = create_thread(&t->threads[index], worker);
  if (!is_started) free(worker);
  return is_started;
}

MrThreads *mr_threads_create(int32_t count) {
  MrThreads *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->threads = calloc((size_t)count, sizeof *t->threads);
  t->shares = mr_alloc_aligned(_Alignof(Share), (size_t)count * sizeof *t->shares);
  if (!t->threads || !t->shares) {
    free(t->threads);
    mr_free_aligned(t->shares);
    free(t);
    return NULL;
  }
  memset(t->shares, 0, (size_t)count * sizeof *t->shares);
  t->process = getpid();
  atomic_flag_clear(&t->is_busy);
  pthread_mutex_init(&t->mutex, NULL);
  pthread_cond_init(&t->begun, NULL);
  pthread_cond_init(&t->ended, NULL);
  for (t->count = 1; t->count < count; t->count++) {
    if (start(t, t->count)) continue;
    mr_threads_destroy(t);
    return NULL;
  }
  return t;
}

void mr_threads_destroy(MrThreads *t) {
  if (!t) return;
  if (t->process == getpid()) {
    pthread_mutex_lock(&t->mutex);
    t->is_over = true;
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->mutex);
    for (int32_t i = 1; i < t->count; i++) pthread_join(t->threads[i], NULL);
    pthread_cond_destroy(&t->ended);
    pthread_cond_destroy(&t->begun);
    pthread_mutex_destroy(&t->mutex);
  }
  free(t->threads);
  mr_free_aligned(t->shares);
  free(t);
}

int32_t mr_threads_count(const MrThreads *t) { return t ? t->count : 1; }

void mr_threads_run(MrThreads *t, int32_t parts, MrPart work, void *context) {
  bool is_alone = !t || t->count == 1 || parts < 2 || t->process != getpid();
  if (is_alone || atomic_flag_test_and_set(&t->is_busy)) {
    for (int32_t part = 0; part < parts; part++) work(context, part, 0);
    return;
  }
  pthread_mutex_lock(&t->mutex);
  uint32_t piece = atomic_load(&t->piece) + 1;
  t->work = work;
  t->context = context;
  atomic_store(&t->undone, (uint32_t)parts);
  int32_t shares = parts < FEW * t->count ? 1 : t->count;
  for (int32_t i = 0; i < t->count; i++) {
    bool has_share = i < shares;
    int64_t begin = has_share ? (int64_t)i * parts / shares : 0, end = has_share ? (i + 1LL) * parts / shares : 0;
    share_out(&t->shares[i], piece, (int32_t)begin, (int32_t)end);
  }
  atomic_store(&t->piece, piece);
  pthread_cond_broadcast(&t->begun);
  pthread_mutex_unlock(&t->mutex);

  take_parts(t, piece, 0);
  for (int i = 0; i < LOOKS && atomic_load(&t->undone); i++) linger(i);
  pthread_mutex_lock(&t->mutex);
  while (atomic_load(&t->undone)) pthread_cond_wait(&t->ended, &t->mutex);
  pthread_mutex_unlock(&t->mutex);
  atomic_flag_clear(&t->is_busy);
}

// SPDX-License-Identifier: MIT
//
// The instruction sets and the games that kernels are compiled for. setup.py has the compiler options of each
// instruction set.

#ifndef MR_ISAS_H
#define MR_ISAS_H

#include <stdbool.h>
#include <string.h>

// Best first. A build may have others.
#ifdef MR_ISAS
#elif defined(__x86_64__)
#define MR_ISAS(X) X(avx512) X(avx2) X(sse2)
#else
#define MR_ISAS(X) X(portable)
#endif

// In a file that is compiled for each, with the set's name as MR_ISA: a name with the set's at its end, and the set's
// name as a string.
#define MR_PASTE2(a, b) a##b
#define MR_PASTE(a, b) MR_PASTE2(a, b)
#define MR_OF_ISA(name) MR_PASTE(name, MR_ISA)
#define MR_QUOTE2(a) #a
#define MR_QUOTE(a) MR_QUOTE2(a)
#define MR_ISA_NAME MR_QUOTE(MR_ISA)

// The games: X(with, side, dimensions), MR_SIDE and MR_DIMENSIONS in a file that is compiled for each. `side` is the
// size of the sides: room for that many fighters on either side. `dimensions` is 2 in the plane and 3 with height. A
// fight takes the first game of its dimensions that has room for its fighters, on whichever side they are. A build may
// have fewer.
#ifndef MR_GAMES
#define MR_GAMES(X, with)                                                 \
  X(with, 1, 2) X(with, 2, 2) X(with, 4, 2) X(with, 8, 2) X(with, 16, 2) \
  X(with, 1, 3) X(with, 8, 3) X(with, 16, 3)
#endif

// The most enemies that an observation of a game lists. So a game of size 8 has room for 3 against 8, but not for 10
// against 6. It is the same in all games up to size 8: MR_FIRE_AHEAD of block.h follows from it, is part of the state,
// and must not depend on the game that a build chooses for a fight.
#define MR_LISTED(side) ((side) > MR_SIDE_SMALL ? MR_SIDE_MAX : MR_SIDE_SMALL)

// In a file that is compiled for each game: a name with the game's numbers at its end, and one with the instruction
// set, too.
#define MR_OF_GAME(name) MR_PASTE(MR_PASTE(MR_PASTE(name, MR_SIDE), _), MR_DIMENSIONS)
#define MR_OF_ISA_AND_GAME(name) MR_OF_GAME(MR_PASTE(MR_OF_ISA(name), _))

static inline bool mr_runs_isa(const char *isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!strcmp(isa, "avx2")) return has_avx2;
  if (!strcmp(isa, "avx512")) {
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#else
  (void)isa;
#endif
  return true;
}

// The names of those that this machine can run, best first, ended by NULL.
static inline const char *const *mr_isas_here(void) {
#define MR_NAME_ISA(isa) #isa,
  static const char *const all[] = {MR_ISAS(MR_NAME_ISA) NULL};
  static const char *here[sizeof all / sizeof *all];
  int count = 0;
  for (int i = 0; all[i]; i++) {
    if (mr_runs_isa(all[i])) here[count++] = all[i];
  }
  return here;
}

#endif

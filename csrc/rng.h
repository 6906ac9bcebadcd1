// SPDX-License-Identifier: MIT
//
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", 2011). The key is the seed and the counter is (engagement, episode, draw, 0) at a start, and
// (engagement, episode, time, stream) in the fight. So any episode can be started directly, without the draws before
// it, and what is drawn at one time does not depend on what was drawn before.

#pragma once

#include <stdint.h>

static inline void mr_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

// Four random numbers, uniform in [0, 1), with 24 bits each.
static inline void mr_uniforms(uint64_t seed, const uint32_t counter[4], float out[4]) {
  uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t bits[4];
  mr_philox(counter, key, bits);
  for (int i = 0; i < 4; i++) out[i] = (float)(bits[i] >> 8) * (1.0f / 16777216.0f);
}

// Those of a draw at the start of an episode.
static inline void mr_uniform4(uint64_t seed, uint32_t engagement, uint32_t episode, uint32_t draw, float out[4]) {
  uint32_t counter[4] = {engagement, episode, draw, 0};
  mr_uniforms(seed, counter, out);
}

// A random number of mean 0 and variance 1 at a time of the episode, within +-3.5. The sum of four uniform numbers is
// nearly normal. `stream` separates the numbers of one time; draws at the start have the last word of the counter 0.
static inline float mr_normal(uint64_t seed, uint32_t engagement, uint32_t episode, uint32_t time, uint32_t stream) {
  uint32_t counter[4] = {engagement, episode, time, 1 + stream};
  float u[4];
  mr_uniforms(seed, counter, u);
  return 1.7320508f * ((u[0] + u[1]) + (u[2] + u[3]) - 2.0f);  // sqrt(3): the sum has the variance 1/3
}

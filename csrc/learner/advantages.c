// SPDX-License-Identifier: MIT

#include <math.h>

#include "learner.h"

static float least(float a, float b) { return a < b ? a : b; }

// Writes the advantages of the segment that begins at `first`; returns the sum of their absolute values. PuffeRL's
// buffers are shifted: the reward for a decision, and whether it ended the engagement, are with the next one. So the
// last decision of a segment has no advantage.
static float find_segment(const MrOutcomes *of, const MrTraceSettings *settings, int64_t first, float *advantages) {
  const float *values = of->values + first, *rewards = of->rewards + first, *ends = of->terminals + first,
              *ratio = of->ratio + first;
  int32_t last = of->horizon - 1;
  float sum = 0.0f, advantage = 0.0f, decay = settings->gamma * settings->lambda;
  advantages[last] = 0.0f;
  for (int32_t t = last - 1; t >= 0; t--) {
    float goes_on = 1.0f - ends[t + 1];
    float error = rewards[t + 1] + settings->gamma * values[t + 1] * goes_on - values[t];
    float rho = least(ratio[t], settings->rho_clip), c = least(ratio[t], settings->c_clip);
    advantage = rho * error + decay * c * advantage * goes_on;
    advantages[t] = advantage;
    sum += fabsf(advantage);
  }
  return sum;
}

void mr_learner_advantages(const MrOutcomes *of, const MrTraceSettings *settings, const int64_t *rows, int32_t count,
                           float *advantages, float *priorities) {
  for (int32_t i = 0; i < count; i++) {
    int64_t first = rows[i] * of->horizon;
    priorities[rows[i]] = find_segment(of, settings, first, advantages + first);
  }
}

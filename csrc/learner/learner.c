// SPDX-License-Identifier: MIT
//
// The learner outside its kernel: memory, which thread does what, and the order in which parts are summed.

#include "learner.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

enum {
  // A minibatch's decisions are summed in so many parts at most, whatever the number of threads is.
  MAX_PARTS = 16,
};

struct MrLearner {
  MrPolicy policy;
  const MrLearnerKernel *kernel;
  MrThreads *threads;
  bool learns;
  int32_t count, size;  // of arrays, of parameters
  MrArray arrays[MR_MAX_ARRAYS];
  MrWork *work;                    // [threads]
  MrGradient gradients[MAX_PARTS];
  size_t gradient_size;            // numbers of each, in one piece that begins with the first layer's weights
  float *update;                   // [parameters], of a step of the optimizer
  float **rooms;                   // [threads], for a matrix to be made orthogonal
  void *memory;
};

#if defined(__x86_64__)
extern const MrLearnerKernel mr_learner_kernel_sse2, mr_learner_kernel_avx2, mr_learner_kernel_avx512;

const char *const *mr_learner_isas(void) {
  static const char *names[4];
  int count = 0;
  __builtin_cpu_init();
  bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    names[count++] = "avx512";
  }
  if (has_avx2) names[count++] = "avx2";
  names[count++] = "sse2";
  names[count] = NULL;
  return names;
}

static const MrLearnerKernel *find_kernel(const char *isa) {
  const MrLearnerKernel *const all[] = {&mr_learner_kernel_sse2, &mr_learner_kernel_avx2, &mr_learner_kernel_avx512};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(all[i]->name, isa) == 0) return all[i];
  }
  return NULL;
}
#else
extern const MrLearnerKernel mr_learner_kernel_portable;

const char *const *mr_learner_isas(void) {
  static const char *const names[] = {"portable", NULL};
  return names;
}

static const MrLearnerKernel *find_kernel(const char *isa) {
  (void)isa;
  return &mr_learner_kernel_portable;
}
#endif

// Memory ---------------------------------------------------------------------------------------------------

// Hands out pieces of one block of memory, or, where there is none yet, finds out how long it has to be.
typedef struct {
  char *memory;
  size_t used;
} Room;

static void *take(Room *room, size_t bytes) {
  void *piece = room->memory ? room->memory + room->used : NULL;
  room->used += (bytes + 63) / 64 * 64;
  return piece;
}

static float *take_floats(Room *room, size_t count) { return take(room, count * sizeof(float)); }

static size_t weights_of(const MrLayer *layer) { return (size_t)layer->in_padded * (size_t)layer->out_padded; }

static void take_policy(MrPolicy *policy, Room *room) {
  for (int l = 0; l <= policy->shape.layers; l++) {
    MrLayer *layer = &policy->layers[l];
    layer->weights = take_floats(room, weights_of(layer));
    layer->turned = take_floats(room, weights_of(layer));
    layer->biases = take_floats(room, (size_t)layer->out_padded);
  }
}

static void take_work(const MrPolicy *policy, MrWork *work, Room *room) {
  size_t widest = 0;
  for (int l = 0; l <= policy->shape.layers; l++) {
    size_t in = (size_t)policy->layers[l].in_padded;
    work->in[l] = take_floats(room, MR_ROWS * in);
    if (l > 0) work->slope[l - 1] = take_floats(room, MR_ROWS * in);
    if (l > 0 && in > widest) widest = in;
  }
  work->out = take_floats(room, MR_ROWS * MR_OUTPUTS);
  for (int i = 0; i < 2; i++) work->back[i] = take_floats(room, MR_ROWS * widest);
}

static void take_gradient(const MrPolicy *policy, MrGradient *gradient, Room *room) {
  for (int l = 0; l <= policy->shape.layers; l++) {
    gradient->weights[l] = take_floats(room, weights_of(&policy->layers[l]));
    gradient->biases[l] = take_floats(room, (size_t)policy->layers[l].out_padded);
  }
}

static size_t orthogonal_room(const MrLearner *learner) {
  size_t most = 0;
  for (int i = 0; i < learner->count; i++) {
    const MrArray *array = &learner->arrays[i];
    bool is_tall = array->rows > array->columns;
    size_t m = (size_t)mr_padded(is_tall ? array->columns : array->rows);
    size_t n = (size_t)mr_padded(is_tall ? array->rows : array->columns);
    size_t room = 3 * m * n + 3 * m * m;
    if (array->is_matrix && room > most) most = room;
  }
  return most;
}

static void take_all(MrLearner *learner, Room *room) {
  int32_t threads = mr_threads_count(learner->threads);
  take_policy(&learner->policy, room);
  learner->work = take(room, (size_t)threads * sizeof *learner->work);
  learner->rooms = take(room, (size_t)threads * sizeof *learner->rooms);
  for (int32_t i = 0; i < threads; i++) {
    MrWork nowhere;
    take_work(&learner->policy, room->memory ? &learner->work[i] : &nowhere, room);
    float *of_thread = take_floats(room, learner->learns ? orthogonal_room(learner) : 0);
    if (room->memory) learner->rooms[i] = of_thread;
  }
  if (!learner->learns) return;
  for (int i = 0; i < MAX_PARTS; i++) {
    size_t before = room->used;
    take_gradient(&learner->policy, &learner->gradients[i], room);
    learner->gradient_size = (room->used - before) / sizeof(float);
  }
  learner->update = take_floats(room, (size_t)learner->size);
}

// Shape ----------------------------------------------------------------------------------------------------

static void shape_policy(MrPolicy *policy, const MrShape *shape) {
  policy->shape = *shape;
  policy->outputs = 1;
  for (int head = 0; head < MR_HEADS; head++) policy->outputs += shape->is_continuous ? 1 : shape->levels[head];
  int32_t in = shape->features;
  for (int l = 0; l <= shape->layers; l++) {
    int32_t out = l == shape->layers ? MR_OUTPUTS : shape->width[l];
    policy->layers[l] = (MrLayer){.in = in, .in_padded = mr_padded(in), .out_padded = out};
    in = out;
  }
}

static void add_array(MrLearner *learner, int32_t rows, int32_t columns, bool is_matrix) {
  learner->arrays[learner->count++] = (MrArray){learner->size, rows, columns, is_matrix};
  learner->size += rows * columns;
}

static void list_arrays(MrLearner *learner) {
  const MrPolicy *policy = &learner->policy;
  for (int l = 0; l < policy->shape.layers; l++) {
    add_array(learner, policy->layers[l].out_padded, policy->layers[l].in, true);
    add_array(learner, 1, policy->layers[l].out_padded, false);
  }
  int32_t in = policy->layers[policy->shape.layers].in;
  add_array(learner, policy->outputs - 1, in, true);
  add_array(learner, 1, policy->outputs - 1, false);
  if (policy->shape.is_continuous) add_array(learner, 1, MR_HEADS, false);
  add_array(learner, 1, in, true);
  add_array(learner, 1, 1, false);
}

int32_t mr_learner_arrays(const MrLearner *learner, MrArray arrays[MR_MAX_ARRAYS], int32_t *size) {
  memcpy(arrays, learner->arrays, sizeof learner->arrays);
  *size = learner->size;
  return learner->count;
}

MrLearner *mr_learner_create(const MrShape *shape, int32_t threads, bool learns, const char *isa) {
  MrLearner *learner = calloc(1, sizeof *learner);
  if (!learner) return NULL;
  shape_policy(&learner->policy, shape);
  list_arrays(learner);
  learner->learns = learns;
  learner->kernel = find_kernel(isa);
  learner->threads = mr_threads_create(threads);
  Room room = {0};
  take_all(learner, &room);
  learner->memory = learner->threads ? aligned_alloc(64, room.used) : NULL;
  if (!learner->memory) {
    mr_learner_destroy(learner);
    return NULL;
  }
  memset(learner->memory, 0, room.used);  // what is padded stays 0
  take_all(learner, &(Room){.memory = learner->memory});
  return learner;
}

void mr_learner_destroy(MrLearner *learner) {
  if (!learner) return;
  mr_threads_destroy(learner->threads);
  free(learner->memory);
  free(learner);
}

// Parameters -------------------------------------------------------------------------------------------------

// Where the parameters of an array are among a layer's weights or biases: those of actor and critic are one layer's.
typedef struct {
  int32_t layer, row;
  bool is_spread;
} Place;

static Place place_of(const MrLearner *learner, int32_t array) {
  int32_t layers = learner->policy.shape.layers, after = array - 2 * layers;
  if (after < 0) return (Place){.layer = array / 2};
  if (after < 2) return (Place){.layer = layers};
  if (learner->policy.shape.is_continuous && after == 2) return (Place){.is_spread = true};
  return (Place){.layer = layers, .row = learner->policy.outputs - 1};
}

static void load_spread(MrPolicy *policy, const float *spread) {
  const MrShape *shape = &policy->shape;
  for (int head = 0; head < MR_HEADS; head++) {
    float part = 1.0f / (1.0f + expf(-spread[head])), range = shape->deviation[1] - shape->deviation[0];
    policy->deviation[head] = shape->reach[head] * (shape->deviation[0] + range * part);
    policy->log_deviation[head] = logf(policy->deviation[head]);
    policy->deviation_slope[head] = shape->reach[head] * range * part * (1.0f - part);
  }
}

static void load_array(MrLearner *learner, int32_t index, const float *parameters) {
  const MrArray *array = &learner->arrays[index];
  const float *from = parameters + array->at;
  Place place = place_of(learner, index);
  if (place.is_spread) {
    load_spread(&learner->policy, from);
    return;
  }
  MrLayer *layer = &learner->policy.layers[place.layer];
  if (!array->is_matrix) {
    memcpy(layer->biases + place.row, from, (size_t)array->columns * sizeof(float));
    return;
  }
  for (int32_t i = 0; i < array->rows; i++) {
    const float *row = from + i * array->columns;
    memcpy(layer->weights + (place.row + i) * layer->in_padded, row, (size_t)array->columns * sizeof(float));
    for (int32_t j = 0; j < array->columns; j++) layer->turned[j * layer->out_padded + place.row + i] = row[j];
  }
}

void mr_learner_load(MrLearner *learner, const float *parameters) {
  for (int32_t i = 0; i < learner->count; i++) load_array(learner, i, parameters);
}

// Decisions ------------------------------------------------------------------------------------------------

static int32_t blocks_of(int32_t decisions) { return (decisions + MR_ROWS - 1) / MR_ROWS; }

static int32_t rows_of(int32_t decisions, int32_t block) {
  int32_t left = decisions - block * MR_ROWS;
  return left < MR_ROWS ? left : MR_ROWS;
}

typedef struct {
  MrLearner *learner;
  const float *observations, *noise;
  int64_t row;
  int32_t count;
  void *actions;
  const MrKeep *keep;
} Acting;

static void act_block(void *context, int32_t block, int32_t thread) {
  const Acting *a = context;
  int64_t first = (int64_t)block * MR_ROWS, kept = first * a->keep->stride;
  MrKeep keep = *a->keep;
  if (keep.observations) keep.observations += kept * a->learner->policy.shape.features;
  if (keep.actions) keep.actions = (float *)keep.actions + kept * MR_HEADS;
  if (keep.logprobs) keep.logprobs += kept;
  if (keep.values) keep.values += kept;
  a->learner->kernel->act(&a->learner->policy, &a->learner->work[thread], a->observations + first * a->row, a->row,
                          rows_of(a->count, block), a->noise ? a->noise + first * MR_HEADS : NULL,
                          (float *)a->actions + first * MR_HEADS, &keep);
}

void mr_learner_act(MrLearner *learner, const float *observations, int64_t row, int32_t count, const float *noise,
                    void *actions, const MrKeep *keep) {
  Acting acting = {learner, observations, noise, row, count, actions, keep};
  mr_threads_run(learner->threads, blocks_of(count), act_block, &acting);
}

// Where the decisions of a block are in the experience.
static void find_places(const MrExperience *experience, const int64_t *rows, int32_t block, int32_t count,
                        int64_t places[MR_ROWS]) {
  for (int32_t i = 0; i < count; i++) {
    int32_t decision = block * MR_ROWS + i;
    places[i] = rows[decision / experience->horizon] * experience->horizon + decision % experience->horizon;
  }
}

typedef struct {
  MrLearner *learner;
  const MrExperience *experience;
  const int64_t *rows;
  int32_t decisions;
  float *logprobs, *values;
} Scoring;

static void score_block(void *context, int32_t block, int32_t thread) {
  const Scoring *s = context;
  int32_t count = rows_of(s->decisions, block);
  int64_t places[MR_ROWS], first = (int64_t)block * MR_ROWS;
  find_places(s->experience, s->rows, block, count, places);
  s->learner->kernel->score(&s->learner->policy, &s->learner->work[thread], s->experience, places, count,
                            s->logprobs + first, s->values + first);
}

void mr_learner_score(MrLearner *learner, const MrExperience *experience, const int64_t *rows, int32_t count,
                      float *logprobs, float *values) {
  Scoring scoring = {learner, experience, rows, count * experience->horizon, logprobs, values};
  mr_threads_run(learner->threads, blocks_of(scoring.decisions), score_block, &scoring);
}

// Gradients --------------------------------------------------------------------------------------------------

typedef struct {
  Scoring of;
  const MrMinibatch *minibatch;
  const MrLossSettings *settings;
  float share;
  int32_t parts;
  float *gradient;
} Learning;

static void learn_part(void *context, int32_t part, int32_t thread) {
  const Learning *l = context;
  MrLearner *learner = l->of.learner;
  MrGradient *sum = &learner->gradients[part];
  memset(sum->weights[0], 0, learner->gradient_size * sizeof(float));
  memset(sum->spread, 0, sizeof sum->spread);
  sum->losses = (MrLosses){0};
  int32_t blocks = blocks_of(l->of.decisions);
  for (int32_t block = part * blocks / l->parts; block < (part + 1) * blocks / l->parts; block++) {
    int32_t count = rows_of(l->of.decisions, block), first = block * MR_ROWS;
    int64_t places[MR_ROWS];
    find_places(l->of.experience, l->of.rows, block, count, places);
    learner->kernel->learn(&learner->policy, &learner->work[thread], l->of.experience, l->minibatch, l->settings,
                           l->share, first, places, count, l->of.logprobs + first, l->of.values + first, sum);
  }
}

// Adds an array's gradients of all parts, in their order.
static void add_array_of_parts(void *context, int32_t index, int32_t thread) {
  (void)thread;
  const Learning *l = context;
  MrLearner *learner = l->of.learner;
  const MrArray *array = &learner->arrays[index];
  Place place = place_of(learner, index);
  float *to = l->gradient + array->at;
  for (int32_t part = 0; part < l->parts; part++) {
    const MrGradient *sum = &learner->gradients[part];
    if (place.is_spread) {
      for (int head = 0; head < MR_HEADS; head++) to[head] += (float)sum->spread[head];
      continue;
    }
    int32_t row = array->is_matrix ? learner->policy.layers[place.layer].in_padded : 0;
    const float *from = array->is_matrix ? sum->weights[place.layer] + place.row * row
                                         : sum->biases[place.layer] + place.row;
    for (int32_t i = 0; i < array->rows; i++) {
      for (int32_t j = 0; j < array->columns; j++) to[i * array->columns + j] += from[i * row + j];
    }
  }
}

static void add_losses(const MrLosses *from, double weight, MrLosses *to) {
  to->policy_loss += from->policy_loss * weight;
  to->value_loss += from->value_loss * weight;
  to->entropy += from->entropy * weight;
  to->old_approx_kl += from->old_approx_kl * weight;
  to->approx_kl += from->approx_kl * weight;
  to->clipfrac += from->clipfrac * weight;
  to->importance += from->importance * weight;
}

void mr_learner_gradient(MrLearner *learner, const MrExperience *experience, const MrMinibatch *minibatch,
                         const MrLossSettings *settings, float scale, float *gradient, float *logprobs, float *values,
                         MrLosses *losses) {
  int32_t decisions = minibatch->count * experience->horizon, blocks = blocks_of(decisions);
  Learning learning = {
      .of = {learner, experience, minibatch->rows, decisions, logprobs, values},
      .minibatch = minibatch,
      .settings = settings,
      .share = scale / (float)decisions,
      .parts = blocks < MAX_PARTS ? blocks : MAX_PARTS,
      .gradient = gradient,
  };
  mr_threads_run(learner->threads, learning.parts, learn_part, &learning);
  mr_threads_run(learner->threads, learner->count, add_array_of_parts, &learning);
  *losses = (MrLosses){0};
  for (int32_t part = 0; part < learning.parts; part++) {
    add_losses(&learner->gradients[part].losses, 1.0 / decisions, losses);
  }
}

// Steps ------------------------------------------------------------------------------------------------------

// What the gradient is to be multiplied by, so that its norm is at most `max_norm`; as torch's clip_grad_norm_.
static float clip_factor(const float *gradient, int32_t size, float max_norm) {
  double sums[8] = {0}, all = 0.0;
  for (int32_t i = 0; i < size; i++) sums[i & 7] += (double)gradient[i] * (double)gradient[i];
  for (int i = 0; i < 8; i++) all += sums[i];
  float factor = max_norm / ((float)sqrt(all) + 1e-6f);
  return factor < 1.0f ? factor : factor != factor ? factor : 1.0f;
}

typedef struct {
  MrLearner *learner;
  float *parameters, *momentum;
  const float *gradient;
  float factor, rate, beta;
} Step;

static void muon_array(void *context, int32_t index, int32_t thread) {
  const Step *s = context;
  MrLearner *learner = s->learner;
  const MrArray *array = &learner->arrays[index];
  int32_t at = array->at, end = at + array->rows * array->columns;
  for (int32_t i = at; i < end; i++) {
    float gradient = s->factor * s->gradient[i];
    s->momentum[i] += (1.0f - s->beta) * (gradient - s->momentum[i]);
    learner->update[i] = gradient + s->momentum[i];
  }
  if (array->is_matrix) {
    learner->kernel->orthogonalise(learner->update + at, array->rows, array->columns, learner->rooms[thread]);
  }
  for (int32_t i = at; i < end; i++) s->parameters[i] -= s->rate * learner->update[i];
  load_array(learner, index, s->parameters);
}

void mr_learner_muon(MrLearner *learner, float *parameters, float *momentum, float *gradient, float rate, float beta,
                     float max_norm) {
  float factor = clip_factor(gradient, learner->size, max_norm);
  Step step = {learner, parameters, momentum, gradient, factor, rate, beta};
  mr_threads_run(learner->threads, learner->count, muon_array, &step);
}

void mr_learner_adam(MrLearner *learner, float *parameters, float *mean, float *square, float *gradient, float rate,
                     float beta1, float beta2, float epsilon, int64_t step, float max_norm) {
  float factor = clip_factor(gradient, learner->size, max_norm);
  double correction1 = 1.0 - pow((double)beta1, (double)step), correction2 = 1.0 - pow((double)beta2, (double)step);
  float stride = (float)((double)rate / correction1), root = (float)sqrt(correction2);
  for (int32_t i = 0; i < learner->size; i++) {
    float g = factor * gradient[i];
    mean[i] += (1.0f - beta1) * (g - mean[i]);
    square[i] += (1.0f - beta2) * (g * g - square[i]);
    parameters[i] -= stride * mean[i] / (sqrtf(square[i]) / root + epsilon);
  }
  mr_learner_load(learner, parameters);
}

// SPDX-License-Identifier: MIT
//
// The learner outside its kernel: memory and parameters. Which thread does what is in parts.c.

#include "state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../aligned.h"
#include "../isas.h"

// Instruction sets ---------------------------------------------------------------------------------------

#define MR_DECLARE_KERNEL(isa) extern const MrLearnerKernel mr_learner_kernel_##isa;
MR_ISAS(MR_DECLARE_KERNEL)

static const MrLearnerKernel *find_kernel(const char *isa) {
#define MR_LIST_KERNEL(isa) &mr_learner_kernel_##isa,
  static const MrLearnerKernel *const kernels[] = {MR_ISAS(MR_LIST_KERNEL) NULL};
  int i = 0;
  while (kernels[i] && strcmp(isa, kernels[i]->name)) i++;
  return kernels[i];
}

const char *const *mr_learner_isas(void) { return mr_isas_here(); }

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
  for (int l = 0; l < mr_layer_count(&policy->shape); l++) {
    MrLayer *layer = &policy->layers[l];
    layer->weights = take_floats(room, weights_of(layer));
    layer->turned = take_floats(room, weights_of(layer));
    layer->biases = take_floats(room, (size_t)layer->out_padded);
  }
}

static void take_work(const MrPolicy *policy, MrWork *work, Room *room) {
  const MrShape *shape = &policy->shape;
  size_t widest = 0;
  for (int l = 0; l <= policy->shape.layers; l++) {
    size_t in = (size_t)policy->layers[l].in_padded;
    work->in[l] = take_floats(room, MR_ROWS * in);
    if (l > 0) work->slope[l - 1] = take_floats(room, MR_ROWS * in);
    if ((l > 0 || shape->kinds) && in > widest) widest = in;
  }
  work->out = take_floats(room, MR_ROWS * (size_t)policy->layers[shape->layers].out_padded);
  work->logits = mr_aims(shape) ? take_floats(room, MR_ROWS * (size_t)policy->row) : work->out;
  work->fighter_logits = shape->fighters ? take_floats(room, MR_ROWS * (size_t)policy->fighter_row) : work->logits;
  for (int i = 0; i < 2; i++) work->back[i] = take_floats(room, MR_ROWS * widest);
  if (!shape->kinds) return;
  size_t entity = MR_ROWS * (size_t)shape->entity_size;
  // A row of entities is read as far as its layer is padded, the last one's beyond the observation.
  work->observations = take_floats(room, (MR_ROWS + 1) * (size_t)mr_padded(shape->features));
  work->embedded = take_floats(room, entity);
  work->winners = take(room, entity * (size_t)shape->kinds * sizeof *work->winners);
  work->keys = take_floats(room, mr_aims(shape) ? entity * (size_t)shape->rows[shape->targets].rows : 0);
  size_t encodings = shape->fighters ? MR_ROWS * (size_t)shape->width[shape->layers - 2] : 0;
  work->encodings = take_floats(room, encodings);
  work->leaders = take(room, encodings * sizeof *work->leaders);
}

static void take_gradient(const MrPolicy *policy, MrGradient *gradient, Room *room) {
  for (int l = 0; l < mr_layer_count(&policy->shape); l++) {
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
  for (int i = 0; i < MR_MAX_PARTS; i++) {
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
  for (int head = 0; head < shape->heads; head++) policy->outputs += shape->is_continuous ? 1 : shape->levels[head];
  policy->last_outputs = (policy->outputs - 1) / mr_rows_per_decision(shape) + 1;
  policy->fighter_row = mr_padded(policy->last_outputs);
  // With targets: hold, fire and a query vector replace the targets' logits.
  if (mr_aims(shape)) policy->last_outputs += 2 + shape->entity_size - shape->levels[shape->heads - 1];
  policy->row = mr_padded(policy->outputs);
  int32_t in = shape->kinds ? shape->own + shape->kinds * shape->entity_size : shape->features;
  for (int l = 0; l <= shape->layers; l++) {
    int32_t out = l == shape->layers ? mr_padded(policy->last_outputs) : shape->width[l];
    if (shape->fighters && l == shape->layers - 1) in *= 2;  // an encoding and the summary of the side
    policy->layers[l] = (MrLayer){.in = in, .in_padded = mr_padded(in), .out_padded = out};
    in = out;
  }
  for (int l = shape->layers + 1; l < mr_layer_count(shape); l++) {
    int kind = l - mr_kind_layer(shape, 0);
    int32_t features = shape->rows[kind < shape->kinds ? kind : shape->targets].features;
    policy->layers[l] = (MrLayer){.in = features, .in_padded = mr_padded(features), .out_padded = shape->entity_size};
  }
}

static void add_array(MrLearner *learner, int32_t rows, int32_t columns, MrPlace place) {
  learner->places[learner->count] = place;
  learner->arrays[learner->count++] = (MrArray){learner->size, rows, columns, place.is_matrix};
  learner->size += rows * columns;
}

static void add_weights(MrLearner *learner, int32_t layer, int32_t row, int32_t rows) {
  int32_t columns = learner->policy.layers[layer].in;
  add_array(learner, rows, columns, (MrPlace){.layer = layer, .row = row, .is_matrix = true});
}

static void add_layer(MrLearner *learner, int32_t layer, int32_t row, int32_t rows) {
  add_weights(learner, layer, row, rows);
  add_array(learner, 1, rows, (MrPlace){.layer = layer, .row = row});
}

static void list_arrays(MrLearner *learner) {
  const MrShape *shape = &learner->policy.shape;
  int32_t last = shape->layers, actor = learner->policy.last_outputs - 1;
  for (int k = 0; k < shape->kinds; k++) add_weights(learner, mr_kind_layer(shape, k), 0, shape->entity_size);
  for (int l = 0; l < last; l++) add_layer(learner, l, 0, shape->width[l]);
  if (shape->heads) add_layer(learner, last, 0, actor);
  if (shape->is_continuous) add_array(learner, 1, shape->heads, (MrPlace){.is_spread = true});
  if (mr_aims(shape)) add_weights(learner, mr_kind_layer(shape, shape->kinds), 0, shape->entity_size);
  add_layer(learner, last, actor, 1);
}

int32_t mr_learner_arrays(const MrLearner *learner, MrArray arrays[MR_MAX_ARRAYS], int32_t *size) {
  memcpy(arrays, learner->arrays, sizeof learner->arrays);
  *size = learner->size;
  return learner->count;
}

MrLearner *mr_learner_create(const MrShape *shape, MrThreads *threads, bool learns, const char *isa) {
  MrLearner *learner = calloc(1, sizeof *learner);
  if (!learner) return NULL;
  shape_policy(&learner->policy, shape);
  list_arrays(learner);
  learner->learns = learns;
  learner->kernel = find_kernel(isa);
  learner->threads = threads;
  Room room = {0};
  take_all(learner, &room);
  learner->memory = mr_alloc_aligned(64, room.used);
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
  mr_free_aligned(learner->memory);
  free(learner);
}

// Parameters -------------------------------------------------------------------------------------------------

static void load_spread(MrPolicy *policy, const float *spread) {
  const MrShape *shape = &policy->shape;
  for (int head = 0; head < shape->heads; head++) {
    float part = 1.0f / (1.0f + expf(-spread[head])), range = shape->deviation[1] - shape->deviation[0];
    policy->deviation[head] = shape->reach[head] * (shape->deviation[0] + range * part);
    policy->log_deviation[head] = logf(policy->deviation[head]);
    policy->deviation_slope[head] = shape->reach[head] * range * part * (1.0f - part);
  }
}

void mr_learner_load_array(MrLearner *learner, int32_t index, const float *parameters) {
  const MrArray *array = &learner->arrays[index];
  const float *from = parameters + array->at;
  MrPlace place = learner->places[index];
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
  for (int32_t i = 0; i < learner->count; i++) mr_learner_load_array(learner, i, parameters);
}

// SPDX-License-Identifier: MIT
//
// The public API: creation and stepping. Each step calls the kernel of the chosen instruction set. Access to the
// state is in state.c, the tables are in tables.c.

#define _DEFAULT_SOURCE  // madvise

#include "midrange.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "block.h"
#include "feature_table.h"
#include "isas.h"
#include "kernel.h"
#include "rng.h"
#include "threads.h"
#include "trig.h"

// Instruction sets ---------------------------------------------------------------------------------------

#define MR_DECLARE_KERNEL(isa) extern const MrKernel mr_kernel_##isa;
MR_ISAS(MR_DECLARE_KERNEL)

// The kernel of that name, or for "auto" the best; NULL if this machine cannot run it.
static const MrKernel *find_kernel(const char *name) {
#define MR_LIST_KERNEL(isa) &mr_kernel_##isa,
  static const MrKernel *const kernels[] = {MR_ISAS(MR_LIST_KERNEL) NULL};
  if (!strcmp(name, "auto")) name = mr_isas()[0];
  for (int i = 0; kernels[i]; i++) {
    if (!strcmp(name, kernels[i]->name) && mr_runs_isa(name)) return kernels[i];
  }
  return NULL;
}

const char *const *mr_isas(void) { return mr_isas_here(); }

// Creation -----------------------------------------------------------------------------------------------

// Upper ends of the pilots' shares of [0, 1), in the order of MrPilot. The share of the last pilot with a weight ends
// at 1.
static void share_out(const float weights[MR_PILOT_COUNT], float ends[MR_PILOT_COUNT]) {
  float total = 0.0f, end = 0.0f;
  int last = 0;
  for (int i = 0; i < MR_PILOT_COUNT; i++) {
    total += weights[i];
    if (weights[i] > 0.0f) last = i;
  }
  for (int i = 0; i < MR_PILOT_COUNT; i++) {
    end += weights[i] / total;
    ends[i] = i < last ? end : 1.0f;  // exactly 1: the sum may be off by rounding
  }
}

static MrMap arrange_map(const MrEnvelope *e) {
  MrMap map = {
      .launch_speed_min = e->launch_speed_min,
      .target_speed_min = e->target_speed_min,
      .launch_nodes = (MR_MAP_LAUNCH - 1) / (e->launch_speed_max - e->launch_speed_min),
      .target_nodes = (MR_MAP_TARGET - 1) / (e->target_speed_max - e->target_speed_min),
  };
  enum { SPEEDS = MR_MAP_LAUNCH * MR_MAP_TARGET };
  for (int off = 0; off < MR_MAP_OFF; off++) {
    for (int aspect = 0; aspect <= MR_MAP_ASPECT; aspect++) {
      int from = aspect % MR_MAP_ASPECT;
      const float *aero = e->aero[off][from][0], *nez = e->nez[off][from][0];
      const float *cold = e->cold[off][from][0], *minimum = e->minimum[off][from][0];
      for (int i = 0; i < SPEEDS; i++) {
        float *corner = map.ranges[off][aspect][i / MR_MAP_TARGET][i % MR_MAP_TARGET];
        corner[0] = aero[i];
        corner[1] = nez[i];
        corner[2] = cold[i];
        corner[3] = minimum[i];
      }
    }
  }
  return map;
}

// Memory for the state, all zero, or NULL. `size` is that of a block's part in it, a multiple of a cache line. From one huge page on it is made of huge pages where the system has them:
// what a large batch needs next is then seldom of a page whose address the processor has to look up first.
static void *make_blocks(int32_t count, size_t size) {
  enum { LINE = 64, HUGE_PAGE = 1 << 21 };
  size_t bytes = (size_t)count * size, unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE;
  bytes = (bytes + unit - 1) / unit * unit;
  void *blocks = aligned_alloc(unit, bytes);
  if (!blocks) return NULL;
#ifdef MADV_HUGEPAGE
  if (unit == HUGE_PAGE) madvise(blocks, bytes, MADV_HUGEPAGE);  // without them it is only slower
#endif
  return memset(blocks, 0, bytes);
}

MrSim *mr_create(const MrConfig *config) {
  const MrKernel *kernel = find_kernel(config->isa);
  if (!kernel) return NULL;
  MrSim *sim = calloc(1, sizeof *sim);
  if (!sim) return NULL;
  sim->params = config->params;
  sim->constants = mr_derive_constants(&config->params, kernel);
  sim->seed = config->seed;
  sim->num_envs = config->num_envs;
  sim->num_blocks = (config->num_envs + MR_LANES - 1) / MR_LANES;
  sim->auto_reset = config->auto_reset;
  sim->has_map = config->envelope != NULL;
  if (sim->has_map) sim->map = arrange_map(config->envelope);
  sim->observation = config->observation;
  sim->kernel = kernel;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    share_out(config->pilot_weights[f], sim->pilot_ends[f]);
    sim->is_agent[f] = config->pilot_weights[f][MR_PILOT_agent] > 0.0f;
    sim->agents_per_env += sim->is_agent[f];
  }
  bool senses = config->params.sensing == MR_SENSING_RADAR;
  sim->blocks = make_blocks(sim->num_blocks, sizeof(MrBlock));
  if (senses) sim->pictures = make_blocks(sim->num_blocks, sizeof(MrPicture));
  sim->records = calloc(2 * (size_t)sim->num_envs, sizeof(MrRecord));
  sim->fresh_records = calloc((size_t)sim->num_blocks * MR_LANES, sizeof(MrRecord));
  sim->ended = calloc((size_t)sim->num_blocks, sizeof *sim->ended);
  sim->threads = config->threads;
  if (!sim->blocks || (senses && !sim->pictures) || !sim->records || !sim->fresh_records || !sim->ended) {
    mr_destroy(sim);
    return NULL;
  }
  mr_reset(sim, config->seed);
  return sim;
}

void mr_destroy(MrSim *sim) {
  if (!sim) return;
  free(sim->blocks);
  free(sim->pictures);
  free(sim->records);
  free(sim->fresh_records);
  free(sim->ended);
  free(sim);
}

const char *mr_isa(const MrSim *sim) { return sim->kernel->name; }
size_t mr_state_bytes(void) { return sizeof(MrBlock) / MR_LANES; }
int32_t mr_agents_per_env(const MrSim *sim) { return sim->agents_per_env; }
uint64_t mr_seed(const MrSim *sim) { return sim->seed; }

// Running ------------------------------------------------------------------------------------------------

// What is to be done with every block, and with what: `do_block` reads what it needs of the rest.
typedef struct BlockWork {
  MrSim *sim;
  void (*do_block)(const struct BlockWork *work, int32_t block);
  void (*take)(MrSim *sim, int32_t block, const void *actions);
  const void *actions;
  MrOutputs out;
  int32_t steps;
} BlockWork;

// Blocks that a thread takes at a time: some tens of microseconds.
enum { PART_BLOCKS = 4 };

static void do_part(void *context, int32_t part, int32_t thread) {
  (void)thread;
  const BlockWork *work = context;
  int32_t blocks = work->sim->num_blocks;
  int32_t end = (part + 1) * PART_BLOCKS < blocks ? (part + 1) * PART_BLOCKS : blocks;
  for (int32_t block = part * PART_BLOCKS; block < end; block++) work->do_block(work, block);
}

// Shares the blocks out to the threads and returns when all are done.
static void do_blocks(BlockWork *work) {
  mr_threads_run(work->sim->threads, (work->sim->num_blocks + PART_BLOCKS - 1) / PART_BLOCKS, do_part, work);
}

static void reset_block(const BlockWork *work, int32_t block) {
  MrSim *sim = work->sim;
  MrBlock *b = &sim->blocks[block];
  MR_EACH_LANE(i) {
    b->engagement[i] = block * MR_LANES + i;
    b->episode[i] = 0;
    sim->kernel->start_lane(sim, block, i);
  }
  MR_EACH_LANE(i) sim->kernel->rate_lane(sim, b, i);
}

void mr_reset(MrSim *sim, uint64_t seed) {
  sim->seed = seed;
  sim->record_count = 0;
  do_blocks(&(BlockWork){.sim = sim, .do_block = reset_block});
}

void mr_start_episode(MrSim *sim, int32_t env, int32_t engagement, int32_t episode) {
  MrBlock *b = &sim->blocks[env / MR_LANES];
  int lane = env % MR_LANES;
  b->engagement[lane] = engagement;
  b->episode[lane] = episode;
  sim->kernel->start_lane(sim, env / MR_LANES, lane);
  sim->kernel->rate_lane(sim, b, lane);
}

// Sets the commands of a fighter that an agent flies, clipped; not-a-number counts as 0.
static void command(MrFighter *f, int lane, float rudder, float throttle, bool fire) {
  f->rudder_command[lane] = rudder == rudder ? mr_clip(rudder, -1.0f, 1.0f) : 0.0f;
  f->throttle_command[lane] = throttle == throttle ? mr_clip(throttle, 0.0f, 1.0f) : 0.0f;
  f->fire[lane] = fire;
}

static int32_t clip_int(int32_t x, int32_t high) { return x < 0 ? 0 : x > high ? high : x; }

// Where the actions of a block's agents begin. `actions` has a row of MR_ACTIONS numbers, of `size` bytes each, for
// every agent of the simulation.
static const void *first_action(const MrSim *sim, int32_t block, const void *actions, size_t size) {
  return (const char *)actions + (size_t)block * MR_LANES * (size_t)sim->agents_per_env * MR_ACTIONS * size;
}

static void take_levels(MrSim *sim, int32_t block, const void *actions) {
  const int32_t *a = first_action(sim, block, actions, sizeof *a);
  int lanes = mr_used_lanes(sim, block), stride = sim->agents_per_env * MR_ACTIONS;
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (!sim->is_agent[f]) continue;
    MrFighter *fighter = &sim->blocks[block].fighters[f];
    for (int i = 0; i < lanes; i++) {
      const int32_t *levels = a + i * stride;
      int32_t rudder = clip_int(levels[0], MR_RUDDER_LEVELS - 1);
      int32_t throttle = clip_int(levels[1], MR_THROTTLE_LEVELS - 1);
      fighter->rudder_command[i] = (float)(2 * rudder) / (MR_RUDDER_LEVELS - 1) - 1.0f;
      fighter->throttle_command[i] = (float)throttle / (MR_THROTTLE_LEVELS - 1);
      fighter->fire[i] = levels[2] > 0;
    }
    a += MR_ACTIONS;
  }
}

static void take_continuous(MrSim *sim, int32_t block, const void *actions) {
  const float *a = first_action(sim, block, actions, sizeof *a);
  int lanes = mr_used_lanes(sim, block);
  for (int lane = 0; lane < lanes; lane++) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      if (!sim->is_agent[f]) continue;
      command(&sim->blocks[block].fighters[f], lane, a[0], a[1], a[2] > 0.5f);
      a += MR_ACTIONS;
    }
  }
}

// The controls of both seats, of which those of agents are taken.
static void take_controls(MrSim *sim, int32_t block, const void *controls) {
  MrBlock *b = &sim->blocks[block];
  const float *c = (const float *)controls + (size_t)block * MR_LANES * MR_FIGHTERS * MR_ACTIONS;
  int lanes = mr_used_lanes(sim, block);
  for (int lane = 0; lane < lanes; lane++) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++, c += MR_ACTIONS) {
      if (b->fighters[f].pilot[lane] == MR_PILOT_agent) {
        command(&b->fighters[f], lane, c[0], c[1], c[2] > 0.5f);
      }
    }
  }
}

static void decide_block(const BlockWork *work, int32_t block) {
  work->take(work->sim, block, work->actions);
  work->sim->kernel->decide_block(work->sim, block, &work->out);
}

// Adds the records of the decision to those that wait to be taken, in the order of the engagements. The caller has left
// room; without it, a caller's fault costs records, not the heap.
static void keep_records(MrSim *sim) {
  for (int32_t block = 0; block < sim->num_blocks; block++) {
    for (int32_t i = 0; i < sim->ended[block]; i++) {
      bool room = sim->record_count < 2 * sim->num_envs;
      assert(room && "the caller takes the records before the buffer is full");
      if (room) sim->records[sim->record_count++] = sim->fresh_records[block * MR_LANES + i];
    }
  }
}

static void decide(MrSim *sim, void (*take)(MrSim *, int32_t, const void *), const void *actions, MrOutputs out) {
  do_blocks(&(BlockWork){.sim = sim, .do_block = decide_block, .take = take, .actions = actions, .out = out});
  keep_records(sim);
}

void mr_step(MrSim *sim, const int32_t *actions, const MrResults *results) {
  decide(sim, take_levels, actions, (MrOutputs){.to = *results});
}

void mr_step_continuous(MrSim *sim, const float *actions, const MrResults *results) {
  decide(sim, take_continuous, actions, (MrOutputs){.to = *results});
}

void mr_step_controls(MrSim *sim, const float *controls, float *rewards) {
  decide(sim, take_controls, controls, (MrOutputs){.to.rewards = rewards, .every_seat = true});
}

static void advance_block(const BlockWork *work, int32_t block) {
  work->sim->kernel->advance_block(work->sim, block, work->steps);
}

void mr_advance(MrSim *sim, int32_t steps) {
  do_blocks(&(BlockWork){.sim = sim, .do_block = advance_block, .steps = steps});
}

static void observe_block(const BlockWork *work, int32_t block) {
  work->sim->kernel->observe_block(work->sim, block, &work->out);
}

static void observe(MrSim *sim, MrOutputs out) {
  do_blocks(&(BlockWork){.sim = sim, .do_block = observe_block, .out = out});
}

void mr_observe(MrSim *sim, float *observations) {
  observe(sim, (MrOutputs){.to.observations = observations});
}

void mr_observe_all(MrSim *sim, float *observations) {
  observe(sim, (MrOutputs){.to.observations = observations, .every_seat = true});
}

void mr_observe_states(MrSim *sim, float *states) { observe(sim, (MrOutputs){.to.states = states}); }

int32_t mr_record_count(const MrSim *sim) { return sim->record_count; }

const MrRecord *mr_take_records(MrSim *sim, int32_t *count) {
  *count = sim->record_count;
  sim->record_count = 0;
  return sim->records;
}

void mr_fly_shots(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits) {
  for (int32_t done = 0; done < count; done += MR_LANES) {
    int32_t rest = count - done;
    sim->kernel->fly_shots(sim, shots + done, rest < MR_LANES ? rest : MR_LANES, hits + done);
  }
}

void mr_look_up_shots(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges) {
  sim->kernel->look_up_shots(sim, shots, count, edges);
}

void mr_look_ahead(const MrSim *sim, int32_t env, int32_t seat, int32_t interval, int32_t count,
                   MrMoment *moments, MrPrediction *predictions) {
  const MrBlock *block = &sim->blocks[env / MR_LANES];
  sim->kernel->look_ahead(sim, block, env % MR_LANES, seat, interval, count, moments, predictions);
}

void mr_threat_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones) {
  sim->kernel->threat_cone(sim, launch_speed, interval, count, cones);
}

// Directions and random numbers ---------------------------------------------------------------------------

void mr_direction(double degrees, float *x, float *y) { mr_unit_vector(degrees / 360.0, x, y); }

void mr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  mr_philox(counter, key, out);
}

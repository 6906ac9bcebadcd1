// SPDX-License-Identifier: MIT
//
// The public API: creation, stepping and access to the state. Each step calls the kernel of the chosen instruction set
// and of the game. Access to the state of that game is in state.c, the tables are in tables.c.

#define _DEFAULT_SOURCE  // madvise

#include "midrange.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "aligned.h"
#include "isas.h"
#include "kernel.h"
#include "rng.h"
#include "simulation.h"
#include "threads.h"

// Instruction sets and games ------------------------------------------------------------------------------

#define MR_DECLARE_KERNEL(isa, side, dimensions) extern const MrKernel mr_kernel_##isa##_##side##_##dimensions;
#define MR_DECLARE_KERNELS(isa) MR_GAMES(MR_DECLARE_KERNEL, isa)
MR_ISAS(MR_DECLARE_KERNELS)

// The kernel of that name, or for "auto" the best, of the first game that has room for these sides; NULL if there is
// none or this machine cannot run it.
static const MrKernel *find_kernel(const char *name, int32_t red, int32_t blue, int32_t dimensions) {
#define MR_LIST_KERNEL(isa, side, dimensions) &mr_kernel_##isa##_##side##_##dimensions,
#define MR_LIST_KERNELS(isa) MR_GAMES(MR_LIST_KERNEL, isa)
  static const MrKernel *const kernels[] = {MR_ISAS(MR_LIST_KERNELS) NULL};
  if (!strcmp(name, "auto")) name = mr_isas()[0];
  for (int i = 0; kernels[i]; i++) {
    int32_t side = kernels[i]->side;
    bool has_room = MR_SIDES * side >= red + blue && MR_LISTED(side) >= mr_enemy_rows(red, blue);
    if (has_room && kernels[i]->dimensions == dimensions && !strcmp(name, kernels[i]->name) && mr_runs_isa(name))
      return kernels[i];
  }
  return NULL;
}

#define MR_DECLARE_ACCESS(unused, side, dimensions) extern const MrAccess mr_access_##side##_##dimensions;
MR_GAMES(MR_DECLARE_ACCESS, )

// Access to the state of the game that a kernel is of.
static const MrAccess *find_access(const MrKernel *kernel) {
#define MR_FIND_ACCESS(kernel, its_side, its_dimensions) \
  if (kernel->side == its_side && kernel->dimensions == its_dimensions) return &mr_access_##its_side##_##its_dimensions;
  MR_GAMES(MR_FIND_ACCESS, kernel)
  return NULL;
}

const char *const *mr_isas(void) { return mr_isas_here(); }

// Creation -----------------------------------------------------------------------------------------------

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

// Memory for the state, all zero, or NULL. `size` is that of a block's part in it, a multiple of a cache line. From one
// huge page on it is made of huge pages where the system has them: what a large batch needs next is then seldom of a
// page whose address the processor has to look up first.
static void *make_blocks(int32_t count, size_t size) {
  enum { LINE = 64, HUGE_PAGE = 1 << 21 };
  size_t bytes = (size_t)count * size, unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE;
  bytes = (bytes + unit - 1) / unit * unit;
  void *blocks = mr_alloc_aligned(unit, bytes);
  if (!blocks) return NULL;
#ifdef MADV_HUGEPAGE
  if (unit == HUGE_PAGE) madvise(blocks, bytes, MADV_HUGEPAGE);  // without them it is only slower
#endif
  return memset(blocks, 0, bytes);
}

MrSim *mr_create(const MrConfig *config) {
  int32_t red = config->params.red_size, blue = config->params.blue_size, fighters = red + blue;
  const MrKernel *kernel = find_kernel(config->isa, red, blue, config->params.dimensions);
  const MrKernel *pairs = find_kernel(config->isa, 1, 1, 2);
  if (!kernel) return NULL;
  MrSim *sim = calloc(1, sizeof *sim);
  if (!sim) return NULL;
  sim->params = config->params;
  sim->constants = mr_derive_constants(&config->params, pairs);
  bool has_height = config->params.dimensions == 3;
  if (has_height) mr_derive_types(config, &sim->types, &sim->constants);
  sim->seed = config->seed;
  sim->num_envs = config->num_envs;
  sim->num_blocks = (config->num_envs + MR_LANES - 1) / MR_LANES;
  sim->auto_reset = config->auto_reset;
  sim->has_map = config->envelope != NULL && !has_height;
  if (sim->has_map) sim->map = arrange_map(config->envelope);
  sim->observation = config->observation;
  const MrParams *p = &config->params;
  MrAdded added = mr_added(p);
  sim->has_systems = added.systems;
  sim->features = mr_feature_count(config->observation, added, p->red_size, p->blue_size);
  sim->view_features = mr_feature_count(config->observation, (MrAdded){0}, p->red_size, p->blue_size);
  sim->head_count = mr_order_heads(p->sensing, p->red_size, p->blue_size, p->dimensions, added.systems,
                                   sim->head_levels, sim->heads, sim->orders);
  sim->kernel = kernel;
  sim->pair_kernel = pairs;
  sim->access = find_access(kernel);
  sim->sizes[0] = red;
  sim->sizes[1] = blue;
  sim->fighters = fighters;
  sim->roster_bytes = sizeof(MrRoster) + (size_t)fighters * sizeof(MrFlownLanes);
  for (int32_t f = 0; f < fighters; f++) {
    mr_share_out(config->pilot_weights[f], MR_PILOT_COUNT, sim->pilot_ends[f]);
    sim->is_agent[f] = config->pilot_weights[f][MR_PILOT_agent] > 0.0f;
    sim->agents_per_env += sim->is_agent[f];
  }
  bool senses = config->params.sensing == MR_SENSING_RADAR;
  sim->blocks = make_blocks(sim->num_blocks, sim->access->block_bytes);
  if (senses) sim->pictures = make_blocks(sim->num_blocks, sim->access->picture_bytes);
  if (has_height) sim->rosters = make_blocks(sim->types.are_drawn ? sim->num_blocks : 1, sim->roster_bytes);
  sim->records = calloc(2 * (size_t)sim->num_envs, sizeof(MrRecord));
  sim->fresh_records = calloc((size_t)sim->num_blocks * MR_LANES, sizeof(MrRecord));
  sim->ended = calloc((size_t)sim->num_blocks, sizeof *sim->ended);
  sim->threads = config->threads;
  bool has_all = sim->blocks && (!senses || sim->pictures) && (!has_height || sim->rosters);
  if (!has_all || !sim->records || !sim->fresh_records || !sim->ended) {
    mr_destroy(sim);
    return NULL;
  }
  if (has_height) MR_EACH_LANE(i) mr_fill_roster(sim, 0, 0, sim->rosters, i);
  mr_reset(sim, config->seed);
  return sim;
}

void mr_destroy(MrSim *sim) {
  if (!sim) return;
  mr_free_aligned(sim->blocks);
  mr_free_aligned(sim->pictures);
  mr_free_aligned(sim->rosters);
  free(sim->records);
  free(sim->fresh_records);
  free(sim->ended);
  free(sim);
}

const char *mr_isa(const MrSim *sim) { return sim->kernel->name; }
size_t mr_state_bytes(const MrSim *sim) { return sim->access->block_bytes / MR_LANES; }
int32_t mr_agents_per_env(const MrSim *sim) { return sim->agents_per_env; }
int32_t mr_fighters_per_env(const MrSim *sim) { return sim->fighters; }
int32_t mr_controls(const MrSim *sim) { return sim->kernel->controls + sim->has_systems; }
uint64_t mr_seed(const MrSim *sim) { return sim->seed; }

// Running ------------------------------------------------------------------------------------------------

// Work on every block. `do_block` reads the other members that it needs.
typedef struct BlockWork {
  MrSim *sim;
  void (*do_block)(const struct BlockWork *work, int32_t block);
  MrTake take;
  const void *actions;
  float *controls;
  uint8_t *absent;
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
  MR_EACH_LANE(i) sim->kernel->start_lane(sim, block, i, block * MR_LANES + i, 0);
  MR_EACH_LANE(i) sim->kernel->rate_lane(sim, block, i);
}

void mr_reset(MrSim *sim, uint64_t seed) {
  sim->seed = seed;
  sim->record_count = 0;
  do_blocks(&(BlockWork){.sim = sim, .do_block = reset_block});
}

void mr_start_episode(MrSim *sim, int32_t env, int32_t engagement, int32_t episode) {
  sim->kernel->start_lane(sim, env / MR_LANES, env % MR_LANES, engagement, episode);
  sim->kernel->rate_lane(sim, env / MR_LANES, env % MR_LANES);
}

static void decide_block(const BlockWork *work, int32_t block) {
  work->sim->kernel->take_actions(work->sim, block, work->take, work->actions);
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

static void decide(MrSim *sim, MrTake take, const void *actions, MrOutputs out) {
  do_blocks(&(BlockWork){.sim = sim, .do_block = decide_block, .take = take, .actions = actions, .out = out});
  keep_records(sim);
}

void mr_step(MrSim *sim, const int32_t *actions, const MrResults *results) {
  decide(sim, MR_TAKE_LEVELS, actions, (MrOutputs){.to = *results});
}

void mr_step_continuous(MrSim *sim, const float *actions, const MrResults *results) {
  decide(sim, MR_TAKE_CONTINUOUS, actions, (MrOutputs){.to = *results});
}

void mr_step_controls(MrSim *sim, const float *controls, float *rewards) {
  decide(sim, MR_TAKE_CONTROLS, controls, (MrOutputs){.to.rewards = rewards, .every_fighter = true});
}

static void follow_block(const BlockWork *work, int32_t block) {
  work->sim->kernel->controls_of_orders(work->sim, block, work->actions, work->controls, work->absent);
}

void mr_controls_of_orders(MrSim *sim, const int32_t *orders, float *controls, uint8_t *absent) {
  do_blocks(
      &(BlockWork){.sim = sim, .do_block = follow_block, .actions = orders, .controls = controls, .absent = absent});
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

void mr_observe(MrSim *sim, float *observations) { observe(sim, (MrOutputs){.to.observations = observations}); }

void mr_observe_all(MrSim *sim, float *observations) {
  observe(sim, (MrOutputs){.to.observations = observations, .every_fighter = true});
}

// The observation with full information in a game of this one.
static MrObservation without_sensors(MrObservation observation) {
  switch (observation) {
    case MR_OBSERVE_RADAR:
      return MR_OBSERVE_DEFAULT;
    case MR_OBSERVE_TEAM_RADAR:
      return MR_OBSERVE_TEAM;
    case MR_OBSERVE_RADAR_HEIGHT:
      return MR_OBSERVE_HEIGHT;
    case MR_OBSERVE_RADAR_HEIGHT_2:
      return MR_OBSERVE_HEIGHT_2;
    case MR_OBSERVE_RADAR_HEIGHT_3:
      return MR_OBSERVE_HEIGHT_3;
    case MR_OBSERVE_TEAM_RADAR_HEIGHT:
      return MR_OBSERVE_TEAM_HEIGHT;
    default:
      return observation;
  }
}

int32_t mr_truth_features(const MrSim *sim) {
  MrAdded added = {.mission = mr_added(&sim->params).mission};
  return mr_feature_count(without_sensors(sim->observation), added, sim->sizes[0], sim->sizes[1]);
}

void mr_observe_truth(MrSim *sim, float *observations) {
  MrSim full = *sim;
  full.pictures = NULL;
  full.has_systems = false;
  full.observation = without_sensors(sim->observation);
  full.features = mr_truth_features(sim);
  full.view_features = mr_feature_count(full.observation, (MrAdded){0}, sim->sizes[0], sim->sizes[1]);
  mr_observe(&full, observations);
}

void mr_observe_states(MrSim *sim, float *states) { observe(sim, (MrOutputs){.to.states = states}); }

int32_t mr_record_count(const MrSim *sim) { return sim->record_count; }

const MrRecord *mr_take_records(MrSim *sim, int32_t *count) {
  *count = sim->record_count;
  sim->record_count = 0;
  return sim->records;
}

void mr_fly_shots(const MrSim *sim, const MrShot *shots, int32_t count, bool *hits) {
  const MrKernel *kernel = sim->params.dimensions == 3 ? sim->kernel : sim->pair_kernel;
  for (int32_t done = 0; done < count; done += MR_LANES) {
    int32_t rest = count - done;
    kernel->fly_shots(sim, shots + done, rest < MR_LANES ? rest : MR_LANES, hits + done);
  }
}

void mr_look_up_shots(const MrSim *sim, const MrShot *shots, int32_t count, MrShotEdges *edges) {
  sim->pair_kernel->look_up_shots(sim, shots, count, edges);
}

void mr_look_ahead(const MrSim *sim, int32_t env, int32_t seat, int32_t interval, int32_t count, MrMoment *moments,
                   MrPrediction *predictions) {
  sim->kernel->look_ahead(sim, env / MR_LANES, env % MR_LANES, seat, interval, count, moments, predictions);
}

void mr_threat_cone(const MrSim *sim, float launch_speed, int32_t interval, int32_t count, MrCone *cones) {
  sim->pair_kernel->threat_cone(sim, launch_speed, interval, count, cones);
}

void mr_high_threat_cone(const MrSim *sim, int32_t env, int32_t fighter, int32_t interval, int32_t count,
                         MrHighCone *cones) {
  sim->kernel->high_threat_cone(sim, env / MR_LANES, env % MR_LANES, fighter, interval, count, cones);
}

// Access to the state -------------------------------------------------------------------------------------

const MrField *mr_fields(const MrSim *sim, MrEntity entity) {
  return (sim ? sim->access : &mr_access_1_2)->fields(entity);
}

int32_t mr_count_of(const MrSim *sim, MrEntity entity) {
  if (entity == MR_ENGAGEMENT) return 1;
  if (entity == MR_CONTACT) return 2 * sim->sizes[0] * sim->sizes[1];
  return entity == MR_FIGHTER || entity == MR_SYSTEMS ? sim->fighters : sim->fighters * MR_MISSILES_PER_FIGHTER;
}

void mr_get_field(const MrSim *sim, MrEntity entity, const MrField *field, void *values) {
  sim->access->get_field(sim, entity, field, values);
}

void mr_get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state) {
  sim->access->get_fighter(sim, env, fighter, state);
}

const char *mr_set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state) {
  return sim->access->set_fighter(sim, env, fighter, state);
}

void mr_get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state) {
  sim->access->get_missile(sim, env, slot, state);
}

const char *mr_set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state) {
  return sim->access->set_missile(sim, env, slot, state);
}

bool mr_launch(MrSim *sim, int32_t env, int32_t fighter) {
  return sim->kernel->launch(sim, env / MR_LANES, fighter, env % MR_LANES);
}

// A snapshot is the seed, the blocks, and with sensors their pictures.
static size_t blocks_bytes(const MrSim *sim) { return (size_t)sim->num_blocks * sim->access->block_bytes; }
static size_t pictures_bytes(const MrSim *sim) {
  return sim->pictures ? (size_t)sim->num_blocks * sim->access->picture_bytes : 0;
}

size_t mr_snapshot_bytes(const MrSim *sim) { return sizeof sim->seed + blocks_bytes(sim) + pictures_bytes(sim); }

void mr_snapshot(const MrSim *sim, void *bytes) {
  char *to = bytes;
  memcpy(to, &sim->seed, sizeof sim->seed);
  memcpy(to + sizeof sim->seed, sim->blocks, blocks_bytes(sim));
  if (sim->pictures) memcpy(to + sizeof sim->seed + blocks_bytes(sim), sim->pictures, pictures_bytes(sim));
}

const char *mr_restore(MrSim *sim, const void *bytes) {
  const char *blocks = (const char *)bytes + sizeof sim->seed, *pictures = blocks + blocks_bytes(sim);
  const char *wrong = sim->access->find_wrong(sim, blocks, sim->pictures ? pictures : NULL);
  if (wrong) return wrong;
  memcpy(&sim->seed, bytes, sizeof sim->seed);
  memcpy(sim->blocks, blocks, blocks_bytes(sim));
  sim->access->take_over(sim);
  if (sim->pictures) memcpy(sim->pictures, pictures, pictures_bytes(sim));
  return NULL;
}

uint64_t mr_fight_hash(const MrSim *sim) { return sim->access->fight_hash(sim); }
uint64_t mr_state_hash(const MrSim *sim) { return sim->access->state_hash(sim); }

// Directions and random numbers ---------------------------------------------------------------------------

void mr_direction(double degrees, float *x, float *y) { mr_unit_vector(degrees / 360.0, x, y); }

void mr_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) { mr_philox(counter, key, out); }

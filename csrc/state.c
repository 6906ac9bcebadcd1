// SPDX-License-Identifier: MIT
//
// Access to the state from outside: reading and setting it, snapshots, its hash.

#include <string.h>

#include "block.h"
#include "kernel.h"
#include "midrange.h"

void mr_get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state) {
  const MrBlock *b = &sim->blocks[env / MR_LANES];
  const MrFighter *f = &b->fighters[fighter];
  int i = env % MR_LANES;
  int32_t wait = f->ready[i] - b->time[i];
  *state = (MrFighterState){
      .x = f->body.x[i], .y = f->body.y[i], .direction_x = f->body.c[i], .direction_y = f->body.s[i],
      .speed = f->body.v[i], .rudder = f->body.rudder[i], .throttle = f->throttle[i],
      .alive = f->alive[i], .ammunition = f->ammunition[i], .pilot = f->pilot[i],
      .launch_wait = wait > 0 ? wait : 0};
}

// Removes what goes for the dead, as their death would have done; the physics counts on there being none.
static void drop_missiles_at_dead(MrBlock *b, int lane) {
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    if (b->fighters[f].alive[lane]) continue;
    for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
      MrMissile *m = &b->missiles[slot];
      if (!m->active[lane] || m->target[lane] != f) continue;
      m->active[lane] = 0;
      b->live[slot]--;
    }
  }
}

void mr_set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state) {
  MrBlock *b = &sim->blocks[env / MR_LANES];
  MrFighter *f = &b->fighters[fighter];
  int i = env % MR_LANES;
  f->body.x[i] = state->x;
  f->body.y[i] = state->y;
  f->body.c[i] = state->direction_x;
  f->body.s[i] = state->direction_y;
  f->body.v[i] = state->speed;
  f->body.rudder[i] = f->rudder_command[i] = state->rudder;
  f->throttle[i] = f->throttle_command[i] = state->throttle;
  f->alive[i] = state->alive;
  f->ammunition[i] = state->ammunition;
  f->ready[i] = b->time[i] + state->launch_wait;
  drop_missiles_at_dead(b, i);
  sim->kernel->rate_lane(sim, b, i);
}

void mr_get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state) {
  const MrMissile *m = &sim->blocks[env / MR_LANES].missiles[slot];
  int i = env % MR_LANES;
  *state = (MrMissileState){0};
  if (!m->active[i]) return;
  *state = (MrMissileState){
      .active = 1, .owner = m->owner[i], .target = m->target[i], .age = m->age[i],
      .x = m->body.x[i], .y = m->body.y[i], .direction_x = m->body.c[i],
      .direction_y = m->body.s[i], .speed = m->body.v[i], .rudder = m->body.rudder[i]};
}

void mr_set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state) {
  MrBlock *b = &sim->blocks[env / MR_LANES];
  MrMissile *m = &b->missiles[slot];
  int i = env % MR_LANES;
  m->active[i] = state->active;
  m->owner[i] = state->owner;
  m->target[i] = state->target;
  m->age[i] = state->age;
  m->body.x[i] = state->x;
  m->body.y[i] = state->y;
  m->body.c[i] = state->direction_x;
  m->body.s[i] = state->direction_y;
  m->body.v[i] = state->speed;
  m->body.rudder[i] = state->rudder;
  b->live[slot] = mr_count(m->active);
  drop_missiles_at_dead(b, i);
  sim->kernel->rate_lane(sim, b, i);
}

bool mr_launch(MrSim *sim, int32_t env, int32_t fighter) {
  return sim->kernel->launch(sim, &sim->blocks[env / MR_LANES], fighter, env % MR_LANES);
}

MrOutcome mr_outcome(const MrSim *sim, int32_t env, bool *truncated) {
  const MrBlock *b = &sim->blocks[env / MR_LANES];
  *truncated = b->truncated[env % MR_LANES];
  return (MrOutcome)b->outcome[env % MR_LANES];
}

int32_t mr_time(const MrSim *sim, int32_t env) {
  return sim->blocks[env / MR_LANES].time[env % MR_LANES];
}

int32_t mr_episode(const MrSim *sim, int32_t env) {
  return sim->blocks[env / MR_LANES].episode[env % MR_LANES];
}

size_t mr_snapshot_bytes(const MrSim *sim) {
  return sizeof sim->seed + (size_t)sim->num_blocks * sizeof(MrBlock);
}

void mr_snapshot(const MrSim *sim, void *bytes) {
  memcpy(bytes, &sim->seed, sizeof sim->seed);
  memcpy((char *)bytes + sizeof sim->seed, sim->blocks, (size_t)sim->num_blocks * sizeof(MrBlock));
}

bool mr_restore(MrSim *sim, const void *bytes) {
  const char *from = (const char *)bytes + sizeof sim->seed;
  for (int32_t block = 0; block < sim->num_blocks; block++) {
    for (int32_t f = 0; f < MR_FIGHTERS; f++) {
      int32_t pilots[MR_LANES];
      size_t at = (size_t)block * sizeof(MrBlock) + offsetof(MrBlock, fighters) +
                  (size_t)f * sizeof(MrFighter) + offsetof(MrFighter, pilot);
      memcpy(pilots, from + at, sizeof pilots);
      for (int i = 0; i < MR_LANES; i++) {
        if (pilots[i] < 0 || pilots[i] >= MR_PILOT_COUNT) return false;
      }
    }
  }
  memcpy(&sim->seed, bytes, sizeof sim->seed);
  memcpy(sim->blocks, from, (size_t)sim->num_blocks * sizeof(MrBlock));
  return true;
}

// FNV-1a over 32-bit words.
static uint64_t mix(uint64_t hash, const void *word) {
  uint32_t bits;
  memcpy(&bits, word, sizeof bits);
  return (hash ^ bits) * 1099511628211u;
}

static uint64_t hash_body(uint64_t h, const MrBody *body, int lane) {
  const float *fields[] = {body->x, body->y, body->c, body->s, body->v, body->rudder};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) h = mix(h, fields[i] + lane);
  return h;
}

// What is drawn of them; the rest follows from the pilot.
static uint64_t hash_tactics(uint64_t h, const MrTactics *t, int lane) {
  const void *drawn[] = {&t->far[lane], &t->near[lane], &t->delay[lane], &t->cold_time[lane], &t->guard[lane]};
  for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) h = mix(h, drawn[i]);
  return h;
}

static uint64_t hash_engagement(uint64_t h, const MrBlock *b, int lane) {
  const void *common[] = {&b->episode[lane], &b->time[lane], &b->decisions[lane], &b->outcome[lane],
                          &b->truncated[lane], &b->potential[lane]};
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) h = mix(h, common[i]);
  for (int32_t f = 0; f < MR_FIGHTERS; f++) {
    const MrFighter *x = &b->fighters[f];
    const void *own[] = {&x->throttle[lane], &x->rudder_command[lane], &x->throttle_command[lane],
                         &x->fire[lane],     &x->alive[lane],          &x->ammunition[lane],
                         &x->ready[lane],    &x->launched[lane],       &x->pilot[lane]};
    h = hash_tactics(hash_body(h, &x->body, lane), &x->tactics, lane);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) h = mix(h, own[i]);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    const MrMissile *m = &b->missiles[slot];
    h = mix(h, &m->active[lane]);
    if (!m->active[lane]) continue;  // what is left in an empty slot does not matter
    h = hash_body(h, &m->body, lane);
    h = mix(mix(mix(h, &m->owner[lane]), &m->target[lane]), &m->age[lane]);
  }
  return h;
}

uint64_t mr_state_hash(const MrSim *sim) {
  uint64_t h = 14695981039346656037u;
  for (int32_t env = 0; env < sim->num_envs; env++) {
    h = hash_engagement(h, &sim->blocks[env / MR_LANES], env % MR_LANES);
  }
  return h;
}

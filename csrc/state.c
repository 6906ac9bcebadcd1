// SPDX-License-Identifier: MIT
//
// Access to the state from outside: reading and setting it, its hash. setup.py compiles this file once for each size of
// sides, MR_SIDE.

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "kernel.h"

// Fields -------------------------------------------------------------------------------------------------

#define MR_IS_float false
#define MR_IS_int32_t true
#define MR_DESCRIBE(type, name, minimum, maximum, hashed, meaning, offset) \
  {#name, meaning, MR_IS_##type, hashed, minimum, maximum, offset},
#define MR_OF_ENGAGEMENT(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrBlock, name))
#define MR_OF_FIGHTER(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, name))
#define MR_OF_TACTICS(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, tactics.name))
#define MR_OF_FIGHTER_BODY(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrFighter, body.name))
#define MR_OF_MISSILE(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrMissile, name))
#define MR_OF_MISSILE_BODY(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrMissile, body.name))
#define MR_OF_BELIEVED(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrContact, body.name))
#define MR_OF_A_CONTACT(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrContact, name))
#define MR_OF_BELIEF(type, name, start, ...) MR_DESCRIBE(type, name, __VA_ARGS__, offsetof(MrBelief, name))

static const MrField engagement_fields[] = {MR_KEY_FIELDS(MR_OF_ENGAGEMENT) MR_ENGAGEMENT_FIELDS(MR_OF_ENGAGEMENT){0}};
static const MrField fighter_fields[] = {MR_BODY_FIELDS(MR_OF_FIGHTER_BODY) MR_TACTICS_FIELDS(MR_OF_TACTICS)
                                             MR_FIGHTER_FIELDS(MR_OF_FIGHTER){0}};
static const MrField missile_fields[] = {MR_BODY_FIELDS(MR_OF_MISSILE_BODY) MR_MISSILE_FIELDS(MR_OF_MISSILE){0}};
static const MrField contact_fields[] = {MR_BODY_FIELDS(MR_OF_BELIEVED) MR_CONTACT_FIELDS(MR_OF_A_CONTACT){0}};
static const MrField belief_fields[] = {MR_BELIEF_FIELDS(MR_OF_BELIEF){0}};

// The fields of a kind of entity, and where its structs are in a block, or in a block's picture if it is `known`: the
// first at `offset`, each of `size` bytes; there is room for `room`.
typedef struct {
  const MrField *fields;
  size_t offset, size;
  int32_t room;
  bool known;
} Entity;

static const Entity entities[MR_ENTITY_COUNT] = {
    [MR_ENGAGEMENT] = {engagement_fields, 0, sizeof(MrBlock), 1, false},
    [MR_FIGHTER] = {fighter_fields, offsetof(MrBlock, fighters), sizeof(MrFighter), MR_FIGHTERS, false},
    [MR_MISSILE] = {missile_fields, offsetof(MrBlock, missiles), sizeof(MrMissile), MR_MISSILES, false},
    [MR_CONTACT] = {contact_fields, offsetof(MrPicture, contacts), sizeof(MrContact), MR_CONTACTS, true},
    [MR_BELIEF] = {belief_fields, offsetof(MrPicture, beliefs), sizeof(MrBelief), MR_MISSILES, true},
};

static const MrField *fields_of(MrEntity entity) { return entities[entity].fields; }

// A block and its picture, which is NULL without sensors. They may be at any address, aligned or not.
typedef struct {
  const void *block, *picture;
} State;

static State state_of(const MrSim *sim, int32_t block) { return (State){mr_block(sim, block), mr_picture(sim, block)}; }

// The address of a field's four bytes: in one lane of the entity `number` of its kind.
static const char *place(State state, const Entity *entity, int32_t number, const MrField *field, int lane) {
  const char *from = entity->known ? state.picture : state.block;
  return from + entity->offset + (size_t)number * entity->size + field->offset + 4 * (size_t)lane;
}

static void get_field(const MrSim *sim, MrEntity kind, const MrField *field, void *values) {
  const Entity *entity = &entities[kind];
  int32_t count = mr_count_of(sim, kind);
  char *to = values;
  if (entity->known && !sim->pictures) return;
  for (int32_t env = 0; env < sim->num_envs; env++) {
    for (int32_t number = 0; number < count; number++, to += 4) {
      memcpy(to, place(state_of(sim, env / MR_LANES), entity, number, field, env % MR_LANES), 4);
    }
  }
}

// True if the value at an address is in the field's range. Not-a-number is in no range.
static bool in_range(const MrField *field, const char *at) {
  int32_t whole;
  float number;
  memcpy(&whole, at, sizeof whole);
  memcpy(&number, at, sizeof number);
  double value = field->is_int ? whole : (double)number;
  return value >= field->minimum && value <= field->maximum;
}

// The first field that is out of its range; NULL if there is none.
static const MrField *field_out_of_range(State state) {
  for (size_t kind = 0; kind < MR_ENTITY_COUNT; kind++) {
    const Entity *entity = &entities[kind];
    if (entity->known && !state.picture) continue;
    for (const MrField *field = entity->fields; field->name; field++) {
      for (int32_t number = 0; number < entity->room; number++) {
        MR_EACH_LANE(i) {
          if (!in_range(field, place(state, entity, number, field, i))) return field;
        }
      }
    }
  }
  return NULL;
}

#ifndef NDEBUG
static void assert_unit(const MrBody *body, int lane) {
  float length2 = body->c[lane] * body->c[lane] + body->s[lane] * body->s[lane];
  assert(length2 > 0.99f && length2 < 1.01f && "a direction is a unit vector");
}

void mr_assert_state(const MrSim *sim, int32_t block) {
  const MrBlock *b = mr_block(sim, block);
  const MrField *wrong = field_out_of_range(state_of(sim, block));
  if (wrong) fprintf(stderr, "midrange: %s is out of its range\n", wrong->name);
  assert(!wrong && "every field is in its range");  // stderr has just named the field
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    MR_EACH_LANE(i) assert_unit(&b->fighters[f].body, i);
  }
  for (int32_t slot = 0; slot < MR_MISSILES; slot++) {
    const MrMissile *m = &b->missiles[slot];
    assert(b->live[slot] == mr_count(m->active) && "`live` counts the lanes whose slot is active");
    MR_EACH_LANE(i) {
      if (!m->active[i]) continue;
      assert_unit(&m->body, i);
      assert(b->fighters[m->target[i]].alive[i] && "every missile's target is alive");
    }
  }
}
#endif

// Entities -----------------------------------------------------------------------------------------------

// The members of the states of fighters and missiles that are fields: X(member, field).
#define MR_BODY_STATE(X) \
  X(x, body.x) X(y, body.y) X(direction_x, body.c) X(direction_y, body.s) X(speed, body.v) X(rudder, body.rudder)
#define MR_FIGHTER_STATE(X) MR_BODY_STATE(X) X(throttle, throttle) X(alive, alive) X(ammunition, ammunition)
#define MR_MISSILE_STATE(X) MR_BODY_STATE(X) X(active, active) X(owner, owner) X(target, target) X(age, age)
#define MR_GET(member, field) .member = from->field[i],
#define MR_SET(member, field) to->field[i] = state->member;

static void get_fighter(const MrSim *sim, int32_t env, int32_t fighter, MrFighterState *state) {
  const MrBlock *b = mr_block(sim, env / MR_LANES);
  const MrFighter *from = &b->fighters[fighter];
  int i = env % MR_LANES;
  int32_t wait = from->ready[i] - b->time[i];
  *state = (MrFighterState){MR_FIGHTER_STATE(MR_GET).pilot = from->pilot[i], .launch_wait = wait > 0 ? wait : 0};
}

// Removes missiles whose target is dead, after the caller has set the state: the physics steps rely on living targets.
static void drop_missiles_at_dead(const MrSim *sim, MrBlock *b, int lane) {
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    if (!b->fighters[f].alive[lane]) mr_remove_missiles_at(b, f, lane);
  }
}

static void set_fighter(MrSim *sim, int32_t env, int32_t fighter, const MrFighterState *state) {
  MrBlock *b = mr_block(sim, env / MR_LANES);
  MrFighter *to = &b->fighters[fighter];
  int i = env % MR_LANES;
  MR_FIGHTER_STATE(MR_SET)
  to->rudder_command[i] = state->rudder;
  to->throttle_command[i] = state->throttle;
  to->ready[i] = b->time[i] + state->launch_wait;
  drop_missiles_at_dead(sim, b, i);
  mr_assert_state(sim, env / MR_LANES);
  sim->kernel->rate_lane(sim, env / MR_LANES, i);
}

static void get_missile(const MrSim *sim, int32_t env, int32_t slot, MrMissileState *state) {
  const MrMissile *from = &mr_block(sim, env / MR_LANES)->missiles[slot];
  int i = env % MR_LANES;
  *state = from->active[i] ? (MrMissileState){MR_MISSILE_STATE(MR_GET)} : (MrMissileState){0};
}

static void set_missile(MrSim *sim, int32_t env, int32_t slot, const MrMissileState *state) {
  MrBlock *b = mr_block(sim, env / MR_LANES);
  MrMissile *to = &b->missiles[slot];
  int i = env % MR_LANES;
  MR_MISSILE_STATE(MR_SET)
  b->live[slot] = mr_count(to->active);
  if (sim->pictures) {  // it believes in the true target, without a lock
    mr_believe_in(&b->fighters[state->target].body, 0, &mr_picture(sim, env / MR_LANES)->beliefs[slot], i);
  }
  drop_missiles_at_dead(sim, b, i);
  mr_assert_state(sim, env / MR_LANES);
  sim->kernel->rate_lane(sim, env / MR_LANES, i);
}

static const MrField *find_wrong(const MrSim *sim, const char *blocks, const char *pictures) {
  for (int32_t block = 0; block < sim->num_blocks; block++) {
    const char *picture = pictures ? pictures + (size_t)block * sizeof(MrPicture) : NULL;
    const MrField *wrong = field_out_of_range((State){blocks + (size_t)block * sizeof(MrBlock), picture});
    if (wrong) return wrong;
  }
  return NULL;
}

// Hash ---------------------------------------------------------------------------------------------------

// FNV-1a over 32-bit words.
static uint64_t mix(uint64_t hash, const void *word) {
  uint32_t bits;
  memcpy(&bits, word, sizeof bits);
  return (hash ^ bits) * 1099511628211u;
}

static uint64_t hash_entity(uint64_t h, State state, MrEntity kind, int32_t number, int lane) {
  const Entity *entity = &entities[kind];
  for (const MrField *field = entity->fields; field->name; field++) {
    if (field->hashed) h = mix(h, place(state, entity, number, field, lane));
  }
  return h;
}

static uint64_t hash_engagement(uint64_t h, const MrSim *sim, int32_t env) {
  const MrBlock *b = mr_block(sim, env / MR_LANES);
  State state = state_of(sim, env / MR_LANES);
  int lane = env % MR_LANES;
  h = hash_entity(h, state, MR_ENGAGEMENT, 0, lane);
  for (int32_t f = 0; f < mr_fighters(sim); f++) {
    h = hash_entity(h, state, MR_FIGHTER, f, lane);
    if (!sim->pictures) continue;
    MR_FOR_SIDE(sim, !mr_side(sim, f), e) h = hash_entity(h, state, MR_CONTACT, mr_contact_place(sim, f, e), lane);
  }
  for (int32_t slot = 0; slot < mr_count_of(sim, MR_MISSILE); slot++) {
    h = mix(h, &b->missiles[slot].active[lane]);
    // The fields of an empty slot do not matter: they are those of the slot's last missile.
    if (!b->missiles[slot].active[lane]) continue;
    h = hash_entity(h, state, MR_MISSILE, slot, lane);
    if (sim->pictures) h = hash_entity(h, state, MR_BELIEF, slot, lane);
  }
  return h;
}

static uint64_t fight_hash(const MrSim *sim) {
  uint64_t h = 14695981039346656037u;
  for (int32_t env = 0; env < sim->num_envs; env++) {
    h = hash_engagement(h, sim, env);
  }
  return h;
}

static uint64_t state_hash(const MrSim *sim) {
  uint32_t seed[] = {(uint32_t)sim->seed, (uint32_t)(sim->seed >> 32)};
  uint64_t h = mix(mix(fight_hash(sim), &seed[0]), &seed[1]);
  for (int32_t env = 0; env < sim->num_envs; env++) {
    h = mix(h, &mr_block(sim, env / MR_LANES)->engagement[env % MR_LANES]);
  }
  return h;
}

const MrAccess MR_OF_SIDE(mr_access_) = {
    .block_bytes = sizeof(MrBlock),
    .picture_bytes = sizeof(MrPicture),
    .fields = fields_of,
    .get_field = get_field,
    .get_fighter = get_fighter,
    .set_fighter = set_fighter,
    .get_missile = get_missile,
    .set_missile = set_missile,
    .find_wrong = find_wrong,
    .fight_hash = fight_hash,
    .state_hash = state_hash,
};
